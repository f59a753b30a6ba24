"""What must be so on every platform: that all modules can be imported where POSIX's own names are missing, as on Windows."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path, PurePosixPath

import pytest

from acpgen.input.load import load
from acpgen.targets.interface import Settings
from acpgen.targets.pipeline import generate

ROOT = Path(__file__).parents[1]

PROGRAM = """
import importlib, os, pathlib, signal, sys

ours = {}
for folder, package in zip(sys.argv[1::2], sys.argv[2::2]):
    for path in sorted((pathlib.Path(folder) / package).rglob("*.py")):
        if path.stem not in ("__main__", "websocket"):
            parts = path.relative_to(folder).with_suffix("").parts
            ours[".".join(parts).removesuffix(".__init__")] = path
for name in ours:  # with what they need of others, which is not at issue
    importlib.import_module(name)
before = set(sys.modules)
for name in [name for name in sys.modules if name.partition(".")[0] in {one.partition(".")[0] for one in ours}]:
    del sys.modules[name]

sys.platform = "win32"  # os.name stays: paths are of its kind
for name in ("fcntl", "grp", "pty", "pwd", "resource", "termios", "tty"):
    sys.modules[name] = None
for name in (
    *("O_CLOEXEC", "O_DIRECTORY", "O_NOCTTY", "O_NOFOLLOW", "O_NONBLOCK", "O_PATH", "O_TMPFILE", "P_PID", "WEXITED", "WNOHANG"),
    *("WNOWAIT", "chown", "fchdir", "fchmod", "fork", "getegid", "geteuid", "getgid", "getpgid", "getpgrp", "getuid", "killpg"),
    *("mkfifo", "openpty", "pidfd_open", "register_at_fork", "sched_getaffinity", "setsid", "statvfs", "sysconf", "tcgetpgrp"),
    *("uname", "waitid"),
):
    vars(os).pop(name, None)
for name in ("SIGALRM", "SIGCHLD", "SIGCONT", "SIGHUP", "SIGKILL", "SIGPIPE", "SIGQUIT", "SIGUSR1", "SIGUSR2", "pidfd_send_signal"):
    vars(signal).pop(name, None)
for name in ours:
    try:
        importlib.import_module(name)
    except Exception as error:
        print(f"{name}: {error!r}")
"""


def test_every_module_can_be_imported_where_names_of_posix_are_missing() -> None:
    places = [
        *("generated/python/acp-bindings", "acp_bindings", "generator/acp-session", "acp_session"),
        *("generator/acp-workspace", "acp_workspace", "generator/acp-monitor", "acp_monitor"),
        *("generated/python/mcp-bindings", "mcp_bindings", "generator", "schema_inclusion", "generator", "acpgen"),
    ]
    paths = [str(ROOT / place) for place in places[::2]]
    arguments = [each for path, package in zip(paths, places[1::2], strict=True) for each in (path, package)]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(paths)}
    done = subprocess.run(
        [sys.executable, "-P", "-c", PROGRAM, *arguments], env=environment, capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


@pytest.mark.parametrize("target", ["docs", "vectors"])
def test_no_file_has_the_name_of_a_device_of_windows(tmp_path: Path, target: str) -> None:
    aux = {"type": "object", "properties": {"x": {"type": "integer"}}}
    method = {"name": "con", "params": [], "result": {"name": "prn", "schema": {"$ref": "#/components/schemas/Aux"}}}
    schema = {"openrpc": "1.2.6", "info": {"title": "nul", "version": "1"}, "methods": [method]}
    text = json.dumps({**schema, "components": {"schemas": {"Aux": aux}}})
    (tmp_path / "lpt1.json").write_text(text, encoding="utf-8")
    files = generate(load(tmp_path / "lpt1.json"), {target: Settings()})[target]
    stems = {PurePosixPath(path).name.partition(".")[0].lower() for path in files}
    assert {"con_"} < stems
    assert stems.isdisjoint({"con", "aux", "prn", "nul", "lpt1"})
