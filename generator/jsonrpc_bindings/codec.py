"""Decoding and encoding of the messages of one protocol version.

A line is read by msgspec in one call, and written again in one: as many colons show that nothing was lost. What msgspec refuses, or would
lose, is read by readers, and what they refuse is judged by the schema, which says what is wrong or what may be dropped.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final, Literal, TypeAlias, Union

import jiter
from msgspec import UNSET

from .choices import resolve
from .contract import Method, Path
from .errors import (
    INVALID_PARAMS,
    INVALID_REQUEST,
    DecodeError,
    Dropped,
    EncodeError,
    Problem,
    limited,
    shown,
    told,
)
from .explain import did_you_mean
from .json_types import Mismatch, is_array, is_mapping, is_object, is_sequence
from .jsonrpc import (
    Beside,
    ErrorObject,
    ErrorResponse,
    Form,
    Message,
    Notification,
    Request,
    Response,
    class_of,
)
from .native import Never, decoder, native, note
from .parse import (
    BACKSLASH,
    DEEPEST,
    FAILURES,
    VALUES,
    Duplicates,
    colons_of,
    copied,
    has_written_colon,
    holds_at_most,
    parse,
    refuse_deep,
    untyped,
)
from .pointers import json_pointer
from .readers import Read, Unnamed, build, reader
from .receiving import Receiving
from .records import Record, changed, copy, held, make, notes_of, shape_of
from .routing import EMPTY, Routing, is_id
from .strict_encode import STRICTLY, unnamed
from .types import Type, type_of
from .writers import DEEP, HasNotes, encode_native, readable, refuse_not_finite, text_of, write_with_notes, written_text

Hook: TypeAlias = Callable[[Dropped], object]

_LOST: Final = (Mismatch, *FAILURES)
"""What becomes of a line that msgspec does not read, or of a value that it does not write."""


class Codec:
    """Decodes and encodes the messages of one protocol version.

    `receiving` judges what no reader takes. `error` is the type of errors. `null_id`: a request's id may be null. `batch`: a message may be
    an array. `sides` are the senders. `versioned`: messages have the member `jsonrpc`.
    """

    def __init__(
        self,
        methods: Mapping[str, Method[Any, Any]],
        receiving: Receiving,
        *,
        error: Any = ErrorObject,
        null_id: bool = False,
        batch: bool = False,
        sides: Sequence[str] = (),
        versioned: bool = True,
    ) -> None:
        self.methods: Final = methods
        self.receiving: Final = receiving
        self.error: Final = error
        self.null_id: Final = null_id
        self.batch: Final = batch
        self.sides: Final = tuple(sides)
        self.versioned: Final = versioned
        self._written: Final = {id(type_) for row in methods.values() for type_ in (row.params, row.result)}
        self._routing: Final = Routing(
            methods.values(),
            is_versioned=versioned,
            refused_id=lambda value: None if is_id(value, nullable=null_id) else "",
        )
        self._routes: Final = self._routing.rows
        self._lines: dict[str, Any] = {}
        self._results: dict[tuple[str, str], Any] = {}
        self._classes: dict[tuple[Any, str], Any] = {}
        self._types: dict[tuple[bool, Any], Type] = {}
        self._decoders: dict[Any, Any] = {}
        self._checks: dict[Any, Any] = {}
        self._entries: dict[Any, Any] = {}

    @classmethod
    def of(cls, module: str, methods: Mapping[str, Method[Any, Any]], **options: Any) -> Codec:
        """The codec of the protocol that a generated module belongs to."""
        return cls(methods, Receiving.of(module), **options)

    # --- the native way ---

    def _class(self, kind: Any, row: Method[Any, Any]) -> Any:
        """The class of the messages of one method; `None` where they have none."""
        key = kind, row.name
        if key not in self._classes:
            self._classes[key] = self._made_class(kind, row)
        return self._classes[key]

    def _made_class(self, kind: Any, row: Method[Any, Any]) -> Any:
        type_ = row.result if kind is Response else row.params
        if type_ is None:
            return None
        told_of = native(self.type(type_))
        if told_of is Never:
            return None
        fields: dict[str, Any] = {"jsonrpc": Literal["2.0"]} if self.versioned else {}
        if kind is not Notification:
            fields["id"] = int | str | None if self.null_id else int | str
        fields["result" if kind is Response else "params"] = told_of
        return class_of(kind, row.name, fields, is_tagged=kind is not Response)

    def _line_decoder(self, sender: str) -> Any:
        """What reads the calls of a sender."""
        rows: dict[str, list[Method[Any, Any]]] = {}
        for row in self._routes.values():
            if row.side != sender:
                rows.setdefault(row.name, []).append(row)
        kinds = {"request": Request, "notification": Notification}
        classes = [self._class(kinds[own[0].kind], own[0]) for own in rows.values() if len(own) == 1]
        found = [cls for cls in classes if cls is not None]
        made = decoder(Union[tuple(found)]).decode if found else _nothing  # noqa: UP007
        self._lines[sender] = made
        return made

    def _result_decoder(self, sender: str, method: str) -> Any:
        """What reads the results of a method."""
        row = self._routes.get((method, True))
        cls = self._class(Response, row) if row is not None and row.side in (sender, "both") else None
        made = decoder(cls).decode if cls is not None else _nothing
        if row is not None:  # names that no schema has are without end
            self._results[sender, method] = made
        return made

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
        """The message of a line of UTF-8 text, or of parsed JSON."""
        if self.sides and sender not in self.sides:
            raise ValueError(f"the sender is one of {self.sides}, not {sender!r}")
        if duplicates != "refuse" and duplicates != "last":
            raise ValueError(f"duplicates is 'refuse' or 'last', not {duplicates!r}")
        if line.__class__ is not bytes:
            line = _as_bytes(line)
        if line.__class__ is bytes and (len(line) <= values or holds_at_most(line, values)):
            try:
                read = (
                    (self._lines.get(sender) or self._line_decoder(sender))
                    if method is None
                    else self._results.get((sender, method)) or self._result_decoder(sender, method)
                )
                message = read(line)
                colons = line.count(b":")
                if len(line) > DEEPEST:
                    refuse_deep(line, colons)
                left = colons - encode_native(message).count(b":")
                if BACKSLASH not in line or not has_written_colon(line):
                    return self._noted(message, line, left) if left else message
            except _LOST:
                pass
        if line.__class__ is bytes or isinstance(line, bytearray | str):
            value = parse(line, duplicates=duplicates, values=values)
        else:
            value = copied(line, duplicates=duplicates, values=values)
        if value.__class__ is dict and (found := self._plain(value, sender, method)) is not None:
            return found
        if self.batch and is_array(value):
            if not value:
                raise _refusal(INVALID_REQUEST, (Problem("", "", EMPTY),), {})
            return [
                self._message(item, (index,), sender, method, pending, on_drop, lenient)
                for index, item in enumerate(value)
            ]
        return self._message(value, (), sender, method, pending, on_drop, lenient)

    def _noted(self, message: Any, line: bytes, left: int) -> Any:
        """A message that msgspec read, with the unknown fields that have the colons which are `left`.

        Raises `Mismatch` where a reader has to read it, or a key is given twice: then some colons are nobody's.
        """
        value = untyped(line)
        members = message.members_on_wire
        if not value.keys() <= members:
            extra = {key: item for key, item in value.items() if key not in members}
            if not _ENVELOPE.isdisjoint(extra):
                raise Mismatch
            message._notes = Beside(extra)
            left -= colons_of(extra)
        payload = "params" if "params" in members else "result"
        if left and note(getattr(message, payload), value[payload], left):
            raise Mismatch
        return message

    def _plain(self, value: dict[str, Any], sender: str, method: str | None) -> Any:
        """A message about which nothing is special, made of its JSON; `None` where something is."""
        name: Any = value.get("method") if method is None else method
        if name.__class__ is not str:
            return None
        key = sender, name, "id" in value, method is None
        names, empty, put_id, put_payload, member, read = self._entries.get(key) or self._made_entry(*key)
        if value.keys() != names or value.get("jsonrpc", "2.0") != "2.0":
            return None
        message = copy(empty)
        if put_id is not None:
            id_ = value["id"]
            if id_.__class__ is not int and id_.__class__ is not str:
                return None
            put_id(message, id_)
        try:
            put_payload(message, read(value[member]))
        except (Mismatch, RecursionError):
            return None
        return message

    def _made_entry(self, sender: str, name: str, is_request: bool, is_call: bool) -> tuple[Any, ...]:
        """What `_plain` needs of a method: the members, a message without them, what puts them, and the reader of the payload."""
        row = self._routes.get((name, is_request if is_call else True))
        kind = Response if not is_call else Request if is_request else Notification
        is_sent = row is not None and (row.side != sender if is_call else row.side in (sender, "both"))
        cls = self._class(kind, row) if is_sent and row is not None else None
        found: tuple[Any, ...] = (None,) * 6
        if cls is not None and row is not None:
            names = _FRAMES[kind] if self.versioned else _FRAMES[kind] - {"jsonrpc"}
            member = "params" if is_call else "result"
            own = names - {"method"}
            empty = make(cls, **{one: "2.0" if one == "jsonrpc" else None for one in own})
            put_id = cls.id.__set__ if "id" in own else None
            read = reader(self.type(row.params if is_call else row.result))
            found = names, empty, put_id, getattr(cls, member).__set__, member, read
        if row is not None:  # names that nobody knows are as many as a peer likes
            self._entries[sender, name, is_request, is_call] = found
        return found

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
    ) -> Any:
        kind, name, row, faults = self._routing.route(value, at, sender, method, pending.get if pending else None)
        if faults:
            problems = tuple(Problem(json_pointer(one.path), one.schema, one.sentence) for one in faults)
            raise _refusal(faults[0].code, problems, value if is_object(value) else {})
        if kind == "error":
            error = self._typed(self.error, value["error"], (*at, "error"), INVALID_REQUEST, value, on_drop, lenient)
            return ErrorResponse(value["id"], error, name, self._extra(value, _ERROR))
        if kind == "result":
            return self._result(value, at, name, row, on_drop, lenient)
        form: Form = "absent" if "params" not in value else "null" if value["params"] is None else "value"
        params = value.get("params")
        if row is not None and row.params is not None and not (form != "value" and row.omitted == "nothing"):
            given = params if form == "value" else row.empty()
            params = self._typed(row.params, given, (*at, "params"), INVALID_PARAMS, value, on_drop, lenient)
        if kind == "request":
            extra = self._extra(value, _REQUEST)
            return self._made(Request, row, {"id": value["id"], "method": name, "params": params}, extra, form)
        return self._made(
            Notification, row, {"method": name, "params": params}, self._extra(value, _NOTIFICATION), form
        )

    def _made(
        self, kind: Any, row: Method[Any, Any] | None, members: dict[str, Any], extra: dict[str, Any], form: Form
    ) -> Any:
        """A message: of the class of its method where nothing is special about it."""
        cls = self._class(kind, row) if row is not None and form == "value" and not extra else None
        if cls is None:
            return kind(**members, extra=extra, form=form)
        del members["method"]
        if self.versioned:
            members["jsonrpc"] = "2.0"
        return make(cls, **members)

    def _result(
        self,
        value: dict[str, Any],
        at: Path,
        method: str,
        row: Method[Any, Any] | None,
        on_drop: Hook | None,
        lenient: bool,
    ) -> Any:
        id_ = value["id"]
        if not method:
            sentence = f"no request with id {told(id_)} is pending, so the result cannot be read"
            raise _refusal(INVALID_REQUEST, (Problem(json_pointer(at), "", sentence),), value)
        extra = self._extra(value, _RESPONSE)
        if row is None or row.result is None:
            return Response(id_, value["result"], method, extra)
        form: Form = "null" if value["result"] is None and row.null_result else "value"
        given: Any = value["result"] if form == "value" else {}
        typed = self._typed(row.result, given, (*at, "result"), INVALID_PARAMS, value, on_drop, lenient)
        return self._made(Response, row, {"id": id_, "result": typed, "method": method}, extra, form)

    def decode_as(
        self, type_: Any, value: Any, *, on_drop: Hook | None = None, lenient: bool = True, strict: bool = False
    ) -> Any:
        """A parsed JSON value as one of a type, or of a definition by its name; `strict` refuses what the schema does not name."""
        found = self._typed(type_, copied(value), (), INVALID_PARAMS, {}, on_drop, lenient and not strict)
        problems = limited(unnamed(self.receiving, found, self.type(type_))) if strict else ()
        if problems:
            raise DecodeError(INVALID_PARAMS, problems)
        return found

    def accepts_null(self, type_: Any) -> bool:
        """Whether null is a value of a type."""
        try:
            reader(self.type(type_))(None)
        except Mismatch:
            return False
        return True

    def type(self, type_: Any) -> Type:
        """What a class, an alias, a text of them or the name of a definition means."""
        is_name = isinstance(type_, str) and (type_.isidentifier() or id(type_) not in self._written)
        if (is_name, type_) not in self._types:
            if is_name and type_ in self.receiving.schema["$defs"]:
                found = self.receiving.home.type_of(type_)
            else:
                try:
                    found = resolve(type_, self.receiving.module)
                except NameError:
                    raise KeyError(type_) from None
            self._types[is_name, type_] = type_of(found)
        return self._types[is_name, type_]

    def _typed(
        self, type_: Any, value: Any, at: Path, code: int, message: dict[str, Any], on_drop: Hook | None, lenient: bool
    ) -> Any:
        meant = self.type(type_)
        try:
            found = reader(meant)(value)
            if not meant.leads_to_judged or self.receiving.accepts(meant.annotation, value):
                return found
        except (Mismatch, RecursionError):
            pass
        settled = self.receiving.settle(meant.annotation, value, at, lenient=lenient)
        if settled.problems:
            raise _refusal(code, limited(settled.problems), message) from None
        try:
            found = build(meant, settled.value, self.receiving.accepts)
        except Unnamed as error:
            problem = Problem(
                json_pointer((*at, *error.path)), "", "this class takes no fields that the schema does not name"
            )
            raise DecodeError(code, (problem,), id=message.get("id"), method=message.get("method")) from None
        except RecursionError:
            raise DecodeError(code, (Problem(json_pointer(at), "", "this is nested too deep to be read"),)) from None
        for drop in settled.drops if on_drop is not None else ():
            on_drop(drop)  # type: ignore[misc]
        return found

    def _extra(self, value: dict[str, Any], named: frozenset[str]) -> dict[str, Any]:
        """The members of an envelope that JSON-RPC does not name for its kind of message."""
        if value.keys() <= named and (self.versioned or "jsonrpc" not in value):
            return {}
        return {
            key: item for key, item in value.items() if key not in named or (key == "jsonrpc" and not self.versioned)
        }

    # --- encoding ---

    def encode(self, message: Any, *, strict: bool | None = None) -> bytes:
        """A message, several of a batch, or a value as a line of UTF-8 text.

        `strict` judges what a sender answers for, too: that the schema names what is sent. Raises `EncodeError` for what JSON or the type
        does not allow.
        """
        check = self._checks.get(message.__class__)
        if check is not None and not (STRICTLY.is_on if strict is None else strict):  # most are so
            try:
                text = encode_native(message)
                check[0](text)
            except HasNotes:
                return self._text_with_notes(message, check)
            except _LOST:
                return self._general_text(message)
            if text.find(b"null") >= 0:  # what msgspec writes for a number that is not finite
                refuse_not_finite(message)
            return text
        if is_sequence(message) and not self.batch and any(isinstance(one, Message) for one in message):
            raise EncodeError("this protocol has no batches")
        try:
            text = self._text_of_value(message)
            is_strict = STRICTLY.is_on if strict is None else strict
            problems = limited(self._unnamed(message)) if is_strict else ()
        except RecursionError:
            raise EncodeError(DEEP) from None
        if problems:
            raise EncodeError("; ".join(map(str, problems)), problems)
        return text

    def _text_of_value(self, value: Any) -> bytes:
        """A message, or a value in which records are of their classes."""
        if isinstance(value, Message):
            return self._text(value)
        if isinstance(value, Record):
            return self._payload(type(value), value)
        if is_sequence(value):
            return b"[" + b",".join(map(self._text_of_value, value)) + b"]"
        if is_mapping(value):
            if not all(isinstance(key, str) for key in value):
                raise EncodeError("the keys of an object are strings")
            return (
                b"{" + b",".join(text_of(key) + b":" + self._text_of_value(item) for key, item in value.items()) + b"}"
            )
        return text_of(value)

    def _unnamed(self, value: Any, at: Path = ()) -> Iterator[Problem]:
        """What the schema does not name in a message, in those of a batch or in a value."""
        if is_sequence(value):
            for index, item in enumerate(value):
                yield from self._unnamed(item, (*at, index))
        elif isinstance(value, Message):
            yield from self._unnamed_in_message(value, at)
        else:
            yield from unnamed(self.receiving, value, type_of(Any), at)

    def _unnamed_in_message(self, message: Any, at: Path) -> Iterator[Problem]:
        kind = _kind_of(message)
        row = self._routes.get((message.method, kind is not Notification)) if message.method else None
        member = "error" if kind is ErrorResponse else "result" if kind is Response else "params"
        named = sorted(_FRAMES[kind])
        for key in _extra_of(message):
            if not key.startswith("_"):
                yield Problem(json_pointer((*at, key)), "", f"no such field{did_you_mean(key, named)}")
        if row is None and message.method and not message.method.startswith("_"):
            yield Problem(json_pointer((*at, "method")), "", f"the method {shown(message.method)} is not known")
        value = getattr(message, member)
        if kind is Response and not message.method and not isinstance(value, Record):
            sentence = "a result is judged by the method of its request, and the response does not name it"
            yield Problem(json_pointer(at), "", sentence)
        type_: Any = self.error if kind is ErrorResponse else row and (row.result if kind is Response else row.params)
        if type_ is not None or isinstance(value, Record):
            yield from unnamed(self.receiving, value, self.type(Any if type_ is None else type_), (*at, member))

    def _text(self, message: Any) -> bytes:
        cls: Any = message.__class__
        if cls in self._checks or not isinstance(message, Message) or cls not in self._classes.values():
            return self._general_text(message)
        self._checks[cls] = self._made_check(cls)
        return self.encode(message, strict=False)

    def _text_with_notes(self, message: Any, check: tuple[Any, Read, str]) -> bytes:
        try:
            text = write_with_notes(message)
            _check_again(text, *check[1:])
        except _LOST:
            return self._general_text(message)
        if text.find(b"null") >= 0:
            refuse_not_finite(message)
        return text

    def _made_check(self, cls: Any) -> tuple[Any, Read, str]:
        """What reads a message of a method again, and what reads its payload."""
        is_answer = issubclass(cls, Response)
        row = self._routes[cls.method, not issubclass(cls, Notification)]
        member = "result" if is_answer else "params"
        return decoder(cls).decode, reader(self.type(row.result if is_answer else row.params)), member

    def _general_text(self, message: Any) -> bytes:
        kind = _kind_of(message)
        head = b'{"jsonrpc":"2.0"' if self.versioned else b"{"
        parts: list[bytes] = []
        row = self._routes.get((message.method, kind is not Notification)) if message.method else None
        if kind is not Notification:
            if not is_id(message.id, nullable=self.null_id or kind is ErrorResponse):
                raise EncodeError(f"an id must be {self._routing.ids()}, not {told(message.id)}")
            parts.append(b'"id":' + text_of(message.id))
        if kind in (Request, Notification):
            if not isinstance(message.method, str):
                raise EncodeError(f"the method must be a string, not {told(message.method)}")
            parts.append(b'"method":' + text_of(message.method))
        if kind is ErrorResponse:
            parts.append(b'"error":' + self._payload(self.error, message.error))
        else:
            name = "result" if kind is Response else "params"
            type_ = None if row is None else row.result if kind is Response else row.params
            value = getattr(message, name)
            form = message.form
            if form != "value" and not _is_set(value):
                parts += [b'"%s":null' % name.encode()] if form == "null" else []
            elif not (value is None and row is not None and row.omitted == "nothing" and kind is not Response):
                parts.append(b'"%s":' % name.encode() + self._payload(type_, value))
            elif form == "value":
                parts.append(b'"%s":null' % name.encode())
        named = _FRAMES[kind] if self.versioned else _FRAMES[kind] - {"jsonrpc"}
        extra = _extra_of(message)
        if not named.isdisjoint(extra):
            raise EncodeError(f"{', '.join(sorted(named & extra.keys()))}: not to be set by 'extra'")
        parts += [text_of(key) + b":" + text_of(item) for key, item in extra.items()]
        return (head + b"," if self.versioned else head) + b",".join(parts) + b"}"

    def _payload(self, type_: Any, value: Any) -> bytes:
        """Params, a result or an error as text. Raises `EncodeError` for what is no value of the type."""
        if type_ is None:
            return text_of(value)
        meant = self.type(type_)
        if meant not in self._decoders:
            self._decoders[meant] = decoder(native(meant)).decode
        try:
            try:
                text = encode_native(value)
                self._decoders[meant](text)
            except HasNotes:
                text = write_with_notes(value)
                _check_again(text, reader(meant), None)
        except _LOST:
            return self._checked_text(type_, value)
        if text.find(b"null") >= 0:
            refuse_not_finite(value)
        return text

    def _checked_text(self, type_: Any, value: Any) -> bytes:
        """A value that msgspec does not write, or does not read again."""
        try:
            written = readable(value)
            self._typed(type_, written, (), INVALID_PARAMS, {}, None, lenient=False)
        except DecodeError as error:
            raise EncodeError(f"this cannot be written as JSON: {error}", error.problems) from None
        return written_text(written)


def _nothing(_: bytes) -> Any:
    raise Mismatch


def _check_again(text: bytes, read: Read, member: str | None) -> None:
    """Read again what was written with notes: each key is given once, and fields are of their types, also those that no class names."""
    value = jiter.from_json(text, cache_mode="keys", catch_duplicate_keys=True)
    read(value if member is None else value[member])


def _as_bytes(line: Any) -> Any:
    """Text as bytes; what is no text, or cannot be such, as it is."""
    if isinstance(line, bytearray):
        return bytes(line)
    try:
        return line.encode() if isinstance(line, str) else line
    except UnicodeEncodeError:
        return line


_REQUEST: Final = frozenset({"jsonrpc", "id", "method", "params"})
_NOTIFICATION: Final = frozenset({"jsonrpc", "method", "params"})
_RESPONSE: Final = frozenset({"jsonrpc", "id", "result"})
_ERROR: Final = frozenset({"jsonrpc", "id", "error"})
_ENVELOPE: Final = frozenset({"jsonrpc", "id", "method", "params", "result", "error"})
_FRAMES: Final[dict[Any, frozenset[str]]] = {
    Request: _REQUEST,
    Notification: _NOTIFICATION,
    Response: _RESPONSE,
    ErrorResponse: _ERROR,
}


def _kind_of(message: Any) -> Any:
    for kind in _FRAMES:
        if isinstance(message, kind):
            return kind
    raise EncodeError(f"{type(message).__name__} is no message of JSON-RPC")


def _extra_of(message: Any) -> dict[str, Any]:
    notes = message._notes
    return {} if notes is UNSET or notes.unknown is None else notes.unknown


def _is_set(value: Any) -> bool:
    """Whether something was set in a payload that was not there."""
    if not isinstance(value, Record):
        return value is not None and value != []
    notes = notes_of(value)
    if notes is not None and (notes.unknown or any(True for _ in changed(value))):
        return True
    return any(held(value, one) is not UNSET for one in shape_of(type(value)).fields.values())


def _refusal(code: int, problems: tuple[Problem, ...], message: Mapping[str, Any]) -> DecodeError:
    method = message.get("method")
    return DecodeError(code, problems, id=message.get("id"), method=method if isinstance(method, str) else None)
