"""The rows of one method: whole messages, made from the rows of its params and result, and errors that only an envelope can have."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, Final

from acpgen import ir
from acpgen.meaning import envelopes
from acpgen.meaning.samples import EXTENSION, UNKNOWN_FIELD, UNKNOWN_VALUE
from acpgen.targets.vectors.definition_rows import Maker
from acpgen.targets.vectors.rows import (
    INVALID_REQUEST,
    METHOD_NOT_FOUND,
    PARSE_ERROR,
    Refusal,
    Row,
    RowSubject,
)

_EITHER: Final = ("both", "protocol")
"""The values of a method's side that mean either side."""

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

    def of_method(self, method: ir.Method) -> Iterator[tuple[RowSubject, tuple[Row, ...]]]:
        """Yield the rows of a method's messages, by kind and by the peer that sends them."""
        for sender in self.senders(method):
            subject = RowSubject(self.protocol.name, None, method.name, method.kind, sender, method.unstable)
            yield subject, tuple(self._calls(method))
            if method.kind == "request":
                yield (
                    replace(subject, kind="result", sender=self._answering(method, sender)),
                    tuple(self._answers(method)),
                )

    def _calls(self, method: ir.Method) -> Iterator[Row]:
        head: dict[str, Any] = {**envelopes.call(self.protocol.envelope, method, id_="request-1")}
        params_rows = () if method.params is None else self.maker.rows(method.params)
        for row in params_rows:
            yield row.inside(head, "params")
        small = next((row for row in params_rows if row.label == "valid-minimal"), None)
        if small is None and method.params is None:
            yield Row("valid-minimal", "valid-minimal", head)
        elif small is not None:
            yield _find_unknown_method({**head, "params": small.message})
        empty = _EMPTY.get(method.omitted, {})
        is_left_out = method.params is None or method.omitted == "nothing"
        if is_left_out or self.maker.judge.is_valid(method.params or "", empty):
            yield Row("omitted", "omitted /params", head)
            yield Row("null", "null /params", {**head, "params": None})
        else:
            one = self.maker.judge.only_break(method.params or "", empty)
            if one is not None:
                label = f"invalid:{one.rule}"
                refusal = Refusal(one.rule, ("params", *one.path), one.schema)
                yield Row(label, f"{label} without params", head, valid=False, decodes=False, refusal=refusal)

    def _answers(self, method: ir.Method) -> Iterator[Row]:
        head = self._answer_head()
        if method.result is None:
            yield Row("valid-minimal", "valid-minimal", {**head, "result": {}})
            return
        result_rows = self.maker.rows(method.result)
        for row in result_rows:
            yield row.inside(head, "result")
        small = next((row for row in result_rows if row.label == "valid-minimal"), None)
        if small is not None:
            yield _find_unknown_method({**head, "result": small.message})
        one = self.maker.judge.only_break(method.result, None)
        if one is not None:
            refusal = Refusal(one.rule, ("result", *one.path), one.schema)
            label = "null" if method.null_result else f"invalid:{one.rule}"
            yield Row(
                label,
                f"{label} result",
                {**head, "result": None},
                valid=False,
                decodes=method.null_result,
                refusal=refusal,
            )

    # --- envelopes ---

    def envelopes(self) -> Iterator[tuple[RowSubject, tuple[Row, ...]]]:
        """Yield the rows that are the same for all methods, with the first request that is stable and handled by one side."""
        requests = (one for one in self.protocol.methods if one.kind == "request" and one.side not in _EITHER)
        method = next((one for one in requests if not one.unstable), None)
        if method is None:
            return
        sender = self.senders(method)[0]
        subject = RowSubject(self.protocol.name, None, method.name, "request", sender)
        yield replace(subject, kind="text"), (*self._texts(), *_make_duplicates())
        call = next((row.message for row in self._calls(method) if row.label in ("valid-minimal", "omitted")), None)
        if call is not None:
            yield replace(subject, kind="envelope"), tuple(self._broken_calls(call, method))
            yield replace(subject, kind="batch"), tuple(self._batches(call))
        answering = replace(subject, sender=self._other(sender))
        yield replace(answering, kind="error"), tuple(self._errors())
        answer = next((row.message for row in self._answers(method) if row.label == "valid-minimal"), None)
        if answer is not None:
            yield replace(answering, kind="envelope"), tuple(self._broken_answers(answer))

    def _texts(self) -> Iterator[Row]:
        refusal = Refusal("json", (), "", PARSE_ERROR)
        for name, text in _NOT_JSON.items():
            yield Row(
                "invalid:json", f"invalid:json {name}", None, valid=False, decodes=False, refusal=refusal, text=text
            )

    def _broken_calls(self, call: dict[str, Any], method: ir.Method) -> Iterator[Row]:
        if self.protocol.envelope == "json-rpc":
            without = {key: value for key, value in call.items() if key != "jsonrpc"}
            yield _break_text("without jsonrpc", (), without)
            yield _break_text("jsonrpc of another version", ("jsonrpc",), {**call, "jsonrpc": "1.0"})
            yield _break_text("jsonrpc that is a number", ("jsonrpc",), {**call, "jsonrpc": 2.0})
        for id_ in _NO_IDS:
            yield self._broken_id(f"id {json.dumps(id_)}", {**call, "id": id_})
        for name, id_ in _IDS.items():
            yield Row("valid-full", f"valid id {name}", {**call, "id": id_})
        if self._null_id():
            yield Row("null", "null /id", {**call, "id": None})
        else:
            yield self._broken_id("id null", {**call, "id": None})
        yield _break_text("method that is not a string", ("method",), {**call, "method": 1})
        yield _break_text(
            "neither method nor answer",
            (),
            {key: value for key, value in call.items() if key not in ("method", "params")},
        )
        yield _break_text("call with a result", (), {**call, "result": {}})
        yield _break_text("call with an error", (), {**call, "error": {"code": -32603, "message": "text"}})
        for value in (7, "text", None, True):
            yield _break_text(f"the message {json.dumps(value)}", (), value)
        unknown = {**call, "method": "future/method"}
        yield _break_text("unknown method", ("method",), unknown, METHOD_NOT_FOUND)
        yield _break_text(
            "request sent as a notification",
            ("method",),
            {key: v for key, v in call.items() if key != "id"},
            METHOD_NOT_FOUND,
        )
        other = self._wrong_way(method)
        if other is not None:
            yield _break_text(
                "method that the sender itself handles", ("method",), {**call, "method": other}, METHOD_NOT_FOUND
            )
        extension = {**call, "method": f"{EXTENSION}/ask", "params": UNKNOWN_VALUE}
        yield Row("extension", "extension request", extension)
        yield Row(
            "extension", "extension notification", {key: value for key, value in extension.items() if key != "id"}
        )

    def _broken_answers(self, answer: dict[str, Any]) -> Iterator[Row]:
        yield _break_text("answer with result and error", (), {**answer, "error": {"code": -32603, "message": "text"}})
        yield _break_text("answer without id", (), {key: value for key, value in answer.items() if key != "id"})
        for id_ in _NO_IDS:
            yield self._broken_id(f"answer with id {json.dumps(id_)}", {**answer, "id": id_})

    def _batches(self, call: dict[str, Any]) -> Iterator[Row]:
        if not self.protocol.batch:
            yield _break_text("an array of messages", (), [call])
            return
        yield _break_text("an empty batch", (), [])
        if all(method.batch is None for method in self.protocol.methods if method.name == call["method"]):
            yield Row("valid-full", "valid batch", [call, {**call, "id": "request-2"}])
            yield _break_text("an invalid entry of a batch", (1,), [call, 7])

    def _errors(self) -> Iterator[Row]:
        head = self._answer_head()
        if isinstance(self.protocol.definitions.get("Error"), ir.Record):
            for row in self.maker.rows("Error"):
                error_row = row.inside(head, "error")
                refusal = None if error_row.refusal is None else replace(error_row.refusal, code=INVALID_REQUEST)
                yield replace(error_row, refusal=refusal)
        else:
            yield _break_text("error that is not an object", ("error",), {**head, "error": "text"})
        yield Row("null", "null /id", {**head, "id": None, "error": {"code": -32603, "message": "text"}})

    # --- peers ---

    def senders(self, method: ir.Method) -> tuple[str, ...]:
        """The peers that send a method."""
        peers = self.protocol.sides or ("client", "server")
        if method.side in _EITHER:
            return peers
        others = tuple(side for side in peers if side != method.side)
        return others[:1] if "proxy" in peers else others

    def _answering(self, method: ir.Method, sender: str) -> str:
        if method.side == "protocol":
            return sender
        return self._other(sender) if method.side == "both" else method.side

    def _other(self, side: str) -> str:
        return next(one for one in self.protocol.sides or ("client", "server") if one != side)

    def _answer_head(self) -> dict[str, Any]:
        return {**envelopes.answer(self.protocol.envelope, None, envelopes.ABSENT, id_="request-1")}

    def _broken_id(self, name: str, message: dict[str, Any]) -> Row:
        """A message with an invalid id; it refers to the schema's definition of ids if there is one."""
        row = _break_text(name, ("id",), message)
        breaks = self.maker.judge.breaks("RequestId", message["id"]) if "RequestId" in self.protocol.definitions else ()
        if row.refusal is None or not breaks:
            return row
        return replace(row, refusal=replace(row.refusal, schema=breaks[0].schema))

    def _null_id(self) -> bool:
        return "RequestId" in self.protocol.definitions and self.maker.judge.is_valid("RequestId", None)

    def _wrong_way(self, method: ir.Method) -> str | None:
        """A request that the sender of `method` handles itself and does not send, if any."""
        names = {one.name for one in self.protocol.methods if one.side in (method.side, "both")}
        candidates = [
            one.name
            for one in self.protocol.methods
            if one.kind == "request" and one.side not in _EITHER and one.side != method.side and one.name not in names
        ]
        return candidates[0] if candidates else None


def _find_unknown_method(message: dict[str, Any]) -> Row:
    return Row("unknown-field", "unknown-field of the envelope", {**message, UNKNOWN_FIELD: UNKNOWN_VALUE})


def _make_duplicates() -> Iterator[Row]:
    head, ask = '"jsonrpc":"2.0","id":"request-1"', json.dumps(f"{EXTENSION}/ask")
    texts: dict[str, tuple[tuple[str | int, ...], str]] = {
        "a key of the message": (("method",), f'{{{head},"method":{ask},"method":{ask}}}'),
        "a key and the same one escaped": (("method",), f'{{{head},"m\\u0065thod":{ask},"method":{ask}}}'),
        "a key within params": (("params", "a"), f'{{{head},"method":{ask},"params":{{"a":1,"a":1}}}}'),
        "a key within an array": (
            ("params", "a", 1, "b"),
            f'{{{head},"method":{ask},"params":{{"a":[0,{{"b":1,"b":2}}]}}}}',
        ),
    }
    for name, (path, text) in texts.items():
        refusal = Refusal("duplicate-key", path, "", INVALID_REQUEST)
        label = f"invalid:{refusal.rule}"
        yield Row(label, f"{label} {name}", None, valid=False, decodes=False, refusal=refusal, text=text)


def _break_text(name: str, path: tuple[str | int, ...], message: Any, code: int = INVALID_REQUEST) -> Row:
    rule = "method" if code == METHOD_NOT_FOUND else "envelope"
    label = f"invalid:{rule}"
    return Row(label, f"{label} {name}", message, valid=False, decodes=False, refusal=Refusal(rule, path, "", code))
