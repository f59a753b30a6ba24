"""The verdicts on kept releases: data beside them that says what each changed, so that nothing compares them again."""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest

import tiers
from acpgen import config, publish
from acpgen.commands import build, outcome_text, project
from acpgen.compat import compare
from acpgen.compat.rules import VERSION
from acpgen.config import docs_inputs
from acpgen.errors import Faults
from acpgen.files.cache import NO_CACHE, Cache
from acpgen.input.load import load
from acpgen.meaning.understanding import understand
from acpgen.publish import release_verdicts as verdicts
from acpgen.targets.interface import Settings

ROOT = Path(__file__).parents[1]
KEPT = ("acp/v1", "acp/v2", "mcp")
FILE = "schema/releases/p/v1/verdicts.json"

Json = dict[str, Any]


def ask(*required: str, **fields: str) -> Json:
    properties = {name: {"type": type_} for name, type_ in {"id": "string", **fields}.items()}
    request = {"type": "object", "properties": properties, "x-method": "ask", "x-side": "agent"}
    return {"$defs": {"AskRequest": {**request, "required": [*required]}}}


RELEASES = {"1.0": ask(), "2.0": ask("id"), "3.0": ask("id", more="string")}


def made(folder: Path, releases: dict[str, Json] = RELEASES) -> config.Config:
    """A project whose protocol has releases, and docs."""
    (folder / "pyproject.toml").write_text('[tool.acpgen.outputs."docs"]\ntarget = "docs"\nprotocols = ["p/v1"]\n')
    texts = {f"releases/p/v1/{name}.json": value for name, value in releases.items()}
    texts |= {"p/v1/p.json": [*releases.values()][-1], "releases/p/v1/index.json": {"versions": [*releases]}}
    for path, value in texts.items():
        (folder / "schema" / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / "schema" / path).write_text(json.dumps(value))
    found = config.read(folder)
    assert found is not None
    return found


def run(found: config.Config, *, check: bool = False) -> build.Outcome:
    return build.run(project.plan_outputs(found, cache=NO_CACHE), check=check)


def rows(folder: Path) -> list[Any]:
    found: list[Any] = json.loads((folder / FILE).read_text())["releases"]
    return found


def edited(folder: Path, edit: Callable[[Any], object]) -> None:
    value = json.loads((folder / FILE).read_text())
    edit(value)
    (folder / FILE).write_text(json.dumps(value))


def test_each_release_has_what_it_changed_and_the_names_that_it_added(tmp_path: Path) -> None:
    run(made(tmp_path))
    first, second, third = rows(tmp_path)
    digests = [
        hashlib.sha256((tmp_path / f"schema/releases/p/v1/{each}.json").read_bytes()).hexdigest() for each in RELEASES
    ]
    assert [each["sha256"] for each in (first, second, third)] == digests
    assert "changes" not in first and first["request"] == {"ask": ["AskRequest", None]}
    (change,) = second["changes"]
    assert (change["severity"], change["rule"], change["methods"]) == ("breaking", "field-became-required", ["ask"])
    assert "types" not in second
    assert third["severities"] == ["additive"] and third["types"]["AskRequest"]["members"] == ["id", "more"]


def test_what_is_missing_is_drift_and_is_written_once(tmp_path: Path) -> None:
    found = made(tmp_path)
    assert [each.folder.name for each in run(found).changes if not each.is_none] == ["docs", "v1"]
    (tmp_path / FILE).unlink()
    checked = run(found, check=True)
    assert checked.is_drift and any("verdicts.json" in line for line in checked.list_difference())
    assert not (tmp_path / FILE).exists()
    run(found)
    text = (tmp_path / FILE).read_text()
    assert not run(found, check=True).is_drift
    run(found)
    assert (tmp_path / FILE).read_text() == text


def test_a_run_after_the_one_that_wrote_verdicts_has_nothing_to_do(tmp_path: Path) -> None:
    made(tmp_path)
    shutil.copytree(tmp_path / "schema/p", tmp_path / "schema/q")
    shutil.copytree(tmp_path / "schema/releases/p", tmp_path / "schema/releases/q")
    settings = tmp_path / "pyproject.toml"
    settings.write_text(settings.read_text().replace('["p/v1"]', '["p/v1", "q/v1"]'))
    found = config.read(tmp_path)
    assert found is not None
    for fresh in (0, 1):
        assert len(build.run(project.plan_outputs(found)).fresh) == fresh


def test_docs_read_and_compare_no_release_of_which_the_verdict_is_known(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run(made(tmp_path))
    given = docs_inputs.parse_docs_inputs(docs_inputs.read(tmp_path / "schema", ["p/v1"]))
    version = publish.Version(*understand(load(tmp_path / "schema/p/v1", name="p/v1")), Settings(prefix="p/v1"))

    def never(*_: object, **__: object) -> None:
        raise AssertionError("a release is read")

    monkeypatch.setattr(compare, "read_side", never)
    monkeypatch.setattr(compare, "check_sides", never)
    pages = publish.map_texts(publish.make_pages([version], given, for_site=True))
    assert "field-became-required" in pages["p/v1/changelog.md"]
    assert "3.0 (2.0 lacks it)" in pages["p/v1/types/AskRequest.md"]


def test_a_release_that_changes_is_compared_again_with_both_neighbours_and_no_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    more = {**RELEASES, "4.0": ask("id", more="string"), "5.0": ask("id")}
    run(made(tmp_path, more))
    edited(tmp_path, lambda value: value["releases"][4].update(failure="untouched"))
    file = tmp_path / "schema/releases/p/v1/2.0.json"
    file.write_text(json.dumps(ask("id", other="string")))
    found = verdicts.complete(docs_inputs.read(tmp_path / "schema", ["p/v1"]))
    known = json.loads(dict(found.files)["releases/p/v1/verdicts.json"])["releases"]
    assert [change["rule"] for change in known[1]["changes"]] == ["field-became-required", "field-added"]
    assert {change["rule"] for change in known[2]["changes"]} == {"field-removed", "field-added"}
    assert known[2]["types"] == {"AskRequest": {"kind": "field", "named": True, "members": ["id", "more"]}}
    assert known[4]["failure"] == "untouched"


def _without(value: Any, *, gone: int) -> None:
    del value["releases"][gone]


def test_what_a_row_leaves_out_is_not_taken_from_a_row_that_it_was_not_written_after(tmp_path: Path) -> None:
    found = made(tmp_path, {**RELEASES, "4.0": ask("id", more="string", last="string")})
    run(found)
    text = (tmp_path / FILE).read_text()
    for gone in range(4):
        edited(tmp_path, partial(_without, gone=gone))
        run(found)
        assert (tmp_path / FILE).read_text() == text


def test_verdicts_that_a_merge_put_behind_one_another_are_made_anew(tmp_path: Path) -> None:
    ours, theirs = ask("id", more="string", ours="string"), ask("id", theirs="string")
    run(made(tmp_path, {**RELEASES, "4.0": ours}))
    (fourth,) = rows(tmp_path)[3:]
    (tmp_path / "schema/releases/p/v1/4.0.json").unlink()
    run(made(tmp_path, {**RELEASES, "5.0": theirs}))
    merged = made(tmp_path, {**RELEASES, "4.0": ours, "5.0": theirs})
    edited(tmp_path, lambda value: value["releases"].insert(3, fourth))
    run(merged)
    text = (tmp_path / FILE).read_text()
    (tmp_path / FILE).unlink()
    run(merged)
    assert (tmp_path / FILE).read_text() == text


def test_verdicts_of_other_rules_are_made_anew(tmp_path: Path) -> None:
    found = made(tmp_path)
    run(found)
    text = (tmp_path / FILE).read_text()
    edited(tmp_path, lambda value: value.update(rules=VERSION + 1, releases="of another form"))
    assert run(found, check=True).is_drift
    run(found)
    assert (tmp_path / FILE).read_text() == text


def test_an_edited_verdict_is_found_when_the_schema_draws_it(tmp_path: Path) -> None:
    found = made(tmp_path, {"1.0": ask(), "2.0": ask("id")})
    run(found)
    text = (tmp_path / FILE).read_text()
    edited(tmp_path, lambda value: value["releases"][1].update(severities=[], changes=[]))
    assert run(found, check=True).is_drift
    run(found)
    assert (tmp_path / FILE).read_text() == text


def test_a_run_that_has_results_of_earlier_ones_compares_no_release_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    found = made(tmp_path, {"1.0": ask(), "2.0": ask("id")})
    run(found)
    edited(tmp_path, lambda value: value["releases"][1].update(severities=[], changes=[]))
    outcome_text.show_difference(run(found, check=True))
    assert capsys.readouterr().err.endswith("Run: acpgen generate --no-cache\n")

    def never(*_: object, **__: object) -> None:
        raise AssertionError("releases are compared")

    monkeypatch.setattr(verdicts, "_compare", never)
    build.run(project.plan_outputs(found, cache=Cache(tmp_path / "cache")))


def test_releases_that_cannot_be_compared_say_so_on_the_page(tmp_path: Path) -> None:
    run(made(tmp_path))
    edited(tmp_path, lambda value: value["releases"][1].update(failure="They are *too* different."))
    given = docs_inputs.parse_docs_inputs(docs_inputs.read(tmp_path / "schema", ["p/v1"]))
    version = publish.Version(*understand(load(tmp_path / "schema/p/v1", name="p/v1")), Settings(prefix="p/v1"))
    page = publish.map_texts(publish.make_pages([version], given))["p/v1/changelog.md"]
    assert "The two cannot be compared: They are &#42;too&#42; different." in page


@pytest.mark.parametrize(
    ("edit", "at"),
    [
        (lambda value: value.pop("rules"), "#"),
        (lambda value: value.update(more=1), "#"),
        (lambda value: value.update(rules=True), "#/rules"),
        (lambda value: value.update(releases={}), "#/releases"),
        (lambda value: value["releases"].append(7), "#/releases/3"),
        (lambda value: value["releases"][0].update(sha256="0"), "#/releases/0/sha256"),
        (lambda value: value["releases"][1]["changes"][0].update(rule="a) [b](c"), "#/releases/1/changes/0/rule"),
        (lambda value: value["releases"][1]["changes"][0].update(severity="fine"), "#/releases/1/changes/0/severity"),
        (lambda value: value["releases"][1]["changes"][0].update(places="all"), "#/releases/1/changes/0/places"),
        (
            lambda value: value["releases"][0]["types"]["AskRequest"].update(kind=[]),
            "#/releases/0/types",
        ),
        (lambda value: value["releases"][0]["request"].update(ask=["one"]), "#/releases/0/request"),
    ],
)
def test_a_file_that_holds_no_verdicts_is_a_fault_with_its_place(
    tmp_path: Path, edit: Callable[[Any], object], at: str
) -> None:
    found = made(tmp_path)
    run(found)
    edited(tmp_path, edit)
    text = (tmp_path / FILE).read_text()
    with pytest.raises(Faults) as caught:
        run(found)
    (fault,) = caught.value.faults
    assert fault.at.endswith(f"{FILE}{at}")
    assert "delete it and run acpgen generate" in str(fault)
    assert (tmp_path / FILE).read_text() == text


@pytest.mark.parametrize("text", ["", "[", '{"rules": 1, "rules": 1}', "[]", "null"])
def test_a_file_of_verdicts_that_is_no_json_or_no_object_is_a_fault(tmp_path: Path, text: str) -> None:
    found = made(tmp_path)
    run(found)
    (tmp_path / FILE).write_text(text)
    with pytest.raises(Faults, match=r"verdicts\.json"):
        run(found)


@pytest.mark.parametrize("check", [True, False])
def test_a_folder_in_the_place_of_the_file_is_unusable_input(tmp_path: Path, check: bool) -> None:
    found = made(tmp_path)
    (tmp_path / FILE).mkdir()
    with pytest.raises(Faults, match=r"verdicts\.json: this is not a file\. Remove it and run acpgen generate"):
        run(found, check=check)
    assert not (tmp_path / "docs").exists()


def test_no_verdict_is_written_through_a_link(tmp_path: Path) -> None:
    project_, outside = tmp_path / "project", tmp_path / "outside"
    project_.mkdir()
    found = made(project_)
    (project_ / "schema/releases/p/v1").rename(outside)
    (project_ / "schema/releases/p/v1").symlink_to(outside, target_is_directory=True)
    with pytest.raises(Faults, match="this symbolic link is broken, or leads"):
        run(found)
    assert not (outside / "verdicts.json").exists() and not (project_ / "docs").exists()


def test_no_release_can_be_called_as_the_file_of_verdicts(tmp_path: Path) -> None:
    with pytest.raises(Faults, match="this must be a version, and not 'verdicts'"):
        run(made(tmp_path, {"verdicts": ask()}))


@pytest.mark.parametrize("name", tiers.sample(KEPT, 1))
def test_a_drawn_verdict_of_the_repository_is_what_the_rules_say(name: str) -> None:
    files = docs_inputs.read(ROOT / "schema", [f"{name}/any" if name == "mcp" else name])
    again = verdicts.complete(files, name.encode())
    assert dict(again.files) == dict(files.files)


@pytest.mark.exhaustive
@pytest.mark.parametrize("name", KEPT)
def test_each_verdict_of_the_repository_is_what_the_rules_say(name: str) -> None:
    """Where this fails and the new verdict is right, raise `VERSION` and run `acpgen generate`."""
    given = docs_inputs.parse_docs_inputs(
        docs_inputs.read(ROOT / "schema", [f"{name}/any" if name == "mcp" else name])
    ).releases[name]
    assert verdicts.evaluate(given) == verdicts.evaluate(replace(given, verdicts=None))
