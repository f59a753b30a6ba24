"""The distribution around packages or modules: its `pyproject.toml`, its README, and what marks it as typed."""

from __future__ import annotations

from typing import Final

from acpgen import ir
from acpgen.targets.interface import Settings
from acpgen.targets.python.literals import literal
from acpgen.targets.python.python_options import PythonOptions
from acpgen.targets.python.python_templates import render_template

VERSION: Final = "0.1.0"
"""The version of generated distributions that are given none."""

MSGSPEC: Final = "msgspec>=0.22,<0.23"
"""What the classes of records are made of: the versions that were tested."""

RUNTIME: Final = "jsonrpc-bindings>=0.1,<0.2"
"""What the code runs on where no copy of it is inside."""

OF_RUNTIME: Final = ("jiter>=0.19,<1", "jsonschema-rs>=0.60.3,<0.62")
"""What a copy of it runs on: the versions that were tested."""


def distribution(
    protocol: ir.Protocol, settings: Settings, top: str, runtime: str, chosen: PythonOptions
) -> dict[str, str]:
    """The files of a distribution beside those of its packages. `top` is the package that all others are in, `runtime` what they run on."""
    about = f"Typed Python bindings of the protocol {protocol.name.split('/')[0]}, generated from JSON Schema"
    files = {
        "pyproject.toml": render_template(
            "pyproject.toml",
            distribution=literal(settings.distribution),
            version=literal(settings.version or VERSION),
            license=literal(settings.license) if settings.license is not None else "",
            description=literal(about),
            top=literal(top),
            python=literal(f">={chosen.python}"),
            dependencies=[
                literal(one) for one in sorted([MSGSPEC, *([RUNTIME] if chosen.runtime == "package" else OF_RUNTIME)])
            ],
            has_peers=chosen.layout == "package",
        ),
        "README.md": render_template(
            "README.md", distribution=settings.distribution, about=about, top=top, options=chosen, runtime=runtime
        ),
    }
    if chosen.layout == "file":
        files |= {f"{top}/__init__.py": render_template("folder"), f"{top}/py.typed": ""}
    return files
