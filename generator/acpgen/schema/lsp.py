"""The meta model of the Language Server Protocol: structures, enumerations and type aliases become definitions.

`extends` and `mixins` are `allOf`, what is proposed is unstable, and an enumeration that supports custom values is open.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from acpgen.pointers import escape
from acpgen.schema.calls import Bound
from acpgen.schema.made import Made, reference
from acpgen.schema.names import class_name
from acpgen.schema.walk import Schema, is_array, is_object

_DRAFT: Final = "https://json-schema.org/draft/2020-12/schema"
_LARGEST: Final = 2**31 - 1

_BASE: Final[Mapping[str, Schema]] = {
    "string": {"type": "string"},
    "URI": {"type": "string", "format": "uri"},
    "DocumentUri": {"type": "string", "format": "uri"},
    "RegExp": {"type": "string"},
    "integer": {"type": "integer", "minimum": -(2**31), "maximum": _LARGEST},
    "uinteger": {"type": "integer", "minimum": 0, "maximum": _LARGEST},
    "decimal": {"type": "number"},
    "boolean": {"type": "boolean"},
    "null": {"type": "null"},
}

_HANDLERS: Final = {"clientToServer": "server", "serverToClient": "client", "both": "both"}

_READ: Final = ("method", "params", "result", "messageDirection", "typeName", "proposed")
_WORDS: Final = ("documentation", "since", "sinceTags", "deprecated")
"""What a message says that is about nothing on the wire."""

_LITERALS: Final = ("stringLiteral", "integerLiteral", "booleanLiteral")


def read_metamodel(document: Mapping[str, Any], path: str) -> Made:
    """The schema and the methods of a meta model. What is wrong with it is among the faults."""
    made = Made(path, "a meta model of the Language Server Protocol")
    reader = _Reader(made)
    for kind, read in (
        ("structures", reader.structure),
        ("enumerations", reader.enumeration),
        ("typeAliases", reader.alias),
    ):
        for index, one in enumerate(document.get(kind) or ()):
            at = made.at(kind, index)
            if not is_object(one) or not isinstance(one.get("name"), str):
                made.wrong(at, "it has no 'name'")
            elif one["name"] in made.definitions:
                made.wrong(at, f"{one['name']!r} is defined twice")
            else:
                made.define(one["name"], {**read(one, at), **_about(one)}, at)
    _tell_apart(made.definitions)
    for kind in ("requests", "notifications"):
        for index, one in enumerate(document[kind]):
            at = made.at(kind, index)
            if is_object(one) and isinstance(one.get("method"), str) and one.get("messageDirection") in _HANDLERS:
                reader.message(one, "request" if kind == "requests" else "notification", at)
            else:
                made.wrong(at, "it needs a 'method' and a 'messageDirection'")
    made.value = {"$schema": _DRAFT, "definitions": made.definitions}
    return made


class _Reader:
    def __init__(self, made: Made) -> None:
        self.made = made

    # --- definitions ---

    def structure(self, one: Schema, at: str) -> Schema:
        above: list[Schema] = []
        for keyword in ("extends", "mixins"):
            for index, base in enumerate(one.get(keyword) or ()):
                self.made.places[f"{at}/allOf/{len(above)}"] = f"{at}/{keyword}/{index}"
                above.append(self.type(base, f"{at}/{keyword}/{index}"))
        return {"type": "object", **({"allOf": above} if above else {}), **self.members(one, at, at)}

    def members(self, holder: Schema, at: str, stands: str) -> Schema:
        """The properties of a structure or a literal. `stands` is the place of the object, `at` that of its members."""
        properties: Schema = {}
        required: list[str] = []
        given = holder.get("properties")
        for index, member in enumerate(given if is_array(given) else ()):
            if not is_object(member) or not isinstance(member.get("name"), str):
                self.made.wrong(f"{at}/properties/{index}", "it has no 'name'")
                continue
            name, place = member["name"], f"{at}/properties/{index}/type"
            self.made.places[f"{stands}/properties/{escape(name)}"] = place
            properties[name] = {**self.type(member.get("type"), place), **_about(member)}
            if member.get("optional") is not True:
                required.append(name)
        return {"properties": properties} | ({"required": required} if required else {})

    def enumeration(self, one: Schema, at: str) -> Schema:
        base = self.type(one.get("type"), f"{at}/type")
        values: dict[Any, Schema] = {}
        listed = one.get("values")
        for index, value in enumerate(listed if is_array(listed) else ()):
            if not is_object(value) or not isinstance(value.get("value"), str | int):
                self.made.wrong(f"{at}/values/{index}", "it has no 'value', a text or an integer")
                continue
            self.made.places[f"{at}/anyOf/{len(values)}"] = f"{at}/values/{index}"
            self.made.places[f"{at}/oneOf/{len(values)}"] = f"{at}/values/{index}"
            title = {"title": value["name"]} if isinstance(value.get("name"), str) else {}
            values.setdefault(value["value"], {"const": value["value"], **title, **_about(value)})
        if one.get("supportsCustomValues") is True:
            return {"anyOf": [*values.values(), base]}
        return {"oneOf": list(values.values())} if values else {"enum": []}

    def alias(self, one: Schema, at: str) -> Schema:
        found = self.type(one.get("type"), f"{at}/type")
        self.made.places[at + "/anyOf"] = f"{at}/type/items"
        return found

    # --- types ---

    def type(self, one: Any, at: str) -> Schema:
        """The schema of a type. A place below the schema leads to the place below the type."""
        kind = one.get("kind") if is_object(one) else None
        if kind == "base" and one.get("name") in _BASE:
            return dict(_BASE[one["name"]])
        if kind == "reference" and isinstance(one.get("name"), str):
            return reference(one["name"])
        if kind == "array":
            self.made.places[f"{at}/items"] = f"{at}/element"
            return {"type": "array", "items": self.type(one.get("element"), f"{at}/element")}
        if kind == "map":
            self.made.places[f"{at}/additionalProperties"] = f"{at}/value"
            keys = one.get("key")
            names: Schema = {"propertyNames": {"pattern": r"^-?\d+$"}} if _is_number(keys) else {}
            return {"type": "object", **names, "additionalProperties": self.type(one.get("value"), f"{at}/value")}
        if kind in ("or", "and", "tuple") and is_array(one.get("items")):
            keyword = {"or": "anyOf", "and": "allOf", "tuple": "prefixItems"}[kind]
            self.made.places[f"{at}/{keyword}"] = f"{at}/items"
            items = [self.type(item, f"{at}/items/{index}") for index, item in enumerate(one["items"])]
            if kind == "tuple":
                count = len(items)
                return {"type": "array", keyword: items, "items": False, "minItems": count, "maxItems": count}
            return {keyword: items}
        if kind == "literal" and is_object(one.get("value")):
            return {"type": "object", **self.members(one["value"], f"{at}/value", at)}
        if kind in _LITERALS and isinstance(one.get("value"), str | int):
            return {"const": one["value"]}
        self.made.wrong(at, "this is no type of the meta model, or lacks a part")
        return {}

    # --- messages ---

    def message(self, one: Schema, kind: Any, at: str) -> None:
        self.made.leave(one["method"], one, (*_READ, *_WORDS))
        called = one.get("typeName")
        stem = called if isinstance(called, str) else class_name(one["method"])
        stem = stem.removesuffix("Request").removesuffix("Notification") or stem
        params, result = one.get("params"), one.get("result")
        if is_array(params):
            params = {"kind": "tuple", "items": params}
            self.made.places[f"{at}/params/items"] = f"{at}/params"
        self.made.methods.append(
            Bound(
                name=one["method"],
                kind=kind,
                side=_HANDLERS[one["messageDirection"]],
                params=self.payload(params, (f"{stem}Params", f"{stem}MessageParams"), f"{at}/params"),
                result=self.payload(result, (f"{stem}Result", f"{stem}RequestResult"), f"{at}/result")
                if kind == "request"
                else None,
                is_optional=params is None,
                unstable=one.get("proposed") is True,
                doc=str(_about(one).get("description", "")),
                at=at,
            )
        )

    def payload(self, type_: Any, names: tuple[str, ...], at: str) -> str | None:
        """The definition of params or of a result: the one that is referred to, else a new one."""
        if type_ is None:
            return None
        if is_object(type_) and type_.get("kind") == "reference" and type_.get("name") in self.made.definitions:
            return self.made.at("definitions", type_["name"])
        return self.made.define(self.made.free(*names), self.type(type_, at), at)


def _about(one: Schema) -> Schema:
    """What a meta model says of a thing beside its type."""
    said: Schema = {}
    if isinstance(one.get("documentation"), str):
        said["description"] = one["documentation"]
    if one.get("proposed") is True:
        said["x-unstable"] = True
    if one.get("deprecated"):
        said["deprecated"] = True
    return said


def _is_number(keys: Any) -> bool:
    return is_object(keys) and keys.get("name") in ("integer", "uinteger")


def _tell_apart(definitions: Schema) -> None:
    """Name the structures that begin with an underscore after what they are, where they would be called like another one."""
    names = set(definitions)
    for name, schema in definitions.items():
        plain = class_name(name)
        if plain != name and plain in names:
            schema["x-name"] = next(one for one in _candidates(plain) if one not in names)


def _candidates(name: str) -> Iterator[str]:
    base = f"{name}Base"
    while True:
        yield base
        base += "Base"
