"""An importer of OpenRPC documents: component schemas become definitions, and so do the params and the result of each method."""

from __future__ import annotations

import posixpath
from collections import Counter
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, Final, TypeAlias
from urllib.parse import unquote, urljoin

from acpgen import ir
from acpgen.errors import Fault
from acpgen.importers.faults import NOT_THAT_DOCUMENT
from acpgen.input.faults import report_dangling
from acpgen.input.walk import Schema, copy_json, is_array, is_object, list_children
from acpgen.methods.profile import KINDS
from acpgen.naming.identifiers import make_class_name
from acpgen.pointers import escape, follow, split_pointer, write_plain_pointer

_DRAFT: Final = "http://json-schema.org/draft-07/schema#"
"""The draft of JSON Schema that OpenRPC specifies."""

_SCHEMAS: Final = "#/components/schemas/"
_READ: Final = ("name", "params", "result", "paramStructure")
_WORDS: Final = ("summary", "description", "tags", "externalDocs", "examples", "deprecated", "servers", "links")
"""Members of a method that do not affect messages."""

_STRUCTURES: Final = ("by-name", "by-position", "either")


Elsewhere: TypeAlias = Callable[[str], tuple[str, Any] | None]
"""Returns the path and the value of another document, by the part of a reference before its fragment; `None` if there is no such
document.
"""

READ: Final = ("methods", "components")
"""The members of a document that are read."""


class OpenRpc:
    """An OpenRPC document, which may refer to others, as a schema and methods.

    Params and results of `methods` are places of definitions in the schema, `value`; `omitted` of a method is "refused" if some of its
    params are required. `places` maps places of the schema to those of the document. `unread` is what the document states about messages
    and nothing reads, by a phrase that names it. `faults` are its errors.
    """

    def __init__(self, document: Mapping[str, Any], path: str, elsewhere: Elsewhere) -> None:
        self.path = path
        self.methods: list[ir.Method] = []
        self.places = {self.locate("definitions"): self.locate("components", "schemas")}
        self.unread: dict[str, Any] = {}
        self.faults: list[Fault] = []
        self._document = document
        self._elsewhere = elsewhere
        self._definitions: Schema = {}
        self._without_params = dict[str, str]()
        components = document.get("components", {})
        schemas: Any = components.get("schemas") if is_object(components) else None
        for name, schema in schemas.items() if is_object(schemas) else ():
            self._define(name, _localize(schema), self.locate("components", "schemas", name))
        method_list: Any = document["methods"]
        if not is_array(method_list):
            self._refuse(self.locate("methods"), "the methods are an array")
        for index, method in enumerate(method_list if is_array(method_list) else ()):
            target, at = self._resolve(method, self.locate("methods", index))
            if is_object(target):
                self._read_method(target, at)
            elif target is not None or method is None:
                self._refuse(at, "a method is an object")
        info = document.get("info")
        about = info if is_object(info) else {}
        words = {key: about[key] for key in ("title", "description") if isinstance(about.get(key), str)}
        members = {key: value for key, value in document.items() if key not in ("$schema", "$defs", "$id")}
        self.value: Final[Schema] = {**members, **words, "$schema": _DRAFT, "definitions": self._definitions}

    def locate(self, *keys: str | int) -> str:
        """The place of a value in the document."""
        return f"{self.path}#{write_plain_pointer(*keys)}"

    def _define(self, name: str, schema: Any, at: str) -> str:
        """Add a definition of a schema that is at a place of the document; return the place of the definition."""
        place = self.locate("definitions", name)
        self._definitions[name] = schema
        self.places[place] = at
        return place

    def _find_free(self, *names: str) -> str:
        """The first of these names whose class name no definition has; else the last name with as many underscores as it needs."""
        class_names = {make_class_name(name) for name in self._definitions}
        free = next((name for name in names if make_class_name(name) not in class_names), None)
        if free is None:
            free = f"{names[-1]}_"
            while free in self._definitions:
                free += "_"
        return free

    def _refuse(self, at: str, reason: str) -> None:
        self.faults.append(NOT_THAT_DOCUMENT(at=at, kind=KINDS["openrpc"], reason=reason))

    def _resolve(self, value: Any, at: str) -> tuple[Any, str]:
        """Resolve a reference object to a value and its place; `None`, and a fault, if the reference is dangling.

        References in a value of another document are rewritten, so that they still resolve there.
        """
        visited: set[str] = set()
        while is_object(value) and isinstance(value.get("$ref"), str):
            ref = value["$ref"]
            location, mark, fragment = ref.partition("#")
            path, whole = (self._elsewhere(location) if location else (self.path, dict(self._document))) or ("", None)
            try:
                if not mark or not fragment.startswith("/") or ref in visited or not is_object(whole):
                    raise KeyError(ref)
                value, visited = follow(whole, split_pointer(unquote(fragment))), visited | {ref}
            except KeyError:
                self.faults.append(report_dangling(at, ref, "" if whole is not None else location))
                return None, at
            at = f"{path}#{fragment}"
            value = _rebase(value, location)
        return value, at

    def _read_method(self, method: Schema, at: str) -> None:
        name = method.get("name")
        params = method.get("params", [])
        structure = method.get("paramStructure", "either")
        if not isinstance(name, str) or not name:
            self._refuse(at, "a method has a 'name', a text")
        elif not is_array(params):
            self._refuse(f"{at}/params", "'params' is a list of content descriptors")
        elif structure not in _STRUCTURES:
            self._refuse(f"{at}/paramStructure", f"'paramStructure' is one of {', '.join(_STRUCTURES)}")
        elif (first := next((entry for entry in self.methods if entry.name == name), None)) is not None:
            self._refuse(at, f"this is a second method {name!r}; the first is {first.at}")
        else:
            stem = make_class_name(name)
            errors = method.get("errors")
            error_list = errors if is_array(errors) else ()
            error_objects = [self._resolve(error, f"{at}/errors/{index}")[0] for index, error in enumerate(error_list)]
            members = {**method, **({"errors": error_objects} if error_list else {})}
            unread = [key for key in members if key not in (*_READ, *_WORDS) and not key.startswith("x-")]
            self.unread.update({f"{key} of {name}": members[key] for key in unread})
            words = [str(method[key]) for key in ("summary", "description") if isinstance(method.get(key), str)]
            candidates = [self._read_descriptor(param, f"{at}/params/{index}") for index, param in enumerate(params)]
            descriptors = [descriptor for descriptor in candidates if descriptor is not None]
            counts = Counter(descriptor["name"] for descriptor, _ in descriptors)
            for duplicate in (param_name for param_name, count in counts.items() if count > 1):
                self._refuse(f"{at}/params", f"several params of {name!r} have the name {duplicate!r}")
            self.methods.append(
                ir.Method(
                    name=name,
                    kind="request" if "result" in method else "notification",
                    side="server",
                    params=self._read_params(stem, descriptors, structure, f"{at}/params"),
                    result=self._read_result(stem, method.get("result"), f"{at}/result"),
                    omitted="refused"
                    if any(descriptor.get("required") is True for descriptor, _ in descriptors)
                    else "nothing",
                    positions=()
                    if structure == "by-name"
                    else tuple(descriptor["name"] for descriptor, _ in descriptors),
                    doc="\n\n".join(words),
                    at=at,
                )
            )

    def _read_descriptor(self, value: Any, at: str) -> tuple[Schema, str] | None:
        """A content descriptor and its place; `None`, and a fault, if the value is not one."""
        target, at = self._resolve(value, at)
        if target is None:
            return None
        members = target if is_object(target) else {}
        if isinstance(members.get("name"), str) and isinstance(members.get("schema"), dict | bool):
            return members, at
        self._refuse(at, "a content descriptor has a 'name' and a 'schema'")
        return None

    def _read_params(self, stem: str, descriptors: list[tuple[Schema, str]], structure: str, at: str) -> str:
        """Define the params of a method; return the place of the definition. Methods without params share one definition for each
        structure.
        """
        if descriptors:
            return self._define_params(
                self._find_free(f"{stem}Params", f"{stem}MethodParams"), descriptors, structure, at
            )
        if structure not in self._without_params:
            name = self._find_free("NoParams", f"NoParams{len(self._without_params)}")
            self._without_params[structure] = self._define_params(name, [], structure, at)
        return self._without_params[structure]

    def _define_params(self, name: str, descriptors: list[tuple[Schema, str]], structure: str, at: str) -> str:
        if structure == "by-name":
            return self._define_by_name(name, descriptors, at)
        if structure == "by-position":
            return self._define_by_position(name, descriptors, at)
        place = self._define(name, {}, at)
        forms = [self._find_free(f"{name}ByName"), self._find_free(f"{name}ByPosition")]
        self._define_by_name(forms[0], descriptors, at)
        self._define_by_position(forms[1], descriptors, at)
        self._definitions[name] = {
            "anyOf": [{"$ref": f"#{write_plain_pointer('definitions', form)}"} for form in forms]
        }
        return place

    def _define_by_name(self, name: str, descriptors: list[tuple[Schema, str]], at: str) -> str:
        properties = {descriptor["name"]: _with_words(descriptor) for descriptor, _ in descriptors}
        for descriptor, place in descriptors:
            self.places[f"{at}/properties/{escape(descriptor['name'])}"] = f"{place}/schema"
        required = [descriptor["name"] for descriptor, _ in descriptors if descriptor.get("required") is True]
        schema = {"type": "object", "properties": properties} | ({"required": required} if required else {})
        return self._define(name, schema, at)

    def _define_by_position(self, name: str, descriptors: list[tuple[Schema, str]], at: str) -> str:
        for index, (_, place) in enumerate(descriptors):
            for keyword in ("items", "prefixItems"):
                self.places[f"{at}/{keyword}/{index}"] = f"{place}/schema"
        required = [
            index + 1 for index, (descriptor, _) in enumerate(descriptors) if descriptor.get("required") is True
        ]
        schema: Schema = {"type": "array", "items": False}
        if descriptors:
            counts = {"minItems": max(required, default=0), "maxItems": len(descriptors)}
            schema |= {
                "items": [_with_words(descriptor) for descriptor, _ in descriptors],
                "additionalItems": False,
                **counts,
            }
        return self._define(name, schema, at)

    def _read_result(self, stem: str, value: Any, at: str) -> str | None:
        pair = None if value is None else self._read_descriptor(value, at)
        if pair is None:
            return None
        descriptor, at = pair
        ref = descriptor["schema"].get("$ref") if is_object(descriptor["schema"]) else None
        if isinstance(ref, str) and ref.startswith(_SCHEMAS) and "/" not in ref.removeprefix(_SCHEMAS):
            name = split_pointer(ref)[-1]
            if name in self._definitions:
                return self.locate("definitions", name)
        return self._define(
            self._find_free(f"{stem}Result", f"{stem}MethodResult"), _with_words(descriptor), f"{at}/schema"
        )


def _rebase(value: Any, location: str) -> Any:
    """A value of the document at a location, with its references rewritten to be valid outside of it."""
    if not location:
        return value
    if is_array(value):
        return [_rebase(item, location) for item in value]
    if not is_object(value):
        return value
    members = {
        key: _with_references(inner, partial(_join_reference, location))
        if key == "schema"
        else _rebase(inner, location)
        for key, inner in value.items()
    }
    return members | (
        {"$ref": _join_reference(location, members["$ref"])} if isinstance(members.get("$ref"), str) else {}
    )


def _join_reference(location: str, ref: str) -> str:
    """A reference of the document at a location, rewritten to be valid outside of it."""
    path, mark, fragment = ref.partition("#")
    if not path:
        return f"{location}{ref}"
    if "://" in location or "://" in path:
        return urljoin(location, ref)
    return posixpath.normpath(posixpath.join(posixpath.dirname(location), path)) + mark + fragment


def _with_words(descriptor: Schema) -> Any:
    """The schema of a content descriptor, with the descriptor's description or summary if it has no description of its own."""
    schema = _localize(descriptor["schema"])
    words = next((descriptor[key] for key in ("description", "summary") if isinstance(descriptor.get(key), str)), None)
    if words is None or not is_object(schema) or "description" in schema or "$ref" in schema:
        return schema
    return {**schema, "description": words}


def _localize(schema: Any) -> Any:
    """A copy of a schema whose references to components point to definitions."""
    return _with_references(
        schema, lambda ref: f"#/definitions/{ref.removeprefix(_SCHEMAS)}" if ref.startswith(_SCHEMAS) else ref
    )


def _with_references(schema: Any, rewrite: Callable[[str], str]) -> Any:
    """A copy of a schema with its references rewritten."""
    schema = copy_json(schema)
    stack = [schema]
    while stack:
        subschema = stack.pop()
        if is_object(subschema):
            if isinstance(subschema.get("$ref"), str):
                subschema["$ref"] = rewrite(subschema["$ref"])
            stack.extend(child for _, child in list_children(subschema))
    return schema
