"""What decoders check where types do not say all that the schema does, and what even then is not enforced."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from acpgen import ir
from acpgen.meaning.lower import used
from acpgen.schema.bundle import Bundle
from acpgen.schema.expressions import expression, patterns_of
from acpgen.schema.walk import Schema, references


@dataclass(frozen=True, slots=True)
class Checks:
    """The checks of one protocol.

    `by` names, for each definition of the IR that has a check, the definition of the bundle that judges its values. `openings` are schemas
    of what decoders keep that is not in a definition: unknown tags and constants of tolerated unions. `patterns` are those that checks may
    meet and that the engine writes otherwise; `None` for those that it cannot have. `left` are the places of such patterns, by definition,
    each with what strict validators do not check of it either.
    """

    by: Mapping[str, str]
    openings: Mapping[str, Schema]
    patterns: Mapping[str, str | None]
    left: Mapping[str, Mapping[str, str]]


def checks(protocol: ir.Protocol, bundle: Bundle) -> Checks:
    """The checks that the definitions of a protocol need: those with notes of what their types do not enforce."""
    noted = {name: one for name, one in protocol.definitions.items() if one.unenforced}
    judged = {name: _judging(one, bundle) for name, one in noted.items()}
    referred = {name: dict.fromkeys(references(schema)) for name, schema in bundle.definitions.items()}
    met = _led(judged.values(), referred.__getitem__)
    found = {name: list(patterns_of(bundle.definitions[name], bundle.origins[name])) for name in met}
    written = {pattern: expression(pattern) for listed in found.values() for pattern, _ in listed}
    unknown = {
        name: {at: written[pattern].gap for pattern, at in listed if not written[pattern].is_checked}
        for name, listed in found.items()
    }
    by = {name: judge for name, judge in judged.items() if not set(noted[name].unenforced) <= set(unknown[judge])}
    reached = _led(by.values(), referred.__getitem__)
    users: dict[str, list[str]] = {name: [] for name in referred}
    for name, others in referred.items():
        for other in others:
            users[other].append(name)
    doubtful = _led([name for name, places in unknown.items() if places], users.__getitem__)

    def left(name: str) -> Mapping[str, str]:
        """What a definition leaves: its own places, and those that its check alone leads to."""
        typed = _led([name], lambda one: used(protocol.definitions[one]) if one in protocol.definitions else ())
        beyond = _led([judged[name]], referred.__getitem__).keys() - (typed.keys() - {name})
        return {at: gap for one in met if one in {judged[name], *beyond} for at, gap in unknown[one].items()}

    return Checks(
        by=by,
        openings={
            name: _opening(one)
            for name, one in protocol.definitions.items()
            if name in reached and isinstance(one, ir.TaggedUnion | ir.Enum) and one.openness == "tolerated"
        },
        patterns={
            pattern: written[pattern].linear if written[pattern].is_checked else None
            for name in reached
            for pattern, _ in found[name]
            if written[pattern].linear != pattern
        },
        left={name: places for name in noted if judged[name] in doubtful and (places := left(name))},
    )


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


def _opening(definition: ir.TaggedUnion | ir.Enum) -> Schema:
    """What a tolerated union or enumeration keeps beside what it says; its type judges the rest."""
    if isinstance(definition, ir.Enum):
        return {"type": "string" if isinstance(definition.base, ir.String) else "integer"}
    known = [variant.tag for variant in definition.variants]
    unknown = {"type": "string", "not": {"enum": known}}
    return {"type": "object", "properties": {definition.tag: unknown}, "required": [definition.tag]}
