"""The Python sources of a project whose docstrings make the API reference of its site."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from acpgen.errors import Faults
from acpgen.input.load import decode, place, read_bytes
from acpgen.site.faults import SITE_NOT_BUILT

if TYPE_CHECKING:
    from acpgen.publish.reference import PythonSource


def read(root: Path, named: Sequence[str]) -> list[PythonSource]:
    """The modules in these files and folders, each once, by name. Raises `Faults`."""
    from acpgen.publish.reference import PythonSource

    found: dict[str, PythonSource] = {}
    for each in named:
        files = [*_files(root / each)]
        if not files:
            reason, remedy = "no Python is there", "Correct [tool.acpgen.site] python, or generate it first"
            raise Faults([SITE_NOT_BUILT(at=place(root / each), reason=reason, remedy=remedy)])
        for file in files:
            name, is_package = _name(file), file.name == "__init__.py"
            at = file.relative_to(root).as_posix()
            text, is_named = decode(read_bytes(file), place(file)), file == root / each
            found.setdefault(name, PythonSource(name, at, text, is_package, is_named))
    return [found[name] for name in sorted(found)]


def _files(path: Path) -> Iterator[Path]:
    if path.is_dir():
        yield from sorted(each for each in path.rglob("*.py") if each.is_file())
    elif path.is_file() and path.suffix == ".py":
        yield path


def _name(file: Path) -> str:
    """The dotted name by which a file is imported: folders above it are packages as long as they hold `__init__.py`."""
    parts = [] if file.name == "__init__.py" else [file.stem]
    folder = file.parent
    while (folder / "__init__.py").is_file() and folder != folder.parent:
        parts.insert(0, folder.name)
        folder = folder.parent
    return ".".join(parts)
