"""Locations of recordings: local files and folders, or any store that `fsspec` supports, plain or compressed."""

from __future__ import annotations

import errno
import gzip
import io
import os
import re
import sys
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, BinaryIO, Final, cast

from acpgen.errors import Fault, Faults
from acpgen.input.faults import NOT_FOUND, UNREADABLE
from acpgen.messages import recording
from acpgen.messages.faults import INFLATED, NO_RECORDINGS
from acpgen.messages.recording import Line

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

ENDINGS: Final = (".jsonl", ".ndjson")
"""The endings of recordings in a folder, before the ending of a compression."""

COMPRESSED: Final = (".gz", ".zst")
"""The endings of compressed files."""

MOST_TIMES: Final = 200
"""The maximum ratio of decompressed to stored bytes. Recorded conversations reach 5 to 50."""

ALWAYS: Final = 16 << 20
"""The number of bytes that any compressed file may decompress to."""

_BUFFER: Final = 1 << 16
_URL: Final = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+://")
_PATTERN: Final = re.compile(r"[*?\[]")
_PIECE: Final = re.compile(r"(?P<stem>.+)\.(?P<number>[1-9][0-9]{0,8})")
_FIRST_LINE: Final = 1 << 20


@dataclass(frozen=True, slots=True)
class File:
    """A file of a recording: path or URL, stored size, and what distinguishes it from the same file with other content."""

    name: str
    size: int = 0
    version: str = ""


@dataclass(frozen=True, slots=True)
class Recording:
    """A recorded conversation: one file, or several in sequence after `acpgen tap --max-size` rotated them.

    `missing` are the indices of files before which earlier ones are gone.
    """

    files: tuple[File, ...]
    missing: tuple[int, ...] = ()

    @property
    def name(self) -> str:
        """The path or URL of its first file."""
        return self.files[0].name

    @property
    def size(self) -> int:
        """The number of stored bytes."""
        return sum(file.size for file in self.files)


@dataclass(frozen=True, slots=True)
class FoundRecordings:
    """The recordings that names lead to, and the number of other files in their folders."""

    recordings: tuple[Recording, ...]
    others: int = 0


def is_one(name: str) -> bool:
    """Whether a name means one file or standard input: no URL, no pattern, no folder."""
    return name == "-" or not (
        _URL.match(name) or os.path.isdir(name) or (_PATTERN.search(name) and not os.path.lexists(name))
    )


def find(names: Iterable[str]) -> FoundRecordings:
    """Find the recordings that names mean, in order and each once: files, folders with everything below, patterns such as
    `logs/**/*.jsonl`, URLs.

    Folders and patterns yield files with one of `ENDINGS`; a named file is taken whatever its ending. Raises `Faults` if a name leads
    nowhere or to no recording.
    """
    files: dict[str, File] = {}
    excluded_count, faults = 0, list[Fault]()
    for name in names:
        try:
            entries, is_listing = _list_recordings(name)
        except FileNotFoundError:
            faults.append(NOT_FOUND(at=name))
            continue
        except Exception as error:  # noqa: BLE001 - each store has errors of its own
            at = getattr(error, "filename", None)
            faults.append(UNREADABLE(at=_shorten(name, at) if at else name, reason=describe_reason(error)))
            continue
        selection = [file for file in entries if not is_listing or _find_ending(file.name) is not None]
        excluded_count += len(entries) - len(selection)
        if not selection:
            faults.append(NO_RECORDINGS(at=name))
        files.update((file.name, file) for file in selection)
    if faults:
        raise Faults(faults)
    return FoundRecordings(tuple(_join_files(files)), excluded_count)


def open_recording(name: str) -> io.BufferedReader:
    """Open a file, decompressed according to its ending. Raises the errors of the store and the decompression.

    Reading truncated compressed data raises `EOFError`; data beyond `MOST_TIMES` and `ALWAYS` raises `Faults`. Several compressed parts
    are one content.
    """
    system, path = _open_system(name)
    if not _URL.match(name) and not Path(path).is_file():
        raise OSError(errno.EINVAL, "this is not a regular file")
    stored = cast("BinaryIO", system.open(path, "rb"))
    if name.endswith(".gz"):
        return io.BufferedReader(_Decompressed(name, stored, gzip.GzipFile(fileobj=stored, mode="rb")), _BUFFER)
    if name.endswith(".zst"):
        return io.BufferedReader(_Decompressed(name, stored, zstd.ZstdFile(stored, "rb")), _BUFFER)
    return io.BufferedReader(_Plain(stored), _BUFFER)


def is_compressed(name: str) -> bool:
    """Whether a file is decompressed, by its name."""
    return name.endswith(COMPRESSED)


def read_lines(name: str) -> Iterator[Line]:
    """Yield the lines of a file. Raises `Faults` if it cannot be opened, or read any further."""
    try:
        with open_recording(name) as stream:
            yield from recording.read_lines(stream)
    except Faults:
        raise
    except Exception as error:  # noqa: BLE001 - each store has errors of its own
        raise Faults([UNREADABLE(at=name, reason=describe_reason(error))]) from None


def describe_reason(error: Exception) -> str:
    """An error of a store, as the end of a sentence."""
    if isinstance(error, ImportError):
        return f"a package is missing: {error}"
    strerror = getattr(error, "strerror", None)
    return str(strerror) if strerror else f"{type(error).__name__}: {error}" if str(error) else type(error).__name__


class _Plain(io.RawIOBase):
    """The bytes of a file as stored."""

    def __init__(self, stored: BinaryIO) -> None:
        self.stored = stored

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        content = self._read_next(len(buffer))
        buffer[: len(content)] = content
        return len(content)

    def close(self) -> None:
        self.stored.close()
        super().close()

    def _read_next(self, most: int) -> bytes:
        return self.stored.read(most)


class _Decompressed(_Plain):
    """The decompressed content of a file, up to a multiple of the bytes read from it."""

    def __init__(self, name: str, stored: BinaryIO, content: io.BufferedIOBase) -> None:
        super().__init__(stored)
        self.name, self.content = name, content
        self.size = 0

    def _read_next(self, most: int) -> bytes:
        content = self.content.read1(most)
        self.size += len(content)
        if self.size > max(ALWAYS, MOST_TIMES * self.stored.tell()):
            raise Faults([INFLATED(at=self.name, times=MOST_TIMES)])
        return content


def _list_recordings(name: str) -> tuple[list[File], bool]:
    """The files that a name means, and whether they were searched, not named."""
    system, path = _open_system(name)
    if _PATTERN.search(path) and not system.exists(path):
        rows = {at: row for at, row in system.glob(path, detail=True).items() if row["type"] != "directory"}
        if not rows:
            raise FileNotFoundError
        return _list_files(system, name, rows), True
    if system.isdir(path):
        return _list_files(system, name, system.find(path, detail=True)), True
    return _list_files(system, name, {path: system.info(path)}), False


def _list_files(system: Any, name: str, rows: Mapping[str, Mapping[str, Any]]) -> list[File]:
    """The rows of a store's listing, named like the given name: relative if it is, with its protocol if it has one."""
    files = list[File]()
    for path, row in sorted(rows.items()):
        version = next((str(row[key]) for key in ("ETag", "etag", "md5", "mtime", "last_modified") if row.get(key)), "")
        label = str(system.unstrip_protocol(path)) if _URL.match(name) else _shorten(name, path)
        files.append(File(label, int(row.get("size") or 0), version))
    return files


def _shorten(name: str, path: str) -> str:
    """An absolute local path in the form of `name`."""
    return path if Path(name).is_absolute() else os.path.relpath(path)


def _join_files(files: dict[str, File]) -> Iterator[Recording]:
    """Join files to recordings: `talk.1.jsonl` continues `talk.jsonl`, unless it begins a conversation itself.

    If the one before it is gone, since `--max-files` removes the oldest, something is missing.
    """
    numbered: dict[str, list[int]] = {}
    for name in files:
        first, number = _find_number(name)
        numbered.setdefault(first, []).append(number)
    for first, numbers in numbered.items():
        parts = list[tuple[int, File]]()
        for number in sorted(numbers):
            name = _find_name(first, number)
            if parts and (not number or _read_beginning(name)):
                yield _make_recording(parts)
                parts = []
            parts.append((number, files[name]))
        yield _make_recording(parts)


def _make_recording(parts: list[tuple[int, File]]) -> Recording:
    numbers = [number for number, _ in parts]
    gaps = [index for index in range(1, len(parts)) if numbers[index] != numbers[index - 1] + 1]
    is_cut = bool(numbers[0]) and not _read_beginning(parts[0][1].name)
    return Recording(tuple(file for _, file in parts), (*[0] * is_cut, *gaps))


def _find_number(name: str) -> tuple[str, int]:
    """The first file of the recording that a name belongs to, and its number in it; 0 is that file itself."""
    ending = _find_ending(name)
    piece = _PIECE.fullmatch(name.removesuffix(ending)) if ending else None
    return (f"{piece['stem']}{ending}", int(piece["number"])) if piece else (name, 0)


def _find_name(first: str, number: int) -> str:
    ending = _find_ending(first) or ""
    return f"{first.removesuffix(ending)}.{number}{ending}" if number else first


def _read_beginning(name: str) -> bool:
    """Whether a file begins with a handshake, and so is a conversation of its own."""
    try:
        with open_recording(name) as stream:
            return b'"initialize"' in stream.readline(_FIRST_LINE)
    except Exception:  # noqa: BLE001 - it will be told when it is judged
        return True


def _find_ending(name: str) -> str | None:
    """The ending of a recording's name, with that of its compression."""
    return next(
        (end + compression for compression in ("", *COMPRESSED) for end in ENDINGS if name.endswith(end + compression)),
        None,
    )


def _open_system(name: str) -> tuple[Any, str]:
    """The store of a name, and the path in it. Raises `ImportError` if its library is not installed, `ValueError`."""
    from fsspec.core import url_to_fs  # type: ignore[import-untyped]
    from fsspec.implementations.local import LocalFileSystem  # type: ignore[import-untyped]

    if _URL.match(name):
        return cast("tuple[Any, str]", url_to_fs(name))
    system: Any = LocalFileSystem(skip_instance_cache=True)
    system.walk = partial(system.walk, on_error="raise")  # else a folder that cannot be listed has no files
    return system, os.path.abspath(name)
