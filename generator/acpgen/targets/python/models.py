"""`models.py`: records, emitted by datamodel-code-generator with our template and otherwise unchanged, and all other types."""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from acpgen import ir
from acpgen.files.cache import Cache, find_or_make
from acpgen.input.numbers import dumps
from acpgen.input.step_budget import spend
from acpgen.meaning.definition_order import list_references
from acpgen.resources import locate_templates
from acpgen.targets.python.aliases import make_alias_views
from acpgen.targets.python.defaults import Defaults
from acpgen.targets.python.literals import write_docstring, write_literal
from acpgen.targets.python.naming import Names
from acpgen.targets.python.notes import describe_field
from acpgen.targets.python.python_options import PythonOptions
from acpgen.targets.python.python_templates import name_protocol, render_template
from acpgen.targets.python.single_module import write_import
from acpgen.targets.python.types import Hints

_AT_ONCE: Final = 300
"""The intended number of records per run of the emitter."""

_STEPS_A_RECORD: Final = 100
_STEPS_A_FIELD: Final = 30
"""The cost of a record and of a field in the emitter, in steps of the budget: the emitter itself counts none."""

_EMITTER: Final = locate_templates() / "python" / "dcg"
"""The folder with the template of a class and the emitter's settings, so that it reads no others."""

_OPENS: Final = '"\x01'
_CLOSES: Final = '\x01"'
"""Delimiters of the number of a docstring. Literals escape this character."""

_WIDEST: Final = 100
"""The maximum length of an import on one line."""

_FROM_TYPING: Final = ("TYPE_CHECKING", "Annotated", "Any", "ClassVar", "Literal", "Never", "TypeAlias")
_FROM_MSGSPEC: Final = ("UNSET", "UnsetType", "field")


@dataclass(frozen=True, slots=True)
class Modules:
    """The names of the generated modules: the runtime package and this protocol's package, dotted; with the options."""

    runtime: str
    package: str
    options: PythonOptions

    @property
    def is_file(self) -> bool:
        """Whether everything is in one module."""
        return self.options.layout == "file"


def render_models(
    protocol: ir.Protocol, names: Names, modules: Modules, notice: str, keeping: Collection[str], cache: Cache
) -> str:
    """Generate the source of `models.py`.

    `keeping` are the definitions that retain unknown fields regardless of the options; `cache` may hold the classes.
    """
    hints = Hints(protocol, names)
    records = [d for d in protocol.definitions.values() if isinstance(d, ir.Record)]
    views = _Views(protocol, names, modules, hints, keeping)
    views_of = {record.name: views.make_view(record) for record in records}
    aliases = make_alias_views(protocol, names, hints)
    if aliases:
        hints.use_import("TypeAlias")
    head = f'"""{name_protocol(protocol)}: the types.\n\n{notice}\n"""\n\n{_write_imports(hints, modules)}\n'
    spend(sum(_STEPS_A_RECORD + _STEPS_A_FIELD * len(record.fields) for record in records))
    lots = _group_records(records) if records else []
    classes = [views.place_docstrings(_write_classes(lot, names, views_of, cache)) for lot in lots]
    alias_source = render_template(
        "aliases",
        aliases=aliases,
        type_checking=names.name_import("TYPE_CHECKING"),
        type_alias=names.name_import("TypeAlias"),
    )
    return "\n\n".join([head, *classes, alias_source])


def _write_imports(hints: Hints, modules: Modules) -> str:
    """The import statements of the module."""
    by_module: dict[str, set[str]] = {}
    for name in hints.used:
        module = "typing" if name in _FROM_TYPING else "msgspec" if name in _FROM_MSGSPEC else modules.runtime
        by_module.setdefault(module, set()).add(hints.names.write_import(name))
    lines = (write_import(module, imported_names, _WIDEST) for module, imported_names in sorted(by_module.items()))
    return "\n".join(["from __future__ import annotations", "", *lines])


def _group_records(records: list[ir.Record]) -> list[list[ir.Record]]:
    """Group the records for the emitter, whose time and memory grow faster than its input. Records with a common base stay together."""
    by_name = {record.name: record for record in records}
    families: dict[str, list[ir.Record]] = {}
    for record in records:
        root = record
        while root.base is not None and root.base in by_name:
            root = by_name[root.base]
        families.setdefault(root.name, []).append(record)
    groups: list[list[ir.Record]] = [[]]
    for family in families.values():
        if groups[-1] and len(groups[-1]) + len(family) > _AT_ONCE:
            groups.append([])
        groups[-1] += family
    order = {record.name: index for index, record in enumerate(records)}
    return [sorted(group, key=lambda record: order[record.name]) for group in groups]


def _write_classes(records: list[ir.Record], names: Names, views: Mapping[str, dict[str, Any]], cache: Cache) -> str:
    """The source of a group of classes, emitted now or taken from the cache."""
    keys = _name_records(records, names)
    layout = _make_schema(records, keys)
    values = {f"#/$defs/{keys[record.name]}": views[record.name] for record in records}
    template = (_EMITTER / "msgspec.jinja2").read_text("utf-8")
    return find_or_make(cache, ("classes", template, dumps([layout, values])), lambda: _emit(layout, values), dict)


def _emit(layout: dict[str, Any], values: Mapping[str, dict[str, Any]]) -> str:
    """Run the emitter: it gets neutral names, and its template gets the `values` of each class."""
    from datamodel_code_generator import LiteralType, generate
    from datamodel_code_generator.enums import DataModelType, InputFileType
    from datamodel_code_generator.format import PythonVersion

    source = generate(
        layout,
        input_file_type=InputFileType.JsonSchema,
        output_model_type=DataModelType.MsgspecStruct,
        target_python_version=PythonVersion.PY_311,
        formatters=[],
        disable_future_imports=True,
        disable_timestamp=True,
        custom_template_dir=_EMITTER,
        settings_path=_EMITTER,
        extra_template_data=defaultdict(dict, values),
        custom_class_name_generator=str,
        allow_remote_refs=False,
        strict_refs=True,
        strict_nullable=True,
        use_annotated=True,
        field_constraints=True,
        use_union_operator=True,
        use_standard_collections=True,
        enum_field_as_literal=LiteralType.All,
        keep_model_order=True,
        collapse_root_models=False,
        skip_root_model=True,
    )
    assert isinstance(source, str)
    first = next(node for node in ast.parse(source).body if isinstance(node, ast.ClassDef))
    return "".join(source.splitlines(keepends=True)[first.lineno - 1 :])


def _name_records(records: list[ir.Record], names: Names) -> Mapping[str, str]:
    """A neutral name for each record. The emitter sorts by name, so they are in the order of the class names."""
    classes = sorted(records, key=lambda record: names.classes[record.name])
    return {record.name: f"R{index:0{len(str(len(records)))}}" for index, record in enumerate(classes)}


def _make_schema(records: list[ir.Record], keys: Mapping[str, str]) -> dict[str, Any]:
    """The schema of the records with neutral names: the base of each, and one field, as without fields it would be a map."""
    definitions: dict[str, Any] = {}
    for record in records:
        schema: dict[str, Any] = {"type": "object", "properties": {"f": {"type": "boolean"}}, "required": ["f"]}
        if record.base is not None:
            schema["allOf"] = [{"$ref": f"#/$defs/{keys[record.base]}"}]
        definitions[keys[record.name]] = schema
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", "$defs": definitions}


class _Views:
    """The classes of one protocol as values for the record template.

    Placeholders replace the docstrings, so that the emitter's output, which is cached, does not depend on descriptions.
    """

    def __init__(
        self, protocol: ir.Protocol, names: Names, modules: Modules, hints: Hints, keeping: Collection[str]
    ) -> None:
        self._protocol = protocol
        self._names = names
        self._modules = modules
        self._hints = hints
        self._keeping = keeping
        self._defaults = Defaults(protocol, names)
        self._docstrings: list[str] = []

    def place_docstrings(self, source: str) -> str:
        """Replace the placeholders in the source of classes by the docstrings."""
        first, *parts = source.split(_OPENS)
        pieces = (part.partition(_CLOSES) for part in parts)
        return "".join([first, *(f"{self._docstrings[int(number)]}{text}" for number, _, text in pieces)])

    def _store_docstring(self, text: str) -> str:
        """Store a docstring and return its placeholder: its number in delimiters. Empty for empty text."""
        docstring_source = write_docstring(text, 4)
        if not docstring_source:
            return ""
        self._docstrings.append(docstring_source)
        return f"{_OPENS}{len(self._docstrings) - 1}{_CLOSES}"

    def make_view(self, record: ir.Record) -> dict[str, Any]:
        """The template values for one record."""
        union = self._hints.unknown.get(record.name) if record.base is None else None
        base = "Unknown" if union is not None else "Record"
        fields = [self._make_field(field, record) for field in self._list_own_fields(record)]
        is_judged = bool(record.unenforced) or any(field.pop("is_judged") for field in fields)
        return {
            "own_name": self._names.classes[record.name],
            "own_base": self._names.classes[record.base] if record.base is not None else self._hints.use_import(base),
            "keywords": self._list_keywords(record, union, is_judged=is_judged),
            "docstring": self._store_docstring(record.doc or f"`{record.name}`."),
            "views": fields,
        }

    def _list_own_fields(self, record: ir.Record) -> tuple[ir.Field, ...]:
        base = self._protocol.definitions[record.base] if record.base is not None else None
        inherited = {field.name for field in base.fields} if isinstance(base, ir.Record) else set[str]()
        return tuple(field for field in record.fields if field.name not in inherited)

    def _list_keywords(self, record: ir.Record, union: ir.TaggedUnion | None, *, is_judged: bool) -> list[str]:
        keywords: list[str] = []
        tag = self._hints.tags.get(record.name)
        if tag is not None:
            keywords += [f"tag_field={write_literal(tag.field)}", f"tag={write_literal(tag.value)}"]
        elif union is not None:
            default_tags = [union.default_tag] if union.default_tag is not None else []
            excluded_tags = dict(record.excluded).get(union.tag, ())
            tags = dict.fromkeys([*(variant.tag for variant in union.variants), *default_tags, *excluded_tags])
            texts = [tag for tag in tags if isinstance(tag, str)]  # the unknown tag is text: it can be no other one
            keywords += [f"tag_field={write_literal(union.tag)}", f"known=({_write_tuple(texts)})"]
        elif record.excluded and record.base is None:
            rows = (f"{write_literal(key)}: ({_write_tuple(tags)})" for key, tags in record.excluded)
            keywords.append(f"excludes={{{', '.join(rows)}}}")
        unknown = self._modules.options.unknown
        match record.extra:
            case ir.Anything() if unknown == "keep" or self._is_unknown(record) or self._keeps(record.base):
                pass
            case ir.Anything() if record.name in self._keeping:
                if record.base is not None:
                    keywords.append("drop=False" if unknown == "ignore" else f"extra={self._hints.use_import('Any')}")
            case ir.Anything():
                keywords.append("drop=True" if unknown == "ignore" else "extra=None")
            case ir.Nothing():
                keywords.append("extra=None")
            case value_type:
                values = self._hints.annotate(value_type)
                is_judged = is_judged or values.is_judged
                # None rejects unnamed fields, and a class may stand below.
                is_text = values.source == "None" or any(list_references(value_type))
                keywords.append(f"extra={write_literal(values.source) if is_text else values.source}")
        if self._is_unknown(record):  # its constructor is that of `Unknown`, which takes the tag as text
            keywords.append("init=False")
        return [*keywords, *(["judged=True"] if is_judged else [])]

    def _is_unknown(self, record: ir.Record) -> bool:
        """Whether a class, or a base of it, retains unknown variants."""
        if record.name in self._hints.unknown:
            return True
        base = self._protocol.definitions[record.base] if record.base is not None else None
        return isinstance(base, ir.Record) and self._is_unknown(base)

    def _keeps(self, base: str | None) -> bool:
        """Whether a base, or one of its bases, retains unknown fields regardless of the options."""
        record = self._protocol.definitions[base] if base is not None else None
        return isinstance(record, ir.Record) and (record.name in self._keeping or self._keeps(record.base))

    def _make_field(self, field: ir.Field, record: ir.Record) -> dict[str, Any]:
        name = self._names.fields[record.name][field.name]
        tag = self._hints.tags.get(record.name)
        view = {"name": name, "docstring": self._store_docstring(describe_field(field)), "is_judged": False}
        if tag is not None and tag.field == field.name:
            constant = f"{self._hints.use_import('Literal')}[{write_literal(tag.value)}]"
            return view | {
                "hint": f"{self._hints.use_import('ClassVar')}[{constant}]",
                "default": write_literal(tag.value),
            }
        hint = self._hints.annotate(field.type)
        union = self._hints.unknown.get(record.name)
        if union is not None and union.tag == field.name:
            hint = hint._replace(source=self._hints.use_import("UnknownTag"))
        alias = [f"name={write_literal(field.name)}"] if name != field.name else []
        default = self._defaults.write_default(field)
        source, is_made = default if default is not None else ("", False)
        if is_made and field.default is not None:
            source = self._with_parameters(source, field.type, field.default.value)
        if default is None and not field.required:
            source = self._hints.use_import("UNSET")
        unset = f" | {self._hints.use_import('UnsetType')}" if default is None and not field.required else ""
        default_argument = [f"{'default_factory' if is_made else 'default'}={source}"] if source else []
        if alias or is_made:
            source = f"{self._hints.use_import('field')}({', '.join([*alias, *default_argument])})"
        return view | {"hint": f"{hint.source}{unset}", "default": source, "is_judged": hint.is_judged}

    def _with_parameters(self, source: str, type_: ir.Type, value: ir.JSON) -> str:
        """The factory of a list or dictionary, with the types of its items where checkers infer none: of empty ones, and in unions."""
        members = list(self._list_members(type_))
        is_free = ir.Anything() in members
        kind, opening = (ir.Array, "list[") if isinstance(value, list) else (ir.Map, "dict[str, ")
        inside = [
            member.items if isinstance(member, ir.Array) else member.values
            for member in members
            if isinstance(member, kind)
        ]
        inside = [ir.Anything()] if is_free else inside
        entries = "" if source in ("list", "dict") else source.removeprefix("lambda: ")
        if len(inside) != 1 or (entries and ((len(members) == 1 and not is_free) or entries[0] not in "[{")):
            return source
        is_plain = entries and isinstance(inside[0], ir.String | ir.Boolean)
        return source if is_plain else f"lambda: {opening}{self._hints.annotate(inside[0]).source}]({entries})"

    def _list_members(self, type_: ir.Type) -> Iterator[ir.Type]:
        """Yield the members of a union, those of aliases and of unions inside included; any other type is its only member."""
        alias = self._protocol.definitions[type_.name] if isinstance(type_, ir.Ref) else None
        if isinstance(alias, ir.Alias):
            yield from self._list_members(alias.type)
        elif isinstance(type_, ir.AnyOf):
            for member in type_.types:
                yield from self._list_members(member)
        else:
            yield type_


def _write_tuple(values: Collection[ir.JSON]) -> str:
    """The entries of a tuple as source code."""
    return ", ".join(map(write_literal, values)) + ("," if len(values) == 1 else "")
