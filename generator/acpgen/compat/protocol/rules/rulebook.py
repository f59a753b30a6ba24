"""The rules by the kind of fact that they judge.

A rule is one small function; its name with dashes is its public id, its docstring its documentation. `MIRRORS` names the rule that
judges the change in the other direction, or says why there is none.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final, TypeAlias

from acpgen.compat.protocol import facts as f
from acpgen.compat.protocol.rules import (
    definition_rules,
    field_rules,
    meaning_rules,
    method_rules,
    type_rules,
    union_rules,
)
from acpgen.compat.protocol.rules.judgement import Judgement

Rule: TypeAlias = Callable[[Any], Judgement | None]

VERSION: Final = 1
"""Raise it with each change, of rules or of the check around them, after which releases that are kept get other findings. The next
`acpgen generate` then makes the verdicts beside them anew (`releases/*/verdicts.json`). An exhaustive test fails until it is raised.
"""

RULES: Mapping[type[f.Fact], tuple[Rule, ...]] = {
    f.MethodAdded: (method_rules.method_added,),
    f.MethodRemoved: (method_rules.method_removed, method_rules.method_renamed),
    f.MethodKindChanged: (method_rules.method_kind_changed,),
    f.PositionsChanged: (method_rules.position_changed,),
    f.NullResultChanged: (method_rules.null_result_allowed, method_rules.null_result_withdrawn),
    f.BatchChanged: (method_rules.batch_allowed, method_rules.batch_withdrawn),
    f.FieldAdded: (
        field_rules.field_added,
        field_rules.extension_declared,
        field_rules.closed_field_added,
        field_rules.required_field_added,
    ),
    f.FieldRemoved: (field_rules.field_removed, field_rules.required_field_removed, field_rules.extension_undeclared),
    f.FieldRenamed: (field_rules.field_renamed,),
    f.RequirednessChanged: (field_rules.field_became_required, field_rules.field_became_optional),
    f.DefaultChanged: (meaning_rules.default_changed, meaning_rules.default_grown),
    f.NullMeaningChanged: (meaning_rules.null_meaning_changed, meaning_rules.null_meaning_declared),
    f.LeniencyChanged: (meaning_rules.leniency_added, meaning_rules.leniency_withdrawn),
    f.GateChanged: (meaning_rules.gate_added, meaning_rules.gate_removed, meaning_rules.gate_moved),
    f.DemandChanged: (meaning_rules.demand_changed,),
    f.ObjectOpennessChanged: (field_rules.object_closed, field_rules.object_opened),
    f.UndeclaredChanged: (field_rules.undeclared_narrowed, field_rules.undeclared_widened),
    f.NullChanged: (type_rules.null_forbidden, type_rules.null_allowed),
    f.KindChanged: (type_rules.type_narrowed, type_rules.type_widened, type_rules.type_changed),
    f.LimitChanged: (type_rules.limit_changed, type_rules.limit_tightened, type_rules.limit_loosened),
    f.FormatChanged: (type_rules.format_changed,),
    f.ValueAdded: (union_rules.value_added, union_rules.closed_value_added),
    f.ValueRemoved: (union_rules.value_removed, union_rules.closed_value_removed),
    f.ValuesNamed: (union_rules.values_named,),
    f.ValuesUnnamed: (union_rules.values_unnamed,),
    f.VariantAdded: (
        union_rules.variant_added,
        union_rules.closed_variant_added,
        union_rules.variant_beside_default_added,
    ),
    f.VariantRemoved: (union_rules.variant_removed, union_rules.closed_variant_removed),
    f.VariantRenamed: (union_rules.variant_renamed,),
    f.UntaggedChanged: (union_rules.untagged_variant_added, union_rules.untagged_variant_removed),
    f.OpennessChanged: (
        union_rules.unknown_refused,
        union_rules.unknown_accepted,
        union_rules.tolerance_added,
        union_rules.tolerance_withdrawn,
    ),
    f.TagRenamed: (union_rules.tag_renamed,),
    f.AlternativeChanged: (union_rules.alternative_added, union_rules.alternative_removed),
    f.Undetermined: (definition_rules.inclusion_undecided,),
    f.DefinitionAdded: (definition_rules.definition_added,),
    f.DefinitionRemoved: (definition_rules.definition_removed,),
    f.NotCompared: (definition_rules.not_compared,),
    f.DefinitionRenamed: (definition_rules.definition_renamed,),
    f.Reworded: (definition_rules.text_reworded,),
    f.Restructured: (definition_rules.schema_restructured,),
}
"""The rules by the kind of fact that they judge. Exactly one of them speaks for each fact."""

MIRRORS: Final[Mapping[str, str]] = {
    "method-added": "method-removed",
    "extension-declared": "extension-undeclared",
    "null-result-allowed": "null-result-withdrawn",
    "batch-allowed": "batch-withdrawn",
    "field-added": "field-removed",
    "required-field-added": "required-field-removed",
    "field-became-required": "field-became-optional",
    "leniency-added": "leniency-withdrawn",
    "gate-added": "gate-removed",
    "object-closed": "object-opened",
    "undeclared-narrowed": "undeclared-widened",
    "null-forbidden": "null-allowed",
    "type-narrowed": "type-widened",
    "limit-tightened": "limit-loosened",
    "value-added": "value-removed",
    "closed-value-added": "closed-value-removed",
    "values-named": "values-unnamed",
    "variant-added": "variant-removed",
    "closed-variant-added": "closed-variant-removed",
    "untagged-variant-added": "untagged-variant-removed",
    "unknown-refused": "unknown-accepted",
    "tolerance-added": "tolerance-withdrawn",
    "alternative-added": "alternative-removed",
    "definition-added": "definition-removed",
    "language-narrowed": "language-widened",
}
"""Each pair once: the rule, and the one that judges the change in the other direction."""

UNMIRRORED: Final[Mapping[str, str]] = {
    "method-renamed": "a rename back is a rename",
    "method-kind-changed": "a change of kind is its own mirror",
    "position-changed": "a change back is a change",
    "closed-field-added": "field-removed judges the removal, from closed objects too",
    "default-changed": "a change back is a change",
    "default-grown": "a default that shrinks is default-changed",
    "null-meaning-changed": "a change back is a change",
    "null-meaning-declared": "it judges both directions",
    "gate-moved": "a move back is a move",
    "demand-changed": "it judges both directions",
    "format-changed": "a change back is a change",
    "limit-changed": "a change back is a change",
    "type-changed": "a change back is a change",
    "variant-beside-default-added": "variant-removed judges the removal",
    "field-renamed": "a rename back is a rename",
    "variant-renamed": "a rename back is a rename",
    "tag-renamed": "a rename back is a rename",
    "inclusion-undecided": "it judges both directions",
    "not-compared": "it judges both directions",
    "definition-renamed": "a rename back is a rename",
    "text-reworded": "it judges both directions",
    "schema-restructured": "it judges both directions",
    "language-undecided": "it judges both directions",
    "keyword-ignored": "it judges both directions",
    "policy-applied": "a policy that changes nothing needs no note",
    "policy-unused": "an entry that is used needs no note",
    "waiver-expired": "a waiver that has not expired needs no note",
    "waiver-unused": "a waiver that is used needs no note",
}
"""Rules without a mirror, and why."""


def rule_id(rule: Rule) -> str:
    """The public name of a rule: `field-became-required`."""
    return rule.__name__.replace("_", "-")


def judge(fact: f.Fact) -> tuple[str, Judgement]:
    """The rule that speaks for a fact, and what it says."""
    spoken = [(rule_id(rule), judgement) for rule in RULES[type(fact)] if (judgement := rule(fact)) is not None]
    assert len(spoken) == 1, f"{len(spoken)} rules speak for {fact}"
    return spoken[0]
