"""Protocol versions whose docs are made together, and how they follow one another."""

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
    """One protocol version whose docs are to be made. `at` turns a place in its files into one that users can open; `extends` is the name
    of the version to whose files its own add, empty if there is none.

    It equals itself alone: to Python, schemas are equal in which one says 1 and the other `true`.
    """

    protocol: ir.Protocol
    bundle: Bundle
    settings: Settings
    at: Callable[[str], str] = str
    extends: str = ""

    @property
    def last(self) -> str:
        """What tells it from the other versions: `v1` of `acp/v1`."""
        return self.protocol.name.rpartition("/")[2]

    @property
    def family(self) -> str:
        """What its versions have in common: `acp` of `acp/v1`."""
        return self.protocol.name.rpartition("/")[0] or self.protocol.name

    def home(self) -> str:
        return self.path(INDEX)

    def beside(self, page: str) -> str:
        """A page about all versions of its protocol, as seen from the folder above."""
        return f"{self.family}/{page}"

    def path(self, page: str) -> str:
        """A page as seen from the folder above all versions, or the address of a part of one."""
        return posixpath.normpath(posixpath.join(self.settings.prefix, page))


def find_extended(version: Version, versions: Sequence[Version]) -> Version | None:
    """The version that one extends, if it is one of these."""
    return next((other for other in versions if version.extends and other.protocol.name == version.extends), None)


def find_successions(versions: Sequence[Version]) -> Iterator[tuple[Version, Version]]:
    """Versions of one protocol that follow one another, in the order given."""
    for index, old in enumerate(versions):
        new = next((other for other in versions[index + 1 :] if other.family == old.family), None)
        if new is not None:
            yield old, new
