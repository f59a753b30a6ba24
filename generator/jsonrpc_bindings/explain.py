"""Explains why the schema rejects a value: it descends lazily to the subschemas that fail.

In a union with a tag only the branch of the tag is examined. In a union without one, the nearest branch is reported.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from copy import copy
from itertools import chain, islice
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeAlias

from .contract import Path
from .discriminators import SCALARS, Discriminator, Unions, list_constants
from .errors import describe, quote
from .json_types import is_array, is_object, make_scalar_key
from .pointers import find, resolve_reference, write_schema_pointer

if TYPE_CHECKING:
    from .engine import Engine, Validator

Schema: TypeAlias = Mapping[str, Any]


class SchemaError(NamedTuple):
    """One validation error: the path into the instance, the pointer into the schema, a sentence and the keyword.

    `missing` is the field that the instance lacks, if that is the error.
    """

    path: Path
    schema: str
    sentence: str
    rule: str
    missing: str = ""


EXCLUDED: Final = "this is one of the values that are excluded here"
TOO_MANY: Final = "more than one of the alternatives fits, and only one may"
NO_MATCH: Final = "the value does not match the schema here"

FIRST: Final = 100
"""The maximum number of problems of each branch that are compared to find the nearest branch."""


class Steps:
    """The problems of a subschema and the subschemas below it that have more, for several consumers: branches of a union may share a
    subschema.
    """

    def __init__(self, source: Iterator[SchemaError | Steps]) -> None:
        self._source: Final = source
        self._steps: Final[list[SchemaError | Steps]] = []
        self._is_running = False

    def __iter__(self) -> Iterator[SchemaError | Steps]:
        index = 0
        while True:
            if index == len(self._steps):
                if self._is_running:  # by a union that is a branch of itself
                    return
                self._is_running = True
                following = next(self._source, None)
                self._is_running = False
                if following is None:
                    return
                self._steps.append(following)
            yield self._steps[index]
            index += 1


def _run_steps(steps: Steps) -> Iterator[SchemaError]:
    """Yield the problems of all subschemas without recursion: values may be nested deeper than the Python stack."""
    visited, stack = {id(steps)}, [iter(steps)]
    while stack:
        step = next(stack[-1], None)
        if step is None:
            stack.pop()
        elif isinstance(step, SchemaError):
            yield step
        elif id(step) not in visited:
            visited.add(id(step))
            stack.append(iter(step))


class Explainer:
    """Explains what the subschemas of one document reject; the engine validates."""

    def __init__(self, engine: Engine) -> None:
        self.schema: Final = engine.document
        self._engine: Final = engine
        self._is_valid: Final = engine.is_valid
        self._keywords: dict[Path, Validator] = {}
        self._tags: dict[Path, Discriminator | None] = {}
        self._unions: Final = Unions(lambda reference: self.get_subschema(resolve_reference(reference)))
        self._steps: dict[tuple[Path, Path, int], Steps] = {}

    def find_problems(self, place: Path, value: Any) -> Iterator[SchemaError]:
        """Yield the distinct problems of a value that the subschema at a path rejects.

        Failures of `not` are only reported where nothing else is wrong.
        """
        reports: set[tuple[Path, str]] = set()  # a base may say the same as what extends it
        exclusions: list[SchemaError] = []
        explainer = self._make_fresh()
        with suppress(RecursionError):
            for error in _run_steps(explainer._find_steps(place, value, ())):
                if error.rule == "not":
                    exclusions.append(error)
                elif (error.path, error.sentence) not in reports:
                    reports.add((error.path, error.sentence))
                    yield error
        for error in exclusions or [SchemaError((), write_schema_pointer(place), NO_MATCH, "schema")]:
            if not any(path[: len(error.path)] == error.path for path, _ in reports):
                reports.add((error.path, error.sentence))
                yield error

    def _make_fresh(self) -> Explainer:
        """An explainer for other values: what is known of values goes by their identity."""
        explainer = copy(self)
        explainer._steps = {}
        return explainer

    def _holds(self, place: Path, value: Any, rule: str, argument: Any) -> bool:
        """Whether a value satisfies a keyword that has no subschema."""
        validator = self._keywords.get(place)
        if validator is None:
            validator = self._keywords[place] = self._engine.compile({rule: argument})
        return validator.is_valid(value)

    # --- the walk ---

    def _find_steps(self, place: Path, value: Any, path: Path) -> Steps:
        """The problems of a value that the subschema at a path rejects."""
        key = place, path, id(value)  # a name stands where its member does
        cached_steps = self._steps.get(key)
        if cached_steps is None:
            cached_steps = self._steps[key] = Steps(self._find(place, value, path))
        return cached_steps

    def _find(self, place: Path, value: Any, path: Path) -> Iterator[SchemaError | Steps]:
        schema = self.get_subschema(place)
        if not is_object(schema):
            yield SchemaError(path, write_schema_pointer(place), "nothing is allowed here", "false")
            return
        is_reported = False
        for step in chain(
            self._check_itself(place, schema, value, path), self._check_below(place, schema, value, path)
        ):
            is_reported = True
            yield step
        if not is_reported:
            rule = next((rule for rule in _LAST if rule in schema), "schema")
            at = place if rule == "schema" else (*place, rule)
            yield SchemaError(path, write_schema_pointer(at), self.write_sentence(rule, None, at, value), rule)

    def _check_itself(self, place: Path, schema: Schema, value: Any, path: Path) -> Iterator[SchemaError]:
        """Yield the problems by keywords that have no subschema."""
        bare = dict.fromkeys(value) if is_object(value) else [None] * len(value) if is_array(value) else value
        for rule, argument in schema.items():
            at = (*place, rule)
            wrong: Iterable[Any] = ()
            if rule in _OF_VALUE or rule in _OF_WHOLE:
                wrong = () if self._holds(at, value if rule in _OF_WHOLE else bare, rule, argument) else (argument,)
            elif rule == "required" and is_object(value):
                wrong = (name for name in argument if name not in value)
            elif rule == "dependentRequired" and is_object(value):
                wrong = (
                    (need, name)
                    for name, needs in argument.items()
                    if name in value
                    for need in needs
                    if need not in value
                )
            elif rule in ("additionalProperties", "unevaluatedProperties") and argument is False and is_object(value):
                names = list(
                    self._list_additional(place, schema, value)
                    if rule[0] == "a"
                    else self._list_unevaluated(place, value)
                )
                wrong = [names] if names else ()
            elif rule == "contains" and is_array(value):
                count = sum(self._is_valid(at, item) for item in value)
                wrong = () if schema.get("minContains", 1) <= count <= schema.get("maxContains", count) else (argument,)
            elif rule == "not":
                wrong = (argument,) if self._is_valid(at, value) else ()
            elif rule == "x-integer" and isinstance(value, float) and value.is_integer():
                wrong = (argument,)
            failures: list[Any] = [*wrong]
            for failure in failures:
                sentence, shown_at = self.write_sentence(rule, failure, at, value), write_schema_pointer(at)
                if rule == "dependentRequired":
                    yield SchemaError(path, shown_at, sentence, "required", failure[0])
                else:
                    yield SchemaError(path, shown_at, sentence, rule, failure if rule == "required" else "")

    def _check_below(self, place: Path, schema: Schema, value: Any, path: Path) -> Iterator[SchemaError | Steps]:
        """Yield the problems by the subschemas that apply to a value or its members and reject it."""
        for at in self.list_applicators(place, schema, value):
            if not self._is_valid(at, value):
                yield self._find_steps(at, value, path)
        further = (*place, "unevaluatedProperties")
        unevaluated = (
            self._list_unevaluated(place, value)
            if is_object(schema.get("unevaluatedProperties")) and is_object(value)
            else ()
        )
        for at, key in chain(self.list_members(place, schema, value), ((further, name) for name in unevaluated)):
            if not self._is_valid(at, value[key]):
                yield self._find_steps(at, value[key], (*path, key))
        for keyword in ("anyOf", "oneOf"):
            if keyword in schema:
                yield from self._explain_union((*place, keyword), value, path)
        if is_object(value) and "propertyNames" in schema:
            at = (*place, "propertyNames")
            for name in value:
                if not self._is_valid(at, name):
                    for error in islice(_run_steps(self._find_steps(at, name, (*path, name))), 1):
                        sentence = f"the name {describe(name)} is not allowed here: {error.sentence}"
                        yield SchemaError(path, error.schema, sentence, "propertyNames")

    def list_applicators(self, place: Path, schema: Schema, value: Any) -> Iterator[Path]:
        """Yield the subschemas of a schema that apply to the same value, without the branches of unions."""
        if "$ref" in schema:
            yield resolve_reference(schema["$ref"])
        yield from ((*place, "allOf", index) for index in range(len(schema.get("allOf", ()))))
        if "if" in schema:
            then = "then" if self._is_valid((*place, "if"), value) else "else"
            if then in schema:
                yield (*place, then)
        if is_object(value):
            yield from (
                (*place, "dependentSchemas", name) for name in schema.get("dependentSchemas", ()) if name in value
            )

    def list_members(self, place: Path, schema: Schema, value: Any) -> Iterator[tuple[Path, Any]]:
        """Yield the subschemas of a schema that apply to the members of an object or array, with their keys or indices."""
        if is_object(value):
            further = schema.get("additionalProperties", True)
            additional = set(self._list_additional(place, schema, value)) if is_object(further) else ()
            for name in value:
                if name in schema.get("properties", ()):
                    yield (*place, "properties", name), name
                for pattern in self.list_matching_patterns(place, schema, name):
                    yield (*place, "patternProperties", pattern), name
                if name in additional:
                    yield (*place, "additionalProperties"), name
        if is_array(value):
            first = len(schema.get("prefixItems", ()))
            for index in range(len(value) if "items" in schema else min(first, len(value))):
                yield (*place, "prefixItems", index) if index < first else (*place, "items"), index

    def list_matching_patterns(self, place: Path, schema: Schema, name: str) -> Iterator[str]:
        """Yield the patterns of `patternProperties` that a property name matches."""
        for pattern in schema.get("patternProperties", ()):
            if self._holds((*place, "patternProperties", pattern), name, "pattern", pattern):
                yield pattern

    def _list_additional(self, place: Path, schema: Schema, value: Mapping[str, Any]) -> Iterator[str]:
        """Yield the names of the members that are additional properties of a schema."""
        for name in value:
            if (
                name not in schema.get("properties", ())
                and next(self.list_matching_patterns(place, schema, name), None) is None
            ):
                yield name

    # --- unions ---

    def _explain_union(self, place: Path, value: Any, path: Path) -> Iterator[SchemaError | Steps]:
        """Yield the problems of a value that no branch of a union accepts, or that several do where only one may."""
        if self._fits_any(place, value):
            if place[-1] == "oneOf" and not self._engine.get_union_validator(place, "oneOf").is_valid(value):
                yield SchemaError(path, write_schema_pointer(place), TOO_MANY, "oneOf")
            return
        choice = self.choose_branches(place, value, path)
        if isinstance(choice, SchemaError):
            yield choice
        elif len(choice) == 1:
            yield self._find_steps((*place, *choice), value, path)
        else:
            yield from self._explain_nearest(place, choice, value, path)

    def _fits_any(self, place: Path, value: Any) -> bool:
        """Whether a branch of a union accepts a value. One validator has all branches: that of each may be as large as the schema."""
        return self._engine.get_union_validator(place, "anyOf").is_valid(value)

    def choose_branches(self, place: Path, value: Any, path: Path) -> Sequence[int] | SchemaError:
        """The branches of a union that a value can be meant for, or why it is meant for none."""
        branches: Sequence[Any] = self.get_subschema(place)
        at = write_schema_pointer(place)
        real = [index for index in range(len(branches)) if self._unions.list_values(branches[index]) != [None]]
        if not real:
            return SchemaError(path, at, _describe_wrong_type(["null"], value), "type")
        if len(real) == 1:
            return real
        choices = [list_constants(branches[index]) for index in real]
        if all(choice is not None for choice in choices):
            constants_ = [constant for choice in choices for constant in choice or ()]
            return SchemaError(path, at, self.write_sentence("enum", constants_, place, value), "enum")
        if place not in self._tags:
            self._tags[place] = self._unions.find_discriminator(branches, real)
        tag = self._tags[place]
        if tag is None:
            keys: Mapping[int, str] = self._unions.find_keys(branches, real) if is_object(value) else {}
            owners = [index for index, key in keys.items() if key in value]
            if keys and not owners:
                names = ", ".join(map(quote, islice(value, 3))) or "nothing"
                sentence = f"the object must have one field of {', '.join(map(quote, keys.values()))}; it has {names}"
                return SchemaError(path, at, sentence, "required")
            return owners if len(owners) == 1 else real
        if not is_object(value):
            return SchemaError(path, at, f"an object is expected, not {describe(value)}", "type")
        tag_value = value.get(tag.field)
        is_tag = tag.field in value and isinstance(tag_value, SCALARS)
        owners = tag.owners.get(make_scalar_key(tag_value), []) if is_tag else []
        candidates = owners or (tag.free if tag.field in value else tag.untagged)
        if candidates and (owners or not self._is_stray(tag, place, candidates, value, path)):
            return candidates
        return _tag_error(tag, path, at, value)

    def _is_stray(self, tag: Discriminator, place: Path, candidates: Sequence[int], value: Any, path: Path) -> bool:
        """Whether an object whose tag is unknown was meant for a branch with another tag."""
        if not isinstance(value.get(tag.field), str):
            return False
        errors = list(islice(self._explain_nearest(place, candidates, value, path), FIRST))
        if any(error.rule == "not" and error.path == path for error in errors):
            return True
        at = (*path, tag.field)
        branches = ((*place, indices[0]) for indices in tag.owners.values() if len(indices) == 1)
        return any(
            _count(_run_steps(self._find_steps(branch, value, path)), at) < _count(errors, at) for branch in branches
        )

    def find_branches(self, place: Path, value: Any) -> list[Path]:
        """The branches that accept a value, or that which a value was meant for; none if that cannot be determined."""
        branches = [(*place, index) for index in range(len(self.get_subschema(place)))]
        if self._fits_any(place, value):
            return [branch for branch in branches if self._is_valid(branch, value)]
        explainer = self._make_fresh()
        with suppress(RecursionError):
            choice = explainer.choose_branches(place, value, ())
            if not isinstance(choice, SchemaError):
                return [branches[explainer._choose_best(place, choice, value, ())[0] if len(choice) > 1 else choice[0]]]
        return []

    def _choose_best(
        self, place: Path, indices: Sequence[int], value: Any, path: Path
    ) -> tuple[int, list[SchemaError], Iterator[SchemaError]]:
        """The nearest of several branches, its first problems, and the others."""
        errors_by = {index: _run_steps(self._find_steps((*place, index), value, path)) for index in indices}
        first = {index: list(islice(errors, FIRST)) for index, errors in errors_by.items()}
        best = min(first, key=lambda index: _measure_distance(first[index], path, value))
        return best, first[best], errors_by[best]

    def _explain_nearest(self, place: Path, indices: Sequence[int], value: Any, path: Path) -> Iterator[SchemaError]:
        """Yield the problems by the nearest of several branches; one sentence if the value has none of their types."""
        _, first, more_errors = self._choose_best(place, indices, value, path)
        is_wrong_type, is_other, *_ = _measure_distance(first, path, value)
        errors: Iterable[SchemaError] = chain(first, more_errors)
        if is_wrong_type:
            types = {name for index in indices for name in self.list_types((*place, index))}
            yield SchemaError(path, write_schema_pointer(place), _describe_wrong_type(types, value), "type")
            return
        values = (self._unions.list_values(self.get_subschema((*place, index))) or () for index in indices if is_other)
        constants_ = [constant for constants in values for constant in constants if constant is not None]
        if constants_:
            sentence = self.write_sentence("enum", constants_, (*place, "enum"), value)
            errors = [SchemaError(path, write_schema_pointer(place), sentence, "enum")]
        leading: Any = None
        for error in errors:
            leading = leading or (error.path, error.sentence)  # which may come again
            is_first = (error.path, error.sentence) == leading
            is_alone = not is_first or len(indices) == 1 or error.sentence.endswith(_ALTERNATIVES)
            more = "" if is_alone else f" (the nearest of {len(indices)}{_ALTERNATIVES}"
            yield error._replace(sentence=error.sentence + more)

    def list_types(self, place: Path) -> set[str]:
        """The types that the schema at a place declares."""
        return self._unions.list_types(self.get_subschema(place))

    def _list_unevaluated(self, place: Path, value: Mapping[str, Any]) -> Iterator[str]:
        """The names of the members that no subschema evaluates."""
        evaluated_names = set(self._list_evaluated(place, value, is_outermost=True))
        return (name for name in value if name not in evaluated_names)

    def _list_evaluated(self, place: Path, value: Mapping[str, Any], *, is_outermost: bool = False) -> Iterator[str]:
        """Yield the names of the members that a schema evaluates, or a subschema of it that accepts the value."""
        schema = self.get_subschema(place)
        if not is_object(schema) or not (is_outermost or self._is_valid(place, value)):
            return
        if "additionalProperties" in schema or ("unevaluatedProperties" in schema and not is_outermost):
            yield from value
        additional = set(self._list_additional(place, schema, value))
        yield from (name for name in value if name not in additional)
        unions = [
            (*place, keyword, index) for keyword in ("anyOf", "oneOf") for index in range(len(schema.get(keyword, ())))
        ]
        condition = [(*place, "if")] if "if" in schema else []
        for at in chain(self.list_applicators(place, schema, value), unions, condition):
            yield from self._list_evaluated(at, value)

    # --- sentences ---

    def write_sentence(self, rule: str, operand: Any, place: Path, value: Any) -> str:
        """The sentence for a failed keyword; `operand` is the value of the keyword, or the part of the value that it rejects."""
        match rule:
            case "required":
                return f"the field {operand!r} is required{self._hint(operand, place, value)}"
            case "type":
                return f"{_join_types(operand)} is expected, not {describe(value)}"
            case "x-integer":
                return f"an integer without a fraction is expected, not {describe(value)}"
            case "const":
                return f"{describe(value)} is not {describe(operand)}, the only value allowed here"
            case "enum":
                return f"{describe(value)} is not one of {_join_values(operand)}{_suggest(value, operand)}"
            case "additionalProperties" | "unevaluatedProperties":
                return (
                    f"{_join_values(operand)} is not allowed here"
                    if len(operand) == 1
                    else f"{_join_values(operand)} are not allowed here"
                )
            case "dependentRequired":
                need, name = operand
                return f"the field {need!r} is required beside {describe(name)}"
            case "not":
                return EXCLUDED
            case "schema":
                return NO_MATCH
            case "pattern":
                format_ = self.get_subschema(place[:-1]).get("format")
                if format_ == "absolute-path":
                    return f"an absolute path is expected, not {describe(value)}"
                return f"{describe(value)} does not match the pattern {describe(self._engine.restore_pattern(operand))}"
            case _:
                limit = _LIMITS.get(rule)
                return (
                    limit.format(operand) if limit is not None else f"the value does not satisfy the keyword {rule!r}"
                )

    def _hint(self, missing: str, place: Path, value: Any) -> str:
        owner = self.get_subschema(place[:-1])
        properties: Schema = owner.get("properties", {}) if is_object(owner) else {}
        near = find_near_field(missing, [key for key in value if key not in properties]) if is_object(value) else None
        return f"; {describe(near)} is not known here, did you mean {missing!r}?" if near else ""

    def get_subschema(self, place: Sequence[str | int]) -> Any:
        """The subschema at a path."""
        return find(self.schema, place)


_ARTICLES = {
    "array": "an array",
    "boolean": "true or false",
    "integer": "an integer",
    "null": "null",
    "number": "a number",
    "object": "an object",
    "string": "a string",
}
_LIMITS = {
    "minItems": "the array's length must be {} or more",
    "maxItems": "the array's length may be {} at most",
    "uniqueItems": "the items of the array must be unique",
    "minLength": "the string's length must be {} or more",
    "maxLength": "the string's length may be {} at most",
    "minimum": "the number must be {} or more",
    "maximum": "the number may be {} at most",
    "exclusiveMinimum": "the number must be more than {}",
    "exclusiveMaximum": "the number must be less than {}",
    "multipleOf": "the number must be a multiple of {}",
    "minProperties": "the number of fields must be {} or more",
    "maxProperties": "the number of fields may be {} at most",
}


_OF_VALUE: Final = frozenset({"type", "pattern", *_LIMITS}) - {"uniqueItems"}
"""The keywords that do not look at the members of a value."""
_OF_WHOLE: Final = frozenset({"const", "enum", "uniqueItems"})
"""The keywords that look at all members of a value."""
_LAST: Final = ("unevaluatedItems", "$dynamicRef")
"""The keywords of which one is reported if no other keyword fails."""


_ALTERNATIVES: Final = " alternatives)"


def _tag_error(tag: Discriminator, path: Path, pointer: str, value: Mapping[str, Any]) -> SchemaError:
    """The error for an object whose tag names no branch."""
    if tag.field not in value:
        near = find_near_field(tag.field, list(value))
        hint = f"; {describe(near)} is not known here, did you mean {tag.field!r}?" if near else ""
        sentence = f"the field {tag.field!r} is required, one of {_join_values(tag.list_tags())}{hint}"
        return SchemaError(path, pointer, sentence, "required", tag.field)
    tag_value, known_tags = value[tag.field], tag.list_tags()
    hint = _suggest(tag_value, known_tags)
    sentence = (
        f"{describe(tag_value)} is not a known value of {tag.field!r}, which are {_join_values(known_tags)}{hint}"
    )
    return SchemaError((*path, tag.field), pointer, sentence, "tag")


def _count(errors: Iterable[SchemaError], at: Path) -> int:
    """The number of errors (at most 100) that are not at this path."""
    return sum(error.path != at for error in islice(errors, 100))


def _measure_distance(errors: Sequence[SchemaError], path: Path, value: Any) -> tuple[bool, bool, bool, int, int]:
    """The distance of a branch from the value at a path: a wrong type is farthest, then another constant, then an exclusion."""
    rules = [error.rule for error in errors if error.path == path]
    is_other = "const" in rules or "enum" in rules
    is_of_type = "type" not in rules and (not is_other or isinstance(value, str))
    return not is_of_type, is_other, "not" in rules, rules.count("required"), len(errors)


def _describe_wrong_type(types: Iterable[str], value: Any) -> str:
    """The sentence that a value has none of the types of the alternatives."""
    alternatives = " or ".join(_ARTICLES.get(name, name) for name in sorted(types)) or "another value"
    return f"{alternatives} is expected, not {describe(value)}"


def _join_types(types: Any) -> str:
    names = [types] if isinstance(types, str) else sorted(types, key=lambda name: (name == "null", name))
    return " or ".join(_ARTICLES.get(name, name) for name in names)


def _join_values(values: Sequence[Any]) -> str:
    texts = [describe(value) for value in values]
    return ", ".join(texts) if len(texts) <= 24 else f"{', '.join(texts[:24])} and {len(texts) - 24} more"


def _suggest(value: Any, candidates: Sequence[Any]) -> str:
    return suggest_name(value, [item for item in candidates if isinstance(item, str)]) if isinstance(value, str) else ""


def suggest_name(name: str, candidates: Sequence[str]) -> str:
    """The end of a sentence that suggests the nearest of some names; empty if none is similar."""
    from difflib import get_close_matches

    if len(name) > 2 * max(map(len, candidates), default=0):
        return ""
    plain: Mapping[str, str] = {_fold(item): item for item in candidates}
    close = get_close_matches(_fold(name), plain, n=1, cutoff=0.75)
    return f"; did you mean {plain[close[0]]!r}?" if close else ""


def find_near_field(missing: str, present: Sequence[str]) -> str | None:
    """The field that was probably meant as `missing`: one with a similar name, or with a common alternative name."""
    from difflib import get_close_matches

    present = present[:MOST_LOOKED_AT]
    for name in present:
        if name in OTHER_NAMES.get(missing, ()):
            return name
    plain = {_fold(item): item for item in present}
    close = get_close_matches(_fold(missing), plain, n=1, cutoff=0.75)
    return plain[close[0]] if close else None


MOST_LOOKED_AT: Final = 1000
"""The maximum number of fields of an object that are compared to find a similar name; each comparison takes time."""

OTHER_NAMES: Final[Mapping[str, tuple[str, ...]]] = {
    "path": ("uri", "file", "filePath", "file_path", "filename"),
    "uri": ("path", "url"),
    "cwd": ("workingDirectory", "working_directory", "root"),
    "sessionId": ("session", "id"),
}
"""Names that are often confused with fields. The documentation of ACP's file-system methods, for one, has `uri` where every release has
`path`.
"""


def _fold(name: str) -> str:
    return name.replace("_", "").replace("-", "").lower()
