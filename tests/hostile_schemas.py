"""Schemas that somebody wrote to make a reader work too long or hold too much: each shape at any size, from the shape's name alone."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from random import Random
from typing import Any, Final

Schema = dict[str, Any]

TEXT: Final[Schema] = {"type": "string"}


def level(number: int) -> Schema:
    return {"$ref": f"#/$defs/L{number}"}


def protocol(definitions: Mapping[str, Any], value: Any = None, **root: Any) -> Schema:
    """A protocol whose one request holds such a value."""
    held = level(0) if value is None else value
    request = {"type": "object", "properties": {"x": held}, "x-method": "go", "x-side": "agent"}
    return {**root, "$defs": {**definitions, "GoRequest": request}}


def levels(count: int, make: Callable[[int], Any], last: Any = TEXT) -> Schema:
    return protocol({f"L{number}": make(number) for number in range(count)} | {f"L{count}": last})


def nested(count: int, before: str, after: str, inner: str = "{}") -> str:
    """Text that no writer of JSON would write, as deep as it is long."""
    value = before * count + inner + after * count
    return json.dumps(protocol({"L0": "@"})).replace('"@"', value)


def tagged(name: str, **fields: Any) -> Schema:
    return {"type": "object", "properties": {"kind": {"const": name}, **fields}, "required": ["kind"]}


def alternatives(number: int) -> Schema:
    """A union by a tag of its own, and what the next level demands."""
    either = [{"properties": {f"k{number}": {"const": each}}, "required": [f"k{number}"]} for each in "ab"]
    return {"type": "object", "allOf": [level(number + 1), {"oneOf": either}]}


def methods(count: int) -> Schema:
    def marked(number: int, word: str) -> Schema:
        return {"type": "object", "properties": {"a": TEXT}, "x-method": f"m/{number}", "x-side": "agent"}

    words = ("Request", "Response")
    return {"$defs": {f"M{number}{word}": marked(number, word) for number in range(count) for word in words}}


def tower(number: int) -> Schema:
    """Both of two alternatives, each of which leads to the next level."""
    further = level(number + 1)
    return {"allOf": [{"anyOf": [further, {"minLength": number}]}, {"anyOf": [{"maxLength": number}, further]}]}


def mutual(count: int) -> Schema:
    """Definitions that ask one another whether something holds, and begin again at the end."""

    def asking(number: int, other: str) -> Schema:
        refer = [{"$ref": f"#/$defs/{name}{(number + 1) % count}"} for name in ("A", other)]
        below = {"type": "object", "properties": {"a": refer[0]}, "additionalProperties": refer[1]}
        return {"if": {"required": [f"k{number}"], "properties": {"a": refer[1]}}, "then": below, "else": refer[1]}

    asked = {f"A{n}": asking(n, "B") for n in range(count)}
    return protocol({**asked, **{f"B{n}": {"type": "object", "not": asked[f"A{n}"]} for n in range(count)}}, ref("A0"))


def satisfiable(count: int) -> Schema:
    """A formula of clauses with three members each, 4.2 clauses to a member: hardest to satisfy, or to show that nothing does."""
    drawn, names = Random(count), [f"v{number}" for number in range(max(3, count * 10 // 42))]
    clauses = [
        {"anyOf": [{"properties": {name: {"const": drawn.random() < 0.5}}} for name in drawn.sample(names, 3)]}
        for _ in range(count)
    ]
    members = {name: {"type": "boolean"} for name in names}
    return protocol({"L0": {"type": "object", "properties": members, "required": names, "allOf": clauses}})


def primes(count: int) -> list[int]:
    found: list[int] = []
    number = 2
    while len(found) < count:
        if all(number % prime for prime in found if prime * prime <= number):
            found.append(number)
        number += 1
    return found


def dependent(count: int) -> Schema:
    """A member that demands the next one, and so on in a circle, each with a schema for the whole."""
    rules = {
        f"k{n}": {"required": [f"k{(n + 1) % count}"], "properties": {f"k{n}": ref("L0")}, "minProperties": n % 7}
        for n in range(count)
    }
    return protocol({"L0": {"type": "object", "dependentSchemas": rules, "minProperties": 1}})


def ref(name: str) -> Schema:
    return {"$ref": f"#/$defs/{name}"}


Made = Schema | str
SHAPES: Final[Mapping[str, tuple[Callable[[int], Made], tuple[int, ...]]]] = {
    "references in a row": (lambda n: levels(n, lambda i: level(i + 1)), (100, 2_000, 30_000)),
    "references in allOf": (lambda n: levels(n, lambda i: {"allOf": [level(i + 1)]}), (100, 2_000, 20_000)),
    "fields in a row": (
        lambda n: levels(n, lambda i: {"type": "object", "properties": {"a": level(i + 1)}, "required": ["a"]}),
        (100, 2_000, 10_000),
    ),
    "alternatives below alternatives": (lambda n: levels(n, alternatives, {"type": "object"}), (8, 14, 40, 2_000)),
    "allOf twice": (
        lambda n: levels(n, lambda i: {"allOf": [level(i + 1), level(i + 1)]}, {"type": "object"}),
        (14, 40, 5_000),
    ),
    "oneOf twice": (lambda n: levels(n, lambda i: {"oneOf": [level(i + 1), level(i + 1)]}), (14, 40, 5_000)),
    "fields twice": (
        lambda n: levels(n, lambda i: {"type": "object", "properties": {"a": level(i + 1), "b": level(i + 1)}}),
        (14, 40, 4_000),
    ),
    "deep in allOf": (lambda n: nested(n, '{"allOf":[', "]}"), (60, 200, 5_000, 70_000)),
    "deep in fields": (lambda n: nested(n, '{"properties":{"a":', "}}"), (60, 200, 5_000, 40_000)),
    "deep in not": (lambda n: nested(n, '{"not":', "}"), (60, 200, 100_000)),
    "deep in a default": (lambda n: nested(n, "[", "]", "0").replace("[[", '{"default":[[', 1), (60, 100_000)),
    "open brackets": (lambda n: "[" * n, (1_000, 1_000_000)),
    "large enum": (lambda n: protocol({"L0": {"enum": [f"value{i}" for i in range(n)]}}), (1_000, 70_000)),
    "large enum of numbers": (lambda n: protocol({"L0": {"enum": list(range(n))}}), (1_000, 120_000)),
    "large enum of objects": (lambda n: protocol({"L0": {"enum": [{"a": i} for i in range(n)]}}), (1_000, 50_000)),
    "wide oneOf by tag": (
        lambda n: protocol({"L0": {"oneOf": [tagged(f"t{i}", **{f"f{i}": TEXT}) for i in range(n)]}}),
        (100, 1_000, 7_000),
    ),
    "wide anyOf without a tag": (
        lambda n: protocol(
            {
                "L0": {
                    "anyOf": [
                        {"type": "object", "properties": {f"f{i}": TEXT}, "required": [f"f{i}"]} for i in range(n)
                    ]
                }
            }
        ),
        (100, 1_000, 8_000),
    ),
    "wide anyOf of texts": (
        lambda n: protocol({"L0": {"anyOf": [{"type": "string", "minLength": i} for i in range(n)]}}),
        (100, 1_000, 20_000),
    ),
    "wide allOf": (
        lambda n: protocol({"L0": {"allOf": [{"properties": {f"f{i}": TEXT}} for i in range(n)]}}),
        (100, 1_000, 15_000),
    ),
    "many unions in allOf": (
        lambda n: protocol(
            {"L0": {"allOf": [{"anyOf": [{"required": [f"a{i}"]}, {"required": [f"b{i}"]}]} for i in range(n)]}}
        ),
        (16, 100, 10_000),
    ),
    "unevaluated with alternatives": (
        lambda n: protocol(
            {
                "L0": {
                    "anyOf": [{"properties": {f"p{i}": True}, "required": [f"p{i}"]} for i in range(n)],
                    "unevaluatedProperties": False,
                }
            }
        ),
        (16, 300, 10_000),
    ),
    "unevaluated at each level": (
        lambda n: levels(
            n,
            lambda i: {
                "anyOf": [level(i + 1), {"properties": {f"p{i}": True}}],
                "unevaluatedProperties": False,
            },
            {"type": "object"},
        ),
        (10, 40, 2_000),
    ),
    "conditions below conditions": (
        lambda n: levels(n, lambda i: {"if": level(i + 1), "then": level(i + 1), "else": level(i + 1)}),
        (14, 40, 4_000),
    ),
    "many definitions": (lambda n: protocol({f"L{i}": TEXT for i in range(n)}), (1_000, 25_000)),
    "many records": (
        lambda n: protocol({f"L{i}": {"type": "object", "properties": {"a": TEXT}} for i in range(n)}),
        (1_000, 12_000),
    ),
    "many fields": (
        lambda n: protocol({"L0": {"type": "object", "properties": {f"field{i}": TEXT for i in range(n)}}}),
        (1_000, 25_000),
    ),
    "many required": (
        lambda n: protocol({"L0": {"type": "object", "required": [f"field{i}" for i in range(n)]}}),
        (1_000, 60_000),
    ),
    "many types of names": (
        lambda n: protocol({"L0": {"type": "object", "patternProperties": {f"^a{i}b*": TEXT for i in range(n)}}}),
        (100, 1_000, 20_000),
    ),
    "many methods": (methods, (500, 4_000)),
    "names alike": (lambda n: protocol({"L0": TEXT} | {f"A{'_' * i}b": TEXT for i in range(n)}), (100, 1_300)),
    "names that collide": (
        lambda n: protocol(
            {"L0": {"type": "object", "properties": {f"{'_' * i}a": {"enum": ["x", "y", i]} for i in range(n)}}}
        ),
        (100, 1_000),
    ),
    "long text": (lambda n: protocol({"L0": {**TEXT, "description": "word " * n}}), (1_000, 190_000)),
    "long text of markup": (lambda n: protocol({"L0": {**TEXT, "description": "[`*<" * n}}), (1_000, 240_000)),
    "long name": (lambda n: protocol({"L0": {"type": "object", "properties": {"a" * n: TEXT}}}), (1_000, 900_000)),
    "long name of a definition": (lambda n: protocol({"L0": level_named("a" * n), "a" * n: TEXT}), (200, 300_000)),
    "long constant": (lambda n: protocol({"L0": {"const": "a" * n}}), (1_000, 900_000)),
    "long pattern": (lambda n: protocol({"L0": {**TEXT, "pattern": "(a|b)" * n}}), (1_000, 180_000)),
    "pattern that goes back": (lambda n: protocol({"L0": {**TEXT, "pattern": "^(a+)+$"}}), (1,)),
    "pattern that looks around": (lambda n: protocol({"L0": {**TEXT, "pattern": "^(?=(a+)+$)(a|aa)+$"}}), (1,)),
    "pattern of groups": (
        lambda n: protocol({"L0": {**TEXT, "pattern": "(" * n + "a" + "?)" * n + "$"}}),
        (50, 1_000, 300_000),
    ),
    "pattern of counts": (
        lambda n: protocol({"L0": {**TEXT, "pattern": "^((a{0,99}){0,99}){0," + str(n) + "}$"}}),
        (9, 999, 10**12),
    ),
    "patterns in allOf": (
        lambda n: protocol({"L0": {**TEXT, "allOf": [{"pattern": f"^(a|b)*a(a|b){{{i % 60}}}$"} for i in range(n)]}}),
        (20, 200, 10_000),
    ),
    "long lengths": (
        lambda n: protocol({"L0": {"type": "array", "minItems": n, "items": {**TEXT, "minLength": n}}}),
        (10**6, 10**15),
    ),
    "many positions": (
        lambda n: protocol({"L0": {"type": "array", "prefixItems": [TEXT] * n, "minItems": n}}),
        (1_000, 50_000),
    ),
    "large numbers": (
        lambda n: json.dumps(protocol({"L0": {"type": "number", "maximum": 7}})).replace("7", "9" * n),
        (300, 4_000, 900_000),
    ),
    "numbers out of range": (
        lambda n: json.dumps(protocol({"L0": {"type": "number", "maximum": 7}})).replace("7", f"1e{n}"),
        (300, 400, 10**9),
    ),
    "small steps": (
        lambda n: json.dumps(protocol({"L0": {"type": "number", "multipleOf": 7}})).replace("7", f"1e-{n}"),
        (300, 320),
    ),
    "a number of many digits": (
        lambda n: json.dumps(protocol({"L0": {"type": "number", "multipleOf": 7}})).replace("7", f"0.{'1' * n}"),
        (300, 900_000),
    ),
    "many repeated keys": (lambda n: "{" + ",".join(['"$defs":{}'] * n) + "}", (100, 80_000)),
    "many faults": (
        lambda n: protocol({f"L{i}": {"type": "nothing"} for i in range(n)}),
        (100, 25_000),
    ),
    "many dangling references": (lambda n: protocol({f"L{i}": level(-i - 1) for i in range(n)}), (100, 20_000)),
    "many unknown keywords": (lambda n: protocol({"L0": {f"keyword{i}": 1 for i in range(n)}}), (100, 40_000)),
    "many surrogates": (lambda n: '{"title":"' + "\\ud800" * n + '"}', (100, 160_000)),
    "all refer to all": (
        lambda n: protocol(
            {
                f"L{i}": {"type": "object", "properties": {f"f{j}": {"$ref": f"#/$defs/L{j}"} for j in range(n)}}
                for i in range(n)
            }
        ),
        (30, 150),
    ),
    "unions of all": (
        lambda n: protocol({f"L{i}": {"anyOf": [{"$ref": f"#/$defs/L{j}"} for j in range(n)]} for i in range(n)}),
        (10, 30, 200),
    ),
    "a circle of references": (lambda n: levels(n, lambda i: level((i + 1) % n)), (1, 2, 10_000)),
    "a circle of allOf": (lambda n: levels(n, lambda i: {"allOf": [level((i + 1) % n)]}), (1, 2, 10_000)),
    "ids": (
        lambda n: protocol({f"L{i}": {"$id": f"https://example.com/{i}", **TEXT} for i in range(n)}),
        (100, 12_000),
    ),
    "ids below ids": (
        lambda n: nested(n, '{"$id":"a/","properties":{"a":', "}}"),
        (30, 100, 20_000),
    ),
    "anchors": (
        lambda n: protocol({f"L{i}": {"$dynamicAnchor": "a", **TEXT} for i in range(n)}, {"$dynamicRef": "#a"}),
        (10, 20_000),
    ),
    "anchors that are equal": (
        lambda n: levels(
            n, lambda i: {"$dynamicAnchor": "a", "allOf": [{"$dynamicRef": "#a"}, level(i + 1)]}, {"type": "object"}
        ),
        (3, 300, 8_000),
    ),
    "pointers": (
        lambda n: protocol({"L0": {"$ref": "#" + "/$defs/L0" * n}}),
        (10, 100_000),
    ),
    "towers of alternatives": (lambda n: levels(n, tower), (4, 8, 20, 4_000)),
    "definitions that ask one another": (mutual, (3, 20, 1_800)),
    "clauses of three": (satisfiable, (40, 200, 6_000)),
    "large enum with patterns": (
        lambda n: protocol(
            {
                "L0": {
                    "enum": ["a" * (i % 40) + f"b{i}" for i in range(n)],
                    "allOf": [{"pattern": f"^(a*b?)*{i}?[0-9]*$"} for i in range(n // 10)],
                }
            }
        ),
        (100, 1_000, 15_000),
    ),
    "types of names that overlap": (
        lambda n: protocol(
            {
                "L0": {
                    "type": "object",
                    "patternProperties": {f"a.{{{i}}}b|^.*{i}$": {"minLength": i} for i in range(n)},
                    "additionalProperties": False,
                    "minProperties": n,
                }
            }
        ),
        (20, 200, 14_000),
    ),
    "unevaluated through anchors": (
        lambda n: levels(
            n,
            lambda i: {
                "$id": f"https://example.com/{i}",
                "$dynamicAnchor": "node",
                "properties": {f"p{i}": {"$dynamicRef": "#node"}},
                "allOf": [{"$ref": f"/{i + 1}"}] if i < n - 1 else [],
                "unevaluatedProperties": {"$dynamicRef": "#node"},
            },
        ),
        (3, 60, 4_000),
    ),
    "pattern that counts far": (
        lambda n: protocol({"L0": {**TEXT, "pattern": f"^(?:a{{1,{n}}}b{{1,{n}}}|c{{{n}}})+$"}}),
        (100, 100_000),
    ),
    "classes of Unicode": (
        lambda n: protocol({"L0": {**TEXT, "pattern": "^(?:" + "[\\p{L}\\p{Nd}]\\P{Lu}*" * n + ")$"}}),
        (3, 60, 40_000),
    ),
    "groups that are repeated": (
        lambda n: protocol(
            {"L0": {**TEXT, "pattern": "^" + "(a*)" * n + "".join(f"\\{i}" for i in range(1, n + 1)) + "$"}}
        ),
        (9, 90, 90_000),
    ),
    "names and items of few": (
        lambda n: protocol(
            {
                "L0": {
                    "propertyNames": {"enum": [f"n{i}" for i in range(n)]},
                    "minProperties": n + 1,
                    "uniqueItems": True,
                    "items": {"enum": list(range(n))},
                    "contains": {"multipleOf": 2},
                    "minContains": n,
                    "minItems": n + 1,
                }
            }
        ),
        (5, 100, 50_000),
    ),
    "schemas that depend on one another": (dependent, (2, 30, 9_000)),
    "not with alternatives": (
        lambda n: levels(n, lambda i: {"not": {"anyOf": [level(i + 1), {"not": level(i + 1)}]}}),
        (8, 20, 6_000),
    ),
    "multiples of primes": (
        lambda n: protocol({"L0": {"type": "integer", "allOf": [{"multipleOf": prime} for prime in primes(n)]}}),
        (20, 1_000, 30_000),
    ),
    "a constant of many digits": (
        lambda n: json.dumps(protocol({"L0": {"enum": [7, -7], "multipleOf": 3}})).replace("7", "8" * n),
        (300, 4_300, 450_000),
    ),
    "ranges that overlap in oneOf": (
        lambda n: protocol({"L0": {"oneOf": [{"minimum": i, "maximum": i + n // 2} for i in range(n)]}}),
        (10, 300, 25_000),
    ),
    "positions below positions": (
        lambda n: levels(n, lambda i: {"prefixItems": [level(i + 1), level(i + 1)], "minItems": 2}),
        (8, 20, 8_000),
    ),
    "groups": (lambda n: nested(n, '{"g":', "}", '{"type":"string"}'), (60, 1_000)),
}
"""Each shape with the sizes that are tried: small ones, where what doubles shows, and one just below 1 MB."""


def level_named(name: str) -> Schema:
    return {"$ref": f"#/$defs/{name}"}


def text(shape: str, size: int) -> str:
    """The schema as a file holds it."""
    made = SHAPES[shape][0](size)
    return made if isinstance(made, str) else json.dumps(made, separators=(",", ":"))


def corpus() -> Iterator[tuple[str, int]]:
    """Every shape at every size."""
    return ((shape, size) for shape, (_, sizes) in SHAPES.items() for size in sizes)
