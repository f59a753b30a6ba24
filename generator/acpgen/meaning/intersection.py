"""The intersection of several schemas as one schema, which accepts what all of them accept."""

from __future__ import annotations

from math import lcm, prod
from typing import Any, Final

from acpgen.input.equality import kind_of, same
from acpgen.input.numbers import MOST_DIGITS
from acpgen.input.schema_nodes import Node
from acpgen.input.tagged_unions import is_of_type
from acpgen.input.walk import BY_KIND, Schema, asserts, is_array
from acpgen.meaning.constants import values
from acpgen.meaning.subsumption import TIGHTENED, implies

MOST_BRANCHES: Final = 64
"""The maximum number of branches of a product of unions."""


def meet(nodes: list[Node]) -> Node | None:
    """The intersection of several schemas; `None` if it cannot be written as a schema that has a type.

    Scalars and arrays are merged; a union becomes a union of its branches, each combined with all sibling assertions.
    """
    meeting = _Meeting()
    return meeting.build(nodes[0]) if all(map(meeting.add, nodes)) else None


class _Meeting:
    """The schemas added so far: merged keywords, and unions whose branches each need to be combined with the rest."""

    def __init__(self) -> None:
        self.leaf: Schema = {}
        self.unions: list[tuple[str, list[Any]]] = []
        self.referred: set[str] = set()

    def add(self, node: Node) -> bool:
        """Add a schema. False if it has an assertion that cannot be merged."""
        if node.refuses_all:
            self.leaf["enum"] = []
        rest = {key: value for key, value in node.says.items() if asserts(key)}
        rest.pop("$ref", None)
        name = node.target
        if name is not None and name not in self.referred:
            self.referred.add(name)
            if not self.add(node.schemas[name]):
                return False
        for keyword in ("anyOf", "oneOf"):
            if keyword in rest:
                self.unions.append((keyword, rest.pop(keyword)))
        rest.pop("allOf", None)
        own = all(self._keyword(node, keyword, value) for keyword, value in rest.items())
        return own and all(self.add(part) for part in node.each("allOf"))

    def _keyword(self, node: Node, keyword: str, value: Any) -> bool:
        """Merge one keyword. False if that is not possible."""
        if keyword in ("const", "enum"):
            keyword, value = "enum", values({keyword: value})
        if keyword not in self.leaf:
            self.leaf[keyword] = value
            return keyword in TIGHTENED or keyword in _OTHERS
        mine = self.leaf[keyword]
        match keyword:
            case "type":
                self.leaf[keyword] = _types(mine, value)
            case "enum":
                self.leaf[keyword] = [one for one in mine if any(same(one, other) for other in value)]
            case "multipleOf" if isinstance(mine, int) and isinstance(value, int):
                self.leaf[keyword] = both = lcm(mine, value)
                return both < _UNWRITTEN
            case "items" if implies(node.make(value, "items"), node.make(mine, "items")):
                self.leaf[keyword] = value
            case "items":
                return implies(node.make(mine, "items"), node.make(value, "items"))
            case "uniqueItems":
                self.leaf[keyword] = mine or value
            case _ if keyword in TIGHTENED:
                self.leaf[keyword] = TIGHTENED[keyword](mine, value)
            case _:
                return same(mine, value)
        return True

    def build(self, node: Node) -> Node | None:
        """The merged schema; `None` if there is none."""
        if "enum" in self.leaf:
            constants = [value for value in self.leaf["enum"] if is_of_type(value, self.leaf)]
            if any(BY_KIND[kind_of(value)] & self.leaf.keys() for value in constants):
                return None
            self.leaf = {"enum": constants}
        if self.leaf.get("type") == [] or self.leaf.get("enum") == []:
            return node.make(False)
        if not self.unions:
            return node.make(self.leaf)
        if prod(len(branches) for _, branches in self.unions) > MOST_BRANCHES:
            return None
        (keyword, branches), *others = self.unions
        beside = [*([self.leaf] if self.leaf else []), *({key: alternatives} for key, alternatives in others)]
        whole = [{"allOf": [branch, *beside]} if beside else branch for branch in branches]
        satisfiable = [one for one in whole if node.make(one).kinds]
        return node.make({keyword: satisfiable} if satisfiable else False)


_UNWRITTEN: Final[int] = 10**MOST_DIGITS
"""Numbers from here on cannot be written in a schema."""


def _types(one: Any, other: Any) -> list[str]:
    first, second = (value if is_array(value) else [value] for value in (one, other))
    both = [name for name in first if name in second]
    is_integer = ("number" in first and "integer" in second) or ("integer" in first and "number" in second)
    return [*both, "integer"] if is_integer and "number" not in both and "integer" not in both else both


_OTHERS: Final = frozenset({"type", "enum", "multipleOf", "items", "pattern", "uniqueItems"})
"""Keywords that can be merged, in addition to limits."""
