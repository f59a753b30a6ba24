"""Random unions without tags that refer to each other, and the same written in another way, the same for the same seed."""

from __future__ import annotations

import copy
import random
from collections.abc import Callable
from typing import Any, Final

from acpgen.input.walk import is_array, is_object
from compat.protocols import Schema

SCALARS: Final[tuple[Schema, ...]] = (
    *({"type": name} for name in ("string", "integer", "boolean", "number")),
    {"type": "string", "minLength": 2},
)


def rewritten_unions(seed: int) -> tuple[Schema, Schema]:
    """Definitions that lead back to themselves, and equal ones: in another order, nested, with aliases and named branches."""
    chance = random.Random(seed)
    names = "ABCD"[: chance.randint(2, 4)]
    words = chance.choice((("anyOf",), ("anyOf",), ("oneOf",), ("anyOf", "oneOf")))
    old = {
        name: {chance.choice(words): [_branch(chance, names) for _ in range(chance.randint(2, 5))]} for name in names
    }
    extra: Schema = {}
    new = {name: _rewritten(chance, each, extra) for name, each in copy.deepcopy(old).items()}
    shuffled = [*{**new, **extra}.items()]
    chance.shuffle(shuffled)
    return _document(old), _document(dict(shuffled))


def _document(definitions: Schema) -> Schema:
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$ref": "#/$defs/A",
        "$defs": definitions,
    }


def _value(chance: random.Random, names: str, depth: int = 0) -> Schema:
    reference = {"$ref": f"#/$defs/{chance.choice(names)}"}
    kinds: list[Callable[[], Schema]] = [
        *([lambda: reference] * 5),
        *([lambda: {"type": "array", "items": reference}] * 2),
        lambda: {"type": "object", "additionalProperties": reference},
        *([lambda: copy.deepcopy(chance.choice(SCALARS))] * 2),
        *([] if depth else [lambda: {"anyOf": [_value(chance, names, 1), _value(chance, names, 1)]}]),
    ]
    return chance.choice(kinds)()


def _branch(chance: random.Random, names: str) -> Schema:
    kinds: list[Callable[[], Schema]] = [
        *([lambda: _record(chance, names)] * 3),
        lambda: {"type": "array", "items": _value(chance, names)},
        lambda: copy.deepcopy(chance.choice(SCALARS)),
    ]
    return chance.choice(kinds)()


def _record(chance: random.Random, names: str) -> Schema:
    fields = chance.sample("abcd", chance.randint(1, 3))
    record: Schema = {"type": "object", "properties": {field: _value(chance, names) for field in fields}}
    required = [field for field in fields if chance.random() < 0.6]
    closed = {"additionalProperties": False} if chance.random() < 0.3 else {}
    return record | ({"required": required} if required else {}) | closed


def _rewritten(chance: random.Random, schema: Any, extra: Schema) -> Any:
    if is_array(schema):
        return [_rewritten(chance, each, extra) for each in schema]
    if not is_object(schema):
        return schema
    result: Schema = {key: _rewritten(chance, value, extra) for key, value in schema.items()}
    for word in {"anyOf", "oneOf"} & result.keys():
        branches = result[word]
        chance.shuffle(branches)
        if word == "anyOf" and len(branches) > 2 and chance.random() < 0.3:
            branches[:2] = [{"anyOf": branches[:2]}]
        place = chance.randrange(len(branches))
        if "$ref" not in branches[place] and chance.random() < 0.5:
            extra[f"Branch{len(extra)}"] = branches[place]
            branches[place] = {"$ref": f"#/$defs/Branch{len(extra) - 1}"}
    if result.keys() == {"$ref"} and chance.random() < 0.2:
        name = f"Alias{result['$ref'].rpartition('/')[2]}"
        extra.setdefault(name, result)
        return {"$ref": f"#/$defs/{name}"}
    if chance.random() < 0.5:
        return dict(reversed(result.items()))
    return result
