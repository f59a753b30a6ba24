"""The strict judgement: exactly the JSON Schema, yes or no first, then the problems up to a limit. For what one
sends, for tests and for the monitor.

A message of a known method is judged by one schema of it all; what that refuses, or says nothing of, step by step: the envelope, then the
params or the result against their definition. The engine is jsonschema-rs. It is imported, and the schema read, when the first message is
judged.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain
from math import isfinite
from typing import Any, Final

from .contract import Contract, Method, Path, contract_of
from .engine import Engine
from .errors import (
    INVALID_PARAMS,
    INVALID_REQUEST,
    LIMIT,
    METHOD_NOT_FOUND,
    PARSE_ERROR,
    DecodeError,
    Problem,
    more_than,
    parted,
    shown,
    told,
)
from .explain import did_you_mean, near_field
from .homes import Home, home_of
from .json_types import is_array, is_object
from .parse import VALUES, TooManyValues, copied, is_plain, parse_with_duplicates
from .pointers import json_pointer, reference


@dataclass(frozen=True, slots=True)
class Violation(Problem):
    """One thing that the schema, or JSON-RPC, forbids.

    `code` is the JSON-RPC error code that fits. `rule` is the keyword of the schema that refuses (`required`, `type`, `pattern`, …;
    `tag` for a union discriminated by a tag), or `json`, `duplicate-key`, `envelope`, `method`, `size`: it holds too many values to be
    judged, or `more`: there are problems beyond the limit. `missing` is the field that an object lacks, where that is what is wrong.
    """

    code: int
    rule: str
    missing: str = ""


class Strict:
    """Judges the messages of one protocol version.

    `home` has the schema, which is read when the first message is judged. The params and results of `methods` are its definitions by name,
    or its types.
    """

    def __init__(self, methods: Iterable[Method[Any, Any]], home: Home) -> None:
        self.home: Final = home
        self._methods: Final = tuple(methods)
        self._engine: Final = Engine(lambda: home.schema, lambda: home.patterns)
        self._whole: dict[tuple[str, str, bool, bool], Path | None] = {}

    @classmethod
    def of(cls, module: str, methods: Mapping[str, Method[Any, Any]]) -> Strict:
        """The judge of the protocol that a generated module belongs to."""
        return cls(methods.values(), home_of(module))

    @cached_property
    def contract(self) -> Contract:
        """The protocol as data: its methods by definition, and what depends on capabilities."""
        return contract_of(self.home.protocol, map(self._named, self._methods))

    def _named(self, row: Method[Any, Any]) -> Method[Any, Any]:
        return replace(row, params=self._definition(row.params), result=self._definition(row.result))

    def _definition(self, type_: Any) -> str | None:
        return None if type_ is None else self.home.name_of(type_)

    @cached_property
    def _routes(self) -> Mapping[tuple[str, bool], Method[Any, Any]]:
        return {(row.name, row.kind == "request"): row for row in self.contract.methods}

    # --- the public face ---

    def validate(
        self,
        message: Any,
        *,
        sender: str,
        method: str | None = None,
        limit: int | None = LIMIT,
        values: int = VALUES,
    ) -> tuple[Violation, ...]:
        """What is wrong with a message that `sender` sent, as UTF-8 text or parsed JSON; nothing, if all is well.

        If there are more problems than `limit`, a last one with the rule `more` says so, and they are not looked for; `None` is no limit.
        The result in a response is judged where `method` names its request; without, only the envelope is. A message that holds more
        `values` than these is not judged, and the only problem, with the rule `size`, says so. Raises `ValueError` for a sender that the
        protocol does not have.
        """
        if self.contract.sides and sender not in self.contract.sides:
            raise ValueError(f"the sender is one of {self.contract.sides}, not {sender!r}")
        value, problems = self.read(message, values=values)
        if _is_unreadable(problems):
            return problems
        return self._verdict(problems, value, sender, method, None, limit)

    def validate_as(
        self, type_: Any, value: Any, *, limit: int | None = LIMIT, values: int = VALUES
    ) -> tuple[Violation, ...]:
        """What is wrong with parsed JSON as an instance of one definition, by its name or its type, up to limits as in `validate`.

        Raises `KeyError` if there is no such definition.
        """
        definition = self.home.name_of(type_)
        if definition is None:
            raise KeyError(type_)
        instance, problems = _read_value(value, values)
        if _is_unreadable(problems):
            return problems
        return _first(chain(problems, self._against(definition, instance, (), INVALID_PARAMS)), limit)

    def read(self, message: Any, *, values: int = VALUES) -> tuple[Any, tuple[Violation, ...]]:
        """The JSON value of a text, or a copy of a value that is parsed already; with the problem that it is not JSON, or too large.

        Of keys that an object gives twice the last counts, and each is a problem.
        """
        if not isinstance(message, bytes | bytearray | str):
            return _read_value(message, values)
        try:
            value, duplicates = parse_with_duplicates(message, values=values)
        except TooManyValues as error:
            return None, (_too_large(error),)
        except DecodeError as error:
            (problem,) = error.problems
            return None, (Violation(problem.pointer, "", problem.sentence, error.code, "json"),)
        return value, tuple(_duplicate(problem) for problem in duplicates)

    def judge(
        self,
        value: Any,
        *,
        sender: str,
        method: str | None = None,
        pending: Callable[[Any], str | None] | None = None,
        limit: int | None = LIMIT,
    ) -> tuple[Violation, ...]:
        """What `validate` says, of a value that `read` gave. `pending` finds the method of a response's request by its id."""
        problems: tuple[Violation, ...] = ()
        if not is_plain(value):
            value, problems = self.read(value)
        return problems if _is_unreadable(problems) else self._verdict(problems, value, sender, method, pending, limit)

    def _verdict(
        self,
        problems: tuple[Violation, ...],
        value: Any,
        sender: str,
        method: str | None,
        pending: Callable[[Any], str | None] | None,
        limit: int | None,
    ) -> tuple[Violation, ...]:
        if not problems and value.__class__ is dict and self._is_right(value, sender, method):
            return ()
        return _first(chain(problems, self._judged(value, sender, method, pending)), limit)

    def route(self, method: object, *, is_request: bool) -> Method[Any, Any] | None:
        """The row of a method, if the protocol has it in this form."""
        return self._routes.get((method, is_request)) if isinstance(method, str) else None

    @property
    def schema(self) -> Mapping[str, Any]:
        """The bundled JSON Schema."""
        return self.home.schema

    # --- envelopes ---

    def _is_right(self, value: dict[str, Any], sender: str, method: str | None) -> bool:
        """Whether a schema of the whole message accepts it; `False` says nothing."""
        is_call, has_id = "method" in value, "id" in value
        name = value["method"] if is_call else method
        row = self.route(name, is_request=has_id or not is_call)
        if row is None or (is_call and value.get("params") is None):  # which may be read as something else
            return False
        key = sender, row.name, has_id, is_call
        if key not in self._whole:
            whole = self._message_schema(row, sender, has_id=has_id, is_call=is_call)
            self._whole[key] = None if whole is None else self._engine.add(" ".join(map(str, key)), whole)
        place = self._whole[key]
        return place is not None and self._engine.is_valid(place, value)

    def _message_schema(
        self, row: Method[Any, Any], sender: str, *, has_id: bool, is_call: bool
    ) -> Mapping[str, Any] | None:
        """The schema of a call that `sender` sends, or of the result of one; `None` where more than a schema is needed to judge it."""
        definition = row.params if is_call else row.result
        if definition is None or (row.side == sender if is_call else row.side not in (sender, "both", "protocol")):
            return None
        member, other = ("params", "result") if is_call else ("result", "method")
        known: dict[str, Any] = {member: {"$ref": reference(("$defs", str(definition)))}, "error": False, other: False}
        required = [member]
        if self.contract.envelope == "json-rpc":
            known["jsonrpc"] = {"const": "2.0"}
            required.append("jsonrpc")
        if has_id or not is_call:
            has_definition = "RequestId" in self.home.definitions
            known["id"] = {"$ref": "#/$defs/RequestId"} if has_definition else {"type": ["integer", "string"]}
            required.append("id")
        return {"type": "object", "properties": known, "required": required}

    def _judged(
        self, value: Any, sender: str, method: str | None, pending: Callable[[Any], str | None] | None
    ) -> Iterator[Violation]:
        if is_array(value) and self.contract.batch:
            return self._batch(value, sender, method, pending)
        return self._message(value, (), sender, method, pending)

    def _batch(
        self, batch: list[Any], sender: str, method: str | None, pending: Callable[[Any], str | None] | None
    ) -> Iterator[Violation]:
        if not batch:
            yield wrong("a batch must hold at least one message")
        answers = [is_object(item) and "method" not in item for item in batch]
        for index, item in enumerate(batch):
            yield from self._message(item, (index,), sender, method, pending)
            if answers[index] != answers[0]:
                yield wrong("a batch holds either calls or answers, not both", (index,))

    def _message(
        self, value: Any, at: Path, sender: str, method: str | None, pending: Callable[[Any], str | None] | None
    ) -> Iterator[Violation]:
        if not is_object(value):
            yield wrong(f"a JSON-RPC message is an object, not {told(value)}", at)
            return
        if self.contract.envelope == "json-rpc" and value.get("jsonrpc") != "2.0":
            stands = f", not {told(value['jsonrpc'])}" if "jsonrpc" in value else ""
            yield wrong(f"the field 'jsonrpc' must be \"2.0\"{stands}", (*at, "jsonrpc") if stands else at)
        name = value.get("method")
        if "method" in value and not isinstance(name, str):
            yield wrong(f"the method must be a string, not {told(name)}", (*at, "method"))
        elif isinstance(name, str):
            yield from self._call(value, name, at, sender)
        elif "result" in value or "error" in value:
            if method is None and pending is not None and isinstance(value.get("id"), str | int | float):
                method = pending(value["id"])
            yield from self._answer(value, at, sender, method)
        else:
            yield wrong(f"the message has no 'method', and neither 'result' nor 'error'{_near('method', value)}", at)

    def _call(self, value: dict[str, Any], name: str, at: Path, sender: str) -> Iterator[Violation]:
        is_request = "id" in value
        if is_request:
            yield from self._id(value["id"], at)
        if "result" in value or "error" in value:
            yield wrong("a message with 'method' holds neither 'result' nor 'error'", at)
        route = self._routes.get((name, is_request))
        if route is None or route.side == sender:
            if route is not None or not name.startswith("_"):
                yield self._unknown(name, is_request, sender, at)
                return
            route = None
        params = value.get("params")
        definition: Any = route and route.params
        if route is None or definition is None:
            if self.contract.envelope == "json-rpc" and not (params is None or is_array(params) or is_object(params)):
                yield wrong(f"the params must be an object or an array, not {told(params)}", (*at, "params"))
        else:
            if params is None and route.omitted == "nothing":
                return
            params = route.empty() if params is None else params
            yield from self._against(definition, params, (*at, "params"), INVALID_PARAMS)

    def _answer(self, value: dict[str, Any], at: Path, sender: str, method: str | None) -> Iterator[Violation]:
        if "result" in value and "error" in value:
            yield wrong("a response holds either 'result' or 'error', not both", at)
        if "id" not in value:
            yield wrong("a response must carry the request's 'id'", at)
        elif not (value["id"] is None and "error" in value):
            yield from self._id(value["id"], at)
        if "error" in value:
            yield from self._error(value["error"], (*at, "error"))
        if "result" not in value or method is None:
            return
        route = self._routes.get((method, True))
        definition: Any = route and route.result
        if route is None:
            if not method.startswith("_"):
                yield self._unknown(method, True, sender, at)
        elif route.side not in (sender, "both", "protocol"):
            yield wrong(f"{method!r} is answered by the {route.side}, not by the {sender}", at)
        elif definition is not None:
            yield from self._against(definition, value["result"], (*at, "result"), INVALID_PARAMS)

    def _id(self, value: Any, at: Path) -> Iterator[Violation]:
        if "RequestId" in self.home.definitions:
            kind: Any = {} if is_object(value) else [] if is_array(value) else value  # whatever it holds, it is no id
            for violation in self._against("RequestId", kind, (*at, "id"), INVALID_REQUEST):
                yield wrong(f"an id must be {self._ids()}, not {told(value)}", (*at, "id"), violation.schema)
                return
        elif isinstance(value, bool) or not (
            isinstance(value, str | int) or (isinstance(value, float) and value.is_integer())
        ):
            yield wrong(f"an id must be an integer or a string, not {told(value)}", (*at, "id"))

    def _ids(self) -> str:
        nullable = not any(True for _ in self._against("RequestId", None, (), INVALID_REQUEST))
        return "an integer, a string or null" if nullable else "an integer or a string"

    def _error(self, value: Any, at: Path) -> Iterator[Violation]:
        if "Error" in self.home.definitions:
            yield from self._against("Error", value, at, INVALID_REQUEST)
        elif not is_object(value) or type(value.get("code")) is not int or not isinstance(value.get("message"), str):
            yield wrong("an error is an object with an integer 'code' and a string 'message'", at)

    def _unknown(self, name: str, is_request: bool, sender: str, at: Path) -> Violation:
        route = self._routes.get((name, is_request))
        other = self._routes.get((name, not is_request))
        if route is not None:
            sentence = f"{name!r} is handled by the {route.side}, so the {sender} does not send it"
        elif other is not None:
            how = "not a request: remove 'id'" if is_request else "not a notification: add 'id'"
            sentence = f"{name!r} is a {other.kind}, {how}"
        else:
            known = [method for method, form in self._routes if form == is_request] or [m for m, _ in self._routes]
            sentence = f"the method {shown(name)} is not known{did_you_mean(name, known)}"
        return Violation(json_pointer((*at, "method")), "", sentence, METHOD_NOT_FOUND, "method")

    # --- against a definition ---

    def _against(self, definition: str, value: Any, at: Path, code: int) -> Iterator[Violation]:
        for said in self._engine.problems(("$defs", definition), value):
            yield Violation(json_pointer((*at, *said.path)), said.schema, said.sentence, code, said.rule, said.missing)


def _first(found: Iterable[Violation], limit: int | None) -> tuple[Violation, ...]:
    """As many problems as are wanted, and a last one that says so if there are more."""
    first, more = parted(found, limit)
    return first if more is None else (*first, Violation("", "", more_than(len(first)), more.code, "more"))


def _near(missing: str, value: Mapping[str, Any]) -> str:
    found = near_field(missing, [key for key in value if key not in ("jsonrpc", "id", "params")])
    return f"; {shown(found)} is not known here, did you mean {missing!r}?" if found else ""


def _is_unreadable(problems: Sequence[Violation]) -> bool:
    return any(problem.rule in ("json", "size") for problem in problems)


def _duplicate(problem: Problem) -> Violation:
    return Violation(problem.pointer, "", problem.sentence, INVALID_REQUEST, "duplicate-key")


def wrong(sentence: str, at: Path = (), schema: str = "") -> Violation:
    """A message that is none of the protocol, whatever it carries."""
    return Violation(json_pointer(at), schema, sentence, INVALID_REQUEST, "envelope")


def _too_large(error: TooManyValues) -> Violation:
    return Violation("", "", error.problems[0].sentence, error.code, "size")


def _read_value(value: Any, values: int) -> tuple[Any, tuple[Violation, ...]]:
    try:
        return copied(value, values=values), ()
    except TooManyValues as error:
        return None, (_too_large(error),)
    except DecodeError as error:
        if error.code != PARSE_ERROR:
            return copied(value, duplicates="last", values=values), tuple(map(_duplicate, error.problems))
        return None, (Violation(json_pointer(_misfit(value)), "", error.problems[0].sentence, PARSE_ERROR, "json"),)


def _misfit(value: Any) -> Path:
    """Where in a value stands what JSON cannot hold; the whole, if it is nested too deep to look."""
    waiting: list[tuple[Any, Path]] = [(value, ())]
    while waiting:
        item, path = waiting.pop()
        if len(path) > 200:
            return ()
        if is_object(item):
            if not all(map(_is_text, item)):
                return path
            waiting.extend((child, (*path, key)) for key, child in reversed(item.items()))
        elif is_array(item):
            waiting.extend((child, (*path, index)) for index, child in reversed(list(enumerate(item))))
        elif not _is_scalar(item):
            return path
    return ()


def _is_scalar(value: object) -> bool:
    if isinstance(value, str):
        return _is_text(value)
    return value is None or isinstance(value, int) or (isinstance(value, float) and isfinite(value))


def _is_text(value: object) -> bool:
    if not isinstance(value, str):
        return False
    try:
        value.encode()
    except UnicodeEncodeError:
        return False
    return True
