"""`unions.py`: tagged unions, sets of constants and named types, as views for the template."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any, assert_never

from acpgen import ir
from acpgen.meaning.discriminators import shared_tag, tags_by_type
from acpgen.meaning.keys import keys_of
from acpgen.meaning.order import ordered
from acpgen.targets.python.annotations import either
from acpgen.targets.python.beyond import Beyond
from acpgen.targets.python.literals import docstring, literal
from acpgen.targets.python.naming import Names
from acpgen.targets.python.types import annotation, imported, references


def alias_views(protocol: ir.Protocol, names: Names, beyond: Beyond) -> list[dict[str, Any]]:
    """Name, value and docstring of each type that is no record, in the order of the schema; of those that are classes, base and members; of
    those that are parts of themselves, the value that type checkers read: pyright knows no recursive `TypeAliasType` before 3.12's syntax.
    """
    recursive = recursive_aliases(protocol)
    return [
        _class(definition, names)
        if isinstance(definition, ir.Enum) and definition.name in names.members
        else {
            "name": names.classes[definition.name],
            "arguments": _arguments(
                names.classes[definition.name],
                value := _value(definition, names, protocol, _markers(definition.name, names, beyond)),
            ),
            "recursive": value if definition.name in recursive else "",
            "docstring": docstring(beyond.with_gaps(_doc(definition), definition.name), 0) or '""""""',
        }
        for definition in protocol.definitions.values()
        if not isinstance(definition, ir.Record)
    ]


def recursive_aliases(protocol: ir.Protocol) -> set[str]:
    """The aliases that are parts of themselves without a record between."""
    aliases = {name: one for name, one in protocol.definitions.items() if isinstance(one, ir.Alias)}
    return {
        one.name
        for group in ordered(replace(protocol, definitions=aliases))
        for one in group
        if len(group) > 1 or one.name in references(aliases[one.name].type)
    }


def _class(enum: ir.Enum, names: Names) -> dict[str, Any]:
    """A set of texts as a class."""
    members = names.members[enum.name]
    return {
        "name": names.classes[enum.name],
        "base": names.ours("OpenTexts" if _is_open(enum) else "Texts"),
        "docstring": docstring(_doc(enum) or f"The texts of `{enum.name}`.", 4),
        "members": [
            {
                "name": members[str(one.value)],
                "value": literal(one.value),
                "docstring": docstring(one.doc, 4),
            }
            for one in enum.values
        ],
    }


def _markers(name: str, names: Names, beyond: Beyond) -> str:
    """The markers that any alias has: its check, if there is one, and its definition."""
    defined = f"{names.ours('Defined')}(__name__, {literal(names.classes[name])})"
    return ", ".join(filter(None, (beyond.of(name, names.ours("CHECKS")), defined)))


def _arguments(name: str, value: str) -> str:
    """The arguments of an alias, on one line where they fit."""
    one_line = f'"{name}", {value}'
    fits = "\n" not in value and len(name) + len(one_line) <= 95
    return one_line if fits else f'\n    "{name}",\n    {value},\n'


def named_records(protocol: ir.Protocol) -> set[str]:
    """The records that aliases name."""
    found: set[str] = set()
    for definition in protocol.definitions.values():
        match definition:
            case ir.Record():
                continue
            case ir.TaggedUnion():
                found.update(_members(definition))
            case ir.Alias():
                found.update(references(definition.type))
            case ir.Enum():
                found.update(references(definition.base))
            case _:
                assert_never(definition)
    return {name for name in found if isinstance(protocol.definitions[name], ir.Record)}


def imports(protocol: ir.Protocol, beyond: Beyond, names: Names) -> set[str]:
    """What the aliases use of `typing`, pydantic and the run-time package."""
    found: set[str] = set()
    recursive = recursive_aliases(protocol)
    for definition in protocol.definitions.values():
        if isinstance(definition, ir.Enum) and definition.name in names.members:
            found.add("OpenTexts" if _is_open(definition) else "Texts")
            continue
        if not isinstance(definition, ir.Record):
            found |= {"Annotated", "Defined"} | ({"CHECKS"} if beyond.of(definition.name) else set())
        match definition:
            case ir.Record():
                continue
            case ir.TaggedUnion():
                found |= {"Annotated", "Tagged"}
            case ir.Enum():
                values = ir.Constant(tuple(value.value for value in definition.values))
                opened = imported(definition.base, names) | {"Annotated", "Literal", "Open"}
                found |= opened if _is_open(definition) else imported(values, names)
            case ir.Alias():
                found |= {"TYPE_CHECKING", "TypeAlias"} if definition.name in recursive else set()
                found |= imported(definition.type, names) | (
                    {"Annotated", "Shapes"} if _is_marked(definition.type) else set()
                )
            case _:
                assert_never(definition)
    return found


def _is_open(enum: ir.Enum) -> bool:
    return enum.openness != "closed"


def _is_marked(type_: ir.Type) -> bool:
    """Whether a type is a union that pydantic must be told how to tell apart."""
    rest = [member for member in type_.types if member != ir.Null()] if isinstance(type_, ir.AnyOf) else []
    is_exclusive = isinstance(type_, ir.AnyOf) and type_.exclusive
    return is_exclusive or (len(rest) > 1 and not all(isinstance(member, ir.Constant) for member in rest))


def _members(union: ir.TaggedUnion) -> list[str]:
    """The definitions of a tagged union's branches, in the order that its marker expects."""
    fallbacks = union.fallback_shapes or ((union.fallback,) if union.fallback is not None else ())
    variants = [name for name in tags_by_type(union) if name != union.default]
    return [*variants, *fallbacks, *([union.default] if union.default else [])]


def _value(definition: ir.TaggedUnion | ir.Enum | ir.Alias, names: Names, protocol: ir.Protocol, check: str) -> str:
    match definition:
        case ir.TaggedUnion():
            return _tagged(definition, names, check)
        case ir.Enum():
            return _enum(definition, names, check)
        case ir.Alias(type=ir.AnyOf() as union):
            return _shapes(union, names, protocol, check)
        case ir.Alias():
            return _marked(names, _quoted(annotation(definition.type, names)), check)
        case _:
            assert_never(definition)


def _tagged(union: ir.TaggedUnion, names: Names, check: str) -> str:
    fallbacks = union.fallback_shapes or ((union.fallback,) if union.fallback is not None else ())
    tags = tags_by_type(union)
    own = [*tags.pop(union.default or "", ()), *([union.default_tag] if union.default_tag is not None else [])]
    arguments = [literal(union.tag), _tags(tags.values())]
    if fallbacks:
        arguments.append(f"fallbacks={len(fallbacks)}")
    if union.fallback_exclusive:
        arguments.append("fallback_exclusive=True")
    if union.default is not None:
        arguments.append("default=True")
    if union.default_admits_known:
        arguments.append("default_admits_known=True")
    if union.default_admits_unknown:
        arguments.append("default_admits_unknown=True")
    if own:
        arguments.append(f"default_tags={_tuple(map(literal, own))}")
    if union.openness == "closed" and fallbacks:
        arguments.append("closed=True")
    alternatives = _alternatives([names.classes[member] for member in _members(union)])
    return _marked(names, alternatives, _call(names.ours("Tagged"), arguments), check)


def _shapes(union: ir.AnyOf, names: Names, protocol: ir.Protocol, check: str) -> str:
    parts = [annotation(member, names) for member in union.types]
    if not _is_marked(union):
        return _marked(names, _quoted(either(parts)), check)
    keys = keys_of(union, protocol.definitions)
    tag = None if keys else shared_tag(union, protocol.definitions)
    arguments = [f"keys=({', '.join(map(literal, keys))})"] if keys else []
    arguments += [f"field={literal(tag.field)}", f"tags={_tags(tag.tags)}"] if tag is not None else []
    arguments += [f"optional={_tuple(map(str, tag.optional))}"] if tag is not None and tag.optional else []
    arguments += ["exclusive=True"] if union.exclusive else []
    return _marked(names, _alternatives(parts), _call(names.ours("Shapes"), arguments), check)


def _enum(enum: ir.Enum, names: Names, check: str) -> str:
    values = ", ".join(literal(value.value) for value in enum.values)
    base = annotation(enum.base, names)
    if not _is_open(enum):
        constants = ir.Constant(tuple(value.value for value in enum.values))
        return _marked(names, _quoted(annotation(constants, names)), check)
    alternatives = _alternatives([f"{names.ours('Literal')}[{values}]", base])
    return _marked(names, alternatives, _call(names.ours("Open"), []), check)


def _tags(tags: Iterable[Sequence[ir.JSON]]) -> str:
    """The tag or tags of each branch."""
    return _tuple(literal(own[0]) if len(own) == 1 else _tuple(map(literal, own)) for own in tags)


def _tuple(items: Iterable[str]) -> str:
    listed = list(items)
    return f"({listed[0]},)" if len(listed) == 1 else f"({', '.join(listed)})"


def _alternatives(members: list[str]) -> str:
    one_line = either(members)
    if len(one_line) <= 80:
        return _quoted(one_line)
    lines = either(members, "\n        | ").replace("\\", "\\\\")
    return f'"""(\n        {lines}\n        )"""'


def _call(marker: str, arguments: list[str]) -> str:
    call = f"{marker}({', '.join(arguments)})"
    if len(call) <= 100:
        return call
    inner = ",\n            ".join(arguments)
    return f"{marker}(\n            {inner},\n        )"


def _marked(names: Names, alternatives: str, *markers: str) -> str:
    """A type with the markers that are there."""
    annotated = names.ours("Annotated")
    parts = [alternatives, *filter(None, markers)]
    one_line = f"{annotated}[{', '.join(parts)}]"
    if len(parts) == 1:
        return alternatives
    if "\n" not in one_line and len(one_line) <= 100:
        return one_line
    lines = ",\n        ".join(parts)
    return f"{annotated}[\n        {lines},\n    ]"


def _quoted(source: str) -> str:
    """Source of an annotation as a string literal; string literals inside it stay what they are."""
    return "'" + source.replace("\\", "\\\\").replace("'", "\\'") + "'" if '"' in source else f'"{source}"'


def _doc(definition: ir.TaggedUnion | ir.Enum | ir.Alias) -> str:
    lines = [definition.doc] if definition.doc else []
    if isinstance(definition, ir.Enum):
        described = [f"- `{value.value}`: {value.doc}" for value in definition.values if value.doc]
        if described:
            lines += ["", *described] if lines else described
        if definition.openness != "closed":
            lines += ["", "Other values are kept as they are."]
    elif isinstance(definition, ir.TaggedUnion):
        if definition.fallback is not None:
            lines += ["", f"Unknown values of `{definition.tag}` are kept as `{definition.fallback}`."]
        elif definition.default_admits_unknown:
            lines += ["", f"Unknown values of `{definition.tag}` are read as `{definition.default}`, if they fit it."]
        else:
            lines += ["", f"Discriminated by `{definition.tag}`; unknown values are refused."]
    if definition.unstable:
        lines += ["", "Unstable: may change in any version."]
    return "\n".join(lines).strip("\n")
