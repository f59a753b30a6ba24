"""The names that users choose: entries of a file or a project from places to names.

A place is written as a pointer (`#/$defs/Thing`, `file.json#/…`, `#` for the root), with the tag of a variant instead of its index
(`#/$defs/Block/oneOf[text]`), or symbolically: `Thing`, `Thing.field`, `Thing.list[]` for the items, `Thing.map{}` for the values,
`Union[tag]` for a variant. A text tag is written as it is, another one as in JSON (`Level[1]`); text that looks like that is quoted
(`Level["1"]`).
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from difflib import get_close_matches
from types import MappingProxyType
from typing import Final, cast

from acpgen.errors import Faults, shown
from acpgen.input.faults import BAD_SETTING
from acpgen.input.tagged_unions import Tag
from acpgen.input.walk import DEFINITIONS
from acpgen.naming.identifiers import is_class_name
from acpgen.pointers import unescape

_NONE: Final[Mapping[str, str]] = MappingProxyType({})
_QUOTED: Final = re.compile(r'\[("(?:[^"\\]|\\.)*")\]')


class ChosenNames:
    """The entries, and which of them were used. Raises `Faults` for an invalid name."""

    def __init__(self, names: Mapping[str, str]) -> None:
        entries = cast("Mapping[str, object]", names)  # a library's user may pass anything
        wrong = [key for key, name in entries.items() if not isinstance(name, str) or not is_class_name(name)]
        if wrong:
            expected = "the name of a Python class: letters, digits and '_', a capital first"
            raise Faults(
                [
                    BAD_SETTING(at="names", key=f"the value of {shown(key)}", expected=expected, hint="Correct it.")
                    for key in wrong
                ]
            )
        self.names = names
        self.written = {_spelled(key): key for key in names}
        self.used: set[str] = set()
        self.asked: set[str] = set()

    def __bool__(self) -> bool:
        return bool(self.names)

    def find(self, keys: Iterable[str], *, is_exact: bool = False) -> str | None:
        """The name in the entry for one of these keys of a place. `is_exact`: `definitions` and `$defs` are distinct places."""
        chosen_name: str | None = None
        for key in keys:
            self.asked.add(key)
            entry = key if key in self.names else self._alike(key, is_exact)
            if entry is not None:
                self.used.add(entry)
                chosen_name = self.names[entry] if chosen_name is None else chosen_name
        return chosen_name

    def _alike(self, key: str, is_exact: bool) -> str | None:
        entry = self.written.get(_spelled(key))
        is_other = is_exact and entry is not None and "#/definitions/" in f"{key}{entry}"
        return None if is_other else entry

    def hint(self, key: str) -> str:
        """A suggestion of the place most similar to that of an entry; empty if none is."""
        close = get_close_matches(key, sorted(self.asked), n=1)
        return f"Did you mean {shown(close[0])}?" if close else ""


def tag_text(value: Tag) -> str:
    """A tag as users write it: as plain text, unless that would read as another constant or begins with a quote."""
    if not isinstance(value, str):
        return json.dumps(value)
    return json.dumps(value) if value.startswith('"') or _is_constant(value) else value


def meanings(at: str, tags: Mapping[str, str] = _NONE, names: Mapping[str, str] = _NONE) -> list[str]:
    """The symbolic forms of a place: `Thing.field`, `Union[tag]`, … `tags` and `names` are by place."""
    above, _, last = at.rpartition("/")
    further, _, keyword = above.rpartition("/")
    forms = [names[at]] if at in names else []
    if at in tags:
        forms += [f"{meaning}[{tags[at]}]" for meaning in meanings(further, tags, names)]
    elif keyword == "properties":
        forms += [f"{meaning}.{unescape(last)}" for meaning in meanings(further, tags, names)]
    elif keyword in DEFINITIONS:
        forms += [unescape(last)]
    elif keyword in ("allOf", "anyOf", "oneOf"):
        forms += meanings(further, tags, names)
    elif last in ("items", "additionalProperties"):
        forms += [f"{meaning}{'[]' if last == 'items' else '{}'}" for meaning in meanings(above, tags, names)]
    return list(dict.fromkeys(forms))


def _is_constant(text: str) -> bool:
    try:
        return not isinstance(json.loads(text), str | list | dict)
    except (ValueError, RecursionError):
        return False


def _spelled(key: str) -> str:
    """A key in normal form: definitions in `$defs`, and no unnecessary quotes around tags."""
    plain = key.replace("#/definitions/", "#/$defs/")
    return _QUOTED.sub(
        lambda match: f"[{tag_text(str(json.loads(match[1])))}]" if _is_text(match[1]) else match[0], plain
    )


def _is_text(literal: str) -> bool:
    try:
        return isinstance(json.loads(literal), str)
    except ValueError:
        return False
