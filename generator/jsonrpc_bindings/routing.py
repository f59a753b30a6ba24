"""Routing by the envelope of a message: its kind, and the method that determines the type of its payload. Used by decoding and
validation.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Final, Literal, NamedTuple, TypeAlias

from .contract import Method, Path
from .errors import INVALID_REQUEST, METHOD_NOT_FOUND, describe, quote
from .explain import find_near_field, suggest_name
from .json_types import is_array, is_object

Pending: TypeAlias = Callable[[Any], str | None]
"""Returns the method of the request with an id; `None` if there is none."""

EMPTY: Final = "a batch must hold at least one message"


class Fault(NamedTuple):
    """A fault of an envelope: the path, a sentence, the JSON-RPC error code, the violated rule and the pointer into the schema."""

    path: Path
    sentence: str
    code: int = INVALID_REQUEST
    rule: Literal["envelope", "method"] = "envelope"
    schema: str = ""


class Routed(NamedTuple):
    """The kind of a message, and its method: empty if unknown, and without a declaration if unknown or an extension.

    `kind` is `None` if the payload cannot be decoded.
    """

    kind: Literal["request", "notification", "result", "error"] | None
    method: str
    declaration: Method[Any, Any] | None
    faults: tuple[Fault, ...]


class Routing:
    """Reads the envelopes of one protocol version.

    `refused_id` returns `None` for a valid id, otherwise the pointer into the schema that rejects it, which may be empty.
    """

    def __init__(
        self, methods: Iterable[Method[Any, Any]], *, is_versioned: bool, refused_id: Callable[[Any], str | None]
    ) -> None:
        self.methods: Final[Mapping[tuple[str, bool], Method[Any, Any]]] = {
            (method.name, method.kind == "request"): method for method in methods
        }
        self.is_versioned: Final = is_versioned
        self._refused_id: Final = refused_id

    def describe_ids(self) -> str:
        """The types of an id, as part of a sentence."""
        nullable = self._refused_id(None) is None
        return "an integer, a string or null" if nullable else "an integer or a string"

    def route(self, value: Any, at: Path, sender: str, method: str | None, pending: Pending | None) -> Routed:
        """Route one message. `method` is that of the request of a response; otherwise `pending` finds it."""
        if not is_object(value):
            return Routed(None, "", None, (Fault(at, f"a JSON-RPC message is an object, not {describe(value)}"),))
        faults = tuple(self._check_version(value, at))
        name = value.get("method")
        if isinstance(name, str):
            return self._call(value, name, at, sender, faults)
        if "method" in value:
            wrong = Fault((*at, "method"), f"the method must be a string, not {describe(name)}")
        elif "result" in value or "error" in value:
            return self._answer(value, at, sender, method, pending, faults)
        else:
            wrong = Fault(
                at, f"the message has no 'method', and neither 'result' nor 'error'{_suggest('method', value)}"
            )
        return Routed(None, "", None, (*faults, wrong))

    def _check_version(self, value: dict[str, Any], at: Path) -> Iterator[Fault]:
        if self.is_versioned and value.get("jsonrpc") != "2.0":
            stands = f", not {describe(value['jsonrpc'])}" if "jsonrpc" in value else ""
            yield Fault((*at, "jsonrpc") if stands else at, f"the field 'jsonrpc' must be \"2.0\"{stands}")

    def _call(self, value: dict[str, Any], name: str, at: Path, sender: str, faults: tuple[Fault, ...]) -> Routed:
        is_request = "id" in value
        if is_request:
            faults += tuple(self._check_id(value["id"], at))
        if "result" in value or "error" in value:
            faults += (Fault(at, "a message with 'method' holds neither 'result' nor 'error'"),)
        declaration = self.methods.get((name, is_request))
        if (declaration is None and not name.startswith("_")) or (
            declaration is not None and declaration.side == sender
        ):
            return Routed(None, name, None, (*faults, self._refuse_unknown(name, is_request, sender, at)))
        params = value.get("params")
        is_plain = declaration is None or declaration.params is None
        if self.is_versioned and is_plain and not (params is None or is_array(params) or is_object(params)):
            sentence = f"the params must be an object or an array, not {describe(params)}"
            faults += (Fault((*at, "params"), sentence),)
        return Routed("request" if is_request else "notification", name, declaration, faults)

    def _answer(
        self,
        value: dict[str, Any],
        at: Path,
        sender: str,
        method: str | None,
        pending: Pending | None,
        faults: tuple[Fault, ...],
    ) -> Routed:
        is_error = "error" in value
        if is_error and "result" in value:
            faults += (Fault(at, "a response holds either 'result' or 'error', not both"),)
        if "id" not in value:
            faults += (Fault(at, "a response must carry the request's 'id'"),)
        elif not (is_error and value["id"] is None):
            faults += tuple(self._check_id(value["id"], at))
        if method is None and pending is not None and isinstance(value.get("id", ()), str | int | float | None):
            method = pending(value["id"])
        if is_error or method is None:
            return Routed("error" if is_error else "result", method or "", None, faults)
        declaration = self.methods.get((method, True))
        if declaration is None and not method.startswith("_"):
            return Routed(None, method, None, (*faults, self._refuse_unknown(method, True, sender, at)))
        if declaration is not None and declaration.side not in (sender, "both", "protocol"):
            wrong = Fault(at, f"{method!r} is answered by the {declaration.side}, not by the {sender}")
            return Routed(None, method, None, (*faults, wrong))
        return Routed("result", method, declaration, faults)

    def _check_id(self, value: Any, at: Path) -> Iterator[Fault]:
        schema = self._refused_id(value)
        if schema is not None:
            yield Fault((*at, "id"), f"an id must be {self.describe_ids()}, not {describe(value)}", schema=schema)

    def _refuse_unknown(self, name: str, is_request: bool, sender: str, at: Path) -> Fault:
        declaration = self.methods.get((name, is_request))
        counterpart = self.methods.get((name, not is_request))
        if declaration is not None:
            sentence = f"{name!r} is handled by the {declaration.side}, so the {sender} does not send it"
        elif counterpart is not None:
            remedy = "not a request: remove 'id'" if is_request else "not a notification: add 'id'"
            sentence = f"{name!r} is a {counterpart.kind}, {remedy}"
        else:
            names = [method for method, form in self.methods if form == is_request] or [m for m, _ in self.methods]
            sentence = f"the method {quote(name)} is not known{suggest_name(name, names)}"
        return Fault((*at, "method"), sentence, METHOD_NOT_FOUND, "method")


def is_id(value: Any, *, nullable: bool) -> bool:
    """Whether a value is a message id, if no schema defines ids."""
    if isinstance(value, bool):
        return False
    if isinstance(value, float):
        return value.is_integer()
    return isinstance(value, str | int) or (value is None and nullable)


def _suggest(missing: str, value: Mapping[str, Any]) -> str:
    similar = find_near_field(missing, [key for key in value if key not in ("jsonrpc", "id", "params")])
    return f"; {quote(similar)} is not known here, did you mean {missing!r}?" if similar else ""
