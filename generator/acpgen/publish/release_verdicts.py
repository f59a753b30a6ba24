"""The verdicts on releases: what each one that is kept changes for peers of the one before it, and the names that it has.

They follow from releases alone and never change, so they are data beside them, in `releases/<protocol>/verdicts.json`: whoever has the
data reads and compares no release. A verdict holds for the bytes of two releases and for one version of the rules; any other is made anew.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import takewhile
from pathlib import Path
from typing import Annotated, Any, Final, TypeAlias

import msgspec
from msgspec import Meta, Struct

from acpgen.adopt import layout
from acpgen.compat.findings import SEVERITIES, Reach, Severity
from acpgen.compat.rules import VERSION
from acpgen.config.docs_inputs import RELEASES, VERDICTS, Files, Material, Release, Releases, parsed
from acpgen.config.faults import BAD_MATERIAL
from acpgen.errors import Fault, Faults
from acpgen.files import Change, Tree, is_behind_link
from acpgen.input.faults import LINK_REFUSED
from acpgen.input.load import Documents, decode, parse_json, place
from acpgen.input.walk import is_object
from acpgen.pointers import place_parts, plain_pointer
from acpgen.publish.release_contents import TypeContents, summarize_release
from acpgen.publish.versions import Version

FEW: Final = 6
"""As many places, types or methods are named of a change that has more. How many more is not said: a number that grows with each
addition would be wrong where two of them are merged."""

Digest: TypeAlias = Annotated[str, Meta(pattern="^[0-9a-f]{64}$")]
Methods: TypeAlias = dict[str, tuple[str | None, str | None] | None]
"""The params and the result of methods by name."""


class ChangelogEntry(Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """One rule's findings with the same words: the methods, the places in messages and the types in which they stand, one more than are
    named where there are more.
    """

    severity: Severity
    rule: Annotated[str, Meta(pattern="^[a-z]+(-[a-z]+)*$")]
    message: str
    methods: tuple[str, ...] = ()
    places: tuple[str, ...] = ()
    types: tuple[str, ...] = ()


class ChangelogStep(Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """What a revision changes for peers of the one before it: the severities of all findings, and the changes that a message shows,
    worst first. `failure` says why the two cannot be compared.
    """

    failure: str = ""
    severities: tuple[Severity, ...] = ()
    changes: tuple[ChangelogEntry, ...] = ()


class ReleaseVerdict(ChangelogStep, frozen=True, kw_only=True):
    """What is known of a release: a hash of its bytes and of those of the release before it, the step from that one, and its names: the
    params and results of its requests and notifications, and its types. In the file, a row has the names that differ from those of the
    row before it; `None` is what is gone.
    """

    version: str
    sha256: Digest
    after: Digest | None = None
    request: Methods = {}
    notification: Methods = {}
    types: dict[str, TypeContents | None] = {}


@dataclass(frozen=True, slots=True)
class Past:
    """A release: its names, the step from the release before it, and its date (`YYYY-MM-DD`), where it is known."""

    verdict: ReleaseVerdict
    release: Release = field(repr=False)
    date: str = ""

    @property
    def title(self) -> str:
        return self.release.title or self.release.version

    @property
    def documents(self) -> Documents:
        """Its files, read now. Raises `Faults`."""
        return self.release.documents


History: TypeAlias = "tuple[Past, ...]"
"""The releases of a protocol that are kept, oldest first."""


class _File(Struct, forbid_unknown_fields=True):
    rules: int
    releases: list[ReleaseVerdict]


_HEAD: Final = ("version", "sha256", "after")
_NAMES: Final = ("request", "notification", "types")
"""The members of a row: those that say of which release it is, and its names."""

_REMEDY: Final = "Restore the file, or delete it and run acpgen generate"


def summarize(findings: Iterable[Reach], *, is_joined: bool = True) -> ChangelogStep:
    """Summarize findings as a step: those with the same words together, or only those that are also of one place."""
    groups: dict[tuple[Severity, str, str, str], list[Reach]] = {}
    severities: set[Severity] = set()
    for each in findings:
        severities.add(each.severity)
        if each.severity != "editorial":
            place = "" if is_joined else each.new_at or each.old_at
            groups.setdefault((each.severity, each.rule, each.message, place), []).append(each)
    changes = [ChangelogEntry(*key[:3], *_list_places(group)) for key, group in groups.items()]
    return ChangelogStep(
        severities=tuple(each for each in SEVERITIES if each in severities),
        changes=tuple(sorted(changes, key=lambda change: SEVERITIES.index(change.severity))),
    )


def _list_places(findings: Sequence[Reach]) -> Iterator[tuple[str, ...]]:
    """The methods, the places in messages and the types of findings, each once, and one more than are named."""
    methods = (each.method or "" for each in findings)
    places = (each.location for each in findings)
    types = (_find_type(each.new_at) or _find_type(each.old_at) for each in findings)
    for names in (methods, places, types):
        yield tuple(dict.fromkeys(filter(None, names)))[: FEW + 1]


def _find_type(at: str) -> str:
    """The definition in which a place lies; empty where it lies in none."""
    parts = place_parts(at)
    return parts[1] if len(parts) > 1 and parts[0] in ("$defs", "definitions") else ""


# --- completing ------------------------------------------------------------------------------------------------------


def read_histories(versions: Sequence[Version], material: Material) -> Mapping[str, History]:
    """The history of each protocol of which releases are kept, and of each family whose versions are. Raises `Faults`."""
    found: dict[str, History] = {}
    faults: list[Fault] = []
    for name in dict.fromkeys(name for version in versions for name in (version.protocol.name, version.family)):
        given = material.releases.get(name)
        if given is None or not given.releases:
            continue
        try:
            known = evaluate(given)
        except Faults as caught:
            faults.extend(caught.faults)
            continue
        found[name] = tuple(
            Past(each, release, given.dates.get(release.version, ""))
            for each, release in zip(known, given.releases, strict=True)
        )
    if faults:
        raise Faults(faults)
    return found


def evaluate(releases: Releases, recomputed: int | None = None) -> tuple[ReleaseVerdict, ...]:
    """Read the verdicts on releases, oldest first, and compute those that are not known, and the one of the number `recomputed`.

    Raises `Faults`.
    """
    known = _read(releases)
    sides = _Sides(releases.releases)
    verdicts: list[ReleaseVerdict] = []
    for number, release in enumerate(releases.releases):
        digest, before = hashlib.sha256(release.content).hexdigest(), verdicts[-1].sha256 if verdicts else None
        verdict = known.get((before, digest)) if number != recomputed else None
        if verdict is None:
            changes, names = _compare(sides, number), summarize_release(sides[number].meaning)
            step = {name: getattr(changes, name) for name in ChangelogStep.__struct_fields__}
            verdict = ReleaseVerdict(version=release.version, sha256=digest, after=before, **step, **names)
        verdicts.append(msgspec.structs.replace(verdict, version=release.version))
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
            texts[f"{RELEASES}/{name}/{VERDICTS}"] = _serialize(verdicts).encode()
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
        change = Change(file.parent, written=(file.name,), unchanged=(), removed=(), strays=())
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


# --- the file --------------------------------------------------------------------------------------------------------


def _read(releases: Releases) -> Mapping[tuple[str | None, str], ReleaseVerdict]:
    """The verdicts that are kept and hold for the rules of today, by the hashes of both releases. Raises `Faults`."""
    if releases.verdicts is None:
        return {}
    at, content = releases.verdicts
    value: Any = parse_json(decode(content, at), at)
    if is_object(value) and type(value.get("rules")) is int and value["rules"] != VERSION:
        return {}
    try:
        rows = msgspec.convert(value, _File).releases
    except msgspec.ValidationError as error:
        reason, _, path = str(error).partition(" - at `$")
        keys = takewhile(lambda key: key != "[...]", re.findall(r"\[\.{3}\]|\w+", path))
        raise Faults([BAD_MATERIAL(at=f"{at}#{plain_pointer(*keys)}", reason=reason, remedy=_REMEDY)]) from None
    found: dict[tuple[str | None, str], ReleaseVerdict] = {}
    names: dict[str, dict[str, Any]] = {name: {} for name in _NAMES}
    before: str | None = None
    for row in rows:
        if row.after != before:
            break  # a row says what differs from the one before it: behind a gap, nothing is known
        changed = {name: names[name] | getattr(row, name) for name in _NAMES}
        names = {name: {key: each for key, each in all_.items() if each is not None} for name, all_ in changed.items()}
        found[before, row.sha256] = msgspec.structs.replace(row, **names)
        before = row.sha256
    return found


def _serialize(verdicts: Iterable[ReleaseVerdict]) -> str:
    """The file: a row for each release, with what differs from the row before it, which it names: a merge may part the two."""
    rows: list[Any] = []
    before: Mapping[str, Mapping[str, Any]] = {name: {} for name in _NAMES}
    for each in verdicts:
        names = {name: getattr(each, name) for name in _NAMES}
        changed = {name: _make_diff(before[name], names[name]) for name in _NAMES}
        row = msgspec.json.decode(msgspec.json.encode(msgspec.structs.replace(each, **changed)))
        rows.append({key: row[key] for key in _HEAD if key in row} | row)
        before = names
    return layout.format_document({"rules": VERSION, "releases": rows})


def _make_diff(before: Mapping[str, Any], after: Mapping[str, Any]) -> dict[str, Any]:
    """What differs from what was there before; `None` is what is gone."""
    changed = {key: value for key, value in after.items() if before.get(key) != value}
    return dict(sorted({**changed, **dict.fromkeys(before.keys() - after.keys())}.items()))
