"""The supported drafts of JSON Schema: their identifiers, their keywords, and the translation to 2020-12.

A keyword that a draft does not define asserts nothing in it. The table of keywords says which draft defines which keyword.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final

from msgspec import Struct
from msgspec.structs import replace

from acpgen.input.equality import to_integer
from acpgen.input.keywords import DRAFTS, TABLE
from acpgen.input.walk import Schema, is_array, is_object
from acpgen.pointers import split_pointer, write_pointer


class Draft(Struct, frozen=True):
    """One draft. `address` is the URI of its meta-schema, `identifier` its keyword for the URI of a schema.

    `is_lone_ref`: siblings of `$ref` are ignored. `names_by_fragment`: an identifier such as `#name` is an anchor. `without` holds the
    keywords of vocabularies that the document's meta-schema omits, `demands` the required vocabularies that acpgen does not know.
    """

    name: str
    address: str
    identifier: str = "$id"
    is_lone_ref: bool = False
    names_by_fragment: bool = False
    vocabularies: str = ""
    without: frozenset[str] = frozenset()
    demands: tuple[str, ...] = ()

    def knows(self, keyword: str) -> bool:
        """Whether a keyword has its meaning in this draft; true for any keyword outside the table."""
        return keyword not in self.without and keyword not in _UNKNOWN[self.name]


_HOME: Final = "https://json-schema.org/draft"

ALL: Final = (
    *(
        Draft(name, f"http://json-schema.org/{name}/schema", identifier, is_lone_ref=True, names_by_fragment=True)
        for name, identifier in (("draft-04", "id"), ("draft-06", "$id"), ("draft-07", "$id"))
    ),
    *(Draft(name, f"{_HOME}/{name}/schema", vocabularies=f"{_HOME}/{name}/vocab/") for name in ("2019-09", "2020-12")),
)
MODERN: Final = ALL[-1]
"""The draft of a document without `$schema`, and the draft to which every document is translated."""

BY_NAME: Final[Mapping[str, Draft]] = {draft.name: draft for draft in ALL}

_UNKNOWN: Final[Mapping[str, frozenset[str]]] = {
    draft: frozenset(
        row.name
        for row in TABLE
        if row.role in ("asserts", "elsewhere")
        and not DRAFTS.index(row.since) <= DRAFTS.index(draft) <= DRAFTS.index(row.until)
    )
    for draft in DRAFTS
}
"""Keywords that assert or refer in some draft and mean nothing in this one."""

ONLY_OLDER: Final = _UNKNOWN[MODERN.name]
"""Keywords that only older drafts define."""

_ASSERTING: Final = [row for row in TABLE if row.role in ("asserts", "elsewhere") and not row.name.startswith("$")]
_VALIDATION: Final = frozenset(row.name for row in _ASSERTING if row.role == "asserts" and not row.holds)
_UNEVALUATED: Final = frozenset({"unevaluatedItems", "unevaluatedProperties"})
_APPLICATOR: Final = frozenset(row.name for row in _ASSERTING if row.holds) - _UNEVALUATED
_VOCABULARIES: Final[Mapping[str, Mapping[str, frozenset[str]]]] = {
    "2019-09": {"applicator": _APPLICATOR | _UNEVALUATED, "validation": _VALIDATION, "format": frozenset()},
    "2020-12": {
        "applicator": _APPLICATOR,
        "unevaluated": _UNEVALUATED,
        "validation": _VALIDATION,
        "format-annotation": frozenset(),
    },
}
"""The asserting keywords of each vocabulary, besides those of all drafts that assert nothing: core, meta-data and content."""


def normalize_uri(uri: str) -> str:
    """Normalize a URI so that two that mean the same document are equal: no empty fragment, no empty path."""
    plain = uri.removesuffix("#")
    scheme, colon, tail = plain.partition("://")
    return f"{plain}/" if colon and scheme in ("http", "https") and "/" not in tail and "?" not in tail else plain


_BY_ADDRESS: Final = {
    f"{scheme}{draft.address.partition(':')[2]}": draft for draft in ALL for scheme in ("http:", "https:")
}


def find_draft(value: object, documents: Mapping[str, Any], *, inherited: Draft = MODERN) -> Draft | None:
    """The draft of a document, or of a schema with its own identifier; `None` if `$schema` names an unknown one.

    `documents` maps URIs to documents. A document named by `$schema` is a meta-schema: its `$vocabulary` and its own `$schema` decide.
    """
    if not is_object(value) or "$schema" not in value:
        return inherited
    return _find_named_draft(value["$schema"], documents, ())


def _find_named_draft(uri: object, documents: Mapping[str, Any], visited: tuple[str, ...]) -> Draft | None:
    if not isinstance(uri, str):
        return None
    draft = _BY_ADDRESS.get(normalize_uri(uri))
    if draft is not None or uri in visited:
        return draft
    meta = documents.get(normalize_uri(uri))
    if not is_object(meta):
        return None
    base = _find_named_draft(meta.get("$schema", MODERN.address), documents, (*visited, uri)) or _find_declared_draft(
        meta
    )
    vocabularies = meta.get("$vocabulary")
    if base is None or not base.vocabularies or not is_object(vocabularies):
        return base
    keywords_by_uri = {f"{base.vocabularies}{name}": keywords for name, keywords in _VOCABULARIES[base.name].items()}
    known_uris = {*keywords_by_uri, *(f"{base.vocabularies}{name}" for name in ("core", "meta-data", "content"))}
    left_out = (keywords for name, keywords in keywords_by_uri.items() if name not in vocabularies)
    demands = (name for name, is_needed in vocabularies.items() if is_needed is True and name not in known_uris)
    return replace(base, without=base.without.union(*left_out), demands=tuple(demands))


def _find_declared_draft(meta: Schema) -> Draft | None:
    """The newest draft all of whose new keywords a meta-schema declares, for a meta-schema that is its own `$schema`."""
    declared: set[str] = set()
    pending: list[Any] = [meta]
    while pending:
        node = pending.pop()
        if is_object(node):
            declared.update(node["properties"] if is_object(node.get("properties")) else ())
            pending.extend(node.values())
        elif is_array(node):
            pending.extend(node)
    new = {
        name: {row.name for row in TABLE if row.role == "asserts" and row.since == name} - {"$ref"} for name in DRAFTS
    }
    return next((draft for draft in reversed(ALL) if new[draft.name] <= declared), None)


# --- one schema of a draft in 2020-12 --------------------------------------------------------------------------------


def find_meaningless(schema: Schema, draft: Draft) -> list[str]:
    """The keywords of a schema that mean something in some draft, but nothing here."""
    siblings = schema.keys() - _BESIDE_REF if draft.is_lone_ref and "$ref" in schema else ()
    return [key for key, value in schema.items() if key in siblings or not draft.knows(key) or is_unfit(key, value)]


_KINDS: Final[Mapping[str, tuple[type, ...]]] = {
    "string": (str,),
    "boolean": (bool,),
    "array": (list,),
    "schema": (bool, dict),
}
_VALUE_TYPES: Final = {row.name: _KINDS[row.value_type] for row in TABLE if row.value_type}


def is_unfit(keyword: str, value: Any) -> bool:
    """Whether an annotation has a value of the wrong type, which only drafts without that keyword allow."""
    return keyword in _VALUE_TYPES and not isinstance(value, _VALUE_TYPES[keyword])


_BESIDE_REF: Final = frozenset(
    {"$ref", *(row.name for row in TABLE if row.role == "defines" or row.name in ("title", "description"))}
)
"""Keywords that are read beside a `$ref` that hides its siblings: they assert nothing."""

_ELSEWHERE: Final = frozenset({"$schema", "$id", *(row.name for row in TABLE if row.role == "elsewhere")})
"""Keywords that only say how schemas are composed; they disappear once all references are local."""


def modernize(schema: Schema, draft: Draft, *, counts_evaluated: bool = True) -> Schema:
    """Translate one schema to 2020-12; its subschemas stay unchanged, and its references are already local.

    `if` and `else` without `then`, both references, become a union, unless the schema `counts_evaluated` properties or items, because a
    union would count those of both. Items that `contains` matches count as evaluated as in 2020-12; 2019-09 leaves that open, and its
    validators do so.
    """
    translation = dict(schema)
    for key, value in schema.items():  # the bound of a count may be written `2.0`
        is_count = key.startswith(("min", "max")) and key not in ("minimum", "maximum")
        if is_count and isinstance(value, float) and (count := to_integer(value)) is not None:
            translation[key] = count
    if draft.identifier == "id":
        translation.pop("id", None)
        for bound in ("minimum", "maximum"):
            exclusive = f"exclusive{bound.capitalize()}"
            if translation.pop(exclusive, False) is True and bound in translation:
                translation[exclusive] = translation.pop(bound)
        types = translation.get("type")
        if "integer" in (type_names := types if is_array(types) else [types]) and "number" not in type_names:
            translation["x-integer"] = draft.name
    if is_array(translation.get("items")):
        prefix = translation.pop("items")
        if prefix:
            translation["prefixItems"] = prefix
        if "additionalItems" in translation:
            translation["items"] = translation.pop("additionalItems")
    branches = [
        translation[key]
        for key in ("if", "else")
        if is_object(translation.get(key)) and translation[key].keys() == {"$ref"}
    ]
    is_union = len(branches) == 2 and translation.keys().isdisjoint(("then", "anyOf")) and draft.knows("if")
    if is_union and not (counts_evaluated and draft.knows("unevaluatedProperties")):
        translation["anyOf"] = [translation.pop("if"), translation.pop("else")]
    dependencies = translation.pop("dependencies", None)
    if is_object(dependencies):
        required = {key: value for key, value in dependencies.items() if is_array(value)}
        schemas = {key: value for key, value in dependencies.items() if not is_array(value)}
        translation.update({"dependentRequired": required} if required else {})
        translation.update({"dependentSchemas": schemas} if schemas else {})
    return {key: value for key, value in translation.items() if key not in _ELSEWHERE}


# --- places ----------------------------------------------------------------------------------------------------------

_WRITTEN_AS: Final[Mapping[str, tuple[str, ...]]] = {
    "$defs": ("definitions",),
    "prefixItems": ("items",),
    "items": ("additionalItems",),
    "dependentRequired": ("dependencies",),
    "dependentSchemas": ("dependencies",),
    "exclusiveMinimum": ("minimum",),
    "exclusiveMaximum": ("maximum",),
    "$ref": ("$dynamicRef", "$recursiveRef"),
}
"""The names of 2020-12 keywords in earlier drafts, and the references that become `$ref`."""


def find_written_place(at: str, sources: Mapping[str, Any]) -> str:
    """Map a place of a bundle, `file#/pointer`, to the spelling of its file. A place that the file lacks becomes the nearest one that
    exists.
    """
    path, _, fragment = at.partition("#")
    return path + write_pointer(*restore_keys(split_pointer(fragment), sources[path])) if path in sources else at


def restore_keywords(at: str, sources: Mapping[str, Any]) -> str:
    """Map a place of a bundle to the keywords of its file. The part behind a reference stays unchanged."""
    path, _, fragment = at.partition("#")
    parts = split_pointer(fragment)
    file_parts = restore_keys(parts, sources.get(path))
    return path + write_pointer(*file_parts, *parts[len(file_parts) :]) if path in sources else at


def restore_keys(parts: Iterable[str], source: Any) -> tuple[str, ...]:
    """The keys of a place of a bundle in the spelling of the file whose root is `source`."""
    node = source
    keys: list[str] = []
    steps = tuple(parts)
    for index, part in enumerate(steps):
        key = part
        if is_array(node):
            if not part.isdigit() or int(part) >= len(node):
                break
            node = node[int(part)]
        else:
            members = node if is_object(node) else {}
            key = next((name for name in (part, *_WRITTEN_AS.get(part, ())) if name in members), part)
            is_below = index + 1 < len(steps) and steps[index + 1].isdigit()
            if part == key == "items" and is_array(members.get("items")) and not is_below:  # a tuple of earlier drafts
                key = "additionalItems"
            if key not in members:
                break
            node = members[key]
        keys.append(key)
    return tuple(keys)
