"""The rows of one definition: valid values, unknown ones that a receiver retains, leniently decoded ones, and invalid ones."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import replace
from typing import Any, Final, assert_never

from acpgen import ir
from acpgen.input.numbers import dumps
from acpgen.input.walk import is_object
from acpgen.meaning.discriminators import find_type
from acpgen.meaning.samples import (
    EXTENSION,
    FUTURE,
    NO_OBJECTS,
    UNKNOWN_FIELD,
    UNKNOWN_VALUE,
    WRONG,
    Path,
    Unmakeable,
    Values,
    find_array,
)
from acpgen.pointers import write_plain_pointer
from acpgen.targets.vectors.rows import ABSENT, Refusal, Row, refuse
from acpgen.targets.vectors.verdicts import Judge

_CHARACTERS: Final = 4_000_000
"""The most text of the rows that damage a field: each has all required fields, so that they grow with the square."""
_FIELDS: Final = 20
"""The number of fields of a record that have rows in any case."""


class Maker:
    """Generates the rows of the definitions of one protocol. Rows that the validator does not confirm are omitted.

    `shortened` are the records of so many fields that only the first of them have rows.
    """

    def __init__(self, values: Values, judge: Judge) -> None:
        self.values: Final = values
        self.judge: Final = judge
        self.shortened: Final[list[str]] = []
        self._rows: dict[str, tuple[Row, ...]] = {}

    def list_rows(self, name: str) -> tuple[Row, ...]:
        """The rows of a definition, valid ones first; empty if no value of it can be generated."""
        if name not in self._rows:
            self._rows[name] = tuple(dict.fromkeys(_DefinitionRows(self, name)))
            for row in self._rows[name]:
                is_read = row.decodes and row.label != "lenient"
                assert self.judge.is_valid(name, row.message) is row.valid, (name, row)
                assert self.judge.is_tolerated(name, row.message) is is_read, (name, row)
                assert row.decoded is ABSENT or self.judge.is_tolerated(name, row.decoded), (name, row)
        return self._rows[name]


class _DefinitionRows:
    """Yields the rows of one definition."""

    def __init__(self, maker: Maker, name: str) -> None:
        self._maker: Final = maker
        self._values: Final = maker.values
        self._name: Final = name
        self._definition: Final = maker.values.definitions[name]

    def __iter__(self) -> Iterator[Row]:
        try:
            small = self._values.make_small(self._name)
        except Unmakeable:
            return
        if not self._is_tolerated(small):
            return
        yield from self._accept("valid-minimal", small)
        match self._definition:
            case ir.Record() as record:
                yield from self._accept_full(small)
                yield from self._cover_record(record, small)
                yield from self._refuse(((), value) for value in NO_OBJECTS)
            case ir.TaggedUnion() as union:
                yield from self._cover_variants(union)
                yield from self._cover_unknown(union)
                yield from self._refuse(((), value) for value in NO_OBJECTS)
            case ir.Enum() as enum:
                yield from self._accept_full(small)
                yield from self._cover_enum(enum)
                yield from self._refuse(((), value) for value in WRONG)
            case ir.Alias() as alias:
                yield from self._accept_full(small)
                yield from self._cover_alias(alias)
                yield from self._refuse(self._values.damage(alias.type))
            case _:
                assert_never(self._definition)

    def _is_valid(self, value: Any) -> bool:
        return self._maker.judge.is_valid(self._name, value)

    def _is_tolerated(self, value: Any) -> bool:
        return self._maker.judge.is_tolerated(self._name, value)

    def _find_only_refusal(self, value: Any) -> Refusal | None:
        return self._maker.judge.find_only_refusal(self._name, value)

    def _accept(self, label: str, value: Any, name: str = "", *, unstable: bool = False) -> Iterator[Row]:
        """Yield a row for a value that is valid, or that a receiver accepts anyway."""
        if self._is_valid(value):
            yield Row(label, value, name, unstable=unstable)
        elif self._is_tolerated(value):
            yield Row(label, value, name, valid=False, refusal=self._find_only_refusal(value), unstable=unstable)

    def _accept_full(self, small: Any) -> Iterator[Row]:
        with suppress(Unmakeable):
            full = self._values.make_full(self._name)
            if full != small and self._is_valid(full):
                yield Row("valid-full", full)

    def _refuse(self, damages: Iterable[tuple[Path, Any]]) -> Iterator[Row]:
        """Yield one row for each rule and path that a damaged value violates, if it violates only that rule and nothing decodes it
        leniently.
        """
        reported_rules: set[tuple[Path, str]] = set()
        for path, value in damages:
            for row in self._refuse_single(path, value):
                assert row.refusal is not None
                key = (row.refusal.path, row.refusal.rule)
                if key not in reported_rules:
                    reported_rules.add(key)
                    yield row

    def _refuse_single(self, path: Path, value: Any, mark: str = "", refusal: Refusal | None = None) -> Iterator[Row]:
        """Yield the row of a value that is rejected for one violation only, at or below a path; `refusal` is the violation, if known."""
        refusal = refusal or self._find_only_refusal(value)
        if refusal is not None and refusal.path[: len(path)] == path and not self._is_tolerated(value):
            where = (
                write_plain_pointer(*refusal.path)
                + (f"[{refusal.missing}]" if refusal.missing is not None else "")
                + mark
            )
            yield refuse(refusal, value, f" {where}" if where else "")

    # --- records ---

    def _cover_record(self, record: ir.Record, small: Any) -> Iterator[Row]:
        count = max(_FIELDS, _CHARACTERS // len(dumps(small)))
        if len(record.fields) > count:
            self._maker.shortened.append(self._name)
            record = replace(record, fields=record.fields[:count])
        yield from self._add_fields(record, small)
        yield from self._cover_nulls(record, small)
        for key, tags in record.excluded:
            yield from self._refuse_single((), {**small, key: tags[0]})
        for field in record.fields:
            if field.required:
                incomplete = {key: value for key, value in small.items() if key != field.name}
                yield from self._cover_leniency(field, (field.name,), incomplete, small, None) or self._refuse_single(
                    (), incomplete
                )
            yield from self._damage_field(field, small)

    def _add_fields(self, record: ir.Record, small: Any) -> Iterator[Row]:
        damages: Iterable[tuple[Path, Any]] = ()
        value: Any = UNKNOWN_VALUE
        if isinstance(record.extra, ir.Nothing):
            damages = (((), UNKNOWN_VALUE),)
        elif not isinstance(record.extra, ir.Anything):
            try:
                value = self._values.make(record.extra)
            except Unmakeable:
                return
            damages = (((UNKNOWN_FIELD, *path), value) for path, value in self._values.damage(record.extra))
        with_other = {**small, UNKNOWN_FIELD: value}
        if self._is_valid(with_other):
            yield Row("unknown-field", with_other)
        yield from self._refuse((path, {**small, UNKNOWN_FIELD: value}) for path, value in damages)

    def _cover_nulls(self, record: ir.Record, small: Any) -> Iterator[Row]:
        """Yield null for each field that may have it, and a value without these fields."""
        nullable: list[str] = []
        for field in record.fields:
            value = {**small, field.name: None}
            if field.name in dict(record.excluded) or isinstance(field.type, ir.Anything):
                continue
            if self._is_valid(value):
                yield Row("null", value, f"null {write_plain_pointer(field.name)}")
                nullable += [] if field.required else [field.name]
            elif not field.required or field.leniency.default_on_null:
                refusal, path = self._find_only_refusal(value), (field.name,)
                yield from self._cover_leniency(field, path, value, small, refusal) or self._refuse_single(
                    path, value, "[null]", refusal
                )
        if nullable:
            with suppress(Unmakeable):
                value = self._values.make_full(record.name, without=frozenset(nullable))
                if self._is_valid(value):
                    yield Row("omitted", value)

    def _damage_field(self, field: ir.Field, small: Any) -> Iterator[Row]:
        """Yield a row for each rule of a field's own type: rejected, or decoded leniently if the field declares that."""
        reported_rules: set[tuple[Path, str]] = set()
        for below, invalid in self._values.damage(field.type):
            value, path = {**small, field.name: invalid}, (field.name, *below)
            refusal = self._find_only_refusal(value)
            if refusal is None or refusal.path[: len(path)] != path or (refusal.path, refusal.rule) in reported_rules:
                continue
            if not self._is_tolerated(value):
                reported_rules.add((refusal.path, refusal.rule))
                yield from self._cover_leniency(field, path, value, small, refusal) or self._refuse_single(
                    path, value, refusal=refusal
                )

    def _cover_leniency(
        self, field: ir.Field, path: Path, value: Any, small: Any, refusal: Refusal | None
    ) -> list[Row]:
        """The row of a value with one invalid or missing field that is decoded leniently: invalid items are dropped, or else the field;
        otherwise empty.

        `refusal` is the violation, if it is only one.
        """
        leniency, invalid = field.leniency, value.get(field.name, ABSENT)
        array = find_array(field.type, self._values.definitions)
        dropped: tuple[Path, ...] = ((field.name,),)
        decoded: Any = ABSENT
        if leniency.skip_invalid_items and array is not None and len(path) > 1 and isinstance(path[1], int):
            item = self._values.make(array.items)
            dropped = (field.name, 0), (field.name, 2)
            value = {**value, field.name: [invalid[path[1]], item, invalid[path[1]]]}
            decoded = {**value, field.name: [item]}
        elif leniency.default_on_error or (leniency.default_on_null and invalid is None):
            if field.required and array is not None:
                decoded = {**value, field.name: []}
            elif not field.required:
                decoded = {key: item for key, item in small.items() if key != field.name}
        if decoded is ABSENT or not self._is_tolerated(decoded):
            return []
        rule = "required" if invalid is ABSENT else "null" if invalid is None or refusal is None else refusal.rule
        name = f"lenient {rule} {write_plain_pointer(*path[:2])}"
        return [Row("lenient", value, name, valid=False, decoded=decoded, dropped=dropped)]

    # --- unions ---

    def _cover_variants(self, union: ir.TaggedUnion) -> Iterator[Row]:
        for variant in union.variants:
            label, tag_member = f"variant:{_write_text(variant.tag)}", {union.tag: variant.tag}
            variant_type = find_type(variant.type, union.tag, variant.tag, self._values.definitions)
            with suppress(Unmakeable):
                value = {**self._values.make_small(variant_type), **tag_member}
                yield from self._accept(label, value, unstable=variant.unstable)
                for row in self._maker.list_rows(variant_type):
                    if _is_body(row, union.tag) and row.refusal is not None:
                        for refusal in self._refuse_single(row.refusal.path, {**row.message, **tag_member}):
                            yield replace(refusal, name=f"invalid body of {label}")
                        break
        if union.default is not None:
            with suppress(Unmakeable):
                yield from self._accept("variant-untagged", self._values.make_small(union.default))

    def _cover_unknown(self, union: ir.TaggedUnion) -> Iterator[Row]:
        """Yield values with unknown tags, with a tag of a wrong type, and without a tag."""
        shapes = union.fallback_shapes or ((union.fallback,) if union.fallback is not None else ())
        for shape in shapes:
            mark = f" {shape}" if len(shapes) > 1 else ""
            for unknown in (EXTENSION, FUTURE):
                with suppress(Unmakeable):
                    value = {**self._values.make_small(shape), union.tag: unknown, UNKNOWN_FIELD: UNKNOWN_VALUE}
                    yield from self._accept("unknown-variant", value, f"unknown-variant {unknown}{mark}")
        try:
            first = self._values.make_small(union.variants[0].type)
        except Unmakeable:
            return
        untagged = {key: value for key, value in first.items() if key != union.tag}
        for tag in (FUTURE, 7):
            value = {**first, union.tag: tag}
            if not self._forgives_tag(union):
                yield from self._refuse_single((union.tag,), value, f"[{tag}]")
            elif not self._is_tolerated(value) and self._is_tolerated(untagged):
                name = f"lenient tag {write_plain_pointer(union.tag)}[{tag}]"
                yield Row("lenient", value, name, valid=False, decoded=untagged, dropped=((union.tag,),))
        yield from self._refuse_single((), untagged)

    def _forgives_tag(self, union: ir.TaggedUnion) -> bool:
        """Whether a tag of a wrong type is decoded as if it were missing."""
        names = [*(variant.type for variant in union.variants), *([] if union.default is None else [union.default])]
        branches = [self._values.definitions[name] for name in names]
        fields = [field for branch in branches if isinstance(branch, ir.Record) for field in branch.fields]
        return any(field.name == union.tag and field.leniency.default_on_error for field in fields)

    def _cover_enum(self, enum: ir.Enum) -> Iterator[Row]:
        for item in enum.values:
            yield from self._accept(f"variant:{_write_text(item.value)}", item.value, unstable=item.unstable)
        for unknown in (EXTENSION, FUTURE, 987654):
            if self._is_tolerated(unknown):
                yield from self._accept("unknown-variant", unknown, f"unknown-variant {unknown}")
        yield from self._refuse(((), value) for value in (FUTURE, 987654))

    def _cover_alias(self, alias: ir.Alias) -> Iterator[Row]:
        for member in alias.type.types if isinstance(alias.type, ir.AnyOf) else ():
            with suppress(Unmakeable):
                value = self._values.make(member)
                if self._is_valid(value):
                    yield Row(f"variant:{_name_kind(member)}", value)


def _is_body(row: Row, tag: str) -> bool:
    """Whether an invalid row of a variant has a valid tag, so that a union can select the variant."""
    is_refused = not row.decodes and row.refusal is not None and row.refusal.path != (tag,)
    return is_refused and is_object(row.message) and tag in row.message


def _write_text(tag: object) -> str:
    return tag if isinstance(tag, str) else "null" if tag is None else str(tag).lower()


def _name_kind(type_: ir.Type) -> str:
    match type_:
        case ir.Ref():
            return type_.name
        case ir.Number():
            return "integer" if type_.integer else "number"
        case ir.Constant():
            return _write_text(type_.values[0])
        case _:
            return type(type_).__name__.lower()
