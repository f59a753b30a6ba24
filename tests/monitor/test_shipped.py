"""Conversations with six agents as npm ships them: what the monitor says of them is theirs, and it says nothing else."""

from __future__ import annotations

import json
from typing import Any

import pytest

from acpgen.messages import validators
from commands import strict_once
from monitor.shipped import FOLDER, TABLE, conversation, kinds

EXPECTED: dict[str, Any] = json.loads(TABLE.read_text("utf-8"))
THEIRS: dict[str, set[tuple[str, str]]] = {
    # `additionalDirectories` is advertised and listed sessions have none; answers with a field that their types do not have.
    "claude-agent": {("required-once-advertised", "should"), ("field-unknown", "must")},
    "claude-code-zed": {("field-unknown", "must")},
    # A notification is answered, with an error that has no id.
    "codex": {("envelope-malformed", "must")},
    "gemini-cli": set(),
    "opencode": set(),
    "qwen-code": set(),
}
"""What each agent breaks, read line by line."""


def test_there_is_a_conversation_with_each_agent() -> None:
    assert {path.stem for path in FOLDER.glob("*.jsonl")} == set(EXPECTED) == set(THEIRS)


@pytest.mark.parametrize("name", THEIRS)
def test_what_the_monitor_says_of_a_shipped_agent_is_theirs(name: str) -> None:
    monitor = validators.make_monitor(strict_once(validators.find(protocol)) for protocol in validators.ACP)
    said = conversation(name)
    found = [breach for sender, message in said for breach in monitor.observe(sender, message)]
    assert kinds([*found, *monitor.finish()]) == EXPECTED[name]["said"]
    assert len(said) == EXPECTED[name]["messages"]
    assert {(one.rule, one.level) for one in found if one.level != "note"} == THEIRS[name]
    assert all(one.sender == "agent" for one in found), "the client of the recordings breaks nothing"


@pytest.mark.parametrize("name", THEIRS)
def test_every_sound_message_of_a_shipped_agent_comes_through_as_it_is(name: str) -> None:
    from acp_bindings import v1

    from jsonrpc_bindings.errors import DecodeError

    asked: dict[tuple[str, Any], str] = {}
    strict = strict_once(validators.find("acp/v1"))
    sender: Any
    for sender, message in conversation(name):
        method = message.get("method")
        if method is None:
            other = "agent" if sender == "client" else "client"
            method = asked.get((other, message.get("id")))
        elif "id" in message:
            asked[sender, message["id"]] = method
        try:
            decoded = v1.decode(json.dumps(message), sender=sender, method=method)
        except DecodeError:
            assert strict.judge(message, sender=sender, method=method)
        else:
            assert json.loads(v1.encode(decoded)) == message
