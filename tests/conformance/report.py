"""The comparison: which share of the rows of each label an implementation handles as the vectors say, as a page of Markdown."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from bindings.subjects import Subjects, same
from conformance.implementations import (
    PYTHON_SDK,
    TYPESCRIPT_SDK,
    Verdicts,
    bindings,
    python_sdk,
    typescript_sdk,
)
from conformance.vectors import Vector, protocol, variants
from javascript import Unreachable

LABELS: Final = (
    *(
        "valid-minimal",
        "valid-full",
        "variant",
        "variant-untagged",
        "unknown-variant",
        "unknown-field",
        "null",
        "omitted",
    ),
    *("lenient", "invalid"),
)
"""In the order of the table; a label that is told by its rule comes where its first word does."""

OURS: Final = {
    "acp/v1": "own_v1",
    "acp/v2": "own_v2",
    "acp/unstable/v1": "own_unstable_v1",
    "acp/unstable/v2": "own_unstable_v2",
    "mcp/2025-06-18": "own_roots",
}

ROOM: Final = 5
"""Points by which a share may move before the page that shows it is measured again: a few fields move it a little."""

_PERCENT: Final = re.compile(r"\b(\d+) %")


@dataclass(frozen=True)
class Outcome:
    """Of one implementation: the rows of each label as `(judged as said, kept as said, offered)`, and the ids that are not.

    `missing` counts the rows of types that it does not have; `namesakes` are types that it has under a name of ours and that are others,
    since they refuse every valid row.
    """

    counts: Mapping[str, tuple[int, int, int]]
    misjudged: tuple[str, ...]
    altered: tuple[str, ...]
    missing: int
    namesakes: tuple[str, ...]

    @property
    def total(self) -> tuple[int, int, int]:
        """The sums over all labels."""
        judged, kept, offered = zip(*self.counts.values(), strict=True)
        return sum(judged), sum(kept), sum(offered)


@dataclass(frozen=True)
class Column:
    """One implementation on one protocol; `reason` says why it was not run."""

    name: str
    protocol: str
    outcome: Outcome | None
    reason: str = ""


def outcome(vectors: Iterable[Vector], verdicts: Verdicts) -> Outcome:
    """Hold verdicts against the vectors. RequestError rows keep nothing; for those "kept" is "judged"."""
    counts: dict[str, tuple[int, int, int]] = {}
    misjudged: list[str] = []
    altered: list[str] = []
    missing = 0
    run = [vector for vector in vectors if vector.typed is not None and not vector.is_unstable]
    namesakes = _namesakes(run, verdicts)
    for vector in run:
        verdict = verdicts[vector.id]
        if not verdict.offered or vector.row.get("type") in namesakes:
            missing += 1
            continue
        judged = verdict.accepted == vector.decodes
        kept = judged and (not vector.decodes or same(verdict.written, vector.expected))
        label = vector.row["label"] if vector.label == "invalid" else vector.label
        before = counts.get(label, (0, 0, 0))
        counts[label] = (before[0] + judged, before[1] + kept, before[2] + 1)
        if not judged:
            misjudged.append(vector.id)
        elif not kept:
            altered.append(vector.id)
    return Outcome(counts, tuple(misjudged), tuple(altered), missing, tuple(namesakes))


def _namesakes(vectors: Iterable[Vector], verdicts: Verdicts) -> list[str]:
    accepted: dict[str, bool] = {}
    for vector in vectors:
        if "type" in vector.row and vector.valid and verdicts[vector.id].offered:
            name = vector.row["type"]
            accepted[name] = accepted.get(name, False) or verdicts[vector.id].accepted
    return [name for name, any_ in accepted.items() if not any_]


def columns(subjects: Subjects) -> tuple[Column, ...]:
    """Every implementation that can be run here."""
    python, typescript = (f"{name} {version}" for name, version in (PYTHON_SDK, TYPESCRIPT_SDK))
    found: list[Column] = []
    for name in ("acp/v1", "acp/v2"):
        vectors = protocol(name).vectors
        found.append(Column("acp-bindings (ours)", name, outcome(vectors, bindings(subjects(OURS[name]), vectors))))
        if name == "acp/v1":
            try:
                found.append(Column(python, name, outcome(vectors, python_sdk(vectors, variants(name)))))
            except Unreachable as reason:
                found.append(Column(python, name, None, str(reason)))
        try:
            found.append(
                Column(typescript, name, outcome(vectors, typescript_sdk(int(name[-1]), vectors, variants(name))))
            )
        except Unreachable as reason:
            found.append(Column(typescript, name, None, str(reason)))
    return tuple(found)


def page(found: Sequence[Column]) -> str:
    """The comparison as a page of Markdown."""
    lines = ["# Conformance of implementations", "", *_INTRODUCTION.strip().splitlines(), ""]
    for name in dict.fromkeys(column.protocol for column in found):
        here = [column for column in found if column.protocol == name]
        lines += [f"## {name}", "", *_table(here), ""]
        for column in here:
            if column.outcome is None:
                lines += [f"{column.name} was not run: {column.reason}.", ""]
            elif column.outcome.missing:
                lines += [
                    f"Left out of {column.name} are the rows of types that it does not have.",
                    "",
                ]
                if column.outcome.namesakes:
                    names = ", ".join(f"`{name}`" for name in column.outcome.namesakes)
                    lines += [f"Of these it has others under the same name, which refuse every valid row: {names}.", ""]
    return "\n".join(lines).rstrip() + "\n"


def _table(here: Sequence[Column]) -> list[str]:
    ran = [(column.name, column.outcome) for column in here if column.outcome is not None]
    heads = [f"{name}: {what}" for name, _ in ran for what in ("judged", "kept")]
    rows = [f"| Label | {' | '.join(heads)} |", f"| --- |{' ---: |' * len(heads)}"]
    labels = dict.fromkeys(label for _, outcome in ran for label in outcome.counts)
    for label in sorted(labels, key=lambda label: (LABELS.index(label.partition(":")[0]), label)):
        cells = [cell for _, outcome in ran for cell in _cells(outcome.counts.get(label))]
        rows.append(f"| {label} | {' | '.join(cells)} |")
    cells = [cell for _, outcome in ran for cell in _cells(outcome.total)]
    return [*rows, f"| **all** | {' | '.join(cells)} |"]


def _cells(count: tuple[int, int, int] | None) -> tuple[str, str]:
    return ("", "") if count is None else (share(count[0], count[2]), share(count[1], count[2]))


def share(some: int, all_: int) -> str:
    """How many, in words or whole percent. Counts would be wrong where two branches are merged that each add a field."""
    return "all" if some == all_ else "none" if some == 0 else f"{max(1, some * 100 // all_)} %"


def agree(told: str, measured: str) -> bool:
    """Whether texts are the same but for shares of which none has moved by more than `ROOM` points."""
    shares = [[int(found) for found in _PERCENT.findall(text)] for text in (told, measured)]
    return _PERCENT.sub("%", told) == _PERCENT.sub("%", measured) and all(
        abs(one - other) <= ROOM for one, other in zip(*shares, strict=True)
    )


_INTRODUCTION: Final = """
Each row of the conformance vectors in `generated/vectors/` is a message and the required result; the README there describes how to run
them in any language. This page shows the share that each implementation handles correctly, in words or whole percent.

- **Judged**: the implementation accepts what the vectors accept, and refuses what they refuse.
- **Kept**: it judges correctly, and writes an accepted message unchanged, or as lenient decoding leaves it. A refused row counts as kept.

The official SDKs get the params, results and types that they have under the same name, through their own validators. The output is what
they would send. A type that is a variant with its tag is read by their class of that variant. The SDKs are built from releases of the
schema that may be older or newer than this one. They also differ from the vectors where upstream's schema differs from ours: for example,
upstream requires an absolute path (`invalid:pattern`) in prose only. Frames of JSON-RPC and rows on unstable parts are not compared.
"""
