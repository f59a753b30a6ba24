"""The examples in TypeScript on the pages of methods: those of the SDK are checked by the compiler against its types, and those of the
bindings are compiled, and run in Node.js.
"""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path

import pytest

import javascript

DOCS = Path(__file__).parents[1] / "generated" / "docs"
SDK, VERSION = "@agentclientprotocol/sdk", "2.4.0"
WITHOUT = {
    ("v1", "$/cancel_request"): "either side sends it",
    ("v2", "$/cancel_request"): "either side sends it",
    ("v1", "session/fork"): "the SDK does not have it",
    ("v2", "session/fork"): "the SDK does not have it",
    ("v2", "session/load"): "the SDK does not have it",
    ("v2", "session/list"): "its example has a field that the SDK does not have",
}


PAGES = sorted(DOCS.glob("acp/v*/methods/*.md"))
COMPILER = "5.9.3"


def samples(title: str) -> dict[str, str]:
    """The examples of a kind by version and page."""
    block = re.compile(rf"<summary>{re.escape(title)}</summary>\n\n```typescript\n(.*?)```", re.DOTALL)
    found = {f"{page.parts[-3]}-{page.stem}": block.search(page.read_text("utf-8")) for page in PAGES}
    return {name: block[1] for name, block in found.items() if block is not None}


def test_the_page_of_each_method_that_the_sdk_has_shows_typescript() -> None:
    texts = [(page.parts[-3], page.read_text("utf-8")) for page in PAGES]
    without = {(version, text.split("`")[1]) for version, text in texts if f'from "{SDK}' not in text}
    assert without == WITHOUT.keys()


def test_the_compiler_accepts_each_example_in_typescript_and_no_wrong_one(tmp_path: Path) -> None:
    try:
        folder = javascript.packages(**{SDK: VERSION, "zod": "4.6.7", "typescript": COMPILER})
        javascript.node()
    except javascript.Unreachable as reason:
        pytest.skip(str(reason))
    (tmp_path / "package.json").write_text('{"type": "module"}')
    (tmp_path / "node_modules").symlink_to(folder / "node_modules")
    given = samples("TypeScript (official SDK)")
    prompt = given["v1-session_prompt"]
    wrong = {
        "wrong-field": prompt.replace("sessionId:", "session:"),
        "wrong-method": prompt.replace('"session/prompt"', '"session/tide"'),
        "wrong-result": prompt.replace('"end_turn"', '"tide"'),
    }
    assert all(text != prompt for text in wrong.values())
    for name, text in {**given, **wrong}.items():
        (tmp_path / f"{name}.ts").write_text(f"{text}\n{_method_is_known(text)}", "utf-8")
    assert _refused(tmp_path, folder, "--lib", "es2022,dom,esnext.disposable", "--noEmit") == set(wrong)


def _refused(folder: Path, packages: Path, *options: str) -> set[str]:
    """The files of a folder, without their ending, in which the compiler finds an error."""
    compiler = packages / "node_modules" / "typescript" / "bin" / "tsc"
    files = sorted(path.name for path in folder.glob("*.ts"))
    command = [
        javascript.node(),
        str(compiler),
        "--strict",
        "--skipLibCheck",
        "--module",
        "nodenext",
        "--target",
        "es2022",
    ]
    ran = subprocess.run([*command, *options, *files], cwd=folder, capture_output=True, text=True, timeout=300)
    return {line.partition(".ts(")[0] for line in ran.stdout.splitlines() if ": error " in line}


def _method_is_known(example: str) -> str:
    """A line that the compiler refuses where the SDK does not know the method: its calls take any name."""
    found = re.search(r"return (agent|client)\.(request|notify)\((\".*\"), params\)", example)
    assert found is not None, example
    side, kind, method = found.groups()
    return f"const known: acp.{side.title()}{'Request' if kind == 'request' else 'Notification'}Method = {method};\n"


# --- with the generated bindings -------------------------------------------------------------------------------------


def test_the_examples_with_the_bindings_compile_and_read_the_messages_that_stand_above_them(tmp_path: Path) -> None:
    try:
        folder = javascript.packages(typescript=COMPILER)
    except javascript.Unreachable as reason:
        pytest.skip(str(reason))
    (tmp_path / "package.json").write_text('{"type": "module"}')
    (tmp_path / "node_modules").mkdir()
    (tmp_path / "node_modules" / "acp-bindings").symlink_to(DOCS.parent / "typescript" / "acp")
    given = samples("TypeScript")
    assert len(given) == len(PAGES)
    prompt = given["v1-session_prompt"]
    wrong = {
        "wrong-field": prompt.replace("sessionId:", "session:"),
        "wrong-method": prompt.replace('"session/prompt") {', '"session/tide") {'),
        "wrong-result": prompt.replace('"end_turn"', '"tide"'),
    }
    assert all(text != prompt for text in wrong.values())
    for name, text in {**given, **wrong}.items():
        read = "message, response" if "const response" in text else "message"
        (tmp_path / f"{name}.ts").write_text(f"{text}\nexport {{ {read} }};\n", "utf-8")
    assert _refused(tmp_path, folder, "--lib", "es2022,dom", "--exactOptionalPropertyTypes") == set(wrong)
    (tmp_path / "run.mjs").write_text(RUN.format(names=json.dumps([*given])), "utf-8")
    ran = subprocess.run([javascript.node(), "run.mjs"], cwd=tmp_path, capture_output=True, text=True, timeout=60)
    assert ran.returncode == 0, ran.stderr
    for page in PAGES:
        shown = re.findall(
            r"^```json\n(.*?)^```", page.read_text("utf-8").partition("<details")[0], re.DOTALL | re.MULTILINE
        )
        assert json.loads(ran.stdout)[f"{page.parts[-3]}-{page.stem}"] == [json.loads(text) for text in shown], page


RUN = """
const write = console.log;
console.log = () => undefined;
const read = {{}};
for (const name of {names}) {{
  const {{ message, response }} = await import(`./${{name}}.js`);
  read[name] = response === undefined ? [message] : [message, response];
}}
write(JSON.stringify(read));
"""
