"""The distribution around packages or modules: its `pyproject.toml`, its README, and `py.typed`."""

from __future__ import annotations

from typing import Final

from acpgen import ir
from acpgen.targets.interface import Settings
from acpgen.targets.python.literals import write_literal
from acpgen.targets.python.python_options import PythonOptions
from acpgen.targets.python.python_templates import render_template

VERSION: Final = "0.1.0"
"""The default version of generated distributions."""

MSGSPEC: Final = "msgspec>=0.22,<0.23"
"""The requirement of record classes: the tested versions."""

RUNTIME: Final = "jsonrpc-bindings>=0.1,<0.2"
"""The requirement of code without an embedded runtime."""

OF_RUNTIME: Final = ("jiter>=0.19,<1", "jsonschema-rs>=0.60.3,<0.61")
"""The requirements of an embedded runtime: the tested versions."""


def write_distribution(protocol: ir.Protocol, settings: Settings, top: str, options: PythonOptions) -> dict[str, str]:
    """The files of a distribution, without those of its packages. `top` is the top-level package."""
    about = f"Typed Python bindings of the protocol {protocol.name.split('/')[0]}, generated from JSON Schema"
    files = {
        "pyproject.toml": render_template(
            "pyproject.toml",
            distribution=write_literal(settings.distribution),
            version=write_literal(settings.version or VERSION),
            license=write_literal(settings.license) if settings.license is not None else "",
            description=write_literal(about),
            top=write_literal(top),
            python=write_literal(f">={options.python}"),
            dependencies=[
                write_literal(requirement)
                for requirement in sorted([MSGSPEC, *([RUNTIME] if options.runtime == "package" else OF_RUNTIME)])
            ],
            has_peers=options.layout == "package",
        ),
        "README.md": render_template(
            "README.md", distribution=settings.distribution, about=about, top=top, options=options
        ),
    }
    if options.layout == "file":
        files |= {f"{top}/__init__.py": render_template("folder"), f"{top}/py.typed": ""}
    return files
