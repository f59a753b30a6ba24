"""The table of keywords: for each one of JSON Schema and of the dialect, what it means to whoever reads schemas.

A keyword that is new to this package gets a row here. What reads schemas asks the table; only what a keyword means in particular, its
value, is code of the stage that reads it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

Role: TypeAlias = Literal["asserts", "annotates", "defines", "elsewhere"]
"""`asserts`: it can refuse a value. `annotates`: it says something about a value. `defines`: it holds definitions. `elsewhere`: it has a
meaning in another draft, or in how schemas are put together, that is read before all else or not at all."""

Holds: TypeAlias = Literal["", "schema", "list", "map"]
"""Where schemas stand in the value of a keyword: it is one, or a list or a map of them."""


@dataclass(frozen=True, slots=True)
class Keyword:
    """One keyword. `judges` is the JSON type whose values an assertion judges, passing over all others; empty for all types.

    `is_prose`: people read it and no program does. `is_of_field`: it says something about a field and not about the field's type, so it
    stays with the field where the type gets a name of its own.
    """

    name: str
    role: Role
    judges: str = ""
    holds: Holds = ""
    is_prose: bool = False
    is_of_field: bool = False

    @property
    def is_ours(self) -> bool:
        """Whether the dialect adds it to JSON Schema."""
        return self.name.startswith("x-")


TABLE: Final = (
    # any value
    Keyword("type", "asserts"),
    Keyword("enum", "asserts"),
    Keyword("const", "asserts"),
    Keyword("$ref", "asserts"),
    Keyword("allOf", "asserts", holds="list"),
    Keyword("anyOf", "asserts", holds="list"),
    Keyword("oneOf", "asserts", holds="list"),
    Keyword("not", "asserts", holds="schema"),
    Keyword("if", "asserts", holds="schema"),
    Keyword("then", "asserts", holds="schema"),
    Keyword("else", "asserts", holds="schema"),
    # numbers; an integer is a number
    Keyword("minimum", "asserts", "number"),
    Keyword("maximum", "asserts", "number"),
    Keyword("exclusiveMinimum", "asserts", "number"),
    Keyword("exclusiveMaximum", "asserts", "number"),
    Keyword("multipleOf", "asserts", "number"),
    # strings
    Keyword("minLength", "asserts", "string"),
    Keyword("maxLength", "asserts", "string"),
    Keyword("pattern", "asserts", "string"),
    # arrays
    Keyword("items", "asserts", "array", holds="schema"),
    Keyword("prefixItems", "asserts", "array", holds="list"),
    Keyword("contains", "asserts", "array", holds="schema"),
    Keyword("minContains", "asserts", "array"),
    Keyword("maxContains", "asserts", "array"),
    Keyword("minItems", "asserts", "array"),
    Keyword("maxItems", "asserts", "array"),
    Keyword("uniqueItems", "asserts", "array"),
    Keyword("unevaluatedItems", "asserts", "array", holds="schema"),
    # objects
    Keyword("properties", "asserts", "object", holds="map"),
    Keyword("patternProperties", "asserts", "object", holds="map"),
    Keyword("additionalProperties", "asserts", "object", holds="schema"),
    Keyword("propertyNames", "asserts", "object", holds="schema"),
    Keyword("required", "asserts", "object"),
    Keyword("minProperties", "asserts", "object"),
    Keyword("maxProperties", "asserts", "object"),
    Keyword("dependentRequired", "asserts", "object"),
    Keyword("dependentSchemas", "asserts", "object", holds="map"),
    Keyword("unevaluatedProperties", "asserts", "object", holds="schema"),
    # annotations
    Keyword("title", "annotates", is_prose=True),
    Keyword("description", "annotates", is_prose=True),
    Keyword("examples", "annotates", is_prose=True),
    Keyword("$comment", "annotates", is_prose=True),
    Keyword("default", "annotates", is_of_field=True),
    Keyword("deprecated", "annotates"),
    Keyword("readOnly", "annotates"),
    Keyword("writeOnly", "annotates"),
    Keyword("discriminator", "annotates"),
    Keyword("format", "annotates"),
    Keyword("contentEncoding", "annotates"),
    Keyword("contentMediaType", "annotates"),
    Keyword("contentSchema", "annotates", holds="schema"),
    Keyword("$schema", "annotates"),
    Keyword("$id", "annotates"),
    # definitions
    Keyword("$defs", "defines", holds="map"),
    Keyword("definitions", "defines", holds="map"),
    # other drafts, and how schemas are put together
    Keyword("$anchor", "elsewhere"),
    Keyword("$vocabulary", "elsewhere"),
    Keyword("$dynamicAnchor", "elsewhere"),
    Keyword("$dynamicRef", "elsewhere"),
    Keyword("$recursiveAnchor", "elsewhere"),
    Keyword("$recursiveRef", "elsewhere"),
    Keyword("additionalItems", "elsewhere", holds="schema"),
    Keyword("dependencies", "elsewhere"),
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
    Keyword("x-name", "annotates"),
    Keyword("x-was", "annotates"),
    Keyword("x-migration", "annotates"),
    Keyword("x-docs-ignore", "annotates"),
    Keyword("x-deserialize-default-on-error", "annotates", is_of_field=True),
    Keyword("x-deserialize-skip-invalid-items", "annotates", is_of_field=True),
    Keyword("x-deserialize-default-on-null", "annotates", is_of_field=True),
)

PROSE: Final = frozenset(keyword.name for keyword in TABLE if keyword.is_prose)
"""Keywords that people read and no program does."""

OF_FIELDS: Final = frozenset(keyword.name for keyword in TABLE if keyword.is_of_field)
"""Keywords that stay with a field where its type gets a name of its own."""
