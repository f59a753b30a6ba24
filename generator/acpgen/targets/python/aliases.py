"""The types of `models.py` that are not records: unions, enumerations and other named types, as views for the template."""

from __future__ import annotations

from itertools import chain
from typing import Any

from acpgen import ir
from acpgen.input.walk import find_cycles
from acpgen.meaning.definition_order import references
from acpgen.targets.python.literals import write_docstring, write_literal
from acpgen.targets.python.naming import Names
from acpgen.targets.python.types import Hints


def make_alias_views(protocol: ir.Protocol, names: Names, hints: Hints) -> list[dict[str, Any]]:
    """Name, value and docstring of each type that is not a record, in schema order, but after the types to which its value refers."""
    views = {
        definition.name: _make_class(definition, names, hints)
        if isinstance(definition, ir.Enum) and definition.name in names.members
        else _make_alias(definition, names.classes[definition.name], hints)
        for definition in protocol.definitions.values()
        if not isinstance(definition, ir.Record)
    }
    edges = {  # a quoted value is evaluated later, and so refers to none
        name: [
            reference
            for reference in references(protocol.definitions[name])
            if reference in views and view.get("value")
        ]
        for name, view in views.items()
    }
    return [views[name] for name in chain.from_iterable(find_cycles(edges))]


def _make_alias(definition: ir.Definition, name: str, hints: Hints) -> dict[str, Any]:
    """The view of an alias: its value or, if it is recursive or must be validated by the schema, the value in quotes."""
    source, is_judged = hints.annotate_definition(definition.name)
    view = {"name": name, "docstring": write_docstring(_write_doc(definition), 0)}
    if not is_judged and definition.name not in hints.recursive:
        return {**view, "value": source, "choice": ""}
    hints.use_import("TYPE_CHECKING")
    arguments = ["__name__", _quote(source), *([f"judged={write_literal(definition.name)}"] if is_judged else [])]
    return {**view, "quoted": _quote(source), "choice": f"{hints.use_import('Choice')}({', '.join(arguments)})"}


def _make_class(enum: ir.Enum, names: Names, hints: Hints) -> dict[str, Any]:
    """The view of a string enumeration as a class."""
    members = names.members[enum.name]
    return {
        "name": names.classes[enum.name],
        "base": hints.use_import("OpenStringEnum" if enum.openness != "closed" else "StringEnum"),
        "docstring": write_docstring(_write_doc(enum) or f"The texts of `{enum.name}`.", 4),
        "members": [
            {
                "name": members[str(member.value)],
                "value": write_literal(member.value),
                "docstring": write_docstring(member.doc, 4),
            }
            for member in enum.values
        ],
    }


def _quote(source: str) -> str:
    """The source of an annotation as a string literal; string literals in it keep their quotes."""
    return "'" + source.replace("\\", "\\\\").replace("'", "\\'") + "'" if '"' in source else f'"{source}"'


def _write_doc(definition: ir.Definition) -> str:
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
