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
    PARSE_ERROR,
    DecodeError,
    Problem,
    more_than,
    parted,
    told,
)
from .homes import Home, home_of
from .json_types import is_array, is_object
from .parse import VALUES, TooManyValues, copied, is_plain, parse_with_duplicates
from .pointers import json_pointer, reference
from .routing import EMPTY, Routing, is_id


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
    def _routing(self) -> Routing:
        is_versioned = self.contract.envelope == "json-rpc"
        return Routing(self.contract.methods, is_versioned=is_versioned, refused_id=self._refused_id)

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
        return self._routing.rows.get((method, is_request)) if isinstance(method, str) else None

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
        definition: Any = row.params if is_call else row.result
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
            yield wrong(EMPTY)
        answers = [is_object(item) and "method" not in item for item in batch]
        for index, item in enumerate(batch):
            yield from self._message(item, (index,), sender, method, pending)
            if answers[index] != answers[0]:
                yield wrong("a batch holds either calls or answers, not both", (index,))

    def _message(
        self, value: Any, at: Path, sender: str, method: str | None, pending: Callable[[Any], str | None] | None
    ) -> Iterator[Violation]:
        kind, _, row, faults = self._routing.route(value, at, sender, method, pending)
        for one in faults:
            yield Violation(json_pointer(one.path), one.schema, one.sentence, one.code, one.rule)
        if kind == "error":
            yield from self._error(value["error"], (*at, "error"))
        elif kind == "result":
            definition: Any = row and row.result
            if definition is not None:
                yield from self._against(definition, value["result"], (*at, "result"), INVALID_PARAMS)
        elif kind is not None:
            yield from self._params(value.get("params"), row, (*at, "params"))

    def _params(self, params: Any, row: Method[Any, Any] | None, at: Path) -> Iterator[Violation]:
        definition: Any = row and row.params
        if row is None or definition is None:
            if self.contract.envelope == "json-rpc" and not (params is None or is_array(params) or is_object(params)):
                yield wrong(f"the params must be an object or an array, not {told(params)}", at)
        elif params is not None or row.omitted != "nothing":
            yield from self._against(definition, row.empty() if params is None else params, at, INVALID_PARAMS)

    def _refused_id(self, value: Any) -> str | None:
        if "RequestId" not in self.home.definitions:
            return None if is_id(value, nullable=False) else ""
        kind: Any = {} if is_object(value) else [] if is_array(value) else value  # whatever it holds, it is no id
        return next((one.schema for one in self._against("RequestId", kind, (), INVALID_REQUEST)), None)

    def _error(self, value: Any, at: Path) -> Iterator[Violation]:
        if "Error" in self.home.definitions:
            yield from self._against("Error", value, at, INVALID_REQUEST)
        elif not is_object(value) or type(value.get("code")) is not int or not isinstance(value.get("message"), str):
            yield wrong("an error is an object with an integer 'code' and a string 'message'", at)

    # --- against a definition ---

    def _against(self, definition: str, value: Any, at: Path, code: int) -> Iterator[Violation]:
        for said in self._engine.problems(("$defs", definition), value):
            yield Violation(json_pointer((*at, *said.path)), said.schema, said.sentence, code, said.rule, said.missing)


def _first(found: Iterable[Violation], limit: int | None) -> tuple[Violation, ...]:
    """As many problems as are wanted, and a last one that says so if there are more."""
    first, more = parted(found, limit)
    return first if more is None else (*first, Violation("", "", more_than(len(first)), more.code, "more"))


def _is_unreadable(problems: Sequence[Violation]) -> bool:
    return any(problem.rule in ("json", "size") for problem in problems)


def _duplicate(problem: Problem) -> Violation:
    return Violation(problem.pointer, "", problem.sentence, INVALID_REQUEST, "duplicate-key")


def wrong(sentence: str, at: Path = ()) -> Violation:
    """A message that is none of the protocol, whatever it carries."""
    return Violation(json_pointer(at), "", sentence, INVALID_REQUEST, "envelope")


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
