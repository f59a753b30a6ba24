"""The outcome of a run of `generate`, as text on standard error and diffs on standard output."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Final

from acpgen.commands import terminal
from acpgen.errors import count_noun, make_printable

if TYPE_CHECKING:
    from acpgen.commands.build import Outcome
    from acpgen.files import Change

_FEW_NOTES: Final = 3
"""The maximum number of places that are listed for one kind of note."""


FEW: Final = 8
"""The maximum number of changed files of an output that are listed; if there are more, none is."""


LONGEST_DIFFERENCE: Final = 400
"""The maximum number of diff lines that are printed."""


def show_outcome(outcome: Outcome) -> None:
    """Print what a run did to each output."""
    if not outcome.changes:
        terminal.say(f"Nothing to do: no input has changed ({count_noun(len(outcome.fresh), 'output')}).")
        return
    terminal.show_table("output", ("written", "unchanged", "removed"), _list_changes(outcome))
    for change in outcome.changes:
        for verb, paths in (("written", change.written), ("removed", change.removed)):
            for path in paths if len(change.written) + len(change.removed) <= FEW else ():
                terminal.say(f"{verb} {_write_folder(change.folder)}/{path}")


def show_remarks(outcome: Outcome) -> None:
    """Print the notes on the schemas (the first few places of each kind), the methods found, and what no validator enforces."""
    places: dict[str, list[str]] = {}
    for at, sentence in outcome.notes:
        places.setdefault(sentence, []).append(at)
    for sentence, where in places.items():
        for at in where[:_FEW_NOTES]:
            terminal.say(f"note: {at}: {sentence}")
        if len(where) > _FEW_NOTES:
            terminal.say(f"note: {sentence.partition(',')[0]} at {count_noun(len(where) - _FEW_NOTES, 'more place')}.")
    for line in outcome.methods:
        terminal.say(line)
    if any(outcome.gaps.values()):
        from acpgen.meaning import unenforced

        for label, gaps in outcome.gaps.items():
            for line in unenforced.describe_gaps(label, gaps):
                terminal.say(line)


def show_difference(outcome: Outcome) -> None:
    """Print the diff of a run on standard output, and the number of changed files on standard error."""
    from acpgen.config.docs_inputs import VERDICTS

    lines = outcome.list_difference()
    for line in islice(lines, LONGEST_DIFFERENCE):
        terminal.put(terminal.style_diff_line(make_printable(line)))
    count = sum(1 for _ in lines)
    if count:
        terminal.say(f"{count} more lines of difference are not shown.")
    for change in outcome.changes:
        if not change.is_none:
            counts = _describe_counts(change)
            anew = " --no-cache" if VERDICTS in change.written else ""
            terminal.say(f"{_write_folder(change.folder)} is out of date: {counts}. Run: acpgen generate{anew}")


def _list_changes(outcome: Outcome) -> Iterator[tuple[str, Sequence[str]]]:
    """Yield the changes of each output as rows of a table."""
    rows = {
        change.folder: (len(change.written), len(change.unchanged), len(change.removed)) for change in outcome.changes
    }
    for folder in sorted({*rows, *outcome.fresh}):
        counts = rows.get(folder)
        yield _write_folder(folder), tuple(map(str, counts)) if counts is not None else ("", "up to date", "")


def _describe_counts(change: Change) -> str:
    parts = (
        (len(change.written), "to write"),
        (len(change.removed), "to remove"),
        (len(change.strays), "not written by acpgen"),
    )
    return ", ".join(f"{count_noun(count, 'file')} {label}" for count, label in parts if count)


def _write_folder(folder: Path) -> str:
    from acpgen.input.load import display_path

    return display_path(folder) or "."
