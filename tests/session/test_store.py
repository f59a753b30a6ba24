"""Sessions that survive: a restart of the agent, a WebSocket that connects again, files that are damaged or hostile."""

from __future__ import annotations

import asyncio
import json
import logging
import os
import stat
import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from acp_bindings import v2

from acp_session.agent import Agent
from acp_session.modes import Mode
from acp_session.serving import serve_agent
from acp_session.session import Session
from acp_session.store import FileStore, MemoryStore, Store, StoredSession
from acp_session.turn import Turn
from acp_workspace.containment import guarantees
from jsonrpc_bindings import websocket
from jsonrpc_bindings.json_types import is_object

from .raw_client import RawClient, Refused, talking
from .test_agent import both, play

enforced = pytest.mark.skipif(not guarantees().enforced, reason="this platform cannot keep an access in a root")


class Counting(Agent):
    """Counts its turns in what the store keeps."""

    async def on_new_session(self, session: Session) -> None:
        session.data["turns"] = 0
        await session.set_modes([Mode("ask", "Ask"), Mode("plan", "Plan")], current="ask")
        await session.set_commands([v2.Command(name="tide", description="Say the tide")])

    async def on_prompt(self, turn: Turn) -> str:
        turn.session.data["turns"] += 1
        await turn.session.set_title(turn.text)
        await turn.session.set_mode("plan")
        async with turn.tool_call("Count"):
            await turn.send_message(str(turn.session.data["turns"]))
        return "end_turn"


@enforced
@both
def test_a_session_goes_on_after_a_restart_of_the_agent_in_either_version(tmp_path: Path, version: int) -> None:
    (tmp_path / "app").mkdir()

    async def work() -> None:
        async with talking(Counting(store=FileStore(tmp_path / "kept")), version) as client:
            id_ = await client.new(tmp_path / "app")
            await client.prompt(id_, "High \u2028 tide")
            before = [one for one in client.updates() if "state" not in one]
        async with talking(Counting(store=FileStore(tmp_path / "kept")), 3 - version) as client:
            (listed,) = (await client.request("session/list"))["sessions"]
            assert (listed["sessionId"], listed["title"]) == (id_, "High \u2028 tide")
            with pytest.raises(Refused) as closed:
                await client.prompt(id_)
            assert closed.value.code == -32602
            answer = await client.load(id_, tmp_path / "app")
            (option,) = answer["configOptions"]
            assert option["currentValue"] == "plan"
            again = client.updates(id_)
            await client.until(
                lambda: any(one["sessionUpdate"] == "available_commands_update" for one in client.updates())
            )
            assert [one["toolCallId"] for one in again if "title" in one and "toolCallId" in one] == ["call_1"]
            await client.prompt(id_, "Low")
            assert client.text() == "12"
            assert list(client.calls()) == ["call_1", "call_2"]
            await client.request("session/delete", sessionId=id_)
        assert before
        assert list((tmp_path / "kept").iterdir()) == []

    play(work)


@enforced
@both
def test_a_session_goes_on_over_a_websocket_that_connects_again_even_where_the_first_never_ends(
    tmp_path: Path, version: int
) -> None:
    async def work() -> None:
        agent = Counting()
        async with websocket.accept(lambda socket: serve_agent(agent, socket, grace=1), grace=1) as server:
            one = RawClient(version, await websocket.connect(server.uri, grace=1))
            await one.initialize()
            id_ = await one.new(tmp_path)
            await one.prompt(id_)
            two = RawClient(version, await websocket.connect(server.uri, grace=1))
            await two.initialize()
            await two.load(id_, tmp_path)  # the first connection is still open
            await two.prompt(id_)
            assert two.text() == "12"
            await two.link.close()
            three = RawClient(3 - version, await websocket.connect(server.uri, grace=1))
            await three.initialize()
            await three.load(id_, tmp_path)
            await three.prompt(id_)
            assert three.text() == "123"
            for client in (one, three):
                await client.link.close()

    play(work)


def test_a_client_that_is_cut_off_before_it_says_hello_is_no_error_of_the_server(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async def work() -> None:
        agent = Counting()
        async with websocket.accept(lambda socket: serve_agent(agent, socket, grace=1), grace=1) as server:
            link = await websocket.connect(server.uri, grace=1)
            link.send(b"[]")
            assert await link.receive() is not None
            closing = asyncio.create_task(link.close())
            await asyncio.sleep(0)
            closing.cancel()  # which cuts the connection
            await asyncio.wait([closing])
            await asyncio.sleep(0.05)

    play(work)
    assert not caplog.records


def stored(**fields: Any) -> StoredSession:
    return StoredSession("s1", "/srv/app", ("/srv/lib",), updated_at="2026-11-28T00:00:00+00:00", **fields)


def stores(folder: Path) -> list[Store]:
    return [MemoryStore(), FileStore(folder / "kept")]


def test_a_store_keeps_what_it_is_given_apart_from_what_happens_to_it(tmp_path: Path) -> None:
    async def work() -> None:
        for store in stores(tmp_path):
            message: Any = v2.AgentMessageChunk(message_id="m", content=v2.TextContent(text="low\ntide"))
            unknown: Any = v2.decode_as(v2.SessionUpdate, {"sessionUpdate": "_tide", "at": 3})
            session = stored(data={"a": [1]}, history=[message, unknown], calls=2)
            await store.save(session)
            session.data["a"].append(2)
            session.history.clear()
            found = await store.load("s1")
            assert found is not None
            assert found == stored(data={"a": [1]}, history=[message, unknown], calls=2)
            found.data["a"].clear()
            assert (await store.load("s1")) == stored(data={"a": [1]}, history=[message, unknown], calls=2)
            assert [one.session_id for one in await store.list(None)] == ["s1"]
            await store.delete("s1")
            await store.delete("s1")
            assert (await store.load("s1"), list(await store.list(None))) == (None, [])

    play(work)


def test_what_a_killed_save_has_left_is_deleted_once_nobody_can_write_it_any_more(tmp_path: Path) -> None:
    program = """if True:
        import asyncio, os, sys
        from acp_session.store import FileStore, StoredSession
        os.fsync = lambda descriptor: os._exit(9)
        asyncio.run(FileStore(sys.argv[1]).save(StoredSession("s1", "/app")))
    """
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    killed = subprocess.run([sys.executable, "-c", program, str(tmp_path)], env=environment, check=False)
    assert killed.returncode == 9
    (left,) = tmp_path.iterdir()
    others = [tmp_path / ".notes.tmp", tmp_path / "notes.tmp"]
    for path in others:
        path.touch()
        os.utime(path, (0, 0))

    async def work() -> None:
        await FileStore(tmp_path).save(stored())
        assert left.exists()
        os.utime(left, (0, 0))
        await FileStore(tmp_path).save(stored())
        assert set(tmp_path.iterdir()) == {tmp_path / "s1.jsonl", *others}

    play(work)


def test_files_belong_to_the_user_alone_and_are_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async def work() -> None:
        store = FileStore(tmp_path / "deep" / "kept")
        await store.save(stored(data={"n": 1}))
        (file,) = store.folder.iterdir()
        assert stat.S_IMODE(file.stat().st_mode) == 0o600
        assert stat.S_IMODE(store.folder.stat().st_mode) == 0o700
        deep: list[Any] = []
        for _ in range(5000):
            deep = [deep]
        wrong: Any
        for wrong in ({"n": object()}, {"n": float("nan")}, {"n": b""}, {1: 2}, {"n": [{None: 1}]}, {"n": deep}):
            with pytest.raises(ValueError, match="data must be JSON"):
                await store.save(stored(data=wrong))

        def fail(source: object, target: object) -> None:
            raise OSError(28, "no space left")

        monkeypatch.setattr(os, "replace", fail)
        with pytest.raises(OSError, match="no space"):
            await store.save(stored(data={"n": 2}))
        assert list(store.folder.iterdir()) == [file]
        found = await store.load("s1")
        assert found is not None
        assert found.data == {"n": 1}

    play(work)


@pytest.mark.parametrize("id_", ["../secret", "a/b", "", "." * 3, "x" * 129, "a\0b", "s1.jsonl"])
def test_ids_of_a_client_lead_nowhere_else(tmp_path: Path, id_: str) -> None:
    (tmp_path / "secret.jsonl").write_text("{}")

    async def work() -> None:
        store = FileStore(tmp_path / "kept")
        await store.save(stored())
        assert await store.load(id_) is None
        await store.delete(id_)
        with pytest.raises(ValueError, match="cannot be a file"):
            await store.save(StoredSession(id_, "/srv"))

    play(work)
    assert (tmp_path / "secret.jsonl").exists()


@enforced
def test_a_damaged_file_is_said_and_left_alone_and_the_others_are_listed(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async def work() -> None:
        store = FileStore(tmp_path / "kept")
        async with talking(Counting(store=store), 2) as client:
            id_ = await client.new(tmp_path)
            damaged, kept = store.folder / "bad.jsonl", (store.folder / f"{id_}.jsonl").read_bytes()
            for text in (
                b"",
                b"{",
                b"[]",
                b'{"info": 1}',
                b"\xff",
                json.dumps({"info": {"sessionId": "bad"}}).encode(),
                b"[" * 100_000,
                kept.replace(b'"calls": 0', b'"calls": Infinity'),
            ):
                damaged.write_bytes(text)
                (listed,) = (await client.request("session/list"))["sessions"]
                assert listed["sessionId"] == id_
                with pytest.raises(Refused) as failed:
                    await client.load("bad", tmp_path)
                assert (failed.value.code, failed.value.message) == (-32603, "internal error")
                assert damaged.read_bytes() == text

    with caplog.at_level(logging.ERROR, "acp_session"):
        play(work)
    assert "bad.jsonl: the stored session cannot be read" in caplog.text


class Showing(Agent):
    """Shows a value as the input of a tool call, and changes it afterwards; `refused` has the errors."""

    def __init__(self, value: Any, store: Store) -> None:
        super().__init__(store=store)
        self.value, self.refused = value, list[ValueError]()

    async def on_prompt(self, turn: Turn) -> str:
        for show in (self.show, self.offer):
            try:
                await show(turn)
            except ValueError as error:
                self.refused.append(error)
        return "end_turn"

    async def show(self, turn: Turn) -> None:
        async with turn.tool_call("Show", raw_input=self.value) as call:
            if is_object(self.value):
                self.value["later"] = object()
            await call.update(status="completed")

    async def offer(self, turn: Turn) -> None:
        await turn.session.set_commands([v2.Command(name="tide", description="Say it", meta={"of": self.value})])


CIRCLE: list[Any] = []
CIRCLE.append(CIRCLE)


@enforced
@both
@pytest.mark.parametrize(
    "value",
    [float("nan"), "half \ud800", object(), {1: 2}, CIRCLE, 10**5000],
    ids=["nan", "half", "object", "key", "circle", "long"],
)
def test_what_cannot_be_sent_is_refused_and_not_kept(tmp_path: Path, version: int, value: Any) -> None:
    async def work() -> None:
        for store in stores(tmp_path):
            agent = Showing(value, store)
            async with talking(agent, version) as client:
                id_ = await client.new(tmp_path)
                assert await client.prompt(id_) == "end_turn"
                assert len(agent.refused) == 2
                await client.load(id_, tmp_path)
            async with talking(agent, version) as client:
                await client.load(id_, tmp_path)
                assert await client.prompt(id_) == "end_turn"

    play(work)


@enforced
@both
def test_an_update_is_kept_as_it_was_sent_whatever_happens_to_its_values(tmp_path: Path, version: int) -> None:
    async def work() -> None:
        for store in stores(tmp_path):
            async with talking(Showing({"tide": [1.0]}, store), version) as client:
                id_ = await client.new(tmp_path)
                assert await client.prompt(id_) == "end_turn"
                client.notes.clear()
                await client.load(id_, tmp_path)
                (shown,) = [one["rawInput"] for one in client.updates(id_) if "rawInput" in one]
                assert shown == {"tide": [1.0]}

    play(work)


class Failing(MemoryStore):
    """A store that fails where it is told to."""

    def __init__(self) -> None:
        super().__init__()
        self.fails: set[str] = set()

    async def save(self, session: StoredSession) -> None:
        if "save" in self.fails:
            raise OSError("disk")
        await super().save(session)

    async def list(self, user: str | None) -> Sequence[v2.SessionInfo]:
        if "list" in self.fails:
            raise OSError("disk")
        return await super().list(user)


@enforced
@both
def test_a_store_that_fails_fails_requests_and_not_turns(
    tmp_path: Path, version: int, caplog: pytest.LogCaptureFixture
) -> None:
    async def work() -> None:
        store = Failing()
        async with talking(Counting(store=store), version) as client:
            id_ = await client.new(tmp_path)
            store.fails = {"save", "list"}
            where: dict[str, Any] = {"cwd": str(tmp_path), "mcpServers": []}
            for method, params in (("session/new", where), ("session/list", {})):
                with pytest.raises(Refused) as failed:
                    await client.request(method, **params)
                assert failed.value.code == -32603
            assert await client.prompt(id_) == "end_turn"
            store.fails.clear()
            assert await client.prompt(id_) == "end_turn"
            found = await store.load(id_)
            assert found is not None
            assert found.data == {"turns": 2}

    with caplog.at_level(logging.ERROR, "acp_session"):
        play(work)
    assert "the store did not save it" in caplog.text


class Slow(Counting):
    """Waits for `go` when a session is resumed; its store then waits for `on` when it saves the first time."""

    def __init__(self) -> None:
        super().__init__(store=SlowStore())
        self.go, self.is_resuming = asyncio.Event(), asyncio.Event()

    async def on_resume_session(self, session: Session) -> None:  # noqa: ARG002
        self.is_resuming.set()
        await self.go.wait()


class SlowStore(MemoryStore):
    def __init__(self) -> None:
        super().__init__()
        self.gates: list[asyncio.Event] = []

    async def save(self, session: StoredSession) -> None:
        if self.gates:
            await self.gates.pop().wait()
        await super().save(session)


@enforced
@both
def test_a_turn_that_begins_while_its_session_is_resumed_is_not_reported_as_ended(tmp_path: Path, version: int) -> None:
    async def work() -> None:
        agent = Slow()
        async with talking(agent, version) as client:
            id_ = await client.new(tmp_path)
            resuming = client.begin("session/resume", sessionId=id_, cwd=str(tmp_path), mcpServers=[])
            await agent.is_resuming.wait()
            assert isinstance(agent.store, SlowStore)
            agent.store.gates = [gate := asyncio.Event()]
            prompt = asyncio.create_task(client.prompt(id_))
            while agent.store.gates:
                await asyncio.sleep(0)
            agent.go.set()
            await resuming
            await asyncio.sleep(0.01)
            assert not [one for one in client.updates(id_) if one.get("state") == "idle"]
            assert not prompt.done()
            client.cancel(id_)
            await asyncio.sleep(0.01)
            gate.set()
            assert await prompt == "cancelled"
            ends = [one for one in client.updates(id_) if one.get("state") == "idle"]
            assert [one["stopReason"] for one in ends] == ["cancelled"] * (version - 1)

    play(work)


@enforced
def test_many_clients_open_and_close_one_session_at_once(tmp_path: Path) -> None:
    closed: list[str] = []

    class Closing(Counting):
        async def on_close_session(self, session: Session) -> None:
            await asyncio.sleep(0)
            closed.append(session.id)

    async def work() -> None:
        agent = Closing()
        async with talking(agent, 2) as first:
            id_ = await first.new(tmp_path)

            async def visit(version: int) -> None:
                async with talking(agent, version) as client:
                    for _ in range(3):
                        await client.load(id_, tmp_path)

            await asyncio.gather(*(visit(1 + number % 2) for number in range(10)))
        assert agent.owners == {}
        found = await agent.store.load(id_)
        assert found is not None
        assert found.data == {"turns": 0}
        assert len(closed) > 1

    play(work)


def test_a_file_store_does_not_hold_the_event_loop_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    threads: set[int] = set()
    sync = os.fsync

    def slow(descriptor: int) -> None:
        threads.add(threading.get_ident())
        time.sleep(0.1)
        sync(descriptor)

    monkeypatch.setattr(os, "fsync", slow)

    async def work() -> None:
        store = FileStore(tmp_path / "kept")
        session = StoredSession("s", "/w")
        saving = [asyncio.ensure_future(store.save(session))]
        session.data["n"] = 1
        saving.append(asyncio.ensure_future(store.save(session)))
        await asyncio.sleep(0.01)
        assert not any(one.done() for one in saving)
        found = await store.load("s")  # after both
        assert found is not None
        assert found.data == {"n": 1}
        await asyncio.gather(*saving)

    play(work)
    assert threads
    assert threading.get_ident() not in threads


def test_what_another_process_has_saved_or_deleted_is_not_overwritten(tmp_path: Path) -> None:
    async def work() -> None:
        ours, theirs = FileStore(tmp_path), FileStore(tmp_path)
        await ours.save(session := StoredSession("s", "/w"))
        other = await theirs.load("s")
        assert other is not None
        other.title = "theirs"
        await theirs.save(other)
        session.title = "ours"
        with pytest.raises(RuntimeError, match="another process"):
            await ours.save(session)
        found = await ours.load("s")
        assert found is not None
        assert found.title == "theirs"
        await ours.save(found)
        await ours.delete("s")
        other.title = "again"
        with pytest.raises(RuntimeError, match="another process"):
            await theirs.save(other)
        assert await ours.load("s") is None

    play(work)


@enforced
@both
def test_a_session_of_another_platform_in_the_store_hinders_no_list(tmp_path: Path, version: int) -> None:
    async def work() -> None:
        store = MemoryStore()
        await store.save(StoredSession("s1", "C:\\srv\\app", ("C:\\srv\\lib",)))
        await store.save(StoredSession("s2", str(tmp_path)))
        async with talking(Counting(store=store), version) as client:
            filters: dict[str, Any]
            for filters, expected in (({}, {"s1", "s2"}), ({"cwd": str(tmp_path)}, {"s2"})):
                listed = (await client.request("session/list", **filters))["sessions"]
                assert {one["sessionId"] for one in listed} == expected

    play(work)
