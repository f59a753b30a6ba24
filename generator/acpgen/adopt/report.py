"""The report of an adoption: what it did and what it leaves to the user, as text for a terminal and as Markdown."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal, TypeAlias

from acpgen.adopt.adoption import HEAD, Adoption
from acpgen.adopt.canonical import Canonical, without_definitions
from acpgen.adopt.differences import Difference, find_differences, find_pointer, join_names, shorten
from acpgen.adopt.facts import fingerprint, state_the_same
from acpgen.adopt.placeholders import PLACEHOLDER
from acpgen.diagnostics.markup import escape_line, write_code
from acpgen.errors import count_noun, make_printable
from acpgen.input.tagged_unions import is_null, list_type_names
from acpgen.input.walk import is_object, walk_schemas
from acpgen.pointers import write_pointer

Kind: TypeAlias = Literal["added", "changed", "removed", "conflict", "different"]

HEADINGS: Final[Mapping[Kind, str]] = {
    "added": "Added",
    "changed": "Changed",
    "removed": "Removed",
    "conflict": "Conflicts, in which ours stays",
    "different": "Kept different",
}
_ROOT: Final = "the root"
_LIKE: Final = 0.6


@dataclass(frozen=True, slots=True)
class Entry:
    """One line of a report: `at` is `file#/pointer`, `what` the rest of the sentence; empty if the kind is enough."""

    kind: Kind
    definition: str
    at: str
    what: str = ""


@dataclass(frozen=True, slots=True)
class Report:
    """All lines, by kind and in the order of the files, and the tasks for the user, one sentence each."""

    protocol: str
    source: str
    entries: tuple[Entry, ...]
    conventions: tuple[str, ...]
    tasks: tuple[str, ...]
    files: tuple[str, ...]

    def select(self, *kinds: Kind) -> tuple[Entry, ...]:
        """The lines of some kinds."""
        return tuple(entry for entry in self.entries if entry.kind in kinds)


def make_report(adoption: Adoption, protocol: str) -> Report:
    """Make the report of an adoption."""
    changes = tuple(_list_changes(adoption))
    return Report(
        protocol=protocol,
        source=adoption.source,
        entries=(*changes, *_list_conflicts(adoption), *_list_kept_different(adoption)),
        conventions=tuple(_describe_conventions(adoption)),
        tasks=tuple(_list_tasks(adoption, changes)),
        files=tuple(sorted({*adoption.written, *adoption.removed})),
    )


# --- lines -----------------------------------------------------------------------------------------------------------


def _list_changes(adoption: Adoption) -> Iterator[Entry]:
    """Yield a line for each change."""
    before, after = adoption.before, adoption.after
    for name, schema in after.definitions.items():
        if name not in before.definitions:
            yield Entry("added", name, _find_place(after, name))
        else:
            for difference in find_differences(before.definitions[name], schema):
                yield _make_entry(after, name, difference)
    for name in before.definitions:
        if name not in after.definitions:
            yield Entry("removed", name, _find_place(before, name))
    if after.root is not None:
        for difference in find_differences(before.heads[after.root], after.heads[after.root]):
            yield _make_entry(after, _ROOT, difference)


def _list_kept_different(adoption: Adoption) -> Iterator[Entry]:
    """Yield a line for each intentional difference from upstream, except conventions."""
    after, theirs = adoption.after, adoption.theirs["$defs"]
    for name, schema in after.definitions.items():
        if name not in theirs:
            yield Entry("different", name, _find_place(after, name), "only here")
        else:
            for difference in find_differences(adoption.conventions.adapt_schema(theirs[name]), schema):
                yield Entry(
                    "different", name, _find_place(after, name, difference.at), _describe_difference(difference)
                )
    for name in theirs:
        if name not in after.definitions:
            yield Entry("different", name, f"{adoption.source}{write_pointer('$defs', name)}", "only upstream")
    if after.root is not None:
        upstream_root = without_definitions(adoption.theirs)
        root = {key: value for key, value in after.heads[after.root].items() if key not in HEAD}
        for difference in find_differences(upstream_root, root):
            yield Entry("different", _ROOT, _find_place(after, _ROOT, difference.at), _describe_difference(difference))


def _describe_difference(difference: Difference) -> str:
    if difference.kind == "member" or difference.old is None or difference.new is None:
        return "only here" if difference.old is None else f"only upstream: {shorten(difference.old)}"
    if difference.kind == "order":
        return "in another order"
    return f"upstream has {shorten(difference.old)}, here is {shorten(difference.new)}"


def _list_conflicts(adoption: Adoption) -> Iterator[Entry]:
    for conflict in adoption.conflicts:
        is_definition = conflict.at[:1] == ("$defs",)
        name = str(conflict.at[1]) if is_definition else _ROOT
        place = _find_place(adoption.after, name, conflict.at[2:] if is_definition else conflict.at)
        if conflict.extends:
            sentence = f"upstream has {shorten(conflict.theirs)} here; {conflict.extends} has {shorten(conflict.ours)}, which stays"
        elif conflict.base is None:
            sentence = f"upstream adds {shorten(conflict.theirs)}; here is {shorten(conflict.ours)} already, and stays"
        elif conflict.theirs is None:
            sentence = "upstream removed this; here it is not as upstream had it, and stays"
        elif conflict.ours is None:
            sentence = f"upstream changed {shorten(conflict.base)} to {shorten(conflict.theirs)}; here it was taken out, and stays so"
        else:
            change = f"upstream changed {shorten(conflict.base)} to {shorten(conflict.theirs)}"
            sentence = f"{change}; here is {shorten(conflict.ours)}, and stays"
        yield Entry("conflict", name, place, sentence)


def _make_entry(after: Canonical, name: str, difference: Difference) -> Entry:
    at = _find_place(after, name, difference.at)
    match difference.kind:
        case "member":
            return Entry("added" if difference.old is None else "removed", name, at)
        case "required":
            is_new = difference.old is None
            sentence = f"{difference.new} is required now" if is_new else f"{difference.old} is required no more"
            return Entry("changed", name, at, sentence)
        case "order":
            return Entry("changed", name, at, "the order")
        case "keyword":
            return Entry("changed", name, at, _describe_change(difference.old, difference.new))


def _describe_change(old: Any, new: Any) -> str:
    if old is None:
        return f"new, {shorten(new)}"
    return f"gone, was {shorten(old)}" if new is None else f"{shorten(new)}, was {shorten(old)}"


def _find_place(files: Canonical, name: str, at: Iterable[Any] = ()) -> str:
    """The `file#/pointer` of a location in a definition or in the root."""
    at = tuple(at)
    if name == _ROOT:
        assert files.root is not None
        return files.root + find_pointer(files.heads[files.root], at)
    if name not in files.definitions:
        return write_pointer("$defs", name)
    return files.paths[name] + write_pointer("$defs", name) + find_pointer(files.definitions[name], at)[1:]


def _describe_conventions(adoption: Adoption) -> Iterator[str]:
    for (name, upstream), our_field in sorted(adoption.conventions.rewritten.items(), key=lambda item: item[0]):
        fields = [
            field
            for schema in adoption.theirs["$defs"].values()
            for field_name, field in schema.get("properties", {}).items()
            if field_name == name and fingerprint(field) == upstream
        ]
        if fields:
            yield f"{name}: upstream has {shorten(fields[0])}, here is {shorten(our_field)}, {_describe_times(len(fields))}"


# --- what is left to do ----------------------------------------------------------------------------------------------


def _list_tasks(adoption: Adoption, changes: Iterable[Entry]) -> Iterator[str]:
    after = adoption.after
    alike: dict[tuple[str, str], list[str]] = {}
    for entry, conflict in zip(_list_conflicts(adoption), adoption.conflicts, strict=True):
        if not conflict.extends:
            alike.setdefault((entry.at.rpartition("/")[2], entry.what), []).append(entry.at)
    for (_, sentence), places in alike.items():
        remainder = f" and {len(places) - 1} more like it" if len(places) > 1 else ""
        yield f"Decide {places[0]}{remainder}: {sentence}."
    stable: dict[str, list[str]] = {}
    for entry, conflict in zip(_list_conflicts(adoption), adoption.conflicts, strict=True):
        if conflict.extends:
            stable.setdefault(conflict.extends, []).append(entry.at)
    for folder, places in stable.items():
        yield f"Adopt the stable schema of this revision into {folder}, which says something else at {join_names(places)}."
    yield from (f"Correct {fault}" for fault in adoption.overlay_faults)
    empty = [name for name, schema in after.definitions.items() for _ in range(_count_placeholders(schema))]
    heads = [path for path, head in after.heads.items() for _ in range(_count_placeholders(head))]
    if empty or heads:
        names = join_names(list(dict.fromkeys((*heads, *empty))))
        yield f"Write {count_noun(len(empty) + len(heads), 'description')} ({names}); acpgen lint says where."
    changed_names = dict.fromkeys(
        entry.definition for entry in changes if entry.definition in adoption.before.definitions
    )
    reread = [name for name in changed_names if name in after.definitions]
    if reread:
        yield f"Read again the words and examples of {join_names(reread)}: what they describe has changed."
    nullable = list(_find_new_nullable(adoption, changes))
    if nullable:
        yield f"Say what null means ('x-null') at {join_names(nullable)}."
    for name, schema in after.definitions.items():
        if "x-method" in schema and name not in adoption.before.definitions:
            yield f"Give {name} its gate ('x-capability'), if it has one, and an example."
    for example in adoption.examples:
        place = _find_place(after, example.definition, ("examples", str(example.index)))
        yield f"Correct the example {place}: it is refused now ({example.reason})."
    for name, users in adoption.kept.items():
        yield f"Decide about {name}: upstream removed it, and it stays because {join_names(users)} refers to it."
    if after.root is None and not state_the_same(*map(without_definitions, (adoption.base, adoption.theirs))):
        yield "Change the root by hand: upstream's has changed, and none of the files here, or several, have one."
    yield from _find_renamings(adoption)


def _count_placeholders(schema: Any) -> int:
    """The number of placeholder descriptions in a schema."""
    return sum(subschema.get("description") == PLACEHOLDER for _, subschema in walk_schemas(schema))


def _find_new_nullable(adoption: Adoption, changes: Iterable[Entry]) -> Iterator[str]:
    """Yield new fields that admit null and have no `x-null`."""
    old = {entry.at for entry in changes if entry.kind == "added"}
    for name, schema in adoption.after.definitions.items():
        is_new = name not in adoption.before.definitions
        for field, value in schema.get("properties", {}).items():
            at = _find_place(adoption.after, name, ("properties", field))
            if (is_new or at in old) and _admits_null(value) and "x-null" not in value:
                yield at


def _admits_null(schema: Any) -> bool:
    if not is_object(schema):
        return False
    return "null" in list_type_names(schema) or any(map(is_null, schema.get("anyOf", ())))


def _find_renamings(adoption: Adoption) -> Iterator[str]:
    """Yield possible renames: new definitions or fields similar to one that was removed or has become very different.

    A rename cannot be told from the files alone.
    """
    old, new = adoption.base["$defs"], adoption.theirs["$defs"]
    old_schemas = {
        name: schema
        for name, schema in old.items()
        if name not in new or _measure_likeness(_describe_shape(schema), _describe_shape(new[name])) < _LIKE
    }
    new_schemas = {name: schema for name, schema in new.items() if name not in old}
    yield from _find_likely(old_schemas, new_schemas, "")
    for name in old:
        if name in new:
            fields = [side[name].get("properties", {}) for side in (old, new)]
            old_schemas = {field: schema for field, schema in fields[0].items() if field not in fields[1]}
            new_schemas = {field: schema for field, schema in fields[1].items() if field not in fields[0]}
            yield from _find_likely(old_schemas, new_schemas, f"{name}.")


def _find_likely(old_schemas: Mapping[str, Any], new_schemas: Mapping[str, Any], prefix: str) -> Iterator[str]:
    shapes = {name: _describe_shape(schema) for name, schema in new_schemas.items()}
    for was, schema in old_schemas.items():
        old_shape = _describe_shape(schema)
        likely = [name for name, shape in shapes.items() if _measure_likeness(old_shape, shape) >= _LIKE]
        if likely:
            names = join_names([prefix + name for name in likely])
            yield f"See whether {prefix}{was} is {names} now, which has its shape; then its words serve again."


def _describe_shape(schema: Any) -> tuple[str, frozenset[str]]:
    """The facts of a schema as text, and its fields and branches."""
    return fingerprint(schema), frozenset(_list_members(schema))


def _measure_likeness(left: tuple[str, frozenset[str]], right: tuple[str, frozenset[str]]) -> float:
    """The similarity of two shapes, from 0 to 1: 1 if they state the same facts, else the share of common fields and branches."""
    return 1.0 if left[0] == right[0] else len(left[1] & right[1]) / max(len(left[1] | right[1]), 1)


def _list_members(schema: Any) -> Iterator[str]:
    if not is_object(schema):
        return
    yield from (f"field {name}" for name in schema.get("properties", {}) if name != "_meta")
    for keyword in ("anyOf", "oneOf"):
        for branch in schema.get(keyword, ()):
            if is_object(branch):
                yield fingerprint(branch)


# --- texts -----------------------------------------------------------------------------------------------------------


def write_summary(outcome: Report) -> str:
    """Summarize the report in one line."""
    if not outcome.files:
        return f"{outcome.protocol} has the facts of {outcome.source} already."
    words: Mapping[Kind, str] = {
        "added": "added",
        "changed": "changed",
        "removed": "removed",
        "conflict": "in conflict",
    }
    counts = [f"{len(outcome.select(kind))} {word}" for kind, word in words.items() if outcome.select(kind)]
    change_summary = ", ".join(counts) if counts else "no facts of ours change"
    return f"{outcome.protocol} from {outcome.source}: {change_summary}; {len(outcome.select('different'))} kept different."


def write_lines(outcome: Report) -> Iterator[str]:
    """Yield the lines of the report: the changes by definition, then the tasks for the user."""
    yield make_printable(write_summary(outcome))
    changes = outcome.select("added", "changed", "removed")
    for name in dict.fromkeys(entry.definition for entry in changes):
        yield ""
        yield make_printable(name)
        for entry in changes:
            if entry.definition == name:
                yield make_printable(f"  {entry.kind:<8} {entry.at}{': ' if entry.what else ''}{entry.what}")
    if outcome.tasks:
        yield ""
        yield "Needs a person"
        yield from (make_printable(f"  {task}") for task in outcome.tasks)


def write_markdown(outcome: Report) -> str:
    """Format the report as Markdown for a review, including what is kept different and the conventions."""
    lines = [f"# Adopted: {write_code(make_printable(outcome.protocol))}", "", escape_line(write_summary(outcome)), ""]
    if outcome.tasks:
        lines += ["## Needs a person", "", *(f"- {escape_line(task)}" for task in outcome.tasks), ""]
    for kind, heading in HEADINGS.items():
        entries = outcome.select(kind)
        if entries:
            lines += [f"## {heading}", ""]
            for name in dict.fromkeys(entry.definition for entry in entries):
                lines.append(f"- {write_code(make_printable(name))}")
                for entry in entries:
                    if entry.definition == name:
                        lines.append(
                            f"  - {write_code(make_printable(entry.at))}{': ' if entry.what else ''}{escape_line(entry.what)}"
                        )
            lines.append("")
    if outcome.conventions:
        lines += ["## Conventions", "", "Written otherwise here wherever they stand, and in what was added too.", ""]
        lines += [*(f"- {escape_line(line)}" for line in outcome.conventions), ""]
    if outcome.files:
        lines += ["## Files", "", *(f"- {write_code(make_printable(path))}" for path in outcome.files), ""]
    return "\n".join(lines)


def _describe_times(count: int) -> str:
    return "once" if count == 1 else f"{count} times"
