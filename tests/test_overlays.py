"""A folder that extends another one, and the unstable channel of ACP that is kept so."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

import acpgen
import evidence
import tiers
from acpgen.compat.sources import open_input
from acpgen.errors import Faults
from acpgen.lint import lint_paths
from acpgen.messages import validators

ROOT = Path(__file__).parents[1]
CHANNELS = ("v1", "v2")


def folder(root: Path, name: str, file: str, value: Any) -> Path:
    path = root / name
    path.mkdir(exist_ok=True)
    (path / file).write_text(json.dumps(value))
    return path


BASE = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "$defs": {
        "Gauge": {"type": "object", "properties": {"id": {"type": "string"}}, "required": ["id"], "deprecated": True},
        "Event": {
            "anyOf": [
                {"type": "object", "properties": {"kind": {"const": "ebb"}}, "required": ["kind"]},
                {
                    "title": "other",
                    "type": "object",
                    "properties": {"kind": {"type": "string"}},
                    "required": ["kind"],
                    "not": {"anyOf": [{"properties": {"kind": {"const": "ebb"}}, "required": ["kind"]}]},
                },
            ]
        },
    },
}
FLOOD = {"type": "object", "properties": {"kind": {"const": "flood"}}, "required": ["kind"]}


def test_an_overlay_adds_and_marks_what_it_adds(tmp_path: Path) -> None:
    folder(tmp_path, "v1", "tide.json", BASE)
    folder(tmp_path, "v1", "kept.json", {"$schema": BASE["$schema"], "$defs": {"Kept": {"type": "integer"}}})
    adds: dict[str, Any] = {
        "#/$defs/Event/anyOf": [FLOOD],
        "#/$defs/Event/anyOf/1/not/anyOf": [{"properties": {"kind": {"const": "flood"}}, "required": ["kind"]}],
        "#/$defs/Gauge/properties": {"metres": {"type": "number"}},
        "#/$defs/Gauge": {"deprecated": None},
    }
    over = folder(
        tmp_path,
        "next",
        "tide.json",
        {"x-extends": "../v1/tide.json", "x-adds": adds, "$defs": {"Buoy": {"type": "string"}}},
    )
    folder(
        tmp_path, "next", "new.json", {"$schema": BASE["$schema"], "$defs": {"New": {"$ref": "tide.json#/$defs/Buoy"}}}
    )
    documents = {document.path: document.value for document in acpgen.load(over).documents}
    assert list(documents) == ["kept.json", "new.json", "tide.json"]
    definitions: dict[str, Any] = documents["tide.json"]["$defs"]  # type: ignore[assignment, call-overload, index]
    assert definitions["Buoy"] == {"type": "string", "x-unstable": True}
    assert definitions["Gauge"]["properties"] == {
        "id": {"type": "string"},
        "metres": {"type": "number", "x-unstable": True},
    }
    assert "deprecated" not in definitions["Gauge"]
    branches: Any = definitions["Event"]["anyOf"]
    assert branches[1] == {**FLOOD, "x-unstable": True}
    assert branches[2]["title"] == "other", "the fallback stays the last"
    assert len(branches[2]["not"]["anyOf"]) == 2
    assert documents["new.json"]["$defs"]["New"]["x-unstable"] is True  # type: ignore[call-overload, index]


def test_an_overlay_is_read_at_a_git_revision_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder(tmp_path, "v1", "tide.json", BASE)
    adds = {"#/$defs/Gauge/properties": {"metres": {"type": "number"}}}
    folder(tmp_path, "next", "tide.json", {"x-extends": "../v1/tide.json", "x-adds": adds})
    for command in (["init", "-q"], ["add", "-A"], ["-c", "user.name=a", "-c", "user.email=a@b", "commit", "-qm", "a"]):
        subprocess.run(["git", *command], cwd=tmp_path, check=True)
    monkeypatch.chdir(tmp_path)
    found = open_input("HEAD:next", checked=True).documents
    assert [document.value for document in found.documents] == [
        document.value for document in acpgen.load(tmp_path / "next").documents
    ]


def test_what_a_file_of_the_other_folder_says_wrong_is_told_there(tmp_path: Path) -> None:
    broken = {"$schema": BASE["$schema"], "$defs": {"Kept": {"type": 7}}}
    folder(tmp_path, "v1", "kept.json", broken)
    folder(tmp_path, "v1", "tide.json", BASE)
    over = folder(tmp_path, "next", "tide.json", {"x-extends": "../v1/tide.json"})
    with pytest.raises(Faults) as caught:
        acpgen.load(over)
    assert [Path(fault.at.partition("#")[0]).parent.name for fault in caught.value.faults] == ["v1"]


@pytest.mark.parametrize("version", CHANNELS)
def test_the_unstable_channel_holds_what_upstream_tries_out(version: str) -> None:
    names = [f"upstream/acp-{version}-newest/schema{edition}.json" for edition in ("", ".unstable")]
    evidence.need(*names)
    stable, theirs = (json.loads(evidence.path(name).read_text())["$defs"] for name in names)
    ours, kept = definitions(f"acp/unstable/{version}"), definitions(f"acp/{version}")
    assert theirs.keys() <= ours.keys()
    for key, schema in theirs.items():
        told, said = (set(one[key].get("properties", ())) for one in (theirs, ours))
        if key in stable:  # in which ours may say more than upstream
            before = set(kept[key].get("properties", ()))
            assert told - set(stable[key].get("properties", ())) - before == said - before, key
        else:
            assert told == said, key
            assert set(schema.get("required", ())) == set(ours[key].get("required", ())), key
    methods = {(one.get("x-method"), one.get("x-side")) for one in theirs.values()}
    assert methods <= {(one.get("x-method"), one.get("x-side")) for one in ours.values()}


@pytest.mark.parametrize("version", tiers.sample(CHANNELS, 1))
def test_without_what_is_unstable_the_channel_is_the_stable_version(version: str) -> None:
    stable, unstable = (acpgen.load(ROOT / "schema" / "acp" / name) for name in (version, f"unstable/{version}"))
    report = acpgen.compare(stable, unstable)
    more = {finding.rule for finding in report.findings if finding.severity not in ("identical", "editorial")}
    # Unions no longer take the new tags as unknown or undeclared, so that a bad body of one is refused.
    assert more == {"undeclared-narrowed", *(["limit-tightened"] if version == "v2" else [])}
    report = acpgen.compare(stable, unstable, unstable=True)
    assert report.verdict not in ("identical", "editorial")


def definitions(protocol: str) -> dict[str, Any]:
    return {
        name: schema
        for document in validators.find(protocol).documents
        for name, schema in document.value.get("$defs", {}).items()  # type: ignore[union-attr]
    }


def test_a_single_file_extends_another_one_too(tmp_path: Path) -> None:
    folder(tmp_path, "v1", "tide.json", BASE)
    over = folder(
        tmp_path, "next", "tide.json", {"x-extends": "../v1/tide.json", "$defs": {"Buoy": {"type": "string"}}}
    )
    (document,) = acpgen.load(over / "tide.json").documents
    assert list(document.value["$defs"]) == ["Gauge", "Event", "Buoy"]  # type: ignore[arg-type, call-overload, index]


def test_a_folder_of_protocols_is_read_with_each_of_them_extended(tmp_path: Path) -> None:
    folder(tmp_path, "v1", "tide.json", BASE)
    folder(tmp_path, "v1", "kept.json", {"$schema": BASE["$schema"], "$defs": {"Kept": {"type": "integer"}}})
    folder(tmp_path, "next", "tide.json", {"x-extends": "../v1/tide.json", "$defs": {"Buoy": {"type": "string"}}})
    found = {document.path: document.value for document in acpgen.load(tmp_path).documents}
    assert list(found) == ["next/kept.json", "next/tide.json", "v1/kept.json", "v1/tide.json"]
    assert list(found["next/tide.json"]["$defs"]) == ["Gauge", "Event", "Buoy"]  # type: ignore[arg-type, call-overload, index]


def test_lint_tells_each_finding_once_where_it_is_written(tmp_path: Path) -> None:
    base = json.loads(json.dumps(BASE).replace('"deprecated": true', '"x-old": 1'))
    base["$defs"]["Event"]["anyOf"][1]["x-old"] = 1
    flood = {**FLOOD, "x-new": 1}
    adds = {
        "#/$defs/Event/anyOf": [FLOOD, flood],
        "#/$defs/Gauge/properties": {"metres": {"type": "number", "x-new": 1}},
    }
    over = {"title": "Next", "x-extends": "../v1/tide.json", "x-adds": adds, "$defs": {"Buoy": {"x-new": 1}}}
    for name, value in (("v1", base), ("next", over)):
        folder(tmp_path, name, "tide.json", value)
        (tmp_path / name / "tide.json").write_text(json.dumps(value, indent=1))
    folder(tmp_path, "v1", "kept.json", {"$schema": BASE["$schema"], "$defs": {"Kept": {"x-old": 1}}})

    def told(*paths: Path, project: bool = True) -> list[tuple[str, str]]:
        found = [each for each in lint_paths(paths, [tmp_path] if project else ()) if each.rule == "keyword-unknown"]
        assert len({(each.file, each.line) for each in found}) == len(found)
        for each in found:
            assert each.pointer.rpartition("/")[2] in Path(each.file).read_text().splitlines()[each.line - 1]
        return [(Path(each.file).parent.name, each.pointer.rpartition("/")[2]) for each in found]

    news, olds = [("next", "x-new")] * 3, [("v1", "x-old")] * 3
    assert told(tmp_path) == told(tmp_path / "next") == told(tmp_path, tmp_path / "v1", project=False) == news + olds
    assert told(tmp_path / "v1") == olds
    assert told(tmp_path / "next" / "tide.json") == news
    assert told(tmp_path / "v1" / "tide.json") == olds[:2]


def test_lint_of_a_file_tells_what_it_breaks_in_the_one_that_it_extends(tmp_path: Path) -> None:
    folder(tmp_path, "v1", "tide.json", BASE)
    adds = {"#/$defs/Event/anyOf": [{"type": "object", "properties": {"other": {"type": "string"}}}]}
    folder(tmp_path, "next", "tide.json", {"x-extends": "../v1/tide.json", "x-adds": adds})
    found = {
        name: {each.rule for each in lint_paths([tmp_path / name / "tide.json"], [tmp_path])} for name in ("v1", "next")
    }
    assert found["next"] - found["v1"] == {"default-overlapping"}


def test_faults_of_an_overlay_are_told_where_they_are_written(tmp_path: Path) -> None:
    folder(tmp_path, "v1", "tide.json", BASE)
    adds = {"#/$defs/Gauge/properties": {"metres": {"type": 7}}}
    over = folder(tmp_path, "next", "tide.json", {"x-extends": "../v1/tide.json", "x-adds": adds})
    with pytest.raises(Faults) as caught:
        acpgen.load(over)
    (fault,) = caught.value.faults
    assert fault.at == f"{over}/tide.json#/x-adds/#~1$defs~1Gauge~1properties/metres/type"
