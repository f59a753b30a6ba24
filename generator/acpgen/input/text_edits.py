"""Edits of JSON text that leave every other character unchanged.

All edits of a text refer to its original places: `sort_edits` sorts them so that none moves the place of a later one. New text follows the
style of the old: its indentation, separators and line ends.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Final, Literal, TypeAlias

from acpgen.input.numbers import dumps, loads
from acpgen.input.positions import Place, Positions
from acpgen.input.walk import is_array, is_object
from acpgen.pointers import write_plain_pointer

if TYPE_CHECKING:
    from acpgen.ir import JSON

Keys: TypeAlias = tuple[str | int, ...]


@dataclass(frozen=True, slots=True)
class Edit:
    """One change of a JSON value. `at` are the keys and indices that lead to it; an item is inserted before the one with its index.

    `after` is the key after which a member is written: an empty text is the beginning, `None` the end. It does not count for equality,
    since JSON objects are unordered.
    """

    op: Literal["add", "remove", "replace"]
    at: Keys
    value: JSON = field(default=None, hash=False)
    after: str | None = field(default=None, compare=False)

    @property
    def identity(self) -> str:
        """A text that is equal exactly for equal edits; `1` and `true` differ."""
        return dumps([self.op, self.at, self.value], sort_keys=True)

    def is_inside(self, outer: Edit) -> bool:
        """Whether this place is below the outer one."""
        return len(self.at) > len(outer.at) and self.at[: len(outer.at)] == outer.at


def sort_edits(edits: Iterable[Edit]) -> tuple[Edit, ...]:
    """Sort edits so that each can be applied after those before it: items from last to first, inner ones first."""
    return tuple(edit for _, edit in sorted(enumerate(edits), key=lambda entry: _rank(entry[1], entry[0])))


def patch(edits: Iterable[Edit]) -> list[JSON]:
    """The edits as a JSON Patch (RFC 6902)."""
    operations: list[JSON] = []
    for edit in sort_edits(edits):
        operation: dict[str, JSON] = {"op": edit.op, "path": write_plain_pointer(*edit.at)}
        operations.append(operation if edit.op == "remove" else {**operation, "value": edit.value})
    return operations


def apply_edits(text: str, edits: Iterable[Edit]) -> str:
    """Apply edits to JSON text. Raises `KeyError` if the place of an edit does not exist."""
    style = _Style(text)
    for edit in sort_edits(edits):
        text = _apply(text, edit, style)
    return text


def rewrite(text: str, value: JSON) -> str:
    """Write a value in the layout of an older text; unchanged parts keep their text."""
    style = _Style(text)
    for edit in _list_steps(loads(text), value, ()):
        text = _apply(text, edit, style)
    return text


def _list_steps(old: JSON, new: JSON, at: Keys) -> Iterator[Edit]:
    """Yield the edits from one value to another, in order. The members of the root keep their order."""
    if (
        is_object(old)
        and is_object(new)
        and (not at or [*filter(new.__contains__, old)] == [*filter(old.__contains__, new)])
    ):
        yield from (Edit("remove", (*at, key)) for key in old if key not in new)
        before = ""
        for key, member in new.items():
            if key in old:
                yield from _list_steps(old[key], member, (*at, key))
            else:
                yield Edit("add", (*at, key), member, before)
            before = key
    elif is_array(old) and is_array(new):
        yield from _list_item_steps(old, new, at)
    elif dumps(old) != dumps(new):
        yield Edit("replace", at, new)


def _list_item_steps(old: Sequence[JSON], new: Sequence[JSON], at: Keys) -> Iterator[Edit]:
    """Yield the edits of an array, from its end to its beginning."""
    import difflib

    matcher = difflib.SequenceMatcher(None, [*map(dumps, old)], [*map(dumps, new)], autojunk=False)
    for _, first, end, start, stop in reversed(matcher.get_opcodes()):
        common = min(end - first, stop - start)
        yield from (Edit("add", (*at, end), item) for item in reversed(new[start + common : stop]))
        yield from (Edit("remove", (*at, index)) for index in reversed(range(first + common, end)))
        for index in range(common):
            yield from _list_steps(old[first + index], new[start + index], (*at, first + index))


def _rank(edit: Edit, index: int) -> tuple[object, ...]:
    """The sort key of an edit: keys ascending, indices descending, longer places before their prefixes; of one place, the last added
    comes first.
    """
    steps = tuple((1, "", -key) if isinstance(key, int) else (0, key, 0) for key in edit.at)
    is_item_added = edit.op == "add" and isinstance(edit.at[-1], int) if edit.at else False
    return (*steps, (2, "", 0)), is_item_added, -index if is_item_added else index


def _apply(text: str, edit: Edit, style: _Style) -> str:
    positions = Positions(text)
    if not edit.at:
        begins, _ = positions.list_members(())
        return text[:begins] + style.write_value(edit.value, "", 0) + text[positions.end(begins) :]
    *parent, key = edit.at
    begins, members = positions.list_members(parent)
    if edit.op == "add" and (isinstance(key, int) or key not in members):
        return _add_entry(positions, begins, members, edit, style)
    place = members[str(key)]
    if edit.op != "remove":
        literal = style.write_value(edit.value, _get_margin(text, place.offset), _measure_column(text, place.begins))
        return text[: place.begins] + literal + text[positions.end(place.begins) :]
    names = list(members)
    index = names.index(str(key))
    if len(names) == 1:
        return text[: begins + 1] + text[positions.end(begins) - 1 :]
    if index + 1 < len(names):
        return text[: place.offset] + text[members[names[index + 1]].offset :]
    return text[: positions.end(members[names[index - 1]].begins)] + text[positions.end(place.begins) :]


def _add_entry(positions: Positions, begins: int, members: Mapping[str, Place], edit: Edit, style: _Style) -> str:
    """The text with one more member or item."""
    text, key, names = positions.text, edit.at[-1], list(members)
    ends, index = positions.end(begins), _find_index(edit, names)
    if not names:
        only: JSON = [edit.value] if isinstance(key, int) else {key: edit.value}
        return (
            text[:begins]
            + style.write_value(only, _get_margin(text, begins), _measure_column(text, begins))
            + text[ends:]
        )
    head = "" if isinstance(key, int) else f"{style.render(key)}{style.colon}"
    before = text[begins + 1 : members[names[0]].offset]
    is_spread = "\n" in before
    margin = before.rpartition("\n")[2] if is_spread else _get_margin(text, begins)
    gap = f"{style.newline}{margin}" if is_spread else style.gap
    at = members[names[index]].offset if index < len(names) else positions.end(members[names[-1]].begins)
    entry = head + (
        style.write_value(edit.value, margin, len(margin + head)) if is_spread else style.render_line(edit.value)
    )
    piece = f"{entry},{gap}" if index < len(names) else f",{gap}{entry}"
    result = text[:at] + piece + text[at:]
    if is_spread or style.unit is None or len(_get_line(result, at)) <= max(style.width, len(_get_line(text, at))):
        return result
    whole = loads(result[begins : ends + len(piece)])
    return result[:begins] + style.spread(whole, margin) + result[ends + len(piece) :]


def _find_index(edit: Edit, names: list[str]) -> int:
    """The index before which a member or item is added."""
    key = edit.at[-1]
    if isinstance(key, int):
        if key > len(names):
            raise KeyError(key)
        return key
    if edit.after is None:
        return len(names)
    return names.index(edit.after) + 1 if edit.after in names else 0 if not edit.after else len(names)


def _find_line_start(text: str, at: int) -> int:
    return text.rfind("\n", 0, at) + 1


def _measure_column(text: str, at: int) -> int:
    return at - _find_line_start(text, at)


def _get_line(text: str, at: int) -> str:
    end = text.find("\n", at)
    return text[_find_line_start(text, at) : len(text) if end < 0 else end]


def _get_margin(text: str, at: int) -> str:
    """The white space at the start of a line."""
    match = _BLANK.match(text, _find_line_start(text, at))
    return match.group() if match else ""


_BLANK: Final = re.compile(r"[ \t]*")
_TEXTS: Final = re.compile(r'"(?:[^"\\]|\\.)*"')
_COLON: Final = re.compile(r'"(?:[^"\\]|\\.)*"([ \t]*:[ \t]*)\S')
_INLINE: Final = re.compile(r"[\[{][ \t]*[^\s\]}]")
_COMMA: Final = re.compile(r",([ \t]*)\S")


class _Style:
    """The layout of a text. `unit` is one level of indentation, `None` for text on a single line; `width` is the maximum length of a
    line that holds a whole object or array, 0 if there is none.
    """

    def __init__(self, text: str) -> None:
        self.source = text
        self.newline = "\r\n" if "\r\n" in text else "\n"
        colon = _COLON.search(text)
        self.colon = colon.group(1) if colon else ": "
        self.is_ascii = "\\u" in text and text.isascii()

    @cached_property
    def unit(self) -> str | None:
        opened = re.match(r"\s*[\[{][ \t]*\r?\n([ \t]*)\S", self.source)
        return (opened.group(1) or "") if opened else None

    @cached_property
    def _bare(self) -> list[str]:
        """The lines with the content of their strings masked, so that brackets in strings do not count."""
        return _TEXTS.sub(lambda match: '"' + "_" * (len(match.group()) - 2) + '"', self.source).splitlines()

    @cached_property
    def width(self) -> int:
        return max((len(line) for line in self._bare if _INLINE.search(line)), default=0)

    @cached_property
    def gap(self) -> str:
        match = next((match.group(1) for line in self._bare if (match := _COMMA.search(line))), None)
        return match if match is not None else " " if self.colon.endswith(" ") else ""

    def render(self, value: JSON) -> str:
        return dumps(value, ensure_ascii=self.is_ascii)

    def render_line(self, value: JSON) -> str:
        """A value on one line."""
        return dumps(value, ensure_ascii=self.is_ascii, separators=(f",{self.gap}", self.colon))

    def write_value(self, value: JSON, margin: str, column: int) -> str:
        """A value in a line that begins with `margin`; the value begins at `column`."""
        short = self.render_line(value)
        is_short = not isinstance(value, dict | list) or not value
        if is_short or self.unit is None or column + len(short) + 1 <= self.width:
            return short
        return self.spread(value, margin)

    def spread(self, value: JSON, margin: str) -> str:
        """An object or array with each member on its own lines."""
        inner = margin + (self.unit or "")
        rows: list[str] = []
        if is_object(value):
            for key, member in value.items():
                head = f"{self.render(key)}{self.colon}"
                rows.append(head + self.write_value(member, inner, len(inner) + len(head)))
        elif is_array(value):
            rows = [self.write_value(item, inner, len(inner)) for item in value]
        opener, closer = "{}" if is_object(value) else "[]"
        between = f",{self.newline}{inner}"
        return f"{opener}{self.newline}{inner}{between.join(rows)}{self.newline}{margin}{closer}"


def diff_lines(old: str, new: str) -> Sequence[tuple[int, int, list[str]]]:
    """The differences of two texts: the first and last line of the old one, from 1, and the new lines in their place.

    Lines that are inserted between two come with the line before, so that each difference replaces at least one line.
    """
    import difflib

    before, after = old.splitlines(), new.splitlines()
    head = next((i for i, (left, right) in enumerate(zip(before, after, strict=False)) if left != right), 0)
    overlap = min(len(before), len(after)) - head
    pairs = zip(reversed(before), reversed(after), strict=False)
    tail = min(overlap, next((i for i, (left, right) in enumerate(pairs) if left != right), overlap))
    matcher = difflib.SequenceMatcher(None, before[head : len(before) - tail], after[head : len(after) - tail])
    differences: list[tuple[int, int, list[str]]] = []
    for tag, *numbers in matcher.get_opcodes():
        first, end, start, stop = (number + head for number in numbers)
        if tag == "equal":
            continue
        if first == end:
            first, start, end, stop = (first - 1, start - 1, end, stop) if first else (0, 0, 1, stop + 1)
        differences.append((first + 1, end, after[start:stop]))
    return differences
