"""Decoding and encoding of the messages of one protocol version.

msgspec reads a line in one call, and writes it again in one; an equal number of colons shows that nothing was lost. What msgspec rejects
or would lose is validated against the schema, which says what is wrong or what may be dropped; a value that the schema accepts is built
by `build`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from types import NoneType
from typing import Any, Final, Generic, Literal, TypeAlias, TypeVar, overload

from .annotations import resolve
from .build import Unnamed, build
from .contract import Method, Path, Sender
from .errors import (
    INVALID_PARAMS,
    INVALID_REQUEST,
    DecodeError,
    Dropped,
    EncodeError,
    Problem,
    describe,
    limit_problems,
    quote,
)
from .explain import suggest_name
from .fields import Form, get_unknown_fields, get_values, make
from .json_types import Mismatch, is_array, is_mapping, is_object, is_sequence
from .jsonrpc import (
    ErrorResponse,
    Message,
    Notification,
    Request,
    Response,
    make_class,
)
from .native import Never, complete, convert_annotation, convert_json, make_check, make_message_reader
from .parse import (
    FAILURES,
    FLAT,
    VALUES,
    Duplicates,
    LineReader,
    copy_value,
    parse,
    refuse_deep,
    to_text,
)
from .pointers import json_pointer
from .receiving import Receiving
from .records import Record
from .routing import EMPTY, Routing, is_id
from .strict_encode import find_unnamed
from .types import Type, read_type
from .writers import (
    DEEP,
    FLOAT,
    HasNotes,
    convert_mapping,
    convert_sequence,
    encode_native,
    may_be_not_finite,
    pack,
    to_plain,
    to_readable,
    write_text,
    write_with_notes,
)

Hook: TypeAlias = Callable[[Dropped], object]

_Check: TypeAlias = "tuple[Callable[[bytes], Any], bool, bool]"
"""What checks a message: the decoder of what `pack` writes of its payload, whether that is params, and whether there is an id."""

T = TypeVar("T")
Found = TypeVar("Found", covariant=True)


class ErrorObject(Record):
    """The error of a failed request: an integer code, a message of one sentence, and data of any type."""

    code: int
    message: str
    data: Any = None


class Codec(Generic[Found, Sender]):
    """Decodes and encodes the messages of one protocol version. Its type parameters are the messages and the senders.

    `receiving` validates what msgspec does not read. `error` is the type of errors. `null_id`: the id of a request may be null. `batch`:
    a message may be an array. `sides` are the senders. `versioned`: messages have the member `jsonrpc`.
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
        self._type_ids: Final = {id(type_) for method in methods.values() for type_ in (method.params, method.result)}
        self._routing: Final = Routing(
            methods.values(),
            is_versioned=versioned,
            refused_id=lambda value: None if is_id(value, nullable=null_id) else "",
        )
        self._routes: Final = self._routing.methods
        self._readers: dict[tuple[str, str | None], LineReader] = {}
        self._classes: dict[tuple[Any, str], Any] = {}
        self._types: dict[tuple[bool, Any], Type] = {}
        self._checks: dict[Any, _Check] = {}
        self._ids: Final = frozenset({int, str, NoneType} if null_id else {int, str})
        self._version: Final = {"jsonrpc": "2.0"} if versioned else {}
        self._frames: Final[dict[Any, frozenset[str]]] = {
            kind: frozenset({*self._version, *(() if kind is Notification else ("id",)), member})
            | ({"method"} if member == "params" else set[str]())
            for kind, member in _MEMBERS.items()
        }

    @classmethod
    def of(cls, module: str, methods: Mapping[str, Method[Any, Any]], **options: Any) -> Codec[Any, Any]:
        """The codec of the protocol of a generated module."""
        return cls(methods, Receiving.of(module), **options)

    # --- the native way ---

    def _get_class(self, kind: Any, method: Method[Any, Any]) -> Any:
        """The message class of one method; `None` if it has none."""
        key = kind, method.name
        if key not in self._classes:
            self._classes[key] = self._make_class(kind, method)
        return self._classes[key]

    def _make_class(self, kind: Any, method: Method[Any, Any]) -> Any:
        type_, member = self._find_type(kind, method), _MEMBERS[kind]
        payload_type = convert_annotation(self.type(type_)) if type_ is not None else Never
        if payload_type is Never:
            return None
        fields: dict[str, Any] = {"jsonrpc": Literal["2.0"]} if self.versioned else {}
        if kind is not Notification:
            fields["id"] = int | str | None if self.null_id else int | str
        return complete(make_class(kind, method.name, {**fields, member: payload_type}, is_tagged=kind is not Response))

    def _make_line_reader(self, sender: str, method: str | None) -> LineReader:
        """The reader for ordinary lines of a sender: its requests and notifications, or its results of a method."""
        if self.sides and sender not in self.sides:
            return _refuse_all
        if method is None:
            groups: dict[str, list[Method[Any, Any]]] = {}
            for declaration in self._routes.values():
                if declaration.side != sender:
                    groups.setdefault(declaration.name, []).append(declaration)
            kinds = {"request": Request, "notification": Notification}
            unique = [group[0] for group in groups.values() if len(group) == 1]
            classes = {
                declaration.name: self._get_class(kinds[declaration.kind], declaration) for declaration in unique
            }
        else:
            answered = self._routes.get((method, True))
            if answered is None:  # names that no schema has are without end
                return _refuse_all
            classes = {"": self._get_class(Response, answered)} if answered.side in (sender, "both") else {}
        classes = {name: cls for name, cls in classes.items() if cls is not None}
        self._readers[sender, method] = reader = make_message_reader(classes) if classes else _refuse_all
        return reader

    # --- decoding ---

    def decode(
        self,
        line: bytes | bytearray | str | Any,
        *,
        sender: Sender,
        method: str | None = None,
        pending: Mapping[Any, str] | None = None,
        on_drop: Hook | None = None,
        lenient: bool = True,
        duplicates: Duplicates = "refuse",
        values: int = VALUES,
    ) -> Found:
        """Decode one message that `sender` sent: UTF-8 text, or parsed JSON.

        A response needs the method of its request: by `method`, or by `pending`, which maps request ids to methods. Unknown variants,
        fields and values are kept wherever the protocol allows them. What the schema allows to drop is dropped and reported to
        `on_drop`; with `lenient=False` nothing is dropped. An array is a batch if the protocol has batches, and decodes to a list. Text
        in which an object has a duplicate key is rejected, because readers differ in which value counts; with `duplicates="last"` the
        last one does. A message of more than `values` JSON values is rejected before it is decoded.

        Raises `DecodeError`, which has every problem with its JSON Pointer, and the JSON-RPC error code; `ValueError` for a sender that
        the protocol does not have.
        """
        if type(line) is not bytes:
            line = to_text(line)
        if duplicates == "refuse":
            try:
                return (self._readers.get((sender, method)) or self._make_line_reader(sender, method))(line, values)  # type: ignore[no-any-return]
            except FAILURES:
                pass
        if self.sides and sender not in self.sides:
            raise ValueError(f"the sender is one of {self.sides}, not {sender!r}")
        if duplicates != "refuse" and duplicates != "last":
            raise ValueError(f"duplicates is 'refuse' or 'last', not {duplicates!r}")
        value = parse(line, duplicates=duplicates, values=values)
        options: Any = {"method": method, "pending": pending, "on_drop": on_drop, "lenient": lenient}
        if not (self.batch and is_array(value)):
            return self.read(value, sender=sender, **options)  # type: ignore[no-any-return]
        if not value:
            raise _make_error(INVALID_REQUEST, (Problem("", "", EMPTY),), {})
        messages: Any = [self.read(item, at=(index,), sender=sender, **options) for index, item in enumerate(value)]
        return messages  # type: ignore[no-any-return]

    def read_line(self, line: bytes, sender: str, values: int) -> Any:
        """Decode an ordinary request or notification with msgspec alone; `None` for any other line."""
        try:
            return (self._readers.get((sender, None)) or self._make_line_reader(sender, None))(line, values)
        except FAILURES:
            return None

    def route(self, name: str, *, is_request: bool) -> Method[Any, Any] | None:
        """The method of a request or notification; `None` if the protocol does not have it."""
        return self._routes.get((name, is_request))

    def read(
        self,
        value: Any,
        *,
        sender: str,
        method: str | None = None,
        pending: Mapping[Any, str] | None = None,
        on_drop: Hook | None = None,
        lenient: bool = True,
        at: Path = (),
    ) -> Any:
        """Decode one parsed message; `at` is its path in a batch. Raises as `decode`."""
        find_method = pending.get if pending else None
        kind, name, declaration, faults = self._routing.route(value, at, sender, method, find_method)
        if faults:
            problems = tuple(Problem(json_pointer(fault.path), fault.schema, fault.sentence) for fault in faults)
            raise _make_error(faults[0].code, problems, value if is_object(value) else {})
        cls, member = _KINDS[kind]
        form: Form = "absent" if member not in value else "null" if value[member] is None else "value"
        payload, code, type_ = value.get(member), INVALID_PARAMS, None
        if kind == "error":
            code, type_ = INVALID_REQUEST, self.error
        elif kind == "result":
            if not name:
                sentence = f"no request with id {describe(value['id'])} is pending, so the result cannot be read"
                raise _make_error(INVALID_REQUEST, (Problem(json_pointer(at), "", sentence),), value)
            if declaration is None or declaration.result is None or not declaration.null_result:
                form = "value"
            type_, payload = declaration and declaration.result, dict[str, Any]() if form == "null" else payload
        elif declaration is not None and not (form != "value" and declaration.omitted == "nothing"):
            type_, payload = declaration.params, payload if form == "value" else declaration.empty()
        if type_ is not None:
            payload = self._decode_typed(type_, payload, (*at, member), code, value, on_drop, lenient)
        frame = self._frames[cls]
        extra = {} if value.keys() <= frame else {key: item for key, item in value.items() if key not in frame}
        message_class = (
            self._get_class(cls, declaration) if declaration is not None and form == "value" and not extra else None
        )
        id_member = {"id": value["id"]} if cls is not Notification else {}
        if message_class is None:
            return cls(**id_member, method=name, extra=extra, form=form, **{member: payload})
        return make(message_class, **id_member, **self._version, **{member: payload})

    @overload
    def decode_as(
        self, type_: type[T], value: Any, *, on_drop: Hook | None = None, lenient: bool = True, strict: bool = False
    ) -> T: ...
    @overload
    def decode_as(
        self, type_: Any, value: Any, *, on_drop: Hook | None = None, lenient: bool = True, strict: bool = False
    ) -> Any: ...
    def decode_as(
        self, type_: Any, value: Any, *, on_drop: Hook | None = None, lenient: bool = True, strict: bool = False
    ) -> Any:
        """Decode parsed JSON as one type of the protocol: a class, an alias, or the name of a definition.

        With `strict=True` the rules for senders apply too, as in `encode`: values, variants and fields that the schema does not name are
        rejected, and nothing is dropped.

        Raises `DecodeError`, with pointers relative to `value`; `KeyError` for a name that is no definition of the schema.
        """
        result = self._decode_typed(type_, copy_value(value), (), INVALID_PARAMS, {}, on_drop, lenient and not strict)
        problems = limit_problems(find_unnamed(self.receiving, result, self.type(type_))) if strict else ()
        if problems:
            raise DecodeError(INVALID_PARAMS, problems)
        return result

    def accepts_null(self, type_: Any) -> bool:
        """Whether null is a value of a type."""
        return self.receiving.accepts(self.type(type_), None)

    def type(self, type_: Any) -> Type:
        """The type of a class, an alias, the text of an annotation, or the name of a definition."""
        is_name = self._is_name(type_)
        if (is_name, type_) not in self._types:
            if is_name and type_ in self.receiving.definitions:
                annotation = self.receiving.schema_module.get_type(type_)
            else:
                try:
                    annotation = resolve(type_, self.receiving.module)
                except NameError:
                    raise KeyError(f"{type_!r} is no definition of the schema, and no type of this package") from None
            self._types[is_name, type_] = read_type(annotation)
        return self._types[is_name, type_]

    def _is_name(self, type_: Any) -> bool:
        """Whether this text is the name of a definition and not an annotation."""
        return isinstance(type_, str) and (type_.isidentifier() or id(type_) not in self._type_ids)

    def _decode_typed(
        self, type_: Any, value: Any, at: Path, code: int, message: dict[str, Any], on_drop: Hook | None, lenient: bool
    ) -> Any:
        target = self.type(type_)
        try:
            return convert_json(target, value)
        except FAILURES:
            pass
        is_defined = self._is_name(type_) and type_ in self.receiving.schema_module.definitions
        place: Any = type_ if is_defined else target
        drops: Sequence[Dropped] = ()
        if not self.receiving.accepts(place, value):
            value, drops, problems = self.receiving.repair(place, value, at, lenient=lenient)
            if problems:
                raise _make_error(code, problems, message) from None
        try:
            result = build(target, value, self.receiving.accepts)
        except Unnamed as error:
            pointer, sentence = (
                json_pointer((*at, *error.path)),
                "this class takes no fields that the schema does not name",
            )
        except RecursionError:
            pointer, sentence = json_pointer(at), "this is nested too deep to be read"
        else:
            for drop in drops if on_drop is not None else ():
                on_drop(drop)  # type: ignore[misc]
            return result
        raise _make_error(code, (Problem(pointer, "", sentence),), message)

    # --- encoding ---

    def encode(self, message: Any, *, strict: bool = False) -> bytes:
        """Encode a message, a batch or a single value as one line of UTF-8 JSON, without the line end.

        Fields that were set are written, null included; omitted fields stay omitted. With `strict=True` the rules for senders are
        checked first: whatever `decode` would reject is refused, and so are values, variants and fields that the schema does not name,
        except extensions, which begin with `_`.

        Raises `EncodeError` for what JSON cannot express, and for what the strict check rejects; its `problems` say where.
        """
        native_message, check = message, None if strict else self._checks.get(message.__class__)
        if check is None and not strict and isinstance(message, Message):
            native_message, check = self._convert_message(message)
        if check is not None:
            check_payload, has_params, has_id = check
            try:
                packed = pack(native_message.params if has_params else native_message.result)
                check_payload(packed)
                is_right = not has_id or native_message.id.__class__ in self._ids
                if is_right and (FLOAT not in packed or not may_be_not_finite(packed)):
                    try:
                        text = encode_native(native_message)
                    except HasNotes:
                        text = write_with_notes(native_message)
                    if len(text) > FLAT:
                        refuse_deep(text)
                    return text
            except FAILURES:
                pass
        if is_sequence(message) and not self.batch and any(isinstance(item, Message) for item in message):
            raise EncodeError("this protocol has no batches")
        try:
            text = write_text(self._to_plain(message))
            problems = limit_problems(self._find_unnamed(message)) if strict else ()
        except RecursionError:
            raise EncodeError(DEEP) from None
        if problems:
            raise EncodeError("; ".join(map(str, problems)), problems)
        return text

    def _convert_message(self, message: Any) -> tuple[Any, Any]:
        """Convert a message to the class of its method, and return it with the check of this class; `None` if there is none."""
        kind, declaration = self._route_outgoing(message)
        cls = self._get_class(kind, declaration) if declaration is not None and kind is not ErrorResponse else None
        if cls is None:
            return message, None
        if cls not in self._checks:
            check = make_check(convert_annotation(self.type(self._find_type(kind, declaration))))
            self._checks[cls] = check, _MEMBERS[kind] == "params", "id" in cls.__struct_fields__
        if message.__class__ is cls:
            return message, self._checks[cls]
        if message.form != "value" or get_unknown_fields(message):
            return message, None
        values = {name: getattr(message, name) for name in ("id", _MEMBERS[kind]) if name in cls.__struct_fields__}
        return make(cls, **self._version, **values), self._checks[cls]

    def _route_outgoing(self, message: Any) -> tuple[Any, Method[Any, Any] | None]:
        """The class of a message, and its method; `None` if the protocol does not have it."""
        kind, name = message._kind, message.method
        return kind, self._routes.get((name, kind is not Notification)) if isinstance(name, str) else None

    def _to_plain(self, value: Any) -> Any:
        """Convert a message, or a value that contains records, to plain JSON."""
        if isinstance(value, Message):
            return self._message_to_plain(value)
        if isinstance(value, Record):
            return self._write_checked(type(value), value)
        if is_sequence(value):
            return convert_sequence(value, self._to_plain)
        return convert_mapping(value, self._to_plain) if is_mapping(value) else to_plain(value)

    def _find_unnamed(self, value: Any, at: Path = ()) -> Iterator[Problem]:
        """Yield what the schema does not name in a message, a batch or a value."""
        if is_sequence(value):
            for index, item in enumerate(value):
                yield from self._find_unnamed(item, (*at, index))
        elif isinstance(value, Message):
            yield from self._find_unnamed_in_message(value, at)
        else:
            yield from find_unnamed(self.receiving, value, read_type(Any), at)

    def _find_unnamed_in_message(self, message: Any, at: Path) -> Iterator[Problem]:
        kind, declaration = self._route_outgoing(message)
        member = _MEMBERS[kind]
        member_names = sorted(self._frames[kind])
        for key in get_unknown_fields(message):
            if not key.startswith("_"):
                yield Problem(json_pointer((*at, key)), "", f"no such field{suggest_name(key, member_names)}")
        if declaration is None and message.method and not message.method.startswith("_"):
            yield Problem(json_pointer((*at, "method")), "", f"the method {quote(message.method)} is not known")
        value = getattr(message, member)
        if kind is Response and not message.method and not isinstance(value, Record):
            sentence = "a result is judged by the method of its request, and the response does not name it"
            yield Problem(json_pointer(at), "", sentence)
        type_ = self._find_type(kind, declaration)
        if type_ is not None or isinstance(value, Record):
            yield from find_unnamed(self.receiving, value, self.type(Any if type_ is None else type_), (*at, member))

    def _message_to_plain(self, message: Any) -> dict[str, Any]:
        kind, declaration = self._route_outgoing(message)
        members: dict[str, Any] = dict(self._version)
        if kind is not Notification:
            if not is_id(message.id, nullable=self.null_id or kind is ErrorResponse):
                raise EncodeError(f"an id must be {self._routing.describe_ids()}, not {describe(message.id)}")
            members["id"] = to_plain(message.id)
        if kind in (Request, Notification):
            if not isinstance(message.method, str):
                raise EncodeError(f"the method must be a string, not {describe(message.method)}")
            members["method"] = to_plain(message.method)
        member, type_ = _MEMBERS[kind], self._find_type(kind, declaration)
        value, form = getattr(message, member), message.form
        if form != "value" and not _is_set(value):
            members |= {member: None} if form == "null" else {}
        elif value is not None or declaration is None or declaration.omitted != "nothing" or kind is Response:
            members[member] = self._write_checked(type_, value, member)
        elif form == "value":
            members[member] = None
        extra = get_unknown_fields(message)
        if not self._frames[kind].isdisjoint(extra):
            raise EncodeError(f"{', '.join(sorted(self._frames[kind] & extra.keys()))}: not to be set by 'extra'")
        return {**members, **to_readable(extra)}

    def _find_type(self, kind: Any, declaration: Method[Any, Any] | None) -> Any:
        if kind is ErrorResponse:
            return self.error
        return declaration and (declaration.result if kind is Response else declaration.params)

    def _write_checked(self, type_: Any, value: Any, *at: str) -> Any:
        """Convert a value of a type to plain JSON; `None` if it may be of any. Raises `EncodeError` if it is not valid."""
        try:
            output = to_readable(value)
            if type_ is not None:
                self._decode_typed(type_, output, at, INVALID_PARAMS, {}, None, lenient=False)
        except DecodeError as error:
            raise EncodeError(f"this cannot be written as JSON: {error}", error.problems) from None
        except EncodeError as error:
            raise error.prefix(*at) from None
        return output


def _refuse_all(_: bytes, __: int) -> Any:
    raise Mismatch


_KINDS: Final[Mapping[Any, tuple[Any, str]]] = {
    "request": (Request, "params"),
    "notification": (Notification, "params"),
    "result": (Response, "result"),
    "error": (ErrorResponse, "error"),
}
_MEMBERS: Final = dict(_KINDS.values())


def _is_set(value: Any) -> bool:
    """Whether something was set in a payload that the message did not have."""
    if not isinstance(value, Record):
        return value is not None and value != []
    return bool(get_values(value) or get_unknown_fields(value))


def _make_error(code: int, problems: tuple[Problem, ...], message: Mapping[str, Any]) -> DecodeError:
    method = message.get("method")
    return DecodeError(code, problems, id=message.get("id"), method=method if isinstance(method, str) else None)
