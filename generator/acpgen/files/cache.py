"""The cache: results of earlier runs, each with a hash of everything it was computed from. No result is ever required.

Results are stored in the user's cache folder. A result that is missing, damaged, computed from something else or written by another user
is computed again; a result that cannot be written is not cached. The hashes are computed before anything is parsed: of bytes, options,
the code of acpgen and the versions of the packages that its output depends on.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import os
import stat
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeAlias, TypeVar, cast

from acpgen import embedded, resources
from acpgen.files.serialization import from_json, to_json
from acpgen.files.tree import Tree, hash_folder, hash_tree
from acpgen.input.numbers import dumps, loads

if TYPE_CHECKING:
    from acpgen.ir import JSON

T = TypeVar("T")

UNUSED: Final = 10 * 24 * 3600
"""Seconds after which an unused result is removed."""

_TOUCHED: Final = 3600
"""The minimum number of seconds between two recorded uses of a result."""

_SWEPT: Final = 24 * 3600
"""The number of seconds between two removals of unused results."""

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
"""The packages that results depend on, besides the code of acpgen."""


@dataclass(frozen=True, slots=True)
class Cache:
    """Results in a folder; without a folder, nothing is cached."""

    folder: Path | None = None

    def find(self, key: str, inputs: str = "") -> JSON:
        """The value cached under a key for these inputs; `None` if there is none, or none that can be trusted."""
        if self.folder is None:
            return None
        path = self._locate_file(key)
        try:
            state = path.lstat()
            if not _is_own(state):
                return None
            checksum, _, text = path.read_bytes().partition(b"\n")
            if checksum != _make_checksum(key, inputs, text):
                return None
            value: JSON = loads(text.decode())
            _note_use(path, state)
        except (OSError, ValueError, RecursionError):
            return None
        return value

    def keep(self, key: str, value: JSON, inputs: str = "") -> None:
        """Cache a value under a key, replacing that of other inputs. Concurrent readers see the old or the new value, never a part."""
        if self.folder is None:
            return
        path, text = self._locate_file(key), dumps(value, separators=(",", ":"))
        with contextlib.suppress(OSError):
            self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            _replace(path, _make_checksum(key, inputs, text.encode()) + b"\n" + text.encode())
            self._sweep()

    def has(self, key: str) -> bool:
        """Whether a value is cached under a key, for any inputs."""
        return self.folder is not None and self._locate_file(key).is_file()

    def _locate_file(self, key: str) -> Path:
        assert self.folder is not None
        return self.folder / key[:2] / f"{key[2:]}.json"

    def _sweep(self) -> None:
        """Remove unused results, once a day."""
        assert self.folder is not None
        mark, now = self.folder / "swept", time.time()
        with contextlib.suppress(FileNotFoundError):
            if now - mark.stat().st_mtime < _SWEPT:
                return
        _replace(mark, b"")
        for path in self.folder.glob("??/*"):
            with contextlib.suppress(OSError):
                if now - path.stat().st_mtime > UNUSED:
                    path.unlink()


NO_CACHE: Final = Cache()


def find_user_cache() -> Cache:
    """The user's cache. It is never in the project's folder: whoever distributes a project must not distribute cached results."""
    base = os.environ.get("XDG_CACHE_HOME", "")
    try:
        folder = Path(base) if Path(base).is_absolute() else Path.home() / ".cache"
    except RuntimeError:  # nobody's home
        return NO_CACHE
    return Cache(folder / "acpgen")


def _make_checksum(key: str, inputs: str, text: bytes) -> bytes:
    """The first line of a cached result: it proves that the result is undamaged and belongs to this key and these inputs."""
    return hashlib.sha256(f"{key}\n{inputs}\n".encode() + text).hexdigest().encode()


def _replace(path: Path, content: bytes) -> None:
    """Replace a file that only this user can read; safe for concurrent writers. Raises `OSError`."""
    path.parent.mkdir(parents=True, exist_ok=True)
    beside = path.with_name(f".{path.name}.{os.getpid()}.{threading.get_ident()}")
    try:
        beside.write_bytes(content)
        beside.chmod(0o600)
        os.replace(beside, path)
    finally:
        beside.unlink(missing_ok=True)


def _is_own(state: os.stat_result) -> bool:
    """Whether this is a regular file that only this user can write."""
    if not stat.S_ISREG(state.st_mode):
        return False
    return sys.platform == "win32" or (state.st_uid == os.geteuid() and not state.st_mode & 0o022)


def _note_use(path: Path, state: os.stat_result) -> None:
    """Record that a result is in use, at most once an hour."""
    if time.time() - state.st_mtime > _TOUCHED:
        with contextlib.suppress(OSError):
            os.utime(path)


# --- keys ------------------------------------------------------------------------------------------------------------


def make_key(*parts: str | bytes) -> str:
    """The hash of a list of parts; the encoding of lists to bytes is injective."""
    summary = hashlib.sha256()
    for part in parts:
        content = part.encode(errors="surrogatepass") if isinstance(part, str) else part
        summary.update(b"%d\0" % len(content) + content)
    return summary.hexdigest()


@dataclass(frozen=True, slots=True)
class Code:
    """A snapshot of the code that results depend on. `digest` is its hash."""

    digest: str
    _seen: tuple[tuple[str, int, int], ...] = field(repr=False)

    @property
    def is_as_it_was(self) -> bool:
        """Whether no file has changed since the snapshot. A result computed during a change belongs to neither state."""
        return all(_read_state(Path(path)) == (size, mtime_ns) for path, size, mtime_ns in self._seen)

    def with_files(self, files: Iterable[tuple[str, Path]]) -> Code:
        """This code plus files that it reads, each under a name."""
        parts: list[str | bytes] = [self.digest]
        states = [*self._seen]
        for name, path in files:
            parts += (name, path.read_bytes())
            states.append((str(path), *_read_state(path)))
        return Code(make_key(*parts), tuple(states))


@functools.cache
def hash_own_code() -> Code:
    """All code of acpgen and of the prover with the data beside it, except what may be installed elsewhere: templates, run-time package,
    monitor.
    """
    from importlib.metadata import PackageNotFoundError, version  # without a cache nobody asks what is installed

    versions: list[str] = [sys.implementation.name, repr(sys.version_info[:3])]
    for name in DEPENDENCIES:
        try:
            versions.append(version(name))
        except PackageNotFoundError:
            versions.append("")
    files = [path for root in _list_roots() for path in _list_files(root) if path.suffix != ".md"]
    base = Path(__file__).parents[2]
    paths = [*files, resources.locate_schema() / "dialect.json"]
    return Code(make_key(*versions), ()).with_files((os.path.relpath(path, base), path) for path in paths)


def hash_all_code() -> Code:
    """`hash_own_code` with templates, run-time package and monitor: everything an output depends on except its input."""
    folders = (resources.locate_templates(), embedded.locate_runtime(), embedded.locate_monitor())
    return hash_own_code().with_files(
        (path.relative_to(f).as_posix(), path) for f in folders for path in _list_files(f)
    )


def _list_roots() -> tuple[Path, ...]:
    return Path(__file__).parents[1], resources.locate_prover()


def _list_files(root: Path) -> Iterator[Path]:
    """The files below a folder, without `__pycache__` and without the packages that the wheel installs beside the code."""
    elsewhere = {root / name for name in ("templates", "acp_monitor", "jsonrpc_bindings", "canonical")}
    for folder, names, files in os.walk(root):
        names[:] = sorted(name for name in names if name != "__pycache__" and Path(folder, name) not in elsewhere)
        yield from (Path(folder, file) for file in sorted(files))


def _read_state(path: Path) -> tuple[int, int]:
    try:
        state = path.stat()
    except OSError:
        return -1, -1
    return state.st_size, state.st_mtime_ns


# --- results of functions, and outputs -------------------------------------------------------------------------------


def find_or_make(
    cache: Cache,
    inputs: Iterable[str | bytes],
    make: Callable[[], T],
    records: Callable[[], Mapping[str, Any]],
    key: str | None = None,
) -> T:
    """The result of `make` for some inputs, from the cache if it is there. `records` are the classes in the result, by name.

    With a `key`, only the last result under it is cached; without one, one result per inputs. Without a cache folder, the inputs are not
    read. A result computed while the code changed is not cached.
    """
    if cache.folder is None:
        return make()
    code = hash_own_code()
    inputs_key = make_key(code.digest, *inputs)
    data = cache.find(key or inputs_key, inputs_key)
    if data is not None:
        return cast("T", from_json(data, records()))
    result = make()
    if code.is_as_it_was:
        cache.keep(key or inputs_key, to_json(result), inputs_key)
    return result


Remarks: TypeAlias = Mapping[str, Any]
"""What is reported about an output: `gaps`, what its bindings do not enforce, and `notes`, the parts of its schemas that have no
meaning.
"""


def find_remarks(cache: Cache, folder: Path, inputs: str | None) -> Remarks | None:
    """What was reported about a folder, if it was generated from exactly these inputs and is unchanged since; else `None`."""
    entry: Any = None if inputs is None else cache.find(make_place_key(folder), inputs)
    return entry["remarks"] if entry is not None and entry["output"] == hash_folder(folder) else None


def keep_remarks(cache: Cache, tree: Tree, inputs: str | None, remarks: Remarks) -> None:
    """Cache the inputs of a folder that holds its tree, and what was reported about it."""
    if inputs is not None:
        cache.keep(make_place_key(tree.folder), {"output": hash_tree(tree), "remarks": {**remarks}}, inputs)


def make_place_key(folder: Path, part: str = "") -> str:
    """The cache key for the last state of a folder, or of a part of it."""
    return make_key("output", os.fsencode(os.path.abspath(folder)), part)
