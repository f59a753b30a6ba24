"""What annotations of generated types mean: each is resolved once, into one kind of type, and by that values are read and judged."""

from __future__ import annotations

import typing
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from types import NoneType, UnionType
from typing import Annotated, Any, Final, Literal, Never, TypeAlias, cast, get_args, get_origin

from msgspec import UnsetType

from .annotations import Alias, Constants, Marker, Meta, Number, Shapes, Tagged, is_unpacked, resolve
from .fields import Field, is_record, shape_of
from .json_types import scalar_key
from .string_enums import OpenStringEnum, is_string_enum

Scalar: TypeAlias = Literal["any", "never", "null", "boolean", "integer", "number", "string"]
Kind: TypeAlias = Scalar | Literal["constants", "texts", "array", "tuple", "map", "record", "optional", "union"]


@dataclass(frozen=True, eq=False)
class Type:
    """A type of JSON values.

    `annotation` is what was resolved, `inside` has the annotations of which it is made: of the items or fields, those of a tuple's first
    items before that of the others, or of branches. `is_judged`: the schema says more of it. `cls` is the class of records or texts.
    `values` are constants; `is_open`: they are texts, and any other may stand there. `marker` is what tells the branches of a union apart.
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
        """The types of which it is made; of a record those of the fields, and that of the unnamed ones."""
        if self.kind == "record":
            shape = shape_of(self.cls)
            return (*map(field_type, shape.fields.values()), type_of(shape.extra_type()))
        return tuple(map(type_of, self.inside))

    @cached_property
    def branches(self) -> tuple[Type, ...]:
        """What a value may be; a type that is no union is its only branch."""
        if self.kind == "optional":
            return (*self.children, type_of(NoneType))
        return self.children if self.kind == "union" else (self,)

    def flat(self) -> Iterator[Type]:
        """The branches, and those of unions among them."""
        for one in self.branches:
            yield from (one,) if one is self else one.flat()

    def reached(self) -> Iterator[Type]:
        """The type, and each that it leads to."""
        seen: set[Type] = {self}
        waiting: list[Type] = [self]
        for one in waiting:  # which grows
            yield one
            waiting += [child for child in dict.fromkeys(one.children) if child not in seen]
            seen.update(one.children)

    @cached_property
    def classes(self) -> tuple[Any, ...]:
        """The classes of records among the branches."""
        return tuple(one.cls for one in self.flat() if one.kind == "record")

    @cached_property
    def takes_texts_as_they_are(self) -> bool:
        """Whether texts that are values need no class."""
        return not any(one.kind == "texts" for one in self.flat())

    @cached_property
    def takes_objects(self) -> bool:
        """Whether values may be objects."""
        return any(one.kind in ("any", "map", "record") for one in self.flat())

    def constants(self, wire: str) -> tuple[Any, ...] | None:
        """The constants that objects of the type have in a field; `None` where others may stand there."""
        if self.kind == "record":
            shape = shape_of(self.cls)
            if wire in shape.constants and not shape.is_unknown:
                return (shape.constants[wire],)
            types = [field_type(one) for one in shape.fields.values() if one.wire == wire]
            flat = [one for type_ in types for one in type_.flat()]
            is_closed = bool(flat) and all(one.kind in ("constants", "texts") and not one.is_open for one in flat)
            return tuple(value for one in flat for value in one.values) if is_closed else None
        found = [one.constants(wire) for one in self.branches if one.takes_objects and one is not self]
        return None if not found or None in found else tuple(dict.fromkeys(tag for tags in found for tag in tags or ()))

    def requires(self, wire: str) -> bool:
        """Whether objects of the type have a field."""
        if self.kind == "record":
            shape = shape_of(self.cls)
            return wire in shape.required or wire in shape.constants
        return self.kind in ("union", "optional") and all(
            one.requires(wire) for one in self.branches if one.takes_objects
        )

    def keeps_unknown(self, wire: str) -> bool:
        """Whether objects of the type are variants with an unknown tag in a field."""
        shapes = list(map(shape_of, self.classes))
        return (
            bool(shapes)
            and all(shape.is_unknown and shape.tag_field == wire for shape in shapes)
            and not any(one.kind in ("any", "map") for one in self.flat())
        )

    @property
    def is_exclusive(self) -> bool:
        """Whether what two branches accept is refused."""
        return isinstance(self.marker, Tagged | Shapes) and self.marker.exclusive

    @cached_property
    def tags(self) -> Tags | None:
        """Whose the tags are, where tags tell the branches of a union apart."""
        marker = self.marker if self.marker is not None else _own_tags(self.branches)
        return Tags(self.branches, marker) if self.kind == "union" and isinstance(marker, Tagged) else None


class Tags:
    """Which branches of a union are tried for which tag.

    `owners` has those of a tag, by `scalar_key`, and `unknown` are those of a text that is no tag. `free` take objects with any tag, and
    `untagged` those without. `others` take what is no object.
    """

    def __init__(self, branches: tuple[Type, ...], marker: Tagged) -> None:
        self.field: Final = marker.field
        self.others: Final = [one for one in branches if not one.takes_objects]
        self.unknown: Final = [one for one in branches if one.keeps_unknown(self.field)]
        tags = {one: one.constants(self.field) for one in branches if one.takes_objects and one not in self.unknown}
        self.free: Final = [one for one, own in tags.items() if own is None]
        self.untagged: Final = [one for one in tags if not one.requires(self.field)]
        self.owners: Final[dict[Any, list[Type]]] = {}
        for one, own in tags.items():
            for tag in own or ():
                self.owners.setdefault(scalar_key(tag), []).append(one)

    def known(self, value: Mapping[str, Any]) -> list[Type] | None:
        """The branches of an object by its tag; `None` where that is unknown."""
        if self.field not in value:
            return self.untagged
        tag = value[self.field]
        return self.owners.get(scalar_key(tag)) if isinstance(tag, _SCALAR_TAGS) else None


_SCALAR_TAGS: Final = (str, int, float)


def _own_tags(branches: tuple[Type, ...]) -> Tagged | None:
    """What tells the branches of an unmarked union apart: the tag that the classes have themselves, each its own."""
    shapes = [shape_of(one.cls) for one in branches if one.kind == "record"]
    fields = {shape.tag_field for shape in shapes}
    tags = [shape.tag for shape in shapes if not shape.is_unknown]
    if len(shapes) < max(2, len(branches)) or len(fields) != 1 or None in fields or None in tags:
        return None
    return Tagged(str(*fields)) if len(set(map(scalar_key, tags))) == len(tags) else None


_TYPES: Final[dict[Any, Type]] = {}


def type_of(annotation: Any) -> Type:
    """What a resolved annotation means. Raises `TypeError` for what is no type of JSON."""
    found = _TYPES.get(annotation)
    return _TYPES.setdefault(annotation, _meant(annotation)) if found is None else found


def field_type(field: Field) -> Type:
    """What the annotation of a field means."""
    if field.meant is None:
        field.meant = type_of(resolve(field.annotation, field.module))
    found: Type = field.meant
    return found


def _meant(annotation: Any) -> Type:
    inner, limits, marker, is_judged = _bare(annotation)
    said: Any = {"annotation": annotation, "limits": limits, "is_judged": is_judged}
    args, base = get_args(inner), get_origin(inner) or inner
    if isinstance(marker, Constants):
        return Type("constants", **said, values=marker.values)
    if inner in _SCALARS:
        return Type(_SCALARS[inner], **said)
    if base is Literal:
        return Type("constants", **said, values=args)
    if is_string_enum(inner):
        values = tuple(one.value for one in inner)
        return Type("texts", **said, cls=inner, values=values, is_open=issubclass(inner, OpenStringEnum))
    if is_record(inner):
        said["is_judged"] = is_judged or shape_of(inner).is_judged
        return Type("record", **said, cls=inner)
    if base is list or base is dict:
        return Type("array" if base is list else "map", **said, inside=args[-1:] or (Any,))
    if base is tuple:
        return Type("tuple", **said, inside=_positions(args))
    if base not in _UNIONS:
        raise TypeError(f"{inner!r} is no type of JSON")
    branches = tuple(_flat(inner))
    rest = tuple(one for one in branches if one is not NoneType)
    if marker is None and rest != branches:
        plain = either(*rest)
        said["limits"] = ()
        return Type("optional", **said, inside=(Annotated[cast("Any", (plain, *limits))] if limits else plain,))
    types = list(map(type_of, branches))
    others = [one for one in types if one.kind != "constants"]
    texts = tuple(value for one in types for value in one.values)
    is_exclusive = isinstance(marker, Shapes) and marker.exclusive
    if (
        not is_exclusive
        and all(one.kind == "string" and not one.limits for one in others)
        and all(type(one) is str for one in texts)
    ):
        return Type("constants", **said, values=texts, is_open=bool(others))
    return Type("union", **said, inside=branches, marker=marker)


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


def _bare(annotation: Any) -> tuple[Any, tuple[Meta, ...], Marker | None, bool]:
    """An annotation without aliases and markers; the limits, the inner ones first; what tells branches apart; whether it is judged."""
    limits: tuple[Meta, ...] = ()
    marker, is_judged = None, False
    while True:
        if isinstance(annotation, Alias):
            annotation, is_judged = annotation.resolved(), is_judged or bool(annotation.judged)
        elif get_origin(annotation) is Annotated:
            annotation, *more = get_args(annotation)
            limits = (*(one for one in more if isinstance(one, Meta)), *limits)
            marker = next((one for one in more if isinstance(one, Marker)), marker)
        elif get_origin(annotation) in _UNIONS and len(branches := list(_flat(annotation))) == 1:
            (annotation,) = branches
        else:
            return annotation, limits, marker, is_judged


def _flat(union: Any) -> Iterator[Any]:
    """The branches of a union with those of unions in it of which nothing is said."""
    for one in get_args(union):
        inner, *more = _bare(one)
        if get_origin(inner) in _UNIONS and not any(more):
            yield from _flat(inner)
        elif one is not UnsetType:
            yield one


def either(*annotations: Any) -> Any:
    """The union of annotations."""
    return typing.Union[annotations]  # noqa: UP007


def _positions(args: tuple[Any, ...]) -> tuple[Any, ...]:
    """The types of the first items of a tuple, and that of those after them; `Never` where there are none."""
    if args[1:] == (Ellipsis,):
        return (args[0],)
    return (*args[:-1], get_args(args[-1])[0]) if args and is_unpacked(args[-1]) else (*args, Never)
