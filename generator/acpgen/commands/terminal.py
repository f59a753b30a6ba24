"""Output on a terminal: errors, lines, tables, colours, a progress bar. Control characters of schemas are escaped."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Callable, Generator, Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from shutil import get_terminal_size
from time import monotonic
from typing import TYPE_CHECKING, Final

from acpgen.errors import Fault, Faults, drop_duplicates, make_printable

if TYPE_CHECKING:
    from typing import TextIO

    from acpgen.commands.build import Progress
    from acpgen.input.positions import Positions

WIDEST: Final = 80
SPELLINGS: Final = {"$defs": "definitions", "definitions": "$defs"}
"""Keywords that have another name in other drafts."""


_OFTEN: Final = 0.05
"""The minimum number of seconds between two updates of the progress bar."""


@dataclass
class _Display:
    """The display options of every command."""

    is_quiet: bool = False
    color: str = "auto"


_display: Final = _Display()


def configure(*, is_quiet: bool, color: str) -> None:
    """Set whether summaries and progress are printed, and `auto`, `always` or `never` for colours."""
    _display.is_quiet, _display.color = is_quiet, color


def show_faults(faults: Faults) -> None:
    """Print each fault, with its hint."""
    positions = cache(_find_positions)  # for this run alone: files differ later
    for fault in drop_duplicates(faults.faults):
        error, hint = fault.write_sentences()
        show_error(f"{_locate_fault(fault, positions)}: {error}", hint)


def _locate_fault(fault: Fault, positions: Callable[[str], Positions | None]) -> str:
    """The place of a fault as `file:line:column#/pointer`; unchanged if no JSON file here contains it."""
    from acpgen.pointers import split_pointer

    path, mark, fragment = fault.at.partition("#")
    file = positions(path) if mark else None
    if file is None:
        return fault.at
    parts = split_pointer(fragment)
    keyword = [str(fault.values["keyword"])] if "keyword" in fault.values else []
    offset, resolved_keys = file.find_nearest([*parts, *keyword], SPELLINGS)
    line, column = file.locate_offset(offset)
    return f"{path}:{line}:{column}{mark}{fragment}".removesuffix("#") if len(resolved_keys) >= len(parts) else fault.at


def _find_positions(path: str) -> Positions | None:
    """The positions in a JSON file; `None` if it is not JSON, or cannot be read."""
    from acpgen.input.load import decode, read_bytes
    from acpgen.input.positions import Positions, find_problems

    try:
        text = decode(read_bytes(Path(path)), path)
    except (Faults, ValueError):
        return None
    return None if find_problems(text) else Positions(text)


def show_error(error: str, hint: str = "") -> None:
    """Print an error and its hint, in the format of all errors."""
    for label, text, colour in (("error", error, 31), ("hint", hint, 36)):
        if text:
            styled_label = f"\x1b[1;{colour}m{label}\x1b[0m" if _is_coloured(sys.stderr) else label
            line = wrap(f"{label}: {make_printable(text)}", sys.stderr)
            print(line.replace(label, styled_label, 1), file=sys.stderr)


def wrap(line: str, stream: TextIO) -> str:
    """Wrap a line of text between words if it goes to a terminal and is too long for it."""
    width = min(get_terminal_size().columns, WIDEST)
    if len(line) <= width or not stream.isatty():
        return line
    from textwrap import fill

    return fill(line, width, subsequent_indent="  ", break_long_words=False, break_on_hyphens=False)


def show_defect(error: Exception) -> None:
    """Report an internal error of acpgen with its traceback."""
    import traceback

    print("".join(traceback.format_exception(error)), end="", file=sys.stderr)
    show_error(
        f"this is a defect of acpgen ({type(error).__name__}), and says nothing of the input.", "Please report it."
    )


def show_out_of_memory() -> None:
    """Report that the memory limit of this process was reached."""
    show_error("the memory that this process may have is used up.", "Give it more, or a smaller input.")


def put(line: str, *, end: str = "\n", flush: bool = False) -> None:
    """Print a line on standard output. Raises `Faults` if it cannot be written, `BrokenPipeError` if the pipe is closed."""
    from acpgen.files.faults import UNWRITABLE

    try:
        print(line, end=end, flush=flush)
    except BrokenPipeError:
        raise
    except OSError as error:
        raise Faults([UNWRITABLE(at="standard output", reason=str(error.strerror))]) from None


def is_coloured() -> bool:
    """Whether standard output is coloured: it is a terminal, and NO_COLOR is not set (https://no-color.org)."""
    return _is_coloured(sys.stdout)


def _is_coloured(stream: TextIO) -> bool:
    if _display.color != "auto":
        return _display.color == "always"
    return stream.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


def style_diff_line(line: str) -> str:
    """Style a line of a unified diff."""
    colour = {"+": 32, "-": 31, "@": 36}.get(line[:1], 0)
    return style(line, colour) if colour else line


def style(text: str, code: int) -> str:
    """Text with an ANSI colour or weight, if standard output is coloured."""
    return f"\x1b[{code}m{text}\x1b[0m" if is_coloured() else text


def say(sentence: str) -> None:
    """Print a line on standard error, unless quiet."""
    if not _display.is_quiet:
        warn(sentence)


def warn(sentence: str) -> None:
    """Print a line on standard error, even if quiet."""
    print(wrap(make_printable(sentence), sys.stderr), file=sys.stderr)


@contextlib.contextmanager
def show_progress() -> Generator[Progress]:
    """Show the current step and the elapsed time, after one second, if standard error is a terminal. A total of 0 means unknown.

    Other output meanwhile still goes to its stream.
    """
    if _display.is_quiet or not sys.stderr.isatty():
        yield lambda finished, total, step: None
        return
    from threading import Timer

    from rich.console import Console
    from rich.progress import BarColumn, SpinnerColumn, TextColumn, TimeElapsedColumn
    from rich.progress import Progress as Bar
    from rich.table import Column

    # Redirected, text for standard output would land on standard error. On one terminal that is one place, and keeps both readable.
    console, is_shared = Console(stderr=True), sys.stdout.isatty()
    columns = (
        SpinnerColumn(),
        BarColumn(bar_width=20),
        TimeElapsedColumn(),
        TextColumn("{task.description}", table_column=Column(no_wrap=True, overflow="ellipsis"), markup=False),
    )
    bar = Bar(*columns, console=console, transient=True, redirect_stdout=is_shared, redirect_stderr=True)
    task = bar.add_task("", total=None)
    timer = Timer(1.0, bar.start)
    timer.daemon = True
    timer.start()
    last_update = 0.0

    def show(finished: int, total: int, step: str) -> None:
        nonlocal last_update
        now = monotonic()
        if now - last_update > _OFTEN:
            last_update = now
            bar.update(task, completed=finished, total=total or None, description=make_printable(step))

    try:
        yield show
    finally:
        timer.cancel()
        timer.join()
        bar.stop()


def show_table(heading: str, columns: Sequence[str], rows: Iterable[tuple[str, Sequence[str]]]) -> None:
    """Print a table on standard error: names on the left, over several lines if long, and figures on the right."""
    if _display.is_quiet:
        return
    printable_rows = [(make_printable(name), cells) for name, cells in rows]
    widths = [max(map(len, column)) for column in zip(columns, *(cells for _, cells in printable_rows), strict=True)]
    room = min(get_terminal_size().columns, WIDEST) - sum(2 + width for width in widths)
    width = max(len(heading), min(room, max((len(name) for name, _ in printable_rows), default=0)))

    def write_row(name: str, cells: Sequence[str]) -> str:
        figures = (cell.rjust(column_width) for cell, column_width in zip(cells, widths, strict=True))
        return "  ".join((name.ljust(width), *figures)).rstrip()

    first = write_row(heading, columns)
    print(f"\x1b[1m{first}\x1b[0m" if _is_coloured(sys.stderr) else first, file=sys.stderr)
    for name, cells in printable_rows:
        print(write_row(name[:width], cells), file=sys.stderr)
        for start in range(width, len(name), width):
            print(name[start : start + width], file=sys.stderr)
