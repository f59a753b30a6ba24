"""What a side offers: capabilities, configuration options and their values."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from .events import items, reach, text
from .json_types import is_object
from .kept import MOST_PARTS, MOST_VALUES, key, size_of

if TYPE_CHECKING:
    from jsonrpc_bindings.strict import Strict

Options: TypeAlias = "dict[str, bytes | None]"
"""Configuration options: by id the digests of their values, `None` where any value goes."""

_DIGEST: Final = 8


def offered_options(value: Any) -> Options | None:
    """The configuration options in a message; `None` where they are more than are kept."""
    found: Options = {}
    offered, count = items(value, "configOptions"), 0
    for option in offered:
        name = text(option, "configId") or text(option, "id")
        if name is None:
            continue
        choices = [one for choice in items(option, "options") for one in items(choice, "options") or [choice]]
        values = {digest(text(one, "value") or "") for one in choices}
        count += len(values)
        if count > MOST_VALUES or len(offered) > MOST_PARTS:
            return None
        found[key(name) or ""] = b"".join(sorted(values)) if text(option, "type") == "select" else None
    return found


def digest(value: str) -> bytes:
    """What is kept of the value of an option."""
    return hashlib.blake2b(value.encode("utf-8", "surrogatepass"), digest_size=_DIGEST).digest()


def is_offered(value: str, digests: bytes) -> bool:
    """Whether a value is among those of an option."""
    wanted = digest(value)
    return any(digests.startswith(wanted, place) for place in range(0, len(digests), _DIGEST))


def size_of_options(options: Options) -> int:
    """About how many bytes they take."""
    return sum(150 + len(values or b"") + size_of(name) for name, values in options.items())


def tags(schema: Any, union: str, tag: str) -> frozenset[str]:
    """The values of the tag that the variants of a union have."""
    found: set[str | None] = set()
    for variant in items(schema, "$defs", union, "anyOf"):
        name = (text(variant, "$ref") or "").removeprefix("#/$defs/")
        found.add(text(reach(schema, "$defs", name) or variant, "properties", tag, "const"))
    return frozenset(value for value in found if value is not None)


def is_offer(value: object) -> bool:
    """Whether a value advertises: an object or true."""
    return value is True or is_object(value)


def all_gates(protocols: Iterable[Strict]) -> Mapping[str, frozenset[str]]:
    """The paths of all capabilities that anything depends on, by the side that advertises."""
    found: dict[str, set[str]] = {}
    for strict in protocols:
        contract = strict.contract
        gates = [method.capability for method in contract.methods]
        for gated in contract.gated.values():
            gates.extend(gated.values.values())
            for member in (*gated.fields.values(), *gated.variants.values()):
                gates.extend((member.capability, member.required_with))
        for gate in gates:
            if gate is not None:
                side, _, path = gate.partition(":")
                found.setdefault(side, set()).add(path)
    return {side: frozenset(paths) for side, paths in found.items()}
