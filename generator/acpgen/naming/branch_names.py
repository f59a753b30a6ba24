"""The names of branches of a union, and of the entries of a tuple."""

from __future__ import annotations

import re
from typing import Final

from acpgen.input.tagged_unions import lone_reference
from acpgen.input.walk import Schema

ORDINALS: Final = ("First", "Second", "Third", "Fourth", "Fifth", "Sixth", "Seventh", "Eighth", "Ninth", "Tenth")
"""What the entries of a tuple are called: there the position is the meaning."""


def names_of_branch(union: str, word: str, *, is_keyed: bool) -> list[str]:
    """The names for a branch without a tag; the key that tells it apart is as good as one."""
    return [joined(word, union), f"{union}{word}{'Variant' if is_keyed else 'Shape'}"]


def joined(word: str, union: str) -> str:
    """The name of a branch: `TextInput`. Behind the union stand a number (`Level0`), what it has (`EitherWithId`), and a letter that would
    be one of an acronym (`NVariantC`).
    """
    if re.match(r"N\d", word):  # as `class_name` begins what begins with a digit
        return f"{union}{'Variant' if union[-1:].isdigit() else ''}{word[1:]}"
    if re.match(r"With[A-Z]", word):
        return f"{union}{word}"
    return f"{union}Variant{word}" if len(word) == 1 and not union[1:2].islower() else f"{word}{union}"


def without_stutter(tag: str, union: str, whole: Schema) -> list[str]:
    """Names of a variant whose tag of several words ends like its body, so that it says what it is, or like its union."""
    own, above = _parts_of(tag), _parts_of(union)
    parts = [*({"$ref": ref} for ref in [whole.get("$ref")] if ref is not None), *whole.get("allOf", ())]
    bodies = [_parts_of(name) for part in parts if (name := lone_reference(part)) is not None]
    if len(own) < 2:
        return []
    if own[-1] == above[-1]:
        is_said = own[: len(above) - 1] == above[:-1]
        return [] if is_said else ["".join([*above[:-1], tag])]
    return [tag] if any(own[-1:] == body[-1:] for body in bodies) else []


def _parts_of(name: str) -> list[str]:
    """The words of a class name as they stand in it."""
    return re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[^A-Z]+|.", name)
