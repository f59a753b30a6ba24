"""The command `lint`."""

from __future__ import annotations

import os
from pathlib import Path

from acpgen.commands.output import finish, report_destinations
from acpgen.commands.shared_options import find_current_folder


def lint(
    path: list[Path] | None = None,
    *,
    ref: list[str] | None = None,
    format_: str | None = None,
    output: list[str] | None = None,
) -> None:
    """Check schema files: JSON Schema, the dialect, house rules.

    As text, each finding is on one line.

    [tool.acpgen.lint] of pyproject.toml makes a rule a warning or turns it off: description-missing = "warning".

    Arguments:
        PATH: Schema folders or files, or names of protocols, such as acp/v1. Default: every protocol in the project's schema folder.

    Exit codes:
        0: No error was found.
        1: An error was found.
        2: The input cannot be used.
    """
    from acpgen import config
    from acpgen.config import protocols
    from acpgen.input.load import display_path
    from acpgen.lint import Finding, lint_paths, require_rules
    from acpgen.lint.lint_report import make_report

    paths = [protocols.locate(name) for name in path or ()] or [config.find(find_current_folder()).schema_folder]
    destinations = report_destinations(output, format_, [*paths, *(file for root in paths for file in root.rglob("*"))])
    projects = {root: project_around for root in paths if (project_around := config.find_config(root)) is not None}
    folders = {project_around.schema_folder for project_around in projects.values()}
    for project_around in projects.values():
        require_rules(project_around.lint, display_path(project_around.file))
    levels: dict[Finding, config.Level] = {}
    for root in paths:
        project = projects.get(root)
        for finding in lint_paths([root], folders, config.read_references(ref or (), Path(os.path.realpath(root)))):
            levels[finding] = "error" if project is None else project.lint.get(finding.rule, "error")
    finish(make_report(levels, ", ".join(map(display_path, paths))), destinations)
