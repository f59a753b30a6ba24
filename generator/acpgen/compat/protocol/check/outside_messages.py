"""What no message contains: definitions that differ without a finding, coverage, and the inclusion of both revisions as plain sets."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain
from typing import Final

from acpgen import ir
from acpgen.compat.changes import Change, ChangePlaces
from acpgen.compat.diff.pairs import Pair
from acpgen.compat.findings import Answer, Coverage, Inclusion, NotCompared, Reach, Revision, get_opposite
from acpgen.compat.protocol.check.context import Context
from acpgen.compat.protocol.check.counterparts import find_closure, find_unread, of_both_files
from acpgen.compat.protocol.revision import SchemaRevision
from acpgen.input.tagged_unions import find_lone_reference

_KEPT: Final = "documents with undeclared members are accepted differently than before; --mode language compares these"
_UNKNOWN: Final = "it is written differently, and the effect is unknown"
_OPEN: Final = ("definition-removed", "not-compared")
"""Rules about what was not compared."""


def without_counterpart(context: Context) -> Iterator[Reach]:
    """Yield the findings of definitions without a counterpart, and of what is not read."""
    cover = context.cover
    for names in (*((name, None) for name in cover.gone), *((None, name) for name in cover.added)):
        name = names[0] or names[1] or ""
        yield context.of_definition(
            Change("definition", *names, **context.locate(*(each or "" for each in names))), name
        )
    for revision, name in cover.copied:
        at = context.locate(name if revision == "old" else "", name if revision == "new" else "")
        yield context.report_editorial(Change("structure", name=name, detail="copied", **at))
    for name, reason in find_unread(context.old, context.new).items():
        yield context.not_compared(name, reason, None)
    if context.old.roots is None or context.new.roots is None:
        return
    before, after = context.old.roots.unread, context.new.roots.unread
    for key in dict.fromkeys((*before, *after)):
        if before.get(key) != after.get(key):
            yield context.not_compared(key, f"the content of {key!r} is not read", None, context.locate_roots())


def of_definitions(context: Context, findings: Sequence[Reach], unread: frozenset[str]) -> Iterator[Reach]:
    """Yield the findings of definitions that are written differently and that no other finding names.

    Either they accept the same instances, or the difference is reported where it occurs; otherwise they were not compared. At the places
    `unread` another finding says that statements were not compared, and none says that no message can show the difference.
    """
    old, new, walk, roots = context.old, context.new, context.walk, context.roots
    changes = [each for each in findings if each.rule != "text-reworded"]
    places = [{side.find_outermost(at) for at in reported} for side, reported in _list_places(context, changes)]
    named = {
        name
        for side, own in zip((old, new), places, strict=True)
        for name in (*side.declared, *roots)
        if not own.isdisjoint({side.definitions[name].at, side.find_outermost(_find_body(context, side, name)[1])})
    }
    alone = old.bundle.definitions.keys() ^ new.bundle.definitions.keys()
    renames = walk.find_renames()
    removed_names = {*context.cover.gone} - renames.keys()
    visited_pairs = {Pair(each.old, each.new) for each in walk.nodes}
    frame_names = {each.names[0] for each in context.frames}
    for name, other in _pair_definitions(context):
        if name in removed_names or {name, other} & named:
            continue
        (before, old_at), (after, new_at) = _find_body(context, old, name), _find_body(context, new, other)
        texts = old.write_definition(before, renames, alone), new.write_definition(after, {}, alone)
        if texts[0] == texts[1]:
            continue
        at: ChangePlaces = {"old_at": old_at, "new_at": new_at}
        label, pair = roots.get(other, other), Pair(ir.Ref(name), ir.Ref(other))
        reason, detail = "", "elsewhere"
        if context.is_included(pair, declared=False):
            has_gates = old.gates_unknown and texts[0].count('"x-capability"') < texts[1].count('"x-capability"')
            same_contents = old.list_contents(before) == new.list_contents(after)
            detail = "gates" if has_gates else "" if same_contents else "content"
        elif context.is_included(pair, declared=True):
            if not _is_claimed(context, pair):
                if name not in roots:
                    yield from _of_undeclared(context, pair, label, at)
                    continue
                reason = _KEPT
        elif name in frame_names and not find_closure(new, [other]) & named:
            detail = "framed"
        elif not (
            pair not in visited_pairs
            or _is_settled(context, pair)
            or (find_closure(old, [name]) | find_closure(new, [other])) & named
        ):
            reason = _UNKNOWN
        if reason:
            yield context.not_compared(label, reason, [receiver for _, receiver in context.find_refusals(pair)], at)
        elif detail not in ("", "elsewhere") or new_at not in unread:
            yield context.report_editorial(Change("structure", name=label, detail=detail, **at))


def _list_places(context: Context, findings: Sequence[Reach]) -> Iterator[tuple[SchemaRevision, set[str]]]:
    """Yield both sides with the places that findings name."""
    yield context.old, {each.old_at for each in findings if each.old_at}
    yield context.new, {each.new_at for each in findings if each.new_at}


def _is_settled(context: Context, pair: Pair) -> bool:
    """Whether a pair occurs only as variants selected by tags, and all messages and documents that contain it accept the same instances."""
    if any((each.old, each.new, each.tag) == (pair.old, pair.new, None) for each in context.walk.nodes):
        return False
    holders = (each.pair for each in context.pairs if context.walk.holds(each.pair, pair))
    return all(context.is_included(each, declared=False) for each in holders)


def _is_claimed(context: Context, pair: Pair) -> bool:
    """Whether a member is declared on only one side of a pair: this is reported in each message that contains the pair."""
    walk = context.make_walk()  # what is reported is of the other one
    walk.visit(pair)
    return any(placed.change.kind == "field" for placed in walk.list_wire_changes(pair))


def _of_undeclared(context: Context, pair: Pair, name: str, at: ChangePlaces) -> Iterator[Reach]:
    """Yield the changes in what a definition says about undeclared members, where one revision refuses what the other accepts."""
    for sender, receiver in context.find_refusals(pair):
        witness = context.acceptance.find_relation(pair, sender, declared=False).witness
        value = () if witness is None else (witness.value,)
        sides = (None, value) if receiver == "old" else (value, None)
        yield context.of_definition(Change("undeclared", *sides, **at), name)


def find_unread_statements(context: Context) -> Iterator[Reach]:
    """Yield the definitions that differ in keywords that no validator asserts, at places where the comparison reads none of them."""
    compared_names = [context.walk.list_names(number) for number in (0, 1)]
    files = () if context.roots else of_both_files(context.old.root_definitions, context.new.root_definitions)
    for name, other in (*_pair_definitions(context), *files):
        (before, old_at), (after, new_at) = (
            _find_body(context, context.old, name),
            _find_body(context, context.new, other),
        )
        one, two = (
            context.old.list_statements(before, compared_names[0]),
            context.new.list_statements(after, compared_names[1]),
        )
        by_name = before == after  # else what stands inside of them has other names, too
        sides = [{(key if by_name else key[1]): each for key, each in side.items()} for side in (one, two)]
        differences = [each for key in sides[0].keys() & sides[1].keys() for each in sides[0][key] ^ sides[1][key]]
        if differences:
            keywords = " and ".join(sorted({f"'{keyword}'" for _, keyword, _ in differences}))
            reason = f"what it says by {keywords} has changed in a place where no field or union is read"
            at: ChangePlaces = {"old_at": old_at, "new_at": new_at}
            yield context.not_compared(context.roots.get(other, other), reason, None, at)


def _pair_definitions(context: Context) -> Iterator[tuple[str, str]]:
    """Yield the corresponding declared definitions of both revisions, and those of roots, that are written differently."""
    old, new, renames = context.old, context.new, context.walk.find_renames()
    new_names = {*new.declared, *context.roots}
    for name in (*old.declared, *context.roots):
        other = renames.get(name, name)
        if other in new_names:
            bodies = _find_body(context, old, name)[0], _find_body(context, new, other)[0]
            if old.list_texts(bodies[0]) != new.list_texts(bodies[1]):
                yield name, other


def _find_body(context: Context, side: SchemaRevision, name: str) -> tuple[str, str]:
    """The name and place of the definition with the content: for a root that is only a reference, its target, otherwise the definition
    itself.
    """
    body = find_lone_reference(side.bundle.definitions[name]) if name in context.roots else None
    return body or name, side.definitions[body or name].at


def find_unstable_differences(context: Context, findings: Sequence[Reach]) -> Iterator[Reach]:
    """Yield a finding for unstable differences that are not part of the comparison and not reported: they may be stable on the other
    side.
    """
    old, new = context.old, context.new
    if not old.unstable_texts and not new.unstable_texts:
        return
    texts: list[dict[str, list[str]]] = [{}, {}]
    for side, by_name in zip((old, new), texts, strict=True):
        for at, text in sorted(side.unstable_texts.items(), key=lambda each: each[1]):
            by_name.setdefault(side.write_label(at), []).append(text)
    reported_names = {side.write_label(at) for side, places in _list_places(context, findings) for at in places}
    names = [each for each in {**texts[0], **texts[1]} if texts[0].get(each) != texts[1].get(each)]
    if names := sorted({*names} - reported_names):
        yield context.report_editorial(
            Change("structure", new=tuple(names), detail="unstable", **context.locate_roots())
        )


# --- the whole -------------------------------------------------------------------------------------------------------


def measure_coverage(context: Context, findings: Sequence[Reach]) -> Coverage:
    """What was compared, and what was not."""
    names = {name for side in (context.old, context.new) for name in side.declared}
    open_reasons = {each.location or "root": each.message for each in findings if _is_open(each)}
    not_compared = tuple(NotCompared(name, open_reasons[name]) for name in sorted(open_reasons))
    return Coverage(len(context.methods), len(names), len(names - open_reasons.keys()), not_compared)


def compare_languages(context: Context, findings: Sequence[Reach]) -> Inclusion:
    """Whether the messages of each revision are a subset of the other's, including values that no sender declares."""
    return Inclusion(_is_included(context, "old", findings), _is_included(context, "new", findings))


def _is_included(context: Context, sender: Revision, findings: Sequence[Reach]) -> Answer:
    receiver, acceptance = get_opposite(sender), context.acceptance
    if any(receiver in each.refuses or (each.witness and each.witness.refused_by == receiver) for each in findings):
        return "no"
    changed_pairs = (each.pair for each in context.pairs if context.is_changed(each))
    relations = chain(
        (acceptance.find_relation(pair, sender, declared=False) for pair in changed_pairs),
        (each.ask(context, sender, declared=False) for each in context.frames),
    )
    is_open = any(_is_open(each) and receiver in each.doubtful for each in findings)
    for relation in relations:
        if relation.verdict.value == "no":
            return "no"
        is_open |= relation.verdict.value == "undecided"
    return "undecided" if is_open else "yes"


def _is_open(each: Reach) -> bool:
    """Whether the subject of a finding was not compared, or not completely."""
    return each.rule in _OPEN or each.is_cut_off
