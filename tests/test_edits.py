"""Edits of JSON text: what the patch says comes true, and every other character stays as it was."""

from __future__ import annotations

import copy
import json
import random
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from acpgen.adopt.layout import format_document as canonical
from acpgen.input.text_edits import Edit, apply_edits, diff_lines, patch, sort_edits
from acpgen.input.walk import is_array, is_object
from acpgen.pointers import split_pointer

STYLES: dict[str, Callable[[Any], str]] = {
    "two spaces": lambda value: json.dumps(value, indent=2),
    "tabs": lambda value: json.dumps(value, indent="\t", ensure_ascii=False) + "\n",
    "one line": json.dumps,
    "no space": lambda value: json.dumps(value, separators=(",", ":")),
    "what fits on one line": canonical,
    "line ends of Windows": lambda value: json.dumps(value, indent=4).replace("\n", "\r\n"),
}
KEYS = ("a", "b", "~", "/", "é", "ß c")


def drawn(chance: random.Random, depth: int) -> Any:
    kind = chance.random()
    if depth == 0 or kind < 0.3:
        plain: list[Any] = [1, "a,{b", 'é"[', None, True, 2.5, [], {}]
        return chance.choice(plain)
    if kind < 0.65:
        return {f"{chance.choice(KEYS)}{index}": drawn(chance, depth - 1) for index in range(chance.randint(0, 4))}
    return [drawn(chance, depth - 1) for _ in range(chance.randint(0, 4))]


def places(value: Any, at: tuple[str | int, ...] = ()) -> Iterator[tuple[tuple[str | int, ...], Any]]:
    yield at, value
    inner: Any = value.items() if is_object(value) else enumerate(value) if is_array(value) else ()
    for key, child in inner:
        yield from places(child, (*at, key))


def some_edits(chance: random.Random, value: Any) -> list[Edit]:
    """Edits none of which lies inside another, or contradicts it."""
    found: list[Edit] = []
    for _ in range(chance.randint(1, 5)):
        at, inner = chance.choice(list(places(value))[1:])
        kind = chance.choice(["add", "remove", "replace"])
        if kind == "remove":
            edit = Edit("remove", at)
        elif kind == "replace":
            edit = Edit("replace", at, drawn(chance, 2))
        elif is_object(inner):
            after = chance.choice([None, "", *inner])
            edit = Edit("add", (*at, f"new{chance.randint(0, 3)}"), drawn(chance, 2), after)
        elif is_array(inner):
            edit = Edit("add", (*at, chance.randint(0, len(inner))), drawn(chance, 2))
        else:
            continue
        if not any(clash(edit, other) for other in found):
            found.append(edit)
    return found


def clash(one: Edit, other: Edit) -> bool:
    if one.at == other.at:
        return not (isinstance(one.at[-1], int) and "add" in (one.op, other.op))
    return (one.is_inside(other) and other.op != "add") or (other.is_inside(one) and one.op != "add")


def applied(value: Any, operations: list[Any]) -> Any:
    """RFC 6902, in its own words: one operation after the other."""
    value = copy.deepcopy(value)
    for operation in operations:
        *around, last = split_pointer(operation["path"])
        node: Any = value
        for part in around:
            node = node[int(part)] if is_array(node) else node[part]
        if operation["op"] == "add":
            if is_object(node):
                node[last] = operation["value"]
                continue
            assert int(last) <= len(node)
            node.insert(int(last), operation["value"])
        else:
            key: Any = int(last) if is_array(node) else last
            node[key]  # a place that is not there is an error
            if operation["op"] == "remove":
                del node[key]
            else:
                node[key] = operation["value"]
    return value


@pytest.mark.parametrize("style", STYLES)
def test_a_text_says_what_the_patch_says(style: str) -> None:
    for seed in range(600):
        chance = random.Random(f"{style} {seed}")
        value = {"x": drawn(chance, 4), "y": drawn(chance, 4)}
        text = STYLES[style](value)
        edits = some_edits(chance, value)
        result = apply_edits(text, edits)
        assert json.loads(result) == applied(value, patch(edits)), (seed, edits)
        assert ("\r\n" in result) <= ("\r\n" in text)
        assert ("\n" in result) <= ("\n" in text)


@pytest.mark.parametrize("style", STYLES)
def test_nothing_outside_of_the_object_around_an_edit_changes(style: str) -> None:
    for seed in range(300):
        chance = random.Random(f"outside {style} {seed}")
        value = {"before": drawn(chance, 3), "x": {"in": drawn(chance, 3)}, "after": drawn(chance, 3)}
        text = STYLES[style](value)
        edits = [edit for edit in some_edits(chance, value["x"]) if len(edit.at) > 1]
        result = apply_edits(text, [Edit(edit.op, ("x", *edit.at), edit.value, edit.after) for edit in edits])
        start, end = text.index('"x"'), len(text) - text.rindex('"after"')
        assert result[:start] == text[:start]
        assert result[-end:] == text[-end:]


def test_the_lines_that_changed_put_in_their_places_make_the_new_text() -> None:
    for seed in range(600):
        chance = random.Random(f"lines {seed}")
        value = {"x": drawn(chance, 4), "y": drawn(chance, 4)}
        text = chance.choice(list(STYLES.values()))(value)
        result = apply_edits(text, some_edits(chance, value))
        lines = text.splitlines()
        for first, last, new in reversed(diff_lines(text, result)):
            assert 1 <= first <= last <= len(lines)
            lines[first - 1 : last] = new
        assert lines == result.splitlines()


def test_a_member_stands_behind_the_one_that_it_follows() -> None:
    text = '{\n  "a": 1,\n  "b": 2\n}\n'
    assert apply_edits(text, [Edit("add", ("c",), 3, "a")]) == '{\n  "a": 1,\n  "c": 3,\n  "b": 2\n}\n'
    assert apply_edits(text, [Edit("add", ("c",), 3, "")]) == '{\n  "c": 3,\n  "a": 1,\n  "b": 2\n}\n'
    assert apply_edits(text, [Edit("add", ("c",), 3)]) == '{\n  "a": 1,\n  "b": 2,\n  "c": 3\n}\n'


def test_what_is_written_takes_the_style_of_the_text() -> None:
    assert apply_edits('{"a":[1,2]}', [Edit("add", ("b",), {"c": [1, 2]})]) == '{"a":[1,2],"b":{"c":[1,2]}}'
    spread = '{\n\t"a": [\n\t\t1\n\t]\n}'
    assert apply_edits(spread, [Edit("add", ("b",), [2])]) == '{\n\t"a": [\n\t\t1\n\t],\n\t"b": [\n\t\t2\n\t]\n}'
    short = '{\n  "a": {"b": [1, 2, 3, 4]}\n}'
    assert (
        apply_edits(short, [Edit("add", ("c",), {"d": [5]})]) == '{\n  "a": {"b": [1, 2, 3, 4]},\n  "c": {"d": [5]}\n}'
    )
    assert apply_edits('{"a": "\\u00e9"}', [Edit("add", ("b",), "é")]) == '{"a": "\\u00e9", "b": "\\u00e9"}'


def test_an_edit_of_a_place_that_is_not_there_is_an_error() -> None:
    for edit in (Edit("remove", ("b",)), Edit("replace", ("a", 2), 1), Edit("add", ("a", 3), 1)):
        with pytest.raises(KeyError):
            apply_edits('{"a": [1, 2]}', [edit])


def test_edits_of_one_list_do_not_move_one_another() -> None:
    edits = [Edit("remove", ("a", 0)), Edit("add", ("a", 2), "new"), Edit("replace", ("a", 1), "two")]
    assert [edit.at[-1] for edit in sort_edits(edits)] == [2, 1, 0]
    assert apply_edits('{"a": [1, 2, 3]}', edits) == '{"a": ["two", "new", 3]}'
