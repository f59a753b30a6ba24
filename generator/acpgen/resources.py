"""Where the files that belong to the generator and are no modules of it lie: in the wheel inside the package, in a checkout beside it."""

from __future__ import annotations

from pathlib import Path


def templates() -> Path:
    """The folder of templates, one folder for each target."""
    packaged = Path(__file__).with_name("templates")
    return packaged if packaged.is_dir() else Path(__file__).parents[2] / "templates"


def schema() -> Path:
    """The folder of the schemas that come with acpgen, one folder for each protocol."""
    packaged = Path(__file__).with_name("canonical")
    return packaged if packaged.is_dir() else Path(__file__).parents[2] / "schema"


def prover() -> Path:
    """The folder of the prover's code, which lies beside the package in the wheel and in a checkout."""
    return Path(__file__).parents[1] / "schema_inclusion"


def profiles() -> Path:
    """The folder of the profiles of methods that come with acpgen."""
    return Path(__file__).with_name("profiles")


def lint_examples() -> Path:
    """For each rule of `acpgen lint` a change of a schema that breaks it."""
    return Path(__file__).with_name("publish") / "lint_examples.json"


def monitor_examples() -> Path:
    """For each rule of the monitor a message that breaks it."""
    return Path(__file__).with_name("publish") / "monitor_examples.json"


def rule_examples() -> Path:
    """The pairs of schemas that the pages of the compatibility rules show; made from the cases of the tests."""
    return Path(__file__).with_name("compat") / "rule_examples.json"
