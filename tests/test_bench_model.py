"""The model that shipped agents are probed with: what it says and calls, in each of its interfaces."""

from __future__ import annotations

import json
import urllib.request
from typing import Any

import pytest

from bench import model

SCHEMA = {
    "type": "object",
    "properties": {"file_path": {"type": "string"}, "text": {"type": "string"}},
    "required": ["text"],
}
SHELL = {"type": "object", "properties": {"command": {"type": "string"}, "seconds": {"type": "number"}}}
TOOLS = {"Write": SCHEMA, "bash": SHELL}
WISH = "Read the file /w/notes.txt, write its first word to /w/result.txt, then run the command: echo ok"


def test_a_wish_is_met_with_the_tools_that_are_offered_one_after_the_other() -> None:
    told = [model.decided(model.Asked(WISH, done, TOOLS)) for done in range(3)]
    assert told == [
        model.Call("Write", {"file_path": "/w/result.txt", "text": "tide"}),
        model.Call("bash", {"command": "echo ok"}),
        None,
    ]
    assert model.decided(model.Asked("Reply with the single word ok.", 0, TOOLS)) is None


def _functions(key: str) -> list[dict[str, Any]]:
    return [{"name": name, key: schema} for name, schema in TOOLS.items()]


BODIES: dict[str, dict[str, Any]] = {
    "/v1/messages": {"messages": [{"role": "user", "content": WISH}], "tools": _functions("input_schema")},
    "/v1/chat/completions": {
        "messages": [{"role": "user", "content": [{"type": "text", "text": WISH}]}],
        "tools": [{"type": "function", "function": one} for one in _functions("parameters")],
    },
    "/v1/responses": {
        "input": [{"role": "user", "content": [{"type": "input_text", "text": WISH}]}],
        "tools": [{"type": "function", **one} for one in _functions("parameters")],
    },
    "/v1beta/models/tide:streamGenerateContent": {
        "contents": [{"role": "user", "parts": [{"text": WISH}]}],
        "tools": [{"functionDeclarations": _functions("parametersJsonSchema")}],
    },
}


@pytest.mark.parametrize("path", BODIES)
def test_every_interface_calls_the_same_tool(path: str) -> None:
    with model.served() as address:
        request = urllib.request.Request(f"{address}{path}", json.dumps(BODIES[path]).encode())
        with urllib.request.urlopen(request, timeout=20) as answer:
            text = answer.read().decode()
    events = [json.loads(line[6:]) for line in text.splitlines() if line.startswith("data: {")]
    assert events
    assert '"Write"' in text
    assert "/w/result.txt" in text
