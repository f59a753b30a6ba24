"""The examples of the file-system page of ACP's TypeScript SDK, section by section, in Python: python -m examples.file_system.

Each function connects a client to an agent in memory, and the agent reads and writes. Fields are those of the schema: the page says
`uri` where the schema has `path`.
"""

import asyncio
import subprocess
import tempfile
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from acp_bindings import NotAdvertised, PeerError, v1
from acp_bindings.v1 import peers

from acp_session.hosted import HostedAgent, HostedClient
from acp_session.turn import Turn
from acp_workspace.filesystem import FileEvent, FilePolicy
from acp_workspace.terminals import TerminalEvent
from acp_workspace.versioning import GitStage


class Files:
    """What an agent does with files of the client."""

    def __init__(self, client: peers.RemoteClient, session: str) -> None:
        self.client, self.session = client, session

    async def read(self, path: Path, **window: Any) -> str:
        request = v1.ReadTextFileRequest(session_id=self.session, path=str(path), **window)
        return (await self.client.fs_read_text_file(request)).content

    async def write(self, path: Path, content: str) -> None:
        await self.client.fs_write_text_file(
            v1.WriteTextFileRequest(session_id=self.session, path=str(path), content=content)
        )

    async def refusal(self, path: Path, content: str | None = None) -> int:
        """The code of the error that answers a read, or a write of this content."""
        with pytest.raises(PeerError) as refused:
            await (self.read(path) if content is None else self.write(path, content))
        return refused.value.code


class Agent(HostedAgent):
    async def turn(self, turn: Turn) -> v1.StopReason:  # noqa: ARG002 - the examples call the client from outside a turn
        return "end_turn"


@asynccontextmanager
async def serving(root: Path, policy: FilePolicy | None = FilePolicy(), **options: Any) -> AsyncGenerator[Files]:  # noqa: B008
    """An agent whose client serves the files of one directory."""
    client = HostedClient(granted=[str(root)], files=policy, terminals=None, **options)
    async with peers.join(Agent(), client) as (_, calls):
        await client.host.initialize()
        session = await client.host.new(str(root))
        yield Files(calls, session.id)


async def advertising_capabilities(root: Path) -> None:
    """ "Advertising Capabilities": what is configured is advertised, and what is not is not asked for."""
    seen: list[v1.InitializeRequest] = []

    class Curious(Agent):
        async def initialize(self, params: v1.InitializeRequest, /) -> v1.InitializeResponse:
            seen.append(params)
            return await super().initialize(params)

    client = HostedClient(granted=[str(root)], files=FilePolicy(write=False))
    async with peers.join(Curious(), client) as (_, calls):
        await client.host.initialize()
        session = await client.host.new(str(root))
        fs = seen[0].client_capabilities.fs
        assert (fs.read_text_file, fs.write_text_file) == (True, False)
        with pytest.raises(NotAdvertised, match=r"clientCapabilities\.fs\.writeTextFile"):
            await Files(calls, session.id).write(root / "a.txt", "a")


async def reading(root: Path) -> None:
    """ "readTextFile()": the content of a file, whole or a window of lines, and -32002 for one that is not there."""
    (root / "tide.txt").write_text("low\nhigh\nlow\n")
    async with serving(root) as files:
        assert await files.read(root / "tide.txt") == "low\nhigh\nlow\n"
        assert await files.read(root / "tide.txt", line=2, limit=1) == "high\n"
        assert await files.refusal(root / "missing.txt") == -32002


async def reading_securely(root: Path) -> None:
    """ "Secure Implementation" of reading: nothing outside the root, through links neither, and nothing too large."""
    (root / "link").symlink_to("/etc")
    (root / "large.txt").write_text("x" * 101)
    async with serving(root, FilePolicy(max_read=100)) as files:
        for outside in (Path("/etc/passwd"), root / ".." / "etc" / "passwd", root / "link" / "passwd"):
            assert await files.refusal(outside) == -32001
        assert await files.refusal(root / "large.txt") == -32603


async def writing(root: Path) -> None:
    """ "writeTextFile()": folders are made, and the answer is an empty object."""
    async with serving(root) as files:
        await files.write(root / "deep" / "er" / "tide.txt", "high")
    assert (root / "deep" / "er" / "tide.txt").read_text() == "high"


async def writing_securely(root: Path) -> None:
    """ "Secure Implementation" of writing: a limit, a backup of what was there, and a file that is replaced as a whole."""
    with tempfile.TemporaryDirectory() as backups:
        async with serving(root, FilePolicy(max_write=100, backups=backups)) as files:
            await files.write(root / "tide.txt", "low")
            await files.write(root / "tide.txt", "high")
            assert await files.refusal(root / "tide.txt", "x" * 101) == -32603
        (backup,) = Path(backups).iterdir()
        assert (backup.read_text(), (root / "tide.txt").read_text()) == ("low", "high")
    assert [path.name for path in root.iterdir()] == ["tide.txt"]


async def path_sandboxing(root: Path) -> None:
    """ "Path Sandboxing": several directories."""
    more, outside = root / "more", root / "outside"
    for folder in (root / "app", more, outside):
        folder.mkdir()
        (folder / "tide.txt").write_text(folder.name)
    client = HostedClient(granted=[str(root / "app"), str(more)])
    async with peers.join(Agent(), client) as (_, calls):
        await client.host.initialize()
        session = await client.host.new(str(root / "app"), [str(more)])
        files = Files(calls, session.id)
        assert await files.read(more / "tide.txt") == "more"
        assert await files.refusal(outside / "tide.txt") == -32001


async def file_type_restrictions(root: Path) -> None:
    """ "File Type Restrictions": endings that are allowed, and names that are off limits."""
    for name in ("tide.md", "tide.exe", ".env", "credentials.json", "id_rsa"):
        (root / name).write_text("x")
    async with serving(root, FilePolicy(extensions=frozenset({".md", ".json", ""}))) as files:
        assert await files.read(root / "tide.md") == "x"
        for name in ("tide.exe", ".env", "credentials.json", "id_rsa"):
            assert await files.refusal(root / name) == -32001


async def size_limits(root: Path) -> None:
    """ "Size Limits": the same for reading and writing, or different ones."""
    (root / "tide.txt").write_text("x" * 11)
    async with serving(root, FilePolicy(max_read=10, max_write=20)) as files:
        assert await files.refusal(root / "tide.txt") == -32603
        await files.write(root / "tide.txt", "x" * 20)
        assert await files.refusal(root / "tide.txt", "x" * 21) == -32603


async def binary_files(root: Path) -> None:
    """ "Binary File Detection": what is no text is not read as one."""
    (root / "tide.png").write_bytes(b"\x89PNG\0\0")
    async with serving(root) as files:
        assert await files.refusal(root / "tide.png") == -32603


async def error_handling(root: Path) -> None:
    """ "Standard Errors": not found, refused, and anything else; the path is in `data`."""
    async with serving(root) as files:
        with pytest.raises(PeerError) as missing:
            await files.read(root / "missing.txt")
        assert (missing.value.code, missing.value.data) == (-32002, {"path": str(root / "missing.txt")})
        assert await files.refusal(Path("/etc/shadow")) == -32001
        assert await files.refusal(root) == -32603


async def user_notifications(root: Path) -> None:
    """ "User Notifications": every step is told, refusals included."""
    events: list[FileEvent | TerminalEvent] = []
    async with serving(root, audit=events.append) as files:
        await files.write(root / "tide.txt", "low")
        await files.refusal(Path("/etc/passwd"), "x")
    told = [(event.action, event.phase) for event in events if isinstance(event, FileEvent)]
    assert told == [("write", "started"), ("write", "done"), ("write", "started"), ("write", "failed")]


async def version_control(root: Path) -> None:
    """ "Version Control Integration": what was written is staged, without a shell."""
    subprocess.run(["git", "init", "--quiet", str(root)], check=True)
    async with serving(root, changed=GitStage()) as files:
        await files.write(root / "tide; rm -rf x.txt", "low")
    staged = subprocess.run(
        ["git", "-C", str(root), "diff", "--cached", "--name-only"], check=True, capture_output=True
    )
    assert staged.stdout == b"tide; rm -rf x.txt\n"


async def testing(root: Path) -> None:
    """ "Testing": the three tests of the page."""
    async with serving(root) as files:
        await files.write(root / "test.txt", "Hello, world!")
        assert await files.read(root / "test.txt") == "Hello, world!"
        assert await files.refusal(Path("/etc/passwd")) == -32001
        assert await files.refusal(root / "missing.txt") == -32002


EXAMPLES = (
    *(advertising_capabilities, reading, reading_securely, writing, writing_securely, path_sandboxing),
    *(file_type_restrictions, size_limits, binary_files, error_handling, user_notifications, version_control, testing),
)


def main() -> None:
    """Run all, each in a directory of its own."""
    for example in EXAMPLES:
        with tempfile.TemporaryDirectory() as root:
            asyncio.run(example(Path(root).resolve()))
        print(f"{example.__name__}: {(example.__doc__ or '').partition(chr(10))[0]}")


if __name__ == "__main__":
    main()
