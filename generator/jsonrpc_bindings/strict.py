"""Strict validation against exactly the JSON Schema: a verdict first, then the problems up to a limit. For senders, for tests and for
the monitor.

The fast path for a message of a known method counts its members and validates its payload. If that fails, it is validated step by step:
the envelope, then the params or the result against their definition. The engine is jsonschema-rs; it is imported, and the schema loaded,
at the first validation.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain
from typing import Any, Final, Protocol, TypeAlias

from .contract import Contract, Method, Path, Sender, read_contract
from .errors import (
    INVALID_PARAMS,
    INVALID_REQUEST,
    LIMIT,
    DecodeError,
    Problem,
    describe_more,
    split_problems,
)
from .json_types import is_array, is_object
from .module_registry import SchemaModule, find_module
from .parse import VALUES, TooManyValues, copy_value, is_plain, parse_with_duplicates
from .pointers import json_pointer
from .routing import EMPTY, Routing, is_id

_Ordinary: TypeAlias = "tuple[str | None, str, bool, Callable[[Any], bool]]"
"""The expected member `jsonrpc`, the name of the payload member, whether there is an id, and the validator of the payload."""


@dataclass(frozen=True, slots=True)
class Violation(Problem):
    """One violation of the schema or of JSON-RPC.

    `code` is the JSON-RPC error code. `rule` is the keyword that fails (`required`, `type`, `pattern`, …; `tag` for a union
    discriminated by a tag), or `json`, `duplicate-key`, `envelope`, `method`, `size`: too many values to validate, or `more`: there are
    problems beyond the limit. `missing` is the field that an object lacks, if that is the violation.
    """

    code: int
    rule: str
    missing: str = ""


class Validate(Protocol[Sender]):
    """The type of `Strict.validate` with the senders that type checkers know."""

    def __call__(
        self,
        message: Any,
        *,
        sender: Sender,
        method: str | None = None,
        limit: int | None = LIMIT,
        values: int = VALUES,
    ) -> tuple[Violation, ...]:
        """The violations of a message."""
        ...


class Strict:
    """Validates the messages of one protocol version.

    `schema_module` has the schema, which is loaded at the first validation. The params and results of `methods` are its definitions by
    name, or its types.
    """

    def __init__(self, methods: Iterable[Method[Any, Any]], schema_module: SchemaModule) -> None:
        self.schema_module: Final = schema_module
        self._methods: Final = tuple(methods)
        self._engine: Final = schema_module.engine
        self._ordinary: dict[tuple[str, str | None, str | None, int], _Ordinary] = {}

    @classmethod
    def of(cls, module: str, methods: Mapping[str, Method[Any, Any]]) -> Strict:
        """The validator for the protocol of a generated module."""
        return cls(methods.values(), find_module(module))

    @cached_property
    def contract(self) -> Contract:
        """The protocol as data: its methods with the names of their definitions, and the capabilities that they need."""
        return read_contract(self.schema_module.protocol, map(self._name_types, self._methods))

    def _name_types(self, method: Method[Any, Any]) -> Method[Any, Any]:
        return replace(method, params=self._name_definition(method.params), result=self._name_definition(method.result))

    def _name_definition(self, type_: Any) -> str | None:
        return None if type_ is None else self.schema_module.name_of(type_)

    @cached_property
    def _routing(self) -> Routing:
        is_versioned = self.contract.envelope == "json-rpc"
        return Routing(self.contract.methods, is_versioned=is_versioned, refused_id=self._check_id)

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
        """The violations in a message that `sender` sent: UTF-8 text, or parsed JSON; empty if it is valid.

        If there are more than `limit` problems, the search stops and a final violation has the rule `more`; `None` means no limit. The
        result in a response is only validated if `method` names its request. A message of more than `values` values is not validated:
        its only violation has the rule `size`. Unknown tags of closed unions are violations, even where `decode` keeps them. Raises
        `ValueError` for a sender that the protocol does not have.
        """
        if self.contract.sides and sender not in self.contract.sides:
            raise ValueError(f"the sender is one of {self.contract.sides}, not {sender!r}")
        value, problems = self.read(message, values=values)
        if _is_unreadable(problems):
            return problems
        if not problems and self._is_right(value, sender, method, True):
            return ()
        return _limit(chain(problems, self._judge(value, sender, method, None)), limit)

    def validate_as(
        self, type_: Any, value: Any, *, limit: int | None = LIMIT, values: int = VALUES
    ) -> tuple[Violation, ...]:
        """The violations in parsed JSON as one type of the protocol: a class, an alias, or the name of a definition.

        The limits are those of `validate`. Raises `KeyError` if there is no such definition.
        """
        definition = self.schema_module.name_of(type_)
        if definition is None:
            raise KeyError(f"{type_!r} is no definition of the schema, and no type of this package")
        instance, problems = _read(_copy, value, values)
        if _is_unreadable(problems):
            return problems
        return _limit(chain(problems, self._judge_against(definition, instance, (), INVALID_PARAMS)), limit)

    def read(self, message: Any, *, values: int = VALUES) -> tuple[Any, tuple[Violation, ...]]:
        """Parse text, or copy parsed JSON; return the value and the violations of the rules `json`, `size` and `duplicate-key`.

        The last value of a duplicate key counts.
        """
        return _read(parse_with_duplicates, message, values)

    def judge(
        self,
        value: Any,
        *,
        sender: str,
        method: str | None = None,
        pending: Callable[[Any], str | None] | None = None,
        limit: int | None = LIMIT,
    ) -> tuple[Violation, ...]:
        """Validate, as `validate` does, a value that `read` returned. `pending` returns the method of a response's request by its id."""
        if self._is_right(value, sender, method, False):
            return ()
        problems: tuple[Violation, ...] = ()
        if not is_plain(value):
            value, problems = self.read(value)
            if _is_unreadable(problems):
                return problems
        return _limit(chain(problems, self._judge(value, sender, method, pending)), limit)

    def route(self, method: object, *, is_request: bool) -> Method[Any, Any] | None:
        """The declaration of a method; `None` if the protocol does not have it in this form."""
        return self._routing.methods.get((method, is_request)) if isinstance(method, str) else None

    @property
    def schema(self) -> Mapping[str, Any]:
        """The bundled JSON Schema."""
        return self.schema_module.schema

    # --- envelopes ---

    def _is_right(self, value: Any, sender: str, method: str | None, is_read: bool) -> bool:
        """Whether a message is valid by the fast path; `False` does not mean that it is invalid.

        Unless `is_read`, the value may not be JSON.
        """
        if value.__class__ is not dict:
            return False
        name = value.get("method")
        if name is not None and name.__class__ is not str:
            return False
        key = sender, method, name, len(value)
        ordinary = self._ordinary.get(key) or self._find_ordinary(*key)
        if ordinary is None:
            return False
        version, member, has_id, accepts = ordinary
        id_, payload = value.get("id"), value.get(member)
        return (
            value.get("jsonrpc") == version
            and payload is not None  # which may be read as something else
            and (not has_id or ((id_.__class__ is int or id_.__class__ is str) and self._accepts_id(id_)))
            and (is_read or is_plain(payload))
            and accepts(payload)
        )

    def _find_ordinary(self, sender: str, method: str | None, name: str | None, size: int) -> _Ordinary | None:
        """The entry of the fast path for messages with this number of members; `None` if they need the full validation."""
        is_versioned, is_call = self._routing.is_versioned, name is not None
        has_id = not is_call or size == 3 + is_versioned
        declaration = self.route(name if is_call else method, is_request=has_id)
        definition: Any = declaration and (declaration.params if is_call else declaration.result)
        if declaration is None or definition is None or size != 1 + is_call + has_id + is_versioned:
            return None
        is_sent = declaration.side != sender if is_call else declaration.side in (sender, "both", "protocol")
        if not is_sent or (is_call and method not in (None, name)):  # names that no schema has are without end
            return None
        accepts = self._engine.get_validator(("$defs", definition)).is_valid
        ordinary = "2.0" if is_versioned else None, "params" if is_call else "result", has_id, accepts
        self._ordinary[sender, method, name, size] = ordinary
        return ordinary

    def _judge(
        self, value: Any, sender: str, method: str | None, pending: Callable[[Any], str | None] | None
    ) -> Iterator[Violation]:
        if is_array(value) and self.contract.batch:
            return self._judge_batch(value, sender, method, pending)
        return self._judge_message(value, (), sender, method, pending)

    def _judge_batch(
        self, batch: list[Any], sender: str, method: str | None, pending: Callable[[Any], str | None] | None
    ) -> Iterator[Violation]:
        if not batch:
            yield make_violation(EMPTY)
        answers = [is_object(item) and "method" not in item for item in batch]
        for index, item in enumerate(batch):
            yield from self._judge_message(item, (index,), sender, method, pending)
            if answers[index] != answers[0]:
                yield make_violation("a batch holds either calls or answers, not both", (index,))

    def _judge_message(
        self, value: Any, at: Path, sender: str, method: str | None, pending: Callable[[Any], str | None] | None
    ) -> Iterator[Violation]:
        kind, _, declaration, faults = self._routing.route(value, at, sender, method, pending)
        for fault in faults:
            yield Violation(json_pointer(fault.path), fault.schema, fault.sentence, fault.code, fault.rule)
        if kind == "error":
            yield from self._judge_error(value["error"], (*at, "error"))
        elif kind == "result":
            definition: Any = declaration and declaration.result
            if definition is not None:
                yield from self._judge_against(definition, value["result"], (*at, "result"), INVALID_PARAMS)
        elif kind is not None:
            yield from self._judge_params(value.get("params"), declaration, (*at, "params"))

    def _judge_params(self, params: Any, declaration: Method[Any, Any] | None, at: Path) -> Iterator[Violation]:
        if declaration is None or declaration.params is None or (params is None and declaration.omitted == "nothing"):
            return
        definition: Any = declaration.params
        value = declaration.empty() if params is None else params
        yield from self._judge_against(definition, value, at, INVALID_PARAMS)

    @cached_property
    def _accepts_id(self) -> Callable[[Any], bool]:
        if "RequestId" not in self.schema_module.definitions:
            return lambda value: is_id(value, nullable=False)
        return self._engine.get_validator(("$defs", "RequestId")).is_valid

    def _check_id(self, value: Any) -> str | None:
        if "RequestId" not in self.schema_module.definitions:
            return None if is_id(value, nullable=False) else ""
        kind: Any = {} if is_object(value) else [] if is_array(value) else value  # whatever it holds, it is no id
        violations = self._judge_against("RequestId", kind, (), INVALID_REQUEST)
        return next((violation.schema for violation in violations), None)

    def _judge_error(self, value: Any, at: Path) -> Iterator[Violation]:
        if "Error" in self.schema_module.definitions:
            yield from self._judge_against("Error", value, at, INVALID_REQUEST)
        elif not is_object(value) or type(value.get("code")) is not int or not isinstance(value.get("message"), str):
            yield make_violation("an error is an object with an integer 'code' and a string 'message'", at)

    # --- against a definition ---

    def _judge_against(self, definition: str, value: Any, at: Path, code: int) -> Iterator[Violation]:
        for error in self._engine.find_problems(("$defs", definition), value):
            yield Violation(
                json_pointer((*at, *error.path)), error.schema, error.sentence, code, error.rule, error.missing
            )


def _limit(violations: Iterable[Violation], limit: int | None) -> tuple[Violation, ...]:
    """The violations up to the limit, and a final one that says that there are more."""
    first, more = split_problems(violations, limit)
    return first if more is None else (*first, Violation("", "", describe_more(len(first)), more.code, "more"))


def _is_unreadable(problems: Sequence[Violation]) -> bool:
    return any(problem.rule in ("json", "size") for problem in problems)


def make_violation(sentence: str, at: Path = ()) -> Violation:
    """The violation of an invalid envelope."""
    return Violation(json_pointer(at), "", sentence, INVALID_REQUEST, "envelope")


def _copy(value: Any, *, values: int) -> tuple[Any, tuple[Problem, ...]]:
    return copy_value(value, values=values), ()


def _read(
    read: Callable[..., tuple[Any, tuple[Problem, ...]]], value: Any, values: int
) -> tuple[Any, tuple[Violation, ...]]:
    try:
        instance, duplicates = read(value, values=values)
    except TooManyValues as error:
        return None, (Violation("", "", error.problems[0].sentence, error.code, "size"),)
    except DecodeError as error:
        (problem,) = error.problems
        return None, (Violation(problem.pointer, "", problem.sentence, error.code, "json"),)
    return instance, tuple(
        Violation(problem.pointer, "", problem.sentence, INVALID_REQUEST, "duplicate-key") for problem in duplicates
    )
