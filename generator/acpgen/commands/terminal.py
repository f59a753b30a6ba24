"""What people see: faults, the table at the end of a run, the difference, a progress bar. Text of schemas is shown, never obeyed."""

from __future__ import annotations

import contextlib
import os
import re
import sys
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import islice
from pathlib import Path
from shutil import get_terminal_size
from time import monotonic
from typing import TYPE_CHECKING, Final

from acpgen.errors import Fault, Faults, counted, distinct, printable

if TYPE_CHECKING:
    from typing import TextIO

    from acpgen.commands.build import Outcome, Progress
    from acpgen.files import Change
    from acpgen.input.positions import Positions
    from acpgen.messages.validate import Counts
    from acpgen.recordings import Summary
    from acpgen.targets.interface import Target

WIDEST: Final = 80
SPELLINGS: Final = {"$defs": "definitions", "definitions": "$defs"}
"""Keys that have another name in older drafts."""

_FEW_NOTES: Final = 3
"""As many places are named at which one thing means nothing."""

MOST_ROWS: Final = 10
"""Agents, and recordings with wrong lines, that a summary names."""

FEW: Final = 8
"""As many changed files of one output are named."""

_OFTEN: Final = 0.05
"""Seconds between two changes of the progress bar."""

LONGEST_DIFFERENCE: Final = 400
"""Lines of a difference that are printed."""


@dataclass
class _Display:
    """What the options of every command say."""

    is_quiet: bool = False
    color: str = "auto"


_display: Final = _Display()


def configure(*, is_quiet: bool, color: str) -> None:
    """Print what people asked for: no summaries and no progress, and `auto`, `always` or `never` colours."""
    _display.is_quiet, _display.color = is_quiet, color


def show_faults(faults: Faults) -> None:
    """Print each fault: what is wrong, and what to do."""
    positions = cache(_positions)  # for this run alone: files differ later
    for fault in distinct(faults.faults):
        error, hint = fault.error_and_hint()
        show_error(f"{_where(fault, positions)}: {error}", hint)


def _where(fault: Fault, positions: Callable[[str], Positions | None]) -> str:
    """The place of a fault as `file:line:column#/pointer`, or as it stands where no file of JSON here has it."""
    from acpgen.pointers import pointer_parts

    path, mark, fragment = fault.at.partition("#")
    file = positions(path) if mark else None
    if file is None:
        return fault.at
    parts = pointer_parts(fragment)
    keyword = [str(fault.values["keyword"])] if "keyword" in fault.values else []
    offset, passed = file.nearest([*parts, *keyword], SPELLINGS)
    line, column = file.line_and_column(offset)
    return f"{path}:{line}:{column}{mark}{fragment}".removesuffix("#") if len(passed) >= len(parts) else fault.at


def _positions(path: str) -> Positions | None:
    """The positions in a file of JSON; `None` where it is none, or cannot be read here."""
    from acpgen.input.load import decode, read_bytes
    from acpgen.input.positions import Positions, problems

    try:
        text = decode(read_bytes(Path(path)), path)
    except (Faults, ValueError):
        return None
    return None if problems(text) else Positions(text)


def show_error(error: str, hint: str = "") -> None:
    """Print what is wrong, and what to do: the form of all errors."""
    for label, text, colour in (("error", error, 31), ("hint", hint, 36)):
        if text:
            shown = f"\x1b[1;{colour}m{label}\x1b[0m" if _is_coloured(sys.stderr) else label
            print(_wrapped(f"{label}: {printable(text)}").replace(label, shown, 1), file=sys.stderr)


def _wrapped(line: str) -> str:
    """A line for people: on a terminal it breaks between words."""
    if not sys.stderr.isatty():
        return line
    from textwrap import fill

    width = min(get_terminal_size().columns, WIDEST)
    return fill(line, width, subsequent_indent="  ", break_long_words=False, break_on_hyphens=False)


def show_defect(error: Exception) -> None:
    """Say that acpgen itself has failed, and where, so that it can be reported."""
    import traceback

    print("".join(traceback.format_exception(error)), end="", file=sys.stderr)
    show_error(
        f"this is a defect of acpgen ({type(error).__name__}), and says nothing of the input.", "Please report it."
    )


def show_out_of_memory() -> None:
    """Say that the work ended because this process may not have more memory."""
    show_error("the memory that this process may have is used up.", "Give it more, or a smaller input.")


def put(line: str) -> None:
    """Print one line on standard output. Raises `Faults` where it cannot be written, `BrokenPipeError` where nobody reads it any more."""
    from acpgen.messages.faults import NOT_CREATED

    try:
        print(line)
    except BrokenPipeError:
        raise
    except OSError as error:
        raise Faults([NOT_CREATED(at="standard output", reason=str(error.strerror))]) from None


def show_target(name: str, targets: Mapping[str, Target]) -> bool:
    """Print what a target is and which options it has; false, and the faults, where it cannot be used."""
    try:
        target = targets[name]
    except Faults as faults:
        show_faults(faults)
        return False
    place = "" if target.origin == "acpgen" else f" ({target.origin} {target.at})"
    _put_item(f"{name}{place}: {target.about or 'says nothing of itself.'}", "")
    for option in target.options:
        default = ",".join(option.default) if isinstance(option.default, tuple) else option.default
        shown = str(default).lower() if isinstance(default, bool) else repr(default)
        _put_item(f"{option.name}: {option.about.rstrip('.')}. Value: {option.expected}. Default: {shown}.", "  ")
    return True


def _put_item(text: str, indent: str) -> None:
    """Print an item of a list on standard output, wrapped."""
    from textwrap import wrap

    for line in wrap(
        printable(text),
        WIDEST,
        initial_indent=indent,
        subsequent_indent=f"{indent}    ",
        break_long_words=False,
        break_on_hyphens=False,
    ):
        put(line)


def is_coloured() -> bool:
    """Whether standard output shows colours: a terminal, and nobody has said no (https://no-color.org)."""
    return _is_coloured(sys.stdout)


def _is_coloured(stream: TextIO) -> bool:
    if _display.color != "auto":
        return _display.color == "always"
    return stream.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


def markdown(text: str) -> str:
    """Markdown of ours as text for a terminal: headings, paragraphs that are wrapped, and code that is indented."""
    shown: list[str] = []
    fence = ""
    for line in text.splitlines():
        if line.startswith("```"):
            fence = "" if fence else line[3:] or "text"
        elif fence:
            shown.append(f"    {_styled_difference(line) if fence == 'diff' else line}")
        elif line.startswith("#"):
            shown.append(_styled(line.lstrip("# "), 1))
        else:
            shown.append(_paragraph(line))
    return "\n".join(shown) + "\n"


def _paragraph(line: str) -> str:
    """A line of Markdown, wrapped."""
    from textwrap import fill

    wrapped = fill(line, WIDEST, break_long_words=False, break_on_hyphens=False)
    return re.sub(r"(?s)\*\*(.+?)\*\*", lambda match: _styled(match[1], 1), wrapped)


def _styled_difference(line: str) -> str:
    """A line of a unified diff."""
    colour = {"+": 32, "-": 31, "@": 36}.get(line[:1], 0)
    return _styled(line, colour) if colour else line


def _styled(text: str, code: int) -> str:
    return f"\x1b[{code}m{text}\x1b[0m" if is_coloured() else text


def say(sentence: str) -> None:
    """Print one line for people, unless they want quiet."""
    if not _display.is_quiet:
        warn(sentence)


def warn(sentence: str) -> None:
    """Print one line for people, whatever they want."""
    print(_wrapped(printable(sentence)), file=sys.stderr)


def show_counts(summary: Counts) -> None:
    """Print how many messages of each method were right, wrong and not judged, and which rules they broke."""
    right, wrong, unjudged = summary.sums
    if not wrong and not unjudged:
        say(f"{counted(right, 'line')}, nothing wrong." if right else "There was no line: nothing was judged.")
        notes = ", ".join(f"{rule} {count}" for rule, count in summary.rules.most_common())
        if notes:
            say(f"Notes: {notes}.")
        return
    shown = 3 if unjudged else 2
    _show_counts(
        "method",
        ("right", "wrong", "not judged")[:shown],
        [
            (name, (summary.valid[name], summary.invalid[name], summary.unjudged[name])[:shown])
            for name in _names(summary)
        ],
    )
    _show_counts("rule", ("times",), [(rule, (count,)) for rule, count in summary.rules.most_common()])
    said = f"{counted(wrong, 'line')} of {right + wrong + unjudged} wrong" if wrong else f"{right} right"
    say(f"{said}, {unjudged} not judged." if unjudged else f"{said}.")


def show_summary(summary: Summary, others: int) -> None:
    """Print what many recordings say together. `others` files of their folders are no recordings."""
    from acpgen.recordings.summary import sort_by_count, sort_by_wrong

    if summary.rules:
        rules = [(str(rule), (broken.times, broken.recordings)) for rule, broken in sort_by_count(summary)]
        _show_counts("rule", ("times", "recordings"), rules)
    agents = [(name or "(not named)", share) for name, share in sort_by_wrong(summary)[:MOST_ROWS]]
    rest = sum((share for _, share in sort_by_wrong(summary)[MOST_ROWS:]), summary.other_agents)
    agents += [("(others)", rest)] * bool(rest.recordings)
    rows = [(name, (share.recordings, share.with_wrong, share.wrong)) for name, share in agents]
    _show_counts("agent", ("recordings", "with wrong", "wrong lines"), rows)
    if summary.worst:
        _show_counts(
            "recording", ("wrong lines",), [(one.recording, (one.wrong,)) for one in summary.worst[:MOST_ROWS]]
        )
    lines = f"{counted(summary.right, 'line')} right, {summary.wrong} wrong, {summary.not_judged} not judged"
    say(f"{counted(summary.recordings, 'recording')}, {summary.bytes} bytes: {lines}.")
    parts = {
        "with nothing wrong": summary.well,
        "with wrong lines": summary.with_wrong,
        "not wholly judged": summary.not_wholly_judged,
        "not read to the end": summary.failed,
    }
    say(f"Recordings: {', '.join(f'{count} {what}' for what, count in parts.items() if count)}.")
    if others:
        say(f"{counted(others, 'file')} ignored: the name is not that of a recording.")


def show_outcome(outcome: Outcome) -> None:
    """Print what a run did to each output."""
    if not outcome.changes:
        say(f"Nothing to do: no input has changed ({counted(len(outcome.fresh), 'output')}).")
        return
    _show_table("output", ("written", "unchanged", "removed"), _of_outputs(outcome))
    for change in outcome.changes:
        for verb, paths in (("written", change.written), ("removed", change.removed)):
            for path in paths if len(change.written) + len(change.removed) <= FEW else ():
                say(f"{verb} {_folder(change.folder)}/{path}")


def show_remarks(outcome: Outcome) -> None:
    """Say what of the schemas means nothing, the first few places of each kind, what methods were found, and what no validator enforces."""
    places: dict[str, list[str]] = {}
    for at, sentence in outcome.notes:
        places.setdefault(sentence, []).append(at)
    for sentence, where in places.items():
        for at in where[:_FEW_NOTES]:
            say(f"note: {at}: {sentence}")
        if len(where) > _FEW_NOTES:
            say(f"note: {sentence.partition(',')[0]} at {counted(len(where) - _FEW_NOTES, 'more place')}.")
    for line in outcome.methods:
        say(line)
    if any(outcome.gaps.values()):
        from acpgen.meaning import unenforced

        for label, gaps in outcome.gaps.items():
            for line in unenforced.describe_gaps(label, gaps):
                say(line)


def show_difference(outcome: Outcome) -> None:
    """Print, on standard output, what a run would change, and for people how much that is."""
    from acpgen.config.docs_inputs import VERDICTS

    lines = outcome.difference()
    for line in islice(lines, LONGEST_DIFFERENCE):
        print(_styled_difference(printable(line)))
    rest = sum(1 for _ in lines)
    if rest:
        say(f"{rest} more lines of difference are not shown.")
    for change in outcome.changes:
        if not change.is_none:
            counts = _counts(change)
            anew = " --no-cache" if VERDICTS in change.written else ""
            say(f"{_folder(change.folder)} is not what the schema makes: {counts}. Run: acpgen generate{anew}")


@contextlib.contextmanager
def progress() -> Generator[Progress]:
    """What is done now and for how long, after a second, if standard error is a terminal. A total of 0 is not known.

    What is printed meanwhile goes where it always goes.
    """
    if _display.is_quiet or not sys.stderr.isatty():
        yield lambda done, total, step: None
        return
    from threading import Timer

    from rich.console import Console
    from rich.progress import BarColumn, SpinnerColumn, TextColumn, TimeElapsedColumn
    from rich.progress import Progress as Bar
    from rich.table import Column

    # Redirected, text for standard output would land on standard error. On one terminal that is one place, and keeps both readable.
    console, shared = Console(stderr=True), sys.stdout.isatty()
    columns = (
        SpinnerColumn(),
        BarColumn(bar_width=20),
        TimeElapsedColumn(),
        TextColumn("{task.description}", table_column=Column(no_wrap=True, overflow="ellipsis"), markup=False),
    )
    bar = Bar(*columns, console=console, transient=True, redirect_stdout=shared, redirect_stderr=True)
    task = bar.add_task("", total=None)
    timer = Timer(1.0, bar.start)
    timer.daemon = True
    timer.start()
    shown = 0.0

    def show(done: int, total: int, step: str) -> None:
        nonlocal shown
        now = monotonic()
        if now - shown > _OFTEN:
            shown = now
            bar.update(task, completed=done, total=total or None, description=printable(step))

    try:
        yield show
    finally:
        timer.cancel()
        timer.join()
        bar.stop()


def _of_outputs(outcome: Outcome) -> Iterator[tuple[str, Sequence[str]]]:
    """What a run did to each output, as rows of a table."""
    rows = {
        change.folder: (len(change.written), len(change.unchanged), len(change.removed)) for change in outcome.changes
    }
    for folder in sorted({*rows, *outcome.fresh}):
        counts = rows.get(folder)
        yield _folder(folder), tuple(map(str, counts)) if counts is not None else ("", "up to date", "")


def _show_counts(heading: str, columns: Sequence[str], rows: Iterable[tuple[str, Sequence[int]]]) -> None:
    """Print a table of counts; those that are 0 stay empty."""
    _show_table(heading, columns, ((name, tuple(str(count or "") for count in counts)) for name, counts in rows))


def _show_table(heading: str, columns: Sequence[str], rows: Iterable[tuple[str, Sequence[str]]]) -> None:
    """Print a table for people: names to the left, over several lines where they are long, and figures to the right."""
    if _display.is_quiet:
        return
    named = [(printable(name), cells) for name, cells in rows]
    widths = [max(map(len, column)) for column in zip(columns, *(cells for _, cells in named), strict=True)]
    rest = min(get_terminal_size().columns, WIDEST) - sum(2 + width for width in widths)
    width = max(len(heading), min(rest, max((len(name) for name, _ in named), default=0)))

    def shown(name: str, cells: Sequence[str]) -> str:
        figures = (cell.rjust(each) for cell, each in zip(cells, widths, strict=True))
        return "  ".join((name.ljust(width), *figures)).rstrip()

    first = shown(heading, columns)
    print(f"\x1b[1m{first}\x1b[0m" if _is_coloured(sys.stderr) else first, file=sys.stderr)
    for name, cells in named:
        print(shown(name[:width], cells), file=sys.stderr)
        for start in range(width, len(name), width):
            print(name[start : start + width], file=sys.stderr)


def _names(summary: Counts) -> list[str]:
    """The methods, those with most wrong messages first."""
    names = {*summary.valid, *summary.invalid, *summary.unjudged}
    return sorted(names, key=lambda name: (-summary.invalid[name], -summary.unjudged[name], -summary.valid[name], name))


def _counts(change: Change) -> str:
    parts = (
        (len(change.written), "to write"),
        (len(change.removed), "to remove"),
        (len(change.strays), "not written by acpgen"),
    )
    return ", ".join(f"{counted(count, 'file')} {what}" for count, what in parts if count)


def _folder(folder: Path) -> str:
    from acpgen.input.load import place

    return place(folder) or "."
