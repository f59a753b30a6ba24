"""The locations of data files of acpgen: inside the package in a wheel, beside it in a checkout."""

from __future__ import annotations

from pathlib import Path


def templates() -> Path:
    """The folder of templates, with a folder for each target."""
    packaged = Path(__file__).with_name("templates")
    return packaged if packaged.is_dir() else Path(__file__).parents[2] / "templates"


def schema() -> Path:
    """The folder of the schemas that come with acpgen, with a folder for each protocol."""
    packaged = Path(__file__).with_name("canonical")
    return packaged if packaged.is_dir() else Path(__file__).parents[2] / "schema"


def prover() -> Path:
    """The folder of the package `schema_inclusion`, which is beside acpgen in a wheel and in a checkout."""
    return Path(__file__).parents[1] / "schema_inclusion"


def profiles() -> Path:
    """The folder of the built-in method profiles."""
    return Path(__file__).with_name("profiles")


def lint_examples() -> Path:
    """The file with an example for each rule of `acpgen lint`: a schema change that breaks it."""
    return Path(__file__).with_name("publish") / "lint_examples.json"


def monitor_examples() -> Path:
    """The file with an example for each rule of the monitor: a message that breaks it."""
    return Path(__file__).with_name("publish") / "monitor_examples.json"


def rule_examples() -> Path:
    """The file with the schema pairs shown on the pages of the compatibility rules; generated from the test cases."""
    return Path(__file__).with_name("compat") / "rule_examples.json"
