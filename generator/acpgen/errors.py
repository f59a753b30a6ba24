"""Faults: errors in the user's input. A fault is data: it holds a place and some values, never a document.

Each package has its kinds of faults in `faults.py`. Stages collect faults and raise them together as `Faults`, so that one run reports
all of them. Bugs of acpgen are `AssertionError`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from string import Formatter
from typing import Any, Final

LONGEST_LINE: Final = 600


def make_visible(text: str) -> str:
    """`text` as one line, with unprintable characters escaped."""
    if text.isprintable():
        return text
    return "".join(character if character.isprintable() else repr(character)[1:-1] for character in text)


def make_printable(text: str) -> str:
    """`text` as one line, with unprintable characters escaped; the middle of a very long line is omitted."""
    line = make_visible(text)
    if len(line) <= LONGEST_LINE:
        return line
    return f"{line[: LONGEST_LINE // 2]} … {line[-LONGEST_LINE // 2 :]}"


def show(text: str) -> str:
    """`text` in quotes for use in a sentence, shortened to 80 characters."""
    return repr(text if len(text) <= 80 else f"{text[:79]}…")


def count_noun(count: int, noun: str) -> str:
    """A count with its noun: `1 method`, `2 methods`."""
    return f"{count} {noun}{'' if count == 1 else 's'}"


_FEW_NAMES: Final = 12
"""The maximum number of names that are listed."""


def suggest_name(name: str, known_names: Iterable[str]) -> str:
    """A sentence that suggests the known name closest to `name`, or lists the first known names; empty if there are none.

    For a version, such as `acp/v9`, or a family, such as `acp`, it lists the known versions instead, because none of them is closer.
    """
    from difflib import get_close_matches

    choices = sorted(known_names)
    family, _, version = name.rpartition("/")
    if not family:
        family, version = name, "0"
    versions = [choice for choice in choices if choice.rpartition("/")[0] == family]
    if versions and re.fullmatch(r"v?\d[\w.-]*", version):
        return f"Known versions of {family!r}: {', '.join(map(repr, versions))}."
    close = get_close_matches(name, choices, n=1)
    if close:
        return f"Did you mean {close[0]!r}?"
    return _list_names(choices)


def suggest_values(name: str, known_values: Iterable[str]) -> str:
    """A sentence that suggests the closest allowed value of an option, followed by all values if they are few."""
    choices = sorted(known_values)
    guess = suggest_name(name, choices)
    return f"{guess} {_list_names(choices)}" if guess.startswith("Did") and len(choices) <= _FEW_NAMES else guess


def _list_names(names: Sequence[str]) -> str:
    remainder = f", and {len(names) - _FEW_NAMES} more" if len(names) > _FEW_NAMES else ""
    return f"Known names: {', '.join(map(repr, names[:_FEW_NAMES]))}{remainder}." if names else ""


class _Sentences(Formatter):
    """Formats the message of a fault with its values; `!q` quotes and shortens a value."""

    def convert_field(self, value: Any, conversion: Any) -> Any:
        return show(value) if conversion == "q" else super().convert_field(value, conversion)


_SENTENCES: Final = _Sentences()


@dataclass(frozen=True, slots=True)
class FaultKind:
    """A kind of fault, with its message and remedy. `{field}` is a value of the fault, `{field!q}` the same in quotes and shortened.

    A call creates the fault: `DUPLICATE_KEY("session.json:3:5", key="type")`. `about` describes, in a list of errors, a kind whose
    faults have individual messages.
    """

    id: str
    error: str
    remedy: str
    about: str = ""

    @property
    def fields(self) -> frozenset[str]:
        """The names of the values that a fault of this kind requires."""
        return frozenset(field for _, field, _, _ in Formatter().parse(self.error + self.remedy) if field)

    def make_example(self) -> tuple[str, str]:
        """The message and the remedy with field names in place of values."""
        names = {field: field.upper().replace("_", " ") for field in self.fields}
        return (self.about, "") if self.about else Fault(self, "", names).write_sentences()

    def __call__(self, at: str, **values: str | int) -> Fault:
        assert values.keys() == self.fields, f"{self.id} needs {sorted(self.fields)}, not {sorted(values)}"
        return Fault(self, at, values)


class Fault(Exception):
    """An error in the user's input that stops the work.

    `at` is the place: `file`, `file:line:column` or `file#/json/pointer`, which is shown with line and column if the file exists.
    `values` are the values of the fields of its kind.
    """

    def __init__(self, kind: FaultKind, at: str, values: Mapping[str, str | int]) -> None:
        super().__init__(kind, at, values)
        self.kind, self.at, self.values = kind, at, values

    def __eq__(self, value: object) -> bool:
        return isinstance(value, Fault) and self.args == value.args

    def __hash__(self) -> int:
        return hash((self.kind, self.at))

    def __str__(self) -> str:
        return make_printable(f"{self.at}: {self.join_text()}")

    def move_to(self, at: str) -> Fault:
        """The same fault at another place."""
        return Fault(self.kind, at, self.values)

    def join_text(self) -> str:
        """The error and the remedy, in one line."""
        return " ".join(filter(None, self.write_sentences()))

    def write_sentences(self) -> tuple[str, str]:
        """The error, and the remedy."""
        kind = self.kind
        return _SENTENCES.vformat(kind.error, (), self.values), _SENTENCES.vformat(kind.remedy, (), self.values)


class Faults(Exception):
    """All faults of one stage, in the order of the input. Never empty."""

    def __init__(self, faults: Iterable[Fault]) -> None:
        self.faults: tuple[Fault, ...] = tuple(faults)
        assert self.faults
        super().__init__(*self.faults)

    def __reduce__(self) -> tuple[object, ...]:
        return type(self), (self.faults,), self.__dict__

    def __str__(self) -> str:
        return "\n".join(str(fault) for fault in self.faults)


def drop_duplicates(faults: Iterable[Fault]) -> Iterator[Fault]:
    """The faults without duplicates: one for each text."""
    return iter({str(fault): fault for fault in faults}.values())
