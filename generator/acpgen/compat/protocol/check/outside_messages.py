"""What no message contains: definitions that differ without a finding, coverage, and the inclusion of both revisions as plain sets."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain
from typing import Final

from acpgen import ir
from acpgen.compat.changes import Change, ChangePlaces
from acpgen.compat.diff.pairs import Pair
from acpgen.compat.findings import Answer, Coverage, NotCompared, Reach, Revision, get_opposite
from acpgen.compat.protocol.check.context import Context
from acpgen.compat.protocol.check.counterparts import find_closure, find_unread, pair_by_file
from acpgen.compat.protocol.revision import SchemaRevision
from acpgen.input.tagged_unions import find_lone_reference

_KEPT: Final = "documents with undeclared members are accepted differently than before; --mode language compares these"
_UNKNOWN: Final = "it is written differently, and the effect is unknown"
_OPEN: Final = ("definition-removed", "not-compared")
"""Rules about what was not compared."""


def find_unpaired(context: Context) -> Iterator[Reach]:
    """Yield the findings of definitions without a counterpart, and of what is not read."""
    cover = context.cover
    for name in cover.gone:
        yield context.report_definition(Change("definition", name, None, **context.locate(name, "")), name)
    for name in cover.added:
        yield context.report_definition(Change("definition", None, name, **context.locate("", name)), name)
    for revision, name in cover.copied:
        at = context.locate(name if revision == "old" else "", name if revision == "new" else "")
        yield context.report_editorial(Change("structure", name=name, detail="copied", **at))
    for name, reason in find_unread(context.old, context.new).items():
        yield context.report_not_compared(name, reason, None)
    if context.old.roots is None or context.new.roots is None:
        return
    before, after = context.old.roots.unread, context.new.roots.unread
    for key in dict.fromkeys((*before, *after)):
        if before.get(key) != after.get(key):
            yield context.report_not_compared(key, f"the content of {key!r} is not read", None, context.locate_roots())


def find_differences(context: Context, findings: Sequence[Reach], unread: frozenset[str]) -> Iterator[Reach]:
    """Yield the findings of definitions that are written differently and that no other finding names.

    Either they accept the same instances, or the difference is reported where it occurs; otherwise they were not compared. At the places
    `unread` another finding says that statements were not compared, and none says that no message can show the difference.
    """
    old, new, walk, roots = context.old, context.new, context.walk, context.roots
    changes = [finding for finding in findings if finding.rule != "text-reworded"]
    named: set[str] = set()
    for side, reported_places in _list_places(context, changes):
        places = {side.find_outermost(at) for at in reported_places}
        for name in (*side.declared, *roots):
            body_place = side.find_outermost(side.definitions[_find_body(context, side, name)].at)
            named |= set() if places.isdisjoint({side.definitions[name].at, body_place}) else {name}
    alone = old.bundle.definitions.keys() ^ new.bundle.definitions.keys()
    renames = walk.find_renames()
    removed_names = {*context.cover.gone} - renames.keys()
    visited_pairs = {Pair(node.old, node.new) for node in walk.nodes}
    frame_names = {frame.names.old for frame in context.frames}
    for name, new_name in _pair_definitions(context):
        if name in removed_names or {name, new_name} & named:
            continue
        old_body, new_body = _find_body(context, old, name), _find_body(context, new, new_name)
        old_text, new_text = old.write_definition(old_body, renames, alone), new.write_definition(new_body, {}, alone)
        if old_text == new_text:
            continue
        at = ChangePlaces(old_at=old.definitions[old_body].at, new_at=new.definitions[new_body].at)
        label, pair = roots.get(new_name, new_name), Pair(ir.Ref(name), ir.Ref(new_name))
        reason, detail = "", "elsewhere"
        if context.is_included(pair, declared=False):
            has_gates = old.gates_unknown and old_text.count('"x-capability"') < new_text.count('"x-capability"')
            same_contents = old.list_contents(old_body) == new.list_contents(new_body)
            detail = "gates" if has_gates else "" if same_contents else "content"
        elif context.is_included(pair, declared=True):
            if not _is_claimed(context, pair):
                if name not in roots:
                    yield from _report_undeclared(context, pair, label, at)
                    continue
                reason = _KEPT
        elif name in frame_names and not find_closure(new, [new_name]) & named:
            detail = "framed"
        elif not (
            pair not in visited_pairs
            or _is_settled(context, pair)
            or (find_closure(old, [name]) | find_closure(new, [new_name])) & named
        ):
            reason = _UNKNOWN
        if reason:
            yield context.report_not_compared(
                label, reason, [receiver for _, receiver in context.find_refusals(pair)], at
            )
        elif detail not in ("", "elsewhere") or at["new_at"] not in unread:
            yield context.report_editorial(Change("structure", name=label, detail=detail, **at))


def _list_places(context: Context, findings: Sequence[Reach]) -> Iterator[tuple[SchemaRevision, set[str]]]:
    """Yield both sides with the places that findings name."""
    yield context.old, {finding.old_at for finding in findings if finding.old_at}
    yield context.new, {finding.new_at for finding in findings if finding.new_at}


def _is_settled(context: Context, pair: Pair) -> bool:
    """Whether a pair occurs only as variants selected by tags, and all messages and documents that contain it accept the same instances."""
    if any((node.old, node.new, node.tag) == (pair.old, pair.new, None) for node in context.walk.nodes):
        return False
    holders = (messages.pair for messages in context.pairs if context.walk.holds(messages.pair, pair))
    return all(context.is_included(holder, declared=False) for holder in holders)


def _is_claimed(context: Context, pair: Pair) -> bool:
    """Whether a member is declared on only one side of a pair: this is reported in each message that contains the pair."""
    walk = context.make_walk()  # what is reported is of the context's walk
    walk.visit(pair)
    return any(placed.change.kind == "field" for placed in walk.list_wire_changes(pair))


def _report_undeclared(context: Context, pair: Pair, name: str, at: ChangePlaces) -> Iterator[Reach]:
    """Yield the changes in what a definition says about undeclared members, where one revision refuses what the other accepts."""
    for sender, receiver in context.find_refusals(pair):
        witness = context.acceptance.find_relation(pair, sender, declared=False).witness
        value = () if witness is None else (witness.value,)
        old, new = (None, value) if receiver == "old" else (value, None)
        yield context.report_definition(Change("undeclared", old, new, **at), name)


def find_unread_statements(context: Context) -> Iterator[Reach]:
    """Yield the definitions that differ in keywords that no validator asserts, at places where the comparison reads none of them."""
    old, new = context.old, context.new
    old_names, new_names = context.walk.list_names("old"), context.walk.list_names("new")
    files = () if context.roots else pair_by_file(old.root_definitions, new.root_definitions)
    for name, new_name in (*_pair_definitions(context), *files):
        old_body, new_body = _find_body(context, old, name), _find_body(context, new, new_name)
        by_name = old_body == new_body  # else what stands inside of them has other names, too
        before, after = (
            {(key if by_name else key[1]): statements for key, statements in by_place.items()}
            for by_place in (old.list_statements(old_body, old_names), new.list_statements(new_body, new_names))
        )
        differences = [
            statement
            for key in before.keys() & after.keys()
            for statement in before[key].keys() ^ after[key].keys()
            if before[key].get(statement) or after[key].get(statement)
        ]
        if differences:
            keywords = " and ".join(sorted({f"'{keyword}'" for _, keyword, _ in differences}))
            reason = f"what it says by {keywords} has changed in a place where no field or union is read"
            at = ChangePlaces(old_at=old.definitions[old_body].at, new_at=new.definitions[new_body].at)
            yield context.report_not_compared(context.roots.get(new_name, new_name), reason, None, at)


def _pair_definitions(context: Context) -> Iterator[tuple[str, str]]:
    """Yield the corresponding declared definitions of both revisions, and those of roots, that are written differently."""
    old, new, renames = context.old, context.new, context.walk.find_renames()
    new_names = {*new.declared, *context.roots}
    for name in (*old.declared, *context.roots):
        new_name = renames.get(name, name)
        if new_name in new_names:
            old_body, new_body = _find_body(context, old, name), _find_body(context, new, new_name)
            if old.list_texts(old_body) != new.list_texts(new_body):
                yield name, new_name


def _find_body(context: Context, side: SchemaRevision, name: str) -> str:
    """The definition with the content: for a root that is only a reference, its target, otherwise the definition itself."""
    body = find_lone_reference(side.bundle.definitions[name]) if name in context.roots else None
    return body or name


def find_unstable_differences(context: Context, findings: Sequence[Reach]) -> Iterator[Reach]:
    """Yield a finding for unstable differences that are not part of the comparison and not reported: they may be stable on the other
    side.
    """
    old, new = context.old, context.new
    if not old.unstable_texts and not new.unstable_texts:
        return
    before, after = _collect_unstable_texts(old), _collect_unstable_texts(new)
    reported_names = {side.write_label(at) for side, places in _list_places(context, findings) for at in places}
    names = {name for name in before.keys() | after.keys() if before.get(name) != after.get(name)} - reported_names
    if names:
        at = context.locate_roots()
        yield context.report_editorial(Change("structure", new=tuple(sorted(names)), detail="unstable", **at))


def _collect_unstable_texts(side: SchemaRevision) -> dict[str, list[str]]:
    """The sorted texts of what is marked unstable, by label."""
    texts: dict[str, list[str]] = {}
    for at, text in sorted(side.unstable_texts.items(), key=lambda item: item[1]):
        texts.setdefault(side.write_label(at), []).append(text)
    return texts


# --- the whole -------------------------------------------------------------------------------------------------------


def measure_coverage(context: Context, findings: Sequence[Reach]) -> Coverage:
    """What was compared, and what was not."""
    names = {name for side in (context.old, context.new) for name in side.declared}
    open_reasons = {finding.location or "root": finding.message for finding in findings if _is_open(finding)}
    not_compared = tuple(NotCompared(name, open_reasons[name]) for name in sorted(open_reasons))
    return Coverage(len(context.methods), len(names), len(names - open_reasons.keys()), not_compared)


def find_inclusion(context: Context, sender: Revision, findings: Sequence[Reach]) -> Answer:
    """Whether the messages of one revision are a subset of the other's, including values that no sender declares."""
    receiver, acceptance = get_opposite(sender), context.acceptance
    if any(
        receiver in finding.refuses or (finding.witness and finding.witness.refused_by == receiver)
        for finding in findings
    ):
        return "no"
    changed_pairs = (messages.pair for messages in context.pairs if context.is_changed(messages))
    relations = chain(
        (acceptance.find_relation(pair, sender, declared=False) for pair in changed_pairs),
        (frame.ask(context, sender, declared=False) for frame in context.frames),
    )
    is_open = any(_is_open(finding) and receiver in finding.doubtful for finding in findings)
    for relation in relations:
        if relation.verdict.value == "no":
            return "no"
        is_open |= relation.verdict.value == "undecided"
    return "undecided" if is_open else "yes"


def _is_open(reach: Reach) -> bool:
    """Whether the subject of a finding was not compared, or not completely."""
    return reach.rule in _OPEN or reach.is_cut_off
