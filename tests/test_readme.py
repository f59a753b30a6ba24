"""What the README shows is what happens."""

from __future__ import annotations

import doctest
import json
import re
import shlex
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from importlib.metadata import distribution
from pathlib import Path
from typing import Any, Final

import pytest
from packaging.requirements import Requirement

from acpgen import cli

ROOT: Final = Path(__file__).parents[1]
TEXTS: Final = (ROOT / "README.md", ROOT / "schema" / "pages" / "index.md")


def blocks(path: Path, language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", path.read_text("utf-8"), re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize("path", TEXTS, ids=lambda path: path.stem)
def test_the_python_example_says_what_it_shows(path: Path) -> None:
    (block,) = blocks(path, "pycon")
    example = doctest.DocTestParser().get_doctest(block, {}, path.name, str(path), 0)
    runner = doctest.DocTestRunner()
    runner.run(example)
    assert (runner.failures, runner.tries) == (0, 8)


def test_the_examples_of_the_page_on_values_show_what_they_say() -> None:
    page = ROOT / "schema" / "pages" / "reading.md"
    examples = blocks(page, "pycon")
    assert len(examples) == 2
    for block in examples:
        runner = doctest.DocTestRunner()
        runner.run(doctest.DocTestParser().get_doctest(block, {}, page.name, str(page), 0))
        assert runner.failures == 0


def test_what_is_said_of_speed_is_what_the_page_about_it_says() -> None:
    page = (ROOT / "schema" / "pages" / "speed.md").read_text("utf-8")
    ratios = [
        re.findall(rf"^\| {what} \|.*\| the Python SDK \|.*\| \*\*([\d.]+)\*\* \|", page, re.MULTILINE)[0]
        for what in ("decode, a mix", "encode, a mix")
    ]
    text = " ".join((ROOT / "README.md").read_text("utf-8").split())
    assert (
        f"decode a mix of messages in {ratios[0]} of the time of the Python SDK, and encode it in {ratios[1]}." in text
    )


def test_what_is_said_of_others_is_what_the_comparison_says() -> None:
    page = (ROOT / "schema" / "pages" / "comparison.md").read_text("utf-8")
    rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in page.splitlines() if line.startswith("| ")]
    table = {name: cells for name, *cells in rows}
    text = " ".join((ROOT / "README.md").read_text("utf-8").split())
    python, typescript = (cell.split(" / ")[0] for cell in table["Unknown variants survive, v1 / v2"][1:3])
    assert f"the Python SDK {python} and the TypeScript SDK {typescript};" in text
    answers = table["88 small JSON Schema questions: right, wrong, no answer"]
    best, *others = (int(cell.split(",")[0]) for cell in answers if cell[0].isdigit())
    assert (
        f"of 88 small questions about compatibility, acpgen answers {best} right, and the next best tool {max(others)}."
        in text
    )


def test_the_readme_is_read_in_one_go() -> None:
    text = (ROOT / "README.md").read_text("utf-8")
    assert len(text.splitlines()) <= 180
    assert "agentclientprotocol.com" in text.partition("\n## ")[0]


# --- the quick start -------------------------------------------------------------------------------------------------


def installed(block: str) -> list[str]:
    """What the `pip install` of a shell block installs: requirements of folders in the clone, such as `./a[extra]`."""
    (command,) = (part for part in block.split("&&") if "pip install" in part)
    words = shlex.split(command)
    return [word for word in words[words.index("install") + 1 :] if not word.startswith("-")]


def requirements(local: str) -> list[Requirement]:
    """What a folder in the clone says that it needs, with the extras that are asked for."""
    extras = local.removesuffix("]").partition("[")[2]
    found = project(local)
    extra = [line for name in extras.split(",") if name for line in found["optional-dependencies"][name]]
    return [Requirement(line) for line in (*found["dependencies"], *extra)]


def project(local: str) -> Any:
    """The metadata of a distribution of this clone."""
    folder = local.partition("[")[0]
    return tomllib.loads((ROOT / folder / "pyproject.toml").read_text("utf-8"))["project"]


def closure(wanted: list[Requirement]) -> Iterator[str]:
    """The names of the distributions that pip would install for these requirements."""
    seen: set[tuple[str, str]] = set()
    left = [(each, extra) for each in wanted for extra in ("", *each.extras)]
    while left:
        requirement, extra = left.pop()
        if (requirement.name, extra) in seen:
            continue
        seen.add((requirement.name, extra))
        yield requirement.name
        for line in distribution(requirement.name).requires or ():
            found = Requirement(line)
            if found.marker is None or found.marker.evaluate({"extra": extra}):
                left += [(found, each) for each in ("", *found.extras)]


def environment(block: str, into: Path) -> list[str]:
    """The import path that a shell block makes: a folder of links to what pip installs, and the folders of the clone."""
    into.mkdir()
    locals_ = installed(block)
    own = {each["name"] for each in map(project, locals_)}
    wanted = [each for local in locals_ for each in requirements(local) if each.name not in own]
    for name in set(closure(wanted)):
        for file in distribution(name).files or ():
            top = file.parts[0]
            if top not in ("..", "__pycache__") and not (into / top).exists():
                (into / top).symlink_to(Path(str(distribution(name).locate_file(top))))
    sources = {".": "generator", "generator/jsonrpc_bindings": ".."}
    folders = [local.partition("[")[0] for local in locals_]
    return [str(into), *(str(ROOT / folder / sources.get(folder, "")) for folder in folders)]


def test_the_first_code_runs_with_what_the_first_block_installs_and_nothing_else(tmp_path: Path) -> None:
    """A new machine has no more than that on its path: no packages of this environment, no folder of the tests."""
    first, _ = blocks(ROOT / "README.md", "sh")
    path = environment(first, tmp_path / "site-packages")
    code = (
        f"import sys; sys.path += {path!r}; import doctest; print(doctest.testfile({str(ROOT / 'README.md')!r}, False))"
    )
    ran = subprocess.run(
        [sys.executable, "-I", "-S", "-c", code], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert (ran.stdout, ran.stderr) == ("TestResults(failed=0, attempted=8)\n", "")


def test_the_bindings_run_and_validate_on_what_they_ask_for(tmp_path: Path) -> None:
    path = environment(
        "pip install generator/jsonrpc_bindings generated/python/acp-bindings", tmp_path / "site-packages"
    )
    code = f"""
import sys
sys.path += {path!r}
import json
from acp_bindings import v1
line = b'{{"jsonrpc":"2.0","method":"session/cancel","params":{{"sessionId":"s1"}}}}'
assert json.loads(v1.encode(v1.decode(line, sender="client"))) == json.loads(line)
print(v1.validate(line, sender="client"))
"""
    ran = subprocess.run(
        [sys.executable, "-I", "-S", "-c", code], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert (ran.stdout, ran.stderr) == ("()\n", "")


@pytest.mark.parametrize("path", TEXTS, ids=lambda path: path.stem)
def test_what_is_said_of_the_needs_of_the_bindings_is_what_they_ask_for(path: Path) -> None:
    (promise,) = re.findall(r"typed Python bindings.*?(?=\n- |\n\n)", path.read_text("utf-8"), re.DOTALL)
    needed = {each.name for each in requirements("generator/jsonrpc_bindings")}
    (told,) = re.findall(r"they run on ([\w, -]+),$", " ".join(promise.split()))
    assert set(re.split(r", | and ", told)) == needed


# --- the comparison --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("path", TEXTS, ids=lambda path: path.stem)
def test_the_comparison_finds_what_it_shows(
    path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The lines that are shown come in this order; between them stand places and the fingerprint."""
    (block,) = blocks(path, "text")
    planted = tmp_path / "v1"
    shutil.copytree(ROOT / "schema" / "acp" / "v1", planted)
    schema = json.loads((planted / "prompt.json").read_text("utf-8"))
    request = schema["$defs"]["PromptRequest"]
    request["properties"]["messageId"] = {"type": "string"}
    request["required"].append("messageId")
    (planted / "prompt.json").write_text(json.dumps(schema), "utf-8")
    monkeypatch.chdir(ROOT)
    monkeypatch.setenv("COLUMNS", "80")
    with pytest.raises(SystemExit) as stopped:
        cli.app(["diff", "acp/v1", str(planted)], prog_name="acpgen")
    assert stopped.value.code == 1
    said = iter(capsys.readouterr().out.splitlines())
    assert block.startswith("$ acpgen diff main:acp/v1 acp/v1\n")
    for line in block.splitlines()[1:]:
        assert line in said, line
