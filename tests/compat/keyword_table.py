"""The verdict on a change of one keyword at one place of a schema, judged by `jsonschema`, which the comparison does not use for it.

Each keyword comes as three schemas, from none to strict, with values that show the difference; each place puts a schema and its values
into something larger. No direction is answered with "yes" where a value that one side accepts is refused by the other, and no change
of what is accepted is without a finding.
"""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final, TypeAlias, cast

from jsonschema import Draft7Validator, Draft202012Validator

from acpgen.compat.compare import compare
from acpgen.compat.findings import Mode, Report
from acpgen.errors import Faults
from acpgen.input.load import Document, Documents

Schema: TypeAlias = dict[str, Any]
Wrap: TypeAlias = "Callable[[Any], Any]"

DRAFT_7: Final = "http://json-schema.org/draft-07/schema#"
DRAFT_2020: Final = "https://json-schema.org/draft/2020-12/schema"
QUIET: Final = ("identical", "editorial")
LENIENT: Final = ("undeclared-narrowed", "undeclared-widened", "field-added", "field-removed")
"""Rules that tell of members that their sender does not declare: between peers these do not count."""

_TEXTS: Final = ("", "a", "ab", "abc", "abcd", "x1")
_NUMBERS: Final = (0, 1, 2, 3, 4, 6, 1.5, 0.25, -1, 10)
_LISTS: Final[tuple[Any, ...]] = (
    [],
    [1],
    [1, 1],
    [1, 2],
    ["s"],
    [1, "s"],
    ["s", 1],
    [1, 2, 3],
    [1, 2, 3, 4],
    ["s", "s"],
    [None],
)
_OBJECT: Final[Schema] = {"type": "object", "properties": {"a": {}, "b": {}, "c": {}}}
_OBJECTS: Final = tuple(
    dict(zip(names, values, strict=True))
    for count in range(4)
    for names in itertools.combinations("abc", count)
    for values in ([1] * count, ["s"] * count, [None] * count)
)
_ANY: Final[tuple[Any, ...]] = (None, True, 1, 1.5, "a", "b", [], [1], {}, {"a": 1})


@dataclass(frozen=True, slots=True)
class Keyword:
    """Schemas with nothing of a keyword, with a mild form and with a strict one, and values; `draft` where one alone has it."""

    none: Any
    mild: Any
    strict: Any
    values: tuple[Any, ...]
    draft: str = ""


@dataclass(frozen=True, slots=True)
class Place:
    """Where a schema stands: what is around it, and what is around its values. `is_declared` says that a sender which follows the schema
    may send the values: it is false where they hold members that the schema does not declare. `draft` names the only draft with the place.
    """

    around: Wrap
    values: Wrap = lambda value: value
    is_declared: bool = True
    draft: str = ""


def _text(**more: Any) -> Schema:
    return {"type": "string", **more}


def _number(**more: Any) -> Schema:
    return {"type": "number", **more}


def _array(**more: Any) -> Schema:
    return {"type": "array", **more}


def _object(**more: Any) -> Schema:
    return {**_OBJECT, **more}


KEYWORDS: Final[dict[str, Keyword]] = {
    "type": Keyword({}, {"type": ["string", "number"]}, {"type": "string"}, _ANY),
    "type integer": Keyword({}, {"type": "number"}, {"type": "integer"}, _ANY),
    "type null": Keyword({}, {"type": ["object", "null"]}, {"type": "object"}, _ANY),
    "enum": Keyword({}, {"enum": ["a", 1, None]}, {"enum": ["a"]}, _ANY),
    "const": Keyword({}, {"enum": ["a", "b"]}, {"const": "a"}, _ANY),
    "const object": Keyword({}, {"type": "object"}, {"const": {"a": 1}}, _ANY),
    "maxLength": Keyword(_text(), _text(maxLength=3), _text(maxLength=2), _TEXTS),
    "minLength": Keyword(_text(), _text(minLength=1), _text(minLength=2), _TEXTS),
    "pattern": Keyword(_text(), _text(pattern="^a"), _text(pattern="^ab"), _TEXTS),
    "maximum": Keyword(_number(), _number(maximum=4), _number(maximum=3), _NUMBERS),
    "minimum": Keyword(_number(), _number(minimum=0), _number(minimum=1), _NUMBERS),
    "exclusiveMaximum": Keyword(_number(), _number(exclusiveMaximum=4), _number(exclusiveMaximum=3), _NUMBERS),
    "exclusiveMinimum": Keyword(_number(), _number(minimum=0), _number(exclusiveMinimum=0), _NUMBERS),
    "multipleOf": Keyword(_number(), _number(multipleOf=0.5), _number(multipleOf=2), _NUMBERS),
    "maxItems": Keyword(_array(), _array(maxItems=3), _array(maxItems=1), _LISTS),
    "minItems": Keyword(_array(), _array(minItems=1), _array(minItems=2), _LISTS),
    "uniqueItems": Keyword(_array(), _array(uniqueItems=True), _array(uniqueItems=True, maxItems=1), _LISTS),
    "items": Keyword(_array(), _array(items={"type": ["string", "integer"]}), _array(items={"type": "string"}), _LISTS),
    "items false": Keyword(_array(), _array(maxItems=2), _array(items=False), _LISTS),
    "prefixItems": Keyword(
        _array(),
        _array(prefixItems=[{"type": ["string", "integer"]}]),
        _array(prefixItems=[{"type": "string"}]),
        _LISTS,
        DRAFT_2020,
    ),
    "items after prefixItems": Keyword(
        _array(prefixItems=[{}]),
        _array(prefixItems=[{}], items={"type": "integer"}),
        _array(prefixItems=[{}], items=False),
        _LISTS,
        DRAFT_2020,
    ),
    "items of draft 7": Keyword(
        _array(), _array(items=[{"type": ["string", "integer"]}]), _array(items=[{"type": "string"}]), _LISTS, DRAFT_7
    ),
    "additionalItems": Keyword(
        _array(items=[{}]),
        _array(items=[{}], additionalItems={"type": "integer"}),
        _array(items=[{}], additionalItems=False),
        _LISTS,
        DRAFT_7,
    ),
    "contains": Keyword(
        _array(), _array(contains={"type": ["string", "integer"]}), _array(contains={"type": "string"}), _LISTS
    ),
    "minContains": Keyword(
        _array(contains={"type": "integer"}, minContains=0),
        _array(contains={"type": "integer"}),
        _array(contains={"type": "integer"}, minContains=2),
        _LISTS,
        DRAFT_2020,
    ),
    "maxContains": Keyword(
        _array(contains={"type": "integer"}),
        _array(contains={"type": "integer"}, maxContains=2),
        _array(contains={"type": "integer"}, maxContains=1),
        _LISTS,
        DRAFT_2020,
    ),
    "unevaluatedItems": Keyword(
        _array(prefixItems=[{}]),
        _array(prefixItems=[{}], unevaluatedItems={"type": "integer"}),
        _array(prefixItems=[{}], unevaluatedItems=False),
        _LISTS,
        DRAFT_2020,
    ),
    "required": Keyword(_object(), _object(required=["a"]), _object(required=["a", "b"]), _OBJECTS),
    "properties": Keyword(
        _object(),
        _object(properties={"a": {"type": ["string", "integer"]}, "b": {}, "c": {}}),
        _object(properties={"a": {"type": "string"}, "b": {}, "c": {}}),
        _OBJECTS,
    ),
    "properties false": Keyword(
        _object(),
        _object(properties={"a": {"type": "integer"}, "b": {}, "c": {}}),
        _object(properties={"a": False, "b": {}, "c": {}}),
        _OBJECTS,
    ),
    "patternProperties": Keyword(
        _object(),
        _object(patternProperties={"^[ab]": {"type": ["string", "integer"]}}),
        _object(patternProperties={"^[ab]": {"type": "string"}}),
        _OBJECTS,
    ),
    "additionalProperties": Keyword(
        {"type": "object"},
        {"type": "object", "additionalProperties": {"type": ["string", "integer"]}},
        {"type": "object", "additionalProperties": {"type": "string"}},
        _OBJECTS,
    ),
    "additionalProperties false": Keyword(
        {"type": "object", "properties": {"a": {}}},
        {"type": "object", "properties": {"a": {}}, "additionalProperties": {"type": "integer"}},
        {"type": "object", "properties": {"a": {}}, "additionalProperties": False},
        _OBJECTS,
    ),
    "unevaluatedProperties": Keyword(
        {"type": "object", "allOf": [{"properties": {"a": {}}}]},
        {"type": "object", "allOf": [{"properties": {"a": {}}}], "unevaluatedProperties": {"type": "integer"}},
        {"type": "object", "allOf": [{"properties": {"a": {}}}], "unevaluatedProperties": False},
        _OBJECTS,
        DRAFT_2020,
    ),
    "propertyNames": Keyword(
        _object(),
        _object(propertyNames={"enum": ["a", "b"]}),
        _object(propertyNames={"enum": ["a"]}),
        _OBJECTS,
    ),
    "minProperties": Keyword(_object(), _object(minProperties=1), _object(minProperties=2), _OBJECTS),
    "maxProperties": Keyword(_object(), _object(maxProperties=2), _object(maxProperties=1), _OBJECTS),
    "dependentRequired": Keyword(
        _object(),
        _object(dependentRequired={"a": ["b"]}),
        _object(dependentRequired={"a": ["b", "c"]}),
        _OBJECTS,
        DRAFT_2020,
    ),
    "dependentSchemas": Keyword(
        _object(),
        _object(dependentSchemas={"a": {"minProperties": 2}}),
        _object(dependentSchemas={"a": {"minProperties": 3}}),
        _OBJECTS,
        DRAFT_2020,
    ),
    "dependencies": Keyword(
        _object(),
        _object(dependencies={"a": ["b"]}),
        _object(dependencies={"a": {"required": ["b", "c"]}}),
        _OBJECTS,
        DRAFT_7,
    ),
    "allOf": Keyword({}, {"allOf": [{"type": ["string", "integer"]}]}, {"allOf": [{"type": "string"}]}, _ANY),
    "anyOf": Keyword({}, {"anyOf": [{"type": "string"}, {"type": "integer"}]}, {"anyOf": [{"type": "string"}]}, _ANY),
    "oneOf": Keyword(
        {},
        {"anyOf": [{"type": "number"}, {"type": "integer"}]},
        {"oneOf": [{"type": "number"}, {"type": "integer"}]},
        _ANY,
    ),
    "not": Keyword({}, {"not": {"type": "string"}}, {"not": {"type": ["string", "number"]}}, _ANY),
    "if then": Keyword(
        _object(),
        _object(**{"if": {"required": ["a"]}, "then": {"required": ["b"]}}),
        _object(**{"if": {"required": ["a"]}, "then": {"required": ["b", "c"]}}),
        _OBJECTS,
    ),
    "if else": Keyword(
        _object(),
        _object(**{"if": {"required": ["a"]}, "else": {"required": ["b"]}}),
        _object(**{"if": {"required": ["a"]}, "else": {"required": ["b", "c"]}}),
        _OBJECTS,
    ),
    "if": Keyword(
        _object(),
        _object(**{"if": {"required": ["a", "b"]}, "then": {"required": ["c"]}}),
        _object(**{"if": {"required": ["a"]}, "then": {"required": ["c"]}}),
        _OBJECTS,
    ),
    "false": Keyword(True, {"type": "string"}, False, _ANY),
}


def _member(schema: Any, **more: Any) -> Schema:
    return {"type": "object", "properties": {"m": schema}, **more}


def _held(value: Any) -> Any:
    return {"m": value}


def _ref(names: Sequence[str], schema: Any, at: str = "$defs") -> Schema:
    inner: Any = schema
    for name in reversed(names):
        inner = {name: inner}
    return {**_member({"$ref": f"#/{at}/{'/'.join(names)}"}), at: inner}


PLACES: Final[dict[str, Place]] = {
    "root": Place(lambda schema: schema),
    "property": Place(_member, _held),
    "required property": Place(lambda schema: _member(schema, required=["m"]), _held),
    "property of a closed object": Place(lambda schema: _member(schema, additionalProperties=False), _held),
    "items": Place(lambda schema: _member(_array(items=schema)), lambda value: _held([value])),
    "prefixItems": Place(
        lambda schema: _member(_array(prefixItems=[schema, {}])), lambda value: _held([value, 1]), draft=DRAFT_2020
    ),
    "items of draft 7": Place(
        lambda schema: _member(_array(items=[schema, {}])), lambda value: _held([value, 1]), draft=DRAFT_7
    ),
    "additionalItems": Place(
        lambda schema: _member(_array(items=[{}], additionalItems=schema)),
        lambda value: _held([0, value]),
        draft=DRAFT_7,
    ),
    "contains": Place(lambda schema: _member(_array(contains=schema)), lambda value: _held([value])),
    "maxContains 0": Place(
        lambda schema: _member(_array(contains=schema, minContains=0, maxContains=1)),
        lambda value: _held([value, value]),
        draft=DRAFT_2020,
    ),
    "unevaluatedItems": Place(
        lambda schema: _member(_array(prefixItems=[{}], unevaluatedItems=schema)),
        lambda value: _held([0, value]),
        draft=DRAFT_2020,
    ),
    "additionalProperties": Place(
        lambda schema: {"type": "object", "additionalProperties": schema}, lambda value: {"k": value}
    ),
    "additionalProperties beside properties": Place(
        lambda schema: {"type": "object", "properties": {"p": {}}, "additionalProperties": schema},
        lambda value: {"k": value},
        is_declared=False,
    ),
    "patternProperties": Place(
        lambda schema: {"type": "object", "patternProperties": {"^k": schema}}, lambda value: {"k1": value}
    ),
    "unevaluatedProperties": Place(
        lambda schema: {"type": "object", "allOf": [{"properties": {"p": {}}}], "unevaluatedProperties": schema},
        lambda value: {"k": value},
        is_declared=False,
        draft=DRAFT_2020,
    ),
    "propertyNames": Place(
        lambda schema: {"type": "object", "propertyNames": schema}, lambda value: {str(value): 1}, is_declared=False
    ),
    "allOf": Place(lambda schema: _member({"allOf": [{}, schema]}), _held),
    "allOf beside properties": Place(
        lambda schema: {"type": "object", "properties": {"p": {}}, "allOf": [_member(schema)]}, _held
    ),
    "anyOf": Place(lambda schema: _member({"anyOf": [{"type": "boolean"}, schema]}), _held),
    "oneOf": Place(lambda schema: _member({"oneOf": [{"const": "never"}, schema]}), _held),
    "oneOf that overlaps": Place(lambda schema: _member({"oneOf": [{"maxLength": 1}, schema]}), _held),
    "tagged variant": Place(
        lambda schema: {
            "oneOf": [
                {"type": "object", "properties": {"t": {"const": "x"}, "m": schema}, "required": ["t"]},
                {"type": "object", "properties": {"t": {"const": "y"}}, "required": ["t"]},
            ]
        },
        lambda value: {"t": "x", "m": value},
    ),
    "if": Place(
        lambda schema: _member(
            {"if": schema, "then": {"type": ["string", "array"]}, "else": {"type": ["number", "object"]}}
        ),
        _held,
    ),
    "then": Place(lambda schema: _member({"if": {"type": ["string", "array", "object"]}, "then": schema}), _held),
    "else": Place(lambda schema: _member({"if": {"type": "boolean"}, "else": schema}), _held),
    "not": Place(lambda schema: _member({"not": schema}), _held),
    "not not": Place(lambda schema: _member({"not": {"not": schema}}), _held),
    "definition": Place(lambda schema: _ref(["D"], schema), _held),
    "definition of a definition": Place(
        lambda schema: {**_ref(["C"], {"$ref": "#/$defs/D"}), "$defs": {"C": {"$ref": "#/$defs/D"}, "D": schema}}, _held
    ),
    "definition in a group": Place(lambda schema: _ref(["v2", "D"], schema, "definitions"), _held),
    "definition that nothing reaches": Place(lambda schema: {"$defs": {"D": _member(schema)}}, _held),
    "definition of draft 7": Place(lambda schema: _ref(["D"], schema, "definitions"), _held, draft=DRAFT_7),
    "recursive definition": Place(
        lambda schema: {
            **_ref(["D"], {"type": "object", "properties": {"n": {"$ref": "#/$defs/D"}, "v": schema}}),
        },
        lambda value: _held({"n": {"n": {"v": value}}}),
    ),
    "dependentSchemas": Place(
        lambda schema: {
            "type": "object",
            "properties": {"m": {}, "p": {}},
            "dependentSchemas": {"p": {"properties": {"m": schema}}},
        },
        lambda value: {"m": value, "p": 1},
        draft=DRAFT_2020,
    ),
    "dependencies": Place(
        lambda schema: {
            "type": "object",
            "properties": {"m": {}, "p": {}},
            "dependencies": {"p": {"properties": {"m": schema}}},
        },
        lambda value: {"m": value, "p": 1},
        draft=DRAFT_7,
    ),
    "beside a reference": Place(
        lambda schema: {
            "type": "object",
            "properties": {"m": {"$ref": "#/$defs/D", **(schema if isinstance(schema, dict) else {"allOf": [schema]})}},
            "$defs": {"D": {}},
        },
        _held,
    ),
    "params of a method": Place(
        lambda schema: {
            "$defs": {
                "GoRequest": {**_member(schema), "x-method": "go", "x-side": "agent"},
                "GoResponse": {"type": "object", "x-method": "go", "x-side": "agent"},
            }
        },
        _held,
    ),
}

UNREACHED: Final = "definition that nothing reaches"
METHOD: Final = "params of a method"
_JUDGED: Final = {UNREACHED: "D", METHOD: "GoRequest"}
"""The definition that values are judged by, where that is not the root."""

CHANGES: Final = (("none", "mild"), ("mild", "strict"))
DRAFTS: Final = {DRAFT_2020: Draft202012Validator, DRAFT_7: Draft7Validator}


@dataclass(frozen=True, slots=True)
class Cell:
    """One change of a keyword at a place."""

    keyword: str
    place: str
    change: tuple[str, str]
    draft: str

    def __str__(self) -> str:
        return f"{self.keyword} at {self.place}, {'-'.join(self.change)}, {self.draft.partition('/schema')[0][-7:]}"

    @property
    def schemas(self) -> tuple[Schema, Schema]:
        place, keyword = PLACES[self.place], KEYWORDS[self.keyword]
        made = (place.around(getattr(keyword, each)) for each in self.change)
        old, new = (each if isinstance(each, dict) else {"allOf": [each]} for each in made)
        return {"$schema": self.draft, **old}, {"$schema": self.draft, **new}

    @property
    def refuted(self) -> tuple[list[Any], list[Any]]:
        """The values that the old schema accepts and the new one refuses, and those the other way round."""
        old, new = self.schemas
        return _refuted(self, old, new), _refuted(self, new, old)

    @property
    def values(self) -> list[Any]:
        return [PLACES[self.place].values(value) for value in KEYWORDS[self.keyword].values]


def cells() -> Iterator[Cell]:
    """The whole table."""
    for keyword, place, change, draft in itertools.product(KEYWORDS, PLACES, CHANGES, DRAFTS):
        named = {KEYWORDS[keyword].draft, PLACES[place].draft} - {""}
        if named <= {draft} and (draft == DRAFT_2020 or named):
            yield Cell(keyword, place, change, draft)


def complaints(cell: Cell) -> Iterator[str]:
    """What must not be."""
    sides = cell.schemas
    refuted = cell.refuted
    for mode in cast("tuple[Mode, ...]", ("protocol", "language")):
        for number, (old, new) in enumerate((sides, sides[::-1])):
            try:
                report = compare(_documents(old, "old"), _documents(new, "new"), mode=mode)
            except Faults as caught:
                if not any(map(_says_nothing, (old, new))):
                    yield f"{cell}: {mode}: {caught.faults[0]}"
                continue
            except (Exception, RecursionError) as caught:  # noqa: BLE001 - a crash is what is looked for
                yield f"{cell}: {mode}: crash: {type(caught).__name__}: {caught}"
                continue
            found = refuted[number], refuted[1 - number]
            yield from (f"{cell}: {mode}{' back' if number else ''}: {each}" for each in _wrong(cell, report, found))


def _says_nothing(schema: Schema) -> bool:
    """Whether a root has nothing but its draft: that is refused in words, whatever it is compared with."""
    return schema.keys() == {"$schema"}


def _documents(schema: Schema, name: str) -> Documents:
    return Documents(name, (Document("schema.json", schema, json.dumps(schema)),))


def _refuted(cell: Cell, sender: Schema, receiver: Schema) -> list[Any]:
    """The values that one schema accepts and the other refuses."""
    validators: list[Any] = [_validator(cell, each) for each in (sender, receiver)]
    return [value for value in cell.values if validators[0].is_valid(value) and not validators[1].is_valid(value)]


def _validator(cell: Cell, schema: Schema) -> Any:
    name = _JUDGED.get(cell.place)
    judged = {**schema, "$ref": f"#/$defs/{name}"} if name else schema
    return cast("Any", DRAFTS[cell.draft])(judged)


def _wrong(cell: Cell, report: Report, refuted: tuple[list[Any], list[Any]]) -> Iterator[str]:
    answers = (report.language.backward, report.language.forward), (report.wire.backward, report.wire.forward)
    rules = {each.rule for each in report.findings}
    for number, values in enumerate(refuted):
        if values and answers[0][number] == "yes":
            yield f"as schemas {('old', 'new')[number]} is included, but for {json.dumps(values[0])}"
        if values and answers[1][number] == "yes" and not (rules & {*LENIENT} or not PLACES[cell.place].is_declared):
            yield f"peers understand {('old', 'new')[number]}, but for {json.dumps(values[0])}"
    if any(refuted) and report.verdict in QUIET:
        yield f"{report.verdict}, but for {json.dumps((refuted[0] or refuted[1])[0])}"
    for each in report.findings:
        if each.witness is not None and each.witness.verified is False:
            yield f"a witness of {each.rule} is not verified"
