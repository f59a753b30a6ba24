"""Examples: all those of the schema, validated; for types without one, parts of other examples, or generated values."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from functools import partial
from itertools import islice
from typing import Final, assert_never

import jsonschema_rs

from acpgen import ir
from acpgen.bundle.bundle import Bundle
from acpgen.errors import Fault, Faults
from acpgen.input.complexity import require_few_paths
from acpgen.input.faults import NOT_A_SCHEMA
from acpgen.input.numbers import dumps
from acpgen.input.schema_validator import compile_definitions
from acpgen.input.walk import is_array, walk_schemas
from acpgen.meaning.samples import Unmakeable, Values
from acpgen.pointers import write_plain_pointer, write_reference
from acpgen.targets.faults import INVALID_EXAMPLE

LONGEST_REASON: Final = 200

WITHOUT: Final = frozenset({"_meta"})
"""Members that generated examples omit, because they may hold any value."""

REMEDY: Final = 'set the option refused-examples of the target docs to "leave-out"'
"""The remedy for an invalid example in a schema that the user does not own."""

FEW: Final = 3
"""The maximum number of examples for a type that has none of its own."""

Examples = Mapping[str, tuple[ir.JSON, ...]]
"""Valid examples by definition."""


def find_refused(judge: ExampleJudge) -> tuple[Fault, ...]:
    """A fault for each example of a bundle that its own schema rejects."""
    faults: list[Fault] = []
    for keys, schema in judge.example_schemas:
        place = judge.bundle.origins[keys[0]] + write_plain_pointer(*keys[1:])
        for index, example in enumerate(schema["examples"]):
            reason = judge.find_refusal(write_reference(*keys), example)
            if reason is not None:
                faults.append(
                    INVALID_EXAMPLE(at=f"{place}/examples/{index}", reason=reason, otherwise=f", or {REMEDY}")
                )
    return tuple(faults)


def collect_examples(protocol: ir.Protocol, judge: ExampleJudge) -> Examples:
    """Collect the examples of each definition: its own valid ones, or else the first few that occur inside the examples of others."""
    inner_by_name: dict[str, dict[str, ir.JSON]] = {name: {} for name in protocol.definitions}

    def admits(name: str, value: ir.JSON) -> bool:
        # What the schema does not define is the fallback of a tolerated union, and takes whatever reaches it.
        return name not in judge.bundle.definitions or judge.find_refusal(write_reference(name), value) is None

    def add(name: str, value: ir.JSON) -> None:
        inner_examples = inner_by_name[name]
        key = dumps(value, sort_keys=True)
        if key in inner_examples or len(inner_examples) >= FEW:
            return
        if admits(name, value):
            inner_examples[key] = value
            for inner, part in _list_parts(protocol, protocol.definitions[name], value, admits):
                add(inner, part)

    valid_examples = {
        name: tuple(example for example in definition.examples if admits(name, example))
        for name, definition in protocol.definitions.items()
    }
    for name, definition in protocol.definitions.items():
        for example in valid_examples[name]:
            for inner, part in _list_parts(protocol, definition, example, admits):
                add(inner, part)
    return {name: valid_examples[name] or tuple(inner_by_name[name].values()) for name in protocol.definitions}


def generate_examples(protocol: ir.Protocol, judge: ExampleJudge, collected_examples: Examples) -> Examples:
    """Generate one value for each definition without an example: with all fields if that is valid, otherwise as small as possible."""
    values = Values(protocol.definitions)

    def make_candidates(name: str) -> Iterator[ir.JSON]:
        for make in (partial(values.make_full, without=WITHOUT), values.make_small):
            with suppress(Unmakeable):
                yield make(name)

    return {
        name: (value,)
        for name, examples in collected_examples.items()
        if not examples
        for value in islice(
            (
                value
                for value in make_candidates(name)
                if name not in judge.bundle.definitions or judge.find_refusal(write_reference(name), value) is None
            ),
            1,
        )
    }


class ExampleJudge:
    """Validates values against the definitions of a bundle and against the schemas that have examples, compiled together.

    `given` holds the schemas with examples and their paths. Raises `Faults` if the validator cannot compile the schema or it has too
    many evaluation paths.
    """

    def __init__(self, bundle: Bundle) -> None:
        require_few_paths(bundle.definitions, bundle.origins)
        self.bundle: Final = bundle
        self.example_schemas: Final = [
            ((name, *keys), schema)
            for name, definition in bundle.definitions.items()
            for keys, schema in walk_schemas(definition)
            if is_array(schema.get("examples"))
        ]
        references = (write_reference(*keys) for keys, _ in self.example_schemas)
        try:
            self._validator = compile_definitions(bundle.definitions, references)
        except jsonschema_rs.ValidationError as error:
            raise Faults(
                [NOT_A_SCHEMA(at=next(iter(bundle.files), bundle.name), reason=error.message, dialect="2020-12")]
            ) from None

    def find_refusal(self, reference: str, value: ir.JSON) -> str | None:
        """The shortened reason why the schema at a reference rejects a value; `None` if the value is valid."""
        error = next(self._validator.list_errors({reference: value}), None)
        if error is None:
            return None
        reason = self._validator.describe(error)
        return reason if len(reason) <= LONGEST_REASON else f"{reason[: LONGEST_REASON - 1]}…"


def _list_parts(
    protocol: ir.Protocol, definition: ir.Definition, value: ir.JSON, admits: Callable[[str, ir.JSON], bool]
) -> Iterator[tuple[str, ir.JSON]]:
    """Yield the parts of a value that have a definition of their own, with its name."""
    match definition:
        case ir.Record():
            if isinstance(value, dict):
                for field in definition.fields:
                    if field.name in value:
                        yield from _make_type_examples(field.type, value[field.name], admits)
        case ir.TaggedUnion():
            if isinstance(value, dict):
                yield from _make_union_examples(protocol, definition, value)
        case ir.Alias():
            yield from _make_type_examples(definition.type, value, admits)
        case ir.Enum():
            pass
        case _:
            assert_never(definition)


def _make_union_examples(
    protocol: ir.Protocol, union: ir.TaggedUnion, value: dict[str, ir.JSON]
) -> Iterator[tuple[str, ir.JSON]]:
    for variant in union.variants:
        if value.get(union.tag) == variant.tag:
            yield variant.type, value
            body = protocol.definitions.get(variant.body or "")
            if isinstance(body, ir.Record) and union.tag not in {field.name for field in body.fields}:
                yield body.name, {key: item for key, item in value.items() if key != union.tag}
            elif body is not None:
                yield body.name, value
            return
    if union.default is not None:
        yield union.default, value
    elif union.fallback is not None:
        yield union.fallback, value


def _make_type_examples(
    type_: ir.Type, value: ir.JSON, admits: Callable[[str, ir.JSON], bool]
) -> Iterator[tuple[str, ir.JSON]]:
    match type_:
        case ir.Ref():
            if admits(type_.name, value):
                yield type_.name, value
        case ir.Array():
            for item in value if isinstance(value, list) else ():
                yield from _make_type_examples(type_.items, item, admits)
        case ir.Tuple():
            for index, item in enumerate(value if isinstance(value, list) else ()):
                yield from _make_type_examples(
                    type_.first[index] if index < len(type_.first) else type_.rest, item, admits
                )
        case ir.Map():
            for item in value.values() if isinstance(value, dict) else ():
                yield from _make_type_examples(type_.values, item, admits)
        case ir.AnyOf():
            for member in type_.types:
                yield from _make_type_examples(member, value, admits)
        case _:
            pass
