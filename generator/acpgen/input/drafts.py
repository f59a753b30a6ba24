"""The drafts of JSON Schema that are read: what each calls things, which keywords it knows, and how it reads in 2020-12.

A keyword that a draft does not know asserts nothing in it. Which draft knows which keyword says the table of keywords.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

from acpgen.input.equality import whole
from acpgen.input.keywords import DRAFTS, TABLE
from acpgen.input.walk import Schema, is_array, is_object
from acpgen.pointers import pointer, pointer_parts


@dataclass(frozen=True, slots=True)
class Draft:
    """One draft. `address` is that of its meta-schema, `identifier` its keyword for the address of a schema.

    `is_lone_ref`: `$ref` hides what stands beside it. `names_by_fragment`: an identifier such as `#name` is an anchor.
    `without` are keywords whose vocabulary the meta-schema of a document leaves out, `demands` vocabularies that nobody here knows.
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
        """Whether a keyword of the table, or any other, means in this draft what it says."""
        return keyword not in self.without and keyword not in _UNKNOWN[self.name]


_DRAFT_07: Final = Draft("draft-07", "http://json-schema.org/draft-07/schema", is_lone_ref=True, names_by_fragment=True)

ALL: Final = (
    replace(_DRAFT_07, name="draft-04", address="http://json-schema.org/draft-04/schema", identifier="id"),
    replace(_DRAFT_07, name="draft-06", address="http://json-schema.org/draft-06/schema"),
    _DRAFT_07,
    Draft(
        "2019-09",
        "https://json-schema.org/draft/2019-09/schema",
        vocabularies="https://json-schema.org/draft/2019-09/vocab/",
    ),
    Draft(
        "2020-12",
        "https://json-schema.org/draft/2020-12/schema",
        vocabularies="https://json-schema.org/draft/2020-12/vocab/",
    ),
)
MODERN: Final = ALL[-1]
"""What a document without `$schema` is read as, and what every document is brought to."""

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
"""The keywords that refuse values, or refer, in some draft and mean nothing in this one."""

ONLY_OLDER: Final = _UNKNOWN[MODERN.name]
"""Keywords that only older drafts know."""

_VALIDATION: Final = frozenset(
    row.name for row in TABLE if row.role == "asserts" and not row.holds and not row.name.startswith("$")
)
_UNEVALUATED: Final = frozenset({"unevaluatedItems", "unevaluatedProperties"})
_APPLICATOR: Final = (
    frozenset(row.name for row in TABLE if row.role in ("asserts", "elsewhere") and row.holds) - _UNEVALUATED
)
_VOCABULARIES: Final[Mapping[str, Mapping[str, frozenset[str]]]] = {
    "2019-09": {
        "applicator": _APPLICATOR | _UNEVALUATED,
        "validation": _VALIDATION,
        **dict.fromkeys(("core", "meta-data", "format", "content"), frozenset[str]()),
    },
    "2020-12": {
        "applicator": _APPLICATOR,
        "unevaluated": _UNEVALUATED,
        "validation": _VALIDATION,
        **dict.fromkeys(("core", "meta-data", "format-annotation", "content"), frozenset[str]()),
    },
}
"""The keywords of each vocabulary that can refuse a value."""


def address(written: str) -> str:
    """An address such that two that mean the same document are equal: no empty fragment, no empty path."""
    plain = written.removesuffix("#")
    scheme, colon, rest = plain.partition("://")
    return f"{plain}/" if colon and scheme in ("http", "https") and "/" not in rest and "?" not in rest else plain


_BY_ADDRESS: Final = {
    f"{scheme}://{draft.address.partition('://')[2]}": draft for draft in ALL for scheme in ("http", "https")
}


def find_published(written: str) -> Draft | None:
    """The draft whose meta-schema has an address, with `http` or `https`."""
    return _BY_ADDRESS.get(address(written))


def draft_of(value: object, given: Mapping[str, Any], *, inherited: Draft = MODERN) -> Draft | None:
    """The draft of a document or of a schema with an identifier; `None` if its `$schema` names none.

    `given` are documents by address: where one of them is named, it is a meta-schema, and its `$vocabulary` and own `$schema` tell.
    """
    if not is_object(value) or "$schema" not in value:
        return inherited
    return _named(value["$schema"], given, ())


def _named(named: object, given: Mapping[str, Any], passed: tuple[str, ...]) -> Draft | None:
    if not isinstance(named, str):
        return None
    draft = find_published(named)
    if draft is not None or named in passed:
        return draft
    meta = given.get(address(named))
    if not is_object(meta):
        return None
    base = _named(meta.get("$schema", MODERN.address), given, (*passed, named)) or _declared(meta)
    vocabularies = meta.get("$vocabulary")
    if base is None or not base.vocabularies or not is_object(vocabularies):
        return base
    known = {f"{base.vocabularies}{name}": keywords for name, keywords in _VOCABULARIES[base.name].items()}
    left_out = (keywords for name, keywords in known.items() if name not in vocabularies)
    return replace(
        base,
        without=base.without.union(*left_out),
        demands=tuple(name for name, is_needed in vocabularies.items() if is_needed is True and name not in known),
    )


def _declared(meta: Schema) -> Draft | None:
    """The newest draft all of whose new keywords a meta-schema declares: one that is written in itself does not say it otherwise."""
    declared: set[str] = set()
    pending: list[Any] = [meta]
    while pending:
        node = pending.pop()
        if is_object(node):
            declared.update(node["properties"] if is_object(node.get("properties")) else ())
            pending.extend(node.values())
        elif is_array(node):
            pending.extend(node)
    found = (draft for draft in reversed(ALL) if _NEW[draft.name] <= declared)
    return next(found, None)


_NEW: Final[Mapping[str, frozenset[str]]] = {
    draft: frozenset(row.name for row in TABLE if row.role == "asserts" and row.since == draft and row.name != "$ref")
    for draft in DRAFTS
}
"""The assertions that each draft was the first to know."""


# --- one schema of a draft in 2020-12 --------------------------------------------------------------------------------


def meaningless(schema: Schema, draft: Draft) -> list[str]:
    """The keywords of a schema that mean something in some draft, and nothing here."""
    beside = schema.keys() - _BESIDE_REF if draft.is_lone_ref and "$ref" in schema else ()
    return [key for key, value in schema.items() if key in beside or not draft.knows(key) or is_unfit(key, value)]


def is_unfit(keyword: str, value: Any) -> bool:
    """Whether an annotation has a value that it cannot have, as only a draft allows that does not know it."""
    return keyword in _TAKES and not isinstance(value, _TAKES[keyword])


_KINDS: Final[Mapping[str, tuple[type, ...]]] = {
    "string": (str,),
    "boolean": (bool,),
    "array": (list,),
    "schema": (bool, dict),
}
_TAKES: Final = {row.name: _KINDS[row.takes] for row in TABLE if row.takes}


_BESIDE_REF: Final = frozenset(
    {"$ref", *(row.name for row in TABLE if row.role == "defines" or row.name in ("title", "description"))}
)
"""What is read beside a `$ref` that hides its neighbours: it asserts nothing."""

_ELSEWHERE: Final = frozenset({"$schema", "$id", *(row.name for row in TABLE if row.role == "elsewhere")})
"""What says how a schema is put together: once all references are local, nothing is left of it."""


def modern(schema: Schema, draft: Draft, *, counts_evaluated: bool = True) -> Schema:
    """One schema with 2020-12's keywords; those inside it stay as they are. Its references are local already.

    `if` with `else` alone, each a reference, is the union of both, unless anything `counts_evaluated` members or items: those of both
    would count then.
    What `contains` matches counts as evaluated, as in 2020-12: 2019-09 does not say so, and its validators do so all the same.
    """
    changed = {key: _counted(key, value) for key, value in schema.items()}
    if draft.identifier == "id":
        changed.pop("id", None)
        for bound in ("minimum", "maximum"):
            exclusive = f"exclusive{bound.capitalize()}"
            if changed.pop(exclusive, False) is True and bound in changed:
                changed[exclusive] = changed.pop(bound)
        types = changed.get("type")
        if "integer" in (named := types if is_array(types) else [types]) and "number" not in named:
            changed["x-integer"] = draft.name
    if is_array(changed.get("items")):
        prefix = changed.pop("items")
        if prefix:
            changed["prefixItems"] = prefix
        if "additionalItems" in changed:
            changed["items"] = changed.pop("additionalItems")
    branches = [
        changed[key] for key in ("if", "else") if is_object(changed.get(key)) and changed[key].keys() == {"$ref"}
    ]
    is_union = len(branches) == 2 and changed.keys().isdisjoint(("then", "anyOf")) and draft.knows("if")
    if is_union and not (counts_evaluated and draft.knows("unevaluatedProperties")):
        changed["anyOf"] = [changed.pop("if"), changed.pop("else")]
    dependencies = changed.pop("dependencies", None)
    if is_object(dependencies):
        required = {key: value for key, value in dependencies.items() if is_array(value)}
        schemas = {key: value for key, value in dependencies.items() if not is_array(value)}
        changed.update({"dependentRequired": required} if required else {})
        changed.update({"dependentSchemas": schemas} if schemas else {})
    return {key: value for key, value in changed.items() if key not in _ELSEWHERE}


def _counted(keyword: str, value: Any) -> Any:
    """A bound on a count as an integer, however JSON writes it: `2.0` is one."""
    is_count = keyword.startswith(("min", "max")) and keyword not in ("minimum", "maximum")
    return whole(value) if is_count and isinstance(value, float) and value.is_integer() else value


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
"""The names that keywords of 2020-12 have in earlier drafts, and the references that are brought to `$ref`."""


def as_written(at: str, sources: Mapping[str, Any]) -> str:
    """A place of a bundle, `file#/pointer`, as its file has it; of what stands elsewhere there, the nearest place that the file has."""
    path, _, fragment = at.partition("#")
    if path not in sources:
        return at
    return path + pointer(*written_parts(pointer_parts(fragment), sources[path]))


def spelled_as_written(at: str, sources: Mapping[str, Any]) -> str:
    """A place of a bundle with its keywords as its file spells them. A place behind a reference keeps its own way."""
    path, _, fragment = at.partition("#")
    if path not in sources:
        return at
    parts = pointer_parts(fragment)
    found = written_parts(parts, sources[path])
    return path + pointer(*found, *parts[len(found) :])


def written_parts(parts: Iterable[str], source: Any) -> tuple[str, ...]:
    """The keys of a place of a bundle as the file has them that holds `source`."""
    node = source
    found: list[str] = []
    wanted = tuple(parts)
    for index, part in enumerate(wanted):
        key = next((name for name in (part, *_WRITTEN_AS.get(part, ())) if _has(node, name)), None)
        is_below = index + 1 < len(wanted) and wanted[index + 1].isdigit()
        if part == key == "items" and is_array(node["items"]) and not is_below:  # a tuple of earlier drafts
            key = "additionalItems" if "additionalItems" in node else None
        if key is None:
            break
        node = node[int(key)] if is_array(node) else node[key]
        found.append(key)
    return tuple(found)


def _has(node: Any, key: str) -> bool:
    return (is_object(node) and key in node) or (is_array(node) and key.isdigit() and int(key) < len(node))
