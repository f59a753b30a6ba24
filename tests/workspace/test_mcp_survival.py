"""MCP roots that survive: failing notifications, batches, files, names, roots that come and go, malformed entries, three revisions."""

from __future__ import annotations

import asyncio
import json
import os
from pathlib import Path
from typing import Any

import pytest
from mcp_bindings import roots

from acp_workspace.containment import guarantees
from acp_workspace.errors import REFUSED, RequestError
from acp_workspace.mcp_roots import (
    INPUT_REQUEST,
    LIST_CHANGED,
    Revision,
    RootsCache,
    RootsProvider,
    bind_roots,
    client_capabilities,
    from_workspace,
    make_uri,
)
from acp_workspace.scope import Scope, parse_scope
from acp_workspace.workspace import RootSet

pytestmark = pytest.mark.skipif(not guarantees().enforced, reason="this platform cannot keep an access in a root")


class Server:
    """Notes what it is told; the first `failures` notifications fail."""

    def __init__(self, failures: int = 0) -> None:
        self.told: list[str] = []
        self.failures = failures
        self.asked: list[str] = []

    async def notify(self, method: str) -> None:
        if self.failures:
            self.failures -= 1
            raise ConnectionResetError("the pipe is gone")
        self.told.append(method)

    async def consent(self, path: str) -> bool:
        self.asked.append(path)
        return True

    def provider(self, **named: Any) -> RootsProvider:
        found = RootsProvider(self.consent, self.notify, **named)
        found.initialized()
        return found


def folders(base: Path, *names: str) -> list[str]:
    for name in names:
        (base / name).mkdir()
    return [str(base / name) for name in names]


def shown(provider: RootsProvider) -> list[tuple[str, object]]:
    return [(root.uri, root.name) for root in provider.current()]


# --- announcing ------------------------------------------------------------------------------------------------------


def test_a_notification_that_fails_is_tried_again_and_the_watch_lives_on(tmp_path: Path) -> None:
    (app,) = folders(tmp_path, "app")
    server = Server(failures=3)

    async def work() -> None:
        provider = server.provider()
        await provider.expose(app)  # the root is there, though the server could not be told
        assert isinstance(provider.failure, ConnectionResetError)
        assert len(provider.current()) == 1
        with pytest.raises(ConnectionResetError):
            await provider.check()
        watching = asyncio.create_task(provider.watch(0.001))
        while not server.told:
            await asyncio.sleep(0.001)
        assert provider.failure is None
        await asyncio.sleep(0.02)
        assert not watching.done()
        watching.cancel()

    asyncio.run(asyncio.wait_for(work(), 30))
    assert server.told == [LIST_CHANGED]


def test_a_batch_is_announced_once(tmp_path: Path) -> None:
    paths = folders(tmp_path, "a", "b", "c")
    server = Server()

    async def work() -> None:
        provider = server.provider()
        async with provider.batch():
            for path in paths:
                await provider.expose(path)
            assert not server.told
        assert len(server.told) == 1
        async with provider.batch():
            await provider.withdraw(paths[0])
            await provider.expose(paths[0])
            await provider.withdraw(paths[0])
            await provider.expose(paths[1], "other")
        assert len(server.told) == 2
        async with provider.batch():
            await provider.expose(paths[1], "third")
            await provider.expose(paths[1], "other")
        assert len(server.told) == 2  # nothing has changed

        async def failing() -> None:
            async with provider.batch():
                await provider.withdraw(paths[2])
                await provider.withdraw(paths[2])

        with pytest.raises(LookupError):
            await failing()
        assert len(server.told) == 3  # what happened before the error is told

    asyncio.run(work())


def test_nothing_is_sent_before_the_connection_is_initialized(tmp_path: Path) -> None:
    paths = folders(tmp_path, "a", "b")
    server = Server()

    async def work() -> None:
        provider = RootsProvider(server.consent, server.notify)
        for path in paths:
            await provider.expose(path)
        await provider.check()
        assert not server.told
        provider.initialized()
        await provider.check()
        assert not server.told  # the server asks for what is there
        await provider.withdraw(paths[0])
        assert server.told == [LIST_CHANGED]

    asyncio.run(work())


def test_the_roots_of_a_session_are_followed_with_one_notification_each(tmp_path: Path) -> None:
    app, lib, own = folders(tmp_path, "app", "lib", "own")
    server = Server()

    async def work() -> None:
        provider = server.provider()
        await provider.expose(own)
        for paths, told in (((app, lib), 2), ((lib,), 3), ((lib,), 3), (None, 4)):
            roots_ = None if paths is None else RootSet.bind(parse_scope(paths[0], list(paths[1:])))
            await provider.follow(roots_)
            assert [uri for uri, _ in shown(provider)] == [make_uri(path) for path in (own, *(paths or ()))]
            assert len(server.told) == told
        assert server.asked == [own, app, lib]

    asyncio.run(work())


def test_a_root_is_renamed_without_asking_again(tmp_path: Path) -> None:
    (app,) = folders(tmp_path, "app")
    server = Server()

    async def work() -> None:
        provider = server.provider()
        await provider.expose(app)
        await provider.expose(app, "The app")
        assert shown(provider) == [(make_uri(app), "The app")]
        await provider.expose(f"{app}/", "Again")
        assert shown(provider) == [(make_uri(app), "Again")]
        await provider.expose(app)  # without a name nothing changes
        assert (shown(provider), len(server.told), server.asked) == ([(make_uri(app), "Again")], 3, [app])

    asyncio.run(work())


def test_another_directory_in_the_place_of_a_root_is_asked_about(tmp_path: Path) -> None:
    (app,) = folders(tmp_path, "app")
    server = Server()

    async def work() -> None:
        provider = server.provider()
        await provider.expose(app)
        (tmp_path / "app").rename(tmp_path / "old")
        folders(tmp_path, "app")
        assert shown(provider) == []
        await provider.expose(app)
        assert len(server.asked) == 2
        assert [uri for uri, _ in shown(provider)] == [make_uri(app)]

    asyncio.run(work())


# --- files as roots --------------------------------------------------------------------------------------------------


def test_a_file_is_a_root_on_both_sides(tmp_path: Path, mechanism: str) -> None:
    (app,) = folders(tmp_path, "app")
    for name in ("one", "two"):
        (tmp_path / "app" / name).write_text(name)
    (tmp_path / "link").symlink_to("app/one")
    server = Server()

    async def work() -> list[roots.Root]:
        provider = server.provider()
        await provider.expose(f"{tmp_path}/link", "The one")
        assert server.asked == [f"{app}/one"]
        assert provider.allows(f"{app}/one")
        assert not provider.allows(f"{app}/two")
        assert not provider.allows(app)
        (tmp_path / "app/new").write_text("new")
        (tmp_path / "app/new").rename(tmp_path / "app/one")  # as editors write
        found = provider.current()
        (tmp_path / "app/one").rename(tmp_path / "app/gone")
        assert provider.current() == []
        (tmp_path / "app/gone").rename(tmp_path / "app/one")
        with pytest.raises(RequestError) as caught:
            await provider.expose(f"{app}/none")
        assert caught.value.code == REFUSED
        return found

    result = roots.ListRootsResult(roots=asyncio.run(work()))
    assert [(root.uri, root.name) for root in result.roots] == [(make_uri(f"{app}/one"), "The one")]
    found = bind_roots(result)
    assert (found.files, found.roots, found.unusable) == ((f"{app}/one",), (), ())
    assert found.contains(f"{app}/one")
    for path in (f"{app}/two", app, f"{app}/one/x"):
        assert not found.contains(path)
        with pytest.raises(RequestError):
            found.open(path)
    with os.fdopen(found.open(f"{tmp_path}/link")) as file:
        assert file.read() == "new"


# --- the server's half -----------------------------------------------------------------------------------------------


def test_a_root_that_is_made_later_or_again_is_usable_from_then_on(tmp_path: Path, mechanism: str) -> None:
    app = tmp_path / "app"
    found = bind_roots(roots.ListRootsResult(roots=[roots.Root(uri=make_uri(str(app)))]))
    assert found.roots == ()
    assert found.unusable == ((make_uri(str(app)), "no such file or directory"),)
    for _ in range(2):
        app.mkdir()
        (app / "a").write_text("a")
        assert found.contains(f"{app}/a")
        with os.fdopen(found.open(f"{app}/a")) as file:
            assert file.read() == "a"
        assert not found.unusable
        (app / "a").unlink()
        app.rmdir()
        assert not found.contains(f"{app}/a")
        assert len(found.unusable) == 1


@pytest.mark.parametrize(
    "entry",
    [
        {"uri": "http://example.org/x"},
        {"uri": "file:///a/../b"},
        {"uri": "file://[/x"},
        {"uri": "file:///\ud800"},
        {"uri": 3},
        {"name": "no uri"},
        "text",
        None,
        [],
    ],
)
def test_one_unusable_entry_does_not_lose_the_others(tmp_path: Path, entry: Any) -> None:
    app, lib = folders(tmp_path, "app", "lib")
    raw = {"roots": [{"uri": make_uri(app)}, entry, {"uri": make_uri(lib)}]}
    found = bind_roots(raw)
    assert [root.path for root in found.roots] == [app, lib]
    assert len(found.unusable) == 1
    assert found.unusable[0][1]


@pytest.mark.parametrize("raw", [{}, {"roots": None}, {"roots": {}}])
def test_what_is_no_result_is_said(raw: Any) -> None:
    with pytest.raises(ValueError, match="array 'roots'"):
        bind_roots(raw)


# --- revisions -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("revision", "capability"),
    [
        ("2025-06-18", {"roots": {"listChanged": True}}),
        ("2025-11-25", {"roots": {"listChanged": True}}),
        ("2026-07-28", {"roots": {}}),
    ],
)
def test_changes_are_announced_as_the_revision_has_it(tmp_path: Path, revision: Revision, capability: Any) -> None:
    (app,) = folders(tmp_path, "app")
    server = Server()
    provider = server.provider(revision=revision)
    assert json.loads(roots.encode(client_capabilities(provider))) == capability
    asyncio.run(provider.expose(app))
    assert len(server.told) == (0 if revision == "2026-07-28" else 1)


def test_from_2026_07_28_on_a_server_asks_within_a_request(tmp_path: Path) -> None:
    (app,) = folders(tmp_path, "app")
    server = Server()
    provider = server.provider(revision="2026-07-28")
    asyncio.run(provider.expose(app))
    meta = provider.meta()["io.modelcontextprotocol/clientCapabilities"]
    answers = provider.input_responses({"r": dict(INPUT_REQUEST), "other": {"method": "elicitation/create"}, "x": 3})
    assert answers == {"r": {"roots": [{"uri": make_uri(app), "name": "app"}]}}
    asked: list[int] = []

    async def ask() -> Any:
        asked.append(1)
        return answers["r"]

    async def work() -> None:
        cache = RootsCache(roots.decode_as(roots.ClientCapabilities, meta), ask)
        for _ in range(2):
            assert (await cache.current()).contains(f"{app}/x")

    asyncio.run(work())
    assert len(asked) == 2
    assert server.provider(supported=False, revision="2026-07-28").meta() == {}


def test_roots_of_any_platform_are_announced_without_directories() -> None:
    assert [root.uri for root in from_workspace(Scope("/srv/none", ("/srv/a b",), "posix"))] == [
        *("file:///srv/none", "file:///srv/a%20b")
    ]
    found = from_workspace(Scope("C:\\srv\\app", ("\\\\nas\\lib\\",), "windows"))
    assert [(root.uri, root.name) for root in found] == [("file:///C:/srv/app", "app"), ("file://nas/lib/", "lib")]
