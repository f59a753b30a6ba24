"""What a write keeps of the file it replaces, its form as text and who may use it; and what is on the disk when it is answered."""

from __future__ import annotations

import os
import stat
import struct
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from acp_workspace.atomic import TEMPORARY, prepare
from acp_workspace.containment import bind, guarantees
from acp_workspace.filesystem import FilePolicy
from workspace.test_filesystem import Client

pytestmark = pytest.mark.skipif(not guarantees().enforced, reason="this platform cannot keep an access in a root")

Make = Callable[..., Path]

ACCESS = "system.posix_acl_access"
STRANGER = 4321


# --- text ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("before", [65534, 65535, 65536, 131071])
def test_line_ends_are_kept_wherever_they_fall(tmp_path: Path, make: Make, before: int) -> None:
    client = Client(tmp_path)
    path = make("app/a.txt", b"x" * before + b"\r\nend\r\n")
    client.write("app/a.txt", "1\n2\n")
    assert path.read_bytes() == b"1\r\n2\r\n"


@pytest.mark.parametrize("before", [10, 70_000])
def test_the_whole_file_tells_its_encoding(tmp_path: Path, make: Make, before: int) -> None:
    client = Client(tmp_path, FilePolicy(fallback_encoding="latin-1"))
    path = make("app/a.txt", b"x" * before + "café\n".encode("latin-1"))
    client.write("app/a.txt", "thé\n")
    assert path.read_bytes() == "thé\n".encode("latin-1")


def test_a_file_beyond_the_limits_is_judged_by_its_beginning(tmp_path: Path, make: Make) -> None:
    client = Client(tmp_path, FilePolicy(max_read=3, max_write=10))
    path = make("app/a.txt", b"a\r\n" * 10)
    client.write("app/a.txt", "1\n2\n")
    assert path.read_bytes() == b"1\r\n2\r\n"
    path.write_bytes(b"ab\r\n" * 10)  # cut between the two characters of a line end
    client = Client(tmp_path, FilePolicy(max_read=7, max_write=7))
    client.write("app/a.txt", "1\n2\n")
    assert path.read_bytes() == b"1\r\n2\r\n"


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        (b"\xef\xbb\xbfa\n", "\ufeffb\n", b"\xef\xbb\xbfb\n"),
        (b"\xff\xfea\0", "\ufeffb", b"\xff\xfeb\0"),
        (b"a\n", "\ufeffb\n", b"\xef\xbb\xbfb\n"),
    ],
)
def test_a_byte_order_mark_stays_one(tmp_path: Path, make: Make, old: bytes, new: str, expected: bytes) -> None:
    client = Client(tmp_path)
    path = make("app/a.txt", old)
    client.write("app/a.txt", new)
    assert path.read_bytes() == expected
    assert client.read("app/a.txt") == new.removeprefix("\ufeff")


# --- rights ----------------------------------------------------------------------------------------------------------


def access_list(group: int, mask: int, other: int) -> bytes:
    """A list in which the owner may read and write, a stranger as the mask allows, and the group only what `group` says."""
    nobody = 0xFFFFFFFF
    entries = (
        (0x01, 6, nobody),
        (0x02, 6, STRANGER),
        (0x04, group, nobody),
        (0x10, mask, nobody),
        (0x20, other, nobody),
    )
    return struct.pack("<I", 2) + b"".join(struct.pack("<HHI", *entry) for entry in entries)


@pytest.fixture
def listed(tmp_path: Path, make: Make) -> Path:
    """A file that a stranger may use and its group may not; its mode alone looks as if the group might."""
    path = make("app/a.txt", "old")
    path.chmod(0o600)
    try:
        os.setxattr(path, ACCESS, access_list(group=0, mask=6, other=0))
    except (OSError, AttributeError):
        pytest.skip("this file system has no access lists")
    assert stat.S_IMODE(path.stat().st_mode) == 0o660
    return path


def test_an_access_list_is_kept(tmp_path: Path, listed: Path, mechanism: str) -> None:
    before = os.getxattr(listed, ACCESS)
    Client(tmp_path).write("app/a.txt", "new")
    assert listed.read_text() == "new"
    assert os.getxattr(listed, ACCESS) == before
    assert stat.S_IMODE(listed.stat().st_mode) == 0o660


def test_an_access_list_that_cannot_be_kept_gives_nobody_its_rights(
    tmp_path: Path, listed: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(file: int, name: str, value: bytes) -> None:
        raise OSError

    monkeypatch.setattr("acp_workspace.atomic.os.setxattr", fails)
    Client(tmp_path).write("app/a.txt", "new")
    assert listed.read_text() == "new"
    assert stat.S_IMODE(listed.stat().st_mode) == 0o600


@pytest.mark.parametrize(("old", "expected"), [(0o664, 0o604), (0o604, 0o600), (0o640, 0o600), (0o777, 0o707)])
def test_a_group_that_cannot_be_kept_is_given_to_no_other(
    tmp_path: Path, make: Make, monkeypatch: pytest.MonkeyPatch, old: int, expected: int
) -> None:
    path = make("app/a.txt", "old")
    path.chmod(old)
    if os.geteuid() != 0:
        pytest.skip("only the administrator can give a file to another group")
    os.chown(path, -1, STRANGER)

    def fails(file: int, owner: int, group: int) -> None:
        raise PermissionError

    monkeypatch.setattr("acp_workspace.atomic.os.fchown", fails)
    Client(tmp_path).write("app/a.txt", "new")
    assert (path.stat().st_gid, stat.S_IMODE(path.stat().st_mode)) == (os.getegid(), expected)


def test_a_group_that_cannot_be_kept_takes_the_access_list_along(
    tmp_path: Path, listed: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if os.geteuid() != 0:
        pytest.skip("only the administrator can give a file to another group")
    os.chown(listed, -1, STRANGER)

    def fails(file: int, owner: int, group: int) -> None:
        raise PermissionError

    monkeypatch.setattr("acp_workspace.atomic.os.fchown", fails)
    Client(tmp_path).write("app/a.txt", "new")
    assert stat.S_IMODE(listed.stat().st_mode) == 0o600
    assert ACCESS not in os.listxattr(listed)


@pytest.mark.skipif(sys.platform != "linux", reason="attributes are those of Linux")
def test_one_attribute_that_cannot_be_kept_keeps_no_other_from_being(
    tmp_path: Path, make: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = make("app/a.txt", "old")
    try:
        for name in ("user.a", "user.b", "user.c"):
            os.setxattr(path, name, b"1")
    except OSError:
        pytest.skip("this file system has no attributes")
    real = os.setxattr

    def fails(file: int, name: str, value: bytes, *rest: Any) -> None:
        if name == "user.b":
            raise OSError
        real(file, name, value, *rest)

    monkeypatch.setattr("acp_workspace.atomic.os.setxattr", fails)
    Client(tmp_path).write("app/a.txt", "new")
    assert sorted(os.listxattr(path)) == ["user.a", "user.c"]


@pytest.mark.parametrize("mask", [0o000, 0o022, 0o077])
def test_new_files_and_folders_follow_the_mask_of_the_process(tmp_path: Path, mask: int) -> None:
    client = Client(tmp_path)
    before = os.umask(mask)
    try:
        client.write("app/new/a.txt", "new")
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "app" / "new").stat().st_mode) == 0o777 & ~mask
    assert stat.S_IMODE((tmp_path / "app" / "new" / "a.txt").stat().st_mode) == 0o666 & ~mask


def test_a_file_that_may_be_written_and_not_read_is_replaced(tmp_path: Path, make: Make, mechanism: str) -> None:
    """As root everything may be read; what matters is that the right is asked for in one step."""
    client = Client(tmp_path)
    path = make("app/a.txt", "old")
    path.chmod(0o200)
    client.write("app/a.txt", "new")
    assert stat.S_IMODE(path.stat().st_mode) == 0o200


# --- the disk --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("durable", [True, False])
def test_content_is_on_the_disk_before_its_name_and_both_before_the_answer(
    tmp_path: Path, mechanism: str, monkeypatch: pytest.MonkeyPatch, durable: bool
) -> None:
    client = Client(tmp_path, FilePolicy(durable=durable))
    steps: list[object] = []
    fsync, rename = os.fsync, os.replace

    def synced(descriptor: int) -> None:
        found = os.fstat(descriptor)
        steps.append(found.st_ino if stat.S_ISDIR(found.st_mode) else found.st_size)
        fsync(descriptor)

    def renamed(*arguments: Any, **named: Any) -> None:
        steps.append("renamed")
        rename(*arguments, **named)

    monkeypatch.setattr("acp_workspace.atomic.os.fsync", synced)
    monkeypatch.setattr("acp_workspace.atomic.os.replace", renamed)
    client.write("app/new/deep/a.txt", "content")
    folders = [(tmp_path / "app" / name).stat().st_ino for name in ("new/deep", "new", "")]
    assert steps == ([7, "renamed", *folders] if durable else ["renamed"])


def test_a_temporary_file_that_is_taken_for_a_dead_one_is_made_anew(
    tmp_path: Path, make: Make, mechanism: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = make("app/a.txt", "old")
    real, seen = os.open, list[str]()

    def opened(name: Any, flags: int, mode: int = 0o777, *, dir_fd: int | None = None) -> int:
        descriptor = real(name, flags, mode, dir_fd=dir_fd)
        if TEMPORARY.fullmatch(str(name)):
            seen.append(str(name))
            if len(seen) == 1:  # another program comes between the making of the file and its lock
                os.unlink(name, dir_fd=dir_fd)
        return descriptor

    monkeypatch.setattr("acp_workspace.atomic.os.open", opened)
    with prepare(bind(f"{tmp_path}/app"), ("a.txt",)) as target:
        target.replace(b"new")
    assert len(seen) == 2
    assert path.read_text() == "new"
    assert os.listdir(tmp_path / "app") == ["a.txt"]
