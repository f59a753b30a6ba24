"""One revision of a protocol as the check sees it: its meaning, its bundle, and what may be left out of sight."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, cast

from acpgen import ir
from acpgen.bundle import Bundle
from acpgen.compat.protocol.shapes import Objects, shape_of
from acpgen.walk import Schema, pointer_parts


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

    def demand(self, at: str) -> str:
        """The text of a keyword that the IR does not carry, without its words; its place if it cannot be found again."""
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
        return f"{parts[-1] if parts else ''} {json.dumps(_wordless(node), sort_keys=True)}"

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


def _member(node: Any, part: str) -> tuple[Any] | None:
    """What stands under a key or index."""
    if isinstance(node, dict):
        tree = cast("dict[str, Any]", node)
        return (tree[part],) if part in tree else None
    if isinstance(node, list) and part.isdecimal():
        items = cast("list[object]", node)
        return (items[int(part)],) if int(part) < len(items) else None
    return None


def _wordless(node: Any) -> Any:
    """A tree without words."""
    if isinstance(node, dict):
        tree = cast("dict[str, Any]", node)
        return {key: _wordless(value) for key, value in tree.items() if key not in ("description", "title", "examples")}
    if isinstance(node, list):
        items = cast("list[object]", node)
        return [_wordless(item) for item in items]
    return node


__all__ = ["Revised", "Schema"]
