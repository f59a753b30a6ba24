"""The site generator: Zensical, a program of its own. It reads plain Markdown and a `mkdocs.yml`, so another one can take its place.

It is run once for a site that is built as a whole, or kept running for one that people write: then it makes only the pages that differ.
"""

from __future__ import annotations

import contextlib
import os
import re
import subprocess
import sys
import threading
from collections.abc import Callable, Generator
from importlib.metadata import PackageNotFoundError, version
from io import BufferedReader, FileIO, TextIOWrapper
from pathlib import Path
from typing import TYPE_CHECKING, Final, cast

from acpgen import embedded
from acpgen.errors import Fault, Faults
from acpgen.publish.faults import SITE_NOT_BUILT

if TYPE_CHECKING:
    from jsonrpc_bindings.supervisor import Program

ZENSICAL: Final = "0.0.73"
"""The version that the site is tested with, and the oldest that it is built with."""

BELOW: Final = "0.2"
"""From here on, versions are refused; the extra `docs` has the same range."""

LONGEST_BUILD: Final = 600
CONFIGURATION: Final = "mkdocs.yml"
BUILT: Final = "site"
"""What the generator reads in its folder, and where it puts the pages."""

_GRACE: Final = 5.0
"""Seconds that it has to end when it is asked to."""

_COLOUR: Final = re.compile(r"\x1b\[[0-9;]*m")
_END: Final = re.compile(r"(No|\d+) issues? found")
"""With this line it ends each build while it keeps running."""

_OWN: Final = re.compile(r"Serving .*|Build started|Build finished.*|")
"""Its other lines that tell of no issue."""


def require_generator() -> str:
    """The version of the site generator. Raises `Faults` where it is missing, or none that this was made for."""
    try:
        found = version("zensical")
    except PackageNotFoundError:
        found = "none"
    if not _split_version(ZENSICAL) <= _split_version(found) < _split_version(BELOW):
        reason = f"it is built with zensical from {ZENSICAL} on and below {BELOW}, and {found} is installed"
        raise Faults(
            [SITE_NOT_BUILT(at="zensical", reason=reason, remedy="Install the extra: pip install 'acpgen[docs]'")]
        )
    return found


def warn_untested(found: str) -> str:
    """What is to be said of a version that the site was not tested with; empty of the one that it was."""
    if found == ZENSICAL:
        return ""
    return f"zensical {found} is installed, and the site was tested with {ZENSICAL}: look at its pages and its search."


def _split_version(text: str) -> tuple[int, ...]:
    return tuple(map(int, re.findall(r"\d+", text)[:3]))


def build_site(folder: Path) -> None:
    """Build the site once. Raises `Faults`: a warning, such as a link that leads nowhere, is a failure."""
    try:
        done = subprocess.run(  # noqa: S603 - this interpreter, with a module and a path of our own
            _make_command(folder, "build", "--strict"),
            cwd=folder,
            env=_make_environment(),
            capture_output=True,
            encoding="utf-8",
            errors="replace",
            timeout=LONGEST_BUILD,
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise Faults([_make_time_fault()]) from None
    if done.returncode != 0 or not (folder / BUILT / "index.html").is_file():
        raise Faults([_make_fault(done.stdout + done.stderr, folder, done.returncode)])


@contextlib.contextmanager
def run_continuously(folder: Path, complain: Callable[[Faults], None]) -> Generator[Callable[[], bool]]:
    """Build the site, and again whatever page differs, until this is closed; yields what says whether the generator still runs.

    What it warns of is told as `Faults`, of later builds too. Raises `Faults` where the first build does not come to an end.
    """
    program = embedded.supervisor.start(
        _make_command(folder, "serve", "--dev-addr", "127.0.0.1:0"),
        cwd=folder,
        env=_make_environment(),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    )
    built = threading.Event()
    heard: list[str] = []
    hearing = threading.Thread(target=_read_output, args=(program, folder, heard, built, complain), daemon=True)
    hearing.start()
    try:
        if not built.wait(LONGEST_BUILD):
            raise Faults([_make_time_fault()])
        if program.has_ended:
            raise Faults([_make_fault("".join(heard), folder, program.code)])
        yield lambda: not program.has_ended
    finally:
        program.end(_GRACE)
        hearing.join()


def _read_output(
    program: Program,
    folder: Path,
    heard: list[str],
    built: threading.Event,
    complain: Callable[[Faults], None],
) -> None:
    """Read what the generator says, until it ends; each build ends with a line that counts its issues."""
    assert program.stdout is not None
    with TextIOWrapper(BufferedReader(cast("FileIO", program.stdout)), "utf-8", "replace") as lines:
        for line in lines:
            plain = _COLOUR.sub("", line).strip()
            if _END.fullmatch(plain):
                if heard:
                    complain(Faults([_make_fault("".join(heard), folder, 0)]))
                heard.clear()
                built.set()
            elif not _OWN.fullmatch(plain):
                heard.append(line)
    program.wait(_GRACE)
    built.set()


def _make_command(folder: Path, *asked: str) -> list[str]:
    return [sys.executable, "-P", "-m", "zensical", *asked, "-f", str(folder / CONFIGURATION)]


def _make_environment() -> dict[str, str]:
    return {**os.environ, "NO_COLOR": "1"}


def _make_time_fault() -> Fault:
    reason = f"it took more than {LONGEST_BUILD} seconds"
    return SITE_NOT_BUILT(at="zensical", reason=reason, remedy="Try again when the machine has time")


def _make_fault(output: str, folder: Path, code: int | None) -> Fault:
    """What the generator said, as a fault."""
    said, _, trace = _COLOUR.sub("", output).replace(f"{folder}{os.sep}", "").partition("Traceback")
    last = trace.strip().rpartition("\n")[2]
    reason = " ".join(f"{said} {last}".split()) or f"exit code {code}"
    return SITE_NOT_BUILT(at="zensical", reason=reason, remedy="Correct the page that it names")
