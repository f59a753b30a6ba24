"""Names for extensions, which begin with an underscore: what peers may send under them before they have a form, and after."""

from __future__ import annotations

import copy
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import jsonschema_rs
import pytest

from acpgen.compat.findings import Report
from acpgen.compat.report.text import text
from compat.protocols import Schema, compared

BASE: Schema = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "$defs": {
        "GoRequest": {
            "type": "object",
            "x-method": "t/go",
            "x-side": "agent",
            "properties": {"id": {"type": "string"}},
        }
    },
}

SENT: tuple[Any, ...] = (None, True, 0, 5, -1.5, "", "tide", [], [1], {}, {"_a": 1})


def declaring(name: str, form: Any) -> Schema:
    schema = copy.deepcopy(BASE)
    schema["$defs"]["GoRequest"]["properties"][name] = form
    return schema


def accepted(schema: Schema, params: Any) -> bool:
    return jsonschema_rs.validator_for({**schema, "$ref": "#/$defs/GoRequest"}).is_valid(params)


FORMS: dict[str, Any] = {
    "anything": {},
    "true": True,
    "every type": {"type": ["null", "boolean", "number", "string", "array", "object"]},
    "integer": {"type": "integer"},
    "text": {"type": "string"},
    "object": {"type": "object"},
    "enum": {"enum": ["a", None]},
    "all but one": {"not": {"const": 5}},
    "nothing": False,
}


@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)
def test_the_answer_for_peers_is_that_of_a_validator_for_all_they_may_send(form: Any) -> None:
    new = declaring("_retries", form)
    is_safe = all(accepted(new, {"_retries": value}) for value in SENT)
    there, back = compared(BASE, new), compared(new, BASE)
    assert (there.wire.backward, there.wire.forward) == ("yes" if is_safe else "no", "yes")
    assert (back.wire.backward, back.wire.forward) == ("yes", "yes" if is_safe else "no")
    assert is_safe == (there.verdict == "additive") == (back.verdict == "additive")
    assert [each for each in there.findings if (each.new and "_retries" in each.new.pointer) or not is_safe]


@pytest.mark.parametrize(
    ("form", "verdict"),
    [
        ({"type": ["object", "null"]}, "additive"),
        ({"type": "object", "properties": {"token": {"type": "string"}}}, "additive"),
        ({"type": "object", "properties": {"token": {"type": "string"}}, "required": ["token"]}, "risky"),
        ({"type": "object", "additionalProperties": {"type": "string"}}, "risky"),
        ({"type": "string"}, "risky"),
    ],
)
def test_meta_is_an_object_of_extensions_before_it_is_declared(form: Any, verdict: str) -> None:
    assert compared(BASE, declaring("_meta", form)).verdict == verdict
    assert compared(declaring("_meta", form), BASE).verdict == verdict


def test_a_finding_shows_the_message_that_is_refused() -> None:
    (finding,) = compared(BASE, declaring("_retries", {"type": "integer"})).findings
    assert (finding.rule, finding.severity) == ("extension-declared", "risky")
    witness: Any = finding.witness
    assert (witness.accepted_by, witness.refused_by, witness.verified) == ("old", "new", True)
    assert not isinstance(witness.value["params"]["_retries"], int)


def test_an_object_that_refuses_other_members_or_types_them_leaves_nothing_free() -> None:
    shut, typed = copy.deepcopy(BASE), copy.deepcopy(BASE)
    shut["$defs"]["GoRequest"]["additionalProperties"] = False
    typed["$defs"]["GoRequest"]["additionalProperties"] = {"type": "integer"}
    for old in (shut, typed):
        new = copy.deepcopy(old)
        new["$defs"]["GoRequest"]["properties"]["_retries"] = {"type": "integer"}
        assert compared(old, new).wire.backward == "yes"


def test_a_no_of_schema_inclusion_beside_a_yes_for_peers_says_what_it_counts() -> None:
    assert "(it counts what no peer sends" in plain(compared(BASE, declaring("retries", {"type": "integer"})))
    assert "it counts" not in plain(compared(BASE, declaring("_retries", {"type": "integer"})))


def plain(report: Report) -> str:
    return " ".join(text(report).split())


@pytest.mark.parametrize(
    ("name", "left"), [("_retries", {"description": "Tries."}), ("_meta", {"description": "Tries.", "type": "object"})]
)
def test_the_repair_keeps_the_field_and_takes_what_old_peers_send(tmp_path: Path, name: str, left: Any) -> None:
    old, new = tmp_path / "old.json", tmp_path / "new.json"
    old.write_text(json.dumps(BASE))
    new.write_text(json.dumps(declaring(name, {"description": "Tries.", "type": "integer"})))
    run = [sys.executable, "-m", "acpgen", "diff", old.name, new.name, "--fix"]
    assert subprocess.run(run, cwd=tmp_path, capture_output=True, check=False).returncode == 0
    assert json.loads(new.read_text())["$defs"]["GoRequest"]["properties"][name] == left


def choosing(**fallback: Any) -> Schema:
    """Params with a union that is open for tags of extensions; `fallback` are the members of what they lead to."""
    known = {"type": "object", "properties": {"kind": {"const": "a"}}, "required": ["kind"]}
    other = {"type": "object", "properties": {"kind": {"type": "string"}, **fallback}, "required": ["kind"]}
    other["not"] = {"properties": {"kind": {"const": "a"}}, "required": ["kind"]}
    schema = declaring("choice", {"$ref": "#/$defs/Choice"})
    schema["$defs"] |= {"Choice": {"anyOf": [known, {"$ref": "#/$defs/Other"}]}, "Other": other}
    return schema


META_FORM: Any = {"type": ["object", "null"], "additionalProperties": True}


def test_a_meta_that_is_declared_in_a_variant_of_extensions_is_tolerated_and_silences_nothing_else() -> None:
    text = {"type": "string"}
    assert compared(choosing(), choosing(_meta=META_FORM)).wire.backward == "yes"
    assert compared(choosing(_meta=META_FORM), choosing()).wire.forward == "yes"
    for form in (None, META_FORM):
        meta = {} if form is None else {"_meta": form}
        there, back = (
            compared(choosing(), choosing(note=text, **meta)),
            compared(choosing(note=text, **meta), choosing()),
        )
        assert (there.wire.backward, back.wire.forward) == ("no", "no")
        assert any(not isinstance(shown(each).get("note", ""), str) for each in there.findings)


def shown(finding: Any) -> Any:
    """The variant that a finding shows in its message."""
    value: Any = finding.witness.value if finding.witness is not None else {}
    return value.get("params", {}).get("choice", {})


def test_a_meta_in_an_object_that_declared_nothing_is_an_object_too() -> None:
    bare = copy.deepcopy(BASE)
    bare["$defs"]["GoRequest"]["properties"] = {}
    new = copy.deepcopy(bare)
    new["$defs"]["GoRequest"]["properties"]["_meta"] = META_FORM
    assert (compared(bare, new).wire.backward, compared(new, bare).wire.forward) == ("yes", "yes")
