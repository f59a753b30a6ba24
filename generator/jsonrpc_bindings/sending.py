"""What a sender answers for, beyond what a receiver refuses: values, variants and fields that the schema does not name.

Names that begin with an underscore are extensions, and free.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache
from typing import Any, Final, NamedTuple, Protocol

from pydantic import BaseModel

from .constructing import no_such_field
from .contract import Method, Path
from .errors import DecodeError, EncodeError, Problem, limited, shown
from .json_types import is_object, is_sequence
from .judging import Judge
from .markers import KNOWN
from .model import Unknown, taken, wire_names
from .pointers import json_pointer
from .published import published

_TEXT: Final = frozenset({"text"})
_ARRAY: Final = frozenset({"array"})
_OBJECT: Final = frozenset({"object"})
_ALL: Final = _TEXT | _ARRAY | _OBJECT


@dataclass(slots=True)
class Named:
    """What a type names. `kinds` are those of text, arrays and maps that it takes, with any content unless it is told here."""

    kinds: frozenset[str] = _ALL
    texts: frozenset[str] | None = None
    items: Named | None = None
    members: Named | None = None


class Sent(NamedTuple):
    """By what a message is judged: its row in the table of methods, what it carries and where (`key` on the wire), and its frame."""

    row: Method[Any, Any] | None
    method: str
    key: str
    attribute: str
    type: Any
    frame: frozenset[str]
    payload: Any = None
    is_answer: bool = False


class Reads(Protocol):
    """What a codec lends for judging."""

    sides: tuple[str, ...]

    def decode(self, line: Any, *, sender: str, method: str | None = None, lenient: bool = True) -> Any:
        """Read a message."""

    def decode_as(self, type_: Any, value: Any, *, lenient: bool = True) -> Any:
        """Read a value."""

    def judge(self, type_: Any) -> Judge:
        """What judges values of a type."""
        ...


def faults(codec: Reads, sent: Sent, text: bytes) -> Iterator[Problem]:
    """What a strict judgement refuses in a message: what a receiver would, and what the schema does not name."""
    if sent.is_answer and not sent.method and sent.key == "result":
        if isinstance(sent.payload, BaseModel):
            yield from below((sent.key,), faults_of_value(codec, sent.payload))
        else:
            yield Problem("", "", "a result is judged by the method of its request, and the response does not name it")
        return
    side = sent.row.side if sent.row is not None else ""
    others = [other for other in codec.sides if other != side]
    sender = side if sent.is_answer and side in codec.sides else others[0] if others else side
    try:
        found = codec.decode(text, sender=sender, method=sent.method or None, lenient=False)
    except DecodeError as error:
        yield from error.problems
        return
    for key in found.extra:
        if not key.startswith("_"):
            yield _problem((key,), no_such_field(key, {name: name for name in sent.frame}))
    if sent.type is not None:
        yield from unnamed(codec, getattr(found, sent.attribute), sent.type, (sent.key,))


def faults_of_value(codec: Reads, value: Any) -> Iterator[Problem]:
    """The same of a value that is no message. Records are judged by their classes; plain JSON has no type to be judged by."""
    if isinstance(value, BaseModel):
        written = value.__pydantic_serializer__.to_python(value, mode="json", by_alias=True, exclude_unset=True)
        try:
            found = codec.decode_as(type(value), written, lenient=False)
        except DecodeError as error:
            yield from error.problems
            return
        yield from unnamed(codec, found, type(value))
    elif is_object(value):
        for key, item in value.items():
            yield from below((key,), faults_of_value(codec, item))
    elif is_sequence(value):
        for index, item in enumerate(value):
            yield from below((index,), faults_of_value(codec, item))


def below(at: Path, found: Iterable[Problem]) -> Iterator[Problem]:
    """Problems of what stands below a place."""
    for one in found:
        yield replace(one, pointer=json_pointer(at) + one.pointer)


def refuse(found: Iterable[Problem]) -> None:
    """Raise `EncodeError` if there are problems."""
    problems = limited(found)
    if problems:
        raise EncodeError("; ".join(map(str, problems)), problems)


def unnamed(codec: Reads, value: Any, type_: Any, at: Path = ()) -> Iterator[Problem]:
    """What the schema does not name in a value that was read as a type."""
    schema = codec.judge(type_).core_schema
    yield from _look(value, _Reader(schema).read(schema), at)


def _look(value: Any, named: Named | None, at: Path) -> Iterator[Problem]:
    if isinstance(value, BaseModel):
        yield from _record(value, at)
    elif isinstance(value, str):
        known = named.texts if named is not None else None
        if known is not None and value not in known and not value.startswith("_"):
            listed = ", ".join(map(repr, sorted(known)))
            yield _problem(
                at,
                f"{shown(value)} is not one of the known values {listed}, and not an extension, which would begin with '_'",
            )
    elif is_object(value):
        for key, item in value.items():
            yield from _look(item, named.members if named is not None else None, (*at, key))
    elif is_sequence(value):
        for index, item in enumerate(value):
            yield from _look(item, named.items if named is not None else None, (*at, index))


def _record(record: BaseModel, at: Path) -> Iterator[Problem]:
    model = type(record)
    if isinstance(record, Unknown):
        if not record.is_extension:
            tag = record.unknown_tag_field
            listed = ", ".join(map(repr, sorted(record.known_tags)))
            sentence = f"{shown(record.tag)} is not one of the known values {listed}, and not an extension, which would begin with '_'"
            yield _problem((*at, tag), sentence)
        return
    fields, further = _fields(model)
    for name, wire in wire_names(model).items():
        if name in record.__pydantic_fields_set__:
            yield from _look(record.__dict__[name], fields.get(name), (*at, wire))
    for key, item in (record.model_extra or {}).items():
        if not key.startswith("_") and not _takes_more(model):
            yield _problem((*at, key), no_such_field(key, taken(model).near))
        yield from _look(item, further, (*at, key))


def _problem(at: Path, sentence: str) -> Problem:
    return Problem(json_pointer(at), "", sentence)


@cache
def _takes_more(model: type[BaseModel]) -> bool:
    """Whether the schema itself speaks of fields beyond the declared ones."""
    if taken(model).anything:
        return True
    for base in model.__mro__:
        found = published(base.__module__)
        name = found.name_of(base.__name__) if found is not None else None
        if found is not None and name is not None:
            schema = found.definitions[name]
            return any(schema.get(keyword) not in (None, False) for keyword in _OF_MORE)
    return False


_OF_MORE: Final = ("additionalProperties", "patternProperties", "unevaluatedProperties", "propertyNames")


@cache
def _fields(model: type[BaseModel]) -> tuple[Mapping[str, Named], Named | None]:
    """What the schema names in the fields of a record, by Python name, and in the further ones."""
    schema: Any = model.__pydantic_core_schema__
    reader = _Reader(schema)
    inner = reader.inner(schema)
    while inner["type"] != "model-fields":
        inner = inner["schema"]
    fields = {name: reader.read(field["schema"]) for name, field in inner["fields"].items()}
    return fields, reader.read(inner["extras_schema"]) if "extras_schema" in inner else None


class _Reader:
    """Reads core schemas that share definitions."""

    def __init__(self, schema: Any) -> None:
        self.definitions: Final = (
            {one["ref"]: one for one in schema["definitions"]} if schema["type"] == "definitions" else {}
        )
        self.known: Final[dict[str, Named]] = {}

    def inner(self, schema: Any) -> Any:
        """A schema without its definitions, or the definition that it refers to."""
        while schema["type"] in ("definitions", "definition-ref"):
            schema = schema["schema"] if schema["type"] == "definitions" else self.definitions[schema["schema_ref"]]
        return schema

    def read(self, schema: Any) -> Named:
        """What a schema names."""
        known = schema.get("metadata", {}).get(KNOWN)
        if known is not None:
            return Named(_TEXT, known)
        match schema["type"]:
            case "definition-ref":
                return self._referred(schema["schema_ref"])
            case "literal":
                return Named(_TEXT, frozenset(one for one in schema["expected"] if isinstance(one, str)))
            case "str":
                return Named(_TEXT)
            case "none" | "bool" | "int" | "float" | "model":
                return Named(frozenset())
            case "list":
                return Named(_ARRAY, items=self.read(schema["items_schema"]) if "items_schema" in schema else None)
            case "tuple":
                return Named(_ARRAY, items=_either([self.read(item) for item in schema["items_schema"]]))
            case "dict":
                return Named(_OBJECT, members=self.read(schema["values_schema"]) if "values_schema" in schema else None)
            case (
                "nullable"
                | "default"
                | "missing-sentinel"
                | "definitions"
                | "function-before"
                | "function-wrap"
                | "function-after"
            ):
                return self.read(schema["schema"])
            case "union" | "tagged-union":
                choices = schema["choices"]
                branches = list(choices.values()) if is_object(choices) else choices
                return _either([self.read(one[0] if isinstance(one, tuple) else one) for one in branches])
            case _:
                return Named()

    def _referred(self, ref: str) -> Named:
        found = self.known.get(ref)
        if found is None:
            found = self.known[ref] = Named()  # what refers to itself takes anything, until it is read
            read = self.read(self.definitions[ref])
            found.kinds, found.texts, found.items, found.members = read.kinds, read.texts, read.items, read.members
        return found


def _either(branches: list[Named]) -> Named:
    """What some types name together."""
    texts = [one.texts for one in branches if "text" in one.kinds]
    return Named(
        frozenset[str]().union(*(one.kinds for one in branches)),
        None if None in texts else frozenset[str]().union(*(one for one in texts if one is not None)),
        _inside([one.items for one in branches if "array" in one.kinds]),
        _inside([one.members for one in branches if "object" in one.kinds]),
    )


def _inside(found: list[Named | None]) -> Named | None:
    inner = [one for one in found if one is not None]
    return None if len(inner) < len(found) or not inner else inner[0] if len(inner) == 1 else _either(inner)


class Switch:
    """Whether `encode` judges where it is not told."""

    __slots__ = ("is_on",)

    def __init__(self) -> None:
        self.is_on = False


STRICTLY: Final = Switch()


def encode_strictly(is_on: bool = True) -> None:
    """From now on, `encode` of all packages that share this run-time package judges what it writes, or does so no more.

    An argument `strict` of a call counts more than this.
    """
    STRICTLY.is_on = is_on
