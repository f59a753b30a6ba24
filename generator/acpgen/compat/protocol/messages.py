"""Whole messages, and the schema of a method's messages in each revision: the envelope plus exactly its params or result.

The root of the document does not validate messages: its envelope admits anything as extension parameters.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import reduce
from itertools import islice
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias, TypeVar

from msgspec import Struct

from acpgen import ir
from acpgen.bundle.bundle import DIALECT
from acpgen.compat.findings import BUDGET, Revision, Sides, Witness, get_opposite
from acpgen.compat.protocol.revision import SchemaRevision
from acpgen.compat.protocol.value_parts import ValuePath, ValueStep, cut_hole, fill_holes
from acpgen.input.walk import Schema, copy_json, is_array, is_object
from acpgen.meaning import envelopes, sample_texts
from acpgen.meaning.samples import Unmakeable, Values
from acpgen.pointers import write_plain_pointer, write_reference
from schema_inclusion import Allowance

if TYPE_CHECKING:
    from schema_inclusion import Culprit
    from schema_inclusion import Witness as Proof
    from schema_inclusion.validation import DocumentValidator, Path

Part: TypeAlias = Literal["params", "result", "error", "id", "document", "root"]
Held = TypeVar("Held")


class Route(Struct, frozen=True):
    """One kind of message: a method's params or result, or something that belongs to no method; "root" stands for all messages.

    `content` is the definition of the content, `None` for anything; `label` is the display name of a document.
    """

    part: Part
    method: ir.Method | None
    content: str | None = None
    label: str = ""


NO_ROUTE: Final = Route("document", None)
"""What no message contains."""


_WHOLE: Final = ("document", "root")
"""What no envelope is put around."""


def wrap_message(envelope: ir.Envelope, route: Route, value: ir.JSON) -> ir.JSON:
    """The whole message around params, a result, an error or an id."""
    if route.part in _WHOLE:
        return value
    if route.part == "error":
        return {**envelopes.make_failure(envelope, route.method, value)}
    if route.part == "result":
        return {**envelopes.answer(envelope, route.method, value)}
    if route.part == "id":
        return {**envelopes.answer(envelope, route.method, {}, id_=value)}
    assert route.method is not None
    return {**envelopes.call(envelope, route.method, value)}


def write_message_schema(revised: SchemaRevision, route: Route) -> Schema:
    """The schema of such messages, with references to the definitions of a revision."""
    if route.part == "root":
        return revised.root_frame
    inner: Schema | bool = True if route.content is None else {"$ref": write_reference(route.content)}
    if route.part == "document":
        return inner if isinstance(inner, dict) else {}
    member = "result" if route.part == "id" else route.part
    content = True if route.part == "id" else inner
    message: Schema = envelopes.make_frame(revised.protocol.envelope, route.method, member, content)
    if route.part == "id":
        message["properties"]["id"] = inner
    batch: list[Schema] = [{"type": "array", "minItems": 1, "items": message}] if revised.protocol.batch else []
    return {"anyOf": [message, *batch]}


Routes: TypeAlias = Sides[Route]
"""One kind of message in both revisions."""

Shows: TypeAlias = "Callable[[ir.JSON], bool]"
"""Whether a value shows what it is meant to show."""


class WitnessValidator:
    """Validates messages with `jsonschema` on both revisions, and makes them readable."""

    def __init__(
        self, old: SchemaRevision, new: SchemaRevision, allowance: Allowance, *, formats: bool = False
    ) -> None:
        """Prepare the validators; with `formats`, both revisions assert formats."""
        self.allowance = allowance
        self._asserts = formats
        self.revisions = Sides(old, new)
        self._shown: dict[Revision, Mapping[str, str]] = {}
        self._schemas: dict[tuple[Revision, Route], Schema] = {}
        self._validators: dict[tuple[Revision, bool], DocumentValidator] = {}

    def make_witness(
        self, routes: Routes, sender: Revision, proof: Proof | None, shows: Shows | None = None, *, is_refused: bool
    ) -> Witness | None:
        """The message with the params, the result or the document of a proof that the other revision refuses.

        Without `is_refused`, the message only has a meaning that the other revision does not know. `None` without a proof, and if the
        validator does not confirm the message. It is readable, and also valid with formats asserted, if such a message is refused too
        and still `shows` why.
        """
        if proof is None:
            return None
        whole = wrap_message(self.revisions.on(sender).protocol.envelope, routes.on(sender), proof.value)
        candidate = Witness(whole, verified=True, carried_by=sender)
        if is_refused:
            candidate = Witness(whole, verified=True, accepted_by=sender, refused_by=get_opposite(sender))
        return self._make_readable(routes, candidate, sender, shows)

    def make_culprit_test(self, sender: Revision, culprit: Culprit) -> Shows:
        """The test whether params, a result or a document have a culprit wherever its path leads in them."""

        def is_standing(value: ir.JSON) -> bool:
            verdicts = [is_culprit for _, is_culprit in self._judge_parts(sender, value, culprit)]
            return bool(verdicts) and all(verdicts)

        return is_standing

    def list_culprits(self, sender: Revision, value: ir.JSON, culprit: Culprit) -> list[Culprit]:
        """A culprit at each place where a sender's params, result or document have it."""
        judged_parts = self._judge_parts(sender, value, culprit)
        return [replace(culprit, at=path) for path, is_culprit in judged_parts if is_culprit]

    def _judge_parts(self, sender: Revision, value: ir.JSON, culprit: Culprit) -> Iterator[tuple[ValuePath, bool]]:
        """Yield the paths to the places of a culprit in a sender's value, each with whether the part there is a culprit."""
        from schema_inclusion.culprits import find_parts

        def accepts(schema: Any, part: ir.JSON) -> bool:
            return self._holds(sender, schema, part) is True

        for path, part, _ in find_parts(value, culprit.at, accepts):
            is_refused = self._holds(get_opposite(sender), culprit.refused, part) is not True
            yield [*path], is_refused and accepts(culprit.accepted, part)

    def accepts_without(
        self, routes: Routes, sender: Revision, value: ir.JSON, paths: Iterable[Sequence[ValueStep]]
    ) -> bool:
        """Whether the receiver accepts a sender's params, result or document without what is at these paths."""
        rest = fill_holes(reduce(cut_hole, paths, value))
        whole = wrap_message(self.revisions.on(sender).protocol.envelope, routes.on(sender), rest)
        return self.accepts(routes, get_opposite(sender), whole)

    def confirm(self, routes: Routes, candidate: Witness, side: Revision, shows: Shows | None = None) -> Witness | None:
        """The witness if the revisions accept and refuse its message as it states, with whether this also holds with formats asserted."""
        formats = self.accepts(routes, side, candidate.value, formats=True)
        if not formats and not self.accepts(routes, side, candidate.value):
            return None
        if candidate.refused_by is not None and self._says(routes, candidate.refused_by, candidate.value) is not False:
            return None
        content: Any = candidate.value
        for key in self.find_envelope(routes, side) if shows is not None else ():
            content = content[key]
        return replace(candidate, formats=formats) if shows is None or shows(content) else None

    def accepts(self, routes: Routes, side: Revision, value: ir.JSON, *, formats: bool = False) -> bool:
        """Whether one revision accepts a message; `formats` asserts formats whatever the comparison does.

        A message counts as not accepted if an unresolvable reference, or a pattern that Python cannot read as ECMA-262 does, leaves it
        open.
        """
        return self._says(routes, side, value, formats=formats) is True

    def _says(self, routes: Routes, side: Revision, value: ir.JSON, *, formats: bool = False) -> bool | None:
        """Whether one revision accepts a message; `None` if undecided."""
        return self._holds(side, self._get_schema(side, routes.on(side)), value, formats=formats)

    def _holds(self, side: Revision, schema: Any, value: ir.JSON, *, formats: bool = False) -> bool | None:
        """Whether a schema of one revision, which is never modified, accepts a value; `None` if undecided."""
        return self._make_validator(side, formats=formats).of(schema).accepts(value)

    def _make_readable(self, routes: Routes, candidate: Witness, side: Revision, shows: Shows | None) -> Witness | None:
        """The witness with readable texts, and with texts of the formats that the revision names, as far as it still holds with them."""

        def keep_if_held(value: ir.JSON) -> Witness | None:
            return self.confirm(routes, replace(candidate, value=value), side, shows)

        if side not in self._shown:
            self._shown[side] = sample_texts.collect_examples(self.revisions.on(side).bundle.definitions)
        witness = with_readable_texts(candidate.value, self._shown[side], keep_if_held) or self.confirm(
            routes, candidate, side
        )
        if witness is None or witness.formats:
            return witness
        formed = (self._replace_texts(routes, side, witness.value, is_as_long) for is_as_long in (False, True))
        return next(filter(None, map(keep_if_held, formed)), witness)

    def _replace_texts(self, routes: Routes, side: Revision, value: ir.JSON, is_as_long: bool) -> ir.JSON:
        """The message with valid texts for the formats of one revision in place of invalid ones; with `is_as_long`, of the same length."""
        texts: list[tuple[Path, str]] = []
        for path, error in self._list_errors(routes, side, value):
            if error.validator == "format" and path:
                limits = (len(error.instance), len(error.instance)) if is_as_long else ()
                texts += (
                    (path, text) for text in islice(sample_texts.suggest_for_format(error.validator_value, *limits), 1)
                )
        return _with_texts(value, texts)

    def _list_errors(self, routes: Routes, side: Revision, value: ir.JSON) -> Iterator[tuple[Path, Any]]:
        """The errors of a message with their paths, formats asserted, errors inside unions included; none if undecided."""
        from schema_inclusion.validation import walk_errors

        validator = self._make_validator(side, formats=True).of(self._get_schema(side, routes.on(side)))
        return walk_errors(validator.list_errors(value))

    def find_envelope(self, routes: Routes, side: Revision) -> Path:
        """The path to the content in the messages of a revision."""
        route = routes.on(side)
        if route.method is not None and route.part in envelopes.CONTENTS:
            return (envelopes.get_key(self.revisions.on(side).protocol.envelope, route.method, route.part),)
        return () if route.part in _WHOLE else (route.part,)

    def locate_refusal(self, routes: Routes, side: Revision, value: ir.JSON, is_there: Callable[[Path], bool]) -> str:
        """The pointer to the innermost place in a message that one revision refuses; empty for the whole message.

        Places of which `is_there` is true come first: a message may be refused elsewhere for another reason.
        """
        errors = self._list_errors(routes, side, value)
        paths = [path for path, error in errors if self._asserts or error.validator != "format"]
        return write_plain_pointer(*max(paths, key=lambda path: (is_there(path), len(path)), default=()))

    def _get_schema(self, side: Revision, route: Route) -> Schema:
        if (side, route) not in self._schemas:
            self._schemas[side, route] = write_message_schema(self.revisions.on(side), route)
        return self._schemas[side, route]

    def _make_validator(self, side: Revision, *, formats: bool) -> DocumentValidator:
        """Makes validators with the definitions of one revision; `formats` as in `accepts`."""
        from schema_inclusion import FORMATS
        from schema_inclusion.validation import open_validator  # only where something is to be proven

        key = (side, formats or self._asserts)
        if key not in self._validators:
            root: Any = {"$schema": DIALECT, "$defs": self.revisions.on(side).stable_schemas}
            asserted = frozenset(FORMATS) if key[1] else frozenset[str]()
            self._validators[key] = open_validator(root, allowance=self.allowance, formats=asserted)
        return self._validators[key]


def make_example(side: SchemaRevision, name: str, opposite: SchemaRevision) -> tuple[ir.JSON] | None:
    """A small value of a definition, with texts as another revision shows them; `None` if there is none."""
    try:
        value = Values(side.definitions).make_small(name)
    except Unmakeable:
        return None
    judge = WitnessValidator(side, side, Allowance(BUDGET))
    route = Route("document", None, name)

    def keep_if_held(message: ir.JSON) -> tuple[ir.JSON] | None:
        return (message,) if judge.accepts(Sides(route, route), "old", message) else None

    return with_readable_texts(value, sample_texts.collect_examples(opposite.bundle.definitions), keep_if_held) or (
        value,
    )


def with_readable_texts(
    value: ir.JSON, field_texts: Mapping[str, str], confirm: Callable[[ir.JSON], Held | None]
) -> Held | None:
    """What `confirm` returns for a value with readable texts in fields of known names; `None` if it confirms none.

    The texts are `field_texts` of a schema, or suggested by the names. All are tried first, then one after the other.
    """
    places: list[tuple[Path, str]] = []
    for path, name, was in _list_texts(value):
        text = (
            field_texts.get(name) or sample_texts.suggest_for_name(name) or ("example" if was in ("", "text") else was)
        )
        places += [(path, text)] if text != was else []
    result = None
    for portion in [places, *([place] for place in places if len(places) > 1)]:
        candidate = _with_texts(value, portion)
        if (confirmation := confirm(candidate)) is not None:
            value, result = candidate, confirmation
            if portion is places:
                break
    return result


def _with_texts(value: ir.JSON, texts: Iterable[tuple[Path, str]]) -> ir.JSON:
    result = copy_json(value)
    for path, text in texts:
        holder: Any = result
        for key in path[:-1]:
            holder = holder[key]
        holder[path[-1]] = text
    return result


def _list_texts(value: ir.JSON, path: Path = (), name: str = "") -> Iterator[tuple[Path, str, str]]:
    """Yield the texts inside a message, each with its path and the name of its member."""
    if isinstance(value, str) and path:
        yield path, name, value
    elif is_object(value):
        for key, inner in value.items():
            yield from _list_texts(inner, (*path, key), key)
    elif is_array(value):
        for index, inner in enumerate(value):
            yield from _list_texts(inner, (*path, index), name)
