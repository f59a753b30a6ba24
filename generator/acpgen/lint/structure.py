"""Rules about the structure of definitions: references, names, unions."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Sequence
from typing import Final

from acpgen.bundle.faults import NAME_COLLISION, REFERENCE_LOOP, SEVERAL_TARGETS
from acpgen.errors import Fault, show
from acpgen.input.equality import index_by_key
from acpgen.input.faults import DANGLING_REFERENCE, MALFORMED_KEYWORD, REFERENCE_NOT_GIVEN, UNKNOWN_SIDE
from acpgen.input.schema_nodes import Node
from acpgen.input.walk import DEFINITIONS, asserts
from acpgen.lint.subject import Remark, SourceNode, Subject, make_remark
from acpgen.naming.identifiers import ERROR_CODES, make_field_name, make_python_class
from acpgen.pointers import split_pointer

_OF_OTHER_RULES: Final = (
    DANGLING_REFERENCE,
    NAME_COLLISION,
    REFERENCE_LOOP,
    REFERENCE_NOT_GIVEN,
    SEVERAL_TARGETS,
    UNKNOWN_SIDE,
)
"""Faults that have a rule of their own."""


def reference_dangling(subject: Subject) -> Iterable[Remark]:
    """A reference leads to nothing in the files of this protocol, and to no file that was given beside them."""
    for fault in subject.faults:
        if fault.kind in (DANGLING_REFERENCE, REFERENCE_NOT_GIVEN):
            sentence = f"{show(str(fault.values['ref']))} does not exist. Correct the reference or add the definition."
            yield Remark(f"{fault.at}/{fault.values['keyword']}", sentence)


def reference_ambiguous(subject: Subject) -> Iterable[Remark]:
    """A reference can mean several places: a dynamic one with several targets, or an address or anchor that occurs twice."""
    return (make_remark(fault) for fault in subject.faults if fault.kind == SEVERAL_TARGETS)


def reference_looping(subject: Subject) -> Iterable[Remark]:
    """References lead only to one another, so that no type is ever reached."""
    return (make_remark(fault) for fault in subject.faults if fault.kind == REFERENCE_LOOP)


def reference_unmarked(subject: Subject) -> Iterable[Remark]:
    """Something stable refers to a definition that is marked `x-unstable`, and bears no such mark itself."""
    for node in subject.nodes:
        target = subject.find_target(node)
        if target is not None and _is_unstable(target) and not any(map(_is_unstable, node.list_enclosing())):
            yield Remark(node.at, f"{target.name} is not stable, and this is not marked so. Add 'x-unstable'.")


def definition_unused(subject: Subject) -> Iterable[Remark]:
    """Neither the root nor a method leads to a definition, and it has not the error codes."""
    queue = [node for node in subject.definitions if "x-method" in node.schema or node.name == ERROR_CODES]
    queue.extend(node for node in subject.nodes if node.role == "document" and any(map(asserts, node.schema)))
    reached: set[str] = set()
    while queue:
        node = queue.pop()
        if node.at in reached:
            continue
        reached.add(node.at)
        queue.extend(child for child in subject.list_subschemas(node) if child.role != "definition")
        target = subject.find_target(node)
        if target is not None:
            queue.append(target)
    for node in subject.definitions:
        if node.at not in reached:
            yield Remark(node.at, f"No message and no method uses {node.name}. Refer to it or remove it.")


def name_colliding(subject: Subject) -> Iterable[Remark]:
    """Two definitions, types of fields or variants get one generated name, or two fields of one object one attribute."""
    for fault in subject.faults:
        if fault.kind == NAME_COLLISION:
            yield make_remark(fault)
    keys: dict[str, str] = {}
    for node in subject.nodes:
        path, _, fragment = node.at.partition("#")
        parts = split_pointer(fragment)
        if len(parts) == 2 and parts[0] in DEFINITIONS and keys.setdefault(parts[1], path) != path:
            sentence = f"{keys[parts[1]]} defines {show(parts[1])}, too: generated names would get the file's name as a prefix."
            yield Remark(node.at, f"{sentence} Rename one of them.")
    if subject.bundle is None:
        return
    classes: dict[str, str] = {}
    for name, definition in subject.bundle.make_nodes().items():
        at = definition.at
        first_name = classes.setdefault(make_python_class(name), name)
        if first_name != name:
            yield Remark(
                at, f"{name} and {first_name} are both named {make_python_class(name)}. Set 'x-name' on one of them."
            )
        yield from _find_colliding_fields(definition)


def bundle_refused(subject: Subject) -> Iterable[Remark]:
    """The files cannot be brought together for a reason that no other rule names, such as a keyword that is not supported."""
    return (make_remark(fault) for fault in subject.faults if not _is_reported(fault))


def _is_reported(fault: Fault) -> bool:
    """Whether another rule reports the fault."""
    if fault.kind == MALFORMED_KEYWORD:
        return str(fault.values["keyword"]).startswith("x-")
    return fault.kind in _OF_OTHER_RULES


def union_half_marked(subject: Subject) -> Iterable[Remark]:
    """A union is discriminated by a constant in some of its branches, and the others are not marked as they should be."""
    for union in subject.object_unions:
        tagged = union.tagged
        if tagged is None:
            yield from _is_never_tagged(union.branches)
        elif tagged.default is not None and union.branches[tagged.default].shape.find_tags(tagged.tag):
            sentence = f"This branch gives '{tagged.tag}' a constant and does not require it. Add it to 'required'."
            yield Remark(union.branches[tagged.default].at, sentence)


def default_overlapping(subject: Subject) -> Iterable[Remark]:
    """The branch for messages without a tag, or with an unknown one, also admits a known tag, whose bad body it would hide."""
    for union in subject.object_unions:
        tagged = union.tagged
        if tagged is None or tagged.default is None:
            continue
        shape = union.branches[tagged.default].shape
        default_tags = shape.find_tags(tagged.tag)
        if tagged.tag in shape.closed or any(tag_schema.is_null for tag_schema in shape.properties.get(tagged.tag, [])):
            continue
        excluded_tags = shape.excluded.get(tagged.tag, {})
        known_tags = index_by_key(tag for index, tag in tagged.variants if index != tagged.default)
        admitted_tags = [
            tag
            for key, tag in known_tags.items()
            if key not in excluded_tags and (key in default_tags or not default_tags)
        ]
        if admitted_tags:
            tags = ", ".join(repr(tag) for tag in admitted_tags)
            sentence = f"This branch admits '{tagged.tag}' with the known {tags}. Exclude each known tag by 'not'."
            yield Remark(union.branches[tagged.default].at, sentence)


def _is_unstable(node: SourceNode) -> bool:
    return node.schema.get("x-unstable") is True


def _is_never_tagged(branches: Sequence[Node]) -> Iterator[Remark]:
    """Yield remarks for a union without a discriminator in which at least two branches give a field constants, one of them a single
    constant.
    """
    for name in dict.fromkeys(name for branch in branches for name in branch.shape.properties):
        tags = [branch.shape.find_tags(name) for branch in branches]
        if sum(map(bool, tags)) < 2 or all(len(branch_tags) != 1 for branch_tags in tags):
            continue
        earlier_tags: set[Hashable] = set()
        for branch, branch_tags in zip(branches, tags, strict=True):
            if not branch_tags:
                text = f"Other branches give '{name}' a constant, this one does not, and it does not exclude theirs."
                yield Remark(branch.at, f"{text} Mark it, or make it the one fallback.")
            elif name not in branch.shape.required:
                yield Remark(branch.at, f"'{name}' has a constant here and is not required. Add it to 'required'.")
            elif duplicates := [tag for key, tag in branch_tags.items() if key in earlier_tags]:
                text = f"Another branch has the tag {duplicates[0]!r} too. Give each variant its own constant."
                yield Remark(branch.at, text)
            earlier_tags.update(branch_tags)
        return


def _find_colliding_fields(definition: Node) -> Iterator[Remark]:
    attributes: dict[str, str] = {}
    for field in definition.shape.properties:
        first_field = attributes.setdefault(make_field_name(field), field)
        if first_field != field:
            sentence = f"The fields {show(first_field)} and {show(field)} of {definition.owner} are both named {make_field_name(field)}."
            yield Remark(definition.at, f"{sentence} Rename one of them.")
