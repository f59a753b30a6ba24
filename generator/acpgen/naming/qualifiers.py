"""The names of branches of a union and of entries of a tuple, and the words that distinguish them.

A word is taken from the branch itself, so that adding another branch changes none: the constant of its tag, its title, the definition it
refers to, its required fields, its type. Branches without anything distinctive are numbered only among similar ones, not among all.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import accumulate, chain, count
from typing import Final

from acpgen.input.equality import index_by_key
from acpgen.input.schema_nodes import Node, find_keys
from acpgen.input.tagged_unions import Tag, Tagged
from acpgen.input.walk import is_object
from acpgen.naming.identifiers import make_class_name, spell_out

ORDINALS: Final = ("First", "Second", "Third", "Fourth", "Fifth", "Sixth", "Seventh", "Eighth", "Ninth", "Tenth")
"""Names of the entries of a tuple, by position."""

MOST_WORDS: Final = 3
"""The maximum number of fields, constants or members listed in a name."""


def make_branch_words(branches: Sequence[Node], union: Tagged | None) -> list[str]:
    """A word for each branch, all distinct (empty for null). `union` is the tagged union of the branches, if any."""
    tags = find_constants(branches) if union is None else union.first_tags
    keys = _find_keys(branches)
    ladders = [_list_candidates(branch, tags.get(index), keys.get(index)) for index, branch in enumerate(branches)]
    first = [next(ladder) for ladder in ladders]  # mostly no further word is asked for
    word_by_index: dict[int, str] = {}
    used_words: set[str] = set()
    numbered: dict[str, Iterator[str]] = {}  # each goes on where it was left: what it has told is used
    for index in sorted(range(len(branches)), key=lambda index: (first[index][0], index)):
        best = first[index][1]
        words, numbered_words = (word for _, word in ladders[index]), numbered.setdefault(best, number_names(best))
        word = next(word for word in chain([best], words, numbered_words) if word not in used_words) if best else ""
        used_words.add(word)
        word_by_index[index] = word
    return [word_by_index[index] for index in range(len(branches))]


def list_branch_names(union: str, word: str, *, is_keyed: bool) -> list[str]:
    """Candidate names for a branch without a tag; a distinctive key is treated like a tag."""
    return [join_words(word, union), f"{union}{word}{'Variant' if is_keyed else 'Shape'}"]


def join_words(word: str, union: str) -> str:
    """The name of a branch: `TextInput`.

    Suffixes of the union's name are: numbers (`Level0`), members (`EitherWithId`), and letters that could be read as part of an acronym
    (`NVariantC`).
    """
    if re.match(r"N\d", word):  # as `class_name` begins what begins with a digit
        return f"{union}{'Variant' if union[-1:].isdigit() else ''}{word[1:]}"
    if re.match(r"With[A-Z]", word):
        return f"{union}{word}"
    return f"{union}Variant{word}" if len(word) == 1 and not union[1:2].islower() else f"{word}{union}"


def without_stutter(tag: str, union: str, variant: Node) -> list[str]:
    """Candidate names for a variant whose tag has several words and repeats the last word of its body or union."""
    words, union_words = _split_words(tag), _split_words(union)
    bodies = [_split_words(part.reference) for part in variant.parts if part.reference is not None]
    if len(words) < 2:
        return []
    if words[-1] == union_words[-1]:
        is_repeated = words[: len(union_words) - 1] == union_words[:-1]
        return [] if is_repeated else ["".join([*union_words[:-1], tag])]
    return [tag] if any(words[-1:] == body[-1:] for body in bodies) else []


def _split_words(name: str) -> list[str]:
    """The words of a class name with their case."""
    return re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[^A-Z]+|.", name)


def number_names(name: str) -> Iterator[str]:
    """Numbered names for things that nothing else distinguishes from the one with this name."""
    return (f"{name}Variant{number}" for number in count(2))


def find_constants(branches: Sequence[Node]) -> dict[int, Tag]:
    """The constants, by position, of the property that distinguishes most of the branches, for unions without a tag."""
    constants_by_name: dict[str, dict[int, Tag]] = {}
    for index, branch in enumerate(branches):
        for name, subs in branch.shape.properties.items():
            value = next((sub.constant for sub in subs if sub.constant is not None), None)
            if value is not None:
                constants_by_name.setdefault(name, {})[index] = value
    counts = {name: len(index_by_key(values.values())) for name, values in constants_by_name.items()}
    names = sorted(name for name, values in constants_by_name.items() if len(values) == 1 or counts[name] > 1)
    best = max(names, key=lambda name: counts[name], default=None)
    return {} if best is None else constants_by_name[best]


def _find_keys(branches: Sequence[Node]) -> dict[int, str]:
    """The distinctive keys of branches, by position: of a union in the form of Rust's `enum`, even if it has other branches, too."""
    alone = sum(branch.lone_key is not None for branch in branches)
    has_words = any(isinstance(branch.constant, str) or "enum" in branch.says for branch in branches)
    if not find_keys(branches) and alone < (1 if has_words else 2):
        return {}
    keys: dict[int, str] = {}
    for index, branch in enumerate(branches):
        required = branch.says.get("required", ())
        is_closed = branch.says.get("type") == "object" and branch.says.get("additionalProperties") is False
        if is_closed and len(required) == 1 and required[0] in branch.get_subschema_map("properties"):
            keys[index] = required[0]
    return keys


def _list_candidates(branch: Node, tag: Tag | None, key: str | None) -> Iterator[tuple[int, str]]:
    """Yield the candidate words for a branch, best first, with the rank of their kind: lower ranks are assigned first."""
    if not is_object(branch.schema) or branch.is_null:
        yield 9, ""
        return
    if tag is not None:
        yield 0, make_class_name(str(tag))
        yield 0, make_class_name(spell_out(str(tag)))
    elif key is not None:  # which is as good as a tag
        yield 0, make_class_name(key)
        yield 0, make_class_name(spell_out(key))
    yield from ((1, word) for word in _list_words(branch))
    yield from ((2, f"{word}{make_class_name(str(tag))}") for word in _list_words(branch) if tag is not None)


def _list_words(node: Node) -> Iterator[str]:
    """Yield what a schema contains that can be a word of a name."""
    if node.get_text("title").strip():
        yield make_class_name(node.get_text("title"))
    reference = node.without("not").reference
    if reference is not None:
        yield reference
    properties = node.get_subschema_map("properties")
    required = list(node.says.get("required", ()))
    optional = sorted(name for name in properties if name not in required)
    if required:
        yield from _join_names("With", [*required, *optional])
    elif properties:  # which may well get more, so that they are no good first choice
        yield from chain(["Object"], _join_names("With", optional))
    for name, sub in properties.items():
        if sub.constant is not None:
            yield make_class_name(f"{name} {sub.constant}")
    values = node.says.get("enum", ())
    if 0 < len(values) <= MOST_WORDS:
        yield "Or".join(make_class_name(str(value)) for value in values)
    yield from join_members(node)
    if is_object(node.says.get("items")):
        yield from (f"{word}Array" for word in _list_words(node.get_subschema("items")))
    if "format" in node.says:
        yield make_class_name(node.get_text("format"))
    word = "Or".join(make_class_name(str(name)) for name in node.types or ["Any"])
    yield from (word, f"Any{word}")


def _join_names(prefix: str, names: Sequence[str]) -> Iterator[str]:
    """Names with one word, then two, then three: `WithA`, `WithAAndB`, …"""
    words = map(make_class_name, names[:MOST_WORDS])
    return (f"{prefix}{text}" for text in accumulate(words, lambda left, right: f"{left}And{right}"))


def join_members(node: Node) -> Iterator[str]:
    """Yield a name of a small union of definitions from its members: `RequestOrNotification`."""
    names = [branch.reference for branch in node.branches if not branch.is_null]
    if names and len(names) <= MOST_WORDS and None not in names:
        yield "Or".join(make_class_name(str(name)) for name in names)


def list_alternatives(name: str, node: Node) -> Iterator[str]:
    """Yield alternative names for a thing if `name` is in use: with its title as a prefix, then with its kind, then numbered."""
    title = node.get_text("title")
    if title.strip() and len(title) <= len(name):
        yield f"{make_class_name(title)}{name}"
    kind = f"{name}{_describe_kind(node)}"
    yield from chain([kind], number_names(kind))


def _describe_kind(node: Node) -> str:
    if node.union is not None:
        return "Choice"
    if "enum" in node.says:
        return "Constant"
    if node.says.get("type") == "object" or any(
        key in node.says for key in ("properties", "patternProperties", "allOf")
    ):
        return "Object"
    return {"array": "List", "string": "Text"}.get(str(node.says.get("type")), "Type")
