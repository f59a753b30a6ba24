"""Nothing outside a root is opened: links, `..`, mounts, swaps, and what a platform cannot promise."""

from __future__ import annotations

import contextlib
import errno
import os
import pickle
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from acp_session.containment import (
    Mechanism,
    Place,
    Refused,
    bind,
    contains,
    guarantees,
    is_within,
    make_folder,
    open_file,
    open_regular,
    places,
    reach,
    remove_folders,
)
from acp_session.errors import RequestError
from acp_session.workspace import ClientWorkspace
from session.conftest import PATHS

pytestmark = pytest.mark.skipif(not guarantees().enforced, reason="this platform cannot keep an access in a root")

Make = Callable[..., Path]


def content(path: str, *roots: Path) -> bytes:
    """What is read of a path through containment."""
    bound = [bind(str(root)) for root in roots]
    file = reach(bound, path, lambda place: open_regular(place.root, place.parts, os.O_RDONLY))
    try:
        return os.read(file, 1000)
    finally:
        os.close(file)


@pytest.fixture
def tree(tmp_path: Path, make: Make) -> Path:
    """Two roots and something outside, with links of every kind."""
    make("app/src/a.txt", "a\n")
    make("lib/b.txt", "b\n")
    make("outside/secret.txt", "OUTSIDE\n")
    (tmp_path / "app" / "inner").symlink_to("src")
    (tmp_path / "app" / "absolute").symlink_to(tmp_path / "app" / "src")
    (tmp_path / "app" / "to-lib").symlink_to(tmp_path / "lib")
    (tmp_path / "app" / "to-outside").symlink_to("../outside")
    (tmp_path / "app" / "file").symlink_to(tmp_path / "outside" / "secret.txt")
    (tmp_path / "app" / "loop").symlink_to("loop")
    (tmp_path / "app" / "chain").symlink_to("to-outside/../outside/secret.txt")
    (tmp_path / "alias").symlink_to("app")
    return tmp_path


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("app/src/a.txt", b"a\n"),
        ("app/./src//a.txt", b"a\n"),
        ("app/inner/a.txt", b"a\n"),
        ("app/absolute/a.txt", b"a\n"),
        ("app/src/../src/a.txt", b"a\n"),
        ("app/../lib/b.txt", b"b\n"),
        ("app/to-lib/b.txt", b"b\n"),
        ("app/to-lib/../lib/b.txt", b"b\n"),
        ("alias/src/a.txt", b"a\n"),
    ],
)
def test_what_leads_into_a_root_is_read(tree: Path, mechanism: str, path: str, expected: bytes) -> None:
    assert content(f"{tree}/{path}", tree / "app", tree / "lib") == expected


@pytest.mark.parametrize(
    "path",
    [
        "outside/secret.txt",
        "app/../outside/secret.txt",
        "app/to-outside/secret.txt",
        "app/file",
        "app/chain",
        "app/inner/../../outside/secret.txt",
        "app/loop",
        "app-and-more/secret.txt",
        "app/src/../../outside/none.txt",
        "app/to-outside/none.txt",
        "app/missing/../src/a.txt",
        "app/src/a.txt/../a.txt",
    ],
)
def test_what_leads_outside_or_cannot_be_decided_is_refused(tree: Path, mechanism: str, path: str) -> None:
    with pytest.raises((Refused, FileNotFoundError)) as caught:
        content(f"{tree}/{path}", tree / "app", tree / "lib")
    assert isinstance(caught.value, Refused)
    assert "OUTSIDE" not in str(caught.value)
    assert str(tree / "outside") not in caught.value.reason


@pytest.mark.parametrize("path", ["", "relative", "/nul\0", "/" + "a/" * 3000, "/lone\udc80surrogate", "/\ud800"])
def test_what_is_no_plain_absolute_path_is_refused(tmp_path: Path, path: str) -> None:
    with pytest.raises(Refused):
        places([bind(str(tmp_path))], path)
    assert not contains([bind(str(tmp_path))], path)


def test_a_path_outside_tells_nothing_about_what_is_there(tree: Path) -> None:
    reasons = set[str]()
    for name in ("secret.txt", "missing.txt", "missing/deeper"):
        with pytest.raises(Refused) as caught:
            content(f"{tree}/outside/{name}", tree / "app")
        reasons.add(caught.value.reason)
    assert reasons == {"it lies outside the workspace roots"}


def test_the_first_root_that_contains_a_path_prevails(tree: Path) -> None:
    roots = [bind(str(tree / "app")), bind(str(tree / "app" / "src"))]
    assert [place.parts for place in places(roots, f"{tree}/app/src/a.txt")] == [("src", "a.txt"), ("a.txt",)]


def test_a_root_is_found_under_another_name_of_the_same_directory(tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As on a file system without case: the text differs, the directory is the same."""
    root = bind(str(tree / "app"))
    other = root.__class__("/OTHER", "/OTHER/NAME", root.identity)
    (place,) = places([other], f"{tree}/app/src/a.txt")
    assert place == Place(other, ("src", "a.txt"), f"{tree}/app/src/a.txt")


def test_a_link_swapped_in_after_the_look_is_not_followed(tree: Path, mechanism: str) -> None:
    root = bind(str(tree / "app"))
    (place,) = places([root], f"{tree}/app/src/a.txt")
    (tree / "app" / "src").rename(tree / "app" / "moved")
    (tree / "app" / "src").symlink_to(tree / "outside")
    (tree / "outside" / "a.txt").write_text("OUTSIDE")
    with pytest.raises(OSError, match="symbolic links") as caught:
        open_file(place.root, place.parts, os.O_RDONLY)
    assert caught.value.errno == errno.ELOOP


def test_a_path_that_changed_meanwhile_is_looked_up_again(tree: Path, mechanism: str) -> None:
    seen: list[tuple[str, ...]] = []

    def use(place: Place) -> int:
        seen.append(place.parts)
        if len(seen) == 1:
            (tree / "app" / "src").rename(tree / "app" / "moved")
            (tree / "app" / "src").symlink_to("moved")
        return open_file(place.root, place.parts, os.O_RDONLY)

    os.close(reach([bind(str(tree / "app"))], f"{tree}/app/src/a.txt", use))
    assert seen == [("src", "a.txt"), ("moved", "a.txt")]


def test_a_root_replaced_by_another_directory_is_refused(tree: Path, mechanism: str) -> None:
    root = bind(str(tree / "app"))
    (tree / "app").rename(tree / "was-app")
    for attack in ("link", "directory"):
        if attack == "link":
            (tree / "app").symlink_to("outside")
        else:
            (tree / "app").unlink()
            (tree / "app").mkdir()
        with pytest.raises((Refused, OSError)):
            open_file(root, ("secret.txt",), os.O_RDONLY)


def test_only_regular_files_are_opened(tree: Path, mechanism: str) -> None:
    os.mkfifo(tree / "app" / "pipe")
    root = bind(str(tree / "app"))
    for name, number in (("pipe", errno.EINVAL), ("src", errno.EISDIR), ("file", errno.ELOOP)):
        with pytest.raises(OSError, match=name) as caught:
            open_regular(root, (name,), os.O_RDONLY)
        assert caught.value.errno == number
    with pytest.raises(IsADirectoryError):
        open_regular(root, (), os.O_RDONLY)


def test_folders_are_made_without_following_links(tree: Path, mechanism: str) -> None:
    root = bind(str(tree / "app"))
    folder, made = make_folder(root, ("new", "deeper"))
    os.close(folder)
    assert made == 2
    remove_folders(root, ("new", "deeper"), made)
    assert not (tree / "app" / "new").exists()
    with pytest.raises(OSError, match="symbolic links"):
        make_folder(root, ("to-outside", "new"))
    with pytest.raises(OSError, match="too long"):
        make_folder(root, ("other", "x" * 300))
    assert not (tree / "app" / "other").exists()
    assert not (tree / "outside" / "new").exists()


@pytest.mark.parametrize("name", ["", ".", "..", "a/b", "a\0b"])
def test_a_component_is_a_name(tree: Path, mechanism: str, name: str) -> None:
    root = bind(str(tree / "app"))
    for open_it in (lambda: open_file(root, ("src", name), os.O_RDONLY), lambda: make_folder(root, (name,))):
        with pytest.raises(ValueError, match="is no name of a file"):
            open_it()


def test_nothing_stays_open(tree: Path, mechanism: str) -> None:
    before = len(os.listdir("/proc/self/fd")) if sys.platform == "linux" else 0
    for path in ("app/src/a.txt", "app/to-outside/secret.txt", "outside/x", "app/src", "app/none", "app/loop"):
        for roots in ([tree / "app"], [tree / "lib", tree / "app"]):
            with contextlib.suppress(OSError, Refused):
                content(f"{tree}/{path}", *roots)
    if sys.platform == "linux":
        assert len(os.listdir("/proc/self/fd")) == before


# --- mounts ----------------------------------------------------------------------------------------------------------


@pytest.fixture
def mounts(tree: Path) -> Iterator[Path]:
    """The tree with `outside` bound to `app/bind`, a file bound over another, and a file system of its own at `app/disk`."""
    (tree / "app" / "bind").mkdir()
    (tree / "app" / "disk").mkdir()
    (tree / "app" / "bound.txt").touch()
    wanted = [
        ["--bind", f"{tree}/outside", f"{tree}/app/bind"],
        ["--bind", f"{tree}/outside/secret.txt", f"{tree}/app/bound.txt"],
        ["-t", "tmpfs", "-o", "size=64k", "none", f"{tree}/app/disk"],
    ]
    mounted: list[str] = []
    try:
        for arguments in wanted:
            if sys.platform != "linux" or subprocess.run(["mount", *arguments], capture_output=True).returncode:
                pytest.skip("mounting is not permitted here")
            mounted.append(arguments[-1])
        (tree / "app" / "disk" / "c.txt").write_text("c\n")
        yield tree
    finally:
        for path in reversed(mounted):
            subprocess.run(["umount", "-l", path], check=True)


@pytest.mark.parametrize("path", ["app/bind/secret.txt", "app/bound.txt", "app/disk/c.txt"])
def test_a_mount_point_is_not_crossed(mounts: Path, mechanism: str, path: str) -> None:
    with pytest.raises(Refused, match="mount point"):
        content(f"{mounts}/{path}", mounts / "app")


def test_a_mount_point_that_is_a_root_itself_is_used(mounts: Path, mechanism: str) -> None:
    assert content(f"{mounts}/app/disk/c.txt", mounts / "app", mounts / "app" / "disk") == b"c\n"


def test_a_grant_does_not_reach_across_a_mount_point(mounts: Path, mechanism: str) -> None:
    granted = [bind(str(mounts / "app"))]
    assert is_within(granted, bind(str(mounts / "app" / "src")))
    assert not is_within(granted, bind(str(mounts / "app" / "disk")))
    assert not is_within(granted, bind(str(mounts / "outside")))
    with pytest.raises(RequestError, match="not granted"):
        ClientWorkspace(granted=[f"{mounts}/app"]).prepare(f"{mounts}/app/disk", advertised=True)


# --- platforms -------------------------------------------------------------------------------------------------------


def test_a_platform_without_any_mechanism_opens_nothing(tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    root = bind(str(tree / "app"))
    monkeypatch.setattr("acp_session.containment._has_openat2", lambda: False)
    monkeypatch.setattr("acp_session.containment._has_walk", lambda: False)
    found = guarantees()
    assert (found.mechanism, found.enforced, found.links, found.mounts, found.atomic) == (
        Mechanism.NONE,
        False,
        False,
        False,
        False,
    )
    assert found.limits
    attempts: tuple[Callable[[], object], ...] = (
        lambda: bind(str(tree / "app")),
        lambda: open_file(root, ("src", "a.txt"), os.O_RDONLY),
        lambda: open_regular(root, ("src", "a.txt"), os.O_RDONLY),
        lambda: make_folder(root, ("new",)),
    )
    for attempt in attempts:
        with pytest.raises(Refused, match="platform"):
            attempt()
    assert not (tree / "app" / "new").exists()
    with pytest.raises(Refused, match="platform"):
        reach([root], f"{tree}/app/src/a.txt", lambda place: open_file(place.root, place.parts, os.O_RDONLY))


def test_the_guarantees_follow_the_mechanism(mechanism: str) -> None:
    found = guarantees()
    assert found.enforced
    assert found.links
    assert found.mounts
    assert found.bind_mounts == (sys.platform == "linux")
    assert any("sandbox" in limit for limit in found.limits)


def test_a_mount_that_cannot_be_told_is_refused(tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def unknown(descriptor: int) -> int:
        raise OSError(errno.EXDEV, "the mount of a file cannot be told")

    monkeypatch.setattr("acp_session.containment._has_openat2", lambda: False)
    monkeypatch.setattr("acp_session.containment._mount", unknown)
    with pytest.raises(Refused, match="mount point"):
        content(f"{tree}/app/src/a.txt", tree / "app")


def run(program: str, *arguments: str) -> str:
    """What one of our programs prints; it fails the test if it raises."""
    done = subprocess.run(
        [sys.executable, str(Path(__file__).with_name("programs") / program), *arguments],
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(PATHS)},
        timeout=60,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.skipif(sys.platform != "linux", reason="the sandbox is that of Linux")
@pytest.mark.parametrize("number", [errno.ENOSYS, errno.EPERM])
def test_where_a_sandbox_bars_openat2_every_component_is_opened_by_itself(tmp_path: Path, number: int) -> None:
    found = run("barred.py", str(tmp_path), str(number))
    if found == "not possible\n":
        pytest.skip("this kernel takes no filter")
    assert found == "done\n"


def test_on_windows_the_package_is_imported_and_opens_nothing(tmp_path: Path) -> None:
    assert run("windows.py", str(tmp_path)) == "done\n"


def test_a_refusal_survives_pickling(tmp_path: Path) -> None:
    error = Refused("/a", "it lies outside")
    assert pickle.loads(pickle.dumps(error)) == error
    assert str(error) == "access to '/a' is refused: it lies outside"
