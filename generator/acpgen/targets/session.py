"""The target `session`: the distribution `acp-session`, the rules of a conversation that no type can hold.

It is the same for every protocol: Python written by hand, copied as it is, with a pyproject.toml and a README around it.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Final

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from acpgen import ir
from acpgen.bundle import Bundle
from acpgen.resources import templates
from acpgen.targets import Settings

NOTICE: Final = "Copied by acpgen from its templates. Do not edit: change templates/session and generate again."

VERSION: Final = "0.1.0"
"""The version of the distribution where it is given none; it needs bindings of the same one."""

PACKAGE: Final = "acp_session"


def render(protocol: ir.Protocol, bundle: Bundle, settings: Settings) -> Mapping[str, str]:
    """The package, `pyproject.toml` and `README.md`, in the root of the output whatever the protocol."""
    del protocol, bundle
    return {**_modules(), **_laid_out(settings.distribution or "acp-session", settings.version or VERSION)}


@cache
def _modules() -> Mapping[str, str]:
    folder = Path(templates()) / "session"
    paths = sorted(path for path in (folder / PACKAGE).rglob("*") if path.suffix == ".py" or path.name == "py.typed")
    return {path.relative_to(folder).as_posix(): path.read_text("utf-8") for path in paths}


@cache
def _laid_out(distribution: str, version: str) -> Mapping[str, str]:
    environment = Environment(
        loader=FileSystemLoader(templates() / "session"),
        undefined=StrictUndefined,
        keep_trailing_newline=True,
        autoescape=False,  # noqa: S701 - this is no HTML, and the only value is a name that the configuration has checked
    )
    return {
        name: environment.get_template(f"{name}.jinja2").render(
            notice=NOTICE, distribution=distribution, version=version, package=PACKAGE
        )
        for name in ("pyproject.toml", "README.md")
    }
