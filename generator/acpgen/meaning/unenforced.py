"""What no validator enforces: patterns that ECMA-262 does not define or that no regular expression engine here supports, and the report
on them.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Final, TypeAlias

from acpgen.errors import count_noun
from acpgen.input.drafts import find_written_place
from acpgen.input.expressions import list_patterns, translate_pattern
from acpgen.input.walk import find_reachable, find_sources, list_references
from acpgen.meaning.definition_order import references as types_of

if TYPE_CHECKING:
    from acpgen import ir
    from acpgen.bundle.bundle import Bundle

Gaps: TypeAlias = "Mapping[str, Mapping[str, str]]"
"""The keywords that neither decoding nor validation enforces, by definition: the reason for each, by its place in the schema files."""

FEW: Final = 8
"""The maximum number of reported places."""


def find_gaps(protocol: ir.Protocol, bundle: Bundle) -> Gaps:
    """The unenforced keywords of the definitions of a protocol, as places in the schema files; definitions without any are omitted."""
    return {
        name: {find_written_place(place, bundle.sources): gap for place, gap in places.items()}
        for name, places in find_unchecked(protocol, bundle).items()
    }


def find_unchecked(protocol: ir.Protocol, bundle: Bundle) -> Mapping[str, Mapping[str, str]]:
    """The places of patterns that nothing checks, with the reason, by definition.

    A definition has its own places, and those reachable only through its schema, not through its type; definitions without any are
    omitted.
    """
    candidates = {name: definition for name, definition in protocol.definitions.items() if definition.unenforced}
    validators = {name: _find_judging(definition, bundle) for name, definition in candidates.items()}
    referred = {name: dict.fromkeys(list_references(schema)) for name, schema in bundle.definitions.items()}
    reachable = find_reachable(validators.values(), referred.__getitem__)
    gaps = {
        name: {
            at: gap
            for pattern, at in list_patterns(bundle.definitions[name], bundle.origins[name])
            if (gap := translate_pattern(pattern).gap)
        }
        for name in reachable
    }

    def find_unchecked_types(name: str) -> Mapping[str, str]:
        reachable_types = find_reachable(
            [name],
            lambda reference: types_of(protocol.definitions[reference]) if reference in protocol.definitions else (),
        )
        beyond = find_reachable([validators[name]], referred.__getitem__).keys() - (reachable_types.keys() - {name})
        return {
            at: gap for target in reachable if target in {validators[name], *beyond} for at, gap in gaps[target].items()
        }

    doubtful = find_sources([name for name, places in gaps.items() if places], referred)
    return {
        name: places for name in candidates if validators[name] in doubtful and (places := find_unchecked_types(name))
    }


def _find_judging(definition: ir.Definition, bundle: Bundle) -> str:
    """The definition in the bundle against which values of a definition are validated; for a synthesised record, that of its union."""
    if definition.name in bundle.definitions:
        return definition.name
    alike = [name for name, at in bundle.origins.items() if at == definition.at]
    return next((name for name in alike if definition.name in (f"{name}Object", f"Unknown{name}")), alike[0])


def describe_gaps(label: str, gaps_by_name: Gaps) -> tuple[str, ...]:
    """Lines of text: the number of unenforced patterns, and the place and the reason of the first ones."""
    every = {place: gap for places in gaps_by_name.values() for place, gap in places.items()}
    if not every:
        return ()
    head = (
        f"{label}: no validator here enforces {count_noun(len(every), 'pattern')} of {count_noun(len(gaps_by_name), 'definition')}; "
        f"the package lists every place in UNENFORCED."
    )
    lines = [f"  {place}: {gap}" for place, gap in [*every.items()][:FEW]]
    count = len(every) - FEW
    return (head, *lines, *([f"  and {count_noun(count, 'more pattern')}"] if count > 0 else []))
