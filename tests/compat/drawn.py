"""Random changes of a small protocol: pairs for tests that hold of any two revisions, the same for the same seed."""

from __future__ import annotations

import copy
import random
from collections.abc import Callable
from typing import Any, Final

from compat.protocols import Schema, go, protocol

NAMES: Final = ("a", "b", "c", "kind")


def drawn_pair(seed: int) -> tuple[Schema, Schema]:
    """A protocol, and the same after one to three random changes."""
    chance = random.Random(seed)
    old = protocol({"Shared": _record(chance, 1), **{name: _record(chance, 2) for name in ("GoRequest", "GoResponse")}})
    new = copy.deepcopy(old)
    for _ in range(chance.randint(1, 3)):
        places = _places(new["$defs"])
        for _ in range(20):
            if chance.choice(CHANGES)(chance, *chance.choice(places)):
                break
    return old, new


def _scalar(chance: random.Random) -> Schema:
    drawn: list[Schema] = [
        {"type": "string"},
        {"type": "string", "maxLength": chance.randint(2, 5)},
        {"type": "string", "pattern": chance.choice(["^a", "b$"])},
        {"type": "integer", "minimum": chance.randint(0, 2), "maximum": chance.randint(4, 9)},
        {"type": "boolean"},
        {"type": ["string", "null"]},
        {"type": "string", "enum": chance.sample(["a", "b", "c"], 2)},
        {"$ref": "#/$defs/Shared"},
    ]
    return chance.choice(drawn)


def _record(chance: random.Random, depth: int) -> Schema:
    names = chance.sample(NAMES[:3], chance.randint(1, 3))
    fields = {name: _value(chance, depth - 1) for name in names}
    closed: Schema = {"additionalProperties": False} if chance.random() < 0.3 else {}
    return go(fields, tuple(name for name in names if chance.random() < 0.5), **closed)


def _value(chance: random.Random, depth: int) -> Schema:
    kind = chance.random()
    if depth < 0 or kind < 0.6:
        return {"type": "string"} if depth < 0 else _scalar(chance)
    if kind < 0.75:
        return {"type": "array", "items": _value(chance, depth - 1), "maxItems": chance.randint(2, 4)}
    if kind < 0.9:
        return {"oneOf": [_variant(chance, tag) for tag in ("p", "q")]}
    return _record(chance, depth)


def _variant(chance: random.Random, tag: str) -> Schema:
    return go({"kind": {"const": tag}, chance.choice(NAMES[:3]): {"type": "string"}}, ("kind",))


def _places(definitions: Schema) -> list[tuple[Schema, str]]:
    """Each schema with what holds it."""
    found: list[tuple[Schema, str]] = []
    pending: list[tuple[Any, Any]] = [(definitions, name) for name in definitions]
    while pending:
        holder, key = pending.pop()
        schema = holder[key]
        found.append((holder, key))
        pending += [(schema["properties"], name) for name in schema.get("properties", ())]
        pending += [(schema, "items")] if "items" in schema else []
        pending += [(schema["oneOf"], index) for index in range(len(schema.get("oneOf", ())))]
    return found


# --- changes: each says whether it could be made ---


def _field_added(chance: random.Random, holder: Schema, key: str) -> bool:
    schema, name = holder[key], chance.choice(("d", "e"))
    if "properties" not in schema or name in schema["properties"]:
        return False
    schema["properties"][name] = _scalar(chance)
    if chance.random() < 0.4:
        schema["required"] = [*schema.get("required", ()), name]
    return True


def _field_removed(chance: random.Random, holder: Schema, key: str) -> bool:
    schema = holder[key]
    names = [name for name in schema.get("properties", ()) if name != "kind"]
    if not names:
        return False
    gone = chance.choice(names)
    del schema["properties"][gone]
    schema["required"] = [name for name in schema.get("required", ()) if name != gone]
    return True


def _required(chance: random.Random, holder: Schema, key: str) -> bool:
    schema = holder[key]
    names = [name for name in schema.get("properties", ()) if name != "kind"]
    if not names:
        return False
    name, before = chance.choice(names), schema.get("required", [])
    schema["required"] = [each for each in before if each != name] if name in before else [*before, name]
    return True


def _closed(_: random.Random, holder: Schema, key: str) -> bool:
    schema = holder[key]
    if "properties" not in schema:
        return False
    if schema.pop("additionalProperties", None) is None:
        schema["additionalProperties"] = False
    return True


def _limit(chance: random.Random, holder: Schema, key: str) -> bool:
    schema = holder[key]
    names = [name for name in ("maxLength", "minimum", "maximum", "maxItems") if name in schema]
    if names:
        schema[chance.choice(names)] += chance.choice((-1, 1, 2))
    return bool(names)


def _values(chance: random.Random, holder: Schema, key: str) -> bool:
    values = holder[key].get("enum", [])
    if not values:
        return False
    if chance.random() < 0.5 and len(values) > 1:
        values.pop()
    else:
        values.append("z")
    return True


def _variants(chance: random.Random, holder: Schema, key: str) -> bool:
    variants = holder[key].get("oneOf", [])
    if not variants:
        return False
    if chance.random() < 0.5 and len(variants) > 1:
        variants.pop()
    else:
        variants.append(_variant(chance, "r"))
    return True


def _replaced(chance: random.Random, holder: Schema, key: str) -> bool:
    if "x-method" in holder[key] or key == "kind" or "oneOf" in holder[key] or "const" in holder[key]:
        return False
    holder[key] = _scalar(chance) if key != "Shared" else _record(chance, 1)
    return True


CHANGES: Final[tuple[Callable[[random.Random, Schema, str], bool], ...]] = (
    *(_field_added, _field_removed, _required, _closed),
    *(_limit, _limit, _values, _values, _variants, _variants, _replaced),
)
