"""The command `tap`."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Annotated

import typer

from acpgen.commands import terminal
from acpgen.commands.shared_options import Protocols, read_references, restrict_to, set_minimum
from acpgen.errors import Faults, make_visible

if TYPE_CHECKING:
    from acp_monitor import Breach, Folding, Monitor
    from jsonrpc_bindings.strict import Strict


def tap(
    command: list[str],
    *,
    grace: Annotated[float, set_minimum(0)] = 10,
    record: Path | None = None,
    max_size: str | None = None,
    max_files: Annotated[int | None, set_minimum(1)] = None,
    redact: bool = False,
    redact_pattern: list[str] | None = None,
    report: Path | None = None,
    format_: Annotated[str, restrict_to("format", "text", "json")] = "text",
    protocol: Protocols = None,
    ref: list[str] | None = None,
) -> None:
    """Run an agent with a monitor on its standard streams.

    It works for servers of other protocols too, with a message on each line or after a Content-Length header. Every byte passes
    through unchanged.

    tap ends when the command ends, and the command never outlives tap.

    Arguments:
        -- COMMAND: The command that runs the agent.

    Options:
        --grace SECONDS: How long the command may still run after the client's input has ended or a signal to end has come; then tap ends
            it and what it started.

    Recording options:
        --record FILE: Record the conversation as JSON Lines in a new file that only its owner can read. With a pipe, tap waits for its
            reader.
        --max-size BYTES: The size limit of one file of the recording, such as 100M. After talk.jsonl come talk.1.jsonl, talk.2.jsonl, …
        --max-files N: With --max-size: how many of the newest files are kept. Older files are removed. Default: 10.
        --redact: Leave out of the recording every string that the schema does not make protocol: ids, kinds, methods, and names of
            members, variables and headers stay; text, paths, contents of files and extensions go. The report of broken rules still quotes
            what breaks them.
        --redact-pattern REGEX: Also leave out what this expression matches; implies --redact. May be repeated.

    Report options:
        --report FILE: Write broken rules to this file instead of standard error. Messages have the numbers of the lines of a recording.
        --format FORMAT: text or json.

    Exit codes:
        any: That of the command.
        1: That is 0, and judging ended early or passed something over, or what the agent sent was not all passed on.
        2: The command cannot be started, or a file cannot be written.
    """
    from acpgen.messages import recording, validators
    from acpgen.messages import tap as work
    from acpgen.messages.recording_file import MOST_FILES, Tape
    from acpgen.messages.redaction import Redactor
    from acpgen.messages.validate import write_breach

    if record is None and (redact or redact_pattern or max_size is not None):
        raise typer.BadParameter("--redact, --redact-pattern and --max-size need --record FILE")
    if max_size is None and max_files is not None:
        raise typer.BadParameter("--max-files needs --max-size BYTES: without it, a recording is one file")
    size_limit = _parse_size(max_size) if max_size is not None else None
    _require_expressions(redact_pattern or ())
    code = 2
    with contextlib.ExitStack() as stack:
        references = read_references(ref)
        for name in protocol or ():
            # A wrong name is reported before the agent starts; the validators are made while it runs.
            validators.find(name, references)
        out = stack.enter_context(recording.create_recording(report)) if report is not None else None
        tape = stack.enter_context(Tape(record, size_limit, max_files or MOST_FILES)) if record is not None else None

        def say(sentence: str) -> None:
            with contextlib.suppress(OSError):  # nobody listens, and the conversation goes on
                terminal.say(sentence)

        @cache  # where nothing is broken, the monitor need not be there when the agent starts
        def get_folding() -> Folding[Breach]:
            return validators.make_folding()

        def fold(breach: Breach) -> None:
            count = get_folding().take(breach.mark, breach)
            if count:
                tell(replace(breach, count=count))

        def tell(breach: Breach) -> None:
            line = make_visible(write_breach(breach) if format_ == "json" else str(breach))
            if out is None:
                with contextlib.suppress(OSError):
                    terminal.warn(line)
            else:
                out.write(f"{line}\n".encode(errors="backslashreplace"))
                out.flush()

        loading = Lock()  # the monitor and the recorder, each in its thread, need the same validators

        @cache
        def load_versions() -> list[Strict]:
            return validators.read_versions(protocol or (), references)

        def get_versions() -> list[Strict]:
            with loading:
                return load_versions()

        def make() -> Monitor:
            return validators.make_monitor(get_versions(), fixed=bool(protocol))

        def find_redactable() -> list[Strict]:
            with contextlib.suppress(Faults):  # the monitor tells of them; without a schema, every string goes
                return get_versions()
            return []

        @cache
        def find_sides() -> tuple[str, str]:
            with contextlib.suppress(Faults):  # the monitor tells of them, and what is said is recorded all the same
                if protocol:
                    return validators.find_peers(validators.read_strict(validators.find(protocol[0], references)))
            return work.ACP_SIDES

        redact_line = (
            Redactor(redact_pattern or (), find_redactable).redact_line if redact or redact_pattern else work.join_whole
        )
        code = work.tap(command, make, fold, say, tape, sides=find_sides, grace=grace, redact=redact_line)
        for breach, count in get_folding().list_omitted():
            tell(replace(breach, count=count))
        if tape is not None and tape.file_note:
            say(tape.file_note)
    work.end(code)


def _parse_size(text: str) -> int:
    """Parse a number of bytes with an optional suffix k, M or G (1,000, 1,000,000, 1,000,000,000)."""
    match = re.fullmatch(r"([1-9]\d{0,17})\s*([kKMG]?)B?", text.strip())
    if match is None:
        raise typer.BadParameter(f"{make_visible(text)!r} is not a size: write 500k, 100M or 1G")
    return int(match[1]) * {"": 1, "k": 10**3, "K": 10**3, "M": 10**6, "G": 10**9}[match[2]]


def _require_expressions(patterns: Sequence[str]) -> None:
    for pattern in patterns:
        try:
            re.compile(pattern)
        except re.error as error:
            raise typer.BadParameter(
                f"{make_visible(pattern)!r} is not a regular expression of Python: {error}"
            ) from None
