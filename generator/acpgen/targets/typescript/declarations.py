"""The types of a protocol as TypeScript declarations."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Final, assert_never

from acpgen import ir
from acpgen.errors import make_visible
from acpgen.input.numbers import dumps
from acpgen.naming.identifiers import make_javascript_key

_WIDEST: Final = 100


class Declarations:
    """The declarations of one protocol. `names` are the names of definitions in the generated module."""

    def __init__(self, protocol: ir.Protocol, names: Mapping[str, str]) -> None:
        self._protocol = protocol
        self._names = names
        self._defaults: dict[str, ir.TaggedUnion] = {
            union.default: union
            for union in protocol.definitions.values()
            if isinstance(union, ir.TaggedUnion) and union.default is not None
        }

    def render(self) -> str:
        """All declarations, in the order of the schema."""
        return "\n\n".join(map(self._write_definition, self._protocol.definitions.values()))

    def _write_definition(self, definition: ir.Definition) -> str:
        name = self._names[definition.name]
        head = write_comment(definition.doc, 0)
        match definition:
            case ir.Record():
                return head + self._write_record(definition, name)
            case ir.TaggedUnion():
                return f"{head}export type {name} ={_wrap_union(self._write_members(definition))};"
            case ir.Enum():
                values = [dumps(member.value) for member in definition.values]
                if definition.openness != "closed":
                    values.append(_open(self.write_type(definition.base)))
                return f"{head}export type {name} ={_wrap_union(values)};"
            case ir.Alias():
                return f"{head}export type {name} = {self.write_type(definition.type)};"
            case _:
                assert_never(definition)

    def _write_record(self, record: ir.Record, name: str) -> str:
        base = self._protocol.definitions[record.base] if record.base is not None else None
        inherited = {field.name for field in base.fields} if isinstance(base, ir.Record) else set[str]()
        lines: list[str] = []
        for field in record.fields:
            if field.name not in inherited:
                mark = "" if field.required else "?"
                lines.append(
                    f"{write_comment(field.doc, 2)}  {make_javascript_key(field.name)}{mark}: {self.write_type(field.type)};"
                )
        union = self._defaults.get(record.name)
        if union is not None and all(field.name != union.tag for field in record.fields):
            tag = "undefined" if union.default_tag is None else f"{dumps(union.default_tag)} | undefined"
            lines.append(f"  {make_javascript_key(union.tag)}?: {tag};")
        if not isinstance(record.extra, ir.Anything | ir.Nothing):
            type_ = _join_types(dict.fromkeys([self.write_type(record.extra), *(["unknown"] if record.fields else [])]))
            lines.append(f"  [field: string]: {type_};")
        if not lines and record.base is not None:
            return f"export type {name} = {self._names[record.base]};"
        extends = f" extends {self._names[record.base]}" if record.base is not None else ""
        body = "\n".join(["{", *(lines or ["  [field: string]: unknown;"]), "}"])
        return f"export interface {name}{extends} {body}"

    def _write_members(self, union: ir.TaggedUnion) -> list[str]:
        members = [self._names[variant.type] for variant in union.variants]
        if union.default is not None:
            members.append(self._names[union.default])
        if union.fallback is not None:
            record = self._protocol.definitions[union.fallback]
            wrapper_fields = {union.tag, "raw", "tag"}
            fields = (
                [dumps(field.name) for field in record.fields if field.name not in wrapper_fields]
                if isinstance(record, ir.Record)
                else []
            )
            fields_type = (
                f" & rt.Readonly<rt.Pick<{self._names[record.name]}, {_join_types(fields)}>>" if fields else ""
            )
            members.append(f"rt.Unknown<{dumps(union.tag)}>{fields_type}")
        return [*dict.fromkeys(members)]

    def write_type(self, type_: ir.Type) -> str:
        """A type in TypeScript syntax."""
        match type_:
            case ir.Anything():
                return "unknown"
            case ir.Nothing():
                return "never"
            case ir.Null():
                return "null"
            case ir.Boolean():
                return "boolean"
            case ir.Number():
                return "number"
            case ir.String():
                return "string"
            case ir.Constant():
                return _join_types(map(dumps, type_.values))
            case ir.Array():
                return f"{_parenthesize(self.write_type(type_.items))}[]"
            case ir.Tuple():
                min_items = type_.min_items or 0
                first = [
                    self.write_type(item) if index < min_items else f"{_parenthesize(self.write_type(item))}?"
                    for index, item in enumerate(type_.first)
                ]
                rest_type = [] if type_.rest == ir.Nothing() else [f"...{_parenthesize(self.write_type(type_.rest))}[]"]
                return f"[{', '.join([*first, *rest_type])}]"
            case ir.Map():
                return f"{{ [key: string]: {self.write_type(type_.values)} }}"
            case ir.Ref():
                return self._names[type_.name]
            case ir.AnyOf():
                member_types = [*dict.fromkeys(map(self.write_type, type_.types))]
                return "unknown" if "unknown" in member_types else _join_types(member_types)
            case _:
                assert_never(type_)


def write_comment(text: str, indent: int) -> str:
    """A documentation comment; empty for no text."""
    if not text:
        return ""
    pad = " " * indent
    lines = [make_visible(line.expandtabs()) for line in text.replace("*/", "*\\/").strip().splitlines()]
    if len(lines) == 1:
        return f"{pad}/** {lines[0]} */\n"
    return "\n".join([f"{pad}/**", *(f"{pad} * {line}".rstrip() for line in lines), f"{pad} */", ""])


def _parenthesize(type_: str) -> str:
    """A type in parentheses if it could not stand before brackets otherwise."""
    return f"({type_})" if "|" in type_ or "&" in type_ else type_


def _open(base: str) -> str:
    return {"string": "(string & {})", "number": "(number & {})"}.get(base, base)


def _join_types(types: Iterable[str]) -> str:
    return " | ".join(types) or "never"


def _wrap_union(members: Sequence[str]) -> str:
    """A union after an equals sign, with one member per line if it is long."""
    whole = _join_types(members)
    return f" {whole}" if len(whole) <= _WIDEST else "".join(f"\n  | {member}" for member in members)
