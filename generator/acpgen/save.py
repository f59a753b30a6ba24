"""Writes the files that people edit: all are prepared beside their places before the first takes its place."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterable, Mapping
from pathlib import Path

from acpgen.errors import Faults, Unwritable
from acpgen.input.load import place


def save(folder: Path, written: Mapping[str, str], removed: Iterable[str] = ()) -> None:
    """Write and remove files of a folder. Each is there whole or as it was; a failure puts back what was done. Raises `Faults`.

    A path that is absolute is taken as it is. Files whose names begin with a dot are written last: killed between two files, the base
    of an adoption still is the old one, and adopting again does the rest. What a killed run left beside files is removed when the next
    one in these folders has succeeded.
    """
    paths = sorted(written, key=lambda path: (path.startswith("."), path))
    places = [folder / path for path in (*removed, *paths)]
    changed: list[Path] = []
    kept: list[Path] = []
    at = folder
    try:
        for path in paths:
            at = folder / path
            at.parent.mkdir(parents=True, exist_ok=True)
            _create(_beside(at, "new"), written[path].encode(), like=at)
        for at in places:
            _put_aside(at)
        for at in places:
            if _beside(at, "new").exists():
                os.replace(_beside(at, "new"), at)
            else:
                at.unlink()
            changed.append(at)
    except OSError as error:
        kept = [each for each in reversed(changed) if not _is_put_back(each)]
        left = tuple(place(_beside(each, "old")) for each in kept)
        raise Faults([Unwritable(at=place(at), reason=str(error.strerror), left=left)]) from None
    finally:
        for each in places:
            for beside in (_beside(each, "new"), *([] if each in kept else [_beside(each, "old")])):
                with contextlib.suppress(OSError):
                    beside.unlink(missing_ok=True)
    for parent in {at.parent for at in places}:
        _tidy(parent)


def _tidy(folder: Path) -> None:
    """Remove what runs that were killed left beside the files of a folder."""
    with contextlib.suppress(OSError):
        for left in [*folder.glob(".*.acpgen-old"), *folder.glob(".*.acpgen-new")]:
            if left.is_file() and not left.is_symlink():
                left.unlink()


def _beside(path: Path, kind: str) -> Path:
    return path.with_name(f".{path.name}.acpgen-{kind}")


def _put_aside(path: Path) -> None:
    """Keep what stands at a place under another name, from which it comes back without room on the disk."""
    aside = _beside(path, "old")
    aside.unlink(missing_ok=True)
    if not os.path.lexists(path):
        return
    try:
        os.link(path, aside, follow_symlinks=False)
    except OSError:  # a file system without links
        _create(aside, path.read_bytes(), like=path)


def _create(path: Path, content: bytes, like: Path) -> None:
    with path.open("wb") as file:
        with contextlib.suppress(OSError):
            os.fchmod(file.fileno(), like.stat().st_mode & 0o777)
        file.write(content)
        file.flush()
        os.fsync(file.fileno())


def _is_put_back(path: Path) -> bool:
    """Put back what stood at a place, or nothing if nothing did; whether that could be done."""
    aside = _beside(path, "old")
    try:
        if os.path.lexists(aside):
            os.replace(aside, path)
        else:
            path.unlink(missing_ok=True)
    except OSError:
        return False
    return True
