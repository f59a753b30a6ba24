"""`python -m schema_inclusion`: verdicts, exit codes, and one line for what cannot be read."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from schema_inclusion.__main__ import main

NUMBERS: dict[str, Any] = {"type": "number"}
INTEGERS: dict[str, Any] = {"type": "integer"}
BACK_REFERENCE: dict[str, Any] = {"type": "string", "pattern": r"^(a+)\1"}
A_WORD: dict[str, Any] = {"type": "string", "pattern": "^a"}


def ask(folder: Path, schemas: list[Any], *options: str) -> int:
    paths: list[str] = []
    for index, schema in enumerate(schemas):
        path = folder / f"{index}.json"
        path.write_text(schema if isinstance(schema, str) else json.dumps(schema), "utf-8")
        paths.append(str(path))
    return main([*paths, *options])


@pytest.mark.parametrize(
    ("old", "new", "need", "code"),
    [
        (INTEGERS, NUMBERS, "backward", 0),
        (INTEGERS, NUMBERS, "forward", 1),
        (INTEGERS, NUMBERS, "both", 1),
        (NUMBERS, NUMBERS, "both", 0),
        (BACK_REFERENCE, A_WORD, "backward", 3),
        (BACK_REFERENCE, {"pattern": "^a"}, "both", 1),
        (NUMBERS, "true", "backward", 0),
    ],
)
def test_the_exit_code_is_about_the_direction_that_is_needed(
    tmp_path: Path, old: Any, new: Any, need: str, code: int
) -> None:
    assert ask(tmp_path, [old, new], "--need", need) == code


@pytest.mark.parametrize(
    ("schema", "code"),
    [
        ({"openapi": "3.1.0", "components": {}}, 2),
        ({"data": {"type": "integer"}}, 2),
        ({}, 0),
        ({"id": "urn:x"}, 0),
        ({"title": "anything", "data": 1}, 0),
        ({"x-ours": 1}, 0),
    ],
    ids=str,
)
def test_an_object_without_a_keyword_is_no_schema(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], schema: Any, code: int
) -> None:
    assert ask(tmp_path, [{}, schema]) == code
    assert ("1.json: is not a JSON Schema: none of its members is a keyword" in capsys.readouterr().err) is (code == 2)


def test_the_answer_says_both_directions_with_reason_and_witness(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert ask(tmp_path, [INTEGERS, NUMBERS]) == 0
    printed = capsys.readouterr().out
    assert "old schema valid under the new one? yes" in printed
    assert "new schema valid under the old one? no" in printed
    assert "witness: 0.5" in printed


def test_the_answer_as_json_says_the_same(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert ask(tmp_path, [INTEGERS, NUMBERS], "--json") == 0
    answer = json.loads(capsys.readouterr().out)
    assert answer["backward"]["verdict"] == "yes" and answer["backward"]["reason"].startswith("Proven")
    assert answer["forward"]["verdict"] == "no"
    assert answer["forward"]["witness"] == {"value": 0.5, "verified": True}


@pytest.mark.parametrize(
    ("schema", "code", "word"),
    [(INTEGERS, 0, "instance"), ({"allOf": [INTEGERS, {"const": "a"}]}, 1, "Proven"), ({"$ref": "#"}, 3, "reference")],
)
def test_one_schema_is_asked_for_an_instance(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], schema: Any, code: int, word: str
) -> None:
    assert ask(tmp_path, [schema]) == code
    assert word in capsys.readouterr().out


def test_a_draft_is_that_of_schemas_that_name_none(tmp_path: Path) -> None:
    tuples: list[Any] = [{"items": [INTEGERS]}, {"items": [NUMBERS]}]
    assert ask(tmp_path, tuples, "--draft", "07") == 0
    assert ask(tmp_path, tuples, "--draft", "2020-12") == 3  # no schemas there


@pytest.mark.parametrize(
    "text", ["", "{", '{"a": 1, "a": 2}', "NaN", '{"maximum": Infinity}', "[" * 100_000, "1" * 5_000]
)
def test_what_is_not_json_is_one_line(tmp_path: Path, capsys: pytest.CaptureFixture[str], text: str) -> None:
    assert ask(tmp_path, [text, INTEGERS]) == 2
    said = capsys.readouterr().err.splitlines()
    assert len(said) == 1 and said[0].startswith(str(tmp_path / "0.json"))


def test_what_cannot_be_read_is_one_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "latin.json").write_bytes(b'"\xe9"')
    for path in (tmp_path, tmp_path / "nowhere.json", tmp_path / "latin.json"):
        assert main([str(path)]) == 2
        assert len(capsys.readouterr().err.splitlines()) == 1


@pytest.mark.parametrize("options", [["a", "b", "c"], ["a", "--steps", "0"], ["a", "--draft", "3"], []])
def test_a_wrong_option_ends_with_the_usage(options: list[str]) -> None:
    with pytest.raises(SystemExit) as stopped:
        main(options)
    assert stopped.value.code == 2


def test_the_module_runs_as_a_command(tmp_path: Path) -> None:
    (tmp_path / "true.json").write_text("true", "utf-8")
    command = [sys.executable, "-m", "schema_inclusion", str(tmp_path / "true.json")]
    ran = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (ran.returncode, ran.stderr) == (0, "")
