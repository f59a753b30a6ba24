"""The error response: what a handler raises and a connection sends."""

from __future__ import annotations

import errno
import os
from collections.abc import Generator
from contextlib import contextmanager
from typing import Any, Final

from acp_bindings import RequestError as RequestError

from jsonrpc_bindings.errors import INTERNAL_ERROR as INTERNAL_ERROR
from jsonrpc_bindings.errors import INVALID_PARAMS as INVALID_PARAMS
from jsonrpc_bindings.errors import METHOD_NOT_FOUND as METHOD_NOT_FOUND

from .containment import AccessDenied

REFUSED: Final = -32001
"""The path is refused by the roots, the policy or the operating system. (In ACP, -32000 has another meaning.)"""
NOT_FOUND: Final = -32002
UNSUPPORTED_VERSION: Final = -32022
"""The version of the protocol is not supported (schema of v2)."""


def make_invalid_params(sentence: str, pointer: str = "", **data: Any) -> RequestError:
    """An error for malformed params at a JSON Pointer into them: -32602. `data.problems` is as for a violation of the schema."""
    return RequestError(INVALID_PARAMS, sentence, {"problems": [make_problem(pointer, sentence)], **data})


def make_problem(pointer: str, sentence: str) -> dict[str, str]:
    """An item of `data.problems` for a JSON Pointer into the params; its pointer is relative to the message."""
    return {"pointer": f"/params{pointer}", "message": sentence}


def make_not_found(path: str) -> RequestError:
    """An error for a missing file or directory: -32002 (file-system page, "Error Handling")."""
    return RequestError(NOT_FOUND, "there is no such file or directory", {"path": path})


def make_refusal(path: str, reason: str) -> RequestError:
    """An error for a path that roots, policy or permissions refuse: -32001, with the path in `data`."""
    return RequestError(REFUSED, f"access is refused: {reason}", {"path": path})


def make_failure(path: str, reason: str) -> RequestError:
    """An error for any other failure to read or write a file: -32603."""
    return RequestError(INTERNAL_ERROR, reason, {"path": path})


@contextmanager
def convert_os_errors(path: str) -> Generator[None, None, None]:
    """Convert refusals and errors of the operating system in the block to the errors for this path."""
    try:
        yield
    except AccessDenied as error:
        raise make_refusal(path, error.reason) from None
    except OSError as error:
        raise _convert_os_error(path, error) from None


def _convert_os_error(path: str, error: OSError) -> RequestError:
    match error.errno:
        case errno.ENOENT | errno.ENOTDIR:
            return make_not_found(path)
        case errno.EACCES | errno.EPERM | errno.EROFS:
            return make_refusal(path, "the operating system does not permit it")
        case errno.ELOOP | errno.EXDEV:
            return make_refusal(path, "it leads through a link or a mount point that cannot be followed")
        case errno.EISDIR:
            return make_failure(path, "it is a directory")
        case errno.EINVAL:
            return make_failure(path, "it is not a regular file")
        case errno.ENOSPC | errno.EDQUOT:
            return make_failure(path, "there is no space left; the file is unchanged")
        case errno.EFBIG:
            return make_failure(path, "the file would be larger than the system allows; it is unchanged")
        case number:
            return make_failure(path, f"the operating system reports: {os.strerror(number or errno.EIO).lower()}")
