"""A client of ACP that does everything right; or, with the name of a defect, one thing wrong. It talks over its own standard streams.

    python client.py [DEFECT] [VERSION]

It opens one session in the current folder, sends a prompt, and ends when the turn has ended.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any, TypeGuard

DEFECT = sys.argv[1] if len(sys.argv) > 1 else ""
VERSION = int(sys.argv[2]) if len(sys.argv) > 2 else 1
HERE = str(Path.cwd())
SERVED: dict[str, Any] = {
    "fs": {"readTextFile": True, "writeTextFile": False},
    "terminal": True,
    "elicitation": {"form": {}},
}
INT64 = range(-(2**63), 2**63)


def is_object(value: Any) -> TypeGuard[dict[str, Any]]:
    return isinstance(value, dict)


def send(message: Any) -> None:
    sys.stdout.buffer.write(json.dumps(message, ensure_ascii=False).encode() + b"\n")
    sys.stdout.buffer.flush()


def call(id_: Any, method: str, params: Any) -> None:
    send({"jsonrpc": "2.0", "id": id_, "method": method, "params": params})


def error(id_: Any, code: int, message: str) -> None:
    send({"jsonrpc": "2.0", "id": id_, "error": {"code": code, "message": message}})


def serve(method: str, params: Any) -> Any:
    if method == "session/request_permission":
        if DEFECT == "chooses what was not offered":
            return {"outcome": {"outcome": "selected", "optionId": "something-else"}}
        return {"outcome": {"outcome": "selected", "optionId": params["options"][0]["optionId"]}}
    if method == "elicitation/create":
        return {"action": "accept", "content": {}} if DEFECT == "accepts any mode" else {"action": "decline"}
    if VERSION == 1 and method == "fs/read_text_file" and DEFECT != "has no files":
        path = Path(params["path"])
        if not path.is_relative_to(HERE):
            raise KeyError("outside")
        return {"content": path.read_text()}
    if VERSION == 1 and method.startswith("terminal/"):
        return {
            "create": {"terminalId": "t1"},
            "wait_for_exit": {"exitCode": 0},
            "output": {"output": "ok\n", "truncated": False},
            "release": {},
        }.get(method.partition("/")[2])
    return None


def answer(message: Any) -> None:
    if not is_object(message) or message.get("jsonrpc") != "2.0" or not isinstance(message.get("method"), str):
        if not (is_object(message) and ("result" in message or "error" in message)):
            error(None, -32600, "Invalid Request")
        return
    if "id" not in message:
        if DEFECT == "answers notifications":
            error(None, -32601, "Method not found")
        if DEFECT == "ends at unknown completions" and message["method"] == "elicitation/complete":
            sys.exit(1)
        if DEFECT == "ends at early updates" and "available_commands_update" in json.dumps(message):
            sys.exit(1)
        if DEFECT == "ends at stale updates" and "acpgen-no-such-call" in json.dumps(message):
            sys.exit(1)
        if DEFECT == "ends at unknown updates" and "_acpgen.dev/tide" in json.dumps(message):
            sys.exit(1)
        return
    if DEFECT == "answers nothing":
        return
    id_ = message["id"]
    if "result" in message or not (id_ is None or isinstance(id_, str) or (type(id_) is int and id_ in INT64)):
        error(None, -32600, "Invalid Request")
        return
    try:
        result = serve(message["method"], message.get("params"))
    except (OSError, KeyError, TypeError):
        error(id_, -32002, "Resource not found")
        return
    if result is None:
        if DEFECT == "answers unknown methods":
            send({"jsonrpc": "2.0", "id": id_, "result": {}})
        else:
            error(id_, -32601, "Method not found")
        return
    send({"jsonrpc": "2.0", "id": id_, "result": result})


def awaited(id_: Any) -> Any:
    """What answers this request; what comes meanwhile is served."""
    while line := sys.stdin.buffer.readline():
        if not line.strip():
            continue
        try:
            message = json.loads(line.decode())
        except (ValueError, RecursionError):
            error(None, -32700, "Parse error")
            continue
        is_answer = is_object(message) and "method" not in message and message.get("id") == id_
        if is_answer and type(message.get("id")) is type(id_):
            return message
        answer(message)
    sys.exit(0)


def main() -> None:
    info = {"name": "right-client", "version": "1.0"}
    if DEFECT == "opens a session first":
        call("early", "session/new", {"cwd": HERE, "mcpServers": []})
        awaited("early")
    hello: dict[str, Any] = {"protocolVersion": 1, "clientInfo": info, "clientCapabilities": SERVED}
    if VERSION == 2:
        hello = {"protocolVersion": 2, "info": info, "capabilities": {"elicitation": {"form": {}}}}
    call("hello", "initialize", hello)
    version = awaited("hello")["result"]["protocolVersion"]
    if version != VERSION and DEFECT != "goes on with any version":
        return
    if DEFECT == "only greets":
        return
    call("new", "session/new", {"cwd": "." if DEFECT == "relative folder" else HERE, "mcpServers": []})
    session = awaited("new")["result"]["sessionId"]
    if DEFECT == "prompts with nothing":
        call("list", "session/prompt", {"sessionId": []})
        awaited("list")
        call("prompt", "session/prompt", {"sessionId": session})
        awaited("prompt")
    call("prompt", "session/prompt", {"sessionId": session, "prompt": [{"type": "text", "text": "Hello."}]})
    awaited("prompt")


if __name__ == "__main__":
    main()
