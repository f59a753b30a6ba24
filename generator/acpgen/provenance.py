"""Which code a result depends on, and a hash of it: modules, what these import, the data beside them, and what is installed.

Imports are read from the text of the modules. All that looks like one counts: a name too many costs work, a name too few would give stale
results.
"""

from __future__ import annotations

import hashlib
import os
import re
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Final

from acpgen import resources

DEPENDENCIES: Final = (
    "datamodel-code-generator",
    "inflect",
    "jinja2",
    "jsonschema",
    "jsonschema-rs",
    "jsonschema-specifications",
    "pydantic",
    "referencing",
    "ruff",
)
"""What results depend on, beside the code of acpgen."""

_OURS: Final = re.compile(r"(?<![\w.])(?:acpgen|schema_inclusion)(?:\.\w+)*")
_NAMES: Final = re.compile(r"(?<![\w.])from[ ]+((?:acpgen|schema_inclusion)[\w.]*)[ ]+import[ ]+(\([^)]*\)|[^\n]*)")
_WORD: Final = re.compile(r"\w+")


@dataclass(frozen=True, slots=True)
class Code:
    """The code that results depend on, as it was when it was looked at. `digest` is its hash."""

    digest: str
    _seen: tuple[tuple[str, int, int], ...] = field(repr=False)

    @property
    def is_as_it_was(self) -> bool:
        """Whether no file has changed since. What was made while one did is of neither state."""
        return all(_state(Path(path)) == (size, changed) for path, size, changed in self._seen)

    def beside(self, files: Iterable[tuple[str, Path]]) -> Code:
        """This code and files that it reads, each by a name."""
        summary, seen = hashlib.sha256(self.digest.encode()), [*self._seen]
        for name, path in files:
            content, state = path.read_bytes(), _state(path)
            summary.update(framed(name, content))
            seen.append((str(path), *state))
        return Code(summary.hexdigest(), tuple(seen))


@cache
def code(*modules: str) -> Code:
    """The code of modules by their dotted names, of all that they import, and the data beside them.

    It is looked at once in a process: modules that are loaded do not change with their files.
    """
    found = closure(modules)
    return _looked_at([*found.values(), *_data()])


@cache
def everything() -> Code:
    """All the code of acpgen and of the prover, and the data beside them; without templates and monitor, which may lie elsewhere."""
    return _looked_at([*(path for root in _roots().values() for path in _files(root, ".py")), *_data()])


def framed(name: str, content: bytes) -> bytes:
    """A file as it goes into a hash: its name, its size in bytes and its content, so that no two lists of files give the same bytes."""
    return f"{name}\0{len(content)}\0".encode(errors="surrogateescape") + content


def closure(modules: Iterable[str]) -> dict[str, Path]:
    """The modules, and all of ours that they import, in whatever part of them, by dotted name."""
    waiting, found = list(modules), dict[str, Path]()
    while waiting:
        name = waiting.pop()
        path = _path(name)
        if name in found or path is None:
            continue
        found[name] = path
        waiting += _needed(name, path)
    return dict(sorted(found.items()))


@cache
def _needed(name: str, path: Path) -> tuple[str, ...]:
    """What a module imports, read once in a process: most of what one result depends on is what another does."""
    return tuple(_imported(path.read_text(encoding="utf-8"), name, path))


def _imported(text: str, name: str, path: Path) -> Iterator[str]:
    """The names that stand in a module as those of others. A name that a package lends is its own, and not that of a module."""
    for match in _NAMES.finditer(text):
        package, names = match.groups()
        words = _WORD.findall(re.sub(r"#[^\n]*", "", names))
        inner = {word: f"{package}.{word}" for word in words if _path(f"{package}.{word}") is not None}
        yield from inner.values()
        if len(inner) < len(set(words) - {"as"}):
            yield package
    for match in _OURS.finditer(_NAMES.sub("", text)):
        parts = match.group().split(".")
        yield next((known for n in range(len(parts), 1, -1) if _path(known := ".".join(parts[:n]))), "")
    if "import_module" in text:
        package = name if path.name == "__init__.py" else name.rpartition(".")[0]
        yield from (f"{package}.{each.stem}" for each in path.parent.glob("*.py") if each.stem != "__init__")


@cache
def _path(name: str) -> Path | None:
    """The file of a module or package of ours."""
    root, *rest = name.split(".")
    if root not in _roots():
        return None
    folder = _roots()[root].joinpath(*rest)
    file = folder / "__init__.py" if folder.is_dir() else folder.with_name(f"{folder.name}.py")
    return file if file.is_file() else None


def _roots() -> dict[str, Path]:
    return {"acpgen": Path(__file__).parent, "schema_inclusion": resources.prover()}


def _data() -> list[Path]:
    """What is no code and is read by it: profiles, examples, the dialect."""
    beside = [path for root in _roots().values() for path in _files(root) if path.suffix not in (".py", ".md")]
    return [*beside, resources.schema() / "dialect.json"]


def _files(root: Path, ending: str = "") -> Iterator[Path]:
    """The files below a folder, without what Python keeps there, and without what the wheel lays beside the code."""
    kept = (root / "templates", root / "acp_session", root / "canonical")
    for folder, names, files in os.walk(root):
        names[:] = sorted(name for name in names if name != "__pycache__" and Path(folder, name) not in kept)
        yield from (Path(folder, file) for file in sorted(files) if file.endswith(ending))


def _looked_at(paths: Iterable[Path]) -> Code:
    summary = hashlib.sha256(
        repr((sys.implementation.name, sys.version_info[:3], *map(_version, DEPENDENCIES))).encode()
    )
    base = Path(__file__).parents[1]
    seen: list[tuple[str, int, int]] = []
    for path in paths:
        content, state = path.read_bytes(), _state(path)
        name = os.path.relpath(path, base)
        summary.update(framed(name, content))
        seen.append((str(path), *state))
    return Code(summary.hexdigest(), tuple(seen))


def _version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return ""


def _state(path: Path) -> tuple[int, int]:
    try:
        found = path.stat()
    except OSError:
        return -1, -1
    return found.st_size, found.st_mtime_ns
