"""Rules about documentation: descriptions and examples."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import Any

from acpgen.input.error_paths import Paths
from acpgen.input.schema_validator import Validator
from acpgen.input.tagged_unions import find_branches, find_constant, find_lone_reference, is_null
from acpgen.input.walk import Schema, is_array, walk_schemas
from acpgen.lint.subject import Remark, SourceNode, Subject
from acpgen.pointers import write_plain_pointer, write_reference


def description_missing(subject: Subject) -> Iterable[Remark]:
    """A file, definition, field or branch has no description.

    The tag of a variant, a reference for `_meta`, a field that a variant repeats and the one branch beside null need none.
    """
    for node in subject.nodes:
        if (
            node.role != "part"
            and not str(node.schema.get("description", "")).strip()
            and not _needs_no_description(node)
        ):
            kind = "file" if node.role == "document" else node.role
            yield Remark(node.at, f"This {kind} has no description. Say what it is for, in a sentence or two.")


def example_refused(subject: Subject) -> Iterable[Remark]:
    """An entry of `examples` is not valid against the very schema that shows it."""
    return (remark for error_is_example, remark in _judge(subject) if error_is_example)


def variant_example_missing(subject: Subject) -> Iterable[Remark]:
    """No example of a union shows one of its variants."""
    return (remark for error_is_example, remark in _judge(subject) if not error_is_example)


def method_example_missing(subject: Subject) -> Iterable[Remark]:
    """The params or the result of a method have no example."""
    for node in subject.definitions:
        if "x-method" in node.schema and not node.schema.get("examples"):
            sentence = f"{node.name}, of the method {node.schema['x-method']}, has no example."
            yield Remark(node.at, f"{sentence} Add a complete, realistic one.")


def _needs_no_description(node: SourceNode) -> bool:
    if any(part == "not" for part in node.parts):
        return True
    if node.role == "branch":
        assert node.owner is not None
        return is_null(node.schema) or not node.owner.is_choice
    if node.role == "field":
        is_repeated = node.owner is not None and node.owner.role == "branch" and _is_declared_around(node)
        return find_constant(node.schema) is not None or is_repeated or (node.name == "_meta" and "$ref" in node.schema)
    return False


def _is_declared_around(node: SourceNode) -> bool:
    """Whether a schema around a branch already has the field, so that the branch only narrows it."""
    assert node.owner is not None
    return any(node.name in around.schema.get("properties", {}) for around in (*node.owner.list_enclosing(),)[1:])


@lru_cache(maxsize=1)
def _judge(subject: Subject) -> tuple[tuple[bool, Remark], ...]:
    """Check the examples. Each remark comes with whether an example is invalid; otherwise a variant lacks one.

    One compiled schema validates everything: each list of examples is the value of one property per check.
    """
    if subject.collected is None:
        return ()

    definitions, origins = subject.collected.definitions, subject.collected.origins
    places: dict[str, Schema] = {}
    instances: dict[str, Any] = {}
    remarks: list[tuple[bool, Remark]] = []
    for name, definition in definitions.items():
        origin = origins[name]
        for parts, schema in walk_schemas(definition):
            if not is_array(schema.get("examples")):
                continue
            key = f"items {origin}{write_plain_pointer(*parts)}"
            instances[key] = schema["examples"]
            places[key] = {"items": {"$ref": write_reference(name, *parts)}}
        branches = tuple(_find_branches(subject, origin, name, definition))
        if branches and not definition.get("examples"):
            remarks.append((False, Remark(origin, "This union has no examples. Add one of every variant.")))
        for at, branch in branches if definition.get("examples") else ():
            instances[f"contains {at}"] = definition["examples"]
            places[f"contains {at}"] = {"contains": branch}
    whole = {"$defs": definitions, "properties": places}
    judge = Validator(whole, mask="it")
    paths = Paths(instances)
    for error in judge.list_errors(instances):
        key, *path = paths.locate(error)
        check, _, at = key.partition(" ")
        if check == "items":
            remarks.append((True, _make_refusal(at, path, judge.describe(error))))
        else:
            sentence = "No example of this union shows this variant. Add one to the 'examples' of the union."
            remarks.append((False, Remark(at, sentence)))
    return tuple({remark.at: (is_example, remark) for is_example, remark in reversed(remarks)}.values())


def _make_refusal(at: str, path: list[str], message: str) -> Remark:
    where = f"at {write_plain_pointer(*path[1:])}, " if path[1:] else ""
    sentence = f"The schema refuses this example: {where}{message}. Correct one of the two."
    return Remark(f"{at}/examples/{path[0]}", sentence)


def _find_branches(subject: Subject, at: str, name: str, definition: Schema) -> Iterator[tuple[str, Schema]]:
    """Yield the location and schema of each branch of a union that is a definition in the files, without null and without unions of
    constants.
    """
    union = find_branches(definition)
    if union is None or at not in subject.by_place or subject.by_place[at].role != "definition":
        return
    keyword, branches = union
    if any(find_constant(branch) is not None for branch in branches):
        return
    for index, branch in enumerate(branches):
        if not is_null(branch):
            reference = find_lone_reference(branch)
            below = write_reference(name, keyword, str(index)) if reference is None else write_reference(reference)
            yield f"{at}/{keyword}/{index}", {"$ref": below}
