"""Results that are kept in the cache folder of the user, each under a hash of all that it was made from. None of them is ever needed.

What is missing, damaged, of another form or written by another user is made again; what cannot be written is not kept.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import stat
import sys
import time
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

from acpgen.files import replace_file
from acpgen.input.numbers import dumps, loads

if TYPE_CHECKING:
    from acpgen.ir import JSON
    from acpgen.provenance import Code

UNUSED: Final = 10 * 24 * 3600
"""Seconds after which a result that nobody asked for is removed."""

_TOUCHED: Final = 3600
"""Seconds in which a use is noted once."""

_SWEPT: Final = 24 * 3600
"""Seconds between two looks for what is unused."""


@dataclass(frozen=True, slots=True)
class Kept:
    """Results below a folder; without one, nothing is kept and nothing is known."""

    folder: Path | None = None

    def find(self, key: str) -> JSON:
        """What is kept under a key; `None` where there is nothing that can be trusted."""
        if self.folder is None:
            return None
        path = self._file(key)
        try:
            state = path.lstat()
            if not _is_own(state):
                return None
            digest, _, text = path.read_bytes().partition(b"\n")
            if digest != _digest(key, text):
                return None
            found: JSON = loads(text.decode())
            _note_use(path, state)
        except (OSError, ValueError, RecursionError):
            return None
        return found

    def keep(self, key: str, value: JSON) -> None:
        """Keep a value under a key; it is whole for whoever reads it meanwhile."""
        if self.folder is None:
            return
        path, text = self._file(key), dumps(value, separators=(",", ":"))
        with contextlib.suppress(OSError):
            self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            replace_file(path, f"{_digest(key, text.encode()).decode()}\n{text}")
            path.chmod(0o600)
            self._sweep()

    def _file(self, key: str) -> Path:
        assert self.folder is not None
        return self.folder / key[:2] / f"{key[2:]}.json"

    def _sweep(self) -> None:
        """Remove what is unused, once a day."""
        assert self.folder is not None
        mark, now = self.folder / "swept", time.time()
        with contextlib.suppress(FileNotFoundError):
            if now - mark.stat().st_mtime < _SWEPT:
                return
        replace_file(mark, "")
        for path in self.folder.glob("??/*"):
            with contextlib.suppress(OSError):
                if now - path.stat().st_mtime > UNUSED:
                    path.unlink()


NOTHING: Final = Kept()


def key(code: Code, kind: str, parts: Iterable[str]) -> str:
    """The key of a result: a hash of the code that makes it, what it is, and what it is made from."""
    summary = hashlib.sha256(f"{code.digest}\0{kind}\0".encode())
    for part in parts:
        content = part.encode(errors="surrogatepass")
        summary.update(b"%d\0" % len(content) + content)
    return summary.hexdigest()


def user_cache() -> Kept:
    """The cache of the user. A project's own folder is none: who sends a project must not send its results."""
    base = os.environ.get("XDG_CACHE_HOME", "")
    try:
        folder = Path(base) if Path(base).is_absolute() else Path.home() / ".cache"
    except RuntimeError:  # nobody's home
        return NOTHING
    return Kept(folder / "acpgen")


def _digest(key: str, text: bytes) -> bytes:
    """What a result begins with: it is neither damaged nor another one."""
    return hashlib.sha256(key.encode() + b"\n" + text).hexdigest().encode()


def _is_own(state: os.stat_result) -> bool:
    """Whether this is a file that nobody but this user can write."""
    if not stat.S_ISREG(state.st_mode):
        return False
    return sys.platform == "win32" or (state.st_uid == os.geteuid() and not state.st_mode & 0o022)


def _note_use(path: Path, state: os.stat_result) -> None:
    """Note that a result is in use, at most once an hour."""
    if time.time() - state.st_mtime > _TOUCHED:
        with contextlib.suppress(OSError):
            os.utime(path)
