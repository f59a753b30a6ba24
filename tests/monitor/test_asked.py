"""A rule that is not asked about a message would have said nothing: a monitor that asks every rule about everything says the same."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, Final

import pytest
from acp_bindings.v1.methods import STRICT as V1
from acp_bindings.v2.methods import STRICT as V2

import tiers
from acp_monitor import RULES, Monitor, Rule
from acp_monitor.undeclared import Types, get_types
from monitor.cases import CASES
from monitor.drawn import SHIPPED, drawn
from monitor.quiet import QUIET
from monitor.scripts import Said

ASPECTS: Final = frozenset(rule.needs for rule in RULES.values())
CONVERSATIONS: Final = (*(case.said for case in CASES), *QUIET.values())


class Thorough(Monitor):
    """Asks each rule about every message of its kinds, methods, updates and protocols, and remembers nothing of earlier messages."""

    def _find_aspects(self, event: Any) -> set[Any]:
        return super()._find_aspects(event) | ASPECTS

    def _select_rules(self, event: Any) -> tuple[Rule, ...]:
        self._selected.clear()
        return super()._select_rules(event)

    def _look(self, event: Any, strict: Any, definition: str) -> None:
        remembered = get_types(strict)._known  # pyright: ignore[reportPrivateUsage]
        kept = remembered.copy()
        remembered.clear()
        try:
            super()._look(event, strict, definition)
        finally:
            remembered.update(kept)


def heard(monitor: Monitor, said: Sequence[Said]) -> list[Any]:
    """What is said of each message, and of the end."""
    found: list[Any] = []
    for sender, message in said:
        line = message if isinstance(message, bytes) else json.dumps(message).encode()
        found += [monitor.observe(sender, line), monitor.unjudged]
    return [*found, monitor.finish()]


@pytest.mark.parametrize(
    "protocols", [pytest.param((V1,), marks=pytest.mark.exhaustive), (V2,), (V1, V2)], ids=["v1", "v2", "both"]
)
def test_who_is_not_asked_has_nothing_to_say(protocols: tuple[Any, ...]) -> None:
    told = 0
    for said in CONVERSATIONS:
        wanted = heard(Thorough(protocols), said)
        for _ in range(2):  # the second time all shapes are known
            assert heard(Monitor(protocols), said) == wanted, said
        told += sum(map(len, wanted[::2]))
    assert told > 400


@pytest.mark.parametrize("seed", tiers.sample(range(20), 5))
def test_drawn_conversations(seed: int) -> None:
    for version in (1, 2):
        said = drawn(version, 1000 + seed)
        assert heard(Monitor((V1, V2)), said) == heard(Thorough((V1, V2)), said)


@pytest.mark.parametrize("file", SHIPPED, ids=lambda file: file.stem)
def test_recordings_of_shipped_agents(file: Any) -> None:
    rows = [json.loads(row) for row in file.read_text("utf-8").splitlines()]
    said = [(row["from"], row["message"]) for row in rows if "message" in row]
    assert heard(Monitor((V1, V2)), said) == heard(Thorough((V1, V2)), said)


def test_shapes_of_which_nothing_is_to_be_said_have_a_bound() -> None:
    types = Types(V1.schema, 3)
    for name in "abcdefg":
        assert not list(types.find_undeclared("PromptRequest", {"sessionId": "s", "prompt": [], "_meta": {name: 1}}))
    assert len(types._known) == 3  # pyright: ignore[reportPrivateUsage]
