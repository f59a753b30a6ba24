"""Lookup of protocols by name: those of the project around the current folder, and those that come with acpgen."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from acpgen import config, resources
from acpgen.config.docs_inputs import INDEX, RELEASES, RESERVED, is_docs_input
from acpgen.errors import Fault, Faults, suggest_name
from acpgen.input.faults import NOT_FOUND, UNKNOWN_NAME


def find(name: str) -> Path | None:
    """The folder or file of a protocol, such as `acp/v1`; `None` if there is no protocol `name`.

    A protocol of the project takes precedence over an existing file or folder of that name, and that over a protocol that comes with
    acpgen.
    """
    if not config.is_protocol(name) or name.partition("/")[0] in RESERVED:
        return None
    project, canonical = find_project_folder(), resources.locate_schema()
    if project is not None and _is_schema(project / name):
        return project / name
    return canonical / name if not os.path.exists(name) and _is_schema(canonical / name) else None


def locate(path: Path) -> Path:
    """The location of a named protocol, or the path itself. Raises `Faults` if it has the form of a protocol name, but does not exist."""
    name = path.as_posix()
    folder = find(name)
    if folder is None and not os.path.exists(name) and (fault := report_unknown(name)).kind == UNKNOWN_NAME:
        raise Faults([fault])
    return folder or path


def report_unknown(text: str) -> Fault:
    """The fault for a text that is no file, folder or protocol; if it has the form of a protocol name, it suggests existing ones."""
    if not config.is_protocol(text) or Path(text).suffix:
        return NOT_FOUND(at=text)
    return UNKNOWN_NAME(at=text, kind="file, folder or protocol", name=text, hint=suggest_name(text, list_names()))


def is_canonical(name: str) -> bool:
    """Whether a name resolves to a protocol that comes with acpgen, and not to one of the project."""
    folder = find(name)
    return (
        folder is not None
        and folder.is_relative_to(resources.locate_schema())
        and resources.locate_schema() != find_project_folder()
    )


def list_names() -> Iterator[str]:
    """The names of all protocols, those of the project first."""
    return iter(dict.fromkeys(name for folder in list_folders() for name in list_names_in(folder)))


def list_names_in(folder: Path) -> Iterator[str]:
    """The names of the protocols in a schema folder."""
    names = dict.fromkeys(path.parent.relative_to(folder).as_posix() for path in sorted(folder.rglob("*.json")))
    return (name for name in names if name != "." and not is_docs_input(f"{name}/"))


def list_folders() -> tuple[Path, ...]:
    """The schema folders: the project's, if there is one, and acpgen's."""
    project, canonical = find_project_folder(), resources.locate_schema()
    return (canonical,) if project is None else (project, canonical)


def with_releases(name: str) -> Path | None:
    """The schema folder that holds releases of a protocol; `None` if there is none."""
    if not config.is_protocol(name):
        return None
    return next((folder for folder in list_folders() if os.path.exists(folder / RELEASES / name / INDEX)), None)


def find_project_folder() -> Path | None:
    """The schema folder of the project around the current folder; `None` without a project, or if its settings cannot be read."""
    try:
        project = config.find(Path.cwd())
    except (Faults, OSError):
        return None
    return project.schema_folder


def _is_schema(place: Path) -> bool:
    return any(name.endswith(".json") for name in os.listdir(place)) if os.path.isdir(place) else os.path.exists(place)
