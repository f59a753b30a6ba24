"""What is fuzzed: each target takes bytes, and raises for a defect alone. What an input may be refused by, it swallows."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any, Final, Literal

from acp_bindings import v1, v2
from acp_bindings.v1.methods import STRICT as V1
from acp_bindings.v2.methods import STRICT as V2

from acp_monitor import Monitor
from acp_workspace.errors import RequestError
from acp_workspace.scope import parse_scope
from acp_workspace.workspace import RootSet
from acpgen import Documents, Faults, lint
from acpgen.compat.compare import compare
from acpgen.input import step_budget
from acpgen.input.load import Source, parse
from acpgen.input.walk import is_object
from acpgen.meaning.understanding import understand
from fuzz.connecting import connect
from jsonrpc_bindings.errors import DecodeError

CORPORA: Final = Path(__file__).parent / "corpus"
SECRET: Final = b"OUTSIDE"
SENDERS: Final[tuple[Literal["client", "agent"], ...]] = ("client", "agent")
PENDING: Final[Mapping[Any, str]] = {0: "initialize", 1: "session/prompt", 2: "session/new", 7: "fs/read_text_file"}
"""The methods of the requests that responses answer, by id."""


def decode(data: bytes) -> None:
    """What is decoded is written, and read again as the same."""
    for version in (v1, v2):
        for sender in SENDERS:
            with suppress(DecodeError):
                message = version.decode(data, sender=sender, pending=PENDING)
                written = version.encode(message)
                again = version.decode(written, sender=sender, pending=PENDING)
                assert version.encode(again) == written


def validate(data: bytes) -> None:
    """What the strict validator finds nothing against is decoded."""
    for version, strict in ((v1, V1), (v2, V2)):
        for sender in SENDERS:
            value, problems = strict.read(data)
            if problems:
                continue
            method = PENDING.get(value["id"]) if is_object(value) and _is_id(value.get("id")) else None
            found = version.validate(value, sender=sender, method=method)
            assert all(str(problem) for problem in found)
            if not found and is_object(value) and (method is not None or "method" in value):
                version.decode(data, sender=sender, pending=PENDING)


def _is_id(value: object) -> bool:
    return isinstance(value, str | int) and not isinstance(value, bool)


def monitor(data: bytes) -> None:
    """A conversation, a line for each side in turn, never raises, and what is said of it stays short."""
    listener = Monitor((V1, V2))
    for number, line in enumerate(data.split(b"\n")[:40]):
        for breach in listener.observe(SENDERS[number % 2], line):
            assert len(str(breach)) < 20_000
    listener.finish()


def _documents(data: bytes) -> Documents:
    return parse(Source("p", "", (("p.json", data),)))


def load(data: bytes) -> None:
    """A schema is understood and linted, or refused by faults that have a place."""
    for work in (lambda: understand(_documents(data)), lambda: lint.lint(Source("p", "", (("p.json", data),)))):
        try:
            with step_budget.limit_steps("p.json", 0):
                work()
        except Faults as caught:
            told = [fault.at and fault.join_text() for fault in caught.faults]
            assert all(told)


def diff(data: bytes) -> None:
    """Two schemas, apart by a NUL, are compared; one with itself has changed in nothing."""
    old, _, new = data.partition(b"\0")
    with suppress(Faults):
        before = _documents(old)
        assert compare(before, before, budget=2_000).verdict in ("identical", "undecided")
        compare(before, _documents(new or old), budget=2_000)


@cache
def _tree() -> Path:
    made = Path(tempfile.mkdtemp(prefix="acpgen-fuzz-"))
    for folder in ("root/a/b", "outside"):
        (made / folder).mkdir(parents=True)
    for file, content in (("root/x", b"inside"), ("root/a/b/x", b"inside"), ("outside/x", SECRET)):
        (made / file).write_bytes(content)
    for link, end in (("root/out", "../outside"), ("root/up", ".."), ("root/a/in", "b"), ("root/a/loop", "loop")):
        (made / link).symlink_to(end)
    return made


@cache
def _roots() -> RootSet:
    return RootSet.bind(parse_scope(str(_tree() / "root")))


def contain(data: bytes) -> None:
    """No path, relative or below the root, reads what lies outside."""
    text = data.decode("utf-8", "surrogateescape")
    for path in (text, f"{_tree()}/root/{text}"):
        try:
            file = _roots().open(path)
        except (RequestError, OSError, ValueError):
            continue
        try:
            with suppress(IsADirectoryError):
                assert os.read(file, 100) != SECRET
        finally:
            os.close(file)


TARGETS: Final[Mapping[str, tuple[Callable[[bytes], None], str]]] = {
    "decode": (decode, "message"),
    "validate": (validate, "message"),
    "monitor": (monitor, "message"),
    "load": (load, "schema"),
    "diff": (diff, "schema"),
    "contain": (contain, "path"),
    "connect": (connect, "stream"),
}
"""Each target with the corpus that it begins with."""


def corpus(name: str) -> list[bytes]:
    """The inputs of a corpus, by the names of their files."""
    return [path.read_bytes() for path in sorted((CORPORA / name).iterdir())]


TOKENS: Final[Mapping[str, tuple[bytes, ...]]] = {
    "message": (
        *(b"null", b"true", b"-1", b"1e400", b"1.0", b'""', b"[]", b"{}", b'"\\ud800"', b"\xff", b"9" * 400, b"\n"),
        *(b'"id":1,', b'"jsonrpc":"2.0",', b'"method":"session/update",', b'"_meta":{},', b'"sessionId":"s",'),
        *(b'"result":{},', b'"error":{"code":1,"message":""},', b'"params":{},', b'"' + b"a" * 5_000 + b'"'),
    ),
    "schema": (
        *(b"null", b"true", b"false", b"{}", b"[]", b"0", b"1e308", b"-1", b'""', b"9" * 400, b"\0", b"\xff"),
        *(b'"$ref":"#",', b'"$ref":"#/$defs/A",', b'{"$ref":"#/$defs/B"},', b'"allOf":[{}],', b'"oneOf":[{},{}],'),
        *(b'"not":{},', b'"unevaluatedProperties":false,', b'"pattern":"^(a+)+$",', b'"enum":[1,1.0,true],'),
        *(b'"x-method":"m",', b'"x-side":"agent",', b'"$id":"x",', b'"$dynamicRef":"#a",', b'"const":{},', b'"if":{},'),
    ),
    "stream": (
        *(b"\n", b"\r\n\r\n", b"\xff", b"\0", b"[", b"[" * 3_000, b"{" * 200, b"[]\n", b"5\n", b"null\n", b" \n"),
        *(b"Content-Length: 2\r\n\r\n{}", b"Content-Length: 999999999999\r\n\r\n", b"Content-Length: -1\r\n\r\n"),
        *(b'"id":1,', b'"id":1,"id":2,', b'"id":1e400,', b'"method":"session/prompt",', b'"result":{},', b'"error":5,'),
        *(b'{"jsonrpc":"2.0","id":1,"result":{}}\n', b'"' + b"a" * 5_000 + b'"', b'{"jsonrpc":"2.0","method":"x"}\n'),
    ),
    "path": (b"/", b"..", b".", b"//", b"\0", b"out/", b"up/", b"a/in/", b"a/loop", b"\xff", b"a" * 300, b"\\", b"~"),
}
"""What is put into an input, by corpus."""


def mutated(data: bytes, edits: list[tuple[int, int, int]], corpus_name: str) -> bytes:
    """An input after some edits: each is a kind, a place and a choice, of any size."""
    tokens = TOKENS[corpus_name]
    for kind, place, choice in edits:
        at = place % (len(data) + 1)
        end = min(len(data), at + 1 + choice % 40)
        match kind % 5:
            case 0:
                data = data[:at] + tokens[choice % len(tokens)] + data[at:]
            case 1:
                data = data[:at] + data[end:]
            case 2:
                data = data[:at] + tokens[choice % len(tokens)] + data[end:]
            case 3:
                data = data[:end] + data[at:]
            case _:
                data = data[:at] + bytes([choice % 256]) + data[at + 1 :]
    return data


def known(value: Any) -> str:
    """The name of a target. Raises `SystemExit` for any other."""
    if value not in TARGETS:
        raise SystemExit(f"TARGET is one of {', '.join(TARGETS)}.")
    return str(value)
