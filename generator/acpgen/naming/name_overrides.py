"""The names that people choose: a file's or a project's entries from places to names.

A place is written as a pointer (`#/$defs/Thing`, `file.json#/…`, `#` for the root), with the tag of a variant for its index
(`#/$defs/Block/oneOf[text]`), or by what it means: `Thing`, `Thing.field`, `Thing.list[]` for the items, `Thing.map{}` for the values,
`Union[tag]` for a variant. A tag is written as it is; one that is no text as in JSON (`Level[1]`), so that text which looks like that
has quotes (`Level["1"]`).
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
    """The entries, and which of them named something. Raises `Faults` where a name is none."""

    def __init__(self, names: Mapping[str, str]) -> None:
        given = cast("Mapping[str, object]", names)  # a library's user may pass anything
        wrong = [key for key, name in given.items() if not isinstance(name, str) or not is_class_name(name)]
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
        """The name that an entry has under one of these keys of one place. `is_exact`: `definitions` and `$defs` are two places."""
        chosen: str | None = None
        for key in keys:
            self.asked.add(key)
            written = key if key in self.names else self._alike(key, is_exact)
            if written is not None:
                self.used.add(written)
                chosen = self.names[written] if chosen is None else chosen
        return chosen

    def _alike(self, key: str, is_exact: bool) -> str | None:
        written = self.written.get(_spelled(key))
        is_other = is_exact and written is not None and "#/definitions/" in f"{key}{written}"
        return None if is_other else written

    def hint(self, key: str) -> str:
        """The place nearest to that of an entry."""
        close = get_close_matches(key, sorted(self.asked), n=1)
        return f"Did you mean {shown(close[0])}?" if close else ""


def tag_text(value: Tag) -> str:
    """A tag as people write it: text as it is, unless it reads as another constant or has quotes of its own."""
    if not isinstance(value, str):
        return json.dumps(value)
    return json.dumps(value) if value.startswith('"') or _is_constant(value) else value


def meanings(at: str, tags: Mapping[str, str] = _NONE, names: Mapping[str, str] = _NONE) -> list[str]:
    """What a place means in words of the schema: `Thing.field`, `Union[tag]`, … `tags` and `names` are those of places."""
    above, _, last = at.rpartition("/")
    further, _, keyword = above.rpartition("/")
    found = [names[at]] if at in names else []
    if at in tags:
        found += [f"{meaning}[{tags[at]}]" for meaning in meanings(further, tags, names)]
    elif keyword == "properties":
        found += [f"{meaning}.{unescape(last)}" for meaning in meanings(further, tags, names)]
    elif keyword in DEFINITIONS:
        found += [unescape(last)]
    elif keyword in ("allOf", "anyOf", "oneOf"):
        found += meanings(further, tags, names)
    elif last in ("items", "additionalProperties"):
        found += [f"{meaning}{'[]' if last == 'items' else '{}'}" for meaning in meanings(above, tags, names)]
    return list(dict.fromkeys(found))


def _is_constant(text: str) -> bool:
    try:
        return not isinstance(json.loads(text), str | list | dict)
    except (ValueError, RecursionError):
        return False


def _spelled(key: str) -> str:
    """A key with definitions in `$defs`, as newer drafts have it, and with no quotes that a tag does not need."""
    plain = key.replace("#/definitions/", "#/$defs/")
    return _QUOTED.sub(
        lambda found: f"[{tag_text(str(json.loads(found[1])))}]" if _is_text(found[1]) else found[0], plain
    )


def _is_text(quoted: str) -> bool:
    try:
        return isinstance(json.loads(quoted), str)
    except ValueError:
        return False
