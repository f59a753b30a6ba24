"""The options of the target `python`, and their values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal

from acpgen.errors import Fault, Faults
from acpgen.input.faults import BAD_SETTING
from acpgen.naming.identifiers import describe_conflict
from acpgen.targets.interface import Settings
from acpgen.targets.options import Option

PYTHONS: Final = ("3.11", "3.12", "3.13", "3.14")
LINE: Final = 88
"""The default line length, that of common formatters."""
_LINES: Final = range(20, 321)

OPTIONS: Final = (
    Option("layout", "A package of modules, or one module.", "package", ("package", "file")),
    Option(
        "runtime",
        "jsonrpc-bindings, on which the code runs: a dependency, a copy inside, or a dependency where a distribution names it.",
        "auto",
        ("auto", "package", "embedded"),
    ),
    Option(
        "unknown-fields",
        "Fields that the schema does not name: kept and sent on, dropped, or an error.",
        "keep",
        ("keep", "ignore", "refuse"),
    ),
    Option("enums", "Named sets of texts: as Literal, or as classes of StrEnum.", "literal", ("literal", "str-enum")),
    Option("minimum-python", "The oldest Python that the code is for.", PYTHONS[0], PYTHONS),
    Option("line-length", "The length of a line of Python, 20 to 320.", LINE),
)


@dataclass(frozen=True, slots=True)
class PythonOptions:
    """The values of the options."""

    layout: Literal["package", "file"] = "package"
    runtime: Literal["package", "embedded"] = "package"
    unknown: Literal["keep", "ignore", "refuse"] = "keep"
    enums: Literal["literal", "str-enum"] = "literal"
    python: str = PYTHONS[0]
    line_length: int = LINE


def read_options(settings: Settings) -> PythonOptions:
    """Read the options from the settings. Raises `Faults` for unusable values."""
    options: Mapping[str, Any] = {**{option.name: option.default for option in OPTIONS}, **settings.options}
    faults: list[Fault] = []

    def report(name: str, expected: str) -> None:
        faults.append(BAD_SETTING(at="options of the target python", key=name, expected=expected, hint="Correct it."))

    runtime = options["runtime"]
    if runtime == "auto":  # where nothing names the dependency, the package carries it
        runtime = "embedded" if settings.distribution is None else "package"
    conflict = describe_conflict(settings.package)
    first, *inner = settings.package.split(".")
    if conflict:
        report("package", f"another name than {settings.package!r}: {conflict}")
    elif runtime == "embedded" and inner and inner[0].lower() == "runtime":
        report(
            "package",
            f"another name than {settings.package!r}: {first}.runtime holds the modules that its packages share",
        )
    if options["line-length"] not in _LINES:
        report("line-length", f"from {_LINES.start} to {_LINES.stop - 1}")
    if options["layout"] == "file" and settings.distribution is not None and "." not in settings.package:
        report("layout", "'package', or a package such as 'acme.v1': a module alone cannot say that it is typed")
    if faults:
        raise Faults(faults)
    return PythonOptions(
        layout=options["layout"],
        runtime=runtime,
        unknown=options["unknown-fields"],
        enums=options["enums"],
        python=options["minimum-python"],
        line_length=options["line-length"],
    )
