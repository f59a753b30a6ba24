"""The files that a single schema file refers to: those below its folder that a relative reference names by path.

A folder is read whole; of a file's folder only what the file needs, one file after another. What lies above the folder is never read.
"""

from __future__ import annotations

import json
import posixpath
import re
from collections.abc import Callable
from typing import Final, TypeAlias
from urllib.parse import unquote

Reader: TypeAlias = Callable[[str], bytes | None]
"""Reads a file by its path relative to the folder; `None` if there is none."""

_REFERENCE: Final = re.compile(rb'"\$(?:ref|dynamicRef)"\s*:\s*("(?:[^"\\\x00-\x1f]|\\.)*")')


def with_siblings(name: str, content: bytes, read: Reader) -> tuple[tuple[str, bytes], ...]:
    """Path and bytes of a file and of all that its references lead to, sorted by path."""
    found = {name: content}
    pending = [name]
    tried: set[str] = set()
    while pending:
        path = pending.pop()
        for other in sorted(_named(path, found[path]) - found.keys() - tried):
            tried.add(other)
            sibling = read(other)
            if sibling is not None:
                found[other] = sibling
                pending.append(other)
    return tuple(sorted(found.items()))


def _named(path: str, content: bytes) -> set[str]:
    """The paths that references of a file may mean, below the folder; as a folder is read: JSON, and nothing hidden."""
    folder = posixpath.dirname(path)
    named: set[str] = set()
    for written in set(_REFERENCE.findall(content)):
        try:
            location = unquote(json.loads(written)).partition("#")[0]
        except ValueError:
            continue
        other = posixpath.normpath(posixpath.join(folder, location))
        is_hidden = any(part.startswith(".") for part in other.split("/"))
        if (
            location
            and not location.startswith("/")
            and other.endswith(".json")
            and not is_hidden
            and "\0" not in other
        ):
            named.add(other)
    return named
