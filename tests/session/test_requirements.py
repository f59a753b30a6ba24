"""Every requirement that only a running program can keep, shown by the function that keeps it.

`requirements.json` says which function that is and which tests go deeper; the page of requirements is made from it.
"""

from __future__ import annotations

import asyncio
import importlib
import inspect
import json
import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import pytest
from acp_bindings import MISSING, v1, v2
from mcp_bindings import roots

from acp_session.baseline import BASELINE, missing_methods
from acp_session.containment import Refused, bind, guarantees, open_file
from acp_session.errors import INTERNAL_ERROR, INVALID_PARAMS, REFUSED, RequestError
from acp_session.filesystem import FilePolicy, FileSystem
from acp_session.mcp_roots import (
    LIST_CHANGED,
    RootsCache,
    RootsProvider,
    RootsUnsupported,
    bound,
    from_workspace,
    uri_of,
)
from acp_session.permission import about_tool_call, ask, cancel, decide, read, tool_call_update
from acp_session.workspace import AgentWorkspace, ClientWorkspace, RootSet, Scope, matches, normalise, scope

pytestmark = pytest.mark.skipif(not guarantees().enforced, reason="this platform cannot keep an access in a root")

TABLE: Final = Path(__file__).with_name("requirements.json")
DOCUMENT: Final = Path(__file__).parents[3] / "shared" / "seeds" / "requirements.md"

Check = Callable[[Path], object]
CHECKS: dict[int, Check] = {}
NUMBERS: Final = [f"{int(number):03}" for number in json.loads(TABLE.read_text("utf-8"))]


def requirement(*numbers: int) -> Callable[[Check], Check]:
    """Note that a function checks these requirements."""

    def noted(check: Check) -> Check:
        for number in numbers:
            assert number not in CHECKS, number
            CHECKS[number] = check
        return check

    return noted


@pytest.mark.parametrize("number", NUMBERS, ids="req-{}".format)
def test_the_requirement_is_kept(number: str, tmp_path: Path) -> None:
    for name in ("app", "lib", "outside"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "a.txt").write_text(name)
    CHECKS[int(number)](tmp_path)


def test_every_requirement_of_running_programs_is_in_the_table() -> None:
    if not DOCUMENT.exists():
        pytest.skip("the document with the requirements is not at hand")
    rows = re.findall(r"^\| (\d+) \|.*\| ([^|]+) \|$", DOCUMENT.read_text("utf-8"), re.MULTILINE)
    wanted = {int(number) for number, by in rows if "R" in by.strip().split("/")}
    assert len(wanted) == 48
    assert set(map(int, json.loads(TABLE.read_text("utf-8")))) == wanted == set(CHECKS)


def test_the_table_names_functions_and_tests_that_exist() -> None:
    for number, row in json.loads(TABLE.read_text("utf-8")).items():
        assert row.keys() == {"functions", "tests"}, number
        for name in row["functions"]:
            module, _, attribute = name.partition(":")
            found: Any = importlib.import_module(module)
            for part in attribute.split("."):
                found = getattr(found, part)
            assert inspect.getdoc(found), name
        for test in row["tests"]:
            file, _, function = test.partition("::")
            text = (Path(__file__).parents[2] / file).read_text("utf-8")
            assert f"\ndef {function}(" in text, test


# --- shorthand -------------------------------------------------------------------------------------------------------


def new(cwd: object, additional: Any = MISSING) -> v1.ForkSessionRequest:
    """Params that fit every lifecycle method here."""
    return v1.ForkSessionRequest(session_id="source", cwd=str(cwd), additional_directories=additional)


def code_of(work: Callable[..., object], *arguments: Any, **named: Any) -> int:
    with pytest.raises(RequestError) as caught:
        work(*arguments, **named)
    return caught.value.code


def bound_to(base: Path) -> RootSet:
    return RootSet.bind(scope(f"{base}/app", [f"{base}/lib"]))


def read_file(base: Path, path: str, policy: FilePolicy | None = None) -> str:
    async def served() -> str:
        files = FileSystem(policy)
        await files.attach("s", bound_to(base))
        return (await files.read_text_file(v1.ReadTextFileRequest(session_id="s", path=path))).content

    return asyncio.run(served())


def write_file(base: Path, path: str, content: str, policy: FilePolicy | None = None) -> None:
    async def served() -> None:
        files = FileSystem(policy)
        await files.attach("s", bound_to(base))
        await files.write_text_file(v1.WriteTextFileRequest(session_id="s", path=path, content=content))

    asyncio.run(served())


class Client:
    """An MCP client's provider, with what it asked the user and told the server."""

    def __init__(self, *, consent: bool = True) -> None:
        self.asked: list[str] = []
        self.told: list[str] = []
        self.consent = consent
        self.provider = RootsProvider(self._consent, self._notify)

    async def _consent(self, path: str) -> bool:
        self.asked.append(path)
        return self.consent

    async def _notify(self, method: str) -> None:
        self.told.append(method)


# --- additional directories ------------------------------------------------------------------------------------------


@requirement(9, 10, 11)
def lists_are_filtered(base: Path) -> None:
    agent = AgentWorkspace(flavour="posix")
    sessions = {
        "a": Scope("/w", ("/x", "/y")),
        "b": Scope("/w", ("/y", "/x")),
        "c": Scope("/w"),
        "d": Scope("/v", ("/x", "/y")),
    }

    def listed(**filters: Any) -> str:
        return "".join(agent.listed(sessions, v2.ListSessionsRequest(**filters), sessions.__getitem__))

    assert listed(additional_directories=["/x", "/y"]) == "ad"
    assert listed(additional_directories=["/x"]) == ""
    assert listed(cwd="/w", additional_directories=["/x", "/y"]) == "a"
    assert listed(additional_directories=[]) == "c"
    assert listed(cwd="/v", additional_directories=[]) == ""
    assert listed() == "abcd"


@requirement(18)
def duplicates_go_without_widening(base: Path) -> None:
    assert scope("/w", ["/b", "/a/x", "/b", "/a"], flavour="posix").additional == ("/b", "/a/x", "/a")


@requirement(19, 45)
def one_rule_normalises(base: Path) -> None:
    odd = "/w//x/./y/"
    stored = scope(odd, [f"{odd}/z"], flavour="posix")
    assert stored.cwd == normalise(odd, "posix") == "/w/x/y"
    assert stored.as_listed() == [normalise(f"{odd}/z", "posix")]
    assert matches(stored, cwd=odd, additional=[f"{odd}/z//"], flavour="posix")


@requirement(20)
def relative_paths_are_meant_from_cwd(base: Path) -> None:
    (base / "lib" / "only.txt").touch()
    assert bound_to(base).scope.absolute("only.txt") == f"{base}/app/only.txt"
    with pytest.raises(FileNotFoundError):
        bound_to(base).open("only.txt")


@requirement(21, 34)
def paths_in_any_root_are_in_scope(base: Path) -> None:
    (base / "app" / "to-lib").symlink_to("../lib")
    for path in ("app/a.txt", "lib/a.txt", "app/to-lib/a.txt", "app/../lib/a.txt"):
        assert bound_to(base).contains(f"{base}/{path}")
        assert read_file(base, f"{base}/{path}") in ("app", "lib")
    assert not bound_to(base).contains(f"{base}/outside/a.txt")


@requirement(22, 23, 24, 25, 26, 28)
def the_supplied_list_is_the_whole_list(base: Path) -> None:
    agent = AgentWorkspace()
    app, lib, outside = f"{base}/app", f"{base}/lib", f"{base}/outside"
    for method in (agent.new, agent.load, agent.resume, agent.fork):
        agent.activate("source", agent.new(new(app, [lib])))
        assert method(new(app, [outside, lib])).scope.additional == (outside, lib)
        assert method(new(app, [outside])).scope.additional == (outside,)
        assert method(new(app)).scope.additional == ()


@requirement(29, 30)
def a_fork_inherits_what_is_proven_or_fails(base: Path) -> None:
    agent = AgentWorkspace()
    assert code_of(agent.fork, new(f"{base}/app"), inherit=True) == INVALID_PARAMS
    agent.activate("source", agent.new(new(f"{base}/app", [f"{base}/lib"])))
    assert agent.fork(new(f"{base}/app"), inherit=True).scope.additional == (f"{base}/lib",)
    agent.changed_elsewhere("source")
    assert code_of(agent.fork, new(f"{base}/app"), inherit=True) == INVALID_PARAMS


@requirement(31, 43)
def no_root_is_dropped(base: Path) -> None:
    wanted = new(f"{base}/app", [f"{base}/lib", f"{base}/outside"])
    agent = AgentWorkspace(grant=lambda path: "not this one" if path.endswith("outside") else None)
    for method in (agent.new, agent.load, agent.resume, agent.fork):
        assert code_of(method, wanted) == REFUSED
    assert code_of(AgentWorkspace(advertised=False).new, wanted) == INVALID_PARAMS


@requirement(35, 36)
def discovery_treats_roots_alike_and_earlier_ones_prevail(base: Path) -> None:
    found = bound_to(base)
    assert [one.root.path for one in found.discover("a.txt")] == [f"{base}/app", f"{base}/lib"]
    assert found.prevailing("a.txt")["a.txt"].root.path == f"{base}/app"


@requirement(37)
def the_field_is_validated_before_anything_is_done(base: Path) -> None:
    asked: list[str] = []
    agent = AgentWorkspace(grant=asked.append)

    class Raw:
        session_id, cwd, additional_directories = "s", f"{base}/app", ["relative"]

    for method in (agent.new, agent.load, agent.resume, agent.fork):
        assert code_of(method, Raw()) == INVALID_PARAMS
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
    with pytest.raises(Refused, match="replaced"):
        open_file(root, ("a.txt",), os.O_RDONLY)


@requirement(50, 58)
def only_granted_directories_are_sent(base: Path) -> None:
    client = ClientWorkspace(granted=[f"{base}/app"])
    assert client.prepare(f"{base}/app", advertised=True).scope == Scope(f"{base}/app")
    assert code_of(client.prepare, f"{base}/app", [f"{base}/lib"], advertised=True) == REFUSED


@requirement(55)
def file_requests_are_held_in_the_roots_of_their_session(base: Path) -> None:
    assert read_file(base, f"{base}/lib/a.txt") == "lib"
    assert code_of(read_file, base, f"{base}/outside/a.txt") == REFUSED
    assert code_of(write_file, base, f"{base}/outside/a.txt", "x") == REFUSED


@requirement(56)
def listed_roots_hold_until_a_lifecycle_request(base: Path) -> None:
    client = ClientWorkspace(granted=[str(base)])
    client.learn(v1.SessionInfo(session_id="s", cwd=f"{base}/app", additional_directories=[f"{base}/lib"]))
    assert client.roots("s").scope.paths == (f"{base}/app", f"{base}/lib")
    client.establish("s", client.prepare(f"{base}/lib", advertised=True))
    assert client.roots("s").scope.paths == (f"{base}/lib",)


@requirement(60)
def what_is_claimed_is_enforced_or_nothing_is_opened(base: Path) -> None:
    held = guarantees()
    assert held.enforced
    assert held.links
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("acp_session.containment._has_openat2", lambda: False)
        patch.setattr("acp_session.containment._has_walk", lambda: False)
        assert not guarantees().enforced
        assert not FileSystem().capabilities().read_text_file
        assert code_of(RootSet.bind, scope(f"{base}/app")) == REFUSED


# --- the session methods of v2 ---------------------------------------------------------------------------------------


@requirement(65)
def an_agent_with_sessions_supports_the_eight_methods(base: Path) -> None:
    capabilities = v2.AgentCapabilities(session=v2.SessionCapabilities())
    assert len(BASELINE) == 8
    assert set(BASELINE) == {
        name for name, row in v2.METHODS.items() if row.capability == "agent:capabilities.session"
    } - {"session/set_config_option"}
    for method in BASELINE:
        assert missing_methods(capabilities, set(BASELINE) - {method}) == (method,)
    assert missing_methods(v2.AgentCapabilities(), ()) == ()


# --- MCP roots -------------------------------------------------------------------------------------------------------


@requirement(75, 83)
def changes_of_roots_and_of_their_accessibility_are_announced(base: Path) -> None:
    client = Client()

    async def changing() -> None:
        await client.provider.expose(f"{base}/app")
        assert client.told == [LIST_CHANGED]
        (base / "app").rename(base / "gone")
        await client.provider.check()

    asyncio.run(changing())
    assert client.told == [LIST_CHANGED] * 2
    assert client.provider.current() == []


@requirement(80, 87)
def roots_are_exposed_with_consent_and_when_they_can_be_used(base: Path) -> None:
    client = Client(consent=False)
    with pytest.raises(RequestError):
        asyncio.run(client.provider.expose(f"{base}/none"))
    assert client.asked == []
    with pytest.raises(RequestError):
        asyncio.run(client.provider.expose(f"{base}/app"))
    assert client.asked == [f"{base}/app"]
    assert client.provider.list_roots().roots == []


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
    found = bound(result)
    os.close(found.open(f"{base}/app/a.txt"))
    for path in ("outside/a.txt", "app/link/a.txt"):
        assert code_of(found.require, f"{base}/{path}") == code_of(found.open, f"{base}/{path}") == REFUSED
    (base / "lib").rename(base / "gone")
    later = bound(result)
    assert [root.path for root in later.roots] == [f"{base}/app"]
    assert [uri for uri, _ in later.unusable] == [uri_of(f"{base}/lib")]
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


# --- permission ------------------------------------------------------------------------------------------------------

YES: Final = v2.PermissionOption(option_id="yes", name="Yes", kind="allow_once")


@requirement(96)
def an_unknown_subject_gets_a_plain_prompt_or_is_declined(base: Path) -> None:
    request = ask("s", "Open the lock?", [YES], subject=v2.UnknownRequestPermissionSubject(type="_lock"))
    prompt = read(request)
    assert prompt is not None
    assert (prompt.title, prompt.is_understood) == ("Open the lock?", False)
    assert read(request, unknown_subject="decline") is None
    assert not decide(request, cancel(request)).allowed


@requirement(99)
def prompt_words_do_not_reach_the_tool_call(base: Path) -> None:
    call = v2.ToolCallUpdate(tool_call_id="c", title="Edit")
    request = ask("s", "May I?", [YES], description="Because.", subject=about_tool_call(call))
    assert tool_call_update(request) == call
    assert b"May I" not in v2.encode(tool_call_update(request))


# --- files -----------------------------------------------------------------------------------------------------------


@requirement(103)
def what_is_advertised_is_what_is_configured(base: Path) -> None:
    found = FileSystem(FilePolicy(write=False)).capabilities()
    assert (found.read_text_file, found.write_text_file) == (True, False)


@requirement(108)
def sizes_are_checked(base: Path) -> None:
    assert FilePolicy().max_read == FilePolicy().max_write == 10 * 1024 * 1024
    policy = FilePolicy(max_read=2, max_write=2)
    assert code_of(read_file, base, f"{base}/app/a.txt", policy) == INTERNAL_ERROR
    assert code_of(write_file, base, f"{base}/app/a.txt", "abc", policy) == INTERNAL_ERROR
    assert (base / "app" / "a.txt").read_text() == "app"


@requirement(112)
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
