"""Trees and paths made to confuse: chains of links, climbing paths, telling names, odd files, crowds of descriptors."""

from __future__ import annotations

import asyncio
import contextlib
import gc
import os
import socket
import stat
import sys
import threading
import time
import unicodedata
from collections.abc import Callable
from pathlib import Path

import pytest

from acp_workspace.atomic import make_folder
from acp_workspace.containment import (
    MOST_LINKS,
    AccessDenied,
    bind,
    find_places,
    guarantees,
    open_file,
    open_regular,
    reach,
)
from acp_workspace.errors import INTERNAL_ERROR, NOT_FOUND, REFUSED, RequestError
from acp_workspace.filesystem import FilePolicy
from acp_workspace.scope import parse_scope
from acp_workspace.workspace import RootSet
from workspace.test_filesystem import Client, refusal, temporary_files

pytestmark = pytest.mark.skipif(not guarantees().enforced, reason="this platform cannot keep an access in a root")

Make = Callable[..., Path]


def chain(folder: Path, length: int, end: str) -> Path:
    """Links that lead to one another, the last one to `end`; the first of them."""
    for number in range(length):
        (folder / f"link-{number}").symlink_to(f"link-{number + 1}" if number + 1 < length else end)
    return folder / "link-0"


# --- links -----------------------------------------------------------------------------------------------------------


def test_as_many_links_are_followed_as_the_system_follows(tmp_path: Path, make: Make, mechanism: str) -> None:
    client = Client(tmp_path)
    make("app/a.txt")
    assert client.read(chain(tmp_path / "app", MOST_LINKS, "a.txt")) == "inside\n"


@pytest.mark.parametrize("length", [MOST_LINKS + 1, 3000])
def test_a_long_chain_of_links_is_refused_and_not_followed_for_ever(
    tmp_path: Path, make: Make, mechanism: str, length: int
) -> None:
    client = Client(tmp_path)
    make("app/a.txt")
    first = chain(tmp_path / "app", length, "a.txt")
    assert refusal(client.read, first).code == refusal(client.write, first, "new").code == REFUSED
    with pytest.raises(RequestError) as caught:
        RootSet.bind(parse_scope(str(first)))
    assert caught.value.code == REFUSED


def test_links_that_multiply_are_refused_at_once(tmp_path: Path, mechanism: str) -> None:
    client = Client(tmp_path)
    (tmp_path / "app" / "x0").mkdir()
    for number in range(1, 30):
        (tmp_path / "app" / f"x{number}").symlink_to(f"x{number - 1}/../x{number - 1}")
    began = time.monotonic()
    assert refusal(client.read, "app/x29/a.txt").code == REFUSED
    assert time.monotonic() - began < 5


def test_a_chain_of_links_outside_looks_like_everything_else_outside(tmp_path: Path) -> None:
    client = Client(tmp_path)
    long = chain(tmp_path / "outside", 100, "none")
    reasons = {refusal(client.read, path).message for path in (long, tmp_path / "outside" / "none", "/etc/passwd")}
    assert reasons == {"access is refused: it is outside the workspace roots"}


# --- climbing --------------------------------------------------------------------------------------------------------


def test_a_path_that_climbs_out_and_back_tells_nothing_about_what_is_outside(tmp_path: Path, make: Make) -> None:
    client = Client(tmp_path)
    make("app/a.txt")
    make("outside/file")
    (tmp_path / "outside" / "folder").mkdir()
    (tmp_path / "outside" / "link").symlink_to("/usr/bin")
    (tmp_path / "outside" / "same").symlink_to("folder")
    answers = {
        str(refusal(client.read, f"{tmp_path}/outside/{name}/../../app/a.txt").message)
        for name in ("file", "folder", "link", "same", "missing")
    }
    assert answers == {"access is refused: it is outside the workspace roots"}
    for path in (f"{tmp_path}/app/../app/a.txt", f"{tmp_path}/../{tmp_path.name}/lib/../app/./a.txt"):
        assert client.read(path) == "inside\n", "inside the roots and on the way to them `..` is followed"


def test_a_link_may_climb_wherever_it_lies(tmp_path: Path, make: Make) -> None:
    make("app/a.txt")
    (tmp_path / "links" / "deep").mkdir(parents=True)
    (tmp_path / "links" / "deep" / "root").symlink_to("../../app")
    roots = RootSet.bind(parse_scope(f"{tmp_path}/links/deep/root"))
    (place,) = find_places(roots.roots, f"{tmp_path}/links/deep/root/a.txt")
    assert place.real == os.path.realpath(f"{tmp_path}/app/a.txt")


@pytest.mark.parametrize("step", ["x/../", "./", "/", "x/x/../../", "../app/"])
def test_the_longest_paths_are_decided_quickly(tmp_path: Path, make: Make, step: str) -> None:
    client = Client(tmp_path)
    make("app/a.txt")
    make("app/x/x/b.txt")
    base = f"{tmp_path}/app/"
    path = base + step * ((4090 - len(base) - len("a.txt")) // len(step)) + "a.txt"
    began = time.process_time()
    assert client.read(path) == "inside\n"
    assert time.process_time() - began < 0.5


# --- names -----------------------------------------------------------------------------------------------------------


def test_a_secret_is_known_by_any_name_on_the_way_to_it(tmp_path: Path, make: Make, mechanism: str) -> None:
    client = Client(tmp_path)
    make("app/dotfiles/ssh/config", "SECRET")
    (tmp_path / "app" / ".ssh").symlink_to("dotfiles/ssh")
    (tmp_path / "lib" / ".aws").symlink_to("../app/dotfiles")
    for path in ("app/.ssh/config", "lib/.aws/ssh/config", "app/./.ssh//config"):
        assert refusal(client.read, path).code == refusal(client.write, path, "new").code == REFUSED
    (tmp_path / "app" / "hooks-of").symlink_to("dotfiles")
    (tmp_path / "app" / "repository").mkdir()
    (tmp_path / "app" / "repository" / ".git").symlink_to("../dotfiles")
    assert refusal(client.write, "app/repository/.git/config", "new").code == REFUSED


def test_the_names_of_a_root_itself_are_no_secret(tmp_path: Path, make: Make) -> None:
    make("my.env/.docker/app/a.txt")
    roots = RootSet.bind(parse_scope(f"{tmp_path}/my.env/.docker/app"))
    client = Client(tmp_path)
    client.roots["s"] = roots
    assert client.read("my.env/.docker/app/a.txt") == "inside\n"


NAMES = unicodedata.normalize("NFC", "höher.txt"), unicodedata.normalize("NFD", "höher.txt")


@pytest.mark.parametrize(("asked", "other"), [NAMES, NAMES[::-1]])
def test_a_name_is_the_one_that_was_asked_for(tmp_path: Path, make: Make, asked: str, other: str) -> None:
    client = Client(tmp_path)
    client.write(f"app/{asked}", "new")
    assert client.read(f"app/{asked}") == "new"
    names = os.listdir(tmp_path / "app")
    if names == [asked] and not (tmp_path / "app" / other).exists():
        assert refusal(client.read, f"app/{other}").code == NOT_FOUND
        assert refusal(client.read, f"app/{asked.upper()}").code == NOT_FOUND


@pytest.mark.parametrize("name", ["a\nb.txt", "\u202etxt.exe", "a\\b.txt", " ", "-rf", "x" * 255, "é" * 127])
def test_odd_names_are_names_like_others(tmp_path: Path, mechanism: str, name: str) -> None:
    client = Client(tmp_path, FilePolicy(backups=f"{tmp_path}/kept"))
    for content in ("first", "second"):
        client.write(f"app/{name}", content)
        assert client.read(f"app/{name}") == content
    assert os.listdir(tmp_path / "app") == [name]
    (copy,) = (tmp_path / "kept").iterdir()
    assert copy.read_text() == "first"


def test_a_name_that_is_no_unicode_text_is_reached_by_a_link_only(tmp_path: Path, mechanism: str) -> None:
    client = Client(tmp_path)
    raw = os.fsencode(tmp_path) + b"/app/\xff.txt"
    try:
        os.close(os.open(raw, os.O_WRONLY | os.O_CREAT))
    except OSError:
        pytest.skip("this file system has Unicode names only")
    (tmp_path / "app" / "link.txt").symlink_to(os.fsdecode(b"\xff.txt"))
    client.write("app/link.txt", "new")
    assert client.read("app/link.txt") == "new"
    assert sorted(os.listdir(os.fsencode(tmp_path / "app"))) == [b"link.txt", b"\xff.txt"]
    with pytest.raises(AccessDenied, match="Unicode"):
        find_places([bind(f"{tmp_path}/app")], os.fsdecode(raw))


@pytest.mark.parametrize("name", ["x" * 256, "é" * 128])
def test_a_name_that_is_too_long_fails_and_leaves_nothing(tmp_path: Path, mechanism: str, name: str) -> None:
    client = Client(tmp_path)
    assert refusal(client.read, f"app/{name}").code == INTERNAL_ERROR
    assert refusal(client.write, f"app/new/{name}/a.txt", "new").code == INTERNAL_ERROR
    assert os.listdir(tmp_path / "app") == []


@pytest.mark.parametrize("end", ["/", "//", "/.", "/./"])
def test_a_path_that_names_a_directory_is_no_file(tmp_path: Path, make: Make, end: str) -> None:
    client = Client(tmp_path)
    make("app/a.txt")
    (tmp_path / "app" / "folder").mkdir()
    for name, code, message in (
        ("a.txt", NOT_FOUND, "there is no such file or directory"),
        ("folder", INTERNAL_ERROR, "it is a directory"),
        ("new.txt", INTERNAL_ERROR, "it is a directory"),
    ):
        for error in (refusal(client.read, f"{tmp_path}/app/{name}{end}"), refusal(client.write, f"app/{name}/.", "x")):
            assert (error.code, error.message) == (code, message)
    assert refusal(client.read, f"{tmp_path}/outside{end}").code == REFUSED
    assert sorted(os.listdir(tmp_path / "app")) == ["a.txt", "folder"]


# --- odd files -------------------------------------------------------------------------------------------------------


def test_sockets_and_devices_are_neither_read_nor_replaced(tmp_path: Path, mechanism: str) -> None:
    client = Client(tmp_path)
    with (
        contextlib.chdir(tmp_path / "app"),
        socket.socket(socket.AF_UNIX) as listening,
    ):  # the name of a socket is short
        listening.bind("socket")
    names = ["socket"]
    try:
        os.mknod(tmp_path / "app" / "zero", stat.S_IFCHR | 0o666, os.makedev(1, 5))
        names.append("zero")
    except (PermissionError, AttributeError):
        pass
    for name in names:
        assert refusal(client.read, f"app/{name}").code == INTERNAL_ERROR
        assert refusal(client.write, f"app/{name}", "new").code == INTERNAL_ERROR
    assert sorted(os.listdir(tmp_path / "app")) == names
    assert not stat.S_ISREG((tmp_path / "app" / "socket").lstat().st_mode)


def test_a_sparse_file_is_not_even_begun(tmp_path: Path, make: Make) -> None:
    client = Client(tmp_path, FilePolicy(backups=f"{tmp_path}/kept"))
    huge = make("app/huge", "")
    os.truncate(huge, 1 << 40)
    began = time.process_time()
    assert "larger than" in refusal(client.read, "app/huge").message
    error = refusal(client.write, "app/huge", "new")
    assert (error.code, "cannot be backed up" in error.message) == (INTERNAL_ERROR, True)
    assert huge.stat().st_size == 1 << 40
    assert time.process_time() - began < 5
    Client(tmp_path).write("app/huge", "new")
    assert huge.read_text() == "new"


@pytest.mark.skipif(sys.platform != "linux", reason="/proc is that of Linux")
def test_what_the_system_shows_as_files_is_not_reached_from_the_root_of_everything(mechanism: str) -> None:
    roots = [bind("/")]
    for path in ("/proc/self/environ", "/proc/self/mem", "/proc/self/root/proc/version", "/dev/null", "/dev/zero"):
        with pytest.raises((AccessDenied, OSError)):
            os.close(reach(roots, path, lambda at: open_regular(at.root, at.parts, os.O_RDONLY)))
    assert find_places(roots, "/")[0].parts == ()


@pytest.mark.skipif(sys.platform != "linux", reason="/proc is that of Linux")
def test_links_of_the_kernel_are_not_followed_out_of_a_root(mechanism: str) -> None:
    root = bind("/proc/self")
    for parts in (("root", "etc", "hostname"), ("cwd", "x"), ("fd", "0"), ("exe",)):
        with pytest.raises(OSError, match=r"symbolic links|cross-device|No such"):
            os.close(open_file(root, parts, os.O_RDONLY))


# --- crowds ----------------------------------------------------------------------------------------------------------


@pytest.mark.skipif(sys.platform != "linux", reason="counts descriptors in /proc")
def test_thousands_of_requests_leave_no_descriptor_and_no_thread(tmp_path: Path, make: Make, mechanism: str) -> None:
    client = Client(tmp_path, FilePolicy(durable=False, backups=f"{tmp_path}/kept", max_write=100))
    make("app/b.bin", b"\0")
    make("app/.env", "SECRET")
    (tmp_path / "app" / "link").symlink_to("../outside")
    (tmp_path / "app" / "loop").symlink_to("loop")
    os.mkfifo(tmp_path / "app" / "pipe")
    os.link(make("outside/a.txt"), tmp_path / "app" / "hard")
    names = ("a.txt", "b.bin", ".env", "link/a.txt", "loop", "pipe", "hard", "none/none", "x" * 300, "..", "new/a/b")

    async def one(number: int) -> None:
        path = f"{tmp_path}/app/{names[number % len(names)]}"
        try:
            if number % 3:
                await client.files.read_text_file(client.reading(path))
            else:
                await client.files.write_text_file(client.writing(path, "new" if number % 5 else "new" * 100))
        except RequestError:
            pass

    async def crowd(count: int) -> tuple[int, int]:
        for start in range(0, count, 500):
            await asyncio.gather(*(one(number) for number in range(start, start + 500)))
        return len(os.listdir("/proc/self/fd")), threading.active_count()

    gc.collect()  # what earlier tests left to be collected has descriptors and threads too
    first = asyncio.run(crowd(500))
    assert asyncio.run(crowd(1500)) == first
    assert not temporary_files(tmp_path)


def test_what_somebody_else_made_on_the_way_stays(
    tmp_path: Path, mechanism: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = bind(str(tmp_path))
    real = os.mkdir

    def raced(name: str, mode: int = 0o777, *, dir_fd: int | None = None) -> None:
        real(name, mode, dir_fd=dir_fd)
        if name == "b":
            raise FileExistsError

    monkeypatch.setattr("acp_workspace.atomic.os.mkdir", raced)
    folder = make_folder(root, ("a", "b", "c"))
    assert [name for name, _ in folder.new_folders] == ["c"]
    folder.remove_created()
    folder.close()
    assert [str(path.relative_to(tmp_path)) for path in sorted(tmp_path.rglob("*"))] == ["a", "a/b"]
