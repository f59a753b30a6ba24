"""The verdicts on releases: what each one changes for peers of the preceding one, and the names that it has.

They depend on releases alone and never change, so they are stored beside them in `releases/<protocol>/verdicts.json`; with that file, no
release has to be read or compared. A verdict is valid for the bytes of two releases and one version of the rules; otherwise it is
recomputed.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from itertools import takewhile
from pathlib import Path
from typing import Annotated, Any, Final, TypeAlias

import msgspec
from msgspec import Meta, Struct

from acpgen.adopt import layout
from acpgen.compat.findings import SEVERITIES, Reach, Severity
from acpgen.compat.rules import VERSION
from acpgen.config.docs_inputs import RELEASES, VERDICTS, DocsInputs, Files, Release, Releases, parse_docs_inputs
from acpgen.config.faults import BAD_PROJECT_FILE
from acpgen.errors import Fault, Faults
from acpgen.files import Change, Tree, is_behind_link
from acpgen.input.faults import LINK_REFUSED
from acpgen.input.load import Documents, decode, display_path, parse_json
from acpgen.input.walk import is_object
from acpgen.pointers import split_place, write_plain_pointer
from acpgen.publish.release_contents import TypeContents, summarize_release
from acpgen.publish.versions import Version

FEW: Final = 6
"""The maximum number of places, types or methods that are named for a change.

The number of further ones is not shown: it grows with each addition and would be wrong where two of them are merged.
"""

Digest: TypeAlias = Annotated[str, Meta(pattern="^[0-9a-f]{64}$")]
Methods: TypeAlias = dict[str, tuple[str | None, str | None] | None]
"""The params and the result of methods by name."""


class ChangelogEntry(Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """The findings of one rule with the same message: their methods, places in messages, and types.

    Each list is cut after one more than the number of names that are shown.
    """

    severity: Severity
    rule: Annotated[str, Meta(pattern="^[a-z]+(-[a-z]+)*$")]
    message: str
    methods: tuple[str, ...] = ()
    places: tuple[str, ...] = ()
    types: tuple[str, ...] = ()


class ChangelogStep(Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """What a revision changes for peers of the preceding one: the severities of all findings, and the non-editorial changes, worst
    first.

    `failure` is the reason why the two cannot be compared.
    """

    failure: str = ""
    severities: tuple[Severity, ...] = ()
    changes: tuple[ChangelogEntry, ...] = ()


class ReleaseVerdict(ChangelogStep, frozen=True, kw_only=True):
    """The stored data on a release: the hashes of its bytes and of the preceding release's, the step from that release, and its names.

    The names are the params and results of its requests and notifications, and its types. In the file, a row has only the names that
    differ from the preceding row; `None` means removed.
    """

    version: str
    sha256: Digest
    after: Digest | None = None
    request: Methods = {}
    notification: Methods = {}
    types: dict[str, TypeContents | None] = {}


@dataclass(frozen=True, slots=True)
class Past:
    """A release: its names, the step from the preceding release, and its date (`YYYY-MM-DD`), empty if unknown."""

    verdict: ReleaseVerdict
    release: Release = field(repr=False)
    date: str = ""

    @property
    def title(self) -> str:
        return self.release.title or self.release.version

    @property
    def documents(self) -> Documents:
        """Read its files. Raises `Faults`."""
        return self.release.documents


History: TypeAlias = "tuple[Past, ...]"
"""The releases of a protocol that the project has, oldest first."""


class _File(Struct, forbid_unknown_fields=True):
    rules: int
    releases: list[ReleaseVerdict]


_HEAD: Final = ("version", "sha256", "after")
_NAMES: Final = ("request", "notification", "types")
"""The members of a row: those that identify the release, and its names."""

_REMEDY: Final = "Restore the file, or delete it and run acpgen generate"


def summarize(findings: Iterable[Reach], *, is_joined: bool = True) -> ChangelogStep:
    """Summarize findings as a step.

    Findings with the same severity, rule and message share an entry; unless `is_joined`, only those at the same place do.
    """
    groups: dict[tuple[Severity, str, str, str], list[Reach]] = {}
    severities: set[Severity] = set()
    for finding in findings:
        severities.add(finding.severity)
        if finding.severity != "editorial":
            place = "" if is_joined else finding.new_at or finding.old_at
            groups.setdefault((finding.severity, finding.rule, finding.message, place), []).append(finding)
    changes = [ChangelogEntry(*key[:3], *_list_places(group)) for key, group in groups.items()]
    return ChangelogStep(
        severities=tuple(severity for severity in SEVERITIES if severity in severities),
        changes=tuple(sorted(changes, key=lambda change: SEVERITIES.index(change.severity))),
    )


def _list_places(findings: Sequence[Reach]) -> Iterator[tuple[str, ...]]:
    """Yield the methods, the places in messages and the types of findings, without duplicates, each cut to `FEW` + 1."""
    methods = (finding.method or "" for finding in findings)
    places = (finding.location for finding in findings)
    types = (_find_type(finding.new_at) or _find_type(finding.old_at) for finding in findings)
    for names in (methods, places, types):
        yield tuple(dict.fromkeys(filter(None, names)))[: FEW + 1]


def _find_type(at: str) -> str:
    """The name of the definition that contains a place; empty if none does."""
    parts = split_place(at)
    return parts[1] if len(parts) > 1 and parts[0] in ("$defs", "definitions") else ""


# --- completing ------------------------------------------------------------------------------------------------------


def read_histories(versions: Sequence[Version], docs_inputs: DocsInputs) -> Mapping[str, History]:
    """Read the history of each protocol that has releases, and of each family of versions that has. Raises `Faults`."""
    histories: dict[str, History] = {}
    faults: list[Fault] = []
    for name in dict.fromkeys(name for version in versions for name in (version.protocol.name, version.family)):
        releases = docs_inputs.releases.get(name)
        if releases is None or not releases.releases:
            continue
        try:
            verdicts = evaluate(releases)
        except Faults as caught:
            faults.extend(caught.faults)
            continue
        histories[name] = tuple(
            Past(verdict, release, releases.dates.get(release.version, ""))
            for verdict, release in zip(verdicts, releases.releases, strict=True)
        )
    if faults:
        raise Faults(faults)
    return histories


def evaluate(releases: Releases, recomputed: int | None = None) -> tuple[ReleaseVerdict, ...]:
    """Read the verdicts on releases, oldest first, and compute those that are missing.

    The verdict at index `recomputed` is computed even if it is stored. Raises `Faults`.
    """
    stored_verdicts = _read(releases)

    @cache
    def read_side(number: int) -> Any:
        from acpgen.compat.compare import read_side
        from acpgen.compat.sources import open_input

        return read_side(open_input(releases.releases[number].documents), unstable=False)

    verdicts: list[ReleaseVerdict] = []
    for number, release in enumerate(releases.releases):
        digest, before = hashlib.sha256(release.content).hexdigest(), verdicts[-1].sha256 if verdicts else None
        verdict = stored_verdicts.get((before, digest)) if number != recomputed else None
        if verdict is None:
            changes, names = _compare(read_side, number), summarize_release(read_side(number).meaning)
            step = {name: getattr(changes, name) for name in ChangelogStep.__struct_fields__}
            verdict = ReleaseVerdict(version=release.version, sha256=digest, after=before, **step, **names)
        verdicts.append(msgspec.structs.replace(verdict, version=release.version))
    return tuple(verdicts)


def complete(files: Files, seed: bytes = b"") -> Files:
    """Add missing verdicts to the docs inputs. With a seed, also recompute one existing verdict, chosen by the seed. Raises `Faults`."""
    releases = parse_docs_inputs(files).releases
    recomputed: tuple[str, int] | None = None
    if seed:
        pairs = [(name, number) for name, history in releases.items() for number in range(1, len(history.releases))]
        recomputed = pairs[int.from_bytes(hashlib.sha256(seed).digest()) % len(pairs)] if pairs else None
    texts = dict(files.files)
    for name, history in releases.items():
        if history.releases:
            verdicts = evaluate(history, recomputed[1] if recomputed is not None and recomputed[0] == name else None)
            texts[f"{RELEASES}/{name}/{VERDICTS}"] = _serialize(verdicts).encode()
    return replace(files, files=tuple(sorted(texts.items())))


def plan_updates(schema: Path, pairs: Iterable[tuple[Files, Files]]) -> tuple[tuple[Tree, Change], ...]:
    """Plan the writing of the files that differ between docs inputs before and after. Raises `Faults`."""
    texts: dict[str, str] = {}
    for before, after in pairs:
        old_files = dict(before.files)
        texts |= {path: content.decode() for path, content in after.files if old_files.get(path) != content}
    planned: list[tuple[Tree, Change]] = []
    for path, text in texts.items():
        file = schema / path
        if is_behind_link(schema, path):
            raise Faults([LINK_REFUSED(at=display_path(file.parent))])
        if file.exists() and not file.is_file():
            reason, remedy = "this is not a file", "Remove it and run acpgen generate"
            raise Faults([BAD_PROJECT_FILE(at=display_path(file), reason=reason, remedy=remedy)])
        change = Change(file.parent, written=(file.name,), unchanged=(), removed=(), strays=())
        planned.append((Tree(file.parent, {file.name: text}, shared=True), change))
    return tuple(planned)


def _compare(side: Callable[[int], Any], number: int) -> ChangelogStep:
    """What a release changes for peers of the preceding one."""
    from acpgen.compat.compare import check_sides

    if not number:
        return ChangelogStep()
    old, new = side(number - 1), side(number)
    try:
        return summarize(check_sides(old, new).reaches)
    except Faults as caught:
        return ChangelogStep(failure=" ".join(dict.fromkeys(map(str, caught.faults))))


# --- the file --------------------------------------------------------------------------------------------------------


def _read(releases: Releases) -> Mapping[tuple[str | None, str], ReleaseVerdict]:
    """Read the stored verdicts that are valid for the current rules, by the hashes of both releases. Raises `Faults`."""
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
        raise Faults(
            [BAD_PROJECT_FILE(at=f"{at}#{write_plain_pointer(*keys)}", reason=reason, remedy=_REMEDY)]
        ) from None
    verdicts: dict[tuple[str | None, str], ReleaseVerdict] = {}
    names: dict[str, dict[str, Any]] = {name: {} for name in _NAMES}
    before: str | None = None
    for row in rows:
        if row.after != before:
            break  # a row says what differs from the one before it: behind a gap, nothing is known
        merged_names = {name: names[name] | getattr(row, name) for name in _NAMES}
        names = {
            name: {key: content for key, content in contents.items() if content is not None}
            for name, contents in merged_names.items()
        }
        verdicts[before, row.sha256] = msgspec.structs.replace(row, **names)
        before = row.sha256
    return verdicts


def _serialize(verdicts: Iterable[ReleaseVerdict]) -> str:
    """Serialize verdicts as a file: one row per release, with the differences from the preceding row.

    Each row has the hash of the preceding release, because a merge may separate the two rows.
    """
    rows: list[Any] = []
    before: Mapping[str, Mapping[str, Any]] = {name: {} for name in _NAMES}
    for verdict in verdicts:
        names = {name: getattr(verdict, name) for name in _NAMES}
        diffs = {name: _make_diff(before[name], names[name]) for name in _NAMES}
        row = msgspec.json.decode(msgspec.json.encode(msgspec.structs.replace(verdict, **diffs)))
        rows.append({key: row[key] for key in _HEAD if key in row} | row)
        before = names
    return layout.format_document({"rules": VERSION, "releases": rows})


def _make_diff(before: Mapping[str, Any], after: Mapping[str, Any]) -> dict[str, Any]:
    """The entries that differ from those before, sorted by key; `None` means removed."""
    changes = {key: value for key, value in after.items() if before.get(key) != value}
    return dict(sorted({**changes, **dict.fromkeys(before.keys() - after.keys())}.items()))
