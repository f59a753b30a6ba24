"""A protocol version as plain data: its methods with the names of their definitions, and what depends on capabilities.

Nothing here needs the models. The strict validators and `acp_monitor` read it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Final, Generic, Literal, NamedTuple, TypeAlias, TypeVar

from .json_types import is_array, is_object

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


class Member(NamedTuple):
    """A field, variant or value of a definition.

    `capability` gates it, `required_with` makes it required. `look` names the definitions where more may depend on capabilities;
    `[]` before a name stands for the items of an array, `{}` for the values of an object.
    """

    capability: str | None = None
    required_with: str | None = None
    look: tuple[str, ...] = ()


_NOTHING: Final[Mapping[Any, Any]] = MappingProxyType({})


class Gated(NamedTuple):
    """What of one definition depends on capabilities: fields, variants by tag, values of an enumeration, or what it refers to.

    `other` is what the tags that are not among `variants` look into.
    """

    fields: Mapping[str, Member] = _NOTHING
    tag: str = ""
    variants: Mapping[Any, Member] = _NOTHING
    other: tuple[str, ...] = ()
    values: Mapping[Any, str] = _NOTHING
    look: tuple[str, ...] = ()


class Use(NamedTuple):
    """A place in a message that depends on a capability. `kind` says how: it is there, or (`absent`) it is required and is not."""

    path: Path
    capability: str
    kind: Literal["field", "variant", "value", "absent"]
    name: str


class Contract(NamedTuple):
    """One version of one protocol. `gated` holds only definitions that depend on capabilities, or lead to such."""

    name: str
    version: int | str | None
    sides: tuple[str, ...]
    batch: bool
    methods: tuple[Method[Any, Any], ...]
    gated: Mapping[str, Gated]
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

    def uses(self, definition: str | None, value: Any, at: Path = ()) -> list[Use]:
        """The places in `value`, an instance of `definition`, that depend on capabilities. Values of other shapes are ignored."""
        found: list[Use] = []
        if definition is not None:
            self._collect(definition, value, at, found)
        return found

    def _collect(self, definition: str, value: Any, at: Path, uses: list[Use]) -> None:
        found = self.gated.get(definition)
        if found is None:
            return
        if found.look:
            self._look(found.look, value, at, uses)
        if found.values and isinstance(value, str | int) and value in found.values:
            uses.append(Use(at, found.values[value], "value", str(value)))
        if not is_object(value):
            return
        for name, member in found.fields.items():
            if name in value:
                if member.capability is not None:
                    uses.append(Use((*at, name), member.capability, "field", name))
                if member.look:
                    self._look(member.look, value[name], (*at, name), uses)
            elif member.required_with is not None:
                uses.append(Use(at, member.required_with, "absent", name))
        if not found.tag:
            return
        tag = value.get(found.tag)
        variant = found.variants.get(tag) if isinstance(tag, str | int) else None
        if variant is None:
            self._look(found.other, value, at, uses)
            return
        if variant.capability is not None:
            uses.append(Use((*at, found.tag), variant.capability, "variant", str(tag)))
        self._look(variant.look, value, at, uses)

    def _look(self, look: tuple[str, ...], value: Any, at: Path, uses: list[Use]) -> None:
        for name in look:
            if name.startswith("[]"):
                for index, item in enumerate(value if is_array(value) else ()):
                    self._look((name[2:],), item, (*at, index), uses)
            elif name.startswith("{}"):
                for key, item in value.items() if is_object(value) else ():
                    self._look((name[2:],), item, (*at, key), uses)
            else:
                self._collect(name, value, at, uses)


def contract_of(protocol: Mapping[str, Any], methods: Iterable[Method[Any, Any]]) -> Contract:
    """The contract that a schema states in its member `x-protocol`, with these methods.

    Tables by name or constant are lists of pairs there, since a constant may be no text.
    """
    return Contract(
        name=protocol.get("name", ""),
        version=protocol.get("version"),
        sides=tuple(protocol.get("sides", ())),
        batch=bool(protocol.get("batch")),
        methods=tuple(methods),
        gated={name: _gated(row) for name, row in protocol.get("gated", {}).items()},
        envelope=protocol.get("envelope", "json-rpc"),
    )


def _gated(row: Mapping[str, Any]) -> Gated:
    return Gated(
        fields={name: _member(one) for name, one in row.get("fields", ())},
        tag=row.get("tag", ""),
        variants={tag: _member(one) for tag, one in row.get("variants", ())},
        other=tuple(row.get("other", ())),
        values=dict(row.get("values", ())),
        look=tuple(row.get("look", ())),
    )


def _member(row: Mapping[str, Any]) -> Member:
    return Member(row.get("capability"), row.get("required_with"), tuple(row.get("look", ())))
