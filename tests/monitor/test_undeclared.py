"""What a message has that its type does not: the same whether its form was seen before or not."""

from __future__ import annotations

from collections.abc import Iterator
from copy import deepcopy
from random import Random
from typing import Any, Final

import pytest

from acp_monitor.undeclared import MAX_PLACES, Types
from acpgen.input.walk import is_array, is_object
from conformance.vectors import protocol

OTHERS: Final[tuple[Any, ...]] = (
    "tide",
    "_tide",
    "text",
    "end_turn",
    "",
    1,
    2,
    1.0,
    -1,
    True,
    False,
    None,
    [],
    {},
    ["tide"],
    {"tide": 1},
)


def places(value: Any) -> Iterator[tuple[Any, Any]]:
    """Each member of a value, as its holder and its key."""
    members: Any = value.items() if is_object(value) else enumerate(value) if is_array(value) else ()
    for key, member in members:
        yield value, key
        yield from places(member)


@pytest.mark.parametrize("name", ["acp/v1", "acp/v2"])
def test_what_is_remembered_of_shapes_changes_nothing(name: str) -> None:
    found, chance = protocol(name), Random(5)
    schema = found.bundle.schema
    remembering, forgetful, crowded = Types(schema), Types(schema, 0), Types(schema, 3)
    told = 0
    for vector in found.vectors:
        if vector.typed is None:
            continue
        root = [deepcopy(vector.value)]
        for _ in range(4):
            wanted = list(forgetful.find_undeclared(vector.typed, root[0]))
            told += bool(wanted)
            for types in (remembering, remembering, crowded):
                assert list(types.find_undeclared(vector.typed, root[0])) == wanted, (vector.typed, root)
            holder, key = chance.choice(list(places(root)))
            holder[key] = deepcopy(chance.choice(OTHERS))
    assert told > 1000


def test_a_message_of_more_places_than_are_looked_at_is_said_to_be_one_each_time() -> None:
    """Its shape is not remembered: that nothing was found in the part that was looked at says nothing of the rest."""
    types = Types(protocol("acp/v1").bundle.schema)
    block = {"type": "text", "text": "tide"}
    stopped: list[bool] = []
    for count in (10, MAX_PLACES // 2, MAX_PLACES // 2, 10):
        value = {"sessionId": "s", "prompt": [block] * count}
        assert not list(types.find_undeclared("PromptRequest", value, lambda: stopped.append(True)))
    assert len(stopped) == 2
