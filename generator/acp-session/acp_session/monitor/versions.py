"""Which version of a protocol judges, once `initialize` has named one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

T = TypeVar("T")


def is_unknown(version: object, protocols: Mapping[Any, object]) -> bool:
    """Whether this is a version as these protocols have them, and none of theirs."""
    named = _version(version)
    return named is not None and named not in protocols and type(named) in map(type, protocols)


def spoken(version: object, protocols: Mapping[Any, T], in_force: T | None, *, is_fixed: bool) -> T | None:
    """What judges once this version is named: the one in force where none is named, or where that is fixed; `None` for one that is
    not known.
    """
    if is_unknown(version, protocols) and not is_fixed:
        return None
    return protocols.get(_version(version), in_force)


def _version(value: object) -> int | str | None:
    """A version as contracts have it."""
    if isinstance(value, float) and value.is_integer():
        return int(value)
    return value if isinstance(value, int | str) and not isinstance(value, bool) else None
