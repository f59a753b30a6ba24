"""The one table from what a change does, to whom and behind which gate, to how bad that is on the wire."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, Literal, TypeAlias

from acpgen.compat.findings import Effect, Severity

Weight: TypeAlias = Literal[
    "refused", "unknown", "taken", "otherwise", "lost", "claimed", "added", "renamed", "reworded", "undetermined"
]
"""What a change does to messages, finer than the effect that is reported:

refused: a value that one side sends is refused by the other ·
unknown: a strict receiver of a closed shape refuses a name that it does not know ·
taken: a name that peers may use for extensions as they like has one form on the other side ·
otherwise: nothing is refused, and something is read differently ·
lost: a name stops carrying its meaning ·
claimed: a name that was free has a meaning now ·
added: something new that disturbs nobody ·
renamed, reworded: no message can notice ·
undetermined: neither proven nor refuted.
"""

Gate: TypeAlias = Literal["none", "fresh", "known"]
"""fresh: behind a capability that no old peer can advertise, so no old peer is sent it. known: an old peer may advertise it."""

Flow: TypeAlias = Literal["to-handler", "to-caller", "both", "nobody"]
"""Who is sent it: the side that handles the method (params), the one that calls it (results), either, or nobody: no method leads there."""

EFFECTS: Final[Mapping[Weight, Effect]] = {
    "refused": "refused",
    "unknown": "refused",
    "taken": "refused",
    "otherwise": "lost",
    "lost": "lost",
    "claimed": "claimed",
    "added": "added",
    "renamed": "renamed",
    "reworded": "reworded",
    "undetermined": "refused",
}

_ON_THE_WIRE: Final[Mapping[tuple[Weight, Gate], Severity]] = {
    ("refused", "none"): "breaking",
    ("refused", "known"): "breaking",
    ("refused", "fresh"): "breaking",  # what is refused without being new cannot be held back by a gate
    ("unknown", "none"): "risky",
    ("unknown", "known"): "risky",
    ("unknown", "fresh"): "additive",
    ("taken", "none"): "risky",
    ("taken", "known"): "risky",
    ("taken", "fresh"): "risky",  # who has not heard of the name does not ask for its gate
    ("otherwise", "none"): "risky",
    ("otherwise", "known"): "risky",
    ("otherwise", "fresh"): "additive",
    ("lost", "none"): "breaking",
    ("lost", "known"): "breaking",
    ("lost", "fresh"): "breaking",
    ("claimed", "none"): "additive",
    ("claimed", "known"): "additive",
    ("claimed", "fresh"): "additive",
    ("added", "none"): "additive",
    ("added", "known"): "additive",
    ("added", "fresh"): "additive",
    ("renamed", "none"): "editorial",
    ("renamed", "known"): "editorial",
    ("renamed", "fresh"): "editorial",
    ("reworded", "none"): "editorial",
    ("reworded", "known"): "editorial",
    ("reworded", "fresh"): "editorial",
    ("undetermined", "none"): "undecided",
    ("undetermined", "known"): "undecided",
    ("undetermined", "fresh"): "undecided",
}

SEVERITY: Final[Mapping[tuple[Weight, Flow, Gate], Severity]] = {
    (weight, flow, gate): "editorial" if flow == "nobody" else severity
    for (weight, gate), severity in _ON_THE_WIRE.items()
    for flow in ("to-handler", "to-caller", "both", "nobody")
}
"""Both exchanges are always asked, an old sender with a new receiver and a new sender with an old one, so the flow decides only who
breaks; what nobody is sent breaks nobody."""
