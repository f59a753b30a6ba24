"""The keywords that this project adds to JSON Schema, as the meta-schema in `schema/dialect.json` declares them."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from functools import cache
from typing import TYPE_CHECKING, Any, Final

from acpgen import resources
from acpgen.errors import Fault, did_you_mean
from acpgen.input.faults import MALFORMED_KEYWORD, UNKNOWN_SIDE
from acpgen.input.load import decode, parse_json, place, read_bytes
from acpgen.input.numbers import dumps, with_decimals
from acpgen.input.walk import is_array, is_object

if TYPE_CHECKING:
    from pathlib import Path

    import jsonschema_rs


SIDES: Final = ("agent", "client", "server", "proxy")
"""The sides that need no declaration."""

EITHER: Final = ("both", "protocol")
"""What stands for either side."""

DECLARING: Final = "x-sides"

_BESIDE: Final = {
    "x-unknown": "on a union or a set of constants, beside 'anyOf', 'oneOf' or 'enum'",
    "x-deserialize-default-on-null": "where no 'x-null' says what null means",
}
"""Where keywords must stand, of those that the meta-schema asks about the keywords beside them."""

_NAMING: Final = frozenset({"x-side", "x-capability", "x-required-with"})
"""Keywords that name a side, before a colon if they say more."""

_KINDS: Final = {"array": "a list", "object": "an object of texts, or of objects that tell more,", "string": "a string"}


def dialect_file() -> Path:
    """Where the meta-schema of the dialect lies."""
    return resources.schema() / "dialect.json"


@cache
def meta_schema() -> Mapping[str, Any]:
    """The meta-schema of the dialect."""
    path = dialect_file()
    value = parse_json(decode(read_bytes(path), place(path)), place(path))
    assert isinstance(value, dict)
    return value


@cache
def keywords() -> Mapping[str, str]:
    """The keywords that this project adds, each with its description."""
    declared = meta_schema()["properties"]
    return {key: schema["description"] for key, schema in declared.items() if key.startswith("x-")}


def wrong_values(schema: Mapping[str, Any], at: str, sides: Collection[str] = SIDES) -> Iterator[Fault]:
    """What the dialect says against the values of its keywords in one schema of a protocol with these sides.

    Keywords of others are theirs.
    """
    for key in schema:
        if key.startswith("x-") and key in keywords():
            if not _judge(key).is_valid(with_decimals(schema[key])):
                yield MALFORMED_KEYWORD(at=at, keyword=key, expected=expected(key))
            elif key in _BESIDE and not _judge_of_neighbours(key).is_valid(with_decimals(schema)):
                yield MALFORMED_KEYWORD(at=at, keyword=key, expected=_BESIDE[key])
            elif key in _NAMING and schema[key].partition(":")[0] not in (*sides, *(EITHER if key == "x-side" else ())):
                known = (*sides, *EITHER) if key == "x-side" else tuple(sides)
                side = schema[key].partition(":")[0]
                yield UNKNOWN_SIDE(at, keyword=key, side=side, hint=did_you_mean(side, known))


def declared_sides(documents: Iterable[object], known: Iterable[str] = ()) -> tuple[str, ...]:
    """The sides of a protocol: those of the profile that a person named, else those that its files declare; else those that all know."""
    said = [value[DECLARING] for value in documents if is_object(value) and DECLARING in value]
    listed = (side for value in said if is_array(value) for side in value if isinstance(side, str))
    return tuple(dict.fromkeys((*known, *listed))) or SIDES


def expected(keyword: str) -> str:
    """What the value of a keyword must be, as the end of a sentence."""
    declared = meta_schema()["properties"][keyword]
    if "const" in declared:
        return _shown(declared["const"])
    if "enum" in declared:
        *most, last = map(_shown, declared["enum"])
        return f"{', '.join(most)} or {last}"
    return f"{_KINDS[declared['type']]} such as {_shown(declared['examples'][0])}"


def _shown(value: object) -> str:
    return f"'{value}'" if isinstance(value, str) else dumps(value)


@cache
def _judge(keyword: str) -> jsonschema_rs.Draft202012Validator:
    import jsonschema_rs  # the command starts without it

    return jsonschema_rs.Draft202012Validator(meta_schema()["properties"][keyword])


@cache
def _judge_of_neighbours(keyword: str) -> jsonschema_rs.Draft202012Validator:
    import jsonschema_rs  # the command starts without it

    return jsonschema_rs.Draft202012Validator(meta_schema()["dependentSchemas"][keyword])
