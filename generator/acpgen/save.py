"""Writes the files that people edit: all are prepared beside their places before the first takes its place."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterable, Mapping
from pathlib import Path

from acpgen.errors import Faults, Unwritable
from acpgen.schema.load import place


def save(folder: Path, written: Mapping[str, str], removed: Iterable[str] = ()) -> None:
    """Write and remove files of a folder. Each is there whole or as it was; a failure puts back what was done. Raises `Faults`.

    A path that is absolute is taken as it is. Files whose names begin with a dot are written last: killed between two files, the base
    of an adoption still is the old one, and adopting again does the rest.
    """
    paths = sorted(written, key=lambda path: (path.startswith("."), path))
    old = {path: _content(folder / path) for path in (*paths, *removed)}
    done: list[str] = []
    at = folder
    try:
        for path in paths:
            at = folder / path
            at.parent.mkdir(parents=True, exist_ok=True)
            _create(_beside(at), written[path].encode(), like=at)
        for path in removed:
            at = folder / path
            done.append(path)
            at.unlink()
        for path in paths:
            at = folder / path
            done.append(path)
            os.replace(_beside(at), at)
    except OSError as error:
        for path in reversed(done):
            with contextlib.suppress(OSError):
                _put_back(folder / path, old[path])
        raise Faults([Unwritable(at=place(at), reason=str(error.strerror))]) from None
    finally:
        for path in paths:
            with contextlib.suppress(OSError):
                _beside(folder / path).unlink(missing_ok=True)


def _beside(path: Path) -> Path:
    return path.with_name(f".{path.name}.acpgen-new")


def _content(path: Path) -> bytes | None:
    try:
        return path.read_bytes()
    except FileNotFoundError:
        return None
    except OSError as error:
        raise Faults([Unwritable(at=place(path), reason=str(error.strerror))]) from None


def _create(path: Path, content: bytes, like: Path) -> None:
    with path.open("wb") as file:
        with contextlib.suppress(OSError):
            os.fchmod(file.fileno(), like.stat().st_mode & 0o777)
        file.write(content)
        file.flush()
        os.fsync(file.fileno())


def _put_back(path: Path, content: bytes | None) -> None:
    if content is None:
        path.unlink(missing_ok=True)
    else:
        path.write_bytes(content)
