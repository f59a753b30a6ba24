"""Patches as `git diff --patch` writes them, as far as ACP has demands on their paths."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

_HUNK: Final = re.compile(r"@@ -[0-9]+(?:,([0-9]+))? \+[0-9]+(?:,([0-9]+))? @@")
_ABSOLUTE: Final = re.compile(r'"?(?:/|[A-Za-z]:[\\/]|\\\\)')
_NAMES: Final = ("--- ", "+++ ", "rename from ", "rename to ", "copy from ", "copy to ")


def objections(patch: str) -> Iterator[tuple[str, str]]:
    """What is wrong with a patch, each time as a word and a sentence: `envelope` where something stands before the first file,
    `path` for one that is not absolute.
    """
    lines = patch.split("\n")
    if not patch.startswith("diff --git "):
        yield "envelope", "the patch does not begin with 'diff --git'"
    for path in _paths(lines):
        if path.rstrip() != "/dev/null" and _ABSOLUTE.match(path) is None:
            yield "path", f"the patch names {path[:80]!r}, which is not an absolute path"
            return


def _paths(lines: list[str]) -> Iterator[str]:
    """The paths in the heads of files. Lines of a hunk are counted, since a removed line may look like one of a head."""
    old = new = 0
    is_head = False
    for line in lines:
        if old > 0 or new > 0:
            old -= line[:1] in (" ", "-", "")
            new -= line[:1] in (" ", "+", "")
            continue
        hunk = _HUNK.match(line)
        if hunk is not None:
            old, new = (1 if count is None else int(count[:9]) for count in hunk.groups())
        elif line.startswith("diff --git "):
            is_head = True
            yield line.removeprefix("diff --git ")
        elif line.startswith("GIT binary patch"):
            is_head = False
        elif is_head:
            yield from (line.removeprefix(name) for name in _NAMES if line.startswith(name))
