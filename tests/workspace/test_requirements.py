"""Every requirement that a running program keeps with `acp_workspace`, shown by the function that keeps it.

`schema/requirements.json` says which function that is and which tests go deeper.
"""

from __future__ import annotations

import asyncio
import json
import os
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import pytest
from acp_bindings import UNSET, ErrorResponse, Request, Response, v1, v2
from mcp_bindings import Request as McpRequest
from mcp_bindings import roots

import evidence
from acp_workspace.containment import AccessDenied, bind, guarantees, open_file
from acp_workspace.errors import (
    INTERNAL_ERROR,
    INVALID_PARAMS,
    METHOD_NOT_FOUND,
    NOT_FOUND,
    REFUSED,
    RequestError,
)
from acp_workspace.filesystem import FilePolicy, FileSystem
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
from acp_workspace.scope import Scope, matches, normalise, parse_scope
from acp_workspace.workspace import AgentWorkspace, ClientWorkspace, RootSet
from jsonrpc_bindings.tail import Tail
from requirement_checks import Check, Checks, functions
from requirements_file import label

pytestmark = pytest.mark.skipif(not guarantees().enforced, reason="this platform cannot keep an access in a root")

DOCUMENT: Final = "seeds/requirements.md"
CHECKS: Final = Checks("acp_workspace", "jsonrpc_bindings")
requirement = CHECKS.requirement


@pytest.mark.parametrize("number", CHECKS.functions, ids=label)
def test_the_requirement_is_kept(number: int | str, tmp_path: Path) -> None:
    CHECKS.run(number, tmp_path)


def test_every_requirement_of_running_programs_is_in_the_table() -> None:
    assert set(CHECKS.functions) == set(CHECKS.checks)


@pytest.mark.evidence(DOCUMENT)
def test_every_requirement_that_the_document_gives_to_running_programs_is_in_the_table() -> None:
    text = evidence.path(DOCUMENT).read_text("utf-8")
    rows = re.findall(r"^\| (\d+) \|.*\| ([^|]+) \|$", text, re.MULTILINE)
    wanted = {int(number) for number, by in rows if "R" in by.strip().split("/")}
    assert len(wanted) == 48
    assert wanted <= set(functions())


def new(cwd: object, additional: Any = UNSET) -> v1.ForkSessionRequest:
    """Params that fit every lifecycle method here."""
    return v1.ForkSessionRequest(session_id="source", cwd=str(cwd), additional_directories=additional)


@dataclass(frozen=True)
class Raw:
    """Params that nothing has judged yet."""

    cwd: str
    additional_directories: Any
    session_id: str = "source"


def code_of(work: Callable[..., object], *arguments: Any, **named: Any) -> int:
    with pytest.raises(RequestError) as caught:
        work(*arguments, **named)
    return caught.value.code


def bound_to(base: Path) -> RootSet:
    return RootSet.bind(parse_scope(f"{base}/app", [f"{base}/lib"]))


def read_file(base: Path, path: str, policy: FilePolicy | None = None) -> str:
    async def served() -> str:
        files = FileSystem({"s": bound_to(base)}, policy)
        return (await files.read_text_file(v1.ReadTextFileRequest(session_id="s", path=path))).content

    return asyncio.run(served())


def write_file(base: Path, path: str, content: str, policy: FilePolicy | None = None) -> None:
    async def served() -> None:
        files = FileSystem({"s": bound_to(base)}, policy)
        await files.write_text_file(v1.WriteTextFileRequest(session_id="s", path=path, content=content))

    asyncio.run(served())


def answered(base: Path, method: str, policy: FilePolicy | None = None, **params: Any) -> dict[str, Any]:
    """What a client answers to a whole request, without the envelope."""

    async def served() -> bytes:
        files = FileSystem({"s": bound_to(base)}, policy)
        body = {"jsonrpc": "2.0", "id": 1, "method": method, "params": {"sessionId": "s", **params}}
        message = v1.decode(body, sender="agent")
        assert isinstance(message, Request)
        handlers: dict[str, Any] = {
            "fs/read_text_file": files.read_text_file,
            "fs/write_text_file": files.write_text_file,
        }
        try:
            return v1.encode(Response(1, await handlers[method](message.params), method))
        except RequestError as error:
            failure = v1.Error(code=error.code, message=error.message, data=error.data)
            return v1.encode(ErrorResponse(1, failure, method))

    found: dict[str, Any] = json.loads(asyncio.run(served()))
    return {key: value for key, value in found.items() if key not in ("jsonrpc", "id")}


async def watched(client: Client, news: int) -> None:
    """Let a client watch its roots until it has told the server so many times of a change."""
    watching = asyncio.create_task(client.provider.watch(0.01))
    async with asyncio.timeout(30):
        while len(client.told) < news:
            await asyncio.sleep(0.01)
    watching.cancel()
    with pytest.raises(asyncio.CancelledError):
        await watching
    assert client.told == [LIST_CHANGED] * news


class Client:
    """An MCP client's provider, with what it asked the user and told the server."""

    def __init__(self, *, consent: bool = True) -> None:
        self.asked: list[str] = []
        self.told: list[str] = []
        self.consent = consent
        self.provider = RootsProvider(self._consent, self._notify)
        self.provider.initialized()

    async def _consent(self, path: str) -> bool:
        self.asked.append(path)
        return self.consent

    async def _notify(self, method: str) -> None:
        self.told.append(method)


MALFORMED: Final[dict[int, tuple[Any, ...]]] = {
    12: ({}, "/x", [1], [["/x"]]),
    13: (["x"], ["/x", "./y"], ["C:\\x"]),
    14: ([""], ["/x", ""]),
    15: (None, [None], ["/x", None]),
    38: ("/x", {}, {"0": "/x"}, 0, False),
    39: ([0], ["/x", True], [["/x"]]),
    40: ([""],),
    41: (["x"], ["/x", ".."]),
    42: (None, "/x", [1], [""], ["x"]),
    44: (["/x", "y"], ["/x", ""], ["/x", 1]),
}
"""Lists of roots that break a requirement, by its number."""


def refused(*lists: Any) -> Check:
    """Every method that opens a session refuses each list as invalid params, and says where."""

    def check(base: Path) -> None:
        agent = AgentWorkspace()
        for value in lists:
            with pytest.raises(RequestError) as caught:
                agent.bind(Raw("/w", value))
            assert caught.value.code == INVALID_PARAMS
            assert caught.value.data["problems"][0]["pointer"].startswith("/params/additionalDirectories")

    return check


for _number, _lists in MALFORMED.items():
    requirement(_number)(refused(*_lists))


@requirement(1, 2)
def without_the_capability_no_list_is_sent(base: Path) -> None:
    client = ClientWorkspace(allowed_roots=[str(base)])
    assert code_of(client.prepare, f"{base}/app", [f"{base}/lib"], advertised=False) == INVALID_PARAMS
    roots = client.prepare(f"{base}/app", advertised=False)
    assert ClientWorkspace.additional_directories(roots, advertised=False) is UNSET
    assert b"additionalDirectories" not in v1.encode(new(roots.scope.cwd, UNSET))


@requirement(7, 8)
def a_listed_session_tells_its_roots_even_if_there_are_none(base: Path) -> None:
    for found, shown in ((Scope("/w"), []), (Scope("/w", ("/x", "/y")), ["/x", "/y"])):
        info = v2.SessionInfo(session_id="s", cwd=found.cwd, additional_directories=found.as_listed())
        assert json.loads(v2.encode(info))["additionalDirectories"] == shown


@requirement(16, 17)
def a_client_sends_no_root_twice_nor_its_working_directory(base: Path) -> None:
    app, lib = f"{base}/app", f"{base}/lib"
    roots = ClientWorkspace(allowed_roots=[str(base)]).prepare(app, [lib, app, lib], advertised=True)
    assert ClientWorkspace.additional_directories(roots, advertised=True) == [lib]


@requirement(27, 52)
def the_whole_list_is_sent_again(base: Path) -> None:
    app, lib, outside = f"{base}/app", f"{base}/lib", f"{base}/outside"
    client = ClientWorkspace(allowed_roots=[str(base)])
    known = client.learn(v1.SessionInfo(session_id="s", cwd=app, additional_directories=[lib]))
    more = client.prepare(app, [*known.scope.additional, outside], advertised=True)
    assert ClientWorkspace.additional_directories(known, advertised=True) == [lib]
    assert ClientWorkspace.additional_directories(more, advertised=True) == [lib, outside]


@requirement(51)
def a_client_sends_absolute_paths_only(base: Path) -> None:
    client = ClientWorkspace(allowed_roots=[str(base)])
    for path in ("app", "./app", "../app", ""):
        assert code_of(client.prepare, f"{base}/app", [path], advertised=True) == INVALID_PARAMS


@requirement(62)
def a_request_without_the_field_is_accepted(base: Path) -> None:
    agent = AgentWorkspace()
    assert agent.bind(new(f"{base}/app")).scope == parse_scope(f"{base}/app") == Scope(f"{base}/app")


@requirement(
    63,
    "acp/v2/session-setup/working-directory/4",
    "acp/v1/session-setup/working-directory/2",
    "acp/v1/session-setup/working-directory/4",
)
def the_working_directory_is_the_first_root(base: Path) -> None:
    found = parse_scope("/w", ["/b", "/a"], flavour="posix")
    assert found.paths == ("/w", "/b", "/a")
    assert [root.path for root in bound_to(base).roots] == [f"{base}/app", f"{base}/lib"]


@requirement(9, 10, 11, "acp/v2/session-list/listing-sessions/3")
def lists_are_filtered(base: Path) -> None:
    agent = AgentWorkspace()
    sessions = {
        "a": Scope("/w", ("/x", "/y")),
        "b": Scope("/w", ("/y", "/x")),
        "c": Scope("/w"),
        "d": Scope("/v", ("/x", "/y")),
    }

    def listed(**filters: Any) -> str:
        return "".join(agent.filter_sessions(sessions, v2.ListSessionsRequest(**filters), sessions.__getitem__))

    assert listed(additional_directories=["/x", "/y"]) == "ad"
    assert listed(additional_directories=["/x"]) == ""
    assert listed(cwd="/w", additional_directories=["/x", "/y"]) == "a"
    assert listed(additional_directories=[]) == "c"
    assert listed(cwd="/v", additional_directories=[]) == ""
    assert listed() == "abcd"


@requirement(18)
def duplicates_go_without_widening(base: Path) -> None:
    assert parse_scope("/w", ["/b", "/a/x", "/b", "/a"], flavour="posix").additional == ("/b", "/a/x", "/a")


@requirement(19, 45)
def one_rule_normalises(base: Path) -> None:
    odd = "/w//x/./y/"
    stored = parse_scope(odd, [f"{odd}/z"], flavour="posix")
    assert stored.cwd == normalise(odd, "posix") == "/w/x/y"
    assert stored.as_listed() == [normalise(f"{odd}/z", "posix")]
    assert matches(stored, cwd=odd, additional=[f"{odd}/z//"])


@requirement(20, "acp/v2/session-setup/working-directory/3", "acp/v1/session-setup/working-directory/3")
def relative_paths_are_meant_from_cwd(base: Path) -> None:
    (base / "lib" / "only.txt").touch()
    assert bound_to(base).scope.absolute("only.txt") == f"{base}/app/only.txt"
    with pytest.raises(FileNotFoundError):
        bound_to(base).open("only.txt")


@requirement(21, 34, "acp/v2/session-setup/working-directory/5")
def paths_in_any_root_are_in_scope(base: Path) -> None:
    (base / "app" / "to-lib").symlink_to("../lib")
    for path in ("app/a.txt", "lib/a.txt", "app/to-lib/a.txt", "app/../lib/a.txt"):
        assert bound_to(base).contains(f"{base}/{path}")
        assert read_file(base, f"{base}/{path}") in ("app", "lib")
        os.close(bound_to(base).open(f"{base}/{path}"))
    assert not bound_to(base).contains(f"{base}/outside/a.txt")


@requirement(22, 23, 24, 25, 26, 28)
def the_supplied_list_is_the_whole_list(base: Path) -> None:
    agent = AgentWorkspace()
    app, lib, outside = f"{base}/app", f"{base}/lib", f"{base}/outside"
    agent.bind(new(app, [lib]))
    assert agent.bind(new(app, [outside, lib])).scope.additional == (outside, lib)
    assert agent.bind(new(app, [outside])).scope.additional == (outside,)
    assert agent.bind(new(app)).scope.additional == ()


@requirement(29, 30)
def a_fork_has_no_roots_but_those_that_it_names(base: Path) -> None:
    agent = AgentWorkspace()
    agent.bind(new(f"{base}/app", [f"{base}/lib"]))
    fork = v2.ForkSessionRequest(session_id="source", cwd=f"{base}/app", mcp_servers=[])
    assert agent.bind(fork).scope.additional == ()


@requirement(31, 43)
def no_root_is_dropped(base: Path) -> None:
    wanted = new(f"{base}/app", [f"{base}/lib", f"{base}/outside"])
    agent = AgentWorkspace(policy=lambda path: "not this one" if path.endswith("outside") else None)
    assert code_of(agent.bind, wanted) == REFUSED
    assert code_of(AgentWorkspace(advertised=False).bind, wanted) == INVALID_PARAMS


@requirement(35, 36)
def discovery_treats_roots_alike_and_earlier_ones_prevail(base: Path) -> None:
    assert bound_to(base).discover("a.txt") == {"a.txt": [f"{base}/app/a.txt", f"{base}/lib/a.txt"]}


@requirement(37)
def the_field_is_validated_before_anything_is_done(base: Path) -> None:
    asked: list[str] = []
    agent = AgentWorkspace(policy=asked.append)
    assert code_of(agent.bind, Raw(f"{base}/app", ["relative"])) == INVALID_PARAMS
    assert asked == []


@requirement(46, 47, 48, 107)
def containment_is_judged_by_real_paths(base: Path) -> None:
    (base / "app" / "link").symlink_to("../outside")
    for path in ("app/link/a.txt", "app/../outside/a.txt", "app/link/../outside/a.txt"):
        assert not bound_to(base).contains(f"{base}/{path}")
        assert code_of(read_file, base, f"{base}/{path}") == REFUSED
        assert code_of(write_file, base, f"{base}/{path}", "x") == REFUSED
    (root, _) = bound_to(base).roots
    with pytest.raises(OSError, match="symbolic links"):
        open_file(root, ("link", "a.txt"), os.O_RDONLY)


@requirement(49)
def what_cannot_be_decided_is_refused(base: Path) -> None:
    (base / "app" / "loop").symlink_to("loop")
    for path in ("app/loop", "app/missing/../a.txt", "app/a.txt/../a.txt"):
        assert code_of(read_file, base, f"{base}/{path}") == REFUSED
    os.link(base / "outside" / "a.txt", base / "app" / "hard.txt")
    assert code_of(read_file, base, f"{base}/app/hard.txt") == REFUSED
    root = bind(f"{base}/app")
    (base / "app").rename(base / "was")
    (base / "outside").rename(base / "app")
    with pytest.raises(AccessDenied, match="replaced"):
        open_file(root, ("a.txt",), os.O_RDONLY)


@requirement(50, 58)
def only_granted_directories_are_sent(base: Path) -> None:
    client = ClientWorkspace(allowed_roots=[f"{base}/app"])
    assert client.prepare(f"{base}/app", advertised=True).scope == Scope(f"{base}/app")
    assert code_of(client.prepare, f"{base}/app", [f"{base}/lib"], advertised=True) == REFUSED


@requirement(55)
def file_requests_are_held_in_the_roots_of_their_session(base: Path) -> None:
    assert read_file(base, f"{base}/lib/a.txt") == "lib"
    assert code_of(read_file, base, f"{base}/outside/a.txt") == REFUSED
    assert code_of(write_file, base, f"{base}/outside/a.txt", "x") == REFUSED


@requirement(56, "acp/v1/session-list/listing-sessions/6")
def listed_roots_hold_until_a_lifecycle_request(base: Path) -> None:
    client = ClientWorkspace(allowed_roots=[str(base)])
    client.learn(v1.SessionInfo(session_id="s", cwd=f"{base}/app", additional_directories=[f"{base}/lib"]))
    assert client.roots("s").scope.paths == (f"{base}/app", f"{base}/lib")
    client.establish("s", client.prepare(f"{base}/lib", advertised=True))
    assert client.roots("s").scope.paths == (f"{base}/lib",)


@requirement("acp/v2/session-list/listing-sessions/7")
def what_a_list_told_before_is_not_mixed_in(base: Path) -> None:
    client = ClientWorkspace(allowed_roots=[str(base)])
    for additional in ([f"{base}/lib"], [f"{base}/outside"], []):
        client.learn(v2.SessionInfo(session_id="s", cwd=f"{base}/app", additional_directories=additional))
        assert client.roots("s").scope.additional == tuple(additional)


@requirement(60)
def what_is_claimed_is_enforced_or_nothing_is_opened(base: Path) -> None:
    held = guarantees()
    assert held.enforced
    assert code_of(read_file, base, f"{base}/outside/a.txt") == REFUSED
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("acp_workspace.mechanism._has_openat2", lambda: False)
        patch.setattr("acp_workspace.mechanism._has_walk", lambda: False)
        assert not guarantees().enforced
        assert not FileSystem({}).capabilities().read_text_file
        assert code_of(RootSet.bind, parse_scope(f"{base}/app")) == REFUSED


@requirement(73)
def a_client_with_roots_declares_them(base: Path) -> None:
    provider = Client().provider
    assert provider.capability() == roots.RootsCapability(list_changed=True)
    assert b'"roots"' in roots.encode(client_capabilities(provider))


@requirement(77, 81)
def a_root_is_a_file_uri_that_leads_nowhere_else(base: Path) -> None:
    assert make_uri("/w/a b") == "file:///w/a%20b"
    assert parse_uri("file:///w/a%20b") == "/w/a b"
    for uri in (
        "http://example.org/w",
        "/w",
        "file:///w/../x",
        "file:///w/%2e%2e/x",
        "file:///w%2f..%2fx",
        "file://there/w",
    ):
        with pytest.raises(ValueError, match=r"URI|root"):
            parse_uri(uri)
    with pytest.raises(ValueError, match="path"):
        make_uri("/w/../x")


@requirement(79)
def a_client_answers_with_the_codes_of_the_document(base: Path) -> None:
    def code(provider: RootsProvider) -> int:
        answer = asyncio.run(provider.answer(McpRequest(1, "roots/list", roots.ListRootsRequest())))
        return int(json.loads(roots.encode(answer))["error"]["code"])

    async def never(path: str) -> bool:
        raise AssertionError(path)

    async def silent(method: str) -> None:
        raise AssertionError(method)

    def fails() -> list[roots.Root]:
        raise OSError

    assert code(RootsProvider(never, silent, supported=False)) == METHOD_NOT_FOUND
    provider = RootsProvider(never, silent)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(provider, "current", fails)
        assert code(provider) == INTERNAL_ERROR


@requirement(75, 83)
def changes_of_roots_and_of_their_accessibility_are_announced(base: Path) -> None:
    client = Client()

    async def changing() -> None:
        await client.provider.expose(f"{base}/app")
        assert client.told == [LIST_CHANGED]
        (base / "app").rename(base / "gone")
        await client.provider.check()
        assert client.told == [LIST_CHANGED] * 2
        assert client.provider.current() == []
        (base / "gone").rename(base / "app")
        await watched(client, 3)

    asyncio.run(changing())
    assert [root.uri for root in client.provider.current()] == [make_uri(f"{base}/app")]


@requirement(80)
def roots_are_exposed_with_consent_and_when_they_can_be_used(base: Path) -> None:
    client = Client(consent=False)
    with pytest.raises(RequestError):
        asyncio.run(client.provider.expose(f"{base}/none"))
    assert client.asked == []
    with pytest.raises(RequestError):
        asyncio.run(client.provider.expose(f"{base}/app"))
    assert client.asked == [f"{base}/app"]
    assert client.provider.list_roots().roots == client.provider.current() == []


@requirement(87)
def the_user_is_asked_and_roots_are_looked_after(base: Path) -> None:
    client = Client()

    async def using() -> None:
        with pytest.raises(RequestError):
            await client.provider.expose(f"{base}/none")
        await client.provider.expose(f"{base}/app")
        await client.provider.expose(f"{base}/lib")
        assert client.asked == [f"{base}/app", f"{base}/lib"]
        await client.provider.withdraw(f"{base}/app")
        assert [root.uri for root in client.provider.current()] == [make_uri(f"{base}/lib")]
        (base / "lib").rename(base / "gone")
        await watched(client, 4)

    asyncio.run(using())
    assert client.provider.current() == []


@requirement(82)
def a_client_holds_itself_to_its_roots(base: Path) -> None:
    client = Client()
    asyncio.run(client.provider.expose(f"{base}/app"))
    (base / "app" / "link").symlink_to("../outside")
    assert client.provider.allows(f"{base}/app/a.txt")
    assert not client.provider.allows(f"{base}/app/link/a.txt")


@requirement(84, 85, 86)
def a_server_stays_within_the_roots_it_was_given(base: Path) -> None:
    result = roots.ListRootsResult(roots=from_workspace(bound_to(base)))
    (base / "app" / "link").symlink_to("../outside")
    found = bind_roots(result)
    os.close(found.open(f"{base}/app/a.txt"))
    assert found.contains(f"{base}/app/a.txt")
    assert not found.contains(f"{base}/app/link/a.txt")
    for path in ("outside/a.txt", "app/link/a.txt"):
        assert code_of(found.require, f"{base}/{path}") == code_of(found.open, f"{base}/{path}") == REFUSED
    (base / "lib").rename(base / "gone")
    later = bind_roots(result)
    assert [root.path for root in later.roots] == [f"{base}/app"]
    assert [uri for uri, _ in later.unusable] == [make_uri(f"{base}/lib")]
    with pytest.raises(FileNotFoundError):
        found.open(f"{base}/lib/a.txt")


@requirement(88)
def a_server_asks_for_roots_when_it_may_and_when_it_must(base: Path) -> None:
    asked: list[int] = []

    async def answer() -> roots.ListRootsResult:
        asked.append(1)
        return roots.ListRootsResult(roots=[])

    async def serve() -> None:
        with pytest.raises(RootsUnsupported):
            await RootsCache(roots.ClientCapabilities(), answer).current()
        cache = RootsCache(roots.ClientCapabilities(roots=roots.RootsCapability(list_changed=True)), answer)
        await cache.current()
        await cache.current()
        assert len(asked) == 1
        cache.changed()
        await cache.current()

    asyncio.run(serve())
    assert len(asked) == 2


@requirement(102)
def the_two_methods_are_told_as_booleans(base: Path) -> None:
    for policy, wanted in ((FilePolicy(), (True, True)), (FilePolicy(read=False, write=False), (False, False))):
        written = json.loads(v1.encode(v1.ClientCapabilities(fs=FileSystem({}, policy).capabilities())))["fs"]
        assert (written["readTextFile"], written["writeTextFile"]) == wanted


@requirement(105, 106)
def a_file_is_written_and_read(base: Path) -> None:
    path = f"{base}/app/a.txt"
    assert answered(base, "fs/write_text_file", path=path, content="höher\n") == {"result": {}}
    assert answered(base, "fs/read_text_file", path=path) == {"result": {"content": "höher\n"}}


@requirement(109, 110, 111)
def failures_have_codes_that_say_what_they_are(base: Path) -> None:
    def error(path: str, policy: FilePolicy | None = None) -> tuple[int, Any]:
        found = answered(base, "fs/read_text_file", policy, path=path)["error"]
        assert found["message"]
        return found["code"], found["data"]

    assert error(f"{base}/app/none.txt") == (NOT_FOUND, {"path": f"{base}/app/none.txt"})
    assert error(f"{base}/outside/a.txt") == (REFUSED, {"path": f"{base}/outside/a.txt"})
    (base / "app" / "b.bin").write_bytes(b"\0")
    assert error(f"{base}/app/b.bin")[0] == INTERNAL_ERROR


@requirement(103)
def what_is_advertised_is_what_is_configured(base: Path) -> None:
    found = FileSystem({}, FilePolicy(write=False)).capabilities()
    assert (found.read_text_file, found.write_text_file) == (True, False)


@requirement(108)
def sizes_are_checked(base: Path) -> None:
    assert FilePolicy().max_read == FilePolicy().max_write == 10 * 1024 * 1024
    policy = FilePolicy(max_read=2, max_write=2)
    assert code_of(read_file, base, f"{base}/app/a.txt", policy) == INTERNAL_ERROR
    assert code_of(write_file, base, f"{base}/app/a.txt", "abc", policy) == INTERNAL_ERROR
    assert (base / "app" / "a.txt").read_text() == "app"


@requirement(112, "acp/v1/file-system/writing-files/1")
def folders_are_made_and_files_replaced_as_a_whole(base: Path) -> None:
    write_file(base, f"{base}/app/new/deep/a.txt", "new")
    assert (base / "app" / "new" / "deep" / "a.txt").read_text() == "new"
    before = (base / "app" / "a.txt").stat().st_ino
    held = (base / "app" / "a.txt").open()
    write_file(base, f"{base}/app/a.txt", "new")
    assert (base / "app" / "a.txt").stat().st_ino != before
    assert held.read() == "app"
    held.close()


@requirement(113)
def binary_data_and_other_types_are_refused(base: Path) -> None:
    (base / "app" / "b.bin").write_bytes(b"a\0b")
    assert code_of(read_file, base, f"{base}/app/b.bin") == INTERNAL_ERROR
    assert code_of(read_file, base, f"{base}/app/a.txt", FilePolicy(extensions=frozenset({".md"}))) == REFUSED


@requirement("acp/v1/terminals/executing-commands/3")
def output_is_cut_between_characters(base: Path) -> None:
    tail = Tail(4)
    tail.add("tide €€".encode())
    assert (tail.text, tail.is_cut) == ("€", True)
