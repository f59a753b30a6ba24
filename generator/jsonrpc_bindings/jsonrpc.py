"""The messages of JSON-RPC 2.0. Params and results are typed by their method."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Generic, Literal, TypeAlias, TypeVar

from .model import Model

P_co = TypeVar("P_co", covariant=True)
R_co = TypeVar("R_co", covariant=True)

JSON: TypeAlias = "dict[str, Any] | list[Any] | str | int | float | bool | None"
"""Plain JSON, as `json.loads` gives it."""

RequestId: TypeAlias = "int | float | str | None"

Form: TypeAlias = Literal["value", "null", "absent"]
"""How params or a result stood on the wire. `null` and `absent` read as an empty object and are written as they came."""


@dataclass(slots=True)
class Request(Generic[P_co]):
    """A request. `params` are the method's, or plain JSON for an extension method (`_…`).

    `extra` holds fields of the envelope that JSON-RPC does not name, kept as they came.
    """

    id: RequestId
    method: str
    params: P_co
    extra: dict[str, Any] = field(default_factory=dict[str, Any])
    form: Form = field(default="value", repr=False, compare=False)


@dataclass(slots=True)
class Notification(Generic[P_co]):
    """A notification: nobody answers it. Fields as in `Request`."""

    method: str
    params: P_co
    extra: dict[str, Any] = field(default_factory=dict[str, Any])
    form: Form = field(default="value", repr=False, compare=False)


@dataclass(slots=True)
class Response(Generic[R_co]):
    """The result of a request. `method` is the request's; it is not on the wire."""

    id: RequestId
    result: R_co
    method: str = ""
    extra: dict[str, Any] = field(default_factory=dict[str, Any])
    form: Form = field(default="value", repr=False, compare=False)


class ErrorObject(Model):
    """The error of a failed request: an integer code, one sentence, and data of any kind."""

    code: int
    message: str
    data: Any = None


@dataclass(slots=True)
class ErrorResponse(Generic[R_co]):
    """The answer to a request that failed. `id` is `None` where the request's could not be read."""

    id: RequestId
    error: R_co
    method: str = ""
    extra: dict[str, Any] = field(default_factory=dict[str, Any])
