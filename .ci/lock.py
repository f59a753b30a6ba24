"""What a distribution needs, in the rows of `requirements-ci.txt`: the versions that the tests ran with, and the hashes of their files.

    python .ci/lock.py [--check]

writes `.github/actions/requirements.txt`, the part of the lock that the actions install before acpgen; `--check` exits with 1 where it
is not so. Needs `packaging`, and reads metadata of what is installed. It fetches nothing.
"""

from __future__ import annotations

import re
import sys
import tomllib
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from importlib import metadata
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).resolve().parents[1]
LOCK = ROOT / "requirements-ci.txt"
OF_ACTIONS = ROOT / ".github" / "actions" / "requirements.txt"

_ROW = re.compile(r"^(?P<name>[\w.-]+)==(?P<version>[^\s;]+)(?:[^\n]*\\\n)*[^\n]*\n", re.MULTILINE)
_HASH = re.compile(r"--hash=sha256:([0-9a-f]{64})")


@dataclass(frozen=True)
class Row:
    """A row of the lock: its version, the hashes of the files that it admits, and the text."""

    version: str
    hashes: tuple[str, ...] = ()
    text: str = ""


@dataclass
class Needs:
    """Distributions with what each needs. `own` are the requirements of those that are made here; of others, what is installed says it.
    `anywhere` takes what any system needs, and not only this one.
    """

    own: Mapping[str, Iterable[str]] = field(default_factory=dict)
    anywhere: bool = False
    edges: dict[str, set[str]] = field(default_factory=dict)
    _extras: dict[str, set[str]] = field(default_factory=dict)

    def add(self, lines: Iterable[str], extras: Collection[str] = ()) -> set[str]:
        """The names that requirements of a distribution ask for with these extras; all that follows is in `edges` then."""
        found: set[str] = set()
        for requirement in map(Requirement, lines):
            name = canonicalize_name(requirement.name)
            if not self._applies(requirement, extras):
                continue
            found.add(name)
            if name not in self.edges or not requirement.extras <= self._extras[name]:
                known = self._extras.setdefault(name, set())
                known |= requirement.extras
                self.edges.setdefault(name, set())
                self.edges[name] = self.add(self._lines(name), sorted(known))
        return found

    def _applies(self, requirement: Requirement, extras: Collection[str]) -> bool:
        marker = requirement.marker
        if marker is None:
            return True
        if self.anywhere and "extra" not in str(marker):
            return True
        return any(marker.evaluate({"extra": extra}) for extra in ("", *extras))

    def _lines(self, name: str) -> Iterable[str]:
        if name in self.own:
            return self.own[name]
        try:
            return metadata.requires(name) or ()
        except metadata.PackageNotFoundError:
            if self.anywhere:
                return ()
            raise SystemExit(
                f"{name} is not installed, so what it needs is unknown. Install requirements-ci.txt."
            ) from None


def rows(lock: Path = LOCK) -> Mapping[str, Row]:
    """The rows of a lock by name."""
    return {
        canonicalize_name(found["name"]): Row(found["version"], tuple(_HASH.findall(found[0])), found[0])
        for found in _ROW.finditer(lock.read_text("utf-8"))
    }


def of_actions() -> Iterator[str]:
    """The rows that acpgen needs on any system, to run and to be built."""
    needs, known = Needs(anywhere=True), rows()
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    needs.add([*project["project"]["dependencies"], *project["build-system"]["requires"]])
    return (known[name].text for name in sorted(needs.edges) if name in known)


def main() -> None:
    """Write the file, or say that it is not as it must be."""
    text = "".join(of_actions())
    if "--check" not in sys.argv[1:]:
        OF_ACTIONS.write_text(text, "utf-8")
    elif not OF_ACTIONS.is_file() or OF_ACTIONS.read_text("utf-8") != text:
        sys.exit(f"{OF_ACTIONS.relative_to(ROOT)} is not what acpgen needs of the lock. Run python .ci/lock.py.")


if __name__ == "__main__":
    main()
