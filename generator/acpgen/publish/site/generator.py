"""The site generator: Zensical, a separate program. It reads plain Markdown and a `mkdocs.yml`, so another generator can replace it.

It runs once to build a whole site, or keeps running while a site is edited and then rebuilds only the pages that change.
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
"""The version that the site is tested with, and the oldest supported version."""

BELOW: Final = "0.2"
"""The first version that is no longer supported; the extra `docs` has the same range."""

LONGEST_BUILD: Final = 600
CONFIGURATION: Final = "mkdocs.yml"
BUILT: Final = "site"
"""The configuration file that the generator reads in its folder, and the folder of its output."""

_GRACE: Final = 5.0
"""The number of seconds that the generator has to end when it is asked to."""

_COLOUR: Final = re.compile(r"\x1b\[[0-9;]*m")
_END: Final = re.compile(r"(No|\d+) issues? found")
"""The line that ends each build while the generator keeps running."""

_OWN: Final = re.compile(r"Serving .*|Build started|Build finished.*|")
"""Other lines of the generator that report no issue."""


def require_generator() -> str:
    """The version of the site generator. Raises `Faults` if it is missing or unsupported."""
    try:
        installed_version = version("zensical")
    except PackageNotFoundError:
        installed_version = "none"
    if not _split_version(ZENSICAL) <= _split_version(installed_version) < _split_version(BELOW):
        reason = f"it is built with zensical from {ZENSICAL} on and below {BELOW}, and {installed_version} is installed"
        raise Faults(
            [SITE_NOT_BUILT(at="zensical", reason=reason, remedy="Install the extra: pip install 'acpgen[docs]'")]
        )
    return installed_version


def warn_untested(installed_version: str) -> str:
    """The warning about an untested version of the site generator; empty for the tested version."""
    if installed_version == ZENSICAL:
        return ""
    return f"zensical {installed_version} is installed, and the site was tested with {ZENSICAL}: look at its pages and its search."


def _split_version(text: str) -> tuple[int, ...]:
    return tuple(map(int, re.findall(r"\d+", text)[:3]))


def build_site(folder: Path) -> None:
    """Build the site once. Raises `Faults`: a warning, such as a broken link, is a failure."""
    try:
        process = subprocess.run(  # noqa: S603 - this interpreter, with a module and a path of our own
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
    if process.returncode != 0 or not (folder / BUILT / "index.html").is_file():
        raise Faults([_make_fault(process.stdout + process.stderr, folder, process.returncode)])


@contextlib.contextmanager
def run_continuously(folder: Path, complain: Callable[[Faults], None]) -> Generator[Callable[[], bool]]:
    """Build the site, and rebuild changed pages until the context ends; yields a function that tells whether the generator is still
    running.

    Warnings of all builds are passed to `complain` as `Faults`. Raises `Faults` if the first build does not finish.
    """
    program = embedded.supervisor.start(
        _make_command(folder, "serve", "--dev-addr", "127.0.0.1:0"),
        cwd=folder,
        env=_make_environment(),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    )
    first_build = threading.Event()
    heard: list[str] = []
    hearing = threading.Thread(target=_read_output, args=(program, folder, heard, first_build, complain), daemon=True)
    hearing.start()
    try:
        if not first_build.wait(LONGEST_BUILD):
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
    first_build: threading.Event,
    complain: Callable[[Faults], None],
) -> None:
    """Read the generator's output until it ends; each build ends with a line that counts its issues."""
    assert program.stdout is not None
    with TextIOWrapper(BufferedReader(cast("FileIO", program.stdout)), "utf-8", "replace") as lines:
        for line in lines:
            plain = _COLOUR.sub("", line).strip()
            if _END.fullmatch(plain):
                if heard:
                    complain(Faults([_make_fault("".join(heard), folder, 0)]))
                heard.clear()
                first_build.set()
            elif not _OWN.fullmatch(plain):
                heard.append(line)
    program.wait(_GRACE)
    first_build.set()


def _make_command(folder: Path, *arguments: str) -> list[str]:
    return [sys.executable, "-P", "-m", "zensical", *arguments, "-f", str(folder / CONFIGURATION)]


def _make_environment() -> dict[str, str]:
    return {**os.environ, "NO_COLOR": "1"}


def _make_time_fault() -> Fault:
    reason = f"it took more than {LONGEST_BUILD} seconds"
    return SITE_NOT_BUILT(at="zensical", reason=reason, remedy="Try again when the machine has time")


def _make_fault(output: str, folder: Path, code: int | None) -> Fault:
    """The generator's output as a fault."""
    text, _, trace = _COLOUR.sub("", output).replace(f"{folder}{os.sep}", "").partition("Traceback")
    exception = trace.strip().rpartition("\n")[2]
    reason = " ".join(f"{text} {exception}".split()) or f"exit code {code}"
    return SITE_NOT_BUILT(at="zensical", reason=reason, remedy="Correct the page that it names")
