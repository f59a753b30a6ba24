"""Recordings: new files for their owner alone, bounded where somebody asks, and without secrets."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from acpgen.errors import Faults
from acpgen.redaction import Redactor
from acpgen.schema.walk import is_array, is_object
from acpgen.secret_options import REDACTED
from acpgen.tape import Tape

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
    ran = tap("--record", place, talk=b"{}\n", folder=tmp_path)
    assert ran.returncode == 2
    assert b"never written over" in ran.stderr
    assert ran.stdout == b"", "the agent does not start"
    assert other.read_text() == "kept"
    assert not (tmp_path / "nothing").exists()
    assert not mark.exists()


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
    ran = tap(*options, talk=b"", folder=tmp_path)
    assert ran.returncode == 2
    assert told in " ".join(ran.stderr.decode().replace("│", " ").split())
    assert not Path("talk").exists()


# --- without secrets -------------------------------------------------------------------------------------------------


def redacted(message: object, sender: str = "client", redactor: Redactor | None = None) -> Any:
    return json.loads((redactor or Redactor()).line(sender, json.dumps(message).encode()))


@pytest.mark.parametrize(
    "params",
    [
        {"mcpServers": [{"command": "c", "env": [{"name": "KEY", "value": "SECRET"}]}]},
        {"mcpServers": [{"url": "https://a", "headers": [{"name": "Authorization", "value": "SECRET"}]}]},
        {"env": {"KEY": "SECRET"}, "headers": {"X": "SECRET"}},
        {
            "apiKey": "SECRET",
            "api_key": "SECRET",
            "authToken": "SECRET",
            "password": "SECRET",
            "clientSecret": "SECRET",
        },
        {"prompt": [{"type": "text", "text": "use Bearer SECRETSECRET please"}]},
        {"text": "ghp_SECRETSECRETSECRETSECRET and sk-SECRETSECRETSECRET"},
        {"text": "-----BEGIN RSA PRIVATE KEY-----\nSECRET\n-----END RSA PRIVATE KEY-----"},
        {"update": {"content": [{"type": "diff", "path": "/a", "oldText": "SECRET", "newText": "SECRET"}]}},
        {"resource": {"uri": "file:///a", "blob": "SECRET"}},
        {"prompt": [{"type": "resource", "resource": {"uri": "file:///a", "text": "SECRET"}}]},
        {"prompt": [{"type": "image", "mimeType": "image/png", "data": "SECRET"}]},
        {"update": {"sessionUpdate": "tool_call", "rawInput": {"content": ["SECRET"]}, "rawOutput": "SECRET"}},
        {
            "update": {
                "sessionUpdate": "tool_call_update",
                "content": [{"type": "content", "content": {"type": "text", "text": "SECRET"}}],
            }
        },
        {"toolCall": {"content": [{"type": "content", "content": {"type": "text", "text": "SECRET"}}]}},
        {"update": {"content": [{"type": "diff", "patch": {"format": "git", "text": "SECRET"}}]}},
        {"update": {"sessionUpdate": "terminal_output_chunk", "terminalId": "t", "data": "SECRET"}},
        {"update": {"sessionUpdate": "terminal_update", "terminalId": "t", "output": {"data": "SECRET"}}},
        {"args": ["--token=SECRET", "--password", "SECRET", "--api-key", "SECRET", "-x"]},
        {"url": "https://user:SECRET@host/x?token=SECRET&key=SECRET"},
        {"command": "export AWS_SECRET_ACCESS_KEY=SECRET && run --password SECRET"},
        {"text": "Authorization: Bearer SECRET\nCookie: a=SECRET; b=SECRET"},
        {"text": '{"password": "SECRET", "token":"SECRET"}'},
        {"_meta": {"settings": [{"name": "TOKEN", "value": "SECRET"}]}},
        {"text": r"log: {\"password\":\"SECRET\", \"api_key\": \"SECRET\"}"},
        {"text": "AccountKey=SECRET; Authorization: token SECRET"},
        {"text": f"npm_{'SECRET' * 6} glpat-{'SECRET' * 4} hf_{'SECRET' * 6} dckr_pat_{'SECRET' * 4}"},
        {
            "text": f"xapp-1-{'SECRET' * 4} ya29.{'SECRET' * 4} pypi-{'SECRET' * 8} https://hooks.slack.com/services/T/B/SECRET"
        },
        {"command": "mysql", "args": ["-u", "root", "-pSECRET", "shop"]},
        {"command": "/usr/bin/curl", "args": ["-sSu", "me:SECRET", "https://a"]},
        {"args": ["docker", "login", "-u", "me", "-p", "SECRET", "host"]},
        {"args": ["sshpass", "-pSECRET", "ssh", "host"]},
        {"args": ["bash", "-c", "mysqldump -u root -p'SECRET SECRET' shop | gzip"]},
        {"text": "run mysql -uroot -pSECRET, then `sshpass -p SECRET ssh me@host`"},
        {"text": "I don't like curl -u me:SECRET https://a; it's\ncurl \\\n  --user 'me:SECRET' https://a"},
        {"text": 'curl -H "X-Own: SECRET" -b "sid=SECRET" https://a'},
        {"text": "bash -c \"mysql -pSECRET\" && PGPASSWORD=SECRET psql && MYSQL_PWD='SECRET' mysql"},
        {"text": "DB_PASS=SECRET run --password='SECRET SECRET' --password \"SECRET SECRET\" --db-pass SECRET"},
        {"text": r"{\"command\":\"mysql\",\"args\":[\"-u\",\"me\",\"-pSECRET\"]}"},
        {"text": '["curl", "-u", "me:SECRET"] or [curl, -u, me:SECRET]'},
        {"text": 'redis-cli -a SECRET; 7z x -pSECRET a.7z; openssl enc -pass pass:SECRET; mysql -p"SECRET'},
        {"url": f"https://{'SECRET' * 6}@host/x.git"},
        {"Env": {"KEY": "SECRET"}, "HEADERS": {"X": "SECRET"}, "httpHeaders": {"X": "SECRET"}},
        {"http_headers": {"X": "SECRET"}, "requestHeaders": [{"name": "X", "value": "SECRET"}], "env": "KEY=SECRET"},
        {"env": {"dev": {"KEY": "SECRET"}}, "headers": {"X": ["SECRET", {"y": "SECRET"}]}},
        {"env": [["KEY", "SECRET"], {"name": "KEY", "value": ["SECRET"]}]},
        {"password": {"value": "SECRET"}, "credentials": [{"login": "SECRET", "more": ["SECRET"]}]},
        {"_meta": [{"key": "Authorization", "value": "SECRET"}, {"Name": "x-api-key", "Value": "SECRET"}]},
        {"_meta": [{"name": "TOKEN", "value": ["SECRET"]}, {"id": "api_key", "value": {"text": "SECRET"}}]},
        {"bearer": "SECRET", "jwt": "SECRET", "auth": {"user": "SECRET", "pass": "SECRET"}, "pwd": "SECRET"},
        {"accessTokenValue": "SECRET", "privateKeyPem": "SECRET", "token_2": "SECRET"},
        {"url": "https://host/?sig=SECRET&X-Amz-Signature=SECRET&code=SECRET"},
        {"properties": {"env": {"KEY": "SECRET"}, "password": "SECRET"}},
        {"command": "docker", "args": ["run", "-e", "KEY=SECRET", "--env=KEY=SECRET", "-eKEY=SECRET", "image"]},
    ],
)
def test_secrets_and_files_are_not_recorded_and_the_shape_stays(params: dict[str, Any]) -> None:
    message = {"jsonrpc": "2.0", "id": 1, "method": "session/new", "params": params}
    found = redacted(message)
    assert "SECRET" not in json.dumps(found).replace("AWS_SECRET_ACCESS_KEY", "")
    assert shape(found) == shape(message)
    assert redacted(found) == found


def test_a_form_that_asks_for_a_secret_stays_a_form() -> None:
    fields = {"password": {"type": "string", "title": "Password"}, "headers": {"type": "array", "title": "Headers"}}
    message = {"method": "elicitation/create", "params": {"requestedSchema": {"type": "object", "properties": fields}}}
    assert redacted(message) == message


def test_of_two_names_of_one_setting_either_may_be_that_of_a_secret() -> None:
    for names in ('"name":"TOKEN","name":"x"', '"name":"x","name":"TOKEN"'):
        line = f'{{"method":"x","params":[{{{names},"value":"SECRET"}}]}}'
        assert b"SECRET" not in Redactor().line("client", line.encode())


@pytest.mark.parametrize("content", [["SECRET"], {"a": {"b": "SECRET"}}])
def test_the_content_of_a_file_is_not_recorded_in_a_wrong_form_either(content: object) -> None:
    write = {"id": 8, "method": "fs/write_text_file", "params": {"path": "/a", "content": content}}
    assert "SECRET" not in json.dumps(redacted(write))
    assert "SECRET" not in json.dumps(redacted({**write, "params": ["/a", "SECRET"]}))
    assert "SECRET" not in json.dumps(redacted({"id": 9, "result": {"content": content}}))


def shape(value: Any) -> Any:
    """What is left of a value where every text is the same one."""
    if is_object(value):
        return {key: shape(one) for key, one in value.items()}
    if is_array(value):
        return [shape(one) for one in value]
    return "" if isinstance(value, str) else value


def test_contents_of_files_are_known_by_the_method_of_their_request() -> None:
    redactor = Redactor()
    read = {"jsonrpc": "2.0", "id": 7, "method": "fs/read_text_file", "params": {"sessionId": "s", "path": "/a"}}
    assert redacted(read, "agent", redactor) == read
    redacted({"jsonrpc": "2.0", "id": 7, "method": "session/list"}, "client", redactor)
    other = {"jsonrpc": "2.0", "id": 7, "result": {"content": "not a file"}}
    assert redacted(other, "agent", redactor) == other, "an answer of the same side is another one's"
    answer = {"jsonrpc": "2.0", "id": 7, "result": {"content": "SECRET"}}
    assert redacted(answer, "client", redactor)["result"] == {"content": REDACTED}
    assert redacted(answer, "client", redactor)["result"] == {"content": REDACTED}, "nobody knows what it answers now"
    write = {"jsonrpc": "2.0", "id": 8, "method": "fs/write_text_file", "params": {"path": "/a", "content": "SECRET"}}
    assert redacted(write, "agent", redactor)["params"] == {"path": "/a", "content": REDACTED}


def test_when_answers_can_no_longer_be_told_apart_each_is_taken_for_a_file() -> None:
    redactor = Redactor()
    for number in range(5000):
        redactor.line("agent", json.dumps({"id": number, "method": "fs/read_text_file"}).encode())
    assert "SECRET" not in json.dumps(redacted({"id": 4999, "result": {"content": "SECRET"}}, "client", redactor))


READ: dict[str, Any] = {"jsonrpc": "2.0", "method": "fs/read_text_file", "params": {"sessionId": "s", "path": "/a"}}
OTHER: dict[str, Any] = {"jsonrpc": "2.0", "method": "session/request_permission", "params": {}}


@pytest.mark.parametrize(
    ("asked", "number"),
    [
        (({"id": 1, **READ}, {"id": "1", **OTHER}), "1"),
        (({"id": 1, **READ}, {"id": 1, **OTHER}), "1"),
        (({"id": 1, **OTHER}, {"id": 1, **READ}), "1"),
        (({"id": 1, **READ}, {"id": 1.0, **OTHER}), "1"),
        (({"id": 1.0, **READ}, {"id": 2, **OTHER}), "1"),
        (('{"id":1,"id":2,"method":"fs/read_text_file"}',), "1"),
        (({"id": 1, **OTHER}, '{"id":1,"id":2,"method":"fs/read_text_file"}'), "1"),
        (('{"id":1,"method":"fs/read_text_file","method":"other"}',), "1"),
        (({"id": None, **READ},), "null"),
        (({"id": [1], **READ},), "[1]"),
        ((), "1"),
    ],
)
def test_no_play_with_ids_brings_a_file_into_a_recording(asked: tuple[object, ...], number: str) -> None:
    redactor = Redactor()
    for each in asked:
        redactor.line("agent", (each if isinstance(each, str) else json.dumps(each)).encode())
    assert b"SECRET" not in redactor.line("client", f'{{"id":{number},"result":{{"content":"SECRET"}}}}'.encode())


@pytest.mark.parametrize(
    "text",
    [
        "mkdir -p /a/b && docker run -p 8080:80 web && ssh -p 22 host",
        "mysql -u root -p shop",
        "see https://host -a b, and mysql.org -pages",
        '{"command":"mysql -p","args":["shop"]}',
        "curl -u me https://a -o out",
        "all tests pass: 12",
        "docker exec -e web && see https://host/?encode=1&signed=no",
    ],
)
def test_what_only_looks_like_a_secret_option_stays(text: str) -> None:
    assert redacted({"params": {"text": text}}) == {"params": {"text": text}}


def test_what_a_command_printed_is_content_too() -> None:
    redactor = Redactor()
    asked = {"jsonrpc": "2.0", "id": 7, "method": "terminal/output", "params": {"sessionId": "s", "terminalId": "t"}}
    assert redacted(asked, "agent", redactor) == asked
    answer = {"jsonrpc": "2.0", "id": 7, "result": {"output": "SECRET", "truncated": False}}
    assert redacted(answer, "client", redactor)["result"] == {"output": REDACTED, "truncated": False}


def test_text_of_any_length_is_redacted_in_time_that_grows_with_it() -> None:
    for text in (
        "a-" * 200_000,
        "token " * 60_000,
        "--a-" * 100_000,
        "a://b:" * 60_000,
        "cookie:" * 60_000,
        "token='" * 60_000,
        "mysql -p'" * 60_000,
        "mysql -p' " * 60_000,
        "mysql " * 60_000 + "'" * 60_000,
        "curl -u " * 60_000,
    ):
        assert redacted({"params": {"text": text}}) is not None


def test_names_that_look_like_secrets_and_are_none_stay() -> None:
    params = {"_meta": {"progressToken": "abc"}, "inputTokens": 5, "outputTokens": 1.50, "tokenizer": "x", "value": "y"}
    assert redacted({"params": params}) == {"params": params}


def test_numbers_keys_and_their_order_stay_as_they_came() -> None:
    line = b'{"z":1.0,"a":1e400,"a":-0,"big":123456789012345678901234567890,"n":null,"t":[true,{}]}'
    assert Redactor().line("client", line) == line


def test_what_is_no_json_is_not_recorded_at_all() -> None:
    assert b"SECRET" not in Redactor().line("agent", b"SECRET panic")
    assert b"SECRET" not in Redactor().line("agent", b'{"a":' * 100_000 + b'"SECRET"' + b"}" * 100_000)
    assert Redactor().line("agent", b"  ") == b"  "


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
                st.sampled_from(["env", "headers", "name", "value", "token", "content", "a", "id"]), inner
            )
        ),
        max_leaves=12,
    )
)
def test_any_message_keeps_its_shape_and_is_redacted_once(message: Any) -> None:
    once = redacted(message)
    assert shape(once) == shape(message)
    assert redacted(once) == once


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
