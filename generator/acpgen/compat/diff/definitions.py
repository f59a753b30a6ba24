"""Pairs old and new types from each method's params and result, and collects the differences of each pair.

A pair of types is compared once, however many methods reach it; a pair that recurs inside itself is not compared again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Final

from acpgen import ir
from acpgen.compat.changes import Change
from acpgen.compat.diff import scalars, unions
from acpgen.compat.diff.pairs import INNER, Comparison, Declaration, FindForm, Pair, PairNode, PlacedChange, Step
from acpgen.compat.diff.shapes import KINDS, Alternative, Kind, Shape, find_kind
from acpgen.compat.findings import REVISIONS, Revision, Sides
from acpgen.compat.protocol.revision import SchemaRevision
from acpgen.input.walk import find_cycles, find_reachable, find_sources


class Walk:
    """All pairs of one comparison."""

    def __init__(
        self, old: SchemaRevision, new: SchemaRevision, rewritten: frozenset[str], find_form: FindForm
    ) -> None:
        """Prepare a walk; `rewritten` are the definitions that differ, or lead to one that does; `find_form` as in `Comparison`."""
        from schema_inclusion import Comparer

        self._revisions = Sides(old, new)
        self._rewritten = rewritten
        self._find_form = find_form
        self._comparer = Comparer({}, {})
        self.nodes: dict[Pair, PairNode] = {}
        self._changed: set[Pair] | None = None
        self._recursive: set[Pair] = set()
        """The pairs that contain themselves."""
        self._declared = frozenset((*old.declared, *new.declared))

    def visit(self, root: Pair) -> None:
        """Compare a pair and all pairs below it."""
        pending = [root]
        while pending:
            pair = pending.pop()
            if pair in self.nodes:
                continue
            is_free = all(_is_anything(self._revisions.on(side), pair.on(side)) for side in REVISIONS)
            node = self.nodes[pair] = PairNode(pair.free or is_free)
            compare(Comparison(self._revisions, self._rewritten, self._comparer, self._find_form, node, pair))
            pending.extend(child for _, child in node.children)
        self._changed = None

    def list_wire_changes(self, root: Pair, elsewhere: frozenset[Pair] = frozenset()) -> Iterator[PlacedChange]:
        """Yield the changes of messages below a pair, nearest first.

        A pair of definitions, or of recursive unions with a definition, is entered by its shortest path only; any other pair by every
        path that does not already lead through it. Pairs that are reported `elsewhere` are not entered.
        """
        changed_pairs = self._find_changed_pairs()
        visited = {root}
        start = (root, (), Declaration(root), Declaration(root), frozenset[Pair]())
        pending: list[tuple[Pair, tuple[Step, ...], Declaration, Declaration, frozenset[Pair]]] = [start]
        # The list grows.
        for pair, steps, declaration, named_declaration, around in pending if root in changed_pairs else ():
            node = self.nodes[pair]
            yield from (
                PlacedChange(change, steps, pair, node.free, declaration, named_declaration)
                for change in node.changes
                if not change.is_documentation
            )
            for step, child in node.children:
                if child not in changed_pairs or child in visited or child in elsewhere or child in around:
                    continue
                declarations = declaration, named_declaration
                if child.is_named or (child.is_union and child in self._recursive):
                    visited.add(child)
                if child.is_named:
                    inner = Declaration(child, len(steps) + 1)
                    declarations = inner, inner if self._declared.intersection(inner.names) else named_declaration
                within = around if child.is_named else around | {child}
                pending.append((child, (*steps, step), *declarations, within))

    def _list_children(self, pair: Pair) -> list[Pair]:
        return [child for _, child in self.nodes[pair].children]

    def is_declared(self, pair: Pair) -> bool:
        """Whether the sources declare a definition of a pair."""
        return not self._declared.isdisjoint(Declaration(pair).names)

    def holds(self, root: Pair, pair: Pair) -> bool:
        """Whether the types of a pair occur at or below another pair."""
        return any((node.old, node.new) == (pair.old, pair.new) for node in find_reachable([root], self._list_children))

    def is_changed(self, pair: Pair) -> bool:
        """Whether there are changes of messages at a pair or below it."""
        return pair in self._find_changed_pairs()

    def find_below(self, root: Pair, steps: Sequence[Step]) -> Pair | None:
        """The pair that the steps lead to from another pair, if any."""
        pair: Pair | None = root
        for step in steps:
            children = self.nodes[pair].children if pair in self.nodes else ()
            pair = next((child for edge, child in children if edge == step), None)
        return pair

    def find_pairs(self, root: Pair, path: Sequence[str], sender: Revision) -> dict[Pair, None]:
        """The pairs that the part of a sender's value at a path may belong to, by whichever branches."""

        def list_branches(pair: Pair) -> list[Pair]:
            return [child for step, child in self.nodes[pair].children if step.kind not in INNER]

        pairs = find_reachable([root], list_branches)
        for name in path:
            children = [entry for pair in pairs for entry in self.nodes[pair].children]
            inner = (child for step, child in children if step.kind in INNER and str(step.on(sender)) in ("", name))
            pairs = find_reachable(inner, list_branches)
        return pairs

    def list_documentation_changes(self) -> Iterator[Change]:
        """Yield the changes that concern only files, each once."""
        changes = (change for node in self.nodes.values() for change in node.changes if change.is_documentation)
        yield from {(change, change.old_at, change.new_at): change for change in changes}.values()

    def find_renames(self) -> dict[str, str]:
        """The definitions that were renamed, with their names in the new revision."""
        return {change.old: change.new for change in self.list_documentation_changes() if change.kind == "definition"}

    def get_shape(self, type_: ir.Type, revision: Revision) -> Shape:
        """The shape of a type of one side."""
        return self._revisions.on(revision).get_shape(type_)

    def list_names(self, revision: Revision) -> set[str]:
        """The definitions of one side that were compared part by part."""
        types = {pair.on(revision) for pair in self.nodes}
        definitions = {type_.name for type_ in types if isinstance(type_, ir.Ref)}
        return definitions.union(*(self.get_shape(type_, revision).names for type_ in types))

    def _find_changed_pairs(self) -> set[Pair]:
        """The pairs with changes of messages at them or below them."""
        if self._changed is None:
            children = {pair: self._list_children(pair) for pair in self.nodes}
            nodes = self.nodes.items()
            starts = (pair for pair, node in nodes if not all(change.is_documentation for change in node.changes))
            self._changed = set(find_sources(starts, children))
            below = {pair: [child for child in children[pair] if child in self._changed] for pair in self._changed}
            cycles = (group for group in find_cycles(below) if len(group) > 1 or group[0] in below[group[0]])
            self._recursive = {pair for group in cycles for pair in group}
        return self._changed


def _is_anything(revision: SchemaRevision, type_: ir.Type) -> bool:
    shape = revision.get_shape(type_)
    return shape.anything and not revision.list_residue(shape.names)


def compare(work: Comparison) -> None:
    """Record all differences of one pair, and the pairs inside it."""
    _diff_names(work)
    work.add_doubt(work.before.list_residue(work.old.names), work.after.list_residue(work.new.names), work.places)
    if work.old.anything != work.new.anything:
        removed, added = ((ir.Anything(),) if shape.anything else () for shape in (work.old, work.new))
        work.note(_make_type_change(work, removed, added))
        return
    if work.old.nullable != work.new.nullable:
        work.note(Change("null", work.old.nullable or None, work.new.nullable or None, **work.places))
    for kind in KINDS:
        old, new = work.old.select(kind), work.new.select(kind)
        if old and new:  # others are reported together with all kinds that only one side has
            _OF_KIND[kind](work, old, new)
    removed_types, added_types = (
        tuple(shape.select(kind)[0] for kind in KINDS if shape.select(kind) and not opposite.select(kind))
        for shape, opposite in ((work.old, work.new), (work.new, work.old))
    )
    if removed_types or added_types:
        work.note(_make_type_change(work, removed_types, added_types))


def _diff_names(work: Comparison) -> None:
    """Record a renamed definition: of the two names each revision defines only its own. The name of a pair is the outermost definition on
    each side.
    """
    old = work.pair.old.name if isinstance(work.pair.old, ir.Ref) else None
    new = work.pair.new.name if isinstance(work.pair.new, ir.Ref) else None
    if old is not None and new is not None:
        before, after = work.before.definitions[old], work.after.definitions[new]
        if new not in work.before.definitions and old not in work.after.definitions:
            declared = old if old in work.after.list_former_names(new) else None
            work.note(Change("definition", old, new, declared=declared, old_at=before.at, new_at=after.at))
        if before.doc:
            work.note_description(new, before.doc, after.doc, before.at, after.at)


def _make_type_change(
    work: Comparison,
    removed_types: Sequence[Alternative | ir.Anything],
    added_types: Sequence[Alternative | ir.Anything],
) -> Change:
    """A change of JSON types: those that only one revision admits."""
    now, before = ("any value" if shape.anything else _describe_kinds(shape) for shape in (work.new, work.old))
    if now == before:  # both admit any value
        now, before = (f"any value, with a form for {_describe_kinds(shape)}" for shape in (work.new, work.old))
    detail = f"{now} (previously {before})"
    return Change("type", tuple(removed_types) or None, tuple(added_types) or None, detail=detail, **work.places)


_OF_KIND: Final[Mapping[Kind, Callable[[Comparison, tuple[Alternative, ...], tuple[Alternative, ...]], None]]] = {
    "boolean": scalars.diff_booleans,
    "number": scalars.diff_scalars,
    "string": scalars.diff_scalars,
    "array": unions.diff_alternatives,
    "object": unions.diff_objects,
}


def _describe_kinds(shape: Shape) -> str:
    kinds: dict[str, list[Alternative]] = {}
    for alternative in shape.alternatives:
        kinds.setdefault(find_kind(alternative), []).append(alternative)
    names = [
        "integer" if all(isinstance(alternative, ir.Number) and alternative.integer for alternative in group) else kind
        for kind, group in kinds.items()
    ]
    return " or ".join([*names, *(["null"] if shape.nullable else [])]) or "no value"
