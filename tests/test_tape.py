"""Recordings: new files for their owner alone, bounded where somebody asks, and without secrets."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from acpgen.errors import Faults
from acpgen.input.walk import is_array, is_object
from acpgen.messages import validators
from acpgen.messages.recording_file import Tape
from acpgen.messages.redaction import REDACTED, Redactor
from commands import acpgen

if TYPE_CHECKING:
    from jsonrpc_bindings.strict import Strict

ROOT = Path(__file__).parents[1]


def tap(*options: object, talk: bytes, folder: Path) -> subprocess.CompletedProcess[bytes]:
    """Tap an agent that answers with what it was told."""
    command = [
        sys.executable,
        "-m",
        "acpgen",
        "tap",
        *map(str, options),
        "--report",
        str(folder / "report"),
        "--",
        "cat",
    ]
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "generator")}
    return subprocess.run(command, input=talk, capture_output=True, check=False, env=environment, timeout=120)


# --- files -----------------------------------------------------------------------------------------------------------


@pytest.mark.skipif(os.name != "posix", reason="modes are POSIX's")
def test_a_recording_is_for_its_owner_alone_whatever_the_mask(tmp_path: Path) -> None:
    before = os.umask(0)
    try:
        ran = tap("--record", tmp_path / "talk.jsonl", talk=b"{}\n", folder=tmp_path)
    finally:
        os.umask(before)
    assert ran.stdout == b"{}\n"
    assert (tmp_path / "talk.jsonl").stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize("kind", ["file", "link", "link to nothing", "hard link"])
def test_what_is_there_is_not_written_over_and_no_link_is_followed(tmp_path: Path, kind: str) -> None:
    other = tmp_path / "other"
    other.write_text("kept")
    place = tmp_path / "talk.jsonl"
    match kind:
        case "file":
            place.write_text("kept")
        case "link":
            place.symlink_to(other)
        case "link to nothing":
            place.symlink_to(tmp_path / "nothing")
        case _:
            place.hardlink_to(other)
    mark = tmp_path / "started"
    ran = acpgen(["tap", "--record", place, "--report", tmp_path / "report", "--", "touch", mark])
    assert ran.returncode == 2
    assert b"never written over" in ran.stderr
    assert other.read_text() == "kept"
    assert not (tmp_path / "nothing").exists()
    assert not mark.exists(), "the agent does not start"


def test_files_follow_one_another_and_the_newest_stay(tmp_path: Path) -> None:
    place = tmp_path / "talk.jsonl"
    (tmp_path / "talk.2.jsonl").write_text("somebody's")
    with Tape(place, most=20, keep=2) as tape:
        for number in range(9):
            tape.write(f'{{"line": {number}}}\n'.encode())  # 12 bytes: one fits into a file
    found = {path.name: path.read_text() for path in tmp_path.iterdir()}
    assert found.pop("talk.2.jsonl") == "somebody's"
    assert found == {"talk.8.jsonl": '{"line": 7}\n', "talk.9.jsonl": '{"line": 8}\n'}
    assert all(path.stat().st_mode & 0o777 == 0o600 for path in tmp_path.glob("talk.[89].jsonl"))


def test_a_line_is_never_cut(tmp_path: Path) -> None:
    with Tape(tmp_path / "talk", most=10) as tape:
        tape.write(b"x" * 30 + b"\n")
        tape.write(b"y\n")
    assert (tmp_path / "talk").read_bytes() == b"x" * 30 + b"\n"
    assert (tmp_path / "talk.1").read_bytes() == b"y\n"


def test_a_file_that_somebody_put_in_the_place_of_ours_is_not_removed(tmp_path: Path) -> None:
    with Tape(tmp_path / "talk", most=3, keep=1) as tape:
        tape.write(b"one\n")
        (tmp_path / "talk").unlink()
        (tmp_path / "talk").write_text("somebody's")
        tape.write(b"two\n")
    assert (tmp_path / "talk").read_text() == "somebody's"


def test_a_place_that_does_not_exist_is_told(tmp_path: Path) -> None:
    with pytest.raises(Faults, match="cannot be written"):
        Tape(tmp_path / "no" / "talk")


def test_a_device_is_written_to() -> None:
    with Tape(Path(os.devnull)) as tape:
        tape.write(b"{}\n")


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no named pipes")
def test_a_file_that_takes_the_place_of_a_pipe_is_not_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever may write in the folder exchanges the two after the pipe was looked at."""
    path, other = tmp_path / "talk", tmp_path / "other"
    os.mkfifo(path)
    other.write_bytes(b"theirs")
    opened = os.open

    def exchanged(name: Any, *rest: Any) -> int:
        if name == path:
            other.replace(path)
        return opened(name, *rest)

    monkeypatch.setattr(os, "open", exchanged)
    with pytest.raises(Faults, match="never written over another file"):
        Tape(path)
    assert path.read_bytes() == b"theirs"


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no named pipes")
def test_a_link_that_takes_the_place_of_a_pipe_is_not_followed_even_to_the_same_pipe(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, other = tmp_path / "talk", tmp_path / "other"
    os.mkfifo(path)
    reader = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    opened = os.open

    def exchanged(name: Any, *rest: Any) -> int:
        if name == path:
            path.rename(other)
            path.symlink_to(other)
        return opened(name, *rest)

    monkeypatch.setattr(os, "open", exchanged)
    try:
        with pytest.raises(Faults, match="cannot be written"):
            Tape(path)
    finally:
        os.close(reader)


def test_the_end_of_tap_names_the_files_of_a_recording_in_parts(tmp_path: Path) -> None:
    talk = b'{"jsonrpc":"2.0","method":"session/cancel","params":{"sessionId":"s"}}\n' * 40
    ran = tap("--record", tmp_path / "talk.jsonl", "--max-size", "1K", "--max-files", "2", talk=talk, folder=tmp_path)
    kept = sorted(path.name for path in tmp_path.iterdir() if path.name.startswith("talk."))
    told = next(line for line in ran.stderr.decode().splitlines() if line.startswith("The recording is "))
    assert len(kept) == 2
    assert all(name in told for name in kept)
    assert "older were removed" in told


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (["--redact"], "--record"),
        (["--max-size", "1M"], "--record"),
        (["--max-files", "2"], "--max-size"),
        (["--record", "talk", "--max-files", "10"], "--max-size"),
        (["--record", "talk", "--max-size", "many"], "not a size"),
        (["--record", "talk", "--max-size", "0"], "not a size"),
        (["--record", "talk", "--redact-pattern", "("], "regular expression"),
    ],
)
def test_options_that_mean_nothing_are_refused(tmp_path: Path, options: list[str], told: str) -> None:
    ran = acpgen(["tap", *options, "--report", tmp_path / "report", "--", "cat"], cwd=tmp_path)
    assert ran.returncode == 2
    assert told in " ".join(ran.stderr.decode().replace("│", " ").split())
    assert not (tmp_path / "talk").exists()


# --- without what is nobody else's business --------------------------------------------------------------------------


@cache
def acp() -> Sequence[Strict]:
    return validators.read_versions(())


def redact(message: object, sender: str = "client", redactor: Redactor | None = None) -> Any:
    return json.loads((redactor or Redactor((), acp)).redact_line(sender, json.dumps(message).encode()))


def call(method: str, params: object) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}


def update(**members: object) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "method": "session/update", "params": {"sessionId": "s-7", "update": members}}


TOKEN = "ghp_" + "A1b2" * 9


@pytest.mark.parametrize(
    "message",
    [
        call(
            "session/new", {"cwd": "/SECRET", "mcpServers": [{"name": "m", "command": "/SECRET/", "args": ["SECRET"]}]}
        ),
        call("session/new", {"mcpServers": [{"name": "m", "env": [{"name": "KEY", "value": "SECRET"}]}]}),
        call(
            "session/new", {"mcpServers": [{"type": "http", "url": "https://SECRET", "headers": [{"value": "SECRET"}]}]}
        ),
        call("session/prompt", {"prompt": [{"type": "text", "text": "SECRET"}]}),
        call("session/prompt", {"prompt": [{"type": "resource", "resource": {"uri": "SECRET", "text": "SECRET"}}]}),
        call("session/prompt", {"prompt": [{"type": "image", "mimeType": "image/png", "data": "SECRET"}]}),
        call("session/prompt", {"prompt": "SECRET"}),
        call("session/prompt", ["SECRET", {"sessionId": "SECRET"}]),
        update(sessionUpdate="tool_call", title="SECRET", rawInput={"type": "SECRET"}, rawOutput="SECRET"),
        update(sessionUpdate="tool_call_update", content=[{"type": "diff", "path": "/SECRET", "newText": "SECRET"}]),
        update(sessionUpdate="agent_message_chunk", content={"type": "text", "text": "SECRET", "id": "SECRET"}),
        update(sessionUpdate="plan", entries=[{"content": "SECRET", "priority": "high", "status": "pending"}]),
        update(sessionUpdate="terminal_output_chunk", terminalId="t", data="SECRET"),
        update(sessionUpdate="tide", path="SECRET", deep=[{"sessionId": "SECRET", "type": "SECRET"}]),
        update(sessionUpdate="SECRET SECRET"),
        update(_meta={"terminal_output": {"terminal_id": "SECRET", "data": "SECRET"}}),
        update(_meta={"terminal_output_delta": {"data": ["SECRET", {"name": "SECRET"}]}}),
        call("_x", {"name": "SECRET", "id": "SECRET", "sessionId": "SECRET", "method": "SECRET", "kind": "SECRET"}),
        call("_x", {"properties": {"password": {"type": "string", "default": "SECRET", "const": "SECRET"}}}),
        call("_x", "SECRET"),
        call("SECRET SECRET", {}),
        call("terminal/create", {"sessionId": "s", "command": "deploy", "args": ["--key", "SECRET", "-pSECRET"]}),
        call("terminal/create", {"sessionId": "s", "command": "export A=SECRET"}),
        call("elicitation/create", {"mode": "form", "message": "SECRET", "requestedSchema": {"title": "SECRET"}}),
        {"jsonrpc": "2.0", "id": 1, "error": {"code": -32603, "message": "SECRET", "data": {"a": ["SECRET"]}}},
        {"jsonrpc": "2.0", "id": 1, "error": "SECRET"},
        {"jsonrpc": "2.0", "id": 1, "result": {"sessionId": "SECRET", "content": "SECRET"}},
        {"jsonrpc": "SECRET", "id": 1, "more": "SECRET"},
        ["SECRET", call("session/prompt", {"prompt": ["SECRET"]})],
        "SECRET",
    ],
)
def test_what_no_schema_makes_protocol_is_not_recorded_and_the_shape_stays(message: object) -> None:
    found = redact(message)
    assert "SECRET" not in json.dumps(found)
    assert shape(found) == shape(message)
    assert redact(found) == found


@pytest.mark.parametrize(
    "secret",
    [
        TOKEN,
        "sk_live_" + "a7" * 12,
        "SG." + "b7" * 11 + ".c7",
        "dop_v1_" + "ab12" * 16,
        "AGE-SECRET-KEY-1QQQQ",
        "sk-" + "a1" * 20,
        "xoxb-1234567890-ab",
        "AKIA" + "A1" * 8,
        "eyJhbGciOi.eyJzdWIiOi.x",
    ],
)
def test_what_looks_like_a_token_goes_wherever_it_stands(secret: str) -> None:
    message = call("_x", {"_meta": {secret: {secret: 1}}, "apiKey": {"type": secret}})
    message |= {"id": secret}
    known = update(sessionUpdate="tool_call", toolCallId=secret, title="t", kind=secret, **{secret: True})
    for found in (redact(message), redact(known), redact(call(secret, {}))):
        assert secret not in json.dumps(found)
    assert secret not in json.dumps(redact({secret: 1, "method": secret}))


def test_members_whose_names_go_are_still_as_many() -> None:
    names = {"/home/me/a": 1, "/home/me/b": 2, "a name with spaces": 3, "1" * 90: 4, "a1" * 10: 5}
    found = redact(call("_x", names))["params"]
    assert list(found.values()) == [1, 2, 3, 4, 5]
    assert not set(found) & set(names)


def test_ids_kinds_methods_and_names_stay() -> None:
    task = update(sessionUpdate="tool_call_update", toolCallId="task-0123456789abcdef0123", status="failed")
    assert redact(task) == task
    message = update(sessionUpdate="tool_call", toolCallId="c-1", title="[redacted]", kind="edit", status="pending")
    assert redact(message) == message
    asked = call("terminal/create", {"sessionId": "s", "command": "deploy", "args": [], "env": [{"name": "KEY"}]})
    assert redact(asked) == asked
    info = {"protocolVersion": 1, "clientInfo": {"name": "zed", "version": "1.2.3-beta+7"}, "clientCapabilities": {}}
    assert redact(call("initialize", info)) == call("initialize", info)
    unknown = update(sessionUpdate="tide", metres=2.5, status="pending")
    assert redact(unknown) == unknown, "an unknown kind is a kind, and a constant of the schema is nobody's secret"


def test_a_path_stays_a_path_so_that_the_recording_can_be_validated() -> None:
    message = call("session/new", {"cwd": "/home/me/x", "mcpServers": [{"name": "m", "command": "/usr/bin/npx"}]})
    params = redact(message)["params"]
    assert params["cwd"] == f"/{REDACTED}"
    assert params["mcpServers"][0]["command"] == f"/{REDACTED}/npx"
    relative = call("session/new", {"cwd": "me/x", "mcpServers": [{"name": "m", "command": "bin/npx"}]})
    assert redact(relative)["params"]["cwd"] == REDACTED, "what is wrong stays wrong"
    assert redact(relative)["params"]["mcpServers"][0]["command"] == f"{REDACTED}/npx"
    kept = redact(
        call("session/prompt", {"sessionId": "s", "prompt": [{"type": "image", "mimeType": "a/b", "data": "eA"}]})
    )
    assert kept["params"]["prompt"][0] == {"type": "image", "mimeType": "a/b", "data": ""}


def test_the_schema_of_a_form_stays_a_schema() -> None:
    fields = {"password": {"type": "string", "title": "T"}, "age": {"type": "integer", "minimum": 18}}
    named = {**fields, "mother's name": {"type": "string"}}
    schema = {"type": "object", "properties": named, "required": ["password", "mother's name"]}
    params = {"mode": "form", "message": "m", "sessionId": "s", "requestedSchema": schema}
    found = redact(call("elicitation/create", params))["params"]["requestedSchema"]
    kept = {**fields, "password": {"type": "string", "title": REDACTED}, REDACTED: {"type": "string"}}
    assert found == {**schema, "properties": kept, "required": ["password", REDACTED]}


def test_numbers_below_names_of_secrets_go_and_counts_of_tokens_stay() -> None:
    params = {
        "userPin": 4711,
        "refresh_token": 8,
        "APIKey": 9,
        "author": 1,
        "password": 1234,
        "pin": [1, 2],
        "auth": {"code": 7},
        "apiKey": 1.5,
        "inputTokens": 5,
        "max_tokens": 9,
        "n": 3,
    }
    gone: dict[str, Any] = dict.fromkeys(("userPin", "refresh_token", "APIKey", "password", "apiKey"), 0)
    gone |= {"author": 1, "pin": [0, 0], "auth": {"code": 0}, "inputTokens": 5, "max_tokens": 9, "n": 3}
    assert redact(call("_x", params))["params"] == gone
    bytes_ = {"type": "Buffer", "data": [83, 69, 67]}
    assert redact(call("_x", bytes_))["params"] == {"type": REDACTED, "data": [0, 0, 0]}
    usage = update(sessionUpdate="usage_update", used=53000, size=200000)
    assert redact(usage) == usage


def test_a_member_given_twice_makes_its_object_unknown() -> None:
    line = b'{"method":"session/cancel","params":{"sessionId":"SECRET","sessionId":"s"}}'
    assert b"SECRET" not in Redactor((), acp).redact_line("client", line)


def test_without_a_schema_every_string_is_unknown() -> None:
    found = redact(update(sessionUpdate="tool_call", toolCallId="SECRET", kind="edit"), redactor=Redactor())
    assert found["params"] == {
        "sessionId": REDACTED,
        "update": {"sessionUpdate": REDACTED, "toolCallId": REDACTED, "kind": REDACTED},
    }
    assert found["method"] == "session/update"


def alone(**definitions: object) -> Redactor:
    """A redactor for one protocol: whatever the method, its params are `Params`."""

    def route(_: object, *, is_request: bool) -> object:
        return SimpleNamespace(params="Params", result=None)

    protocol: Any = SimpleNamespace(schema={"$defs": definitions}, route=route)
    return Redactor((), lambda: [protocol])


def test_an_unknown_kind_stays_beside_kinds_that_are_listed() -> None:
    branch = {"type": "object", "properties": {"op": {"enum": ["add", "sub"]}, "note": {"type": "string"}}}
    other = {"type": "object", "properties": {"op": {"const": "neg"}}}
    redactor = alone(Params={"oneOf": [branch, other]})
    for op in ("add", "neg", "tide"):
        assert redact(call("x", {"op": op, "note": "SECRET"}), redactor=redactor)["params"] == {
            "op": op,
            "note": REDACTED,
        }


def test_schemas_that_share_parts_are_read_once() -> None:
    def pair(number: int) -> object:
        return {"anyOf": [{"$ref": f"#/$defs/L{number}"}, {"$ref": f"#/$defs/L{number}"}, {"$ref": "#/$defs/Params"}]}

    levels = {f"L{number}": pair(number + 1) for number in range(60)}
    last = {"type": "object", "properties": {"aId": {"type": "string", "pattern": "^a{99999999999}"}}}
    redactor = alone(Params=pair(0), **levels, L60=last)
    assert redact(call("x", {"aId": "a", "b": "SECRET"}), redactor=redactor)["params"] == {"aId": "a", "b": REDACTED}


def shape(value: Any) -> Any:
    """What is left of a value where every text is the same one, and so is every number."""
    if is_object(value):
        return {key: shape(one) for key, one in value.items()}
    if is_array(value):
        return [shape(one) for one in value]
    return "" if isinstance(value, str) else value if value is None or isinstance(value, bool) else 0


def test_a_result_is_known_by_the_method_of_its_request() -> None:
    redactor = Redactor((), acp)
    redact(call("session/new", {"cwd": "/a"}) | {"id": 7}, "client", redactor)
    answer = {"jsonrpc": "2.0", "id": 7, "result": {"sessionId": "s-9"}}
    assert redact(answer, "client", redactor)["result"] == {"sessionId": REDACTED}, "nobody asked the client"
    assert redact(answer, "agent", redactor) == answer
    assert redact(answer, "agent", redactor)["result"] == {"sessionId": REDACTED}, "it was answered already"


def test_when_answers_can_no_longer_be_matched_each_is_unknown() -> None:
    redactor = Redactor((), acp)
    for number in range(5000):
        redactor.redact_line("client", json.dumps({"id": number, "method": "session/new"}).encode())
    answer = {"id": 4999, "result": {"sessionId": "SECRET"}}
    assert "SECRET" not in json.dumps(redact(answer, "agent", redactor))


NEW: dict[str, Any] = {"jsonrpc": "2.0", "method": "session/new", "params": {"cwd": "/a"}}
OTHER: dict[str, Any] = {"jsonrpc": "2.0", "method": "session/prompt", "params": {}}


@pytest.mark.parametrize(
    ("asked", "number"),
    [
        (({"id": 1, **NEW}, {"id": 1, **OTHER}), "1"),
        (({"id": 1, **OTHER}, {"id": 1, **NEW}), "1"),
        (({"id": 1, **NEW}, {"id": 1.0, **OTHER}), "1"),
        (({"id": 1, **NEW},), '"1"'),
        (('{"id":1,"id":2,"method":"session/new"}',), "1"),
        (('{"id":1,"method":"session/new","method":"other"}',), "1"),
        ((), "1"),
    ],
)
def test_no_play_with_ids_makes_a_result_another_one(asked: tuple[object, ...], number: str) -> None:
    redactor = Redactor((), acp)
    for each in asked:
        redactor.redact_line("client", (each if isinstance(each, str) else json.dumps(each)).encode())
    assert b"SECRET" not in redactor.redact_line(
        "agent", f'{{"id":{number},"result":{{"sessionId":"SECRET"}}}}'.encode()
    )


def test_an_expression_of_the_user_is_left_out_of_ids_and_names_too() -> None:
    redactor = Redactor(["tide"], acp)
    found = redact(update(sessionUpdate="tool_call", toolCallId="tide-1", **{"x-tide": 1}), redactor=redactor)
    assert "tide" not in json.dumps(found)


def test_text_of_any_length_is_redacted_in_time_that_grows_with_it() -> None:
    for text in ("a-" * 200_000, "eyJ" * 100_000, "bearer " * 60_000, "SG." * 100_000, "a1" * 200_000, "_a" * 200_000):
        known = update(sessionUpdate=text, toolCallId=text, **{text: text})
        assert redact(known) is not None


def test_numbers_keys_and_their_order_stay_as_they_came() -> None:
    line = b'{"z":1.0,"a":1e400,"a":-0,"big":123456789012345678901234567890,"n":null,"t":[true,{}]}'
    assert Redactor().redact_line("client", line) == line


def test_what_is_no_json_is_not_recorded_at_all() -> None:
    assert b"SECRET" not in Redactor().redact_line("agent", b"SECRET panic")
    assert b"SECRET" not in Redactor().redact_line("agent", b'{"a":' * 100_000 + b'"SECRET"' + b"}" * 100_000)
    assert Redactor().redact_line("agent", b"  ") == b"  "


@given(
    st.recursive(
        st.none()
        | st.booleans()
        | st.integers()
        | st.floats(allow_nan=False, allow_infinity=False)
        | st.text(max_size=8),
        lambda inner: (
            st.lists(inner, max_size=3)
            | st.dictionaries(
                st.sampled_from(["method", "params", "result", "id", "sessionId", "update", "error", "a"]), inner
            )
        ),
        max_leaves=12,
    )
)
def test_any_message_keeps_its_shape_and_is_redacted_once(message: Any) -> None:
    once = redact(message)
    assert shape(once) == shape(message)
    assert redact(once) == once


def test_a_tapped_conversation_is_recorded_without_secrets_and_passes_as_it_came(tmp_path: Path) -> None:
    talk = (
        b'{"jsonrpc":"2.0","id":1,"method":"session/new","params":{"cwd":"/a","mcpServers":'
        b'[{"name":"m","command":"c","args":[],"env":[{"name":"K","value":"SECRET"}]}]}}\nSECRET\n'
    )
    ran = tap("--record", tmp_path / "t", "--redact", "--redact-pattern", "/a\\b", talk=talk, folder=tmp_path)
    assert ran.stdout == talk
    text = (tmp_path / "t").read_text()
    assert "SECRET" not in text
    assert '"/a"' not in text
    lines = [json.loads(line) for line in text.splitlines()]
    assert [line["from"] for line in lines].count("client") == 2
    assert [line["message"]["method"] for line in lines if "message" in line] == ["session/new"] * 2
