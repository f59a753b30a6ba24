"""MCP roots on both sides, alone and against the package `mcp`."""

from __future__ import annotations

import asyncio
import importlib
import json
import os
import subprocess
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from mcp_bindings import UNSET, ErrorResponse, Notification, Request, roots

from acp_workspace.containment import guarantees
from acp_workspace.errors import INTERNAL_ERROR, METHOD_NOT_FOUND, REFUSED, RequestError
from acp_workspace.mcp_roots import (
    LIST_CHANGED,
    RootsCache,
    RootsProvider,
    RootsUnsupported,
    bind_roots,
    client_capabilities,
    from_workspace,
    make_uri,
    parse_uri,
)
from acp_workspace.scope import parse_scope
from acp_workspace.workspace import RootSet
from workspace.conftest import PATHS

pytestmark = pytest.mark.skipif(not guarantees().enforced, reason="this platform cannot keep an access in a root")

PROGRAMS = Path(__file__).with_name("programs")


async def yes(path: str) -> bool:
    return True


async def no(path: str) -> bool:
    return False


class Told:
    """Notes the notifications that a provider sends."""

    def __init__(self) -> None:
        self.methods: list[str] = []

    async def __call__(self, method: str) -> None:
        self.methods.append(method)


def folders(base: Path, *names: str) -> list[str]:
    for name in names:
        (base / name).mkdir(parents=True, exist_ok=True)
    return [str(base / name) for name in names]


# --- URIs ------------------------------------------------------------------------------------------------------------


@given(
    st.lists(
        st.text(min_size=1).filter(lambda t: "/" not in t and "\0" not in t and "\\" not in t and t not in (".", "..")),
        max_size=4,
    )
)
def test_a_path_comes_back_from_its_uri(names: list[str]) -> None:
    path = "/" + "/".join(names)
    try:
        path.encode()
    except UnicodeEncodeError:
        return
    uri = make_uri(path)
    assert uri.isascii()
    assert parse_uri(uri) == path
    roots.decode_as(roots.Root, {"uri": uri})


@pytest.mark.parametrize(
    "uri",
    [
        *(
            "http://example.org/srv",
            "file:/srv",
            "file:work",
            "work",
            "",
            "file://server/srv",
            "file://srv",
            "FTP://x/y",
        ),
        *(
            "file:///srv/../etc",
            "file:///srv/%2e%2e/etc",
            "file:///srv/.%2E/etc",
            "file:///%2e/srv",
            "file:///srv/./x",
        ),
        *(
            "file:///srv%2f..%2fetc",
            "file:///srv%5c..%5cetc",
            "file:///srv\\..\\etc",
            "file:///srv%00",
            "file:///a?b",
            "file:///a#b",
        ),
        *(
            "file:///a b",
            "file:///a\nb",
            "file:///%ff",
            " file:///srv",
            "file://localhost.evil/srv",
            "file://user@/srv",
            "file://",
        ),
    ],
)
def test_a_uri_that_is_no_plain_local_file_uri_is_refused(uri: str) -> None:
    with pytest.raises(ValueError, match=r"URI|root|UTF-8|NUL"):
        parse_uri(uri)


@pytest.mark.parametrize("path", ["work", "", "/srv/../etc", "/a\0"])
def test_a_path_that_may_climb_has_no_uri(path: str) -> None:
    with pytest.raises(ValueError, match="path"):
        make_uri(path)


def test_the_roots_of_a_session_become_mcp_roots_in_their_order(tmp_path: Path) -> None:
    app, lib = folders(tmp_path, "app", "lib")
    found = from_workspace(RootSet.bind(parse_scope(app, [lib])))
    assert [(root.uri, root.name) for root in found] == [(make_uri(app), "app"), (make_uri(lib), "lib")]


# --- the client's half -----------------------------------------------------------------------------------------------


def test_the_capability_follows_what_is_configured() -> None:
    told = Told()
    for changed in (True, False):
        provider = RootsProvider(yes, told, list_changed=changed)
        assert json.loads(roots.encode(client_capabilities(provider))) == {"roots": {"listChanged": changed}}
    assert roots.encode(client_capabilities(RootsProvider(yes, told, supported=False))) == b"{}"


def test_only_directories_with_consent_that_can_be_used_are_exposed(tmp_path: Path) -> None:
    app, lib = folders(tmp_path, "app", "lib")
    (tmp_path / "file").touch()
    told = Told()

    async def expose() -> None:
        provider = RootsProvider(yes, told)
        for path in (f"{tmp_path}/none", f"{tmp_path}/file/none", "relative"):
            with pytest.raises(RequestError) as caught:
                await provider.expose(path)
            assert caught.value.code == REFUSED
        refusing = RootsProvider(no, told)
        with pytest.raises(RequestError) as caught:
            await refusing.expose(app)
        assert caught.value.code == REFUSED
        assert refusing.current() == []
        await provider.follow(RootSet.bind(parse_scope(app, [lib])))
        await provider.expose(app)
        assert [root.uri for root in provider.list_roots().roots] == [make_uri(app), make_uri(lib)]
        assert provider.allows(f"{app}/x")
        assert not provider.allows(f"{tmp_path}/file")
        assert not provider.allows(f"{app}/../file")

    asyncio.run(expose())


def test_changes_of_the_set_and_of_accessibility_are_announced(tmp_path: Path) -> None:
    app, lib = folders(tmp_path, "app", "lib")
    told = Told()

    async def changing() -> None:
        provider = RootsProvider(yes, told)
        provider.initialized()
        await provider.expose(app, "The app")
        await provider.expose(lib)
        assert len(told.methods) == 2
        assert not await provider.check()
        (tmp_path / "lib").rename(tmp_path / "gone")
        assert await provider.check()
        assert [root.name for root in provider.current()] == ["The app"]
        (tmp_path / "lib").mkdir()
        assert not await provider.check(), "another directory in its place is no root"
        (tmp_path / "lib").rmdir()
        (tmp_path / "gone").rename(tmp_path / "lib")
        assert await provider.check()
        await provider.withdraw(app)
        assert [root.uri for root in provider.current()] == [make_uri(lib)]
        watching = asyncio.create_task(provider.watch(0.01))
        (tmp_path / "lib").rename(tmp_path / "gone")
        while len(told.methods) < 6:
            await asyncio.sleep(0.01)
        watching.cancel()
        with pytest.raises(asyncio.CancelledError):
            await watching
        assert provider.current() == []

    asyncio.run(asyncio.wait_for(changing(), 30))
    assert told.methods == [LIST_CHANGED] * 6


def test_a_root_is_withdrawn_by_any_spelling_of_its_name_and_never_in_vain(tmp_path: Path) -> None:
    app, lib = folders(tmp_path, "app", "lib")
    (tmp_path / "alias").symlink_to(lib)

    async def withdrawing() -> None:
        provider = RootsProvider(yes, Told())
        for path, withdrawn in ((app, f"{app}/"), (app, f"{tmp_path}//app/."), (f"{tmp_path}/alias", lib)):
            await provider.expose(path)
            await provider.withdraw(withdrawn)
            assert provider.current() == []
        await provider.expose(lib)
        with pytest.raises(LookupError, match="not exposed"):
            await provider.withdraw(app)
        assert len(provider.current()) == 1

    asyncio.run(withdrawing())


def test_a_client_that_announces_nothing_sends_nothing(tmp_path: Path) -> None:
    (app,) = folders(tmp_path, "app")
    told = Told()
    asyncio.run(RootsProvider(yes, told, list_changed=False).expose(app))
    assert told.methods == []


def test_errors_are_those_of_the_document(monkeypatch: pytest.MonkeyPatch) -> None:
    def answered(provider: RootsProvider, method: str = "roots/list") -> dict[str, Any]:
        answer = asyncio.run(provider.answer(Request(1, method, roots.ListRootsRequest())))
        assert isinstance(answer, ErrorResponse)
        body: dict[str, Any] = json.loads(roots.encode(answer))["error"]
        return body

    told = Told()
    unsupported = answered(RootsProvider(yes, told, supported=False))
    assert unsupported == {
        "code": METHOD_NOT_FOUND,
        "message": "Roots not supported",
        "data": {"reason": "Client does not have roots capability"},
    }
    provider = RootsProvider(yes, told)
    assert answered(provider, "tools/list")["code"] == METHOD_NOT_FOUND

    def broken() -> list[roots.Root]:
        raise OSError("/home/mara/secret")

    monkeypatch.setattr(provider, "current", broken)
    failed = answered(provider)
    assert failed["code"] == INTERNAL_ERROR
    assert "secret" not in str(failed)


# --- the server's half -----------------------------------------------------------------------------------------------


def listed(*uris: str) -> roots.ListRootsResult:
    return roots.decode_as(roots.ListRootsResult, {"roots": [{"uri": uri} for uri in uris]})


def declared(body: Any) -> roots.ClientCapabilities:
    return roots.decode_as(roots.ClientCapabilities, body)


def test_a_server_asks_once_and_again_after_a_change(tmp_path: Path) -> None:
    app, lib = folders(tmp_path, "app", "lib")
    answers = [listed(make_uri(app)), listed(make_uri(app), make_uri(lib))]
    asked: list[int] = []

    async def ask() -> roots.ListRootsResult:
        asked.append(1)
        await asyncio.sleep(0)
        return answers[min(len(asked), len(answers)) - 1]

    async def serve() -> None:
        cache = RootsCache(declared({"roots": {"listChanged": True}}), ask)
        first = await asyncio.gather(*(cache.current() for _ in range(5)))
        assert len(asked) == 1
        assert all(not found.contains(f"{lib}/x") and found.contains(f"{app}/x") for found in first)
        cache.changed()
        assert (await cache.current()).contains(f"{lib}/x")
        assert len(asked) == 2

    asyncio.run(serve())


def test_a_change_while_the_answer_is_on_its_way_is_not_lost(tmp_path: Path) -> None:
    app, lib = folders(tmp_path, "app", "lib")
    cache: RootsCache
    asked: list[int] = []

    async def ask() -> roots.ListRootsResult:
        asked.append(1)
        if len(asked) == 1:
            cache.changed()
            return listed(make_uri(app))
        return listed(make_uri(lib))

    async def serve() -> None:
        nonlocal cache
        cache = RootsCache(declared({"roots": {"listChanged": True}}), ask)
        assert [root.path for root in (await cache.current()).roots] == [lib]

    asyncio.run(serve())


@pytest.mark.parametrize("capability", [{"roots": {}}, {"roots": {"listChanged": False}}])
def test_a_client_that_announces_no_changes_is_asked_each_time(capability: Any, tmp_path: Path) -> None:
    asked: list[int] = []

    async def ask() -> roots.ListRootsResult:
        asked.append(1)
        return listed()

    async def serve() -> None:
        cache = RootsCache(declared(capability), ask)
        await cache.current()
        await cache.current()

    asyncio.run(serve())
    assert len(asked) == 2


def test_a_client_without_the_capability_is_not_asked() -> None:
    async def ask() -> roots.ListRootsResult:
        raise AssertionError("nobody asks")

    cache = RootsCache(declared({}), ask)
    assert declared({}).roots is UNSET
    with pytest.raises(RootsUnsupported):
        asyncio.run(cache.current())


def test_roots_that_cannot_be_used_are_told_apart_and_give_no_access(tmp_path: Path) -> None:
    app, gone = folders(tmp_path, "app", "gone")
    (tmp_path / "gone").rmdir()
    (tmp_path / "app" / "link").symlink_to("/etc")
    found = bind_roots(listed(make_uri(app), make_uri(gone), "file:///srv/../etc", "file://server/share"))
    assert [root.path for root in found.roots] == [app]
    assert [uri for uri, _ in found.unusable] == [make_uri(gone), "file:///srv/../etc", "file://server/share"]
    assert not found.contains("/etc/passwd")
    for path in ("/etc/passwd", f"{app}/link/passwd", f"{app}/../x", "relative"):
        with pytest.raises(RequestError) as caught:
            found.require(path)
        assert caught.value.code == REFUSED
    assert found.require(f"{app}/a.txt")[0].parts == ("a.txt",)
    (tmp_path / "app" / "link").unlink()
    (tmp_path / "app").rmdir()
    assert not found.contains("/etc/passwd")


def test_without_the_bindings_the_extra_is_named() -> None:
    program = "import sys; sys.modules['mcp_bindings'] = None; import acp_workspace.mcp_roots"
    run = subprocess.run(
        [sys.executable, "-c", program],
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(PATHS)},
    )
    assert "install 'mcp-bindings', in a clone from generated/python/mcp-bindings" in run.stderr


# --- against the package `mcp` ---------------------------------------------------------------------------------------


def test_a_server_of_the_package_mcp_gets_our_roots_over_stdio(tmp_path: Path) -> None:
    pytest.importorskip("mcp", reason="the package mcp is not installed")
    app, lib = folders(tmp_path, "app", "lib with ü")

    async def converse() -> None:
        process = await asyncio.create_subprocess_exec(
            sys.executable,
            str(PROGRAMS / "mcp_server.py"),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
        )
        assert process.stdin is not None
        assert process.stdout is not None
        stdin, stdout = process.stdin, process.stdout

        def send(line: bytes) -> None:
            stdin.write(line + b"\n")

        async def notify(method: str) -> None:
            send(roots.encode(Notification(method, roots.RootsListChangedNotification(), form="absent")))

        provider = RootsProvider(yes, notify)
        numbers = iter(range(1, 100))

        async def asked(method: str, params: Any) -> Any:
            """The result of a request; requests of the server are answered meanwhile."""
            number = next(numbers)
            send(json.dumps({"jsonrpc": "2.0", "id": number, "method": method, "params": params}).encode())
            while True:
                line = await stdout.readline()
                assert line, "the server has ended"
                raw = json.loads(line)
                if raw.get("id") == number and "method" not in raw:
                    return raw["result"]
                if raw.get("method") == "roots/list":
                    request = roots.decode(line, sender="server")
                    assert isinstance(request, Request)
                    send(roots.encode(await provider.answer(request)))

        async def told() -> Any:
            result = await asked("tools/call", {"name": "roots", "arguments": {}})
            return json.loads(result["content"][0]["text"])

        capabilities = json.loads(roots.encode(client_capabilities(provider)))
        info = {"name": "ours", "version": "1"}
        hello = {"protocolVersion": "2025-06-18", "capabilities": capabilities, "clientInfo": info}
        assert (await asked("initialize", hello))["protocolVersion"] == "2025-06-18"
        send(roots.encode(Notification("notifications/initialized", roots.InitializedNotification())))
        provider.initialized()
        assert await told() == {"roots": [], "changes": 0}
        await provider.follow(RootSet.bind(parse_scope(app, [lib])))
        assert await told() == {"roots": [[make_uri(app), "app"], [make_uri(lib), "lib with ü"]], "changes": 1}
        Path(lib).rmdir()
        await provider.check()
        assert await told() == {"roots": [[make_uri(app), "app"]], "changes": 2}
        stdin.close()
        await process.wait()

    asyncio.run(asyncio.wait_for(converse(), 60))


def test_a_client_of_the_package_mcp_is_asked_by_our_server_over_stdio(tmp_path: Path) -> None:
    mcp: Any = pytest.importorskip("mcp", reason="the package mcp is not installed")
    stdio: Any = importlib.import_module("mcp.client.stdio")
    types: Any = importlib.import_module("mcp_types")
    app, lib = folders(tmp_path, "app", "lib")
    shown = [app]

    async def list_roots(context: Any) -> Any:
        return types.ListRootsResult(roots=[types.Root(uri=make_uri(path)) for path in shown])

    @asynccontextmanager
    async def session(**named: Any) -> AsyncGenerator[Any, None]:
        server = mcp.StdioServerParameters(
            command=sys.executable, args=[str(PROGRAMS / "our_server.py")], env={"PYTHONPATH": os.pathsep.join(PATHS)}
        )
        connected: Any = stdio.stdio_client(server)
        async with connected as (reader, writer), mcp.ClientSession(reader, writer, **named) as made:
            await made.initialize()
            yield made

    async def told(client: Any, path: str) -> Any:
        result = await client.call_tool("contains", {"path": path})
        return json.loads(result.content[0].text)

    async def converse() -> None:
        async with session(list_roots_callback=list_roots) as client:
            assert await told(client, f"{app}/x") == {"inside": True, "unusable": [], "asked": 1}
            assert (await told(client, f"{lib}/x"))["inside"] is False
            assert (await told(client, f"{app}/../lib/x")) == {"inside": False, "unusable": [], "asked": 1}
            shown.append(lib)
            with pytest.warns(match="roots capability is deprecated"):
                await client.send_roots_list_changed()
            assert await told(client, f"{lib}/x") == {"inside": True, "unusable": [], "asked": 2}
        async with session() as bare:
            assert "unsupported" in await told(bare, f"{app}/x")

    asyncio.run(asyncio.wait_for(converse(), 60))


def test_answers_are_messages(tmp_path: Path) -> None:
    (app,) = folders(tmp_path, "app")
    provider = RootsProvider(yes, Told())

    async def answered() -> Any:
        await provider.expose(app)
        return await provider.answer(Request("a", "roots/list", roots.ListRootsRequest()))

    answer = asyncio.run(answered())
    assert b"result" in roots.encode(answer)
    body = {"roots": [{"uri": make_uri(app), "name": "app"}]}
    assert json.loads(roots.encode(answer)) == {"jsonrpc": "2.0", "id": "a", "result": body}
