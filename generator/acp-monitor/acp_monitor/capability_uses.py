"""What of a message depends on capabilities, by the table of the protocol."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple

from .json_values import Path, is_array, is_object

if TYPE_CHECKING:
    from jsonrpc_bindings.strict import Strict


class Member(NamedTuple):
    """A field, variant or value of a definition.

    `capability` gates it, `required_with` makes it required. `look` names the definitions where more may depend on capabilities;
    `[]` before a name stands for the items of an array, `{}` for the values of an object.
    """

    capability: str | None = None
    required_with: str | None = None
    look: tuple[str, ...] = ()


_NOTHING: Final[Mapping[Any, Any]] = MappingProxyType({})


class Gated(NamedTuple):
    """What of one definition depends on capabilities: fields, variants by tag, values of an enumeration, or what it refers to.

    `other` is what the tags that are not among `variants` look into.
    """

    fields: Mapping[str, Member] = _NOTHING
    tag: str = ""
    variants: Mapping[Any, Member] = _NOTHING
    other: tuple[str, ...] = ()
    values: Mapping[Any, str] = _NOTHING
    look: tuple[str, ...] = ()


class Use(NamedTuple):
    """A place in a message that depends on a capability. `kind` says how: it is there, or (`absent`) it is required and is not."""

    path: Path
    capability: str
    kind: Literal["field", "variant", "value", "absent"]
    name: str


@lru_cache(16)
def gated_definitions(strict: Strict) -> Mapping[str, Gated]:
    """The definitions of a protocol that depend on capabilities, or lead to such.

    Tables by name or constant are lists of pairs in the schema, since a constant may be no text.
    """
    return {name: _gated(row) for name, row in strict.schema_module.protocol.get("gated", {}).items()}


def _gated(row: Mapping[str, Any]) -> Gated:
    return Gated(
        fields={name: _member(one) for name, one in row.get("fields", ())},
        tag=row.get("tag", ""),
        variants={tag: _member(one) for tag, one in row.get("variants", ())},
        other=tuple(row.get("other", ())),
        values=dict(row.get("values", ())),
        look=tuple(row.get("look", ())),
    )


def _member(row: Mapping[str, Any]) -> Member:
    return Member(row.get("capability"), row.get("required_with"), tuple(row.get("look", ())))


def uses(table: Mapping[str, Gated], definition: str | None, value: Any, at: Path = ()) -> list[Use]:
    """The places in `value`, an instance of `definition`, that depend on capabilities. Values of other shapes are ignored."""
    found: list[Use] = []
    if definition is not None:
        _collect(table, definition, value, at, found)
    return found


def _collect(table: Mapping[str, Gated], definition: str, value: Any, at: Path, uses: list[Use]) -> None:
    found = table.get(definition)
    if found is None:
        return
    if found.look:
        _look(table, found.look, value, at, uses)
    if found.values and isinstance(value, str | int) and value in found.values:
        uses.append(Use(at, found.values[value], "value", str(value)))
    if not is_object(value):
        return
    for name, member in found.fields.items():
        if name in value:
            if member.capability is not None:
                uses.append(Use((*at, name), member.capability, "field", name))
            if member.look:
                _look(table, member.look, value[name], (*at, name), uses)
        elif member.required_with is not None:
            uses.append(Use(at, member.required_with, "absent", name))
    if not found.tag:
        return
    tag = value.get(found.tag)
    variant = found.variants.get(tag) if isinstance(tag, str | int) else None
    if variant is None:
        _look(table, found.other, value, at, uses)
        return
    if variant.capability is not None:
        uses.append(Use((*at, found.tag), variant.capability, "variant", str(tag)))
    _look(table, variant.look, value, at, uses)


def _look(table: Mapping[str, Gated], look: tuple[str, ...], value: Any, at: Path, uses: list[Use]) -> None:
    for name in look:
        if name.startswith("[]"):
            for index, item in enumerate(value if is_array(value) else ()):
                _look(table, (name[2:],), item, (*at, index), uses)
        elif name.startswith("{}"):
            for key, item in value.items() if is_object(value) else ():
                _look(table, (name[2:],), item, (*at, key), uses)
        else:
            _collect(table, name, value, at, uses)
