"""The earlier releases of a protocol as the compatibility check sees them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from acpgen.compat.compare import Side, side
from acpgen.compat.history.comparisons import Comparisons
from acpgen.compat.protocol.revision import Revised
from acpgen.compat.sources import opened
from acpgen.errors import Fault, Faults
from acpgen.material import Material
from acpgen.publish.versions import Version


@dataclass(frozen=True, slots=True)
class Past:
    """A release with its meaning. `names` are the definitions that it names itself."""

    version: str
    side: Side = field(repr=False)
    names: frozenset[str] = field(repr=False)

    @property
    def revised(self) -> Revised:
        return self.side.meaning


@dataclass(frozen=True, slots=True)
class History:
    """The releases of a protocol that are kept, oldest first, and the comparisons between them."""

    about: str
    releases: tuple[Past, ...]
    comparisons: Comparisons = field(repr=False)


def histories(versions: Sequence[Version], material: Material) -> Mapping[str, History]:
    """The history of each protocol of which releases are kept, and of each family whose versions are. Raises `Faults`."""
    found: dict[str, History] = {}
    faults: list[Fault] = []
    for name in dict.fromkeys(name for version in versions for name in (version.protocol.name, version.family)):
        kept = material.releases.get(name)
        if kept is None or not kept.releases:
            continue
        past: list[Past] = []
        for release in kept.releases:
            try:
                given = side(opened(release.documents), unstable=False)
            except Faults as caught:
                faults.extend(caught.faults)
                continue
            own = {each for each, at in given.meaning.bundle.origins.items() if is_own(each, at)}
            past.append(Past(release.version, given, frozenset(own)))
        found[name] = History(kept.about, tuple(past), Comparisons([each.side for each in past]))
    if faults:
        raise Faults(faults)
    return found


def is_own(name: str, at: str) -> bool:
    """Whether a definition stands in its file under the name that it has here; others are named by this project."""
    return at.partition("#")[2] in (f"/$defs/{name}", f"/definitions/{name}")
