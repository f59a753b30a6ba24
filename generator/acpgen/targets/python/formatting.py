"""The formatting of generated Python: sorted imports, relative ones on request, then `ruff format`."""

from __future__ import annotations

import ast
import contextlib
import importlib
import json
import shutil
import subprocess
import tempfile
from collections.abc import Iterator, Mapping
from functools import lru_cache
from itertools import takewhile
from pathlib import Path

from acpgen.errors import Faults, make_printable
from acpgen.meaning.faults import UNSUPPORTED
from acpgen.targets.faults import TARGET_FAILED
from acpgen.targets.python.python_options import LINE, PYTHONS


def format_files(
    files: Mapping[str, str], line_length: int = LINE, python: str = PYTHONS[0], *, target: str = "python"
) -> dict[str, str]:
    """Format the Python modules with `ruff format` and `ruff check`; other files are unchanged.

    `python` is the oldest supported version, e.g. `3.11`. Settings of the folder or the user are ignored. Raises `Faults`, which name
    the target, if ruff fails: for invalid Python, for a line length outside of 1 to 320, or without enough memory.
    """
    modules = {path: text for path, text in files.items() if path.endswith(".py")}
    formatted_modules = _run(tuple(modules.items()), line_length, f"py{python.replace('.', '')}", target)
    return {**files, **dict(formatted_modules)}


def with_relative_imports(files: Mapping[str, str]) -> dict[str, str]:
    """Make the imports in all Python modules relative, as `relativize_imports` does."""
    return {path: relativize_imports(text, path) if path.endswith(".py") else text for path, text in files.items()}


def relativize_imports(source: str, path: str) -> str:
    """Make a module's imports from its own top-level package relative, so that every tool sorts them alike."""
    folders = path.split("/")[:-1]
    if not folders or f"from {folders[0]}" not in source:
        return source
    lines = source.splitlines(keepends=True)
    for node in _list_imports(source):
        if node.level or not node.module:
            continue
        parts = node.module.split(".")
        if parts[0] != folders[0]:
            continue
        common_length = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(parts, folders, strict=False)))
        relative_module = "." * (len(folders) - common_length + 1) + ".".join(parts[common_length:])
        lines[node.lineno - 1] = lines[node.lineno - 1].replace(f"from {node.module} ", f"from {relative_module} ", 1)
    return "".join(lines)


def _list_imports(source: str) -> Iterator[ast.ImportFrom]:
    """Yield every `from … import …` of a module at any depth, in line order. Expressions, nearly all of a module, are skipped."""
    pending: list[ast.AST] = [ast.parse(source)]
    while pending:
        node = pending.pop()
        if isinstance(node, ast.ImportFrom):
            yield node
        parts = ("body", "handlers", "orelse", "finalbody", "cases")
        pending += reversed(
            [child for part in parts for child in getattr(node, part, ()) if isinstance(child, ast.AST)]
        )


@lru_cache(maxsize=16)
def _run(
    modules: tuple[tuple[str, str], ...], line_length: int, version: str, target: str
) -> tuple[tuple[str, str], ...]:
    """Format modules with ruff, by path."""
    length = ["--config", f"line-length = {line_length}"]
    packages = sorted({path.partition("/")[0] for path, _ in modules if "/" in path})
    options = ["--isolated", "--no-cache", "--quiet", *length, "--target-version", version]
    sorting = ["--config", f"lint.isort.known-first-party = {json.dumps(packages)}"]
    with tempfile.TemporaryDirectory(prefix="acpgen-") as name:
        folder = Path(name)
        for path, text in modules:
            (folder / path).parent.mkdir(parents=True, exist_ok=True)
            (folder / path).write_text(text, "utf-8", newline="")
        for command in (["check", "--fix-only", "--select", "I001,RUF022", *sorting, *options], ["format", *options]):
            _call_ruff(command, folder, modules[0][0], target)
        return tuple((path, (folder / path).read_bytes().decode()) for path, _ in modules)


def find_ruff() -> str:
    """The path of ruff: that of this environment, or else on the search path. Raises `Faults` if there is none."""
    for module in ("ruff", "ruff.__main__"):  # before 0.14 the second alone says where it is
        with contextlib.suppress(ImportError, AttributeError, FileNotFoundError):
            return str(importlib.import_module(module).find_ruff_bin())
    ruff_path = shutil.which("ruff")
    if ruff_path is None:
        reason, remedy = "ruff lays it out, and is not installed", "Install it: pip install ruff"
        raise Faults([UNSUPPORTED(at="--target python", subject="Python", reason=reason, remedy=remedy)])
    return ruff_path


def _call_ruff(command: list[str], folder: Path, at: str, target: str) -> None:
    process = subprocess.run(  # noqa: S603 - ruff, on a folder of ours
        [find_ruff(), *command, "."], cwd=folder, capture_output=True, encoding="utf-8", check=False
    )
    if process.returncode != 0:
        message = next((line for line in process.stderr.splitlines() if line.strip()), "nothing was told")
        reason = f"ruff, which lays out its modules, ended with code {process.returncode}: {message}"
        raise Faults([TARGET_FAILED(at=at, name=target, reason=make_printable(reason.rstrip(".")))])
