"""A message that is judged at once has the verdict that its envelope and its payload have, judged one after the other."""

from __future__ import annotations

import copy
import random
from collections import Counter
from dataclasses import asdict
from typing import Any, Final

import pytest

from jsonrpc_bindings.contract import Method
from jsonrpc_bindings.json_types import is_object
from jsonrpc_bindings.module_registry import SchemaModule
from jsonrpc_bindings.strict import Strict
from validators.judges import NAMES, subject

ABSENT: Final[Any] = object()

METHODS: Final[tuple[Method[Any, Any], ...]] = (
    Method("move", "table", "request", "Move", "Move"),
    Method("draw", "player", "request", "Maybe", "Maybe", omitted="null"),
    Method("list", "table", "request", "List", "List", omitted="array"),
    Method("odd", "table", "request", "Maybe", "Maybe"),
    Method("none", "table", "request", "Move", None, omitted="nothing"),
    Method("strict", "table", "request", "Move", "Move", omitted="refused"),
    Method("free", "table", "request", None, None),
    Method("ping", "both", "request", "Open", "Open"),
    Method("$/stop", "protocol", "notification", "Move"),
    Method("$/ask", "protocol", "request", "Open", "Open"),
    Method("tick", "player", "notification", "Move"),
    Method("move", "player", "notification", "Open"),
)

DEFINITIONS: Final[dict[str, Any]] = {
    "Move": {"type": "object", "properties": {"square": {"type": "string"}}, "required": ["square"]},
    "Open": {"type": "object"},
    "Maybe": {"anyOf": [{"$ref": "#/$defs/Move"}, {"type": "null"}]},
    "List": {"type": "array", "items": {"type": "integer"}},
}
ID: Final = {"RequestId": {"type": ["integer", "string"]}}
NULL_ID: Final = {"RequestId": {"type": ["integer", "string", "null"]}}
ERROR: Final = {"Error": {"type": "object", "required": ["code"], "properties": {"code": {"const": 7}}}}

PROTOCOLS: Final[dict[str, tuple[dict[str, Any], dict[str, Any]]]] = {
    "plain": ({}, {}),
    "batch": ({"batch": True}, ID),
    "unversioned": ({"envelope": "json-rpc-unversioned"}, ERROR),
    "null id": ({}, {**NULL_ID, **ERROR}),
}

MEMBERS: Final[dict[str, tuple[Any, ...]]] = {
    "jsonrpc": ("2.0", "2.0", "2.0", "2.0", ABSENT, "1.0", 2.0, None),
    "id": (1, 1, "x", ABSENT, ABSENT, None, 1.0, 1.5, True, {}, 10**30, ""),
    "method": (*(row.name for row in METHODS), ABSENT, ABSENT, ABSENT, ABSENT, "_own", "other", 5, None),
    "params": (ABSENT, None, {"square": "a"}, {"square": "a"}, {"square": 1}, {}, [], [1], ["a"], 3),
    "result": (*(ABSENT,) * 8, {"square": "a"}, {"square": "a"}, {}, None, [1], 3),
    "error": (*(ABSENT,) * 9, {"code": 7, "message": "m"}, {"code": 1, "message": "m"}, {}, None),
    "more": (ABSENT, ABSENT, 1),
}


class Stepwise(Strict):
    """Judges envelope and payload one after the other."""

    def _is_right(self, value: Any, sender: str, method: str | None, is_read: bool) -> bool:  # noqa: ARG002
        return False


def drawn(chance: random.Random) -> dict[str, Any]:
    """A message of any members."""
    chosen = {name: chance.choice(values) for name, values in MEMBERS.items()}
    if chosen["result"] is not ABSENT and chance.random() < 0.9:
        chosen["method"] = chosen["params"] = ABSENT
    return {name: value for name, value in chosen.items() if value is not ABSENT}


def of(kind: type[Strict], said: dict[str, Any], definitions: dict[str, Any]) -> Strict:
    schema = {
        "$defs": {**DEFINITIONS, **definitions},
        "x-protocol": {"name": "chess", "version": 1, "sides": ["table", "player"], **said},
    }
    return kind(METHODS, SchemaModule("", lambda: schema))


@pytest.mark.parametrize("name", PROTOCOLS)
def test_an_ordinary_message_has_the_verdict_of_single_steps_whatever_the_envelope(name: str) -> None:
    whole, stepwise = of(Strict, *PROTOCOLS[name]), of(Stepwise, *PROTOCOLS[name])
    chance, verdicts = random.Random(name), Counter[bool]()
    for _ in range(2000):
        message: Any = drawn(chance)
        if name == "batch" and chance.random() < 0.5:
            message = [drawn(chance) for _ in range(chance.choice((0, 1, 2)))]
        sender, method = (
            chance.choice(("table", "player")),
            chance.choice((None, *(row.name for row in METHODS), "_own")),
        )
        found = whole.validate(message, sender=sender, method=method)
        assert found == stepwise.validate(message, sender=sender, method=method), (message, sender, method)
        assert found == whole.judge(copy.deepcopy(message), sender=sender, method=method)
        verdicts[not found] += 1
    assert min(verdicts.values()) > 50, verdicts


@pytest.mark.parametrize("name", NAMES)
def test_the_published_protocols_have_it_too(name: str) -> None:
    strict = subject(name).strict
    stepwise, chance = Stepwise(strict.contract.methods, strict.schema_module), random.Random(name)
    rows = strict.contract.methods
    definitions = strict.schema_module.definitions
    for _ in range(500):
        row = chance.choice(rows)
        examples: list[Any] = [{}, *definitions.get(row.params or "", {}).get("examples", ())]
        message = {**drawn(chance), "method": row.name, "params": chance.choice(examples)}
        sender = chance.choice(strict.contract.sides)
        found, wanted = (list(map(asdict, one.validate(message, sender=sender))) for one in (strict, stepwise))
        assert found == wanted, message


def test_methods_that_no_schema_has_leave_nothing_behind() -> None:
    strict = of(Strict, {}, {})
    sizes = set[int]()
    for number in range(40):
        strict.validate({"jsonrpc": "2.0", "id": 1, "method": f"other {number}", "params": {}}, sender="player")
        strict.validate({"jsonrpc": "2.0", "id": 1, "result": {}}, sender="table", method=f"_own {number}")
        sizes.add(sum(len(kept) for kept in vars(strict).values() if is_object(kept)))
    assert len(sizes) == 1
