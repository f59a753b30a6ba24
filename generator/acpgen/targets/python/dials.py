"""The options of the target `python`, and what is chosen of them."""

from __future__ import annotations

import keyword
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal, cast

from acpgen.errors import BadSetting, Fault, Faults
from acpgen.schema.names import BUILTINS, is_attribute, is_class_name, package_conflict
from acpgen.targets.interface import Settings
from acpgen.targets.options import Option

PYTHONS: Final = ("3.11", "3.12", "3.13", "3.14")
PYDANTIC: Final = "2.14"
PYDANTIC_BELOW: Final = "2.15"
"""From and below which pydantic the bindings were tested; the run-time package refuses others."""
LINE: Final = 88
"""The length of a line where nobody says otherwise, as formatters have it."""
_LINES: Final = range(20, 321)

OPTIONS: Final = (
    Option("layout", "A package of modules, or one module.", "package", ("package", "file")),
    Option(
        "runtime",
        "jsonrpc-bindings, on which the code runs: a dependency, a copy inside, or a dependency where a distribution names it.",
        "auto",
        ("auto", "package", "embedded"),
    ),
    Option("omitted", "What an omitted field holds: MISSING, or None.", "missing", ("missing", "none")),
    Option(
        "unknown-fields",
        "Fields that the schema does not name: kept and sent on, dropped, or an error.",
        "keep",
        ("keep", "ignore", "refuse"),
    ),
    Option(
        "keep-unknown-in",
        "Records that keep them all the same: names of definitions, or patterns such as '*Meta'.",
        (),
    ),
    Option("enums", "Named sets of texts: as Literal, or as classes of StrEnum.", "literal", ("literal", "str-enum")),
    Option("field-names", "Attributes: in snake_case, or as on the wire.", "snake-case", ("snake-case", "wire")),
    Option(
        "own-names",
        "Names of your own for this output alone: Thing=Item, Thing.field=name, Kind[value]=MEMBER.",
        (),
    ),
    Option("base-class", "A class of yours that all records derive from, as module.Class.", ""),
    Option("minimum-python", "The oldest Python that the code is for.", PYTHONS[0], PYTHONS),
    Option("minimum-pydantic", "The oldest pydantic that the distribution asks for.", PYDANTIC),
    Option("line-length", "The length of a line of Python, 20 to 320.", LINE),
)


@dataclass(frozen=True, slots=True)
class Dials:
    """What is chosen of the options. `own` are the chosen names by place; `base` is module and class of the base class, or empty.

    `kept` are patterns of records that keep unknown fields whatever `unknown` says.
    """

    layout: Literal["package", "file"] = "package"
    runtime: Literal["package", "embedded"] = "package"
    omitted: Literal["missing", "none"] = "missing"
    unknown: Literal["keep", "ignore", "refuse"] = "keep"
    kept: tuple[str, ...] = ()
    enums: Literal["literal", "str-enum"] = "literal"
    fields: Literal["snake-case", "wire"] = "snake-case"
    own: tuple[tuple[str, str], ...] = ()
    base: tuple[str, str] | None = None
    python: str = PYTHONS[0]
    pydantic: str = PYDANTIC
    line_length: int = LINE

    @property
    def extra(self) -> Literal["allow", "ignore", "forbid"]:
        """What pydantic calls the treatment of unknown fields."""
        return _EXTRA[self.unknown]

    @property
    def has_base(self) -> bool:
        """Whether records derive from classes of this package, which say what differs from the run-time package's."""
        return self.unknown != "keep" or self.omitted == "none" or self.base is not None


_EXTRA: Final[Mapping[str, Literal["allow", "ignore", "forbid"]]] = {
    "keep": "allow",
    "ignore": "ignore",
    "refuse": "forbid",
}


def dials(settings: Settings) -> Dials:
    """What the settings choose. Raises `Faults` of what cannot be used."""
    given: Mapping[str, Any] = {**{option.name: option.default for option in OPTIONS}, **settings.options}
    faults: list[Fault] = []

    def wrong(name: str, expected: str) -> None:
        faults.append(BadSetting(at="options of the target python", key=name, expected=expected))

    runtime = given["runtime"]
    if runtime == "auto":  # where nothing names the dependency, the package carries it
        runtime = "embedded" if settings.distribution is None else "package"
    conflict = package_conflict(settings.package)
    first, *inner = settings.package.split(".")
    if conflict:
        wrong("package", f"another name than {settings.package!r}: {conflict}")
    elif runtime == "embedded" and inner and inner[0].lower() == "runtime":
        wrong(
            "package",
            f"another name than {settings.package!r}: {first}.runtime holds the modules that its packages share",
        )
    base = _dotted(given["base-class"])
    if given["base-class"] and base is None:
        wrong("base-class", "a class with its module, such as 'acme.base.Base'")
    if given["line-length"] not in _LINES:
        wrong("line-length", f"from {_LINES.start} to {_LINES.stop - 1}")
    if not _is_tested(given["minimum-pydantic"]):
        wrong("minimum-pydantic", f"a version from {PYDANTIC} on and below {PYDANTIC_BELOW}, such as '{PYDANTIC}.3'")
    elif given["minimum-pydantic"] != PYDANTIC and settings.distribution is None:
        wrong(
            "minimum-pydantic", f"{PYDANTIC!r} where the output has no distribution, since nothing else names a version"
        )
    if given["layout"] == "file" and settings.distribution is not None and "." not in settings.package:
        wrong("layout", "'package', or a package such as 'acme.v1': a module alone cannot say that it is typed")
    own: dict[str, str] = {}
    for entry in cast("tuple[str, ...]", given["own-names"]):
        place, _, name = entry.rpartition("=")
        expected = expected_name(place)
        if not place:
            wrong(f"{entry!r} in own-names", "a place, '=' and a name, such as 'Thing.field=name'")
        elif place in own:
            wrong(f"{entry!r} in own-names", f"the only entry for {place!r}")
        elif not expected[1](name):
            wrong(f"the name in {entry!r} of own-names", expected[0])
        else:
            own[place] = name
    if faults:
        raise Faults(faults)
    return Dials(
        layout=given["layout"],
        runtime=runtime,
        omitted=given["omitted"],
        unknown=given["unknown-fields"],
        kept=given["keep-unknown-in"],
        enums=given["enums"],
        fields=given["field-names"],
        own=tuple(own.items()),
        base=base,
        python=given["minimum-python"],
        pydantic=given["minimum-pydantic"],
        line_length=given["line-length"],
    )


def expected_name(place: str) -> tuple[str, Any]:
    """What a name for a place must be, in words and as a test."""
    if place.endswith("]"):
        return "the name of a member: letters, digits and '_', a capital first", is_class_name
    if "." in place:
        return (
            "an attribute that records can have: a Python name without '_' in front, which pydantic does not use",
            is_attribute,
        )
    return (
        "the name of a Python class: letters, digits and '_', a capital first, and none of Python's own",
        _is_own_class,
    )


def _is_own_class(name: str) -> bool:
    return is_class_name(name) and name not in BUILTINS


def _dotted(text: str) -> tuple[str, str] | None:
    module, _, name = text.rpartition(".")
    parts = [*module.split("."), name]
    is_path = all(part.isidentifier() and not keyword.iskeyword(part) for part in parts)
    return (module, name) if is_path else None


def _is_tested(text: str) -> bool:
    return text == PYDANTIC or re.fullmatch(rf"{re.escape(PYDANTIC)}\.\d{{1,4}}", text, re.ASCII) is not None
