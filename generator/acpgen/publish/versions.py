"""Protocol versions whose docs are made together, and their order of succession."""

from __future__ import annotations

import posixpath
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from acpgen import ir
from acpgen.bundle.bundle import Bundle
from acpgen.publish.pages import INDEX
from acpgen.targets.interface import Settings


@dataclass(frozen=True, slots=True, eq=False)
class Version:
    """A protocol version whose docs are to be made.

    `at` converts a place in its files to one that users can open; `extends` is the name of the version that it extends, empty if there
    is none. Compared by identity: Python considers schemas equal if one has `1` where the other has `true`.
    """

    protocol: ir.Protocol
    bundle: Bundle
    settings: Settings
    at: Callable[[str], str] = str
    extends: str = ""

    @property
    def last(self) -> str:
        """The part of the name that distinguishes it from other versions: `v1` of `acp/v1`."""
        return self.protocol.name.rpartition("/")[2]

    @property
    def family(self) -> str:
        """The part of the name that all versions share: `acp` of `acp/v1`."""
        return self.protocol.name.rpartition("/")[0] or self.protocol.name

    def home(self) -> str:
        return self.path(INDEX)

    def beside(self, page: str) -> str:
        """The path of a page about all versions of the protocol, relative to the docs root."""
        return f"{self.family}/{page}"

    def path(self, page: str) -> str:
        """The path of a page, or the address of a part of it, relative to the docs root."""
        return posixpath.normpath(posixpath.join(self.settings.prefix, page))


def find_extended(version: Version, versions: Sequence[Version]) -> Version | None:
    """The version that this one extends; `None` if it is not among `versions`."""
    return next((other for other in versions if version.extends and other.protocol.name == version.extends), None)


def find_successions(versions: Sequence[Version]) -> Iterator[tuple[Version, Version]]:
    """Yield each version with the next one of the same protocol, in the order given."""
    for index, old in enumerate(versions):
        new = next((other for other in versions[index + 1 :] if other.family == old.family), None)
        if new is not None:
            yield old, new
