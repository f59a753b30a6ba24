"""The layout of generated Python: sorted imports, relative ones where that is asked for, then what `ruff format` makes of it."""

from __future__ import annotations

import contextlib
import importlib
import json
import shutil
import subprocess
import tempfile
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path

from acpgen.errors import Faults, printable
from acpgen.meaning.faults import UNSUPPORTED
from acpgen.targets.faults import TARGET_FAILED
from acpgen.targets.python.imports import imports_from
from acpgen.targets.python.python_options import LINE, PYTHONS


def format_files(
    files: Mapping[str, str], line_length: int = LINE, python: str = PYTHONS[0], *, target: str = "python"
) -> dict[str, str]:
    """The same files with their Python modules as `ruff format` and `ruff check` want them; others are left as they are.

    `python` is the oldest that the code is for, such as `3.11`. No settings of the folder or the user count. Raises `Faults`, which name
    the target, where ruff fails, as it does of text that is no Python, of lengths other than 1 to 320, and without enough memory.
    """
    modules = {path: text for path, text in files.items() if path.endswith(".py")}
    found = _run(tuple(modules.items()), line_length, f"py{python.replace('.', '')}", target)
    return {**files, **dict(found)}


def with_relative_imports(files: Mapping[str, str]) -> dict[str, str]:
    """The same files, their Python modules as `relative` makes them."""
    return {path: relative(text, path) if path.endswith(".py") else text for path, text in files.items()}


def relative(source: str, path: str) -> str:
    """The source of a module with its imports from its own top-level package made relative: every tool then sorts them alike."""
    folders = path.split("/")[:-1]
    if not folders or f"from {folders[0]}" not in source:
        return source
    lines = source.splitlines(keepends=True)
    for node in imports_from(source):
        if node.level or not node.module:
            continue
        parts = node.module.split(".")
        if parts[0] != folders[0]:
            continue
        shared = sum(1 for _ in _common(parts, folders))
        written = "." * (len(folders) - shared + 1) + ".".join(parts[shared:])
        lines[node.lineno - 1] = lines[node.lineno - 1].replace(f"from {node.module} ", f"from {written} ", 1)
    return "".join(lines)


def _common(one: list[str], other: list[str]) -> list[str]:
    """The parts that both begin with."""
    found: list[str] = []
    for left, right in zip(one, other, strict=False):
        if left != right:
            break
        found.append(left)
    return found


@lru_cache(maxsize=16)
def _run(
    modules: tuple[tuple[str, str], ...], line_length: int, version: str, target: str
) -> tuple[tuple[str, str], ...]:
    """Each module as ruff lays it out, by path."""
    length = ["--config", f"line-length = {line_length}"]
    own = sorted({path.partition("/")[0] for path, _ in modules if "/" in path})
    options = ["--isolated", "--no-cache", "--quiet", *length, "--target-version", version]
    sorting = ["--config", f"lint.isort.known-first-party = {json.dumps(own)}"]
    with tempfile.TemporaryDirectory(prefix="acpgen-") as name:
        folder = Path(name)
        for path, text in modules:
            (folder / path).parent.mkdir(parents=True, exist_ok=True)
            (folder / path).write_text(text, "utf-8", newline="")
        for command in (["check", "--fix-only", "--select", "I001,RUF022", *sorting, *options], ["format", *options]):
            _ruff(command, folder, modules[0][0], target)
        return tuple((path, (folder / path).read_bytes().decode()) for path, _ in modules)


def find_ruff() -> str:
    """The program ruff: that of this environment, else the one on the search path. Raises `Faults` where there is none."""
    for module in ("ruff", "ruff.__main__"):  # before 0.14 the second alone says where it is
        with contextlib.suppress(ImportError, AttributeError, FileNotFoundError):
            return str(importlib.import_module(module).find_ruff_bin())
    found = shutil.which("ruff")
    if found is None:
        reason, remedy = "ruff lays it out, and is not installed", "Install it: pip install ruff"
        raise Faults([UNSUPPORTED(at="--target python", subject="Python", reason=reason, remedy=remedy)])
    return found


def _ruff(command: list[str], folder: Path, at: str, target: str) -> None:
    done = subprocess.run(  # noqa: S603 - ruff, on a folder of ours
        [find_ruff(), *command, "."], cwd=folder, capture_output=True, encoding="utf-8", check=False
    )
    if done.returncode != 0:
        message = next((line for line in done.stderr.splitlines() if line.strip()), "nothing was told")
        reason = f"ruff, which lays out its modules, ended with code {done.returncode}: {message}"
        raise Faults([TARGET_FAILED(at=at, name=target, reason=printable(reason.rstrip(".")))])
