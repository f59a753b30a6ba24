"""The strict judgement: exactly the JSON Schema, yes or no first, then the problems up to a limit. For what one
sends, for tests and for the monitor.

A message is judged by its method: the envelope first, then the params or the result against their definition. The engine is
jsonschema-rs; it is imported, and the schema read, when the first message is judged.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from itertools import chain
from math import isfinite
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final, Protocol

from .contract import Contract, Method, Path
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
from .json_types import is_array, is_object
from .parse import VALUES, TooManyValues, copied, parse_with_duplicates
from .patterns import Patterns
from .pointers import json_pointer, reference, schema_pointer, steps

if TYPE_CHECKING:
    from .pieces import Pieces


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


class WrittenInteger:
    """The keyword `x-integer`: draft-04 takes `1.0` for no integer."""

    def __init__(self, parent_schema: object, value: object, schema_path: object) -> None: ...

    def validate(self, instance: object) -> None:
        """Raise `ValueError` for an integer that is written with a fraction."""
        if isinstance(instance, float) and instance.is_integer():
            raise ValueError("an integer is written with a fraction")


class Validator(Protocol):
    """What is asked of a validator of the library `jsonschema_rs`."""

    def is_valid(self, instance: Any) -> bool:
        """Whether the schema accepts a value."""
        ...

    def iter_errors(self, instance: Any) -> Iterator[Any]:
        """What the schema refuses in a value."""
        ...


class MissingExtra(ImportError):
    """Strict validation was asked for, and jsonschema-rs is not installed."""


class Strict:
    """Judges the messages of one protocol version.

    `schema` gives the bundled JSON Schema; it is called once, when it is needed. `extra` is what to install for the engine. `patterns` are
    those that the engine takes as another text, `None` for those that it cannot have, and `loose` those of which it finds too much.
    """

    def __init__(
        self,
        contract: Contract,
        schema: Callable[[], Any],
        extra: str,
        patterns: Mapping[str, str | None] = MappingProxyType({}),
        loose: Sequence[str] = (),
    ) -> None:
        self.contract: Final = contract
        self._read_schema = schema
        self._extra = extra
        self._schema: Any = None
        self._validators: dict[str, Validator] = {}
        self._patterns: Final = Patterns(patterns, loose)
        self._translated: Any = None
        self._pieces: Pieces | None = None
        self._routes: Final = {(route.name, route.kind == "request"): route for route in contract.methods}

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
        `values` than these is not judged, and the only problem, with the rule `size`, says so. Raises `MissingExtra`, and
        `ValueError` for a sender that the protocol does not have.
        """
        if self.contract.sides and sender not in self.contract.sides:
            raise ValueError(f"the sender is one of {self.contract.sides}, not {sender!r}")
        value, problems = self.read(message, values=values)
        if _is_unreadable(problems):
            return problems
        return _first(chain(problems, self._judged(value, sender, method, None)), limit)

    def validate_as(
        self, definition: str, value: Any, *, limit: int | None = LIMIT, values: int = VALUES
    ) -> tuple[Violation, ...]:
        """What is wrong with parsed JSON as an instance of one definition, up to limits as in `validate`.

        Raises `KeyError` if there is no such definition, `MissingExtra`.
        """
        if definition not in self.schema["$defs"]:
            raise KeyError(definition)
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
        if value.__class__ is dict and self._is_right(value, sender, method):
            return ()
        return _first(self._judged(value, sender, method, pending), limit)

    def route(self, method: object, *, is_request: bool) -> Method[Any, Any] | None:
        """The row of a method, if the protocol has it in this form."""
        return self._routes.get((method, is_request)) if isinstance(method, str) else None

    @property
    def schema(self) -> Any:
        """The bundled JSON Schema."""
        if self._schema is None:
            self._schema = self._read_schema()
        return self._schema

    @property
    def _translation(self) -> Any:
        """The schema as the engine takes it."""
        if self._translated is None:
            self._translated = self._patterns.translated(self.schema)
        return self._translated

    # --- envelopes ---

    def _is_right(self, value: dict[str, Any], sender: str, method: str | None) -> bool:
        """Whether there is nothing wrong with a message of the usual form; `False` says nothing. Most take half the time by this."""
        if value.get("jsonrpc") != "2.0" or self.contract.envelope != "json-rpc" or "error" in value:
            return False
        if "id" in value and not (isinstance(value["id"], int | str) and self._takes("RequestId", value["id"])):
            return False
        name = value.get("method")
        if isinstance(name, str) and "result" not in value:
            route, part, body = self._routes.get((name, "id" in value)), "params", value.get("params")
            if route is None or route.side == sender:
                return False
        elif "method" not in value and "result" in value and "id" in value and method is not None:
            route, part, body = self._routes.get((method, True)), "result", value["result"]
            if route is None or route.side not in (sender, "both", "protocol"):
                return False
        else:
            return False
        definition: Any = route.params if part == "params" else route.result
        return definition is not None and body is not None and self._takes(definition, body)

    def _takes(self, definition: str, value: Any) -> bool:
        """Whether a definition that was asked before accepts a value."""
        validator = self._validators.get(definition)
        return validator is not None and validator.is_valid(value)

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
        if "RequestId" in self.schema["$defs"]:
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
        if "Error" in self.schema["$defs"]:
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
        validator = self._validators.get(definition)
        if validator is None:
            validator = self._validators[definition] = self._compile({"$ref": reference(("$defs", definition))})
        if validator.is_valid(value):
            return
        if self._pieces is None:
            from .pieces import Pieces

            self._pieces = Pieces(self._translation, self._compile, own=self._patterns.own)
        for said in self._pieces.problems(("$defs", definition), value):
            where, place = json_pointer((*at, *said.path)), schema_pointer(self._patterns.place(steps(said.schema)))
            yield Violation(where, place, said.sentence, code, said.rule, said.missing)

    def _compile(self, schema: Mapping[str, Any]) -> Validator:
        try:
            engine: Any = import_module("jsonschema_rs")
        except ModuleNotFoundError:
            raise MissingExtra(
                f"strict validation needs jsonschema-rs. Install it: pip install '{self._extra}'"
            ) from None
        whole = {**schema, "$defs": self._translation["$defs"]}
        made: Validator = engine.Draft202012Validator(whole, keywords={"x-integer": WrittenInteger})
        return made


def _first(found: Iterable[Violation], limit: int | None) -> tuple[Violation, ...]:
    """As many problems as are wanted, and a last one that says so if there are more."""
    first, more = parted(found, limit)
    return first if more is None else (*first, Violation("", "", more_than(len(first)), more.code, "more"))


def did_you_mean(name: str, known: Sequence[str]) -> str:
    """The end of a sentence that suggests the nearest known name; empty if none is near."""
    from difflib import get_close_matches

    if len(name) > 2 * max(map(len, known), default=0):
        return ""
    plain: Mapping[str, str] = {_plain(item): item for item in known}
    close = get_close_matches(_plain(name), plain, n=1, cutoff=0.75)
    return f"; did you mean {plain[close[0]]!r}?" if close else ""


def near_field(missing: str, present: Sequence[str]) -> str | None:
    """The field that stands where `missing` was meant, told by its letters or as a common other name of it."""
    from difflib import get_close_matches

    present = present[:MOST_LOOKED_AT]
    for name in present:
        if name in OTHER_NAMES.get(missing, ()):
            return name
    plain = {_plain(item): item for item in present}
    close = get_close_matches(_plain(missing), plain, n=1, cutoff=0.75)
    return plain[close[0]] if close else None


MOST_LOOKED_AT: Final = 1000
"""The fields of an object among which the one is looked for that was meant. To compare a name takes time."""

OTHER_NAMES: Final[Mapping[str, tuple[str, ...]]] = {
    "path": ("uri", "file", "filePath", "file_path", "filename"),
    "uri": ("path", "url"),
    "cwd": ("workingDirectory", "working_directory", "root"),
    "sessionId": ("session", "id"),
}
"""What fields are often taken for. The file-system page, for one, says `uri` where every release of ACP has `path`."""


def _near(missing: str, value: Mapping[str, Any]) -> str:
    found = near_field(missing, [key for key in value if key not in ("jsonrpc", "id", "params")])
    return f"; {shown(found)} is not known here, did you mean {missing!r}?" if found else ""


def _plain(name: str) -> str:
    return name.replace("_", "").replace("-", "").lower()


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
