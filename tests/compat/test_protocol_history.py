"""Protocol mode on what was really released."""

from __future__ import annotations

import itertools
import json
import random
from pathlib import Path

import pytest

from acpgen.compat.compare import compare
from acpgen.compat.report import FORMATS, written
from compat.protocols import CANONICAL, HISTORY, UPSTREAM, schemas_at_hand

PAIRS: list[dict[str, str]] = json.loads((HISTORY / "pairs.json").read_text()) if HISTORY.exists() else []

needs_data = pytest.mark.skipif(not HISTORY.exists(), reason="../shared/data is absent")


@needs_data
@pytest.mark.parametrize("pair", PAIRS, ids=lambda pair: f"{Path(pair['old']).name}-{Path(pair['new']).name}")
def test_releases_get_the_verdict_of_a_careful_reader(pair: dict[str, str]) -> None:
    report = compare(HISTORY / pair["old"], HISTORY / pair["new"])
    assert report.verdict == pair["verdict"], [str(finding) for finding in report.findings[:3]]


@needs_data
def test_every_ordered_pair_of_a_sample_gives_a_report_in_every_format() -> None:
    pairs = list(itertools.permutations(schemas_at_hand(), 2))
    for old, new in random.Random(4).sample(pairs, 24):
        report = compare(old, new, unstable=True)
        assert report.findings, f"{old} and {new} differ"
        for name in FORMATS:
            assert written(report, name), name


@pytest.mark.parametrize("path", schemas_at_hand(), ids=lambda path: "/".join(path.parts[-2:]))
def test_a_schema_is_identical_to_itself(path: Path) -> None:
    report = compare(path, path)
    assert (report.verdict, report.findings, report.bindings) == ("identical", (), "identical")
    assert (report.wire.backward, report.wire.forward) == ("yes", "yes")


@needs_data
def test_every_refusal_and_loss_between_releases_has_a_verified_witness() -> None:
    old, new = UPSTREAM / "acp-v2-2026-07-02" / "schema.json", UPSTREAM / "acp-v2-newest" / "schema.json"
    findings = compare(old, new).findings
    breaking = [finding for finding in findings if finding.severity == "breaking"]
    assert len(breaking) > 20
    assert all(finding.witness is not None and finding.witness.verified for finding in breaking)


@needs_data
def test_the_migration_between_the_canonical_versions_is_decided_throughout() -> None:
    report = compare(CANONICAL[0], CANONICAL[1])
    assert report.verdict == "breaking"
    assert not [finding for finding in report.findings if finding.severity == "undecided"]
