"""Results in memory: what has the same inputs is not made again, and what may lag is made in the next round."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from acpgen import config, site
from acpgen.memory import FORGETFUL, Memory


def asked(memory: Memory, *inputs: object, may_lag: bool = False) -> object:
    return memory.once("kind", inputs, lambda: object(), may_lag=may_lag)


def test_the_last_result_is_taken_again_while_its_inputs_are_equal() -> None:
    memory = Memory()
    first = asked(memory, "a", ["b"])
    assert asked(memory, "a", ["b"]) is first is memory.last("kind")
    assert asked(memory, "a", ["c"]) is not first
    assert asked(memory, "a") is not asked(memory, "a", "b")
    assert memory.last("other") is None
    assert asked(FORGETFUL, "a") is not asked(FORGETFUL, "a")


def test_what_is_made_is_told_before_and_what_is_taken_again_is_not() -> None:
    told: list[str] = []
    memory = Memory(before=told.append)
    asked(memory, "a")
    asked(memory, "a")
    assert told == ["kind"]
    asked(memory, "b")
    assert told == ["kind", "kind"]


def test_in_a_hurry_only_what_may_lag_lags_and_is_made_in_the_next_round() -> None:
    memory = Memory()
    memory.begin(in_hurry=True)
    first = asked(memory, 1, may_lag=True)
    assert not memory.is_behind
    assert asked(memory, 2, may_lag=True) is first and memory.is_behind
    memory.begin(in_hurry=False)
    second = asked(memory, 2, may_lag=True)
    assert second is not first and not memory.is_behind
    memory.begin(in_hurry=True)
    assert asked(memory, 3) is not second and not memory.is_behind


def test_what_raises_is_asked_again() -> None:
    memory = Memory()
    with pytest.raises(ZeroDivisionError):
        memory.once("kind", (), lambda: 1 / 0)
    assert memory.last("kind") is None


def small_project(folder: Path) -> config.Config:
    """Two versions of a protocol, a page by hand and a module."""
    for version in ("v1", "v2"):
        asked: dict[str, object] = {
            "type": "object",
            "x-method": "note/add",
            "x-side": "server",
            "description": f"Adds in {version}.",
        }
        asked |= {"properties": {"count": {"description": "How many.", "default": 1, "examples": [1]}}}
        result = {"type": "object", "x-method": "note/add", "x-side": "server", "description": "Added."}
        (folder / "schema" / "note" / version).mkdir(parents=True)
        text = json.dumps({"$defs": {"AddNoteRequest": asked, "AddNoteResponse": result}})
        (folder / "schema" / "note" / version / "note.json").write_text(text)
    (folder / "schema" / "pages").mkdir()
    (folder / "schema" / "pages" / "more.md").write_text("# More\n\nBy hand.\n")
    (folder / "module.py").write_text('"""A module."""\n\n__all__ = ["add"]\n\n\ndef add() -> None:\n    """Add."""\n')
    (folder / "pyproject.toml").write_text(
        '[tool.acpgen.outputs.docs]\ntarget = "docs"\nprotocols = ["note/v1", "note/v2"]\n'
        '[tool.acpgen.site]\npython = ["module.py"]\n'
    )
    return config.find(folder)


@pytest.mark.parametrize(
    ("file", "old", "new"),
    [
        ("schema/pages/more.md", "By hand.", "Edited."),
        ("module.py", "A module.", "Edited."),
        ("schema/note/v1/note.json", "Adds in v1.", "Edited."),
        ("schema/note/v1/note.json", '"default": 1', '"default": true'),
        ("schema/note/v2/note.json", '"default": 1', '"default": 1.0'),
        ("schema/note/v2/note.json", '"count": {', '"more": {"type": "string"}, "count": {'),
        ("schema/note/v2/note.json", "AddNote", "PutNote"),
        ("pyproject.toml", "[tool.acpgen.site]", '[tool.acpgen.names]\n"AddNoteRequest" = "Wish"\n[tool.acpgen.site]'),
    ],
)
def test_a_site_of_what_is_remembered_is_the_site_made_anew(tmp_path: Path, file: str, old: str, new: str) -> None:
    """To Python 1, 1.0 and true are equal, and to a page they are not."""
    memory = Memory()

    def docs(memory: Memory) -> site.Docs:
        found = config.find(tmp_path)
        return site.docs(found, site.inputs(found), memory)

    small_project(tmp_path)
    before = docs(memory)
    assert docs(memory) == before == docs(FORGETFUL)
    text = (tmp_path / file).read_text()
    assert old in text
    (tmp_path / file).write_text(text.replace(old, new))
    wanted = docs(FORGETFUL)
    assert wanted != before
    memory.begin(in_hurry=True)
    docs(memory)
    assert memory.is_behind is (file.startswith("schema/note") or "names" in new)
    memory.begin(in_hurry=False)
    assert docs(memory) == wanted


def test_an_edit_by_hand_makes_no_pages_again_that_hold_none_of_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    memory = Memory()
    found = small_project(tmp_path)
    site.docs(found, site.inputs(found), memory)
    (tmp_path / "schema/pages/more.md").write_text("# More\n\nEdited.\n")

    def fail(*_: object) -> None:
        raise AssertionError("made again")

    monkeypatch.setattr("acpgen.publish.schemas.pages", fail)
    monkeypatch.setattr("acpgen.publish.in_browser.page", fail)
    monkeypatch.setattr("acpgen.publish.lint_rules.page", fail)
    monkeypatch.setattr("acpgen.publish.requirements.parse", fail)
    monkeypatch.setattr("acpgen.publish.changes.page", fail)
    assert "Edited." in site.docs(found, site.inputs(found), memory).documents["more.md"]
