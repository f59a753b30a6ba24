"""Nothing outside a root is opened: links, `..`, mounts, swaps, and what a platform cannot promise."""

from __future__ import annotations

import asyncio
import contextlib
import ctypes
import errno
import os
import pickle
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from acp_bindings import v1

from acp_workspace import containment
from acp_workspace.atomic import make_folder
from acp_workspace.containment import (
    MOST_PARTS,
    AccessDenied,
    Mechanism,
    Place,
    Root,
    bind,
    contains,
    find_places,
    guarantees,
    is_within,
    open_file,
    open_regular,
    reach,
)
from acp_workspace.errors import RequestError
from acp_workspace.filesystem import FilePolicy, FileSystem
from acp_workspace.mechanism import open_from_top
from acp_workspace.scope import parse_scope
from acp_workspace.workspace import ClientWorkspace, RootSet
from workspace.conftest import PATHS, descriptors

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
    with pytest.raises((AccessDenied, FileNotFoundError)) as caught:
        content(f"{tree}/{path}", tree / "app", tree / "lib")
    assert isinstance(caught.value, AccessDenied)
    assert "OUTSIDE" not in str(caught.value)
    assert str(tree / "outside") not in caught.value.reason


@pytest.mark.parametrize("path", ["", "relative", "/nul\0", "/" + "a/" * 3000, "/lone\udc80surrogate", "/\ud800"])
def test_what_is_no_plain_absolute_path_is_refused(tmp_path: Path, path: str) -> None:
    with pytest.raises(AccessDenied):
        find_places([bind(str(tmp_path))], path)
    assert not contains([bind(str(tmp_path))], path)


def test_a_path_outside_tells_nothing_about_what_is_there(tree: Path) -> None:
    reasons = set[str]()
    for name in ("secret.txt", "missing.txt", "missing/deeper"):
        with pytest.raises(AccessDenied) as caught:
            content(f"{tree}/outside/{name}", tree / "app")
        reasons.add(caught.value.reason)
    assert reasons == {"it is outside the workspace roots"}


def test_the_first_root_that_contains_a_path_prevails(tree: Path) -> None:
    roots = [bind(str(tree / "app")), bind(str(tree / "app" / "src"))]
    assert [place.parts for place in find_places(roots, f"{tree}/app/src/a.txt")] == [("src", "a.txt"), ("a.txt",)]


def test_a_root_is_found_under_another_name_of_the_same_directory(tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As on a file system without case: the text differs, the directory is the same."""
    root = bind(str(tree / "app"))
    other = root.__class__("/OTHER", "/OTHER/NAME", root.identity)
    (place,) = find_places([other], f"{tree}/app/src/a.txt")
    assert place == Place(other, ("src", "a.txt"), f"{tree}/app/src/a.txt")


def test_a_link_swapped_in_after_the_look_is_not_followed(tree: Path, mechanism: str) -> None:
    root = bind(str(tree / "app"))
    (place,) = find_places([root], f"{tree}/app/src/a.txt")
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
        with pytest.raises((AccessDenied, OSError)):
            open_file(root, ("secret.txt",), os.O_RDONLY)


def test_a_root_removed_and_made_again_is_another_one(tmp_path: Path, mechanism: str) -> None:
    """The number of a directory that is held open is not given to another one."""
    for number in range(50):
        place = tmp_path / "r"
        place.mkdir(exist_ok=True)
        root = bind(str(place))
        place.rmdir()
        place.mkdir()
        (place / "a.txt").write_text("other")
        with pytest.raises(AccessDenied, match="replaced"):
            open_file(root, ("a.txt",), os.O_RDONLY)
        assert not is_within([root], bind(str(place))), number
        (place / "a.txt").unlink()


def test_a_path_that_leads_elsewhere_once_it_was_opened_is_not_granted(
    tmp_path: Path, mechanism: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What somebody agreed to is the path, so that both must be one directory when the grant is made."""
    for name in ("one", "other"):
        (tmp_path / name).mkdir()
    link = tmp_path / "link"
    link.symlink_to("one")
    before = descriptors()

    def exchanged(parts: Sequence[str]) -> int:
        folder = open_from_top(parts)
        link.unlink()
        link.symlink_to("other")
        return folder

    with monkeypatch.context() as patch:
        patch.setattr(containment, "open_from_top", exchanged)
        with pytest.raises(AccessDenied, match="changed while it was opened"):
            bind(str(link))
    assert descriptors() == before
    assert bind(str(link)).real == str(tmp_path / "other")


def test_a_closed_root_opens_nothing_and_what_was_opened_stays_open(tree: Path, mechanism: str) -> None:
    root = bind(str(tree / "app"))
    file = open_file(root, ("src", "a.txt"), os.O_RDONLY)
    root.close()
    root.close()
    with pytest.raises(AccessDenied, match="closed"):
        open_file(root, ("src", "a.txt"), os.O_RDONLY)
    assert os.read(file, 100)
    os.close(file)
    with pytest.raises(AccessDenied, match="not open"):
        open_file(replace(root, handle=None), ("src", "a.txt"), os.O_RDONLY)


def test_a_root_that_nothing_refers_to_is_closed(tree: Path) -> None:
    before = descriptors()
    roots = [bind(str(tree / "app")) for _ in range(50)]
    del roots
    assert not before or len(os.listdir("/proc/self/fd")) == before


def test_a_root_may_be_closed_while_others_use_it(tree: Path, mechanism: str) -> None:
    """A descriptor that was closed may be another file by then; nobody gets one of those."""
    for _ in range(30):
        root = bind(str(tree / "app"))
        wrong: list[bytes] = []

        def use(root: Root = root, wrong: list[bytes] = wrong) -> None:
            for _ in range(50):
                try:
                    file = open_file(root, ("src", "a.txt"), os.O_RDONLY)
                except AccessDenied:
                    continue
                found = os.read(file, 100)
                os.close(file)
                if found != (tree / "app" / "src" / "a.txt").read_bytes():
                    wrong.append(found)

        threads = [threading.Thread(target=use) for _ in range(3)]
        for thread in threads:
            thread.start()
        root.close()
        others = [os.open(tree / "outside" / "secret.txt", os.O_RDONLY) for _ in range(10)]
        for thread in threads:
            thread.join()
        for other in others:
            os.close(other)
        assert not wrong


def steps_of(work: Callable[[], object], monkeypatch: pytest.MonkeyPatch) -> int:
    """How many calls to the system that open or look something up a piece of work makes."""
    count = 0
    with monkeypatch.context() as patch:
        for name in ("open", "readlink", "lstat", "stat", "mkdir", "rmdir"):
            real = getattr(os, name)

            def counted(*arguments: Any, real: Callable[..., Any] = real, **named: Any) -> Any:
                nonlocal count
                count += 1
                return real(*arguments, **named)

            patch.setattr(os, name, counted)
        work()
    return count


@pytest.mark.parametrize("ends", ["written", "refused"])
def test_a_write_takes_steps_in_proportion_to_the_depth(
    tmp_path: Path, mechanism: str, monkeypatch: pytest.MonkeyPatch, ends: str
) -> None:
    files = FileSystem({"s": RootSet.bind(parse_scope(str(tmp_path)))}, FilePolicy())

    def write(depth: int) -> None:
        name = "x" * 300 if ends == "refused" else "a.txt"
        path = f"{tmp_path}/{depth}/" + "d/" * depth + name
        request = v1.WriteTextFileRequest(session_id="s", path=path, content="new")
        with contextlib.suppress(RequestError) if ends == "refused" else contextlib.nullcontext():
            asyncio.run(files.write_text_file(request))

    write(1)
    few, many = (steps_of(partial(write, depth), monkeypatch) for depth in (50, 200))
    assert many < 4.2 * few


def test_what_lies_deeper_than_any_path_may_is_refused(tmp_path: Path, mechanism: str) -> None:
    root = bind(str(tmp_path))
    with pytest.raises(OSError, match="too long"):
        reach([root], f"{tmp_path}/" + "d/" * (MOST_PARTS + 1) + "a.txt", lambda place: 0)


def test_a_pipe_put_in_the_place_of_a_file_after_the_look_is_not_waited_for(
    tree: Path, mechanism: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The opening must not wait for a writer, and what was opened must be looked at again."""
    root = bind(str(tree / "app"))
    before = descriptors()
    os.mkfifo(tree / "pipe")
    looked = vars(containment)["_require_regular"]
    seen: list[str] = []

    def then_swapped(mode: int, name: str) -> None:
        looked(mode, name)
        if not seen:
            seen.append(name)
            os.rename(tree / "pipe", tree / "app" / "src" / "a.txt")

    monkeypatch.setattr(containment, "_require_regular", then_swapped)
    found: list[BaseException | None] = []

    def work() -> None:
        try:
            os.close(open_regular(root, ("src", "a.txt"), os.O_RDONLY))
        except OSError as error:
            found.append(error)

    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    thread.join(20)
    assert not thread.is_alive(), "it waits for somebody to write into the pipe"
    assert [getattr(error, "errno", None) for error in found] == [errno.EINVAL]
    assert descriptors() == before


@pytest.mark.parametrize("number", [errno.EAGAIN, errno.EINTR])
def test_an_opening_that_the_system_could_not_finish_is_tried_again(
    tree: Path, monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    """`openat2` answers EAGAIN where something on the path was renamed meanwhile."""
    from acp_workspace import mechanism

    if guarantees().mechanism is not Mechanism.OPENAT2:
        pytest.skip("this platform has no openat2")
    root = bind(str(tree / "app"))
    real = vars(mechanism)["_load_syscall"]()
    calls: list[int] = []

    def busy() -> Callable[..., int]:
        def call(*arguments: Any) -> int:
            calls.append(1)
            if len(calls) % 4:
                ctypes.set_errno(number)
                return -1
            return int(real(*arguments))

        return call

    monkeypatch.setattr(mechanism, "_load_syscall", busy)
    os.close(open_file(root, ("src", "a.txt"), os.O_RDONLY))
    assert len(calls) > 4


def test_only_regular_files_are_opened(tree: Path, mechanism: str) -> None:
    os.mkfifo(tree / "app" / "pipe")
    root = bind(str(tree / "app"))
    for name, number in (("pipe", errno.EINVAL), ("src", errno.EISDIR), ("file", errno.ELOOP)):
        with pytest.raises(OSError, match=name) as caught:
            open_regular(root, (name,), os.O_RDONLY)
        assert caught.value.errno == number
    with pytest.raises(IsADirectoryError):
        open_regular(root, (), os.O_RDONLY)


def test_a_pipe_is_opened_without_waiting_for_a_writer_and_no_descriptor_is_inherited(
    tree: Path, mechanism: str
) -> None:
    os.mkfifo(tree / "app" / "pipe")

    def late(*_: object) -> None:
        raise TimeoutError

    before = signal.signal(signal.SIGALRM, late)
    signal.setitimer(signal.ITIMER_REAL, 10)
    try:
        with RootSet.bind(parse_scope(str(tree / "app"))) as roots:
            for name in ("pipe", "src", "src/a.txt"):
                found = roots.open(name)
                assert not os.get_inheritable(found)
                os.close(found)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def test_folders_are_made_without_following_links(tree: Path, mechanism: str) -> None:
    root = bind(str(tree / "app"))
    before = descriptors()
    folder = make_folder(root, ("new", "deeper"))
    assert [name for name, _ in folder.new_folders] == ["new", "deeper"]
    folder.sync_created(os.fsync)
    mask = os.umask(0o022)
    os.umask(mask)
    for made in ("new", "new/deeper"):
        assert (tree / "app" / made).stat().st_mode & 0o7777 == 0o777 & ~mask
    folder.remove_created()
    folder.close()
    assert descriptors() == before
    assert not (tree / "app" / "new").exists()
    with pytest.raises(OSError, match="symbolic links"):
        make_folder(root, ("to-outside", "new"))
    with pytest.raises(OSError, match="too long"):
        make_folder(root, ("other", "x" * 300))
    assert not (tree / "app" / "other").exists()
    assert not (tree / "outside" / "new").exists()
    assert descriptors() == before


@pytest.mark.parametrize("name", ["", ".", "..", "a/b", "a\0b"])
def test_a_component_is_a_name(tree: Path, mechanism: str, name: str) -> None:
    root = bind(str(tree / "app"))
    for open_it in (lambda: open_file(root, ("src", name), os.O_RDONLY), lambda: make_folder(root, (name,))):
        with pytest.raises(ValueError, match="is not a file name"):
            open_it()


def test_nothing_stays_open(tree: Path, mechanism: str) -> None:
    before = descriptors()
    for path in ("app/src/a.txt", "app/to-outside/secret.txt", "outside/x", "app/src", "app/none", "app/loop"):
        for roots in ([tree / "app"], [tree / "lib", tree / "app"]):
            with contextlib.suppress(OSError, AccessDenied):
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
    with pytest.raises(AccessDenied, match="mount point"):
        content(f"{mounts}/{path}", mounts / "app")


def test_a_mount_point_that_is_a_root_itself_is_used(mounts: Path, mechanism: str) -> None:
    assert content(f"{mounts}/app/disk/c.txt", mounts / "app", mounts / "app" / "disk") == b"c\n"


def test_a_grant_does_not_reach_across_a_mount_point(mounts: Path, mechanism: str) -> None:
    granted = [bind(str(mounts / "app"))]
    assert is_within(granted, bind(str(mounts / "app" / "src")))
    assert not is_within(granted, bind(str(mounts / "app" / "disk")))
    assert not is_within(granted, bind(str(mounts / "outside")))
    with pytest.raises(RequestError, match="not granted"):
        ClientWorkspace(allowed_roots=[f"{mounts}/app"]).prepare(f"{mounts}/app/disk", advertised=True)


# --- platforms -------------------------------------------------------------------------------------------------------


def test_a_platform_without_any_mechanism_opens_nothing(tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    root = bind(str(tree / "app"))
    monkeypatch.setattr("acp_workspace.mechanism._has_openat2", lambda: False)
    monkeypatch.setattr("acp_workspace.mechanism._has_walk", lambda: False)
    found = guarantees()
    assert (found.mechanism, found.enforced) == (Mechanism.NONE, False)
    assert found.limits
    attempts: tuple[Callable[[], object], ...] = (
        lambda: bind(str(tree / "app")),
        lambda: open_file(root, ("src", "a.txt"), os.O_RDONLY),
        lambda: open_regular(root, ("src", "a.txt"), os.O_RDONLY),
        lambda: make_folder(root, ("new",)),
    )
    for attempt in attempts:
        with pytest.raises(AccessDenied, match="platform"):
            attempt()
    assert not (tree / "app" / "new").exists()
    with pytest.raises(AccessDenied, match="platform"):
        reach([root], f"{tree}/app/src/a.txt", lambda place: open_file(place.root, place.parts, os.O_RDONLY))


def test_the_guarantees_follow_the_mechanism(mechanism: str) -> None:
    found = guarantees()
    assert found.enforced
    assert any("mount of the same file system" in limit for limit in found.limits) == (sys.platform != "linux")
    assert any("sandbox" in limit for limit in found.limits)


def test_a_mount_that_cannot_be_told_is_refused(tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def unknown(descriptor: int) -> int:
        raise OSError(errno.EXDEV, "the mount of a file cannot be determined")

    monkeypatch.setattr("acp_workspace.mechanism._has_openat2", lambda: False)
    monkeypatch.setattr("acp_workspace.mechanism._identify_mount", unknown)
    with pytest.raises(AccessDenied, match="mount point"):
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
    error = AccessDenied("/a", "it lies outside")
    assert pickle.loads(pickle.dumps(error)) == error
    assert str(error) == "access to '/a' is refused: it lies outside"


def test_a_root_that_is_spelt_otherwise_is_known_by_its_identity_at_every_depth(tree: Path) -> None:
    """A mount or a file system that folds case gives a directory a second name: what counts is what it is."""
    inside = os.path.realpath(tree)
    names = [name for name in inside.split("/") if name]
    for depth in range(1, len(names) + 1):
        root = replace(bind("/" + "/".join(names[:depth])), real="/ANOTHER/SPELLING", path="/ANOTHER/SPELLING")
        (found,) = find_places([root], inside)
        assert found.parts == tuple(names[depth:])


def test_a_place_is_tried_from_the_next_root_behind_a_mount_point_alone(tree: Path, mechanism: str) -> None:
    """Any other error says something of the file, which the next root would only open by another way."""
    roots = [bind(str(tree / "app")), bind(str(tree / "app" / "src"))]
    for number, tries in ((errno.EXDEV, 2), (errno.EACCES, 1), (errno.ENOENT, 1)):
        tried: list[Place] = []

        def use(place: Place, number: int = number, tried: list[Place] = tried) -> None:
            tried.append(place)
            raise OSError(number, os.strerror(number))

        with pytest.raises((OSError, AccessDenied)):
            reach(roots, str(tree / "app" / "src" / "a.txt"), use)
        assert len(tried) == tries, number
