"""What the check says: findings before they are placed in files, the plain relation of all messages, and what was compared."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from acpgen.compat.findings import Coverage, Effect, Inclusion, Revision, Witness, opposite

if TYPE_CHECKING:
    from acpgen.compat.findings import Severity


@dataclass(frozen=True, slots=True)
class Judged:
    """A finding before it is placed in files: `old_at` and `new_at` are `file#/pointer` of the sources.

    `refuses` are the revisions that refuse what the other sends, `doubtful` those of which that could not be told. `sender` is the
    revision whose messages suffer, as far as the rule says. `declaration` is what people call the thing that changed, `cause` tells it
    from all others, and `said` is what its rule says of it: where several messages hold it, these are the same. `is_cut_off` says that
    the budget was spent before it was decided.
    """

    rule: str
    severity: Severity
    effect: Effect
    method: str | None
    flow: str
    location: str
    old_at: str
    new_at: str
    message: str
    advice: str
    breaks: str
    subject: str | None
    witness: Witness | None
    declaration: str
    cause: tuple[str | None, ...]
    said: str
    refuses: tuple[Revision, ...] = ()
    doubtful: tuple[Revision, ...] = ()
    sender: Revision | None = None
    is_cut_off: bool = False

    @property
    def breaks_for(self) -> tuple[Revision, ...]:
        """The revisions that refuse what the other sends, or that it breaks because a name has lost its meaning."""
        if self.severity != "breaking" or self.effect != "lost":
            return self.refuses
        lost: tuple[Revision, ...] = ("old", "new") if self.sender is None else (opposite(self.sender),)
        return tuple(dict.fromkeys((*self.refuses, *lost)))

    @property
    def about(self) -> list[str | None]:
        """What tells this finding from others, so that edits elsewhere change nothing of it, and what becomes worse is another one."""
        return [self.severity, self.rule, self.method, self.flow, self.location, self.subject]


@dataclass(frozen=True, slots=True)
class Checked:
    """Everything that the rules have to say, in no order that matters, and the plain relation of all messages, method by method."""

    judged: tuple[Judged, ...]
    language: Inclusion
    coverage: Coverage
