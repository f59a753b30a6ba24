"""The error that answers a request: what a handler raises and a connection sends."""

from __future__ import annotations

import errno
import os
from typing import Any, Final

from acp_bindings import RequestError as RequestError

from jsonrpc_bindings.errors import INTERNAL_ERROR as INTERNAL_ERROR
from jsonrpc_bindings.errors import INVALID_PARAMS as INVALID_PARAMS
from jsonrpc_bindings.errors import METHOD_NOT_FOUND as METHOD_NOT_FOUND

REFUSED: Final = -32001
"""A path that the roots, the policy or the operating system refuse. ACP gives -32000 another meaning."""
NOT_FOUND: Final = -32002
UNSUPPORTED_VERSION: Final = -32022
"""A version of the protocol that is not spoken here (schema of v2)."""


def invalid_params(sentence: str, pointer: str = "", **data: Any) -> RequestError:
    """The params are malformed at a JSON Pointer into them: -32602. `data` has `problems`, as where the schema refuses them."""
    return RequestError(INVALID_PARAMS, sentence, {"problems": [problem(pointer, sentence)], **data})


def problem(pointer: str, sentence: str) -> dict[str, str]:
    """What is wrong at a JSON Pointer into the params, as `data.problems` of an error lists it: with a pointer into the message."""
    return {"pointer": f"/params{pointer}", "message": sentence}


def not_found(path: str) -> RequestError:
    """There is no such file or directory: -32002 (file-system page, "Error Handling")."""
    return RequestError(NOT_FOUND, "there is no such file or directory", {"path": path})


def refusal(path: str, reason: str) -> RequestError:
    """Roots, policy or permissions refuse the path: -32001, the path in `data`."""
    return RequestError(REFUSED, f"access is refused: {reason}", {"path": path})


def failure(path: str, reason: str) -> RequestError:
    """Anything else that keeps a file from being read or written: -32603."""
    return RequestError(INTERNAL_ERROR, reason, {"path": path})


def os_failure(path: str, error: OSError) -> RequestError:
    """What the operating system says of a file."""
    match error.errno:
        case errno.ENOENT | errno.ENOTDIR:
            return not_found(path)
        case errno.EACCES | errno.EPERM | errno.EROFS:
            return refusal(path, "the operating system does not permit it")
        case errno.ELOOP | errno.EXDEV:
            return refusal(path, "it leads through a link or a mount point that cannot be followed")
        case errno.EISDIR:
            return failure(path, "it is a directory")
        case errno.EINVAL:
            return failure(path, "it is not a regular file")
        case errno.ENOSPC | errno.EDQUOT:
            return failure(path, "there is no space left; the file is unchanged")
        case errno.EFBIG:
            return failure(path, "the file would be larger than the system allows; it is unchanged")
        case number:
            return failure(path, f"the operating system reports: {os.strerror(number or errno.EIO).lower()}")
