"""The messages of JSON-RPC: classes for any params, and a class for each method, which msgspec decodes as a whole."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, ClassVar, Final, Generic, Literal, TypeAlias, TypeVar

from msgspec import UNSET, Struct, StructMeta, UnsetType, field

from .fields import NOTES, Notes

P_co = TypeVar("P_co", covariant=True)
R_co = TypeVar("R_co", covariant=True)

JSON: TypeAlias = "dict[str, Any] | list[Any] | str | int | float | bool | None"
"""Plain JSON, as `json.loads` gives it."""

RequestId: TypeAlias = "int | float | str | None"

Form: TypeAlias = Literal["value", "null", "absent"]
"""The form of params or a result on the wire. `null` and `absent` are decoded as an empty object and encoded as they were."""


class Beside(Notes):
    """What a message holds beside its members: further members, and the form of its payload."""

    __slots__ = ("form",)

    def __init__(self, unknown: dict[str, Any] | None = None, form: Form = "value") -> None:
        super().__init__(None, unknown)
        self.form: Form = form


class MessageMeta(StructMeta):
    """The metaclass that makes `Request(…)` and its siblings create the general class, which has the method in a field."""

    @property
    def __match_args__(cls: Any) -> tuple[str, ...]:  # type: ignore[override]  # noqa: N805 - msgspec has its own, by position
        names: tuple[str, ...] = cls._members
        return names

    def __call__(cls: Any, *args: Any, **keywords: Any) -> Any:  # noqa: N805
        if cls._general is None:
            return super().__call__(*args, **keywords)
        names = cls._members
        if len(args) > len(names) + 2:
            raise TypeError(f"{cls.__name__} takes {len(names) + 2} arguments at most")
        values = dict(zip((*names, "extra", "form"), args, strict=False))
        twice = values.keys() & keywords.keys()
        values |= keywords
        extra, form = values.pop("extra", None), values.pop("form", "value")
        if cls._method_is_optional:
            values.setdefault("method", "")
        if twice or values.keys() != set(names):
            wrong = sorted(values.keys() ^ set(names)) or sorted(twice)
            raise TypeError(f"{cls.__name__}() takes {', '.join(names)}; wrong here: {', '.join(wrong)}")
        message = StructMeta.__call__(cls._general, **values)
        if extra or form != "value":
            message._notes = Beside(dict(extra) if extra else None, form)
        return message


class Message(Struct, metaclass=MessageMeta, eq=False, kw_only=True, omit_defaults=True):
    """A message of JSON-RPC."""

    _notes: Beside | UnsetType = field(name=NOTES, default=UNSET)
    _general: ClassVar[Any] = None
    _members: ClassVar[tuple[str, ...]] = ()
    _method_is_optional: ClassVar[bool] = False
    members_on_wire: ClassVar[frozenset[str]] = frozenset()

    @property
    def extra(self) -> dict[str, Any]:
        """The members that JSON-RPC does not define, as received. They are encoded again, with those that are added here."""
        if self._notes is UNSET:
            self._notes = Beside()
        notes: Any = self._notes
        if notes.unknown is None:
            notes.unknown = dict[str, Any]()
        unknown_fields: dict[str, Any] = notes.unknown
        return unknown_fields

    @extra.setter
    def extra(self, value: dict[str, Any]) -> None:
        self._notes = Beside(value, self.form)

    @property
    def form(self) -> Form:
        """The form of the payload on the wire."""
        notes: Any = self._notes
        return "value" if notes is UNSET else notes.form

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Message) or self._members != other._members:
            return NotImplemented
        return _kind(self) is _kind(other) and list(self.__rich_repr__()) == list(other.__rich_repr__())

    def __ne__(self, other: object) -> bool:
        return not self == other

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"{_kind(self).__name__}({', '.join(f'{name}={value!r}' for name, value in self.__rich_repr__())})"

    def __rich_repr__(self) -> Iterator[tuple[str, Any]]:  # type: ignore[override]
        for name in self._members:
            yield name, getattr(self, name)
        notes: Any = self._notes
        if notes is not UNSET and notes.unknown:
            yield "extra", notes.unknown

    def __reduce__(self) -> tuple[Any, ...]:
        notes: Any = self._notes
        values = {name: getattr(self, name) for name in self._members}
        return _rebuilt, (_kind(self), values, None if notes is UNSET else notes.unknown, self.form)

    def __copy__(self) -> Any:
        function, arguments = self.__reduce__()
        return function(*arguments)

    def __replace__(self, **changes: Any) -> Any:
        kind, values, extra, form = self.__reduce__()[1]
        return kind(**{**values, "extra": extra, "form": form, **changes})


def _rebuilt(kind: Any, values: dict[str, Any], extra: dict[str, Any] | None, form: Form) -> Any:
    return kind(**values, extra=extra, form=form)


def _kind(message: Any) -> Any:
    """The public class of a message."""
    return next(one for one in type(message).__mro__ if "_general" in vars(one) and vars(one)["_general"] is not None)


class Request(Message, Generic[P_co], eq=False):
    """A request. `params` have the type of the method, or are plain JSON for an extension method (`_…`)."""

    _members = ("id", "method", "params")
    if TYPE_CHECKING:
        id: RequestId
        method: str
        params: P_co

        def __init__(
            self, id: RequestId, method: str, params: P_co, extra: dict[str, Any] = ..., form: Form = ...
        ) -> None: ...


class Notification(Message, Generic[P_co], eq=False):
    """A notification; it gets no response."""

    _members = ("method", "params")
    if TYPE_CHECKING:
        method: str
        params: P_co

        def __init__(self, method: str, params: P_co, extra: dict[str, Any] = ..., form: Form = ...) -> None: ...


class Response(Message, Generic[R_co], eq=False):
    """The result of a request. `method` is that of the request; it is not on the wire."""

    _members = ("id", "result", "method")
    if TYPE_CHECKING:
        id: RequestId
        result: R_co
        method: str

        def __init__(
            self, id: RequestId, result: R_co, method: str = ..., extra: dict[str, Any] = ..., form: Form = ...
        ) -> None: ...


class ErrorResponse(Message, Generic[R_co], eq=False):
    """The error response to a request. `id` is `None` if that of the request could not be read."""

    _members = ("id", "error", "method")
    if TYPE_CHECKING:
        id: RequestId
        error: R_co
        method: str

        def __init__(
            self, id: RequestId, error: R_co, method: str = ..., extra: dict[str, Any] = ..., form: Form = ...
        ) -> None: ...


def _with_general(kind: Any) -> None:
    names = kind._members
    namespace: dict[str, Any] = {
        "__annotations__": dict.fromkeys(names, Any),
        "__module__": __name__,
        "_general": None,
    }
    general = MessageMeta(kind.__name__, (kind,), namespace, kw_only=True, eq=False)
    type.__setattr__(kind, "_general", general)
    type.__setattr__(kind, "_method_is_optional", "result" in names or "error" in names)


KINDS: Final = (Request, Notification, Response, ErrorResponse)
for _one in KINDS:
    _with_general(_one)


def class_of(kind: Any, method: str, fields: dict[str, Any], *, is_tagged: bool) -> Any:
    """The class for messages of one method, which msgspec decodes and encodes."""
    namespace: dict[str, Any] = {
        "__annotations__": dict(fields),
        "__module__": __name__,
        "_general": None,
        "members_on_wire": frozenset({*fields, "method"} if is_tagged else fields),
        "method": method,
    }
    tag: Any = {"tag_field": "method", "tag": method} if is_tagged else {}
    return MessageMeta(kind.__name__, (kind,), namespace, kw_only=True, eq=False, omit_defaults=True, **tag)
