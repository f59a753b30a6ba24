"""Implementations that the vectors are run through: what each makes of the typed part of every row.

The official SDKs run in a process of their own, one for all rows. They are fetched once, into the user's cache, if they are not here.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, Final

from acpgen_acp_sdk.names import CLASSES
from bindings.subjects import Subject
from conformance.vectors import Vector
from javascript import Unreachable, node, packages

PYTHON_SDK: Final = ("agent-client-protocol", "0.12.1")
TYPESCRIPT_SDK: Final = ("@agentclientprotocol/sdk", "2.4.0")
ZOD: Final = "4.6.7"
"""A peer of the SDK that it leaves to its user."""

PEERS: Final = Path(__file__).with_name("peers")


@dataclass(frozen=True)
class Verdict:
    """What an implementation makes of a value. `offered`: it knows the type. `written`: what it writes of what it accepted."""

    offered: bool
    accepted: bool = False
    written: Any = field(default=None, repr=False)


Verdicts = Mapping[str, Verdict]
"""By the id of the row."""


def bindings(subject: Subject, vectors: Iterable[Vector]) -> Verdicts:
    """Our own bindings."""
    return {vector.id: _decoded(subject, vector) for vector in vectors if vector.typed is not None}


def _decoded(subject: Subject, vector: Vector) -> Verdict:
    try:
        found = subject.module.decode_as(subject.type(vector.typed or ""), vector.value)
    except subject.runtime.DecodeError:
        return Verdict(True)
    return Verdict(True, True, subject.encoded(found))


def python_sdk(vectors: Iterable[Vector], variants: Mapping[str, str]) -> Verdicts:
    """The official Python SDK. `variants` are types that are variants, by what those are called. Raises `Unreachable`."""
    variants = {name: CLASSES.get(variant, variant) for name, variant in variants.items()}
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(python_paths())}
    return _asked([sys.executable, "-W", "ignore", str(PEERS / "sdk.py")], vectors, environment, variants)


def python_paths() -> list[str]:
    """Where Python finds the official SDK, beside what is installed. Raises `Unreachable`."""
    name, wanted = PYTHON_SDK
    return [] if _installed(name) == wanted else [str(_fetched_from_index(name, wanted))]


def typescript_sdk(major: int, vectors: Iterable[Vector], variants: Mapping[str, str]) -> Verdicts:
    """The official TypeScript SDK, its validators of one version of the protocol. `variants` likewise. Raises `Unreachable`."""
    name, wanted = TYPESCRIPT_SDK
    schema = packages(**{name: wanted, "zod": ZOD}) / "node_modules" / name / "dist" / f"v{major}" / "schema"
    return _asked([node(), str(PEERS / "sdk.mjs"), str(schema)], vectors, dict(os.environ), variants)


def _asked(
    command: Sequence[str], vectors: Iterable[Vector], environment: Mapping[str, str], variants: Mapping[str, str]
) -> Verdicts:
    asked = [
        {"id": vector.id, "type": variants.get(vector.typed, vector.typed), "value": vector.value}
        for vector in vectors
        if vector.typed is not None
    ]
    lines = "".join(f"{json.dumps(one)}\n" for one in asked)
    ran = subprocess.run(
        command, input=lines, capture_output=True, text=True, env=environment, timeout=120, check=False
    )
    assert ran.returncode == 0, ran.stderr
    answers = [json.loads(line) for line in ran.stdout.splitlines()]
    assert [answer["id"] for answer in answers] == [one["id"] for one in asked]
    return {answer.pop("id"): Verdict(**answer) for answer in answers}


# --- fetching --------------------------------------------------------------------------------------------------------


def _installed(name: str) -> str | None:
    try:
        return version(name)
    except PackageNotFoundError:
        return None


def _fetched_from_index(name: str, wanted: str) -> Path:
    folder = _cache() / f"{name}-{wanted}"
    if not (folder / "done").exists():
        target = ["--no-deps", "--quiet", "--disable-pip-version-check", "--target", str(folder), "--upgrade"]
        command = [sys.executable, "-m", "pip", "install", *target, f"{name}=={wanted}"]
        folder.mkdir(parents=True, exist_ok=True)
        try:
            ran = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=90, check=False)
        except subprocess.TimeoutExpired:
            raise Unreachable("the Python package index does not answer") from None
        if ran.returncode != 0:
            said = " ".join(ran.stderr.strip().splitlines()[-1:])
            raise Unreachable(f"the Python package index cannot be reached: {said}")
        (folder / "done").touch()
    return folder


def _cache() -> Path:
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "acpgen" / "conformance"
