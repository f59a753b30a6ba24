"""Options of a target: their declaration, and the check of the values that users set."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias, cast

from acpgen.config.faults import UNKNOWN_KEY
from acpgen.errors import Fault, show, suggest_name
from acpgen.input.faults import BAD_SETTING

Kind: TypeAlias = Literal["text", "boolean", "integer", "texts"]
"""The type of an option's value; `texts` is a list of texts."""

Value: TypeAlias = str | bool | int | tuple[str, ...]

_EXPECTED: Final[Mapping[Kind, str]] = {
    "text": "a text",
    "boolean": "true or false",
    "integer": "an integer",
    "texts": "a list of texts",
}
_BOOLEANS: Final = {"true": True, "false": False}


@dataclass(frozen=True, slots=True)
class Option:
    """An option of a target: its name in kebab case, a one-sentence description, and its default.

    `choices` are the allowed values of a `text` option; empty if any text is allowed.
    """

    name: str
    about: str
    default: Value
    choices: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        assert not self.choices or self.default in self.choices, f"the default of {self.name} is not among its choices"

    @property
    def kind(self) -> Kind:
        """The type of its value, as inferred from the default."""
        match self.default:
            case bool():
                return "boolean"
            case int():
                return "integer"
            case str():
                return "text"
            case _:
                return "texts"

    @property
    def expected(self) -> str:
        """The allowed values, in words."""
        if self.choices:
            return f"one of {', '.join(map(repr, self.choices))}"
        return _EXPECTED[self.kind]


_NAME: Final = re.compile(r"[a-z][a-z0-9]*(-[a-z0-9]+)*")


def find_misdeclared(options: object) -> str:
    """The error in the options that an external target declares; empty if there is none."""
    if not isinstance(options, tuple) or not all(
        isinstance(option, Option) for option in cast("tuple[object, ...]", options)
    ):
        return "its options are not a tuple of acpgen.plugins.Option"
    names: set[str] = set()
    for option in cast("tuple[Option, ...]", options):
        name, about, default, choices = _find_unchecked(option)
        if not isinstance(name, str) or not _NAME.fullmatch(name):
            return f"the name of an option is in kebab case, such as 'line-length': {show(str(name))}"
        if name in names:
            return f"it declares the option {show(name)} twice"
        names.add(name)
        if not isinstance(about, str):
            return f"the description of the option {show(name)} is not a string"
        if not isinstance(default, str | bool | int) and not _are_texts(default):
            return f"the default of the option {show(name)} is not a string, boolean, integer or tuple of strings"
        if not _are_texts(choices) or (choices and default not in cast("tuple[str, ...]", choices)):
            return f"the choices of the option {show(name)} are not a tuple of strings that contains its default"
    return ""


def _find_unchecked(option: Option) -> tuple[object, object, object, object]:
    """The attributes of an option, typed as `object`, because nothing has checked them."""
    return option.name, option.about, option.default, option.choices


def _are_texts(value: object) -> bool:
    return isinstance(value, tuple) and all(isinstance(item, str) for item in cast("tuple[object, ...]", value))


def check_options(
    declared: Sequence[Option], values: Mapping[str, object], at: str, key: str, faults: list[Fault]
) -> Mapping[str, Value]:
    """The value of every declared option: the one in `values`, or else its default. Errors are added to `faults`, with `key` as a prefix
    of the option's name unless it is empty.

    A boolean, an integer or a comma-separated list may be written as text, as on the command line.
    """
    by_name = {option.name: option for option in declared}
    options: dict[str, Value] = {option.name: option.default for option in declared}
    for name, value in values.items():
        qualified_name = f"{key}.{name}" if key else name
        option = by_name.get(name)
        if option is None:
            hint = suggest_name(name, by_name) or "This target has no options."
            faults.append(UNKNOWN_KEY(at=at, key=qualified_name, hint=hint))
            continue
        reading = next(_list_readings(option, value), None)
        if reading is None:
            hint = suggest_name(str(value), option.choices) if option.choices else "Correct the value."
            faults.append(BAD_SETTING(at=at, key=qualified_name, expected=option.expected, hint=hint))
        else:
            options[name] = reading
    return options


def _list_readings(option: Option, value: object) -> Iterator[Value]:
    """Yield the value converted to the option's type; nothing if that is impossible."""
    match option.kind, value:
        case "text", str() if not option.choices or value in option.choices:
            yield value
        case "boolean", bool():
            yield value
        case "boolean", str() if value in _BOOLEANS:
            yield _BOOLEANS[value]
        case "integer", int() if not isinstance(value, bool):
            yield value
        case "integer", str() if value.removeprefix("-").isdecimal() and value.isascii() and len(value) < 20:
            yield int(value)
        case "texts", str():
            yield tuple(value.split(",")) if value else ()
        case "texts", list() if all(isinstance(item, str) for item in cast("list[object]", value)):
            yield tuple(cast("list[str]", value))
        case _:
            return
