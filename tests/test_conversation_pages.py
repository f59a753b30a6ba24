"""The conversations of the docs: each message is valid, and one after the other they break no rule of the monitor."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

import pytest

import published
from acpgen.input.load import load
from acpgen.meaning.understanding import understand
from acpgen.messages import validators
from acpgen.targets import docs
from acpgen.targets.docs import examples
from acpgen.targets.docs.conversations import Conversation, ConversationMessage, find_conversations
from acpgen.targets.interface import Settings

ROOT = Path(__file__).parents[1]
PROTOCOLS = ("acp/v1", "acp/v2", "mcp/2025-06-18")


@cache
def told(name: str) -> dict[str, Conversation]:
    protocol, bundle = published.version(name).protocol, published.version(name).bundle
    judge = examples.ExampleJudge(bundle)
    found = examples.collect_examples(protocol, judge)
    every = {**found, **examples.generate_examples(protocol, judge, found)}
    return {each.scenario.name: each for each in find_conversations(protocol, bundle, every)}


@cache
def pages(name: str) -> dict[str, str]:
    book = docs.build(published.version(name).protocol, published.version(name).bundle, Settings())
    return {page.path: page.text for page in docs.write_pages(book, {}, for_site=True)}


@cache
def strict(name: str) -> Any:
    return validators.read_strict(validators.find(name))


def renumbered(spoken: Sequence[ConversationMessage], first: int) -> list[tuple[str, dict[str, Any]]]:
    """Messages after others: their ids go on where those ended."""
    found: list[tuple[str, dict[str, Any]]] = []
    for each in spoken:
        assert each.value is not None, each.anchor
        message: dict[str, Any] = {**each.value}
        if "id" in message:
            message["id"] += first
        found.append((each.sender, message))
    return found


def before(name: str, conversation: Conversation) -> list[tuple[str, dict[str, Any]]]:
    """What a conversation rests on: the handshake, and for what speaks of a session, that it was opened."""
    if conversation.scenario.name == "connection":
        return []
    opening = told(name)["connection"].messages
    found = renumbered(opening[: 3 if name.startswith("mcp/") else 2], 100)
    needs = {each.step.method.name for each in conversation.messages}
    if name.startswith("acp/") and not needs & {"session/new", "session/load"}:
        opened = told(name)["turn" if "turn" in told(name) else "work"].messages[:2]
        found += renumbered(opened, 200)
    return found


PLANS = {
    "acp/v1": ("connection", "turn", "cancelling", "coming-back", "ending", "terminals"),
    "acp/v2": ("connection", "work", "stopping", "coming-back", "ending"),
    "mcp/2025-06-18": ("connection", "roots"),
}
CASES = [(name, plan) for name, plans in PLANS.items() for plan in plans]


@pytest.mark.parametrize("name", PROTOCOLS)
def test_every_conversation_is_looked_at(name: str) -> None:
    assert tuple(told(name)) == PLANS[name]


@pytest.mark.parametrize(("name", "plan"), CASES, ids=[f"{name}-{plan}" for name, plan in CASES])
def test_the_monitor_finds_no_breach_in_a_conversation_of_the_docs(name: str, plan: str) -> None:
    conversation = told(name)[plan]
    monitor = validators.make_monitor([strict(name)], fixed=True)
    said = [*before(name, conversation), *renumbered(conversation.messages, 0)]
    found = [breach for sender, message in said for breach in monitor.observe(sender, message)]
    found += monitor.finish()
    assert not [(breach.rule, breach.sentence) for breach in found if breach.level != "note"]


@pytest.mark.parametrize(("name", "plan"), CASES, ids=[f"{name}-{plan}" for name, plan in CASES])
def test_the_page_of_a_conversation_shows_every_message_and_each_arrow_leads_to_one(name: str, plan: str) -> None:
    conversation = told(name)[plan]
    page = pages(name)[f"conversations/{plan}.md"]
    shown = [json.loads(text) for text in re.findall(r"^```json\n(.*?)^```", page, re.MULTILINE | re.DOTALL)]
    assert shown == [each.value for each in conversation.messages]
    anchors = [each.anchor for each in conversation.messages]
    assert re.findall(r'<a id="([^"]+)"></a>', page) == anchors
    assert re.findall(r'<a href="#([^"]+)">', page) == anchors
    overview = pages(name)["index.md"]
    assert all(f'href="conversations/{plan}.md#{anchor}"' in overview for anchor in anchors)


def test_an_answer_has_the_id_of_its_request_and_goes_the_other_way() -> None:
    for name in PROTOCOLS:
        for conversation in told(name).values():
            asked = {e.step.method.name: e for e in conversation.messages if not e.step.is_answer}
            for each in conversation.messages:
                if each.step.is_answer and each.value is not None:
                    request = asked[each.step.method.name]
                    assert (each.sender, each.receiver) == (request.receiver, request.sender)


def test_a_message_speaks_of_the_variant_and_the_word_that_the_plan_names() -> None:
    (idle,) = [e for e in told("acp/v2")["work"].messages if e.step.carries == ("state_update", "idle")]
    assert idle.value is not None
    text = json.dumps(idle.value)
    assert '"sessionUpdate": "state_update"' in text and '"state": "idle"' in text
    (cancelled,) = [e for e in told("acp/v1")["cancelling"].messages if e.anchor == "session-prompt-answer-cancelled"]
    assert cancelled.value is not None and cancelled.value["result"] == {"stopReason": "cancelled"}


def test_a_conversation_keeps_to_one_session_and_one_tool_call() -> None:
    for name in ("acp/v1", "acp/v2"):
        for conversation in told(name).values():
            sessions = {
                str(params["sessionId"])
                for each in conversation.messages
                if each.value is not None
                and isinstance(params := each.value.get("params"), dict)
                and "sessionId" in params
            }
            assert len(sessions) <= 1, (name, conversation.scenario.name, sessions)


def test_the_page_of_a_method_leads_to_the_conversations_that_it_takes_part_in() -> None:
    page = pages("acp/v1")["methods/session_request_permission.md"]
    assert "../conversations/turn.md#session-request_permission" in page
    assert "../conversations/cancelling.md#session-request_permission" in page


def test_a_protocol_whose_sides_have_other_names_has_no_conversations(tmp_path: Path) -> None:
    schema = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$defs": {"GoRequest": {"type": "object", "x-method": "initialize", "x-side": "server"}},
    }
    (tmp_path / "x.json").write_text(json.dumps(schema))
    protocol, bundle = understand(load(tmp_path, name="x"))
    assert find_conversations(protocol, bundle, {}) == ()
