"""The conversations that are drawn: a list of messages each, in `templates/docs/lifecycles.json`, of which a protocol has some.

`session/prompt>` is a request or notification on its way to the side that handles it, `session/prompt<` its answer; after `#` stands
the tag of the variant that the message carries, after `=` a word that it holds. A message that a protocol does not know is left out, and
a conversation of which little is left is not drawn. `needs` and `lacks` name what a protocol must have or not have for it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Final

from acpgen import ir
from acpgen.markup import Markdown
from acpgen.resources import templates
from acpgen.targets.docs import pictures
from acpgen.targets.docs.examples import Examples

_MESSAGE: Final = re.compile(r"(?P<method>[^#<>=]+)(?P<way>[<>]?)(?:#(?P<tag>[^=]+))?(?:=(?P<word>.+))?")
_IDS: Final = ("sessionId", "terminalId", "stopReason", "outcome", "protocolVersion", "roots")
"""Members of results that say in one word what the answer brings."""


@dataclass(frozen=True, slots=True)
class Lifecycle:
    """One conversation with its picture, and the methods that take part."""

    name: str
    title: str
    about: str
    picture: Markdown
    methods: tuple[str, ...]


def lifecycles(protocol: ir.Protocol, examples: Examples) -> tuple[Lifecycle, ...]:
    """The conversations that this protocol has."""
    sides = _sides(protocol)
    if sides is None:
        return ()
    found: list[Lifecycle] = []
    for plan in _plans():
        if ("needs" in plan and not _knows(protocol, plan["needs"])) or (
            "lacks" in plan and _knows(protocol, plan["lacks"])
        ):
            continue
        known = [message for message in plan["messages"] if _knows(protocol, message)]
        if len(known) >= max(2, len(plan["messages"]) // 2):
            arrows = list(_arrows(protocol, examples, sides, known))
            picture = pictures.conversation(plan["name"], plan["title"], sides, arrows)
            methods = tuple(dict.fromkeys(_parsed(message)["method"] for message in known))
            found.append(Lifecycle(plan["name"], plan["title"], plan["about"], picture, methods))
    return tuple(found)


@cache
def _plans() -> Sequence[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads((Path(templates()) / "docs" / "lifecycles.json").read_text("utf-8"))
    return found


def _sides(protocol: ir.Protocol) -> tuple[str, str] | None:
    """The side on the left, which begins the conversation, and the one on the right."""
    others = [side for side in protocol.sides if side in ("agent", "server")]
    return ("client", others[0]) if others else None


def _parsed(message: str) -> dict[str, str]:
    match = _MESSAGE.fullmatch(message)
    assert match is not None, message
    return {key: found or "" for key, found in match.groupdict().items()}


def _knows(protocol: ir.Protocol, message: str) -> bool:
    """Whether the protocol has this method, and the variant that the message carries."""
    parts = _parsed(message)
    method = _method(protocol, parts["method"])
    if method is None or (parts["way"] == "<" and method.kind == "notification"):
        return False
    return not parts["tag"] or parts["tag"] in {str(tag) for tag in _tags(protocol, method.params or "")}


def _method(protocol: ir.Protocol, name: str) -> ir.Method | None:
    return next((method for method in protocol.methods if method.name == name), None)


def _tags(protocol: ir.Protocol, params: str) -> Iterator[str | int | float | bool]:
    """The tags of the unions that params hold in a field of their own."""
    record = protocol.definitions.get(params)
    for field in record.fields if isinstance(record, ir.Record) else ():
        if isinstance(field.type, ir.Ref):
            union = protocol.definitions[field.type.name]
            if isinstance(union, ir.TaggedUnion):
                yield from (variant.tag for variant in union.variants)


def _arrows(
    protocol: ir.Protocol, examples: Examples, sides: tuple[str, str], messages: Sequence[str]
) -> Iterator[pictures.Arrow]:
    for message in messages:
        parts = _parsed(message)
        method = _method(protocol, parts["method"])
        assert method is not None
        is_answer = parts["way"] == "<"
        to_right = (method.side == sides[1]) != is_answer
        note = " ".join(filter(None, (parts["tag"], parts["word"])))
        if is_answer:
            note = parts["word"] or _brings(examples, method)
            label = "answer" if not note else "answer:"
            yield pictures.Arrow(f"{label} {note}".strip(), "right" if to_right else "left", answer=True)
        else:
            yield pictures.Arrow(method.name, "right" if to_right else "left", note=note)


def _brings(examples: Examples, method: ir.Method) -> str:
    """What an example of the answer holds, in a word."""
    for example in examples.get(method.result or "", ()):
        if isinstance(example, dict):
            return next((name for name in _IDS if name in example), "")
    return ""
