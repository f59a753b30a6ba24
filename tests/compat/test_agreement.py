"""What the prover says of each kind of message and direction, and what the findings say of it, is the same."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from itertools import pairwise
from pathlib import Path

import pytest

import evidence
import tiers
from acpgen.compat import compare
from acpgen.compat.findings import Answer, Reach, Revision
from acpgen.compat.protocol.check.context import Context
from acpgen.compat.protocol.check.counterparts import DIRECTIONS
from compat.protocols import RELEASES, releases

MCP = RELEASES.parent / "mcp"
KEPT = (
    releases("v1"),
    releases("v2"),
    [MCP / f"{day}.json" for day in ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25", "2026-07-28")],
)
PAIRS = [pair for each in KEPT for pair in (*pairwise(each), (each[0], each[-1]))]
FOREIGN = (("wild/a2a-0.2.0.json", "wild/a2a-0.3.0.json"), ("wild/codex-0.145.0.json", "wild/codex-0.145.0-v2.json"))

TOLERATED = [("initialize", "params", "old", "no", "yes")]
"""In the capabilities of `initialize`, an object that declares nothing takes no member of any name; MCP declares some since 2025-11-25."""


def disagreements(old: Path, new: Path) -> Iterator[tuple[str | None, str, Revision, Answer, Answer]]:
    """Each kind of message and direction with what the prover says of it and what the findings say, where that is not the same."""
    sides = [compare.read_side(each, unstable=False) for each in compare.read_inputs(old, new)]
    told = compare.check_sides(*sides).reaches
    refuses = about(told, lambda each: each.refuses)
    doubtful = about(told, lambda each: each.doubtful)
    on = Context(sides[0].meaning, sides[1].meaning)
    for messages in on.routes:
        kind = messages.method, messages.new.part
        for sender, receiver in DIRECTIONS:
            answer = on.acceptance.is_included(messages.pair, sender)
            said: Answer = "no" if receiver in refuses[kind] else "undecided" if receiver in doubtful[kind] else "yes"
            if answer != said:
                yield *kind, sender, answer, said


def about(
    judged: Iterable[Reach], which: Callable[[Reach], Iterable[Revision]]
) -> dict[tuple[str | None, str], set[Revision]]:
    """Revisions by the kind of message that findings are about."""
    found: dict[tuple[str | None, str], set[Revision]] = defaultdict(set)
    for each in judged:
        part = re.match("[a-z]*", each.location)
        found[each.method, part[0] if part else ""].update(which(each))
    return found


@pytest.mark.parametrize("pair", tiers.sample(PAIRS, 3, lambda pair: f"{pair[0].stem} {pair[1].stem}"))
def test_the_findings_of_releases_say_what_the_prover_says(pair: tuple[Path, Path]) -> None:
    found = list(disagreements(*pair))
    assert found == (TOLERATED if pair[0].stem == "2025-06-18" else [])


@pytest.mark.exhaustive
@pytest.mark.parametrize("names", FOREIGN, ids=lambda names: names[1])
def test_the_findings_of_foreign_histories_say_what_the_prover_says(names: tuple[str, str]) -> None:
    for name in names:
        evidence.need(name)
    assert list(disagreements(*map(evidence.path, names))) == []
