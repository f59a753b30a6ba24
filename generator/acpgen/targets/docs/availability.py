"""How old things are, as far as somebody has_message: texts that name a release, by the thing they are about."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final, Literal, TypeAlias

from acpgen.diagnostics.markup import Markdown, prose

Kind: TypeAlias = Literal["field", "variant", "value"]

Member: TypeAlias = tuple[str, Kind, str]
"""A definition, and its field, the tag of its variant, or its value."""


@dataclass(frozen=True, slots=True)
class Availability:
    """Since which schema release there are methods, types and members of types.

    A text is one of `1.21.0 (0.13.5 lacks it)`, `0.4.0 or earlier`, `in schema releases up to 0.4.1` and `not in a schema release yet`.
    """

    methods: Mapping[str, str] = field(default_factory=dict[str, str])
    types: Mapping[str, str] = field(default_factory=dict[str, str])
    members: Mapping[Member, str] = field(default_factory=dict[Member, str])

    def note(self, definition: str, kind: Kind, name: str) -> Markdown:
        """What is to be said of a member: nothing where it is as old as its type."""
        said = self.members.get((definition, kind, name))
        if said is None or said == self.types.get(definition):
            return Markdown()
        text = since_phrase(said)
        return Markdown(f"{text[0].upper()}{text[1:]}.")


NO_AVAILABILITY: Final = Availability()


def since_phrase(said: str) -> Markdown:
    """An age as a phrase: `since schema release 1.21.0`, `not in a schema release yet`."""
    return prose(said if said.startswith(("not ", "in ")) else f"since schema release {said}")
