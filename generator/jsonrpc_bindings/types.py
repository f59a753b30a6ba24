"""The types that annotations of generated modules stand for: each annotation is resolved once, and the type is used to decode and
validate.
"""

from __future__ import annotations

import typing
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from types import NoneType, UnionType
from typing import Annotated, Any, Final, Literal, Never, TypeAlias, cast, get_args, get_origin

from msgspec import UnsetType

from .annotations import Alias, Constants, Marker, Meta, Number, Shapes, Tagged, is_unpacked, resolve
from .fields import Field, get_shape, is_record
from .json_types import make_scalar_key
from .string_enums import OpenStringEnum, is_string_enum

Scalar: TypeAlias = Literal["any", "never", "null", "boolean", "integer", "number", "string"]
Kind: TypeAlias = Scalar | Literal["constants", "texts", "array", "tuple", "map", "record", "optional", "union"]


@dataclass(frozen=True, eq=False)
class Type:
    """A type of JSON values.

    `annotation` is what was resolved; `inside` has the annotations of its parts: of items or values, of a tuple's first items followed
    by that of the others, or of branches. `is_judged`: the schema is stricter. `cls` is the record class or string enumeration. `values`
    are constants; `is_open`: they are strings, and any other string is allowed too. `marker` says how the branches of a union are
    discriminated.
    """

    kind: Kind
    annotation: Any
    inside: tuple[Any, ...] = ()
    limits: tuple[Meta, ...] = ()
    is_judged: bool = False
    cls: Any = None
    values: tuple[Any, ...] = ()
    is_open: bool = False
    marker: Marker | None = None

    @cached_property
    def children(self) -> tuple[Type, ...]:
        """The types of its parts; for a record those of the fields, and that of unnamed fields."""
        if self.kind == "record":
            shape = get_shape(self.cls)
            return (*map(read_field_type, shape.fields.values()), read_type(shape.get_extra_type()))
        return tuple(map(read_type, self.inside))

    @cached_property
    def branches(self) -> tuple[Type, ...]:
        """The alternatives of a union; any other type is its only branch."""
        if self.kind == "optional":
            return (*self.children, read_type(NoneType))
        return self.children if self.kind == "union" else (self,)

    def list_branches(self) -> Iterator[Type]:
        """Yield the branches, with nested unions flattened."""
        for branch in self.branches:
            yield from (branch,) if branch is self else branch.list_branches()

    def list_reachable(self) -> Iterator[Type]:
        """Yield the type, and each type that is reachable from it."""
        visited: set[Type] = {self}
        worklist: list[Type] = [self]
        for type_ in worklist:  # which grows
            yield type_
            worklist += [child for child in dict.fromkeys(type_.children) if child not in visited]
            visited.update(type_.children)

    @cached_property
    def classes(self) -> tuple[Any, ...]:
        """The record classes among the branches."""
        return tuple(branch.cls for branch in self.list_branches() if branch.kind == "record")

    @cached_property
    def takes_texts_as_they_are(self) -> bool:
        """Whether strings need no conversion to a class."""
        return not any(branch.kind == "texts" for branch in self.list_branches())

    @cached_property
    def json_classes(self) -> frozenset[type]:
        """The Python classes of parsed JSON that values may have."""
        if self.kind == "constants":
            return frozenset([*map(type, self.values), *([str] if self.is_open else [])])
        if self.kind in ("union", "optional"):
            return frozenset(cls for branch in self.branches for cls in branch.json_classes)
        return _JSON_CLASSES.get(self.kind, JSON_CLASSES)

    @property
    def takes_objects(self) -> bool:
        """Whether values may be objects."""
        return dict in self.json_classes

    def list_constants(self, wire: str) -> tuple[Any, ...] | None:
        """The constants that objects of the type have in a field; `None` if other values are allowed."""
        if self.kind == "record":
            shape = get_shape(self.cls)
            if wire in shape.constants and not shape.is_unknown:
                return (shape.constants[wire],)
            types = [read_field_type(field) for field in shape.fields.values() if field.wire == wire]
            branches = [branch for type_ in types for branch in type_.list_branches()]
            is_closed = bool(branches) and all(
                branch.kind in ("constants", "texts") and not branch.is_open for branch in branches
            )
            return tuple(value for branch in branches for value in branch.values) if is_closed else None
        branch_constants = [
            branch.list_constants(wire) for branch in self.branches if branch.takes_objects and branch is not self
        ]
        return (
            None
            if not branch_constants or None in branch_constants
            else tuple(dict.fromkeys(tag for tags in branch_constants for tag in tags or ()))
        )

    def requires(self, wire: str) -> bool:
        """Whether objects of the type must have a field."""
        if self.kind == "record":
            shape = get_shape(self.cls)
            return wire in shape.required or wire in shape.constants
        return self.kind in ("union", "optional") and all(
            branch.requires(wire) for branch in self.branches if branch.takes_objects
        )

    def keeps_unknown(self, wire: str) -> bool:
        """Whether objects of the type are variants with an unknown tag in a field."""
        shapes = list(map(get_shape, self.classes))
        return (
            bool(shapes)
            and all(shape.is_unknown and shape.tag_field == wire for shape in shapes)
            and not any(branch.kind in ("any", "map") for branch in self.list_branches())
        )

    @property
    def is_exclusive(self) -> bool:
        """Whether a value that two branches accept is rejected."""
        return isinstance(self.marker, Tagged | Shapes) and self.marker.exclusive

    @cached_property
    def tags(self) -> Tags | None:
        """The branches by tag; `None` if the type is not a union that is discriminated by a tag."""
        marker = self.marker if self.marker is not None else _find_tags(self.branches)
        return Tags(self.branches, marker) if self.kind == "union" and isinstance(marker, Tagged) else None


class Tags:
    """The branches of a union by tag.

    `owners` has the branches of a tag, by `make_scalar_key`, and `unknown` those for other strings. `free` accept objects with any tag, and
    `untagged` objects without one. `others` accept values that are not objects.
    """

    def __init__(self, branches: tuple[Type, ...], marker: Tagged) -> None:
        self.field: Final = marker.field
        self.others: Final = [branch for branch in branches if not branch.takes_objects]
        self.unknown: Final = [branch for branch in branches if branch.keeps_unknown(self.field)]
        tags = {
            branch: branch.list_constants(self.field)
            for branch in branches
            if branch.takes_objects and branch not in self.unknown
        }
        self.free: Final = [branch for branch, constants in tags.items() if constants is None]
        self.untagged: Final = [branch for branch in tags if not branch.requires(self.field)]
        self.owners: Final[dict[Any, list[Type]]] = {}
        for branch, constants in tags.items():
            for tag in constants or ():
                self.owners.setdefault(make_scalar_key(tag), []).append(branch)

    def find_branches(self, value: Mapping[str, Any]) -> list[Type] | None:
        """The branches for an object by its tag; `None` if the tag is unknown."""
        if self.field not in value:
            return self.untagged
        tag = value[self.field]
        return self.owners.get(make_scalar_key(tag)) if isinstance(tag, _SCALAR_TAGS) else None


_SCALAR_TAGS: Final = (str, int, float)


def _find_tags(branches: tuple[Type, ...]) -> Tagged | None:
    """The discriminator of a union without a marker: the tag field that all its classes share, with distinct tags; `None` if there is
    none.
    """
    shapes = [get_shape(branch.cls) for branch in branches if branch.kind == "record"]
    fields = {shape.tag_field for shape in shapes}
    tags = [shape.tag for shape in shapes if not shape.is_unknown]
    if len(shapes) < max(2, len(branches)) or len(fields) != 1 or None in fields or None in tags:
        return None
    return Tagged(str(*fields)) if len(set(map(make_scalar_key, tags))) == len(tags) else None


_TYPES: Final[dict[Any, Type]] = {}


def read_type(annotation: Any) -> Type:
    """The type of a resolved annotation. Raises `TypeError` if it is not a type of JSON."""
    type_ = _TYPES.get(annotation)
    return _TYPES.setdefault(annotation, _read_annotation(annotation)) if type_ is None else type_


def read_field_type(field: Field) -> Type:
    """The type of a field."""
    if field.resolved_type is None:
        field.resolved_type = read_type(resolve(field.annotation, field.module))
    type_: Type = field.resolved_type
    return type_


def _read_annotation(annotation: Any) -> Type:
    inner, limits, marker, is_judged = _unwrap(annotation)
    options: Any = {"annotation": annotation, "limits": limits, "is_judged": is_judged}
    args, base = get_args(inner), get_origin(inner) or inner
    if isinstance(marker, Constants):
        return Type("constants", **options, values=marker.values)
    if inner in _SCALARS:
        return Type(_SCALARS[inner], **options)
    if base is Literal:
        return Type("constants", **options, values=args)
    if is_string_enum(inner):
        values = tuple(member.value for member in inner)
        return Type("texts", **options, cls=inner, values=values, is_open=issubclass(inner, OpenStringEnum))
    if is_record(inner):
        options["is_judged"] = is_judged or get_shape(inner).is_judged
        return Type("record", **options, cls=inner)
    if base is list or base is dict:
        return Type("array" if base is list else "map", **options, inside=args[-1:] or (Any,))
    if base is tuple:
        return Type("tuple", **options, inside=_split_positions(args))
    if base not in _UNIONS:
        raise TypeError(f"{inner!r} is no type of JSON")
    branches = tuple(_flatten(inner))
    non_null = tuple(branch for branch in branches if branch is not NoneType)
    if marker is None and non_null != branches:
        plain = join(*non_null)
        options["limits"] = ()
        return Type("optional", **options, inside=(Annotated[cast("Any", (plain, *limits))] if limits else plain,))
    types = list(map(read_type, branches))
    non_constants = [type_ for type_ in types if type_.kind != "constants"]
    texts = tuple(value for type_ in types for value in type_.values)
    is_exclusive = isinstance(marker, Shapes) and marker.exclusive
    if (
        not is_exclusive
        and all(type_.kind == "string" and not type_.limits for type_ in non_constants)
        and all(type(text) is str for text in texts)
    ):
        return Type("constants", **options, values=texts, is_open=bool(non_constants))
    return Type("union", **options, inside=branches, marker=marker)


_SCALARS: Final[dict[Any, Scalar]] = {
    Any: "any",
    object: "any",
    Never: "never",
    str: "string",
    int: "integer",
    float: "number",
    Number: "number",
    bool: "boolean",
    NoneType: "null",
}
_UNIONS: Final = (typing.Union, UnionType)

JSON_CLASSES: Final = frozenset({dict, list, str, bool, int, float, NoneType})
_JSON_CLASSES: Final[dict[str, frozenset[Any]]] = {
    "never": frozenset(),
    "null": frozenset({NoneType}),
    "boolean": frozenset({bool}),
    "integer": frozenset({int, float}),
    "number": frozenset({int, float}),
    "string": frozenset({str}),
    "texts": frozenset({str}),
    "array": frozenset({list}),
    "tuple": frozenset({list}),
    "map": frozenset({dict}),
    "record": frozenset({dict}),
}


def _unwrap(annotation: Any) -> tuple[Any, tuple[Meta, ...], Marker | None, bool]:
    """An annotation without aliases and markers; its limits, inner ones first; the marker of a union; whether its schema is stricter."""
    limits: tuple[Meta, ...] = ()
    marker, is_judged = None, False
    while True:
        if isinstance(annotation, Alias):
            annotation, is_judged = annotation.resolve_annotation(), is_judged or bool(annotation.judged)
        elif get_origin(annotation) is Annotated:
            annotation, *metadata = get_args(annotation)
            limits = (*(item for item in metadata if isinstance(item, Meta)), *limits)
            marker = next((item for item in metadata if isinstance(item, Marker)), marker)
        elif get_origin(annotation) in _UNIONS and len(branches := list(_flatten(annotation))) == 1:
            (annotation,) = branches
        else:
            return annotation, limits, marker, is_judged


def _flatten(union: Any) -> Iterator[Any]:
    """Yield the branches of a union; nested unions without metadata are flattened."""
    for branch in get_args(union):
        inner, *metadata = _unwrap(branch)
        if get_origin(inner) in _UNIONS and not any(metadata):
            yield from _flatten(inner)
        elif branch is not UnsetType:
            yield branch


def join(*annotations: Any) -> Any:
    """The union of annotations."""
    return typing.Union[annotations]  # noqa: UP007


def _split_positions(args: tuple[Any, ...]) -> tuple[Any, ...]:
    """The annotations of the first items of a tuple, and that of the remaining items; `Never` if there may be none."""
    if args[1:] == (Ellipsis,):
        return (args[0],)
    return (*args[:-1], get_args(args[-1])[0]) if args and is_unpacked(args[-1]) else (*args, Never)
