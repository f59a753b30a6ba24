"""The verdicts on releases: what each one that is kept changes for peers of the one before it, and the names that it has.

They follow from releases alone and never change, so they are data beside them, in `releases/<protocol>/verdicts.json`: whoever has the
data reads and compares no release. A verdict holds for the bytes of two releases and for one version of the rules; any other is made anew.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

from acpgen.adopt import layout
from acpgen.compat.findings import SEVERITIES, Reach, Severity
from acpgen.compat.rules import VERSION
from acpgen.config.docs_inputs import RELEASES, VERDICTS, Files, Release, Releases, parsed
from acpgen.config.faults import BAD_MATERIAL
from acpgen.errors import Faults
from acpgen.files import Change, Tree, is_behind_link
from acpgen.input.faults import LINK_REFUSED
from acpgen.input.load import decode, parse_json, place
from acpgen.input.walk import is_object
from acpgen.pointers import place_parts, pointer
from acpgen.publish.release_contents import ReleaseContents, TypeContents, summarize_release

FEW: Final = 6
"""As many places, types or methods are named of a change that has more. How many more is not said: a number that grows with each
addition would be wrong where two of them are merged."""

_TEXT: Final = {"type": "string"}
_DIGEST: Final = {"type": "string", "pattern": "^[0-9a-f]{64}$"}
_TEXTS: Final = {"type": "array", "items": _TEXT}
_SEVERITY: Final = {"enum": [*SEVERITIES]}
_REFERENCE: Final = {"type": ["string", "null"]}
_METHODS: Final = {
    "additionalProperties": {
        "anyOf": [{"type": "array", "items": _REFERENCE, "minItems": 2, "maxItems": 2}, {"type": "null"}]
    }
}
_TYPE: Final = {
    "type": ["object", "null"],
    "properties": {
        "kind": {"enum": ["field", "variant", "value"]},
        "named": {"const": True},
        "members": _TEXTS,
        "fields": {"type": "object", "additionalProperties": _TEXTS},
    },
    "additionalProperties": False,
}
_CHANGE: Final = {
    "type": "object",
    "properties": {
        "severity": _SEVERITY,
        "rule": {"type": "string", "pattern": "^[a-z]+(-[a-z]+)*$"},
        "message": _TEXT,
        "methods": _TEXTS,
        "places": _TEXTS,
        "types": _TEXTS,
    },
    "required": ["severity", "rule", "message"],
    "additionalProperties": False,
}
_FORM: Final[Mapping[str, Any]] = {
    "type": "object",
    "properties": {
        "rules": {"type": "integer"},
        "releases": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {
                    "version": _TEXT,
                    "sha256": _DIGEST,
                    "after": _DIGEST,
                    "failure": _TEXT,
                    "severities": {"type": "array", "items": _SEVERITY},
                    "changes": {"type": "array", "items": _CHANGE},
                    "request": {"type": "object", **_METHODS},
                    "notification": {"type": "object", **_METHODS},
                    "types": {"type": "object", "additionalProperties": _TYPE},
                },
                "required": ["version", "sha256"],
                "additionalProperties": False,
            },
        },
    },
    "required": ["rules", "releases"],
    "additionalProperties": False,
}

_REMEDY: Final = "Restore the file, or delete it and run acpgen generate"


@dataclass(frozen=True, slots=True)
class ChangelogEntry:
    """One rule's findings with the same words: the methods, the places in messages and the types in which they stand, one more than are
    named where there are more.
    """

    severity: Severity
    rule: str
    message: str
    methods: tuple[str, ...] = ()
    places: tuple[str, ...] = ()
    types: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ChangelogStep:
    """What a revision changes for peers of the one before it: the severities of all findings, and the changes that a message shows,
    worst first. `failure` says why the two cannot be compared.
    """

    severities: tuple[Severity, ...] = ()
    changes: tuple[ChangelogEntry, ...] = ()
    failure: str = ""


@dataclass(frozen=True, slots=True)
class ReleaseVerdict:
    """What is known of a release: a hash of its bytes, its outline, and the step from the release before it."""

    digest: str
    contents: ReleaseContents
    step: ChangelogStep


def summarize(findings: Iterable[Reach], *, is_joined: bool = True) -> ChangelogStep:
    """Summarize findings as a step: those with the same words together, or only those that are also of one place."""
    groups: dict[tuple[Severity, str, str, str], list[Reach]] = {}
    severities: set[Severity] = set()
    for each in findings:
        severities.add(each.severity)
        if each.severity != "editorial":
            place = "" if is_joined else each.new_at or each.old_at
            groups.setdefault((each.severity, each.rule, each.message, place), []).append(each)
    changes = [ChangelogEntry(*key[:3], *_places(group)) for key, group in groups.items()]
    return ChangelogStep(
        tuple(each for each in SEVERITIES if each in severities),
        tuple(sorted(changes, key=lambda change: SEVERITIES.index(change.severity))),
    )


def _places(findings: Sequence[Reach]) -> Iterator[tuple[str, ...]]:
    """The methods, the places in messages and the types of findings, each once, and one more than are named."""
    methods = (each.method or "" for each in findings)
    places = (each.location for each in findings)
    types = (_type(each.new_at) or _type(each.old_at) for each in findings)
    for names in (methods, places, types):
        yield tuple(dict.fromkeys(filter(None, names)))[: FEW + 1]


def _type(at: str) -> str:
    """The definition in which a place lies; empty where it lies in none."""
    parts = place_parts(at)
    return parts[1] if len(parts) > 1 and parts[0] in ("$defs", "definitions") else ""


# --- completing ------------------------------------------------------------------------------------------------------


def evaluate(releases: Releases, recomputed: int | None = None) -> tuple[ReleaseVerdict, ...]:
    """Read the verdicts on releases, oldest first, and compute those that are not known, and the one of the number `recomputed`.

    Raises `Faults`.
    """
    known = _read(releases)
    sides = _Sides(releases.releases)
    verdicts: list[ReleaseVerdict] = []
    for number, release in enumerate(releases.releases):
        digest = _digest(release)
        verdict = known.get((verdicts[-1].digest if verdicts else "", digest)) if number != recomputed else None
        if verdict is None:
            verdict = ReleaseVerdict(digest, summarize_release(sides[number].meaning), _compare(sides, number))
        verdicts.append(verdict)
    return tuple(verdicts)


def complete(files: Files, seed: bytes = b"") -> Files:
    """Add the verdicts that are missing to the material. With a seed, compute one of the others, too. Raises `Faults`."""
    releases = parsed(files).releases
    recomputed: tuple[str, int] | None = None
    if seed:
        pairs = [(name, number) for name, each in releases.items() for number in range(1, len(each.releases))]
        recomputed = pairs[int.from_bytes(hashlib.sha256(seed).digest()) % len(pairs)] if pairs else None
    texts = dict(files.files)
    for name, each in releases.items():
        if each.releases:
            verdicts = evaluate(each, recomputed[1] if recomputed is not None and recomputed[0] == name else None)
            texts[f"{RELEASES}/{name}/{VERDICTS}"] = _serialize(each.releases, verdicts).encode()
    return replace(files, files=tuple(sorted(texts.items())))


def plan_updates(schema: Path, materials: Iterable[tuple[Files, Files]]) -> tuple[tuple[Tree, Change], ...]:
    """Plan the writing of the files that differ between material before and after. Raises `Faults`."""
    texts: dict[str, str] = {}
    for before, after in materials:
        known = dict(before.files)
        texts |= {path: content.decode() for path, content in after.files if known.get(path) != content}
    planned: list[tuple[Tree, Change]] = []
    for path, text in texts.items():
        file = schema / path
        if is_behind_link(schema, path):
            raise Faults([LINK_REFUSED(at=place(file.parent))])
        if file.exists() and not file.is_file():
            reason, remedy = "this is not a file", "Remove it and run acpgen generate"
            raise Faults([BAD_MATERIAL(at=place(file), reason=reason, remedy=remedy)])
        change = Change(file.parent, written=(file.name,), unchanged=(), removed=(), strays=(), shared=True)
        planned.append((Tree(file.parent, {file.name: text}, shared=True), change))
    return tuple(planned)


class _Sides:
    """Releases as sides of comparisons, each read when it is asked for."""

    def __init__(self, releases: Sequence[Release]) -> None:
        self._releases = releases
        self._read: dict[int, Any] = {}

    def __getitem__(self, number: int) -> Any:
        from acpgen.compat.compare import side
        from acpgen.compat.sources import open_input

        if number not in self._read:
            self._read[number] = side(open_input(self._releases[number].documents), unstable=False)
        return self._read[number]


def _compare(sides: _Sides, number: int) -> ChangelogStep:
    """What a release changes for peers of the one before it."""
    from acpgen.compat.compare import check_sides

    if not number:
        return ChangelogStep()
    old, new = sides[number - 1], sides[number]
    try:
        return summarize(check_sides(old, new).reaches)
    except Faults as caught:
        return ChangelogStep(failure=" ".join(dict.fromkeys(map(str, caught.faults))))


def _digest(release: Release) -> str:
    return hashlib.sha256(release.content).hexdigest()


# --- reading ---------------------------------------------------------------------------------------------------------


def _read(releases: Releases) -> Mapping[tuple[str, str], ReleaseVerdict]:
    """The verdicts that are kept and hold for the rules of today, by the hashes of both releases. Raises `Faults`."""
    if releases.verdicts is None:
        return {}
    at, content = releases.verdicts
    value: Any = parse_json(decode(content, at), at)
    if is_object(value) and type(value.get("rules")) is int and value["rules"] != VERSION:
        return {}
    _require_form(value, at)
    types: dict[str, Any] = {}
    methods: dict[tuple[str, str], Any] = {}
    found: dict[tuple[str, str], ReleaseVerdict] = {}
    before = ""
    rows: list[dict[str, Any]] = value["releases"]
    for row in rows:
        if row.get("after", "") != before:
            break  # a row says what differs from the one before it: behind a gap, nothing is known
        types = _apply(types, row.get("types", {}))
        changes = {(name, kind): types_ for kind in _KINDS for name, types_ in row.get(kind, {}).items()}
        methods = _apply(methods, changes)
        step_ = ChangelogStep(
            tuple(row.get("severities", ())),
            tuple(
                ChangelogEntry(
                    each["severity"],
                    each["rule"],
                    each["message"],
                    *(tuple(each.get(key, ())) for key in ("methods", "places", "types")),
                )
                for each in row.get("changes", ())
            ),
            row.get("failure", ""),
        )
        found[before, row["sha256"]] = ReleaseVerdict(row["sha256"], _outline(types, methods), step_)
        before = row["sha256"]
    return found


def _require_form(value: Any, at: str) -> None:
    """Refuse what is no file of verdicts. Raises `Faults`."""
    from acpgen.input.schema_validator import Validator

    error = next(Validator(_FORM).errors(value), None)
    if error is not None:
        where = pointer(*map(str, error.instance_path))
        reason = f"no such value can stand in a file of verdicts: {error.message[:200]}"
        raise Faults([BAD_MATERIAL(at=f"{at}{where}", reason=reason, remedy=_REMEDY)])


def _apply(before: Mapping[Any, Any], changes: Mapping[Any, Any]) -> dict[Any, Any]:
    """Apply changes, in which `null` removes a key."""
    return {key: value for key, value in {**before, **changes}.items() if value is not None}


def _outline(types: Mapping[str, Any], methods: Mapping[tuple[str, str], Any]) -> ReleaseContents:
    return ReleaseContents(
        {
            name: TypeContents(
                each.get("kind"),
                frozenset(each.get("members", ())),
                {tag: frozenset(names) for tag, names in each.get("fields", {}).items()},
            )
            for name, each in types.items()
        },
        {key: (each[0], each[1]) for key, each in methods.items()},
        frozenset(name for name, each in types.items() if "named" in each),
    )


# --- writing ---------------------------------------------------------------------------------------------------------

_KINDS: Final = ("request", "notification")


def _serialize(releases: Sequence[Release], verdicts: Sequence[ReleaseVerdict]) -> str:
    """The file: a row for each release, with what differs from the row before it, which it names: a merge may part the two."""
    rows: list[Any] = []
    before: tuple[Mapping[Any, Any], Mapping[Any, Any]] = ({}, {})
    for release, each in zip(releases, verdicts, strict=True):
        types, methods = _types(each.contents), {key: [*names] for key, names in each.contents.methods.items()}
        changed = _diff(before[1], methods)
        row: dict[str, Any] = {
            "version": release.version,
            "sha256": each.digest,
            "after": rows[-1]["sha256"] if rows else "",
            "failure": each.step.failure,
            "severities": [*each.step.severities],
            "changes": [_row(change) for change in each.step.changes],
            **{kind: {key[0]: names for key, names in changed.items() if key[1] == kind} for kind in _KINDS},
            "types": _diff(before[0], types),
        }
        rows.append({key: value for key, value in row.items() if value})
        before = types, methods
    return layout.text({"rules": VERSION, "releases": rows})


def _row(change: ChangelogEntry) -> Mapping[str, Any]:
    lists = {"methods": [*change.methods], "places": [*change.places], "types": [*change.types]}
    present = {key: value for key, value in lists.items() if value}
    return {"severity": change.severity, "rule": change.rule, "message": change.message, **present}


def _types(contents: ReleaseContents) -> Mapping[str, Any]:
    return {
        name: {
            **({"kind": each.kind} if each.kind is not None else {}),
            **({"named": True} if name in contents.own else {}),
            **({"members": sorted(each.members)} if each.members else {}),
            **({"fields": {tag: sorted(names) for tag, names in sorted(each.fields.items())}} if each.fields else {}),
        }
        for name, each in contents.types.items()
    }


def _diff(before: Mapping[Any, Any], after: Mapping[Any, Any]) -> Mapping[Any, Any]:
    """What differs from what was there before; `null` is what is gone."""
    changed = {key: value for key, value in after.items() if before.get(key) != value}
    return dict(sorted({**changed, **dict.fromkeys(before.keys() - after.keys())}.items()))
