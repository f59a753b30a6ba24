"""The table of keywords: the meaning of each keyword of JSON Schema and of the dialect for whoever reads schemas.

A new keyword gets a row here. Readers of schemas consult the table; only the meaning of a keyword's value is code of the stage that
reads it.
"""

from __future__ import annotations

from difflib import get_close_matches
from functools import lru_cache
from typing import Final, Literal, TypeAlias

from msgspec import Struct

Role: TypeAlias = Literal["asserts", "annotates", "defines", "elsewhere"]
"""`asserts`: it can refuse a value. `annotates`: it describes a value. `defines`: it holds definitions. `elsewhere`: it means something
in another draft, or says how schemas are composed and is read before everything else or not at all.
"""

Holds: TypeAlias = Literal["", "schema", "list", "map"]
"""Where subschemas stand in the value of a keyword: the value is a schema, a list of schemas or a map of schemas."""


DRAFTS: Final = ("draft-04", "draft-06", "draft-07", "2019-09", "2020-12")
"""The supported drafts of JSON Schema, oldest first."""


class Keyword(Struct, frozen=True):
    """One keyword. `instance_type` is the only JSON type to which an assertion applies; empty for all types.

    `since` and `until` are the first and the last of `DRAFTS` that define it. `is_prose`: only people read it. `is_of_field`: it
    describes a field, not the field's type, so it stays with the field when the type becomes a named definition. `value_type` is the
    JSON type of an annotation's value; empty if any type is valid or the dialect checks it.
    """

    name: str
    role: Role
    instance_type: str = ""
    holds: Holds = ""
    since: str = "draft-04"
    until: str = "2020-12"
    is_prose: bool = False
    is_of_field: bool = False
    value_type: str = ""

    @property
    def is_ours(self) -> bool:
        """Whether the dialect adds it to JSON Schema."""
        return self.name.startswith("x-")


TABLE: Final = (
    # any value
    Keyword("type", "asserts"),
    Keyword("enum", "asserts"),
    Keyword("const", "asserts", since="draft-06"),
    Keyword("$ref", "asserts"),
    Keyword("allOf", "asserts", holds="list"),
    Keyword("anyOf", "asserts", holds="list"),
    Keyword("oneOf", "asserts", holds="list"),
    Keyword("not", "asserts", holds="schema"),
    Keyword("if", "asserts", holds="schema", since="draft-07"),
    Keyword("then", "asserts", holds="schema", since="draft-07"),
    Keyword("else", "asserts", holds="schema", since="draft-07"),
    # numbers; an integer is a number
    Keyword("minimum", "asserts", "number"),
    Keyword("maximum", "asserts", "number"),
    Keyword("exclusiveMinimum", "asserts", "number"),
    Keyword("exclusiveMaximum", "asserts", "number"),
    Keyword("multipleOf", "asserts", "number"),
    Keyword("x-integer", "asserts", "number"),
    # strings
    Keyword("minLength", "asserts", "string"),
    Keyword("maxLength", "asserts", "string"),
    Keyword("pattern", "asserts", "string"),
    # arrays
    Keyword("items", "asserts", "array", holds="schema"),
    Keyword("prefixItems", "asserts", "array", holds="list", since="2020-12"),
    Keyword("contains", "asserts", "array", holds="schema", since="draft-06"),
    Keyword("minContains", "asserts", "array", since="2019-09"),
    Keyword("maxContains", "asserts", "array", since="2019-09"),
    Keyword("minItems", "asserts", "array"),
    Keyword("maxItems", "asserts", "array"),
    Keyword("uniqueItems", "asserts", "array"),
    Keyword("unevaluatedItems", "asserts", "array", holds="schema", since="2019-09"),
    # objects
    Keyword("properties", "asserts", "object", holds="map"),
    Keyword("patternProperties", "asserts", "object", holds="map"),
    Keyword("additionalProperties", "asserts", "object", holds="schema"),
    Keyword("propertyNames", "asserts", "object", holds="schema", since="draft-06"),
    Keyword("required", "asserts", "object"),
    Keyword("minProperties", "asserts", "object"),
    Keyword("maxProperties", "asserts", "object"),
    Keyword("dependentRequired", "asserts", "object", since="2019-09"),
    Keyword("dependentSchemas", "asserts", "object", holds="map", since="2019-09"),
    Keyword("unevaluatedProperties", "asserts", "object", holds="schema", since="2019-09"),
    # annotations
    Keyword("title", "annotates", is_prose=True, value_type="string"),
    Keyword("description", "annotates", is_prose=True, value_type="string"),
    Keyword("examples", "annotates", is_prose=True, since="draft-06", value_type="array"),
    Keyword("$comment", "annotates", is_prose=True, since="draft-07", value_type="string"),
    Keyword("default", "annotates", is_of_field=True),
    Keyword("deprecated", "annotates", since="2019-09", value_type="boolean"),
    Keyword("readOnly", "annotates", since="draft-07", value_type="boolean"),
    Keyword("writeOnly", "annotates", since="draft-07", value_type="boolean"),
    Keyword("discriminator", "annotates"),
    Keyword("format", "annotates", value_type="string"),
    Keyword("contentEncoding", "annotates", since="draft-07", value_type="string"),
    Keyword("contentMediaType", "annotates", since="draft-07", value_type="string"),
    Keyword("contentSchema", "annotates", holds="schema", since="2019-09", value_type="schema"),
    Keyword("$schema", "annotates"),
    Keyword("$id", "annotates"),
    # definitions
    Keyword("$defs", "defines", holds="map"),
    Keyword("definitions", "defines", holds="map"),
    # other drafts, and how schemas are put together
    Keyword("$anchor", "elsewhere", since="2019-09"),
    Keyword("$vocabulary", "elsewhere", since="2019-09"),
    Keyword("$dynamicAnchor", "elsewhere", since="2020-12"),
    Keyword("$dynamicRef", "elsewhere", since="2020-12"),
    Keyword("$recursiveAnchor", "elsewhere", since="2019-09", until="2019-09"),
    Keyword("$recursiveRef", "elsewhere", since="2019-09", until="2019-09"),
    Keyword("additionalItems", "elsewhere", holds="schema", until="2019-09"),
    Keyword("dependencies", "elsewhere", holds="map", until="draft-07"),
    # the dialect
    Keyword("x-method", "annotates"),
    Keyword("x-side", "annotates"),
    Keyword("x-sides", "annotates"),
    Keyword("x-batch", "annotates"),
    Keyword("x-capability", "annotates", is_of_field=True),
    Keyword("x-required-with", "annotates", is_of_field=True),
    Keyword("x-gates", "annotates", is_of_field=True),
    Keyword("x-null", "annotates", is_of_field=True),
    Keyword("x-unknown", "annotates"),
    Keyword("x-unstable", "annotates", is_of_field=True),
    Keyword("x-extends", "annotates"),
    Keyword("x-adds", "annotates"),
    Keyword("x-name", "annotates"),
    Keyword("x-was", "annotates", is_of_field=True),
    Keyword("x-migration", "annotates"),
    Keyword("x-docs-ignore", "annotates"),
    Keyword("x-deserialize-default-on-error", "annotates", is_of_field=True),
    Keyword("x-deserialize-skip-invalid-items", "annotates", is_of_field=True),
    Keyword("x-deserialize-default-on-null", "annotates", is_of_field=True),
)

PROSE: Final = frozenset(keyword.name for keyword in TABLE if keyword.is_prose)
"""Keywords that only people read."""

OF_FIELDS: Final = frozenset(keyword.name for keyword in TABLE if keyword.is_of_field)
"""Keywords that stay with a field when its type becomes a named definition."""

_NAMES: Final = {keyword.name.lower(): keyword.name for keyword in TABLE}
_LIKENESS: Final = 0.82
_ELSEWHERE: Final = {
    "id": "'$id'",
    "nullable": "null in 'type' (OpenAPI 3.0 alone has 'nullable')",
}


@lru_cache(maxsize=4096)
def guess_keyword(name: str) -> str:
    """The keyword that an unknown key probably means, for messages; empty if none is similar."""
    if name in _ELSEWHERE:
        return _ELSEWHERE[name]
    near = get_close_matches(name.lower(), _NAMES, n=1, cutoff=_LIKENESS)
    return repr(_NAMES[near[0]]) if near else ""
