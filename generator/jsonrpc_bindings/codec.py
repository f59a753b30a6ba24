"""Decoding and encoding: a message is dispatched by method and side, never by trying everything."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, TypeAlias

from pydantic import BaseModel, ConfigDict, TypeAdapter, ValidationError
from pydantic_core import PydanticSerializationError, SchemaValidator

from .contract import Method, Path
from .errors import (
    INVALID_PARAMS,
    INVALID_REQUEST,
    METHOD_NOT_FOUND,
    DecodeError,
    Dropped,
    EncodeError,
    Problem,
    limited,
    shown,
    told,
)
from .heads import Head, learn
from .json_types import is_array, is_object
from .jsonrpc import ErrorObject, ErrorResponse, Form, Notification, Request, Response
from .judging import Judge
from .leniency import Edits, Leniency, explained, placed, repair, without_repeats
from .model import Reading, changed_defaults
from .parse import VALUES, Duplicates, copied, parse
from .pointers import json_pointer
from .quick import quick_validator
from .sending import STRICTLY, Sent, below, faults, faults_of_value, refuse, unnamed
from .trace import chosen, find, with_strays
from .writing import quickly, refuse_unwritable

ROUNDS: Final = 16
"""So often a message is judged again without what was dropped from it; each round drops what may be, up to a limit."""

_TOO_MUCH: Final = "more is wrong here than is looked for and dropped"

Hook: TypeAlias = Callable[[Dropped], object]
Message: TypeAlias = "Request[Any] | Notification[Any] | Response[Any] | ErrorResponse[Any]"


@dataclass(slots=True)
class Codec:
    """Decodes and encodes the messages of one protocol version.

    `lenient` and `owners` are the generated tables of lenient fields and of fields declared by another definition than
    their class. `null_id`: a request's id may be null. `batch`: a message may be an array. `sides` are the senders. `versioned`:
    messages have the member `jsonrpc`.
    """

    methods: Mapping[str, Method[Any, Any]]
    lenient: Mapping[str, Mapping[str, Leniency]]
    owners: Mapping[str, Mapping[str, str]]
    error: type[Any] = ErrorObject
    null_id: bool = False
    batch: bool = False
    sides: tuple[str, ...] = ()
    versioned: bool = True
    _judges: dict[Any, Judge] = field(default_factory=dict[Any, Judge], repr=False)
    _routes: dict[tuple[str, bool], Method[Any, Any]] = field(
        default_factory=dict[tuple[str, bool], Method[Any, Any]], repr=False
    )

    _quicks: dict[Any, SchemaValidator | None] = field(default_factory=dict[Any, "SchemaValidator | None"], repr=False)
    _heads: dict[bytes, Head | None] = field(default_factory=dict[bytes, "Head | None"], repr=False)
    _beginnings: dict[str, bytes] = field(default_factory=dict[str, bytes], repr=False)
    _written: dict[str, bytes] = field(default_factory=dict[str, bytes], repr=False)

    def __post_init__(self) -> None:
        for method in self.methods.values():
            self._routes[method.name, method.kind == "request"] = method

    # --- decoding ---

    def decode(
        self,
        line: Any,
        *,
        sender: str,
        method: str | None = None,
        pending: Mapping[Any, str] | None = None,
        on_drop: Hook | None = None,
        lenient: bool = True,
        duplicates: Duplicates = "refuse",
        values: int = VALUES,
    ) -> Any:
        """See the generated module's `decode`."""
        if line.__class__ is bytes and len(line) <= values:
            last = line.rfind(b'"')
            head = self._heads.get(line[: line.rfind(b'"', 0, last)])
            if head is not None:
                said, closers, begin, end, name, read_params = head
                if said == sender and line[last:] == closers:
                    try:
                        return Notification(name, read_params(line[begin:end]), {}, "value")
                    except ValidationError:
                        pass  # the general way says what is wrong, or drops it
        if self.sides and sender not in self.sides:
            raise ValueError(f"the sender is one of {self.sides}, not {sender!r}")
        read = parse if isinstance(line, bytes | bytearray | str) else copied
        value = read(line, duplicates=duplicates, values=values)
        if self.batch and is_array(value):
            if not value:
                raise _invalid("a batch must hold at least one message")
            return [
                self._message(item, (index,), sender, method, pending, on_drop, lenient)
                for index, item in enumerate(value)
            ]
        message = self._message(value, (), sender, method, pending, on_drop, lenient)
        if isinstance(line, bytes) and isinstance(message, Notification) and duplicates == "refuse":
            self._learn(line, sender, message)
        return message

    def _learn(self, line: bytes, sender: str, message: Notification[Any]) -> None:
        row = self._routes.get((message.method, False))
        if row is not None and row.params is not None and message.form == "value" and not message.extra:
            quick = self._quick(row.params)
            if quick is not None:
                learn(self._heads, line, sender, message.method, quick.validate_json)

    def read(
        self, value: Any, *, sender: str, pending: Mapping[Any, str] | None = None, on_drop: Hook | None = None
    ) -> Any:
        """One message of what `parse` gave. Raises as `decode`."""
        return self._message(value, (), sender, None, pending, on_drop, True)

    def route(self, name: str, *, is_request: bool) -> Method[Any, Any] | None:
        """The method of a request or notification."""
        return self._routes.get((name, is_request))

    def _message(
        self,
        value: Any,
        at: Path,
        sender: str,
        method: str | None,
        pending: Mapping[Any, str] | None,
        on_drop: Hook | None,
        lenient: bool,
    ) -> Message:
        if not is_object(value):
            raise _invalid(f"a JSON-RPC message is an object, not {told(value)}", at)
        if value.keys() == _NOTIFICATION and self.versioned and value["jsonrpc"] == "2.0":  # most are so
            name, params = value["method"], value["params"]
            row = self._routes.get((name, False)) if name.__class__ is str else None
            if row is not None and row.side != sender and row.params is not None and params is not None:
                typed = self._typed(row.params, params, (*at, "params"), INVALID_PARAMS, value, on_drop, lenient)
                return Notification(name, typed, {}, "value")
        if self.versioned and value.get("jsonrpc") != "2.0":
            raise _invalid("the field 'jsonrpc' must be \"2.0\"", at, value)
        name = value.get("method")
        if name is None and "method" not in value and ("result" in value or "error" in value):
            return self._answer(value, at, sender, method, pending, on_drop, lenient)
        if not isinstance(name, str):
            raise _invalid("the message has no 'method', and neither 'result' nor 'error'", at, value)
        is_request = "id" in value
        if is_request and not self._is_id(value["id"]):
            raise _invalid(f"a request id must be {self._ids()}", (*at, "id"), value)
        if "result" in value or "error" in value:
            raise _invalid("a message with 'method' holds neither 'result' nor 'error'", at, value)
        row = self._routes.get((name, is_request))
        if row is None or row.side == sender:
            if row is not None or not name.startswith("_"):
                raise self._unknown(name, is_request, sender, at, value)
            row = None
        form, typed = self._payload(row, value, "params", at, on_drop, lenient)
        if is_request:
            return Request(value["id"], name, typed, self._extra(value, _REQUEST), form)
        return Notification(name, typed, self._extra(value, _NOTIFICATION), form)

    def _payload(
        self,
        row: Method[Any, Any] | None,
        value: dict[str, Any],
        key: str,
        at: Path,
        on_drop: Hook | None,
        lenient: bool,
    ) -> tuple[Form, Any]:
        """The params of a call by its row, plain JSON without one, and how they stood."""
        form: Form = "absent" if key not in value else "null" if value[key] is None else "value"
        params = value.get(key)
        if row is None or row.params is None:
            return form, params
        if form != "value":
            if row.omitted == "nothing":
                return form, None
            params = row.empty()
        return form, self._typed(row.params, params, (*at, key), INVALID_PARAMS, value, on_drop, lenient)

    def _answer(
        self,
        value: dict[str, Any],
        at: Path,
        sender: str,
        method: str | None,
        pending: Mapping[Any, str] | None,
        on_drop: Hook | None,
        lenient: bool,
    ) -> Message:
        if "result" in value and "error" in value:
            raise _invalid("a response holds either 'result' or 'error', not both", at, value)
        if "id" not in value:
            raise _invalid("a response must carry the request's 'id'", at, value)
        id_ = value["id"]
        if not self._is_id(id_) and not (id_ is None and "error" in value):
            raise _invalid(f"a response id must be {self._ids()}", (*at, "id"), value)
        if method is None and pending is not None:
            method = pending.get(id_)
        extra = self._extra(value, _ERROR if "error" in value else _RESPONSE)
        if "error" in value:
            error = self._typed(self.error, value["error"], (*at, "error"), INVALID_REQUEST, value, on_drop, lenient)
            return ErrorResponse(id_, error, method or "", extra)
        if method is None:
            raise _invalid(f"no request with id {told(id_)} is pending, so the result cannot be read", at, value)
        row = self._routes.get((method, True))
        if row is None and not method.startswith("_"):
            raise self._unknown(method, True, sender, at, value)
        if row is None or row.result is None:
            return Response(id_, value["result"], method, extra)
        if row.side not in (sender, "both"):
            raise _invalid(f"{method!r} is answered by the {row.side}, not by the {sender}", at, value)
        form, result = _form(value, "result")
        if form == "null" and not row.null_result:
            form, result = "value", None
        typed = self._typed(row.result, result, (*at, "result"), INVALID_PARAMS, value, on_drop, lenient)
        return Response(id_, typed, method, extra, form)

    def decode_as(
        self, type_: Any, value: Any, *, on_drop: Hook | None = None, lenient: bool = True, strict: bool = False
    ) -> Any:
        """See the generated module's `decode_as`."""
        found = self._typed(type_, copied(value), (), INVALID_PARAMS, {}, on_drop, lenient and not strict)
        problems = limited(unnamed(self, found, type_)) if strict else ()
        if problems:
            raise DecodeError(INVALID_PARAMS, problems)
        return found

    def accepts_null(self, type_: Any) -> bool:
        """Whether null is a value of a type."""
        try:
            self.judge(type_).decoded(None, Reading())
        except ValidationError:
            return False
        return True

    def _typed(
        self, type_: Any, value: Any, at: Path, code: int, message: dict[str, Any], on_drop: Hook | None, lenient: bool
    ) -> Any:
        quick = self._quick(type_)
        if quick is not None:
            try:
                return quick.validate_python(value)
            except ValidationError:
                pass
        judge, reading = self.judge(type_), Reading()
        try:
            return judge.decoded(value, reading)
        except ValidationError:
            return self._repaired(judge, value, at, code, message, on_drop, lenient, reading)

    def _quick(self, type_: Any) -> SchemaValidator | None:
        """The quick validator of a type, if it has one."""
        try:
            return self._quicks[type_]
        except KeyError:
            self._quicks[type_] = found = quick_validator(self.judge(type_).core_schema)
            return found

    def judge(self, type_: Any) -> Judge:
        """What judges values of a type."""
        judge = self._judges.get(type_)
        if judge is None:
            judge = self._judges[type_] = Judge(type_)
        return judge

    def _repaired(
        self,
        judge: Judge,
        value: Any,
        at: Path,
        code: int,
        message: dict[str, Any],
        on_drop: Hook | None,
        lenient: bool,
        reading: Reading,
    ) -> Any:
        """What is left of a refused value without what may be dropped. Raises `DecodeError` where nothing is."""
        edits, current, drops = Edits(), value, list[Dropped]()
        kept: list[Any] = []  # what was found of a value is known by its identity
        for _ in range(ROUNDS):
            found = [find(details, judge.core_schema, current) for details in judge.errors(current)]
            if not found:
                break
            if not edits.make_whole(found):
                new, left = repair(chosen(found), edits, value, self.lenient if lenient else None, self.owners, at)
                if left:
                    problems = (placed(one, edits, self.owners, at) for one in with_strays(left))
                    told_of = limited(explained(problems, drops))
                    raise DecodeError(code, told_of, id=message.get("id"), method=message.get("method")) from None
                drops.extend(new)
            current = edits.apply(value)
            kept.append(current)
            try:
                result = judge.decoded(current, reading)
            except ValidationError:
                continue
            if on_drop is not None:
                for drop in without_repeats(drops):
                    on_drop(drop)
            return result
        told_of = limited((Problem(json_pointer(at), "", _TOO_MUCH), *(drop.problem for drop in drops)))
        raise DecodeError(code, told_of, id=message.get("id"), method=message.get("method"))

    def _extra(self, value: dict[str, Any], named: frozenset[str]) -> dict[str, Any]:
        """The fields of an envelope that JSON-RPC does not name for its kind of message."""
        if value.keys() <= named and (self.versioned or "jsonrpc" not in value):
            return {}
        return {
            key: item for key, item in value.items() if key not in named or (key == "jsonrpc" and not self.versioned)
        }

    def _is_id(self, value: Any) -> bool:
        if isinstance(value, bool):
            return False
        if isinstance(value, float):
            return value.is_integer()
        return isinstance(value, str | int) or (value is None and self.null_id)

    def _ids(self) -> str:
        return "an integer, a string or null" if self.null_id else "an integer or a string"

    def _unknown(self, name: str, is_request: bool, sender: str, at: Path, value: dict[str, Any]) -> DecodeError:
        row = self._routes.get((name, is_request))
        other = self._routes.get((name, not is_request))
        if row is not None:
            sentence = f"{name!r} is handled by the {row.side}, so the {sender} does not receive or send it this way"
        elif other is not None:
            how = "not a request: remove 'id'" if is_request else "not a notification: add 'id'"
            sentence = f"{name!r} is a {other.kind}, {how}"
        else:
            sentence = f"the method {shown(name)} is not known"
        problems = (Problem(json_pointer((*at, "method")), "", sentence),)
        return DecodeError(METHOD_NOT_FOUND, problems, id=value.get("id"), method=name)

    # --- encoding ---

    def encode(self, message: Any, *, strict: bool | None = None) -> bytes:
        """See the generated module's `encode`."""
        if message.__class__ is Notification and message.form == "value" and not message.extra and self.versioned:
            text = self._beginning(message.method) + to_json(message.params) + b"}"  # most are so
        else:
            text = self._text(message)
        if STRICTLY.is_on if strict is None else strict:
            refuse(self._faults(message, text))
        return text

    def _faults(self, message: Any, text: bytes) -> Iterator[Problem]:
        """What a strict judgement refuses in what was written."""
        if is_array(message):
            for index, item in enumerate(message):
                yield from below((index,), self._faults(item, self._text(item)))
            return
        sent = self._sent(message)
        yield from faults(self, sent, text) if sent is not None else faults_of_value(self, message)

    def _sent(self, message: Any) -> Sent | None:
        """By what a message is judged; `None` for plain values."""
        match message:
            case Request() | Notification():
                is_request = isinstance(message, Request)
                call: Any = message  # pyright: ignore[reportUnknownVariableType]
                row = self._routes.get((call.method, is_request))
                type_ = row.params if row is not None else None
                return Sent(row, call.method, "params", "params", type_, _REQUEST if is_request else _NOTIFICATION)
            case Response():
                row = self._routes.get((message.method, True))
                result: Any = message.result  # pyright: ignore[reportUnknownMemberType, reportUnknownVariableType]
                type_ = row.result if row is not None else None
                return Sent(row, message.method, "result", "result", type_, _RESPONSE, result, is_answer=True)
            case ErrorResponse():
                row = self._routes.get((message.method, True))
                return Sent(row, message.method, "error", "error", self.error, _ERROR, is_answer=True)
            case _:
                return None

    def _text(self, message: Any) -> bytes:
        if is_array(message):
            return b"[" + b",".join(self._text(item) for item in message) + b"]"
        match message:
            case Request():
                named, head = _REQUEST, b'"id":' + to_json(message.id) + b"," + self._method(message.method)
                text = head + _body(message, b',"params":')
            case Notification():
                named, text = (
                    _NOTIFICATION,
                    self._method(message.method) + _body(message, b',"params":'),
                )
            case Response():
                named, text = _RESPONSE, b'"id":' + to_json(message.id) + _body(message, b',"result":')
            case ErrorResponse():
                error: Any = message.error  # pyright: ignore[reportUnknownMemberType, reportUnknownVariableType]
                named, text = _ERROR, b'"id":' + to_json(message.id) + b',"error":' + to_json(error)
            case _:
                return to_json(message)
        if message.extra:
            text += more(message.extra, named if self.versioned else named - _VERSION)
        return (b'{"jsonrpc":"2.0",' if self.versioned else b"{") + text + b"}"

    def _beginning(self, name: str) -> bytes:
        """What stands before the params of a notification."""
        found = self._beginnings.get(name)
        if found is None:
            found = b'{"jsonrpc":"2.0",' + self._method(name) + b',"params":'
            if name in self.methods:
                self._beginnings[name] = found
        return found

    def _method(self, name: str) -> bytes:
        written = self._written.get(name)
        if written is None:
            written = b'"method":' + to_json(name)
            if name in self.methods:
                self._written[name] = written
        return written


_ANYTHING: TypeAdapter[Any] = TypeAdapter(Any, config=ConfigDict(ser_json_inf_nan="constants"))
_REQUEST = frozenset({"jsonrpc", "id", "method", "params"})
_NOTIFICATION = frozenset({"jsonrpc", "method", "params"})
_RESPONSE = frozenset({"jsonrpc", "id", "result"})
_ERROR = frozenset({"jsonrpc", "id", "error"})
_VERSION = frozenset({"jsonrpc"})


def more(extra: Mapping[str, Any], named: frozenset[str]) -> bytes:
    """Further fields of an envelope, as the end of its text. Raises `EncodeError` for those that the envelope names itself."""
    if not named.isdisjoint(extra):
        raise EncodeError(f"{', '.join(sorted(named & extra.keys()))}: not to be set by 'extra'")
    return b"".join(b"," + to_json(key) + b":" + to_json(item) for key, item in extra.items())


def _form(value: dict[str, Any], key: str) -> tuple[Form, Any]:
    if key not in value:
        return "absent", {}
    return ("null", {}) if value[key] is None else ("value", value[key])


def _body(message: Any, key: bytes) -> bytes:
    """Params or result as they came."""
    return written(getattr(message, "result" if isinstance(message, Response) else "params"), message.form, key)


def written(value: Any, form: Form, key: bytes) -> bytes:
    """A payload after its key as it came: omitted and null stay so while nothing was set in it."""
    if form != "value":
        is_set = (
            bool(value.model_fields_set or value.model_extra or changed_defaults(value))
            if isinstance(value, BaseModel)
            else value is not None and value != []
        )
        if not is_set:
            return b"" if form == "absent" else key + b"null"
    return key + to_json(value)


def to_json(value: Any) -> bytes:
    """A value as JSON text. Raises `EncodeError` for what no JSON can hold."""
    if type(value) is int and abs(value) < 1 << 63:  # Python limits how long a number it writes
        return str(value).encode()
    try:
        if isinstance(value, BaseModel):
            quick = quickly(value)
            if quick is not None:
                return quick
            text = value.__pydantic_serializer__.to_json(value, by_alias=True, exclude_unset=True, warnings="error")
            refuse_unwritable(value)
        else:
            text = _ANYTHING.serializer.to_json(value, by_alias=True, exclude_unset=True, warnings="error")
    except (PydanticSerializationError, UnicodeError) as error:
        raise EncodeError(f"this cannot be written as JSON: {error}") from None
    if b"NaN" in text or b"Infinity" in text:
        try:
            parse(text, duplicates="last")
        except DecodeError:
            raise EncodeError("a number that is not finite cannot be written as JSON") from None
    return text


def _invalid(sentence: str, at: Path = (), value: dict[str, Any] | None = None) -> DecodeError:
    id_ = value.get("id") if value is not None else None
    method = value.get("method") if value is not None else None
    problems = (Problem(json_pointer(at), "", sentence),)
    return DecodeError(INVALID_REQUEST, problems, id=id_, method=method if isinstance(method, str) else None)
