"""What the templates show: rows and phrases, as `Markdown` if they contain markup, otherwise as plain text."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Final, assert_never

from acpgen import ir
from acpgen.diagnostics.markup import Markdown, make_identifier, split_sentences, write_code, write_prose, write_value
from acpgen.targets.docs.leniency import describe_leniency
from acpgen.targets.docs.page_paths import Linker, join_markdown
from acpgen.targets.docs.type_text import admits_null, describe_type, list_constraints, list_type_references
from acpgen.targets.docs.usages import Usage

if TYPE_CHECKING:
    from acpgen.targets.docs.version_docs import VersionDocs

_SAYS_NULL: Final = re.compile(r"(?<![\w-])null(?![\w-])", re.IGNORECASE)
_SAYS_OMISSION: Final = re.compile(r"\b(?:omi(?:ssion|t|ts|tted|tting)|absen(?:t|ce))\b", re.IGNORECASE)
UNKNOWN: Final = {
    "open": "An unknown {} is valid. Receivers keep it whole and hand it on unchanged; a name that begins with `_` is an extension "
    "of some implementation, any other belongs to a later version of the protocol.",
    "tolerated": "The schema has no other {}, and senders send none. Receivers keep an unknown one whole instead of refusing the "
    "message.",
    "closed": "An unknown {} makes the message invalid, and receivers refuse it: what it means decides what happens next.",
}
_NULL: Final[Mapping[ir.NullMeaning | None, str]] = {
    "clears": "Null removes the value that the receiver holds; omission keeps it.",
    "omitted": "Null means the same as omission.",
    None: "Null is a value of its own.",
}
META: Final = "_meta"
"""The metadata field, which most objects have: its rows do not repeat the page of messages."""
FALLS_TO_DEFAULT: Final = (
    "An object with an unknown {} is read as one without: it is valid if it has the type of those, else receivers refuse the "
    "message."
)
KEPT_BESIDE_DEFAULT: Final = (
    "An object with an unknown {} is valid if it has the fields of those without one. Receivers never take it for such: they keep it "
    "whole, as unknown."
)
KNOWN_IS_STRICT: Final = "A known tag with a body that does not fit is an error, never an unknown variant."


def describe_kind(definition: ir.Definition) -> str:
    """The kind of a definition."""
    match definition:
        case ir.Record():
            return "Object"
        case ir.TaggedUnion():
            return f"{definition.openness.capitalize()} union, discriminated by `{definition.tag}`"
        case ir.Enum():
            return f"{definition.openness.capitalize()} enumeration"
        case ir.Alias():
            return "Type"
        case _:
            assert_never(definition)


def describe_unknown(definition: ir.TaggedUnion | ir.Enum) -> str:
    """How an unknown tag or value is treated."""
    if isinstance(definition, ir.Enum):
        return UNKNOWN[definition.openness].format("value")
    known_tag_note = "" if definition.default_admits_known else KNOWN_IS_STRICT
    if definition.default_admits_unknown:
        return f"{FALLS_TO_DEFAULT.format('tag')} {known_tag_note}"
    is_kept = definition.openness == "closed" and definition.fallback is not None
    return f"{(KEPT_BESIDE_DEFAULT if is_kept else UNKNOWN[definition.openness]).format('tag')} {known_tag_note}"


def describe_field(record: ir.Record, field: ir.Field, docs: VersionDocs, linker: Linker) -> Markdown:
    """The description of a field with all notes on it."""
    owner = field.owner or record.name
    # A discriminator is as old as its variant, of which the union tells.
    is_discriminator = bool(_find_unions_by_tag(record.name, field.name, docs))
    parts = (
        write_prose("" if _repeats(field, docs.protocol) else field.doc),
        *_list_notes(record, field, docs, linker),
        "" if is_discriminator else docs.availability.describe_member(owner, "field", field.name),
        docs.origins.describe_member(owner, "field", field.name),
    )
    return join_markdown(filter(None, parts), "<br>")


def describe_variant(union: ir.TaggedUnion, variant: ir.Variant, docs: VersionDocs, linker: Linker) -> Markdown:
    """The notes on a branch of a union, without its description."""
    notes = (
        _describe_gate(variant.capability, linker),
        Markdown("**unstable**" if variant.unstable else ""),
        docs.availability.describe_member(union.name, "variant", str(variant.tag)),
        docs.origins.describe_member(union.name, "variant", str(variant.tag)),
    )
    return join_markdown(filter(None, notes), " ")


_USES: Final = {
    "params": "its params",
    "result": "its result",
    "field": "the field {}",
    "variant": "the variant {}",
    "body": "what the variant {} holds beside its tag",
    "other variants": "values without a known tag",
}


def describe_use(use: Usage, linker: Linker) -> Markdown:
    """One line of "used by"."""
    owner = linker.link_method(use.owner) if use.how in ("params", "result") else linker.link_type(use.owner)
    return Markdown(f"{owner}: {_USES[use.how].format(write_code(use.member))}") if use.how in _USES else owner


def describe_capability_use(use: Usage, linker: Linker) -> Markdown:
    """One usage of a capability."""
    if use.how == "method":
        return linker.link_method(use.owner)
    kind = {"variant": "tag", "value": "value"}.get(use.how, "field")
    link = linker.link(
        write_code(f"{use.owner}.{use.member}"), linker.paths.types[use.owner], f"{kind}-{make_identifier(use.member)}"
    )
    return Markdown(f"{link} (becomes required)") if use.how == "required" else link


def describe_capability(path: str | None, linker: Linker) -> Markdown:
    """The required capability of a method, as a phrase."""
    if path is None:
        return Markdown("none")
    side = path.partition(":")[0]
    return Markdown(f"{linker.link_capability(path)} of the {write_prose(side)}")


def describe_other_fields(record: ir.Record, docs: VersionDocs, linker: Linker) -> Markdown:
    """Which fields an object may have beside its own; empty if it may have any."""
    if isinstance(record.extra, ir.Nothing):
        return Markdown("Other fields make the object invalid.")
    schema = docs.bundle.definitions.get(record.name, {})
    if "patternProperties" in schema and schema.get("additionalProperties") is False:
        patterns = join_markdown(map(write_code, schema["patternProperties"]), " or ")
        return Markdown(
            f"Other fields are allowed where their names match {patterns}. Any other makes the object invalid."
        )
    if isinstance(record.extra, ir.Anything):
        return Markdown()
    return Markdown(f"Other fields are allowed; their values are: {describe_type(record.extra, linker)}.")


def describe_exclusions(record: ir.Record) -> Iterator[Markdown]:
    """Yield the values excluded from fields of a fallback branch."""
    for name, values in record.excluded:
        yield Markdown(f"{write_code(name)} is none of {join_markdown(map(write_value, values))}.")


def link_types(names: Iterable[str], linker: Linker) -> Markdown:
    """Links to several types."""
    return join_markdown(map(linker.link_type, names))


def collect_constraints(type_: ir.Type) -> tuple[Markdown, ...]:
    """The constraints of a type, without duplicates."""
    return tuple(dict.fromkeys(list_constraints(type_)))


def _list_notes(record: ir.Record, field: ir.Field, docs: VersionDocs, linker: Linker) -> Iterable[Markdown]:
    protocol = docs.protocol
    if isinstance(field.type, ir.Constant | ir.Ref) and not field.doc:
        unions = _find_unions_by_tag(record.name, field.name, docs)
        if unions:
            yield Markdown(f"The discriminator of {linker.link_type(unions[0])}.")
        elif isinstance(field.type, ir.Constant) and len(field.type.values) == 1:
            yield write_prose("Always this value.")
    demanded = collect_constraints(field.type)
    if demanded:
        yield Markdown(f"*{join_markdown(demanded, '; ')}*")
    if field.default is not None:
        yield Markdown(f"Default: {write_value(field.default.value)}.")
    if admits_null(field.type, protocol) and not (isinstance(field.type, ir.Anything) and field.null is None):
        yield from map(write_prose, _describe_null(field))
    if field.capability is not None:
        yield _describe_gate(field.capability, linker)
    if field.required_with is not None:
        yield Markdown(f"Required once {describe_capability(field.required_with, linker)} is advertised.")
    lenient = describe_leniency(record, field, protocol, linker)
    if lenient:
        yield lenient


def find_metadata(protocol: ir.Protocol) -> ir.Definition | None:
    """The type of the field `_meta`, if it is the same in all objects that have the field; otherwise `None`."""
    records = (definition for definition in protocol.definitions.values() if isinstance(definition, ir.Record))
    types = {field.type for record in records for field in record.fields if field.name == META}
    names = {name for type_ in types for name in list_type_references(type_)}
    return protocol.definitions[names.pop()] if len(types) == len(names) == 1 else None


def _repeats(field: ir.Field, protocol: ir.Protocol) -> bool:
    """Whether the description of a metadata field repeats the beginning of its type's description, to which its row links."""
    if field.name != META:
        return False
    begins = (next(split_sentences(protocol.definitions[name].doc), "") for name in list_type_references(field.type))
    return field.doc in begins


def _describe_null(field: ir.Field) -> Iterator[str]:
    """Yield the meaning of null, unless the field's own description contains it."""
    if field.null is None or not _SAYS_NULL.search(field.doc):
        yield _NULL[field.null]
    elif not _SAYS_OMISSION.search(field.doc):
        yield "Omission keeps the value that the receiver holds." if field.null == "clears" else _NULL[field.null]


def _find_unions_by_tag(record: str, name: str, docs: VersionDocs) -> list[str]:
    """The unions that use a field of the record as their tag, for the record itself or for a union that contains it."""
    unions, within, visited = list[str](), [record], set[str]()
    while within:
        inner = within.pop()
        if inner not in visited:
            visited.add(inner)
            holding = docs.unions_of.get(inner, ())
            unions += [union for union, tag in holding if tag == name and union not in unions]
            within += [union for union, tag in holding if tag != name]
    return unions


def _describe_gate(path: str | None, linker: Linker) -> Markdown:
    if path is None:
        return Markdown()
    return Markdown(
        f"Only once the {write_prose(path.partition(':')[0])} has advertised {linker.link_capability(path)}."
    )
