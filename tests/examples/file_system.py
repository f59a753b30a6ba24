"""The examples of the file-system page of ACP's TypeScript SDK, section by section, in Python: python -m examples.file_system.

Each function connects a client to an agent in memory, and the agent reads and writes. Fields are those of the schema: the page says
`uri` where the schema has `path`.
"""

import asyncio
import subprocess
import tempfile
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from acp_session import Agent, Client, NotAdvertised, PeerError, Turn, connect_in_memory
from acp_workspace.filesystem import FilePolicy, ServiceEvent
from acp_workspace.versioning import GitStage


class Files(Agent):
    """An agent whose one turn lasts as long as the example, which reads and writes meanwhile."""

    def __init__(self) -> None:
        super().__init__()
        self.turns: asyncio.Queue[Turn] = asyncio.Queue()
        self.done = asyncio.Event()

    async def on_prompt(self, turn: Turn) -> str:
        await self.turns.put(turn)
        await self.done.wait()
        return "end_turn"


async def refusal(turn: Turn, path: Path, content: str | None = None) -> int:
    """The code of the error that answers a read, or a write of this content."""
    with pytest.raises(PeerError) as refused:
        await (turn.read_text_file(path) if content is None else turn.write_text_file(path, content))
    return refused.value.code


@asynccontextmanager
async def serving(client: Client, cwd: Path, more: Sequence[Path] = ()) -> AsyncGenerator[Turn]:
    """A turn of an agent of v1 whose client serves files."""
    files = Files()
    async with connect_in_memory(files, client, versions=(1,)) as agent:
        session = await agent.new_session(cwd, additional_directories=more)
        prompt = asyncio.ensure_future(session.prompt("Read and write."))
        yield await files.turns.get()
        files.done.set()
        await prompt


def client_of(root: Path, policy: FilePolicy = FilePolicy()) -> Client:  # noqa: B008 - frozen
    """A client that serves the files of one directory."""
    return Client(allowed_roots=[root], files=policy, terminals=None)


async def advertising_capabilities(root: Path) -> None:
    """ "Advertising Capabilities": what is configured is advertised, and what is not is not asked for."""
    async with serving(client_of(root, FilePolicy(write=False)), root) as turn:
        offers = turn.session.client_capabilities
        assert (offers.read_text_file, offers.write_text_file) == (True, False)
        with pytest.raises(NotAdvertised, match=r"clientCapabilities\.fs\.writeTextFile"):
            await turn.write_text_file(root / "a.txt", "a")


async def reading(root: Path) -> None:
    """ "readTextFile()": the content of a file, whole or a window of lines, and -32002 for one that is not there."""
    (root / "tide.txt").write_text("low\nhigh\nlow\n")
    async with serving(client_of(root), root) as turn:
        assert await turn.read_text_file(root / "tide.txt") == "low\nhigh\nlow\n"
        assert await turn.read_text_file(root / "tide.txt", line=2, limit=1) == "high\n"
        assert await refusal(turn, root / "missing.txt") == -32002


async def reading_securely(root: Path) -> None:
    """ "Secure Implementation" of reading: nothing outside the root, through links neither, and nothing too large."""
    (root / "link").symlink_to("/etc")
    (root / "large.txt").write_text("x" * 101)
    async with serving(client_of(root, FilePolicy(max_read=100)), root) as turn:
        for outside in (Path("/etc/passwd"), root / ".." / "etc" / "passwd", root / "link" / "passwd"):
            assert await refusal(turn, outside) == -32001
        assert await refusal(turn, root / "large.txt") == -32603


async def writing(root: Path) -> None:
    """ "writeTextFile()": folders are made, and the answer is an empty object."""
    async with serving(client_of(root), root) as turn:
        await turn.write_text_file(root / "deep" / "er" / "tide.txt", "high")
    assert (root / "deep" / "er" / "tide.txt").read_text() == "high"


async def writing_securely(root: Path) -> None:
    """ "Secure Implementation" of writing: a limit, a backup of what was there, and a file that is replaced as a whole."""
    with tempfile.TemporaryDirectory() as backups:
        async with serving(client_of(root, FilePolicy(max_write=100, backups=backups)), root) as turn:
            await turn.write_text_file(root / "tide.txt", "low")
            await turn.write_text_file(root / "tide.txt", "high")
            assert await refusal(turn, root / "tide.txt", "x" * 101) == -32603
        (backup,) = Path(backups).iterdir()
        assert (backup.read_text(), (root / "tide.txt").read_text()) == ("low", "high")
    assert [path.name for path in root.iterdir()] == ["tide.txt"]


async def path_sandboxing(root: Path) -> None:
    """ "Path Sandboxing": several directories."""
    more, outside = root / "more", root / "outside"
    for folder in (root / "app", more, outside):
        folder.mkdir()
        (folder / "tide.txt").write_text(folder.name)
    client = Client(allowed_roots=[root / "app", more])
    async with serving(client, root / "app", [more]) as turn:
        assert turn.session.roots == (str(root / "app"), str(more))
        assert await turn.read_text_file(more / "tide.txt") == "more"
        assert await refusal(turn, outside / "tide.txt") == -32001


async def file_type_restrictions(root: Path) -> None:
    """ "File Type Restrictions": endings that are allowed, and names that are off limits."""
    for name in ("tide.md", "tide.exe", ".env", "credentials.json", "id_rsa"):
        (root / name).write_text("x")
    async with serving(client_of(root, FilePolicy(extensions=frozenset({".md", ".json", ""}))), root) as turn:
        assert await turn.read_text_file(root / "tide.md") == "x"
        for name in ("tide.exe", ".env", "credentials.json", "id_rsa"):
            assert await refusal(turn, root / name) == -32001


async def size_limits(root: Path) -> None:
    """ "Size Limits": the same for reading and writing, or different ones."""
    (root / "tide.txt").write_text("x" * 11)
    async with serving(client_of(root, FilePolicy(max_read=10, max_write=20)), root) as turn:
        assert await refusal(turn, root / "tide.txt") == -32603
        await turn.write_text_file(root / "tide.txt", "x" * 20)
        assert await refusal(turn, root / "tide.txt", "x" * 21) == -32603


async def binary_files(root: Path) -> None:
    """ "Binary File Detection": what is no text is not read as one."""
    (root / "tide.png").write_bytes(b"\x89PNG\0\0")
    async with serving(client_of(root), root) as turn:
        assert await refusal(turn, root / "tide.png") == -32603


async def error_handling(root: Path) -> None:
    """ "Standard Errors": not found, refused, and anything else; the path is in `data`."""
    async with serving(client_of(root), root) as turn:
        with pytest.raises(PeerError) as missing:
            await turn.read_text_file(root / "missing.txt")
        assert (missing.value.code, missing.value.data) == (-32002, {"path": str(root / "missing.txt")})
        assert await refusal(turn, Path("/etc/shadow")) == -32001
        assert await refusal(turn, root) == -32603


async def user_notifications(root: Path) -> None:
    """ "User Notifications": every step is told, refusals included."""
    events: list[ServiceEvent] = []

    class Noting(Client):
        async def on_service_event(self, event: ServiceEvent) -> None:
            events.append(event)

    async with serving(Noting(allowed_roots=[root]), root) as turn:
        await turn.write_text_file(root / "tide.txt", "low")
        await refusal(turn, Path("/etc/passwd"), "x")
    told = [(event.action, event.phase) for event in events]
    assert told == [("write", "started"), ("write", "done"), ("write", "started"), ("write", "failed")]


async def version_control(root: Path) -> None:
    """ "Version Control Integration": what was written is staged, without a shell."""
    subprocess.run(["git", "init", "--quiet", str(root)], check=True)
    stage = GitStage()

    class Staging(Client):
        async def on_file_change(self, path: str) -> None:
            await stage(path)

    async with serving(Staging(allowed_roots=[root]), root) as turn:
        await turn.write_text_file(root / "tide; rm -rf x.txt", "low")
    staged = subprocess.run(
        ["git", "-C", str(root), "diff", "--cached", "--name-only"], check=True, capture_output=True
    )
    assert staged.stdout == b"tide; rm -rf x.txt\n"


async def testing(root: Path) -> None:
    """ "Testing": the three tests of the page."""
    async with serving(client_of(root), root) as turn:
        await turn.write_text_file(root / "test.txt", "Hello, world!")
        assert await turn.read_text_file(root / "test.txt") == "Hello, world!"
        assert await refusal(turn, Path("/etc/passwd")) == -32001
        assert await refusal(turn, root / "missing.txt") == -32002


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
