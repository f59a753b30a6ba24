"""Targets that are programs: `acpgen-target-NAME` on the search path is the target NAME, in any language.

It is run once to describe itself and once for each protocol of an output. It reads one JSON object from standard input and writes one to
standard output. Its standard error is shown to the user.

    {"acpgen": 1, "request": "describe"}
    → {"about": "Types for Kotlin.", "options": [{"name": "indent", "about": "Spaces.", "default": 4}]}

    {"acpgen": 1, "request": "generate", "ir": {…}, "schema": {…}, "settings": {"package": "…", "options": {"indent": 4}, …}}
    → {"files": {"Types.kt": "…"}}        or, for an unsupported protocol,        → {"errors": ["what is wrong, and what to do"]}
"""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, Final, cast

import msgspec

from acpgen import embedded, ir
from acpgen.bundle.bundle import Bundle
from acpgen.errors import Faults, make_printable, show
from acpgen.input.load import parse_json
from acpgen.input.numbers import dumps
from acpgen.meaning.interchange import dump
from acpgen.targets.faults import TARGET_REFUSED
from acpgen.targets.interface import Render, Settings, Target
from acpgen.targets.options import Option, find_misdeclared
from acpgen.targets.outside import check_files, describe_timeout, get_time_limit, make_failure

if TYPE_CHECKING:
    from jsonrpc_bindings.supervisor import Program

PREFIX: Final = "acpgen-target-"
VERSION: Final = 1
"""The version of this exchange format."""

MOST: Final = 256 * 1024 * 1024
"""The maximum size of a response in bytes."""


def find_programs() -> Mapping[str, str]:
    """The programs on the search path, by the name of the target. Relative folders of the search path are ignored."""
    paths: dict[str, str] = {}
    for folder in _list_folders():
        with contextlib.suppress(OSError):
            for entry in sorted(os.scandir(folder), key=lambda file: file.name):
                name = Path(entry.name).stem if sys.platform == "win32" else entry.name
                if name.startswith(PREFIX) and shutil.which(entry.path) is not None:
                    paths.setdefault(name.removeprefix(PREFIX), entry.path)
    return paths


def _list_folders() -> Iterator[str]:
    """Yield the folders of programs: that of this Python, then the search path."""
    yield str(Path(sys.executable).parent)
    yield from (folder for folder in os.environ.get("PATH", "").split(os.pathsep) if Path(folder).is_absolute())


def make_program_target(name: str, path: str) -> Target:
    """The target that a program provides. Raises `Faults` if it does not describe itself."""
    with contextlib.suppress(OSError):
        return _describe(name, path, Path(path).stat().st_mtime_ns)
    raise make_failure(path, name, "it no longer exists")


@cache
def _describe(name: str, path: str, mtime_ns: int) -> Target:  # noqa: ARG001 - asked again when the program has changed
    answer = _ask(name, path, {"acpgen": VERSION, "request": "describe"})
    try:
        described = msgspec.convert(answer, _Description)
    except (msgspec.ValidationError, AssertionError) as error:
        raise make_failure(path, name, f"its description has not the form of one: {error}") from None
    wrong = find_misdeclared(described.options)
    if wrong:
        raise make_failure(path, name, wrong)
    render, options = _render(name, path), described.options
    return Target(render, described.about, options, origin="program", at=path)


@dataclass(frozen=True, slots=True)
class _Description:
    """The description that a program gives of itself."""

    about: str = ""
    options: tuple[Option, ...] = ()


def _render(name: str, path: str) -> Render:
    def render(protocol: ir.Protocol, bundle: Bundle, settings: Settings) -> Mapping[str, str]:
        settings_fields = {
            "package": settings.package,
            "distribution": settings.distribution,
            "version": settings.version,
            "license": settings.license,
            "prefix": settings.prefix,
            "options": dict(settings.options),
        }
        request_members = {"ir": dump(protocol), "schema": bundle.schema, "settings": settings_fields}
        answer = _ask(name, path, {"acpgen": VERSION, "request": "generate", **request_members})
        errors = answer.get("errors")
        if isinstance(errors, list) and errors:
            reasons = [make_printable(str(reason)) for reason in cast("list[object]", errors)]
            raise Faults(TARGET_REFUSED(at=protocol.name, name=name, reason=reason.rstrip(".")) for reason in reasons)
        return check_files(answer.get("files"), path, name)

    return render


def _ask(name: str, path: str, question: Mapping[str, Any]) -> dict[str, Any]:
    """Send a request to a program and return the response. Raises `Faults`."""
    try:
        # The person has put this program among theirs.
        pipe = subprocess.PIPE
        program = embedded.supervisor.start([path], stdin=pipe, stdout=pipe, stderr=pipe, keep_errors=True)
    except OSError as error:
        raise make_failure(path, name, f"it could not be started: {error.strerror}") from None
    talk = _Talk(program, dumps(question).encode())
    try:
        is_over = talk.is_over(get_time_limit())
    finally:
        program.close()
    for line in program.errors.splitlines():
        sys.stderr.write(f"{make_printable(line)}\n")
    if not is_over:
        raise make_failure(path, name, describe_timeout())
    if talk.is_too_long:
        raise make_failure(path, name, f"its answer is longer than {MOST} bytes")
    if program.code:
        ending = f"signal {-program.code}" if program.code < 0 else f"exit code {program.code}"
        raise make_failure(path, name, f"it ended with {ending}")
    return _parse_answer(name, path, bytes(talk.answer))


def _parse_answer(name: str, path: str, output: bytes) -> dict[str, Any]:
    try:
        answer = parse_json(output.decode(), path)
    except UnicodeDecodeError:
        raise make_failure(path, name, "its answer is not UTF-8") from None
    except Faults as caught:
        raise make_failure(path, name, f"its answer is not JSON: {caught.faults[0].join_text()}") from None
    if not isinstance(answer, dict):
        raise make_failure(path, name, f"its answer is not an object: {show(str(answer))}")
    return cast("dict[str, Any]", answer)


class _Talk:
    """One exchange with a program, with a thread for each stream, so that none blocks another."""

    def __init__(self, program: Program, question: bytes) -> None:
        self.answer: bytearray = bytearray()
        self.is_too_long = False
        self.program = program
        stdin, stdout = program.stdin, program.stdout
        assert stdin is not None and stdout is not None
        jobs = ((self._tell, stdin, question), (self._hear, stdout))
        self.threads = [threading.Thread(target=job, args=arguments, daemon=True) for job, *arguments in jobs]
        for thread in self.threads:
            thread.start()

    def is_over(self, seconds: float) -> bool:
        """Wait until it has responded and ended, or the time is over."""
        if not self.program.wait(seconds):
            return self.is_too_long
        self.threads[1].join(seconds)
        return not self.threads[1].is_alive()

    def _tell(self, stream: IO[bytes], question: bytes) -> None:
        with contextlib.suppress(OSError), stream:  # a program need not read what it does not need
            stream.write(question)

    def _hear(self, stream: IO[bytes]) -> None:
        with contextlib.suppress(OSError, ValueError), stream:
            while part := os.read(stream.fileno(), 1 << 16):
                self.answer += part
                if len(self.answer) > MOST:
                    self.is_too_long = True
                    self.program.signal(getattr(signal, "SIGKILL", signal.SIGTERM))
                    return
