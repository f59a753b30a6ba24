"""What no message contains: definitions that differ without a finding, coverage, and the inclusion of both revisions as plain sets."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain
from typing import Final

from acpgen import ir
from acpgen.compat.changes import Change, ChangePlaces
from acpgen.compat.diff.definitions import Walk
from acpgen.compat.diff.pairs import Pair
from acpgen.compat.findings import Answer, Coverage, Inclusion, NotCompared, Reach, Revision, opposite
from acpgen.compat.protocol.check.context import Context
from acpgen.compat.protocol.check.message_pairs import root_of
from acpgen.compat.protocol.definition_coverage import closure, of_both_files, unread
from acpgen.compat.protocol.revision import SchemaRevision
from acpgen.input.tagged_unions import lone_reference

_KEPT: Final = "documents with undeclared members are accepted differently than before; --mode language compares these"
_UNKNOWN: Final = "it is written differently, and the effect is unknown"
_OPEN: Final = ("definition-removed", "not-compared")
"""Rules about what was not compared."""


def without_counterpart(context: Context) -> Iterator[Reach]:
    """Yield the findings of definitions without a counterpart, and of what is not read."""
    old, new = context.old, context.new
    for name in context.cover.gone:
        yield context.of_definition(Change("definition", name, None, old_at=old.definitions[name].at), name)
    for name in context.cover.added:
        yield context.of_definition(Change("definition", None, name, new_at=new.definitions[name].at), name)
    for revision, name in context.cover.copied:
        at: ChangePlaces = {
            "old_at": old.definitions[name].at if revision == "old" else "",
            "new_at": new.definitions[name].at if revision == "new" else "",
        }
        yield context.editorial(Change("structure", name=name, detail="copied", **at))
    for name, reason in unread(old, new).items():
        at = {"old_at": old.bundle.origins.get(name, ""), "new_at": new.bundle.origins.get(name, "")}
        yield context.of_definition(Change("not-compared", name=name, detail=reason, **at), name)


def rewritten_definitions(context: Context, findings: Sequence[Reach]) -> Iterator[Reach]:
    """Yield the findings of definitions that are written differently and that no other finding names.

    Either they accept the same instances, or the difference is reported where it occurs; otherwise they were not compared.
    """
    changes = [each for each in findings if each.rule != "text-reworded"]
    sides = ((context.old, {each.old_at for each in changes}), (context.new, {each.new_at for each in changes}))
    owners = [{side.outermost(at) for at in places} for side, places in sides]
    names = context.walk.renames()
    roots = context.roots
    named_definitions = {
        name
        for (side, _), places in zip(sides, owners, strict=True)
        for name in (*side.declared, *roots)
        if not places.isdisjoint({side.definitions[name].at, side.outermost(_body(context, side, name)[1])})
    }
    new_names = {*context.new.declared, *roots}
    alone = context.old.bundle.definitions.keys() ^ context.new.bundle.definitions.keys()
    removed_names = {*context.cover.gone, *names}
    visited_pairs = {Pair(each.old, each.new) for each in context.walk.nodes}
    quiet = {each.names[0] for each in context.frames}
    for name in (*context.old.declared, *roots):
        other = names.get(name, name)
        if other not in new_names or name in removed_names - names.keys() or {name, other} & named_definitions:
            continue
        (before, old_at), (after, new_at) = _body(context, context.old, name), _body(context, context.new, other)
        texts = context.old.whole_text(before, names, alone), context.new.whole_text(after, {}, alone)
        if texts[0] == texts[1]:
            continue
        at: ChangePlaces = {"old_at": old_at, "new_at": new_at}
        label = roots.get(other, other)
        pair = Pair(ir.Ref(name), ir.Ref(other))
        detail = None
        if context.is_included(pair, declared=False):
            detail = "content" if context.old.contents(before) != context.new.contents(after) else ""
            if context.old.gates_unknown and texts[0].count('"x-capability"') < texts[1].count('"x-capability"'):
                detail = "gates"
        elif context.is_included(pair, declared=True):
            if _is_claimed(context, pair):
                detail = "elsewhere"
            elif name in roots:
                yield _doubt(context, pair, label, _KEPT, at)
            else:
                yield from _of_undeclared(context, pair, label, at)
            if detail is None:
                continue
        elif name in quiet and not closure(context.new, [other]) & named_definitions:
            detail = "framed"
        elif (
            pair not in visited_pairs
            or _is_settled(context, pair)
            or (closure(context.old, [name]) | closure(context.new, [other])) & named_definitions
        ):
            detail = "elsewhere"
        if detail is None:
            yield _doubt(context, pair, label, _UNKNOWN, at)
        else:
            yield context.editorial(Change("structure", name=label, detail=detail, **at))


def _is_settled(context: Context, pair: Pair) -> bool:
    """Whether a pair occurs only as variants selected by tags, and all messages and documents that contain it accept the same instances."""
    if any((each.old, each.new, each.tag) == (pair.old, pair.new, None) for each in context.walk.nodes):
        return False
    holders = (each.pair for each in context.pairs if context.walk.holds(each.pair, pair))
    return all(context.is_included(each, declared=False) for each in holders)


def _doubt(context: Context, pair: Pair, name: str, reason: str, at: ChangePlaces) -> Reach:
    """The finding of a doubt about a pair of definitions, in the directions that are not proven."""
    doubtful: list[Revision] = [receiver for _, receiver in context.refusals(pair)]
    return context.of_definition(Change("not-compared", name=name, detail=reason, **at), name, doubtful)


def _is_claimed(context: Context, pair: Pair) -> bool:
    """Whether a member is declared on only one side of a pair: this is reported in each message that contains the pair."""
    walk = Walk(context.old, context.new, context.groups)  # what is reported is of the other one
    walk.visit(pair)
    return any(placed.change.kind == "field" for placed in walk.wire_changes(pair))


def _of_undeclared(context: Context, pair: Pair, name: str, at: ChangePlaces) -> Iterator[Reach]:
    """Yield the changes in what a definition says about undeclared members, where one revision refuses what the other accepts."""
    for sender, receiver in context.refusals(pair):
        witness = context.acceptance.relation(pair, sender, declared=False).witness
        value = () if witness is None else (witness.value,)
        sides = (None, value) if receiver == "old" else (value, None)
        yield context.of_definition(Change("undeclared", *sides, **at), name)


def unread_statements(context: Context) -> Iterator[Reach]:
    """Yield the definitions that differ in keywords that no validator asserts, at places where the comparison reads none of them."""
    compared_names = [context.walk.names(number) for number in (0, 1)]
    for name, other in _definition_pairs(context):
        (before, old_at), (after, new_at) = _body(context, context.old, name), _body(context, context.new, other)
        one, two = context.old.statements(before, compared_names[0]), context.new.statements(after, compared_names[1])
        by_name = before == after  # else what stands inside of them has other names, too
        sides = [{(key if by_name else key[1]): each for key, each in side.items()} for side in (one, two)]
        differences = [each for key in sides[0].keys() & sides[1].keys() for each in sides[0][key] ^ sides[1][key]]
        if differences:
            keywords = " and ".join(sorted({f"'{keyword}'" for _, keyword, _ in differences}))
            reason = f"what it says by {keywords} has changed in a place where no field or union is read"
            label = context.roots.get(other, other)
            change = Change("not-compared", name=label, detail=reason, old_at=old_at, new_at=new_at)
            yield context.of_definition(change, label)


def _definition_pairs(context: Context) -> Iterator[tuple[str, str]]:
    """Yield the corresponding definitions of both revisions, and those of roots besides methods."""
    names = context.walk.renames()
    new_names = {*context.new.declared, *context.roots}
    for name in (*context.old.declared, *context.roots):
        if (other := names.get(name, name)) in new_names:
            yield name, other
    if not context.roots:
        yield from of_both_files(context.old.root_definitions, context.new.root_definitions)


def _body(context: Context, side: SchemaRevision, name: str) -> tuple[str, str]:
    """The name and place of the definition with the content: for a root that is only a reference, its target, otherwise the definition
    itself.
    """
    body = lone_reference(side.bundle.definitions[name]) if name in context.roots else None
    return body or name, side.definitions[body or name].at


def unstable_differences(context: Context, findings: Sequence[Reach]) -> Iterator[Reach]:
    """Yield a finding for unstable differences that are not part of the comparison and not reported: they may be stable on the other
    side.
    """
    old, new = context.old, context.new
    if not old.unstable_texts and not new.unstable_texts:
        return
    texts: list[dict[str, list[str]]] = [{}, {}]
    for side, by_name in zip((old, new), texts, strict=True):
        for at, text in sorted(side.unstable_texts.items(), key=lambda each: each[1]):
            by_name.setdefault(side.called(at), []).append(text)
    reported_names = {
        side.called(at) for each in findings for side, at in ((old, each.old_at), (new, each.new_at)) if at
    }
    names = [
        each
        for each in {**texts[0], **texts[1]}
        if each not in reported_names and texts[0].get(each) != texts[1].get(each)
    ]
    if names:
        places: ChangePlaces = {"old_at": root_of(old), "new_at": root_of(new)}
        yield context.editorial(Change("structure", new=tuple(sorted(names)), detail="unstable", **places))


# --- the whole -------------------------------------------------------------------------------------------------------


def coverage(context: Context, findings: Sequence[Reach]) -> Coverage:
    """What was compared, and what was not."""
    names = {name for side in (context.old, context.new) for name in side.declared}
    open_reasons = {each.location or "root": each.message for each in findings if _is_open(each)}
    not_compared = tuple(NotCompared(name, open_reasons[name]) for name in sorted(open_reasons))
    return Coverage(len(context.methods), len(names), len(names - open_reasons.keys()), not_compared)


def language(context: Context, findings: Sequence[Reach]) -> Inclusion:
    """Whether the messages of each revision are a subset of the other's, including values that no sender declares."""
    return Inclusion(_included(context, "old", findings), _included(context, "new", findings))


def _included(context: Context, sender: Revision, findings: Sequence[Reach]) -> Answer:
    receiver, acceptance = opposite(sender), context.acceptance
    if any(receiver in each.refuses or (each.witness and each.witness.refused_by == receiver) for each in findings):
        return "no"
    changed_pairs = (each.pair for each in context.pairs if context.is_changed(each))
    relations = chain(
        (acceptance.relation(pair, sender, declared=False) for pair in changed_pairs),
        (acceptance.between(one, other, sender) for _, one, other in context.envelopes),
        (acceptance.between(*each.question(sender, declared=False), sender) for each in context.frames),
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
