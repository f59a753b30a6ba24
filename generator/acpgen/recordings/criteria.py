"""What recordings are judged by, in a form that can be sent to another process."""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from acpgen import config
from acpgen.errors import Faults
from acpgen.files.cache import hash_all_code
from acpgen.input.faults import UNKNOWN_NAME
from acpgen.messages import validate, validators

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from acpgen.messages.recording import Line
    from jsonrpc_bindings.strict import Strict


@dataclass(frozen=True, slots=True)
class Standard:
    """How to judge: the protocols (names or schema files; by default ACP as negotiated by `initialize`), and whether as conversations or
    line by line.

    `sender` is that of lines that name none, if they are judged one by one. `methods` is a profile and `references` say what URIs
    denote, both in the form of the options `--methods` and `--ref`.
    """

    protocols: tuple[str, ...] = ()
    is_session: bool = True
    sender: str | None = None
    methods: str | None = None
    references: tuple[str, ...] = ()

    def get_validators(self) -> list[Strict]:
        """The validators, built once per process. Raises `Faults`, also for a sender that the protocol does not have."""
        versions = _read_versions(self.protocols, self.methods, self.references)
        sides = validators.find_peers(versions[0])
        if self.sender is not None and self.sender not in sides:
            raise Faults(
                [UNKNOWN_NAME(at="--sender", kind="side", name=self.sender, hint=f"It is {' or '.join(sides)}.")]
            )
        return versions

    def judge_lines(self, lines: Iterable[Line]) -> Iterator[validate.LineVerdict]:
        """Yield the verdict of each line, and in a conversation one at its end. Raises `Faults`."""
        versions, is_fixed = self.get_validators(), bool(self.protocols)
        if self.is_session:
            return validate.judge_conversation(lines, validators.make_monitor(versions, fixed=is_fixed))
        by_version = {strict.contract.version: strict for strict in versions}
        return validate.judge_lines(lines, by_version, self.sender, fixed=is_fixed)

    def hash_inputs(self) -> str:
        """A hash of everything that a verdict depends on beside the recording: this, the schemas, and the code."""
        schemas = [strict.schema for strict in self.get_validators()]
        content = json.dumps([asdict(self), schemas], sort_keys=True, default=str)  # numbers that no double equals
        return hashlib.sha256(f"{hash_all_code().digest}\0{content}".encode(errors="surrogatepass")).hexdigest()


@cache
def _read_versions(protocols: tuple[str, ...], methods: str | None, references: tuple[str, ...]) -> list[Strict]:
    profile = None if methods is None else config.find_profile(methods)
    return validators.read_versions(protocols, config.read_references(references, Path.cwd()), profile)
