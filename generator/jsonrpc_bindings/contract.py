"""A protocol version as plain data: its methods with the names of their definitions, and what depends on capabilities.

Nothing here needs the models. The strict validators and `acp_monitor` read it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic, Literal, NamedTuple, TypeAlias, TypeVar

if TYPE_CHECKING:
    import typing_extensions

    Sender = typing_extensions.TypeVar("Sender", bound=str, contravariant=True, default=Any)
else:
    Sender = TypeVar("Sender")
"""The sides of a protocol, where type checkers know them."""

Path: TypeAlias = tuple["str | int", ...]


Params = TypeVar("Params")
Result = TypeVar("Result")

Omitted: TypeAlias = Literal["object", "array", "null", "nothing", "refused"]

Envelope: TypeAlias = Literal["json-rpc", "json-rpc-unversioned", "dap"]
"""How messages stand on the wire: JSON-RPC 2.0, or the same without the member `jsonrpc`. The frames of DAP are not read."""


@dataclass(frozen=True, slots=True)
class Method(Generic[Params, Result]):
    """One method of a protocol. `side` handles it; the result of a request flows back. `Method[PromptRequest, PromptResponse]` is what
    type checkers know of one in the method table.

    `params` and `result` are its payloads: names of definitions in a contract, classes or aliases in the method table of the bindings;
    `None` where the schema says nothing about them. `capability` is the gate: the side that advertises, a colon, and the path in its
    initialize payload. `batch`: `never` keeps the method out of batches. `null_result`: a receiver reads a result of null as the empty
    one; the schema itself refuses it. `optional_result`: a response may come without. `omitted` is what params that are left out are
    read as: an empty object or array, null, or `nothing` at all, whatever their type asks for; or they are `refused`.
    """

    name: str
    side: str
    kind: Literal["request", "notification"]
    params: type[Params] | Any = None
    result: type[Result] | Any = None
    capability: str | None = None
    unstable: bool = False
    null_result: bool = False
    optional_result: bool = False
    batch: Literal["never"] | None = None
    omitted: Omitted = "object"

    def empty(self) -> Any:
        """What left out params are read as."""
        return {} if self.omitted == "object" else [] if self.omitted == "array" else None


class Contract(NamedTuple):
    """One version of one protocol."""

    name: str
    version: int | str | None
    sides: tuple[str, ...]
    batch: bool
    methods: tuple[Method[Any, Any], ...]
    envelope: Envelope = "json-rpc"

    @property
    def peers(self) -> tuple[str, str]:
        """The two sides of a connection, the one that opens it first. Of more than two, the first two; ACP's proxy is none."""
        known = [side for side in self.sides if side != "proxy"]
        if "client" in known:
            known.remove("client")
            return ("client", known[0] if known else "agent")
        return (known[0], known[1]) if len(known) > 1 else ("client", "agent")

    def unjudged(self, method: str, *, is_request: bool) -> str:
        """Why a message with this method, or the result of it, is not judged beyond its envelope; empty where it is, or may be
        anything.
        """
        if method.startswith("_") or any(row.name == method for row in self.methods):
            return ""
        if self.name.startswith("mcp/"):
            return "the method is not among those of MCP that the schema holds"
        if method.startswith("$/") and not is_request:
            return "the schema does not hold this notification, which receivers are free to ignore"
        return ""


def contract_of(protocol: Mapping[str, Any], methods: Iterable[Method[Any, Any]]) -> Contract:
    """The contract that a schema states in its member `x-protocol`, with these methods."""
    return Contract(
        name=protocol.get("name", ""),
        version=protocol.get("version"),
        sides=tuple(protocol.get("sides", ())),
        batch=bool(protocol.get("batch")),
        methods=tuple(methods),
        envelope=protocol.get("envelope", "json-rpc"),
    )
