"""An agent of ACP, versions 1 and 2, that does everything right; or, with the name of a defect, one thing wrong.

    python agent.py [DEFECT]

It needs nothing but Python. Each prompt runs in a thread of its own.
"""

from __future__ import annotations

import json
import os
import sys
import threading
import time
from itertools import count
from pathlib import Path
from typing import Any, TypeGuard

DEFECT = sys.argv[1] if len(sys.argv) > 1 else ""
LOGINS: dict[str, list[dict[str, Any]]] = {
    "has a login": [{"id": "browser", "name": "Log in"}],
    "needs a login that it offers": [{"id": "browser", "name": "Log in"}],
    "has a login in a terminal": [{"id": "tty", "name": "Log in", "type": "terminal", "args": ["login"]}],
    "has an old login in a terminal": [{"id": "tty", "name": "Log in", "_meta": {"terminal-auth": {"command": "x"}}}],
    "has a login by a variable": [{"id": "key", "name": "Key", "type": "env_var", "vars": [{"name": "KEY"}]}],
    "has one id for two logins": [{"id": "a", "name": "A"}, {"id": "a", "name": "B"}],
}
"""What some offer to log in with, in version 1."""

INT64 = range(-(2**63), 2**63)


def is_object(value: Any) -> TypeGuard[dict[str, Any]]:
    return isinstance(value, dict)


def inside(value: Any, *path: str) -> Any:
    for step in path:
        value = value.get(step) if is_object(value) else None
    return value


def is_array(value: Any) -> TypeGuard[list[Any]]:
    return isinstance(value, list)


class Failed(Exception):
    def __init__(self, code: int, message: str) -> None:
        super().__init__(message)
        self.code = code


class Session:
    def __init__(self, cwd: str) -> None:
        self.cwd = cwd
        self.cancelled = threading.Event()
        self.turn: threading.Thread | None = None
        self.history: list[Any] = []


class Agent:
    def __init__(self) -> None:
        self.version = 1
        self.lock = threading.RLock()
        self.sessions: dict[str, Session] = {}
        self.stored: dict[str, Session] = {}
        self.names, self.ids, self.messages = count(1), count(1), count(1)
        self.waiting: dict[Any, tuple[threading.Event, list[Any]]] = {}
        self.is_greeted = False
        self.offered: dict[str, Any] = {}

    # --- the wire ---

    def send(self, message: Any) -> None:
        data = json.dumps(message, ensure_ascii=DEFECT == "ascii").encode() + b"\n"
        with self.lock:
            sys.stdout.buffer.write(data)
            sys.stdout.buffer.flush()

    def run(self) -> None:
        buffer = sys.stdin.buffer
        while line := buffer.readline():
            if DEFECT == "splits at separators":
                for piece in line.decode("utf-8", "replace").splitlines():
                    self.line(piece.encode())
                continue
            if DEFECT == "ends at a long line" and len(line) > 1 << 16:
                sys.exit(1)
            self.line(line)
        if DEFECT == "goes on after the end":
            time.sleep(60)

    def line(self, line: bytes) -> None:
        if not line.strip():
            if DEFECT == "ends at a blank line":
                os._exit(1)
            return
        try:
            message = json.loads(line.decode())
        except (ValueError, RecursionError):
            if DEFECT == "ends at junk":
                os._exit(1)
            self.error(None, -32700, "Parse error")
            return
        if is_array(message) and self.version == 2:
            self.batch(message)
            return
        answer = self.answer(message)
        if answer is not None:
            self.send(answer)

    def batch(self, messages: list[Any]) -> None:
        if not messages:
            self.error(None, -32600, "Invalid Request")
            return
        answers = [answer for answer in map(self.answer, messages) if answer is not None]
        if answers or DEFECT == "answers a batch of notifications":
            self.send(answers)

    def answer(self, message: Any) -> Any:
        invalid = {"jsonrpc": "2.0", "id": None, "error": {"code": -32600, "message": "Invalid Request"}}
        if not is_object(message) or message.get("jsonrpc") != "2.0":
            return invalid
        if "method" not in message and ("result" in message or "error" in message):
            waiting = self.waiting.pop(repr(message.get("id")), None)
            if waiting is not None:
                waiting[1].append(message)
                waiting[0].set()
            return None
        method, params, id_ = message.get("method"), message.get("params", {}), message.get("id")
        is_request = "id" in message
        known = id_ is None or isinstance(id_, str) or (type(id_) is int and id_ in INT64)
        if not isinstance(method, str) or "result" in message or (is_request and not known):
            return invalid
        if not is_request:
            self.notice(method, params)
            if DEFECT == "answers notifications":
                return {"jsonrpc": "2.0", "id": None, "error": {"code": -32601, "message": "Method not found"}}
            return None
        try:
            result = self.serve(method, params, id_)
        except Failed as error:
            return {"jsonrpc": "2.0", "id": self.echo(id_), "error": {"code": error.code, "message": str(error)}}
        return None if result is None else {"jsonrpc": "2.0", "id": self.echo(id_), "result": result}

    def echo(self, id_: Any) -> Any:
        if DEFECT == "ids as text":
            return str(id_)
        if DEFECT == "ids as doubles" and type(id_) is int:
            return int(float(id_))
        if DEFECT == "negative ids" and type(id_) is int:
            return abs(id_)
        if DEFECT == "empty id" and id_ == "":
            return None
        return id_

    def error(self, id_: Any, code: int, message: str) -> None:
        self.send({"jsonrpc": "2.0", "id": id_, "error": {"code": code, "message": message}})

    def ask(self, method: str, params: Any, moot: threading.Event | None = None) -> Any:
        id_, event = f"agent-{next(self.ids)}", threading.Event()
        found: list[Any] = []
        self.waiting[repr(id_)] = (event, found)
        self.send({"jsonrpc": "2.0", "id": id_, "method": method, "params": params})
        for _ in range(600):
            if event.wait(0.05) or (moot is not None and moot.is_set()):
                break
        return found[0] if found else {}

    def update(self, session: str, update: Any) -> None:
        self.send({"jsonrpc": "2.0", "method": "session/update", "params": {"sessionId": session, "update": update}})

    # --- what it serves ---

    def notice(self, method: str, params: Any) -> None:
        if method != "session/cancel":
            if DEFECT == "ends at unknown notifications":
                os._exit(1)
            return
        name = params.get("sessionId") if is_object(params) else None
        session = self.sessions.get(name) if isinstance(name, str) else None
        if session is None:
            if DEFECT == "ends at unknown sessions":
                os._exit(1)
            return
        if DEFECT != "ignores cancel":
            session.cancelled.set()

    def serve(self, method: str, params: Any, id_: Any) -> Any:
        if DEFECT == "silent about extensions" and method.startswith("_"):
            return None
        if DEFECT == "silent about unknown methods" and not hasattr(self, "do_" + method.replace("/", "_")):
            return None
        known = getattr(self, "do_" + method.replace("/", "_"), None)
        if known is None:
            if DEFECT == "answers unknown methods":
                return {}
            raise Failed(-32603 if DEFECT == "wrong code" else -32601, "Method not found")
        if not self.is_greeted and method != "initialize":
            if DEFECT == "ends at early requests":
                os._exit(1)
            raise Failed(-32600, "initialize first")
        if not is_object(params):
            raise Failed(-32602, "Invalid params")
        return known(params, id_)

    def text(self, params: Any, name: str) -> str:
        value = params.get(name)
        if not isinstance(value, str):
            raise Failed(-32603 if DEFECT == "internal error for params" else -32602, f"{name} is required")
        return value

    def do_initialize(self, params: Any, _: Any) -> Any:
        wanted = params.get("protocolVersion")
        if self.is_greeted and DEFECT != "is initialized twice":
            raise Failed(-32600, "initialize was answered already")
        if type(wanted) is not int:
            if DEFECT == "ends at malformed versions":
                os._exit(1)
            raise Failed(-32602, "protocolVersion is required")
        if DEFECT == "refuses newer versions" and wanted > 2:
            raise Failed(-32602, "unknown version")
        if DEFECT == "refuses _meta" and "_meta" in params:
            raise Failed(-32602, "unknown field _meta")
        self.version = wanted if wanted in (1, 2) else 2
        if DEFECT == "agrees on any version":
            self.version = wanted
        if DEFECT == "only version 1 when asked for more":
            self.version = 1 if wanted != 2 else 2
        if DEFECT == "needs a login" or DEFECT in LOGINS:
            self.version = 1
        self.is_greeted = True
        self.offered = params.get("clientCapabilities") or params.get("capabilities") or {}
        info = {"name": "right-agent", "version": "1.0"}
        prompt = {"image": True, "audio": True, "embeddedContext": True}
        offered: dict[str, Any] = {"list": {}, "resume": {}, "close": {}, "delete": {}, "fork": {}}
        result: dict[str, Any] = {
            "protocolVersion": self.version,
            "agentInfo": info,
            "agentCapabilities": {"loadSession": True, "promptCapabilities": prompt, "sessionCapabilities": offered},
        }
        if self.version == 2:
            session: dict[str, Any] = {"prompt": {name: {} for name in prompt}, "delete": {}, "fork": {}}
            result = {"protocolVersion": 2, "info": info, "capabilities": {"session": session}}
        if DEFECT == "text between messages":
            print("Welcome to the agent!", flush=True)
        if DEFECT in LOGINS:
            can = inside(self.offered, "auth", "terminal") is True
            result["authMethods"] = [one for one in LOGINS[DEFECT] if can or one.get("type") != "terminal"]
        if DEFECT == "has no name":
            result.pop("agentInfo", None)
        return result

    def do_session_new(self, params: Any, _: Any) -> Any:
        cwd = self.text(params, "cwd")
        servers = params.get("mcpServers", [])
        if not is_array(servers) or not all(is_object(one) for one in servers):
            raise Failed(-32602, "mcpServers is a list")
        if self.version == 2 and DEFECT != "takes any transport":
            for one in servers:
                if one.get("type") not in ("stdio", "http"):
                    raise Failed(-32602, "no such transport")
        if self.version == 1 and "mcpServers" not in params:
            raise Failed(-32602, "mcpServers is required")
        if DEFECT in ("needs a login", "needs a login that it offers"):
            raise Failed(-32000, "Authentication required")
        name = "the-session" if DEFECT == "one id for all sessions" else f"session-{os.getpid()}-{next(self.names)}"
        self.sessions[name] = self.stored[name] = Session(cwd)
        result: dict[str, Any] = {"sessionId": 5 if DEFECT == "number for a session" else name}
        if self.version == 1:
            result["modes"] = {
                "currentModeId": "ask",
                "availableModes": [{"id": "ask", "name": "Ask"}, {"id": "code", "name": "Code"}],
            }
        result["configOptions"] = self.options()
        return result

    def options(self) -> list[Any]:
        """A choice with two values, of which the first is in force."""
        choices = [{"value": "spring", "name": "Spring"}, {"value": "neap", "name": "Neap"}]
        name = "id" if self.version == 1 else "configId"
        return [{name: "tide", "name": "Tide", "type": "select", "currentValue": "spring", "options": choices}]

    def do_session_set_config_option(self, params: Any, _: Any) -> Any:
        self.known(params)
        is_known = params.get("configId") == "tide" or DEFECT == "takes any option"
        is_value = params.get("type", "id") == "id" and params.get("value") in ("spring", "neap")
        if not is_known or not (is_value or DEFECT in ("takes any option", "takes any value")):
            raise Failed(-32602, "no such option or value")
        return {"configOptions": self.options()}

    def do_session_set_mode(self, params: Any, _: Any) -> Any:
        self.known(params)
        if self.text(params, "modeId") not in ("ask", "code") or DEFECT == "refuses its own modes":
            raise Failed(-32602, "no such mode")
        return {}

    def known(self, params: Any) -> str:
        name = self.text(params, "sessionId")
        file = Path.home() / f"{name}.json"
        if name not in self.stored and "/" not in name and file.exists():
            cwd, history = json.loads(file.read_text())
            self.stored[name] = Session(cwd)
            self.stored[name].history = history
        if name not in self.stored:
            raise Failed(-32002, "no such session")
        return name

    def do_session_list(self, params: Any, _: Any) -> Any:
        if params.get("cursor") is not None and DEFECT != "takes any cursor":
            raise Failed(-32602, "invalid cursor")
        cwd = params.get("cwd")
        rows = [{"sessionId": name, "cwd": session.cwd} for name, session in self.stored.items()]
        return {"sessions": [row for row in rows if cwd in (None, row["cwd"]) or DEFECT == "lists everything"]}

    def do_session_load(self, params: Any, _: Any) -> Any:
        return self.again(params, replays=DEFECT != "loads without history")

    def do_session_resume(self, params: Any, _: Any) -> Any:
        replay: Any = params.get("replayFrom") or {}
        replays = replay.get("type") == "start"
        return self.again(params, replays=replays or DEFECT == "resumes with history")

    def again(self, params: Any, *, replays: bool) -> Any:
        self.text(params, "cwd")
        if DEFECT == "opens any session" and params.get("sessionId") not in self.stored:
            return {}
        name = self.known(params)
        session = self.sessions[name] = self.stored[name]
        for update in session.history if replays else ():
            if DEFECT == "loads without the user" and update["sessionUpdate"].startswith("user_"):
                continue
            self.update(name, update)
        if self.version == 2:
            self.update(name, {"sessionUpdate": "state_update", "state": "idle"})
        return {}

    def do_session_fork(self, params: Any, _: Any) -> Any:
        self.text(params, "cwd")
        source = self.known(params)
        name = source if DEFECT == "forks under the old id" else f"session-{os.getpid()}-{next(self.names)}"
        self.sessions[name] = self.stored[name] = Session(params["cwd"])
        return {"sessionId": name}

    def do_session_close(self, params: Any, _: Any) -> Any:
        name = self.text(params, "sessionId")
        session = self.sessions.get(name)
        if session is not None:
            session.cancelled.set()
            if session.turn is not None and DEFECT != "closes before the turn ends":
                session.turn.join(10)
            self.sessions.pop(name, None)
        return {}

    def do_session_delete(self, params: Any, _: Any) -> Any:
        name = self.text(params, "sessionId")
        if name not in self.stored and DEFECT == "deletes only what is there":
            raise Failed(-32002, "no such session")
        self.sessions.pop(name, None)
        if DEFECT != "lists what was deleted":
            self.stored.pop(name, None)
            (Path.home() / f"{name}.json").unlink(missing_ok=True)
        return {}

    def do_session_prompt(self, params: Any, id_: Any) -> Any:
        name = self.text(params, "sessionId")
        blocks = params.get("prompt")
        if not is_array(blocks) or not all(is_object(one) and isinstance(one.get("type"), str) for one in blocks):
            raise Failed(-32602, "prompt is required")
        if name not in self.sessions:
            if DEFECT == "prompts in no session":
                return {"stopReason": "end_turn"} if self.version == 1 else {"messageId": "m"}
            raise Failed(-32002, "no such session")
        if DEFECT == "text alone" and any(one["type"] != "text" for one in blocks):
            raise Failed(-32602, "only text")
        if self.version == 2 and DEFECT != "takes any block" and any(one["type"].startswith("_") for one in blocks):
            raise Failed(-32602, "no such kind of content")
        session = self.sessions[name]
        session.cancelled.clear()
        message = f"user-{next(self.messages)}"
        if self.version == 2 and DEFECT in ("holds prompts", "fails at what is held") and "Count" in str(blocks):
            self.hold(session, id_)
            return None
        if self.version == 2 and DEFECT == "fails after insertion":
            self.update(name, {"sessionUpdate": "user_message", "messageId": message, "content": blocks})
            raise Failed(-32603, "the model is gone")
        session.turn = threading.Thread(target=self.turn, args=(name, session, blocks, id_, message), daemon=True)
        if self.version == 2 and DEFECT != "accepts too late":
            self.send({"jsonrpc": "2.0", "id": self.echo(id_), "result": {"messageId": message}})
        session.turn.start()
        return None

    def hold(self, session: Session, id_: Any) -> None:
        """Wait with a prompt, and never begin with it: it is cancelled."""

        def wait() -> None:
            session.cancelled.wait(20)
            self.error(self.echo(id_), -32800 if DEFECT == "holds prompts" else -32603, "cancelled")

        threading.Thread(target=wait, daemon=True).start()

    def turn(self, name: str, session: Session, blocks: list[Any], id_: Any, message: str) -> None:
        said = " ".join(str(one.get("text", "")) for one in blocks)
        if self.version == 2:
            self.update(name, {"sessionUpdate": "user_message", "messageId": message, "content": blocks})
            self.update(name, {"sessionUpdate": "state_update", "state": "running"})
        self.say(name, session, "user_message_chunk", blocks[0], message, told=False)
        reply = f"agent-{next(self.messages)}"
        self.say(name, session, "agent_message_chunk", {"type": "text", "text": "Ok."}, reply)
        if said.startswith("Count"):
            session.cancelled.wait(20)
        elif said.startswith("Read the file"):
            self.help(name, said)
        if "when cancelled" in DEFECT and session.cancelled.is_set():
            time.sleep(0.3)  # what came after the cancellation is answered first
        reason = "cancelled" if session.cancelled.is_set() and DEFECT != "end_turn when cancelled" else "end_turn"
        if DEFECT == "never ends a turn":
            return
        if self.version == 2:
            idle: dict[str, Any] = {"sessionUpdate": "state_update", "state": "idle", "stopReason": reason}
            if DEFECT == "no stop reason":
                del idle["stopReason"]
            if DEFECT == "fails in each turn":
                idle |= {"stopReason": "error", "error": {"code": -32603, "message": "the model is gone"}}
            self.update(name, idle)
            if DEFECT == "accepts too late":
                self.send({"jsonrpc": "2.0", "id": self.echo(id_), "result": {"messageId": message}})
            return
        if DEFECT == "error when cancelled" and session.cancelled.is_set():
            self.error(self.echo(id_), -32603, "aborted")
            return
        with self.lock:  # nothing comes between the two lines of the defect
            used = {"inputTokens": 1, "outputTokens": 1, "totalTokens": 2}
            more = {"usage": used} if DEFECT == "counts tokens" else {}
            self.send({"jsonrpc": "2.0", "id": self.echo(id_), "result": {"stopReason": reason, **more}})
            if DEFECT == "speaks after the end":
                self.say(name, session, "agent_message_chunk", {"type": "text", "text": "One more thing."}, reply)
        if DEFECT == "speaks long after the end":
            time.sleep(0.3)
            self.say(name, session, "agent_message_chunk", {"type": "text", "text": "One more thing."}, reply)

    def say(self, name: str, session: Session, kind: str, content: Any, message: str, told: bool = True) -> None:
        update = {"sessionUpdate": kind, "content": content, "messageId": message}
        session.history.append(update)
        (Path.home() / f"{name}.json").write_text(json.dumps([session.cwd, session.history]))
        if told:
            self.update(name, update)

    def help(self, name: str, said: str) -> None:
        """Read a file, write one and run a command, each if the client allows it."""
        words = said.split()
        notes, result = words[3].rstrip(","), words[9].rstrip(",")
        call = {"sessionUpdate": "tool_call" if self.version == 1 else "tool_call_update", "toolCallId": "call-1"}
        self.update(name, {**call, "title": "Write the first word", "kind": "edit", "status": "pending"})
        options = [
            {"optionId": "yes", "name": "Yes", "kind": "allow_once"},
            {"optionId": "no", "name": "No", "kind": "reject_once"},
        ]
        wish: dict[str, Any] = {"sessionId": name, "options": options}
        if self.version == 1:
            wish["toolCall"] = {"toolCallId": "call-1"}
        else:
            wish |= {"title": "May I write?", "subject": {"type": "tool_call", "toolCall": {"toolCallId": "call-1"}}}
        is_moot = self.version == 2 and DEFECT != "waits for permission"
        answer = self.ask("session/request_permission", wish, self.sessions[name].cancelled if is_moot else None)
        outcome: Any = inside(answer, "result", "outcome") or {}
        is_offered = "fs" in self.offered or DEFECT == "calls what is not advertised"
        if outcome.get("optionId") != "yes" or self.version == 2 or not is_offered:
            status = "completed" if outcome.get("optionId") == "yes" else "failed"
            self.wonder(name)
            self.update(name, {"sessionUpdate": "tool_call_update", "toolCallId": "call-1", "status": status})
            return
        read = self.ask("fs/read_text_file", {"sessionId": name, "path": notes})
        content = str(inside(read, "result", "content") or "")
        first = content.split()[0] if content.split() else ""
        self.ask("fs/write_text_file", {"sessionId": name, "path": result, "content": first})
        made = self.ask("terminal/create", {"sessionId": name, "command": "echo", "args": ["ok"]})
        terminal: Any = inside(made, "result", "terminalId")
        if terminal is not None:
            here = {"sessionId": name, "terminalId": terminal}
            self.ask("terminal/wait_for_exit", here)
            self.ask("terminal/output", here)
            if DEFECT != "keeps its terminals":
                self.ask("terminal/release", here)
            if DEFECT == "uses released terminals":
                self.ask("terminal/output", here)
        self.update(name, {"sessionUpdate": "tool_call_update", "toolCallId": "call-1", "status": "completed"})

    def wonder(self, name: str) -> None:
        """Ask the user something, if the client allows it, and go on without an answer."""
        if not is_object(self.offered.get("elicitation")):
            return
        form = {"type": "object", "properties": {"tide": {"type": "string"}}}
        question = {"sessionId": name, "mode": "form", "message": "Which tide?", "requestedSchema": form}
        found = self.ask("elicitation/create", question, self.sessions[name].cancelled)
        if DEFECT == "counts on an answer" and inside(found, "result", "action") == "decline":
            threading.Event().wait()


if __name__ == "__main__":
    if DEFECT == "ends at once":
        sys.exit(3)
    if DEFECT == "says nothing":
        time.sleep(600)
    Agent().run()
