"""The files that a single schema file refers to: those below its folder that a relative reference names by path.

A folder is a schema as a whole. Of what lies beside a file only that counts which its references lead to, one file after another, as with
the files that addresses mean; what lies above its folder is never read.
"""

from __future__ import annotations

import json
import posixpath
import re
from collections.abc import Callable
from typing import Final, TypeAlias
from urllib.parse import quote, unquote

Reader: TypeAlias = Callable[[str], bytes | None]
"""Reads a file by its path relative to the folder; `None` if there is none."""

FILES: Final = "file:///"
"""What paths of files are relative to: an address that no file on any disk is looked up by."""

_REFERENCE: Final = re.compile(rb'"\$(?:ref|dynamicRef)"\s*:\s*("(?:[^"\\\x00-\x1f]|\\.)*")')


def address_of(path: str) -> str:
    """The address of a file that has none of its own."""
    return FILES + quote(path)


def beside(path: str, location: str) -> str:
    """The path of a file that another one names by a relative reference without its fragment."""
    return posixpath.normpath(posixpath.join(posixpath.dirname(path), unquote(location)))


def siblings(name: str, content: bytes, read: Reader) -> tuple[tuple[str, str, bytes], ...]:
    """Address, path and bytes of each file that the references of one lead to, sorted by path."""
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
    del found[name]
    return tuple((address_of(path), path, found[path]) for path in sorted(found))


def _named(path: str, content: bytes) -> set[str]:
    """The paths that references of a file may mean, below the folder; as a folder is read: JSON, and nothing hidden."""
    named: set[str] = set()
    for written in set(_REFERENCE.findall(content)):
        try:
            location = json.loads(written).partition("#")[0]
        except ValueError:
            continue
        other = beside(path, location)
        is_hidden = any(part.startswith(".") for part in other.split("/"))
        if location and not other.startswith("/") and other.endswith(".json") and not is_hidden and "\0" not in other:
            named.add(other)
    return named
