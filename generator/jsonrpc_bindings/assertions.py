"""Judges JSON values by a JSON Schema 2020-12, in plain Python: for what Python's types cannot say.

A verdict is true, false, or `None` where it hangs on a pattern that no engine of linear time has; nothing is refused for that. Each schema
that is referred to judges each value once, so the steps are at most as many as there are schemas times values.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from decimal import Decimal
from fractions import Fraction
from functools import cached_property
from itertools import chain, islice
from typing import Any, Final, TypeAlias

from .contract import Path
from .explain import EXCLUDED, TOO_MANY, Explainer, Said, wrong_type
from .json_types import Numeric, comparable, is_array, is_object
from .patterns import matcher
from .pieces import FIRST, distance
from .pointers import referred, schema_pointer

Verdict: TypeAlias = "bool | None"

STEPS: Final = 5_000_000
"""As many schemas judge the values of one message at most."""


class TooManySteps(Exception):
    """Judging a value would take longer than anybody should wait."""


class Trial:
    """What was found in judging one message, by schema and value. Values are distinguished by identity: whoever asks keeps them alive."""

    __slots__ = ("_reached", "_told", "_verdicts", "left")

    def __init__(self, steps: int = STEPS) -> None:
        self.left = steps
        self._verdicts: dict[tuple[int, int], Verdict] = {}
        self._reached: dict[tuple[int, int], _Reached] = {}
        self._told: dict[tuple[int, int], list[Said]] = {}

    def once(self, node: Node, value: Any) -> Verdict:
        """The verdict of a schema on a value. One that leads back to itself at the same value says nothing more."""
        key = id(node), id(value)
        if key not in self._verdicts:
            self._verdicts[key] = None
            self._verdicts[key] = node.judge(value, self)
        return self._verdicts[key]

    def reached(self, node: Node, value: Any) -> _Reached:
        """The members of a value that a schema evaluates."""
        key = id(node), id(value)
        if key not in self._reached:
            self._reached[key] = _Reached()
            self._reached[key] = node.reached(value, self)
        return self._reached[key]

    def told(self, node: Node, value: Any) -> list[Said]:
        """The first problems of a value by a schema that refuses it, with paths from this value on."""
        key = id(node), id(value)
        if key not in self._told:
            self._told[key] = list(islice(node.problems(value, self), FIRST))
        return self._told[key]

    def spend(self) -> None:
        """Count one step. Raises `TooManySteps`."""
        self.left -= 1
        if self.left < 0:
            raise TooManySteps


Assertion: TypeAlias = "Callable[[Any, Trial], Verdict]"


class _Reached:
    """Members of an object or array, by key or index: those that are `surely` evaluated, and those that `maybe` are."""

    __slots__ = ("maybe", "surely")

    def __init__(self, surely: Iterable[Any] = (), maybe: Iterable[Any] = ()) -> None:
        self.surely = set(surely)
        self.maybe = set(maybe)

    def add(self, other: _Reached, verdict: Verdict = True) -> None:
        """Add what a schema evaluates that gave this verdict."""
        if verdict:
            self.surely |= other.surely
        elif verdict is None:
            self.maybe |= other.surely
        if verdict is not False:
            self.maybe |= other.maybe


class Document:
    """One schema document. `patterns` gives patterns in Rust's syntax where it is another one, and `None` for those that it has not.

    `openings` are schemas of what some definitions take beside what they say.
    """

    def __init__(
        self, schema: Mapping[str, Any], patterns: Mapping[str, str | None], openings: Mapping[str, Any] | None = None
    ) -> None:
        self.schema: Final = schema
        self.explainer: Final = Explainer(schema, None)
        self._openings: Final = openings or {}
        self._patterns: Final = patterns
        self._nodes: dict[Path, Node] = {}

    def at(self, place: Path) -> Node:
        """The schema at a place."""
        if place not in self._nodes:
            opening = self._openings.get(str(place[1])) if len(place) == 2 and place[0] == "$defs" else None
            also = None if opening is None else Node(self, place, opening)
            self._nodes[place] = Node(self, place, self.explainer.at(place), also)
        return self._nodes[place]

    def matches(self, pattern: str, text: str) -> Verdict:
        """Whether a pattern is somewhere in a text."""
        written = self._patterns.get(pattern, pattern)
        if written is None:
            return None
        return matcher(written)(text)


class Node:
    """A schema at its place in a document. `also` takes values that it refuses, all the same."""

    def __init__(self, document: Document, place: Path, schema: Any, also: Node | None = None) -> None:
        self.document: Final = document
        self.place: Final = place
        self.schema: Final = schema
        self.also: Final = also
        self._by_kind: dict[type, list[tuple[str, Assertion]]] = {}
        self._below: dict[Path, Node] = {}

    # --- judging ---

    def judge(self, value: Any, trial: Trial) -> Verdict:
        """Whether the schema accepts a value. Raises `TooManySteps`."""
        verdict = self._plain(value, trial)
        if self.also is None or verdict:
            return verdict
        return _any((verdict, self.also.judge(value, trial)))

    def _plain(self, value: Any, trial: Trial) -> Verdict:
        trial.spend()
        verdict: Verdict = True
        for _, assertion in self.assertions(value):
            found = assertion(value, trial)
            if found is False:
                return False
            if found is None:
                verdict = None
        return verdict

    def assertions(self, value: Any) -> list[tuple[str, Assertion]]:
        """The keywords that judge values of this type, with what they assert."""
        kind = value.__class__
        if kind not in self._by_kind:
            name = _KINDS[kind]
            self._by_kind[kind] = [
                (keyword, made)
                for keyword, (judged, make) in _KEYWORDS.items()
                if judged in ("", name)
                if keyword in self.says or keyword == "false"
                if (made := make(self)) is not None
            ]
        return self._by_kind[kind]

    # --- the schemas in it ---

    @cached_property
    def says(self) -> Mapping[str, Any]:
        """Its keywords; none, if it is `true` or `false`."""
        return self.schema if is_object(self.schema) else {}

    def inside(self, *steps: str | int) -> Node:
        """A schema below this one."""
        if steps not in self._below:
            schema = self.schema
            for step in steps:
                schema = schema[step]
            self._below[steps] = Node(self.document, (*self.place, *steps), schema)
        return self._below[steps]

    @cached_property
    def target(self) -> Node:
        """What `$ref` leads to."""
        return self.document.at(referred(self.says["$ref"]))

    def each(self, keyword: str) -> list[Node]:
        """The schemas that a keyword lists."""
        return [self.inside(keyword, index) for index in range(len(self.says.get(keyword, ())))]

    def named(self, keyword: str) -> dict[str, Node]:
        """The schemas that a keyword names."""
        return {name: self.inside(keyword, name) for name in self.says.get(keyword, {})}

    # --- evaluated members ---

    def reached(self, value: Any, trial: Trial, without: str = "") -> _Reached:
        """The members of a value, which it accepts, that this schema evaluates; by all of its keywords but one."""
        if self.also is not None and self._plain(value, trial) is False:
            return _Reached(value if is_object(value) else range(len(value)))
        found = _Reached()
        if is_object(value):
            self._reach_properties(found, value, without)
            for name, node in self.named("dependentSchemas").items():
                if name in value:
                    found.add(trial.reached(node, value))
        else:
            self._reach_items(found, value, trial, without)
        for node in chain([self.target] if "$ref" in self.says else [], self.each("allOf")):
            found.add(trial.reached(node, value))
        for node in chain(self.each("anyOf"), self.each("oneOf")):
            found.add(trial.reached(node, value), trial.once(node, value))
        if "if" in self.says:
            verdict = trial.once(self.inside("if"), value)
            found.add(trial.reached(self.inside("if"), value), verdict)
            if "then" in self.says:
                found.add(trial.reached(self.inside("then"), value), verdict)
            if "else" in self.says:
                found.add(trial.reached(self.inside("else"), value), None if verdict is None else not verdict)
        return found

    def _reach_properties(self, found: _Reached, value: dict[str, Any], without: str) -> None:
        if "additionalProperties" in self.says or "unevaluatedProperties" in self.says.keys() - {without}:
            found.surely.update(value)
            return
        found.surely.update(self.says.get("properties", {}).keys() & value.keys())
        for pattern in self.says.get("patternProperties", {}):
            for key in value:
                verdict = self.document.matches(pattern, key)
                (found.surely if verdict else found.maybe).update([key] if verdict is not False else [])

    def _reach_items(self, found: _Reached, value: list[Any], trial: Trial, without: str) -> None:
        if "items" in self.says or "unevaluatedItems" in self.says.keys() - {without}:
            found.surely.update(range(len(value)))
            return
        found.surely.update(range(min(len(self.says.get("prefixItems", ())), len(value))))
        if "contains" in self.says:
            node = self.inside("contains")
            for index, item in enumerate(value):
                verdict = trial.once(node, item)
                (found.surely if verdict else found.maybe).update([index] if verdict is not False else [])

    # --- what is wrong ---

    def problems(self, value: Any, trial: Trial, path: Path = ()) -> Iterator[Said]:
        """What is wrong with a value that the schema refuses. Raises `TooManySteps`."""
        trial.spend()
        for keyword, assertion in self.assertions(value):
            if assertion(value, trial) is False:
                yield from _told(self, keyword, value, trial, path)

    def said(self, keyword: str, given: Any, value: Any, path: Path) -> Said:
        """What is wrong by one keyword of this schema; `given` is what the keyword says."""
        place = (*self.place, keyword) if keyword != "false" else self.place
        rule = "falseSchema" if keyword == "false" else keyword
        return Said(path, schema_pointer(place), self.document.explainer.sentence(rule, given, place, value), keyword)


# --- verdicts --------------------------------------------------------------------------------------------------------


def _all(verdicts: Iterable[Verdict]) -> Verdict:
    found: Verdict = True
    for verdict in verdicts:
        if verdict is False:
            return False
        if verdict is None:
            found = None
    return found


def _any(verdicts: Iterable[Verdict]) -> Verdict:
    found: Verdict = False
    for verdict in verdicts:
        if verdict:
            return True
        if verdict is None:
            found = None
    return found


def _counted(verdicts: Iterable[Verdict], least: float, most: float) -> Verdict:
    """Whether as many are true as there should be."""
    listed = list(verdicts)
    sure = listed.count(True)
    possible = sure + listed.count(None)
    if possible < least or sure > most:
        return False
    return True if sure >= least and possible <= most else None


def key_of(value: Any) -> object:
    """A JSON value as something that is equal, and hashes equally, where the values are the same: 1.0 is 1, true is not."""
    if is_object(value):
        return "object", frozenset((key, key_of(item)) for key, item in value.items())
    if is_array(value):
        return "array", tuple(map(key_of, value))
    if isinstance(value, Decimal):  # of a schema: nothing that is read of a message is equal to it
        return "number", value
    return isinstance(value, bool), comparable(value) if isinstance(value, float) else value


def _same(value: Any, constant: Any) -> bool:
    """Whether a value is a constant, told in as many steps as the constant is large."""
    if is_object(value):
        is_alike = is_object(constant) and value.keys() == constant.keys()
        return is_alike and all(_same(value[key], one) for key, one in constant.items())
    if is_array(value):
        is_alike = is_array(constant) and len(value) == len(constant)
        return is_alike and all(map(_same, value, constant))
    return key_of(value) == key_of(constant)


def _exactly(number: Numeric | Decimal) -> Fraction:
    """A number as its text denotes it: `0.1` is one tenth."""
    return Fraction(repr(number)) if isinstance(number, float) else Fraction(number)


_CONTAINERS: Final = frozenset({dict, list})
_KINDS: Final[Mapping[type, str]] = {
    dict: "object",
    list: "array",
    str: "string",
    bool: "boolean",
    type(None): "null",
    int: "number",
    float: "number",
}


def _is_of(value: Any, name: str) -> bool:
    if name == "integer":
        return value.__class__ is int or (value.__class__ is float and value.is_integer())
    return _KINDS[value.__class__] == name


# --- keywords --------------------------------------------------------------------------------------------------------


def _false(node: Node) -> Assertion | None:
    return (lambda value, trial: False) if node.schema is False else None


def _type(node: Node) -> Assertion:
    given = node.says["type"]
    names: list[str] = given if is_array(given) else [given]
    return lambda value, trial: any(_is_of(value, name) for name in names)


def _enum(node: Node) -> Assertion:
    known = {key_of(one) for one in node.says["enum"] if one.__class__ not in _CONTAINERS}
    others = [one for one in node.says["enum"] if one.__class__ in _CONTAINERS]

    def assertion(value: Any, _: Trial) -> Verdict:
        if value.__class__ in _CONTAINERS:
            return any(_same(value, one) for one in others)
        return key_of(value) in known

    return assertion


def _const(node: Node) -> Assertion:
    known = node.says["const"]
    return lambda value, trial: _same(value, known)


def _ref(node: Node) -> Assertion:
    target = node.target
    return lambda value, trial: trial.once(target, value)


def _unknown(_: Node) -> Assertion:
    return lambda value, trial: None


def _all_of(node: Node) -> Assertion:
    nodes = node.each("allOf")
    return lambda value, trial: _all(trial.once(one, value) for one in nodes)


def _any_of(node: Node) -> Assertion:
    nodes = node.each("anyOf")
    return lambda value, trial: _any(trial.once(one, value) for one in nodes)


def _one_of(node: Node) -> Assertion:
    nodes = node.each("oneOf")
    return lambda value, trial: _counted((trial.once(one, value) for one in nodes), 1, 1)


def _not(node: Node) -> Assertion:
    inner = node.inside("not")

    def assertion(value: Any, trial: Trial) -> Verdict:
        verdict = trial.once(inner, value)
        return None if verdict is None else not verdict

    return assertion


def _if(node: Node) -> Assertion | None:
    condition = node.inside("if")
    then, other = (node.inside(key) if key in node.says else None for key in ("then", "else"))
    if then is None and other is None:
        return None

    def assertion(value: Any, trial: Trial) -> Verdict:
        verdict = trial.once(condition, value)
        chosen = (then, other) if verdict is None else (then,) if verdict else (other,)
        found = [True if one is None else trial.once(one, value) for one in chosen]
        return found[0] if len(found) == 1 or found[0] == found[1] else None

    return assertion


def _limit(keyword: str, holds: Callable[[Any, Any], bool]) -> Callable[[Node], Assertion]:
    def make(node: Node) -> Assertion:
        limit = node.says[keyword]
        if isinstance(limit, Decimal):
            return lambda value, trial: holds(Decimal(repr(value)), limit)
        limit = comparable(limit)
        return lambda value, trial: holds(value, limit)

    return make


def _bound(keyword: str, holds: Callable[[Any, Any], bool]) -> Callable[[Node], Assertion]:
    return _limit(keyword, lambda value, limit: holds(comparable(value), limit))


def _written_integer(_: Node) -> Assertion:
    return lambda value, trial: not (isinstance(value, float) and value.is_integer())


def _divides(value: Numeric | Decimal, step: Numeric | Decimal) -> bool:
    if isinstance(value, int) and isinstance(step, int):
        return value % step == 0
    return (_exactly(value) / _exactly(step)).denominator == 1


def _pattern(node: Node) -> Assertion:
    pattern, matches = node.says["pattern"], node.document.matches
    return lambda value, trial: matches(pattern, value)


def _prefix_items(node: Node) -> Assertion:
    nodes = node.each("prefixItems")
    return lambda value, trial: _all(one.judge(item, trial) for one, item in zip(nodes, value, strict=False))


def _items(node: Node) -> Assertion:
    inner, first = node.inside("items"), len(node.says.get("prefixItems", ()))
    return lambda value, trial: _all(inner.judge(item, trial) for item in islice(value, first, None))


def _contains(node: Node) -> Assertion:
    inner = node.inside("contains")
    least, most = node.says.get("minContains", 1), node.says.get("maxContains", float("inf"))
    return lambda value, trial: _counted((trial.once(inner, item) for item in value), least, most)


def _unique_items(node: Node) -> Assertion | None:
    is_unique = node.says["uniqueItems"] is True
    return (lambda value, trial: len(set(map(key_of, value))) == len(value)) if is_unique else None


def _unevaluated(keyword: str) -> Callable[[Node], Assertion]:
    def make(node: Node) -> Assertion:
        inner = node.inside(keyword)

        def assertion(value: Any, trial: Trial) -> Verdict:
            found = node.reached(value, trial, without=keyword)
            members = value.items() if is_object(value) else enumerate(value)
            return _all(
                None if (verdict := inner.judge(item, trial)) is False and key in found.maybe else verdict
                for key, item in members
                if key not in found.surely
            )

        return assertion

    return make


def _properties(node: Node) -> Assertion:
    nodes = node.named("properties")
    return lambda value, trial: _all(one.judge(value[name], trial) for name, one in nodes.items() if name in value)


def _pattern_properties(node: Node) -> Assertion:
    nodes, matches = node.named("patternProperties"), node.document.matches

    def one(pattern: str, inner: Node, key: str, item: Any, trial: Trial) -> Verdict:
        verdict = matches(pattern, key)
        if verdict is False:
            return True
        return _any((None if verdict is None else False, inner.judge(item, trial)))

    return lambda value, trial: _all(
        one(pattern, inner, key, item, trial) for pattern, inner in nodes.items() for key, item in value.items()
    )


def _additional_properties(node: Node) -> Assertion:
    inner, matches = node.inside("additionalProperties"), node.document.matches
    named = node.says.get("properties", {}).keys()
    patterns = list(node.says.get("patternProperties", ()))

    def one(key: str, item: Any, trial: Trial) -> Verdict:
        is_other = _any(matches(pattern, key) for pattern in patterns)
        return True if is_other else _any((is_other, inner.judge(item, trial)))

    return lambda value, trial: _all(one(key, item, trial) for key, item in value.items() if key not in named)


def _property_names(node: Node) -> Assertion:
    inner = node.inside("propertyNames")
    return lambda value, trial: _all(inner.judge(key, trial) for key in value)


def _required(node: Node) -> Assertion:
    names = node.says["required"]
    return lambda value, trial: all(name in value for name in names)


def _dependent_required(node: Node) -> Assertion:
    given = node.says["dependentRequired"]
    return lambda value, trial: not _lacking(given, value)


def _lacking(given: Mapping[str, Sequence[str]], value: Mapping[str, Any]) -> list[tuple[str, str]]:
    return [(name, key) for key, names in given.items() if key in value for name in names if name not in value]


def _dependent_schemas(node: Node) -> Assertion:
    nodes = node.named("dependentSchemas")
    return lambda value, trial: _all(trial.once(one, value) for key, one in nodes.items() if key in value)


_KEYWORDS: Final[Mapping[str, tuple[str, Callable[[Node], Assertion | None]]]] = {
    "false": ("", _false),
    "type": ("", _type),
    "enum": ("", _enum),
    "const": ("", _const),
    "minimum": ("number", _bound("minimum", lambda value, limit: value >= limit)),
    "maximum": ("number", _bound("maximum", lambda value, limit: value <= limit)),
    "exclusiveMinimum": ("number", _bound("exclusiveMinimum", lambda value, limit: value > limit)),
    "exclusiveMaximum": ("number", _bound("exclusiveMaximum", lambda value, limit: value < limit)),
    "multipleOf": ("number", _limit("multipleOf", _divides)),
    "x-integer": ("number", _written_integer),
    "minLength": ("string", _limit("minLength", lambda value, limit: len(value) >= limit)),
    "maxLength": ("string", _limit("maxLength", lambda value, limit: len(value) <= limit)),
    "pattern": ("string", _pattern),
    "minItems": ("array", _limit("minItems", lambda value, limit: len(value) >= limit)),
    "maxItems": ("array", _limit("maxItems", lambda value, limit: len(value) <= limit)),
    "uniqueItems": ("array", _unique_items),
    "prefixItems": ("array", _prefix_items),
    "items": ("array", _items),
    "contains": ("array", _contains),
    "minProperties": ("object", _limit("minProperties", lambda value, limit: len(value) >= limit)),
    "maxProperties": ("object", _limit("maxProperties", lambda value, limit: len(value) <= limit)),
    "required": ("object", _required),
    "dependentRequired": ("object", _dependent_required),
    "propertyNames": ("object", _property_names),
    "properties": ("object", _properties),
    "patternProperties": ("object", _pattern_properties),
    "additionalProperties": ("object", _additional_properties),
    "dependentSchemas": ("object", _dependent_schemas),
    "$ref": ("", _ref),
    "$dynamicRef": ("", _unknown),
    "allOf": ("", _all_of),
    "anyOf": ("", _any_of),
    "oneOf": ("", _one_of),
    "not": ("", _not),
    "if": ("", _if),
    "unevaluatedItems": ("array", _unevaluated("unevaluatedItems")),
    "unevaluatedProperties": ("object", _unevaluated("unevaluatedProperties")),
}
"""Every keyword by which a value can be refused, with the JSON type that it judges (empty: all), the cheap ones first."""


# --- sentences -------------------------------------------------------------------------------------------------------


def _told(node: Node, keyword: str, value: Any, trial: Trial, path: Path) -> Iterator[Said]:
    """What is wrong with a value by a keyword that refuses it."""
    given = node.says.get(keyword)
    match keyword:
        case "required":
            for name in node.says["required"]:
                if name not in value:
                    yield node.said(keyword, name, value, path)
        case "dependentRequired":
            for name, key in _lacking(node.says["dependentRequired"], value):
                sentence = f"the field {name!r} is required beside {key!r}"
                yield Said(path, schema_pointer((*node.place, keyword)), sentence, keyword)
        case "$ref":
            yield from (said._replace(path=(*path, *said.path)) for said in trial.told(node.target, value))
        case "allOf":
            for one in node.each("allOf"):
                yield from _below(one, value, trial, path)
        case "dependentSchemas":
            for name, one in node.named(keyword).items():
                if name in value:
                    yield from _below(one, value, trial, path)
        case "if":
            for part in ("then", "else"):
                if part in node.says and (trial.once(node.inside("if"), value) is True) is (part == "then"):
                    yield from _below(node.inside(part), value, trial, path)
        case "not":
            yield Said(path, schema_pointer((*node.place, keyword)), EXCLUDED, keyword)
        case "anyOf" | "oneOf":
            yield from _union(node, keyword, value, trial, path)
        case _ if keyword in _MEMBERS:
            yield from _members(node, keyword, value, trial, path)
        case _:
            yield node.said(keyword, given, value, path)


def _below(node: Node, value: Any, trial: Trial, path: Path) -> Iterator[Said]:
    if trial.once(node, value) is False:
        yield from node.problems(value, trial, path)


_MEMBERS: Final = frozenset(
    {
        *("properties", "patternProperties", "additionalProperties", "unevaluatedProperties"),
        *("items", "prefixItems", "unevaluatedItems"),
    }
)


def _members(node: Node, keyword: str, value: Any, trial: Trial, path: Path) -> Iterator[Said]:
    """What is wrong with the members of a value that a keyword judges."""
    refused: list[str] = []
    for step, inner in _judged(node, keyword, value, trial):
        if inner.schema is False and keyword in ("additionalProperties", "unevaluatedProperties"):
            refused.append(str(step))
        else:
            yield from _below(inner, value[step], trial, (*path, step))
    if refused:
        yield node.said(keyword, refused, value, path)


def _judged(node: Node, keyword: str, value: Any, trial: Trial) -> Iterator[tuple[str | int, Node]]:
    """The members that a keyword surely judges, each with the schema that does."""
    matches = node.document.matches
    match keyword:
        case "properties":
            yield from ((name, one) for name, one in node.named(keyword).items() if name in value)
        case "patternProperties":
            for pattern, one in node.named(keyword).items():
                yield from ((key, one) for key in value if matches(pattern, key))
        case "additionalProperties":
            patterns = list(node.says.get("patternProperties", ()))
            for key in value.keys() - node.says.get("properties", {}).keys():
                if all(matches(pattern, key) is False for pattern in patterns):
                    yield key, node.inside(keyword)
        case "prefixItems":
            yield from ((index, one) for index, one in enumerate(node.each(keyword)) if index < len(value))
        case "items":
            yield from ((index, node.inside(keyword)) for index in range(len(node.each("prefixItems")), len(value)))
        case _:
            found = node.reached(value, trial, without=keyword)
            members: Iterable[Any] = value if is_object(value) else range(len(value))
            for key in members:
                if key not in found.surely and key not in found.maybe:
                    yield key, node.inside(keyword)


def _union(node: Node, keyword: str, value: Any, trial: Trial, path: Path) -> Iterator[Said]:
    nodes, place = node.each(keyword), (*node.place, keyword)
    failed = [index for index, one in enumerate(nodes) if trial.once(one, value) is False]
    if len(failed) < len(nodes):
        yield Said(path, schema_pointer(place), TOO_MANY, keyword)
        return
    yield from node.document.explainer.union(
        place,
        path,
        value,
        failed,
        lambda index: nodes[index].problems(value, trial, path),
        lambda indices: _nearest([nodes[index] for index in indices], value, trial, path, schema_pointer(place)),
    )


def _nearest(nodes: Sequence[Node], value: Any, trial: Trial, path: Path, pointer: str) -> Iterator[Said]:
    """What is wrong by the branch that comes nearest, told by the first problems of each."""
    told_by = [list(islice(one.problems(value, trial, path), FIRST)) for one in nodes]
    best = min(told_by, key=lambda said: distance(said, path))
    if distance(best, path)[0]:
        yield Said(path, pointer, wrong_type({name for one in nodes for name in _types(one)}, value), "type")
    else:
        yield from best


def _types(node: Node) -> tuple[str, ...]:
    """The types that a schema declares, or the one that it refers to."""
    if "type" not in node.says and "$ref" in node.says:
        return _types(node.target)
    declared = node.says.get("type", ())
    return (declared,) if isinstance(declared, str) else tuple(declared)
