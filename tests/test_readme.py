"""What the README shows is what happens."""

from __future__ import annotations

import doctest
import json
import re
import shutil
from pathlib import Path
from typing import Final

import pytest

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
