"""Leniency: what the schema allows to drop is dropped, each drop is told with its place in the message as it came."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator
from typing import Any, Final

import pytest

from acpgen import ir
from acpgen.meaning.samples import find_array
from acpgen.targets import docs
from acpgen.targets.interface import Settings
from bindings.instances import smallest, smallest_of, wrong_for
from bindings.subjects import OWN, SOURCES, Subject, Subjects, parameters, same
from jsonrpc_bindings.engine import Engine
from jsonrpc_bindings.explain import SchemaError

ON_ERROR: Final = "x-deserialize-default-on-error"
SKIP: Final = "x-deserialize-skip-invalid-items"
ON_NULL: Final = "x-deserialize-default-on-null"

TEXT: Final = {"type": "string"}
ITEMS: Final = {"type": "array", "items": {"$ref": "#/$defs/Item"}}
MAYBE: Final = {"type": ["array", "null"], "items": {"$ref": "#/$defs/Item"}}

DEFINITIONS: Final[dict[str, Any]] = {
    "Item": {
        "type": "object",
        "properties": {
            "name": TEXT,
            "note": {**TEXT, ON_ERROR: True},
            "parts": {**ITEMS, SKIP: True},
            "kind": {"enum": ["a", "b"]},
        },
        "required": ["name"],
    },
    "Inner": {
        "type": "object",
        "properties": {"must": TEXT, "deep": {**TEXT, ON_ERROR: True}, "strict": TEXT},
        "required": ["must"],
    },
    "Choice": {
        "oneOf": [
            {
                "type": "object",
                "properties": {"type": {"const": "one"}, "item": {"$ref": "#/$defs/Item"}},
                "required": ["type", "item"],
            },
            {"type": "object", "properties": {"type": {"const": "two"}}, "required": ["type"]},
        ]
    },
    "Box": {
        "type": "object",
        "properties": {
            "plain": TEXT,
            "optional": {**TEXT, ON_ERROR: True},
            "nullable": {"type": ["string", "null"], ON_ERROR: True},
            "defaulted": {"type": "integer", "default": 3, ON_ERROR: True},
            "items": {**ITEMS, SKIP: True},
            "both": {**MAYBE, SKIP: True, ON_ERROR: True},
            "whole": {**ITEMS, ON_ERROR: True},
            "inner": {"$ref": "#/$defs/Inner", ON_ERROR: True},
            "bare": {"$ref": "#/$defs/Inner"},
            "matrix": {"type": "array", "items": {"type": "array", "items": {"type": "integer"}}, SKIP: True},
            "map": {"type": "object", "additionalProperties": {"$ref": "#/$defs/Item"}, ON_ERROR: True},
            "args": {"type": "array", "items": TEXT, ON_NULL: True},
            "choice": {"$ref": "#/$defs/Choice", ON_ERROR: True},
            "choices": {"type": "array", "items": {"$ref": "#/$defs/Choice"}, SKIP: True},
            "some": {"type": "array", "items": {"$ref": "#/$defs/Item"}, "minItems": 1, SKIP: True},
        },
    },
    "Required": {
        "type": "object",
        "properties": {
            "items": {**ITEMS, SKIP: True, ON_ERROR: True},
            "args": {"type": "array", "items": TEXT, ON_NULL: True},
            "atLeastOne": {**ITEMS, "minItems": 1, ON_ERROR: True},
            "text": {**TEXT, ON_ERROR: True},
        },
        "required": ["items", "args"],
    },
    "Stubborn": {
        "type": "object",
        "properties": {"atLeastOne": {**ITEMS, "minItems": 1, ON_ERROR: True}},
        "required": ["atLeastOne"],
    },
    "Around": {"type": "object", "properties": {"stubborn": {"$ref": "#/$defs/Stubborn", ON_ERROR: True}}},
}


@pytest.fixture(scope="session")
def box(subjects: Subjects) -> Subject:
    """Bindings of a schema with each keyword in each shape."""
    return subjects.keep(subjects.small("lenient", DEFINITIONS))


def forgiven(subject: Subject, definition: str, value: Any) -> tuple[Any, list[tuple[str, Any]]]:
    """What decoding makes of a value, written as JSON again, and what it dropped."""
    told: list[Any] = []
    found = subject.module.decode_as(subject.type(definition), value, on_drop=told.append)
    for drop in told:
        assert drop.problem.sentence
        assert drop.problem.pointer.startswith(drop.pointer) or drop.pointer.startswith(drop.problem.pointer)
    written = subject.encoded(found)
    assert same(subject.encoded(subject.module.decode_as(subject.type(definition), written, lenient=False)), written)
    return written, [(drop.pointer, drop.value) for drop in told]


GOOD: Final = {"name": "n"}

CASES: Final[dict[str, tuple[Any, Any, list[tuple[str, Any]]]]] = {
    "a bad optional value is dropped": ({"optional": 5, "plain": "p"}, {"plain": "p"}, [("/optional", 5)]),
    "a good value stays": ({"optional": "x"}, {"optional": "x"}, []),
    "null is a bad value where the schema has no null": ({"optional": None}, {}, [("/optional", None)]),
    "null stays where the schema has it": ({"nullable": None}, {"nullable": None}, []),
    "a field with a default falls back to it": ({"defaulted": "three"}, {}, [("/defaulted", "three")]),
    "a bad item is skipped": ({"items": [GOOD, 5, GOOD]}, {"items": [GOOD, GOOD]}, [("/items/1", 5)]),
    "places count from the message as it came": (
        {"items": [1, GOOD, {}, GOOD, {"name": 3}, {"name": "m", "note": 4}]},
        {"items": [GOOD, GOOD, {"name": "m"}]},
        [("/items/0", 1), ("/items/2", {}), ("/items/4", {"name": 3}), ("/items/5/note", 4)],
    ),
    "all items may be bad": ({"items": [1, 2]}, {"items": []}, [("/items/0", 1), ("/items/1", 2)]),
    "the nearest place forgives: an item of an item": (
        {"items": [{"name": "n", "parts": [GOOD, {"name": None}]}]},
        {"items": [{"name": "n", "parts": [GOOD]}]},
        [("/items/0/parts/1", {"name": None})],
    ),
    "the nearest place forgives: a field of an item": (
        {"items": [{"name": "n", "note": []}]},
        {"items": [GOOD]},
        [("/items/0/note", [])],
    ),
    "a list that is none is not an item": ({"both": 5}, {}, [("/both", 5)]),
    "a list of both kinds skips items": ({"both": [5]}, {"both": []}, [("/both/0", 5)]),
    "a list that is null stays null": ({"both": None}, {"both": None}, []),
    "a list that skips no items is dropped whole": ({"whole": [GOOD, 5]}, {}, [("/whole", [GOOD, 5])]),
    "a record is dropped when its own field is bad": ({"inner": {"must": 5}}, {}, [("/inner", {"must": 5})]),
    "a record is dropped when a field is missing": ({"inner": {}}, {}, [("/inner", {})]),
    "a record is kept when an inner field forgives": (
        {"inner": {"must": "m", "deep": 1}},
        {"inner": {"must": "m"}},
        [("/inner/deep", 1)],
    ),
    "two faults, one outer drop": ({"inner": {"must": 1, "strict": 2}}, {}, [("/inner", {"must": 1, "strict": 2})]),
    "an inner drop is not told beside the outer one": (
        {"inner": {"must": 1, "deep": 2}},
        {},
        [("/inner", {"must": 1, "deep": 2})],
    ),
    "a field in a record that does not forgive": (
        {"bare": {"must": "m", "deep": 1}},
        {"bare": {"must": "m"}},
        [("/bare/deep", 1)],
    ),
    "a bad row of a matrix is skipped whole": (
        {"matrix": [[1], ["x"], [2]]},
        {"matrix": [[1], [2]]},
        [("/matrix/1", ["x"])],
    ),
    "a map is dropped for one bad value": ({"map": {"a": GOOD, "b/c~d": 5}}, {}, [("/map", {"a": GOOD, "b/c~d": 5})]),
    "a map's value forgives for itself": (
        {"map": {"b/c~d": {"name": "n", "note": 5}}},
        {"map": {"b/c~d": GOOD}},
        [("/map/b~1c~0d/note", 5)],
    ),
    "a key that looks like one of pydantic's own steps": (
        {"map": {"\0": {"name": "n", "note": 5}, "[key]": {"name": "n", "note": 6}, "function-wrap[f()]": GOOD}},
        {"map": {"\0": GOOD, "[key]": GOOD, "function-wrap[f()]": GOOD}},
        [("/map/\0/note", 5), ("/map/[key]/note", 6)],
    ),
    "null in place of an array": ({"args": None}, {}, [("/args", None)]),
    "a closed tag that is unknown": ({"choice": {"type": "new"}}, {}, [("/choice", {"type": "new"})]),
    "a known tag with a bad body": (
        {"choice": {"type": "one", "item": 5}},
        {},
        [("/choice", {"type": "one", "item": 5})],
    ),
    "a bad variant among items": (
        {"choices": [{"type": "two"}, {"type": "one"}, {}, {"type": "one", "item": {"name": "n", "note": 5}}]},
        {"choices": [{"type": "two"}, {"type": "one", "item": GOOD}]},
        [("/choices/1", {"type": "one"}), ("/choices/2", {}), ("/choices/3/item/note", 5)],
    ),
    "an enumeration's value": (
        {"items": [{"name": "n", "kind": "c"}]},
        {"items": []},
        [("/items/0", {"name": "n", "kind": "c"})],
    ),
    "whole numbers are no faults": ({"defaulted": 4.0, "optional": 5}, {"defaulted": 4}, [("/optional", 5)]),
    "unknown fields stay": (
        {"optional": 5, "default_ed": [1], "x": None},
        {"default_ed": [1], "x": None},
        [("/optional", 5)],
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_what_is_bad_is_dropped_at_the_nearest_place_and_told(box: Subject, case: str) -> None:
    value, expected, drops = CASES[case]
    written, told = forgiven(box, "Box", value)
    assert same(written, expected)
    assert sorted(told, key=str) == sorted(drops, key=str)


REFUSED: Final[dict[str, tuple[str, Any, list[str]]]] = {
    "a field that forgives nothing": ("Box", {"plain": 5}, ["/plain"]),
    "a list that is none, where only items are skipped": ("Box", {"items": 5}, ["/items"]),
    "null in place of an array that only skips items": ("Box", {"items": None}, ["/items"]),
    "an item, where only null is forgiven": ("Box", {"args": [5]}, ["/args/0"]),
    "a fault in a record that forgives elsewhere": ("Box", {"bare": {"must": 5, "deep": 1}}, ["/bare/must"]),
    "what forgiving leaves does not fit": ("Box", {"some": [5]}, ["/some", "/some/0"]),
    "an empty list where one must be": ("Stubborn", {"atLeastOne": []}, ["/atLeastOne"]),
    "a list whose default does not fit": ("Stubborn", {"atLeastOne": 5}, ["/atLeastOne"]),
    "a field that is missing and cannot be made up": ("Stubborn", {}, [""]),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_nothing_forgives_is_refused_and_nothing_is_told(box: Subject, case: str) -> None:
    definition, value, pointers = REFUSED[case]
    told: list[Any] = []
    with pytest.raises(box.runtime.DecodeError) as caught:
        box.module.decode_as(box.type(definition), value, on_drop=told.append)
    assert [problem.pointer for problem in caught.value.problems] == pointers
    assert not told


def test_a_required_array_becomes_empty(box: Subject) -> None:
    assert forgiven(box, "Required", {"items": 5, "args": []}) == ({"items": [], "args": []}, [("/items", 5)])
    assert forgiven(box, "Required", {"items": [5], "args": []}) == ({"items": [], "args": []}, [("/items/0", 5)])
    assert forgiven(box, "Required", {"items": [], "args": None}) == ({"items": [], "args": []}, [("/args", None)])
    assert forgiven(box, "Required", {"args": []}) == ({"items": [], "args": []}, [("/items", None)])


def test_the_next_place_outwards_forgives_what_a_default_does_not_mend(box: Subject) -> None:
    value = {"stubborn": {"atLeastOne": 5}}
    assert forgiven(box, "Around", value) == ({}, [("/stubborn", {"atLeastOne": 5})])


def test_with_leniency_off_the_same_places_are_errors(box: Subject) -> None:
    for case, (value, _, drops) in CASES.items():
        if not drops:
            continue
        with pytest.raises(box.runtime.DecodeError) as caught:
            box.module.decode_as(box.type("Box"), value, lenient=False)
        pointers = [problem.pointer for problem in caught.value.problems]
        for where, _ in drops:
            assert any(one.startswith(where) for one in pointers), case


def test_a_hook_that_raises_stops_decoding_with_its_own_error(box: Subject) -> None:
    def refuse(drop: Any) -> None:
        raise LookupError(drop.pointer)

    with pytest.raises(LookupError, match="/optional"):
        box.module.decode_as(box.type("Box"), {"optional": 5}, on_drop=refuse)


def test_what_leniency_dropped_is_dropped_from_messages_too(subjects: Subjects) -> None:
    subject, told = subjects("acp_v1"), list[Any]()
    message = {
        "jsonrpc": "2.0",
        "id": 1,
        "result": {"protocolVersion": 1, "authMethods": [5, {"id": "a", "name": "A"}, {"id": 1}], "_meta": 7},
    }
    found = subject.module.decode(message, sender="agent", method="initialize", on_drop=told.append)
    assert sorted(drop.pointer for drop in told) == ["/result/_meta", "/result/authMethods/0", "/result/authMethods/2"]
    assert [method.name for method in found.result.auth_methods] == ["A"]
    assert subject.encoded(found)["result"] == {"protocolVersion": 1, "authMethods": [{"id": "a", "name": "A"}]}


def test_of_very_many_problems_the_first_are_told_and_of_very_many_drops_all(box: Subject) -> None:
    items = [{"name": "n", "note": index} if index % 2 else {"name": index} for index in range(3000)]
    written, told = forgiven(box, "Box", {"items": items})
    assert written == {"items": [{"name": "n"}] * 1500}
    places = [f"/items/{index}/note" if index % 2 else f"/items/{index}" for index in range(3000)]
    assert [pointer for pointer, _ in told] == places
    for lenient, value in ((False, {"items": items}), (True, {"bare": {"must": "m"}, "whole": 5, "args": [5] * 3000})):
        problems = box.problems("Box", value, lenient=lenient)
        assert len(problems) == 101
        assert (problems[-1].pointer, problems[-1].sentence) == ("", "there are more problems than these 100")
    assert len(box.problems("Box", {"args": [5] * 100})) == 100


def test_places_are_those_of_the_message_as_it_came_however_many_items_were_dropped(box: Subject) -> None:
    chance = random.Random(7)
    for _ in range(50):
        dropped, noted = (set(chance.sample(range(40), chance.randrange(40))) for _ in range(2))
        items = [5 if index in dropped else {"name": str(index), "note": 5} for index in range(40)]
        items = [
            item if index in dropped or index in noted else {"name": str(index)} for index, item in enumerate(items)
        ]
        written, told = forgiven(box, "Box", {"items": items})
        assert [item["name"] for item in written["items"]] == [str(one) for one in range(40) if one not in dropped]
        wanted = {f"/items/{one}" if one in dropped else f"/items/{one}/note" for one in dropped | noted}
        assert {place for place, _ in told} == wanted


def test_a_bad_tag_is_forgiven_where_the_field_of_the_tag_forgives(subjects: Subjects) -> None:
    subject = subjects("acp_v2")
    tags: list[Any] = [5, [], {}, True]
    for bad in tags:
        value = {"sessionUpdate": "state_update", "state": "idle", "stopReason": bad}
        written, told = forgiven(subject, "SessionUpdate", value)
        assert told == [("/stopReason", bad)]
        assert written == {"sessionUpdate": "state_update", "state": "idle"}


# --- the canonical schemas -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("source", parameters(OWN))
def test_ours_never_forgives_what_decides_or_what_a_person_is_asked(subjects: Subjects, source: str) -> None:
    for definition in subjects(source).protocol.definitions.values():
        for field in definition.fields if isinstance(definition, ir.Record) else ():
            asked = definition.name.startswith("RequestPermission") and field.name in {"title", "subject", "options"}
            root = field.name == "additionalDirectories" and not definition.name.endswith("Capabilities")
            assert field.leniency == ir.Leniency() or not (asked or root), (definition.name, field)


@pytest.mark.parametrize("source", ["own_v1", "own_v2"])
def test_ours_refuses_a_bad_root_and_a_bad_option_with_leniency_on(subjects: Subjects, source: str) -> None:
    subject = subjects(source)
    new: dict[str, Any] = {"cwd": "/w", "mcpServers": []}
    roots: list[Any] = [None, ["relative"], [5], "text", {}]
    for root in roots:
        value: dict[str, Any] = {**new, "additionalDirectories": root}
        problems = subject.problems("NewSessionRequest", value, lenient=True)
        assert problems[0].pointer.startswith("/additionalDirectories")
    ask: dict[str, Any] = {"sessionId": "s", "options": [{"optionId": "o", "name": "N", "kind": "allow_once"}]}
    command = {"type": "command", "command": "c", "cwd": "/"}
    ask |= {"toolCall": {"toolCallId": "t"}} if source == "own_v1" else {"title": "T", "subject": command}
    subject.module.decode_as(subject.type("RequestPermissionRequest"), ask, lenient=False)
    options: list[Any] = [5, {}, {**ask["options"][0], "kind": 5}, {**ask["options"][0], "optionId": 1}]
    for bad_option in options:
        value = {**ask, "options": [*ask["options"], bad_option]}
        problems = subject.problems("RequestPermissionRequest", value, lenient=True)
        assert all(problem.pointer.startswith("/options/1") for problem in problems)
    for bad in [None, 5, "text"]:
        problems = subject.problems("RequestPermissionRequest", {**ask, "options": bad}, lenient=True)
        assert [problem.pointer for problem in problems] == ["/options"]
    if source == "own_v2":
        asked: list[tuple[str, Any]] = [("title", 5), ("title", None), ("subject", 5), ("subject", {"type": "command"})]
        for name, what in asked:
            problems = subject.problems("RequestPermissionRequest", {**ask, name: what}, lenient=True)
            assert problems[0].pointer.startswith(f"/{name}")


@pytest.mark.parametrize("source", parameters(SOURCES))
def test_every_forgiving_field_forgives_or_its_record_is_refused(subjects: Subjects, source: str) -> None:
    """Each field of each record with leniency, given a value of the wrong type, is dropped and told at its place."""
    subject = subjects(source)
    for record in subject.protocol.definitions.values():
        if not isinstance(record, ir.Record):
            continue
        value = smallest(subject.meaning, record.name)
        for field in record.fields:
            if not field.leniency.default_on_error or (field.required and not isinstance(field.type, ir.Array)):
                continue
            for bad in wrong_for(subject.meaning, field.type):
                left = {key: item for key, item in value.items() if key != field.name}
                expected: dict[str, Any] = {**left, field.name: []} if field.required else left
                if not subject.meaning.accepts(record.name, expected):
                    problems = subject.problems(record.name, {**value, field.name: bad}, lenient=True)
                    assert [problem.pointer for problem in problems] == [f"/{field.name}"]
                    continue
                written, told = forgiven(subject, record.name, {**value, field.name: bad})
                assert told == [(f"/{field.name}", bad)], (record.name, field.name)
                assert same(written, expected)


# --- what the docs say of it -----------------------------------------------------------------------------------------

ODD: Final[dict[str, Any]] = {
    "Tagged": {
        "anyOf": [
            {"type": "object", "properties": {"tag": {"const": "a", ON_ERROR: True}}, "required": ["tag"]},
            {"type": "object", "properties": {"tag": {"const": "b", ON_ERROR: True}}, "required": ["tag"]},
        ]
    },
    "List": {"type": "array", "items": TEXT},
    "Odd": {
        "type": "object",
        "properties": {
            "text": {**TEXT, ON_ERROR: True},
            "number": {"type": "integer", ON_NULL: True},
            "named": {"$ref": "#/$defs/List", ON_ERROR: True, SKIP: True},
            "namedNull": {"anyOf": [{"$ref": "#/$defs/List"}, {"type": "null"}], ON_ERROR: True, SKIP: True},
            "few": {"type": "array", "items": TEXT, "minItems": 2, ON_ERROR: True, SKIP: True},
            "none": {"type": "array", "items": TEXT, "minItems": 1, ON_NULL: True},
            "only": {"type": "array", "items": TEXT, SKIP: True},
            "either": {"anyOf": [{"type": "array", "items": TEXT}, {"type": "integer"}], ON_ERROR: True, SKIP: True},
        },
        "required": ["text", "number", "named", "namedNull", "few", "none", "only", "either"],
    },
    "Optional": {
        "type": "object",
        "properties": {
            "few": {"type": "array", "items": TEXT, "minItems": 2, ON_ERROR: True, SKIP: True},
            "fewer": {"type": "array", "items": TEXT, "minItems": 1, SKIP: True},
            "nullable": {"type": ["integer", "null"], ON_NULL: True},
            "number": {"type": "integer", "default": 4, ON_NULL: True, ON_ERROR: True},
            "either": {"anyOf": [{"type": "array", "items": TEXT}, {"type": "integer"}], SKIP: True},
        },
    },
}

REFUSED_VALUE: Final = object()
LEFT_OUT: Final = object()
INSTEAD: Final[dict[str, Any]] = {"as if the field were omitted": LEFT_OUT, "as an empty array": []}


def sentences(subject: Subject) -> Iterator[tuple[ir.Record, ir.Field, str]]:
    """What the page of each record says of the leniency of each of its fields."""
    pages = docs.render(subject.protocol, subject.bundle, Settings())
    where = docs.find_page_paths(subject.protocol, subject.bundle)
    for record in subject.protocol.definitions.values():
        if not isinstance(record, ir.Record):
            continue
        lines = pages[where.types[record.name]].splitlines()
        rows = [line for line in lines if line.startswith('| <a id="field-')]
        assert len(rows) == len(record.fields)
        for field, row in zip(record.fields, rows, strict=True):
            (*_, said) = row.removesuffix(" |").split("<br>")[-1].split(" | ")
            mark = "[lenient](../messages.md#lenient)"
            is_told = said.startswith((mark, "Declared as lenient"))
            assert is_told or "enient" not in row, row
            said = "an invalid value is read as if the field were omitted" if said == mark else said
            yield record, field, said.removeprefix(f"{mark}: ").rstrip(".") if is_told else ""


def decoded(subject: Subject, definition: str, value: Any, name: str) -> Any:
    """What decoding makes of a field: a value, `LEFT_OUT` or `REFUSED_VALUE`; nothing else of the object changes."""
    try:
        written, _ = forgiven(subject, definition, value)
    except subject.runtime.DecodeError:
        return REFUSED_VALUE
    rest = {key: item for key, item in value.items() if key != name}
    assert same({key: item for key, item in written.items() if key != name}, rest)
    return written.get(name, LEFT_OUT)


def expected_of(said: str, bad: Any) -> Any:
    """What a sentence says becomes of a value that is wrong as a whole, `LEFT_OUT` for one that is missing."""
    for clause in said.split("; "):
        found = re.fullmatch(
            r"(an invalid|any other invalid|null)( or missing)?(?: value)?(.*) is read (as .*)", clause
        )
        if found is None or (found[1] == "null" and bad is not None):
            continue
        if bad is not LEFT_OUT or found[2]:
            return INSTEAD[found[4]]
    return REFUSED_VALUE


def unions_of(subject: Subject, record: ir.Record, tag: str) -> list[ir.TaggedUnion]:
    """The unions in which a record is one of those with a tag, and which have a branch without."""
    return [
        union
        for union in subject.protocol.definitions.values()
        if isinstance(union, ir.TaggedUnion) and union.tag == tag and union.default is not None
        if record.name in {*(variant.type for variant in union.variants), union.fallback, *union.fallback_shapes}
    ]


@pytest.mark.parametrize("source", ["own_v1", "own_v2", "small", "odd"])
def test_what_a_page_says_of_leniency_is_what_decoding_does(subjects: Subjects, box: Subject, source: str) -> None:
    """Every row of every type: bad values, bad items, null, a missing value and a bad tag become what its sentence says."""
    made = {"small": lambda: box, "odd": lambda: subjects.small("odd", ODD)}
    subject = made.get(source, lambda: subjects(source))()
    meaning = subject.meaning
    count = 0
    for record, field, said in sentences(subject):
        if field.leniency == ir.Leniency():
            assert not said, (record.name, field.name)
            continue
        count += 1
        small, name, where = smallest(meaning, record.name), field.name, (record.name, field.name, said)
        array = find_array(field.type, subject.protocol.definitions)
        for bad in wrong_for(meaning, field.type):
            if array is None or not isinstance(bad, list):
                found = decoded(subject, record.name, {**small, name: bad}, name)
                assert found == expected_of(said, bad), (where, bad)
        if not meaning.fits(field.type, None):
            found = decoded(subject, record.name, {**small, name: None}, name)
            assert found == expected_of(said, None), where
        if field.required:
            left = {key: item for key, item in small.items() if key != name}
            found = decoded(subject, record.name, left, name)
            assert found == expected_of(said, LEFT_OUT), where
        if "a tag that is not a string is read" in said:
            unions = unions_of(subject, record, name)
            assert unions, where
            assert all(decoded(subject, union.name, {**small, name: 7}, name) is LEFT_OUT for union in unions), where
        bad_items = wrong_for(meaning, array.items)[:1] if array is not None else []
        for bad in bad_items:
            assert array is not None
            good, least = smallest_of(meaning, array.items), array.min_items or 0
            found = decoded(subject, record.name, {**small, name: [*([good] * least), bad]}, name)
            dropped = [good] * least if "invalid items are dropped" in said else expected_of(said, bad)
            assert found == dropped or same(found, dropped), where
            if least and "invalid items are dropped" in said:
                found = decoded(subject, record.name, {**small, name: [*([good] * (least - 1)), bad]}, name)
                is_dropped = "also an array that becomes too short" in said
                assert found is (LEFT_OUT if is_dropped else REFUSED_VALUE), where
                assert is_dropped or f"at least {least} remain" in said, where
    assert count


def test_a_field_that_nothing_requires_is_dropped_without_a_look_at_the_others(
    subjects: Subjects, monkeypatch: pytest.MonkeyPatch
) -> None:
    names = [f"field{number}" for number in range(60)]
    lenient = {"type": "string", "x-deserialize-default-on-error": True}
    thing: dict[str, Any] = {"type": "object", "properties": dict.fromkeys(names, lenient), "required": names[:1]}
    subject = subjects.small("many_lenient_fields", {"Thing": thing})
    errors: list[SchemaError] = []
    find = Engine.find_problems

    def count(self: Engine, place: Any, value: Any) -> Iterator[SchemaError]:
        for error in find(self, place, value):
            errors.append(error)
            yield error

    monkeypatch.setattr(Engine, "find_problems", count)
    value = {**dict.fromkeys(names, 1), names[0]: "a"}
    dropped: list[str] = []
    decoded = subject.module.decode_as(subject.type("Thing"), value, on_drop=lambda one: dropped.append(one.pointer))
    assert subject.encoded(decoded) == {names[0]: "a"}
    assert dropped == [f"/{name}" for name in names[1:]]
    assert len(errors) < 2 * len(names)
