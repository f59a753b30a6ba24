"""Lowering of a bundle to the IR. One function per shape; a shape that is not supported is reported, never skipped."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any, Final

from acpgen import ir
from acpgen.bundle.bundle import Bundle
from acpgen.bundle.unknown_variants import find_common_fields
from acpgen.errors import Faults
from acpgen.input.equality import get_kind, index_by_key
from acpgen.input.schema_nodes import OBJECTS, Node, Schemas
from acpgen.input.step_budget import set_place
from acpgen.input.tagged_unions import Tagged, find_own_tag, is_of_type, read_excluded_text
from acpgen.input.walk import find_sources, is_array, is_object, select_annotations
from acpgen.meaning.definition_order import references
from acpgen.meaning.discriminators import find_discriminators
from acpgen.meaning.faults import NOTHING_DEFINED, NOTHING_LISTED, UNKNOWN_LENIENCY
from acpgen.meaning.methods import find_methods
from acpgen.meaning.subsumption import find_base, find_body, find_narrowest, implies, intersect, is_record, names_fields
from acpgen.meaning.types import Notes, lower_extra, lower_type, read_kind
from acpgen.methods.profile import KINDS

LENIENCY: Final = {
    "x-deserialize-default-on-error": "default_on_error",
    "x-deserialize-skip-invalid-items": "skip_invalid_items",
    "x-deserialize-default-on-null": "default_on_null",
}


_ANYTHING: Final = ir.Anything()


def lower(bundle: Bundle, *, keep_unknown: bool = False) -> ir.Protocol:
    """Lower a bundle to the IR. `keep_unknown` makes each closed union and enumeration tolerate and preserve unknown values.

    Raises `Faults` for unknown leniency keywords, definitions that mark no method, and a schema without any type and method.
    """
    schemas = bundle.make_nodes()
    definitions = _lower_definitions(schemas, bundle.framing, keep_unknown)
    methods, sides = find_methods(schemas, bundle)
    if not definitions and not methods:
        document = bundle.profile.document
        at = next(iter(bundle.files)) if len(bundle.files) == 1 else ""
        raise Faults([NOTHING_DEFINED(at) if document is None else NOTHING_LISTED(at, kind=KINDS[document])])
    return ir.Protocol(
        name=bundle.name,
        version=bundle.version,
        definitions=definitions,
        methods=methods,
        sides=sides,
        batch=any(is_object(b) and b.get("type") == "array" for b in bundle.schema.get("anyOf", ())),
        envelope=bundle.profile.envelope,
        stream=bundle.profile.stream,
        framing={name: schema for name, schema in bundle.definitions.items() if name in bundle.framing},
        doc=str(bundle.schema.get("description", "")),
    )


def _lower_definitions(schemas: Schemas, framing: frozenset[str], keep_unknown: bool) -> dict[str, ir.Definition]:
    """Lower all definitions, and those again that depend on definitions found to accept more than their schemas do."""
    work = _Lowering(schemas, keep_unknown=keep_unknown)
    lowered: dict[str, ir.Definition] = {}
    dependencies: dict[str, set[str]] = {}
    pending = [name for name in schemas if name not in framing]
    while True:
        for name in pending:
            work.notes.dependencies = dependencies[name] = set()
            lowered[name] = work.lower_definition(name, schemas[name])
        if work.notes.faults:
            raise Faults(work.notes.faults)
        definitions = _with_lost_exclusions(lowered | work.synthesised)
        unenforced = (name for name, definition in definitions.items() if definition.unenforced)
        users = {name: references(definition) for name, definition in definitions.items()}
        wider = find_sources(unenforced, users).keys() - work.notes.inexact
        work.notes.inexact |= wider
        pending = [name for name in lowered if not wider.isdisjoint(dependencies[name])]
        if not pending:
            return definitions


class _Lowering:
    def __init__(self, schemas: Schemas, *, keep_unknown: bool) -> None:
        self.schemas = schemas
        self.keep_unknown = keep_unknown
        self.notes = Notes()
        self.synthesised: dict[str, ir.Definition] = {}
        keeps = keep_unknown or any(node.says.get("x-unknown") == "keep" for node in schemas.values())
        self.discriminators = find_discriminators(schemas) if keeps else {}
        marked = [(schemas[name].fields, key) for name, keys in self.discriminators.items() for key in keys]
        self.marks: Final = {field.at for fields, key in marked for field in fields.get(key, ())}

    # --- definitions ---

    def lower_definition(self, name: str, node: Node) -> ir.Definition:
        set_place(node.at)
        self.notes.unenforced = []
        settled = _fold_constants(node)
        values = _list_enum_values(settled)
        if values is not None:
            return self._lower_enum(name, settled, *values)
        if node.tagged_union is not None and _is_named(node, node.tagged_union):
            return self._lower_tagged_union(name, node, node.tagged_union)
        if is_record(node):
            return self._lower_record(name, node)
        type_ = self._lower_with_record(name, node) or lower_type(self.notes, node, is_definition=True)
        return ir.Alias(name=name, type=type_, **self._read_common(node))

    def _read_common(self, node: Node) -> dict[str, Any]:
        examples = node.says.get("examples", [])
        return {
            "unstable": node.says.get("x-unstable") is True,
            "unenforced": tuple(map(self.schemas.locate_keyword, dict.fromkeys(self.notes.unenforced))),
            "examples": tuple(examples) if is_array(examples) else (),
            "doc": node.get_text("description"),
            "at": node.place,
        }

    def _find_openness(self, node: Node, *, is_open: bool) -> ir.Openness:
        if is_open:
            return "open"
        return "tolerated" if node.says.get("x-unknown") == "keep" or self.keep_unknown else "closed"

    def _lower_enum(self, name: str, node: Node, values: list[ir.EnumValue], base_: ir.Type | None) -> ir.Enum:
        keyword = "enum" if "enum" in node.says else "oneOf" if "oneOf" in node.says else "anyOf"
        self.notes.leave(node, {keyword, "type"})
        distinct = index_by_key(value.value for value in values)
        base_kind = None if base_ is None else "string" if base_ == ir.String() else "number"
        is_overlap = len(distinct) < len(values) or any(get_kind(value.value) == base_kind for value in values)
        if keyword == "oneOf" and is_overlap:
            self.notes.unenforced.append(f"{node.at}/oneOf")
        is_text = all(isinstance(value.value, str) for value in values)
        kind: ir.Type = ir.String() if is_text else ir.Number(integer=True)
        openness = self._find_openness(node, is_open=base_ is not None)
        is_mark = len(distinct) == 1 or node.at in self.marks  # which is no list that grows
        is_integers = all(isinstance(value, int) and not isinstance(value, bool) for value in distinct.values())
        if openness == "tolerated" and (is_mark or not (is_text or is_integers)):
            openness = "closed"
        return ir.Enum(
            name=name, values=tuple(values), openness=openness, base=base_ or kind, **self._read_common(node)
        )

    # --- tagged unions ---

    def _lower_tagged_union(self, name: str, node: Node, tagged: Tagged) -> ir.TaggedUnion:
        assert node.union is not None
        keyword, branches = node.union
        variants = tuple(self._lower_variant(index, branches[index], tag, tagged) for index, tag in tagged.variants)
        roles: dict[str, Any] = {}
        if tagged.fallback is not None:
            roles |= self._lower_fallback(branches[tagged.fallback])
        if tagged.default is not None:
            roles |= self._lower_default(name, node, keyword, branches[tagged.default], tagged)
        openness = self._find_openness(node, is_open=tagged.fallback is not None)
        if openness == "tolerated":
            if roles.get("default_admits_unknown"):
                openness = "closed"  # the default branch reads unknown tags already
            else:
                roles["fallback"] = self._synthesise(name, node.place, branches, tagged)
        return ir.TaggedUnion(
            name=name, tag=tagged.tag, variants=variants, openness=openness, **roles, **self._read_common(node)
        )

    def _lower_variant(self, index: int, branch: Node, tag: Any, tagged: Tagged) -> ir.Variant:
        self._note_exclusion(branch, tagged, index)
        record = self._find_record(branch)
        return ir.Variant(
            tag=tag,
            type=record.owner if record.kinds == OBJECTS else f"{record.owner}Object",
            body=find_body(record),
            capability=branch.says.get("x-capability", record.says.get("x-capability")),
            unstable=branch.says.get("x-unstable", record.says.get("x-unstable")) is True,
            doc=str(branch.says.get("description", record.says.get("description", ""))),
            was=tuple(branch.says.get("x-was", ())),
            at=branch.place,
        )

    def _find_record(self, branch: Node) -> Node:
        """The definition that a branch refers to, ignoring its `not`."""
        referred = branch.without("not").referred
        assert referred is not None, f"the branch at {branch.at} was not named"
        return referred

    def _note_exclusion(self, branch: Node, tagged: Tagged, own_index: int | None = None) -> None:
        """Record the `not` of a branch as unenforced, unless it only excludes tags of other branches."""
        exclusions = branch.exclusions
        if exclusions == {}:
            return
        other_tags = index_by_key(tag for index, tag in tagged.variants if index != own_index)
        if (
            exclusions is None
            or set(exclusions) - {tagged.tag}
            or exclusions.get(tagged.tag, {}).keys() - other_tags.keys()
        ):
            self.notes.unenforced.append(f"{branch.at}/not")

    def _lower_fallback(self, branch: Node) -> dict[str, Any]:
        """The fallback's record, and the records of its shapes if it has several."""
        if branch.reference is not None:
            return {"fallback": branch.reference}
        assert branch.union is not None
        shapes = tuple(shape.reference or "" for shape in branch.union[1])
        is_exclusive = branch.union[0] == "oneOf" and self.notes.are_exact(shapes)
        if branch.union[0] == "oneOf" and not is_exclusive:
            self.notes.unenforced.append(f"{branch.at}/oneOf")
        return {
            "fallback": find_body(self.schemas[shapes[0]]),
            "fallback_shapes": shapes,
            "fallback_exclusive": is_exclusive,
        }

    def _lower_default(self, name: str, node: Node, keyword: str, branch: Node, tagged: Tagged) -> dict[str, Any]:
        """The branch without a tag: the name of its record, and what it accepts in addition to objects without a tag."""
        referred = self._find_record(branch)
        if tagged.default in tagged.first_tags:  # it refuses every other tag itself
            return {"default": referred.owner}
        shape, known_tags = branch.shape, index_by_key(tag for _, tag in tagged.variants)
        exclusions = {**(branch.exclusions or {}), **(referred.exclusions or {})}
        is_closed = tagged.tag in shape.closed
        admits_known = not (
            known_tags.keys() <= exclusions.get(tagged.tag, {}).keys()
            or is_closed
            or any(sub.is_null for sub in shape.properties.get(tagged.tag, []))
        )
        closing = read_excluded_text(branch.says.get("not"))
        if closing is None or closing[0] != tagged.tag:  # the union itself refuses unknown tags, or keeps them apart
            self._note_exclusion(branch, tagged)
        if admits_known and keyword == "oneOf":
            self.notes.unenforced.append(f"{node.at}/oneOf")
        default_tag = find_own_tag(tagged, branch)
        roles = {"default": referred.owner, "default_admits_known": admits_known, "default_tag": default_tag}
        if tagged.fallback is not None or is_closed:
            return roles
        stray = self._find_strays(name, node.place, referred, tagged, default_tag)
        return {**roles, "fallback": stray, "default_admits_unknown": stray is None}

    def _find_strays(self, name: str, at: str, default: Node, tagged: Tagged, default_tag: str | None) -> str | None:
        """The record of objects with an unknown tag that the default branch accepts; `None` if that cannot be determined.

        That is the case if the branch is not a record, or constrains the tag itself.
        """
        if not is_record(default):
            return None
        unenforced_count = len(self.notes.unenforced)
        record = self._lower_record(default.owner, default)
        if record.extra == ir.Nothing() or any(field.name == tagged.tag for field in record.fields):
            del self.notes.unenforced[unenforced_count:]  # said of the default branch already
            return None
        if record.extra != ir.Anything():
            self.notes.unenforced.append(f"{default.at}/additionalProperties")  # it judges the tag
        known_tags = [
            *(tag for _, tag in tagged.variants if isinstance(tag, str)),
            *([default_tag] if default_tag is not None else []),
        ]
        return self._make_unknown(name, at, default.owner, record.fields, tagged.tag, known_tags, record.extra)

    def _synthesise(self, name: str, at: str, branches: list[Node], tagged: Tagged) -> str:
        """Make the record of unknown tags of a tolerated union: the tag, and the fields common to all variants."""
        common, required_names = find_common_fields([branches[index] for index in tagged.own_branches], tagged.tag)
        first = self._find_record(branches[tagged.variants[0][0]])
        declared_fields = first.fields
        homes = {key: declared_fields[key][0] if key in declared_fields else first for key in common}
        fields = [
            self._lower_field(key, replace(homes[key], schema=sub.schema), key in required_names)
            for key, sub in common.items()
        ]
        return self._make_unknown(name, at, first.owner, tuple(fields), tagged.tag, [tag for _, tag in tagged.variants])

    def _make_unknown(
        self,
        union: str,
        at: str,
        owner: str,
        fields: tuple[ir.Field, ...],
        tag: str,
        known_tags: list[Any],
        extra: ir.Type = _ANYTHING,
    ) -> str:
        """Make the record of an unknown variant, and return its name."""
        name = f"Unknown{union}"
        first = ir.Field(name=tag, type=ir.String(), required=True, owner=owner, doc="The unknown tag.", at=at)
        self.synthesised[name] = ir.Record(
            name=name,
            fields=(first, *fields),
            extra=extra,
            excluded=((tag, tuple(known_tags)),),
            doc=f"A variant of {union} that this version does not know, kept as it came.",
            at=at,
        )
        return name

    # --- records ---

    def _lower_with_record(self, name: str, node: Node) -> ir.Type | None:
        """The type of a schema that has fields but also accepts other values than objects; its record is named after it."""
        record_name = f"{name}Object"
        if not _has_record(node):
            return None
        self.synthesised[record_name] = self._lower_record(
            record_name, replace(node.with_keywords(type="object"), owner=record_name)
        )
        self.notes.unenforced = []
        types = node.types if "type" in node.says else [*sorted(node.kinds - {"null"}), "null"]
        other_types = [
            read_kind(self.notes, node, kind) for kind in sorted(types, key="null".__eq__) if kind != "object"
        ]
        return ir.AnyOf((ir.Ref(record_name), *other_types))

    def _lower_record(self, name: str, node: Node) -> ir.Record:
        properties, required_names, extra = node.fields, node.required, lower_extra(self.notes, node)
        fields = [self._merge_field(key, schemas, key in required_names) for key, schemas in properties.items()]
        fields = [
            self._close_tag(field, node) if self.discriminators.get(name, {}).get(field.name) else field
            for field in fields
        ]
        undeclared = sorted(required_names - set(properties))
        fields.extend(ir.Field(name=key, type=extra, required=True, owner=name, at=node.place) for key in undeclared)
        exclusions = node.exclusions
        is_plain = not node.says.get("patternProperties") and set(properties) <= set(node.says.get("properties", ()))
        above = find_base(node)
        handled = {*(["additionalProperties"] if is_plain else []), *(["not"] if exclusions is not None else [])}
        self._note_parts(node, handled, above)
        return ir.Record(
            name=name,
            fields=tuple(fields),
            extra=extra,
            base=above,
            excluded=tuple(
                (key, tuple(sorted(values.values(), key=str))) for key, values in sorted((exclusions or {}).items())
            ),
            **self._read_common(node),
        )

    def _note_parts(self, node: Node, handled: set[str], above: str | None) -> None:
        """Record as unenforced what a record and its parts demand beyond the types of its fields. Exclusions of its base are its own,
        too.
        """
        for part in node.all_parts:
            is_kept = part is not node and part.owner == above and "not" in part.says and part.exclusions is not None
            also = handled if part is node else {"not"} if is_kept and part is part.schemas[part.owner] else set[str]()
            self.notes.leave(part, {"properties", "required", "type", "allOf", "$ref", *also}, OBJECTS)

    def _merge_field(self, key: str, nodes: list[Node], is_required: bool) -> ir.Field:
        """Make one field from the schemas that several parts have for it: from the narrowest, or their intersection. Others are recorded
        as unenforced.
        """
        narrowest_index = find_narrowest(nodes)
        node, first = nodes[narrowest_index], nodes[0]
        not_implied = [part.at for part in nodes if not implies(node, part)]
        intersection = intersect([node, *(part for part in nodes if part is not node)]) if not_implied else None
        if intersection is None:
            self.notes.unenforced.extend(not_implied)
        elif is_object(intersection.schema):
            node = node.make({**select_annotations(node.says), **intersection.schema})
        else:
            node = intersection
        if narrowest_index and is_object(first.schema) and is_object(node.schema):
            node = node.make({**select_annotations(first.says), **node.says})
        return self._lower_field(key, replace(node, owner=first.owner), is_required)

    def _lower_field(self, name: str, node: Node, is_required: bool) -> ir.Field:
        if not is_object(node.schema):
            type_ = lower_type(self.notes, node)
            return ir.Field(name=name, type=type_, required=is_required, owner=node.owner, at=node.place)
        return ir.Field(
            name=name,
            type=lower_type(self.notes, node),
            required=is_required,
            default=_find_default(node),
            null=node.says.get("x-null", _inherit_keyword(node, "x-null")),
            leniency=self._read_leniency(node),
            capability=node.says.get("x-capability"),
            required_with=node.says.get("x-required-with"),
            unstable=node.says.get("x-unstable") is True,
            owner=node.owner,
            doc=str(node.says.get("description") or _take_first_sentence(_inherit_keyword(node, "description"))),
            was=tuple(node.says.get("x-was", ())),
            at=node.place,
        )

    def _close_tag(self, field: ir.Field, node: Node) -> ir.Field:
        """The tag of a tagged union with its constants, even if their enumeration tolerates unknown values elsewhere."""
        listing = self.schemas[field.type.name] if isinstance(field.type, ir.Ref) else None
        if listing is None or listing.at in self.marks or self._find_openness(listing, is_open=False) == "closed":
            return field
        tags = node.shape.find_tags(field.name)
        return replace(field, type=ir.Constant(tuple(tags.values()))) if tags else field

    def _read_leniency(self, node: Node) -> ir.Leniency:
        keywords = [keyword for keyword in node.says if keyword.startswith("x-deserialize-")]
        unknown = [keyword for keyword in keywords if keyword not in LENIENCY]
        self.notes.faults += [UNKNOWN_LENIENCY(at=node.at, keyword=keyword) for keyword in unknown]
        supported = (keyword for keyword in keywords if keyword in LENIENCY)
        return ir.Leniency(**{LENIENCY[keyword]: node.says[keyword] is True for keyword in supported})


def _is_named(node: Node, tagged: Tagged) -> bool:
    """Whether each branch of a tagged union that needs a record refers to one, or to a definition with a record for its objects."""
    branches = [(node.branches[index], node.branches[index].without("not").referred) for index in tagged.own_branches]
    return all(to is not None and (branch.kinds == OBJECTS or _has_record(to)) for branch, to in branches)


def _has_record(node: Node) -> bool:
    """Whether a definition that also accepts other values than objects has a record for its objects."""
    return names_fields(node) and f"{node.owner}Object" not in node.schemas


def _find_default(node: Node) -> ir.Default | None:
    """The default value that a field or an inline part of its `allOf` declares."""
    schemas = (part.says for part in (node, *node.parts) if is_object(part.schema))
    return next((ir.Default(schema["default"]) for schema in schemas if "default" in schema), None)


def _inherit_keyword(node: Node, keyword: str) -> Any:
    """The value of a keyword in the definition that a field refers to, for a field that lacks it."""
    non_null = [branch for branch in node.branches if not branch.is_null]
    referred = node.referred or (non_null[0].referred if len(non_null) == 1 else None)
    return None if referred is None else referred.says.get(keyword)


def _take_first_sentence(text: Any) -> str:
    """The first sentence of a description: enough for a field that only refers to the definition it describes."""
    first = re.match(r".*?[.!?](?=\s|$)", text, re.DOTALL) if isinstance(text, str) else None
    return first[0] if first else text or ""


def _fold_constants(node: Node) -> Node:
    """A schema with `enum` and other assertions as the constants that satisfy them; other schemas unchanged."""
    is_list = "enum" in node.says and "const" not in node.says and not node.demands <= {"enum", "type"}
    intersection = intersect([node]) if is_list else None
    if intersection is None or not intersection.says:
        return node
    return node.make({**select_annotations(node.says), **intersection.says})


def _list_enum_values(node: Node) -> tuple[list[ir.EnumValue], ir.Type | None] | None:
    """The constants of an enumeration and, for an open one, the type of other values; `None` if it is not an enumeration."""
    if is_array(node.says.get("enum")) and "const" not in node.says:
        values = [(index, value) for index, value in enumerate(node.says["enum"]) if is_of_type(value, node.says)]
        if not values or any(isinstance(value, dict | list | None) for _, value in values):
            return None
        return [
            ir.EnumValue(value=value, at=node.make(value, "enum", str(index)).place) for index, value in values
        ], None
    enum_values: list[ir.EnumValue] = []
    base_: ir.Type | None = None
    for branch in node.branches:
        sample = branch.constant
        if sample is None:
            sample = "" if branch.says.get("type") == "string" else 0
        if not is_object(branch.schema) or not is_of_type(sample, node.says):
            return None
        if (value := _read_enum_value(branch)) is not None:
            enum_values.append(value)
        elif base_ is None and branch.demands == frozenset({"type"}) and branch.says["type"] in ("string", "integer"):
            is_text = branch.says["type"] == "string"
            base_ = ir.String() if is_text else ir.Number(integer=True, format=branch.says.get("format"))
        else:
            return None
    kind = {"type": "integer" if isinstance(base_, ir.Number) else "string"}
    if base_ is not None and not all(is_of_type(value.value, kind) for value in enum_values):
        return None  # constants and a type that has none of them: a union like any other
    return (enum_values, base_) if enum_values else None


def _read_enum_value(branch: Node) -> ir.EnumValue | None:
    """The constant of a branch of an enumeration; `None` if the branch is something else."""
    value = branch.constant
    if value is None or not branch.demands <= {"const", "enum", "type"} or not is_of_type(value, branch.says):
        return None
    return ir.EnumValue(
        value=value,
        title=branch.says.get("title"),
        capability=branch.says.get("x-capability"),
        unstable=branch.says.get("x-unstable") is True,
        doc=branch.get_text("description"),
        was=tuple(branch.says.get("x-was", ())),
        at=branch.place,
    )


def _with_lost_exclusions(definitions: dict[str, ir.Definition]) -> dict[str, ir.Definition]:
    """The definitions, where records have an unenforced place for exclusions that their class cannot enforce."""
    fallbacks = {
        union.fallback: union.tag
        for union in definitions.values()
        if isinstance(union, ir.TaggedUnion) and union.fallback is not None
    }

    def loses(record: ir.Record) -> str | None:
        excluded_names = {key for key, _ in record.excluded}
        is_kept = record.base is None and (record.name not in fallbacks or excluded_names <= {fallbacks[record.name]})
        if excluded_names and not is_kept:
            return f"{record.at}/not"
        base = definitions[record.base] if record.base is not None else None
        return loses(base) if isinstance(base, ir.Record) else None

    places = {name: loses(definition) for name, definition in definitions.items() if isinstance(definition, ir.Record)}
    return {
        name: replace(definition, unenforced=(*definition.unenforced, place))
        if (place := places.get(name)) is not None
        else definition
        for name, definition in definitions.items()
    }
