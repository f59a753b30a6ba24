"""The command `probe`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from acpgen.commands import terminal
from acpgen.commands.output import deliver, print_report, report_destinations, require_places
from acpgen.commands.shared_options import Format, Output


def probe(
    command: Annotated[
        list[str] | None, typer.Argument(metavar="-- COMMAND", help="The command that runs the program.")
    ] = None,
    client: Annotated[
        bool,
        typer.Option(
            "--client",
            help="Test a client: the probe acts as its agent, and {agent} in COMMAND becomes the command that starts the probe's agent.",
        ),
    ] = False,
    protocol: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME",
            help="Only this version, acp/v1 or acp/v2. Default: each version that the program supports. For MCP, use acpgen tap.",
        ),
    ] = None,
    cases: Annotated[
        list[str] | None,
        typer.Option(
            "--case",
            metavar="ID",
            help="Run only this case, or the cases of a section, such as transports. May be repeated.",
        ),
    ] = None,
    of_registries: Annotated[
        bool,
        typer.Option(
            "--registry",
            help="Check what registries of agents check: the handshake, the authentication methods, and that standard output has nothing "
            "but messages; and that session/new gives a session or asks for a login.",
        ),
    ] = False,
    list_: Annotated[
        bool, typer.Option("--list", help="List the cases and the requirements that they test; run nothing.")
    ] = False,
    strict: Annotated[bool, typer.Option("--strict", help="Exit with 1 for a broken SHOULD too.")] = False,
    seed: Annotated[
        int | None,
        typer.Option(metavar="N", help="The seed of the random part. Default: a new one, which the report names."),
    ] = None,
    timeout: Annotated[
        float,
        typer.Option(
            metavar="SECONDS",
            min=0.1,
            help="The limit for one answer; an answer that needs a model may take four times as long.",
        ),
    ] = 5.0,
    total: Annotated[float, typer.Option(metavar="SECONDS", min=1.0, help="The limit for the whole run.")] = 100.0,
    env: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME[=VALUE]",
            help="An environment variable for the program, which inherits only a few. May be repeated.",
        ),
    ] = None,
    keep_home: Annotated[
        bool, typer.Option("--keep-home", help="Let the program use the real home folder, and so its login.")
    ] = False,
    baseline: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Findings that do not count; the report lists those that no longer occur."),
    ] = None,
    write_baseline: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Write the findings as a baseline, and exit 0 if some case was judged."),
    ] = None,
    output_format: Format = None,
    output: Output = None,
) -> None:
    """Test an agent or a client, and report its conformance.

    probe starts the program, uses what it advertises, and proves each violation of the specification by the messages.

    The program runs in the current folder with a temporary home folder and without a login; the report lists what cannot be reached
    without one. Exit codes: 0 no MUST is broken in what was reached, 1 one is, or nothing could be judged, 2 the command cannot be started.
    """
    from acpgen.diagnostics.outputs import render_reports
    from acpgen.probe import probe_command as work
    from acpgen.probe.client_driver import ClientProbing
    from acpgen.probe.driver import ProbeOptions, Probing, run
    from acpgen.probe.probe_report import probe_report
    from acpgen.probe.registry import OF_REGISTRIES

    if of_registries and (cases or client):
        raise typer.BadParameter(f"--registry and {'--case' if cases else '--client'} exclude each other.")
    names = OF_REGISTRIES if of_registries else tuple(cases or ())
    chosen = work.cases(names, "client" if client else "agent")
    if list_:
        print_report(work.listed(chosen))
        return
    if not command:
        raise typer.BadParameter("missing argument 'COMMAND'.")
    versions = work.versions(protocol or ())
    destinations = report_destinations(output, output_format)
    require_places([write_baseline])
    known_findings = work.read_baseline(baseline) if baseline is not None else None
    report = run(
        ProbeOptions(
            command=tuple(command),
            seed=work.seed(seed),
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
        deliver({write_baseline: work.baseline(report)})
    if known_findings is not None:
        work.held_against(report, known_findings)
    deliver(render_reports(probe_report(report), destinations, coloured=terminal.is_coloured()))
    code = report.code if write_baseline is None else int(report.verdict == "not judged")
    raise typer.Exit(code)
