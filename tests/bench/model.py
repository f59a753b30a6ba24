"""A model on loopback for the agents that `probes.py` starts: enough of four interfaces that their prompts work without a login.

It answers a prompt with one word, one that counts to three hundred slowly, and the probe's wish for a file, a change and a command with
calls of the tools that the agent offers for them. The interfaces: Anthropic messages, OpenAI chat completions and responses, Gemini.
"""

from __future__ import annotations

import contextlib
import gzip
import json
import re
import threading
import time
import uuid
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Final, TypeAlias

Json: TypeAlias = dict[str, Any]

WISH: Final = re.compile(r"Read the file (\S+), write its first word to (\S+), then run the command: (.+)")
TOOLS: Final = (
    ("read", "read_file", "view"),
    ("write", "write_file", "create_file"),
    ("bash", "run_shell_command", "exec_command", "shell"),
)
"""What agents call their tools for reading, writing and running."""

PAUSE: Final = 0.02
"""Seconds between two numbers."""


@dataclass(frozen=True)
class Asked:
    """A request: the last words of the user, how many tools have answered since, and the JSON Schema of each tool's arguments."""

    words: str = ""
    done: int = 0
    tools: Mapping[str, Json] = field(default_factory=dict[str, Json])


@dataclass(frozen=True)
class Call:
    """A call of a tool."""

    name: str
    arguments: Json

    @property
    def text(self) -> str:
        return json.dumps(self.arguments)


def decided(asked: Asked) -> Call | None:
    """The tool that comes next; `None` where words do."""
    wish = WISH.search(asked.words)
    names = {name.lower(): name for name in asked.tools}
    offered = [(kind, names[name]) for kind, known in enumerate(TOOLS) for name in known if name in names]
    if wish is None or asked.done >= len(offered):
        return None
    kind, name = offered[asked.done]
    here = {"path": wish[min(kind, 1) + 1], "command": wish[3]}
    return Call(name, _arguments(asked.tools[name], here))


def _arguments(schema: Json, here: Mapping[str, str]) -> Json:
    """Arguments that the schema of a tool requires, and those that name the path or the command."""
    properties: Mapping[str, Json] = schema.get("properties", {})
    found: Json = {}
    for name, one in properties.items():
        told = re.search(r"path|command|cmd", name, re.IGNORECASE)
        if told is not None:
            found[name] = here["path" if told[0].lower() == "path" else "command"]
        elif name in schema.get("required", ()):
            plain: Json = {"integer": 1, "number": 1, "boolean": False, "array": [], "object": {}}
            found[name] = one["enum"][0] if "enum" in one else plain.get(str(one.get("type")), "tide")
    return found


def _spoken(words: str) -> Iterator[str]:
    if "three hundred" not in words:
        yield "ok"
        return
    for number in range(1, 301):
        yield f"number {number}\n"
        time.sleep(PAUSE)


def _texts(content: Any) -> str:
    """The text of the content of a message, however it is written."""
    if isinstance(content, str):
        return content
    return " ".join(str(part.get("text", "")) for part in content or ())


def _asked(said: Sequence[tuple[str, int]], tools: Mapping[str, Json]) -> Asked:
    """The request behind messages of the user: their words, and how many answers of tools they hold."""
    words, done = "", 0
    for text, answers in said:
        if answers:
            done += answers
        elif text.strip():
            words, done = text, 0
    return Asked(words, done, tools)


# --- the interfaces --------------------------------------------------------------------------------------------------

Event: TypeAlias = Callable[[Any], None]
"""Sends an event of a stream: JSON, with its `type` as the event's name where it has one, or text."""


def _messages(body: Json, event: Event) -> None:
    """Anthropic messages."""
    users = [one["content"] for one in body["messages"] if one["role"] == "user"]
    counts = [
        0 if isinstance(content, str) else sum(part.get("type") == "tool_result" for part in content)
        for content in users
    ]
    tools = {one["name"]: one.get("input_schema", {}) for one in body.get("tools", ())}
    asked = _asked([*zip(map(_texts, users), counts, strict=True)], tools)
    call = decided(asked)
    usage = {"input_tokens": 1, "output_tokens": 1}
    message = {"id": f"msg_{uuid.uuid4().hex}", "type": "message", "role": "assistant", "model": "tide", "usage": usage}
    event({"type": "message_start", "message": {**message, "content": [], "stop_reason": None, "stop_sequence": None}})
    deltas: Iterator[Json]
    if call is None:
        block: Json = {"type": "text", "text": ""}
        deltas = ({"type": "text_delta", "text": text} for text in _spoken(asked.words))
    else:
        block = {"type": "tool_use", "id": f"toolu_{uuid.uuid4().hex}", "name": call.name, "input": {}}
        deltas = iter([{"type": "input_json_delta", "partial_json": call.text}])
    event({"type": "content_block_start", "index": 0, "content_block": block})
    for delta in deltas:
        event({"type": "content_block_delta", "index": 0, "delta": delta})
    event({"type": "content_block_stop", "index": 0})
    reason = "end_turn" if call is None else "tool_use"
    event({"type": "message_delta", "delta": {"stop_reason": reason, "stop_sequence": None}, "usage": usage})
    event({"type": "message_stop"})


def _completions(body: Json, event: Event) -> None:
    """OpenAI chat completions."""
    said = [
        (_texts(one.get("content")), int(one["role"] == "tool"))
        for one in body["messages"]
        if one["role"] in ("user", "tool")
    ]
    functions = [one["function"] for one in body.get("tools") or () if "function" in one]
    asked = _asked(said, {one["name"]: one.get("parameters", {}) for one in functions})
    call = decided(asked)
    base = {"id": uuid.uuid4().hex, "object": "chat.completion.chunk", "created": int(time.time()), "model": "tide"}

    def chunk(delta: Json, reason: str | None = None) -> None:
        event({**base, "choices": [{"index": 0, "delta": delta, "finish_reason": reason}]})

    chunk({"role": "assistant", "content": ""})
    if call is None:
        for text in _spoken(asked.words):
            chunk({"content": text})
    else:
        function = {"name": call.name, "arguments": call.text}
        chunk(
            {"tool_calls": [{"index": 0, "id": f"call_{uuid.uuid4().hex}", "type": "function", "function": function}]}
        )
    chunk({}, "stop" if call is None else "tool_calls")
    event({**base, "choices": [], "usage": {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}})
    event("[DONE]")


def _responses(body: Json, event: Event) -> None:
    """OpenAI responses."""
    said = [
        (_texts(one.get("content")), int(str(one.get("type")).endswith("_output")))
        for one in body["input"]
        if one.get("role", "user") == "user"
    ]
    tools = {one["name"]: one.get("parameters", {}) for one in body.get("tools") or () if one.get("type") == "function"}
    asked = _asked(said, tools)
    call = decided(asked)
    count = iter(range(1 << 20))

    def send(kind: str, **more: Any) -> None:
        event({"type": kind, "sequence_number": next(count), **more})

    response = {"id": f"resp_{uuid.uuid4().hex}", "object": "response", "created_at": int(time.time()), "model": "tide"}
    send("response.created", response={**response, "status": "in_progress", "output": []})
    if call is None:
        item: Json = {"type": "message", "id": "m", "role": "assistant", "status": "completed", "content": []}
        send("response.output_item.added", output_index=0, item=item)
        texts: list[str] = []
        for text in _spoken(asked.words):
            texts.append(text)
            send("response.output_text.delta", item_id="m", output_index=0, content_index=0, delta=text)
        item["content"] = [{"type": "output_text", "text": "".join(texts), "annotations": []}]
    else:
        item = {"type": "function_call", "id": "f", "name": call.name, "arguments": call.text, "status": "completed"}
        item["call_id"] = f"call_{uuid.uuid4().hex}"
        send("response.output_item.added", output_index=0, item=item)
    send("response.output_item.done", output_index=0, item=item)
    usage: Json = {"input_tokens": 1, "output_tokens": 1, "total_tokens": 2}
    usage |= {"input_tokens_details": {"cached_tokens": 0}, "output_tokens_details": {"reasoning_tokens": 0}}
    send("response.completed", response={**response, "status": "completed", "output": [item], "usage": usage})


def _contents(body: Json, event: Event) -> None:
    """Gemini."""
    said = [
        (_texts(one["parts"]), sum("functionResponse" in part for part in one["parts"]))
        for one in body["contents"]
        if one.get("role") != "model"
    ]
    functions = [one for tool in body.get("tools") or () for one in tool.get("functionDeclarations", ())]
    tools = {one["name"]: one.get("parametersJsonSchema") or one.get("parameters", {}) for one in functions}
    asked = _asked(said, tools)
    call = decided(asked)
    usage = {"promptTokenCount": 1, "candidatesTokenCount": 1, "totalTokenCount": 2}

    def send(part: Json, **more: str) -> None:
        content = {"role": "model", "parts": [part]}
        event({"candidates": [{"content": content, "index": 0, **more}], "usageMetadata": usage})

    if call is not None:
        send({"functionCall": {"name": call.name, "args": call.arguments}}, finishReason="STOP")
        return
    for text in _spoken(asked.words):
        send({"text": text})
    send({"text": ""}, finishReason="STOP")


INTERFACES: Final = {
    "/messages": _messages,
    "/chat/completions": _completions,
    "/responses": _responses,
    ":streamGenerateContent": _contents,
}
"""What answers a request, by the end of its path."""


class _Handler(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        self._whole({"object": "list", "data": [{"id": "tide", "object": "model", "created": 1, "owned_by": "acpgen"}]})

    def do_POST(self) -> None:
        path = self.path.partition("?")[0]
        length = int(self.headers.get("content-length", 0))
        read = self.rfile.read(length)
        body = json.loads(gzip.decompress(read) if self.headers.get("content-encoding") == "gzip" else read)
        answer = next((answer for end, answer in INTERFACES.items() if path.endswith(end)), None)
        if answer is None:
            parts = [
                {"text": json.dumps({"reasoning": "tide", "model_choice": "flash"})}
            ]  # Gemini CLI asks which model
            candidate = {"content": {"role": "model", "parts": parts}, "index": 0, "finishReason": "STOP"}
            self._whole({"candidates": [candidate], "input_tokens": 1, "totalTokens": 1})
            return
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.end_headers()
        with contextlib.suppress(ConnectionError):
            answer(body, self._event)

    def _event(self, value: Any) -> None:
        name = f"event: {value['type']}\n" if isinstance(value, dict) and "type" in value else ""
        data = value if isinstance(value, str) else json.dumps(value)
        self.wfile.write(f"{name}data: {data}\n\n".encode())
        self.wfile.flush()

    def _whole(self, value: Any) -> None:
        data = json.dumps(value).encode()
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - its name there
        """Say nothing."""


@contextlib.contextmanager
def served() -> Generator[str]:
    """The address of the model as long as the context lasts."""
    with ThreadingHTTPServer(("127.0.0.1", 0), _Handler) as server:
        server.daemon_threads = True
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_address[1]}"
        finally:
            server.shutdown()
            thread.join()
