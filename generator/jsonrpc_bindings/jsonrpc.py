"""The messages of JSON-RPC: classes for any params, and a class for each method, which msgspec decodes as a whole."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar, Final, Generic, TypeAlias, TypeVar

from msgspec import StructMeta

from .fields import Form as Form
from .fields import Noted, Notes, ensure_notes, ensure_unknown_fields, get_notes, get_unknown_fields

P_co = TypeVar("P_co", covariant=True)
R_co = TypeVar("R_co", covariant=True)

JSON: TypeAlias = "dict[str, Any] | list[Any] | str | int | float | bool | None"
"""Plain JSON, as `json.loads` gives it."""

RequestId: TypeAlias = "int | float | str | None"


class MessageMeta(StructMeta):
    """The metaclass that makes `Request(…)` and its siblings create the general class, which has the method in a field."""

    @property
    def __match_args__(cls: Any) -> tuple[str, ...]:  # type: ignore[override]  # noqa: N805 - msgspec has its own, by position
        names: tuple[str, ...] = cls._members
        return names

    def __call__(cls: Any, *args: Any, **keywords: Any) -> Any:  # noqa: N805
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
            message._notes = Notes(None, dict(extra) if extra else None, form=form)
        return message


class Message(Noted, metaclass=MessageMeta, eq=False, kw_only=True, omit_defaults=True):
    """A message of JSON-RPC."""

    _general: ClassVar[Any] = None
    _members: ClassVar[tuple[str, ...]] = ()
    _method_is_optional: ClassVar[bool] = False
    members_on_wire: ClassVar[frozenset[str]] = frozenset()

    @property
    def extra(self) -> dict[str, Any]:
        """The members that JSON-RPC does not define, as received. They are encoded again, with those that are added here."""
        return ensure_unknown_fields(self)

    @extra.setter
    def extra(self, value: dict[str, Any]) -> None:
        ensure_notes(self).unknown = value

    @property
    def form(self) -> Form:
        """The form of the payload on the wire."""
        notes = get_notes(self)
        return "value" if notes is None else notes.form

    @property
    def _kind(self) -> Any:
        return next(cls for cls in type(self).__mro__ if vars(cls).get("_general") is not None)

    def __rich_repr__(self) -> Iterator[tuple[str, Any]]:  # type: ignore[override]
        yield from ((name, getattr(self, name)) for name in self._members)
        if unknown := get_unknown_fields(self):
            yield "extra", unknown

    def __reduce__(self) -> tuple[Any, ...]:
        return partial(self._kind, **self._list_contents(), form=self.form), ()

    def _list_contents(self) -> dict[str, Any]:
        return dict(self.__rich_repr__())

    def __replace__(self, **changes: Any) -> Any:
        return self._kind(**{**self._list_contents(), "form": self.form, **changes})


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
    }
    general = MessageMeta(kind.__name__, (kind,), namespace, kw_only=True, eq=False)
    type.__setattr__(kind, "_general", general)
    type.__setattr__(kind, "_method_is_optional", "result" in names or "error" in names)


KINDS: Final = (Request, Notification, Response, ErrorResponse)
for _kind in KINDS:
    _with_general(_kind)


def make_class(kind: Any, method: str, fields: dict[str, Any], *, is_tagged: bool) -> Any:
    """The class for messages of one method, which msgspec decodes and encodes."""
    namespace: dict[str, Any] = {
        "__annotations__": dict(fields),
        "__module__": __name__,
        "members_on_wire": frozenset({*fields, "method"} if is_tagged else fields),
        "method": method,
    }
    tag: Any = {"tag_field": "method", "tag": method} if is_tagged else {}
    cls = MessageMeta(kind.__name__, (kind,), namespace, kw_only=True, eq=False, omit_defaults=True, **tag)
    if "jsonrpc" in fields:
        type.__setattr__(cls, "jsonrpc", property(vars(cls)["jsonrpc"].__get__))  # nobody can change it
    return cls
