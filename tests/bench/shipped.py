"""Records one conversation with each agent of `probes.py` through `acpgen tap`, for the tests of the monitor. No part of CI.

    python tests/bench/shipped.py FOLDER [NAME…]

The packages are installed below FOLDER as `probes.py` does it. No text of the agents is kept: what is neither a name that the protocol
gives nor a number becomes a text of ours, the same one wherever it stands, with the form that it had (a path, an address, a date, a
word, a sentence). The monitor says of that what it says of the conversation itself; where it does not, nothing is written.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator, Sequence
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import Any, Final

from acpgen.input.walk import is_array, is_object
from acpgen.messages import validators
from acpgen.probe import child

ROOT: Final = Path(__file__).parents[2]
sys.path[:1] = [str(ROOT / "generator"), str(ROOT / "tests")]  # in place of this folder, which would hide the package

from bench.probes import SHIPPED, installed, read_arguments  # noqa: E402 - the tests' folder is on the path only now
from monitor.shipped import FOLDER, TABLE, kinds  # noqa: E402

CAPABILITIES: Final = {"fs": {"readTextFile": True, "writeTextFile": True}, "terminal": True}
SECONDS: Final = 20.0
KEPT_KEYS: Final = frozenset({"jsonrpc", "method", "version", "requestId"})
KEPT_NAMES: Final = frozenset({"agentInfo", "clientInfo"})


class Client:
    """A client that asks one thing after another, and refuses what it is asked."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        self._process = process
        self._heard: SimpleQueue[Any] = SimpleQueue()
        self._next = 0
        threading.Thread(target=self._listen, daemon=True).start()

    def _listen(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            try:
                self._heard.put(json.loads(line))
            except ValueError:
                continue
        self._heard.put(None)

    def say(self, message: dict[str, Any]) -> None:
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")
            self._process.stdin.flush()
        except BrokenPipeError:
            pass

    def ask(self, method: str, params: Any, *, cancel: str | None = None) -> Any:
        """The result of a request; empty where it was refused or not answered in time."""
        self._next += 1
        number = self._next
        self.say({"id": number, "method": method, "params": params})
        if cancel is not None:
            self.say({"method": "session/cancel", "params": {"sessionId": cancel}})
        while True:
            try:
                heard = self._heard.get(timeout=SECONDS)
            except Empty:
                return {}
            if heard is None:
                return {}
            if not is_object(heard):
                continue
            if "method" in heard and "id" in heard:
                self._refuse(heard)
            elif heard.get("id") == number:
                result = heard.get("result")
                return result if is_object(result) else {}

    def _refuse(self, asked: dict[str, Any]) -> None:
        if asked["method"] == "session/request_permission":
            self.say({"id": asked["id"], "result": {"outcome": {"outcome": "cancelled"}}})
        else:
            self.say({"id": asked["id"], "error": {"code": -32001, "message": "not here"}})


def talk(client: Client, folder: Path) -> None:
    """What is said to each agent: the life of two sessions, as far as it offers that, and a prompt."""
    opening: dict[str, Any] = {"cwd": str(folder), "mcpServers": []}
    told = client.ask("initialize", {"protocolVersion": 1, "clientCapabilities": CAPABILITIES})
    able: Any = told.get("agentCapabilities") or {}
    sessions: Any = able.get("sessionCapabilities") or {}
    client.ask("_acme.example/ping", {})
    client.say({"method": "_acme.example/tick", "params": {}})
    new = client.ask("session/new", opening)
    name = new.get("sessionId")
    if isinstance(name, str):
        modes: Any = new.get("modes") or {}
        options: Any = new.get("configOptions") or []
        current = modes.get("currentModeId")
        if current is not None:
            client.ask("session/set_mode", {"sessionId": name, "modeId": current})
        for option in options[:1]:
            wanted = {"sessionId": name, "configId": option["id"], "value": option["currentValue"]}
            client.ask("session/set_config_option", wanted)
        hello = {"sessionId": name, "prompt": [{"type": "text", "text": "Say hello."}]}
        client.ask("session/prompt", hello)
        client.ask("session/prompt", hello, cancel=name)
        if "list" in sessions:
            client.ask("session/list", {})
            client.ask("session/list", {"cwd": str(folder)})
        if able.get("loadSession"):
            client.ask("session/load", {"sessionId": name, **opening})
        if "resume" in sessions:
            client.ask("session/resume", {"sessionId": name, **opening})
        if "fork" in sessions:
            client.ask("session/fork", {"sessionId": name, **opening})
        if "close" in sessions:
            client.ask("session/close", {"sessionId": name})
    client.ask("session/new", opening)


def record(command: Sequence[str], file: Path) -> None:
    """One conversation through the tap, in a passing folder and with a passing home."""
    with tempfile.TemporaryDirectory() as passing:
        scratch = Path(passing)
        for name in ("home", "tmp", "work"):
            (scratch / name).mkdir()
        tap = [sys.executable, "-m", "acpgen", "tap", "--record", str(file), "--report", os.devnull, "--grace", "3"]
        process = subprocess.Popen(
            [*tap, "--", *command],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            cwd=scratch / "work",
            env=child.make_environment(scratch),
        )
        talk(Client(process), scratch / "work")
        assert process.stdin is not None
        process.stdin.close()
        process.wait()


# --- the words of others go ------------------------------------------------------------------------------------------


class Synthetic:
    """Puts texts of ours in the place of those of an agent."""

    def __init__(self) -> None:
        self._names = frozenset(
            text
            for channel in (*validators.ACP, "acp/unstable/v1")
            for text in names(validators.read_strict(validators.find(channel)).schema)
        )
        self._given: dict[str, str] = {}

    def message(self, value: Any, key: str = "", owner: str = "") -> Any:
        """The message with texts of ours."""
        if is_object(value):
            return {name: self.message(one, name, key) for name, one in value.items()}
        if is_array(value):
            return [self.message(one, key, owner) for one in value]
        if not isinstance(value, str) or value in self._names or key in KEPT_KEYS:
            return value
        return value if key == "name" and owner in KEPT_NAMES else self.text(value)

    def text(self, value: str) -> str:
        """The text that stands for another one."""
        if value not in self._given:
            self._given[value] = self._made(value, len(self._given) + 1)
        return self._given[value]

    @staticmethod
    def _made(value: str, number: int) -> str:
        if not value.strip():
            return value
        if re.fullmatch(r"\d{4}-\d\d-\d\dT[\d:.]+(Z|[+-]\d\d:\d\d)", value):
            return f"2026-01-01T00:00:{number % 60:02}Z"
        if re.match(r"[a-z][a-z0-9+.-]*://", value):
            return f"https://example.org/{number}"
        if value.startswith("/") and not re.search(r"\s", value):
            return f"/w/{number}"
        return f"Text {number}." if re.search(r"\s", value) else f"word-{number}"


def names(schema: Any) -> Iterator[str]:
    """The constants of a schema."""
    if is_object(schema):
        for key, value in schema.items():
            if key == "const" and isinstance(value, str):
                yield value
            elif key == "enum" and is_array(value):
                yield from (one for one in value if isinstance(one, str))
            elif key not in ("examples", "default"):
                yield from names(value)
    elif is_array(schema):
        for value in schema:
            yield from names(value)


def verdict(lines: Sequence[tuple[str, Any]]) -> list[dict[str, Any]]:
    """What the monitor says of a conversation, each kind with how often it does."""
    monitor = validators.make_monitor(validators.read_strict(validators.find(name)) for name in validators.ACP)
    found = [breach for sender, message in lines for breach in monitor.observe(sender, message)]
    return kinds((*found, *monitor.finish()))


def main() -> None:
    """Record them and write what the tests read."""
    folder, wanted = read_arguments(__doc__)
    FOLDER.mkdir(exist_ok=True)
    expected: dict[str, Any] = json.loads(TABLE.read_text("utf-8")) if TABLE.exists() else {}
    commands = {
        name: (
            f"{shipped.package} {shipped.version}",
            installed(folder, shipped) / shipped.command[0],
            shipped.command[1:],
        )
        for name, shipped in SHIPPED.items()
    }
    for name, (package, program, rest) in commands.items():
        if wanted and name not in wanted:
            continue
        short = re.sub(r"[^a-z]+", "-", name.lower()).strip("-")
        with tempfile.TemporaryDirectory() as passing:
            raw = Path(passing) / "raw.jsonl"
            record((str(program), *rest), raw)
            rows = [json.loads(line) for line in raw.read_text("utf-8").splitlines()]
        words = Synthetic()
        said = [(row["from"], row["message"] if "message" in row else row["text"].encode()) for row in rows]
        ours = [
            (sender, words.message(one) if not isinstance(one, bytes) else words.text(one.decode()))
            for sender, one in said
        ]
        before, after = verdict(said), verdict(ours)
        if before != after:
            sys.exit(f"{name}: the monitor says something else of the texts of ours:\n{before}\n{after}")
        lines = (json.dumps({"from": sender, "message": one}, ensure_ascii=False) for sender, one in ours)
        (FOLDER / f"{short}.jsonl").write_text("\n".join(lines) + "\n", "utf-8")
        expected[short] = {"package": package, "messages": len(ours), "said": after}
        print(f"{name}: {len(ours)} messages, {len(after)} kinds of breaches and notes", flush=True)
    TABLE.write_text(json.dumps(expected, indent=2, ensure_ascii=False, sort_keys=True) + "\n", "utf-8")


if __name__ == "__main__":
    main()
