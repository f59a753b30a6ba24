"""Paths of roots as text: enough to judge a conversation, never enough to grant access (requirement 46)."""

from __future__ import annotations

import ntpath
import posixpath
from collections.abc import Iterable, Sequence
from typing import Any, Literal, TypeAlias

from .json_values import get_text, is_array, split_pointer

RootFault: TypeAlias = Literal["null", "no array", "no string", "empty", "relative", "other platform"]
"""What can be wrong with additional roots or one of them."""


def read_roots(value: Any) -> tuple[str, ...] | None:
    """The additional directories in a message; empty if the field is absent, `None` if it is malformed."""
    roots: Any = value.get("additionalDirectories", []) if value.__class__ is dict else []
    return tuple(roots) if is_array(roots) and all(isinstance(root, str) for root in roots) else None


def is_about_roots(pointer: str) -> bool:
    """Whether a place in a message is in the field `additionalDirectories`; false for the capability of that name."""
    steps = split_pointer(pointer)
    if "additionalDirectories" not in steps:
        return False
    before = steps[: steps.index("additionalDirectories")]
    return not before or before[-1] not in ("sessionCapabilities", "session")


def find_root_fault(pointer: str, message: Any) -> RootFault | None:
    """What is wrong with roots that the schema refuses at this place; `None` for any other place."""
    if not is_about_roots(pointer):
        return None
    value: Any = message
    for step in split_pointer(pointer):
        value = value[int(step)] if is_array(value) else value[step]
    if value is None:
        return "null"
    if pointer.endswith("/additionalDirectories"):
        return "no array"
    return "no string" if not isinstance(value, str) else "relative" if value else "empty"


def find_foreign_roots(value: Any) -> tuple[int, ...]:
    """The indices of additional directories whose platform differs from that of `cwd`, or without one from that of the first."""
    cwd_platform = _find_platform(get_text(value, "cwd"))
    indices: list[int] = []
    for index, root in enumerate(read_roots(value) or ()):
        platform = _find_platform(root)
        cwd_platform = platform if cwd_platform is None else cwd_platform
        if platform is not None and platform != cwd_platform:
            indices.append(index)
    return tuple(indices)


def _find_platform(path: str | None) -> str | None:
    """The platform of an absolute path; `None` if it may be either, or the path is not absolute."""
    if path is None or path.startswith("//"):
        return None
    if path.startswith("/"):
        return "posix"
    is_drive = len(path) > 2 and path[0].isalpha() and path[0].isascii() and path[1] == ":" and path[2] in "/\\"
    return "windows" if is_drive or path.startswith("\\\\") else None


def is_absolute(path: str) -> bool:
    """Whether a path is absolute, on any platform."""
    return path.startswith("/") or _find_platform(path) is not None


def normalize(path: str) -> str:
    """A path in a canonical spelling: `.` and `..` resolved lexically, no repeated or trailing separator, Windows paths in lower case."""
    if path.startswith("/"):
        return "/" + posixpath.normpath(path).lstrip("/")
    return ntpath.normcase(ntpath.normpath(path))


def normalize_roots(paths: Iterable[str], without: str | None = None) -> tuple[str, ...]:
    """Normalized paths in order, each once, except `without` (requirements 16 to 18)."""
    normalized_exclusion = None if without is None else normalize(without)
    return tuple(path for path in dict.fromkeys(map(normalize, paths)) if path != normalized_exclusion)


def is_inside(path: str, roots: Sequence[str]) -> bool:
    """Whether a path is lexically inside one of the roots, or is one."""
    target = normalize(path)
    for root in map(normalize, roots):
        separator = "/" if root.startswith("/") else "\\"
        if target == root or target.startswith(root if root.endswith(separator) else root + separator):
            return True
    return False
