"""The command `validate`."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NoReturn, cast

import typer

from acpgen.commands import summary_text, terminal
from acpgen.commands.output import finish, report_destinations
from acpgen.commands.shared_options import Methods, Protocols, set_minimum
from acpgen.errors import make_visible

if TYPE_CHECKING:
    from io import BufferedReader

    from acpgen.diagnostics.outputs import Destination
    from acpgen.messages.validate import LineVerdict
    from acpgen.recordings import Standard, Verdict
    from acpgen.recordings.message_report import MessageDiagnostics


def validate(
    file: list[str] | None = None,
    *,
    session: bool = False,
    sender: str | None = None,
    allow_unjudged: bool = False,
    jobs: Annotated[int | None, set_minimum(1)] = None,
    resume: Path | None = None,
    protocol: Protocols = None,
    methods: Methods = None,
    ref: list[str] | None = None,
    format_: str | None = None,
    output: list[str] | None = None,
) -> None:
    """Judge messages strictly by the schema: one verdict a line.

    With --session, the command prints the broken rules of the conversation.

    For several files, a folder, a pattern or a URL, it prints what is invalid in each, and one summary.

    text and json on standard output are lines that are written as messages are judged. Any other report has the first message of each
    kind that is invalid or was not judged, and their number.

    The lines of a recording are {"from": "client", "message": {...}}.

    Arguments:
        FILE: JSON Lines with a message on each line, or a recording; .gz and .zst are decompressed. A file, a folder, a pattern such as
            'logs/*.jsonl', or a URL. Default: -, standard input.

    Options:
        --session: The file is a recorded conversation: also judge it by the rules of the protocol.
        --sender SIDE: Who sent the messages: client, or agent or server. Default: inferred from each message.
        --allow-unjudged: Do not exit with 1 because something was not judged.

    Options for several files:
        --jobs N: How many are judged at a time. Default: one for each processor.
        --resume FILE: Save each verdict here, and skip files that already have a verdict here.

    Exit codes:
        0: All was judged and is valid.
        1: Something is invalid or was not judged.
        2: The input cannot be used.
    """
    from acpgen import recordings
    from acpgen.messages import recording
    from acpgen.messages import validate as work
    from acpgen.recordings import stores
    from acpgen.recordings.message_report import MessageDiagnostics

    if session and sender is not None:
        raise typer.BadParameter("--session and --sender exclude each other: a recording names the senders.")
    names = file or ["-"]
    if len(names) > 1 and "-" in names:
        raise typer.BadParameter("- is standard input, and cannot be combined with files.")
    destinations = report_destinations(output, format_, [*names, resume])
    lines_as = next(
        (
            destination.format
            for destination in destinations
            if destination.file is None and destination.format in ("text", "json")
        ),
        None,
    )
    reports = [
        destination for destination in destinations if destination.file is not None or destination.format != lines_as
    ]
    diagnostics = MessageDiagnostics(allowed=allow_unjudged)
    standard = recordings.Standard(tuple(protocol or ()), session, sender, methods, tuple(ref or ()))
    if len(names) > 1 or jobs is not None or resume is not None or not stores.is_one(names[0]):
        if names == ["-"]:
            raise typer.BadParameter("--jobs and --resume need files: name them.")
        _validate_many(names, standard, jobs, resume, lines_as, reports, diagnostics)
    name = names[0]
    summary = work.Counts()
    as_line = work.write_json if lines_as == "json" else work.write_text
    standard.get_validators()  # what it names may not be there, which is said before a message is waited for
    with contextlib.ExitStack() as stack:
        if stores.is_compressed(name):
            lines, total = stores.read_lines(name), None
        else:
            standard_input = cast("BufferedReader", sys.stdin.buffer)
            stream = standard_input if name == "-" else stack.enter_context(recording.open_recording(Path(name)))
            lines, total = recording.read_lines(stream), recording.measure_size(stream)
        is_moving = lines_as and sys.stdout.isatty() and not session  # a verdict a line shows well enough how far it is
        progress = stack.enter_context(
            contextlib.nullcontext(_ignore_progress) if is_moving else terminal.show_progress()
        )

        def count_lines() -> Iterator[LineVerdict]:
            for verdict in standard.judge_lines(lines):
                summary.add(verdict)
                progress(verdict.end, total or 0, f"line {verdict.line}")
                if reports:
                    diagnostics.add_line("standard input" if name == "-" else name, verdict)
                if lines_as and (not session or verdict.problems):
                    yield verdict

        for verdict in work.fold_repeats(count_lines()) if session and lines_as == "text" else count_lines():
            line = make_visible(as_line(verdict))
            terminal.put(terminal.wrap(line, sys.stdout) if lines_as == "text" else line)
    if lines_as == "json" and not summary.is_judged:
        terminal.put(work.write_counts(summary))
    summary_text.show_counts(summary)
    finish(diagnostics.report(names, *summary.sums, is_judged=summary.is_judged), reports)


def _validate_many(
    names: Sequence[str],
    standard: Standard,
    jobs: int | None,
    resume: Path | None,
    lines_as: str | None,
    reports: Sequence[Destination],
    diagnostics: MessageDiagnostics,
) -> NoReturn:
    from acpgen.diagnostics.outputs import require_apart
    from acpgen.recordings import stores, summary_report, worker_pool

    as_line = summary_report.as_json if lines_as == "json" else summary_report.as_text

    def tell(verdict: Verdict) -> None:
        if reports:
            diagnostics.add_recording(verdict)
        for line in as_line(verdict).splitlines() if lines_as else ():
            text = make_visible(line)
            terminal.put(terminal.wrap(text, sys.stdout) if lines_as == "text" else text)

    listing = stores.find(names)
    read = [file.name for recording in listing.recordings for file in recording.files]
    require_apart((destination.file for destination in reports), read)
    with terminal.show_progress() as progress:
        summary = summary_report.run(
            listing.recordings, standard, jobs or worker_pool.count_processors(), resume, tell, progress
        )
    if lines_as == "json":
        terminal.put(summary_report.write_summary(summary))
    summary_text.show_summary(summary, listing.others)
    sums = summary.valid, summary.invalid, summary.not_judged
    finish(diagnostics.report(names, *sums, is_judged=summary.is_judged), reports)


def _ignore_progress(finished: int, total: int, step: str) -> None:
    """Ignore progress."""
