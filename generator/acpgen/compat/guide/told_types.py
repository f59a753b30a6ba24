"""What a migration guide says of types: those that only one version has, and those that have another name."""

from __future__ import annotations

from collections.abc import Iterator
from typing import assert_never

from acpgen import ir
from acpgen.compat.diff.renames import renamed_definitions
from acpgen.compat.protocol.revision import Revised
from acpgen.markup import code, prose


def lines(old: Revised, new: Revised) -> Iterator[str]:
    """The types that only one version has, with what the new ones hold, and those that have another name."""
    before, after = _own(old), _own(new)
    joined = renamed_definitions(old.definitions, new)
    renamed = {was: name for was, name in joined.items() if was in before and name in after}
    gone = [name for name in before if name not in after and name not in renamed]
    added = [name for name in after if name not in before and name not in renamed.values()]
    for heading, found in (
        ("Renamed", [f"{code(was)} is {code(name)}" for was, name in renamed.items()]),
        ("Gone", [f"{code(name)}{_heir(name, new)}" for name in gone]),
        ("New", [f"{code(name)}{_held(new.definitions[name])}" for name in added]),
    ):
        if found:
            yield f"\n## {heading} types\n"
            yield from (f"- {entry}" for entry in sorted(found))


def _heir(name: str, new: Revised) -> str:
    """What takes the place of a type, as a second line of its entry."""
    told = new.bundle.migration.get(name)
    return f"\n  {prose(told)}" if told else ""


def _own(side: Revised) -> list[str]:
    """The types that have their name from the schema; what else is named stands inside of them."""
    return [
        name
        for name, at in side.bundle.origins.items()
        if at.endswith((f"#/$defs/{name}", f"#/definitions/{name}"))
        if name in side.definitions and side.keeps(side.definitions[name].unstable)
    ]


def _held(definition: ir.Definition) -> str:
    """What a type holds, as the end of a line."""
    match definition:
        case ir.Record():
            names = [field.name for field in definition.fields if field.name != "_meta"]
        case ir.TaggedUnion():
            names = [f"{definition.tag}: {variant.tag}" for variant in definition.variants]
        case ir.Enum():
            names = [str(value.value) for value in definition.values]
        case ir.Alias():
            names = []
        case _:
            assert_never(definition)
    return f": {', '.join(map(code, names))}" if names else ""
