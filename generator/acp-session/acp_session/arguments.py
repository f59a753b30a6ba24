"""Arguments that are refused because they would mean something else than what was written."""

from __future__ import annotations


def refuse_text(**arguments: object) -> None:
    """Raise `TypeError` for a text where several are taken: its characters would be taken one by one."""
    for name, value in arguments.items():
        if isinstance(value, str | bytes):
            raise TypeError(f"'{name}' takes several values: write [{value!r}] for one")
