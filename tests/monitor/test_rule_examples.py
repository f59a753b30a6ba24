"""The examples on the page of the monitor's rules: the messages of the tests, with what the monitor says of them."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any, Final

import pytest

from acpgen import embedded, resources
from acpgen.adopt import layout
from acpgen.input.load import read_data
from monitor.cases import CASES, MCP_CASES
from monitor.scripts import Case, Said
from monitor.test_rules import hear
from monitor.test_rules import monitor as listener_of

FILE: Final = Path(__file__).parents[2] / "generator" / "acpgen" / "publish" / "monitor_examples.json"


def message(said: Said) -> dict[str, Any]:
    sender, value = said
    return {
        "from": sender,
        **({"text": value.decode("utf-8", "replace")} if isinstance(value, bytes) else {"message": value}),
    }


def example(case: Case) -> dict[str, Any]:
    """The message that breaks the rule, the one that it contradicts, and the sentence of the monitor."""
    listener = listener_of(case)
    breaches = [breach for said in case.said for breach in hear(listener, said)] + list(listener.finish())
    sentence = next(breach.sentence for breach in breaches if breach.rule == case.rule)
    earlier = {} if case.earlier is None else {"earlier": message(case.said[case.earlier])}
    return {
        **earlier,
        "bad": message(case.said[case.at]),
        "pointer": case.pointer,
        "says": sentence,
        "at_end": case.end,
    }


def text() -> str:
    first: dict[str, Case] = {}
    for case in (*CASES, *MCP_CASES):
        first.setdefault(case.rule, case)
    found = {rule: example(first[rule]) for rule in embedded.monitor.RULES}
    return layout.format_document(found)


def test_the_page_shows_of_each_rule_a_message_that_breaks_it(request: pytest.FixtureRequest) -> None:
    if request.config.getoption("rewrite_goldens"):
        assert not os.environ.get("CI"), "goldens are rewritten by people, and read before they are committed"
        FILE.write_text(text(), encoding="utf-8")
    assert FILE.read_text("utf-8") == text()
    assert set(read_data(resources.MONITOR_EXAMPLES)) == set(embedded.monitor.RULES)
