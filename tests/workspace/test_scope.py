"""Roots as text: two platforms, comparison, filters."""

from __future__ import annotations

import pytest

from acp_workspace.errors import INVALID_PARAMS, RequestError
from acp_workspace.scope import Flavour, Scope, find_flavour, matches, parse_scope


@pytest.mark.parametrize(
    ("cwd", "additional", "flavour"),
    [
        ("/srv", ["C:\\lib"], None),
        ("C:\\srv", ["/lib"], None),
        (r"\\nas\srv", ["/lib"], None),
        ("/srv", ["C:\\lib"], "posix"),
        ("C:/srv", ["/lib"], "windows"),
    ],
)
def test_paths_of_two_platforms_are_no_scope(cwd: str, additional: list[str], flavour: Flavour | None) -> None:
    with pytest.raises(RequestError) as caught:
        parse_scope(cwd, additional, flavour=flavour)
    assert caught.value.code == INVALID_PARAMS
    (problem,) = caught.value.data["problems"]
    assert problem["pointer"] == "/params/additionalDirectories/0"
    assert "like the others" in problem["message"]
    assert "like the others" in caught.value.message


def test_a_scope_of_any_platform_is_held_here() -> None:
    found = parse_scope("c:/srv/app/", ["C:\\srv\\app", r"\\nas\lib", r"\\nas\lib\\"], flavour=None)
    assert (found.paths, found.flavour) == (("C:\\srv\\app", "\\\\nas\\lib\\"), "windows")
    assert found.locate(r"\\nas\lib\a.txt") == (("\\\\nas\\lib\\", ("a.txt",)),)
    assert found.absolute("src") == "C:\\srv\\app\\src"
    assert matches(found, additional=["//nas/lib"])
    assert not matches(found, additional=["//nas/other"])


@pytest.mark.parametrize(
    ("path", "roots"),
    [
        ("/srv/app/a", ["/srv", "/srv/app"]),
        ("/srv/app", ["/srv", "/srv/app"]),
        ("/srv/apple", ["/srv"]),
        ("/srv//./app/", ["/srv", "/srv/app"]),
        ("/srv/app/../../etc", []),
        ("/etc", []),
        ("a/b", ["/srv"]),
    ],
)
def test_a_path_is_found_in_every_root_that_holds_it(path: str, roots: list[str]) -> None:
    assert [root for root, _ in Scope("/srv", ("/srv/app",), "posix").locate(path)] == roots


def test_the_root_of_all_holds_everything() -> None:
    assert Scope("/", (), "posix").locate("/a/b") == (("/", ("a", "b")),)
    assert Scope("C:\\", (), "windows").locate("C:/a") == (("C:\\", ("a",)),)
    assert Scope("C:\\", (), "windows").locate("D:/a") == ()


@pytest.mark.parametrize(
    ("kept", "asked", "expected"),
    [
        (("/b", "/a"), ["/b//", "/a", "/b"], True),
        (("/b",), ["/w", "/b"], True),
        ((), ["/w/"], True),
        (("/b", "/a"), ["/a", "/b"], False),
        (("/b/", "/b", "/w"), ["/b"], True),
    ],
)
def test_a_filter_is_read_as_stored_state_is(kept: tuple[str, ...], asked: list[str], expected: bool) -> None:
    assert matches(Scope("/w", kept, "posix"), additional=asked) is expected


def test_what_a_path_looks_like() -> None:
    assert [find_flavour(path) for path in ("/a", "//a/b", "a:/", "a:", "", "\\a")] == [
        *("posix", "posix", "windows", None, None, None)
    ]
