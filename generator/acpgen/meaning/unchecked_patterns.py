"""The patterns of each definition that no engine here can check: what neither decoding nor validation enforces."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from acpgen import ir
from acpgen.bundle.bundle import Bundle
from acpgen.input.expressions import expression, patterns_of
from acpgen.input.walk import references
from acpgen.meaning.lower import used


def unchecked(protocol: ir.Protocol, bundle: Bundle) -> Mapping[str, Mapping[str, str]]:
    """The places of the patterns that nothing checks, by definition, each with the reason. A definition has its own places, and those that
    its schema alone leads to; one that has none is left out.
    """
    noted = {name: one for name, one in protocol.definitions.items() if one.unenforced}
    judged = {name: _judging(one, bundle) for name, one in noted.items()}
    referred = {name: dict.fromkeys(references(schema)) for name, schema in bundle.definitions.items()}
    met = _led(judged.values(), referred.__getitem__)
    gaps = {
        name: {
            at: gap
            for pattern, at in patterns_of(bundle.definitions[name], bundle.origins[name])
            if (gap := expression(pattern).gap)
        }
        for name in met
    }

    def left(name: str) -> Mapping[str, str]:
        typed = _led([name], lambda one: used(protocol.definitions[one]) if one in protocol.definitions else ())
        beyond = _led([judged[name]], referred.__getitem__).keys() - (typed.keys() - {name})
        return {at: gap for one in met if one in {judged[name], *beyond} for at, gap in gaps[one].items()}

    users: dict[str, list[str]] = {name: [] for name in referred}
    for name, others in referred.items():
        for other in others:
            users[other].append(name)
    doubtful = _led([name for name, places in gaps.items() if places], users.__getitem__)
    return {name: places for name in noted if judged[name] in doubtful and (places := left(name))}


def _judging(definition: ir.Definition, bundle: Bundle) -> str:
    """The definition of the bundle that judges the values of one; of a record that was made for a union, the union."""
    if definition.name in bundle.definitions:
        return definition.name
    alike = [name for name, at in bundle.origins.items() if at == definition.at]
    return next((name for name in alike if definition.name in (f"{name}Object", f"Unknown{name}")), alike[0])


def _led(names: Iterable[str], to: Callable[[str], Iterable[str]]) -> dict[str, None]:
    """Definitions, and all that these lead to."""
    found = dict.fromkeys(names)
    pending = list(found)
    while pending:
        for name in to(pending.pop()):
            if name not in found:
                found[name] = None
                pending.append(name)
    return found
