"""Requests that are under way when their session, their client or their roots change."""

from __future__ import annotations

import asyncio
import os
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from acp_workspace import atomic
from acp_workspace.containment import guarantees
from acp_workspace.disk import DiskBackend
from acp_workspace.errors import REFUSED, RequestError
from acp_workspace.filesystem import FilePolicy, ServiceEvent
from acp_workspace.scope import parse_scope
from acp_workspace.workers import Workers
from acp_workspace.workspace import RootSet
from workspace.test_filesystem import Client, temporary_files

pytestmark = pytest.mark.skipif(not guarantees().enforced, reason="this platform cannot keep an access in a root")

Make = Callable[..., Path]


class Halt:
    """Stops a function in the thread that calls it until it is let go."""

    def __init__(
        self, patch: pytest.MonkeyPatch, target: str, function: Callable[..., Any], *, after: bool = False
    ) -> None:
        self.reached, self.go = threading.Event(), threading.Event()

        def halting(*arguments: Any, **named: Any) -> Any:
            result = function(*arguments, **named) if after else None
            self.reached.set()
            assert self.go.wait(30)
            return result if after else function(*arguments, **named)

        patch.setattr(target, halting)

    async def wait(self) -> None:
        assert await asyncio.to_thread(self.reached.wait, 30)


def outcome(base: Path, kind: str, patch: pytest.MonkeyPatch, change: Callable[[Client], Any]) -> RequestError | str:
    """What becomes of a request when `change` happens in the midst of it."""
    client = Client(base)
    halted: dict[str, tuple[str, Callable[..., Any]]] = {
        "read": ("acp_workspace.disk.read_at_most", atomic.read_at_most),
        "write": ("acp_workspace.atomic.os.fsync", os.fsync),
    }
    target, function = halted[kind]
    halt = Halt(patch, target, function)

    async def run() -> RequestError | str:
        path = f"{base}/app/a.txt"
        work: Any = (
            client.files.read_text_file(client.reading(path))
            if kind == "read"
            else client.files.write_text_file(client.writing(path, "new"))
        )
        task = asyncio.ensure_future(work)
        await halt.wait()
        made = change(client)
        if made is not None:
            await made
        halt.go.set()
        try:
            await task
        except RequestError as error:
            return error
        return "done"

    return asyncio.run(run())


@pytest.mark.parametrize("kind", ["read", "write"])
@pytest.mark.parametrize("change", ["detached", "other roots"])
def test_a_request_under_way_does_not_outlive_its_roots(
    tmp_path: Path, make: Make, monkeypatch: pytest.MonkeyPatch, kind: str, change: str
) -> None:
    path = make("app/a.txt", "old")

    def changed(client: Client) -> Any:
        if change == "detached":
            del client.roots["s"]
            return
        client.roots["s"] = RootSet.bind(parse_scope(f"{tmp_path}/lib"))

    error = outcome(tmp_path, kind, monkeypatch, changed)
    assert isinstance(error, RequestError)
    assert (error.code, error.data) == (REFUSED, {"path": str(path)})
    assert path.read_text() == "old"
    assert not temporary_files(tmp_path)


@pytest.mark.parametrize("change", ["detached", "cancelled"])
def test_a_request_that_waits_for_a_thread_opens_nothing_afterwards(
    tmp_path: Path, make: Make, monkeypatch: pytest.MonkeyPatch, change: str
) -> None:
    workers = Workers(1)
    client = Client(tmp_path, backend=DiskBackend(FilePolicy(), workers))
    make("app/a.txt", "old")
    opened: list[str] = []

    def reached(roots: object, path: str, use: object) -> None:
        opened.append(path)

    monkeypatch.setattr("acp_workspace.disk.reach", reached)
    go = threading.Event()

    async def run() -> None:
        busy = asyncio.ensure_future(workers.run(lambda check: go.wait(30)))
        await asyncio.sleep(0)
        tasks: list[asyncio.Future[Any]] = [
            asyncio.ensure_future(client.files.read_text_file(client.reading("app/a.txt"))),
            asyncio.ensure_future(client.files.write_text_file(client.writing("app/a.txt", "new"))),
        ]
        await asyncio.sleep(0.01)
        for task in tasks:
            if change == "cancelled":
                task.cancel()
        if change == "detached":
            del client.roots["s"]
        await asyncio.sleep(0.01)
        go.set()
        await busy
        found = await asyncio.gather(*tasks, return_exceptions=True)
        expected = RequestError if change == "detached" else asyncio.CancelledError
        assert [type(error) for error in found] == [expected, expected]

    asyncio.run(run())
    assert not opened


@pytest.mark.parametrize("kind", ["read", "write"])
def test_a_request_under_way_survives_the_same_roots_again(
    tmp_path: Path, make: Make, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    make("app/a.txt", "old")

    def again(client: Client) -> Any:
        client.roots["s"] = RootSet.bind(parse_scope(f"{tmp_path}/app", [f"{tmp_path}/lib"]))

    assert outcome(tmp_path, kind, monkeypatch, again) == "done"


def test_new_roots_are_in_force_while_the_old_files_are_looked_for(
    tmp_path: Path, make: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    client = Client(tmp_path)
    make("app/a.txt", "old")
    make("lib/b.txt", "b")
    halt = Halt(monkeypatch, "acp_workspace.disk.recover", atomic.recover)

    async def run() -> None:
        client.roots["s"] = RootSet.bind(parse_scope(f"{tmp_path}/lib"))
        cleaning = asyncio.ensure_future(client.files.clean("s"))
        await halt.wait()
        with pytest.raises(RequestError) as caught:
            await client.files.read_text_file(client.reading("app/a.txt"))
        assert caught.value.code == REFUSED
        assert (await client.files.read_text_file(client.reading("lib/b.txt"))).content == "b"
        halt.go.set()
        await cleaning

    asyncio.run(run())


@pytest.mark.parametrize("after", [False, True])
def test_the_user_is_told_what_became_of_a_cancelled_write(
    tmp_path: Path, make: Make, monkeypatch: pytest.MonkeyPatch, after: bool
) -> None:
    events: list[ServiceEvent] = []
    client = Client(tmp_path, on_event=events.append)
    path = make("app/a.txt", "old")
    target, function = ("os.replace", os.replace) if after else ("os.fsync", os.fsync)
    halt = Halt(monkeypatch, f"acp_workspace.atomic.{target}", function, after=after)

    async def run() -> None:
        task = asyncio.ensure_future(client.files.write_text_file(client.writing("app/a.txt", "new")))
        await halt.wait()
        task.cancel()
        await asyncio.sleep(0)
        halt.go.set()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(run())
    assert path.read_text() == ("new" if after else "old")
    assert [event.phase for event in events] == ["started", "done" if after else "failed"]


def test_the_event_loop_goes_on_while_files_are_slow(
    tmp_path: Path, make: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    client = Client(tmp_path)
    make("app/a.txt", "old")
    halt = Halt(monkeypatch, "acp_workspace.atomic.os.fsync", os.fsync)

    async def run() -> None:
        task = asyncio.ensure_future(client.files.write_text_file(client.writing("app/a.txt", "new")))
        await halt.wait()
        for _ in range(100):
            await asyncio.sleep(0)
        assert (await client.files.read_text_file(client.reading("app/a.txt"))).content == "old"
        halt.go.set()
        await task

    asyncio.run(run())
