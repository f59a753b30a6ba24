"""Rules of the dialect itself: violations of the meta-schema in `schema/dialect.json`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias, get_args

from acpgen.bundle.faults import MISSPELT_KEYWORD, UNKNOWN_KEYWORD
from acpgen.errors import Fault, show, suggest_name
from acpgen.input.dialect import check_values, find_sides, read_keywords, read_meta_schema
from acpgen.input.drafts import MODERN, find_draft
from acpgen.input.error_paths import Paths
from acpgen.input.faults import UNKNOWN_SIDE
from acpgen.input.load import FORMATS, check, describe_refusal
from acpgen.input.numbers import with_decimals
from acpgen.lint.subject import Remark, Subject, make_remark
from acpgen.pointers import write_pointer

if TYPE_CHECKING:
    import jsonschema_rs

Kind: TypeAlias = Literal["malformed", "unknown", "misplaced", "wrong"]

_NOT_KEYWORDS: Final = (MISSPELT_KEYWORD, UNKNOWN_KEYWORD)

_GRAVEST: Final[tuple[Kind, ...]] = get_args(Kind)
"""The kinds of faults in order of severity: of several faults at one location, only the first kind is reported."""


def schema_malformed(subject: Subject) -> Iterable[Remark]:
    """A file breaks its draft of JSON Schema: a keyword has a value of the wrong form. No other rule is asked before it is mended."""
    return _select_remarks(subject, "malformed")


def keyword_unknown(subject: Subject) -> Iterable[Remark]:
    """A keyword begins with `x-` and is not one of the dialect: it would be ignored in silence."""
    return _select_remarks(subject, "unknown")


def keyword_misplaced(subject: Subject) -> Iterable[Remark]:
    """A keyword of the dialect stands where it means nothing, such as `x-method` on a field."""
    return _select_remarks(subject, "misplaced")


def keyword_wrong(subject: Subject) -> Iterable[Remark]:
    """A keyword of the dialect has a value that it does not know, or lacks a keyword that it goes together with."""
    yield from _select_remarks(subject, "wrong")
    sides = find_sides(document.value for document in subject.documents)
    for node in subject.nodes:
        for fault in check_values(node.schema, node.at, sides):
            if fault.kind == UNKNOWN_SIDE:
                yield Remark(f"{node.at}/{fault.values['keyword']}", fault.join_text())


def keyword_meaningless(subject: Subject) -> Iterable[Remark]:
    """A keyword means nothing where it stands: the file's draft does not know it, `$ref` hides it, or nothing reads it."""
    if subject.bundle is None:
        return
    notes = (note for note in subject.bundle.notes if not _is_extension(note))
    yield from (make_remark(note) for note in notes)
    yield from (Remark(at, sentence) for at, sentence in subject.bundle.describe_unread())


def _is_extension(note: Fault) -> bool:
    return note.kind in _NOT_KEYWORDS and str(note.values["keyword"]).startswith("x-")


@dataclass(frozen=True, slots=True)
class _Verdict:
    kind: Kind
    remark: Remark


def _select_remarks(subject: Subject, kind: Kind) -> Iterator[Remark]:
    return (judged.remark for judged in _judge(subject) if judged.kind == kind)


@lru_cache(maxsize=1)
def _judge(subject: Subject) -> tuple[_Verdict, ...]:
    validator = _make_validator()
    values, verdicts = subject.found.values_by_uri, dict[str, _Verdict]()
    for document in subject.documents:
        if isinstance(document.value, bool) and len(subject.documents) == 1:
            continue
        if not isinstance(document.value, dict):
            at = f"{document.path}#"
            verdicts[at] = _Verdict(
                "malformed", Remark(at, "A schema file must hold one JSON object. Put the schema in '{ … }'.")
            )
            continue
        draft = find_draft(document.value, values)
        if draft is not MODERN:  # the meta-schema of the dialect is one of 2020-12
            for fault in check(document.value, document.path, values, patterns=True):
                verdicts[fault.at] = _Verdict("malformed", make_remark(fault))
        paths = Paths(document.value)
        for error in validator.iter_errors(with_decimals(document.value)):
            kind, sentence = _classify(error)
            if kind == "malformed" and draft is not MODERN:
                continue
            at = document.path + write_pointer(*paths.locate(error))
            if at not in verdicts or _GRAVEST.index(kind) < _GRAVEST.index(verdicts[at].kind):
                verdicts[at] = _Verdict(kind, Remark(at, sentence))
    return tuple(verdicts.values())


@cache
def _make_validator() -> jsonschema_rs.Draft202012Validator:
    import jsonschema_rs  # the command starts without it

    return jsonschema_rs.Draft202012Validator(
        dict(read_meta_schema()), mask="it", validate_formats=True, formats=FORMATS
    )


def _classify(error: jsonschema_rs.ValidationError) -> tuple[Kind, str]:
    rule = [str(part) for part in error.schema_path]
    key = str(error.instance_path[-1]) if error.instance_path else ""
    forbidden = "patternProperties" in rule and key.startswith("x-")
    if forbidden and key not in read_keywords():
        hint = suggest_name(key, read_keywords())
        return "unknown", f"{show(key)} is not a keyword of the dialect. {hint} Correct or remove it."
    if forbidden:
        return "misplaced", f"'{key}' has no meaning here. Remove it, or move it to its place. {read_keywords()[key]}"
    if key in read_keywords() and rule[:2] == ["properties", key]:  # else it is the name of a property
        return "wrong", f"'{key}' is refused: {error.message}. {read_keywords()[key]}"
    if rule[0] == "dependentRequired":
        missing: Any = error.kind.value
        return "wrong", f"'{missing}' is missing; a keyword here requires it. Add it."
    if rule[0] == "dependentSchemas":
        return "wrong", f"'{rule[1]}' does not fit the keywords beside it. {read_keywords().get(rule[1], '')}".rstrip()
    if rule[:1] == ["allOf"] and "then" in rule and "document" not in rule:
        return "wrong", "'format: absolute-path' must be used with 'type: string' and without 'pattern'. Correct it."
    return "malformed", f"JSON Schema 2020-12 refuses this value: {describe_refusal(error)}. Correct it."
