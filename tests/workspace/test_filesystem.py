"""The two file methods: limits, secrets, binaries, encodings, line ends, modes, crowds, full disks, vanished directories, hooks."""

from __future__ import annotations

import asyncio
import codecs
import errno
import os
import random
import re
import resource
import stat
import subprocess
import sys
import threading
import time
import unicodedata
from collections.abc import Callable, Iterator
from itertools import permutations
from pathlib import Path
from typing import Any, TypeVar

import pytest
from acp_bindings import v1
from hypothesis import example, given
from hypothesis import strategies as st
from msgspec.structs import force_setattr

from acp_workspace.atomic import TEMPORARY, prepare, read_at_most, recover
from acp_workspace.containment import AccessDenied, bind, guarantees
from acp_workspace.disk import DiskBackend
from acp_workspace.errors import INTERNAL_ERROR, INVALID_PARAMS, METHOD_NOT_FOUND, NOT_FOUND, REFUSED, RequestError
from acp_workspace.filesystem import DEFAULT_LIMIT, FilePolicy, FileSystem, ServiceEvent
from acp_workspace.policy import SECRETS, is_denied
from acp_workspace.scope import parse_scope
from acp_workspace.text import read_lines, select_lines, terminal_text
from acp_workspace.versioning import GitStage
from acp_workspace.workers import Workers
from acp_workspace.workspace import Roots, RootSet
from workspace.conftest import PATHS, descriptors

pytestmark = pytest.mark.skipif(not guarantees().enforced, reason="this platform cannot keep an access in a root")

T = TypeVar("T")
Make = Callable[..., Path]


class Client:
    """A file system for one session whose roots are `app` and `lib` below a folder; one call runs one event loop."""

    def __init__(self, base: Path, policy: FilePolicy | None = None, **named: Any) -> None:
        for name in ("app", "lib", "outside"):
            (base / name).mkdir(exist_ok=True)
        self.base = base
        self.roots: dict[str, Roots] = {"s": RootSet.bind(parse_scope(f"{base}/app", [f"{base}/lib"]))}
        self.files = FileSystem(self.roots, policy, **named)
        self.run(self.files.clean("s"))

    @staticmethod
    def run(work: Any) -> Any:
        return asyncio.run(work)

    def reading(self, path: str | Path, **named: Any) -> v1.ReadTextFileRequest:
        return v1.ReadTextFileRequest(session_id="s", path=joined(self.base, path), **named)

    def writing(self, path: str | Path, content: str) -> v1.WriteTextFileRequest:
        return v1.WriteTextFileRequest(session_id="s", path=joined(self.base, path), content=content)

    def read(self, path: str | Path, **named: Any) -> str:
        result: v1.ReadTextFileResponse = self.run(self.files.read_text_file(self.reading(path, **named)))
        return result.content

    def write(self, path: str | Path, content: str) -> None:
        assert v1.encode(self.run(self.files.write_text_file(self.writing(path, content)))) == b"{}"


def joined(base: Path, path: str | Path) -> str:
    """A path below a folder, or one that is absolute already; unlike `Path`, it tidies up nothing."""
    return str(path) if str(path).startswith("/") else f"{base}/{path}"


def refusal(work: Callable[..., object], *arguments: Any, **named: Any) -> RequestError:
    with pytest.raises(RequestError) as caught:
        work(*arguments, **named)
    return caught.value


def temporary_files(folder: Path) -> list[Path]:
    return [path for path in folder.rglob("*") if TEMPORARY.fullmatch(path.name)]


# --- the document's own tests ----------------------------------------------------------------------------------------


def test_what_was_written_is_read(tmp_path: Path, mechanism: str) -> None:
    client = Client(tmp_path)
    client.write("app/test.txt", "Hello, world!")
    assert client.read("app/test.txt") == "Hello, world!"
    assert (tmp_path / "app" / "test.txt").read_text() == "Hello, world!"


def test_paths_outside_the_roots_are_refused(tmp_path: Path, mechanism: str, make: Make) -> None:
    client = Client(tmp_path)
    make("outside/a.txt", "OUTSIDE")
    (tmp_path / "app" / "link").symlink_to(tmp_path / "outside")
    for path in ("/etc/passwd", "outside/a.txt", "app/../outside/a.txt", "app/link/a.txt", "outside/none.txt"):
        for error in (refusal(client.read, path), refusal(client.write, path, "new")):
            assert (error.code, error.data) == (REFUSED, {"path": str(tmp_path / path)})
    assert [path.name for path in (tmp_path / "outside").iterdir()] == ["a.txt"]
    assert (tmp_path / "outside" / "a.txt").read_text() == "OUTSIDE"


@pytest.mark.parametrize("path", ["a.txt\0", "C:\\a.txt"])
def test_a_path_that_is_none_is_named_as_an_invalid_parameter(tmp_path: Path, path: str) -> None:
    client = Client(tmp_path)
    given = f"{tmp_path}/app/{path}" if "\0" in path else path
    error = refusal(client.run, client.files.read_text_file(v1.ReadTextFileRequest(session_id="s", path=given)))
    problem = {"pointer": "/params/path", "message": error.message}
    assert (error.code, error.data) == (INVALID_PARAMS, {"problems": [problem], "path": given})


def test_missing_files_are_not_found(tmp_path: Path, mechanism: str) -> None:
    client = Client(tmp_path)
    error = refusal(client.read, "app/missing.txt")
    assert (error.code, error.data) == (NOT_FOUND, {"path": f"{tmp_path}/app/missing.txt"})
    assert refusal(client.read, "app/no/such/folder.txt").code == NOT_FOUND


# --- sessions and capabilities ---------------------------------------------------------------------------------------


def test_every_root_of_the_session_is_served_and_no_root_of_another(tmp_path: Path, make: Make) -> None:
    client = Client(tmp_path)
    make("lib/b.txt", "b")
    assert client.read("lib/b.txt") == "b"
    (tmp_path / "other").mkdir()
    make("other/c.txt", "c")
    client.roots["t"] = RootSet.bind(parse_scope(f"{tmp_path}/other"))
    assert refusal(client.read, "other/c.txt").code == REFUSED
    request = v1.ReadTextFileRequest(session_id="t", path=f"{tmp_path}/other/c.txt")
    assert client.run(client.files.read_text_file(request)).content == "c"


def test_a_session_without_roots_opens_nothing(tmp_path: Path, make: Make) -> None:
    client = Client(tmp_path)
    make("app/a.txt")
    del client.roots["s"]
    assert refusal(client.read, "app/a.txt").code == INVALID_PARAMS
    assert refusal(client.write, "app/a.txt", "new").code == INVALID_PARAMS


@pytest.mark.parametrize(("read", "write"), [(True, True), (True, False), (False, True), (False, False)])
def test_the_capability_follows_what_is_configured(tmp_path: Path, read: bool, write: bool, make: Make) -> None:
    client = Client(tmp_path, FilePolicy(read=read, write=write))
    make("app/a.txt")
    found = client.files.capabilities()
    assert (found.read_text_file, found.write_text_file) == (read, write)
    if not read:
        assert refusal(client.read, "app/a.txt").code == METHOD_NOT_FOUND
    if not write:
        assert refusal(client.write, "app/a.txt", "new").code == METHOD_NOT_FOUND


def test_a_platform_without_guarantees_advertises_and_opens_nothing(
    tmp_path: Path, make: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    client = Client(tmp_path)
    make("app/a.txt")
    monkeypatch.setattr("acp_workspace.mechanism._has_openat2", lambda: False)
    monkeypatch.setattr("acp_workspace.mechanism._has_walk", lambda: False)
    found = client.files.capabilities()
    assert (found.read_text_file, found.write_text_file) == (False, False)
    assert refusal(client.read, "app/a.txt").code == METHOD_NOT_FOUND


@pytest.mark.parametrize("path", ["relative.txt", "C:\\a.txt"])
def test_a_path_that_is_not_absolute_here_is_invalid(tmp_path: Path, path: str) -> None:
    client = Client(tmp_path)
    params: Any = v1.ReadTextFileRequest(session_id="s", path="/")
    force_setattr(params, "path", path)  # as no constructor, assignment or message does
    assert refusal(client.run, client.files.read_text_file(params)).code == INVALID_PARAMS


# --- lines, sizes, text ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("line", "limit", "expected"),
    [
        (None, None, "one\ntwo\r\nthree\u2028still three\nfour"),
        (1, 1, "one\n"),
        (0, 1, "one\n"),
        (2, 1, "two\r\n"),
        (2, 2, "two\r\nthree\u2028still three\n"),
        (4, None, "four"),
        (4, 9, "four"),
        (5, None, ""),
        (1, 0, ""),
        (4294967295, 4294967295, ""),
        (None, 4294967295, "one\ntwo\r\nthree\u2028still three\nfour"),
    ],
)
def test_line_and_limit_select_lines(
    tmp_path: Path, make: Make, line: int | None, limit: int | None, expected: str
) -> None:
    client = Client(tmp_path)
    make("app/a.txt", "one\ntwo\r\nthree\u2028still three\nfour")
    assert client.read("app/a.txt", line=line, limit=limit) == expected


@given(st.text("ab\n\r\u2028", max_size=40), st.none() | st.integers(0, 9), st.none() | st.integers(0, 9))
def test_lines_are_what_stands_between_line_feeds(content: str, line: int | None, limit: int | None) -> None:
    whole = [*(f"{part}\n" for part in content.split("\n")[:-1]), content.split("\n")[-1]]
    first = max(line or 1, 1) - 1
    expected = "".join(whole[first:] if limit is None else whole[first : first + limit])
    with pytest.MonkeyPatch.context() as patch:
        for stride in (1, 3, 65536):
            patch.setattr("acp_workspace.text._STRIDE", stride)
            assert select_lines(content, line, limit) == expected


def test_a_file_of_line_feeds_alone_is_no_burden() -> None:
    began = time.process_time()
    assert select_lines("\n" * DEFAULT_LIMIT, DEFAULT_LIMIT, 2**32) == "\n"
    assert time.process_time() - began < 1


def test_size_limits_hold_both_ways(tmp_path: Path, make: Make) -> None:
    client = Client(tmp_path, FilePolicy(max_read=10, max_write=10))
    make("app/fits.txt", "0123456789")
    make("app/large.txt", "0123456789x")
    assert client.read("app/fits.txt") == "0123456789"
    assert refusal(client.read, "app/large.txt").code == INTERNAL_ERROR
    client.write("app/new.txt", "0123456789")
    assert refusal(client.write, "app/new.txt", "0123456789x").code == INTERNAL_ERROR
    assert refusal(client.write, "app/new.txt", "ééééééé").message == "the content is larger than 10 bytes"
    assert (tmp_path / "app" / "new.txt").read_text() == "0123456789"
    assert FilePolicy().max_read == FilePolicy().max_write == 10 * 1024 * 1024


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-32"])
def test_lines_of_a_file_of_any_size_are_read(tmp_path: Path, make: Make, encoding: str) -> None:
    client = Client(tmp_path, FilePolicy(max_read=100))
    make("app/large.txt", "".join(f"line {number} ü\r\n" for number in range(1, 200_000)).encode(encoding))
    assert client.read("app/large.txt", line=1, limit=2) == "line 1 ü\r\nline 2 ü\r\n"
    assert client.read("app/large.txt", limit=1) == "line 1 ü\r\n"
    assert client.read("app/large.txt", line=150_000, limit=1) == "line 150000 ü\r\n"
    assert client.read("app/large.txt", line=199_999) == "line 199999 ü\r\n"
    assert client.read("app/large.txt", line=200_001, limit=5) == ""
    assert client.read("app/large.txt", line=9, limit=0) == ""
    assert "ask for lines" in refusal(client.read, "app/large.txt").message
    assert "ask for fewer" in refusal(client.read, "app/large.txt", line=5, limit=50).message
    assert "ask for fewer" in refusal(client.read, "app/large.txt", line=5).message


@given(
    st.text(st.sampled_from("ab\n\r\u00fc\U0001f30a"), max_size=60),
    st.integers(0, 12) | st.none(),
    st.integers(0, 12) | st.none(),
    st.integers(1, 7),
    st.sampled_from(["utf-8", "utf-8-sig", "utf-16", "utf-32-le"]),
)
def test_lines_that_come_in_chunks_are_those_of_the_whole(
    content: str, line: int | None, limit: int | None, step: int, encoding: str
) -> None:
    raw = content.encode(encoding)
    if encoding == "utf-32-le":
        raw = codecs.BOM_UTF32_LE + raw
    chunks = [raw[:8], *(raw[at : at + step] for at in range(8, len(raw), step))]
    assert read_lines(lambda: chunks, line, limit, 1000) == select_lines(content, line, limit)


def test_a_large_file_is_looked_through_no_further_than_the_policy_says(tmp_path: Path, make: Make) -> None:
    client = Client(tmp_path, FilePolicy(max_read=10, max_look=1_000_000))
    path = make("app/large.txt", b"\n" * 999_990)
    with path.open("r+b") as file:
        file.truncate(1 << 40)
    assert client.read("app/large.txt", line=500_000, limit=3) == "\n\n\n"
    assert "binary" in refusal(client.read, "app/large.txt", line=999_992, limit=1).message
    path.write_bytes(b"x" * 2_000_000)
    assert "first 1000000 bytes" in refusal(client.read, "app/large.txt", line=2, limit=1).message


def test_large_files_in_a_named_encoding_are_read_by_lines(tmp_path: Path, make: Make) -> None:
    make("app/large.txt", ("é\n" * 1000).encode("latin-1"))
    client = Client(tmp_path, FilePolicy(max_read=10, fallback_encoding="latin-1"))
    assert client.read("app/large.txt", line=900, limit=1) == "é\n"
    assert "not UTF-8" in refusal(Client(tmp_path, FilePolicy(max_read=10)).read, "app/large.txt", line=3).message


def test_a_file_that_grows_while_it_is_read_stays_within_the_limit(
    tmp_path: Path, make: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    client = Client(tmp_path, FilePolicy(max_read=10))
    path = make("app/a.txt", "0123456789")

    def grown(descriptor: int, limit: int) -> bytes:
        path.write_text("0123456789" * 2)
        return read_at_most(descriptor, limit)

    monkeypatch.setattr("acp_workspace.disk.read_at_most", grown)
    assert "larger than 10 bytes" in refusal(client.read, "app/a.txt").message


@pytest.mark.parametrize(
    "raw",
    [
        b"MZ\0\0",
        b"text and then \0",
        b"x" * 9000 + b"\0",
        b"\xff\xfe\0\0text",
        b"\xff\xfea\0\0\0",
        b"caf\xe9",
        b"\xc0\xaf",
        b"\xed\xa0\x80",
    ],
)
def test_what_is_no_text_is_not_read_and_never_echoed(tmp_path: Path, make: Make, raw: bytes) -> None:
    client = Client(tmp_path)
    make("app/a.bin", raw)
    error = refusal(client.read, "app/a.bin")
    assert (error.code, error.data) == (INTERNAL_ERROR, {"path": f"{tmp_path}/app/a.bin"})
    assert "text" in error.message
    assert "caf" not in error.message


def test_what_the_system_reports_is_the_reason(tmp_path: Path, make: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> bytes:
        raise OSError(errno.ENOMEM, "elsewhere")

    client = Client(tmp_path)
    make("app/a.txt")
    monkeypatch.setattr("acp_workspace.disk.read_at_most", full)
    error = refusal(client.read, "app/a.txt")
    reason = os.strerror(errno.ENOMEM).lower()
    assert (error.code, error.message) == (INTERNAL_ERROR, f"the operating system reports: {reason}")


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-32"])
def test_encodings_with_a_mark_are_read_and_kept(tmp_path: Path, make: Make, encoding: str) -> None:
    client = Client(tmp_path)
    path = make("app/a.txt", "höher\r\n€\r\n".encode(encoding))
    assert client.read("app/a.txt") == "höher\r\n€\r\n"
    client.write("app/a.txt", "niedriger\n€\n")
    assert path.read_bytes() == "niedriger\r\n€\r\n".encode(encoding)


def test_a_named_encoding_is_used_for_what_is_not_utf8(tmp_path: Path, make: Make) -> None:
    client = Client(tmp_path, FilePolicy(fallback_encoding="latin-1"))
    path = make("app/a.txt", "café\n".encode("latin-1"))
    assert client.read("app/a.txt") == "café\n"
    client.write("app/a.txt", "thé\n")
    assert path.read_bytes() == "thé\n".encode("latin-1")
    client.write("app/a.txt", "5 €\n")
    assert path.read_bytes() == b"5 \xe2\x82\xac\n"


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        (b"a\r\nb\r\n", "x\ny\n", b"x\r\ny\r\n"),
        (b"a\nb\n", "x\r\ny\r\n", b"x\ny\n"),
        (b"a\nb\r\n", "x\r\ny\r\n", b"x\r\ny\r\n"),
        (b"a\r\nb\r\n", "x\ny\r\n", b"x\ny\r\n"),
        (b"a\rb\r", "x\ny\n", b"x\ny\n"),
        (b"", "x\r\ny\n", b"x\r\ny\n"),
        (b"no end", "x\r\n", b"x\r\n"),
    ],
)
def test_line_ends_of_one_kind_are_kept(tmp_path: Path, make: Make, old: bytes, new: str, expected: bytes) -> None:
    client = Client(tmp_path)
    path = make("app/a.txt", old)
    client.write("app/a.txt", new)
    assert path.read_bytes() == expected
    exact = Client(tmp_path, FilePolicy(keep_form=False))
    exact.write("app/a.txt", new)
    assert path.read_bytes() == new.encode()


@pytest.mark.parametrize("content", ["nul \0", "\ud800"])
def test_content_that_is_no_text_is_not_written(tmp_path: Path, content: str) -> None:
    client = Client(tmp_path)
    params = v1.WriteTextFileRequest(session_id="s", path=f"{tmp_path}/app/a.txt", content=content)
    assert refusal(client.run, client.files.write_text_file(params)).code == INVALID_PARAMS
    assert not (tmp_path / "app" / "a.txt").exists()


# --- what is off limits ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "name",
    [
        *(
            ".env",
            ".ENV",
            ".env.local",
            "prod.env",
            ".envrc",
            ".secret",
            "app.secrets",
            "credentials",
            "aws_credentials.json",
        ),
        *(
            "password.txt",
            "my-Passwords.kdbx",
            "private_key.txt",
            "PRIVATE.KEY.pem",
            "id_rsa",
            "id_ed25519.pub",
            "server.key",
        ),
        *(
            "cert.pem",
            ".netrc",
            ".npmrc",
            ".ssh/config",
            ".aws/config",
            "deep/.gnupg/x",
            ".e\u200bnv",
            "\uff0eenv",
            ".env ",
            ".env.",
        ),
        *(
            "prod.env.bak",
            ".env~",
            ".env2",
            ".netrc ",
            "server.key. .",
            ".ssh./config",
            "app.secrets.json",
            "db.secret.yaml",
            "id_rsa.old",
            "login.ppk",
        ),
        *("ENV~1", "ENV~1.LOC", "creden~2.jso", "SSH~1/config", "PASSWO~1.TXT", ".env:stream", "server.pem::$DATA"),
    ],
)
def test_names_of_secrets_are_off_limits(tmp_path: Path, make: Make, name: str) -> None:
    client = Client(tmp_path)
    path = make(f"app/{name}", "SECRET")
    assert refusal(client.read, f"app/{name}").code == REFUSED
    assert refusal(client.write, f"app/{name}", "new").code == REFUSED
    assert path.read_text() == "SECRET"


PAGE = (r"\.env", r"\.secret", r"(?i)credentials", r"(?i)password", r"(?i)private.*key")
"""The patterns of the file-system page."""


@pytest.mark.parametrize(
    "name", ["src/password/hash.py", "credentials/README.md", "my.env/notes.md", "private-keys/doc.txt"]
)
def test_names_of_secrets_are_names_of_files(tmp_path: Path, name: str) -> None:
    client = Client(tmp_path)
    client.write(f"app/{name}", "new")
    assert client.read(f"app/{name}") == "new"


@pytest.mark.parametrize(
    "name",
    [
        *(
            ".mcp.json",
            ".cursor/mcp.json",
            ".claude/settings.local.json",
            ".claude/hooks/a.sh",
            ".gemini/settings.json",
        ),
        *(
            ".cargo/config.toml",
            ".githooks/pre-commit",
            ".drone.yml",
            ".vscode/mcp.json",
            ".exrc",
            ".idea/workspace.xml",
        ),
        *(".vscode/tasks.json", "sub/.vscode/TASKS.json", ".husky/pre-commit", ".github/workflows/ci.yml"),
        *(
            ".github/actions/x/action.yml",
            ".devcontainer/devcontainer.json",
            ".gitlab-ci.yml",
            ".bashrc",
            ".gitmodules",
        ),
        *(".pre-commit-config.yaml", "app.code-workspace", "link/ci.yml"),
        *(".git/hooks/pre-commit", ".idea/watcherTasks.xml", ".run/all.run.xml", ".helix/languages.toml"),
        *(".cursor/environment.json", ".lintstagedrc.json", ".gdbinit", ".yarnrc.yml", ".mise.local.toml"),
    ],
)
def test_files_that_other_programs_run_are_read_and_not_written(tmp_path: Path, make: Make, name: str) -> None:
    client = Client(tmp_path)
    make("app/.github/workflows/ci.yml")
    if name.startswith("link/"):
        (tmp_path / "app" / "link").symlink_to(".github/workflows")
    else:
        make(f"app/{name}")
    assert client.read(f"app/{name}") == "inside\n"
    assert refusal(client.write, f"app/{name}", "new").code == REFUSED
    assert client.read(f"app/{name}") == "inside\n"
    client.write("app/.github/dependabot.md", "new")
    client.write("app/workflows/tasks.json", "new")
    for ordinary in (
        "Makefile",
        "package.json",
        "conftest.py",
        ".cursor/rules/style.mdc",
        ".claude/commands/x.md",
        "mise.md",
    ):
        client.write(f"app/{ordinary}", "new")


REPOSITORY = ("HEAD", "config", "objects/keep", "refs/keep")


@pytest.mark.parametrize("folder", ["app", "app/docs", "app/a/b"])
@pytest.mark.parametrize("names", [*permutations(REPOSITORY), *permutations(("HEAD", "commondir", "config"))])
def test_no_order_of_writes_makes_a_folder_a_repository(tmp_path: Path, folder: str, names: tuple[str, ...]) -> None:
    """git runs what the settings of a repository say, and takes any folder for one that looks like it."""
    client = Client(tmp_path)
    refused: list[str] = []
    errors: list[RequestError] = []
    for name in names:
        try:
            client.write(f"{folder}/{name}", "x\n")
        except RequestError as error:
            refused.append(name)
            errors.append(error)
    assert all(error.code == REFUSED and "repository" in error.message for error in errors)
    last = max((name for name in names if name != "config"), key=names.index)
    assert refused[0] == last
    assert set(refused) <= {last, "config"}
    assert not (tmp_path / folder / last).exists()
    assert not (tmp_path / folder / last).parent.exists() or last in ("HEAD", "commondir")


def test_what_git_runs_is_not_written_into_a_bare_repository(tmp_path: Path, make: Make) -> None:
    client = Client(tmp_path)
    for name in ("HEAD", "objects/a", "refs/a", "config"):
        make(f"app/copy.git/{name}")
    for name in ("config", "hooks/post-checkout", "HEAD", "refs/b", "Config", "config.worktree"):
        assert refusal(client.write, f"app/copy.git/{name}", "new").code == REFUSED
    assert refusal(client.write, "app/copy.git/objects/../config", "new").code == REFUSED
    client.write("app/copy/config", "new")
    Client(tmp_path, FilePolicy(denied_for_writing=())).write("app/copy.git/config", "new")


def test_a_part_of_a_repository_alone_is_written(tmp_path: Path) -> None:
    client = Client(tmp_path)
    for name in ("one/config", "two/HEAD", "three/objects/a.txt", "four/refs/a.txt", "three/refs/b", "five/hooks/x.ts"):
        client.write(f"app/{name}", "new")
        client.write(f"app/{name}", "newer")


def test_no_two_writes_at_once_make_a_folder_a_repository(tmp_path: Path) -> None:
    client = Client(tmp_path)

    async def write_all(folder: str) -> None:
        writes = (client.files.write_text_file(client.writing(f"app/{folder}/{name}", "x")) for name in REPOSITORY)
        await asyncio.gather(*writes, return_exceptions=True)

    for number in range(30):
        client.run(write_all(str(number)))
        folder = tmp_path / "app" / str(number)
        assert not all((folder / name).exists() for name in ("HEAD", "objects", "refs"))


@example("0:.env")
@example("0\uff1a.env")
@given(st.from_regex("|".join(f"(?:{pattern.removeprefix('(?i)')})" for pattern in PAGE)))
def test_everything_that_the_page_calls_sensitive_is_off_limits(name: str) -> None:
    if all(re.search(pattern, name) is None for pattern in PAGE):
        return
    assert is_denied((name,), SECRETS)


@pytest.mark.parametrize(
    "name", ["environment.ts", "a.txt", "keyboard.py", "tokens.md", "src/monkey.py", "a~1.md", "a:b"]
)
def test_ordinary_names_are_not(tmp_path: Path, name: str) -> None:
    client = Client(tmp_path)
    client.write(f"app/{name}", "new")
    assert client.read(f"app/{name}") == "new"


def test_secrets_are_known_by_the_file_a_link_leads_to(tmp_path: Path, make: Make, mechanism: str) -> None:
    client = Client(tmp_path)
    make("app/.env", "SECRET")
    make("app/.ssh/config", "SECRET")
    (tmp_path / "app" / "notes.txt").symlink_to(".env")
    (tmp_path / "app" / "folder").symlink_to(".ssh")
    (tmp_path / "lib" / "notes.txt").symlink_to("../app/.env")
    make("app/plain.txt")
    (tmp_path / "app" / ".secret").symlink_to("plain.txt")
    for path in ("app/notes.txt", "app/folder/config", "lib/notes.txt", "app/.secret"):
        assert refusal(client.read, path).code == REFUSED


def test_version_control_is_read_and_not_written(tmp_path: Path, make: Make) -> None:
    client = Client(tmp_path)
    make("app/.git/config", "[core]\n")
    (tmp_path / "app" / "hooks").symlink_to(".git")
    assert client.read("app/.git/config") == "[core]\n"
    for path in (
        ".git/config",
        ".git/hooks/pre-commit",
        ".GIT/config",
        "sub/.git/config",
        "hooks/config",
        ".git",
        "GIT~1/x",
        "git~12/x",
        ".git. /x",
        ".git::$INDEX_ALLOCATION/x",
    ):
        assert refusal(client.write, f"app/{path}", "new").code == REFUSED
    assert not (tmp_path / "app" / "sub").exists()
    client.write("app/.gitignore", "*.pyc\n")


def test_names_of_temporary_files_are_off_limits(tmp_path: Path, make: Make) -> None:
    client = Client(tmp_path)
    name = f"app/.acp-session-{'a' * 32}.tmp"
    assert refusal(client.write, name, "new").code == REFUSED
    make(name)
    assert refusal(client.read, name).code == REFUSED


def test_an_allow_list_of_types_looks_at_both_names(tmp_path: Path, make: Make) -> None:
    client = Client(tmp_path, FilePolicy(extensions=frozenset({".md", ".TXT"})))
    make("app/a.md")
    make("app/a.MD")
    make("app/a.exe")
    make("app/none")
    (tmp_path / "app" / "link.md").symlink_to("a.exe")
    (tmp_path / "app" / "link.exe").symlink_to("a.md")
    assert client.read("app/a.md") == client.read("app/a.MD") == "inside\n"
    client.write("app/b.txt", "x")
    for path in ("app/a.exe", "app/none", "app/link.md", "app/link.exe"):
        assert refusal(client.read, path).code == REFUSED
    Client(tmp_path, FilePolicy(extensions=frozenset({""}))).read("app/none")
    with pytest.raises(ValueError, match="dot"):
        FilePolicy(extensions=frozenset({"md"}))


def test_an_extension_may_hold_dots(tmp_path: Path, make: Make) -> None:
    client = Client(tmp_path, FilePolicy(extensions=frozenset({".d.ts", ".md"})))
    make("app/a.d.ts")
    assert client.read("app/a.d.ts") == "inside\n"
    for name in ("a.ts", "d.ts", ".md", "a.md.exe", "a.exe/a.exe"):
        make(f"app/{name}")
        assert refusal(client.read, f"app/{name}").code == REFUSED


@pytest.mark.parametrize(
    ("setting", "match"),
    [
        ({"backups": "backups"}, "absolute"),
        ({"denied": ".env"}, "tuple"),
        ({"denied_for_writing": ".git"}, "tuple"),
        ({"denied": ("config/*.key",)}, "matches no name"),
        ({"denied": (".ssh/",)}, "matches no name"),
        ({"denied": ("",)}, "matches no name"),
        ({"denied_folders": ("a/b",)}, "matches no name"),
        ({"denied_for_writing": ("a//b",)}, "matches no name"),
        ({"hard_links": "refused"}, "hard_links"),
        ({"max_look": -1}, "limit"),
        ({"max_read": -1}, "limit"),
        ({"max_write": -1}, "limit"),
        ({"extensions": ".md"}, "dot"),
    ],
)
def test_settings_that_would_protect_nothing_are_refused(setting: dict[str, Any], match: str) -> None:
    with pytest.raises(ValueError, match=match):
        FilePolicy(**setting)


def test_an_encoding_that_does_not_exist_is_refused() -> None:
    with pytest.raises(LookupError):
        FilePolicy(fallback_encoding="klingon")


def test_a_file_with_further_names_is_not_read_and_its_other_names_are_never_written(
    tmp_path: Path, make: Make, mechanism: str
) -> None:
    client = Client(tmp_path, FilePolicy(backups=f"{tmp_path}/backups"))
    outside = make("outside/a.txt", "OUTSIDE\r\n")
    os.link(outside, tmp_path / "app" / "a.txt")
    assert refusal(client.read, "app/a.txt").code == REFUSED
    assert refusal(client.write, "app/a.txt", "new\n").code == REFUSED
    assert not list((tmp_path / "backups").glob("*"))
    bare = Client(tmp_path, FilePolicy(hard_links="read"))
    assert bare.read("app/a.txt") == "OUTSIDE\r\n"
    Client(tmp_path).write("app/a.txt", "new\n")
    assert outside.read_bytes() == b"OUTSIDE\r\n"
    assert (tmp_path / "app" / "a.txt").read_bytes() == b"new\n"


def test_what_is_no_regular_file_is_neither_read_nor_replaced(tmp_path: Path, mechanism: str) -> None:
    client = Client(tmp_path)
    os.mkfifo(tmp_path / "app" / "pipe")
    (tmp_path / "app" / "folder").mkdir()
    (tmp_path / "app" / "dangling").symlink_to("/outside/new.txt")
    (tmp_path / "app" / "made").symlink_to("later.txt")
    for path in ("app/pipe", "app/folder", "app", "app/folder/"):
        assert refusal(client.read, path).code == INTERNAL_ERROR
        assert refusal(client.write, path, "new").code == INTERNAL_ERROR
    assert refusal(client.write, "app/dangling", "new").code == REFUSED
    client.write("app/made", "through a link")
    assert (tmp_path / "app" / "later.txt").read_text() == "through a link"
    assert (tmp_path / "app" / "made").is_symlink()
    if os.path.exists("/dev/null"):
        (tmp_path / "app" / "null").symlink_to("/dev/null")
        assert refusal(client.write, "app/null", "new").code == REFUSED


# --- writing ---------------------------------------------------------------------------------------------------------


def test_folders_are_made(tmp_path: Path, mechanism: str) -> None:
    client = Client(tmp_path)
    client.write("app/a/b/c/d.txt", "deep")
    assert client.read("app/a/b/c/d.txt") == "deep"


def test_mode_and_attributes_are_kept_and_privileges_are_not(tmp_path: Path, make: Make) -> None:
    client = Client(tmp_path)
    path = make("app/run.sh", "old")
    path.chmod(0o4751)
    if sys.platform == "linux":
        try:
            os.setxattr(path, "user.note", b"kept")
        except OSError:
            pytest.skip("this file system has no attributes")
    client.write("app/run.sh", "new")
    assert stat.S_IMODE(path.stat().st_mode) == 0o751
    if sys.platform == "linux":
        assert os.getxattr(path, "user.note") == b"kept"


def test_a_new_file_gets_the_usual_mode(tmp_path: Path) -> None:
    client = Client(tmp_path)
    client.write("app/a.txt", "new")
    usual = tmp_path / "usual"
    usual.touch()
    assert (tmp_path / "app" / "a.txt").stat().st_mode == usual.stat().st_mode


@pytest.mark.skipif(os.name != "posix" or os.geteuid() != 0, reason="only root can give files away")
def test_the_owner_is_kept(tmp_path: Path, make: Make) -> None:
    client = Client(tmp_path)
    path = make("app/a.txt", "old")
    os.chown(path, 1234, 4321)
    client.write("app/a.txt", "new")
    assert (path.stat().st_uid, path.stat().st_gid) == (1234, 4321)


def test_what_the_operating_system_forbids_is_refused() -> None:
    folder = Path(
        os.path.realpath(subprocess.run(["mktemp", "-d"], capture_output=True, text=True, check=True).stdout.strip())
    )
    try:
        program = Path(__file__).with_name("programs") / "unprivileged.py"
        run = subprocess.run(
            [sys.executable, str(program), str(folder)],
            capture_output=True,
            text=True,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(PATHS)},
        )
        assert run.stdout == "done\n", run.stderr
    finally:
        subprocess.run(["chmod", "-R", "u+rwX", str(folder)], check=True)
        subprocess.run(["rm", "-rf", str(folder)], check=True)


def test_backups_hold_the_old_content(tmp_path: Path, make: Make) -> None:
    client = Client(tmp_path, FilePolicy(backups=f"{tmp_path}/kept/backups"))
    make("app/a.txt", b"first\xff")
    client.write("app/a.txt", "second")
    client.write("app/a.txt", "third")
    client.write("app/new.txt", "no backup of nothing")
    copies = sorted((tmp_path / "kept" / "backups").iterdir())
    assert [copy.read_bytes() for copy in copies] == [b"first\xff", b"second"]
    assert all(stat.S_IMODE(copy.stat().st_mode) == 0o600 and copy.name.startswith("a.txt.") for copy in copies)


def test_without_a_backup_there_is_no_write(tmp_path: Path, make: Make) -> None:
    client = Client(tmp_path, FilePolicy(backups=f"{tmp_path}/kept"))
    path = make("app/a.txt", "old")
    (tmp_path / "kept").rmdir()
    (tmp_path / "kept").touch()
    assert refusal(client.write, "app/a.txt", "new").code == INTERNAL_ERROR
    assert path.read_text() == "old"


# --- crowds ----------------------------------------------------------------------------------------------------------


def test_a_thousand_mixed_requests_at_once_see_whole_contents_only(tmp_path: Path, mechanism: str) -> None:
    before = descriptors()
    client = Client(tmp_path, FilePolicy(durable=False))
    chance = random.Random(6)
    texts = {f"{letter}" * size + "\n" for letter, size in (("a", 1), ("b", 4000), ("c", 200_000), ("d", 70_000))}
    names = [f"app/shared-{number}.txt" for number in range(5)] + [f"lib/deep/{number}/x.txt" for number in range(5)]
    ordered = sorted(texts)
    counts = {"read": 0, "write": 0, "missing": 0, "refused": 0}

    codes = set[int]()

    async def one(number: int) -> None:
        path = f"{tmp_path}/{names[number % len(names)]}"
        kind = ("read", "write", "outside")[chance.choices((0, 1, 2), (5, 4, 1))[0]]
        try:
            if kind == "write":
                params = v1.WriteTextFileRequest(session_id="s", path=path, content=ordered[number % len(ordered)])
                await client.files.write_text_file(params)
                counts["write"] += 1
            else:
                asked = path if kind == "read" else f"{tmp_path}/outside/{number}.txt"
                found = await client.files.read_text_file(v1.ReadTextFileRequest(session_id="s", path=asked))
                assert found.content in texts
                counts["read"] += 1
        except RequestError as error:
            counts["missing" if error.code == NOT_FOUND else "refused"] += 1
            codes.add(error.code)

    async def crowd() -> None:
        await asyncio.gather(*(one(number) for number in range(1000)))

    asyncio.run(crowd())
    assert sum(counts.values()) == 1000
    assert codes <= {NOT_FOUND, REFUSED}
    assert counts["read"] > 300
    assert counts["write"] > 300
    assert counts["refused"] > 50
    assert not temporary_files(tmp_path)
    assert descriptors() - before < 40


# --- disks and directories -------------------------------------------------------------------------------------------


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    folder = tmp_path / "app"
    folder.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=256k", "none", str(folder)]
    if sys.platform != "linux" or subprocess.run(mount, capture_output=True).returncode:
        pytest.skip("mounting a small disk is not permitted here")
    yield tmp_path
    subprocess.run(["umount", "-l", str(folder)], check=True)


def test_a_full_disk_leaves_the_old_content_and_nothing_else(small_disk: Path, mechanism: str) -> None:
    client = Client(small_disk)
    client.write("app/a.txt", "old" * 1000)
    error = refusal(client.write, "app/a.txt", "new" * 200_000)
    assert (error.code, error.message) == (INTERNAL_ERROR, "there is no space left; the file is unchanged")
    assert refusal(client.write, "app/new/deep/b.txt", "new" * 200_000).code == INTERNAL_ERROR
    assert client.read("app/a.txt") == "old" * 1000
    assert [path.name for path in (small_disk / "app").rglob("*")] == ["a.txt"]
    client.write("app/a.txt", "it still works")


def test_a_limit_on_file_sizes_leaves_the_old_content_and_nothing_else(tmp_path: Path, make: Make) -> None:
    client = Client(tmp_path)
    path = make("app/a.txt", "old")
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, hard))
    try:
        error = refusal(client.write, "app/a.txt", "new" * 100_000)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert "larger than the system allows" in error.message
    assert path.read_text() == "old"
    assert not temporary_files(tmp_path)


def test_a_vanished_root_is_not_found_and_another_in_its_place_is_refused(tmp_path: Path, mechanism: str) -> None:
    client = Client(tmp_path)
    client.write("app/a.txt", "old")
    (tmp_path / "app").rename(tmp_path / "gone")
    assert refusal(client.read, "app/a.txt").code == NOT_FOUND
    assert refusal(client.write, "app/a.txt", "new").code == NOT_FOUND
    (tmp_path / "app").mkdir()
    (tmp_path / "app" / "a.txt").write_text("another")
    assert refusal(client.read, "app/a.txt").code == REFUSED
    assert refusal(client.write, "app/a.txt", "new").code == REFUSED
    assert (tmp_path / "gone" / "a.txt").read_text() == "old"


def test_a_directory_that_vanishes_under_a_write_is_made_again(
    tmp_path: Path, make: Make, mechanism: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    client = Client(tmp_path)
    make("app/d/a.txt", "old")
    real, seen = os.open, list[str]()

    def vanishing(path: Any, flags: int, mode: int = 0o777, *, dir_fd: int | None = None) -> int:
        if TEMPORARY.fullmatch(str(path)) and not seen:
            seen.append(str(path))
            (tmp_path / "app" / "d" / "a.txt").unlink()
            (tmp_path / "app" / "d").rmdir()
        return real(path, flags, mode, dir_fd=dir_fd)

    monkeypatch.setattr("acp_workspace.atomic.os.open", vanishing)
    client.write("app/d/a.txt", "new")
    assert seen
    assert (tmp_path / "app" / "d" / "a.txt").read_text() == "new"


@pytest.mark.parametrize("attack", ["moved out", "replaced"])
def test_a_directory_moved_under_a_write_gets_no_content(
    tmp_path: Path, make: Make, attack: str, mechanism: str
) -> None:
    Client(tmp_path)
    make("app/d/a.txt", "old")

    def move() -> None:
        (tmp_path / "app" / "d").rename(tmp_path / "outside" / "d")
        if attack == "replaced":
            (tmp_path / "app" / "d").mkdir()

    with (
        prepare(bind(f"{tmp_path}/app"), ("d", "a.txt")) as target,
        pytest.raises(AccessDenied, match="directory was"),
    ):
        target.replace(b"new", check=move)
    assert (tmp_path / "outside" / "d" / "a.txt").read_text() == "old"
    assert not temporary_files(tmp_path)


def test_errors_of_the_disk_leave_the_old_content(tmp_path: Path, make: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    client = Client(tmp_path)
    path = make("app/a.txt", "old")
    for function in ("write", "fsync", "replace", "fchmod"):

        def fails(*arguments: Any, **named: Any) -> None:
            raise OSError(errno.EIO, "the disk is broken")

        with monkeypatch.context() as patch:
            patch.setattr(f"acp_workspace.atomic.os.{function}", fails)
            error = refusal(client.write, "app/a.txt", "new")
        assert error.code == INTERNAL_ERROR
        assert path.read_text() == "old"
        assert not temporary_files(tmp_path)
    client.write("app/a.txt", "new")


# --- recovery --------------------------------------------------------------------------------------------------------


def test_only_temporary_files_of_dead_writers_are_removed(tmp_path: Path, make: Make, mechanism: str) -> None:
    make("app/x/a.txt")
    dead = make(f"app/x/y/.acp-session-{'a' * 32}.tmp")
    similar = make("app/.acp-session-notes.tmp")
    outside = make(f"outside/.acp-session-{'b' * 32}.tmp")
    (tmp_path / "app" / "link").symlink_to("../outside")
    found: list[list[Path]] = []

    def look() -> None:
        (alive,) = (path for path in temporary_files(tmp_path / "app" / "x") if path != dead)
        assert recover(bind(f"{tmp_path}/app")) == (f"x/y/{dead.name}",)
        assert alive.exists()
        found.append([alive])

    with prepare(bind(f"{tmp_path}/app"), ("x", "a.txt")) as target:
        target.replace(b"new", check=look)
    assert found
    assert not dead.exists()
    assert similar.exists()
    assert outside.exists()
    assert (tmp_path / "app" / "x" / "a.txt").read_text() == "new"


def test_a_session_starts_by_removing_what_a_killed_client_left(tmp_path: Path, make: Make) -> None:
    make(f"app/.acp-session-{'a' * 32}.tmp")
    make(f"kept/.acp-session-{'b' * 32}.tmp")
    (tmp_path / "lib").mkdir()
    roots = RootSet.bind(parse_scope(f"{tmp_path}/app", [f"{tmp_path}/lib"]))
    files = FileSystem({"s": roots}, FilePolicy(backups=f"{tmp_path}/kept"))
    removed = asyncio.run(files.clean("s"))
    assert removed == (f"{tmp_path}/app/.acp-session-{'a' * 32}.tmp", f"{tmp_path}/kept/.acp-session-{'b' * 32}.tmp")
    assert asyncio.run(files.clean("s")) == ()


def test_a_target_that_is_given_up_leaves_no_folders(tmp_path: Path, make: Make) -> None:
    make("app/a.txt")
    with prepare(bind(f"{tmp_path}/app"), ("b", "c", "d.txt")):
        assert (tmp_path / "app" / "b" / "c").is_dir()
    assert sorted(path.name for path in (tmp_path / "app").iterdir()) == ["a.txt"]


# --- cancelling and hooks --------------------------------------------------------------------------------------------


def test_a_cancelled_write_has_happened_or_never_will(
    tmp_path: Path, make: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    client = Client(tmp_path)
    path = make("app/a.txt", "old")
    started, go = threading.Event(), threading.Event()
    real = os.fsync

    def slow(descriptor: int) -> None:
        started.set()
        assert go.wait(30)
        real(descriptor)

    monkeypatch.setattr("acp_workspace.atomic.os.fsync", slow)

    async def cancelled() -> None:
        params = v1.WriteTextFileRequest(session_id="s", path=str(path), content="new")
        task = asyncio.ensure_future(client.files.write_text_file(params))
        await asyncio.to_thread(started.wait, 30)
        task.cancel()
        await asyncio.sleep(0)
        assert not task.done()
        task.cancel()
        go.set()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert path.read_text() == "old"
        assert not temporary_files(tmp_path)

    asyncio.run(cancelled())
    assert path.read_text() == "old"


def test_the_user_is_told_of_every_step_and_never_of_contents(tmp_path: Path) -> None:
    events: list[ServiceEvent] = []
    client = Client(tmp_path, on_event=events.append)
    client.write("app/a.txt", "CONTENT")
    client.read("app/a.txt")
    refusal(client.read, "app/b.txt")
    assert [(event.action, event.phase) for event in events] == [
        *(("write", "started"), ("write", "done"), ("read", "started"), ("read", "done")),
        *(("read", "started"), ("read", "failed")),
    ]
    assert events[-1].reason == "there is no such file or directory"
    assert "CONTENT" not in str(events)


def test_the_user_is_told_of_every_refusal(tmp_path: Path, make: Make) -> None:
    events: list[ServiceEvent] = []

    async def told(event: ServiceEvent) -> None:
        await asyncio.sleep(0)
        events.append(event)

    client = Client(tmp_path, FilePolicy(max_write=10), on_event=told)
    refusal(client.write, "app/a.txt", "x" * 11)
    refusal(client.write, "app/a.txt", "a\0b")
    refusal(client.read, "app/a\0b")
    refusal(client.read, f"{tmp_path}/outside/a.txt")
    refusal(client.run, client.files.read_text_file(v1.ReadTextFileRequest(session_id="s", path="C:\\a")))
    del client.roots["s"]
    refusal(client.read, "app/a.txt")
    reasons = [event.reason for event in events if event.phase == "failed"]
    assert [event.phase for event in events] == ["started", "failed"] * 6
    for reason, part in zip(
        reasons, ("larger than 10", "binary", "NUL", "outside", "absolute", "no workspace roots"), strict=True
    ):
        assert part in reason


def test_more_requests_than_may_wait_are_refused_and_nothing_is_begun(tmp_path: Path, make: Make) -> None:
    make("app/a.txt", "old")
    workers = Workers(1, most_waiting=2, most_bytes=100)
    client = Client(tmp_path, backend=DiskBackend(FilePolicy(), workers))
    go = threading.Event()

    async def crowd() -> list[Any]:
        busy = asyncio.ensure_future(workers.run(lambda check: go.wait(30)))
        await asyncio.sleep(0)
        large = client.files.write_text_file(client.writing("app/a.txt", "x" * 101))
        works = [client.files.read_text_file(client.reading("app/a.txt")) for _ in range(3)]
        tasks = [asyncio.ensure_future(work) for work in (large, *works)]
        await asyncio.sleep(0.01)
        go.set()
        await busy
        return await asyncio.gather(*tasks, return_exceptions=True)

    found = client.run(crowd())
    assert [type(one) for one in found] == [RequestError, v1.ReadTextFileResponse, RequestError, RequestError]
    assert {one.message for one in found if isinstance(one, RequestError)} == {
        "too many requests for files are under way; try again later"
    }
    assert client.read("app/a.txt") == "old"


def test_nothing_is_served_after_the_end(tmp_path: Path, make: Make) -> None:
    make("app/a.txt")
    client = Client(tmp_path)
    client.files.close()
    assert "no workspace roots" in refusal(client.read, "app/a.txt").message


def test_a_hook_that_fails_is_the_programs_own_error(tmp_path: Path) -> None:
    def broken(event: ServiceEvent) -> None:
        raise ZeroDivisionError

    client = Client(tmp_path, on_event=broken)
    with pytest.raises(ZeroDivisionError):
        client.write("app/a.txt", "new")
    assert not (tmp_path / "app" / "a.txt").exists()


def git(folder: Path, *arguments: str) -> str:
    identity = ("-c", "user.name=t", "-c", "user.email=t@example.org")
    return subprocess.run(
        ["git", *identity, "-C", str(folder), *arguments], capture_output=True, text=True, check=True
    ).stdout


@pytest.mark.skipif(
    subprocess.run(["which", "git"], capture_output=True).returncode != 0, reason="git is not installed"
)
def test_git_stages_what_was_written_whatever_its_name(tmp_path: Path) -> None:
    client = Client(tmp_path, on_change=GitStage())
    git(tmp_path / "app", "init", "-q")
    names = ["a.txt", "-rf.txt", "$(touch owned).txt", ":(glob)*.txt", "a b'\".txt", "sub/ö.txt", "; touch owned;"]
    for name in names:
        client.write(f"app/{name}", name)
    staged = git(tmp_path / "app", "ls-files", "-z").split("\0")[:-1]
    assert sorted(staged) == sorted(names)
    assert not list(tmp_path.rglob("owned*"))
    client.write("lib/no-repository.txt", "written all the same")


@pytest.mark.skipif(
    subprocess.run(["which", "git"], capture_output=True).returncode != 0, reason="git is not installed"
)
def test_staging_runs_nothing_of_a_repository_that_an_agent_lays_out(tmp_path: Path) -> None:
    client = Client(tmp_path, FilePolicy(denied_for_writing=()), on_change=GitStage())
    evil = f"touch {tmp_path}/owned"
    core = f'[core]\n\trepositoryformatversion = 0\n\tbare = false\n\tworktree = {tmp_path}/app/bait\n\tfsmonitor = "{evil}"\n'
    config = f'{core}[filter "x"]\n\tclean = "{evil}; cat"\n'
    for name, content in (
        *(("HEAD", "ref: refs/heads/main\n"), ("config", config), (".gitattributes", "* filter=x\n")),
        *(("objects/info/x", ""), ("refs/heads/x", ""), ("info/attributes", "* filter=x\n"), ("a.txt", "bait")),
    ):
        client.write(f"app/bait/{name}", content)
    client.write("app/bait/a.txt", "again")
    assert not (tmp_path / "owned").exists()


@pytest.mark.skipif(
    subprocess.run(["which", "git"], capture_output=True).returncode != 0, reason="git is not installed"
)
@pytest.mark.parametrize("name", ["*.txt", ":(glob)**", ":/", "[a-z]*", "?rivate.txt"])
def test_git_stages_one_file_and_no_pattern(tmp_path: Path, make: Make, name: str) -> None:
    client = Client(tmp_path, on_change=GitStage())
    git(tmp_path / "app", "init", "-q")
    make("app/private.txt")
    client.write(f"app/{name}{'x' if name.endswith('/') else ''}", "new")
    (staged,) = git(tmp_path / "app", "ls-files", "-z").split("\0")[:-1]
    assert staged != "private.txt"


@pytest.mark.skipif(
    subprocess.run(["which", "git"], capture_output=True).returncode != 0, reason="git is not installed"
)
def test_staging_runs_no_program_of_the_repository_and_heeds_no_variable(
    tmp_path: Path, make: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    client = Client(tmp_path, on_change=GitStage())
    for folder in ("app", "outside"):
        git(tmp_path / folder, "init", "-q")
    program = f"#!/bin/sh\ntouch {tmp_path}/owned-by-$(basename $0)\n"
    for hook in ("post-index-change", "pre-commit"):
        make(f"app/.git/hooks/{hook}", program).chmod(0o755)
    monitor = make("monitor", program)
    monitor.chmod(0o755)
    git(tmp_path / "app", "config", "core.fsmonitor", str(monitor))
    monkeypatch.setenv("GIT_DIR", f"{tmp_path}/outside/.git")
    monkeypatch.setenv("GIT_WORK_TREE", f"{tmp_path}/app")
    client.write("app/a.txt", "new")
    assert not list(tmp_path.glob("owned-by-*"))
    for name in ("GIT_DIR", "GIT_WORK_TREE"):
        monkeypatch.delenv(name)
    assert git(tmp_path / "outside", "ls-files") == ""
    assert not list(tmp_path.glob("owned-by-*"))
    assert git(tmp_path / "app", "ls-files") == "a.txt\n"
    assert list(tmp_path.glob("owned-by-*")), "without our settings they do run"


@pytest.mark.skipif(
    subprocess.run(["which", "git"], capture_output=True).returncode != 0, reason="git is not installed"
)
def test_git_stages_all_that_is_written_at_once(tmp_path: Path) -> None:
    client = Client(tmp_path, FilePolicy(durable=False), on_change=GitStage())
    git(tmp_path / "app", "init", "-q")

    async def crowd() -> None:
        await asyncio.gather(*(client.files.write_text_file(client.writing(f"app/{n}.txt", "x")) for n in range(40)))

    asyncio.run(crowd())
    staged = git(tmp_path / "app", "ls-files", "-z").split("\0")[:-1]
    assert sorted(staged) == sorted(f"{number}.txt" for number in range(40))


@pytest.mark.parametrize("ending", ["timeout", "cancelled"])
def test_git_may_tidy_up_before_it_is_ended(tmp_path: Path, make: Make, ending: str) -> None:
    lock, ready = tmp_path / "index.lock", tmp_path / "ready"
    tidy = f"trap 'rm {lock}; exit 1' TERM\ntouch {lock} {ready}\nwhile :; do sleep 0.01; done\n"
    script = make("git-that-locks", f"#!/bin/sh\n{tidy}")
    script.chmod(0o755)
    stage = GitStage(git=str(script), timeout=60 if ending == "cancelled" else 1)

    async def staged() -> bool | None:
        task = asyncio.ensure_future(stage(f"{tmp_path}/a.txt"))
        while not ready.exists():
            await asyncio.sleep(0.01)
        if ending == "cancelled":
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            return None
        return await task

    assert asyncio.run(staged()) is (None if ending == "cancelled" else False)
    assert not lock.exists()


def test_staging_never_fails_a_write_nor_waits_for_ever(tmp_path: Path, make: Make) -> None:
    Client(tmp_path, on_change=GitStage(git=f"{tmp_path}/no-such-git")).write("app/a.txt", "new")
    script = make("slow-git", "#!/bin/sh\nexec sleep 60\n")
    script.chmod(0o755)
    stage = GitStage(git=str(script), timeout=0.1)

    async def staged() -> bool:
        return await stage(f"{tmp_path}/app/a.txt")

    assert asyncio.run(staged()) is False


def test_a_program_reads_and_writes_without_a_request(tmp_path: Path) -> None:
    client = Client(tmp_path)
    (tmp_path / "app/link").symlink_to("../lib")
    assert client.run(client.files.write("s", f"{tmp_path}/app/link/a.txt", "one\ntwo\n")) == f"{tmp_path}/lib/a.txt"
    assert client.run(client.files.read("s", f"{tmp_path}/lib/a.txt", 2)) == "two\n"
    assert refusal(lambda: client.run(client.files.read("s", f"{tmp_path}/outside/a.txt"))).code == REFUSED


@pytest.mark.skipif(
    subprocess.run(["which", "git"], capture_output=True).returncode != 0, reason="git is not installed"
)
def test_a_file_that_is_written_through_a_link_is_staged_and_the_link_is_not(tmp_path: Path, make: Make) -> None:
    client = Client(tmp_path, on_change=GitStage())
    git(tmp_path / "app", "init", "-q")
    make("app/real.txt", "old")
    (tmp_path / "app/link").symlink_to("real.txt")
    client.write("app/link", "new")
    assert git(tmp_path / "app", "ls-files") == "real.txt\n"


@given(st.text())
def test_text_for_a_terminal_is_shown_and_not_obeyed(text: str) -> None:
    shown = terminal_text(text)
    assert all(
        character in "\n\t\u200c\u200d" or not unicodedata.category(character).startswith(("Cc", "Cf", "Cs"))
        for character in shown
    )
    assert terminal_text(shown) == shown


def test_emoji_accents_and_indentation_come_to_a_terminal_as_they_are() -> None:
    for text in ("\tnaïve café — 東京\n", "👩\u200d💻 🏳️\u200d🌈", "क्\u200dष", "a\u00a0b"):
        assert terminal_text(text) == text
