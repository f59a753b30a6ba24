"""ChangePlaces in messages and in definitions, as people read them."""

from __future__ import annotations

from collections.abc import Sequence

from acpgen import ir
from acpgen.compat.diff.pairs import EXTENSION, Step
from acpgen.compat.diff.shapes import Alternative
from acpgen.compat.protocol.messages import Route


def location_of(route: Route, steps: Sequence[Step]) -> str:
    """A place in a message for people: `params.update(tool_call).content[].path`."""
    text = route.definition if route.part == "document" else route.part
    return (text + path_of(steps)).lstrip(".")


def path_of(steps: Sequence[Step]) -> str:
    """Steps for people: `.update(tool_call).content[]`."""
    text = ""
    for step in steps:
        match step.kind:
            case "field":
                text += f".{step.name}"
            case "item":
                text += f"[{step.name}]"
            case "value":
                text += ".*"
            case "variant":
                text += "(any other)" if step.name == EXTENSION else f"({step.name})"
            case "untagged":
                text += "(untagged)"
            case "alternative":
                name = name_of(step.new)
                text += f"({name})" if name else ""
    return text


def name_of(alternative: Alternative | None) -> str | None:
    """What people call an alternative; a list is called after its items."""
    if isinstance(alternative, ir.Array):
        return f"{alternative.items.name}[]" if isinstance(alternative.items, ir.Ref) else None
    return getattr(alternative, "name", None)


def within_of(location: str, within: str) -> str:
    """A place with a name inside it."""
    if not within or within.startswith("("):
        return location + within
    return f"{location}.{within}".lstrip(".")
