"""Run the cases against a client; the probe is its agent. Cases run while a prompt of the client waits."""

from __future__ import annotations

import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from pathlib import Path
from socket import AF_UNIX, SOCK_STREAM, socket
from typing import Any, Final

from acpgen.probe.agent_peer import EARLY_UPDATE, Agent
from acpgen.probe.case_context import Handshake, SkipCase
from acpgen.probe.connection import Connection, TimeIsUp
from acpgen.probe.driver import Probing

AGENT: Final = "{agent}"
"""The placeholder in the command for the command that starts the agent."""

NEWEST: Final = 65535


class ClientProbing(Probing):
    """A probe of a client. Each connection is one on which a prompt of the client waits."""

    side = "client"

    def initialize(self, variant: Any) -> Handshake:
        """A run of the client against an agent that offers a version that does not exist, or sends an early update; cached."""
        key = repr(variant)
        if key not in self.handshakes:
            is_early = variant == EARLY_UPDATE
            agent = Agent() if is_early else Agent(offers=NEWEST)
            handshake = self.handshakes[key] = self._start_client(agent)
            connection = handshake.connection
            if is_early:
                agent.notify = connection.notify
                connection.wait(lambda: bool(connection.open_requests), self.clock.start)
            else:
                connection.wait(lambda: False, min(1.5, self.clock.answer))
            self._end(handshake.connection)
        return self.handshakes[key]

    def _connect_version(self, version: int) -> Handshake:
        outcome = self.open.get(version)
        if outcome is not None and not outcome.connection.is_over:
            return outcome
        if outcome is not None:
            self._drop(version)
        known_version = self.memory.get("version")
        if known_version not in (None, version):
            raise SkipCase(f"the client asks for version {known_version}")
        if self.memory.get("reason"):
            raise SkipCase(self.memory["reason"])
        agent = Agent()
        handshake = self._start_client(agent)
        connection = handshake.connection
        connection.wait(lambda: bool(connection.open_requests), self.clock.start)
        if agent.version is not None and agent.initialize_params.get("protocolVersion") == agent.version:
            self.memory["version"] = agent.version
            self.note_program(
                agent.version, agent.initialize_params.get("info" if agent.version == 2 else "clientInfo")
            )
        if not connection.open_requests:
            self.memory["reason"] = self._describe_silence(connection, agent)
            self._end(connection)
            raise SkipCase(self.memory["reason"])
        if agent.version != version:
            self._end(connection)
            raise SkipCase(f"the client asks for version {agent.version}")
        self.open[version], self.memories[version] = handshake, {"agent": agent}
        return handshake

    def _describe_silence(self, connection: Connection, agent: Agent) -> str:
        ended = "ended" if connection.is_over else f"sent nothing more within {self.clock.start:g} s"
        context = f" after {agent.called_methods[-1]!r}" if agent.called_methods else ""
        return f"the client sent no prompt: it {ended}{context}"

    def _start_client(self, agent: Agent) -> Handshake:
        command = list(self.options.command)
        join: Callable[[], socket] | None = None
        if any(AGENT in part for part in command):
            folder = tempfile.mkdtemp(dir=self.scratch)
            listener = socket(AF_UNIX, SOCK_STREAM)
            listener.bind(f"{folder}/s")
            listener.listen(1)
            listener.settimeout(self.clock.limit_seconds(self.clock.start))
            command = fill_command(command, f"{folder}/s")
            join = partial(_accept_bridge, listener)
        return Handshake(self._connect(command, agent, join), None, None, None, None, 0)

    def _end(self, connection: Connection) -> None:
        """Let the client continue, answer its open requests, and end it."""
        if id(connection) not in self.closed and not connection.is_over:
            for handshake in self.open.values():
                if handshake.connection is connection:
                    self._let_go(handshake)
        super()._end(connection)

    def _let_go(self, handshake: Handshake) -> None:
        """Answer held prompts, and give the client a moment to react."""
        connection = handshake.connection
        version = next(version for version, outcome in self.open.items() if outcome is handshake)
        if time.monotonic() >= self.clock.until:
            return  # what is open is judged as it stands
        agent = self.memories[version]["agent"]
        agent.holds = False
        until = min(time.monotonic() + min(2.0, self.clock.answer), self.clock.until)
        while time.monotonic() < until and not connection.is_over:
            for id_, _, params in connection.open_requests:
                if version == 1:
                    connection.reply({"jsonrpc": "2.0", "id": id_, "result": {"stopReason": "end_turn"}})
                else:
                    self._end_turn(connection, id_, params)
            connection.open_requests.clear()
            with suppress(TimeIsUp):
                connection.wait(lambda: bool(connection.open_requests), 0.3)

    def _end_turn(self, connection: Connection, id_: Any, params: Any) -> None:
        message = f"message-{len(connection.rows)}"
        connection.reply({"jsonrpc": "2.0", "id": id_, "result": {"messageId": message}})
        for update in (
            {"sessionUpdate": "user_message", "messageId": message, "content": params.get("prompt", [])},
            {"sessionUpdate": "state_update", "state": "running"},
            {"sessionUpdate": "state_update", "state": "idle", "stopReason": "end_turn"},
        ):
            body = {"sessionId": params["sessionId"], "update": update}
            connection.reply({"jsonrpc": "2.0", "method": "session/update", "params": body})


def _accept_bridge(listener: socket) -> socket:
    """Accept the connection of the bridge that the client starts. Raises `OSError` after a timeout."""
    try:
        return listener.accept()[0]
    finally:
        listener.close()


def fill_command(command: list[str], address: str) -> list[str]:
    """A command with `{agent}` replaced by the command that connects to the probe: as separate arguments, or inside one."""
    from shlex import join

    bridge = [sys.executable, "-I", str(Path(__file__).with_name("bridge.py")), address]
    parts: list[str] = []
    for part in command:
        parts += bridge if part == AGENT else [part.replace(AGENT, join(bridge))]
    return parts
