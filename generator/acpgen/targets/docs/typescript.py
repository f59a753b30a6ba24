"""Examples in TypeScript: the params and the result of a method by the types of upstream's SDK, and the call between them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from acpgen import ir
from acpgen.input.numbers import dumps
from acpgen.markup import Markdown
from acpgen.targets.docs.examples import Examples
from acpgen.targets.docs.origin_notes import Origins

_NAME: Final = re.compile(r"[A-Za-z_$][A-Za-z0-9_$]*")
_SIDES: Final = ("agent", "client")


@dataclass(frozen=True, slots=True)
class Typescript:
    """What an example is made of. `peer` is the side that handles the method, `sender` the one that calls it; `result` may be missing."""

    package: Markdown
    module: Markdown
    method: Markdown
    sender: Markdown
    peer: Markdown
    params_type: Markdown
    params: Markdown
    result_type: Markdown | None
    result: Markdown | None


def typescript(protocol: ir.Protocol, method: ir.Method, examples: Examples, origins: Origins) -> Typescript | None:
    """The example of a method; `None` where upstream has no package, no such method, or no type for what the examples hold."""
    module, others = protocol.name.partition("/")[0], [side for side in _SIDES if side != method.side]
    names = [name for name in (method.params, method.result) if name is not None]
    if not origins.typescript or method.name in origins.methods or len(others) > 1 or method.params is None:
        return None
    if not all(map(_NAME.fullmatch, (module, *names))):
        return None
    shown = [_known(name, examples, origins) for name in names]
    if not all(shown) or (method.kind == "request" and method.result is None):
        return None
    return Typescript(
        package=Markdown(origins.typescript),
        module=Markdown(module),
        method=Markdown(dumps(method.name)),
        sender=Markdown(others[0].capitalize()),
        peer=Markdown(method.side),
        params_type=Markdown(method.params),
        params=source(shown[0][0]),
        result_type=Markdown(method.result) if method.result is not None else None,
        result=source(shown[1][0]) if len(shown) > 1 else None,
    )


def source(value: ir.JSON, indent: int = 0) -> Markdown:
    """A JSON value as an expression of TypeScript. No line of it begins with a fence."""
    inner, outer = " " * (indent + 2), " " * indent
    if isinstance(value, Mapping) and value:
        lines = [f"{inner}{_key(key)}: {source(each, indent + 2)}," for key, each in value.items()]
        return Markdown("\n".join(("{", *lines, f"{outer}}}")))
    if isinstance(value, list) and value:
        lines = [f"{inner}{source(each, indent + 2)}," for each in value]
        return Markdown("\n".join(("[", *lines, f"{outer}]")))
    return Markdown(dumps(value))


def _key(name: str) -> str:
    return name if _NAME.fullmatch(name) else dumps(name)


def _known(definition: str, examples: Examples, origins: Origins) -> list[ir.JSON]:
    """The examples of a definition whose members upstream has, too."""
    added = {
        name
        for (owner, _, name), found in origins.members.items()
        if owner == definition and any(each.way in ("added", "kept") for each in found)
    }
    return [each for each in examples.get(definition, ()) if not isinstance(each, Mapping) or added.isdisjoint(each)]
