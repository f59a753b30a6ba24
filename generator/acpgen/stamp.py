"""The no-work shortcut: what an output was made from and what it held then, remembered in a cache that is never needed.

A stamp holds two hashes: of all that goes into an output, and of the folder as it was written. While both still fit, making the
output again would change nothing.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from importlib.metadata import entry_points, version
from pathlib import Path
from typing import Any, Final

from acpgen import resources
from acpgen.errors import Faults
from acpgen.schema.load import read_bytes
from acpgen.write import digest, replace_file

CACHE_FOLDER: Final = ".acpgen_cache"

DEPENDENCIES: Final = ("datamodel-code-generator", "jinja2", "jsonschema-rs", "pydantic", "inflect")


@dataclass(frozen=True, slots=True)
class Stamps:
    """Stamps of outputs, in files below `folder`."""

    folder: Path

    def is_fresh(self, output: Path, inputs: str | None) -> bool:
        """Whether `output` was made from just these inputs and still holds what was written."""
        stamp, held = self._read(output), digest(output)
        return None not in (inputs, held) and (stamp.get("inputs"), stamp.get("output")) == (inputs, held)

    def gaps(self, output: Path) -> Mapping[str, Mapping[str, tuple[str, ...]]]:
        """What was told of an output that is fresh: by protocol and definition, what its bindings do not enforce."""
        return {
            protocol: {name: tuple(places) for name, places in found.items()}
            for protocol, found in self._read(output)["gaps"].items()
        }

    def notes(self, output: Path) -> tuple[tuple[str, str], ...]:
        """What was told of an output that is fresh: places of its schemas that mean nothing, each with a sentence."""
        return tuple((at, sentence) for at, sentence in self._read(output)["notes"])

    def _read(self, output: Path) -> dict[str, Any]:
        """The stamp of an output; empty where there is none of today's form."""
        try:
            stamp: dict[str, Any] = json.loads(read_bytes(self._file(output)))
            return stamp if stamp.keys() == {"inputs", "output", "gaps", "notes"} else {}
        except (Faults, ValueError, RecursionError, AttributeError):
            return {}

    def record(
        self,
        output: Path,
        inputs: str | None,
        gaps: Mapping[str, Mapping[str, tuple[str, ...]]],
        notes: Iterable[tuple[str, str]] = (),
    ) -> None:
        """Remember what `output` was made from, its gaps and notes. A cache that cannot be written is no cache, and no fault."""
        if inputs is None:
            return
        with contextlib.suppress(OSError):
            self.folder.mkdir(parents=True, exist_ok=True)
            ignore = self.folder / ".gitignore"
            if not ignore.exists():
                replace_file(ignore, "*\n")
            told = {"gaps": gaps, "notes": [*notes]}
            replace_file(self._file(output), json.dumps({"inputs": inputs, "output": digest(output), **told}))

    def _file(self, output: Path) -> Path:
        return self.folder / f"{hashlib.sha256(os.fsencode(os.path.abspath(output))).hexdigest()[:24]}.json"


def user_cache() -> Path:
    """The cache for outputs that belong to no project."""
    base = os.environ.get("XDG_CACHE_HOME")
    return (Path(base) if base else Path.home() / ".cache") / "acpgen"


def inputs(generator: str, files: Iterable[tuple[str, bytes]], options: Mapping[str, object]) -> str:
    """A hash of all that goes into an output: schema files, options, and the generator itself."""
    summary = hashlib.sha256(generator.encode())
    summary.update(json.dumps(options, sort_keys=True, default=repr).encode())
    for name, content in files:
        summary.update(_framed(name, content))
    return summary.hexdigest()


def outside_targets() -> frozenset[str]:
    """Names of the targets that other packages bring. Their code may change unseen, so what they make is always made anew."""
    return frozenset(found.name for found in entry_points(group="acpgen.targets"))


def generator() -> str:
    """A hash of the code of the generator and the prover, of templates and monitor, and of the versions of what its output depends on."""
    summary = hashlib.sha256(repr((sys.version_info[:3], [version(name) for name in DEPENDENCIES])).encode())
    for root in (Path(__file__).parent, resources.prover(), resources.templates(), resources.session() / "monitor"):
        for path in sorted(root.rglob("*")):
            if path.is_file() and "__pycache__" not in path.parts:
                summary.update(_framed(path.relative_to(root).as_posix(), path.read_bytes()))
    return summary.hexdigest()


def _framed(name: str, content: bytes) -> bytes:
    return f"{name}\0{len(content)}\0".encode(errors="surrogateescape") + content
