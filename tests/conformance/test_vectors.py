"""The vectors say what is true: every judge of ours agrees with every row, and the rows cover every method and every type."""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final, cast

import jsonschema
import jsonschema_rs
import pytest

import evidence
import tiers
from acpgen import ir
from acpgen.bundle.bundle import bundle
from acpgen.input.load import load
from acpgen.meaning.lower import lower
from acpgen.targets.installed import TARGETS
from acpgen.targets.interface import Settings
from bindings.meaning import Meaning
from bindings.subjects import OWN, SOURCES, Subject, Subjects, same, tolerant
from conformance.messages import message_schema
from conformance.report import OURS, ROOM, agree, columns, page, share
from conformance.vectors import PROTOCOLS, ROOT, Protocol, Vector, protocol

MOST_BYTES: Final = 1_500_000
"""Of the rows of one protocol."""

KNOWN: Final[frozenset[str]] = frozenset()
"""Rows that our own decoder handles otherwise. One that it handles as the row says is taken out of the list."""

SAID_TWICE: Final = {
    "#/$defs/RunningSessionStateUpdate/properties/state/const": "#/$defs/RunningStateUpdate/properties/state/const",
    "#/$defs/ErrorIdleSessionStateUpdate/properties/state/const": "#/$defs/ErrorStopReason/properties/state/const",
    "#/$defs/ErrorIdleSessionStateUpdate/properties/stopReason/const": "#/$defs/ErrorStopReason/properties/stopReason/const",
    "#/$defs/RequiresActionSessionStateUpdate/properties/state/const": (
        "#/$defs/RequiresActionStateUpdate/properties/state/const"
    ),
    "#/$defs/UnknownSessionStateUpdate/properties/state/const": "#/$defs/UnknownStateUpdate/properties/state/const",
}
"""Rules of `acp/unstable/v2` that a variant repeats of its body: vectors name the variant, our validator the body."""


@pytest.fixture(
    scope="module",
    params=[
        pytest.param(name, marks=pytest.mark.exhaustive if "unstable" in name else ())  # most of it is the stable one's
        for name in PROTOCOLS
    ],
)
def found(request: pytest.FixtureRequest) -> Protocol:
    return protocol(request.param)


# --- what they are ---------------------------------------------------------------------------------------------------


def test_every_row_is_what_the_schema_of_rows_says_and_has_an_id_of_its_own(found: Protocol) -> None:
    schema = json.loads((ROOT / "templates" / "vectors" / "row.schema.json").read_text("utf-8"))
    jsonschema.Draft202012Validator.check_schema(schema)
    validator = jsonschema_rs.Draft202012Validator(schema)
    for vector in found.vectors:
        assert validator.is_valid(vector.row), (
            vector.id,
            [error.message for error in validator.iter_errors(vector.row)],
        )
        assert vector.id.startswith(f"{found.name}:")
    assert len({vector.id for vector in found.vectors}) == len(found.vectors) > 100


def test_they_are_small_enough_to_check_in_and_the_same_every_time(found: Protocol) -> None:
    again = TARGETS["vectors"](found.meaning, found.bundle, Settings())
    assert again == found.files
    assert sum(len(text.encode()) for text in found.files.values()) < MOST_BYTES
    assert all(text.isascii() for path, text in found.files.items() if path.endswith(".jsonl"))


def test_the_index_lists_what_is_there(found: Protocol) -> None:
    index = json.loads(found.files["index.json"])
    assert index["files"] == sorted(path for path in found.files if path.endswith(".jsonl"))
    assert index["types_without_rows"] == []


def test_the_index_says_all_that_a_runner_needs_to_know_of_methods(found: Protocol) -> None:
    """A runner that knows nothing but this list, the schema and the README judges every whole message as its row does."""
    index = json.loads(found.files["index.json"])
    assert index["batches"] == found.meaning.batch
    methods = {(told["name"], told["kind"]): told for told in index["methods"]}
    assert list(methods) == [(method.name, method.kind) for method in found.meaning.methods]
    schema: dict[str, Any] = found.bundle.schema
    holds = {
        name: jsonschema_rs.Draft202012Validator({"$ref": f"#/$defs/{name}", "$defs": schema["$defs"]}).is_valid
        for told in index["methods"]
        for name in (told["params"], told.get("result"))
        if name is not None
    }
    judged = 0
    value: Any
    for vector in found.vectors:
        row = vector.row
        message: Any = row.get("message")
        if row.get("kind") not in ("request", "notification", "result") or row["label"] == "invalid:envelope":
            continue
        told = methods[row["method"], "notification" if row["kind"] == "notification" else "request"]
        if row["kind"] == "result":
            name, value = told["result"], message["result"]
        else:
            assert row["sender"] in told["senders"]
            name, value = told["params"], message.get("params")
            value = {} if value is None else value
        assert (name is None or holds[name](value)) == vector.valid, vector.id
        judged += 1
    assert judged > 50


# --- what they cover -------------------------------------------------------------------------------------------------


def test_every_type_is_shown_small_and_every_variant_and_constant_is(found: Protocol) -> None:
    shown = {(vector.row["type"], vector.row["label"]) for vector in found.vectors if "type" in vector.row}
    for name, definition in found.meaning.definitions.items():
        if name not in found.bundle.definitions:
            continue
        assert (name, "valid-minimal") in shown
        match definition:
            case ir.TaggedUnion():
                wanted = {f"variant:{variant.tag}" for variant in definition.variants}
                wanted |= {"unknown-variant"} if definition.openness != "closed" else set()
            case ir.Enum():
                wanted = {f"variant:{value.value}" for value in definition.values}
                refused = "invalid:const" if len(definition.values) == 1 else "invalid:enum"
                wanted |= {refused if definition.openness == "closed" else "unknown-variant"}
            case _:
                wanted = set[str]()
        assert {(name, label) for label in wanted} <= shown, name


def test_every_required_field_is_missed_and_every_field_that_forgives_is_forgiven(found: Protocol) -> None:
    rows, meaning = {vector.id for vector in found.vectors}, Meaning(found.meaning)
    values: tuple[Any, ...] = (7, "text", [], {}, True)
    for name, definition in found.meaning.definitions.items():
        if not isinstance(definition, ir.Record) or name not in found.bundle.definitions:
            continue
        subject = f"{found.name}:{name}"
        own = [id_ for id_ in rows if id_.startswith(f"{subject} ")]
        lenient = {id_.rpartition(" ")[2] for id_ in own if id_.startswith(f"{subject} lenient ")}
        refused = {id_.rpartition(" ")[2] for id_ in own if id_.startswith(f"{subject} invalid:")}
        for field in definition.fields:
            here = f"/{field.name}"
            if field.required and field.name not in dict(definition.excluded):
                wanted = {f"{subject} invalid:required [{field.name}]", f"{subject} lenient required {here}"}
                assert len(wanted & rows) == 1, (name, field.name)
            if field.leniency.default_on_error and not all(meaning.fits(field.type, value) for value in values):
                # What is required and has no default that fits is refused all the same.
                is_refused = field.required and here in refused
                assert is_refused or lenient & {here, f"{here}[7]"}, (name, field.name)
            if field.leniency.skip_invalid_items:
                assert f"{here}/0" in lenient, (name, field.name)
            if field.leniency.default_on_null:
                assert f"{subject} lenient null {here}" in rows, (name, field.name)


def test_every_method_is_shown_in_each_kind_of_its_messages(found: Protocol) -> None:
    shown = {
        (vector.row["method"], vector.row["kind"])
        for vector in found.vectors
        if "method" in vector.row and vector.row["label"] == "valid-minimal"
    }
    for method in found.meaning.methods:
        assert (method.name, method.kind) in shown
        assert method.kind == "notification" or (method.name, "result") in shown
    codes = {vector.row["code"] for vector in found.vectors if vector.label == "invalid"}
    assert codes == {-32700, -32600, -32601, -32602}


def test_ids_stay_when_a_field_a_variant_and_a_type_are_added(tmp_path: Path) -> None:
    one: dict[str, Any] = {
        "type": "object",
        "properties": {"type": {"const": "a"}, "text": {"type": "string"}},
        "required": ["type"],
    }
    two: dict[str, Any] = {**one, "properties": {**one["properties"], "type": {"const": "b"}}}
    three: dict[str, Any] = {"type": "object", "properties": {"type": {"const": "c"}}, "required": ["type"]}
    grown: dict[str, Any] = {**one, "properties": {"added": {"type": "integer"}, **one["properties"]}}
    definitions = {
        "Block": {"anyOf": [one, two]},
        "Holder": {"type": "object", "properties": {"block": {"$ref": "#/$defs/Block"}}},
    }
    before = _ids(tmp_path / "before.json", definitions)
    after = _ids(
        tmp_path / "after.json", {"First": {"type": "string"}, **definitions, "Block": {"anyOf": [three, two, grown]}}
    )
    assert before
    assert before <= after


def _ids(file: Path, definitions: Mapping[str, Any]) -> set[str]:
    file.write_text(
        json.dumps({"$schema": "https://json-schema.org/draft/2020-12/schema", "$defs": definitions}), "utf-8"
    )
    bundled = bundle(load(file, name="test"))
    files = TARGETS["vectors"](lower(bundled), bundled, Settings())
    return {
        json.loads(line)["id"] for path, text in files.items() if path.endswith(".jsonl") for line in text.splitlines()
    }


# --- whether they are true -------------------------------------------------------------------------------------------


def test_json_schema_judges_every_row_as_it_says(found: Protocol) -> None:
    """By two validators that share no code. Rows of types against the bundle, whole messages against an envelope written by hand."""
    definitions, kept = found.bundle.schema["$defs"], tolerant(found.bundle)["$defs"]
    types = {
        "properties": {name: {"$ref": f"#/$defs/{name}"} for name in definitions}
    }  # all in one: compiling takes long
    known = ""
    fast = slow = tolerated = cast("Any", None)  # those of one schema at a time: each holds all definitions
    for vector in sorted((vector for vector in found.vectors if "text" not in vector.row), key=_schema_of):
        value, decoded = vector.row["message"], vector.row.get("decoded")
        if "type" in vector.row:
            value, decoded = {vector.row["type"]: value}, {vector.row["type"]: decoded}
        if _schema_of(vector) != known:
            known = _schema_of(vector)
            schema = types if "type" in vector.row else message_schema(found, vector.row)
            strict = {**schema, "$defs": definitions}
            fast, slow = jsonschema_rs.Draft202012Validator(strict), jsonschema.Draft202012Validator(strict)
            tolerated = jsonschema_rs.Draft202012Validator({**schema, "$defs": kept})
        assert fast.is_valid(value) is vector.valid, vector.id
        assert slow.is_valid(value) is vector.valid, vector.id
        if vector.label != "lenient" and not _is_null_result(vector):
            assert tolerated.is_valid(value) is vector.decodes, vector.id
        if vector.label == "lenient":
            assert tolerated.is_valid(decoded), vector.id


def _schema_of(vector: Vector) -> str:
    """The name of the schema that judges a row."""
    return "types" if "type" in vector.row else f"{vector.row['method']} {vector.row['sender']}"


def _is_null_result(vector: Vector) -> bool:
    return vector.label == "null" and vector.row.get("kind") == "result" and vector.row["message"]["result"] is None


def tried(subject: Subject, vector: Vector, **options: Any) -> tuple[Any, Any]:
    """What decoding makes of a row: a value, or an error."""
    row, module = vector.row, subject.module
    try:
        if "type" in row:
            return module.decode_as(subject.type(row["type"]), row["message"], **options), None
        line = row["text"] if "text" in row else json.dumps(row["message"])
        return module.decode(line, sender=row["sender"], method=row["method"], **options), None
    except subject.runtime.DecodeError as error:
        return None, error


def test_our_bindings_read_and_write_every_row_as_it_says(subjects: Subjects, found: Protocol) -> None:
    subject, otherwise = subjects(OURS[found.name]), set[str]()
    for vector in found.vectors:
        told: list[Any] = []
        value, error = tried(subject, vector, on_drop=told.append)
        if (error is None) is not vector.decodes:
            otherwise.add(vector.id)
        elif error is None:
            assert same(subject.encoded(value), vector.row.get("decoded", vector.row["message"])), vector.id
            assert [drop.pointer for drop in told] == vector.row.get("dropped", []), vector.id
        else:
            assert error.code == vector.row["code"], vector.id
            if vector.row["label"] not in ("invalid:envelope", "invalid:json"):
                assert {problem.pointer for problem in error.problems} == {vector.row["pointer"]}, vector.id
    assert otherwise == {id_ for id_ in KNOWN if id_.startswith(f"{found.name}:")}


def test_with_leniency_off_only_what_is_lenient_is_refused_beside(subjects: Subjects, found: Protocol) -> None:
    subject = subjects(OURS[found.name])
    for vector in found.vectors:
        if vector.id not in KNOWN:
            _, error = tried(subject, vector, lenient=False)
            assert (error is None) is (vector.decodes and vector.label != "lenient"), vector.id


def test_the_strict_validator_names_the_one_rule_that_a_row_breaks(subjects: Subjects, found: Protocol) -> None:
    module, broken = subjects(OURS[found.name]).module, Counter[str]()
    for vector in found.vectors:
        row = vector.row
        if "type" in row:
            violations = module.validate_as(row["type"], row["message"])
        else:
            line = row["text"] if "text" in row else json.dumps(row["message"])
            violations = module.validate(line, sender=row["sender"], method=row["method"])
        assert (not violations) is vector.valid, vector.id
        if vector.label != "invalid":
            continue
        rule = row["label"].removeprefix("invalid:")
        broken[rule] += 1
        assert {(one.pointer, one.rule, one.code) for one in violations} == {(row["pointer"], rule, row["code"])}, (
            vector.id
        )
        in_union = row["schema"].rpartition("/")[2] in ("anyOf", "oneOf")
        named = {one.schema for one in violations}
        assert in_union or SAID_TWICE.get(row["schema"], row["schema"]) in named, vector.id
    assert {"type", "required", "envelope", "method", "json"} <= set(broken)


@pytest.mark.parametrize("source", tiers.sample([name for name in SOURCES if name not in OWN], 1))
def test_vectors_of_upstreams_schemas_are_true_too(subjects: Subjects, source: str) -> None:
    """Schemas that nobody wrote for this: what cannot be shown is left out, and what is shown is so."""
    subject = subjects(source)
    files = TARGETS["vectors"](subject.protocol, subject.bundle, Settings())
    definitions = {"properties": {name: {"$ref": f"#/$defs/{name}"} for name in subject.bundle.definitions}}
    judge = jsonschema_rs.Draft202012Validator({**definitions, "$defs": subject.bundle.schema["$defs"]})
    otherwise: list[str] = []
    rows = [json.loads(line) for path, text in files.items() if "types/" in path for line in text.splitlines()]
    for row in rows:
        assert judge.is_valid({row["type"]: row["message"]}) is row["valid"], row["id"]
        try:
            value = subject.module.decode_as(subject.type(row["type"]), row["message"])
        except subject.runtime.DecodeError:
            otherwise += [row["id"]] if row["decodes"] else []
            continue
        otherwise += [] if row["decodes"] else [row["id"]]
        assert not row["decodes"] or same(subject.encoded(value), row.get("decoded", row["message"])), row["id"]
    assert otherwise == []
    assert len(rows) > 100


# --- other implementations -------------------------------------------------------------------------------------------


def test_a_page_of_shares_is_true_until_words_change_or_a_share_moves_far() -> None:
    assert [share(0, 3), share(1, 300), share(2, 3), share(299, 300), share(3, 3)] == [
        "none",
        "1 %",
        "66 %",
        "99 %",
        "all",
    ]
    assert agree("| 60 % | all |", f"| {60 + ROOM} % | all |")
    assert not agree("| 60 % | all |", f"| {60 - ROOM - 1} % | all |")
    assert not agree("| 60 % | all |", "| 60 % | 99 % |")
    assert not agree("| 60 % |", "| 60 % | 60 % |")


def test_the_official_sdks_accept_every_message_that_is_valid(subjects: Subjects) -> None:
    """They differ elsewhere, and the page says how much; a valid message that they refuse would be a fault of the vectors."""
    found = columns(subjects)
    text = page(found)
    for column in found:
        if column.outcome is None:
            assert f"{column.name} was not run: {column.reason}" in text
            continue
        judged, _, offered = column.outcome.total
        assert f" {share(judged, offered)} |" in text
        for label in ("valid-minimal", "valid-full", "variant", "unknown-field", "null", "omitted"):
            judged, _, offered = column.outcome.counts[label]
            assert judged == offered > 0, (column.name, column.protocol, label)
        if column.name.startswith("acp-bindings"):
            assert {*column.outcome.misjudged} <= KNOWN
            assert column.outcome.altered == ()
    unreached = [column for column in found if column.outcome is None]
    if unreached:
        assert "ACPGEN_SDKS" not in os.environ, "this run was to have the SDKs"
        evidence.lack("; ".join(f"{column.name}: {column.reason}" for column in unreached))
    published = (ROOT / "schema" / "pages" / "conformance.md").read_text("utf-8")
    assert agree(published, text), (
        "the page is not what was measured: python tests/bench/conformance.py schema/pages/conformance.md"
    )
