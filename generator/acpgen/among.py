"""Writing files among those of others. Each is put in place in one step; all of them stand, or those that stood before.

Where a kill leaves some new and some old, the next run finishes: the manifest names them all before the first one changes.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Generator, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Placing:
    """What a folder is to gain and to lose. `first` and `last` are the manifest before anything else changes, and after.

    `listed` are the files that `first` names: all that this run or an earlier one may have put something beside.
    """

    folder: Path
    manifest: str
    first: str
    last: str
    written: Mapping[str, str]
    removed: tuple[str, ...]
    listed: tuple[str, ...]


def is_behind_link(folder: Path, path: str) -> bool:
    """Whether something that is no folder stands on the way from a folder to a file in it."""
    steps = path.split("/")[:-1]
    ways = [folder.joinpath(*steps[: length + 1]) for length in range(len(steps))]
    return any(os.path.lexists(way) and (way.is_symlink() or not way.is_dir()) for way in ways)


@contextlib.contextmanager
def placed(placings: Iterable[Placing]) -> Generator[None]:
    """The files in their places; those that were there come back where this or the block fails. Raises `OSError`."""
    placings = tuple(placings)
    with contextlib.ExitStack() as staged, contextlib.ExitStack() as undo:
        for placing in placings:
            _stage(placing, staged)
        for placing in placings:
            _swap(placing, undo)
        yield
        undo.pop_all()
        for placing in placings:
            _finish(placing)


def _stage(placing: Placing, staged: contextlib.ExitStack) -> None:
    """Write every new file beside its place, and bring it to the disk."""
    placing.folder.mkdir(parents=True, exist_ok=True)
    texts = {**placing.written, placing.manifest: placing.first}
    for path, text in texts.items():
        beside = _beside(placing.folder / path, "new")
        beside.parent.mkdir(parents=True, exist_ok=True)
        _write(beside, text)
        staged.callback(beside.unlink, missing_ok=True)


def _swap(placing: Placing, undo: contextlib.ExitStack) -> None:
    for path in (placing.manifest, *placing.written):
        place = placing.folder / path
        _put_aside(place, undo)
        os.replace(_beside(place, "new"), place)
    for path in placing.removed:
        _put_aside(placing.folder / path, undo)
        (placing.folder / path).unlink(missing_ok=True)


def _put_aside(place: Path, undo: contextlib.ExitStack) -> None:
    """Keep what stands at a place, to come back if something fails."""
    aside = _beside(place, "old")
    aside.unlink(missing_ok=True)
    if os.path.lexists(place):
        os.link(place, aside, follow_symlinks=False)
        undo.callback(_put_back, aside, place)
    else:
        undo.callback(place.unlink, missing_ok=True)


def _put_back(aside: Path, place: Path) -> None:
    os.replace(aside, place)
    aside.unlink(missing_ok=True)  # where both are one file, replacing does nothing


def _finish(placing: Placing) -> None:
    """Drop what was put aside, by this run or one that was killed, and folders that are empty now.

    The manifest says what stands only when all of it is gone: until then the next run has something to finish.
    """
    for path in placing.listed:
        if is_behind_link(placing.folder, path):
            continue
        for kind in ("old", "new"):
            _beside(placing.folder / path, kind).unlink(missing_ok=True)
    for path in placing.removed:
        for parent in (placing.folder / path).relative_to(placing.folder).parents[:-1]:
            with contextlib.suppress(OSError):
                (placing.folder / parent).rmdir()
    manifest = placing.folder / placing.manifest
    _beside(manifest, "old").unlink(missing_ok=True)
    _write(_beside(manifest, "new"), placing.last)
    os.replace(_beside(manifest, "new"), manifest)


def _write(path: Path, text: str) -> None:
    path.unlink(missing_ok=True)
    with path.open("xb") as file:
        file.write(text.encode())
        file.flush()
        os.fsync(file.fileno())


def _beside(path: Path, kind: str) -> Path:
    return path.with_name(f".{path.name}.acpgen-{kind}")
