"""Root sets as data for sandboxes, and that the data holds where the kernel or the tool is there."""

from __future__ import annotations

import ctypes
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from acp_workspace.containment import guarantees
from acp_workspace.sandbox import NETWORK, READING, SYSTEM, Rule, bubblewrap, landlock, list_handled_rights
from acp_workspace.scope import Scope, parse_scope
from acp_workspace.workspace import RootSet
from workspace.conftest import PATHS

PROGRAMS = Path(__file__).with_name("programs")


def abi() -> int:
    """The version of Landlock that the kernel has; 0: none."""
    if sys.platform != "linux":
        return 0
    found: int = ctypes.CDLL(None, use_errno=True).syscall(444, None, ctypes.c_size_t(0), 1)
    return max(found, 0)


def test_the_roots_are_all_that_a_program_in_bubblewrap_sees_of_a_user() -> None:
    found = bubblewrap(Scope("/srv/app/deep", ("/srv/app", "/srv/lib"), "posix"), programs=["/usr"], network=True)
    assert found == (
        *("--die-with-parent", "--new-session", "--unshare-all", "--share-net", "--ro-bind-try", "/usr", "/usr"),
        *(argument for path in NETWORK for argument in ("--ro-bind-try", path, path)),
        *("--proc", "/proc", "--dev", "/dev", "--tmpfs", "/tmp"),
        *(
            "--bind",
            "/srv/app",
            "/srv/app",
            "--bind",
            "/srv/lib",
            "/srv/lib",
            "--bind",
            "/srv/app/deep",
            "/srv/app/deep",
        ),
        *("--chdir", "/srv/app/deep"),
    )
    assert "--bind" not in bubblewrap(Scope("/srv", (), "posix"), read_only=True)


@pytest.mark.skipif(not guarantees().enforced, reason="this platform binds no roots")
def test_bound_roots_are_named_by_their_real_paths(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to("real")
    with RootSet.bind(parse_scope(f"{tmp_path}/link")) as roots:
        assert bubblewrap(roots)[-5:] == ("--bind", *[f"{tmp_path}/real"] * 2, "--chdir", f"{tmp_path}/real")
        assert landlock(roots, abi=1)[0].path == f"{tmp_path}/real"


@pytest.mark.parametrize(
    "found", [Scope("C:\\srv", (), "windows"), Scope("/srv/../etc", (), "posix"), Scope("/a", ("b",)), Scope("/a\0b")]
)
def test_what_is_no_plain_path_of_linux_is_refused(found: Scope) -> None:
    with pytest.raises(ValueError, match="not a plain path"):
        bubblewrap(found)
    with pytest.raises(ValueError, match="not a plain path"):
        landlock(found, abi=3)


@pytest.mark.parametrize(("version", "rights"), [(1, 13), (2, 14), (3, 15), (4, 15), (5, 16), (9, 16)])
def test_rules_hold_the_rights_of_their_version(version: int, rights: int) -> None:
    assert list_handled_rights(version) == (1 << rights) - 1
    root, *programs = landlock(Scope("/srv", (), "posix"), abi=version)
    assert root.access & ~list_handled_rights(version) == 0
    assert not {"make_char", "make_block", "ioctl_dev"} & set(root.rights)
    assert programs == [Rule(path, READING) for path in SYSTEM]
    assert root.limit_to_file().access & 0x3F8 == 0
    assert landlock(Scope("/srv", (), "posix"), abi=version, read_only=True)[0] == Rule("/srv", READING)


def test_a_kernel_without_landlock_is_said() -> None:
    with pytest.raises(ValueError, match="no Landlock"):
        landlock(Scope("/srv", (), "posix"), abi=0)


def prepared(base: Path) -> None:
    for name in ("app", "lib", "outside"):
        (base / name).mkdir()
        (base / name / "a").write_text(name)
    (base / "app" / "link").symlink_to("../outside/a")


@pytest.mark.skipif(not abi(), reason="the kernel has no Landlock")
@pytest.mark.parametrize("read_only", [False, True])
def test_a_program_under_the_rules_of_landlock_is_held_to_the_roots(tmp_path: Path, read_only: bool) -> None:
    prepared(tmp_path)
    inside = "PermissionError" if read_only else "done"
    expected = {
        ("read", "app/a"): "app",
        ("read", "lib/a"): "lib",
        ("read", "outside/a"): "PermissionError",
        ("read", "app/link"): "PermissionError",
        ("read", "app/../outside/a"): "PermissionError",
        ("list", "app"): "done",
        ("list", "outside"): "PermissionError",
        ("write", "app/a"): inside,
        ("write", "app/new"): inside,
        ("write", "outside/a"): "PermissionError",
        ("write", "app/link"): "PermissionError",
        ("make", "lib/made"): inside,
        ("make", "outside/made"): "PermissionError",
        ("link", "app/other"): inside,
        ("move", f"lib/a:{tmp_path}/outside/b"): "PermissionError",
    }
    order = {
        "roots": [f"{tmp_path}/app", f"{tmp_path}/lib"],
        "read_only": read_only,
        "tries": [(action, f"{tmp_path}/{path}") for action, path in expected],
    }
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(PATHS)}
    arguments = [sys.executable, str(PROGRAMS / "landlocked.py"), json.dumps(order)]
    run = subprocess.run(arguments, capture_output=True, text=True, env=environment, check=False)
    assert run.returncode == 0, run.stderr
    assert dict(zip(expected, json.loads(run.stdout), strict=True)) == expected


@pytest.mark.skipif(shutil.which("bwrap") is None, reason="bubblewrap is not installed")
@pytest.mark.parametrize("read_only", [False, True])
def test_a_program_in_bubblewrap_is_held_to_the_roots(tmp_path: Path, read_only: bool) -> None:
    prepared(tmp_path)
    found = parse_scope(f"{tmp_path}/app", [f"{tmp_path}/lib"])

    def run(script: str) -> Any:
        arguments = ["bwrap", *bubblewrap(found, read_only=read_only), "--", "sh", "-c", script]
        return subprocess.run(arguments, capture_output=True, text=True, check=False)

    if run("true").returncode:
        pytest.skip("bubblewrap may not make namespaces here")
    assert run("pwd; cat a ../lib/a").stdout == f"{tmp_path}/app\napplib"
    for script in ("cat ../outside/a", "cat link", f"ls {tmp_path}/outside", "cat /etc/passwd"):
        assert run(script).returncode != 0
    assert (run("echo new > a").returncode == 0) is not read_only
    assert (tmp_path / "app/a").read_text() == ("app" if read_only else "new\n")


@pytest.mark.skipif(shutil.which("bwrap") is None, reason="bubblewrap is not installed")
def test_a_program_in_bubblewrap_finds_the_hosts_that_it_may_reach(tmp_path: Path) -> None:
    def run(command: str, *, network: bool) -> Any:
        arguments = ["bwrap", *bubblewrap(parse_scope(str(tmp_path)), network=network), "--", "sh", "-c", command]
        return subprocess.run(arguments, capture_output=True, text=True, check=False)

    if run("true", network=False).returncode:
        pytest.skip("bubblewrap may not make namespaces here")
    here = "getent hosts localhost; cat /etc/resolv.conf"
    expected = subprocess.run(["sh", "-c", here], capture_output=True, text=True, check=False).stdout
    assert run(here, network=True).stdout == expected
    assert run("getent hosts localhost", network=False).stdout
    assert run("cat /etc/resolv.conf", network=False).returncode != 0
