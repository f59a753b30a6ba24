"""One revision of a protocol as the check sees it: its meaning, its bundle, and what may be left out of sight."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Final, cast

from acpgen import ir
from acpgen.bundle import Bundle
from acpgen.compat.protocol.shapes import Objects, shape_of
from acpgen.unions import lone_reference
from acpgen.walk import Schema, children, is_array, is_object, pointer_parts, target

_REFERENCE: Final = re.compile(r'"\$ref": "((?:[^"\\]|\\.)*)"')


@dataclass(frozen=True)
class Revised:
    """One side of a comparison. Without `unstable`, what is marked `x-unstable` does not exist."""

    protocol: ir.Protocol
    bundle: Bundle = field(repr=False)
    unstable: bool = False

    @property
    def definitions(self) -> Mapping[str, ir.Definition]:
        return self.protocol.definitions

    @cached_property
    def methods(self) -> tuple[ir.Method, ...]:
        """The methods that take part."""
        return tuple(method for method in self.protocol.methods if self.keeps(method.unstable))

    @cached_property
    def _places(self) -> Mapping[str, str]:
        return {at: name for name, at in self.bundle.origins.items()}

    def keeps(self, unstable: bool) -> bool:
        """Whether something takes part, given its mark."""
        return self.unstable or not unstable

    def stable(self, fields: Iterable[ir.Field]) -> tuple[ir.Field, ...]:
        """The fields that take part."""
        return tuple(each for each in fields if self.keeps(each.unstable))

    def place(self, names: tuple[str, ...]) -> str:
        """Where the outermost of the definitions stands."""
        return self.definitions[names[0]].at if names else ""

    def former_names(self, definition: str) -> tuple[str, ...]:
        """The names that a definition had, as `x-was` declares them."""
        declared = self.bundle.definitions.get(definition, {}).get("x-was", [])
        parts = [pointer_parts(item) for item in declared if isinstance(item, str) and item.startswith("#/")]
        return tuple(path[1] for path in parts if len(path) == 2)

    def residue(self, names: Iterable[str]) -> tuple[str, ...]:
        """What the definitions demand beyond what their shapes tell, as texts. Records are left to the comparison of records."""
        found: list[str] = []
        for name in names:
            definition = self.definitions[name]
            if isinstance(definition, ir.Record):
                continue
            found.extend(self.demand(place) for place in definition.unenforced)
            if isinstance(definition, ir.TaggedUnion) and definition.default_admits_known:
                found.append(f"known tags in {'oneOf' if 'oneOf' in self.bundle.definitions[name] else 'anyOf'}")
        return tuple(sorted(found))

    def demand(self, at: str) -> str:
        """The text of a keyword that the IR does not carry, without its words, and of all that it refers to; its place if it
        cannot be found again.
        """
        owner = max((place for place in self._places if at.startswith(f"{place}/")), key=len, default=None)
        if owner is None:
            return at
        node: Any = self.bundle.definitions[self._places[owner]]
        parts = pointer_parts("#" + at[len(owner) :])
        for part in parts:
            inner = _member(node, part)
            if inner is None:
                return at
            (node,) = inner
        referred = {name: self.bundle.definitions[name] for name in sorted(self._referred(node))}
        return f"{parts[-1] if parts else ''} {json.dumps(wordless([node, referred]), sort_keys=True)}"

    @cached_property
    def texts(self) -> Mapping[str, str]:
        """The definitions as they are written, without words and without what does not take part."""
        written = self.bundle.definitions
        kept = written if self.unstable else {name: _stable(node) for name, node in written.items()}
        return {name: json.dumps(wordless(node), sort_keys=True) for name, node in kept.items()}

    def _referred(self, node: Any) -> set[str]:
        """The definitions that a part of the bundle leads to."""
        found: set[str] = set()
        pending = [node]
        while pending:
            schema = pending.pop()
            if not is_object(schema):
                continue
            pending.extend(inner for _, inner in children(schema))
            name = lone_reference({"$ref": schema["$ref"]}) if "$ref" in schema else None
            if name is not None and name in self.bundle.definitions and name not in found:
                found.add(name)
                pending.append(self.bundle.definitions[name])
        return found

    def advertises(self, capability: str) -> bool:
        """Whether a peer of this revision can advertise a capability: `agent:agentCapabilities.loadSession`."""
        side, _, path = capability.partition(":")
        for method in self.protocol.methods:
            if method.name == "initialize" and method.kind == "request":
                start = method.result if method.side == side else method.params
                return start is not None and self._leads(ir.Ref(start), tuple(path.split(".")))
        return False

    def _leads(self, type_: ir.Type, path: tuple[str, ...]) -> bool:
        if not path:
            return True
        shape = shape_of(type_, self.definitions)
        for alternative in shape.of("object"):
            if isinstance(alternative, Objects):
                for each in self.stable(alternative.fields):
                    if each.name == path[0] and self._leads(each.type, path[1:]):
                        return True
        return False


def _stable(node: Any) -> Any:
    """A tree without what is marked `x-unstable`, and without the demand that such a member be there."""
    if is_array(node):
        return [_stable(item) for item in node if not _is_unstable(item)]
    if not is_object(node):
        return node
    kept = {key: _stable(value) for key, value in node.items() if not _is_unstable(value)}
    properties = node.get("properties")
    if is_object(properties) and is_array(node.get("required")):
        kept["required"] = [name for name in node["required"] if not _is_unstable(properties.get(name))]
    return kept


def _is_unstable(node: Any) -> bool:
    return is_object(node) and node.get("x-unstable") is True


def rewritten(old: Revised, new: Revised) -> frozenset[str]:
    """The names of definitions that are written differently in the two revisions, or lead to such ones."""
    found = {name for name in {*old.texts, *new.texts} if old.texts.get(name) != new.texts.get(name)}
    if not found:
        return frozenset()
    referrers: dict[str, set[str]] = {}
    for side in (old, new):
        for name, text in side.texts.items():
            for reference in _REFERENCE.findall(text):
                referrers.setdefault(target(json.loads(f'"{reference}"')), set()).add(name)
    pending = list(found)
    while pending:
        fresh = referrers.get(pending.pop(), set()) - found
        found |= fresh
        pending.extend(fresh)
    return frozenset(found)


def _member(node: Any, part: str) -> tuple[Any] | None:
    """What stands under a key or index."""
    if isinstance(node, dict):
        tree = cast("dict[str, Any]", node)
        return (tree[part],) if part in tree else None
    if isinstance(node, list) and part.isdecimal():
        items = cast("list[object]", node)
        return (items[int(part)],) if int(part) < len(items) else None
    return None


def wordless(node: Any) -> Any:
    """A tree without words."""
    if isinstance(node, dict):
        tree = cast("dict[str, Any]", node)
        return {key: wordless(value) for key, value in tree.items() if key not in ("description", "title", "examples")}
    if isinstance(node, list):
        items = cast("list[object]", node)
        return [wordless(item) for item in items]
    return node


__all__ = ["Revised", "Schema"]
