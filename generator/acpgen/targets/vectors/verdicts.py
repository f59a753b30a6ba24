"""Whether JSON Schema admits a value, and if not, which rules the value violates and where.

For a union, only the errors of the intended branch are reported. If the intended branch is not clear, the union itself is the violated
rule.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

import jsonschema_rs

from acpgen import ir
from acpgen.bundle.bundle import Bundle
from acpgen.bundle.unknown_variants import make_receiver_definitions
from acpgen.input.complexity import count_paths, require_few_paths
from acpgen.input.numbers import with_decimals
from acpgen.input.schema_validator import Validator, compile_definitions
from acpgen.input.step_budget import spend
from acpgen.input.walk import is_array
from acpgen.meaning.samples import Path
from acpgen.pointers import write_pointer, write_reference
from acpgen.targets.vectors.rows import Refusal

_PATHS: Final = 50
"""The number of evaluation paths that the validator walks in one step of the budget."""

_ERROR: Final = 4
"""The cost of each error of the validator, in steps of the budget."""


class Judge:
    """Validates values against the definitions of one schema, which are compiled together, once. Raises `Faults`."""

    def __init__(self, bundle: Bundle, protocol: ir.Protocol) -> None:
        require_few_paths(bundle.definitions, bundle.origins)
        self.root: Final = bundle.schema
        self._path_counts: Final = count_paths(bundle.definitions)
        self._tags: Final[Mapping[Path, str]] = {
            ("$defs", name, keyword): definition.tag
            for name, definition in protocol.definitions.items()
            if isinstance(definition, ir.TaggedUnion)
            for keyword in ("anyOf", "oneOf")
        }
        self._references: Final = {
            name: write_reference(name) for name in {**bundle.definitions, **protocol.definitions}
        }
        self._strict = compile_definitions(bundle.definitions)
        receiver_definitions = make_receiver_definitions(bundle.definitions, bundle.unions, protocol.tolerated)
        self._tolerant = compile_definitions({**bundle.definitions, **receiver_definitions})

    def is_valid(self, name: str, value: Any) -> bool:
        """Whether a value is certainly valid for the definition `name`, also for implementations that parse numbers as doubles."""
        return self._admits(self._strict, name, value)

    def is_tolerated(self, name: str, value: Any) -> bool:
        """Whether a receiver that retains unknown variants accepts the value, without lenient decoding."""
        return self._admits(self._tolerant, name, value)

    def _admits(self, validator: Validator, name: str, value: Any) -> bool:
        self._count(name)
        is_certain = name not in validator.uncertain and _is_read_alike(value)
        return is_certain and validator.is_valid({self._references[name]: value})

    def list_refusals(self, name: str, value: Any) -> tuple[Refusal, ...]:
        """The violations in a value, without duplicates; empty if it is valid."""
        self._count(name)
        errors = self._strict.list_errors({self._references[name]: value})
        return _find_refusals(errors, self._strict, self._tags)

    def _count(self, name: str) -> None:
        """Spend the budget for validating a value."""
        spend(1 + self._path_counts.get(name, 1) // _PATHS)

    def find_only_refusal(self, name: str, value: Any) -> Refusal | None:
        """The only violation in a value; `None` if it is valid, has several or a vague one, or is not read as written."""
        refusals = self.list_refusals(name, value) if _is_read_alike(value) else ()
        return refusals[0] if len(refusals) == 1 and not refusals[0].vague else None


def _is_read_alike(value: Any) -> bool:
    """Whether each number in a value is exactly a double or an integer."""
    return with_decimals(value) is value


def _find_refusals(
    errors: Iterable[jsonschema_rs.ValidationError], judge: Validator, tags: Mapping[Path, str]
) -> tuple[Refusal, ...]:
    """The violations that errors report. `tags` holds the tag of each tagged union by its location in the schema."""
    refusals: dict[tuple[Path, str, str | None], Refusal] = {}
    for error in errors:
        spend(_ERROR)
        is_union = error.kind.name in ("anyOf", "oneOf")
        for refusal in _judge_union(error, judge, tags) if is_union else (_find_single(error, judge),):
            refusals.setdefault((refusal.path, refusal.rule, refusal.missing), refusal)
    return tuple(refusals.values())


def _find_single(error: jsonschema_rs.ValidationError, judge: Validator) -> Refusal:
    rule = "false" if error.kind.name == "falseSchema" else error.kind.name
    missing: Any = error.kind.value if rule == "required" else None
    return Refusal(_find_path(error), rule, write_pointer(*judge.locate(error)), missing=missing)


def _find_path(error: jsonschema_rs.ValidationError) -> Path:
    """The path in a value that is validated under the reference to its definition."""
    return tuple(error.instance_path[1:])


def _judge_union(
    error: jsonschema_rs.ValidationError, judge: Validator, by_place: Mapping[Path, str]
) -> tuple[Refusal, ...]:
    """The violations of the intended branch: the one whose tag matches, or the only one whose type matches."""
    path, place, keyword = _find_path(error), judge.locate(error), error.kind.name
    own_tag, schema = by_place.get(place), write_pointer(*place)
    if isinstance(error.kind, jsonschema_rs.ValidationErrorKind.OneOfMultipleValid):
        return (Refusal(path, keyword, schema),)
    assert isinstance(
        error.kind, jsonschema_rs.ValidationErrorKind.AnyOf | jsonschema_rs.ValidationErrorKind.OneOfNotValid
    )
    branches = [_find_refusals(branch, judge, by_place) for branch in error.kind.context if not _requires_null(branch)]
    candidates = [branch for branch in branches if not any(_is_elsewhere(refusal, path, own_tag) for refusal in branch)]
    if len(branches) == 1 or len(candidates) == 1:
        return (candidates or branches)[0]
    if candidates:
        missing = _find_shared(
            [{refusal.missing for refusal in branch if refusal.path == path} for branch in candidates]
        )
        if missing is not None and any(len(branch) == 1 for branch in candidates):
            return (Refusal(path, "required", schema, missing=missing),)
        return (Refusal(path, keyword, schema, vague=True),)
    for rule, reported_rule in (("const", "enum"), ("type", "type")):
        if all((path, rule) in {(refusal.path, refusal.rule) for refusal in branch} for branch in branches):
            return (Refusal(path, reported_rule, schema),)
    tags: list[set[str | None]] = [
        {
            str(refusal.path[-1])
            for refusal in branch
            if refusal.path != path and refusal.path[:-1] == path and refusal.rule in ("const", "tag", "type", "enum")
        }
        for branch in branches
        if not any(refusal.rule == "not" for refusal in branch)
    ]
    tag = _find_shared(tags)
    return (Refusal((*path, tag), "tag", schema) if tag else Refusal(path, keyword, schema, vague=True),)


def _is_elsewhere(refusal: Refusal, path: Path, tag: str | None) -> bool:
    """Whether a violation shows that its branch was not the intended one."""
    if refusal.path == path:
        return refusal.rule in ("type", "not", "const", "enum")
    return refusal.path[:-1] == path and (
        refusal.rule in ("const", "tag") or (refusal.rule == "enum" and refusal.path[-1] == tag)
    )


def _requires_null(branch: Sequence[jsonschema_rs.ValidationError]) -> bool:
    if len(branch) != 1 or branch[0].kind.name not in ("type", "const"):
        return False
    constant: Any = branch[0].kind.value
    return constant is None or constant == "null" or (is_array(constant) and constant == ["null"])


def _find_shared(sets: Sequence[set[str | None]]) -> str | None:
    """The only text that all sets have in common; `None` if there is none or several."""
    if not sets:
        return None
    shared = sets[0].intersection(*sets[1:]) - {None}
    return next(iter(shared)) if len(shared) == 1 else None
