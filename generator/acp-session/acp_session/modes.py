"""Modes of a session: in v1 a concept of their own, in v2 the configuration option of category `mode`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from acp_bindings import v2

MODE: Final = "mode"
"""The category of the option that represents the mode."""


@dataclass(frozen=True, slots=True)
class Mode:
    """A mode of a session."""

    id: str
    name: str
    description: str | None = None


def find_mode_option(options: Sequence[v2.SessionConfigOption]) -> v2.SessionConfigSelect | None:
    """The option that represents the mode; `None` if the session has no modes."""
    selects = (option for option in options if isinstance(option, v2.SessionConfigSelect))
    return next((select for select in selects if select.category == MODE), None)


def list_modes(option: v2.SessionConfigSelect | None) -> tuple[Mode, ...]:
    """The values of an option as modes, with groups flattened."""
    choices: list[v2.SessionConfigSelectOption] = []
    entries: Sequence[Any] = () if option is None else option.options
    for choice in entries:
        choices += choice.options if isinstance(choice, v2.SessionConfigSelectGroup) else [choice]
    return tuple(Mode(choice.value, choice.name, choice.description) for choice in choices)


def with_value(
    options: Sequence[v2.SessionConfigOption], config_id: str, value: object
) -> list[v2.SessionConfigOption]:
    """A copy of the options in which one has a new value. Raises `ValueError` for an unknown option or value."""
    result = list(options)
    for index, option in enumerate(options):
        if option.config_id != config_id:
            continue
        if isinstance(option, v2.SessionConfigSelect):
            fits = value in [choice.id for choice in list_modes(option)]
        else:
            fits = isinstance(option, v2.SessionConfigBoolean) and isinstance(value, bool)
        if not fits:
            raise ValueError(f"the option {config_id!r} cannot have the value {value!r}")
        result[index] = option.__replace__(current_value=value)
        return result
    raise ValueError(f"the session has no option {config_id!r}")
