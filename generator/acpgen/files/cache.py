"""The cache: results of earlier runs, each under a hash of all that it was made from. None of them is ever needed.

On the disk they lie in the cache folder of the user. What is missing, damaged, of another form or written by another user is made again;
what cannot be written is not cached. The keys are taken before anything is understood: of bytes, options, the code of acpgen and the
versions of what its output depends on.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import os
import stat
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeAlias, TypeVar, cast

from acpgen import embedded, resources
from acpgen.files.atomic_write import replace_file
from acpgen.files.tree import Tree, digest, digest_of
from acpgen.input.numbers import dumps, loads

if TYPE_CHECKING:
    from acpgen.ir import JSON

T = TypeVar("T")
J = TypeVar("J", bound="JSON")

UNUSED: Final = 10 * 24 * 3600
"""Seconds after which a result that nobody asked for is removed."""

_TOUCHED: Final = 3600
"""Seconds in which a use is noted once."""

_SWEPT: Final = 24 * 3600
"""Seconds between two looks for what is unused."""

DEPENDENCIES: Final = (
    "datamodel-code-generator",
    "inflect",
    "jinja2",
    "jiter",
    "jsonschema",
    "jsonschema-rs",
    "jsonschema-specifications",
    "msgspec",
    "pydantic",
    "referencing",
    "ruff",
)
"""What results depend on, beside the code of acpgen."""


@dataclass(frozen=True, slots=True)
class Cache:
    """Results below a folder; without one, nothing is cached and nothing is known."""

    folder: Path | None = None

    def find(self, key: str) -> JSON:
        """What is cached under a key; `None` where there is nothing that can be trusted."""
        if self.folder is None:
            return None
        path = self._file(key)
        try:
            state = path.lstat()
            if not _is_own(state):
                return None
            checksum, _, text = path.read_bytes().partition(b"\n")
            if checksum != _checksum(key, text):
                return None
            value: JSON = loads(text.decode())
            _note_use(path, state)
        except (OSError, ValueError, RecursionError):
            return None
        return value

    def keep(self, key: str, value: JSON) -> None:
        """Keep a value under a key; it is whole for whoever reads it meanwhile."""
        if self.folder is None:
            return
        path, text = self._file(key), dumps(value, separators=(",", ":"))
        with contextlib.suppress(OSError):
            self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            replace_file(path, f"{_checksum(key, text.encode()).decode()}\n{text}")
            path.chmod(0o600)
            self._sweep()

    def find_or_make(self, inputs: Iterable[str], make: Callable[[], J]) -> J:
        """What the code of acpgen makes of some inputs, as it did in an earlier run or now. Without a cache, nobody reads the inputs."""
        if self.folder is None:
            return make()
        code = own_code()
        key = key_of(code.digest, *inputs)
        known = self.find(key)
        if known is not None:
            return cast("J", known)
        made = make()
        if code.is_as_it_was:
            self.keep(key, made)
        return made

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


NO_CACHE: Final = Cache()


def user_cache() -> Cache:
    """The cache of the user. A project's own folder is none: who sends a project must not send its results."""
    base = os.environ.get("XDG_CACHE_HOME", "")
    try:
        folder = Path(base) if Path(base).is_absolute() else Path.home() / ".cache"
    except RuntimeError:  # nobody's home
        return NO_CACHE
    return Cache(folder / "acpgen")


def _checksum(key: str, text: bytes) -> bytes:
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


# --- keys ------------------------------------------------------------------------------------------------------------


def key_of(*parts: str | bytes) -> str:
    """The hash of a list of parts: no two lists give the same bytes."""
    summary = hashlib.sha256()
    for part in parts:
        content = part.encode(errors="surrogatepass") if isinstance(part, str) else part
        summary.update(b"%d\0" % len(content) + content)
    return summary.hexdigest()


@dataclass(frozen=True, slots=True)
class Code:
    """The code that results depend on, as it was when it was looked at. `digest` is its hash."""

    digest: str
    _seen: tuple[tuple[str, int, int], ...] = field(repr=False)

    @property
    def is_as_it_was(self) -> bool:
        """Whether no file has changed since. What was made while one did is of neither state."""
        return all(_state(Path(path)) == (size, changed) for path, size, changed in self._seen)

    def with_files(self, files: Iterable[tuple[str, Path]]) -> Code:
        """This code and files that it reads, each by a name."""
        parts: list[str | bytes] = [self.digest]
        seen = [*self._seen]
        for name, path in files:
            parts += (name, path.read_bytes())
            seen.append((str(path), *_state(path)))
        return Code(key_of(*parts), tuple(seen))


@functools.cache
def own_code() -> Code:
    """All the code of acpgen and of the prover, and the data beside them; without what may lie elsewhere: templates, run-time, monitor."""
    from importlib.metadata import PackageNotFoundError, version  # without a cache nobody asks what is installed

    versions: list[str] = [sys.implementation.name, repr(sys.version_info[:3])]
    for name in DEPENDENCIES:
        try:
            versions.append(version(name))
        except PackageNotFoundError:
            versions.append("")
    files = [path for root in _roots() for path in _files(root) if path.suffix != ".md"]
    base = Path(__file__).parents[2]
    paths = [*files, resources.schema() / "dialect.json"]
    return Code(key_of(*versions), ()).with_files((os.path.relpath(path, base), path) for path in paths)


def all_code() -> Code:
    """That code with templates, run-time package and monitor: all on which an output depends, but for its input."""
    folders = (resources.templates(), embedded.runtime_folder(), embedded.monitor_folder())
    return own_code().with_files((path.relative_to(f).as_posix(), path) for f in folders for path in _files(f))


def _roots() -> tuple[Path, ...]:
    return Path(__file__).parents[1], resources.prover()


def _files(root: Path) -> Iterator[Path]:
    """The files below a folder, without what Python keeps there, and without what the wheel puts beside the code."""
    elsewhere = {root / name for name in ("templates", "acp_monitor", "jsonrpc_bindings", "canonical")}
    for folder, names, files in os.walk(root):
        names[:] = sorted(name for name in names if name != "__pycache__" and Path(folder, name) not in elsewhere)
        yield from (Path(folder, file) for file in sorted(files))


def _state(path: Path) -> tuple[int, int]:
    try:
        state = path.stat()
    except OSError:
        return -1, -1
    return state.st_size, state.st_mtime_ns


# --- outputs ---------------------------------------------------------------------------------------------------------


Remarks: TypeAlias = Mapping[str, Any]
"""What is reported of an output: `gaps`, what its bindings do not enforce, and `notes`, what of its schemas means nothing."""


@dataclass(frozen=True, slots=True)
class Outputs:
    """What output folders and parts of them were made from, and what the folders held then: with equal input, none is made again."""

    cache: Cache
    code: Code

    def is_fresh(self, folder: Path, inputs: str | None) -> bool:
        """Whether a folder was made from just these inputs and still holds what was written."""
        entry, held = self._read(folder), digest(folder)
        return None not in (inputs, held) and (entry.get("inputs"), entry.get("output")) == (inputs, held)

    def is_known(self, folder: Path) -> bool:
        """Whether an earlier run wrote a folder."""
        return bool(self._read(folder))

    def remarks(self, folder: Path) -> Remarks:
        """What was reported of a folder that is fresh."""
        remarks: Remarks = self._read(folder)["remarks"]
        return remarks

    def _read(self, folder: Path) -> dict[str, Any]:
        """What is known of a folder; empty where that is nothing, or of another form."""
        entry: Any = self.cache.find(_place_key(folder))
        is_whole = isinstance(entry, dict) and {*cast("dict[str, Any]", entry)} == {"inputs", "output", "remarks"}
        return cast("dict[str, Any]", entry) if is_whole else {}

    def record(self, tree: Tree, inputs: str | None, remarks: Remarks) -> None:
        """Remember what a folder that holds its tree was made from, and what was reported, unless the code has changed meanwhile."""
        if inputs is not None and self.code.is_as_it_was:
            self.cache.keep(
                _place_key(tree.folder), {"inputs": inputs, "output": digest_of(tree), "remarks": {**remarks}}
            )

    def find_part(self, folder: Path, name: str, inputs: str) -> Mapping[str, Any] | None:
        """What is known of a part of a folder that was made from just these inputs. Of each part one state is cached."""
        entry = self.cache.find(_place_key(folder, name))
        if not isinstance(entry, dict) or entry.get("inputs") != inputs:
            return None
        return cast("Mapping[str, Any]", entry["part"])

    def keep_part(self, folder: Path, name: str, inputs: str, part: Mapping[str, Any]) -> None:
        """Remember a part of a folder, unless the code has changed meanwhile."""
        if self.code.is_as_it_was:
            self.cache.keep(_place_key(folder, name), {"inputs": inputs, "part": {**part}})


def _place_key(folder: Path, part: str = "") -> str:
    return key_of("output", os.fsencode(os.path.abspath(folder)), part)


# --- in memory -------------------------------------------------------------------------------------------------------


class Memory:
    """The last result of each kind, with the inputs that it was made from, for a process that makes the same things again and again.

    In a hurry, some results may be those of other inputs for a while: whoever asks for them says so, and the next round without hurry
    makes them. One that forgets holds nothing. `before` is called with the kind before a result is made.
    """

    def __init__(self, *, forgets: bool = False, before: Callable[[str], None] = lambda kind: None) -> None:
        self._forgets, self._before = forgets, before
        self._made: dict[str, tuple[tuple[object, ...], object]] = {}
        self._in_hurry = False
        self._is_behind = False

    @property
    def is_behind(self) -> bool:
        """Whether something that was asked for since `begin` was of other inputs."""
        return self._is_behind

    def begin(self, *, in_hurry: bool) -> None:
        """Begin a round."""
        self._in_hurry, self._is_behind = in_hurry, False

    def last(self, kind: str) -> object:
        """The last result of a kind, whatever it was made from; `None` where there is none."""
        return self._made[kind][1] if kind in self._made else None

    def once(self, kind: str, inputs: tuple[object, ...], make: Callable[[], T], *, may_lag: bool = False) -> T:
        """The result of a kind for these inputs: the last one where they are the same or equal, or made now.

        With `may_lag`, a round in a hurry takes the last one in any case.
        """
        if kind in self._made:
            before, last = self._made[kind]
            if len(before) == len(inputs) and all(a is b or a == b for a, b in zip(before, inputs, strict=True)):
                return cast("T", last)
            if may_lag and self._in_hurry:
                self._is_behind = True
                return cast("T", last)
        self._before(kind)
        result = make()
        if not self._forgets:
            self._made[kind] = (inputs, result)
        return result


FORGETFUL: Final = Memory(forgets=True)
