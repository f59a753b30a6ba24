"""Faults of a project's configuration, and of the pages, releases and tables beside its schemas."""

from __future__ import annotations

from acpgen.errors import FaultKind

NO_CONFIGURATION = FaultKind(
    "no-configuration",
    "no pyproject.toml, in it or in a parent folder, has a table [tool.acpgen].",
    "Run this in a project, make one with 'acpgen init DIR', or, without a project, name files, or protocols "
    "such as acp/v1: acpgen lint FILE, acpgen diff OLD NEW, acpgen generate --schema FILE --package NAME "
    "--out DIR.",
)
NOT_TOML = FaultKind("not-toml", "this is not TOML: {reason}.", "Correct it here.")
UNKNOWN_KEY = FaultKind("unknown-key", "the key {key} is not known.", "{hint}")
BAD_PROJECT_FILE = FaultKind(
    "bad-project-file",
    "{reason}.",
    "{remedy}.",
    "A page, a release, a table or a baseline of the project is malformed; the error says what is wrong and what to do.",
)
