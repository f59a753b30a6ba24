"""An importer of OpenRPC documents: component schemas become definitions, and so do the params and the result of each method."""

from __future__ import annotations

import posixpath
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, Final
from urllib.parse import unquote, urljoin

from acpgen import ir
from acpgen.importers.importer_document import Elsewhere, ImporterDocument, reference
from acpgen.input.faults import dangling
from acpgen.input.walk import Schema, children, copied, is_array, is_object
from acpgen.naming.identifiers import class_name
from acpgen.pointers import escape, follow, pointer_parts

_DRAFT: Final = "http://json-schema.org/draft-07/schema#"
"""The draft of JSON Schema that OpenRPC specifies."""

_SCHEMAS: Final = "#/components/schemas/"
_READ: Final = ("name", "params", "result", "paramStructure")
_WORDS: Final = ("summary", "description", "tags", "externalDocs", "examples", "deprecated", "servers", "links")
"""Members of a method that do not affect messages."""

_STRUCTURES: Final = ("by-name", "by-position", "either")


def read_openrpc(document: Mapping[str, Any], path: str, elsewhere: Elsewhere) -> ImporterDocument:
    """Translate an OpenRPC document, which may refer to others, to a schema and methods. Its errors are in `faults`."""
    output = ImporterDocument(path, "an OpenRPC document", read=("methods", "components"))
    components = document.get("components", {})
    schemas: Any = components.get("schemas") if is_object(components) else None
    output.places[output.at("definitions")] = output.at("components", "schemas")
    for name, schema in schemas.items() if is_object(schemas) else ():
        output.define(name, _local(schema), output.at("components", "schemas", name))
    reader = _Reader(document, output, elsewhere)
    for index, method in enumerate(document["methods"]):
        target, at = reader.resolve(method, output.at("methods", index))
        if is_object(target):
            reader.method(target, at)
        elif target is not None or method is None:
            output.wrong(at, "a method is an object")
    info = document.get("info")
    about = info if is_object(info) else {}
    words = {key: about[key] for key in ("title", "description") if isinstance(about.get(key), str)}
    rest = {key: value for key, value in document.items() if key not in ("$schema", "$defs", "$id")}
    output.value = {**rest, **words, "$schema": _DRAFT, "definitions": output.definitions}
    return output


class _Reader:
    def __init__(self, document: Mapping[str, Any], output: ImporterDocument, elsewhere: Elsewhere) -> None:
        self.document = document
        self.output = output
        self.elsewhere = elsewhere
        self.none = dict[str, str]()

    def resolve(self, value: Any, at: str) -> tuple[Any, str]:
        """Resolve a reference object to a value and its place; `None`, and a fault, if the reference is dangling.

        References in a value of another document are rewritten, so that they still resolve there.
        """
        visited: set[str] = set()
        while is_object(value) and isinstance(value.get("$ref"), str):
            ref = value["$ref"]
            location, mark, fragment = ref.partition("#")
            path, whole = (self.elsewhere(location) if location else (self.output.path, dict(self.document))) or (
                "",
                None,
            )
            try:
                if not mark or not fragment.startswith("/") or ref in visited or not is_object(whole):
                    raise KeyError(ref)
                value, visited = follow(whole, pointer_parts(unquote(fragment))), visited | {ref}
            except KeyError:
                self.output.faults.append(dangling(at, ref, "" if whole is not None else location))
                return None, at
            at = f"{path}#{fragment}"
            value = _seen_from_here(value, location)
        return value, at

    def method(self, method: Schema, at: str) -> None:
        name = method.get("name")
        params = method.get("params", [])
        structure = method.get("paramStructure", "either")
        if not isinstance(name, str) or not name:
            self.output.wrong(at, "a method has a 'name', a text")
        elif not is_array(params):
            self.output.wrong(f"{at}/params", "'params' is a list of content descriptors")
        elif structure not in _STRUCTURES:
            self.output.wrong(f"{at}/paramStructure", f"'paramStructure' is one of {', '.join(_STRUCTURES)}")
        else:
            stem = class_name(name)
            errors = method.get("errors")
            each = errors if is_array(errors) else ()
            error_objects = [self.resolve(one, f"{at}/errors/{index}")[0] for index, one in enumerate(each)]
            self.output.leave(name, {**method, **({"errors": error_objects} if each else {})}, (*_READ, *_WORDS))
            words = [str(method[key]) for key in ("summary", "description") if isinstance(method.get(key), str)]
            candidates = [self.descriptor(one, f"{at}/params/{index}") for index, one in enumerate(params)]
            descriptors = [one for one in candidates if one is not None]
            self.output.methods.append(
                ir.Method(
                    name=name,
                    kind="request" if "result" in method else "notification",
                    side="server",
                    params=self.params(stem, descriptors, structure, f"{at}/params"),
                    result=self.result(stem, method.get("result"), f"{at}/result"),
                    omitted="refused" if any(one.get("required") is True for one, _ in descriptors) else "nothing",
                    positions=() if structure == "by-name" else tuple(one["name"] for one, _ in descriptors),
                    doc="\n\n".join(words),
                    at=at,
                )
            )

    def descriptor(self, value: Any, at: str) -> tuple[Schema, str] | None:
        """A content descriptor and its place; `None`, and a fault, if the value is not one."""
        target, at = self.resolve(value, at)
        if target is None:
            return None
        if (
            not is_object(target)
            or not isinstance(target.get("name"), str)
            or not isinstance(target.get("schema"), dict | bool)
        ):
            self.output.wrong(at, "a content descriptor has a 'name' and a 'schema'")
            return None
        return target, at

    def params(self, stem: str, descriptors: list[tuple[Schema, str]], structure: str, at: str) -> str:
        """Define the params of a method; return the place of the definition. Methods without params share one definition for each
        structure.
        """
        if not descriptors:
            if structure not in self.none:
                self.none[structure] = self.define_params(
                    self.output.free("NoParams", f"NoParams{len(self.none)}"), [], structure, at
                )
            return self.none[structure]
        return self.define_params(self.output.free(f"{stem}Params", f"{stem}MethodParams"), descriptors, structure, at)

    def define_params(self, name: str, descriptors: list[tuple[Schema, str]], structure: str, at: str) -> str:
        if structure == "by-name":
            return self.by_name(name, descriptors, at)
        if structure == "by-position":
            return self.by_position(name, descriptors, at)
        here = self.output.define(name, {}, at)
        forms = [self.output.free(f"{name}ByName"), self.output.free(f"{name}ByPosition")]
        self.by_name(forms[0], descriptors, at)
        self.by_position(forms[1], descriptors, at)
        self.output.definitions[name] = {"anyOf": [reference(form) for form in forms]}
        return here

    def by_name(self, name: str, descriptors: list[tuple[Schema, str]], at: str) -> str:
        properties = {one["name"]: _with_words(one) for one, _ in descriptors}
        for one, place in descriptors:
            self.output.places[f"{at}/properties/{escape(one['name'])}"] = f"{place}/schema"
        required = [one["name"] for one, _ in descriptors if one.get("required") is True]
        schema = {"type": "object", "properties": properties} | ({"required": required} if required else {})
        return self.output.define(name, schema, at)

    def by_position(self, name: str, descriptors: list[tuple[Schema, str]], at: str) -> str:
        for index, (_, place) in enumerate(descriptors):
            for keyword in ("items", "prefixItems"):
                self.output.places[f"{at}/{keyword}/{index}"] = f"{place}/schema"
        required_count = max(
            (index + 1 for index, (one, _) in enumerate(descriptors) if one.get("required") is True), default=0
        )
        schema: Schema = {"type": "array", "items": False}
        if descriptors:
            items = [_with_words(one) for one, _ in descriptors]
            schema |= {
                "items": items,
                "additionalItems": False,
                "minItems": required_count,
                "maxItems": len(descriptors),
            }
        return self.output.define(name, schema, at)

    def result(self, stem: str, value: Any, at: str) -> str | None:
        pair = None if value is None else self.descriptor(value, at)
        if pair is None:
            return None
        descriptor, at = pair
        ref = descriptor["schema"].get("$ref") if is_object(descriptor["schema"]) else None
        if isinstance(ref, str) and ref.startswith(_SCHEMAS) and "/" not in ref.removeprefix(_SCHEMAS):
            name = pointer_parts(ref)[-1]
            if name in self.output.definitions:
                return self.output.at("definitions", name)
        return self.output.define(
            self.output.free(f"{stem}Result", f"{stem}MethodResult"), _with_words(descriptor), f"{at}/schema"
        )


def _seen_from_here(value: Any, location: str) -> Any:
    """A value of the document at a location, with its references rewritten to be valid outside of it."""
    if not location:
        return value
    if is_array(value):
        return [_seen_from_here(each, location) for each in value]
    if not is_object(value):
        return value
    members = {
        key: _with_references(inner, partial(_join_reference, location))
        if key == "schema"
        else _seen_from_here(inner, location)
        for key, inner in value.items()
    }
    return members | (
        {"$ref": _join_reference(location, members["$ref"])} if isinstance(members.get("$ref"), str) else {}
    )


def _join_reference(location: str, ref: str) -> str:
    """A reference of the document at a location, rewritten to be valid outside of it."""
    other, mark, fragment = ref.partition("#")
    if not other:
        return f"{location}{ref}"
    if "://" in location or "://" in other:
        return urljoin(location, ref)
    return posixpath.normpath(posixpath.join(posixpath.dirname(location), other)) + mark + fragment


def _with_words(descriptor: Schema) -> Any:
    """The schema of a content descriptor, with the descriptor's description or summary if it has no description of its own."""
    schema = _local(descriptor["schema"])
    words = next((descriptor[key] for key in ("description", "summary") if isinstance(descriptor.get(key), str)), None)
    if words is None or not is_object(schema) or "description" in schema or "$ref" in schema:
        return schema
    return {**schema, "description": words}


def _local(schema: Any) -> Any:
    """A copy of a schema whose references to components point to definitions."""
    return _with_references(
        schema, lambda ref: f"#/definitions/{ref.removeprefix(_SCHEMAS)}" if ref.startswith(_SCHEMAS) else ref
    )


def _with_references(schema: Any, rewrite: Callable[[str], str]) -> Any:
    """A copy of a schema with its references rewritten."""
    schema = copied(schema)
    waiting = [schema]
    while waiting:
        one = waiting.pop()
        if is_object(one):
            if isinstance(one.get("$ref"), str):
                one["$ref"] = rewrite(one["$ref"])
            waiting.extend(child for _, child in children(one))
    return schema
