"""Published schemas and test suites for the tests: which are pinned, where they are, and the command that downloads them.

    python tests/evidence.py

downloads the packages that `evidence.toml` pins to `tests/.evidence/`. pip and npm fetch them from their configured registries, and
every archive must have the pinned hash. An archive that is already present is not fetched again.
"""

from __future__ import annotations

import base64
import hashlib
import importlib.util
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
import tomllib
import zipfile
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path, PurePath
from typing import Final, Literal, NoReturn

import pytest

from javascript import Unreachable, npm

TESTS: Final = Path(__file__).resolve().parent
PINS: Final = TESTS / "evidence.toml"
FOLDER: Final = TESTS / ".evidence"
SHARED: Final = TESTS.parents[1] / "shared"
COMMAND: Final = "python tests/evidence.py"


@dataclass(frozen=True)
class Package:
    """A package of a registry, and the names of its files here. The name of a folder ends in a slash."""

    registry: Literal["npm", "pypi"]
    name: str
    version: str
    integrity: str
    files: Mapping[str, str]

    def __str__(self) -> str:
        return f"{self.name} {self.version}"


@dataclass(frozen=True)
class Pins:
    """The pinned packages, and the files that no package contains, with the reason."""

    packages: tuple[Package, ...]
    apart: Mapping[str, str]

    def brings(self, name: str) -> bool:
        """Whether a package contains a file or folder of this name."""
        return any(
            name == there or (there.endswith("/") and f"{name}/".startswith(there))
            for package in self.packages
            for there in package.files.values()
        )


@cache
def pins(file: Path = PINS) -> Pins:
    """The contents of `evidence.toml`."""
    text = tomllib.loads(file.read_text("utf-8"))
    return Pins(
        tuple(Package(**package) for package in text["package"]), {row["path"]: row["reason"] for row in text["apart"]}
    )


# --- for tests -------------------------------------------------------------------------------------------------------


def places() -> tuple[Path, ...]:
    """The folders of evidence, in the order of the search: downloaded files before those that no package contains."""
    return FOLDER / "files", SHARED / "data", SHARED


def path(name: str) -> Path:
    """The path of a file or folder, whether it exists or not."""
    found = [place / name for place in places()]
    return next((each for each in found if each.exists()), found[0])


def known(*patterns: str) -> list[str]:
    """The names of files that are pinned or present, in order. A test that iterates over them needs each."""
    pinned = {there for package in pins().packages for there in package.files.values()}
    at_hand = {
        each.relative_to(place).as_posix()
        for place in places()[:2]
        for pattern in patterns
        for each in place.glob(pattern)
    }
    return sorted(at_hand | {name for name in pinned for pattern in patterns if PurePath(name).match(pattern)})


def need(*names: str) -> None:
    """Skip the test if one of these is missing; in CI, where all packages have been downloaded, fail it."""
    for name in names:
        if not path(name).exists():
            _missing(name)


def _missing(name: str) -> NoReturn:
    reason = pins().apart.get(name)
    if reason is not None:
        pytest.skip(f"no package contains {name}: {reason}")
    assert pins().brings(name), f"{name} is not in {PINS.name}"
    lack(f"{name} is missing; run: {COMMAND}")


def lack(reason: str) -> NoReturn:
    """Skip a test whose published files are missing, or fail it in CI."""
    if os.environ.get("CI"):
        pytest.fail(reason, pytrace=False)
    pytest.skip(reason)


# --- the command -----------------------------------------------------------------------------------------------------


class Fault(Exception):
    """Why a package could not be downloaded, in one line."""


Fetch = Callable[[Package, Path], None]
"""Put the archive of a package into an empty folder."""


def main() -> int:
    """Download everything, and print every fault."""
    faults = list(bring(pins().packages, FOLDER))
    for fault in faults:
        print(f"evidence: {fault}", file=sys.stderr)
    return 1 if faults else 0


def bring(packages: tuple[Package, ...], folder: Path, fetch: Fetch | None = None) -> Iterator[Fault]:
    """Fetch the missing archives, then unpack the files that tests read, all or none."""
    archives, files, fresh = folder / "archives", folder / "files", folder / "files.new"
    archives.mkdir(parents=True, exist_ok=True)
    shutil.rmtree(fresh, ignore_errors=True)
    sound = True
    for package in packages:
        try:
            unpack(package, held(package, archives, fetch or FETCH[package.registry]), fresh)
        except Fault as fault:
            sound = False
            yield fault
    if sound:
        shutil.rmtree(files, ignore_errors=True)
        fresh.rename(files)
    shutil.rmtree(fresh, ignore_errors=True)


def held(package: Package, archives: Path, fetch: Fetch) -> Path:
    """The archive of a package, with the pinned hash."""
    archive = archives / f"{package.registry}-{package.name.replace('/', '-')}-{package.version}"
    if not archive.exists() or digest(archive, package.integrity) != package.integrity:
        with tempfile.TemporaryDirectory(dir=archives) as made:
            fetch(package, Path(made))
            (fetched,) = Path(made).iterdir()
            found = digest(fetched, package.integrity)
            if found != package.integrity:
                raise Fault(f"{package} has the hash {found}, but {PINS.name} pins {package.integrity}")
            fetched.replace(archive)
    return archive


def digest(file: Path, like: str) -> str:
    """The hash of a file, in the format of the registry: base 64 for npm, base 16 for PyPI."""
    name = "sha512" if like.startswith("sha512") else "sha256"
    found = hashlib.new(name, file.read_bytes())
    base64_ = base64.b64encode(found.digest()).decode()
    return f"{name}:{found.hexdigest()}" if ":" in like else f"{name}-{base64_}"


def unpack(package: Package, archive: Path, folder: Path) -> None:
    """Write the files of an archive that the tests read."""
    left = dict(package.files)
    for member, content in members(archive):
        for there, here in package.files.items():
            if member == there or (there.endswith("/") and member.startswith(there)):
                file = folder / f"{here}{member.removeprefix(there)}"
                file.parent.mkdir(parents=True, exist_ok=True)
                file.write_bytes(content)
                left.pop(there, None)
    if left:
        raise Fault(f"{package} has no {', '.join(left)}")


def members(archive: Path) -> Iterator[tuple[str, bytes]]:
    """The files of a tar or zip archive. No name leads out of the archive."""
    if zipfile.is_zipfile(archive):
        with zipfile.ZipFile(archive) as zipped:
            for name in zipped.namelist():
                if not name.endswith("/"):
                    yield inside(name), zipped.read(name)
        return
    with tarfile.open(archive) as tarred:
        for member in tarred:
            content = tarred.extractfile(member) if member.isfile() else None
            if content is not None:
                yield inside(member.name), content.read()


def inside(name: str) -> str:
    """The name of a member, which must not lead out of its archive."""
    if name.startswith("/") or ".." in name.split("/"):
        raise Fault(f"an archive has the member {name!r}, which leads out of it")
    return name


def from_npm(package: Package, into: Path) -> None:
    """Fetch the archive, and run nothing in it."""
    try:
        program = npm()
    except Unreachable as reason:
        raise Fault(f"{package} is on npm, and {reason}: install Node.js, or pyright[nodejs] for this Python") from None
    call(package, [*program, "pack", "--loglevel=error", "--ignore-scripts", f"{package.name}@{package.version}"], into)


def from_pypi(package: Package, into: Path) -> None:
    """pip takes the file with the pinned hash, whatever other files the version has."""
    found = shutil.which("pip") or shutil.which("pip3")
    pip = [sys.executable, "-m", "pip"] if importlib.util.find_spec("pip") else [found] if found else None
    if pip is None:
        raise Fault(f"{package} is on PyPI, and pip is missing: install pip for this Python")
    with tempfile.TemporaryDirectory() as made:
        wanted = Path(made) / "requirements.txt"
        wanted.write_text(f"{package.name}=={package.version} --hash={package.integrity}\n", "utf-8")
        download = ("download", "--quiet", "--no-deps", "--require-hashes", "--requirement", str(wanted))
        call(package, [*pip, *download, "--dest", str(into)], into)


FETCH: Final[Mapping[str, Fetch]] = {"npm": from_npm, "pypi": from_pypi}


def call(package: Package, command: list[str], folder: Path) -> None:
    """Run a registry client in a folder; its output is used only if it fails."""
    try:
        ran = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False, timeout=600)
    except subprocess.TimeoutExpired:
        raise Fault(f"{package} was not fetched within ten minutes; check the connection to the registry") from None
    if ran.returncode != 0 or len(list(folder.iterdir())) != 1:
        said = [line for line in f"{ran.stdout}\n{ran.stderr}".splitlines() if "ERR" in line.upper()] or [ran.stderr]
        raise Fault(
            f"{package} was not fetched: {said[0].strip() or 'no reason given'}; check the connection to the registry"
        )


if __name__ == "__main__":
    sys.exit(main())
