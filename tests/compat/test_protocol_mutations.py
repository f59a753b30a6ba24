"""Real schemas, rewritten in ways that no message can notice, and changed in ways whose effect is known."""

from __future__ import annotations

import copy
import json
import random
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import jsonschema_rs
import pytest

import evidence
import tiers
from acpgen.bundle.bundle import DIALECT, bundle
from acpgen.compat.findings import BUDGET, Report, Sides
from acpgen.compat.protocol.check.counterparts import DIRECTIONS
from acpgen.compat.protocol.messages import Route, WitnessValidator
from acpgen.compat.protocol.revision import SchemaRevision
from acpgen.input.load import load
from acpgen.meaning.lower import lower
from acpgen.meaning.samples import Unmakeable, Values
from compat.protocols import CANONICAL, Schema, compared, revised
from schema_inclusion import Allowance

ACP = ["upstream/acp-v1-newest/schema.json", "upstream/acp-v2-newest/schema.json"]
LARGE = [*ACP, "upstream/mcp-2025-11-25/schema.json"]
SMALL = ["history/v1/v0.4.0.schema.json"]


def whole(name: str) -> Schema:
    evidence.need(name)
    return json.loads(evidence.path(name).read_text("utf-8"))  # type: ignore[no-any-return]


def title(name: str) -> str:
    return name.split("/")[1]


def definitions(schema: Schema) -> Schema:
    return schema["$defs"] if "$defs" in schema else schema["definitions"]  # type: ignore[no-any-return]


def everywhere(node: Any, change: Callable[[Schema], Any], *, names: bool = False) -> Any:
    """The same tree with every schema replaced by what `change` makes of it, innermost first."""
    if isinstance(node, list):
        return [everywhere(item, change) for item in node]
    if not isinstance(node, dict):
        return node
    changed = {
        key: value
        if key in ("const", "enum", "default", "examples", "required")
        else everywhere(value, change, names=key in ("properties", "$defs", "definitions", "patternProperties"))
        for key, value in node.items()
    }
    return changed if names else change(changed)


# --- rewrites --------------------------------------------------------------------------------------------------------


def shuffled(schema: Schema) -> Schema:
    luck = random.Random(7)

    def change(node: Any) -> Any:
        if isinstance(node, dict):
            keys = list(node)
            luck.shuffle(keys)
            return {key: change(node[key]) for key in keys}
        return [change(item) for item in node] if isinstance(node, list) else node

    return change(schema)  # type: ignore[no-any-return]


def reworded(schema: Schema) -> Schema:
    return everywhere(schema, lambda node: {**node, "description": "Other words."} if "description" in node else node)  # type: ignore[no-any-return]


def wrapped_in_all_of(schema: Schema) -> Schema:
    def change(node: Schema) -> Schema:
        if "$ref" in node and set(node) <= {"$ref", "description"}:
            return {**{key: value for key, value in node.items() if key != "$ref"}, "allOf": [{"$ref": node["$ref"]}]}
        return node

    return everywhere(schema, change)  # type: ignore[no-any-return]


def null_through_any_of(schema: Schema) -> Schema:
    def change(node: Schema) -> Schema:
        types = node.get("type")
        if isinstance(types, list) and "null" in types and len(types) == 2:
            rest = {**node, "type": next(name for name in types if name != "null")}
            kept = {
                key: rest.pop(key) for key in list(rest) if key in ("description", "default") or key.startswith("x-")
            }
            return {**kept, "anyOf": [rest, {"type": "null"}]}
        return node

    return everywhere(schema, change)  # type: ignore[no-any-return]


def constants_instead_of_enum(schema: Schema) -> Schema:
    def change(node: Schema) -> Schema:
        values = node.get("enum")
        if isinstance(values, list) and values and all(isinstance(value, str) for value in values) and len(values) > 1:
            rest = {key: value for key, value in node.items() if key not in ("enum", "type")}
            return {**rest, "oneOf": [{"const": value, "type": "string"} for value in values]}
        return node

    return everywhere(schema, change)  # type: ignore[no-any-return]


def alone_in_one_of(schema: Schema) -> Schema:
    changed = copy.deepcopy(schema)
    for definition in definitions(changed).values():
        for name, field in definition.get("properties", {}).items():
            if isinstance(field, dict) and set(field) <= {"$ref", "description"} and "$ref" in field:
                words = {key: value for key, value in field.items() if key == "description"}
                definition["properties"][name] = {**words, "oneOf": [{"$ref": field["$ref"]}]}
    return changed


def written_inline(schema: Schema) -> Schema:
    """Every reference to a plain string or number is replaced by what it refers to."""
    known = definitions(schema)

    def change(node: Schema) -> Schema:
        name = str(node.get("$ref", "")).rpartition("/")[2]
        target = known.get(name, {})
        if (
            set(node) <= {"$ref", "description"}
            and "$ref" in node
            and target.get("type") in ("string", "integer", "boolean")
            and "enum" not in target
        ):
            inner = {key: value for key, value in target.items() if key not in ("description", "title")}
            return {**inner, **{key: value for key, value in node.items() if key == "description"}}
        return node

    return everywhere(schema, change)  # type: ignore[no-any-return]


def renamed(schema: Schema) -> Schema:
    """Every definition that neither is a method's nor an envelope has another name."""
    known = definitions(schema)
    plain = [
        name
        for name, definition in known.items()
        if "x-method" not in definition
        and not definition.get("x-docs-ignore")
        and not name.endswith(("Request", "Response", "Notification", "Result", "Params"))
        and "method" not in definition.get("properties", {})
    ]
    names = {name: f"{name}Renamed" for name in plain}

    def change(node: Schema) -> Schema:
        if "$ref" in node:
            head, _, name = node["$ref"].rpartition("/")
            return {**node, "$ref": f"{head}/{names.get(name, name)}"}
        return node

    changed: Schema = everywhere(schema, change)
    key = "$defs" if "$defs" in changed else "definitions"
    return {**changed, key: {names.get(name, name): value for name, value in changed[key].items()}}


def moved(schema: Schema) -> Schema:
    key = "$defs" if "$defs" in schema else "definitions"
    return {**schema, key: dict(reversed(schema[key].items()))}


REWRITES = (
    shuffled,
    reworded,
    wrapped_in_all_of,
    null_through_any_of,
    constants_instead_of_enum,
    alone_in_one_of,
    written_inline,
    renamed,
    moved,
)


def each(functions: Iterable[Callable[..., Any]], names: list[str], size: int) -> list[Any]:
    """Each function with each schema."""
    cases = [(name, function) for function in functions for name in names]
    drawn = tiers.sample(cases, size, lambda case: f"{case[1].__name__}-{title(case[0])}")
    return [pytest.param(*case.values[0], id=case.id, marks=case.marks) for case in drawn]


@pytest.mark.parametrize(("name", "rewrite"), [*each(REWRITES, SMALL, 3), *each(REWRITES, LARGE, 1)])
def test_what_no_message_can_notice_is_editorial_at_most(name: str, rewrite: Callable[[Schema], Schema]) -> None:
    schema = whole(name)
    other = rewrite(schema)
    for old, new in ((schema, other), (other, schema)):
        report = compared(old, new, unstable=True)
        bad = [
            f"{each.severity} {each.rule} {each.method} {each.location}"
            for each in report.findings
            if each.severity != "editorial"
        ]
        assert not bad, bad[:5]
        assert (report.wire.backward, report.wire.forward) == ("yes", "yes")
        assert (report.language.backward, report.language.forward) == ("yes", "yes")


# --- mutations -------------------------------------------------------------------------------------------------------

Mutation = Callable[[Schema, random.Random], "tuple[str, str] | None"]
"""Changes a record definition in place; says which verdict that gives and which rule must speak, or None if it does not apply."""


def _fields(record: Schema, *, required: bool | None = None) -> list[str]:
    must = set(record.get("required", ()))
    return [
        name
        for name, field in record.get("properties", {}).items()
        if isinstance(field, dict) and not name.startswith("_") and "const" not in field
        if required is None or (name in must) == required
    ]


def add_required(record: Schema, luck: random.Random) -> tuple[str, str]:
    record["properties"]["mutated"] = {"type": "string"}
    record["required"] = [*record.get("required", ()), "mutated"]
    return "breaking", "required-field-added"


def add_optional(record: Schema, luck: random.Random) -> tuple[str, str]:
    record["properties"]["mutated"] = {"type": ["integer", "null"]}
    return "additive", "field-added"


def require(record: Schema, luck: random.Random) -> tuple[str, str] | None:
    names = _fields(record, required=False)
    if not names:
        return None
    record["required"] = [*record.get("required", ()), luck.choice(names)]
    return "breaking", "field-became-required"


def free(record: Schema, luck: random.Random) -> tuple[str, str] | None:
    names = _fields(record, required=True)
    if not names:
        return None
    record["required"].remove(luck.choice(names))
    return "breaking", "field-became-optional"


def remove_optional(record: Schema, luck: random.Random) -> tuple[str, str] | None:
    names = _fields(record, required=False)
    if not names:
        return None
    record["properties"].pop(luck.choice(names))
    return "breaking", "field-removed"


def remove_required(record: Schema, luck: random.Random) -> tuple[str, str] | None:
    names = _fields(record, required=True)
    if not names:
        return None
    name = luck.choice(names)
    record["properties"].pop(name)
    record["required"].remove(name)
    return "breaking", "required-field-removed"


def close(record: Schema, luck: random.Random) -> tuple[str, str] | None:
    if "additionalProperties" in record:
        return None
    record["additionalProperties"] = False
    return "breaking", "object-closed"


def retype(record: Schema, luck: random.Random) -> tuple[str, str] | None:
    names = [name for name in _fields(record) if record["properties"][name].get("type") == "string"]
    if not names:
        return None
    field = record["properties"][luck.choice(names)]
    for key in [key for key in field if key not in ("description", "type")]:
        field.pop(key)
    field["type"] = "integer"
    return "breaking", "type-changed"


def lengthen(record: Schema, luck: random.Random) -> tuple[str, str] | None:
    names = [name for name in _fields(record) if set(record["properties"][name]) <= {"type", "description"}]
    names = [name for name in names if record["properties"][name].get("type") == "string"]
    if not names:
        return None
    record["properties"][luck.choice(names)]["minLength"] = 2
    return "breaking", "limit-tightened"


def forgive(record: Schema, luck: random.Random) -> tuple[str, str] | None:
    names = [
        name
        for name in _fields(record)
        if not any(key.startswith("x-deserialize") for key in record["properties"][name])
    ]
    if not names:
        return None
    record["properties"][luck.choice(names)]["x-deserialize-default-on-error"] = True
    return "additive", "leniency-added"


MUTATIONS: tuple[Mutation, ...] = (
    *(add_required, add_optional, require, free, remove_optional, remove_required, close, retype, lengthen, forgive),
)


def reached(schema: Schema) -> list[str]:
    """Records that are part of messages, and of nothing that a union may take for something else."""
    return [
        name
        for method in revised(schema, "old", unstable=True).protocol.methods
        for name in (method.params, method.result)
        if name is not None
        and definitions(schema).get(name, {}).get("properties")
        and "anyOf" not in definitions(schema)[name]
        and "oneOf" not in definitions(schema)[name]
    ]


@pytest.mark.parametrize("is_whole", tiers.EXTENTS)
@pytest.mark.parametrize(("file", "mutation"), each(MUTATIONS, ACP, 3))
def test_a_change_has_the_effect_that_is_known(file: str, mutation: Mutation, is_whole: bool) -> None:
    old = whole(file)
    luck = random.Random(f"{title(file)} {mutation.__name__}")
    names = sorted(set(reached(old)))
    luck.shuffle(names)
    tried = 0
    for name in names:
        new = copy.deepcopy(old)
        expected = mutation(definitions(new)[name], luck)
        if expected is None:
            continue
        verdict, rule = expected
        report = compared(old, new, unstable=True)
        assert (report.verdict, rule in {each.rule for each in report.findings}) == (verdict, True), (
            name,
            report.findings[:3],
        )
        _refute(report, old, new)
        tried += 1
        if tried == (3 if is_whole else 1):
            break
    assert tried


def _refute(report: Report, old: Schema, new: Schema) -> None:
    """Messages of one side must be accepted by the other wherever the verdict says so."""
    sides = [revised(schema, name, unstable=True) for schema, name in ((old, "old"), (new, "new"))]
    validator = WitnessValidator(sides[0], sides[1], Allowance(BUDGET))
    for sender, receiver in DIRECTIONS:
        if (report.wire.backward if sender == "old" else report.wire.forward) != "yes":
            continue
        for routes in _routes(*sides):
            for value in _instances(sides[0 if sender == "old" else 1], routes.on(sender)):
                assert not validator.accepts(routes, sender, value) or validator.accepts(routes, receiver, value), value


def _routes(old: SchemaRevision, new: SchemaRevision) -> Iterator[Sides[Route]]:
    after = {(method.name, method.side, method.kind): method for method in new.methods}
    for method in old.methods:
        other = after.get((method.name, method.side, method.kind))
        if other is not None:
            yield Sides(Route("params", method, method.params), Route("params", other, other.params))
            if method.kind == "request":
                yield Sides(Route("result", method, method.result), Route("result", other, other.result))


def _instances(revised: SchemaRevision, route: Route) -> Iterator[Any]:
    """The smallest message, one with all fields, and one with each of these in turn."""
    from acpgen.compat.protocol.messages import wrap_message

    values = Values(revised.definitions)
    if route.content is None:
        return
    try:
        small, full = values.make_small(route.content), values.make_full(route.content)
    except Unmakeable:
        return
    one_more = [{**small, name: full[name]} for name in full] if isinstance(full, dict) else []
    for value in (small, full, *one_more):
        yield wrap_message("json-rpc", route, value)


@pytest.mark.parametrize("is_whole", tiers.EXTENTS)
def test_the_validator_of_messages_is_a_schema_itself(is_whole: bool) -> None:
    from acpgen.compat.protocol.messages import write_message_schema

    for path in CANONICAL[:2]:
        bundled = bundle(load(path))
        meaning = SchemaRevision(lower(bundled), bundled)
        methods = list(meaning.methods)
        for method in methods if is_whole else tiers.draw(methods, 3, lambda method: f"{path.name} {method.name}"):  # noqa: B023 - called at once
            schema = write_message_schema(meaning, Route("params", method, method.params))
            jsonschema_rs.meta.validate({"$schema": DIALECT, "$defs": bundled.definitions, **schema})
