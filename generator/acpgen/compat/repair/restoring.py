"""Edits that take a change back: what the old side says stands again, as little of it as does."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from acpgen.compat.repair.attempts import Candidate, FileEdit
from acpgen.compat.repair.case import Case, between, complete
from acpgen.compat.repair.ground import At
from acpgen.pointers import plain_pointer
from acpgen.schema.numbers import dumps
from acpgen.schema.walk import is_array, is_object

_FEW: Final = 3
"""As many edits are told one by one."""


def take_back(case: Case) -> Iterator[Candidate]:
    """What the old side says: at the place of the finding, in its definition, then in all definitions that this one leads to."""
    near = [part for part in case.atoms if _is_near(case, part)]
    words = _WORDS.get(case.finding.rule, ())
    here = [part for part in near if _is_word(case, part, words)]
    for parts in (here, near, case.atoms, _around(case)):
        if parts:
            whole = complete(case.ground, parts)
            yield Candidate(described(whole), keeps=False, parts=whole, divisible=True)


_TYPES: Final = ("type", "anyOf", "oneOf", "allOf", "enum", "const", "$ref", "not", "items", "nullable")
_OPEN: Final = ("additionalProperties", "unevaluatedProperties", "patternProperties", "propertyNames")
_LIMITS: Final = (
    *("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf", "minLength", "maxLength", "pattern"),
    *("minItems", "maxItems", "uniqueItems", "minProperties", "maxProperties", "format", "contentEncoding"),
)
_WORDS: Final[Mapping[str, tuple[str, ...]]] = {
    **dict.fromkeys(("null-allowed", "null-forbidden", "type-changed", "type-narrowed", "type-widened"), _TYPES),
    **dict.fromkeys(("limit-changed", "limit-loosened", "limit-tightened"), (*_TYPES, *_LIMITS)),
    **dict.fromkeys(("gate-added", "gate-removed", "gate-moved"), ("x-capability",)),
    **dict.fromkeys(("object-closed", "object-opened"), _OPEN),
    "default-changed": ("default",),
    "format-changed": ("format",),
    "demand-changed": ("x-required-with",),
    "field-became-optional": ("required",),
    "null-meaning-changed": ("x-null",),
    "null-result-withdrawn": ("x-null",),
    "tolerance-withdrawn": ("x-unknown",),
}
"""Keywords that may be the cause of what a rule finds; they are tried first, alone."""


def _is_word(case: Case, part: FileEdit, words: tuple[str, ...]) -> bool:
    """Whether an edit is about one of the keywords at the very place of the finding, or in the list that they hold."""
    anchor, keys = case.anchor, part.edit.at
    if anchor is None:
        return False
    if words == ("required",):
        return keys[: len(anchor.keys) - 1] == (*anchor.keys[:-2], "required")
    return keys[: len(anchor.keys)] == anchor.keys and keys[len(anchor.keys) : len(anchor.keys) + 1] in {
        (w,) for w in words
    }


def _is_near(case: Case, part: FileEdit) -> bool:
    """Whether an edit is made at, below or around the place of the finding, or names its field."""
    anchor = case.anchor
    if anchor is None or anchor.path != part.path:
        return False
    keys = part.edit.at
    if keys[: len(anchor.keys)] == anchor.keys or anchor.keys[: len(keys)] == keys:
        return True
    if case.member is None or not anchor.keys or anchor.keys[-1] != case.member:
        return False
    base = anchor.keys[:-2]
    return keys[: len(base) + 1] == (*base, "required") and case.member in _named(case, part)


def _named(case: Case, part: FileEdit) -> list[Any]:
    """The fields that an edit of `required` is about."""
    value: Any = case.value(At(part.path, part.edit.at)) if part.edit.op == "remove" else part.edit.value
    return value if is_array(value) else [value]


def _around(case: Case) -> list[FileEdit]:
    """The edits of all definitions that the one of the finding leads to, on either side."""
    ground = case.ground
    found: dict[tuple[str, str], FileEdit] = {}
    if case.old_definition is None or case.new_definition is None:
        return []
    both = [name for name in ground.before if name in ground.after]
    names = ground.reached(case.new_definition[0], ground.new) if case.new_definition[0] else both
    names += [name for name in ground.reached(case.old_definition[0], ground.old) if name not in names]
    names += [name for name in both if name not in names and _is_of(case, name)]
    for name in names:
        for part in between(ground, ground.before[name], ground.after[name]):
            found[part.identity] = part
    for part in case.atoms:
        found[part.identity] = part
    return list(found.values())


def _is_of(case: Case, name: str) -> bool:
    """Whether a definition is a message of the method of the finding."""
    value = case.value(case.ground.after[name])
    return is_object(value) and case.finding.method is not None and value.get("x-method") == case.finding.method


def described(parts: tuple[FileEdit, ...]) -> str:
    """What edits that take something back do, in words."""
    if len(parts) > _FEW:
        files = len({part.path for part in parts})
        where = f" in {files} files" if files > 1 else ""
        return f"Revert the change: {len(parts)} places get their old text{where}."
    told = [_told(part) for part in parts]
    return f"Revert the change: {', '.join(told)}."


def _told(part: FileEdit) -> str:
    edit = part.edit
    last = edit.at[-1] if edit.at else ""
    name = repr(last) if isinstance(last, str) else f"item {last}"
    where = f" at {plain_pointer(*edit.at[:-1])}" if len(edit.at) > 1 else ""
    if edit.op == "remove":
        return f"remove {name}{where}"
    text = dumps(edit.value, ensure_ascii=False)
    if is_object(edit.value) or len(text) > 60:
        return f"restore {name}{where}"
    return f"{'put back' if edit.op == 'add' else 'set'} {name}{where}: {text}"
