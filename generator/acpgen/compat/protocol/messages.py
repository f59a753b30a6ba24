"""Whole messages, and the schema of a method's messages in each revision: envelope plus exactly its params or result.

The document's root is no judge of messages: its envelope admits anything as extension parameters.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias

from acpgen import ir
from acpgen.compat.diff.pairs import Step
from acpgen.compat.findings import Revision, Witness, opposite
from acpgen.compat.protocol.candidates import Examples, Leaf, NoExample, Without
from acpgen.compat.protocol.enclosing import declared_names, judging
from acpgen.compat.protocol.revision import Revised
from acpgen.meaning import framing, texts
from acpgen.pointers import reference_to
from acpgen.schema.bundle import DIALECT
from acpgen.schema.walk import Schema, copied, is_array, is_object

MOST_ERRORS = 1_000
"""Errors that are told of what one reference leads to."""

MOST_COMPLETED: Final = 6
"""ChangePlaces of one message that are made valid."""

if TYPE_CHECKING:
    from jsonschema.protocols import Validator

    from schema_inclusion import Allowance, Comparer

Part: TypeAlias = Literal["params", "result", "error", "id", "document"]
Path: TypeAlias = "tuple[str | int, ...]"


@dataclass(frozen=True, slots=True)
class Route:
    """One kind of message: a method's params or result, or what belongs to no method: then `definition` may name it."""

    part: Part
    method: ir.Method | None
    definition: str = ""


def message(envelope: ir.Envelope, route: Route, value: ir.JSON) -> ir.JSON:
    """The whole message around params, a result, an error or an id."""
    if route.part == "document":
        return value
    if route.part == "error":
        return {**framing.failure(envelope, route.method, value)}
    if route.part == "result":
        return {**framing.answer(envelope, route.method, value)}
    if route.part == "id":
        return {**framing.answer(envelope, route.method, {}, id_=value)}
    assert route.method is not None
    return {**framing.call(envelope, route.method, value)}


def message_schema(revised: Revised, route: Route, type_name: str | None) -> Schema:
    """The schema of such messages in one revision. `type_name` is the definition of what the envelope holds; `None` is anything."""
    inner: Schema | bool = True if type_name is None else {"$ref": reference_to(type_name)}
    if route.part == "document":
        whole: Schema = {"$schema": DIALECT, "$defs": revised.bundle.definitions}
        return whole | inner if isinstance(inner, dict) else whole
    held = "result" if route.part == "id" else route.part
    one: Schema = framing.frame(revised.protocol.envelope, route.method, held, True if route.part == "id" else inner)
    if route.part == "id":
        one["properties"]["id"] = inner
    many: Schema = {"type": "array", "minItems": 1, "items": one}
    return {
        "$schema": DIALECT,
        "anyOf": [one, many] if revised.protocol.batch else [one],
        "$defs": revised.bundle.definitions,
    }


class Court:
    """Builds witnesses and has them judged by `jsonschema` on both revisions."""

    def __init__(self, old: Revised, new: Revised, allowance: Allowance, *, formats: bool = False) -> None:
        """`formats`: both revisions assert them."""
        self.allowance = allowance
        self._asserts = formats
        self.sides: dict[Revision, Revised] = {"old": old, "new": new}
        self.make: dict[Revision, Examples] = {"old": Examples(old), "new": Examples(new)}
        self._comparers: dict[Revision, Comparer] = {}
        self._validators: dict[tuple[Revision, Route, str | None, bool], Validator] = {}

    def refusal(
        self,
        routes: dict[Revision, tuple[Route, str | None]],
        steps: Sequence[Step],
        accepted_by: Revision,
        leaf: Leaf,
    ) -> Witness | None:
        """A message that one revision accepts and the other refuses because of what stands at the steps; `None` if none was found."""
        refused_by = opposite(accepted_by)
        route, _ = routes[accepted_by]
        where = _instance_path(self.sides[accepted_by].protocol.envelope, route, steps, accepted_by)
        for given, replaced in self._built(routes, steps, accepted_by, leaf):
            value = self._sendable(routes, accepted_by, given)
            verified = self.accepts(routes, accepted_by, value) and self._refuses_at(
                routes, refused_by, value, where, replaced
            )
            if verified:
                return self.proof(routes, value, accepted_by, where)
        return None

    def _sendable(self, routes: dict[Revision, tuple[Route, str | None]], side: Revision, value: ir.JSON) -> ir.JSON:
        """The message, with texts of the formats that one revision names where formats are asserted and it refuses the message."""
        return self._formed(routes, side, value) if self._asserts and not self.accepts(routes, side, value) else value

    def shown(
        self,
        routes: dict[Revision, tuple[Route, str | None]],
        steps: Sequence[Step],
        accepted_by: Revision,
        value: ir.JSON,
    ) -> Witness | None:
        """The witness that the params, result or document of one revision are: the other refuses them where the steps lead."""
        route, _ = routes[accepted_by]
        envelope = self.sides[accepted_by].protocol.envelope
        whole = message(envelope, route, value)
        where = _instance_path(envelope, route, steps, accepted_by, is_any=True)
        verified = self.accepts(routes, accepted_by, whole) and self._refuses_at(
            routes, opposite(accepted_by), whole, where
        )
        return self.proof(routes, whole, accepted_by, where) if verified else None

    def proof(
        self,
        routes: dict[Revision, tuple[Route, str | None]],
        value: ir.JSON,
        accepted_by: Revision,
        where: Path = (),
    ) -> Witness:
        """The witness of a refusal that was verified: one that holds with formats asserted too, where it can be made so."""
        refused_by = opposite(accepted_by)
        formats = self.accepts(routes, accepted_by, value, formats=True)
        if not formats:
            formed = self._formed(routes, accepted_by, value)
            if (
                self.accepts(routes, accepted_by, formed, formats=True)
                and self.accepts(routes, accepted_by, formed)
                and self._refuses_at(routes, refused_by, formed, where)
            ):
                value, formats = formed, True
        return Witness(value, verified=True, accepted_by=accepted_by, refused_by=refused_by, formats=formats)

    def loss(
        self,
        routes: dict[Revision, tuple[Route, str | None]],
        steps: Sequence[Step],
        carried_by: Revision,
        leaf: Leaf,
    ) -> Witness | None:
        """A message that carries in one revision what the other does not hear."""
        for value in self.messages(routes, steps, carried_by, leaf):
            verified = self.accepts(routes, carried_by, value)
            if verified:
                return self.carried(routes, value, carried_by)
        return None

    def held(self, routes: dict[Revision, tuple[Route, str | None]], side: Revision, value: ir.JSON) -> ir.JSON:
        """The params, result or document that a message of one revision is about."""
        found: ir.JSON = _at(value, _envelope_path(self.sides[side].protocol.envelope, routes[side][0]))
        return found

    def carried(
        self, routes: dict[Revision, tuple[Route, str | None]], value: ir.JSON, carried_by: Revision
    ) -> Witness:
        """The witness of a loss that was verified: formats are asserted too."""
        formats = self.accepts(routes, carried_by, value, formats=True)
        return Witness(value, verified=True, carried_by=carried_by, formats=formats)

    def loss_by_name(
        self,
        routes: dict[Revision, tuple[Route, str | None]],
        steps: Sequence[Step],
        carried_by: Revision,
        leaf: Leaf,
    ) -> Witness | None:
        """A message that one revision accepts, and that the other refuses even where renamed fields and variants have its names."""
        if all(step.was is None for step in steps):
            return None
        other = opposite(carried_by)
        envelope = self.sides[carried_by].protocol.envelope
        where = _instance_path(envelope, routes[carried_by][0], steps, other)
        for value in self.messages(routes, steps, carried_by, leaf):
            called = _called(value, _envelope_path(envelope, routes[carried_by][0]), steps, other)
            if self.accepts(routes, carried_by, value) and self._refuses_at(routes, other, called, where):
                return self.carried(routes, value, carried_by)
        return None

    def messages(
        self, routes: dict[Revision, tuple[Route, str | None]], steps: Sequence[Step], side: Revision, leaf: Leaf
    ) -> Iterator[ir.JSON]:
        """Messages of one revision with the leaf's values where the steps lead."""
        return (value for value, _ in self._built(routes, steps, side, leaf))

    def _built(
        self, routes: dict[Revision, tuple[Route, str | None]], steps: Sequence[Step], side: Revision, leaf: Leaf
    ) -> Iterator[tuple[ir.JSON, Sequence[Path]]]:
        """These messages, each with the places inside the leaf's value whose content is the prover's."""
        route, name = routes[side]
        envelope = self.sides[side].protocol.envelope
        where = _instance_path(envelope, route, steps, side)
        type_: ir.Type = ir.Anything() if name is None else ir.Ref(name)
        lacking = leaf.name if isinstance(leaf, Without) else ""
        try:
            for value in self.make[side].build(type_, steps, side, leaf):
                yield self._completed(routes, side, message(envelope, route, value), where, lacking)
        except NoExample:
            return

    def _completed(
        self,
        routes: dict[Revision, tuple[Route, str | None]],
        side: Revision,
        value: ir.JSON,
        where: Path,
        lacking: str,
    ) -> tuple[ir.JSON, Sequence[Path]]:
        """The message, made valid by the prover where its revision refuses it: what stands beside the place in question is replaced,
        objects that hold it, or are it, get further members, but not the one that is to be lacking, and then what stands inside it is
        replaced, at the places that are returned.

        Values are made from types, and types do not carry each keyword: `minProperties`, `contains`, `dependentRequired`, a `oneOf` of
        `required`.
        """
        given, seen = value, set[tuple[Path, int]]()
        replaced: list[Path] = []
        for _ in range(MOST_COMPLETED):
            if self.accepts(routes, side, value):
                return value, replaced
            wrong = [
                (path, error)
                for path, error in self._errors(routes, side, value)
                if is_object(error.schema) and (path, id(error.schema)) not in seen
            ]
            beside = [each for each in wrong if each[0][: len(where)] != where[: len(each[0])]]
            around = [each for each in wrong if where[: len(each[0])] == each[0]]
            inside = [each for each in wrong if len(each[0]) > len(where) and each[0][: len(where)] == where]
            fresh = beside or sorted(around, key=lambda each: -len(each[0])) or inside
            if not fresh:
                return given, ()
            path, error = fresh[0]
            seen.add((path, id(error.schema)))
            schema: Any = error.schema
            if not beside and around:
                root = message_schema(self.sides[side], *routes[side])
                whole = judging(root, error, len(path))
                held = _holding(_at(value, path), where[len(path) : len(path) + 1], lacking)
                schema = {"allOf": [whole, held, {"propertyNames": {"enum": _names(root, whole, _at(value, path))}}]}
            found = self._provers(side).include(schema, False).witness
            if found is None:
                continue
            if not beside and not around:
                replaced.append(path)
            if not path:
                value = found.value
                continue
            value = copied(value)
            holder = _at(value, path[:-1])
            holder[path[-1]] = found.value
        return (value, replaced) if self.accepts(routes, side, value) else (given, ())

    def _provers(self, side: Revision) -> Comparer:
        """What knows values of any schema of one revision."""
        from schema_inclusion import Comparer

        if side not in self._comparers:
            document: Any = {"$schema": DIALECT, "$defs": self.sides[side].bundle.definitions}
            self._comparers[side] = Comparer(document, False, allowance=self.allowance)
        return self._comparers[side]

    def confirms(self, routes: dict[Revision, tuple[Route, str | None]], accepted_by: Revision, value: ir.JSON) -> bool:
        """Whether a message that was found otherwise is one that the first revision accepts and the other refuses."""
        refused_by = opposite(accepted_by)
        return self.accepts(routes, accepted_by, value) and self._refuses_at(routes, refused_by, value, ())

    def accepts(
        self,
        routes: dict[Revision, tuple[Route, str | None]],
        side: Revision,
        value: ir.JSON,
        *,
        formats: bool = False,
    ) -> bool:
        """Whether one revision accepts a message, with `formats` asserted whatever the comparison does. What a reference that leads
        nowhere leaves open is not accepted, nor what a pattern leaves open that Python cannot read as ECMA-262 does.
        """
        return self._says(routes, side, value, self.allowance, formats=formats) is True

    def bears_out(self, routes: dict[Revision, tuple[Route, str | None]], witness: Witness) -> bool:
        """Whether the revisions accept and refuse a message as its witness says, whoever found it. It takes nothing from the allowance."""
        accepting = witness.accepted_by or witness.carried_by
        is_accepted = accepting is None or self._says(routes, accepting, witness.value, None) is True
        refusing = witness.refused_by
        return is_accepted and (refusing is None or self._says(routes, refusing, witness.value, None) is False)

    def _says(
        self,
        routes: dict[Revision, tuple[Route, str | None]],
        side: Revision,
        value: ir.JSON,
        allowance: Allowance | None,
        *,
        formats: bool = False,
    ) -> bool | None:
        """Whether one revision accepts a message, in steps of the allowance, if any is given; `None` where that is left open."""
        from referencing.exceptions import Unresolvable

        from schema_inclusion.once import TooManySteps, remembering

        try:
            with remembering(most_errors=1, is_dynamic=False, allowance=allowance):
                return bool(self._validator(side, *routes[side], formats=formats).is_valid(value))
        except (Unresolvable, TooManySteps, re.error):
            return None

    def _refuses_at(
        self,
        routes: dict[Revision, tuple[Route, str | None]],
        side: Revision,
        value: ir.JSON,
        where: Path,
        replaced: Sequence[Path] = (),
    ) -> bool:
        """Whether one revision refuses a message, and says so of the place in question or of something inside it, but for the places
        whose content was `replaced`.
        """
        return any(
            _is_at(path, where) or _is_false_at(error, path, value, where)
            for path, error in self._errors(routes, side, value)
            if all(path[: len(each)] != each for each in replaced)
        )

    def _formed(self, routes: dict[Revision, tuple[Route, str | None]], side: Revision, value: ir.JSON) -> ir.JSON:
        """The message with texts of the formats that one revision names, in place of those that are not of them."""
        formed = copied(value)
        for path, error in self._errors(routes, side, value, formats=True):
            text = next(texts.of_format(error.validator_value), None) if error.validator == "format" else None
            if text is not None and path:
                holder: Any = formed
                for key in path[:-1]:
                    holder = holder[key]
                holder[path[-1]] = text
        return formed

    def _errors(
        self,
        routes: dict[Revision, tuple[Route, str | None]],
        side: Revision,
        value: ir.JSON,
        *,
        formats: bool = False,
    ) -> Iterator[tuple[Path, Any]]:
        """What one revision finds wrong with a message, inside unions too, each with its place; nothing where that is left open."""
        from referencing.exceptions import Unresolvable

        from schema_inclusion.once import TooManySteps, remembering

        try:
            with remembering(most_errors=MOST_ERRORS, is_dynamic=False, allowance=self.allowance):
                errors: list[Any] = list(self._validator(side, *routes[side], formats=formats).iter_errors(value))
        except (Unresolvable, TooManySteps, re.error):
            return
        seen: set[tuple[int, Path]] = set()
        pending: list[tuple[Path, Any]] = [((), error) for error in errors]
        while pending:
            around, error = pending.pop()
            path = (*around, *error.relative_path)
            yield path, error
            if (id(error), around) not in seen:
                seen.add((id(error), around))
                pending.extend((path, each) for each in error.context or ())

    def _validator(self, side: Revision, route: Route, name: str | None, *, formats: bool = False) -> Validator:
        key = (side, route, name, formats or self._asserts)
        if key not in self._validators:
            checker = _formats() if formats or self._asserts else None
            self._validators[key] = _judge()(message_schema(self.sides[side], route, name), format_checker=checker)
        return self._validators[key]


def _at(value: ir.JSON, path: Path) -> Any:
    """What stands in a value where a path leads."""
    found: Any = value
    for key in path:
        found = found[key]
    return found


def _names(root: Schema, schema: Schema, value: ir.JSON) -> list[str]:
    """The members of a value, and those that the schema of an object declares itself, not in an alternative: others nobody sends."""
    return sorted({*(value if is_object(value) else ()), *declared_names(root, schema)})


def _holding(value: ir.JSON, kept: Path, lacking: str) -> Schema | bool:
    """The schema of objects with these members of an object, or where none is named with all of them and without the one that is
    lacking; `False` of what is no object.
    """
    if not is_object(value):
        return False
    names = [str(name) for name in kept] or [*value]
    without_it: Schema = {} if kept or not lacking else {"not": {"required": [lacking]}}
    return {"properties": {name: {"const": value[name]} for name in names}, "required": names, **without_it}


@cache
def _judge() -> Any:
    """The class of validators."""
    from jsonschema import Draft202012Validator  # only where something is to be proven

    from schema_inclusion.ecma import reading_as_ecma
    from schema_inclusion.once import following_once

    return following_once(reading_as_ecma(Draft202012Validator))


@cache
def _formats() -> Any:
    """What asserts formats: all that `jsonschema-rs` knows, whatever is installed beside `jsonschema`."""
    import jsonschema_rs
    from jsonschema import FormatChecker

    checker = FormatChecker(formats=())
    for name in texts.OF_FORMAT:

        def asserted(value: object, schema: dict[str, str] = {"format": name}) -> bool:  # noqa: B006 - bound here, never changed
            return not isinstance(value, str) or jsonschema_rs.is_valid(schema, value, validate_formats=True)

        checker.checkers[name] = (asserted, ())
    return checker


def _instance_path(
    envelope: ir.Envelope, route: Route, steps: Sequence[Step], side: Revision, *, is_any: bool = False
) -> Path:
    """Where the steps lead in the messages of one side that `Examples.build` makes; with `is_any`, whichever item or value that is."""
    keys = (
        ANY if is_any and (step.kind == "value" or (step.kind == "item" and step.name == "")) else key
        for step in steps
        if (key := _key(step, side)) is not None
    )
    return (*_envelope_path(envelope, route), *keys)


ANY: Final = -1
"""Stands in a path for any item or member."""


def _is_at(path: Path, where: Path) -> bool:
    """Whether a path leads to a place, or to something inside it."""
    return len(path) >= len(where) and all(other in (ANY, key) for key, other in zip(path, where, strict=False))


def _envelope_path(envelope: ir.Envelope, route: Route) -> Path:
    if route.method is not None and route.part in ("params", "result", "error"):
        return (framing.key(envelope, route.method, route.part),)
    return () if route.part == "document" else (route.part,)


def _key(step: Step, side: Revision) -> str | int | None:
    """The key or index by which a step leads into a value."""
    match step.kind:
        case "field":
            return str(step.on(side))
        case "item":
            return step.name if isinstance(step.name, int) else 0
        case "value":
            return "example"
        case _:
            return None


_OTHERS: Final = ("items", "additionalProperties")
"""Keywords whose schema `false` is told of the array or object as a whole."""


def _is_false_at(error: Any, path: Path, value: Any, where: Path) -> bool:
    """Whether an error is that of the schema `false` for what stands at a place: its path ends with what holds that."""
    if not where or path != where[:-1]:
        return False
    if error.validator in _OTHERS:
        return error.validator_value is False
    held: Any = value
    for key in where:
        held = _member(held, key)
    return error.validator is None and held is not _ABSENT and bool(error.instance == held)


_ABSENT: Final = object()


def _member(holder: Any, key: str | int) -> Any:
    """What an array or object has at a key."""
    if isinstance(key, int):
        return holder[key] if is_array(holder) and key < len(holder) else _ABSENT
    return holder.get(key, _ABSENT) if is_object(holder) else _ABSENT


def _called(value: Any, before: Sequence[str | int], steps: Sequence[Step], side: Revision) -> Any:
    """A message of the other side with the names that renamed fields and variants along the steps have on this side.

    `before` are the keys in front of the steps.
    """
    if before:
        return _replaced(value, before[0], before[0], _called(value[before[0]], before[1:], steps, side))
    if not steps:
        return value
    step, rest = steps[0], steps[1:]
    key = _key(step, opposite(side))
    if key is not None:
        return _replaced(value, key, _key(step, side), _called(value[key], (), rest, side))
    renamed = value if step.was is None else {**value, step.tag: step.on(side)}
    return _called(renamed, (), rest, side)


def _replaced(value: Any, key: str | int, now: str | int | None, inner: Any) -> Any:
    """A value with another member or item at a place, under the name that it has now."""
    if is_array(value):
        return [inner if index == key else each for index, each in enumerate(value)]
    return {now if name == key else name: inner if name == key else each for name, each in value.items()}
