"""Histories: which step broke what, since when, and what a step means for the version."""

from __future__ import annotations

import copy
import random
from collections.abc import Sequence
from typing import Any

import pytest

from acpgen.compat.compare import Side, compare_sides, read_side
from acpgen.compat.findings import Report
from acpgen.compat.history.timeline import Milestone, Timeline, bump, make_timeline
from acpgen.compat.history_report import convert_history, make_report
from acpgen.compat.sources import open_input
from acpgen.diagnostics import write_report
from acpgen.diagnostics.columns import WIDTH, count_columns
from compat.protocols import Schema, documents, go, protocol

ID: Schema = {"id": {"type": "string"}}


def told(properties: Schema, required: tuple[str, ...] = ()) -> Schema:
    """A protocol whose agent is sent these members beside the id."""
    return protocol({"GoRequest": go({**ID, **properties}, ("id", *required))})


def tagged(*tags: str, was: str = "") -> Schema:
    """A protocol whose agent is sent a variant by its tag; the first one had another tag."""
    variants = [go({"kind": {"const": tag}}, ("kind",)) for tag in tags]
    if was:
        variants[0]["x-was"] = [was]
    return told({"source": {"oneOf": variants}})


def stoppable(method: str, *, was: str = "") -> Schema:
    """A protocol with a second method."""
    named: Schema = {"x-method": method, "x-side": "agent", **({"x-was": [was]} if was else {})}
    params = go({}, (), **named)
    whole = told({})
    return {**whole, "$defs": {**whole["$defs"], "StopRequest": params}}


def sides(schemas: Sequence[Schema]) -> list[Side]:
    return [
        read_side(open_input(documents(schema, f"r{number}")), unstable=False) for number, schema in enumerate(schemas)
    ]


def history(*schemas: Schema) -> Timeline:
    return make_timeline("test", [Milestone(each.input.label, side=each) for each in sides(schemas)])


def test_what_neither_of_two_steps_breaks_is_broken_across_both() -> None:
    """A name is dropped where members are free, then claimed: that peers get along is never composed of two steps."""
    text, none, number = (told(each) for each in ({"_x": {"type": "string"}}, {}, {"_x": {"type": "integer"}}))
    found = history(text, none, number)
    assert [each.report.verdict for each in found.steps if each.report is not None] == ["risky", "risky"]
    assert {(each.severity, each.new) for each in found.origins} >= {("breaking", "r2")}


def test_a_revision_that_no_message_tells_from_the_one_before_is_not_compared_with_the_first() -> None:
    worded = told({"cwd": {"type": "string"}})
    worded["$defs"]["GoRequest"]["description"] = "Go."
    revisions = sides([told({}), told({"cwd": {"type": "string"}}), worded, told({"cwd": {}})])
    pairs: list[tuple[str, str]] = []

    def compared(old: Side, new: Side) -> Report:
        pairs.append((old.input.label, new.input.label))
        return compare_sides(old, new)

    make_timeline("test", [Milestone(each.input.label, side=each) for each in revisions], compare=compared)
    assert pairs == [("r0", "r1"), ("r1", "r2"), ("r2", "r3"), ("r0", "r3")]


# --- since when ------------------------------------------------------------------------------------------------------

NAMES = ("a", "b", "c")
TYPES: tuple[Any, ...] = ("string", "integer", "boolean")


def drawn(seed: int, count: int) -> list[Schema]:
    """Revisions in which fields come, go, change and become required, and come back."""
    draw = random.Random(seed)
    fields: dict[str, tuple[str, bool]] = {}
    found: list[Schema] = []
    for _ in range(count):
        name = draw.choice(NAMES)
        if name in fields and draw.random() < 0.4:
            del fields[name]
        elif draw.random() < 0.8:
            fields[name] = (draw.choice(TYPES), draw.random() < 0.4)
        required = tuple(key for key, (_, needed) in fields.items() if needed)
        found.append(told({key: {"type": type_} for key, (type_, _) in fields.items()}, required))
    return found


@pytest.mark.parametrize("seed", range(12))
def test_each_finding_is_dated_to_the_step_that_a_look_at_every_revision_names(seed: int) -> None:
    schemas = drawn(seed, 9)
    revisions = sides(schemas)
    reports = [compare_sides(revisions[0], other) for other in revisions[1:]]
    for each in history(*schemas).origins:
        stands = [
            any((one.rule, one.severity, one.message) == (each.rule, each.severity, each.message) for one in findings)
            for findings in [(), *(report.findings for report in reports)]
        ]
        last = max(number for number, there in enumerate(stands) if not there)
        assert each.new == f"r{last + 1}", (each, stands)


def test_what_was_taken_back_is_no_finding_of_the_span_and_what_came_back_has_the_last_step() -> None:
    calm, broken = told({"cwd": {"type": "string"}}), told({"cwd": {"type": "string"}}, ("cwd",))
    assert not history(calm, broken, calm).origins
    (found,) = history(calm, broken, calm, broken, told({"cwd": {"type": "string"}, "x": {}}, ("cwd",))).origins[:1]
    assert (found.rule, found.old, found.new) == ("field-became-required", "r2", "r3")


B: Schema = {"type": "string", "x-was": ["a"]}


@pytest.mark.parametrize(
    ("rule", "old", "renamed", "gone"),
    [
        ("field-removed", told({"a": {"type": "string"}}), told({"b": B}), told({})),
        (
            "required-field-removed",
            told({"a": {"type": "string"}}, ("a",)),
            told({"b": B}, ("b",)),
            told({}),
        ),
        ("closed-variant-removed", tagged("p", "q", "z"), tagged("r", "q", "z", was="p"), tagged("q", "z")),
        ("method-removed", stoppable("s/end"), stoppable("s/stop", was="s/end"), told({})),
    ],
)
def test_what_was_renamed_and_later_removed_is_gone_since_it_was_renamed(
    rule: str, old: Schema, renamed: Schema, gone: Schema
) -> None:
    between = copy.deepcopy(renamed)
    between["$defs"]["GoRequest"]["properties"]["more"] = {"type": "boolean"}
    for found in (history(old, renamed, between, gone), history(old, old, renamed, gone, gone)):
        (origin,) = [each for each in found.origins if each.rule == rule]
        assert (origin.old, origin.new) == (("r0", "r1") if len(found.steps) == 3 else ("r1", "r2"))
    (kept,) = [each for each in history(old, renamed, old, gone).origins if each.rule == rule]
    assert (kept.old, kept.new) == ("r2", "r3")


# --- versions --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("verdict", "old", "new", "needed", "made", "enough"),
    [
        ("breaking", "1.2.0", "2.0.0", "major", "major", True),
        ("breaking", "1.2.0", "1.3.0", "major", "minor", False),
        ("risky", "v1.2.0", "v1.2.1", "major", "patch", False),
        ("undecided", "1.0.0", "1.1.0", "major", "minor", False),
        ("additive", "1.2.0", "1.3.0", "minor", "minor", True),
        ("additive", "1.2.0", "1.2.1", "minor", "patch", False),
        ("editorial", "1.2.0", "1.2.1", "patch", "patch", True),
        ("identical", "1.2.0", "1.2.0", "none", "none", True),
        ("breaking", "0.6.1", "0.6.2", "minor", "patch", False),
        ("breaking", "0.6.2", "0.8.0", "minor", "minor", True),
        ("additive", "0.12.1", "0.12.2", "patch", "patch", True),
        ("breaking", "0.9.0", "1.0.0", "major", "major", True),
        ("breaking", "1.6.0", "2.0.0-alpha.3", "major", "major", None),
        ("breaking", "2025-06-18", "2025-11-25", "major", None, None),
        ("breaking", "01.2.3", "2.0.0", "major", None, None),
        (None, "1.0.0", "1.0.1", None, "patch", None),
    ],
)
def test_the_version_that_a_step_needs(
    verdict: Any, old: str, new: str, needed: str | None, made: str | None, enough: bool | None
) -> None:
    found = bump(verdict, Milestone(old), Milestone(new))
    assert (found.needed, found.made, found.is_enough) == (needed, made, enough)


def test_tags_of_commits_are_versions() -> None:
    found = bump("breaking", Milestone("abc", tags=("latest", "v1.0.0")), Milestone("def", tags=("v1.1.0",)))
    assert (found.made, found.is_enough) == ("minor", False)


# --- reports ---------------------------------------------------------------------------------------------------------


def test_text_fits_80_columns_and_no_text_of_others_reaches_the_terminal() -> None:
    schemas = [*drawn(1, 8), told({"\u001b[31mred" * 9: {"type": "string"}}, ("\u001b[31mred" * 9,))]
    read = [
        Milestone(f"{number}\u001b]0;x\u0007" + "名" * 30, "subject \u001b[2J" + "x" * 200, "2026-01-01", side=each)
        for number, each in enumerate(sides(schemas))
    ]
    bad = Milestone("bad", unread=("x.json: this is not JSON \u001b[0m",))
    found = make_timeline("\u001b[1mall", [*read[:4], bad, *read[4:]], notes=("note \u001b[1m",))
    text = write_report(make_report(found), "text")
    assert "\u001b" not in text
    assert "\u0007" not in text
    assert max(map(count_columns, text.splitlines())) <= WIDTH
    assert "cannot be read" in text


def test_a_revision_that_cannot_be_read_counts_and_the_next_one_is_compared_with_the_one_before() -> None:
    read = [Milestone(each.input.label, side=each) for each in sides([told({}), told({})])]
    found = make_timeline("x", [read[0], Milestone("bad", unread=("why",)), read[1]])
    assert [(each.old.name, each.new.name) for each in found.steps] == [("r0", "r1")]
    assert found.fails("risky")
    assert not found.fails("never")
    data: Any = convert_history(found)
    assert list(data["revisions"][1]["unread"]) == ["why"]


def test_one_revision_is_a_history_and_none_too() -> None:
    assert "1 revision" in write_report(make_report(history(told({}))), "text")
    assert write_report(make_report(make_timeline("x", [])), "text")
