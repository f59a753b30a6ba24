"""The settings of an output for the files of a target."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from acpgen.files.cache import NO_CACHE, Cache
from acpgen.targets.options import Value


@dataclass(frozen=True, slots=True)
class Settings:
    """The settings of an output: the dotted package, the distribution around it, the folder for this protocol.

    For docs, `package` and `module` are the Python package and the npm module that other outputs generate from the protocol. `version`
    and `license`, an SPDX expression, are those of the distribution. `options` has a value for each option that the target declares.
    `cache` may hold the target's output for the same input from an earlier run.
    """

    package: str = ""
    distribution: str | None = None
    version: str | None = None
    license: str | None = None
    prefix: str = ""
    module: str = ""
    options: Mapping[str, Value] = field(default_factory=dict[str, Value], hash=False)
    cache: Cache = field(default=NO_CACHE, compare=False, repr=False)
