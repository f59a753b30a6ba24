"""The methods of two versions, by their names."""

from __future__ import annotations

from acpgen import ir
from acpgen.compat.protocol.revision import Revised


def renamed(old: Revised, new: Revised) -> dict[str, str]:
    """The methods that have another name now, by their old one."""
    before, after = ({method.name for method in side.methods} for side in (old, new))
    return {
        was: method.name
        for method in new.methods
        for was in method.was
        if was in before - after and method.name not in before
    }


def named(name: str, side: Revised) -> ir.Method | None:
    """The method of a name; `None` where the version has none."""
    return next((method for method in side.methods if method.name == name), None)
