"""Files for recordings: new ones, for their owner only, rotated by size.

A recording contains prompts, files and settings of the peers. So it is never written to an existing file, which another user or an
earlier conversation may own, and never through a link.
"""

from __future__ import annotations

import contextlib
import errno
import os
import stat
from collections import deque
from pathlib import Path
from typing import Final, Self

from acpgen.errors import Faults
from acpgen.input.load import display_path
from acpgen.messages.faults import NOT_CREATED
from acpgen.messages.recording import describe_reason

MOST_FILES: Final = 10
"""The default number of files of one recording that are retained."""


class Tape:
    """The file of a recording, or several in sequence: `talk.jsonl`, `talk.1.jsonl`, `talk.2.jsonl`.

    With `most`, a file ends before the line that would exceed this many bytes, and the next one begins; the newest `keep` files are
    retained. Raises `Faults` if the first cannot be created, and `OSError` if a later one cannot.
    """

    def __init__(self, path: Path, most: int | None = None, keep: int = MOST_FILES) -> None:
        self._path, self._most, self._keep = path, most, keep
        self._number = self._written = 0
        self._made: deque[tuple[Path, tuple[int, int]]] = deque()
        self._removed = 0
        try:
            self._begin(path)
        except FileExistsError:
            reason = "it is there already, and a recording is never written over another file or through a link"
            raise Faults([NOT_CREATED(at=display_path(path), reason=reason)]) from None
        except (OSError, ValueError) as error:
            raise Faults([NOT_CREATED(at=display_path(path), reason=describe_reason(error))]) from None

    def write(self, line: bytes) -> None:
        """Write a whole line."""
        if self._most is not None and self._written and self._written + len(line) > self._most:
            self.close()
            self._open_next()
        self._file.write(line)
        self._written += len(line)

    @property
    def file_note(self) -> str:
        """The location of the recording in one sentence; empty if it is one file with the requested name."""
        if not self._number:
            return ""
        removal_note = f"; {self._removed} older were removed" if self._removed else ""
        return f"The recording is {', '.join(display_path(path) for path, _ in self._made)}{removal_note}."

    def flush(self) -> None:
        """Flush what is written so far, so that it can be read and survives the process."""
        self._file.flush()

    def close(self) -> None:
        """Close the file, even if not all of it could be written."""
        with contextlib.suppress(OSError):
            self._file.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: object, *_: object) -> None:
        self.close()
        if kind is not None and not self._written and not self._number:  # the program was never started
            self._remove(*self._made.pop())

    def _open_next(self) -> None:
        while True:
            self._number += 1
            path = self._path.with_name(f"{self._path.stem}.{self._number}{self._path.suffix}")
            with contextlib.suppress(FileExistsError):
                self._begin(path)
                break
        while len(self._made) > self._keep:
            self._removed += self._remove(*self._made.popleft())

    def _remove(self, path: Path, identity: tuple[int, int]) -> bool:
        """Remove a file that was created here, unless another one replaced it; returns whether it is gone."""
        with contextlib.suppress(OSError):
            state = path.lstat()
            if (state.st_dev, state.st_ino) == identity and stat.S_ISREG(state.st_mode):
                path.unlink()
                return True
        return False

    def _begin(self, path: Path) -> None:
        flags = os.O_WRONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)
        standing = _find_device(path)
        descriptor = os.open(path, flags if standing is not None else flags | os.O_CREAT | os.O_EXCL, 0o600)
        state = os.fstat(descriptor)
        if standing is not None and not os.path.samestat(standing, state):  # exchanged after it was looked at
            os.close(descriptor)
            raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), str(path))
        self._file = os.fdopen(descriptor, "wb", buffering=1 << 20)
        self._made.append((path, (state.st_dev, state.st_ino)))
        self._written = 0


def _find_device(path: Path) -> os.stat_result | None:
    """The status of a path that is a device or pipe of this user, which has no content to lose; `None` for any other."""
    try:
        state = path.lstat()
    except OSError:
        return None
    is_own = not hasattr(os, "geteuid") or state.st_uid in (0, os.geteuid())
    return state if is_own and (stat.S_ISCHR(state.st_mode) or stat.S_ISFIFO(state.st_mode)) else None
