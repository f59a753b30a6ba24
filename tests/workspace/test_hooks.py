"""The hooks of the file system, and its stores: approval, unsaved text, changes, roots from one place, memory, another machine."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from acp_bindings import v1

from acp_workspace.approval import FileApprovalRequest
from acp_workspace.backend import Access, MemoryBackend
from acp_workspace.containment import guarantees
from acp_workspace.errors import INTERNAL_ERROR, INVALID_PARAMS, NOT_FOUND, REFUSED, RequestError
from acp_workspace.filesystem import FilePolicy, FileSystem, ServiceEvent
from acp_workspace.scope import Scope
from acp_workspace.workspace import ClientWorkspace, Roots

on_disk = pytest.mark.skipif(not guarantees().enforced, reason="this platform cannot keep an access in a root")

Make = Callable[..., Path]


class Editor:
    """A client whose roots are `app` and `lib`, with a file system that asks its workspace for them."""

    def __init__(self, base: Path, policy: FilePolicy | None = None, **named: Any) -> None:
        self.base = base
        for name in ("app", "lib", "outside"):
            (base / name).mkdir(exist_ok=True)
        self.workspace = ClientWorkspace([str(base / "app"), str(base / "lib")])
        self.use("app", "lib")
        self.events: list[ServiceEvent] = []
        self.files = FileSystem(self.workspace, policy, on_event=self.events.append, **named)

    def use(self, cwd: str, *additional: str) -> None:
        roots = self.workspace.prepare(
            f"{self.base}/{cwd}", [f"{self.base}/{one}" for one in additional], advertised=True
        )
        self.workspace.establish("s", roots)

    def read(self, path: str, **named: Any) -> str:
        request = v1.ReadTextFileRequest(session_id="s", path=f"{self.base}/{path}", **named)
        return asyncio.run(self.files.read_text_file(request)).content

    def write(self, path: str, content: str = "new") -> None:
        request = v1.WriteTextFileRequest(session_id="s", path=f"{self.base}/{path}", content=content)
        asyncio.run(self.files.write_text_file(request))

    def code(self, path: str, *, writing: bool = False) -> int:
        with pytest.raises(RequestError) as caught:
            (self.write if writing else self.read)(path)
        return caught.value.code


# --- roots -----------------------------------------------------------------------------------------------------------


@on_disk
def test_files_follow_the_roots_that_the_workspace_has(tmp_path: Path, make: Make, mechanism: str) -> None:
    make("app/a", "app")
    make("lib/b", "lib")
    editor = Editor(tmp_path)
    assert (editor.read("app/a"), editor.read("lib/b")) == ("app", "lib")
    editor.use("app")  # `session/load` with fewer roots
    assert editor.read("app/a") == "app"
    assert editor.code("lib/b") == REFUSED
    assert editor.code("lib/c", writing=True) == REFUSED
    editor.use("lib")
    assert editor.read("lib/b") == "lib"
    assert editor.code("app/a") == REFUSED
    editor.workspace.forget("s")
    assert editor.code("lib/b") == INVALID_PARAMS


# --- approval --------------------------------------------------------------------------------------------------------


@on_disk
@pytest.mark.parametrize("answer", [True, False, None, "yes", 1])
def test_only_true_lets_a_write_pass(tmp_path: Path, make: Make, mechanism: str, answer: Any) -> None:
    make("lib/real", "old")
    (tmp_path / "app").mkdir()
    (tmp_path / "app/link").symlink_to("../lib/real")
    asked: list[FileApprovalRequest] = []

    async def approve(request: FileApprovalRequest) -> Any:
        asked.append(request)
        return answer

    editor = Editor(tmp_path, approve=approve)
    if answer is True:
        editor.write("app/link")
    else:
        assert editor.code("app/link", writing=True) == REFUSED
        assert editor.events[-1].reason == "access is refused: the user has not approved it"
    assert asked == [FileApprovalRequest("s", f"{tmp_path}/app/link", f"{tmp_path}/lib/real", "new")]
    assert (tmp_path / "lib/real").read_text() == ("new" if answer is True else "old")


@on_disk
def test_the_audit_hears_the_end_of_a_request_whose_hooks_fail(tmp_path: Path, make: Make) -> None:
    def fail(_: object) -> Any:
        raise ZeroDivisionError

    make("app/a", "old")
    told: list[list[tuple[str, str]]] = []
    for hook in ("approve", "buffer", "on_change"):
        failing: dict[str, Any] = {hook: fail}
        editor = Editor(tmp_path, **failing)
        with pytest.raises(ZeroDivisionError):
            (editor.read if hook == "buffer" else editor.write)("app/a")
        told.append([(one.phase, one.reason) for one in editor.events])
    failed = [("started", ""), ("failed", "an unexpected error")]
    assert told == [failed, failed, [("started", ""), ("done", "")]]  # the last one has written
    assert (tmp_path / "app/a").read_text() == "new"


@on_disk
def test_the_user_is_not_asked_about_a_file_in_a_root_that_is_gone(tmp_path: Path, mechanism: str) -> None:
    asked: list[object] = []
    editor = Editor(tmp_path, approve=asked.append)
    (tmp_path / "app").rmdir()
    assert editor.code("app/a", writing=True) == NOT_FOUND
    (tmp_path / "app").mkdir()
    assert editor.code("app/new/a", writing=True) == REFUSED
    assert not asked
    (tmp_path / "lib").rename(tmp_path / "moved")
    assert editor.code("lib/new/a", writing=True) == NOT_FOUND
    assert not asked


@on_disk
@pytest.mark.parametrize("path", ["outside/a", "app/.env", "app/.git/hooks/x", "app/../outside/a", "app/folder"])
def test_the_user_is_not_asked_about_what_is_refused_anyhow(tmp_path: Path, path: str) -> None:
    (tmp_path / "app/folder").mkdir(parents=True)
    asked: list[object] = []

    def approve(request: object) -> bool:
        asked.append(request)
        return True

    editor = Editor(tmp_path, approve=approve)
    assert editor.code(path, writing=True) in (REFUSED, INTERNAL_ERROR)
    assert not asked
    assert [one.phase for one in editor.events] == ["started", "failed"]


@on_disk
def test_what_was_approved_is_what_is_written(tmp_path: Path, make: Make, mechanism: str) -> None:
    make("app/one", "one")
    make("app/two", "two")
    (tmp_path / "app/link").symlink_to("one")

    def approve(request: object) -> bool:
        (tmp_path / "app/link").unlink()
        (tmp_path / "app/link").symlink_to("two")
        return True

    assert Editor(tmp_path, approve=approve).code("app/link", writing=True) == REFUSED
    assert [(tmp_path / "app" / name).read_text() for name in ("one", "two")] == ["one", "two"]


@on_disk
def test_a_write_is_refused_where_the_roots_change_while_the_user_decides(tmp_path: Path, make: Make) -> None:
    make("lib/a", "old")

    def approve(request: object) -> bool:
        editor.use("app")
        return True

    editor = Editor(tmp_path, approve=approve)
    assert editor.code("lib/a", writing=True) == REFUSED
    assert (tmp_path / "lib/a").read_text() == "old"


@on_disk
def test_a_new_file_in_a_new_folder_is_asked_about_and_nothing_is_made_before(tmp_path: Path, mechanism: str) -> None:
    def approve(request: FileApprovalRequest) -> bool:
        assert request.real == f"{tmp_path}/app/new/deep/file"
        assert not (tmp_path / "app/new").exists()
        return True

    Editor(tmp_path, approve=approve).write("app/new/deep/file")
    assert (tmp_path / "app/new/deep/file").read_text() == "new"


# --- unsaved text, and changes ---------------------------------------------------------------------------------------


@on_disk
def test_unsaved_text_comes_before_the_file_by_either_of_its_names(tmp_path: Path, make: Make, mechanism: str) -> None:
    make("lib/real", "saved\n")
    (tmp_path / "app").mkdir()
    (tmp_path / "app/link").symlink_to("../lib/real")
    buffers: dict[str, str] = {}
    editor = Editor(tmp_path, buffer=buffers.get)
    assert editor.read("app/link") == "saved\n"
    buffers[f"{tmp_path}/lib/real"] = "one\ntwo\nthree\n"
    assert editor.read("app/link", line=2, limit=1) == "two\n"
    buffers[f"{tmp_path}/app/link"] = ""
    assert editor.read("app/link") == ""
    buffers[f"{tmp_path}/app/unsaved"] = "never saved"
    assert editor.read("app/unsaved") == "never saved"
    assert editor.code("app/other") == NOT_FOUND


@on_disk
@pytest.mark.parametrize("path", ["outside/a", "app/.env", "app/out"])
def test_unsaved_text_is_held_to_roots_and_policy(tmp_path: Path, make: Make, mechanism: str, path: str) -> None:
    make("outside/a")
    (tmp_path / "app").mkdir()
    (tmp_path / "app/out").symlink_to("../outside/a")
    asked: list[str] = []

    def buffer(path: str) -> str:
        asked.append(path)
        return "text"

    assert Editor(tmp_path, buffer=buffer).code(path) == REFUSED
    assert not asked


@on_disk
@pytest.mark.parametrize("text", ["x" * 11, "a\0b", "\ud800"])
def test_unsaved_text_is_held_to_the_limits_of_files(tmp_path: Path, text: str) -> None:
    async def buffer(path: str) -> str:
        return text

    editor = Editor(tmp_path, FilePolicy(max_read=10), buffer=buffer)
    assert editor.code("app/a") == INTERNAL_ERROR


@on_disk
def test_the_editor_is_told_of_a_change_before_the_end_of_the_request(tmp_path: Path, make: Make) -> None:
    make("lib/real")
    (tmp_path / "app").mkdir()
    (tmp_path / "app/link").symlink_to("../lib/real")
    told: list[Any] = []

    async def changed(path: str) -> None:
        told.append((path, (tmp_path / "lib/real").read_text(), editor.events[-1].phase))

    editor = Editor(tmp_path, on_change=changed)
    editor.write("app/link")
    assert told == [(f"{tmp_path}/{name}", "new", "started") for name in ("app/link", "lib/real")]
    assert editor.code("outside/a", writing=True) == REFUSED
    assert len(told) == 2


# --- backends --------------------------------------------------------------------------------------------------------


class Remote:
    """A backend on another machine: every question takes a turn of the loop, as over a connection."""

    is_usable = True

    def __init__(self, there: MemoryBackend) -> None:
        self.there = there

    async def locate(self, access: Access, path: str, *, writing: bool) -> str:
        await asyncio.sleep(0)
        return await self.there.locate(access, path, writing=writing)

    async def read(self, access: Access, path: str, line: int | None, limit: int | None) -> str:
        await asyncio.sleep(0)
        return await self.there.read(access, path, line, limit)

    async def write(self, access: Access, path: str, content: str, *, approved: str | None = None) -> str:
        await asyncio.sleep(0)
        return await self.there.write(access, path, content, approved=approved)

    async def clean(self, roots: Roots) -> tuple[str, ...]:  # noqa: ARG002
        return ()

    def close(self) -> None:
        pass


SCOPES = {
    "posix": Scope("/srv/app", ("/srv/lib",), "posix"),
    "windows": Scope("C:\\srv\\app", ("C:\\srv\\lib",), "windows"),
}


@pytest.mark.parametrize("flavour", ["posix", "windows"])
@pytest.mark.parametrize("is_remote", [False, True])
def test_files_without_a_disk_are_held_to_the_roots_by_their_names(flavour: str, is_remote: bool) -> None:
    scope, files = SCOPES[flavour], dict[str, str]()
    slash = "/" if flavour == "posix" else "\\"
    memory = MemoryBackend(files)
    roots: dict[str, Roots] = {"s": scope}
    system = FileSystem(roots, backend=Remote(memory) if is_remote else memory)

    async def work() -> None:
        def at(*names: str) -> str:
            return slash.join(names)

        async def write(path: str) -> None:
            await system.write_text_file(v1.WriteTextFileRequest(session_id="s", path=path, content="one\ntwo\n"))

        async def read(path: str, **named: Any) -> str:
            request = v1.ReadTextFileRequest(session_id="s", path=path, **named)
            return (await system.read_text_file(request)).content

        path = at(scope.additional[0], "src", "", ".", "a.txt")
        await write(path)
        assert files == {at(scope.additional[0], "src", "a.txt"): "one\ntwo\n"}
        assert await read(path, line=2) == "two\n"
        for bad, code in (
            (at(scope.cwd, "..", "secret"), REFUSED),
            (scope.cwd + "2", REFUSED),
            (at(scope.cwd, ".env"), REFUSED),
            (scope.cwd, INTERNAL_ERROR),
            ("C:\\srv\\app\\a" if flavour == "posix" else "/srv/app/a", INVALID_PARAMS),
        ):
            for ask in (read, write):
                with pytest.raises(RequestError) as caught:
                    await ask(bad)
                assert caught.value.code == code, bad
        with pytest.raises(RequestError) as caught:
            await read(at(scope.cwd, "none"))
        assert caught.value.code == NOT_FOUND
        del roots["s"]
        with pytest.raises(RequestError):
            await read(path)

    asyncio.run(work())
    assert system.capabilities() == v1.FileSystemCapabilities(read_text_file=True, write_text_file=True)


def test_the_disk_serves_no_roots_that_are_text_alone() -> None:
    files = FileSystem({"s": Scope("/", (), "posix")})

    async def work() -> None:
        await files.read_text_file(v1.ReadTextFileRequest(session_id="s", path="/etc/hostname"))

    with pytest.raises(RequestError) as caught:
        asyncio.run(work())
    assert caught.value.code in (REFUSED, -32601)
