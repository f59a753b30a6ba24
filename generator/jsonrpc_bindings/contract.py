"""A protocol version as plain data: its methods with the names of their definitions, and the capabilities that they need.

This module does not depend on the models. The strict validators and `acp_monitor` use it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Generic, Literal, NamedTuple, TypeAlias, TypeVar

Path: TypeAlias = tuple["str | int", ...]


Params = TypeVar("Params")
Result = TypeVar("Result")

Sender = TypeVar("Sender", bound=str, contravariant=True)
"""The sides of a protocol, as type checkers know them."""

Omitted: TypeAlias = Literal["object", "array", "null", "nothing", "refused"]

Envelope: TypeAlias = Literal["json-rpc", "json-rpc-unversioned", "dap"]
"""The format of messages on the wire: JSON-RPC 2.0, or the same without the member `jsonrpc`. Messages of DAP are not decoded."""


@dataclass(frozen=True, slots=True)
class Method(Generic[Params, Result]):
    """One method of a protocol. `side` handles it; the other side gets the result of a request.

    Type checkers see a method of the table as, for example, `Method[PromptRequest, PromptResponse]`. `params` and `result` are its
    payloads: names of definitions in a contract, classes or aliases in the method table of the bindings; `None` if the schema does not
    define them. `capability` is the gate: the side that advertises, a colon, and the path in its initialize payload. `batch`: `never`
    forbids the method in batches. `null_result`: a receiver decodes a null result as the empty one, although the schema rejects it.
    `optional_result`: a response may omit its result. `omitted` is what omitted params are decoded as: an empty object or array, null, or
    `nothing` whatever their type; or they are `refused`.
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
        """The value that omitted params are decoded as."""
        return {} if self.omitted == "object" else [] if self.omitted == "array" else None


class Contract(NamedTuple):
    """One version of one protocol."""

    name: str
    version: int | str | None
    sides: tuple[str, ...]
    batch: bool
    methods: tuple[Method[Any, Any], ...]
    envelope: Envelope = "json-rpc"


def read_contract(protocol: Mapping[str, Any], methods: Iterable[Method[Any, Any]]) -> Contract:
    """The contract in the member `x-protocol` of a schema, with these methods."""
    return Contract(
        name=protocol.get("name", ""),
        version=protocol.get("version"),
        sides=tuple(protocol.get("sides", ())),
        batch=bool(protocol.get("batch")),
        methods=tuple(methods),
        envelope=protocol.get("envelope", "json-rpc"),
    )
