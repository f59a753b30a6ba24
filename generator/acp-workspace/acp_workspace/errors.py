"""The error that answers a request: what a handler raises and a connection sends."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any, Final

from acp_bindings import Refused

METHOD_NOT_FOUND: Final = -32601
INVALID_PARAMS: Final = -32602
INTERNAL_ERROR: Final = -32603
REFUSED: Final = -32001
"""A path that the roots, the policy or the operating system refuse. ACP gives -32000 another meaning."""
NOT_FOUND: Final = -32002
UNSUPPORTED_VERSION: Final = -32022
"""A version of the protocol that is not spoken here (schema of v2)."""


@dataclass
class RequestError(Refused):
    """A request that fails: a JSON-RPC `code`, one sentence, and `data` as JSON (`None`: none is sent).

    >>> error = invalid_params("'cwd' must be an absolute path", pointer="/cwd")
    >>> error.as_json()
    {'code': -32602, 'message': "'cwd' must be an absolute path", 'data': {'pointer': '/cwd'}}
    """

    code: int
    message: str
    data: Any = None

    __hash__ = Exception.__hash__

    def __reduce__(self) -> tuple[object, ...]:
        return type(self), tuple(getattr(self, field.name) for field in fields(self)), self.__dict__

    def __str__(self) -> str:
        return f"{self.message} ({self.code})"

    def as_json(self) -> dict[str, Any]:
        """The `error` of a JSON-RPC response."""
        body: dict[str, Any] = {"code": self.code, "message": self.message}
        return body if self.data is None else {**body, "data": self.data}


def invalid_params(sentence: str, **data: Any) -> RequestError:
    """The params are malformed: -32602."""
    return RequestError(INVALID_PARAMS, sentence, data or None)


def not_found(path: str) -> RequestError:
    """There is no such file or directory: -32002 (file-system page, "Error Handling")."""
    return RequestError(NOT_FOUND, "there is no such file or directory", {"path": path})


def refused(path: str, reason: str) -> RequestError:
    """Roots, policy or permissions refuse the path: -32001, the path in `data`."""
    return RequestError(REFUSED, f"access is refused: {reason}", {"path": path})


def failed(path: str, reason: str) -> RequestError:
    """Anything else that keeps a file from being read or written: -32603."""
    return RequestError(INTERNAL_ERROR, reason, {"path": path})
