"""From pydantic's errors to places in the message: JSON Pointers, the records passed on the way, schema pointers.

A location of pydantic mixes keys of the message with labels of union branches. The walk follows the validator's own core schema
beside the message, so a label is never taken for a key.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from inspect import get_annotations
from typing import Any, Final, NamedTuple

from pydantic_core import ErrorDetails

from .contract import Path
from .errors import Problem, shown, told
from .json_types import holds, is_object
from .markers import DEFAULT, FALLBACK, LABEL, Discriminator, KeyDiscriminator
from .model import wire_names
from .pointers import json_pointer, schema_pointer

CHECKED: Final = "checked"
"""The type of errors that a check of the schema raises: where in the value, and by which keyword, is told beside the sentence."""

Core = Mapping[str, Any]
_Labels = tuple[tuple[int, str], ...]


class FieldPlace(NamedTuple):
    """A field of a record on the way to an error: where it stands, which class declares it, its wire name."""

    path: Path
    record: type[Any]
    field: str
    required: bool
    is_list: bool


class PlacedError(NamedTuple):
    """An error of pydantic, placed. `places` goes from the outside in; `labels` are the union branches taken.

    `stray` is the error of an unknown tag on the way, where the union has a default branch for objects without one.
    """

    path: Path
    places: tuple[FieldPlace, ...]
    labels: _Labels
    record: type[Any] | None
    details: ErrorDetails
    union: Discriminator | KeyDiscriminator | None = None
    stray: PlacedError | None = None


def find(details: ErrorDetails, core: Core, value: Any) -> PlacedError:
    """Place one error in the message `value` that `core` judged."""
    walk = _Walk(core, value)
    for step in details["loc"]:
        walk.step(step)
    for step in _told_beside(details).get("path", ()):
        walk.enter(step)
    path = tuple(walk.path)
    union = walk.union() if details["type"] in ("union_tag_not_found", "union_tag_invalid") else None
    if isinstance(union, Discriminator) and holds(walk.value, union.field):
        path = (*path, union.field)
    return PlacedError(path, tuple(walk.places), tuple(walk.labels), walk.record, details, union, walk.stray)


def _told_beside(details: ErrorDetails) -> Mapping[str, Any]:
    return details.get("ctx", {}) if details["type"] == CHECKED else {}


class _Walk:
    def __init__(self, core: Core, value: Any) -> None:
        self.definitions: dict[str, Core] = {}
        self.core: Core | None = core
        self.value: Any = value
        self.path: list[str | int] = []
        self.places: list[FieldPlace] = []
        self.labels: list[tuple[int, str]] = []
        self.record: type[Any] | None = None
        self.stray: PlacedError | None = None

    def step(self, step: str | int) -> None:
        core = self._settled(self.core)
        kind = core["type"] if core is not None else None
        if kind in ("union", "tagged-union") and core is not None:
            if not isinstance(step, str) or not step.startswith(LABEL):
                self.core = None  # a branch without a label of ours: from here on the message alone says what is a key
                return
            if step in (DEFAULT, FALLBACK):
                self._read_with_a_stray_tag()
            self.labels.append((len(self.path), step))
            self.core = self._branch(core, step)
            return
        if kind == "model" and core is not None:
            self._field(core, step)
        elif kind == "list" and core is not None and isinstance(step, int):
            self._into(core.get("items_schema"), step)
        elif kind == "tuple" and core is not None and isinstance(step, int):
            entries = core["items_schema"]
            self._into(entries[min(step, len(entries) - 1)], step)
        elif kind == "dict" and core is not None:
            self._into(core.get("values_schema"), step)
        elif holds(self.value, step):
            self._into(None, step)

    def enter(self, step: str | int) -> None:
        """Follow a step of the message itself."""
        core = self._settled(self.core)
        if core is None or core["type"] in ("union", "tagged-union"):
            self._into(None, step)
        else:
            self.step(step)

    def _read_with_a_stray_tag(self) -> None:
        """In a union that is closed but for what looks like its default branch, an unknown tag may be why the rest does not fit."""
        union = self.union()
        if not isinstance(union, Discriminator):
            return
        tag = self.value.get(union.field) if is_object(self.value) else None
        if union.is_closed and isinstance(tag, str) and tag not in union.quick:
            details = ErrorDetails(type="union_tag_invalid", loc=(), msg="", input=self.value)
            path = (*self.path, union.field)
            self.stray = PlacedError(path, tuple(self.places), tuple(self.labels), self.record, details, union)

    def union(self) -> Discriminator | KeyDiscriminator | None:
        """How the union at the place reached is discriminated."""
        core = self._settled(self.core)
        found = core.get("discriminator") if core is not None else None
        return found if isinstance(found, Discriminator | KeyDiscriminator) else None

    def _into(self, core: Core | None, step: str | int) -> None:
        self.value = self.value[step] if holds(self.value, step) else None
        self.path.append(step)
        self.core = core

    def _field(self, core: Core, step: str | int) -> None:
        fields = self._settled(core["schema"])
        assert fields is not None
        self.record = core["cls"]
        for field in fields.get("fields", {}).values():
            if field.get("validation_alias") == step:
                break
        else:
            field = fields.get("fields", {}).get(step)
        if not holds(self.value, step):
            self.core = None
            if field is not None:
                self.places.append(self._place(core, field, str(step)))
            return
        if field is not None:
            self.places.append(self._place(core, field, str(step)))
        self._into(field["schema"] if field is not None else fields.get("extras_schema"), step)

    def _place(self, core: Core, field: Core, step: str) -> FieldPlace:
        schema = field["schema"]
        inner = self._settled(schema)
        is_list = inner is not None and inner["type"] == "list"
        return FieldPlace((*self.path, step), core["cls"], step, schema["type"] != "default", is_list)

    def _branch(self, core: Core, label: str) -> Core | None:
        if core["type"] == "tagged-union":
            choices: Mapping[str, Core] = core["choices"]
            return choices.get(label)
        choices_by_label: list[tuple[Core, str]] = core.get("choices", [])
        return next((choice for choice, name in choices_by_label if name == label), None)

    def _settled(self, core: Core | None) -> Core | None:
        """The schema below wrappers that add no step to a location."""
        while core is not None:
            match core["type"]:
                case "definitions":
                    self.definitions.update({entry["ref"]: entry for entry in core["definitions"]})
                    core = core["schema"]
                case "definition-ref":
                    core = self.definitions[core["schema_ref"]]
                case (
                    "default" | "missing-sentinel" | "nullable" | "function-wrap" | "function-after" | "function-before"
                ):
                    core = core["schema"]
                case _:
                    return core
        return None


def chosen(found: Sequence[PlacedError]) -> list[PlacedError]:
    """The errors worth telling: of a union discriminated by shape, those of the branch that comes nearest. Inner unions come first."""
    kept = list(found)
    for position in reversed(range(max((len(error.labels) for error in found), default=0))):
        unions: dict[tuple[Path, _Labels], dict[str, list[PlacedError]]] = {}
        for error in kept:
            if len(error.labels) > position:
                depth, label = error.labels[position]
                place = error.path[:depth], error.labels[:position]
                unions.setdefault(place, {}).setdefault(label, []).append(error)
        dropped: set[int] = set()
        for (path, _), groups in unions.items():
            distances = {label: _distance(group, len(path), label) for label, group in groups.items()}
            best = min(distances, key=lambda label: distances[label])
            dropped.update(id(error) for label, group in groups.items() if label != best for error in group)
        kept = [error for error in kept if id(error) not in dropped]
    return kept


def _distance(group: Sequence[PlacedError], depth: int, label: str) -> tuple[bool, bool, int]:
    """How far a branch is from fitting: a wrong type of the whole value is farthest, then missing fields count."""
    whole = any(len(error.path) == depth and error.details["type"] != "missing" for error in group)
    missing = sum(error.details["type"] == "missing" and len(error.path) == depth for error in group)
    return whole, label == f"{LABEL}other", missing * 1000 + len(group)


def with_strays(errors: Sequence[PlacedError]) -> list[PlacedError]:
    """The errors, and before those of a default branch the unknown tag that led there."""
    result: list[PlacedError] = []
    told: set[Path] = set()
    for error in errors:
        stray = error.stray
        if stray is not None and stray.path not in told:
            told.add(stray.path)
            result.append(stray)
        result.append(error)
    return result


def is_whole_number(details: ErrorDetails) -> bool:
    """Whether an error is of a whole number that came with a fraction of zero."""
    value = details.get("input")
    return (
        details["type"] in ("int_type", "int_from_float", "literal_error")
        and type(value) is float
        and value.is_integer()
    )


def problem(found: PlacedError, owners: Mapping[str, Mapping[str, str]]) -> Problem:
    """Say what an error means. `owners` maps class and field to the definition that declares the field, where it is another."""
    return Problem(json_pointer(found.path), _schema_pointer(found, owners), _sentence(found))


def _schema_pointer(found: PlacedError, owners: Mapping[str, Mapping[str, str]]) -> str:
    if "schema" in _told_beside(found.details):
        return str(found.details.get("ctx", {})["schema"])
    if not found.places:
        return schema_pointer(("$defs", found.record.__name__)) if found.record is not None else ""
    place = found.places[-1]
    return schema_pointer(("$defs", _owner(place, owners), "properties", place.field))


def _owner(place: FieldPlace, owners: Mapping[str, Mapping[str, str]]) -> str:
    """The definition that declares a field: the class that does, or the one that the table names for it."""
    wire = wire_names(place.record)
    for record in place.record.__mro__:
        owner = owners.get(record.__name__, {}).get(place.field)
        if owner is not None:
            return owner
        if place.field in (wire.get(name) for name in get_annotations(record)):
            return record.__name__
    return place.record.__name__


def _sentence(found: PlacedError) -> str:
    details = found.details
    kind, value = details["type"], details.get("input")
    if kind == CHECKED:
        return details["msg"]
    match kind:
        case "missing" if isinstance(details["loc"][-1], int):
            return "an item is required here"
        case "missing":
            return f"the field {details['loc'][-1]!r} is required"
        case "union_tag_not_found" | "union_tag_invalid":
            return _tag_sentence(found, value)
        case "extra_forbidden":
            return "this field is not allowed here"
        case "model_type" | "model_attributes_type" | "dict_type":
            return f"an object is expected, not {told(value)}"
        case "none_required":
            return f"null is expected, not {told(value)}"
        case "list_type" | "tuple_type":
            return f"an array is expected, not {told(value)}"
        case "string_type":
            return f"a string is expected, not {told(value)}"
        case "int_type" | "int_from_float":
            return f"an integer is expected, not {told(value)}"
        case "int_without_fraction":
            return f"an integer without a fraction is expected, not {told(value)}"
        case "float_type":
            return f"a number is expected, not {told(value)}"
        case "bool_type":
            return f"true or false is expected, not {told(value)}"
        case "literal_error":
            expected = details.get("ctx", {}).get("expected", "")
            return f"{told(value)} is not one of {expected}" if expected else "no value is allowed here"
        case "too_short" | "too_long" | "string_too_short" | "string_too_long":
            what, unit = ("string", "characters") if kind.startswith("string") else ("array", "items")
            limit = details.get("ctx", {})
            if "min_length" in limit:
                return f"the {what} must have {limit['min_length']} {unit} or more"
            return f"the {what} may have {limit['max_length']} {unit} at most"
        case "greater_than_equal" | "less_than_equal" | "greater_than" | "less_than" | "multiple_of":
            ((name, limit),) = details.get("ctx", {}).items()
            return f"the number {_BOUNDS[name].format(limit)}"
        case "string_pattern_mismatch":
            return f"{told(value)} does not match the pattern {shown(details.get('ctx', {}).get('pattern'))}"
        case _:
            message = details["msg"]
            return message[0].lower() + message[1:]


_BOUNDS: Final = {
    "ge": "must be {} or more",
    "le": "may be {} at most",
    "gt": "must be more than {}",
    "lt": "must be less than {}",
    "multiple_of": "must be a multiple of {}",
}


def _tag_sentence(found: PlacedError, value: Any) -> str:
    if not is_object(value) or found.union is None:
        return f"an object is expected, not {told(value)}"
    if isinstance(found.union, KeyDiscriminator):
        given = ", ".join(map(shown, value)) or "nothing"
        return f"the object must have one field of {', '.join(map(shown, found.union.variants))}; it has {given}"
    field = found.union.field
    known = ", ".join(shown(tag) for _, tag in found.union.labels)
    if field not in value:
        return f"the field {field!r} is required; known values are {known}"
    return f"{told(value[field])} is not a known value of {field!r}; known are {known}"
