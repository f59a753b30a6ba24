"""The three-way merge: apply upstream's changes since the last adoption to our schema; what we wrote stays.

The base is upstream as last adopted, ours is our annotated schema, theirs is upstream now. Fields are matched by name, branches of a
union by `key_branches`. Where all three differ, ours stays and a conflict is recorded.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, TypeVar

from acpgen.adopt.facts import (
    LENIENCY,
    UNIONS,
    Conventions,
    Key,
    Parts,
    extract_facts,
    find_union_keyword,
    fingerprint,
    key_branches,
    key_subschemas,
    state_the_same,
    unwrap_reference,
)
from acpgen.adopt.placeholders import add_placeholders, add_with_placeholder, remove_placeholders
from acpgen.input.equality import index_by_key
from acpgen.input.numbers import dumps, loads
from acpgen.input.schema_nodes import Schemas
from acpgen.input.tagged_unions import Tags, find_constant, read_excluded_tags
from acpgen.input.walk import LISTS, MAPS, SINGLE, Schema, is_object

_Name = TypeVar("_Name", bound="str | Key")

_TYPE: Final = ("type", "$ref", "const", "enum", "format", "contentEncoding")
"""Keywords that together define the type of a value: a change of one is a change of all."""


@dataclass(frozen=True, slots=True)
class Conflict:
    """A location that both upstream and we changed, in different ways. `None` means absent.

    With `extends`, the location is in the folder of this path, which ours extends and cannot change.
    """

    at: Parts
    base: Any
    ours: Any
    theirs: Any
    extends: str = ""


@dataclass(slots=True)
class Merge:
    """One merge: our conventions, the definitions, and the conflicts so far."""

    conventions: Conventions
    definitions: Mapping[str, Schema] = field(repr=False)
    conflicts: list[Conflict] = field(default_factory=list[Conflict])

    def merge_schema(self, base: Any, ours: Any, theirs: Any, at: Parts) -> Any:
        """Our schema with the changes from `base` to `theirs`. If `base` is `None`, both added it, and ours stays."""
        if base is None:
            if not state_the_same(self.conventions.adapt_schema(theirs), ours):
                self.conflicts.append(Conflict(at, None, extract_facts(ours), theirs))
            return ours
        if state_the_same(base, theirs) or state_the_same(ours, theirs):
            return ours
        if not is_object(base) or not is_object(ours) or not is_object(theirs):
            return self._choose(base, ours, theirs, at)
        plain = unwrap_reference(ours)
        if plain is not ours:
            merged = self.merge_schema(base, plain, theirs, at)
            return _wrap_reference(merged, unwrap_reference(ours["allOf"][0]))
        result: Schema = {}
        if all(find_union_keyword(side) is not None for side in (base, ours, theirs)):
            result |= self._merge_union(base, ours, theirs, at)
        type_keywords = (*_TYPE, *(() if result else UNIONS))
        everything = [*base, *ours, *theirs]
        result |= self._merge_together([key for key in type_keywords if key in everything], base, ours, theirs, at)
        lenient = list(dict.fromkeys(key for key in everything if key.startswith(LENIENCY)))
        result |= self._merge_together(lenient, base, ours, theirs, at)
        for keyword in dict.fromkeys(everything):
            if keyword not in (*_TYPE, *UNIONS, *lenient, *result):
                result |= self._merge_keyword(keyword, base, ours, theirs, at)
        if result.get("examples") == []:
            del result["examples"]
        return {key: result[key] for key in _order_keywords(ours, theirs) if key in result}

    def merge_members(
        self, base: Mapping[_Name, Any], ours: Mapping[_Name, Any], theirs: Mapping[_Name, Any], at: Parts
    ) -> dict[_Name, Any]:
        """Merge fields by name or branches by key, one by one. `at` is the location that contains them."""
        result: dict[_Name, Any] = {}
        for name in merge_order(list(base), list(ours), list(theirs)):
            if name in ours and name in theirs:
                result[name] = self.merge_schema(base.get(name), ours[name], theirs[name], (*at, name))
            elif name in ours and (name not in base or self.is_kept(name, base[name], ours[name], (*at, name))):
                result[name] = ours[name]
            elif name in theirs and name not in base:
                result[name] = add_with_placeholder(name, theirs[name], self.conventions)
            elif name in theirs and name not in ours and not state_the_same(base[name], theirs[name]):
                self.conflicts.append(Conflict((*at, name), base[name], None, theirs[name]))
        return result

    def is_kept(self, name: str | Key, base: Any, ours: Any, at: Parts) -> bool:
        """Whether to keep something that upstream removed, because ours differs from upstream's; if so, record a conflict."""
        by_convention = (
            self.conventions.adapt_field(name, base) if isinstance(name, str) else self.conventions.adapt_schema(base)
        )
        if state_the_same(ours, base) or state_the_same(ours, by_convention):
            return False
        self.conflicts.append(Conflict(at, base, extract_facts(ours), None))
        return True

    # --- keywords ---

    def _merge_keyword(self, keyword: str, base: Schema, ours: Schema, theirs: Schema, at: Parts) -> Schema:
        """Merge one keyword: the keyword with its value, or nothing."""
        location = (*at, keyword)
        if keyword in MAPS:
            maps: list[dict[str, Any]] = [side.get(keyword, {}) for side in (base, ours, theirs)]
            members = self.merge_members(maps[0], maps[1], maps[2], location)
            return {keyword: members} if members or keyword in ours else {}
        if keyword == "required":
            required = _merge_names(base.get(keyword, ()), ours.get(keyword, ()), theirs.get(keyword, ()))
            return {keyword: required} if required else {}
        if keyword in SINGLE and keyword in ours and keyword in theirs:
            subschema = self.merge_schema(base.get(keyword), ours[keyword], theirs[keyword], location)
            return {keyword: remove_placeholders(subschema) if keyword == "not" else subschema}
        if keyword not in theirs and keyword not in base:
            return {keyword: ours[keyword]}
        return self._merge_together([keyword], base, ours, theirs, location)

    def _merge_together(self, keywords: Sequence[str], base: Schema, ours: Schema, theirs: Schema, at: Parts) -> Schema:
        """Merge keywords that form one fact: all as ours, or all as upstream's now."""
        base_facts, our_facts, their_facts = (
            {key: value for key, value in side.items() if key in keywords}
            for side in (base, extract_facts(ours), theirs)
        )
        decorated = {key: ours[key] for key in keywords if key in ours}
        if state_the_same(base_facts, their_facts) or state_the_same(our_facts, their_facts):
            return decorated
        if state_the_same(base_facts, our_facts):
            upstream_facts: Schema = add_placeholders(their_facts, self.conventions)
            lists = [key for key in LISTS if all(key in side for side in (base_facts, our_facts, their_facts))]
            return upstream_facts | {key: self._merge_list(key, base, ours, theirs, at) for key in lists}
        self.conflicts.append(Conflict(at, _simplify(base_facts), _simplify(our_facts), _simplify(their_facts)))
        return decorated

    def _merge_list(self, keyword: str, base: Schema, ours: Schema, theirs: Schema, at: Parts) -> list[Any]:
        """Upstream's list of subschemas, with our words in those that we have; ours states the same facts as `base`."""
        base_items, our_items, their_items = (key_subschemas(keyword, side[keyword]) for side in (base, ours, theirs))
        return [
            self.merge_schema(base_items[key], our_items[key], subschema, (*at, key))
            if key in base_items and key in our_items
            else add_placeholders(subschema, self.conventions)
            for key, subschema in their_items.items()
        ]

    def _choose(self, base: Any, ours: Any, theirs: Any, at: Parts) -> Any:
        if state_the_same(base, ours):
            return add_placeholders(theirs, self.conventions)
        self.conflicts.append(Conflict(at, base, extract_facts(ours), theirs))
        return ours

    # --- unions ---

    def _merge_union(self, base: Schema, ours: Schema, theirs: Schema, at: Parts) -> Schema:
        """Merge the union of a schema, under its current keyword, with the examples that it still admits."""
        keywords = [find_union_keyword(side) or "" for side in (base, ours, theirs)]
        sides = [
            key_branches(side.get(keyword, ())) for side, keyword in zip((base, ours, theirs), keywords, strict=True)
        ]
        keyword = keywords[2] if keywords[0] == keywords[1] else keywords[1]
        after = self.merge_members(sides[0], sides[1], sides[2], (*at, keyword))
        self._exclude_known(sides[1], sides[2], after)
        result: Schema = {keyword: list(after.values())}
        removed_keys = [key for key in sides[1] if key not in after]
        if removed_keys and "examples" in ours:
            examples = [
                example for example in ours["examples"] if not any(_is_example_of(example, key) for key in removed_keys)
            ]
            result["examples"] = examples
        return result

    def _exclude_known(self, before: Mapping[Key, Any], theirs: Mapping[Key, Any], after: dict[Key, Any]) -> None:
        """Update the `not` of a branch that excludes all known tags in ours and has no `not` upstream."""
        for key, branch in after.items():
            old, new = before.get(key), theirs.get(key)
            if is_object(new) and "not" in new:
                continue
            exclusions = read_excluded_tags(old.get("not")) if is_object(old) else None
            if not exclusions or len(exclusions) != 1 or not is_object(branch):
                continue
            ((tag, values),) = exclusions.items()
            tags_before = self._list_tags(tag, (sibling for name, sibling in before.items() if name != key))
            if tags_before.keys() != values.keys():
                continue
            now = self._list_tags(tag, (sibling for name, sibling in after.items() if name != key))
            if now.keys() == values.keys():
                continue
            after[key] = {name: value for name, value in branch.items() if name != "not"}
            if now:
                after[key] = {**branch, "not": _exclude_tags(branch["not"], tag, [*now.values()])}

    def _list_tags(self, tag: str, branches: Iterable[Any]) -> Tags:
        """The constants that branches give to a tag."""
        tags: list[Any] = []
        for branch in branches:
            if is_object(branch):
                shape = Schemas(self.definitions).make_node(branch).shape
                values = (property_.constant for property_ in shape.properties.get(tag, ()))
                tags.extend([value for value in values if value is not None][:1])
        return index_by_key(tags)


# --- order -----------------------------------------------------------------------------------------------------------


def merge_order(base: Sequence[_Name], ours: Sequence[_Name], theirs: Sequence[_Name]) -> list[_Name]:
    """Merge three lists of names. Ours keep their order unless upstream changed its own; a name missing from one list follows its
    neighbour.
    """
    common_names = {*ours} & {*theirs}
    is_reordered = [name for name in base if name in common_names] != [
        name for name in theirs if name in common_names and name in base
    ]
    leading, following = (theirs, ours) if is_reordered else (ours, theirs)
    result = list(leading)
    for side in (following, base):
        for index, name in enumerate(side):
            if name not in result:
                result.insert(_find_position(side, index, result), name)
    return result


def _wrap_reference(schema: Any, part: Schema) -> Any:
    """A schema with its reference written as the `allOf` of a single part, as `ours` has it."""
    if not is_object(schema) or "$ref" not in schema or "allOf" in schema:
        return schema
    return {
        ("allOf" if key == "$ref" else key): [{**part, "$ref": value}] if key == "$ref" else value
        for key, value in schema.items()
    }


def _order_keywords(ours: Schema, theirs: Schema) -> list[str]:
    """The keywords of both: ours in order, and upstream's additional annotations after all but the examples."""
    annotations = [key for key in theirs if key.startswith("x-") and key not in ours]
    result = merge_order((), list(ours), [key for key in theirs if key not in annotations])
    end = result.index("examples") if "examples" in result else len(result)
    return [*result[:end], *annotations, *result[end:]]


def _find_position(side: Sequence[_Name], index: int, result: Sequence[_Name]) -> int:
    """The position for a name: after the nearest one before it, else before the nearest one after it, else at the end."""
    for name in reversed(side[:index]):
        if name in result:
            return result.index(name) + 1
    for name in side[index + 1 :]:
        if name in result:
            return result.index(name)
    return len(result)


def _merge_names(base: Collection[str], ours: Sequence[str], theirs: Sequence[str]) -> list[str]:
    """Merge unordered names: ours, without those that upstream removed, and with those that it added."""
    names = [name for name in merge_order((), ours, theirs) if name in ours or name in theirs]
    return [name for name in names if (name in ours or name not in base) and (name in theirs or name not in base)]


# --- tags ------------------------------------------------------------------------------------------------------------


def _is_example_of(example: Any, key: Key) -> bool:
    """Whether an example belongs to the branch with this key."""
    match key:
        case ("const", value):
            return fingerprint(example) == fingerprint(loads(value))
        case ("tag", name, value):
            return is_object(example) and dumps(example.get(name)) == value
        case _:
            return False


def _exclude_tags(negated: Schema, tag: str, tags: Sequence[Any]) -> Schema:
    """A `not` that excludes exactly these tags, in its existing notation."""
    entries: list[Schema] = negated.get("anyOf", [negated])
    if len(entries) == 1 and len(entries[0]["properties"][tag].get("enum", ())) > 1:
        return _set_tag(entries[0], tag, {"enum": list(tags)})
    present = {find_constant(entry["properties"][tag]): entry for entry in entries}
    rows = [present[value] if value in present else _set_tag(entries[0], tag, {"const": value}) for value in tags]
    return rows[0] if len(rows) == 1 and "anyOf" not in negated else {**_keep_description(negated), "anyOf": rows}


def _set_tag(entry: Schema, tag: str, values: Schema) -> Schema:
    annotations = {key: value for key, value in entry["properties"][tag].items() if key not in ("const", "enum")}
    return {**entry, "properties": {tag: {**annotations, **values}}}


def _keep_description(negated: Schema) -> Schema:
    return {"description": negated["description"]} if "description" in negated else {}


def _simplify(keywords: Schema) -> Any:
    """The facts of some keywords for a report: `None` for none, only the value for one."""
    return (next(iter(keywords.values())) if len(keywords) == 1 else keywords) if keywords else None
