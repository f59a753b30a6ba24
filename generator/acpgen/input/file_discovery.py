"""The files that a single schema file refers to: relative references to paths below its folder.

A folder is one schema as a whole. Of the files beside a single file, only those count that its references reach, transitively. Files
above its folder are never read.
"""

from __future__ import annotations

import json
import posixpath
import re
from collections.abc import Callable
from typing import Final, TypeAlias
from urllib.parse import quote, unquote

Reader: TypeAlias = Callable[[str, int], bytes | None]
"""Read a file of at most so many bytes by its path relative to the folder; `None` if there is no such file."""

FILES: Final = "file:///"
"""The base URI of relative paths; no file is ever looked up by it."""

_REFERENCE: Final = re.compile(rb'"\$(?:ref|dynamicRef)"\s*:\s*("(?:[^"\\\x00-\x1f]|\\.)*")')


def make_address(path: str) -> str:
    """The URI of a file that has no `$id`."""
    return FILES + quote(path)


def resolve_path(path: str, location: str) -> str:
    """Resolve a relative reference, without its fragment, against the path of the file that contains it."""
    return posixpath.normpath(posixpath.join(posixpath.dirname(path), unquote(location)))


def discover_files(name: str, content: bytes, limit: int, read: Reader) -> tuple[tuple[str, str, bytes], ...]:
    """URI, path and bytes of each file that the references of one file reach, sorted by path. All of them have at most `limit` bytes."""
    contents = {name: content}
    room = limit - len(content)
    pending = [name]
    tried_paths: set[str] = set()
    while pending:
        path = pending.pop()
        for referenced_path in sorted(_find_referenced_paths(path, contents[path]) - contents.keys() - tried_paths):
            tried_paths.add(referenced_path)
            sibling = read(referenced_path, room)
            if sibling is not None:
                contents[referenced_path] = sibling
                room -= len(sibling)
                pending.append(referenced_path)
    del contents[name]
    return tuple((make_address(path), path, contents[path]) for path in sorted(contents))


def _find_referenced_paths(path: str, content: bytes) -> set[str]:
    """The paths below the folder that the references of a file may mean: JSON files, no hidden ones."""
    paths: set[str] = set()
    for literal in set(_REFERENCE.findall(content)):
        try:
            location = json.loads(literal).partition("#")[0]
        except ValueError:
            continue
        file = resolve_path(path, location)
        is_hidden = any(part.startswith(".") for part in file.split("/"))
        if location and not file.startswith("/") and file.endswith(".json") and not is_hidden and "\0" not in file:
            paths.add(file)
    return paths
