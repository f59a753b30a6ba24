"""From the errors of jsonschema-rs to problems that help: inside a union only those of the branch that was meant.

A union discriminated by a tag is entered by the tag alone. In a union discriminated by shape the branch that comes nearest speaks for all.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple, TypeAlias

from .contract import Path
from .errors import told
from .json_types import holds, is_array, is_object
from .pointers import referred, schema_pointer
from .strict import did_you_mean, near_field

Schema: TypeAlias = Mapping[str, Any]
ValidationError: TypeAlias = Any
"""An error of the library `jsonschema_rs`, which need not be there for the types of this module."""


class Said(NamedTuple):
    """What one error says: the path into the instance, the pointer into the schema, a sentence and the keyword.

    `missing` is the field that the instance lacks, where that is what is wrong.
    """

    path: Path
    schema: str
    sentence: str
    rule: str
    missing: str = ""


class _Tag(NamedTuple):
    """How a union is discriminated: the field, the branch of each known tag, and the branches without one."""

    field: str
    known: dict[Any, int]
    others: tuple[int, ...]


def explain(errors: Iterable[ValidationError], value: Any, schema: Schema) -> list[Said]:
    """What the errors of one judgement of `value` say, each thing once, in the order of the instance's places."""
    said = dict.fromkeys(Explainer(schema, value).all(errors))
    deeper = {one.path for one in said if one.rule != "not"}
    return [one for one in said if one.rule != "not" or not any(path[: len(one.path)] == one.path for path in deeper)]


EXCLUDED: Final = "this is one of the values that are excluded here"
TOO_MANY: Final = "more than one of the alternatives fits, and only one may"


class Explainer:
    """Says what errors mean; `value` is what they are about, and `schema` the document that their places are in."""

    def __init__(self, schema: Schema, value: Any) -> None:
        self.schema = schema
        self.value = value
        self.tags: dict[tuple[str, tuple[int, ...]], _Tag | None] = {}

    def all(self, errors: Iterable[ValidationError]) -> Iterator[Said]:
        """What the errors say, one after the other."""
        for error in errors:
            if error.kind.name in ("anyOf", "oneOf"):
                yield from self._union(error)
            else:
                yield self._one(error)

    # --- unions ---

    def _union(self, error: ValidationError) -> Iterator[Said]:
        path, place = _as_given(self.value, error.instance_path), tuple(error.schema_path)
        if type(error.kind).__name__ == "OneOfMultipleValid":
            yield Said(path, schema_pointer(place), TOO_MANY, "oneOf")
            return
        failed = self._failed(error)
        value = _reach(self.value, path)
        yield from self.union(
            place,
            path,
            value,
            sorted(failed),
            lambda index: self.all(failed[index]),
            lambda indices: self._nearest(indices, failed, path, schema_pointer(place), value),
        )

    def union(
        self,
        place: Path,
        path: Path,
        value: Any,
        failed: Sequence[int],
        told_by: Callable[[int], Iterator[Said]],
        nearest: Callable[[Sequence[int]], Iterator[Said]],
    ) -> Iterator[Said]:
        """What is wrong with a value that no branch of a union takes, of which these `failed`.

        `told_by` says what is wrong by one branch, `nearest` by the one of several that comes nearest.
        """
        branches: Sequence[Any] = self.at(place)
        real = [index for index in failed if not _is_null(branches[index])]
        if len(real) == 1:
            yield from told_by(real[0])
            return
        choices = [_constants(branches[index]) for index in real]
        if all(choice is not None for choice in choices):
            constants = [constant for choice in choices for constant in choice or ()]
            sentence = f"{told(value)} is not one of {_listed(constants)}{_suggest(value, constants)}"
            yield Said(path, schema_pointer(place), sentence, "enum")
            return
        known = schema_pointer(place), tuple(real)
        if known not in self.tags:
            self.tags[known] = self._tag(branches, real)
        tag = self.tags[known]
        if tag is None:
            yield from nearest(real)
        elif not is_object(value):
            yield Said(path, schema_pointer(place), f"an object is expected, not {told(value)}", "type")
        else:
            given = value.get(tag.field)
            branch = tag.known.get(given) if isinstance(given, str | int | float) else None
            if branch is not None and branch in failed:
                yield from told_by(branch)
            elif tag.others:
                said = nearest(tag.others)
                first = next(said)
                is_stray = first.rule == "not" and first.path == path and isinstance(given, str)
                yield _untold(tag, path, schema_pointer(place), value) if is_stray else first
                yield from said
            else:
                yield _untold(tag, path, schema_pointer(place), value)

    def _nearest(
        self, indices: Sequence[int], failed: Mapping[int, list[ValidationError]], path: Path, pointer: str, value: Any
    ) -> Iterator[Said]:
        """The errors of the branch that comes nearest; one sentence, if the value is of none of the branches' types."""
        distances = {index: _distance(failed[index], len(path)) for index in indices if index in failed}
        best = min(distances, key=lambda index: distances[index])
        if distances[best][0]:
            types = {name for index in distances for error in failed[index] for name in _types(error, len(path))}
            yield Said(path, pointer, wrong_type(types, value), "type")
        else:
            yield from self.all(failed[best])

    def _failed(self, error: ValidationError) -> dict[int, list[ValidationError]]:
        """The errors of each branch, by its place in the union."""
        depth = len(error.evaluation_path)
        found: dict[int, list[ValidationError]] = {}
        kind: Any = error.kind
        for branch in kind.context:
            for one in branch:
                found.setdefault(int(one.evaluation_path[depth]), []).append(one)
        return found

    def _tag(self, branches: Sequence[Any], real: Sequence[int]) -> _Tag | None:
        marks = {index: self._marks(branches[index]) for index in real}
        best: _Tag | None = None
        for field in dict.fromkeys(name for found in marks.values() for name in found):
            known = {found[field]: index for index, found in marks.items() if field in found}
            others = tuple(index for index, found in marks.items() if field not in found)
            if len(known) + len(others) == len(marks) and (best is None or len(known) > len(best.known)):
                best = _Tag(field, known, others)
        return best

    def _marks(self, schema: Any, depth: int = 0) -> dict[str, Any]:
        """The required fields that a schema binds to one constant, references and parts followed."""
        if not is_object(schema) or depth > 20:
            return {}
        found = {
            name: constant
            for name, sub in schema.get("properties", {}).items()
            if isinstance(constant := _constant(sub), str | int | float | bool)
        }
        required = set(schema.get("required", ()))
        marks = {name: constant for name, constant in found.items() if name in required}
        parts = [*schema.get("allOf", ())]
        if isinstance(schema.get("$ref"), str):
            parts.append(self.at(referred(schema["$ref"])))
        for part in parts:
            marks.update(self._marks(part, depth + 1))
        for keyword in ("anyOf", "oneOf"):
            branches = [self._marks(branch, depth + 1) for branch in schema.get(keyword, ())]
            for name in branches[0] if branches else ():
                if all(branch.get(name) == branches[0][name] for branch in branches):
                    marks.setdefault(name, branches[0][name])
        return marks

    # --- single errors ---

    def _one(self, error: ValidationError) -> Said:
        path, place, rule = _as_given(self.value, error.instance_path), tuple(error.schema_path), error.kind.name
        value = _reach(self.value, path)
        missing: Any = error.kind.value if rule == "required" else ""
        sentence = self.sentence(rule, error.kind.value, place, value)
        return Said(path, schema_pointer(place), sentence, _RULES.get(rule, rule), missing)

    def sentence(self, rule: str, given: Any, place: Path, value: Any) -> str:
        """What is wrong with a value by the keyword at a place; `given` is what it demands, or what it refuses of the value."""
        match rule:
            case "required":
                return f"the field {given!r} is required{self._hint(given, place, value)}"
            case "type":
                return f"{_alternatives(given)} is expected, not {told(value)}"
            case "const":
                return f"{told(value)} is not {told(given)}, the only value allowed here"
            case "enum":
                return f"{told(value)} is not one of {_listed(given)}{_suggest(value, given)}"
            case "additionalProperties" | "unevaluatedProperties":
                return (
                    f"{_listed(given)} is not allowed here"
                    if len(given) == 1
                    else f"{_listed(given)} are not allowed here"
                )
            case "not":
                return EXCLUDED
            case "falseSchema":
                return "nothing is allowed here"
            case "pattern":
                format_ = self.at(place[:-1]).get("format")
                if format_ == "absolute-path":
                    return f"an absolute path is expected, not {told(value)}"
                return f"{told(value)} does not match the pattern {told(given)}"
            case _:
                limit = _LIMITS.get(rule)
                return limit.format(given) if limit is not None else f"the value does not satisfy the keyword {rule!r}"

    def _hint(self, missing: str, place: Path, value: Any) -> str:
        owner = self.at(place[:-1])
        declared: Schema = owner.get("properties", {}) if is_object(owner) else {}
        near = near_field(missing, [key for key in value if key not in declared]) if is_object(value) else None
        return f"; {told(near)} is not known here, did you mean {missing!r}?" if near else ""

    def at(self, place: Sequence[str | int]) -> Any:
        """What stands in the schema at a place that the engine or a reference names."""
        node: Any = self.schema
        for part in place:
            node = node[int(part)] if is_array(node) else node[str(part)]
        return node


_RULES = {"falseSchema": "false"}
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
    "minItems": "the array must have {} items or more",
    "maxItems": "the array may have {} items at most",
    "uniqueItems": "the items of the array must be unique",
    "minLength": "the string must have {} characters or more",
    "maxLength": "the string may have {} characters at most",
    "minimum": "the number must be {} or more",
    "maximum": "the number may be {} at most",
    "exclusiveMinimum": "the number must be more than {}",
    "exclusiveMaximum": "the number must be less than {}",
    "multipleOf": "the number must be a multiple of {}",
    "minProperties": "the object must have {} fields or more",
    "maxProperties": "the object may have {} fields at most",
}


def _untold(tag: _Tag, path: Path, pointer: str, value: Mapping[str, Any]) -> Said:
    """What is wrong with an object whose tag names no branch."""
    if tag.field not in value:
        near = near_field(tag.field, list(value))
        hint = f"; {told(near)} is not known here, did you mean {tag.field!r}?" if near else ""
        sentence = f"the field {tag.field!r} is required, one of {_listed(list(tag.known))}{hint}"
        return Said(path, pointer, sentence, "required", tag.field)
    given, known = value[tag.field], list(tag.known)
    sentence = (
        f"{told(given)} is not a known value of {tag.field!r}, which are {_listed(known)}{_suggest(given, known)}"
    )
    return Said((*path, tag.field), pointer, sentence, "tag")


def wrong_type(types: Iterable[str], value: Any) -> str:
    """Says that a value is of none of the types that the alternatives take."""
    expected = " or ".join(_ARTICLES.get(name, name) for name in sorted(types)) or "another value"
    return f"{expected} is expected, not {told(value)}"


def _distance(errors: Sequence[ValidationError], depth: int) -> tuple[bool, bool, int, int]:
    """How far a branch is from fitting: a wrong type of the whole is farthest, then an exclusion, then missing fields count."""
    here = [error.kind.name for error in errors if len(error.instance_path) == depth]
    return any(name in ("type", "const", "enum") for name in here), "not" in here, here.count("required"), len(errors)


def _types(error: ValidationError, depth: int) -> list[str]:
    if error.kind.name != "type" or len(error.instance_path) != depth:
        return []
    given: Any = error.kind.value
    return [given] if isinstance(given, str) else list(given)


def _alternatives(types: Any) -> str:
    names = [types] if isinstance(types, str) else sorted(types, key=lambda name: (name == "null", name))
    return " or ".join(_ARTICLES.get(name, name) for name in names)


def _listed(values: Sequence[Any]) -> str:
    texts = [told(value) for value in values]
    return ", ".join(texts) if len(texts) <= 24 else f"{', '.join(texts[:24])} and {len(texts) - 24} more"


def _suggest(value: Any, known: Sequence[Any]) -> str:
    return did_you_mean(value, [item for item in known if isinstance(item, str)]) if isinstance(value, str) else ""


def _constant(schema: Any) -> Any:
    if is_object(schema):
        if "const" in schema:
            return schema["const"]
        if is_array(schema.get("enum")) and len(schema["enum"]) == 1:
            return schema["enum"][0]
    return None


def _constants(schema: Any) -> list[Any] | None:
    """The constants that a branch admits, if it admits nothing else."""
    if not is_object(schema):
        return None
    return [schema["const"]] if "const" in schema else schema["enum"] if is_array(schema.get("enum")) else None


def _is_null(schema: Any) -> bool:
    return is_object(schema) and (schema.get("type") == "null" or ("const" in schema and schema["const"] is None))


def _as_given(value: Any, path: Sequence[str | int]) -> Path:
    """A path of the engine with the names that the value has: the engine gives a name of digits as a number. It leaves out empty names,
    and then the path ends above them.
    """
    found: list[str | int] = []
    for step in path:
        if is_object(value) and step not in value:
            names = [name for name in value if name.isdecimal() and int(name) == step]
            step = str(step) if str(step) in names or not names else names[0]
        if not holds(value, step):
            break
        found.append(step)
        value = _reach(value, (step,))
    return tuple(found)


def _reach(value: Any, path: Sequence[str | int]) -> Any:
    for step in path:
        value = value[step]
    return value
