"""The earlier releases of a protocol: what each changed, and the names that it has."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from acpgen.config import docs_inputs
from acpgen.config.docs_inputs import Material
from acpgen.errors import Fault, Faults
from acpgen.input.load import Documents
from acpgen.publish.release_verdicts import ReleaseVerdict, evaluate
from acpgen.publish.versions import Version


@dataclass(frozen=True, slots=True)
class Past:
    """A release: its names, the step from the release before it, and its date (`YYYY-MM-DD`), where it is known."""

    verdict: ReleaseVerdict
    release: docs_inputs.Release = field(repr=False)
    date: str = ""

    @property
    def title(self) -> str:
        return self.release.title or self.release.version

    @property
    def documents(self) -> Documents:
        """Its files, read now. Raises `Faults`."""
        return self.release.documents


@dataclass(frozen=True, slots=True)
class History:
    """The releases of a protocol that are kept, oldest first."""

    about: str
    releases: tuple[Past, ...]


def histories(versions: Sequence[Version], beside: Material) -> Mapping[str, History]:
    """The history of each protocol of which releases are kept, and of each family whose versions are. Raises `Faults`."""
    found: dict[str, History] = {}
    faults: list[Fault] = []
    for name in dict.fromkeys(name for version in versions for name in (version.protocol.name, version.family)):
        given = beside.releases.get(name)
        if given is None or not given.releases:
            continue
        try:
            known = evaluate(given)
        except Faults as caught:
            faults.extend(caught.faults)
            continue
        found[name] = History(
            given.about,
            tuple(
                Past(each, release, given.dates.get(release.version, ""))
                for each, release in zip(known, given.releases, strict=True)
            ),
        )
    if faults:
        raise Faults(faults)
    return found
