"""The earlier releases of a protocol as the compatibility check sees them.

What follows from releases alone does not change with the schema of today: it is kept, and made again when the code that makes it changes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Final, overload

from acpgen import material, provenance
from acpgen.compat.compare import Side, side
from acpgen.compat.history import recall
from acpgen.compat.history.comparisons import Comparisons
from acpgen.compat.protocol.revision import Revised
from acpgen.compat.sources import opened
from acpgen.errors import Fault, Faults
from acpgen.kept import NOTHING, Kept
from acpgen.material import Material
from acpgen.publish import outlines
from acpgen.publish.outlines import Outline
from acpgen.publish.versions import Version
from acpgen.schema.load import Documents

OUTLINING: Final = ("acpgen.compat.compare", "acpgen.publish.outlines")
"""The modules by which a release is read and its outline is made."""


class Past:
    """A release: its meaning, read when it is asked for, and its outline."""

    def __init__(self, release: material.Release, kept: Kept) -> None:
        self.version = release.version
        self.title = release.title or release.version
        self._release = release
        self._kept = kept

    @property
    def documents(self) -> Documents:
        """Its files."""
        return self._release.documents

    @property
    def content(self) -> tuple[str, ...]:
        """What the release is made of."""
        documents = self._release.documents
        return documents.name, *(part for each in documents.documents for part in (each.path, each.text))

    @cached_property
    def side(self) -> Side:
        """The release as a side of comparisons. Raises `Faults`."""
        return side(opened(self._release.documents), unstable=False)

    @property
    def revised(self) -> Revised:
        """What the release means. Raises `Faults`."""
        return self.side.meaning

    @cached_property
    def outline(self) -> Outline:
        """The names that the release has. Raises `Faults`."""
        code = provenance.code(*OUTLINING)
        made = self._kept.once(code, "outline", self.content, lambda: outlines.as_data(outlines.outline(self.revised)))
        return outlines.from_data(made)


class _Sides(Sequence[Side]):
    """Releases as sides of comparisons, each read when it is asked for."""

    def __init__(self, releases: Sequence[Past]) -> None:
        self._releases = releases

    @overload
    def __getitem__(self, index: int) -> Side: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Side]: ...
    def __getitem__(self, index: int | slice) -> Side | Sequence[Side]:
        return _Sides(self._releases[index]) if isinstance(index, slice) else self._releases[index].side

    def __len__(self) -> int:
        return len(self._releases)


@dataclass(frozen=True, slots=True)
class History:
    """The releases of a protocol that are kept, oldest first, and the comparisons between them."""

    about: str
    releases: tuple[Past, ...]
    comparisons: Comparisons = field(repr=False)
    kept: Kept = field(repr=False)

    def once(self, kind: str, modules: Sequence[str], parts: Sequence[str], make: Callable[[], str]) -> str:
        """A text that the code of `modules` makes of the releases and of `parts`."""
        code = provenance.code(*modules)
        content = [part for release in self.releases for part in (release.title, *release.content, "")]
        return str(self.kept.once(code, kind, (*parts, "", *content), make))


def histories(versions: Sequence[Version], beside: Material, kept: Kept = NOTHING) -> Mapping[str, History]:
    """The history of each protocol of which releases are kept, and of each family whose versions are. Raises `Faults`."""
    found: dict[str, History] = {}
    faults: list[Fault] = []
    for name in dict.fromkeys(name for version in versions for name in (version.protocol.name, version.family)):
        given = beside.releases.get(name)
        if given is None or not given.releases:
            continue
        past = tuple(Past(release, kept) for release in given.releases)
        for each in past:
            try:
                each.outline  # noqa: B018 - whoever has it has read the release
            except Faults as caught:
                faults.extend(caught.faults)
        sides = _Sides(past)
        found[name] = History(
            given.about, past, Comparisons(sides, recall.Remembered(sides, [each.content for each in past], kept)), kept
        )
    if faults:
        raise Faults(faults)
    return found
