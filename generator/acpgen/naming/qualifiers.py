"""The names of branches of a union and of entries of a tuple, and the words that tell things apart in them.

A word comes from what a branch says itself, so that a branch which is added elsewhere changes none: the constant of its tag, its title,
the definition that it refers to, the fields that it demands, its type. Branches that say nothing of their own are counted among those
that are alike, not among all.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import accumulate, chain, count
from typing import Any, Final

from acpgen.input.equality import by_key
from acpgen.input.tagged_unions import (
    Flat,
    Tag,
    Tagged,
    Tags,
    branches_of,
    constant,
    flatten,
    is_null,
    keyed,
    lone_key,
    lone_reference,
)
from acpgen.input.walk import Schema, is_array, is_object
from acpgen.naming.identifiers import class_name, spelled_out

ORDINALS: Final = ("First", "Second", "Third", "Fourth", "Fifth", "Sixth", "Seventh", "Eighth", "Ninth", "Tenth")
"""What the entries of a tuple are called: there the position is the meaning."""

MOST_WORDS: Final = 3
"""Fields, constants or members that a name lists at most."""


def labels(branches: Sequence[Any], definitions: Mapping[str, Schema], found: Tagged | None) -> list[str]:
    """A word for each branch, no two alike. `found` is the tagged union that they make."""
    tags = telling_constants(branches, definitions) if found is None else found.first_tags
    keys = _keys(branches, definitions)
    ladders = [_ladder(branch, tags.get(index), keys.get(index)) for index, branch in enumerate(branches)]
    first = [next(ladder) for ladder in ladders]  # mostly no further word is asked for
    chosen: dict[int, str] = {}
    used: set[str] = set()
    numbered: dict[str, Iterator[str]] = {}  # each goes on where it was left: what it has told is used
    for index in sorted(range(len(branches)), key=lambda index: (first[index][0], index)):
        best = first[index][1]
        words, more = (word for _, word in ladders[index]), numbered.setdefault(best, counted(best))
        word = next(word for word in chain([best], words, more) if word not in used) if best else ""
        used.add(word)
        chosen[index] = word
    return [chosen[index] for index in range(len(branches))]


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


def counted(name: str) -> Iterator[str]:
    """Names for those that nothing else tells apart from the thing of this name."""
    return (f"{name}Variant{number}" for number in count(2))


def telling_constants(branches: Sequence[Any], definitions: Mapping[str, Schema]) -> dict[int, Tag]:
    """The constants of the property that tells most of the branches apart, by position: of what is no tagged union."""
    known: dict[str, Flat] = {}
    held: dict[str, dict[int, Tag]] = {}
    for index, branch in enumerate(branches):
        flat = flatten(branch, definitions, known) if is_object(branch) else None
        for name, subs in flat.properties.items() if flat is not None else ():
            value = next((value for sub in subs if (value := constant(sub)) is not None), None)
            if value is not None:
                held.setdefault(name, {})[index] = value
    telling = {name: values for name, values in held.items() if _is_telling(values)}
    best = max(sorted(telling), key=lambda name: len(_distinct(telling[name])), default=None)
    return {} if best is None else telling[best]


def _is_telling(values: Mapping[int, Tag]) -> bool:
    return len(values) == 1 or len(_distinct(values)) > 1


def _distinct(values: Mapping[int, Tag]) -> Tags:
    return by_key(values.values())


def _keys(branches: Sequence[Any], definitions: Mapping[str, Schema]) -> dict[int, str]:
    """The keys that tell branches apart, by position: of a union as Rust's `enum` writes it, whatever else is in it by now."""
    alone = sum(lone_key(branch) is not None for branch in branches)
    has_words = any(is_object(branch) and isinstance(constant(branch), str) for branch in branches)
    has_words |= any(is_object(branch) and is_array(branch.get("enum")) for branch in branches)
    if not keyed(branches, definitions) and alone < (1 if has_words else 2):
        return {}
    found = ((index, _sole_key(branch)) for index, branch in enumerate(branches) if is_object(branch))
    return {index: key for index, key in found if key is not None}


def _sole_key(branch: Schema) -> str | None:
    """The one key that a closed object asks for."""
    required = branch.get("required", ())
    is_closed = branch.get("type") == "object" and branch.get("additionalProperties") is False
    return required[0] if is_closed and len(required) == 1 and required[0] in branch.get("properties", {}) else None


def _ladder(branch: object, tag: Tag | None, key: str | None) -> Iterator[tuple[int, str]]:
    """The words for one branch, best first, with the rank of each kind of word: a better kind is given out first."""
    if not is_object(branch) or is_null(branch):
        yield 9, ""
        return
    if tag is not None:
        yield 0, class_name(str(tag))
        yield 0, class_name(spelled_out(str(tag)))
    elif key is not None:  # which is as good as a tag
        yield 0, class_name(key)
        yield 0, class_name(spelled_out(key))
    yield from ((1, word) for word in _said(branch))
    yield from ((2, f"{word}{class_name(str(tag))}") for word in _said(branch) if tag is not None)


def _said(schema: Schema) -> Iterator[str]:
    """What a schema says of itself that can be a word of a name."""
    if isinstance(schema.get("title"), str) and schema["title"].strip():
        yield class_name(schema["title"])
    reference = lone_reference({key: value for key, value in schema.items() if key != "not"})
    if reference is not None:
        yield reference
    properties = schema.get("properties", {})
    required = [name for name in schema.get("required", ()) if isinstance(name, str)]
    optional = sorted(name for name in properties if name not in required)
    if required:
        yield from _lists("With", [*required, *optional])
    elif properties:  # which may well get more, so that they are no good first choice
        yield from chain(["Object"], _lists("With", optional))
    for name, sub in properties.items():
        value = constant(sub)
        if value is not None:
            yield class_name(f"{name} {value}")
    values = schema.get("enum")
    if is_array(values) and values and len(values) <= MOST_WORDS:
        yield "Or".join(class_name(str(value)) for value in values)
    yield from members(schema)
    if is_object(schema.get("items")):
        yield from (f"{word}Array" for word in _said(schema["items"]))
    if isinstance(schema.get("format"), str):
        yield class_name(schema["format"])
    types = schema.get("type", "Any")
    word = "Or".join(class_name(str(name)) for name in (types if is_array(types) else [types]))
    yield from (word, f"Any{word}")


def _lists(prefix: str, names: Sequence[str]) -> Iterator[str]:
    """One name, then two, then three: `WithA`, `WithAAndB`, …"""
    words = map(class_name, names[:MOST_WORDS])
    return (f"{prefix}{text}" for text in accumulate(words, lambda left, right: f"{left}And{right}"))


def members(schema: Schema) -> Iterator[str]:
    """A small union of definitions by its members: `RequestOrNotification`."""
    union = branches_of(schema)
    references = [lone_reference(branch) for branch in union[1] if not is_null(branch)] if union is not None else []
    if references and len(references) <= MOST_WORDS:
        names = [class_name(name) for name in references if name is not None]
        if len(names) == len(references):
            yield "Or".join(names)


def otherwise(name: str, schema: Schema) -> Iterator[str]:
    """Names for a thing whose own one, `name`, belongs to another thing: its title before it, then what it is, then counted."""
    title = schema.get("title")
    if isinstance(title, str) and title.strip() and len(title) <= len(name):
        yield f"{class_name(title)}{name}"
    kind = f"{name}{_kind(schema)}"
    yield from chain([kind], counted(kind))


def _kind(schema: Schema) -> str:
    if branches_of(schema) is not None:
        return "Choice"
    if is_array(schema.get("enum")):
        return "Constant"
    if "properties" in schema or "patternProperties" in schema or schema.get("type") == "object" or "allOf" in schema:
        return "Object"
    return {"array": "List", "string": "Text"}.get(str(schema.get("type")), "Type")
