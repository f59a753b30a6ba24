"""External targets: any failure of one becomes a fault with its name, and its output is checked."""

from __future__ import annotations

import copy
import os
import signal
import sys
import threading
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from importlib.metadata import EntryPoint
from typing import Final, cast

from acpgen import ir
from acpgen.bundle.bundle import Bundle
from acpgen.errors import Faults, make_printable, show
from acpgen.files import is_file
from acpgen.targets.faults import TARGET_FAILED
from acpgen.targets.interface import Render, Settings, Target
from acpgen.targets.options import find_misdeclared

GROUP: Final = "acpgen.targets"
"""The group of entry points."""

SECONDS: Final = 120.0
"""The default time limit of a target for one protocol, in seconds; `ACPGEN_TARGET_SECONDS` overrides it."""


def make_failure(at: str, name: str, reason: str) -> Faults:
    """The fault of a target that failed."""
    return Faults([TARGET_FAILED(at=at, name=name, reason=make_printable(reason.rstrip(".")))])


def load_package_target(entry: EntryPoint) -> Target:
    """Load the target of an entry point. Raises `Faults` if it cannot be loaded or is not a target."""
    try:
        loaded: object = entry.load()
    except (Exception, SystemExit) as error:
        raise make_failure(entry.value, entry.name, _describe_reason(error)) from error
    target = loaded if isinstance(loaded, Target) else Target(cast("Render", loaded)) if callable(loaded) else None
    if target is None:
        raise make_failure(entry.value, entry.name, "it is neither an acpgen.plugins.Target nor a function")
    wrong = find_misdeclared(target.options)
    if wrong:
        raise make_failure(entry.value, entry.name, wrong)
    return replace(target, render=_guard(entry, target.render), origin="package", at=entry.value)


def _guard(entry: EntryPoint, function: Render) -> Render:
    def render(protocol: ir.Protocol, bundle: Bundle, settings: Settings) -> Mapping[str, str]:
        try:
            with limit_time():
                files: object = function(copy.deepcopy(protocol), copy.deepcopy(bundle), settings)
                return check_files(files, entry.value, entry.name)
        except (Faults, KeyboardInterrupt):
            raise
        except BaseException as error:  # code of others may raise anything, and none of it is a bug of ours
            raise make_failure(entry.value, entry.name, _describe_reason(error)) from error

    return render


class _OutOfTime(BaseException):
    """Raised inside a target on timeout; its own `except Exception` does not catch it."""


def get_time_limit() -> float:
    """The time limit of a target for one protocol, in seconds."""
    try:
        limit = float(os.environ.get("ACPGEN_TARGET_SECONDS", ""))
    except ValueError:
        return SECONDS
    return limit if 0 < limit < 1_000_000 else SECONDS


def describe_timeout() -> str:
    """The reason of a failure by timeout."""
    return f"it did not answer within {get_time_limit():g} seconds (ACPGEN_TARGET_SECONDS says how long one may take)"


@contextmanager
def limit_time() -> Generator[None]:
    """Interrupt code that exceeds the time limit of a target. Has an effect only in the main thread, and not on Windows."""
    if sys.platform == "win32" or threading.current_thread() is not threading.main_thread():
        yield
        return

    def end(number: int, frame: object) -> None:  # noqa: ARG001
        raise _OutOfTime(describe_timeout())

    before = signal.signal(signal.SIGALRM, end)
    signal.setitimer(signal.ITIMER_REAL, get_time_limit(), 1)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def _describe_reason(error: BaseException) -> str:
    if isinstance(error, _OutOfTime):
        return str(error)
    try:
        return f"{type(error).__name__}: {error}".rstrip(": ")
    except Exception:  # noqa: BLE001 - its text is code of others too
        return type(error).__name__


def check_files(output: object, at: str, name: str) -> Mapping[str, str]:
    """Check that the output of a target is files with valid paths and texts, and return them. Raises `Faults`."""
    if not isinstance(output, Mapping):
        raise make_failure(at, name, "it did not return a mapping from relative paths, with '/', to strings")
    files: dict[str, str] = {}
    for path, text in cast("Mapping[object, object]", output).items():
        if not isinstance(path, str) or not isinstance(text, str):
            raise make_failure(at, name, "it did not return a mapping from relative paths, with '/', to strings")
        if not is_file(path, text):
            reason = "a text that is not Unicode" if is_file(path, "") else "a path that no output can have"
            advice = (
                "" if is_file(path, "") else "; a path is relative, with '/', of ASCII letters, digits and _ . @ + -"
            )
            raise make_failure(at, name, f"it made the file {show(path)}, {reason}{advice}")
        files[path] = text
    if not files:
        raise make_failure(at, name, "it made no file. A target that cannot use a protocol must refuse it")
    _require_apart(files, at, name)
    return files


def _require_apart(files: Mapping[str, str], at: str, name: str) -> None:
    """Raise `Faults` for paths that differ only in case, and for files in the place of a folder."""
    folded: dict[str, str] = {}
    for path in files:
        first_path = folded.setdefault(path.casefold(), path)
        if first_path != path:
            raise make_failure(
                at,
                name,
                f"it made the files {show(first_path)} and {show(path)}, which are the same file on some systems",
            )
    for path in files:
        steps = path.casefold().split("/")
        for length in range(1, len(steps)):
            if (parent := "/".join(steps[:length])) in folded:
                raise make_failure(
                    at, name, f"it made {show(folded[parent])}, in whose place {show(path)} needs a folder"
                )
