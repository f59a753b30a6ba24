"""Where a change is declared, and what a finding about it is about."""

from __future__ import annotations

from acpgen.compat.changes import ChangePlaces
from acpgen.compat.diff.pairs import Home, PlacedChange
from acpgen.compat.protocol.check.inquiry import Inquiry
from acpgen.compat.protocol.check.located import path_of, within_of
from acpgen.compat.protocol.check.routes import Joined
from acpgen.compat.protocol.check.rulings import Cause
from acpgen.compat.protocol.covered import closure
from acpgen.compat.protocol.revision import fields_on


def places_of(on: Inquiry, found: PlacedChange) -> ChangePlaces:
    """Where a change stands on both sides: where nothing nearer has a place, in the declaration around it."""
    old, new = (found.home or Home(found.pair)).names
    one, other = _declaring(on, found)
    return {
        "old_at": one or on.old.bundle.origins.get(old or "", ""),
        "new_at": other or on.new.bundle.origins.get(new or "", ""),
    }


def _declaring(on: Inquiry, found: PlacedChange) -> tuple[str, str]:
    """The places of a change. Where one side has it in a base that the record refers to, and the other side has nothing nearer than the
    record, the place of the other side is its base.
    """
    at = [found.old_at, found.new_at]
    sides = on.old, on.new
    for number, holder in enumerate((found.home or Home(found.pair)).names):
        base, _ = sides[1 - number].owner(at[1 - number], declared=True)
        side = sides[number]
        is_whole = holder is not None and at[number] == side.bundle.origins.get(holder)
        if is_whole and base != holder and base in side.bundle.origins and base in closure(side, [str(holder)]):
            at[number] = side.bundle.origins[base]
    return at[0], at[1]


def cause_of(on: Inquiry, found: PlacedChange, joined: Joined, location: str, within: str, said: str) -> Cause:
    """What a change is about, told by the nearest declarations around it: those are the same in whatever message they stand."""
    home, named = found.home or Home(found.pair), found.named or Home(found.pair)
    one, other = _declaring(on, found)
    places = (on.old, one), (on.new, other)
    is_placed = bool(found.change.old_at or found.change.new_at)
    nearest = next((n for n, step in reversed(list(enumerate(found.steps, 1))) if step.old_at or step.new_at), 0)
    at_home = nearest <= home.depth and not is_placed
    if nearest and found.steps[nearest - 1].kind == "value":
        nearest -= 1  # what stands there is the record, not its member
    below = path_of(found.steps[len(found.steps) if is_placed else max(nearest, home.depth) :])
    owners = home.names if at_home else tuple("".join(side.owner(at)) for side, at in places)
    key = (*owners, within_of(below, within))
    declared = [side.owner(at, declared=True) for side, at in reversed(places) if at]
    is_own = at_home or not declared or bool({name for name, _ in declared} & {*named.names, ""})
    if joined.new[0].part == "document" and named.depth == 0 and is_own:
        return Cause(within_of(location, within), key, said)
    if is_own and (None not in named.names or not any(rest for _, rest in declared)):
        label = (named.names[1] or named.names[0] or "") + path_of(found.steps[named.depth :])
    else:
        name, rest = max(declared, key=lambda each: len(each[1]))
        label = name + fields_on(rest) + below
    return Cause(label if within and label.endswith(f".{within}") else within_of(label, within), key, said)
