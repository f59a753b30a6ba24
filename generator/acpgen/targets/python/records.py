"""`models.py`: the records, emitted by datamodel-code-generator through our template, its text left as it comes."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, TypeGuard

from acpgen import ir
from acpgen.resources import templates
from acpgen.schema.effort import spend
from acpgen.schema.equality import whole
from acpgen.schema.walk import is_array, is_object
from acpgen.targets.python.beyond import Beyond
from acpgen.targets.python.dials import Dials
from acpgen.targets.python.joined import import_of, joined
from acpgen.targets.python.literals import docstring, json_literal, literal
from acpgen.targets.python.naming import Names
from acpgen.targets.python.notes import field_notes
from acpgen.targets.python.types import annotation, imported, references

_AT_ONCE: Final = 300
"""As many records the emitter gets at once."""

_STEPS_A_RECORD: Final = 100
_STEPS_A_FIELD: Final = 30
"""What the emitter, which counts nothing itself, takes for a record: as long as so many steps take elsewhere."""

_IN_TEMPLATE: Final = ("TYPE_CHECKING", "Annotated", "Any", "ClassVar", "MISSING", "Mapping", "Self")
"""What the template of a record names."""

_WIDEST: Final = 100
"""Characters of an import that stands on one line."""


@dataclass(frozen=True, slots=True)
class Modules:
    """Where generated code finds things: the run-time package and this protocol's package, dotted; and what is chosen for it."""

    runtime: str
    package: str
    dials: Dials

    @property
    def is_file(self) -> bool:
        """Whether one module has everything."""
        return self.dials.layout == "file"

    @property
    def bases(self) -> str:
        """What has the bases of records."""
        return f"{self.package}._base" if self.dials.has_base else self.runtime

    @property
    def of_base(self) -> str:
        """What stands before the names of own bases: one module with everything may have types of these names."""
        return "_" if self.dials.has_base and self.is_file else ""


def render_records(protocol: ir.Protocol, names: Names, modules: Modules, notice: str, beyond: Beyond) -> str:
    """The source of `models.py`."""
    header = f'"""{protocol.name}: the records.\n\n{notice}\n"""'
    records = [d for d in protocol.definitions.values() if isinstance(d, ir.Record)]
    if not records:  # which the emitter takes for a mistake
        return f"{header}\n"
    lots = _groups(records)

    spend(sum(_STEPS_A_RECORD + _STEPS_A_FIELD * len(record.fields) for record in records))
    found = [_emitted(protocol, lot, names, modules, header, beyond) for lot in lots]
    return joined(found, lambda node: node.module == f"{modules.package}.models").rstrip("\n") + "\n"


def _groups(records: list[ir.Record]) -> list[list[ir.Record]]:
    """The records in lots that the emitter, whose time and memory grow faster than its input, takes at once. Bases stay with their kin."""
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


def _emitted(
    protocol: ir.Protocol, records: list[ir.Record], names: Names, modules: Modules, header: str, beyond: Beyond
) -> str:
    """The source of a module with some of the records. The emitter lays out classes with neutral names; the template has the rest."""
    from datamodel_code_generator import LiteralType, generate
    from datamodel_code_generator.enums import DataModelType, InputFileType
    from datamodel_code_generator.format import PythonVersion

    lot = frozenset(record.name for record in records)
    fallbacks = {name: union for name, union in _fallbacks(protocol).items() if name in lot}
    keys = _keys(records, names)
    bases = _bases(records, fallbacks, names, modules)
    views = {
        f"#/$defs/{keys[r.name]}": {
            **_view(r, names, fallbacks.get(r.name), protocol, beyond, modules.dials),
            "own_base": names.classes[r.base] if r.base is not None else bases[r.name].name,
        }
        for r in records
    }
    source = generate(
        _layout(records, keys),
        input_file_type=InputFileType.JsonSchema,
        output_model_type=DataModelType.PydanticV2BaseModel,
        target_python_version=PythonVersion.PY_311,
        formatters=[],
        custom_file_header=f"{header}\n\n{_written_imports(records, fallbacks, protocol, names, modules, beyond)}",
        disable_future_imports=True,
        disable_timestamp=True,
        custom_template_dir=Path(templates() / "python" / "dcg"),
        settings_path=Path(templates() / "python" / "dcg"),
        extra_template_data=defaultdict(dict, views),
        base_class_map={keys[name]: base.path for name, base in bases.items()},
        custom_class_name_generator=_as_it_is,
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
    return source


def _keys(records: list[ir.Record], names: Names) -> Mapping[str, str]:
    """A neutral name for each record. The emitter sorts by it, so it follows the order of the classes."""
    classes = sorted(records, key=lambda record: names.classes[record.name])
    return {record.name: f"R{index:0{len(str(len(records)))}}" for index, record in enumerate(classes)}


def _as_it_is(name: str) -> str:
    return name


@dataclass(frozen=True, slots=True)
class _Base:
    """A base of records: what a module imports for it, and what it is called there."""

    path: str
    name: str


def _bases(records: list[ir.Record], fallbacks: Collection[str], names: Names, modules: Modules) -> Mapping[str, _Base]:
    """The base of each record that has none among the records. Where a class has the name of a base, their module is imported."""
    is_clear = bool(modules.of_base) or names.taken.isdisjoint(("Model", "Excluding", "Unknown"))
    excluding = set(_excluding(records))
    found: dict[str, _Base] = {}
    for record in records:
        if record.base is None:
            called = "Unknown" if record.name in fallbacks else "Excluding" if record.name in excluding else "Model"
            called = f"{modules.of_base}{called}"
            module = modules.bases if modules.dials.has_base else f"{modules.runtime}.model"
            own = module.rpartition(".")[2]
            found[record.name] = (
                _Base(f"{modules.bases}.{called}", called) if is_clear else _Base(module, f"{own}.{called}")
            )
    return found


def _excluding(records: list[ir.Record]) -> list[str]:
    """The records that must keep constants out themselves."""
    return [record.name for record in records if record.excluded and record.base is None]


def _fallbacks(protocol: ir.Protocol) -> dict[str, ir.TaggedUnion]:
    """The records that keep unknown tags, each with its union."""
    return {
        union.fallback: union
        for union in protocol.definitions.values()
        if isinstance(union, ir.TaggedUnion) and union.fallback is not None
    }


def _layout(records: list[ir.Record], keys: Mapping[str, str]) -> dict[str, Any]:
    """The schema of the records with neutral names: what each extends, and one field, since without any it would be a map."""
    definitions: dict[str, Any] = {}
    for record in records:
        schema: dict[str, Any] = {"type": "object", "properties": {"f": {"type": "boolean"}}, "required": ["f"]}
        if record.base is not None:
            schema["allOf"] = [{"$ref": f"#/$defs/{keys[record.base]}"}]
        definitions[keys[record.name]] = schema
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", "$defs": definitions}


def _own_fields(record: ir.Record, protocol: ir.Protocol) -> tuple[ir.Field, ...]:
    base = protocol.definitions[record.base] if record.base is not None else None
    if not isinstance(base, ir.Record):
        return record.fields
    inherited = {field.name for field in base.fields}
    return tuple(field for field in record.fields if field.name not in inherited)


def _view(
    record: ir.Record,
    names: Names,
    union: ir.TaggedUnion | None,
    protocol: ir.Protocol,
    beyond: Beyond,
    dials: Dials,
) -> dict[str, Any]:
    fields: list[dict[str, Any]] = []
    unknown = _unknown_tag(record, union)
    for field in _own_fields(record, protocol):
        python = names.fields[record.name][field.name]
        alias = f"{names.ours('Field')}(alias={literal(field.name)})" if python != field.name else None
        fields.append(
            {
                "docstring": docstring(field_notes(field), 4),
                "hint": names.ours("UnknownTag") if field.name == unknown else annotation(field.type, names),
                "is_unknown_tag": field.name == unknown,
                "default": _default(field, names, protocol),
                "absent": _absent(field, names, protocol),
                "alias": alias,
                "name": python,
            }
        )
    view: dict[str, Any] = {
        "docstring": docstring(beyond.with_gaps(record.doc or f"`{record.name}`.", record.name), 4),
        "views": fields,
        "check": beyond.of(record.name, names.ours("CHECKS")),
        "tag_field": None,
        "variant_tag": literal(names.tags[record.name]) if record.name in names.tags else None,
        "extra": _extra(record, names, beyond, dials),
        "excluded": _excluded(record) if union is None else None,
        "own_name": names.classes[record.name],
        "is_checked": unknown is None,
        "receiver": "_self" if "self" in names.fields[record.name].values() else "self",
        "ours": {name: names.ours(name) for name in _IN_TEMPLATE},
    }
    if union is not None:
        view["tag_field"] = literal(union.tag)
        own = [union.default_tag] if union.default_tag is not None else []
        excluded = dict(record.excluded).get(union.tag, ())
        tags = dict.fromkeys([*(variant.tag for variant in union.variants), *own, *excluded])
        texts = [tag for tag in tags if isinstance(tag, str)]  # the unknown tag is text: it can be no other one
        view["known_tags"] = f"{{{', '.join(map(literal, texts))}}}"
    return view


def _unknown_tag(record: ir.Record, union: ir.TaggedUnion | None) -> str | None:
    """The field of a fallback that holds the unknown tag, if any text may be one."""
    found = union is not None and any(field.name == union.tag and field.type == ir.String() for field in record.fields)
    return union.tag if found and union is not None and record.base is None else None


def _excluded(record: ir.Record) -> str | None:
    """The constants that a record refuses, as source; `None` where its class has none to check."""
    if not record.excluded or record.base is not None:
        return None
    rows = (
        f"{literal(key)}: ({''.join(f'{literal(tag)}, ' for tag in tags).rstrip()})" for key, tags in record.excluded
    )
    return "{" + ", ".join(rows) + "}"


def _absent(field: ir.Field, names: Names, protocol: ir.Protocol) -> dict[str, str] | None:
    """How a field without a default is omitted: what stands beside its type, and its value. `None` for other fields."""
    if field.required or _default(field, names, protocol) is not None:
        return None
    return {"beside": f" | {names.ours('MISSING')}", "value": names.ours("MISSING")}


def _extra(record: ir.Record, names: Names, beyond: Beyond, dials: Dials) -> str | None:
    match record.extra:
        case ir.Anything() if dials.unknown != "keep" and record.name in beyond.of_more:
            return f'model_config = {names.ours("ConfigDict")}(extra="allow")'
        case ir.Anything():
            return None
        case ir.Nothing():
            return f'model_config = {names.ours("ConfigDict")}(extra="forbid")'
        case typed:
            values = annotation(typed, names)
            unchecked = "  # pyright: ignore[reportIncompatibleVariableOverride]"  # as pydantic wants it
            typed_extra = f"__pydantic_extra__: dict[str, {values}] = {names.ours('Field')}(init=False){unchecked}"
            config = f'model_config = {names.ours("ConfigDict")}(extra="allow")\n    '
            return typed_extra if dials.unknown == "keep" else config + typed_extra


def _default(field: ir.Field, names: Names, protocol: ir.Protocol) -> str | None:
    """The default as source; `None` for fields that are `MISSING` when omitted."""
    if _is_lone(field.type) and field.required and not isinstance(field.type.values[0], float):
        return literal(field.type.values[0])
    if field.required or _is_lone(field.type):  # with a default, a lone constant would read as one that is required
        return None
    if field.default is None:
        return "None" if field.null == "omitted" else None
    value = field.default.value
    if value is None or isinstance(value, str | bool | int | float):
        return literal(value) if _fits(field.type, value) else None
    if value == [] and isinstance(array := _not_null(field.type), ir.Array):
        made = annotation(ir.Array(array.items), names)
        return f"{names.ours('Field')}(default_factory=lambda: {made}())"
    record = _made(field, protocol)
    if record is None or not isinstance(value, dict) or _makes(record, record.name, protocol):
        return None
    told = _without_own_defaults(value, record, names, protocol)
    made = f".model_validate({json_literal(_with_integers(told))}, by_alias=True)" if told else "()"
    return f"{names.ours('Field')}(default_factory=lambda: {names.classes[record.name]}{made})"


def _made(field: ir.Field, protocol: ir.Protocol) -> ir.Record | None:
    """The record that the default of a field makes, if it is an object of one and has what that requires."""
    target, value = _not_null(field.type), field.default.value if field.default is not None else None
    found = protocol.definitions[target.name] if isinstance(target, ir.Ref) else None
    if field.required or not isinstance(value, dict) or not isinstance(found, ir.Record):
        return None
    return found if all(item.name in value for item in found.fields if item.required) else None


def _makes(record: ir.Record, name: str, protocol: ir.Protocol, seen: frozenset[str] = frozenset()) -> bool:
    """Whether the defaults of a record's fields make a record called `name`, or never end."""
    made = [found for field in record.fields if (found := _made(field, protocol)) is not None]
    deeper = seen | {record.name}
    return any(found.name == name or found.name in deeper or _makes(found, name, protocol, deeper) for found in made)


def _without_own_defaults(
    value: dict[str, ir.JSON], record: ir.Record, names: Names, protocol: ir.Protocol
) -> dict[str, ir.JSON]:
    """A default without what the fields of its record hold anyway: it would count as set, and be sent, where one other field was."""
    held = {
        field.name: field.default.value
        for field in record.fields
        if field.default is not None and not field.required and _default(field, names, protocol) is not None
    }
    return {
        name: item for name, item in value.items() if name not in held or json_literal(item) != json_literal(held[name])
    }


def _with_integers(value: Any) -> Any:
    """A JSON value with whole numbers as integers, as decoding makes them."""
    if is_object(value):
        return {key: _with_integers(item) for key, item in value.items()}
    if is_array(value):
        return [_with_integers(item) for item in value]
    return value if not isinstance(value, float) or (integer := whole(value)) is None else integer


def _is_lone(type_: ir.Type) -> TypeGuard[ir.Constant]:
    return isinstance(type_, ir.Constant) and len(type_.values) == 1


def _fits(type_: ir.Type, value: object) -> bool:
    """Whether a scalar default may stand in an assignment, judged by its type alone."""
    match type_:
        case ir.Boolean():
            return isinstance(value, bool)
        case ir.Number():
            return isinstance(value, int | float) and not isinstance(value, bool)
        case ir.String():
            return isinstance(value, str)
        case ir.Constant():
            return value in type_.values
        case ir.Anything():
            return True
        case ir.AnyOf():
            return any(_fits(member, value) for member in type_.types)
        case ir.Null():
            return value is None
        case _:
            return False


def _not_null(type_: ir.Type) -> ir.Type:
    if isinstance(type_, ir.AnyOf):
        left = [member for member in type_.types if member != ir.Null()]
        if len(left) == 1:
            return left[0]
    return type_


def _imports(
    records: list[ir.Record],
    fallbacks: Mapping[str, ir.TaggedUnion],
    protocol: ir.Protocol,
    names: Names,
    modules: Modules,
    beyond: Beyond,
) -> list[str]:
    """What the template uses."""
    needed = [f"{modules.runtime}.MISSING"]
    if any(beyond.of(record.name) for record in records):
        needed.append(f"{modules.package}.unions.{names.ours('CHECKS')}")
    excluding = [name for name in _excluding(records) if name not in fallbacks]
    if fallbacks or excluding or any(record.name in names.tags for record in records):
        needed += ["typing.ClassVar"]
    told = [record for record in records if _unknown_tag(record, fallbacks.get(record.name)) is not None]
    if told:
        needed += ["typing.TYPE_CHECKING", f"{modules.runtime}.UnknownTag"]
    if excluding or told:
        needed += ["collections.abc.Mapping", "typing.Any"]
    if any("ConfigDict" in (_extra(record, names, beyond, modules.dials) or "") for record in records):
        needed.append("pydantic.ConfigDict")
    typed = [record.extra for record in records if not isinstance(record.extra, ir.Anything | ir.Nothing)]
    made = f"{names.ours('Field')}("
    if typed or any((_default(f, names, protocol) or "").startswith(made) for r in records for f in r.fields):
        needed.append("pydantic.Field")
    written = [field.type for record in records for field in record.fields]
    for type_ in (*typed, *written):
        needed += [_SOURCES[name].format(modules.runtime) for name in sorted(imported(type_, names))]
        needed += [f"{modules.package}.unions.{names.classes[name]}" for name in sorted(_aliases(type_, protocol))]
    return list(dict.fromkeys(filter(None, needed)))


def _written_imports(
    records: list[ir.Record],
    fallbacks: Mapping[str, ir.TaggedUnion],
    protocol: ir.Protocol,
    names: Names,
    modules: Modules,
    beyond: Beyond,
) -> str:
    """All that a module of records imports, but for the bases."""
    is_aliased = any(
        names.fields[record.name][field.name] != field.name for record in records for field in record.fields
    )
    needed = {"pydantic.Field"} if is_aliased else set[str]()
    needed.update({"typing.Annotated"} if is_aliased else ())
    needed.update(_imports(records, fallbacks, protocol, names, modules, beyond))
    by_module: dict[str, set[str]] = {}
    for path in needed:
        module, _, name = path.rpartition(".")
        is_ours = module != f"{modules.package}.unions"
        by_module.setdefault(module, set()).add(names.imported(name) if is_ours else name)
    lines = (import_of(module, found, _WIDEST) for module, found in sorted(by_module.items()))
    return "\n".join(["from __future__ import annotations", "", *lines])


_SOURCES: Final = {
    **{name: f"typing.{name}" for name in ("Annotated", "Any", "Literal", "Never")},
    **{
        name: f"{{}}.{name}"
        for name in (
            *("Alone", "Bounds", "Exact", "MultipleOf", "Number", "Pattern", "Positional", "UniqueItems"),
            "WithoutFraction",
        )
    },
    "Field": "pydantic.Field",
}
"""Where `imported` names come from; `{}` is the run-time package."""


def _aliases(type_: ir.Type, protocol: ir.Protocol) -> set[str]:
    """The definitions that a type refers to and that are no records."""
    return {name for name in references(type_) if not isinstance(protocol.definitions[name], ir.Record)}
