"""What no validator enforces: patterns that ECMA-262 does not define or that no engine here can check, and what people are told of them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Final, TypeAlias

from acpgen.errors import counted
from acpgen.input.drafts import as_written
from acpgen.input.expressions import expression, patterns_of
from acpgen.input.walk import reachable, references
from acpgen.meaning.definition_order import references as types_of

if TYPE_CHECKING:
    from acpgen import ir
    from acpgen.bundle.bundle import Bundle

Gaps: TypeAlias = "Mapping[str, Mapping[str, str]]"
"""The keywords that neither decoding nor validation enforces, as places in the schema files, by definition; with each the reason."""

FEW: Final = 8
"""As many places are named."""


def gaps(protocol: ir.Protocol, bundle: Bundle) -> Gaps:
    """What no validator enforces of the definitions of a protocol, as places in the schema files; a definition of which all is enforced is
    left out.
    """
    return {
        name: {as_written(place, bundle.sources): gap for place, gap in places.items()}
        for name, places in unchecked(protocol, bundle).items()
    }


def unchecked(protocol: ir.Protocol, bundle: Bundle) -> Mapping[str, Mapping[str, str]]:
    """The places of the patterns that nothing checks, by definition, each with the reason. A definition has its own places, and those that
    its schema alone leads to; one that has none is left out.
    """
    noted = {name: one for name, one in protocol.definitions.items() if one.unenforced}
    judged = {name: _judging(one, bundle) for name, one in noted.items()}
    referred = {name: dict.fromkeys(references(schema)) for name, schema in bundle.definitions.items()}
    met = reachable(judged.values(), referred.__getitem__)
    gaps = {
        name: {
            at: gap
            for pattern, at in patterns_of(bundle.definitions[name], bundle.origins[name])
            if (gap := expression(pattern).gap)
        }
        for name in met
    }

    def left(name: str) -> Mapping[str, str]:
        typed = reachable(
            [name], lambda one: types_of(protocol.definitions[one]) if one in protocol.definitions else ()
        )
        beyond = reachable([judged[name]], referred.__getitem__).keys() - (typed.keys() - {name})
        return {at: gap for one in met if one in {judged[name], *beyond} for at, gap in gaps[one].items()}

    users: dict[str, list[str]] = {name: [] for name in referred}
    for name, others in referred.items():
        for other in others:
            users[other].append(name)
    doubtful = reachable([name for name, places in gaps.items() if places], users.__getitem__)
    return {name: places for name in noted if judged[name] in doubtful and (places := left(name))}


def _judging(definition: ir.Definition, bundle: Bundle) -> str:
    """The definition of the bundle that judges the values of one; of a record that was made for a union, the union."""
    if definition.name in bundle.definitions:
        return definition.name
    alike = [name for name, at in bundle.origins.items() if at == definition.at]
    return next((name for name in alike if definition.name in (f"{name}Object", f"Unknown{name}")), alike[0])


def describe_gaps(label: str, found: Gaps) -> tuple[str, ...]:
    """The lines for people: how many, and of the first where and why."""
    every = {place: gap for places in found.values() for place, gap in places.items()}
    if not every:
        return ()
    head = (
        f"{label}: no validator here enforces {counted(len(every), 'pattern')} of {counted(len(found), 'definition')}; "
        f"the package lists every place in UNENFORCED."
    )
    lines = [f"  {place}: {gap}" for place, gap in [*every.items()][:FEW]]
    rest = len(every) - FEW
    return (head, *lines, *([f"  and {counted(rest, 'more pattern')}"] if rest > 0 else []))
