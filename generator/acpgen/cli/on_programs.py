"""The commands that run a program: `tap` and `probe`."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from acpgen import terminal
from acpgen.cli.output import deliver, faults_end_with_2, print_report
from acpgen.cli.shared_options import Ref, chosen_format, protocol_names, references_of
from acpgen.errors import Faults, visible

if TYPE_CHECKING:
    from acp_session.monitor import Breach, Folding, Monitor
    from acpgen.redaction import Redactor


def tap(
    command: Annotated[list[str], typer.Argument(metavar="-- COMMAND...", help="The command that runs the agent.")],
    record: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Record the conversation in a new file that its owner alone reads, as JSON Lines. A pipe waits for its reader.",
        ),
    ] = None,
    redact: Annotated[
        bool,
        typer.Option(
            "--redact",
            help="Record neither secrets (values of env and headers, tokens, keys) nor contents: of files, tool calls, commands.",
        ),
    ] = False,
    redact_pattern: Annotated[
        list[str] | None,
        typer.Option(
            metavar="REGEX", help="Record nothing that this expression matches; implies --redact. May be repeated."
        ),
    ] = None,
    max_size: Annotated[
        str | None,
        typer.Option(
            metavar="BYTES",
            help="Of one file of the recording, such as 100M. After talk.jsonl come talk.1.jsonl, talk.2.jsonl, …",
        ),
    ] = None,
    max_files: Annotated[
        int,
        typer.Option(
            metavar="N", min=1, help="With --max-size: the newest files that are kept. Older ones are removed."
        ),
    ] = 10,
    report: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Write what breaks a rule here instead of to standard error. Messages are numbered as lines of a recording are.",
        ),
    ] = None,
    protocol: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME",
            help="Judge by this protocol, whatever initialize says. Without: ACP, as it says.",
            autocompletion=protocol_names,
        ),
    ] = None,
    format_: Annotated[str, typer.Option("--format", metavar="FORMAT", help="Of the report: text or json.")] = "text",
    grace: Annotated[
        float,
        typer.Option(
            metavar="SECONDS",
            min=0,
            help="When the client's input has ended, or a signal to end has come, and the command still runs so long after, end it and "
            "what it started.",
        ),
    ] = 10,
    ref: Ref = None,
) -> None:
    """Run an agent with a monitor on its standard streams.

    It takes servers of other protocols too. Every byte passes through unchanged.

    Ends when the command ends, with its exit code; 1 if that is 0 and judging ended early. 2: the command cannot be started, or
    a file cannot be written. The command does not outlive this one.
    """
    from acpgen import judge, recording
    from acpgen import tap as work
    from acpgen.tape import Tape
    from acpgen.validate import breach_as_json

    formats: dict[str, Callable[[Breach], str]] = {"text": str, "json": breach_as_json}
    as_line = chosen_format(format_, formats)
    if record is None and (redact or redact_pattern or max_size is not None):
        raise typer.BadParameter("--redact, --redact-pattern and --max-size are about a recording: give --record FILE")
    most = _bytes(max_size) if max_size is not None else None
    keeps = _redactor(redact_pattern or ()) if redact or redact_pattern else None
    code = 2
    with faults_end_with_2(), contextlib.ExitStack() as stack:
        references = references_of(ref)
        for name in protocol or ():
            judge.find(
                name, references
            )  # a wrong name is told before the agent starts; the validators are made while it runs
        out = stack.enter_context(recording.created(report)) if report is not None else None
        tape = stack.enter_context(Tape(record, most, max_files)) if record is not None else None

        def say(sentence: str) -> None:
            with contextlib.suppress(OSError):  # nobody listens, and the conversation goes on
                terminal.say(sentence)

        @cache  # where nothing is broken, the monitor need not be there when the agent starts
        def folding() -> Folding[Breach]:
            return judge.folding()

        def fold(breach: Breach) -> None:
            count = folding().take(breach.mark, breach)
            if count:
                tell(replace(breach, count=count))

        def tell(breach: Breach) -> None:
            line = visible(as_line(breach))
            if out is None:
                say(line)
            else:
                out.write(f"{line}\n".encode(errors="backslashreplace"))
                out.flush()

        def make() -> Monitor:
            return judge.monitor(judge.versions(protocol or (), references), fixed=bool(protocol))

        @cache
        def sides() -> tuple[str, str]:
            with contextlib.suppress(Faults):  # the monitor tells of them, and what is said is recorded all the same
                if protocol:
                    return judge.strict(judge.find(protocol[0], references)).contract.peers
            return work.ACP_SIDES

        redacted = keeps.line if keeps is not None else work.whole
        code = work.tap(command, make, fold, say, tape, sides=sides, grace=grace, redact=redacted)
        for breach, count in folding().rest():
            tell(replace(breach, count=count))
        if tape is not None and tape.told:
            say(tape.told)
    work.end(code)


def _bytes(text: str) -> int:
    """A number of bytes, with k, M or G behind it (1,000, 1,000,000, 1,000,000,000)."""
    found = re.fullmatch(r"([1-9]\d{0,17})\s*([kKMG]?)B?", text.strip())
    if found is None:
        raise typer.BadParameter(f"{visible(text)!r} is no size: write 500k, 100M or 1G")
    return int(found[1]) * {"": 1, "k": 10**3, "K": 10**3, "M": 10**6, "G": 10**9}[found[2]]


def _redactor(patterns: Sequence[str]) -> Redactor:
    from acpgen.redaction import Redactor

    for pattern in patterns:
        try:
            re.compile(pattern)
        except re.error as error:
            raise typer.BadParameter(f"{visible(pattern)!r} is no regular expression of Python: {error}") from None
    return Redactor(patterns)


def probe(
    command: Annotated[
        list[str] | None, typer.Argument(metavar="-- COMMAND...", help="The command that runs the program.")
    ] = None,
    client: Annotated[
        bool,
        typer.Option(
            "--client",
            help="Test a client: the probe is its agent, and {agent} in COMMAND becomes the command that starts it.",
        ),
    ] = False,
    protocol: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME",
            help="Only this version, acp/v1 or acp/v2. Without: each that it speaks. For MCP there is acpgen tap.",
        ),
    ] = None,
    cases: Annotated[
        list[str] | None,
        typer.Option(
            "--case", metavar="ID", help="Only this case, or those of a section, such as transports. May be repeated."
        ),
    ] = None,
    list_: Annotated[bool, typer.Option("--list", help="List the cases and what they demand; run nothing.")] = False,
    strict: Annotated[bool, typer.Option("--strict", help="What breaks a SHOULD makes the exit code 1 too.")] = False,
    seed: Annotated[
        int | None, typer.Option(metavar="N", help="Of the random part. Without: a new one, which the report tells.")
    ] = None,
    timeout: Annotated[
        float,
        typer.Option(metavar="SECONDS", min=0.1, help="What one answer may take; those of a model four times as much."),
    ] = 5.0,
    total: Annotated[float, typer.Option(metavar="SECONDS", min=1.0, help="What all of it may take.")] = 100.0,
    env: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME[=VALUE]", help="A variable that the program gets. May be repeated; few are passed on."
        ),
    ] = None,
    keep_home: Annotated[
        bool, typer.Option("--keep-home", help="Leave the program its home folder, and so its login.")
    ] = False,
    baseline: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Findings that do not count; those that are gone are told.")
    ] = None,
    write_baseline: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Write the findings as a baseline, and exit 0 if some case was judged."),
    ] = None,
    output_format: Annotated[
        str | None,
        typer.Option("--format", metavar="FORMAT", help="text (if left out), json, junit, sarif, html or badge."),
    ] = None,
    output: Annotated[
        list[str] | None,
        typer.Option(
            "--output", metavar="FORMAT=FILE", help="A report, to a file or to - (standard output). May be repeated."
        ),
    ] = None,
) -> None:
    """Test an agent or a client, and report its conformance.

    The command runs it, talks to it through what it advertises, and proves what breaks the specification.

    It runs where you stand, with a home of its own in a passing folder, and needs no login; what cannot be reached without one is listed.
    Exit codes: 0 no MUST is broken in what was reached, 1 one is, or nothing could be judged, 2 the command cannot be started.
    """
    from acpgen.compat import outputs
    from acpgen.probe import asking as work
    from acpgen.probe.clients import ClientProbing
    from acpgen.probe.driver import Probing, Wanted, run
    from acpgen.probe.report import FORMATS, written

    with faults_end_with_2():
        chosen = work.cases(cases or (), "client" if client else "agent")
        if list_:
            print_report(work.listed(chosen))
            return
        if not command:
            raise typer.BadParameter("COMMAND is missing: acpgen probe -- COMMAND...")
        versions = work.versions(protocol or ())
        destinations = outputs.outputs(output or (), output_format, FORMATS)
        known = work.read_baseline(baseline) if baseline is not None else None
        report = run(
            Wanted(
                command=tuple(command),
                seed=work.seed(seed),
                seconds=timeout,
                total=total,
                cases=tuple(cases or ()),
                versions=versions,
                variables=tuple(env or ()),
                keep_home=keep_home,
                is_strict=strict,
            ),
            ClientProbing if client else Probing,
        )
        if write_baseline is not None:
            deliver(work.baseline(report), write_baseline)
        if known is not None:
            work.held_against(report, known)
        for each in destinations:
            is_shown = each.format == "text" and each.file is None and terminal.is_coloured()
            text = written(report, "coloured" if is_shown else each.format)
            if each.file is None:
                print_report(text)
            else:
                deliver(text, each.file)
        code = report.code if write_baseline is None else int(report.verdict == "not judged")
        raise typer.Exit(code)
