"""The rows of one method: whole messages, made from the rows of its params and result, and errors that only an envelope can have."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, Final

from acpgen import ir
from acpgen.meaning import envelopes
from acpgen.meaning.samples import EXTENSION, UNKNOWN_FIELD, UNKNOWN_VALUE, Path
from acpgen.targets.vectors.definition_rows import Maker
from acpgen.targets.vectors.rows import (
    INVALID_REQUEST,
    METHOD_NOT_FOUND,
    PARSE_ERROR,
    Refusal,
    Row,
    RowSubject,
    refuse,
)

_EMPTY: Final[dict[str, Any]] = {"object": {}, "array": [], "null": None}
"""The values that stand for omitted params."""

_NOT_JSON: Final = {
    "empty": "",
    "truncated": '{"jsonrpc":"2.0","id":1,"method":"initialize"',
    "two values": "{} {}",
    "a comment": '{"jsonrpc":"2.0"} // end',
    "single quotes": "{'jsonrpc':'2.0'}",
    "NaN": '{"jsonrpc":"2.0","id":NaN,"method":"initialize"}',
    "a number beyond all bounds": '{"jsonrpc":"2.0","id":1e999,"method":"initialize"}',
    "half of a surrogate pair": '{"jsonrpc":"2.0","id":"\\ud800","method":"initialize"}',
}
"""Lines that any JSON parser must reject."""

_IDS: Final[dict[str, Any]] = {
    "a whole number": 7,
    "a whole number with a fraction": 7.0,
    "zero": 0,
    "below zero": -1,
    "empty": "",
}
_NO_IDS: Final[tuple[Any, ...]] = (1.5, True, {}, [])


@dataclass(frozen=True, slots=True)
class Messages:
    """Generates the rows of whole messages of one protocol."""

    protocol: ir.Protocol
    maker: Maker

    # --- methods ---

    def cover_method(self, method: ir.Method) -> Iterator[tuple[RowSubject, Iterator[Row]]]:
        """Yield the rows of a method's messages, by kind and by the peer that sends them."""
        for sender in self.list_senders(method):
            subject = RowSubject(self.protocol.name, None, method.name, method.kind, sender, method.unstable)
            yield subject, self._cover_calls(method)
            if method.kind == "request":
                answering = {"protocol": sender, "both": self._find_other_side(sender)}.get(method.side, method.side)
                yield replace(subject, kind="result", sender=answering), self._cover_answers(method)

    def _cover_calls(self, method: ir.Method) -> Iterator[Row]:
        head: dict[str, Any] = {**envelopes.call(self.protocol.envelope, method, id_="request-1")}
        name, empty = method.params or "", _EMPTY.get(method.omitted, {})
        if method.params is None:
            yield Row("valid-minimal", head)
        yield from self._wrap(method.params, head, "params")
        if method.params is None or method.omitted == "nothing" or self.maker.judge.is_valid(name, empty):
            yield Row("omitted", head, "omitted /params")
            yield Row("null", {**head, "params": None}, "null /params")
        else:
            refusal = self.maker.judge.find_only_refusal(name, empty)
            if refusal is not None:
                yield refuse(replace(refusal, path=("params", *refusal.path)), head, " without params")

    def _cover_answers(self, method: ir.Method) -> Iterator[Row]:
        head = self._make_answer_head()
        if method.result is None:
            yield Row("valid-minimal", {**head, "result": {}})
            return
        yield from self._wrap(method.result, head, "result")
        refusal = self.maker.judge.find_only_refusal(method.result, None)
        if refusal is not None:
            row = refuse(refusal, None, " result").wrap(head, "result")
            yield replace(row, label="null", name="null result", decodes=True) if method.null_result else row

    def _wrap(self, name: str | None, head: dict[str, Any], key: str) -> Iterator[Row]:
        """Yield the rows of a definition as a part of messages, and a valid one with an unknown field beside it."""
        rows = () if name is None else self.maker.list_rows(name)
        yield from (row.wrap(head, key) for row in rows)
        for row in rows:
            if row.label == "valid-minimal":
                message = {**head, key: row.message, UNKNOWN_FIELD: UNKNOWN_VALUE}
                yield Row("unknown-field", message, "unknown-field of the envelope")
                break

    # --- envelopes ---

    def cover_envelopes(self) -> Iterator[tuple[RowSubject, Iterator[Row]]]:
        """Yield the rows that are the same for all methods, with the first request that is stable and handled by one side."""
        requests = (
            method for method in self.protocol.methods if method.kind == "request" and method.side not in ir.EITHER
        )
        method = next((request for request in requests if not request.unstable), None)
        if method is None:
            return
        sender = self.list_senders(method)[0]
        subject = RowSubject(self.protocol.name, None, method.name, "request", sender)
        answering = replace(subject, sender=self._find_other_side(sender))
        yield replace(subject, kind="text"), _list_texts()
        call = next(
            (row.message for row in self._cover_calls(method) if row.label in ("valid-minimal", "omitted")), None
        )
        if call is not None:
            yield replace(subject, kind="envelope"), self._break_calls(call, method)
            yield replace(subject, kind="batch"), self._cover_batches(call)
        yield replace(answering, kind="error"), self._cover_errors()
        answer = next((row.message for row in self._cover_answers(method) if row.label == "valid-minimal"), None)
        if answer is not None:
            yield replace(answering, kind="envelope"), self._break_answers(answer)

    def _break_calls(self, call: dict[str, Any], method: ir.Method) -> Iterator[Row]:
        if self.protocol.envelope == "json-rpc":
            yield _break("without jsonrpc", _without(call, "jsonrpc"))
            yield _break("jsonrpc of another version", {**call, "jsonrpc": "1.0"}, "jsonrpc")
            yield _break("jsonrpc that is a number", {**call, "jsonrpc": 2.0}, "jsonrpc")
        for id_ in _NO_IDS:
            yield self._break_id(f"id {json.dumps(id_)}", {**call, "id": id_})
        for name, id_ in _IDS.items():
            yield Row("valid-full", {**call, "id": id_}, f"valid id {name}")
        null_id = {**call, "id": None}
        is_null_valid = "RequestId" in self.protocol.definitions and self.maker.judge.is_valid("RequestId", None)
        yield Row("null", null_id, "null /id") if is_null_valid else self._break_id("id null", null_id)
        yield _break("method that is not a string", {**call, "method": 1}, "method")
        yield _break("neither method nor answer", _without(call, "method", "params"))
        yield _break("call with a result", {**call, "result": {}})
        yield _break("call with an error", {**call, "error": {"code": -32603, "message": "text"}})
        for value in (7, "text", None, True):
            yield _break(f"the message {json.dumps(value)}", value)
        yield _miss_method("unknown method", {**call, "method": "future/method"})
        yield _miss_method("request sent as a notification", _without(call, "id"))
        names = {candidate.name for candidate in self.protocol.methods if candidate.side in (method.side, "both")}
        for candidate in self.protocol.methods:
            is_of_sender = candidate.kind == "request" and candidate.side not in (*ir.EITHER, method.side)
            if is_of_sender and candidate.name not in names:
                yield _miss_method("method that the sender itself handles", {**call, "method": candidate.name})
                break
        extension = {**call, "method": f"{EXTENSION}/ask", "params": UNKNOWN_VALUE}
        yield Row("extension", extension, "extension request")
        yield Row("extension", _without(extension, "id"), "extension notification")

    def _break_answers(self, answer: dict[str, Any]) -> Iterator[Row]:
        yield _break("answer with result and error", {**answer, "error": {"code": -32603, "message": "text"}})
        yield _break("answer without id", _without(answer, "id"))
        for id_ in _NO_IDS:
            yield self._break_id(f"answer with id {json.dumps(id_)}", {**answer, "id": id_})

    def _break_id(self, name: str, message: dict[str, Any]) -> Row:
        """A message with an invalid id; it refers to the schema's definition of ids if there is one."""
        has_ids = "RequestId" in self.protocol.definitions
        refusals = self.maker.judge.list_refusals("RequestId", message["id"]) if has_ids else ()
        return _break(name, message, "id", schema=refusals[0].schema if refusals else "")

    def _cover_batches(self, call: dict[str, Any]) -> Iterator[Row]:
        if not self.protocol.batch:
            yield _break("an array of messages", [call])
            return
        yield _break("an empty batch", [])
        if all(method.batch is None for method in self.protocol.methods if method.name == call["method"]):
            yield Row("valid-full", [call, {**call, "id": "request-2"}], "valid batch")
            yield _break("an invalid entry of a batch", [call, 7], 1)

    def _cover_errors(self) -> Iterator[Row]:
        head = self._make_answer_head()
        if isinstance(self.protocol.definitions.get("Error"), ir.Record):
            for row in self.maker.list_rows("Error"):
                refusal = None if row.refusal is None else replace(row.refusal, code=INVALID_REQUEST)
                yield replace(row, refusal=refusal).wrap(head, "error")
        else:
            yield _break("error that is not an object", {**head, "error": "text"}, "error")
        yield Row("null", {**head, "id": None, "error": {"code": -32603, "message": "text"}}, "null /id")

    # --- peers ---

    def list_senders(self, method: ir.Method) -> tuple[str, ...]:
        """The peers that send a method."""
        peers = self.protocol.sides or ("client", "server")
        if method.side in ir.EITHER:
            return peers
        senders = tuple(side for side in peers if side != method.side)
        return senders[:1] if "proxy" in peers else senders

    def _find_other_side(self, side: str) -> str:
        return next(peer for peer in self.protocol.sides or ("client", "server") if peer != side)

    def _make_answer_head(self) -> dict[str, Any]:
        return {**envelopes.answer(self.protocol.envelope, None, envelopes.ABSENT, id_="request-1")}


def _list_texts() -> Iterator[Row]:
    """Yield the lines that are not JSON, and those with a key that occurs twice."""
    for name, text in _NOT_JSON.items():
        yield refuse(Refusal((), "json", code=PARSE_ERROR), None, f" {name}", text)
    head, ask = '"jsonrpc":"2.0","id":"request-1"', json.dumps(f"{EXTENSION}/ask")
    duplicates: dict[str, tuple[Path, str]] = {
        "a key of the message": (("method",), f'{{{head},"method":{ask},"method":{ask}}}'),
        "a key and the same one escaped": (("method",), f'{{{head},"m\\u0065thod":{ask},"method":{ask}}}'),
        "a key within params": (("params", "a"), f'{{{head},"method":{ask},"params":{{"a":1,"a":1}}}}'),
        "a key within an array": (
            ("params", "a", 1, "b"),
            f'{{{head},"method":{ask},"params":{{"a":[0,{{"b":1,"b":2}}]}}}}',
        ),
    }
    for name, (path, text) in duplicates.items():
        yield refuse(Refusal(path, "duplicate-key", code=INVALID_REQUEST), None, f" {name}", text)


def _without(message: dict[str, Any], *keys: str) -> dict[str, Any]:
    return {key: value for key, value in message.items() if key not in keys}


def _break(name: str, message: Any, *path: str | int, schema: str = "") -> Row:
    """The row of a message that breaks its envelope."""
    return refuse(Refusal(path, "envelope", schema, INVALID_REQUEST), message, f" {name}")


def _miss_method(name: str, message: Any) -> Row:
    """The row of a message whose method the receiver does not have."""
    return refuse(Refusal(("method",), "method", code=METHOD_NOT_FOUND), message, f" {name}")
