"""The examples in TypeScript on the pages of methods, checked by the compiler against the types of the SDK that they name."""

from __future__ import annotations

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


def examples() -> dict[str, str]:
    """The examples by version and page."""
    pages = sorted(DOCS.glob("acp/v*/methods/*.md"))
    found = {
        f"{page.parts[-3]}-{page.stem}": re.findall(r"```typescript\n(.*?)```", page.read_text("utf-8"), re.DOTALL)
        for page in pages
    }
    return {name: blocks[0] for name, blocks in found.items() if blocks}


def test_the_page_of_each_method_that_the_sdk_has_shows_typescript() -> None:
    texts = [(page.parts[-3], page.read_text("utf-8")) for page in sorted(DOCS.glob("acp/v*/methods/*.md"))]
    without = {(version, text.split("`")[1]) for version, text in texts if "```typescript" not in text}
    assert without == WITHOUT.keys()


def test_the_compiler_accepts_each_example_in_typescript_and_no_wrong_one(tmp_path: Path) -> None:
    try:
        folder = javascript.packages(**{SDK: VERSION, "zod": "4.6.7", "typescript": "5.9.3"})
        node = javascript.node()
    except javascript.Unreachable as reason:
        pytest.skip(str(reason))
    (tmp_path / "package.json").write_text('{"type": "module"}')
    (tmp_path / "node_modules").symlink_to(folder / "node_modules")
    given = examples()
    prompt = given["v1-session_prompt"]
    wrong = {
        "wrong-field": prompt.replace("sessionId:", "session:"),
        "wrong-method": prompt.replace('"session/prompt"', '"session/tide"'),
        "wrong-result": prompt.replace('"end_turn"', '"tide"'),
    }
    assert all(text != prompt for text in wrong.values())
    for name, text in {**given, **wrong}.items():
        (tmp_path / f"{name}.ts").write_text(f"{text}\n{_method_is_known(text)}", "utf-8")
    options = ["--noEmit", "--strict", "--skipLibCheck", "--module", "nodenext", "--target", "es2022"]
    options += ["--lib", "es2022,dom,esnext.disposable"]
    compiler = folder / "node_modules" / "typescript" / "bin" / "tsc"
    files = sorted(path.name for path in tmp_path.glob("*.ts"))
    ran = subprocess.run([node, compiler, *options, *files], cwd=tmp_path, capture_output=True, text=True, timeout=300)
    assert {line.partition(".ts(")[0] for line in ran.stdout.splitlines() if ": error " in line} == set(wrong), (
        ran.stdout
    )


def _method_is_known(example: str) -> str:
    """A line that the compiler refuses where the SDK does not know the method: its calls take any name."""
    found = re.search(r"return (agent|client)\.(request|notify)\((\".*\"), params\)", example)
    assert found is not None, example
    side, kind, method = found.groups()
    return f"const known: acp.{side.title()}{'Request' if kind == 'request' else 'Notification'}Method = {method};\n"
