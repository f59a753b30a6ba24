"""What no message holds, definitions that differ and that no finding names, what was compared, and the relation of both as plain sets."""

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
    """What has no counterpart, and what is not read."""
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


def rewritten_definitions(context: Context, found: Sequence[Reach]) -> Iterator[Reach]:
    """The definitions that are written differently and that no finding names: they accept the same, or what differs in them is reported
    where it stands. If neither is so, they were not compared.
    """
    changes = [each for each in found if each.rule != "text-reworded"]
    sides = ((context.old, {each.old_at for each in changes}), (context.new, {each.new_at for each in changes}))
    owners = [{side.outermost(at) for at in places} for side, places in sides]
    names = context.walk.renames()
    roots = context.roots
    named = {
        name
        for (side, _), places in zip(sides, owners, strict=True)
        for name in (*side.declared, *roots)
        if not places.isdisjoint({side.definitions[name].at, side.outermost(_body(context, side, name)[1])})
    }
    known = {*context.new.declared, *roots}
    alone = context.old.bundle.definitions.keys() ^ context.new.bundle.definitions.keys()
    gone = {*context.cover.gone, *names}
    held = {Pair(each.old, each.new) for each in context.walk.nodes}
    quiet = {each.names[0] for each in context.frames}
    for name in (*context.old.declared, *roots):
        other = names.get(name, name)
        if other not in known or name in gone - names.keys() or {name, other} & named:
            continue
        (before, old_at), (after, new_at) = _body(context, context.old, name), _body(context, context.new, other)
        texts = context.old.whole_text(before, names, alone), context.new.whole_text(after, {}, alone)
        if texts[0] == texts[1]:
            continue
        at: ChangePlaces = {"old_at": old_at, "new_at": new_at}
        called = roots.get(other, other)
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
                yield _doubt(context, pair, called, _KEPT, at)
            else:
                yield from _of_undeclared(context, pair, called, at)
            if detail is None:
                continue
        elif name in quiet and not closure(context.new, [other]) & named:
            detail = "framed"
        elif (
            pair not in held
            or _is_settled(context, pair)
            or (closure(context.old, [name]) | closure(context.new, [other])) & named
        ):
            detail = "elsewhere"
        if detail is None:
            yield _doubt(context, pair, called, _UNKNOWN, at)
        else:
            yield context.editorial(Change("structure", name=called, detail=detail, **at))


def _is_settled(context: Context, pair: Pair) -> bool:
    """Whether a pair is of variants alone, which tags tell apart, and all messages and documents that hold it accept the same."""
    if any((each.old, each.new, each.tag) == (pair.old, pair.new, None) for each in context.walk.nodes):
        return False
    holders = (each.pair for each in context.pairs if context.walk.holds(each.pair, pair))
    return all(context.is_included(each, declared=False) for each in holders)


def _doubt(context: Context, pair: Pair, name: str, reason: str, at: ChangePlaces) -> Reach:
    """A doubt about a pair of definitions, in the directions that are not proven."""
    doubtful: list[Revision] = [receiver for _, receiver in context.refusals(pair)]
    return context.of_definition(Change("not-compared", name=name, detail=reason, **at), name, doubtful)


def _is_claimed(context: Context, pair: Pair) -> bool:
    """Whether a member is declared on one side of a pair alone: that is reported wherever messages hold the pair."""
    walk = Walk(context.old, context.new, context.groups)  # what is reported is of the other one
    walk.visit(pair)
    return any(found.change.kind == "field" for found in walk.wire_changes(pair))


def _of_undeclared(context: Context, pair: Pair, name: str, at: ChangePlaces) -> Iterator[Reach]:
    """What a definition says of members that nobody declares, where one revision refuses what the other accepts."""
    for sender, receiver in context.refusals(pair):
        witness = context.acceptance.relation(pair, sender, declared=False).witness
        value = () if witness is None else (witness.value,)
        sides = (None, value) if receiver == "old" else (value, None)
        yield context.of_definition(Change("undeclared", *sides, **at), name)


def unread_statements(context: Context) -> Iterator[Reach]:
    """The definitions that differ in what they say by keywords that no validator asserts, at places where the comparison reads none of
    them.
    """
    compared = [context.walk.names(number) for number in (0, 1)]
    for name, other in _definition_pairs(context):
        (before, old_at), (after, new_at) = _body(context, context.old, name), _body(context, context.new, other)
        one, two = context.old.statements(before, compared[0]), context.new.statements(after, compared[1])
        by_name = before == after  # else what stands inside of them has other names, too
        sides = [{(key if by_name else key[1]): each for key, each in side.items()} for side in (one, two)]
        said = [each for key in sides[0].keys() & sides[1].keys() for each in sides[0][key] ^ sides[1][key]]
        if said:
            keywords = " and ".join(sorted({f"'{keyword}'" for _, keyword, _ in said}))
            reason = f"what it says by {keywords} has changed in a place where no field or union is read"
            called = context.roots.get(other, other)
            change = Change("not-compared", name=called, detail=reason, old_at=old_at, new_at=new_at)
            yield context.of_definition(change, called)


def _definition_pairs(context: Context) -> Iterator[tuple[str, str]]:
    """The definitions of both revisions that belong together, and those of roots beside methods."""
    names = context.walk.renames()
    known = {*context.new.declared, *context.roots}
    for name in (*context.old.declared, *context.roots):
        if (other := names.get(name, name)) in known:
            yield name, other
    if not context.roots:
        yield from of_both_files(context.old.root_definitions, context.new.root_definitions)


def _body(context: Context, side: SchemaRevision, name: str) -> tuple[str, str]:
    """The definition that holds what another one says, if that stands for a root, else itself; with its place."""
    body = lone_reference(side.bundle.definitions[name]) if name in context.roots else None
    return body or name, side.definitions[body or name].at


def unstable_differences(context: Context, found: Sequence[Reach]) -> Iterator[Reach]:
    """What is unstable on either side and differs, if that does not take part, and is not reported: it may be stable on the other side."""
    old, new = context.old, context.new
    if not old.unstable_texts and not new.unstable_texts:
        return
    texts: list[dict[str, list[str]]] = [{}, {}]
    for side, by_name in zip((old, new), texts, strict=True):
        for at, text in sorted(side.unstable_texts.items(), key=lambda each: each[1]):
            by_name.setdefault(side.called(at), []).append(text)
    known = {side.called(at) for each in found for side, at in ((old, each.old_at), (new, each.new_at)) if at}
    names = [
        each for each in {**texts[0], **texts[1]} if each not in known and texts[0].get(each) != texts[1].get(each)
    ]
    if names:
        places: ChangePlaces = {"old_at": root_of(old), "new_at": root_of(new)}
        yield context.editorial(Change("structure", new=tuple(sorted(names)), detail="unstable", **places))


# --- the whole -------------------------------------------------------------------------------------------------------


def coverage(context: Context, found: Sequence[Reach]) -> Coverage:
    """What was compared, and what was not."""
    names = {name for side in (context.old, context.new) for name in side.declared}
    left = {each.location or "root": each.message for each in found if _is_open(each)}
    not_compared = tuple(NotCompared(name, left[name]) for name in sorted(left))
    return Coverage(len(context.methods), len(names), len(names - left.keys()), not_compared)


def language(context: Context, found: Sequence[Reach]) -> Inclusion:
    """Whether messages are included in one another as plain sets, both ways: what is merely claimed counts here."""
    return Inclusion(_included(context, "old", found), _included(context, "new", found))


def _included(context: Context, sender: Revision, found: Sequence[Reach]) -> Answer:
    receiver, acceptance = opposite(sender), context.acceptance
    if any(receiver in each.refuses or (each.witness and each.witness.refused_by == receiver) for each in found):
        return "no"
    changed = (each.pair for each in context.pairs if context.is_changed(each))
    relations = chain(
        (acceptance.relation(pair, sender, declared=False) for pair in changed),
        (acceptance.between(one, other, sender) for _, one, other in context.envelopes),
        (acceptance.between(*each.question(sender, declared=False), sender) for each in context.frames),
    )
    is_open = any(_is_open(each) and receiver in each.doubtful for each in found)
    for relation in relations:
        if relation.verdict.value == "no":
            return "no"
        is_open |= relation.verdict.value == "undecided"
    return "undecided" if is_open else "yes"


def _is_open(each: Reach) -> bool:
    """Whether what a finding is about was not compared, or not to the end."""
    return each.rule in _OPEN or each.is_cut_off
