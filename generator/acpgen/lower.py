"""Bundle → IR: what the schema means. One function per shape; a shape that is not understood is said, never skipped."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final

from acpgen import ir
from acpgen.bundle import Bundle, common_fields, frames
from acpgen.errors import Fault, Faults, MalformedKeyword, NothingDefined, UnknownLeniency
from acpgen.limits import OF_NUMBERS
from acpgen.methods import find_methods
from acpgen.patterns import in_rust
from acpgen.pointers import escape, target
from acpgen.unions import (
    ALL_KINDS,
    OBJECTS,
    Tagged,
    branches_of,
    constant,
    excluded_tags,
    flatten,
    is_null,
    kind_of,
    kinds,
    lone_reference,
    recognise,
    types_of,
)
from acpgen.walk import ASSERTIONS, BY_KIND, Schema, asserts, is_array, is_object

LENIENCY: Final = {
    "x-deserialize-default-on-error": "default_on_error",
    "x-deserialize-skip-invalid-items": "skip_invalid_items",
    "x-deserialize-default-on-null": "default_on_null",
}


def lower(bundle: Bundle, *, keep_unknown: bool = False) -> ir.Protocol:
    """Read the meaning of a bundle. `keep_unknown` makes every closed union and enumeration tolerated.

    Raises `Faults`: leniency that is not known, definitions that mark no method, and a schema without type and method.
    """
    definitions = _definitions(bundle, keep_unknown, frozenset())
    methods, sides = find_methods(bundle)
    if not definitions and not methods:
        raise Faults([NothingDefined(at=next(iter(bundle.files)) if len(bundle.files) == 1 else "")])
    return ir.Protocol(
        name=bundle.name,
        version=bundle.version,
        definitions=definitions,
        methods=methods,
        sides=sides,
        batch=any(is_object(b) and b.get("type") == "array" for b in bundle.schema.get("anyOf", ())),
        doc=str(bundle.schema.get("description", "")),
    )


def _definitions(bundle: Bundle, keep_unknown: bool, inexact: frozenset[str]) -> dict[str, ir.Definition]:
    """What every definition means. `inexact` are those already known to accept more than their schemas do."""
    work = _Lowering(bundle, keep_unknown=keep_unknown, inexact=inexact)
    definitions = {name: work.definition(name) for name in bundle.definitions if name not in work.framing}
    definitions.update(work.synthesised)
    if work.faults:
        raise Faults(work.faults)
    definitions = _with_lost_exclusions(definitions)
    found = _inexact(definitions)
    return definitions if found <= inexact else _definitions(bundle, keep_unknown, inexact | found)


class _Lowering:
    def __init__(self, bundle: Bundle, *, keep_unknown: bool, inexact: frozenset[str]) -> None:
        self.bundle = bundle
        self.schemas: Mapping[str, Schema] = bundle.definitions
        self.keep_unknown = keep_unknown
        self.inexact = inexact
        self.known_kinds: dict[str, frozenset[str]] = {}
        self.faults: list[Fault] = []
        self.synthesised: dict[str, ir.Definition] = {}
        self.unenforced: list[str] = []
        self.framing = frames(self.schemas)

    # --- definitions ---

    def definition(self, name: str) -> ir.Definition:
        schema = self.schemas[name]
        at = self.bundle.origins[name]
        self.unenforced = []
        values = _enum_values(schema, at)
        if values is not None:
            return self._enum(name, schema, at, values)
        union = branches_of(schema)
        if union is not None and _is_pure(schema, union[0]) and self._kinds(schema) == OBJECTS:
            found = recognise(union[1], self.schemas)
            if found is not None:
                return self._tagged(name, schema, at, union, found)
        if self._is_record(schema, at):
            return self._record(name, schema, at)
        type_ = self._with_record(name, schema, at) or self.type_of(schema, at, named=True)
        return ir.Alias(name=name, type=type_, **self._common(schema, at))

    def _common(self, schema: Schema, at: str) -> dict[str, Any]:
        examples = schema.get("examples", [])
        return {
            "unstable": schema.get("x-unstable") is True,
            "unenforced": tuple(dict.fromkeys(self.unenforced)),
            "examples": tuple(examples) if is_array(examples) else (),
            "doc": str(schema.get("description", "")),
            "at": at,
        }

    def _openness(self, schema: Schema, *, is_open: bool) -> ir.Openness:
        if is_open:
            return "open"
        return "tolerated" if schema.get("x-unknown") == "keep" or self.keep_unknown else "closed"

    def _enum(self, name: str, schema: Schema, at: str, found: tuple[list[ir.EnumValue], ir.Type | None]) -> ir.Enum:
        values, base = found
        keyword = "enum" if "enum" in schema else "oneOf" if "oneOf" in schema else "anyOf"
        self._note(schema, at, {keyword, "type"})
        if keyword == "oneOf" and _overlap(values, base):
            self.unenforced.append(f"{at}/oneOf")
        is_text = all(isinstance(value.value, str) for value in values)
        kind: ir.Type = ir.String() if is_text else ir.Number(integer=True)
        openness = self._openness(schema, is_open=base is not None)
        if openness == "tolerated" and len(values) == 1:
            openness = "closed"  # a lone constant is a mark, not a list that grows
        return ir.Enum(
            name=name, values=tuple(values), openness=openness, base=base or kind, **self._common(schema, at)
        )

    def _tagged(
        self, name: str, schema: Schema, at: str, union: tuple[str, list[Any]], found: Tagged
    ) -> ir.TaggedUnion:
        keyword, branches = union
        variants: list[ir.Variant] = []
        for index, tag in found.variants:
            branch, branch_at = branches[index], f"{at}/{keyword}/{index}"
            type_ = lone_reference({k: v for k, v in branch.items() if k != "not"})
            assert type_ is not None, f"variant {tag!r} of {name} was not named"
            self._note_exclusion(branch, branch_at, found.tag, {other for _, other in found.variants if other != tag})
            owned = self.schemas[type_]
            variants.append(
                ir.Variant(
                    tag=tag,
                    type=type_,
                    body=self._body(owned),
                    capability=branch.get("x-capability", owned.get("x-capability")),
                    unstable=branch.get("x-unstable", owned.get("x-unstable")) is True,
                    doc=str(branch.get("description", owned.get("description", ""))),
                    at=branch_at,
                )
            )
        fallback: str | None = None
        shapes: tuple[str, ...] = ()
        exclusive = False
        if found.fallback is not None:
            fallback, shapes = self._fallback(branches[found.fallback])
            exclusive = "oneOf" in branches[found.fallback] and self.inexact.isdisjoint(shapes)
            if "oneOf" in branches[found.fallback] and not exclusive:
                self.unenforced.append(f"{at}/{keyword}/{found.fallback}/oneOf")
        default: str | None = None
        admits_known = False
        if found.default is not None:
            branch = branches[found.default]
            default = lone_reference({k: v for k, v in branch.items() if k != "not"})
            assert default is not None, f"the default branch of {name} was not named"
            excluded = {
                **(excluded_tags(branch.get("not")) or {}),
                **(excluded_tags(self.schemas[default].get("not")) or {}),
            }
            judged = flatten({"allOf": [branch]}, self.schemas).properties.get(found.tag, [])
            admits_known = not (
                {tag for _, tag in found.variants} <= excluded.get(found.tag, set())
                or any(is_null(sub) for sub in judged)
            )
            self._note_exclusion(
                branch, f"{at}/{keyword}/{found.default}", found.tag, {tag for _, tag in found.variants}
            )
            if admits_known and keyword == "oneOf":
                self.unenforced.append(f"{at}/oneOf")
        openness = self._openness(schema, is_open=fallback is not None)
        if openness == "tolerated":
            if default is not None and admits_known:
                openness = "closed"  # the default branch reads unknown tags already
            else:
                fallback = self._synthesise(name, at, branches, found)
        return ir.TaggedUnion(
            name=name,
            tag=found.tag,
            variants=tuple(variants),
            openness=openness,
            fallback=fallback,
            fallback_shapes=shapes,
            fallback_exclusive=exclusive,
            default=default,
            default_admits_known=admits_known,
            **self._common(schema, at),
        )

    def _note_exclusion(self, branch: Schema, at: str, tag: str, others: set[Any]) -> None:
        """Note the `not` of a branch, unless it only keeps out tags that belong to other branches."""
        excluded = excluded_tags(branch["not"]) if "not" in branch else {}
        if excluded is None or set(excluded) - {tag} or excluded.get(tag, set()) - others:
            self.unenforced.append(f"{at}/not")

    def _fallback(self, branch: Schema) -> tuple[str, tuple[str, ...]]:
        """The fallback's record, and the records of its shapes where it has several."""
        alone = lone_reference(branch)
        if alone is not None:
            return alone, ()
        union = branches_of(branch)
        assert union is not None
        shapes = tuple(target(shape["$ref"]) for shape in union[1])
        body = self._body(self.schemas[shapes[0]])
        assert body is not None
        return body, shapes

    def _synthesise(self, name: str, at: str, branches: list[Any], found: Tagged) -> str:
        """The record that keeps unknown tags of a tolerated union: the tag and what all variants share."""
        shared, required = common_fields([branches[i] for i, _ in found.variants], self.schemas, found.tag)
        fallback = f"Unknown{name}"
        first = lone_reference({k: v for k, v in branches[found.variants[0][0]].items() if k != "not"})
        assert first is not None
        owners = {key: subs[0][2] for key, subs in self._members(self.schemas[first], at, first).items()}
        tag = ir.Field(name=found.tag, type=ir.String(), required=True, owner=first, doc="The unknown tag.", at=at)
        fields = [
            self._field(key, sub, key in required, f"{at}/properties/{key}", owners.get(key, first))
            for key, sub in shared.items()
        ]
        known = tuple(tag for _, tag in found.variants)
        self.synthesised[fallback] = ir.Record(
            name=fallback,
            fields=(tag, *fields),
            excluded=((found.tag, known),),
            doc=f"A variant of {name} that this version does not know, kept as it came.",
            at=at,
        )
        return fallback

    def _body(self, schema: Schema) -> str | None:
        """The record whose content a variant adds to its tag; the first, where there are several."""
        parts = [*schema.get("allOf", ()), *([{"$ref": schema["$ref"]}] if "$ref" in schema else [])]
        bodies = [body for part in parts if (body := lone_reference(part)) is not None]
        return bodies[0] if bodies else None

    # --- records ---

    def _kinds(self, schema: Any) -> frozenset[str]:
        return kinds(schema, self.schemas, self.known_kinds)

    def _is_record(self, schema: Schema, at: str) -> bool:
        """Whether a schema is of objects alone and names fields, or says nothing else."""
        if self._kinds(schema) != OBJECTS or "const" in schema or "enum" in schema:
            return False
        if branches_of(schema) is not None:
            return bool(schema.get("properties"))  # the union does not stand alone: it narrows the record
        if "additionalProperties" in schema and not schema.get("properties"):
            return bool(self._parts(schema, at)) and bool(self._members(schema, at, ""))
        return lone_reference(schema) is None and (
            not self._parts(schema, at) or "properties" in schema or bool(self._members(schema, at, ""))
        )

    def _with_record(self, name: str, schema: Schema, at: str) -> ir.Type | None:
        """The type of a schema that names fields and accepts other values than objects, too; its record is named after it."""
        accepted, own = self._kinds(schema), f"{name}Object"
        if not schema.get("properties") or "object" not in accepted or own in self.schemas:
            return None
        if any(keyword in schema for keyword in ("allOf", "anyOf", "oneOf", "$ref", "const", "enum")):
            return None
        self.synthesised[own] = self._record(own, {**schema, "type": "object"}, at)
        self.unenforced = []
        types = schema.get("type", [*sorted(accepted - {"null"}), "null"])
        others = [self._plain(schema, one, at) for one in sorted(types, key="null".__eq__) if one != "object"]
        return ir.AnyOf((ir.Ref(own), *others))

    def _record(self, name: str, schema: Schema, at: str) -> ir.Record:
        members = self._members(schema, at, name)
        required = self._required(schema)
        extra = self._extra(schema, at)
        fields = [self._member(key, subs, key in required) for key, subs in members.items()]
        undeclared = sorted(required - set(members))
        fields.extend(ir.Field(name=key, type=extra, required=True, owner=name, at=at) for key in undeclared)
        excluded = excluded_tags(schema.get("not")) if "not" in schema else {}
        is_plain = not schema.get("patternProperties") and set(members) <= set(schema.get("properties", ()))
        body = self._body(schema)
        base = body if body is not None and self._extends(schema, body) else None
        handled = {*(["additionalProperties"] if is_plain else []), *(["not"] if excluded is not None else [])}
        self._note_parts(schema, at, handled, base)
        return ir.Record(
            name=name,
            fields=tuple(fields),
            extra=extra,
            base=base,
            excluded=tuple((key, tuple(sorted(values, key=str))) for key, values in sorted((excluded or {}).items())),
            **self._common(schema, at),
        )

    def _note_parts(self, schema: Schema, at: str, handled: set[str], base: str | None) -> None:
        """Note what a record and its parts demand beyond the types of their fields. What its `base` excludes, it excludes."""
        self._note(schema, at, {"properties", "required", "type", "allOf", "$ref", *handled}, OBJECTS)
        for part, place in self._parts(schema, at):
            body = lone_reference(part)
            if body is not None:
                is_kept = body == base and excluded_tags(self.schemas[body].get("not")) is not None
                self._note_parts(self.schemas[body], self.bundle.origins[body], {"not"} if is_kept else set(), base)
            elif is_object(part):
                self._note_parts(part, place, set(), base)

    def _extra(self, schema: Schema, at: str) -> ir.Type:
        """The type of fields that have no name. Where patterns of names choose among schemas, any of them may judge a field."""
        rest = (schema.get("additionalProperties", True), f"{at}/additionalProperties")
        patterns = schema.get("patternProperties", {})
        if not patterns:
            return self.type_of(*rest)
        return self._either([*((sub, f"{at}/patternProperties/{escape(key)}") for key, sub in patterns.items()), rest])

    def _member(self, key: str, subs: list[tuple[Any, str, str]], required: bool) -> ir.Field:
        """One field, judged by the narrowest of the schemas that several parts have for it; the others are noted."""
        chosen = self._narrowest([sub for sub, _, _ in subs])
        schema, place, _ = subs[chosen]
        for other, other_place, _ in subs:
            if not self._implies(schema, other):
                self.unenforced.append(other_place)
        first, _, owner = subs[0]
        if chosen and is_object(first) and is_object(schema):
            schema = {**{name: value for name, value in first.items() if not asserts(name)}, **schema}
        return self._field(key, schema, required, place, owner)

    def _parts(self, schema: Schema, at: str) -> list[tuple[Any, str]]:
        """The schemas that judge the same value as `schema` does, with their places."""
        parts = [(part, f"{at}/allOf/{index}") for index, part in enumerate(schema.get("allOf", ()))]
        return [*parts, *([({"$ref": schema["$ref"]}, at)] if "$ref" in schema else [])]

    def _extends(self, schema: Schema, body: str) -> bool:
        """Whether a record may be a subclass of its body: that is a record, and none of its fields changes."""
        if not self._is_record(self.schemas[body], ""):
            return False
        theirs, own = self._members(self.schemas[body], "", body), self._members(schema, "", body)
        same = all([sub for sub, _, _ in own[key]] == [sub for sub, _, _ in subs] for key, subs in theirs.items())
        return same and self._required(schema) & set(theirs) == self._required(self.schemas[body]) & set(theirs)

    def _members(self, schema: Schema, at: str, owner: str) -> dict[str, list[tuple[Any, str, str]]]:
        """Each property with the schemas that judge it, their places and owners, own ones first, in source order."""
        members: dict[str, list[tuple[Any, str, str]]] = {}
        for key, sub in schema.get("properties", {}).items():
            members.setdefault(key, []).append((sub, f"{at}/properties/{escape(key)}", owner))
        for part, place in self._parts(schema, at):
            if not is_object(part):
                continue
            body = lone_reference(part)
            below = (
                self._members(self.schemas[body], self.bundle.origins[body], body)
                if body
                else self._members(part, place, owner)
            )
            for key, subs in below.items():
                members.setdefault(key, []).extend(subs)
        return members

    def _required(self, schema: Schema) -> set[str]:
        required = set(schema.get("required", ()))
        for part, _ in self._parts(schema, ""):
            body = lone_reference(part)
            required |= self._required(self.schemas[body] if body else part) if is_object(part) else set()
        return required

    def _field(self, name: str, schema: Any, required: bool, at: str, owner: str) -> ir.Field:
        if not is_object(schema):
            return ir.Field(name=name, type=self.type_of(schema, at), required=required, owner=owner, at=at)
        null = schema.get("x-null", self._inherited(schema, "x-null"))
        return ir.Field(
            name=name,
            type=self.type_of(schema, at),
            required=required,
            default=ir.Default(schema["default"]) if "default" in schema else None,
            null=null,
            leniency=self._leniency(schema, at),
            capability=schema.get("x-capability"),
            required_with=schema.get("x-required-with"),
            unstable=schema.get("x-unstable") is True,
            owner=owner,
            doc=str(schema.get("description") or _first_sentence(self._inherited(schema, "description"))),
            at=at,
        )

    def _inherited(self, schema: Schema, keyword: str) -> Any:
        """What the definition that a field refers to says, for what the field leaves unsaid."""
        reference = lone_reference(schema)
        if reference is None:
            rest = [branch for branch in (branches_of(schema) or ("", []))[1] if not is_null(branch)]
            reference = lone_reference(rest[0]) if len(rest) == 1 else None
        return None if reference is None else self.schemas[reference].get(keyword)

    def _leniency(self, schema: Schema, at: str) -> ir.Leniency:
        known: dict[str, bool] = {}
        for keyword, value in schema.items():
            if not keyword.startswith("x-deserialize-"):
                continue
            if keyword not in LENIENCY:
                self.faults.append(UnknownLeniency(at=at, keyword=keyword))
            else:
                known[LENIENCY[keyword]] = value is True
        return ir.Leniency(**known)

    # --- types ---

    def type_of(self, schema: Any, at: str, *, named: bool = False) -> ir.Type:
        """The type that a schema describes, or a wider one; what it does not enforce is noted with its place.

        `named`: the type is a definition's, and so a union in it can be marked as exclusive.
        """
        if not is_object(schema):
            return ir.Nothing() if schema is False else ir.Anything()
        reference = lone_reference(schema)
        if reference is not None:
            return ir.Ref(reference)
        if not self._kinds(schema):
            return ir.Nothing()
        if "const" in schema or "enum" in schema:
            self._note(schema, at, {"const", "enum", "type"}, self._kinds(schema))
            return self._constants(schema, at)
        own = {key: value for key, value in schema.items() if key not in _COMBINING}
        unions = self._unions(schema)
        candidates: list[tuple[Any, str]] = [
            *(({keyword: branches}, f"{at}/{keyword}") for keyword, branches in unions),
            *((part, place if place != at else f"{at}/$ref") for part, place in self._parts(schema, at)),
            (own, at),
        ]
        chosen = self._narrowest([candidate for candidate, _ in candidates])
        for index, (candidate, place) in enumerate(candidates[:-1]):
            if index != chosen and not self._implies(candidates[chosen][0], candidate):
                self.unenforced.append(place)
        if chosen == len(candidates) - 1:
            return self._own(own, at)
        narrowest, place = candidates[chosen]
        self._note(own, at, {"type"} if self._is_within(narrowest, own) else set(), self._kinds(schema))
        if chosen < len(unions):
            return self._any_of(*unions[chosen], at, named=named)
        return self.type_of(narrowest, place, named=named)

    def _own(self, schema: Schema, at: str) -> ir.Type:
        """The type that `type` and the keywords beside it describe."""
        types = schema.get("type")
        if types is None:
            self._note(schema, at, set())
            return ir.Anything()
        names = types if is_array(types) else [types]
        members = [self._plain(schema, name, at) for name in names if name != "null"]
        if "null" in names:
            members.append(self._plain(schema, "null", at))
        return members[0] if len(members) == 1 else ir.AnyOf(tuple(members))

    def _unions(self, schema: Schema) -> list[tuple[str, list[Any]]]:
        """The unions directly in a schema; the `type` beside them is written into branches that say none."""
        return [
            (keyword, [self._of_type(branch, schema) for branch in schema[keyword]])
            for keyword in ("oneOf", "anyOf")
            if is_array(schema.get(keyword)) and schema[keyword]
        ]

    def _of_type(self, branch: Any, owner: Schema) -> Any:
        if self._is_within(branch, owner) or branch is False:
            return branch
        if branch is True:
            return {"type": owner["type"]}
        if lone_reference(branch) is not None:
            return branch
        if "type" not in branch:
            return {**branch, "type": owner["type"]}
        wanted = owner["type"] if is_array(owner["type"]) else [owner["type"]]
        own = branch["type"] if is_array(branch["type"]) else [branch["type"]]
        both = [name for name in own if name in wanted or (name == "integer" and "number" in wanted)]
        if "number" in own and "integer" in wanted and "number" not in wanted:
            both.append("integer")
        return {**branch, "type": both} if both else False

    # --- several schemas for one value ---

    def _narrowest(self, schemas: list[Any]) -> int:
        """The position of the schema that says most: the fewest types, then the most about them, then the first."""
        return min(range(len(schemas)), key=lambda index: (*self._width(schemas[index]), index))

    def _width(self, schema: Any) -> tuple[int, int]:
        if not is_object(schema):
            return (0, 0) if schema is False else (len(ALL_KINDS), 9)
        if constant(schema) is not None:
            return (0, 1)
        accepted = len(self._kinds(schema))
        says = {key for key in schema if key in ASSERTIONS}
        if lone_reference(schema) is not None or "enum" in says:
            return accepted, 0
        union = branches_of(schema)
        if union is not None and any(is_object(branch) and not _TELLING.isdisjoint(branch) for branch in union[1]):
            return accepted, 1
        if says - {"type", "not", "if", "then", "else", "anyOf", "oneOf"}:
            return accepted, 2
        return accepted, 3 if says == {"type"} else 4

    def _implies(self, narrow: Any, wide: Any) -> bool:
        """Whether a value of the type made of `narrow` is surely one that `wide` accepts."""
        if narrow is wide or narrow is False or _says_nothing(wide):
            return True
        if not is_object(narrow) or not is_object(wide):
            return False
        one, other = lone_reference(narrow), lone_reference(wide)
        if one is not None and one == other:
            return True
        if other is not None:
            return self._implies(narrow, self.schemas[other])
        demands = {key: value for key, value in wide.items() if key in ASSERTIONS}
        if demands == {key: value for key, value in narrow.items() if key in ASSERTIONS}:
            return True
        if set(demands) <= {"type"}:
            return self._is_within(narrow, wide)
        if set(demands) == {"anyOf"}:
            return any(self._implies(narrow, branch) for branch in wide["anyOf"])
        values = _values(narrow)
        return values is not None and all(self._admits(wide, value) for value in values)

    def _is_within(self, schema: Any, owner: Schema) -> bool:
        """Whether a schema accepts nothing but values of the types that `owner` names."""
        if "type" not in owner:
            return True
        if not is_object(schema):
            return schema is False
        reference = lone_reference(schema)
        if reference is not None:
            return self._is_within(self.schemas[reference], owner)
        values = _values(schema)
        if values is not None:
            return all(_is_of_type(value, owner) for value in values)
        wanted = owner["type"] if is_array(owner["type"]) else [owner["type"]]
        own = schema.get("type", [])
        names = own if is_array(own) else [own]
        if names and all(name in wanted or (name == "integer" and "number" in wanted) for name in names):
            return True
        union = branches_of(schema)
        if union is not None:
            return all(self._is_within(branch, owner) for branch in union[1])
        return self._kinds(schema) <= types_of(owner) - ({"number"} if "number" not in wanted else set())

    def _admits(self, schema: Any, value: Any) -> bool:
        """Whether a schema surely accepts a constant, told by constants and types alone."""
        if not is_object(schema):
            return schema is True
        says = {key for key in schema if key in ASSERTIONS}
        if not says <= {"type", "const", "enum", "$ref", "anyOf", "allOf"} or not _is_of_type(value, schema):
            return False
        listed = _values(schema)
        return (
            (listed is None or any(_same(value, one) for one in listed))
            and all(self._admits(part, value) for part in schema.get("allOf", ()))
            and ("$ref" not in says or self._admits(self.schemas[target(schema["$ref"])], value))
            and ("anyOf" not in says or any(self._admits(branch, value) for branch in schema["anyOf"]))
        )

    # --- constants and unions ---

    def _constants(self, schema: Schema, at: str) -> ir.Type:
        listed = _values(schema)
        assert listed is not None
        values = [value for value in listed if _is_of_type(value, schema)]
        if any(isinstance(value, dict | list) for value in values):
            self.unenforced.append(f"{at}/{'const' if 'const' in schema else 'enum'}")
            return _any_like(values)
        if not values:
            return ir.Nothing()
        if values == [None]:
            return ir.Null()
        if None in values:
            rest = tuple(value for value in values if value is not None)
            return ir.AnyOf((ir.Constant(rest), ir.Null()))
        return ir.Constant(tuple(values))

    def _any_of(self, keyword: str, branches: list[Any], at: str, *, named: bool) -> ir.Type:
        before = len(self.unenforced)
        lowered = [self.type_of(branch, f"{at}/{keyword}/{index}") for index, branch in enumerate(branches)]
        is_exact = len(self.unenforced) == before and self.inexact.isdisjoint(_referred(*lowered))
        types = _distinct(lowered, flat=keyword == "anyOf")
        exclusive = keyword == "oneOf" and not self._are_apart(branches)
        is_flat = not any(isinstance(one, ir.AnyOf) for one in lowered)  # in Python, `A | None | None` is `A | None`
        if exclusive and not (named and is_exact and is_flat and len(types) == len(lowered)):
            self.unenforced.append(f"{at}/oneOf")  # a branch may take what it should not, or nobody could check it
            exclusive = False
        if len(types) < 2:
            return types[0] if types else ir.Nothing()
        return ir.AnyOf(tuple(types), exclusive=exclusive)

    def _either(self, schemas: list[tuple[Any, str]]) -> ir.Type:
        """What any of several schemas accepts, where a keyword chooses among them that is itself noted."""
        before = len(self.unenforced)
        types = _distinct([self.type_of(schema, at) for schema, at in schemas], flat=True)
        del self.unenforced[before:]
        if ir.Anything() in types:
            return ir.Anything()
        if len(types) < 2:
            return types[0] if types else ir.Nothing()
        return ir.AnyOf(tuple(types))

    def _are_apart(self, branches: list[Any]) -> bool:
        """Whether no value can be of two of these schemas, judged by JSON types and constants alone."""
        accepted = [self._kinds(branch) for branch in branches]
        listed = [_keys(branch) for branch in branches]
        open_kinds = [kinds for kinds, keys in zip(accepted, listed, strict=True) if keys is None]
        if sum(map(len, open_kinds)) > len(frozenset[str]().union(*open_kinds)):
            return False
        constants = [key for keys in listed for key in keys or ()]
        open_ = frozenset[str]().union(*open_kinds)
        return len(set(constants)) == len(constants) and not any(kind in open_ for kind, _ in constants)

    def _plain(self, schema: Schema, kind: str, at: str) -> ir.Type:
        match kind:
            case "null":
                self._note(schema, at, {"type"}, frozenset({"null"}))
                return ir.Null()
            case "boolean":
                self._note(schema, at, {"type"}, frozenset({"boolean"}))
                return ir.Boolean()
            case "integer" | "number":
                self._note(schema, at, {"type", *OF_NUMBERS.values()}, frozenset({"number"}))
                bounds = {name: schema.get(keyword) for name, keyword in OF_NUMBERS.items()}
                return ir.Number(integer=kind == "integer", format=schema.get("format"), **bounds)
            case "string":
                checked = "pattern" in schema and in_rust(schema["pattern"]) is not None
                handled = {"type", "minLength", "maxLength", *(["pattern"] if checked else [])}
                self._note(schema, at, handled, frozenset({"string"}))
                return ir.String(
                    min_length=_count(schema, "minLength"),
                    max_length=_count(schema, "maxLength"),
                    pattern=schema.get("pattern"),
                    format=schema.get("format"),
                    encoding=schema.get("contentEncoding"),
                )
            case "array":
                is_tuple = bool(schema.get("prefixItems"))
                handled = {"type", "minItems", "maxItems", "uniqueItems", *([] if is_tuple else ["items"])}
                self._note(schema, at, handled, frozenset({"array"}))
                return ir.Array(
                    items=self._items(schema, at),
                    min_items=_count(schema, "minItems"),
                    max_items=_count(schema, "maxItems"),
                    unique=schema.get("uniqueItems") is True,
                )
            case "object":
                is_plain = not schema.get("patternProperties") and not schema.get("properties")
                handled = {"type", *(["additionalProperties"] if is_plain else [])}
                self._note(schema, at, handled, OBJECTS)
                return ir.Map(ir.Anything() if schema.get("properties") else self._extra(schema, at))
            case _:
                self.faults.append(MalformedKeyword(at=at, keyword="type", expected="a JSON type"))
                return ir.Nothing()

    def _items(self, schema: Schema, at: str) -> ir.Type:
        """The type of an array's entries. Where the position chooses among schemas, any of them may judge an entry."""
        rest = (schema.get("items", True), f"{at}/items")
        prefix = [(sub, f"{at}/prefixItems/{index}") for index, sub in enumerate(schema.get("prefixItems", ()))]
        return self._either([*prefix, rest]) if prefix else self.type_of(*rest)

    def _note(self, schema: Schema, at: str, handled: set[str], accepted: frozenset[str] = ALL_KINDS) -> None:
        """Note every assertion that is not `handled` and can refuse a value of the JSON types `accepted`."""
        self.unenforced.extend(
            f"{at}/{key}"
            for key in schema
            if key not in handled and key in ASSERTIONS and not _is_idle(schema, key)
            if _KIND_OF.get(key) is None or _KIND_OF[key] in accepted
        )


_COMBINING: Final = frozenset({"allOf", "anyOf", "oneOf", "$ref"})

_TELLING: Final = frozenset(
    {
        *("$ref", "type", "const", "enum", "pattern", "properties", "patternProperties", "additionalProperties"),
        *("items", "prefixItems", "allOf", "anyOf", "oneOf"),
    }
)
"""Keywords of a branch that make a type of it."""

_KIND_OF: Final = {keyword: kind for kind, keywords in BY_KIND.items() for keyword in keywords}


def _first_sentence(text: Any) -> str:
    """What a description says first: enough for a field that only refers to the definition it describes."""
    first = re.match(r".*?[.!?](?=\s|$)", text, re.DOTALL) if isinstance(text, str) else None
    return first[0] if first else text or ""


def _is_pure(schema: Schema, keyword: str) -> bool:
    """Whether a schema is a union of objects and nothing else."""
    return {key for key in schema if key in ASSERTIONS} <= {keyword, "type"}


def _enum_values(schema: Schema, at: str) -> tuple[list[ir.EnumValue], ir.Type | None] | None:
    """The constants of an enumeration and, for an open one, the type of other values; `None` if it is something else."""
    if is_array(schema.get("enum")) and "const" not in schema:
        values = [(index, value) for index, value in enumerate(schema["enum"]) if _is_of_type(value, schema)]
        if not values or any(isinstance(value, dict | list | None) for _, value in values):
            return None
        return [ir.EnumValue(value=value, at=f"{at}/enum/{index}") for index, value in values], None
    union = branches_of(schema)
    if union is None:
        return None
    keyword, branches = union
    found: list[ir.EnumValue] = []
    base: ir.Type | None = None
    for index, branch in enumerate(branches):
        if not is_object(branch) or not _is_of_type(_example(branch), schema):
            return None
        says = {key for key in branch if key in ASSERTIONS}
        value = constant(branch)
        if value is not None and says <= {"const", "enum", "type"} and _is_of_type(value, branch):
            found.append(
                ir.EnumValue(
                    value=value,
                    title=branch.get("title"),
                    capability=branch.get("x-capability"),
                    unstable=branch.get("x-unstable") is True,
                    doc=str(branch.get("description", "")),
                    at=f"{at}/{keyword}/{index}",
                )
            )
        elif base is None and says == {"type"} and branch["type"] in ("string", "integer"):
            base = ir.String() if branch["type"] == "string" else ir.Number(integer=True, format=branch.get("format"))
        else:
            return None
    return (found, base) if found else None


def _any_like(values: list[Any]) -> ir.Type:
    """A type of all values of the JSON types that some constants have."""
    accepted = {kind_of(value) for value in values}
    scalars = tuple(value for value in values if kind_of(value) not in ("object", "array", "null"))
    types: list[ir.Type] = [
        *([ir.Constant(scalars)] if scalars else []),
        *([ir.Array(ir.Anything())] if "array" in accepted else []),
        *([ir.Map(ir.Anything())] if "object" in accepted else []),
        *([ir.Null()] if "null" in accepted else []),
    ]
    return types[0] if len(types) == 1 else ir.AnyOf(tuple(types))


def _example(branch: Schema) -> Any:
    """A value of a branch of an enumeration."""
    value = constant(branch)
    return value if value is not None else "" if branch.get("type") == "string" else 0


def _overlap(values: list[ir.EnumValue], base: ir.Type | None) -> bool:
    """Whether some value is of two branches of an enumeration."""
    known = {(kind_of(value.value), value.value) for value in values}
    kind = None if base is None else "string" if base == ir.String() else "number"
    return len(known) < len(values) or any(one == kind for one, _ in known)


def _values(schema: Schema) -> list[Any] | None:
    """The constants that a schema lists; `None` where it lists none."""
    if "const" in schema and is_array(schema.get("enum")):
        return [schema["const"]] if any(_same(schema["const"], value) for value in schema["enum"]) else []
    if "const" in schema:
        return [schema["const"]]
    return list(schema["enum"]) if is_array(schema.get("enum")) else None


def _is_of_type(value: Any, schema: Schema) -> bool:
    """Whether a value is of the types that a schema names."""
    if "type" not in schema:
        return True
    names = schema["type"] if is_array(schema["type"]) else [schema["type"]]
    is_whole = kind_of(value) == "number" and value == int(value)
    return kind_of(value) in names or (is_whole and "integer" in names)


def _same(one: Any, other: Any) -> bool:
    """Whether two constants are the same JSON value: 1.0 is 1, true is not."""
    if is_object(one) and is_object(other):
        return one.keys() == other.keys() and all(_same(one[key], other[key]) for key in one)
    if is_array(one) and is_array(other):
        return len(one) == len(other) and all(map(_same, one, other))
    return kind_of(one) == kind_of(other) and bool(one == other)


def _keys(schema: Any) -> set[tuple[str, Any]] | None:
    """The constants that a schema lists, with their JSON types; `None` where it lists none, or some that are no scalars."""
    values = _values(schema) if is_object(schema) else None
    if values is None or any(isinstance(value, dict | list) for value in values):
        return None
    return {(kind_of(value), value) for value in values}


def _says_nothing(schema: Any) -> bool:
    """Whether a schema surely accepts every value."""
    return schema is True or (is_object(schema) and all(_is_idle(schema, key) for key in schema if key in ASSERTIONS))


def _is_idle(schema: Schema, keyword: str) -> bool:
    """Whether an assertion refuses nothing as it stands."""
    value = schema[keyword]
    match keyword:
        case "additionalProperties" | "items" | "propertyNames" | "unevaluatedItems" | "unevaluatedProperties":
            return _says_nothing(value)
        case "properties" | "patternProperties" | "dependentSchemas":
            return all(map(_says_nothing, value.values()))
        case "prefixItems" | "allOf":
            return all(map(_says_nothing, value))
        case "anyOf":
            return any(map(_says_nothing, value))
        case "required" | "uniqueItems" | "minItems" | "minLength" | "minProperties" | "not":
            return not value and value != {}
        case "dependentRequired":
            return not any(value.values())
        case "if":
            return "then" not in schema and "else" not in schema
        case "then" | "else":
            return True  # told by `if`
        case "minContains" | "maxContains":
            return "contains" not in schema
        case _:
            return False


def _count(schema: Schema, keyword: str) -> int | None:
    """A limit of a length; JSON Schema admits 2.0 for 2."""
    return int(schema[keyword]) if keyword in schema else None


def _distinct(types: list[ir.Type], *, flat: bool) -> list[ir.Type]:
    """The types, each once, null last, and without those that no value has."""
    parts = [part for one in types for part in (one.types if flat and isinstance(one, ir.AnyOf) else (one,))]
    once = {repr(part): part for part in parts}  # in Python, 1 and true are equal
    left = [part for part in once.values() if part not in (ir.Nothing(), ir.Null())]
    return [*left, *([ir.Null()] if ir.Null() in parts else [])]


def _referred(*types: ir.Type) -> set[str]:
    """The definitions that types refer to."""
    found: set[str] = set()
    for type_ in types:
        match type_:
            case ir.Ref(name=name):
                found.add(name)
            case ir.Array(items=inner) | ir.Map(values=inner):
                found |= _referred(inner)
            case ir.AnyOf(types=members):
                found |= _referred(*members)
            case _:
                pass
    return found


def _with_lost_exclusions(definitions: dict[str, ir.Definition]) -> dict[str, ir.Definition]:
    """The definitions, with a note on each record whose excluded constants its class cannot keep out."""
    fallbacks = {
        one.fallback: one.tag
        for one in definitions.values()
        if isinstance(one, ir.TaggedUnion) and one.fallback is not None
    }

    def loses(record: ir.Record) -> str | None:
        excluded = {key for key, _ in record.excluded}
        is_kept = record.base is None and (record.name not in fallbacks or excluded <= {fallbacks[record.name]})
        if excluded and not is_kept:
            return f"{record.at}/not"
        base = definitions[record.base] if record.base is not None else None
        return loses(base) if isinstance(base, ir.Record) else None

    places = {name: loses(one) for name, one in definitions.items() if isinstance(one, ir.Record)}
    return {
        name: replace(one, unenforced=(*one.unenforced, place)) if (place := places.get(name)) is not None else one
        for name, one in definitions.items()
    }


def _inexact(definitions: Mapping[str, ir.Definition]) -> frozenset[str]:
    """The definitions that accept more than their schemas do, or lead to one that does."""
    users: dict[str, set[str]] = {}
    for name, one in definitions.items():
        for used in _used(one):
            users.setdefault(used, set()).add(name)
    pending = [name for name, one in definitions.items() if one.unenforced]
    found = set(pending)
    while pending:
        new = users.get(pending.pop(), set()) - found
        found |= new
        pending.extend(new)
    return frozenset(found)


def _used(definition: ir.Definition) -> set[str]:
    match definition:
        case ir.Record(fields=fields, extra=extra):
            return _referred(extra, *(field.type for field in fields))
        case ir.TaggedUnion(variants=variants, fallback=fallback, fallback_shapes=shapes, default=default):
            return {*(one.type for one in variants), *shapes, *(name for name in (fallback, default) if name)}
        case ir.Enum(base=base):
            return _referred(base)
        case ir.Alias(type=type_):
            return _referred(type_)
