"""Where a policy asserts formats, they refuse: in proofs, in witnesses and in both modes."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import jsonschema_rs
import pytest

import tiers
from acpgen.meaning.sample_texts import OF_FORMAT
from compat.protocols import Schema, compared, found, go, protocol
from compat.test_diff_command import run
from schema_inclusion import FORMATS

ID = "123e4567-e89b-42d3-a456-426614174000"


def text(**limits: Any) -> Schema:
    return {"type": "string", **limits}


def message(field: Schema) -> Schema:
    return protocol({"GoRequest": go({"x": field}, ("x",))})


def value(field: Schema) -> Schema:
    return go({"x": field}, ("x",))


def is_valid(field: Schema, x: Any) -> bool:
    return jsonschema_rs.Draft202012Validator(field, validate_formats=True).is_valid(x)


NARROWED: list[tuple[Schema, Schema]] = [
    (text(), text(format="uuid")),
    (text(format="uri-reference"), text(format="uri")),
    (text(maxLength=40), text(format="ipv4", maxLength=40)),
    ({"type": ["string", "null"]}, {"type": ["string", "null"], "format": "date"}),
    ({"type": "array", "items": text()}, {"type": "array", "items": text(format="ipv6")}),
    ({"anyOf": [text(format="date"), text(format="uuid")]}, text(format="date")),
    ({"enum": ["a", ID]}, {"enum": ["a", ID], "format": "uuid"}),
    ({}, {"format": "uuid"}),
    (text(), text(**{"not": {"format": "uuid"}})),
    (text(format="uuid"), text(format="uuid", pattern="^[0-8]")),
]
"""Each pair: what the first accepts, the second accepts less of where formats are asserted."""


@pytest.mark.parametrize(("wide", "narrow"), NARROWED)
def test_a_format_is_a_limit_with_a_witness(wide: Schema, narrow: Schema) -> None:
    tightened = compared(message(wide), message(narrow), formats=True)
    assert (tightened.verdict, tightened.wire.backward, tightened.wire.forward) == ("breaking", "no", "yes")
    (finding,) = [each for each in tightened.findings if each.severity == "breaking"]
    assert finding.breaks == "an old client that talks to a new agent"
    witness: Any = finding.witness
    assert (witness.verified, witness.formats, witness.accepted_by) == (True, True, "old")
    shown = witness.value["params"]["x"]
    assert is_valid(wide, shown)
    assert not is_valid(narrow, shown)
    loosened = compared(message(narrow), message(wide), formats=True)
    assert (loosened.wire.backward, loosened.wire.forward) == ("yes", "no")


@pytest.mark.parametrize(("wide", "narrow"), NARROWED)
def test_plain_schemas_too(wide: Schema, narrow: Schema) -> None:
    tightened = compared(value(wide), value(narrow), mode="language", formats=True)
    assert [each.rule for each in tightened.findings] == ["language-narrowed"]
    assert compared(value(narrow), value(wide), mode="language", formats=True).verdict == "additive"


@pytest.mark.parametrize(("wide", "narrow"), NARROWED[:-2])
def test_formats_that_annotate_refuse_nothing(wide: Schema, narrow: Schema) -> None:
    if "anyOf" not in wide:
        assert compared(message(wide), message(narrow)).wire.backward == "yes"


def test_another_format_is_one_finding_that_breaks_both_ways() -> None:
    report = compared(message(text(format="uri")), message(text(format="email")), formats=True)
    (finding,) = report.findings
    assert (finding.rule, report.wire.backward, report.wire.forward) == ("format-changed", "no", "no")
    assert finding.breaks == "an old client that talks to a new agent; a new client that talks to an old agent"
    assert finding.witness is not None and finding.witness.value["params"]["x"] == "https://example.com/text"  # type: ignore[index, call-overload]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (text(), text(format="colour")),
        ({"type": "integer", "format": "int32"}, {"type": "integer", "format": "int64"}),
        ({"type": "integer"}, {"type": "integer", "not": {"format": "even"}, "minimum": -(2**70)}),
        (text(format="colour"), text(format="uuid")),
    ],
)
def test_what_a_format_refuses_that_nobody_knows_is_undecided(old: Schema, new: Schema) -> None:
    for mode in ("protocol", "language"):
        make = message if mode == "protocol" else value
        report = compared(make(old), make(new), mode=mode, formats=True)
        assert report.verdict in ("undecided", "breaking")
        assert "undecided" in (report.wire.backward, report.wire.forward)
        assert "yes" not in (report.wire.backward, report.wire.forward)


def test_a_severe_direction_does_not_hide_a_doubt_about_the_other() -> None:
    report = compared(message(text(format="regex")), message(text(format="idn-hostname")), formats=True)
    (finding,) = found(report, "format-changed")
    unknown = [each for each in (report.wire.backward, report.wire.forward) if each == "undecided"]
    assert unknown
    assert {sender for reach in finding.reaches for sender in reach.senders} == {"old", "new"}


def test_an_encoding_of_content_annotates_even_there() -> None:
    report = compared(message(text(contentEncoding="base64")), message(text()), formats=True)
    assert (report.verdict, [each.rule for each in report.findings]) == ("editorial", ["format-changed"])


def test_what_is_accepted_whatever_it_says_is_no_limit() -> None:
    """An open union's fallback takes any text: the format only says how it is read."""
    old, new = ({"anyOf": [text(format=name), {}]} for name in ("date", "uuid"))
    assert compared(message(old), message(new), formats=True).wire.backward == "yes"


@pytest.mark.parametrize("whole", tiers.EXTENTS)
def test_random_pairs_say_yes_only_where_no_text_tells_them_apart(whole: bool) -> None:
    chance = random.Random(14)
    texts = [*(each for texts in OF_FORMAT.values() for each in texts), "text", "2026-02-30", "a b", "://", "300.0.0.1"]
    names = [*FORMATS, None]
    answers = {"yes": 0, "no": 0, "undecided": 0}

    def drawn() -> Schema:
        name = chance.choice(names)
        said = {} if name is None else {"format": name}
        limits = chance.choice(({}, {"maxLength": 12}, {"minLength": 1}, {"pattern": "^[a-z0-9:]"}))
        one = text(**said, **limits)
        return chance.choice(
            (one, {"anyOf": [one, text(format=chance.choice(names[:-1]))]}, {"type": ["null", "string"], **said})
        )

    for _ in range(200 if whole else 15):
        old, new = drawn(), drawn()
        report = compared(message(old), message(new), formats=True)
        for accepts, refuses, answer in ((old, new, report.wire.backward), (new, old, report.wire.forward)):
            answers[answer] += 1
            told_apart = [each for each in texts if is_valid(accepts, each) and not is_valid(refuses, each)]
            assert not (answer == "yes" and told_apart), (old, new, told_apart)
    assert answers["no"] > answers["undecided"]


def test_the_command_asserts_what_the_policy_does(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text('[tool.acpgen]\n[tool.acpgen.compat]\nformats = "asserted"\n')
    for name, field in (("old", text()), ("new", text(format="uuid"))):
        (tmp_path / f"{name}.json").write_text(json.dumps(message(field)))
    done = run(tmp_path, "diff", "old.json", "new.json")
    assert done.returncode == 1
    assert "BREAKING  1 breaking" in done.stdout
    assert "The format is now uuid (previously unspecified)." in " ".join(done.stdout.split())
    steps = run(tmp_path, "history", "old.json", "new.json", "--format", "json")
    assert json.loads(steps.stdout)["steps"][0]["verdict"] == "breaking"


# --- what texts hold ---


@pytest.mark.parametrize("formats", [False, True])
@pytest.mark.parametrize(
    ("old", "new", "rule", "told"),
    [
        ({}, {"contentEncoding": "base64"}, "format-changed", "a peer that decodes reads the texts differently"),
        ({"contentEncoding": "base64"}, {"contentEncoding": "base16"}, "format-changed", "now base16"),
        ({}, {"contentMediaType": "application/json"}, "schema-restructured", "'contentMediaType'"),
        (
            {"contentMediaType": "application/json", "contentSchema": {"type": "object"}},
            {"contentMediaType": "application/json", "contentSchema": {"type": "array"}},
            "schema-restructured",
            "a peer that reads the content reads it differently",
        ),
    ],
)
def test_what_a_text_holds_refuses_nothing_and_its_change_is_named(
    old: Schema, new: Schema, rule: str, told: str, formats: bool
) -> None:
    """JSON Schema 2020-12, validation, section 8: implementations that validate leave the content to applications."""
    report = compared(message(text(**old)), message(text(**new)), formats=formats)
    (finding,) = report.findings
    assert (report.verdict, finding.rule) == ("editorial", rule)
    assert told in finding.message
    assert (report.wire.backward, report.wire.forward) == ("yes", "yes")
