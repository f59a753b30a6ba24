"""Python annotations as values: their source, and what modules that hold them import."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias, assert_never

from acpgen.targets.python.literals import literal

Scalar: TypeAlias = "str | int | float | bool | None"


@dataclass(frozen=True, slots=True)
class Named:
    """A name. `is_imported`: it is one of `typing`, pydantic or the run-time package, neither built in nor a class of the schema."""

    name: str
    is_imported: bool = False


@dataclass(frozen=True, slots=True)
class Literals:
    """`Literal` of some constants."""

    values: tuple[Scalar, ...]


@dataclass(frozen=True, slots=True)
class Container:
    """`list`, `tuple` or `dict` of something."""

    name: str
    arguments: tuple[Annotation, ...]


@dataclass(frozen=True, slots=True)
class Rest:
    """Any number of something at the end of a tuple."""

    entry: Annotation


@dataclass(frozen=True, slots=True)
class Either:
    """A union."""

    members: tuple[Annotation, ...]


@dataclass(frozen=True, slots=True)
class Marked:
    """`Annotated` with one marker, which stands as source."""

    base: Annotation
    marker: str
    arguments: str = ""


MOST_IN_A_ROW: Final = 200
"""Types that one row of `|` joins."""

Annotation: TypeAlias = "Named | Literals | Container | Rest | Either | Marked"


def source(annotation: Annotation, ours: Callable[[str], str] = str) -> str:
    """What is written of an annotation. `ours` says what the module calls a name that it imports."""
    match annotation:
        case Named(name, is_imported):
            return ours(name) if is_imported else name
        case Literals(values):
            return f"{ours('Literal')}[{constants(values)}]"
        case Container(name, arguments):
            return f"{name}[{', '.join(source(argument, ours) for argument in arguments)}]"
        case Rest(entry):
            return f"*tuple[{source(entry, ours)}, ...]"
        case Either(members):
            return either([source(member, ours) for member in members])
        case Marked(base, marker, arguments):
            return f"{ours('Annotated')}[{source(base, ours)}, {ours(marker)}({arguments})]"
        case _:
            assert_never(annotation)


def either(members: Sequence[str], joint: str = " | ") -> str:
    """A union of types. Very many stand in groups: compilers and formatters go down a level with each operator."""
    if len(members) <= MOST_IN_A_ROW:
        return joint.join(members)
    groups = [members[start : start + MOST_IN_A_ROW] for start in range(0, len(members), MOST_IN_A_ROW)]
    return either([f"({' | '.join(group)})" for group in groups], joint)


def imports(annotation: Annotation) -> set[str]:
    """The names that an annotation uses and that are imported, beside classes of the schema."""
    match annotation:
        case Named(name, is_imported):
            return {name} if is_imported else set()
        case Literals():
            return {"Literal"}
        case Container(arguments=inner) | Either(members=inner):
            return set[str]().union(*map(imports, inner))
        case Rest(entry):
            return imports(entry)
        case Marked(base, marker):
            return {"Annotated", marker} | imports(base)
        case _:
            assert_never(annotation)


def constants(values: tuple[Scalar, ...]) -> str:
    """Constants as arguments."""
    return ", ".join(map(literal, values))
