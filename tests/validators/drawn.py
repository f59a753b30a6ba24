"""Instances to judge: the least that a definition accepts, messages of the corpus, and damage done to either."""

from __future__ import annotations

import copy
import json
import random
from typing import Any

import evidence
from acpgen import ir
from acpgen.input.walk import is_array, is_object
from acpgen.meaning.samples import Values


def corpus(version: int) -> list[dict[str, Any]]:
    """The rows of the corpus; the test is skipped where there is none."""
    name = f"corpus/v{version}.jsonl"
    evidence.need(name)
    return [json.loads(line) for line in evidence.path(name).read_text("utf-8").splitlines()]


def least(protocol: ir.Protocol, name: str) -> Any:
    """An instance of a definition with its required fields alone."""
    return copy.deepcopy(Values(protocol.definitions).make_small(name))


JUNK: tuple[Any, ...] = (
    *(
        None,
        True,
        False,
        0,
        1,
        -1,
        1.0,
        1.5,
        2**40,
        2**70,
        "",
        "a",
        "/a",
        "text",
        "_x",
        [],
        ["a"],
        {},
        {"type": "text"},
    ),
    *({"type": "_x"}, {"a": 1}, [None], [[]], "2026-03-29T18:20:31Z", "EUR", "é"),
)


def damaged(value: Any, chance: random.Random) -> Any:
    """A value with one thing in it changed: replaced, left out, added, or moved to another name."""
    if is_object(value) and value and chance.random() < 0.9:
        key = chance.choice(list(value))
        if chance.random() < 0.65:
            return {**value, key: damaged(value[key], chance)}
        rest = {name: item for name, item in value.items() if name != key}
        match chance.randrange(3):
            case 0:
                return rest
            case 1:
                return {**rest, f"{key}X": value[key]}
            case _:
                return {**value, chance.choice(["sessionId", "type", "_meta", "x", "kind"]): chance.choice(JUNK)}
    if is_array(value) and value and chance.random() < 0.8:
        place = chance.randrange(len(value))
        return [damaged(item, chance) if index == place else item for index, item in enumerate(value)]
    return chance.choice(JUNK)
