"""The strict validator and the monitor from schemas in memory, which generated packages have as files."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from acpgen import config, embedded
from acpgen.config import protocols
from acpgen.errors import Faults, suggest_name
from acpgen.files.cache import NO_CACHE, Cache, find_user_cache
from acpgen.input.complexity import require_few_paths
from acpgen.input.faults import UNKNOWN_NAME
from acpgen.input.load import NO_REFERENCES, Documents, References, load
from acpgen.input.numbers import with_decimals
from acpgen.meaning.faults import UNSUPPORTED
from acpgen.meaning.understanding import understand
from acpgen.messages.faults import SAME_VERSION

if TYPE_CHECKING:
    from acp_monitor import Breach, Folding, Monitor
    from acpgen import ir
    from acpgen.bundle.bundle import Bundle
    from acpgen.methods.profile import Profile
    from jsonrpc_bindings.strict import Strict

ACP: Final = ("acp/v1", "acp/v2")
"""The default protocols: the version that `initialize` negotiates."""


def find(protocol: str, references: References = NO_REFERENCES) -> Documents:
    """Load a protocol of the project or of acpgen by its name, or a file or folder by its path.

    `references` say what URIs denote in it. Raises `Faults`.
    """
    folder = protocols.find(protocol)
    if folder is not None:
        return load(folder, name=protocol, references=references)
    if Path(protocol).exists():
        return load(Path(protocol), references=references)
    hint = suggest_name(protocol, protocols.list_names())
    raise Faults([UNKNOWN_NAME(at="--protocol", kind="protocol", name=protocol, hint=hint)])


def read_strict(documents: Documents, methods: Profile | None = None, cache: Cache = NO_CACHE) -> Strict:
    """The strict validator of a protocol; `methods` is the profile of its methods, and the `cache` may already have its model.
    Raises `Faults`.
    """
    return make_strict(*understand(documents, methods=methods, cache=cache))


def make_strict(protocol: ir.Protocol, bundle: Bundle) -> Strict:
    """The strict validator of a protocol that is understood. Raises `Faults`."""
    from acpgen.meaning.contract import make_method_row, make_protocol_row

    if protocol.envelope == "dap":
        reason = "its messages have the frames of the Debug Adapter Protocol"
        remedy = "Judge values by the schema: messages of other frames than JSON-RPC's are not read"
        raise Faults([UNSUPPORTED(at=protocol.name, subject="the verdict on messages", reason=reason, remedy=remedy)])
    require_few_paths(bundle.definitions, bundle.origins)
    schema = with_decimals({**bundle.schema, "x-protocol": make_protocol_row(protocol, bundle)})
    rows = [embedded.contract.Method(**make_method_row(method)) for method in protocol.methods]
    return embedded.strict.Strict(rows, embedded.module_registry.SchemaModule("", lambda: schema))


def read_versions(
    names: Sequence[str], references: References = NO_REFERENCES, methods: Profile | None = None
) -> list[Strict]:
    """The strict validators of some versions of one protocol, by default those of ACP; `methods` is the profile of each.

    Raises `Faults`, also for a protocol whose messages cannot be followed as a stream.
    """
    by_version: dict[object, str] = {}
    validators: list[Strict] = []
    for name in names or ACP:
        validators.append(read_strict(find(name, references), methods or _find_profile(name), find_user_cache()))
        _require_two_peers(validators[-1], name)
        first, peers = map(find_peers, (validators[0], validators[-1]))
        if first != peers:
            first_name = validators[0].contract.name
            reason = f"{first_name} is spoken by {' and '.join(first)}, {name} by {' and '.join(peers)}"
            remedy = "Name versions of one protocol"
            subject = "the verdict on a stream of messages"
            raise Faults([UNSUPPORTED(at="--protocol", subject=subject, reason=reason, remedy=remedy)])
        version = validators[-1].contract.version
        if version in by_version:
            raise Faults([SAME_VERSION(at="--protocol", first=by_version[version], second=name)])
        by_version[version] = name
    return validators


def find_peers(strict: Strict) -> tuple[str, str]:
    """The two sides of a connection, the one that opens it first."""
    return embedded.versions.find_peers(strict.contract)


def _find_profile(name: str) -> Profile | None:
    """The profile that the project configures for a protocol. Raises `Faults`."""
    try:
        project = config.find(Path.cwd())
    except (Faults, OSError):
        return None
    return project.read_profile(name) if name in project.protocols else None


def _require_two_peers(strict: Strict, name: str) -> None:
    """Raise `Faults` for a schema without methods, other frames than JSON-RPC, or more than two sides: senders cannot be inferred then."""
    sides = [side for side in strict.contract.sides if side != "proxy"]
    reason, remedy = "", "Generate the package, and call its validate for each message with who sent it"
    if not strict.contract.methods:
        reason = "no profile finds a method in its schema"
        remedy = (
            "Name the profile that says where the methods stand: --methods FILE. To judge values that are no messages, generate the "
            "package, and call its validate_as"
        )
    elif len(sides) > 2:
        reason = f"it has {len(sides)} sides: {', '.join(sides)}"
    if reason:
        raise Faults(
            [UNSUPPORTED(at=name, subject="the verdict on a stream of messages", reason=reason, remedy=remedy)]
        )


def make_monitor(versions: Iterable[Strict], *, fixed: bool = False) -> Monitor:
    """A monitor for these versions of one protocol. With `fixed` they validate whatever version the peers negotiate."""
    validators = list(versions)
    names = [strict.contract.name for strict in validators]
    return embedded.monitor.Monitor(validators, fixed=fixed, unstable=lambda: list(_find_channels(names)))


def _find_channels(names: Iterable[str]) -> Iterator[Strict]:
    """Yield the unstable channels of protocols: `acp/unstable/v1` for `acp/v1`. Others have none."""
    for name in names:
        family, slash, version = name.rpartition("/")
        if slash and not family.endswith("/unstable"):
            channel = _find_channel(f"{family}/unstable/{version}", protocols.list_folders())
            if channel is not None:
                yield channel


@cache
def _find_channel(name: str, roots: tuple[Path, ...]) -> Strict | None:
    """The validator of a channel, built once per process; `roots` are the folders with protocols."""
    del roots
    with contextlib.suppress(Faults):
        return read_strict(find(name), cache=find_user_cache())
    return None


def make_folding() -> Folding[Any]:
    """The folding of repeated breaches, or of anything else with a mark."""
    return embedded.monitor.Folding()


def read(text: bytes) -> tuple[Any, tuple[tuple[str, str], ...]]:
    """Parse JSON, with pointer and sentence for each duplicate key. Raises `ValueError` for invalid JSON, and for text with too many
    values (`is_too_large`).
    """
    value, problems = embedded.parse.parse_with_duplicates(text)
    return value, tuple((problem.pointer, problem.sentence) for problem in problems)


def is_too_large(error: ValueError) -> bool:
    """Whether text was refused for the number of its values, not for invalid JSON."""
    return isinstance(error, embedded.parse.TooManyValues)


def cite_requirements(requirements: Sequence[int | str]) -> str:
    """The requirements behind a breach, in a line of text."""
    text: str = embedded.monitor.cite(requirements)
    return text


def mark_end(reason: str, index: int) -> Breach:
    """The breach that reports an early end of judging."""
    sentence = f"judging ended early, and nothing that follows was judged: {reason}"
    return embedded.monitor.Breach("not-judged", "note", (), index, "", "", "", None, sentence)
