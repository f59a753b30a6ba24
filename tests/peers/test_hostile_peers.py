"""Peers that send junk: each message gets the answer that JSON-RPC demands, or none, and the connection goes on."""

from __future__ import annotations

import asyncio
import json
import logging
from typing import Any

import pytest
from acp_bindings import ConnectionClosed, DecodeError, v1
from acp_bindings.v1 import peers

from jsonrpc_bindings.framing import Headers, Lines, Unreadable
from jsonrpc_bindings.partial_message import PartialMessage
from jsonrpc_bindings.transport import Memory, pair
from peers.harbour import Agent, Client, call, raw_agent, raw_client, run

OPEN: dict[str, Any] = {"cwd": "/", "mcpServers": []}
NEW = call(99, "session/new", OPEN)


@pytest.mark.parametrize(
    ("line", "id_", "code"),
    [
        (b"junk", None, -32700),
        (b"\xff\xfe", None, -32700),
        (b'{"jsonrpc":"2.0"', None, -32700),
        (b"[" * 100_000, None, -32700),
        (b'{"jsonrpc":"2.0","id":1e999,"method":"x"}', None, -32700),
        (b"5", None, -32600),
        (b"[]", None, -32600),
        (json.dumps([NEW]).encode(), None, -32600),  # version 1 has no batches
        (b"{}", None, -32600),
        (b'{"jsonrpc":"1.0","id":7,"method":"session/new"}', 7, -32600),
        (b'{"jsonrpc":"2.0","id":{},"method":"session/new"}', None, -32600),
        (b'{"jsonrpc":"2.0","id":true,"method":"session/new"}', None, -32600),
        (b'{"jsonrpc":"2.0","id":1.5,"method":"session/new"}', None, -32600),
        (b'{"jsonrpc":"2.0","id":1.00000000000000000001,"method":"session/new"}', None, -32600),
        (b'{"jsonrpc":"2.0","id":9007199254740993.5,"method":"session/new"}', None, -32600),
        (b'{"jsonrpc":"2.0","id":9007199254740993.0,"method":"no/such"}', 2**53 + 1, -32601),
        (b'{"jsonrpc":"2.0","id":7,"method":5}', 7, -32600),
        (b'{"jsonrpc":"2.0","id":7,"method":"session/new","result":{}}', 7, -32600),
        (b'{"jsonrpc":"2.0","id":7,"id":8,"method":"session/new"}', 8, -32600),
        (b'{"jsonrpc":"2.0","id":"x","method":"no/such"}', "x", -32601),
        (b'{"jsonrpc":"2.0","id":"x","method":"session/cancel","params":{"sessionId":"s"}}', "x", -32601),
        (b'{"jsonrpc":"2.0","id":"x","method":"fs/read_text_file"}', "x", -32601),
        (b'{"jsonrpc":"2.0","id":"x","method":"_vendor/do"}', "x", -32601),
        (b'{"jsonrpc":"2.0","id":"x","method":"session/new"}', "x", -32602),
        (b'{"jsonrpc":"2.0","id":"x","method":"session/new","params":[]}', "x", -32602),
    ],
)
def test_what_is_wrong_is_answered_as_json_rpc_says(line: bytes, id_: Any, code: int) -> None:
    async def test() -> None:
        async with raw_client() as raw:
            raw.say(line, NEW)
            answer = await raw.hear()
            assert (answer["id"], answer["error"]["code"]) == (id_, code), answer
            assert (await raw.hear())["id"] == 99

    run(test)


@pytest.mark.parametrize(
    "line",
    [
        b'{"jsonrpc":"2.0","method":"no/such"}',
        b'{"jsonrpc":"2.0","method":"$/progress","params":[]}',
        b'{"jsonrpc":"2.0","method":"session/cancel","params":{"sessionId":5}}',
        b'{"jsonrpc":"2.0","method":"session/new"}',
        b'{"jsonrpc":"2.0","method":"_vendor/did"}',
        b'{"jsonrpc":"2.0","id":1,"result":{}}',
        b'{"jsonrpc":"2.0","id":null,"result":{}}',
        b'{"jsonrpc":"2.0","id":[],"result":{}}',
        b'{"jsonrpc":"2.0","result":{}}',
        b'{"jsonrpc":"2.0","id":1,"result":{},"error":{}}',
        b'{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"no"}}',
        b'{"jsonrpc":"2.0","id":1,"error":5}',
        b'{"jsonrpc":"2.0","id":1,"id":1,"result":{}}',
    ],
)
def test_notifications_and_answers_are_never_answered(line: bytes) -> None:
    async def test() -> None:
        told: list[object] = []
        async with raw_client(on_event=told.append) as raw:
            raw.say(line, NEW)
            assert (await raw.hear())["id"] == 99
            assert told or b"_vendor" in line

    run(test)


def test_an_answer_carries_the_id_that_was_asked_with_where_no_binary_number_is_equal_to_it() -> None:
    async def test() -> None:
        async with raw_client() as raw:
            for sign in ("", "-"):
                line = (
                    f'{{"jsonrpc":"2.0","id":{sign}{2**53 + 1}.0,"method":"session/new","params":{json.dumps(OPEN)}}}'
                )
                raw.say(line.encode())
                answer = await raw.hear()
                assert answer["result"] == {"sessionId": "/"}
                assert str(answer["id"]) == f"{sign}{2**53 + 1}"

    run(test)


def test_problems_of_params_are_told_by_their_pointers() -> None:
    async def test() -> None:
        async with raw_client() as raw:
            raw.say(call(1, "session/new", {"cwd": 5, "mcpServers": []}))
            error = (await raw.hear())["error"]
            assert error["data"]["problems"][0]["pointer"] == "/params/cwd"
            assert error["message"].startswith("/params/cwd: ")

    run(test)


def test_answers_twice_and_to_nothing_change_nothing() -> None:
    async def test() -> None:
        told: list[object] = []
        async with raw_agent(on_event=told.append) as (raw, agent):
            first = asyncio.create_task(agent.session_new(v1.NewSessionRequest(cwd="/", mcp_servers=[])))
            second = asyncio.create_task(agent.session_new(v1.NewSessionRequest(cwd="/", mcp_servers=[])))
            one, two = (await raw.hear())["id"], (await raw.hear())["id"]
            for number in (one, one, 12345, "1", True, str(one), one):
                raw.say({"jsonrpc": "2.0", "id": number, "result": {"sessionId": "first"}})
            raw.say({"jsonrpc": "2.0", "id": one, "error": {"code": 1, "message": "no"}})
            raw.say({"jsonrpc": "2.0", "id": float(two), "result": {"sessionId": "second"}})
            assert [(await first).session_id, (await second).session_id] == ["first", "second"]
            assert len(told) == 7

    run(test)


@pytest.mark.parametrize("more", [{}, {"jsonrpc": "1.0"}, {"extra": 1}])
def test_an_answer_without_result_and_error_fails_its_request_and_is_not_answered(more: dict[str, Any]) -> None:
    async def test() -> None:
        async with raw_agent() as (raw, agent):
            asking = asyncio.create_task(agent.session_new(v1.NewSessionRequest(cwd="/", mcp_servers=[])))
            raw.say({"jsonrpc": "2.0", "id": (await raw.hear())["id"], **more})
            with pytest.raises(DecodeError, match=r"neither 'result' nor 'error'|must be \"2.0\""):
                await asking
            raw.say({"jsonrpc": "2.0", "id": 77, **more})  # nobody waits for it: what is no message is answered
            answer = await raw.hear()
            assert (answer["id"], answer["error"]["code"]) == (77, -32600)

    run(test)


class Counted:
    """A transport that counts what is read."""

    def __init__(self, end: Memory) -> None:
        self.end, self.read = end, 0

    def __getattr__(self, name: str) -> Any:
        return getattr(self.end, name)

    async def receive(self) -> bytes | None:
        found = await self.end.receive()
        self.read += 1
        return found

    async def settled(self) -> int:
        before = -1
        while before != self.read:
            before = self.read
            for _ in range(300):
                await asyncio.sleep(0)
        return before


@pytest.mark.parametrize(
    "line", [b'{"jsonrpc":"2.0","id":%d,"method":"no/such"}', b"junk %d", json.dumps(NEW).encode()]
)
def test_a_peer_that_sends_and_never_reads_is_read_no_more_and_once_it_reads_all_is_answered(line: bytes) -> None:
    async def test() -> None:
        far, near = pair(1024)
        counted: Any = Counted(near)
        async with peers.connect_client(Agent(), counted, concurrency=4, on_event=lambda what: None):
            for number in range(1000):
                far.send(line % number if b"%" in line else line.replace(b"99", b"%d" % number))
            assert 64 <= await counted.settled() < 200
            answers = [await far.receive() for _ in range(1000)]
            assert len(answers) == 1000 and counted.read == 1000
        await far.close()

    run(test)


def test_a_request_with_an_id_that_is_still_served_is_refused() -> None:
    async def test() -> None:
        ours = Agent()
        async with raw_client(ours) as raw:
            prompt = {"sessionId": "s", "prompt": [{"type": "text", "text": "wait"}]}
            raw.say(call(1, "session/prompt", prompt), call(1, "session/prompt", prompt))
            assert (await raw.hear())["error"]["code"] == -32600
            ours.go.set()
            assert (await raw.hear())["result"] == {"stopReason": "end_turn"}

    run(test)


def test_a_flood_of_notifications_is_taken_in_order_and_other_work_goes_on() -> None:
    async def test() -> None:
        client = Client()
        async with raw_agent(client) as (raw, agent):
            content = {"type": "text", "text": "x"}
            update = {"sessionId": "s", "update": {"sessionUpdate": "agent_message_chunk", "content": content}}
            ticks = 0

            async def flood() -> None:
                for _ in range(20_000):
                    raw.say({"jsonrpc": "2.0", "method": "session/update", "params": update})
                    await raw.end.drain()

            flooding = asyncio.create_task(flood())
            while not flooding.done():
                await asyncio.sleep(0)
                ticks += 1
            asked = asyncio.create_task(agent.session_new(v1.NewSessionRequest(cwd="/", mcp_servers=[])))
            raw.say({"jsonrpc": "2.0", "id": (await raw.hear())["id"], "result": {"sessionId": "s"}})
            await asked
            assert len(client.heard) == 20_000
            assert ticks > 1

    run(test)


def test_a_handler_that_fails_in_a_notification_ends_nothing() -> None:
    class Fails(Client):
        async def session_update(self, _: v1.SessionNotification, /) -> None:
            self.heard.append("x")
            if len(self.heard) == 1:
                raise asyncio.CancelledError
            raise ValueError("tide")

    async def test() -> None:
        client = Fails()
        async with raw_agent(client) as (raw, _):
            content = {"type": "text", "text": "x"}
            update = {"sessionId": "s", "update": {"sessionUpdate": "agent_message_chunk", "content": content}}
            raw.say(*[{"jsonrpc": "2.0", "method": "session/update", "params": update}] * 3)
            raw.say({"jsonrpc": "2.0", "id": 1, "method": "_x"})
            await raw.hear()
            assert len(client.heard) == 3

    run(test)


def test_a_warning_is_logged_of_a_notification_that_is_dropped(caplog: pytest.LogCaptureFixture) -> None:
    async def test() -> None:
        async with raw_agent(Client()) as (raw, _):
            update = {"sessionUpdate": "agent_message_chunk", "content": {"type": "text"}}
            raw.say({"jsonrpc": "2.0", "method": "session/update", "params": {"sessionId": "s", "update": update}})
            raw.say({"jsonrpc": "2.0", "method": "of/later"}, {"jsonrpc": "2.0", "id": 1, "method": "_x"})
            await raw.hear()

    with caplog.at_level(logging.WARNING):
        run(test)
    assert [record.getMessage() for record in caplog.records] == [
        "client: /params/update/content: the field 'text' is required"
    ]


def test_a_request_that_only_its_own_handler_cancels_has_failed(caplog: pytest.LogCaptureFixture) -> None:
    class Gives(Client):
        async def fs_read_text_file(self, _: v1.ReadTextFileRequest, /) -> v1.ReadTextFileResponse:
            inner = asyncio.ensure_future(asyncio.sleep(60))
            inner.cancel()
            await inner
            raise AssertionError("cancelled before")

    async def test() -> None:
        async with raw_agent(Gives()) as (raw, _):
            params = {"sessionId": "s", "path": "/tide"}
            raw.say({"jsonrpc": "2.0", "id": 1, "method": "fs/read_text_file", "params": params})
            assert (await raw.hear())["error"]["code"] == -32603

    run(test)
    assert "'fs/read_text_file' was cancelled from within" in caplog.text


# --- framing ---


@pytest.mark.parametrize("size", [1, 2, 3, 7, 1000])
def test_lines_are_cut_alike_however_they_come(size: int) -> None:
    stream = b'{"a":1}\r\n\n  \n{"b":2}\n' + b"x" * 100 + b"\n{}\n" + b"y" * 300 + b"\nlast"
    lines = Lines(200)
    found = [one for at in range(0, len(stream), size) for one in lines.feed(stream[at : at + size])] + lines.end()
    assert [one if isinstance(one, bytes) else str(one) for one in found] == [
        b'{"a":1}\r',
        b'{"b":2}',
        b"x" * 100,
        b"{}",
        "a line is longer than 200 bytes",
        b"last",
    ]


@pytest.mark.parametrize("size", [1, 2, 5, 1000])
def test_messages_with_headers_are_cut_alike_however_they_come(size: int) -> None:
    stream = (
        b"Content-Length: 2\r\n\r\n{}"
        b"Content-Type: x\r\ncontent-length:3\r\n\r\n[1]"
        b"Content-Length: 300\r\n\r\n" + b"y" * 300 + b"Content-Length: 0\r\n\r\nContent-Length: 2\r\n\r\n[]"
    )
    headers = Headers(200)
    found = [one for at in range(0, len(stream), size) for one in headers.feed(stream[at : at + size])] + headers.end()
    assert [one if isinstance(one, bytes) else str(one) for one in found] == [
        b"{}",
        b"[1]",
        "a message is longer than 200 bytes",
        b"",
        b"[]",
    ]
    assert headers.write(b"{}") == b"Content-Length: 2\r\n\r\n{}"


@pytest.mark.parametrize(
    "junk",
    [
        b"Content-Length: x\r\n\r\n{}",
        b"\r\n\r\n",
        b"z" * 10_000,
        b"Content-Length: 1\r\nContent-Length: 2\r\n\r\n",
        b"Content-Length: 999999999999999\r\n\r\n",
        b"Content-Length: 1073741825\r\n\r\n",
    ],
)
def test_after_a_bad_header_nothing_is_guessed(junk: bytes) -> None:
    headers = Headers()
    (lost,) = headers.feed(junk)
    assert isinstance(lost, Unreadable)
    assert lost.is_last
    assert not headers.feed(b"Content-Length: 2\r\n\r\n{}")
    assert not headers.end()


def test_a_stream_that_ends_inside_a_message_says_so() -> None:
    headers = Headers()
    assert not headers.feed(b"Content-Length: 20\r\n\r\n{}")
    (cut,) = headers.end()
    assert isinstance(cut, Unreadable)


# --- what is too large to be read ---


def large(*members: str, before: str = "", after: str = "") -> bytes:
    """An object with a member of 2,000 values, and others around it."""
    items = [
        *([before] if before else []),
        f'"result":[{",".join(["{}"] * 2000)}]',
        *members,
        *([after] if after else []),
    ]
    return f"{{{','.join(items)}}}".encode()


@pytest.mark.parametrize(
    ("line", "is_told_apart"),
    [
        (large(before='"jsonrpc":"2.0","id":1'), True),
        (large(after='"id":1,"jsonrpc":"2.0"'), True),
        (large(before='"jsonrpc" : "2.0"', after='"id": 1.0 '), True),
        (large(before='"_m":"' + "a" * 2000 + '"', after='"id":1'), True),
        (b"[" + large(before='"id":1') + b"]", False),
        (large(before='"_m":{}', after='"id":1,"_n":{}'), False),
        (large(before='"id":1', after='"id":1'), False),
        (large(before='"a":{"id":1}', after='"b":{"id":1}'), False),
        (large(after='"b":"\\",\\"id\\":1}"'), False),
        (b"[" * 5000, False),
    ],
)
def test_nobody_waits_for_an_answer_that_was_too_large_to_be_read(line: bytes, is_told_apart: bool) -> None:
    async def test() -> None:
        async with raw_agent(values=1000) as (raw, agent):
            asking = asyncio.create_task(agent.session_new(v1.NewSessionRequest(cwd="/", mcp_servers=[])))
            assert (await raw.hear())["id"] == 1
            raw.say(line)
            with pytest.raises(DecodeError if is_told_apart else ConnectionClosed, match="more than 1000 values"):
                await asking
            assert agent.connection.is_ended is not is_told_apart

    run(test)


def test_an_answer_that_was_too_large_and_nobody_waits_for_changes_nothing() -> None:
    async def test() -> None:
        async with raw_agent(values=1000) as (raw, agent):
            raw.say(large(before='"id":1'), b"[" * 5000)
            assert [(await raw.hear())["error"]["code"] for _ in range(2)] == [-32600, -32600]
            asking = asyncio.create_task(agent.session_new(v1.NewSessionRequest(cwd="/", mcp_servers=[])))
            number = (await raw.hear())["id"]
            raw.say(large(before='"id":7'), {"jsonrpc": "2.0", "id": number, "result": {"sessionId": "s"}})
            assert (await asking).session_id == "s"

    run(test)


@pytest.mark.parametrize(("written", "id_"), [('"x"', "x"), (f"{2**53 + 1}.0", 2**53 + 1)])
def test_a_request_that_is_too_large_is_answered_by_its_id_while_others_wait(written: str, id_: str | int) -> None:
    async def test() -> None:
        async with raw_agent(values=1000) as (raw, agent):
            asking = asyncio.create_task(agent.session_new(v1.NewSessionRequest(cwd="/", mcp_servers=[])))
            await raw.hear()
            raw.say(large(before=f'"id":{written}', after='"method":"fs/read_text_file"'))
            assert (await raw.hear())["id"] == id_
            raw.say(large(before='"method":"session/update"'))
            assert (await raw.hear())["id"] is None
            raw.say({"jsonrpc": "2.0", "id": 1, "result": {"sessionId": "s"}})
            await asking

    run(test)


@pytest.mark.parametrize("framed", [Lines(3000), Headers(3000)], ids=["lines", "headers"])
@pytest.mark.parametrize("size", [1, 7, 1024, 10_000])
def test_of_a_message_that_is_too_long_the_ends_are_known(framed: Lines | Headers, size: int) -> None:
    long = large(before='"jsonrpc":"2.0","id":7', after='"_last":"b"')
    short = b'{"jsonrpc":"2.0","id":7,"_m":' + b" " * 2975 + b',"_last":"b"}'
    stream = b"".join(framed.write(each) for each in (long, b"{}", short, long))
    found = [one for at in range(0, len(stream), size) for one in framed.feed(stream[at : at + size])]
    assert found.pop(1) == b"{}"
    for each in found:
        assert isinstance(each, Unreadable)
        assert each.ends is not None
        assert each.ends.read_members() == {"jsonrpc": "2.0", "id": 7, "_last": "b"}


@pytest.mark.parametrize("length", range(1000, 1060))
def test_members_are_known_wherever_the_ends_meet(length: int) -> None:
    text = b'{"id":7,"_m":"' + b"a" * length + b'","x":[],"method":"m"}'
    assert PartialMessage.of(text).read_members() == {"id": 7, "method": "m"}
