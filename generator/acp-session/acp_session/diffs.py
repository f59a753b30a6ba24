"""Conversion of diffs in tool calls between v1 and v2.

v1 has the old and new text of one file, v2 a git patch that contains both in full.

Sources: the pages on tool calls of both versions; the schema of v2 (`Diff`, `DiffPatchFormat`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final, cast


def diff_to_v2(diff: Mapping[str, Any]) -> dict[str, Any]:
    """Convert a v1 diff to v2, with a patch."""
    fields = {key: value for key, value in diff.items() if key not in ("path", "oldText", "newText")}
    path, old, new = str(diff["path"]), diff.get("oldText"), str(diff["newText"])
    change = {"operation": "add" if old is None else "modify", "path": path, "fileType": "text"}
    return {**fields, "changes": [change], "patch": {"format": "git_patch", "text": _patch(path, old, new)}}


def diff_to_v1(diff: Mapping[str, Any]) -> dict[str, Any] | None:
    """Convert a v2 diff to v1; `None` unless it has the full texts of one file."""
    changes, patch = diff.get("changes", []), as_object(diff.get("patch"))
    change = as_object(changes[0]) if len(changes) == 1 else {}
    if change.keys() != {"operation", "path", "fileType"} or patch.keys() != {"format", "text"}:
        return None
    if change["operation"] not in ("add", "modify") or (change["fileType"], patch["format"]) != ("text", "git_patch"):
        return None
    path, (old, new) = str(change["path"]), _parse_texts(str(patch["text"]))
    before = None if change["operation"] == "add" else old
    if _patch(path, before, new) != patch["text"]:
        return None
    fields = {key: value for key, value in diff.items() if key not in ("changes", "patch")}
    return {**fields, "path": path, **({} if before is None else {"oldText": before}), "newText": new}


def as_object(value: Any) -> dict[str, Any]:
    """The value if it is a JSON object, otherwise an empty one."""
    return cast("dict[str, Any]", value) if isinstance(value, dict) else {}


def _patch(path: str, old: str | None, new: str) -> str:
    """A git patch with the full old and new text. Line numbers count from the first line that v1 showed.

    Its paths are those of `changes`, without the prefixes `a/` and `b/` (schema of v2, `DiffPatchFormat`).
    """
    before, after = _split(old or ""), _split(new)
    common = _count_common(before, after)
    end = _count_common(before[common:][::-1], after[common:][::-1])
    lines = [
        *(f" {line}" for line in before[:common]),
        *(f"-{line}" for line in before[common : len(before) - end]),
        *(f"+{line}" for line in after[common : len(after) - end]),
        *(f" {line}" for line in before[len(before) - end :]),
    ]
    name = _quote(path)
    head = [
        f"diff --git {name} {name}\n",
        *(["new file mode 100644\n"] if old is None else []),
        "--- /dev/null\n" if old is None else f"--- {name}\n",
        f"+++ {name}\n",
        f"@@ -{_render_range(before)} +{_render_range(after)} @@\n",
    ]
    return "".join([*head, *(line if line.endswith("\n") else f"{line}\n{_NO_END}\n" for line in lines)])


def _count_common(before: Sequence[str], after: Sequence[str]) -> int:
    """The number of equal lines at the start."""
    pairs = zip(before, after, strict=False)
    return next((index for index, (a, b) in enumerate(pairs) if a != b), min(len(before), len(after)))


def _quote(name: str) -> str:
    r"""Quote a name as git does in a patch, so that it stays on one line.

    >>> _quote("/w/tide data"), _quote('/w/x\nnew file mode 120000"')
    ('/w/tide data', '"/w/x\\nnew file mode 120000\\""')
    """
    escapes = {"\n": r"\n", "\t": r"\t", "\r": r"\r", '"': r"\"", "\\": r"\\"}
    literal = "".join(
        escapes.get(character) or (f"\\{ord(character):03o}" if character < " " or character == "\x7f" else character)
        for character in name
    )
    return name if literal == name else f'"{literal}"'


_NO_END: Final = "\\ No newline at end of file"


def _render_range(lines: Sequence[str]) -> str:
    return f"1,{len(lines)}" if lines else "0,0"


def _parse_texts(patch: str) -> tuple[str, str]:
    """The two texts of a patch made by `_patch`; for any other patch, texts that give a different patch."""
    old: list[str] = []
    new: list[str] = []
    sides: tuple[list[str], ...] = ()
    _, _, body = patch.partition("\n@@ ")
    for line in _split(body)[1:]:
        if line.startswith("\\"):
            for side in sides:
                side[-1] = side[-1].removesuffix("\n")
            continue
        sides = {" ": (old, new), "-": (old,), "+": (new,)}.get(line[:1], ())
        for side in sides:
            side.append(line[1:])
    return "".join(old), "".join(new)


def _split(text: str) -> list[str]:
    """Split into lines that keep their ends; only a line feed ends a line."""
    parts = text.split("\n")
    return [f"{part}\n" for part in parts[:-1]] + ([parts[-1]] if parts[-1] else [])
