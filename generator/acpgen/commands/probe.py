"""The command `probe`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from acpgen.commands import terminal
from acpgen.commands.output import deliver, print_report, report_destinations, require_places
from acpgen.commands.shared_options import set_minimum


def probe(
    command: list[str] | None = None,
    *,
    client: bool = False,
    protocol: list[str] | None = None,
    case: list[str] | None = None,
    registry: bool = False,
    list_: bool = False,
    strict: bool = False,
    seed: int | None = None,
    timeout: Annotated[float, set_minimum(0.1)] = 5.0,
    total: Annotated[float, set_minimum(1.0)] = 100.0,
    env: list[str] | None = None,
    keep_home: bool = False,
    baseline: Path | None = None,
    write_baseline: Path | None = None,
    format_: str | None = None,
    output: list[str] | None = None,
) -> None:
    """Test an agent or a client, and report its conformance.

    probe starts the program, uses what it advertises, and proves each violation of the specification by the messages.

    The program runs in the current folder with a temporary home folder and without a login; the report lists what cannot be reached
    without one.

    Arguments:
        -- COMMAND: The command that runs the program.

    Options:
        --client: Test a client: the probe acts as its agent, and {agent} in COMMAND becomes the command that starts the probe's agent.
        --seed N: The seed of the random part. Default: a new one, which the report names.
        --timeout SECONDS: The limit for one answer; an answer that needs a model may take four times as long.
        --total SECONDS: The limit for the whole run.

    Case options:
        --protocol NAME: Only this version, acp/v1 or acp/v2. Default: each version that the program supports. For MCP, use acpgen tap.
        --case ID: Run only this case, or the cases of a section, such as transports. May be repeated.
        --registry: Check what registries of agents check: the handshake, the authentication methods, and that standard output has nothing
            but messages; and that session/new gives a session or asks for a login.
        --list: List the cases and the requirements that they test; run nothing.

    Program options:
        --env NAME[=VALUE]: An environment variable for the program, which inherits only a few. May be repeated.
        --keep-home: Let the program use the real home folder, and so its login.

    Exit code options:
        --strict: Exit with 1 for a broken SHOULD too.
        --baseline FILE: Findings that do not count; the report lists those that no longer occur.
        --write-baseline FILE: Write the findings as a baseline, and exit 0 if some case was judged.

    Exit codes:
        0: No MUST is broken in what was reached.
        1: One is, or nothing could be judged.
        2: The command cannot be started.
    """
    from acpgen.diagnostics.outputs import render_reports
    from acpgen.probe import probe_command as work
    from acpgen.probe.client_driver import ClientProbing
    from acpgen.probe.driver import ProbeOptions, Probing, run
    from acpgen.probe.probe_report import make_report
    from acpgen.probe.registry import OF_REGISTRIES

    if registry and (case or client):
        raise typer.BadParameter(f"--registry and {'--case' if case else '--client'} exclude each other.")
    names = OF_REGISTRIES if registry else tuple(case or ())
    selection = work.find_cases(names, "client" if client else "agent")
    if list_:
        print_report(work.list_cases(selection))
        return
    if not command:
        raise typer.BadParameter("missing argument '-- COMMAND'.")
    versions = work.choose_versions(protocol or ())
    destinations = report_destinations(output, format_)
    require_places([write_baseline])
    known_findings = work.read_baseline(baseline) if baseline is not None else None
    with terminal.show_progress() as progress:
        progress(0, 0, f"probe {' '.join(command)}")
        report = run(
            ProbeOptions(
                command=tuple(command),
                seed=work.choose_seed(seed),
                seconds=timeout,
                total=total,
                cases=names,
                versions=versions,
                variables=tuple(env or ()),
                keep_home=keep_home,
                is_strict=strict,
            ),
            ClientProbing if client else Probing,
        )
    if write_baseline is not None:
        deliver({write_baseline: work.render_baseline(report)})
    if known_findings is not None:
        work.apply_baseline(report, known_findings)
    deliver(render_reports(make_report(report), destinations, coloured=terminal.is_coloured()))
    code = report.code if write_baseline is None else int(report.verdict == "not judged")
    raise typer.Exit(code)
