"""What recordings are judged by, in words that can be sent to another process."""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from acpgen import config
from acpgen.errors import Faults
from acpgen.files.cache import all_code
from acpgen.input.faults import UNKNOWN_NAME
from acpgen.messages import validate, validators

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from acpgen.messages.recording import Line
    from jsonrpc_bindings.strict import Strict


@dataclass(frozen=True, slots=True)
class Standard:
    """How to judge: by which protocols (names or schema files; without any, ACP as `initialize` says), as conversations or line by line.

    `sender` is who sent the lines that do not say it, where they are judged one by one. `methods` is a profile and `references` are what
    addresses mean, both as the options `--methods` and `--ref` take them.
    """

    protocols: tuple[str, ...] = ()
    is_session: bool = True
    sender: str | None = None
    methods: str | None = None
    references: tuple[str, ...] = ()

    def versions(self) -> list[Strict]:
        """The validators, made once in each process. Raises `Faults`, also for a sender that the protocol does not have."""
        versions = _versions(self.protocols, self.methods, self.references)
        sides = versions[0].contract.peers
        if self.sender is not None and self.sender not in sides:
            raise Faults(
                [UNKNOWN_NAME(at="--sender", kind="side", name=self.sender, hint=f"It is {' or '.join(sides)}.")]
            )
        return versions

    def judge_lines(self, lines: Iterable[Line]) -> Iterator[validate.LineVerdict]:
        """The verdict on each line, and in a conversation one at its end. Raises `Faults`."""
        versions, fixed = self.versions(), bool(self.protocols)
        if self.is_session:
            return validate.judge_conversation(lines, validators.make_monitor(versions, fixed=fixed))
        by_version = {strict.contract.version: strict for strict in versions}
        return validate.judge_lines(lines, by_version, self.sender, fixed=fixed)

    def digest(self) -> str:
        """A hash of all that a verdict depends on beside the recording: this, the schemas, and the code that judges."""
        schemas = [strict.schema for strict in self.versions()]
        content = json.dumps([asdict(self), schemas], sort_keys=True, default=str)  # numbers that no double equals
        return hashlib.sha256(f"{all_code().digest}\0{content}".encode(errors="surrogatepass")).hexdigest()


@cache
def _versions(protocols: tuple[str, ...], methods: str | None, references: tuple[str, ...]) -> list[Strict]:
    profile = None if methods is None else config.find_profile(methods)
    return validators.read_versions(protocols, config.references(references, Path.cwd()), profile)
