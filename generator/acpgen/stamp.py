"""The no-work shortcut: what an output was made from and what it held then, remembered in the cache of the user.

A stamp holds two hashes: of all that goes into an output, and of the folder as it was written. While both still fit, making the
output again would change nothing.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from acpgen import provenance, resources
from acpgen.built_in import BUILT_IN
from acpgen.files import Files, Tree, digest, digest_of
from acpgen.kept import Kept
from acpgen.provenance import Code


@dataclass(frozen=True, slots=True)
class Parts:
    """The files of parts of outputs as the last run made them: of each part one state is kept, with a hash of what it was made from."""

    kept: Kept
    code: Code

    def files(self, output: Path, name: str, inputs: str, make: Callable[[], Files]) -> Files:
        """The files of a part: as they were made from just these inputs, or made now."""
        place = _key(output, name)
        found = self.kept.find(place)
        if isinstance(found, dict) and found.get("inputs") == inputs:
            return cast("dict[str, str]", found["files"])
        made = make()
        if self.code.is_as_it_was:
            self.kept.keep(place, {"inputs": inputs, "files": {**made}})
        return made


@dataclass(frozen=True, slots=True)
class Stamps:
    """Stamps of outputs, among other results that are kept."""

    kept: Kept

    def is_fresh(self, output: Path, inputs: str | None) -> bool:
        """Whether `output` was made from just these inputs and still holds what was written."""
        stamp, held = self._read(output), digest(output)
        return None not in (inputs, held) and (stamp.get("inputs"), stamp.get("output")) == (inputs, held)

    def is_known(self, output: Path) -> bool:
        """Whether an earlier run wrote `output`."""
        return bool(self._read(output))

    def gaps(self, output: Path) -> Mapping[str, Mapping[str, Mapping[str, str]]]:
        """What was told of an output that is fresh: by protocol and definition, what its bindings do not enforce."""
        found: Mapping[str, Mapping[str, Mapping[str, str]]] = self._read(output)["gaps"]
        return found

    def notes(self, output: Path) -> tuple[tuple[str, str], ...]:
        """What was told of an output that is fresh: places of its schemas that mean nothing, each with a sentence."""
        return tuple((at, sentence) for at, sentence in self._read(output)["notes"])

    def _read(self, output: Path) -> dict[str, Any]:
        """The stamp of an output; empty where there is none of today's form."""
        found = self.kept.find(_key(output))
        stamp = cast("dict[str, Any]", found) if isinstance(found, dict) else {}
        return stamp if stamp.keys() == {"inputs", "output", "gaps", "notes"} else {}

    def record(
        self,
        made: Tree,
        inputs: str | None,
        code: Code,
        gaps: Mapping[str, Mapping[str, Mapping[str, str]]],
        notes: Iterable[tuple[str, str]] = (),
    ) -> None:
        """Remember what a folder that holds its tree was made from, its gaps and notes, unless the `code` has changed meanwhile."""
        if inputs is None or not code.is_as_it_was:
            return
        told: dict[str, Any] = {"gaps": gaps, "notes": [*notes]}
        self.kept.keep(_key(made.folder), {"inputs": inputs, "output": digest_of(made), **told})


def inputs(generator: str, files: Iterable[tuple[str, bytes]], options: Mapping[str, object]) -> str:
    """A hash of all that goes into an output: schema files, options, and the generator itself."""
    summary = hashlib.sha256(generator.encode())
    summary.update(json.dumps(options, sort_keys=True, default=repr).encode())
    for name, content in files:
        summary.update(provenance.framed(name, content))
    return summary.hexdigest()


def is_known(target: str) -> bool:
    """Whether all code of a target is acpgen's. That of others may change unseen, so what it makes is always made anew."""
    return target in BUILT_IN


def code() -> Code:
    """The code of the generator and the prover, templates, run-time package, monitor, and the versions of what its output depends on."""
    files = [
        (path.relative_to(root).as_posix(), path)
        for root in (resources.templates(), resources.runtime(), resources.monitor())
        for path in sorted(root.rglob("*"))
        if path.is_file() and "__pycache__" not in path.parts
    ]
    return provenance.everything().beside(files)


def generator() -> str:
    """A hash of that code."""
    return code().digest


def _key(output: Path, part: str | None = None) -> str:
    """Where the stamp of an output is kept, or one part of the output."""
    place = os.fsencode(os.path.abspath(output))
    kept = b"stamp\0" + place if part is None else b"part\0" + place + f"\0{part}".encode()
    return hashlib.sha256(kept).hexdigest()
