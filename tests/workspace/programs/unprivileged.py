"""What the operating system forbids, seen by a user who is not root. Run by test_filesystem.py; raises if anything is wrong."""

from __future__ import annotations

import asyncio
import importlib
import os
import sys
from pathlib import Path

from acp_bindings import v1

from acp_workspace.errors import REFUSED, RequestError
from acp_workspace.filesystem import FilePolicy, FileSystem
from acp_workspace.scope import parse_scope
from acp_workspace.workspace import Roots, RootSet

NOBODY = 65534


async def main(base: Path) -> None:
    app = base / "app"
    (app / "closed").mkdir(parents=True)
    (app / "closed" / "a.txt").write_text("closed")
    (app / "a.txt").write_text("readable")
    (app / "read-only.txt").write_text("old")
    (app / "group.txt").write_text("old")
    (app / "folder").mkdir()
    (app / "folder" / "a.txt").write_text("old")
    (app / "secret.txt").write_text("secret")
    (app / "blind").mkdir()
    (app / "blind" / "a.txt").write_text("seen")
    for name, mode in (("closed", 0o700), ("read-only.txt", 0o444), ("folder", 0o555), ("secret.txt", 0o000)):
        (app / name).chmod(mode)
    importlib.import_module("concurrent.futures.thread")  # while files of the interpreter may be read
    roots: dict[str, Roots] = {}
    files = FileSystem(roots, FilePolicy())
    if os.geteuid() == 0:
        for path in (base, app, app / "a.txt", app / "folder", app / "folder" / "a.txt", app / "read-only.txt"):
            os.chown(path, NOBODY, NOBODY)
        os.chown(app / "secret.txt", NOBODY, NOBODY)
        os.chown(app / "blind", NOBODY, NOBODY)
        os.chown(app / "blind" / "a.txt", NOBODY, NOBODY)
        (app / "group.txt").chmod(0o664)
        os.chown(app / "group.txt", 0, NOBODY)
        os.setgroups([])
        os.setresgid(NOBODY, NOBODY, NOBODY)
        os.setresuid(NOBODY, NOBODY, NOBODY)
    else:
        (app / "closed").chmod(0o000)
    (app / "blind").chmod(0o300)
    roots["s"] = RootSet.bind(parse_scope(str(app)))
    await files.clean("s")

    async def refused(path: str, *, write: bool) -> None:
        try:
            if write:
                await files.write_text_file(
                    v1.WriteTextFileRequest(session_id="s", path=str(app / path), content="new")
                )
            else:
                await files.read_text_file(v1.ReadTextFileRequest(session_id="s", path=str(app / path)))
        except RequestError as error:
            if error.code != REFUSED or error.data != {"path": str(app / path)}:
                raise
            return
        raise AssertionError(f"{path} was not refused")

    await refused("closed/a.txt", write=False)
    await refused("closed/b.txt", write=True)
    await refused("closed/new/b.txt", write=True)
    await refused("secret.txt", write=False)
    await refused("read-only.txt", write=True)
    await refused("folder/b.txt", write=True)
    await refused("folder/a.txt", write=True)
    assert (app / "read-only.txt").read_text() == "old"
    assert (app / "folder" / "a.txt").read_text() == "old"
    # A directory that may be used and not listed still takes a file.
    await files.write_text_file(
        v1.WriteTextFileRequest(session_id="s", path=str(app / "blind" / "a.txt"), content="new")
    )
    assert (app / "blind" / "a.txt").read_text() == "new"
    # A file that may be written for its group stays usable by that group.
    if (app / "group.txt").stat().st_uid == 0:
        await files.write_text_file(v1.WriteTextFileRequest(session_id="s", path=str(app / "group.txt"), content="new"))
        assert (app / "group.txt").stat().st_mode & 0o777 == 0o664
    left = [name for _, _, names in os.walk(base) for name in names if name.startswith(".acp-session-")]
    assert not left, left
    (app / "folder").chmod(0o755)


asyncio.run(main(Path(sys.argv[1])))
print("done")
