"""Which messages of two revisions are compared with each other, and the locations in them as shown to readers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal

from acpgen import ir
from acpgen.compat.diff.methods import same_methods
from acpgen.compat.diff.pairs import EXTENSION, Pair, Step
from acpgen.compat.diff.shapes import Alternative
from acpgen.compat.findings import Revision
from acpgen.compat.protocol.definition_coverage import kinds
from acpgen.compat.protocol.messages import Route, Routes
from acpgen.compat.protocol.revision import SchemaRevision
from acpgen.compat.rules import Flow
from acpgen.input.tagged_unions import lone_reference
from acpgen.input.walk import Schema

DIRECTIONS: Final[tuple[tuple[Revision, Revision], ...]] = (("old", "new"), ("new", "old"))
"""Sender and receiver of each direction."""


@dataclass(frozen=True, slots=True)
class MessagePair:
    """One kind of message in both revisions: the definition on each side, who sends it, and who receives it."""

    old: tuple[Route, str | None]
    new: tuple[Route, str | None]
    flow: Flow = "both"
    sender: str = "peer"
    receiver: str = "peer"
    alone: bool = False

    @property
    def method(self) -> str | None:
        return self.new[0].method.name if self.new[0].method is not None else None

    @property
    def pair(self) -> Pair:
        """The types that validate it."""
        old, new = (ir.Anything() if name is None else ir.Ref(name) for _, name in (self.old, self.new))
        return Pair(old, new)

    @property
    def advertises(self) -> bool:
        """Whether peers advertise capabilities here: an object without members then marks a capability, and is no map for arbitrary
        names.
        """
        return self.method == "initialize"

    @property
    def sides(self) -> Routes:
        return {"old": self.old, "new": self.new}

    @property
    def flow_name(self) -> str:
        return f"{self.sender}-to-{self.receiver}" if self.flow in ("to-handler", "to-caller") else "both"


def method_pair(old: ir.Method, new: ir.Method, part: Literal["params", "result"], sides: Sequence[str]) -> MessagePair:
    """The params or results of a method of both revisions; `sides` are those of the protocol, and either sends if none handles it."""
    one, other = ((Route(part, each), each.params if part == "params" else each.result) for each in (old, new))
    others = [side for side in sides if side != new.side]
    if new.side not in sides or len(others) != 1:
        return MessagePair(one, other)
    if part == "params":
        return MessagePair(one, other, "to-handler", others[0], new.side)
    return MessagePair(one, other, "to-caller", new.side, others[0])


def routes_of(old: SchemaRevision, new: SchemaRevision) -> Iterator[MessagePair]:
    """Yield all kinds of messages and documents of two revisions."""
    for before, after in same_methods(old, new):
        pairs = [method_pair(before, after, "params", new.protocol.sides)]
        if (before.kind, after.kind) == ("request", "request"):
            pairs.append(method_pair(before, after, "result", new.protocol.sides))
        yield from (each for each in pairs if each.old[1] is not None or each.new[1] is not None)
    for name, label in roots_of_both(old, new).items():
        yield from (document_pair(each, each, each) for each in kinds_of_both(old, new, name))
        yield document_pair(name, name, label)
    parts: tuple[Literal["error", "id"], ...] = ("error", "id")
    for part in parts:
        ours, theirs = (envelope_parts(side, part) for side in (old, new))
        shared_names = [name for name in ours if name in theirs]
        for one, other in [(name, name) for name in shared_names] or list(zip(ours, theirs, strict=False))[:1]:
            yield MessagePair((Route(part, None), one), (Route(part, None), other))


def roots_of_both(old: SchemaRevision, new: SchemaRevision) -> Mapping[str, str]:
    """The definitions that represent root schemas in both revisions, with their labels."""
    labels: Mapping[str, str] = {} if old.roots is None else old.roots.named
    return {name: label for name, label in labels.items() if name in new.definitions}


def kinds_of_both(old: SchemaRevision, new: SchemaRevision, root: str) -> list[str]:
    """The kinds of documents whose union a root is in both revisions.

    Each is reported separately: where kinds overlap, one may accept what another refuses, which would hide the change. If a tag moves
    between kinds, the root reports it.
    """
    others = set(kinds(new, root))
    return [name for name in kinds(old, root) if name in others and _tags(old, root, name) == _tags(new, root, name)]


def _tags(revised: SchemaRevision, root: str, name: str) -> set[object]:
    """The tags that select a kind in the tagged union of a root."""
    union = revised.definitions.get(root)
    variants = union.variants if isinstance(union, ir.TaggedUnion) else ()
    return {each.tag for each in variants if each.type == name}


def root_of(revised: SchemaRevision) -> str:
    """The place of the root in the sources."""
    first = next(iter(revised.bundle.origins.values()), "")
    return first.partition("#")[0] + "#" if first else ""


def document_pair(old: str, new: str, label: str) -> MessagePair:
    """The pair of a definition that is compared on its own."""
    route = Route("document", None, label)
    return MessagePair((route, old), (route, new))


def names_of(pair: Pair) -> tuple[str, str] | None:
    """The names of a pair of definitions; `None` for other pairs."""
    return (pair.old.name, pair.new.name) if isinstance(pair.old, ir.Ref) and isinstance(pair.new, ir.Ref) else None


def envelope_parts(revised: SchemaRevision, part: str) -> tuple[str, ...]:
    """The definitions of `error` or `id` in the envelopes of a schema, in alphabetical order."""
    names: set[str] = set()
    for schema in revised.bundle.definitions.values():
        if schema.get("x-docs-ignore") is True or "jsonrpc" in schema.get("properties", {}):
            for each in _with_alternatives(schema):
                name = lone_reference(each.get("properties", {}).get(part))
                if name is not None and name in revised.definitions:
                    names.add(name)
    return tuple(sorted(names))


def _with_alternatives(schema: Schema) -> Iterator[Schema]:
    yield schema
    for keyword in ("anyOf", "oneOf", "allOf"):
        for branch in schema.get(keyword, ()):
            if isinstance(branch, dict):
                yield branch


# --- places ----------------------------------------------------------------------------------------------------------


def location_of(route: Route, steps: Sequence[Step], side: SchemaRevision) -> str:
    """The location in a message as shown to readers: `params.update(tool_call).content[].path`.

    An alternative of a root without a name in the file is shown by its place: `#/anyOf/0.path`.
    """
    if route.part != "document":
        return route.part + path_of(steps)
    name = name_of(steps[0].new) if steps and steps[0].kind == "alternative" else None
    place = side.bundle.origins.get(name or "", "")
    if place and not {name, route.definition}.intersection(side.declared):
        return f"{route.definition}#{side.in_file(place).partition('#')[2]}{path_of(steps[1:])}"
    return (route.definition + path_of(steps)).lstrip(".")


def path_of(steps: Sequence[Step]) -> str:
    """Steps as shown to readers: `.update(tool_call).content[]`."""
    text = ""
    for step in steps:
        match step.kind:
            case "field":
                text += f".{step.name}"
            case "item":
                text += f"[{step.name}]"
            case "value":
                text += ".*"
            case "variant":
                text += "(any other)" if step.name == EXTENSION else f"({step.name})"
            case "untagged":
                text += "(untagged)"
            case "alternative":
                name = name_of(step.new)
                text += f"({name})" if name else ""
    return text


def name_of(alternative: Alternative | None) -> str | None:
    """The name of an alternative as shown to readers; that of a list is derived from its items."""
    if isinstance(alternative, ir.Array):
        return f"{alternative.items.name}[]" if isinstance(alternative.items, ir.Ref) else None
    return getattr(alternative, "name", None)


def within_of(location: str, within: str) -> str:
    """A location with a name inside it."""
    if not within or within.startswith("("):
        return location + within
    return f"{location}.{within}".lstrip(".")
