"""The rows of one definition: valid values, unknown ones that a receiver retains, leniently decoded ones, and invalid ones."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any, assert_never

from acpgen import ir
from acpgen.input.walk import is_object
from acpgen.meaning.discriminators import type_with_tag
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
    array_of,
)
from acpgen.pointers import plain_pointer
from acpgen.targets.vectors.rows import ABSENT, Refusal, Row
from acpgen.targets.vectors.verdicts import Break, Judge


@dataclass(frozen=True, slots=True)
class Maker:
    """Generates the rows of the definitions of one protocol. Rows that the validator does not confirm are omitted."""

    values: Values
    judge: Judge
    _made: dict[str, tuple[Row, ...]] = dataclasses.field(default_factory=dict[str, "tuple[Row, ...]"], repr=False)

    def rows(self, name: str) -> tuple[Row, ...]:
        """The rows of a definition, valid ones first; empty if no value of it can be generated."""
        if name not in self._made:
            self._made[name] = self._rows(name)
            for row in self._made[name]:
                assert self.judge.is_valid(name, row.message) is row.valid, (name, row)
                assert self.judge.is_tolerated(name, row.message) is (row.decodes and row.label != "lenient"), (
                    name,
                    row,
                )
                assert row.decoded is ABSENT or self.judge.is_tolerated(name, row.decoded), (name, row)
        return self._made[name]

    def _rows(self, name: str) -> tuple[Row, ...]:
        try:
            small = self.values.small(name)
        except Unmakeable:
            return ()
        if not self.judge.is_tolerated(name, small):
            return ()
        definition = self.values.definitions[name]
        rows = [
            *self._valid(name, small),
            *self._of(definition, small),
            *self._refused(name, ((path, value) for path, value in self._whole(definition))),
        ]
        return tuple(dict.fromkeys(rows))

    def _of(self, definition: ir.Definition, small: Any) -> Iterator[Row]:
        match definition:
            case ir.Record():
                yield from self._record(definition, small)
            case ir.TaggedUnion():
                yield from self._tagged(definition)
            case ir.Enum():
                yield from self._enum(definition)
            case ir.Alias():
                yield from self._alias(definition)
            case _:
                assert_never(definition)

    def _whole(self, definition: ir.Definition) -> Iterator[tuple[Path, Any]]:
        """Yield values that the definition may reject as a whole."""
        if isinstance(definition, ir.Alias):
            yield from self.values.damaged(definition.type)
        else:
            yield from (((), value) for value in (WRONG if isinstance(definition, ir.Enum) else NO_OBJECTS))

    # --- valid ---

    def _valid(self, name: str, small: Any) -> Iterator[Row]:
        yield from self._keep_row(name, "valid-minimal", "valid-minimal", small)
        if isinstance(self.values.definitions[name], ir.TaggedUnion):
            return  # its variants are shown full for themselves
        try:
            full = self.values.full(name)
        except Unmakeable:
            return
        if full != small and self.judge.is_valid(name, full):
            yield Row("valid-full", "valid-full", full)

    def _keep_row(self, name: str, label: str, row: str, value: Any, *, unstable: bool = False) -> Iterator[Row]:
        """Yield a row for a value that is valid, or that a receiver accepts anyway."""
        if self.judge.is_valid(name, value):
            yield Row(label, row, value, unstable=unstable)
        elif self.judge.is_tolerated(name, value):
            yield Row(label, row, value, valid=False, refusal=self._reason(name, value), unstable=unstable)

    def _reason(self, name: str, value: Any) -> Refusal | None:
        one = self.judge.only_break(name, value)
        return None if one is None else Refusal(one.rule, one.path, one.schema)

    # --- refused ---

    def _refused(self, name: str, damages: Iterator[tuple[Path, Any]], *, by: str = "") -> Iterator[Row]:
        """Yield one row for each rule and path that a damaged value violates, if it violates only that rule and nothing decodes it
        leniently.
        """
        reported_rules: set[tuple[Path, str]] = set()
        for path, value in damages:
            for row in self._refusal(name, path, value, by=by):
                assert row.refusal is not None
                key = (row.refusal.path, row.refusal.rule)
                if key not in reported_rules:
                    reported_rules.add(key)
                    yield row

    def _refusal(
        self, name: str, path: Path, value: Any, *, by: str = "", mark: str = "", one: Break | None = None
    ) -> Iterator[Row]:
        """Yield the row of a value that is rejected for one violation only, at or below a path; `one` is the violation, if known."""
        one = one or self.judge.only_break(name, value)
        if one is None or one.path[: len(path)] != path or self.judge.is_tolerated(name, value):
            return
        where = plain_pointer(*one.path) + (f"[{one.missing}]" if one.missing is not None else "") + mark
        row = f"invalid:{one.rule}{by and f' {by}'}{where and f' {where}'}"
        refusal = Refusal(one.rule, one.path, one.schema)
        yield Row(f"invalid:{one.rule}", row, value, valid=False, decodes=False, refusal=refusal)

    # --- records ---

    def _record(self, record: ir.Record, small: Any) -> Iterator[Row]:
        yield from self._other_fields(record, small)
        yield from self._nulls(record, small)
        for key, tags in record.excluded:
            yield from self._refusal(record.name, (), {**small, key: tags[0]})
        for field in record.fields:
            if field.required:
                without_field = {key: value for key, value in small.items() if key != field.name}
                yield from self._made_up(record, field, without_field) or self._refusal(record.name, (), without_field)
            yield from self._damaged_field(record, field, small)

    def _other_fields(self, record: ir.Record, small: Any) -> Iterator[Row]:
        value: Any = UNKNOWN_VALUE
        if not isinstance(record.extra, ir.Anything | ir.Nothing):
            try:
                value = self.values.of(record.extra)
            except Unmakeable:
                return
        with_other = {**small, UNKNOWN_FIELD: value}
        if self.judge.is_valid(record.name, with_other):
            yield Row("unknown-field", "unknown-field", with_other)
        if not isinstance(record.extra, ir.Anything):
            bad = ((path, {**small, UNKNOWN_FIELD: value}) for path, value in self._bad_extras(record.extra))
            yield from self._refused(record.name, bad)

    def _bad_extras(self, extra: ir.Type) -> Iterator[tuple[Path, Any]]:
        if isinstance(extra, ir.Nothing):
            yield (), UNKNOWN_VALUE
        else:
            yield from (((UNKNOWN_FIELD, *path), value) for path, value in self.values.damaged(extra))

    def _nulls(self, record: ir.Record, small: Any) -> Iterator[Row]:
        """Yield null for each field that may have it, and a value without these fields."""
        nullable: list[str] = []
        for field in record.fields:
            value = {**small, field.name: None}
            if field.name in dict(record.excluded) or isinstance(field.type, ir.Anything):
                continue
            if self.judge.is_valid(record.name, value):
                yield Row("null", f"null {plain_pointer(field.name)}", value)
                nullable += [] if field.required else [field.name]
            elif not field.required or field.leniency.default_on_null:
                one = self.judge.only_break(record.name, value)
                yield from self._forgiven(record, field, (field.name,), value, small, one) or self._refusal(
                    record.name, (field.name,), value, mark="[null]", one=one
                )
        if nullable:
            try:
                value = self.values.full(record.name, without=frozenset(nullable))
            except Unmakeable:
                return
            if self.judge.is_valid(record.name, value):
                yield Row("omitted", "omitted", value)

    def _damaged_field(self, record: ir.Record, field: ir.Field, small: Any) -> Iterator[Row]:
        """Yield a row for each rule of a field's own type: rejected, or decoded leniently if the field declares that."""
        reported_rules: set[tuple[Path, str]] = set()
        for path, bad in self.values.damaged(field.type):
            value = {**small, field.name: bad}
            here = (field.name, *path)
            one = self.judge.only_break(record.name, value)
            if one is None or one.path[: len(here)] != here or (one.path, one.rule) in reported_rules:
                continue
            if not self.judge.is_tolerated(record.name, value):
                reported_rules.add((one.path, one.rule))
                yield from self._forgiven(record, field, here, value, small, one) or self._refusal(
                    record.name, here, value, one=one
                )

    def _forgiven(
        self, record: ir.Record, field: ir.Field, path: Path, value: Any, small: Any, one: Break | None
    ) -> list[Row]:
        """The row of a value with one invalid field that is decoded leniently: invalid items are dropped, or else the field; otherwise
        empty.

        `one` is the violation, if it is only one.
        """
        leniency, bad = field.leniency, value[field.name]
        array = array_of(field.type, self.values.definitions)
        dropped_paths: tuple[Path, ...] = ((field.name,),)
        decoded_value: Any = ABSENT
        if leniency.skip_invalid_items and array is not None and len(path) > 1 and isinstance(path[1], int):
            good = self.values.of(array.items)
            dropped_paths = (*dropped_paths[0], 0), (*dropped_paths[0], 2)
            value = {**value, field.name: [bad[path[1]], good, bad[path[1]]]}
            decoded_value = {**value, field.name: [good]}
        elif leniency.default_on_error or (leniency.default_on_null and bad is None):
            if field.required and array is not None:
                decoded_value = {**value, field.name: []}
            elif not field.required:
                decoded_value = {key: item for key, item in small.items() if key != field.name}
        if decoded_value is ABSENT or not self.judge.is_tolerated(record.name, decoded_value):
            return []
        name = f"lenient {'null' if bad is None or one is None else one.rule} {plain_pointer(*path[:2])}"
        return [Row("lenient", name, value, valid=False, decoded=decoded_value, dropped=dropped_paths)]

    def _made_up(self, record: ir.Record, field: ir.Field, value: Any) -> list[Row]:
        """The row of a value without a required array that is leniently decoded as an empty one; otherwise empty."""
        decoded_value: Any = {**value, field.name: []}
        if not field.leniency.default_on_error or array_of(field.type, self.values.definitions) is None:
            return []
        if not self.judge.is_tolerated(record.name, decoded_value):
            return []
        name = f"lenient required {plain_pointer(field.name)}"
        return [Row("lenient", name, value, valid=False, decoded=decoded_value, dropped=((field.name,),))]

    # --- unions ---

    def _tagged(self, union: ir.TaggedUnion) -> Iterator[Row]:
        for variant in union.variants:
            label = f"variant:{_text(variant.tag)}"
            variant_type = type_with_tag(variant.type, union.tag, variant.tag, self.values.definitions)
            own = {union.tag: variant.tag}
            try:
                value = {**self.values.small(variant_type), **own}
            except Unmakeable:
                continue
            yield from self._keep_row(union.name, label, label, value, unstable=variant.unstable)
            bad = next((row for row in self.rows(variant_type) if _is_body(row, union.tag)), None)
            if bad is not None and bad.refusal is not None:
                for row in self._refusal(union.name, bad.refusal.path, {**bad.message, **own}):
                    yield replace(row, name=f"invalid body of {label}")
        if union.default is not None:
            with suppress(Unmakeable):
                value = self.values.small(union.default)
                yield from self._keep_row(union.name, "variant-untagged", "variant-untagged", value)
        yield from self._unknown(union)

    def _unknown(self, union: ir.TaggedUnion) -> Iterator[Row]:
        """Yield values with unknown tags, with a tag of a wrong type, and without a tag."""
        shapes = union.fallback_shapes or ((union.fallback,) if union.fallback is not None else ())
        for shape in shapes:
            mark = f" {shape}" if len(shapes) > 1 else ""
            try:
                value = self.values.small(shape)
            except Unmakeable:
                continue
            for unknown in (EXTENSION, FUTURE):
                unknown_value = {**value, union.tag: unknown, UNKNOWN_FIELD: UNKNOWN_VALUE}
                yield from self._keep_row(
                    union.name, "unknown-variant", f"unknown-variant {unknown}{mark}", unknown_value
                )
        try:
            first = self.values.small(union.variants[0].type)
        except Unmakeable:
            return
        untagged = {key: value for key, value in first.items() if key != union.tag}
        for tag in (FUTURE, 7):
            value = {**first, union.tag: tag}
            if not self._forgives_tag(union):
                yield from self._refusal(union.name, (union.tag,), value, mark=f"[{tag}]")
            elif not self.judge.is_tolerated(union.name, value) and self.judge.is_tolerated(union.name, untagged):
                name = f"lenient tag {plain_pointer(union.tag)}[{tag}]"
                yield Row("lenient", name, value, valid=False, decoded=untagged, dropped=((union.tag,),))
        yield from self._refusal(union.name, (), untagged)

    def _forgives_tag(self, union: ir.TaggedUnion) -> bool:
        """Whether a tag of a wrong type is decoded as if it were missing."""
        names = [*(variant.type for variant in union.variants), *([] if union.default is None else [union.default])]
        branches = [self.values.definitions[name] for name in names]
        fields = [field for branch in branches if isinstance(branch, ir.Record) for field in branch.fields]
        return any(field.name == union.tag and field.leniency.default_on_error for field in fields)

    def _enum(self, enum: ir.Enum) -> Iterator[Row]:
        for value in enum.values:
            label = f"variant:{_text(value.value)}"
            yield from self._keep_row(enum.name, label, label, value.value, unstable=value.unstable)
        for unknown in (EXTENSION, FUTURE, 987654):
            if self.judge.is_tolerated(enum.name, unknown):
                yield from self._keep_row(enum.name, "unknown-variant", f"unknown-variant {unknown}", unknown)
        yield from self._refused(enum.name, (((), value) for value in (FUTURE, 987654)))

    def _alias(self, alias: ir.Alias) -> Iterator[Row]:
        if not isinstance(alias.type, ir.AnyOf):
            return
        for one in alias.type.types:
            label = f"variant:{_kind(one)}"
            try:
                value = self.values.of(one)
            except Unmakeable:
                continue
            if self.judge.is_valid(alias.name, value):
                yield Row(label, label, value)


def _is_body(row: Row, tag: str) -> bool:
    """Whether an invalid row of a variant has a valid tag, so that a union can select the variant."""
    if row.decodes or row.refusal is None or row.refusal.path == (tag,):
        return False
    return is_object(row.message) and tag in row.message


def _text(tag: object) -> str:
    return tag if isinstance(tag, str) else "null" if tag is None else str(tag).lower()


def _kind(type_: ir.Type) -> str:
    match type_:
        case ir.Ref():
            return type_.name
        case ir.Number():
            return "integer" if type_.integer else "number"
        case ir.Constant():
            return _text(type_.values[0])
        case _:
            return type(type_).__name__.lower()
