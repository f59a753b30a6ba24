"""A rule that is not asked about a message would have said nothing: a monitor that asks every rule about everything says the same."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, Final

import pytest
from acp_bindings.v1.methods import STRICT as V1
from acp_bindings.v2.methods import STRICT as V2

import tiers
from acp_monitor import Monitor, observe
from acp_monitor.rules import RULES, Rule
from acp_monitor.shapes import Shapes
from monitor.cases import CASES
from monitor.quiet import QUIET
from monitor.scripts import Said
from monitor.test_alike import SHIPPED, Forgetful, drawn

SEES: Final = frozenset(rule.sees for rule in RULES.values())
CONVERSATIONS: Final = (*(case.said for case in CASES), *QUIET.values())


class Thorough(Monitor):
    """Asks each rule about every message of its kinds, methods and protocols, and remembers nothing of earlier messages."""

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self._alike = Forgetful()  # type: ignore[misc]  # pyright: ignore[reportAttributeAccessIssue]

    def _seen(self, event: Any) -> set[Any]:
        return super()._seen(event) | SEES

    def _rules(self, event: Any) -> tuple[Rule, ...]:
        strict = self._connection.strict
        spoken = "" if strict is None else strict.contract.name
        return tuple(
            rule
            for rule in RULES.values()
            if event.kind in rule.kinds and (not rule.methods or event.method in rule.methods)
            if not spoken.startswith("acp/v") or not rule.protocols or spoken in rule.protocols
        )

    def _look(self, event: Any, strict: Any) -> None:
        shapes = observe._shapes_of(strict)  # pyright: ignore[reportPrivateUsage]
        kept = set(shapes.plain)
        shapes.plain.clear()
        try:
            super()._look(event, strict)
        finally:
            shapes.plain.update(kept)


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
        for _ in range(2):  # the second time all forms are known
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


def test_forms_of_which_nothing_is_to_be_said_have_a_bound() -> None:
    shapes = Shapes(V1.schema, 3)
    for name in "abcdefg":
        shapes.keep_plain(shapes.form("PromptRequest", {name: 1}))
    assert len(shapes.plain) == 3
