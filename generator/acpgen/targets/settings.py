"""How an output wants the files of a target."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from acpgen.files.cache import NO_CACHE, Cache
from acpgen.targets.options import Value


@dataclass(frozen=True, slots=True)
class Settings:
    """How an output wants its files: the dotted package, the distribution around it, the folder for this protocol.

    For docs, `package` and `module` are the Python package and the npm module that other outputs make of the protocol.

    `version` and `license`, an SPDX expression, are those of the distribution. `options` has a value for each option that the target
    declares. `cache` is where a target may find what it made of the same inputs in an earlier run.
    """

    package: str = ""
    distribution: str | None = None
    version: str | None = None
    license: str | None = None
    prefix: str = ""
    module: str = ""
    options: Mapping[str, Value] = field(default_factory=dict[str, Value], hash=False)
    cache: Cache = field(default=NO_CACHE, compare=False, repr=False)
