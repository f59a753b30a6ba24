"""The IR as JSON, for back ends in any language: writing, reading, and its JSON Schema.

A value of `ir` is an object with the name of its class as `kind`, except for a `Method`, whose `kind` is `request` or `notification`;
members equal to their default are omitted. The document is a `Protocol` whose member `ir` is the version of the model. Back ends should
accept unknown members and kinds as long as the major version stays the same.
"""

from __future__ import annotations

import types
from collections.abc import Mapping, Sequence
from dataclasses import MISSING, Field, fields, is_dataclass
from functools import cache
from typing import Any, Final, Literal, Union, cast, get_args, get_origin, get_type_hints

from acpgen import ir

ADDRESS: Final = f"urn:acpgen:ir:{ir.VERSION}"
"""The `$id` of the schema."""

_CLASSES: Final = {name: kind for name, kind in vars(ir).items() if isinstance(kind, type) and is_dataclass(kind)}
_ALIASES: Final = ("Type", "Definition", "Openness", "NullMeaning", "Envelope", "Stream", "Omitted")
_SCALARS: Final = {str: "string", bool: "boolean", int: "integer", float: "number", type(None): "null"}


# --- writing ---------------------------------------------------------------------------------------------------------


def dump(value: object) -> ir.JSON:
    """A value of the IR as JSON; a `Protocol` includes the version of the model."""
    if is_dataclass(value) and not isinstance(value, type):
        result: dict[str, ir.JSON] = {"kind": type(value).__name__}
        if isinstance(value, ir.Protocol):
            result["ir"] = ir.VERSION
        for field in fields(value):
            item = getattr(value, field.name)
            if field.name == "value" or not _is_default(field, item):
                result[field.name] = dump(item)
        return result
    if isinstance(value, Mapping):
        table = cast("Mapping[str, object]", value)
        return {key: dump(item) for key, item in table.items()}
    if isinstance(value, tuple | list):
        return [dump(item) for item in cast("Sequence[object]", value)]
    assert value is None or isinstance(value, bool | int | float | str), type(value)
    return value


def _is_default(field: Field[Any], item: object) -> bool:
    """Whether a member equals its default and is omitted. `True` and `1` differ here, though they are equal in Python."""
    if field.default_factory is not MISSING:
        return bool(item == field.default_factory())
    return field.default is not MISSING and type(item) is type(field.default) and bool(item == field.default)


# --- reading ---------------------------------------------------------------------------------------------------------


def load(document: ir.JSON) -> ir.Protocol:
    """Load a protocol from the output of `dump`. Raises `ValueError` for another major version or another kind of document."""
    if not isinstance(document, dict) or document.get("kind") != "Protocol":
        raise ValueError("this is no protocol as the IR is written")
    version = str(document.get("ir"))
    if version.partition(".")[0] != ir.VERSION.partition(".")[0]:
        raise ValueError(f"this is version {version} of the IR; version {ir.VERSION} is read here")
    protocol = _read(document, ir.Protocol)
    assert isinstance(protocol, ir.Protocol)
    return protocol


def _read(value: Any, hint: Any) -> Any:
    """Load the value of a member of type `hint`."""
    if isinstance(value, dict) and _means_class(hint):
        table = cast("dict[str, Any]", value)
        class_ = hint if hint in _CLASSES.values() else _CLASSES.get(str(table.get("kind")))
        if class_ is None:
            raise ValueError(f"there is no kind {table.get('kind')!r} in version {ir.VERSION} of the IR")
        hints = _read_hints(class_)
        try:
            return class_(**{name: _read(item, hints[name]) for name, item in table.items() if name in hints})
        except TypeError as error:
            raise ValueError(f"a {class_.__name__} is not whole: {error}") from None
    if get_origin(hint) is tuple and isinstance(value, list):
        items: Sequence[Any] = cast("Sequence[Any]", value)
        inner = get_args(hint)
        parts = [inner[0]] * len(items) if inner[-1] is Ellipsis else inner
        return tuple(_read(item, part) for item, part in zip(items, parts, strict=True))
    if get_origin(hint) is not None and isinstance(value, dict) and issubclass(get_origin(hint), Mapping):
        return {key: _read(item, get_args(hint)[1]) for key, item in cast("dict[str, Any]", value).items()}
    if isinstance(value, list) and get_origin(hint) in (Union, types.UnionType):
        items_: Any = cast("Any", value)
        return next((_read(items_, part) for part in get_args(hint) if get_origin(part) is tuple), items_)
    return cast("Any", value)


def _means_class(hint: Any) -> bool:
    """Whether a type includes classes of the IR, not only JSON."""
    return hint in _CLASSES.values() or any(part in _CLASSES.values() for part in get_args(hint))


# --- the schema ------------------------------------------------------------------------------------------------------


def make_schema() -> dict[str, Any]:
    """The JSON Schema 2020-12 of a protocol as `dump` writes it: a definition for each class, with its docstring."""
    definitions = {name: _make_object(class_) for name, class_ in _CLASSES.items()}
    for name in _ALIASES:
        definitions[name] = _make_alias(getattr(ir, name))
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": ADDRESS,
        "title": f"The IR of acpgen as JSON, version {ir.VERSION}",
        "description": str(__doc__).strip(),
        "$ref": "#/$defs/Protocol",
        "$defs": dict(sorted(definitions.items())),
    }


def _make_object(class_: type) -> dict[str, Any]:
    is_named = class_ is not ir.Method
    properties: dict[str, Any] = {"kind": {"const": class_.__name__}} if is_named else {}
    required = ["kind"] if is_named else []
    if class_ is ir.Protocol:
        properties["ir"] = {"const": ir.VERSION}
        required.append("ir")
    hints = _read_hints(class_)
    for field in fields(cast("Any", class_)):
        properties[field.name] = _make_member(hints[field.name])
        if field.default is not MISSING:
            properties[field.name] = {**properties[field.name], "default": dump(field.default)}
        elif field.default_factory is MISSING:
            required.append(field.name)
    return {
        "description": str(class_.__doc__).strip(),
        "type": "object",
        "properties": properties,
        "required": required,
        "additionalProperties": False,
    }


def _make_member(hint: Any) -> dict[str, Any]:
    """The schema of a member of this type."""
    for name in _ALIASES:
        if hint == getattr(ir, name) and hint is not str:
            return {"$ref": f"#/$defs/{name}"}
    if hint in _CLASSES.values():
        return {"$ref": f"#/$defs/{hint.__name__}"}
    if hint in _SCALARS:
        return {"type": _SCALARS[hint]}
    return _make_alias(hint)


def _make_alias(hint: Any) -> dict[str, Any]:
    """The schema of a type by its structure, without references to named aliases."""
    origin, inner = get_origin(hint), get_args(hint)
    if origin is Literal:
        return {"enum": list(inner)}
    if origin is tuple and inner[-1] is Ellipsis:
        return {"type": "array", "items": _make_member(inner[0])}
    if origin is tuple:
        return {
            "type": "array",
            "prefixItems": [_make_member(part) for part in inner],
            "minItems": len(inner),
            "items": False,
        }
    if origin is Mapping:
        return {"type": "object", "additionalProperties": _make_member(inner[1])}
    if origin in (Union, types.UnionType):
        if {list, dict} <= {get_origin(part) for part in inner}:  # any JSON value
            return {}
        if all(part in _SCALARS for part in inner):
            return {"type": [_SCALARS[part] for part in inner]}
        return {"anyOf": [_make_member(part) for part in inner]}
    if inner:  # a list of JSON
        return {"type": "array"}
    raise AssertionError(f"the IR has a member of type {hint}")


@cache
def _read_hints(class_: type) -> dict[str, Any]:
    return get_type_hints(class_, dict(vars(ir)))
