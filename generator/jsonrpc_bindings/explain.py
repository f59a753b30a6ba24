"""From the errors of jsonschema-rs to problems that help: inside a union only those of the branch that was meant.

A union discriminated by a tag is entered by the tag alone. In a union discriminated by shape the branch that comes nearest speaks for all.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any, Final, NamedTuple, TypeAlias

from .contract import Path
from .errors import shown, told
from .json_types import holds, is_array, is_object
from .pointers import referred, schema_pointer

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
    """How a union is discriminated: the field, the branches that own each known tag, and those that own none.

    `untagged` are those that take an object without the field.
    """

    field: str
    known: dict[_Key, list[int]]
    others: tuple[int, ...]
    untagged: tuple[int, ...]

    def tags(self) -> list[Any]:
        """The known tags."""
        return [tag for _, tag in self.known]


def explain(
    errors: Iterable[ValidationError], value: Any, schema: Schema, own: Callable[[str], str] = str
) -> list[Said]:
    """What the errors of one judgement of `value` say, each thing once, in the order of the instance's places."""
    said = dict.fromkeys(Explainer(schema, value, own).all(errors))
    deeper = {one.path for one in said if one.rule != "not"}
    return [one for one in said if one.rule != "not" or not any(path[: len(one.path)] == one.path for path in deeper)]


EXCLUDED: Final = "this is one of the values that are excluded here"
TOO_MANY: Final = "more than one of the alternatives fits, and only one may"


class Explainer:
    """Says what errors mean; `value` is what they are about, and `schema` the document that their places are in.

    `own` gives the pattern that people wrote for the one in `schema`.
    """

    def __init__(self, schema: Schema, value: Any, own: Callable[[str], str] = str) -> None:
        self.schema = schema
        self.own = own
        self.value = value
        self.tags: dict[tuple[str, tuple[int, ...]], _Tag | None] = {}
        self.flats: dict[str, _Flat] = {}
        self.constants: dict[str, list[Any] | None] = {}

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
            keys: Mapping[int, str] = self._keys(branches, real) if is_object(value) else {}
            owners = [index for index, key in keys.items() if key in value]
            if keys and not owners:
                there = ", ".join(map(shown, islice(value, 3))) or "nothing"
                sentence = f"the object must have one field of {', '.join(map(shown, keys.values()))}; it has {there}"
                yield Said(path, schema_pointer(place), sentence, "required")
            elif len(owners) == 1:
                yield from told_by(owners[0])
            else:
                yield from nearest(real)
        elif not is_object(value):
            yield Said(path, schema_pointer(place), f"an object is expected, not {told(value)}", "type")
        else:
            given = value.get(tag.field)
            owners = tag.known.get(_key(given), []) if isinstance(given, str | int | float) else []
            if len(owners) == 1:
                yield from told_by(owners[0])
            elif owners:
                yield from nearest(owners)
            elif candidates := tag.others if tag.field in value else tag.untagged:
                said = list(nearest(candidates))
                excluded = any(one.rule == "not" and one.path == path for one in said)
                at = (*path, tag.field)
                wrong = [_count(told_by(own[0]), at) for own in tag.known.values() if len(own) == 1]
                is_stray = excluded or min(wrong, default=len(said)) < _count(said, at)  # another tag was meant
                is_stray = is_stray and isinstance(given, str)
                yield from [_untold(tag, path, schema_pointer(place), value)] if is_stray else said
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
        """The errors of each branch, by its place in the union. Those of our own keyword do not say how they were reached."""
        depth = len(error.evaluation_path)
        found: dict[int, list[ValidationError]] = {}
        kind: Any = error.kind
        for index, branch in enumerate(kind.context):
            for one in branch:
                place = index if one.kind.name == "x-integer" else int(one.evaluation_path[depth])
                found.setdefault(place, []).append(one)
        return found

    def _tag(self, branches: Sequence[Any], real: Sequence[int]) -> _Tag | None:
        flats = {index: self._flat(branches[index]) for index in real}
        fields = Counter(name for flat in flats.values() for name in flat.constants)
        fields.update(name for flat in flats.values() for name in flat.constants if name in flat.required)
        found = [_discrimination(field, flats) for field, count in fields.items() if count > 1]
        telling = [one for one in found if len(set(map(tuple, one.known.values()))) + len(one.others) > 1]
        return max(telling, key=_precision, default=None)

    def _keys(self, branches: Sequence[Any], real: Sequence[int]) -> Mapping[int, str]:
        """The one field that each branch for objects requires, where these differ; empty for other unions."""
        found: dict[int, str] = {}
        for index in real:
            schema, seen = branches[index], set[str]()
            while is_object(schema) and isinstance(schema.get("$ref"), str) and schema["$ref"] not in seen:
                seen.add(schema["$ref"])
                schema = self.at(referred(schema["$ref"]))
            if is_object(schema) and schema.get("type") == "object":
                required = schema.get("required", ())
                if len(required) != 1:
                    return {}
                found[index] = required[0]
        return found if len(set(found.values())) == len(found) > 1 else {}

    def _flat(self, schema: Any) -> _Flat:
        """The fields that a schema binds to some constants, and those that it requires, references and parts followed."""
        flat = _Flat({}, set())
        if not is_object(schema):
            return flat
        for name, sub in schema.get("properties", {}).items():
            values = self._values(sub)
            if values and all(isinstance(value, str | int | float) for value in values):
                flat.constants[name] = list(map(_key, values))
        flat.required.update(schema.get("required", ()))
        parts = list(map(self._flat, schema.get("allOf", ())))
        if isinstance(schema.get("$ref"), str):
            reference = schema["$ref"]
            if reference not in self.flats:
                self.flats[reference] = _Flat({}, set())  # until it is read
                self.flats[reference] = self._flat(self.at(referred(reference)))
            parts.append(self.flats[reference])
        unions = [schema[keyword] for keyword in ("anyOf", "oneOf") if schema.get(keyword)]
        parts += [_any_of(list(map(self._flat, branches))) for branches in unions]
        for part in parts:
            for name, keys in part.constants.items():
                flat.constants[name] = [key for key in flat.constants.get(name, keys) if key in keys]
            flat.required.update(part.required)
        return flat

    def _values(self, schema: Any) -> list[Any] | None:
        """The constants that a schema admits at most, if it lists any; references, parts and alternatives are followed."""
        if not is_object(schema):
            return None
        lists = [_constants(schema)] if "const" in schema or "enum" in schema else []
        lists += map(self._values, schema.get("allOf", ()))
        if isinstance(schema.get("$ref"), str):
            reference = schema["$ref"]
            if reference not in self.constants:
                self.constants[reference] = None  # until it is read
                self.constants[reference] = self._values(self.at(referred(reference)))
            lists.append(self.constants[reference])
        for keyword in ("anyOf", "oneOf"):
            branches = list(map(self._values, schema.get(keyword, ())))
            if branches and None not in branches:
                lists.append([value for branch in branches for value in branch or ()])
        return min((found for found in lists if found is not None), key=len, default=None)

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
            case "x-integer":
                return f"an integer without a fraction is expected, not {told(value)}"
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
                return f"{told(value)} does not match the pattern {told(self.own(given))}"
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


_Key: TypeAlias = "tuple[bool, Any]"


def _key(tag: Any) -> _Key:
    """What tells a tag from others: true is not 1."""
    return isinstance(tag, bool), tag


class _Flat(NamedTuple):
    """What a schema says of an object: fields that are bound to some constants, and fields that are required."""

    constants: dict[str, list[_Key]]
    required: set[str]


def _any_of(branches: Sequence[_Flat]) -> _Flat:
    """What holds in every branch."""
    first, *others = branches
    shared = [name for name in first.constants if all(name in other.constants for other in others)]
    constants = {name: list(dict.fromkeys(key for one in branches for key in one.constants[name])) for name in shared}
    return _Flat(constants, first.required.intersection(*(other.required for other in others)))


def _discrimination(field: str, flats: Mapping[int, _Flat]) -> _Tag:
    """How a field discriminates branches."""
    known: dict[_Key, list[int]] = {}
    for index, flat in flats.items():
        for key in flat.constants.get(field, ()):
            known.setdefault(key, []).append(index)
    others = tuple(index for index, flat in flats.items() if field not in flat.constants)
    return _Tag(field, known, others, tuple(index for index, flat in flats.items() if field not in flat.required))


def _precision(tag: _Tag) -> tuple[bool, int, int]:
    """How well a union is told apart: no tag that two branches own comes first, then the branches with a tag, then few tags."""
    owners = list(tag.known.values())
    marked = {index for own in owners for index in own}
    return all(len(own) == 1 for own in owners), len(marked), -len(owners)


def _untold(tag: _Tag, path: Path, pointer: str, value: Mapping[str, Any]) -> Said:
    """What is wrong with an object whose tag names no branch."""
    if tag.field not in value:
        near = near_field(tag.field, list(value))
        hint = f"; {told(near)} is not known here, did you mean {tag.field!r}?" if near else ""
        sentence = f"the field {tag.field!r} is required, one of {_listed(tag.tags())}{hint}"
        return Said(path, pointer, sentence, "required", tag.field)
    given, known = value[tag.field], tag.tags()
    sentence = (
        f"{told(given)} is not a known value of {tag.field!r}, which are {_listed(known)}{_suggest(given, known)}"
    )
    return Said((*path, tag.field), pointer, sentence, "tag")


def _count(said: Iterable[Said], at: Path) -> int:
    """How much is wrong but for what stands at a place."""
    return sum(one.path != at for one in islice(said, 100))


def wrong_type(types: Iterable[str], value: Any) -> str:
    """Says that a value is of none of the types that the alternatives take."""
    expected = " or ".join(_ARTICLES.get(name, name) for name in sorted(types)) or "another value"
    return f"{expected} is expected, not {told(value)}"


def distance(here: Sequence[str], count: int) -> tuple[bool, bool, int, int]:
    """How far a branch is from fitting a value of which it refuses so many things, by these rules what the whole is: a wrong type is
    farthest, then an exclusion, then missing fields count.
    """
    return any(rule in ("type", "const", "enum") for rule in here), "not" in here, here.count("required"), count


def _distance(errors: Sequence[ValidationError], depth: int) -> tuple[bool, bool, int, int]:
    return distance([error.kind.name for error in errors if len(error.instance_path) == depth], len(errors))


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


def did_you_mean(name: str, known: Sequence[str]) -> str:
    """The end of a sentence that suggests the nearest known name; empty if none is near."""
    from difflib import get_close_matches

    if len(name) > 2 * max(map(len, known), default=0):
        return ""
    plain: Mapping[str, str] = {_plain(item): item for item in known}
    close = get_close_matches(_plain(name), plain, n=1, cutoff=0.75)
    return f"; did you mean {plain[close[0]]!r}?" if close else ""


def near_field(missing: str, present: Sequence[str]) -> str | None:
    """The field that stands where `missing` was meant, told by its letters or as a common other name of it."""
    from difflib import get_close_matches

    present = present[:MOST_LOOKED_AT]
    for name in present:
        if name in OTHER_NAMES.get(missing, ()):
            return name
    plain = {_plain(item): item for item in present}
    close = get_close_matches(_plain(missing), plain, n=1, cutoff=0.75)
    return plain[close[0]] if close else None


MOST_LOOKED_AT: Final = 1000
"""The fields of an object among which the one is looked for that was meant. To compare a name takes time."""

OTHER_NAMES: Final[Mapping[str, tuple[str, ...]]] = {
    "path": ("uri", "file", "filePath", "file_path", "filename"),
    "uri": ("path", "url"),
    "cwd": ("workingDirectory", "working_directory", "root"),
    "sessionId": ("session", "id"),
}
"""What fields are often taken for. The file-system page, for one, says `uri` where every release of ACP has `path`."""


def _plain(name: str) -> str:
    return name.replace("_", "").replace("-", "").lower()
