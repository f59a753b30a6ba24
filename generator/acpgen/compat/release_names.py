"""The names of releases, as far as they can be put in order: Semantic Versioning 2.0.0, and dates."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

_VERSION: Final = re.compile(
    r"v?(0|[1-9][0-9]{0,17})\.(0|[1-9][0-9]{0,17})\.(0|[1-9][0-9]{0,17})(-[0-9A-Za-z.-]+)?(?:\+[0-9A-Za-z.-]+)?"
)
"""`1.2.0`, `v1.2.0-alpha.3`."""

_DOTTED: Final = re.compile(r"v?([0-9]{1,18}(?:\.[0-9]{1,18})*)(-[0-9A-Za-z.-]+)?(?:\+[0-9A-Za-z.-]+)?")
"""`1.7`, `1.7.0-rc.1`."""

_DATE: Final = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
_NAME: Final = re.compile(r"v?[0-9][0-9A-Za-z_.+-]*")


def numbers(name: str) -> tuple[int, int, int, str] | None:
    """The three numbers of a version, and what makes it one before the release itself; `None` for any other name."""
    found = _VERSION.fullmatch(name)
    return None if found is None else (int(found[1]), int(found[2]), int(found[3]), found[4] or "")


def is_date(name: str) -> bool:
    """Whether a name has the form of a date: `2026-07-28`."""
    return _DATE.fullmatch(name) is not None


def is_release(name: str) -> bool:
    """Whether a name can be that of a release that is still to come: it begins with a number, and is no date."""
    return _NAME.fullmatch(name) is not None and not is_date(name)


def is_out(release: str, kept: Sequence[str]) -> bool:
    """Whether a release, or a later one, is among those that are kept."""
    return any(_is_same(each, release) or _is_later(each, release) for each in kept)


def _is_same(one: str, other: str) -> bool:
    """Whether two names are of one release: `v1.7` and `1.7.0` are. Of two before a release, only equal ones."""
    rank = _rank(one)
    return one == other or (rank is not None and rank[1] and rank == _rank(other))


def _is_later(one: str, other: str) -> bool:
    """Whether one version surely comes after another. Of two before the same release, that is not told."""
    first, second = _rank(one), _rank(other)
    return first is not None and second is not None and first > second


def _rank(name: str) -> tuple[tuple[int, ...], bool] | None:
    """What puts a version in order; zeros at its end say nothing. A version before a release comes before it."""
    found = _DOTTED.fullmatch(name)
    if found is None:
        return None
    parts = [int(part) for part in found[1].split(".")]
    while parts and not parts[-1]:
        parts.pop()
    return tuple(parts), not found[2]
