"""The keywords that this project adds to JSON Schema, as declared by the meta-schema in `schema/dialect.json`."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from functools import cache
from typing import TYPE_CHECKING, Any, Final

from acpgen import ir, resources
from acpgen.errors import Fault, suggest_name
from acpgen.input.faults import MALFORMED_KEYWORD, UNKNOWN_SIDE
from acpgen.input.load import decode, display_path, parse_json, read_bytes
from acpgen.input.numbers import dumps, with_decimals
from acpgen.input.walk import is_array, is_object

if TYPE_CHECKING:
    from pathlib import Path

    import jsonschema_rs


SIDES: Final = ("agent", "client", "server", "proxy")
"""The sides that need no declaration."""

DECLARING: Final = "x-sides"

_BESIDE: Final = {
    "x-unknown": "on a union or a set of constants, beside 'anyOf', 'oneOf' or 'enum'",
    "x-deserialize-default-on-null": "where no 'x-null' says what null means",
}
"""Where a keyword may occur, for keywords whose neighbours the meta-schema checks."""

_NAMING: Final = frozenset({"x-side", "x-capability", "x-required-with"})
"""Keywords whose value is the name of a side, optionally followed by a colon and a path."""

_KINDS: Final = {"array": "a list", "object": "an object of texts, or of objects that tell more,", "string": "a string"}


def locate_dialect() -> Path:
    """The path of the dialect's meta-schema."""
    return resources.locate_schema() / "dialect.json"


@cache
def read_meta_schema() -> Mapping[str, Any]:
    """The meta-schema of the dialect."""
    path = locate_dialect()
    value = parse_json(decode(read_bytes(path), display_path(path)), display_path(path))
    assert isinstance(value, dict)
    return value


@cache
def read_keywords() -> Mapping[str, str]:
    """The keywords that this project adds, with their descriptions."""
    declared = read_meta_schema()["properties"]
    return {key: schema["description"] for key, schema in declared.items() if key.startswith("x-")}


def check_values(schema: Mapping[str, Any], at: str, sides: Collection[str] = SIDES) -> Iterator[Fault]:
    """Yield a fault for each keyword of the dialect that has an invalid value in one schema of a protocol with these sides.

    Unknown `x-` keywords are not checked.
    """
    for key in schema:
        if key.startswith("x-") and key in read_keywords():
            if not _judge("properties", key).is_valid(with_decimals(schema[key])):
                yield MALFORMED_KEYWORD(at=at, keyword=key, expected=describe_expected_value(key))
            elif key in _BESIDE and not _judge("dependentSchemas", key).is_valid(with_decimals(schema)):
                yield MALFORMED_KEYWORD(at=at, keyword=key, expected=_BESIDE[key])
            elif key in _NAMING:
                side, allowed_sides = schema[key].partition(":")[0], (*sides, *(ir.EITHER if key == "x-side" else ()))
                if side not in allowed_sides:
                    yield UNKNOWN_SIDE(at, keyword=key, side=side, hint=suggest_name(side, allowed_sides))


def find_sides(documents: Iterable[object], profile_sides: Iterable[str] = ()) -> tuple[str, ...]:
    """The sides of a protocol: those of the profile named by the user and those that its files declare; `SIDES` if there are none."""
    declarations = [value[DECLARING] for value in documents if is_object(value) and DECLARING in value]
    file_sides = (side for value in declarations if is_array(value) for side in value if isinstance(side, str))
    return tuple(dict.fromkeys((*profile_sides, *file_sides))) or SIDES


def describe_expected_value(keyword: str) -> str:
    """What the value of a keyword must be, as the end of a sentence."""
    declared = read_meta_schema()["properties"][keyword]
    if "const" in declared:
        return _show(declared["const"])
    if "enum" in declared:
        *most, final = map(_show, declared["enum"])
        return f"{', '.join(most)} or {final}"
    return f"{_KINDS[declared['type']]} such as {_show(declared['examples'][0])}"


def _show(value: object) -> str:
    return f"'{value}'" if isinstance(value, str) else dumps(value)


@cache
def _judge(section: str, keyword: str) -> jsonschema_rs.Draft202012Validator:
    import jsonschema_rs  # the command starts without it

    return jsonschema_rs.Draft202012Validator(read_meta_schema()[section][keyword])
