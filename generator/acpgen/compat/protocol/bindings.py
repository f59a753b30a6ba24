"""The second verdict: whether generated classes and fields keep their names and types. Decided by names, not by pairs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import assert_never

from acpgen import ir
from acpgen.compat.diff.renames import renamed_definitions
from acpgen.compat.findings import Bindings
from acpgen.compat.protocol.definition_coverage import of_files
from acpgen.compat.protocol.revision import SchemaRevision


def bindings(old: SchemaRevision, new: SchemaRevision) -> Bindings:
    """identical: the same names and types · additive: only more of them · breaking: some are gone or differ."""
    found = {*_methods(old.methods, new.methods), *(verdict for _, verdict in _definitions(old, new))}
    return "breaking" if "breaking" in found else "additive" if "additive" in found else "identical"


def broken_classes(old: SchemaRevision, new: SchemaRevision) -> tuple[str, ...]:
    """The definitions of the old revision whose generated classes are gone or differ."""
    return tuple(name for name, verdict in _definitions(old, new) if verdict == "breaking")


def _definitions(old: SchemaRevision, new: SchemaRevision) -> Iterator[tuple[str, Bindings]]:
    """What becomes of the classes of each definition."""
    files = of_files(old, new)
    renames = {**files, **renamed_definitions(old.definitions, new)}
    for name, definition in old.definitions.items():
        if not old.keeps(definition.unstable):
            continue
        other = new.definitions.get(renames.get(name, name))
        if other is None or not new.keeps(other.unstable):
            yield name, "breaking"
            continue
        if other.name != name and name not in files:
            yield name, "additive"
        yield name, _definition(definition, other, renames, old, new)
    kept = {renames.get(name, name) for name in old.definitions}
    added = [name for name, each in new.definitions.items() if new.keeps(each.unstable) and name not in kept]
    for name in added:
        yield name, "additive"


def _definition(
    old: ir.Definition, new: ir.Definition, renames: Mapping[str, str], before: SchemaRevision, after: SchemaRevision
) -> Bindings:
    match old, new:
        case ir.Record(), ir.Record():
            return _record(old, new, renames, before, after)
        case ir.TaggedUnion(), ir.TaggedUnion():
            ours = {(v.tag, renames.get(v.type, v.type)) for v in old.variants if before.keeps(v.unstable)}
            theirs = {(v.tag, v.type) for v in new.variants if after.keeps(v.unstable)}
            if old.tag != new.tag or not ours <= theirs or old.default not in (None, new.default):
                return "breaking"
            if old.fallback not in (None, new.fallback):
                return "breaking"
            grown = ours < theirs or (old.default, old.fallback) != (new.default, new.fallback)
            return "additive" if grown else "identical"
        case ir.Enum(), ir.Enum():
            known, now = ({value.value for value in each.values} for each in (old, new))
            opened = old.openness == "closed" != new.openness
            if (old.openness != new.openness and not opened) or not known <= now:
                return "breaking"
            if _type(old.base, renames) != _type(new.base, {}):
                return "breaking"
            return "additive" if known < now or opened else "identical"
        case ir.Alias(), ir.Alias():
            before_type, after_type = _type(old.type, renames), _type(new.type, {})
            if isinstance(before_type, frozenset) and isinstance(after_type, frozenset) and before_type < after_type:
                return "additive"
            return "identical" if before_type == after_type else "breaking"
        case _:
            return "breaking"


def _record(
    old: ir.Record, new: ir.Record, renames: Mapping[str, str], before: SchemaRevision, after: SchemaRevision
) -> Bindings:
    ours = {field.name: field for field in before.stable(old.fields)}
    theirs = {field.name: field for field in after.stable(new.fields)}
    for name, field in ours.items():
        other = theirs.get(name)
        if other is None or field.required != other.required or _type(field.type, renames) != _type(other.type, {}):
            return "breaking"
    added = [field for name, field in theirs.items() if name not in ours]
    if any(field.required for field in added):
        return "breaking"
    return "additive" if added else "identical"


def _methods(old: Iterable[ir.Method], new: Iterable[ir.Method]) -> Iterable[Bindings]:
    ours, theirs = ({(m.name, m.side, m.kind) for m in methods} for methods in (old, new))
    if not ours <= theirs:
        yield "breaking"
    if theirs - ours:
        yield "additive"


def _type(type_: ir.Type, renames: Mapping[str, str]) -> object:
    """What a type checker sees of a type: no limits, no formats."""
    match type_:
        case ir.Anything() | ir.Nothing() | ir.Null() | ir.Boolean():
            return type_
        case ir.Number(integer=integer):
            return ir.Number(integer=integer)
        case ir.String():
            return ir.String()
        case ir.Constant(values):
            return frozenset((type(value).__name__, value) for value in values)
        case ir.Array(items=items):
            return ("list", _type(items, renames))
        case ir.Tuple(first=first, rest=rest):
            return ("tuple", tuple(_type(each, renames) for each in first), _type(rest, renames))
        case ir.Map(values):
            return ("dict", _type(values, renames))
        case ir.Ref(name):
            return ("class", renames.get(name, name))
        case ir.AnyOf(types):
            return frozenset(_type(each, renames) for each in types)
        case _:
            assert_never(type_)
