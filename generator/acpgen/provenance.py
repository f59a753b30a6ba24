"""Which code results depend on, and a hash of it: all of ours, the data beside it, and what is installed."""

from __future__ import annotations

import hashlib
import os
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
def everything() -> Code:
    """All the code of acpgen and of the prover, and the data beside them; without what may lie elsewhere: templates, run-time, monitor."""
    return _looked_at([*(path for root in _roots().values() for path in _files(root, ".py")), *_data()])


def framed(name: str, content: bytes) -> bytes:
    """A file as it goes into a hash: its name, its size in bytes and its content, so that no two lists of files give the same bytes."""
    return f"{name}\0{len(content)}\0".encode(errors="surrogateescape") + content


def _roots() -> dict[str, Path]:
    return {"acpgen": Path(__file__).parent, "schema_inclusion": resources.prover()}


def _data() -> list[Path]:
    """What is no code and is read by it: profiles, examples, the dialect."""
    beside = [path for root in _roots().values() for path in _files(root) if path.suffix not in (".py", ".md")]
    return [*beside, resources.schema() / "dialect.json"]


def _files(root: Path, ending: str = "") -> Iterator[Path]:
    """The files below a folder, without what Python keeps there, and without what the wheel lays beside the code."""
    kept = (root / "templates", root / "acp_monitor", root / "jsonrpc_bindings", root / "canonical")
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
