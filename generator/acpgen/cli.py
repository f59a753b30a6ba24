"""The command `acpgen`: parse, call, print, exit."""

from __future__ import annotations

import contextlib
import json
import os
import re
import sys
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeAlias, TypeVar

import typer
from typer.core import TyperCommand

from acpgen import __version__, config, resources, terminal
from acpgen.built_in import BUILT_IN
from acpgen.errors import Faults, NotFound, UnknownName, Unwritable, did_you_mean, visible
from acpgen.schema.effort import account
from acpgen.schema.keywords import DRAFTS
from acpgen.schema.load import References, place

if TYPE_CHECKING:
    from acp_session.monitor import Breach, Folding, Monitor
    from acpgen.kept import Kept
    from acpgen.project import Outcome, Work
    from acpgen.recordings import Standard, Verdict
    from acpgen.redaction import Redactor
    from acpgen.validate import LineVerdict

T = TypeVar("T")

Ref: TypeAlias = Annotated[
    list[str] | None,
    typer.Option(
        "--ref",
        metavar="URL=FILE",
        help="What a $ref or $schema with this address, absolute or as written, means: a file, or a draft such as draft-07. "
        "May be repeated.",
    ),
]
"""The option `--ref` of every command that reads schemas."""

Waivers: TypeAlias = Annotated[
    Path | None,
    typer.Option(metavar="FILE", help="Accepted findings. Without: compat-waivers.toml beside pyproject.toml."),
]
"""The option `--waivers` of every command that compares schemas."""

Unstable: TypeAlias = Annotated[
    bool,
    typer.Option("--unstable", help="Compare what is marked x-unstable too, and of a folder its schema.unstable.json."),
]
"""The option `--unstable` of every command that compares schemas."""

NoCache: TypeAlias = Annotated[
    bool,
    typer.Option("--no-cache", help="Make everything anew: trust no result of an earlier run, and keep none."),
]
"""The option `--no-cache` of every command that keeps results."""

app = typer.Typer(
    name="acpgen",
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": terminal.WIDEST},
)


_UNASKED = ("isoduration", "rfc3986_validator", "rfc3987", "rfc3987_syntax", "uri_template", "webcolors")
"""What `jsonschema` loads where it is installed, one a second for a grammar, to judge formats: here `jsonschema-rs` does that."""


def main() -> None:
    """Run the command line."""
    for stream in (sys.stdout, sys.stderr):
        stream.reconfigure(errors="backslashreplace")  # type: ignore[union-attr]
    for name in _UNASKED:
        sys.modules.setdefault(name, None)  # type: ignore[arg-type]
    try:
        with account():
            app(prog_name="acpgen")
    except MemoryError:
        terminal.show_out_of_memory()
        sys.exit(2)
    except Exception as error:  # noqa: BLE001 - 1 would say that something was found
        terminal.show_defect(error)
        sys.exit(2)


def _print_version(wanted: bool) -> None:
    if wanted:
        print(f"acpgen {__version__}")
        raise typer.Exit


@app.callback()
def _root(
    version: Annotated[
        bool, typer.Option("--version", help="Print the version and exit.", is_eager=True, callback=_print_version)
    ] = False,
) -> None:
    """Typed bindings, bundles and documents from the JSON Schema of a JSON-RPC protocol."""


def _protocol_names(incomplete: str) -> list[str]:
    with contextlib.suppress(Faults, OSError):
        return [name for name in config.find(_here()).protocols if name.startswith(incomplete)]
    return []


def _profile_names(incomplete: str) -> list[str]:
    from acpgen.schema.profile import names

    return [name for name in names() if name.startswith(incomplete)]


def _target_names(incomplete: str) -> list[str]:
    from acpgen.targets import TARGETS

    return [name for name in TARGETS if name.startswith(incomplete)]


@app.command()
def targets(
    name: Annotated[
        str | None,
        typer.Argument(
            metavar="[NAME]", help="Only this one, with its options.", autocompletion=_target_names, show_default=False
        ),
    ] = None,
    ir_schema: Annotated[
        bool, typer.Option("--ir-schema", help="Print the JSON Schema of what a program on the search path gets.")
    ] = False,
) -> None:
    """List the targets that are installed: those of acpgen, of other packages, and programs called acpgen-target-NAME.

    One that cannot be used says why. Exit codes: 0 all can be used, 1 one cannot, 2 there is none of that name.
    """
    from acpgen import interchange
    from acpgen.generate import require_targets
    from acpgen.targets import TARGETS, hidden

    if ir_schema:
        terminal.put(json.dumps(interchange.schema(), indent=2, ensure_ascii=False))
        return
    with _faults_end_with_2():
        require_targets([] if name is None else [name], TARGETS, at="acpgen targets")
        unusable = [each for each in TARGETS if name in (None, each) and not terminal.show_target(each, TARGETS)]
        for faults in hidden(name):
            terminal.show_faults(faults)
            unusable.append("")
    if unusable:
        raise typer.Exit(1)


@app.command()
def generate(
    protocols: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[PROTOCOL]...",
            help="Only outputs that hold one of these, such as acp/v1. Without any: all outputs.",
            autocompletion=_protocol_names,
            show_default=False,
        ),
    ] = None,
    targets: Annotated[
        list[str] | None,
        typer.Option(
            "--target",
            metavar="NAME",
            help=f"Only these targets: {', '.join(BUILT_IN)}, or what `acpgen targets` lists. May be repeated.",
            autocompletion=_target_names,
        ),
    ] = None,
    option: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME=VALUE",
            help="With --schema and one --target: an option of it, as `acpgen targets NAME` lists them. May be repeated.",
        ),
    ] = None,
    check: Annotated[bool, typer.Option("--check", help="Write nothing; print what would change, and exit 1.")] = False,
    watch: Annotated[bool, typer.Option("--watch", help="Run again when a file changes, until Ctrl-C.")] = False,
    schema: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Generate from this schema instead of the project's.")
    ] = None,
    package: Annotated[
        str, typer.Option(metavar="NAME", help="With --schema: the package of the bindings, such as acme.v1.")
    ] = "",
    out: Annotated[Path | None, typer.Option(metavar="DIR", help="With --schema: the folder to generate.")] = None,
    names: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="With --schema: JSON or TOML from places, such as A.field, to class names.",
        ),
    ] = None,
    keep_unknown: Annotated[
        bool, typer.Option("--keep-unknown", help="With --schema: closed unions keep unknown tags when receiving.")
    ] = False,
    ref: Ref = None,
    methods: Annotated[
        str | None,
        typer.Option(
            metavar="FILE",
            help="With --schema: where the methods stand, a profile in TOML or JSON, or the name of one that comes with acpgen.",
            autocompletion=_profile_names,
        ),
    ] = None,
    strict_coverage: Annotated[
        bool, typer.Option("--strict-coverage", help="Exit 1 if decode leaves a keyword to the strict validators.")
    ] = False,
    no_cache: NoCache = False,
) -> None:
    """Generate the outputs of a project, or of one schema.

    Without --schema, [tool.acpgen] of pyproject.toml lists the outputs. The command ends with a summary: which methods it found, by which
    profile, what stays without a type, and which keywords decode does not enforce (UNENFORCED in the generated package). Exit codes: 0 all
    is well, 1 --check found a difference or --strict-coverage such a keyword, 2 the input cannot be used.
    """
    chosen = [name for value in targets or () for name in value.split(",") if name]
    if watch and (check or strict_coverage):
        raise typer.BadParameter(f"{'--check' if check else '--strict-coverage'} and --watch exclude each other.")
    if schema is None:
        _require_schema_for(
            {
                "--package": package,
                "--out": out,
                "--names": names,
                "--keep-unknown": keep_unknown,
                "--methods": methods,
                "--option": option,
            }
        )
    elif protocols:
        raise typer.BadParameter("PROTOCOL and --schema exclude each other.")

    from acpgen import project

    kept = _kept(no_cache)

    def work() -> Work:
        if schema is None:
            found = config.find(_here())
            return project.configured(found, protocols or (), chosen, _references(ref), kept=kept)
        return _for_schema(
            schema,
            package,
            chosen or ["python"],
            out,
            names,
            keep_unknown,
            _references(ref),
            methods,
            kept,
            option or (),
        )

    def inputs() -> list[Path]:
        files = [path for path in (schema, names) if path is not None]
        if methods is not None and Path(methods).exists():
            files.append(Path(methods))
        if schema is None:
            with contextlib.suppress(Faults):
                found = config.find(_here())
                profiles = [found.root / one for one in found.methods.values() if (found.root / one).is_file()]
                files = [found.file, found.root / found.schema, *profiles]
        with contextlib.suppress(Faults):
            files += [Path(file) for file in _references(ref).values() if os.fspath(file) not in DRAFTS]
        return [*files, resources.templates(), resources.session()]

    with _faults_end_with_2():
        _here()
        if not watch:
            outcome = _run(work(), check=check)
            if (check and outcome.is_drift) or (strict_coverage and not outcome.is_covered):
                raise typer.Exit(1)
            return
        _watch(work, inputs)


@app.command()
def init(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="The folder of the project: a new or an empty one.")],
    schemas: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[PROTOCOL=PATH]...",
            help="A version of the protocol and its schema, a file or a folder: acme/v1=schema.json. Without any: a small "
            "protocol to begin with.",
            show_default=False,
        ),
    ] = None,
    methods: Annotated[
        str | None,
        typer.Option(
            metavar="FILE",
            help="Where the protocols keep their methods: a profile, by file or name.",
            autocompletion=_profile_names,
        ),
    ] = None,
    ref: Ref = None,
) -> None:
    """Make a project from a schema.

    It writes the files, the configuration, CI, pre-commit hooks, and all outputs.

    Rules of lint that the schema breaks become warnings of that project. Exit codes: 0 all is well, 2 the input cannot be used, and
    nothing was written. Files of --methods and --ref become files of the project.
    """
    from acpgen import project, starting
    from acpgen.write import created

    given: dict[str, Path] = {}
    for argument in schemas or ():
        protocol, separator, path = argument.partition("=")
        if not separator or not path or not config.is_protocol(protocol) or protocol in given:
            raise typer.BadParameter(
                f"{visible(argument)!r} must be PROTOCOL=PATH, such as acme/v1=schema.json, each protocol once."
            )
        given[protocol] = Path(path)
    with _faults_end_with_2():
        begun = starting.start(folder, given, config.references(ref or ()), methods)
        try:
            with created(folder, begun.files):
                _run(project.configured(config.find(folder.resolve()), (), ()))
        except Faults as caught:
            raise Faults(begun.as_given(fault, place(folder)) for fault in caught.faults) from None
    if begun.levels:
        terminal.say(
            f"{', '.join(begun.levels)}: the schema breaks these rules of lint. They are warnings in {place(folder / 'pyproject.toml')}."
        )
    terminal.say(f"Read {place(folder / 'README.md')} for what comes next.")


@app.command()
def lint(
    paths: Annotated[
        list[Path] | None,
        typer.Argument(
            metavar="[PATH]...",
            help="Schema folders or files. Without any: every protocol below the project's schema folder.",
            show_default=False,
        ),
    ] = None,
    ref: Ref = None,
) -> None:
    """Check schema files: JSON Schema, the dialect, house rules.

    Each finding is one line.

    [tool.acpgen.lint] of pyproject.toml makes a rule a warning or turns it off: description-missing = "warning". Exit codes: 0 no
    error was found, 1 an error was, 2 the input cannot be used.
    """
    from acpgen.lint import NO_LEVELS, LintReport, lint_paths, require_rules

    report = LintReport()
    with _faults_end_with_2():
        wanted = paths or [_schema_folder()]
        projects = {path: found for path in wanted if (found := config.around(path)) is not None}
        folders = {found.root / found.schema for found in projects.values()}
        for found in projects.values():
            require_rules(found.lint, place(found.file))
        for path in wanted:
            around = projects.get(path)
            findings = lint_paths([path], folders, config.references(ref or (), path.resolve()))
            report = report.joined(LintReport.of(findings, around.lint if around is not None else NO_LEVELS))
    for line in report.lines:
        print(line)
    terminal.say(report.summary)
    if report.errors:
        raise typer.Exit(1)


@app.command()
def adopt(
    file: Annotated[
        Path, typer.Argument(metavar="FILE", help="A schema as upstream publishes it.", show_default=False)
    ],
    into: Annotated[
        str | None,
        typer.Option(
            metavar="PROTOCOL",
            help="Where it belongs, such as acp/v1. Without it: the protocol that it is like.",
            autocompletion=_protocol_names,
        ),
    ] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Write no schema; exit 1 if one would change.")] = False,
    report: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write a report for reviewers, in Markdown.")
    ] = None,
    start: Annotated[
        bool, typer.Option("--start", help="Only record that the schema files follow this revision already.")
    ] = False,
    keep_as: Annotated[
        str | None,
        typer.Option(metavar="VERSION", help="Keep its facts as a release too, for the changelog in the docs."),
    ] = None,
) -> None:
    """Merge a newer upstream schema into the project.

    Local descriptions and deliberate differences are kept.

    Exit codes: 0 done, 1 conflicts are left or --dry-run found changes, 2 the input cannot be used.
    """
    from acpgen import adopt as adopting

    if start and (into is None or dry_run or report is not None):
        raise typer.BadParameter("--start needs --into PROTOCOL, and excludes --dry-run and --report.")
    if keep_as is not None and dry_run:
        raise typer.BadParameter("--keep-as and --dry-run exclude each other.")
    with _faults_end_with_2():
        found = config.find(_here())
        schema = found.root / found.schema
        if keep_as is not None and into is not None and adopting.is_family(schema, into, found.protocols):
            adopting.save(
                adopting.folder_of(schema, into), adopting.keep(file, adopting.folder_of(schema, into), keep_as)
            )
            terminal.say(f"{place(file)} is kept as {keep_as} of {into}.")
            return
        if into is None:
            into = adopting.nearest(file, adopting.followers(schema))
        elif into not in (*found.protocols, *adopting.followers(schema)):
            hint = did_you_mean(into, found.protocols)
            raise Faults([UnknownName(at=place(found.file), kind="protocol", name=into, hint=hint)])
        releases = adopting.folder_of(schema, into)
        kept: Mapping[str, str] = {}
        if keep_as is not None:
            kept = adopting.keep(file, releases, keep_as)
        if start:
            adopting.save(schema / into, adopting.start(file, schema / into, into))
            adopting.save(releases, kept)
            terminal.say(f"{into} follows {place(file)} from now on.")
            return
        adoption = adopting.adopt(file, schema / into, into)
        outcome = adopting.report(adoption, into)
        if report is not None:
            _deliver(adopting.markdown(outcome), report)
        if not dry_run:
            adopting.save(schema / into, adoption.written, adoption.removed)
            adopting.save(releases, kept)
    for line in adopting.text(outcome):
        print(line)
    if not adoption.is_none:
        terminal.say("Nothing was written." if dry_run else "Written. Now run: acpgen lint, then acpgen generate")
    if adoption.conflicts or (dry_run and not adoption.is_none):
        raise typer.Exit(1)


def _references(given: Sequence[str] | None) -> References:
    """What addresses mean: to the project, if there is one, and as given. Raises `Faults`."""
    return config.references(given or (), _here())


def _schema_folder() -> Path:
    """The project's schema folder. Raises `Faults`."""
    found = config.find(_here())
    return found.root / found.schema


def _here() -> Path:
    """The current folder. Raises `Faults` where it has been removed."""
    try:
        return Path.cwd()
    except FileNotFoundError:
        raise Faults([NotFound(at="the current folder")]) from None


def _no_progress(done: int, total: int, step: str) -> None:
    """Show nothing."""


@app.command()
def validate(
    files: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[FILE|FOLDER|PATTERN|URL|-]...",
            help="JSON Lines: a message a line, or a recording; .gz and .zst are decompressed. Without: -, standard input.",
            show_default=False,
        ),
    ] = None,
    protocol: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME",
            help="Judge by this protocol, such as acp/v2, or by this schema file, whatever initialize says. Without: ACP, as it says.",
            autocompletion=_protocol_names,
        ),
    ] = None,
    sender: Annotated[
        str | None,
        typer.Option(metavar="SIDE", help="Who sent the messages: client, or agent or server. Else told from each."),
    ] = None,
    session: Annotated[
        bool, typer.Option("--session", help="The file is a recorded conversation: judge it as a whole, too.")
    ] = False,
    format_: Annotated[str, typer.Option("--format", metavar="FORMAT", help="text or json, a line for each.")] = "text",
    methods: Annotated[
        str | None,
        typer.Option(
            metavar="FILE",
            help="With --protocol: where it keeps its methods, a profile by file or name.",
            autocompletion=_profile_names,
        ),
    ] = None,
    allow_unjudged: Annotated[
        bool, typer.Option("--allow-unjudged", help="What was not judged does not make the exit code 1.")
    ] = False,
    jobs: Annotated[
        int | None,
        typer.Option(
            metavar="N", min=1, help="Of many files: how many are judged at a time. Without: one a processor."
        ),
    ] = None,
    resume: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Of many files: keep each verdict here, and do not judge again what this file has a verdict on.",
        ),
    ] = None,
    ref: Ref = None,
) -> None:
    """Judge messages strictly by the schema: one verdict a line.

    With --session, the command prints what breaks a rule of the conversation.

    Of several files, a folder, a pattern or a URL it prints what is wrong in each, and one summary.

    A recording has lines {"from": "client", "message": {...}}. Exit codes: 0 all was judged and is well, 1 something is wrong or was
    not judged, 2 unusable input.
    """
    from acpgen import judge, recording, recordings
    from acpgen import validate as work
    from acpgen.recordings import stores

    as_line = _format(format_, {"text": work.as_text, "json": work.as_json})
    if session and sender is not None:
        raise typer.BadParameter("--session and --sender exclude each other: a recording says who speaks.")
    names = files or ["-"]
    if len(names) > 1 and "-" in names:
        raise typer.BadParameter("- is standard input, and stands alone.")
    if len(names) > 1 or jobs is not None or resume is not None or not stores.is_one(names[0]):
        if names == ["-"]:
            raise typer.BadParameter("--jobs and --resume are about files: name them.")
        standard = recordings.Standard(tuple(protocol or ()), session, sender, methods, tuple(ref or ()))
        _validate_many(names, standard, jobs, resume, format_, allow_unjudged=allow_unjudged)
        return
    file = names[0]
    summary = work.Counts()
    with _faults_end_with_2():
        profile = None if methods is None else config.find_profile(methods)
        strict = judge.versions(protocol or (), _references(ref), profile)
        sides = strict[0].contract.peers
        if sender is not None and sender not in sides:
            raise typer.BadParameter(f"--sender is one of {', '.join(sides)}.")
        with contextlib.ExitStack() as stack:
            if stores.is_compressed(file):
                lines, total = stores.lines(file), None
            else:
                stream = sys.stdin.buffer if file == "-" else stack.enter_context(recording.opened(Path(file)))
                lines, total = recording.lines(stream), recording.size(stream)
            is_moving = sys.stdout.isatty() and not session  # a verdict a line shows well enough how far it is
            progress = stack.enter_context(contextlib.nullcontext(_no_progress) if is_moving else terminal.progress())
            if session:
                verdicts = work.conversation(lines, judge.monitor(strict, fixed=bool(protocol)))
            else:
                known = {one.contract.version: one for one in strict}
                verdicts = work.judged(lines, known, sender, fixed=bool(protocol))

            def counted() -> Iterator[LineVerdict]:
                for verdict in verdicts:
                    summary.add(verdict)
                    progress(verdict.end, total or 0, f"line {verdict.line}")
                    if not session or verdict.problems:
                        yield verdict

            for verdict in work.folded(counted()) if session and format_ == "text" else counted():
                terminal.put(visible(as_line(verdict)))
        if format_ == "json" and not summary.is_judged:
            terminal.put(work.counts_as_json(summary))
    terminal.show_counts(summary)
    if summary.invalid or not (summary.is_judged or allow_unjudged):
        raise typer.Exit(1)


def _validate_many(
    names: Sequence[str],
    standard: Standard,
    jobs: int | None,
    resume: Path | None,
    format_: str,
    *,
    allow_unjudged: bool,
) -> None:
    from acpgen.recordings import running, stores, told

    as_line = told.as_json if format_ == "json" else told.as_text

    def tell(verdict: Verdict) -> None:
        for line in as_line(verdict).splitlines():
            terminal.put(visible(line))

    with _faults_end_with_2():
        found = stores.find(names)
        with terminal.progress() as progress:
            summary = told.run(found.recordings, standard, jobs or running.processors(), resume, tell, progress)
        if format_ == "json":
            terminal.put(told.summary_as_json(summary))
    terminal.show_summary(summary, found.others)
    if summary.wrong or not (summary.is_judged or allow_unjudged):
        raise typer.Exit(1)


@app.command(context_settings={"allow_interspersed_args": False})
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
            autocompletion=_protocol_names,
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
    as_line = _format(format_, formats)
    if record is None and (redact or redact_pattern or max_size is not None):
        raise typer.BadParameter("--redact, --redact-pattern and --max-size are about a recording: give --record FILE")
    most = _bytes(max_size) if max_size is not None else None
    keeps = _redactor(redact_pattern or ()) if redact or redact_pattern else None
    code = 2
    with _faults_end_with_2(), contextlib.ExitStack() as stack:
        references = _references(ref)
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


@app.command(context_settings={"allow_interspersed_args": False})
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

    with _faults_end_with_2():
        chosen = work.cases(cases or (), "client" if client else "agent")
        if list_:
            _print(work.listed(chosen))
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
            _deliver(work.baseline(report), write_baseline)
        if known is not None:
            work.held_against(report, known)
        for each in destinations:
            is_shown = each.format == "text" and each.file is None and terminal.is_coloured()
            text = written(report, "coloured" if is_shown else each.format)
            if each.file is None:
                _print(text)
            else:
                _deliver(text, each.file)
        code = report.code if write_baseline is None else int(report.verdict == "not judged")
        raise typer.Exit(code)


@app.command()
def diff(
    old: Annotated[
        str,
        typer.Argument(
            metavar="OLD",
            help="A protocol of this project (acp/v1), a file or a folder, or either at a git revision (main:acp/v1).",
            autocompletion=_protocol_names,
        ),
    ],
    new: Annotated[str, typer.Argument(metavar="NEW", help="Likewise.", autocompletion=_protocol_names)],
    mode: Annotated[
        str,
        typer.Option(
            metavar="MODE", help="protocol: who breaks when peers talk. language: plain inclusion of schemas."
        ),
    ] = "protocol",
    output_format: Annotated[
        str | None,
        typer.Option(
            "--format",
            metavar="FORMAT",
            help="text (if left out), json, markdown, html, github, gitlab, sarif or junit.",
        ),
    ] = None,
    merge_base: Annotated[
        bool,
        typer.Option(
            "--merge-base",
            help="Read OLD where its revision and NEW, or HEAD, part: what this branch changes, and no more.",
        ),
    ] = False,
    allow_new: Annotated[
        bool,
        typer.Option(
            "--allow-new", help="Exit 0 where OLD's revision does not have it: there is nothing to compare with."
        ),
    ] = False,
    fail_on: Annotated[
        str,
        typer.Option(
            metavar="LEVEL",
            help="Exit 1 at findings this bad: risky, breaking, additive or never. Undecided counts at each but never.",
        ),
    ] = "risky",
    fail_on_bindings: Annotated[
        str, typer.Option(metavar="LEVEL", help="Exit 1 at changes of generated code: never, breaking or additive.")
    ] = "never",
    waivers: Waivers = None,
    waive: Annotated[
        list[str] | None,
        typer.Option(
            "--waive", metavar="FINGERPRINT", help="Accept this finding: add it to that file. May be repeated."
        ),
    ] = None,
    reason: Annotated[str | None, typer.Option(metavar="TEXT", help="With --waive: why.")] = None,
    until: Annotated[
        str | None,
        typer.Option(
            metavar="DATE|RELEASE",
            help="With --waive: the last day, or the release to come that ends it, such as 1.7.0.",
        ),
    ] = None,
    unstable: Unstable = False,
    methods: Annotated[
        str | None,
        typer.Option(
            metavar="FILE",
            help="Where both keep their methods: a profile, by file or name.",
            autocompletion=_profile_names,
        ),
    ] = None,
    budget: Annotated[
        int | None,
        typer.Option(
            metavar="STEPS",
            min=1,
            help="Steps that the proofs may take together, 1000000 if left out; what is left when they are spent is undecided.",
        ),
    ] = None,
    output: Annotated[
        list[str] | None,
        typer.Option(
            metavar="[FORMAT=]FILE", help="Write the report there instead; - is standard output. May be repeated."
        ),
    ] = None,
    report_url: Annotated[
        str, typer.Option("--report-url", metavar="URL", help="Where the whole report can be read; Markdown links it.")
    ] = "",
    ref: Ref = None,
    repair: Annotated[
        bool,
        typer.Option(
            "--repair", help="Tell the smallest edit of NEW that makes each finding additive, or why none does."
        ),
    ] = False,
    fix: Annotated[
        bool, typer.Option("--fix", help="Make these edits in the files of NEW, and report what is left.")
    ] = False,
    dry_run: Annotated[
        bool,
        typer.Option(
            "--dry-run", help="With --fix: write nothing, print the edits as a diff, exit 1 if there are any."
        ),
    ] = False,
    no_cache: NoCache = False,
) -> None:
    """Compare two revisions of a schema: who breaks, and where.

    Each finding has a message that proves it.

    Exit codes: 0 nothing counts under --fail-on, 1 something does, 2 the input cannot be used.
    """
    from acpgen.compat import command
    from acpgen.write import replace_files

    if dry_run and not fix:
        raise typer.BadParameter("--dry-run needs --fix.")
    with _faults_end_with_2():
        chosen = command.options(mode, output_format, fail_on, fail_on_bindings, output or (), report_url)
        compared = command.compared(
            old,
            new,
            chosen,
            waivers,
            unstable=unstable,
            merge_base=merge_base,
            allow_new=allow_new,
            taken=command.decision(waive or (), reason, until),
            references=_references(ref),
            methods=methods,
            budget=budget,
            repairing="dry" if dry_run else "fix" if fix else "tell" if repair else "no",
            kept=_kept(no_cache),
        )
        if compared is None:
            terminal.say(f"{old} is not there: {new} is new, and there is nothing to compare it with.")
            return
        if compared.fixed is not None and fix:
            compared.fixed.write()
            for line in compared.fixed.told():
                terminal.say(line)
        if compared.fixed is not None and dry_run:
            _print(compared.fixed.difference)
            raise typer.Exit(1 if compared.fixed.difference or command.stops(compared.report, chosen) else 0)
        texts = command.written(compared, chosen, coloured=terminal.is_coloured())
        replace_files({file: text for file, text in texts.items() if file is not None})
        _print(texts.get(None, ""))
        if command.stops(compared.report, chosen):
            raise typer.Exit(1)


class _WithPath(TyperCommand):
    """A command that knows the path after `--`. Options may stand behind it too."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Take the arguments in, and leave the path in the context; empty, if nothing stands there."""
        at = args.index("--") if "--" in args else None
        ctx.meta["path"] = None if at is None else "".join(args[at + 1 : at + 2])
        return super().parse_args(ctx, args if at is None else [*args[:at], *args[at + 2 :]])


@app.command(cls=_WithPath)
def history(
    ctx: typer.Context,
    what: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[WHAT]...",
            help="A branch, tag, commit or range A..B of git, then -- and a protocol, file or folder: the commits that changed it. "
            "A protocol: the releases in schema/releases, or the commits. Several files: these, oldest first.",
            autocompletion=_protocol_names,
            show_default=False,
        ),
    ] = None,
    output_format: Annotated[
        str, typer.Option("--format", metavar="FORMAT", help="text, json, markdown or html.")
    ] = "text",
    fail_on: Annotated[
        str,
        typer.Option(
            metavar="LEVEL",
            help="Exit 1 at steps this bad: risky, breaking, additive or never. What is undecided, not compared or unreadable "
            "counts at each but never.",
        ),
    ] = "risky",
    since: Annotated[
        str | None,
        typer.Option(metavar="DATE", help="Only commits since then, as git reads it: 2026-01-31, '3 months ago'."),
    ] = None,
    limit: Annotated[
        int, typer.Option(metavar="N", help="The newest N revisions; how many were left out is said.")
    ] = 50,
    matrix: Annotated[
        int, typer.Option(metavar="N", help="The newest N rows of the table of who understands whom; 0 for none.")
    ] = 12,
    waivers: Waivers = None,
    unstable: Unstable = False,
    methods: Annotated[
        str | None,
        typer.Option(
            metavar="FILE",
            help="Where all keep their methods: a profile, by file or name.",
            autocompletion=_profile_names,
        ),
    ] = None,
    budget: Annotated[
        int | None,
        typer.Option(
            metavar="STEPS",
            min=1,
            help="Steps that the proofs of each comparison may take together, 3000000 if left out.",
        ),
    ] = None,
    output: Annotated[Path | None, typer.Option(metavar="FILE", help="Write the report there instead.")] = None,
    ref: Ref = None,
) -> None:
    """Compare many revisions of a schema, step by step.

    The report says what each step broke, since when, and which releases understand one another.

    acpgen history main -- acp/v1 reads the commits along first parents, also where the schema has moved. Exit codes: 0 no step counts
    under --fail-on, 1 one does, 2 the input cannot be used.
    """
    from acpgen.compat.history import asked as work

    given, path = tuple(what or ()), ctx.meta["path"]
    if path == "":
        raise typer.BadParameter("after -- stands a protocol, file or folder.")
    if path is None and not given:
        raise typer.BadParameter("name a protocol, files, or a revision, -- and a path.")
    with _faults_end_with_2():
        asked = work.Asked(
            given=given,
            path=path,
            output_format=output_format,
            output=output,
            fail_on=fail_on,
            since=since,
            limit=limit,
            rows=matrix,
            waivers=waivers,
            unstable=unstable,
            methods=methods,
            budget=budget,
            references=_references(ref),
        )
        found = work.asked_for(asked)
        coloured = output is None and terminal.is_coloured()
        _deliver(work.written(found, output_format, fail_on, coloured=coloured), output)
        if found.fails(fail_on):
            raise typer.Exit(1)


@app.command()
def rules(
    chosen: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[RULE]...", help="Only these rules, each with a bad and a good example.", show_default=False
        ),
    ] = None,
    output_format: Annotated[str, typer.Option("--format", metavar="FORMAT", help="text, json or markdown.")] = "text",
) -> None:
    """List every compatibility rule with its severities.

    It shows what the policy of this project makes of each.

    Exit codes: 0 all is well, 2 there is no such rule or format, or [tool.acpgen.compat] is wrong.
    """
    from acpgen.compat import command

    with _faults_end_with_2():
        _print(command.listed(chosen or (), output_format, config.around(_here())))


def _print(text: str) -> None:
    """Print a report. Where nobody reads it any more, the exit code still tells what was found. Raises `Faults`."""
    try:
        sys.stdout.write(text)
        sys.stdout.flush()
    except BrokenPipeError:
        with contextlib.suppress(BrokenPipeError):
            sys.stdout.close()
    except OSError as error:
        raise Faults([Unwritable(at="standard output", reason=str(error.strerror))]) from None


def _deliver(text: str, output: Path | None) -> None:
    """Print a report, or write it to a file."""
    if output is None:
        sys.stdout.write(text)
        return
    from acpgen.write import replace_file

    try:
        replace_file(output, text)
    except OSError as error:
        raise Faults([Unwritable(at=place(output), reason=str(error.strerror))]) from None


docs_app = typer.Typer(name="docs", no_args_is_help=True, rich_markup_mode=None, help="The documentation as a site.")
app.add_typer(docs_app)


@docs_app.command("build")
def docs_build(
    out: Annotated[Path, typer.Option(metavar="DIR", help="A new folder, or one that acpgen wrote.")] = Path("site"),
    url: Annotated[str, typer.Option(metavar="URL", help="Where the site will stand, for canonical addresses.")] = "",
    source: Annotated[
        str, typer.Option(metavar="URL", help="What stands before the path of a file in links that edit it.")
    ] = "",
    no_cache: NoCache = False,
) -> None:
    """Build the site of the project's protocols. Needs the extra docs.

    Exit codes: 0 the site was built, 2 an example is not valid, the site generator is missing or gave up, or the input cannot be used.
    """
    from acpgen import site

    with _faults_end_with_2():
        found = config.find(_here())
        found = replace(found, site=config.published(found.site, url=url, source=source))
        change = site.build(found, Path(os.path.abspath(out)), _kept(no_cache))
    terminal.say(f"{place(out)}: {len(change.written)} files written, {len(change.unchanged)} unchanged.")


@docs_app.command("serve")
def docs_serve(
    port: Annotated[
        int, typer.Option(metavar="N", help="On this port of the loopback interface; 0: any that is free.")
    ] = 8000,
) -> None:
    """Show the site on http://127.0.0.1, and again what each change concerns, until Ctrl-C. Needs the extra docs.

    A page in the browser loads again when it differs. After a change of a schema, changelogs, migration guides, the single-file pages and
    versions that extend the one that changed follow some seconds later.
    """
    from acpgen import site

    with _faults_end_with_2():
        _here()
        site.serve(lambda: config.find(_here()), port, terminal.say, terminal.show_faults)


def _run(work: Work, *, check: bool = False) -> Outcome:
    """Make the outputs, or with `check` look at them, and say what came of it."""
    from acpgen import project

    with terminal.progress() as progress:
        outcome = project.run(work, check=check, progress=progress)
    counted = config.by_position(work.names)
    if counted:
        entries = "1 entry names" if counted == 1 else f"{counted} entries name"
        terminal.say(f"{work.names_at}: {entries} by position. Look at them again when the schema has changed.")
    if not check:
        terminal.show_outcome(outcome)
    elif outcome.is_drift:
        terminal.show_difference(outcome)
    else:
        terminal.say("Every output is what the schema makes.")
    terminal.show_notes(outcome)
    terminal.show_methods(outcome)
    terminal.show_gaps(outcome)
    return outcome


def _watch(work: Callable[[], Work], inputs: Callable[[], list[Path]]) -> None:
    """Make the outputs now and after every change; faults are shown and waited out, but for those of the first look."""
    from acpgen.watch import rounds

    work()
    with contextlib.suppress(KeyboardInterrupt):
        for _ in rounds(inputs):
            try:
                with account():
                    _run(work())
            except Faults as faults:
                terminal.show_faults(faults)
            terminal.say("Watching for changes. Ctrl-C ends this.")


def _for_schema(
    schema: Path,
    package: str,
    targets: Sequence[str],
    out: Path | None,
    names: Path | None,
    keep_unknown: bool,
    references: References,
    methods: str | None,
    kept: Kept,
    option: Sequence[str],
) -> Work:
    from acpgen import project

    if option and len(targets) > 1:
        raise typer.BadParameter("--option belongs to one target: name one by --target.")
    options: dict[str, object] = {name: value for name, _, value in (each.partition("=") for each in option)}
    if len(options) < len(option) or not all("=" in each for each in option):
        raise typer.BadParameter("--option must be NAME=VALUE, each name once.")

    if out is None:
        raise typer.BadParameter("--schema needs --out DIR, a new folder or one that acpgen wrote.")
    if package and not config.is_package(package):
        raise typer.BadParameter("--package must be a name that can be imported, such as acme.v1.")
    if "python" in targets and not package:
        raise typer.BadParameter("the target python needs --package NAME, such as acme.v1.")
    if os.path.isdir(schema) and Path(os.path.realpath(out)).is_relative_to(os.path.realpath(schema)):
        raise typer.BadParameter("--out must not lie in the schema folder.")
    profile = None if methods is None else config.find_profile(methods)
    return project.single(
        schema,
        package,
        targets,
        out,
        names,
        keep_unknown=keep_unknown,
        references=references,
        methods=profile,
        kept=kept,
        options=options,
    )


def _kept(no_cache: bool) -> Kept:
    """Where results of earlier runs lie: in the cache of the user, or nowhere."""
    from acpgen.kept import NOTHING, user_cache

    return NOTHING if no_cache else user_cache()


def _format(name: str, known: Mapping[str, Callable[[T], str]]) -> Callable[[T], str]:
    if name not in known:
        raise typer.BadParameter(f"--format is one of {', '.join(known)}.")
    return known[name]


def _require_schema_for(options: Mapping[str, object]) -> None:
    for option, value in options.items():
        if value:
            raise typer.BadParameter(f"{option} needs --schema FILE.")


@contextlib.contextmanager
def _faults_end_with_2() -> Generator[None]:
    try:
        yield
    except Faults as faults:
        terminal.show_faults(faults)
        raise typer.Exit(2) from None
