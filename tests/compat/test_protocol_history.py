"""Protocol mode on what was really released."""

from __future__ import annotations

import itertools
import json
import random
from pathlib import Path

import pytest

import evidence
import tiers
from acpgen.compat.compare import compare
from compat.protocols import CANONICAL, FORMATS, RELEASES, migration, releases, written

KEPT = [*releases("v1"), *releases("v2")]
PUBLISHED = evidence.known("upstream/*/schema*.json", "history/*/*.schema.json")
PAIRS = "history/pairs.json"


@pytest.mark.parametrize("whole", tiers.EXTENTS)
@pytest.mark.evidence(PAIRS)
def test_releases_get_the_verdict_of_a_careful_reader(whole: bool) -> None:
    file = evidence.path(PAIRS)
    pairs = json.loads(file.read_text("utf-8"))
    for pair in pairs if whole else tiers.draw(pairs, 3, lambda pair: f"{pair['old']} {pair['new']}"):
        report = compare(file.parent / pair["old"], file.parent / pair["new"])
        assert report.verdict == pair["verdict"], [str(finding) for finding in report.findings[:3]]


@pytest.mark.parametrize(
    ("version", "old", "new", "verdict"),
    [
        pytest.param("v1", "0.4.0", "0.4.1", "additive", marks=pytest.mark.exhaustive),
        ("v1", "0.6.1", "0.6.2", "breaking"),
        pytest.param("v1", "0.8.0", "0.9.0", "breaking", marks=pytest.mark.exhaustive),
        pytest.param("v1", "0.9.0", "0.9.1", "identical", marks=pytest.mark.exhaustive),
        pytest.param("v1", "0.10.0", "0.10.1", "editorial", marks=pytest.mark.exhaustive),
        pytest.param("v1", "0.10.6", "0.10.7", "editorial", marks=pytest.mark.exhaustive),
        ("v1", "0.10.7", "0.10.8", "risky"),
        pytest.param("v1", "0.10.8", "0.11.0", "editorial", marks=pytest.mark.exhaustive),
        pytest.param("v1", "0.12.1", "0.12.2", "additive", marks=pytest.mark.exhaustive),
        pytest.param("v1", "0.13.4", "0.13.5", "additive", marks=pytest.mark.exhaustive),
        ("v2", "1.1.0", "1.2.0", "breaking"),
        pytest.param("v2", "1.5.0", "1.6.0", "additive", marks=pytest.mark.exhaustive),
    ],
)
def test_the_facts_of_releases_get_their_verdict(version: str, old: str, new: str, verdict: str) -> None:
    report = compare(RELEASES / version / f"{old}.json", RELEASES / version / f"{new}.json")
    assert report.verdict == verdict, [str(finding) for finding in report.findings[:3]]


@pytest.mark.parametrize("whole", tiers.EXTENTS)
def test_every_ordered_pair_of_a_sample_gives_a_report_in_every_format(whole: bool) -> None:
    pairs = [(old, new) for old, new in itertools.permutations([*KEPT, *CANONICAL], 2) if not same_facts(old, new)]
    for old, new in random.Random(4).sample(pairs, 60 if whole else 1):
        report = compare(old, new, unstable=True)
        assert report.findings, f"{old} and {new} differ"
        for name in FORMATS:
            assert written(report, name), name


def same_facts(old: Path, new: Path) -> bool:
    return old.is_file() and new.is_file() and json.loads(old.read_text("utf-8")) == json.loads(new.read_text("utf-8"))


@pytest.mark.parametrize("path", tiers.sample([*KEPT, *CANONICAL], 3, name=lambda path: "/".join(path.parts[-2:])))
def test_a_schema_is_identical_to_itself(path: Path) -> None:
    assert_identical(path)


@pytest.mark.parametrize("name", tiers.sample(PUBLISHED, 2))
def test_a_published_schema_is_identical_to_itself(name: str) -> None:
    evidence.need(name)
    assert_identical(evidence.path(name))


def assert_identical(path: Path) -> None:
    report = compare(path, path)
    assert (report.verdict, report.findings, report.bindings) == ("identical", (), "identical")
    assert (report.wire.backward, report.wire.forward) == ("yes", "yes")


def test_every_refusal_and_loss_between_releases_has_a_verified_witness() -> None:
    old, *_, new = releases("v2")
    findings = compare(old, new).findings
    breaking = [finding for finding in findings if finding.severity == "breaking"]
    assert len(breaking) > 20
    assert all(finding.witness is not None and finding.witness.verified for finding in breaking)


def test_the_migration_between_the_canonical_versions_is_decided_throughout() -> None:
    report = migration()
    assert report.verdict == "breaking"
    assert not [finding for finding in report.findings if finding.severity == "undecided"]
