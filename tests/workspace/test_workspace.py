"""Which roots a request results in, on both sides of a connection."""

from __future__ import annotations

import ntpath
import os
import posixpath
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from acp_bindings import UNSET, v1, v2
from hypothesis import given
from hypothesis import strategies as st

from acp_workspace.containment import find_places, guarantees
from acp_workspace.errors import INVALID_PARAMS, NOT_FOUND, REFUSED, RequestError
from acp_workspace.scope import Scope, is_absolute, matches, normalise, parse_scope, request_scope
from acp_workspace.workspace import AgentWorkspace, ClientWorkspace, RootSet

pytestmark = pytest.mark.skipif(not guarantees().enforced, reason="this platform cannot keep an access in a root")


def folders(base: Path, *names: str) -> list[str]:
    for name in names:
        (base / name).mkdir(parents=True, exist_ok=True)
    return [str(base / name) for name in names]


def new(cwd: str, additional: Any = UNSET) -> v1.NewSessionRequest:
    return v1.NewSessionRequest(cwd=cwd, additional_directories=additional, mcp_servers=[])


def error_of(work: Any, *arguments: Any, **named: Any) -> RequestError:
    with pytest.raises(RequestError) as caught:
        work(*arguments, **named)
    return caught.value


# --- validation and normalisation ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("additional", "pointers"),
    [
        ("/srv/lib", ["/params/additionalDirectories"]),
        (None, ["/params/additionalDirectories"]),
        ({}, ["/params/additionalDirectories"]),
        ([None], ["/params/additionalDirectories/0"]),
        (["/a", 7], ["/params/additionalDirectories/1"]),
        (["/a", "", "b", "/c"], ["/params/additionalDirectories/1", "/params/additionalDirectories/2"]),
        (["/a\0b"], ["/params/additionalDirectories/0"]),
        (["C:\\srv"], ["/params/additionalDirectories/0"]),
    ],
)
def test_every_malformed_entry_is_named(additional: object, pointers: list[str]) -> None:
    error = error_of(parse_scope, "/srv/app", additional, flavour="posix")
    assert error.code == INVALID_PARAMS
    assert [problem["pointer"] for problem in error.data["problems"]] == pointers


@pytest.mark.parametrize("cwd", ["", "app", None, 3, "C:\\app"])
def test_a_malformed_cwd_is_named(cwd: object) -> None:
    assert error_of(parse_scope, cwd, [], flavour="posix").data["problems"][0]["pointer"] == "/params/cwd"


def test_an_omitted_list_means_none() -> None:
    assert parse_scope("/srv/app") == parse_scope("/srv/app", []) == Scope("/srv/app")


def test_duplicates_go_and_the_first_of_them_keeps_its_place() -> None:
    found = parse_scope("/w", ["/b", "/a", "/b/", "/w", "//a", "/w/sub"], flavour="posix")
    assert found == Scope("/w", ("/b", "/a", "/w/sub"))


@given(st.text("/.ab", min_size=1, max_size=12))
def test_normalising_keeps_what_a_path_means(text: str) -> None:
    path = "/" + text
    plain = normalise(path, "posix")
    assert normalise(plain, "posix") == plain
    assert "//" not in plain
    assert posixpath.normpath(plain).replace("//", "/") == posixpath.normpath(path).replace("//", "/")
    assert plain.split("/").count("..") == path.split("/").count("..")


@given(st.text("\\/.aB:", min_size=1, max_size=12))
def test_normalising_windows_paths_settles(text: str) -> None:
    path = "c:\\" + text
    plain = normalise(path, "windows")
    assert normalise(plain, "windows") == plain
    assert is_absolute(plain, "windows")
    assert ntpath.normpath(plain).upper() == ntpath.normpath(path.replace("/", "\\")).upper()


@given(st.lists(st.sampled_from(["/w", "/w/", "/a", "/b", "/a/.", "/a/b", "//b"]), max_size=8))
def test_the_resulting_roots_are_never_more_nor_in_another_order(additional: list[str]) -> None:
    found = parse_scope("/w", additional, flavour="posix")
    plain = [normalise(path, "posix") for path in additional]
    assert set(found.additional) == set(plain) - {"/w"}
    assert sorted(found.additional, key=plain.index) == list(found.additional)
    assert len(set(found.paths)) == len(found.paths)


@given(st.lists(st.sampled_from(["/a", "/a/", "/b", "//b", "/c/./d", "/c/d"]), max_size=4))
def test_one_rule_for_state_filter_and_results(additional: list[str]) -> None:
    stored = parse_scope("/w", additional, flavour="posix")
    assert matches(stored, additional=stored.as_listed())
    assert matches(stored, cwd="/w/./", additional=[f"{path}//" for path in stored.additional])
    assert parse_scope("/w", stored.as_listed(), flavour="posix") == stored


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("src/a.py", "/w/app/src/a.py"),
        ("/other/a.py", "/other/a.py"),
        ("../lib/a.py", "/w/app/../lib/a.py"),
    ],
)
def test_relative_paths_are_meant_from_cwd_only(path: str, expected: str) -> None:
    assert Scope("/w/app", ("/w/lib",), "posix").absolute(path) == expected


def test_relative_paths_on_windows_are_meant_from_cwd_only() -> None:
    found = Scope("C:\\w", ("D:\\lib",), "windows")
    assert found.absolute("src\\a.py") == "C:\\w\\src\\a.py"
    for path in ("D:a.py", "\\a.py"):
        assert error_of(found.absolute, path).code == REFUSED


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        *((path, True) for path in ("C:\\", "c:/a", r"\\nas\srv", "//nas/srv/a", r"\\?\C:\a", r"C:\a\..\..\b")),
        *(
            (path, False)
            for path in ("", "C:", "C:a", r"\a", "/a", r"\\nas", "//", r"\\\nas\srv", r"\\\\a\b", "a", "CON")
        ),
        *((path, False) for path in ("é:\\a", "1:\\a", ":\\a", "\\\\nas\\")),
    ],
)
def test_what_is_absolute_on_windows_is_a_drive_or_a_share(path: str, expected: bool) -> None:
    assert is_absolute(path, "windows") is expected
    if expected:
        assert is_absolute(normalise(path, "windows"), "windows")


def test_a_relative_path_is_not_looked_for_in_further_roots(tmp_path: Path) -> None:
    app, lib = folders(tmp_path, "app", "lib")
    (tmp_path / "lib" / "only-here.txt").touch()
    roots = RootSet.bind(parse_scope(app, [lib]))
    (place,) = find_places(roots.roots, f"{app}/only-here.txt")
    assert place.root.path == app
    with pytest.raises(FileNotFoundError):
        roots.open("only-here.txt")


# --- the filter ------------------------------------------------------------------------------------------------------

LISTED = {
    "none": Scope("/w"),
    "one": Scope("/w", ("/a",)),
    "two": Scope("/w", ("/a", "/b")),
    "turned": Scope("/w", ("/b", "/a")),
    "elsewhere": Scope("/v", ("/a",)),
}


@pytest.mark.parametrize(
    ("cwd", "additional", "expected"),
    [
        (None, UNSET, ["none", "one", "two", "turned", "elsewhere"]),
        ("/w", UNSET, ["none", "one", "two", "turned"]),
        (None, ["/a"], ["one", "elsewhere"]),
        ("/w", ["/a"], ["one"]),
        (None, ["/a", "/b"], ["two"]),
        (None, ["/b", "/a"], ["turned"]),
        (None, [], ["none"]),
        ("/v", [], []),
        ("/w/", ["/a//"], ["one"]),
        (None, ["/a", "/a"], ["one", "elsewhere"]),
        (None, ["/w"], ["none"]),
    ],
)
@pytest.mark.parametrize("version", [v1, v2])
def test_the_filter_matches_the_ordered_list_exactly(
    version: Any, cwd: str | None, additional: Any, expected: Sequence[str]
) -> None:
    request = version.ListSessionsRequest(cwd=cwd, additional_directories=additional)
    agent = AgentWorkspace()
    assert agent.filter_sessions(LISTED, request, LISTED.__getitem__) == expected


def test_a_malformed_filter_is_refused_even_where_there_are_no_sessions() -> None:
    class Raw:
        cwd = None
        additional_directories = ("a",)

    assert error_of(AgentWorkspace().filter_sessions, [], Raw(), LISTED.__getitem__).code == INVALID_PARAMS


# --- the agent -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["New", "Load", "Resume", "Fork"])
def test_the_supplied_list_is_the_whole_list_and_omitted_means_none(tmp_path: Path, name: str) -> None:
    app, lib, skills = folders(tmp_path, "app", "lib", "skills")
    agent = AgentWorkspace()
    assert agent.bind(new(app, [lib])).scope == Scope(app, (lib,))
    for more, expected in (
        ({"additionalDirectories": [skills]}, (skills,)),
        ({"additionalDirectories": []}, ()),
        ({}, ()),
    ):
        body: dict[str, Any] = {"cwd": app, "mcpServers": [], "sessionId": "source", **more}
        request = v2.decode_as(getattr(v2, f"{name}SessionRequest"), body)
        assert agent.bind(request).scope == Scope(app, expected)


def test_without_the_capability_a_list_is_refused_and_not_dropped(tmp_path: Path) -> None:
    app, lib = folders(tmp_path, "app", "lib")
    agent = AgentWorkspace(advertised=False)
    assert error_of(agent.bind, new(app, [lib])).code == INVALID_PARAMS
    assert agent.bind(new(app)).scope == agent.bind(new(app, [])).scope == Scope(app)


def test_a_root_that_cannot_be_granted_fails_the_request_by_name(tmp_path: Path) -> None:
    app, lib = folders(tmp_path, "app", "lib")
    (tmp_path / "file").touch()
    missing = error_of(AgentWorkspace().bind, new(app, [lib, f"{tmp_path}/none"]))
    assert (missing.code, missing.data["entry"]) == (NOT_FOUND, "additionalDirectories[1]")
    plain = error_of(AgentWorkspace().bind, new(app, [f"{tmp_path}/file"]))
    assert (plain.code, plain.data["path"]) == (REFUSED, f"{tmp_path}/file")
    policy = AgentWorkspace(policy=lambda path: "it holds the family photos" if path == lib else None)
    barred = error_of(policy.bind, new(app, [lib]))
    assert (barred.code, barred.message) == (
        REFUSED,
        "additionalDirectories[0] is refused: it holds the family photos",
    )


def test_a_root_is_granted_by_its_real_path_too(tmp_path: Path) -> None:
    projects, other = folders(tmp_path, "projects", "other")
    Path(projects, "link").symlink_to(other)
    (tmp_path / "alias").symlink_to(projects)

    def within_projects(path: str) -> str | None:
        return None if path.startswith(f"{projects}/") or path == projects else "it is none of the projects"

    agent = AgentWorkspace(policy=within_projects)
    assert agent.bind(new(projects)).scope == Scope(projects)
    for path in (f"{projects}/link", f"{projects}/../other", f"{tmp_path}/alias"):
        error = error_of(agent.bind, new(projects, [path]))
        assert (error.code, error.data) == (REFUSED, {"path": path, "entry": "additionalDirectories[0]"})
        assert other not in error.message


def test_a_policy_refuses_before_anything_is_looked_up(tmp_path: Path) -> None:
    policy = AgentWorkspace(policy=lambda path: "no")
    for path in (str(tmp_path), f"{tmp_path}/missing"):
        assert error_of(policy.bind, new(path)).message == "cwd is refused: no"


def test_nested_and_odd_roots_keep_their_order_and_their_meaning(tmp_path: Path) -> None:
    app, sub = folders(tmp_path, "app", "app/sub")
    (tmp_path / "alias").symlink_to(app)
    Path(sub, "a.txt").touch()
    for cwd, more in ((app, [sub]), (sub, [app]), (f"{tmp_path}/alias", [app, sub]), ("/", [app])):
        roots = RootSet.bind(parse_scope(cwd, more))
        assert [place.root.path for place in find_places(roots.roots, f"{sub}/a.txt")] == [cwd, *more]
        assert not roots.contains("/" if cwd != "/" else "relative\0")


@pytest.mark.parametrize("version", [v1, v2])
def test_requests_of_both_versions_are_read(version: Any, tmp_path: Path) -> None:
    app, lib = folders(tmp_path, "app", "lib")
    for name in ("New", "Load", "Resume", "Fork"):
        body: dict[str, Any] = {"cwd": app, "additionalDirectories": [lib], "mcpServers": [], "sessionId": "s"}
        request = version.decode_as(getattr(version, f"{name}SessionRequest"), body)
        assert request_scope(request) == Scope(app, (lib,))


def test_paths_under_every_root_are_in_scope_alike_and_earlier_roots_prevail(tmp_path: Path) -> None:
    app, lib = folders(tmp_path, "app", "lib")
    for folder, name in ((app, "AGENTS.md"), (lib, "AGENTS.md"), (lib, "SKILLS.md")):
        Path(folder, name).write_text(folder)
    (tmp_path / "secret.md").write_text("OUTSIDE")
    Path(lib, "LINK.md").symlink_to("../secret.md")
    roots = RootSet.bind(parse_scope(app, [lib]))
    assert roots.contains(f"{app}/x")
    assert roots.contains(f"{lib}/y/z")
    assert roots.contains("x")
    assert not roots.contains("../secret.md")
    assert not roots.contains(f"{lib}/LINK.md")
    assert roots.discover("AGENTS.md", "SKILLS.md", "LINK.md", "AGENTS.md") == {
        "AGENTS.md": [f"{app}/AGENTS.md", f"{lib}/AGENTS.md"],
        "SKILLS.md": [f"{lib}/SKILLS.md"],
        "LINK.md": [],
    }
    descriptor = roots.open("AGENTS.md")
    assert os.read(descriptor, 1000).decode() == app
    os.close(descriptor)
    assert error_of(roots.open, "../secret.md").code == REFUSED
    assert error_of(roots.open, "../secret.md").code == REFUSED


# --- the client ------------------------------------------------------------------------------------------------------


def test_a_client_sends_only_what_the_user_has_granted(tmp_path: Path) -> None:
    app, lib, sub = folders(tmp_path, "app", "lib", "app/sub")
    client = ClientWorkspace(allowed_roots=[app])
    assert client.prepare(sub, [app, sub], advertised=True).scope == Scope(sub, (app,))
    error = error_of(client.prepare, app, [lib], advertised=True)
    assert (error.code, error.data) == (REFUSED, {"path": lib, "entry": "additionalDirectories[0]"})
    client.allow(lib)
    assert client.prepare(app, [lib], advertised=True).scope == Scope(app, (lib,))


def test_a_granted_directory_must_be_one(tmp_path: Path) -> None:
    assert error_of(ClientWorkspace, allowed_roots=["relative"]).code == INVALID_PARAMS
    missing = error_of(ClientWorkspace, allowed_roots=[f"{tmp_path}/none"])
    assert (missing.code, missing.message) == (NOT_FOUND, "the granted directory is not an existing directory")


def test_a_link_within_a_granted_directory_grants_nothing_elsewhere(tmp_path: Path) -> None:
    app, outside = folders(tmp_path, "app", "outside")
    Path(app, "link").symlink_to(outside)
    assert error_of(ClientWorkspace(allowed_roots=[app]).prepare, f"{app}/link", advertised=True).code == REFUSED


def test_a_client_workspace_that_has_ended_says_so(tmp_path: Path) -> None:
    app = str(tmp_path)
    client = ClientWorkspace(allowed_roots=[app])
    client.prepare(app, advertised=True).close()
    client.close()
    assert "has ended" in str(error_of(client.prepare, app, advertised=True))
    client.allow(app)
    client.prepare(app, advertised=True).close()
    assert "has not granted it" in str(error_of(client.prepare, "/", advertised=True))


def test_without_the_capability_a_client_sends_no_list(tmp_path: Path) -> None:
    app, lib = folders(tmp_path, "app", "lib")
    client = ClientWorkspace(allowed_roots=[app, lib])
    assert error_of(client.prepare, app, [lib], advertised=False).code == INVALID_PARAMS
    roots = client.prepare(app, [app], advertised=False)
    assert ClientWorkspace.additional_directories(roots, advertised=False) is UNSET
    assert ClientWorkspace.additional_directories(roots, advertised=True) == []
    request = v1.NewSessionRequest(
        cwd=roots.scope.cwd,
        additional_directories=ClientWorkspace.additional_directories(roots, advertised=False),
        mcp_servers=[],
    )
    assert b"additionalDirectories" not in v1.encode(request)


def test_a_client_takes_the_roots_of_listed_sessions_until_it_sets_others(tmp_path: Path) -> None:
    app, lib = folders(tmp_path, "app", "lib")
    client = ClientWorkspace(allowed_roots=[app, lib])
    assert error_of(client.roots, "s").code == INVALID_PARAMS
    info = v1.SessionInfo(session_id="s", cwd=app, additional_directories=[lib])
    assert client.learn(info).scope == client.roots("s").scope == Scope(app, (lib,))
    client.establish("s", client.prepare(app, advertised=True))
    assert client.learn(info).scope == client.roots("s").scope == Scope(app)
    client.forget("s")
    assert error_of(client.roots, "s").code == INVALID_PARAMS
    assert client.learn(v2.SessionInfo(session_id="s", cwd=lib)).scope == Scope(lib)


def test_an_agent_cannot_widen_the_roots_by_what_it_lists(tmp_path: Path) -> None:
    app, lib = folders(tmp_path, "app", "lib")
    client = ClientWorkspace(allowed_roots=[app])
    client.learn(v1.SessionInfo(session_id="s", cwd=app, additional_directories=[]))
    lie = v1.SessionInfo(session_id="s", cwd="/", additional_directories=[lib])
    assert error_of(client.learn, lie).code == REFUSED
    assert error_of(client.roots, "s").code == INVALID_PARAMS
