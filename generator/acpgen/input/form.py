"""Reads settings and other files that people write: their form is a JSON Schema, and what they hold becomes a class.

`errorMessage`, a keyword of editors, says that in the schema: `must be …`. The nearest one around a keyword holds. Of
each place only the first error counts, and a key is not missing where the table has an unknown one.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any, Final, TypeVar, cast

from msgspec import Struct
from msgspec.structs import replace

from acpgen.input.error_paths import Paths
from acpgen.input.load import read_bytes
from acpgen.pointers import follow, split_place

if TYPE_CHECKING:
    import jsonschema_rs


T = TypeVar("T")


class FormError(Struct, frozen=True):
    """A place that the form refuses, and the expected value. For an unknown key, `known` lists the keys that its table may have.

    `reason` is the message of the validator, `description` what the form says of the place.
    """

    path: tuple[str, ...]
    expected: str
    known: tuple[str, ...] | None = None
    reason: str = ""
    description: str = ""


_ONE_AT_A_TIME: Final = Lock()


class Form(Struct, frozen=True):
    """The form of a file: the JSON Schema `file`. `formats` are checks of its custom formats, `definition` selects one of its
    definitions.
    """

    file: Path
    formats: tuple[tuple[str, Callable[[str], bool]], ...] = ()
    definition: str = ""

    def get_part(self, definition: str) -> Form:
        """The form of what a definition of the schema describes."""
        return replace(self, definition=definition)

    def list_errors(self, value: object) -> Sequence[FormError]:
        """The errors of a value of TOML or JSON, in the order of the value."""
        return sorted(self._find_errors(value), key=lambda error: [*_find_positions(value, error.path)])

    def convert(self, value: object, kind: type[T]) -> T:
        """A value that the form accepts, as a class whose fields have the names of its members. Defaults are those of the class."""
        from msgspec import convert

        with _ONE_AT_A_TIME:  # msgspec uses what another thread knows of a class before that is complete, and crashes
            return convert(value, kind)

    def _find_errors(self, value: object) -> Iterator[FormError]:
        plain = json.loads(json.dumps(value, default=str), parse_constant=str)  # TOML has dates and infinity
        schema, validator = _compile(self)
        paths, reported_paths = Paths(plain), set[tuple[str, ...]]()
        errors = [(paths.locate(error), error) for error in validator.iter_errors(plain)]
        misspelt = {path for path, error in errors if hasattr(error.kind, "unexpected")}
        for path, error in errors:
            enclosing, kind = _list_schemas_around(schema, error), cast("Any", error.kind)
            missing = getattr(kind, "property", None)
            for key in getattr(kind, "unexpected", ()):
                yield FormError((*path, key), "", tuple(enclosing[-1]["properties"]))
            if hasattr(kind, "unexpected") or (missing is not None and path in misspelt):
                continue
            if missing is not None:
                member = enclosing[-1]["properties"][missing]
                target = [follow(schema, split_place(member["$ref"]))] if "$ref" in member else []
                path, enclosing = (*path, missing), [*enclosing, *target, member]
            elif type(kind).__name__ == "PropertyNames":
                path = (*path, kind.error.instance)
            if path not in reported_paths:
                reported_paths.add(path)
                is_pattern = error.schema_path[-1] == "pattern"
                texts = [
                    next((schema[key] for schema in reversed(enclosing) if key in schema), "")
                    for key in ("errorMessage", "description")
                ]
                reason = "this text does not have the expected form" if is_pattern else error.message
                yield FormError(path, texts[0].removeprefix("must be "), None, reason, texts[1])


def _find_positions(value: Any, path: Sequence[str]) -> Iterator[int]:
    """The position of each step of a path among its siblings; a missing key comes last."""
    for step in path:
        is_object = isinstance(value, dict)
        members = cast("dict[str, Any]", value if is_object else {str(index): item for index, item in enumerate(value)})
        if step not in members:
            yield len(members)
            return
        yield [*members].index(step)
        value = members[step]


@cache
def _compile(form: Form) -> tuple[Mapping[str, Any], jsonschema_rs.Draft202012Validator]:
    import jsonschema_rs  # the command starts without it

    schema: dict[str, Any] = json.loads(read_bytes(form.file))
    entry = {"$ref": f"#/$defs/{form.definition}", "$defs": schema["$defs"]} if form.definition else schema
    formats: Any = dict(form.formats)
    return schema, jsonschema_rs.Draft202012Validator(entry, formats=formats, validate_formats=True, mask="it")


def _list_schemas_around(schema: Mapping[str, Any], error: jsonschema_rs.ValidationError) -> list[Mapping[str, Any]]:
    """The schemas on the way to the keyword that refuses a place, outermost first."""
    path: list[Any] = [schema]
    for step in error.schema_path[:-1]:
        parent: Any = path[-1]
        path.append(parent[int(step)] if isinstance(parent, list) else parent[str(step)])
    return [schema for schema in path if isinstance(schema, dict)]
