"""Run the cases in order, each on a connection in the right state; a program that has ended is started again."""

from __future__ import annotations

import shutil
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random
from socket import socket
from typing import TYPE_CHECKING, Any, Final

from acpgen.input.walk import is_object
from acpgen.messages import validators
from acpgen.probe import registry
from acpgen.probe.case_context import Handshake, SkipCase, Trial
from acpgen.probe.child import Child, make_environment
from acpgen.probe.clauses import CLAUSES
from acpgen.probe.client_peer import CAPABILITIES, Client
from acpgen.probe.conformance import Conformance, ProbeFinding, SkippedCase
from acpgen.probe.connection import Clock, Connection, TimeIsUp
from acpgen.probe.monitor_findings import list_breaches, list_unjudged, merge
from acpgen.probe.registry import ProbeCase

if TYPE_CHECKING:
    from jsonrpc_bindings.strict import Strict

VERSIONS: Final = (1, 2)
STARTS: Final = 4.0
"""The factor by which the first answer may take longer, while the program starts."""


@dataclass(frozen=True, slots=True)
class ProbeOptions:
    """The settings of a probe. `seconds` limits one answer, `total` the whole probe; `versions` are those to test."""

    command: tuple[str, ...]
    seed: int
    seconds: float = 5.0
    total: float = 100.0
    cases: tuple[str, ...] = ()
    versions: tuple[int, ...] = VERSIONS
    variables: tuple[str, ...] = ()
    keep_home: bool = False
    is_strict: bool = False


def run(settings: ProbeOptions, kind: type[Probing] | None = None) -> Conformance:
    """Run all cases against an agent, or against what `kind` tests. Raises `Faults` if the command does not start."""
    began = time.monotonic()
    kind = kind or Probing
    options = (
        *(f"--env {name.partition('=')[0]}" for name in settings.variables),
        *(["--keep-home"] if settings.keep_home else []),
    )
    report = Conformance(settings.command, kind.side, settings.seed, options=options, is_strict=settings.is_strict)
    scratch = Path(tempfile.mkdtemp(prefix="acpgen-probe-")).resolve()
    try:
        for name in ("home", "tmp", "work", "more", "unused"):
            (scratch / name).mkdir()
        (scratch / "work" / "notes.txt").write_text("tide\nebb\nflow\n", "utf-8")
        state = kind(settings, report, scratch, began)
        try:
            state.run_all()
        finally:
            state.close()
    finally:
        shutil.rmtree(scratch, ignore_errors=True)
    report.seconds = time.monotonic() - began
    return report


class Probing:
    """The state of a probe: open connections, knowledge about the program, findings."""

    side = "agent"

    def __init__(self, settings: ProbeOptions, report: Conformance, scratch: Path, began: float) -> None:
        self.options, self.report, self.scratch = settings, report, scratch
        self.strict: list[Strict] = validators.read_versions([f"acp/v{version}" for version in VERSIONS])
        self.clock = Clock(settings.seconds, STARTS * settings.seconds, began + settings.total)
        self.open: dict[int, Handshake] = {}
        self.memories: dict[int, dict[str, Any]] = {}
        self.handshakes: dict[str, Handshake] = {}
        self.closed: set[int] = set()
        self.findings: list[ProbeFinding] = []
        self.current = ""
        self.memory: dict[str, Any] = {}
        """What is known of the program, whatever the connection."""

    def run_all(self) -> None:
        """Run every selected case."""
        table = registry.load()
        names = {
            registry.name_case(case, version): (case, version)
            for version in self.options.versions
            for case in table.values()
            if self.side in case.sides and (version in case.versions or case.start == "program")
        }
        usual = {name for name, (case, _) in names.items() if not case.is_extra}
        selection = registry.select_cases(self.options.cases, names) if self.options.cases else usual
        is_over = False
        for name, (case, version) in names.items():
            if name not in selection:
                continue
            if is_over:
                self._skip(name, f"the time limit of the whole probe, {self.options.total:g} s, was reached")
                continue
            try:
                self.clock.limit_seconds(0)
                self._run_case(name, case, version)
                self.report.reached.append(name)
            except SkipCase as reason:
                self._skip(name, str(reason))
            except TimeIsUp:
                is_over = True
                self._skip(name, f"the time limit of the whole probe, {self.options.total:g} s, was reached")

    def _skip(self, name: str, reason: str) -> None:
        if any(finding.case == name for finding in self.findings):
            self.report.reached.append(name)
        else:
            self.report.not_reached.append(SkippedCase(name, reason))

    def _run_case(self, name: str, case: ProbeCase, version: int) -> None:
        self.current = name
        random = Random(f"{self.options.seed} {name}")  # noqa: S311 - drawn again from the seed that the report tells
        trial = Trial(
            *(case, name, version, random, self.scratch / "work", self.initialize, self.findings.append),
            start_run=lambda: self._initialize(version),
            bare=lambda: self._initialize(f"bare {version}"),
            end=lambda handshake: self._end(handshake.connection),
        )
        if case.start == "program":
            case.run(trial)
            return
        handshake = self._connect_version(version)
        trial.handshake, trial.memory = handshake, self.memories[version]
        handshake.connection.case = name
        if case.start == "session":
            trial.require_session()
        try:
            case.run(trial)
        finally:
            handshake.connection.case = name
            if handshake.connection.is_over or trial.is_lost:
                self._drop(version)

    def _connect_version(self, version: int) -> Handshake:
        """The connection on which cases of a version share what they can. Raises `SkipCase` where it is not spoken."""
        shared = self.open.get(version)
        if shared is not None and shared.connection.is_over:
            self._drop(version)
            shared = None
        if shared is not None:
            return shared
        first = self.initialize(version)
        if first.version != version:
            from acpgen.probe.cases.initialization import describe_unspoken

            raise SkipCase(describe_unspoken(first, version))
        if id(first.connection) in self.closed:
            first = self._initialize(version)
            if first.version != version:
                raise SkipCase("the agent could not be started again")
        before = self.memories.get(version, {})
        self.open[version] = first
        self.memories[version] = {name: before[name] for name in ("ping",) if name in before}
        return first

    def _learn(self, handshake: Handshake) -> None:
        """Note which version is spoken, and by which program."""
        version = handshake.version
        if version != handshake.variant or version not in VERSIONS or version in self.report.versions:
            return
        field = "agentInfo" if version == 1 else "info"
        self.note_program(version, None if handshake.answer is None else handshake.answer.reach("result", field))

    def note_program(self, version: int, info: Any) -> None:
        """Report a spoken version and the name of the program."""
        if version not in self.report.versions:
            self.report.versions = (*self.report.versions, version)
        if is_object(info):
            self.report.program = {key: info[key] for key in ("name", "version") if isinstance(info.get(key), str)}

    # --- connections ---

    def initialize(self, variant: Any) -> Handshake:
        """The outcome of `initialize` with this version; cached. Connections that no case shares are closed at once."""
        key = repr(variant)
        if key not in self.handshakes:
            outcome = self.handshakes[key] = self._initialize(variant)
            self._learn(outcome)
            if (
                not (variant in VERSIONS and type(variant) is int and outcome.version == variant)
                and outcome.answer is not None
            ):
                self._end(outcome.connection)
        return self.handshakes[key]

    def _initialize(self, variant: Any) -> Handshake:
        """Start the program and send `initialize`: with a version, or in one of the named ways."""
        client = Client(self.scratch / "work", serves=not str(variant).startswith("bare"))
        connection = self._connect(self.options.command, client, None)
        # Two documents differ in what becomes of a version that is too old: the case alone says what is expected.
        connection.is_judged = variant not in ("early", "all at once", 0)
        sent: set[str] = set()
        if variant in ("early", "all at once"):
            params: dict[str, Any] = {"cwd": str(self.scratch / "work"), "mcpServers": []}
            sent.add(connection.call("session/new", params, "early"))
        if variant == "all at once":
            sent.add(connection.call("initialize", make_initialize_params({"major": 1}), "malformed"))
        id_ = connection.call("initialize", make_initialize_params(variant))
        index = len(connection.rows) - 1
        try:
            answer = connection.answer(id_, self.clock.start)
            for early in ("early", "malformed"):
                if early in sent and answer is not None:
                    connection.answer(early, self.clock.start)
        except TimeIsUp:
            self._end(connection)
            raise
        if answer is None:
            connection.silence = _describe_silence(connection)
        return Handshake(connection, client, variant, id_, answer, index)

    def _connect(
        self, command: Sequence[str], answerer: Callable[[str, Any], Any], join: Callable[[], socket] | None
    ) -> Connection:
        """Start a program and connect to it, over the socket of `join` or its standard streams."""
        variables = make_environment(self.scratch, self.options.variables, keep_home=self.options.keep_home)
        sides = ("agent", "client") if self.side == "client" else ("client", "agent")
        monitor = validators.make_monitor(self.strict)
        connection = Connection(Child(command, variables, join), monitor, self.clock, answerer, *sides)
        connection.case = self.current
        return connection

    def _drop(self, version: int) -> None:
        self._end(self.open[version].connection)
        del self.open[version]

    def _end(self, connection: Connection) -> None:
        """Close a connection, and collect its violations."""
        if id(connection) in self.closed:
            return
        self.closed.add(id(connection))
        was_over = connection.is_over
        is_shared = any(connection is handshake.connection for handshake in self.open.values())
        is_asked = is_shared and self.side == "agent" and not was_over and time.monotonic() < self.clock.until
        ended = connection.close(2.0 if is_asked else 0.05)
        if not self.report.errors and connection.child.errors:
            self.report.errors = connection.child.errors
        self.findings += list_breaches(connection) if connection.is_judged else ()
        if is_shared:
            self.report.not_reached += list_unjudged(connection)
        if is_asked and not ended and connection.is_idle:
            self.findings.append(
                ProbeFinding(
                    rule="transports/end-of-input",
                    case=connection.case,
                    clause=CLAUSES["ends"],
                    level="note",
                    message="the program did not end after its standard input was closed, and was killed",
                    transcript=connection.cut_excerpt(),
                    sent=b"",
                )
            )

    def close(self) -> None:
        """Close all connections, and finish the report."""
        for handshake in [*self.handshakes.values(), *self.open.values()]:
            self._end(handshake.connection)
        self.report.findings = merge(self.findings)
        unique = dict.fromkeys((skip.case, skip.reason) for skip in self.report.not_reached)
        self.report.not_reached = [SkippedCase(*key) for key in unique]


def _describe_silence(connection: Connection) -> str:
    """Why `initialize` has no answer."""
    if not connection.is_over:
        has_output = any(row.sender == connection.program_side for row in connection.rows)
        action = "sent output, but no answer," if has_output else "sent nothing"
        return f"the program {action} within {connection.clock.start:g} s of `initialize`"
    return f"the program {connection.child.describe_end()} before it answered `initialize`"


def make_initialize_params(variant: Any) -> dict[str, Any]:
    """The params of `initialize` for a version, or in one of the named ways."""
    version = variant if not isinstance(variant, str) else 2 if variant == "bare 2" else 1
    info = {"name": "acpgen-probe", "title": "acpgen probe", "version": _get_version()}
    if variant == "bare 2":
        return {"protocolVersion": 2, "info": info, "capabilities": {}}
    if version == 2 or version == 65535:
        v1_fields = {"clientInfo": info, "clientCapabilities": CAPABILITIES[1]} if version == 65535 else {}
        return {"protocolVersion": version, "info": info, "capabilities": CAPABILITIES[2], **v1_fields}
    capabilities: dict[str, Any] = {} if variant == "bare 1" else {**CAPABILITIES[1]}
    params: dict[str, Any] = {"protocolVersion": version, "clientCapabilities": capabilities, "clientInfo": info}
    if variant in ("capability", "all at once"):
        capabilities["acpgenProbe"] = {"tide": True}
    if variant == "registry":
        capabilities |= {"auth": {"terminal": True}, "_meta": {"terminal-auth": True}}
    if variant in ("meta", "all at once"):
        params["_meta"] = {"acpgen.dev/probe": {"tide": [1, None]}}
        capabilities["_meta"] = {"acpgen.dev/probe": True}
    return params


def _get_version() -> str:
    from acpgen import __version__

    return __version__
