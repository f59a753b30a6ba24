"""What a client lets an agent do with files inside the roots.

Source: the file-system page, sections "File Type Restrictions" and "Size Limits".
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final, Literal

from .atomic import TEMPORARY
from .containment import Place, Root
from .sensitive import RUN_BY_TOOLS, SECRET_FOLDERS, SECRETS, VERSION_CONTROL, folded, is_denied

DEFAULT_LIMIT: Final = 10 * 1024 * 1024
"""10 MiB, the limit of the file-system page."""
LONGEST_LOOK: Final = 1024 * 1024 * 1024
"""1 GiB: how far into a larger file lines are looked for."""

__all__ = ["DEFAULT_LIMIT", "LONGEST_LOOK", "FilePolicy", "Root"]


@dataclass(frozen=True, slots=True)
class FilePolicy:
    """What a client lets an agent do with files inside the roots. Sizes are in bytes.

    `read`, `write`: which of the two methods there are. `max_read`, `max_write`: the size of a file that is read, and of one that is
    written. `extensions`: if given, only names that end in one of them (with the dot, in any case; `""` admits names without one).
    `max_look`: how far into a file larger than `max_read` lines are looked for, where a request names lines; what it gets is bounded by
    `max_read`. `denied`: wildcards for names of files that are off limits anywhere below a root; `denied_folders`: for names of folders,
    with all that lies in them. `denied_for_writing`: for files and folders that are not written; a wildcard may be several names with
    `/` between them, which then follow one another.
    `hard_links`: whether a file that has further names, which may lie outside, is read. `fallback_encoding`: how to read what is not
    UTF-8 and has no byte order mark; `None` refuses it. `keep_form`: whether a write keeps the encoding, mark and line ends of the
    file it replaces. `backups`: a folder, best outside the roots, that gets the old content before each write
    (`<name>.<time>.<random>.bak`, readable by its owner only); an old file larger than both limits is not replaced then. `durable`:
    whether a write is on the disk before it is answered.

    Raises `ValueError` for a setting that would protect nothing, `LookupError` for an encoding that does not exist.
    """

    read: bool = True
    write: bool = True
    max_read: int = DEFAULT_LIMIT
    max_write: int = DEFAULT_LIMIT
    extensions: frozenset[str] | None = None
    max_look: int = LONGEST_LOOK
    denied: tuple[str, ...] = SECRETS
    denied_folders: tuple[str, ...] = SECRET_FOLDERS
    denied_for_writing: tuple[str, ...] = (*VERSION_CONTROL, *RUN_BY_TOOLS)
    hard_links: Literal["refuse", "read"] = "refuse"
    fallback_encoding: str | None = None
    keep_form: bool = True
    backups: str | None = None
    durable: bool = True
    in_place: Literal["never", "when-needed"] = "never"

    def __post_init__(self) -> None:
        if min(self.max_read, self.max_write, self.max_look) < 0:
            raise ValueError("a limit is a number of bytes, 0 or more")
        if self.hard_links not in ("refuse", "read"):
            raise ValueError("'hard_links' is 'refuse' or 'read'")
        if self.in_place not in ("never", "when-needed"):
            raise ValueError("'in_place' is 'never' or 'when-needed'")
        for patterns in (self.denied, self.denied_folders, self.denied_for_writing):
            if isinstance(patterns, str):
                raise ValueError(f"wildcards are a tuple: ({patterns!r},)")
            for pattern in patterns:
                names = pattern.split("/")
                if not all(names) or (len(names) > 1 and patterns is not self.denied_for_writing):
                    raise ValueError(f"the wildcard {pattern!r} matches no name: names hold no '/'")
        for extension in self.extensions or ():
            if extension and not extension.startswith("."):
                raise ValueError(f"the extension {extension!r} must begin with a dot")
        if self.fallback_encoding is not None:
            "".encode(self.fallback_encoding)  # raises LookupError for an unknown name
        if self.backups is not None and not os.path.isabs(self.backups):  # noqa: PTH117
            raise ValueError("the folder for backups must be an absolute path")

    def objection(self, place: Place, *, writing: bool) -> str | None:
        """Why a place is off limits, as the end of a sentence, or `None`.

        >>> root = Root("/srv", "/srv", (0, 0))
        >>> FilePolicy().objection(Place(root, (".env",), "/srv/.env"), writing=False)
        'the name is one that files with secrets have'
        >>> FilePolicy(extensions=frozenset({".md"})).objection(Place(root, ("a.exe",), "/srv/a.exe"), writing=False)
        "files of the type '.exe' are not allowed"
        """
        asked = _asked(place)
        for names in (place.parts, asked):
            if is_denied(names[-1:], self.denied) or is_denied(names, self.denied_folders):
                return "the name is one that files with secrets have"
            if any(TEMPORARY.fullmatch(name) for name in names):
                return "the name belongs to a file that is being written"
            if writing and is_denied(names, self.denied_for_writing):
                return "other programs, such as version control, run or read the files there"
        if self.extensions is not None:
            for name in (*place.parts[-1:], *asked[-1:]):
                if not _ends_in(folded(name), self.extensions):
                    extension = os.path.splitext(folded(name))[1][:80]  # noqa: PTH122
                    return (
                        f"files of the type {extension!r} are not allowed"
                        if extension
                        else "files without a type are not allowed"
                    )
        return None


def _asked(place: Place) -> tuple[str, ...]:
    """The names of the path as it was asked for, without those that it shares with its root: a link may have the telling name."""
    names = _names(place.path)
    shared = (_shared(names, _names(declared)) for declared in (place.root.path, place.root.real))
    return names[max(shared) :] or names[-1:]


def _names(path: str) -> tuple[str, ...]:
    return tuple(name for name in path.split("/") if name not in ("", "."))


def _shared(names: tuple[str, ...], others: tuple[str, ...]) -> int:
    return next(
        (i for i, (a, b) in enumerate(zip(names, others, strict=False)) if a != b), min(len(names), len(others))
    )


def _ends_in(name: str, extensions: Iterable[str]) -> bool:
    has_none = not os.path.splitext(name)[1]  # noqa: PTH122
    return any(
        name.endswith(end) and len(name) > len(end) if end else has_none
        for end in (extension.casefold() for extension in extensions)
    )
