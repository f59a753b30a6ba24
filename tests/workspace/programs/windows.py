"""Imports the package as on Windows, where `os` has less to offer, and asks it for a file. Run by test_containment.py; raises if wrong."""

from __future__ import annotations

import asyncio
import ctypes
import os
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from acp_bindings import v1

UNSET = (
    *("O_NOFOLLOW", "O_CLOEXEC", "O_DIRECTORY", "O_PATH", "O_NONBLOCK", "O_NOCTTY", "fchown", "fchmod", "chown"),
    *("listxattr", "getxattr", "setxattr", "mkfifo", "fork", "geteuid"),
)


def main(base: Path) -> None:
    (base / "a.txt").write_text("a")
    root = str(base)
    assert ctypes  # parts of the standard library look at the platform when they are imported: before it changes
    sys.modules["fcntl"] = None  # type: ignore[assignment]
    for name in UNSET:
        if hasattr(os, name):
            delattr(os, name)
    os.supports_dir_fd.clear()
    sys.platform, os.name = "win32", "nt"

    from acp_workspace.containment import Mechanism, Root, contains, guarantees
    from acp_workspace.errors import METHOD_NOT_FOUND, REFUSED, RequestError
    from acp_workspace.filesystem import FilePolicy, FileSystem
    from acp_workspace.scope import NATIVE, Scope, parse_scope
    from acp_workspace.workspace import Roots, RootSet

    found = guarantees()
    assert NATIVE == "windows"
    assert (found.mechanism, found.enforced, len(found.limits)) == (Mechanism.NONE, False, 1), found
    roots: dict[str, Roots] = {}
    files = FileSystem(roots, FilePolicy())
    assert files.capabilities() == v1.FileSystemCapabilities(read_text_file=False, write_text_file=False)

    async def code_of(work: Callable[[], Any]) -> int | None:
        """The code of the error that a call ends in."""
        try:
            result = work()
            if asyncio.iscoroutine(result):
                await result
        except RequestError as error:
            return error.code
        return None

    assert parse_scope("c:/srv", ["d:\\lib\\"]).paths == ("C:\\srv", "D:\\lib")
    assert not contains([Root("C:\\srv", "C:\\srv", (0, 0))], "C:\\srv\\a.txt")

    async def asked() -> None:
        roots["s"] = RootSet(Scope(root), (Root(root, root, (0, 0)),))
        read = v1.ReadTextFileRequest(session_id="s", path=f"{root}/a.txt")
        write = v1.WriteTextFileRequest(session_id="s", path=f"{root}/a.txt", content="b")
        assert await code_of(lambda: files.read_text_file(read)) == METHOD_NOT_FOUND
        assert await code_of(lambda: files.write_text_file(write)) == METHOD_NOT_FOUND
        for path in (root, "C:\\srv"):
            assert await code_of(partial(RootSet.bind, Scope(path))) == REFUSED

    running = asyncio.new_event_loop()
    running.run_until_complete(asked())
    running.close()
    file = os.open(f"{root}/a.txt", os.O_RDONLY)
    assert os.read(file, 10) == b"a"


main(Path(sys.argv[1]))
print("done")
