"""What must hold of the comparison of two revisions of a real schema, judged by what the comparison itself does not use.

Nothing may crash, a definition that is written differently is named by a finding, no sampled message contradicts a "yes", and two
validators confirm every witness, whether they assert formats or not.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, Final, Literal, TypeAlias, cast

import jsonschema_rs
from jsonschema import Draft202012Validator

from acpgen import ir
from acpgen.bundle.bundle import DIALECT
from acpgen.compat.compare import compare, read_revision
from acpgen.compat.findings import Finding, Report, Revision, Witness
from acpgen.compat.protocol.messages import Route, wrap_message, write_message_schema
from acpgen.compat.protocol.revision import SchemaRevision
from acpgen.compat.sources import open_input
from acpgen.errors import Faults
from acpgen.input.walk import ASSERTIONS, Schema, find_refs_anywhere, is_array, is_object, without_prose
from acpgen.pointers import write_plain_pointer
from bindings.instances import Chooser, Instances
from bindings.meaning import Meaning

SIDES: Final[tuple[Revision, Revision]] = ("old", "new")
RELATIONS: Final[tuple[Literal["wire", "language"], ...]] = ("wire", "language")
DIRECTIONS: Final[tuple[tuple[str, Revision, Revision], ...]] = (("backward", "old", "new"), ("forward", "new", "old"))
SAMPLES: Final = 12
"""So many messages of one kind try to contradict a "yes"."""

Held: TypeAlias = Route
"""A kind of message, and the definition of what it holds."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of two revisions: the report, or the fault in a sentence, and everything that must not be."""

    old: str
    new: str
    report: Report | None
    complaints: tuple[str, ...] = ()
    fault: str = ""
    attacks: int = 0
    witnesses: int = 0


@dataclass(frozen=True)
class Pair:
    """Two revisions, each with its meaning, and their report."""

    old: SchemaRevision
    new: SchemaRevision
    files: tuple[Path, Path]
    report: Report
    validators: dict[tuple[Revision, Held, bool], Any] = field(default_factory=dict[Any, Any], repr=False)

    def side(self, revision: Revision) -> SchemaRevision:
        return self.old if revision == "old" else self.new

    @cached_property
    def methods(self) -> list[tuple[ir.Method, ir.Method]]:
        after = {(method.name, method.side, method.kind): method for method in self.new.methods}
        keys = ((method, (method.name, method.side, method.kind)) for method in self.old.methods)
        return [(method, after[key]) for method, key in keys if key in after]

    @cached_property
    def held(self) -> list[tuple[Held, Held]]:
        """The kinds of message that both revisions have, and the definitions of one name that hold no message."""
        found: list[tuple[Held, Held]] = []
        for one, other in self.methods:
            found.append((Route("params", one, one.params), Route("params", other, other.params)))
            if one.kind == "request":
                found.append((Route("result", one, one.result), Route("result", other, other.result)))
        unions = self.unions
        alone = [name for name in self.old.declared if name in set(self.new.declared) - self.reached - unions]
        documents: list[Held] = [Route("document", None, name, name) for name in alone]
        return [*found, *((each, each) for each in documents)]

    @cached_property
    def reached(self) -> set[str]:
        """The definitions that a message of either revision leads to."""
        found: set[str] = set()
        for side in (self.old, self.new):
            pending = [name for each in side.methods for name in (each.params, each.result) if name is not None]
            pending += [name for name, at in side.bundle.origins.items() if at in {each.at for each in side.methods}]
            while pending:
                name = pending.pop()
                if name not in found:
                    found.add(name)
                    pending.extend(side.references.get(name, ()))
        return found

    @cached_property
    def unions(self) -> set[str]:
        """The definitions that are nothing but unions of what is reached: whole messages, which methods join one by one."""
        found: set[str] = set()
        for side in (self.old, self.new):
            for name, schema in side.bundle.definitions.items():
                branches = [each for keyword in ("anyOf", "oneOf") for each in schema.get(keyword, ())]
                names = {place.rpartition("/")[2] for each in branches for place in list_references(each)}
                if branches and names <= self.reached and ASSERTIONS.isdisjoint(schema.keys() - {"anyOf", "oneOf"}):
                    found.add(name)
        return found

    def accepts(self, revision: Revision, held: Held, value: Any, *, formats: bool = False) -> bool:
        """Whether one revision accepts a whole message, by the quick validator."""
        return bool(self._quick(revision, held, formats=formats).is_valid(value))

    def judgements(self, revision: Revision, held: Held, value: Any) -> set[bool]:
        """What two validators say, each with and without formats."""
        schema = self._schema(revision, held)
        said = {self._quick(revision, held, formats=formats).is_valid(value) for formats in (False, True)}
        for checker in (None, Draft202012Validator.FORMAT_CHECKER):
            said.add(cast("Any", Draft202012Validator(schema, format_checker=checker)).is_valid(value))
        return said

    def _schema(self, revision: Revision, held: Held) -> Schema:
        side = self.side(revision)
        return {"$schema": DIALECT, "$defs": side.bundle.definitions, **write_message_schema(side, held)}

    def _quick(self, revision: Revision, held: Held, *, formats: bool) -> Any:
        key = (revision, held, formats)
        if key not in self.validators:
            schema = self._schema(revision, held)
            self.validators[key] = jsonschema_rs.Draft202012Validator(schema, validate_formats=formats)
        return self.validators[key]


def judged(old: Path, new: Path, *, samples: int = SAMPLES) -> Outcome:
    """What came of two revisions. What is no schema is a fault, and anything else that is raised a complaint."""
    names = old.name, new.name
    try:
        report = compare(old, new, unstable=True)
        sides = [read_revision(open_input(each, checked=True, unstable=True), unstable=True) for each in (old, new)]
    except Faults as caught:
        return Outcome(*names, None, fault=str(caught.faults[0]))
    except (Exception, RecursionError) as caught:  # noqa: BLE001 - a crash is what is looked for
        return Outcome(*names, None, (f"crash: {type(caught).__name__}: {caught}",))
    pair = Pair(sides[0], sides[1], (old, new), report)
    attacks = list(attacked(pair, samples))
    witnesses = [each for each in report.findings if each.witness is not None]
    complaints = [
        *unnamed(pair),
        *(each for each in attacks if each),
        *(complaint for each in witnesses for complaint in contradicted(pair, each)),
        *inconsistent(report),
    ]
    return Outcome(*names, report, tuple(complaints), attacks=len(attacks), witnesses=len(witnesses))


# --- definitions that no finding names -------------------------------------------------------------------------------


def unnamed(pair: Pair) -> Iterator[str]:
    """The definitions that are written differently in the two files, and that no finding names.

    What only one file has is explained by a definition that refers to it, for that is written differently too, or by a method that
    only one file has; a union of whole messages by such members; a reference to another definition by the finding that this is its name
    now.
    """
    trees = [json.loads(path.read_text("utf-8")) for path in pair.files]
    before, after = (dict(definitions(tree)) for tree in trees)
    places = {spot.pointer for each in pair.report.findings for spot in (each.old, each.new) if spot is not None}
    alone = {
        at for one, other in ((before, after), (after, before)) for key, (at, _) in one.items() if key not in other
    }
    referred = {place for side in (before, after) for _, schema in side.values() for place in list_references(schema)}
    both = [{(each.name, each.side, each.kind) for each in side.methods} for side in (pair.old, pair.new)]
    referred |= {
        side.bundle.origins[name].partition("#")[2]
        for side in (pair.old, pair.new)
        for each in side.methods
        if (each.name, each.side, each.kind) not in both[0] & both[1]
        for name in (each.params, each.result)
        if name is not None
    }
    names = {
        each.old.pointer: each.new.pointer
        for each in pair.report.findings
        if each.rule == "definition-renamed" and each.old is not None and each.new is not None
    }
    for key in dict.fromkeys((*before, *after)):
        sides = [side[key] for side in (before, after) if key in side]
        if len(sides) == 2 and text(sides[0][0], _renamed(sides[0][1], names)) == text(*sides[1]):
            continue
        told = any(spot == at or spot.startswith(f"{at}/") for at, _ in sides for spot in places)
        explained = any(at in referred for at, _ in sides) if len(sides) == 1 else is_union_of(alone, *sides)
        if not told and not explained:
            yield f"no finding names {' '.join(key)}"


Defined: TypeAlias = "tuple[tuple[str, ...], tuple[str, Any]]"
"""A definition: its names from the outside in, its place, and the schema."""


def definitions(tree: Any) -> Iterator[Defined]:
    """The definitions of a file, in groups too."""
    for keyword in ("$defs", "definitions"):
        pending: list[Defined] = [
            ((name,), (f"/{keyword}{write_plain_pointer(name)}", schema))
            for name, schema in tree.get(keyword, {}).items()
        ]
        while pending:
            key, (at, schema) = pending.pop()
            if is_object(schema) and schema and ASSERTIONS.isdisjoint(schema) and all(map(is_object, schema.values())):
                pending += [
                    ((*key, name), (f"{at}{write_plain_pointer(name)}", inner)) for name, inner in schema.items()
                ]
            else:
                yield key, (at, schema)


def text(at: str, schema: Any) -> str:
    """A definition without its words, and whatever keyword keeps the definitions of its file."""
    return json.dumps(_without_idle(without_prose(schema)), sort_keys=True).replace("#/definitions/", "#/$defs/")


def _without_idle(schema: Any) -> Any:
    """A schema without the keywords that refuse nothing, and without an `allOf` around one schema alone, as some generators write
    around a reference that has a title. Where something depends on what was evaluated, the keywords stay.
    """
    if is_array(schema):
        return [_without_idle(each) for each in schema]
    if not is_object(schema):
        return schema
    kept = {key: _without_idle(value) for key, value in schema.items()}
    kept = {key: value for key, value in kept.items() if key != "additionalProperties" or value not in ({}, True)}
    lone = kept.get("allOf") if len(kept) == 1 else None
    return lone[0] if is_array(lone) and len(lone) == 1 else kept


def _renamed(schema: Any, names: dict[str, str]) -> Any:
    """A schema whose references lead to the new places of what has another name now."""
    if is_array(schema):
        return [_renamed(each, names) for each in schema]
    if not is_object(schema):
        return schema
    renamed: dict[str, Any] = {key: _renamed(value, names) for key, value in schema.items()}
    reference = schema.get("$ref")
    if isinstance(reference, str):
        at = reference.removeprefix("#")
        renamed["$ref"] = f"#{names.get(at, at)}"
    return renamed


def is_union_of(alone: set[str], old: tuple[str, Any], new: tuple[str, Any]) -> bool:
    """Whether two definitions differ only in items of lists that refer to what only one file has."""
    shells = (text(at, _without(schema, alone)) for at, schema in (old, new))
    return next(shells) == next(shells)


def _without(schema: Any, alone: set[str]) -> Any:
    if is_array(schema):
        return [_without(each, alone) for each in schema if not is_object(each) or not _is_alone(each, alone)]
    return {key: _without(value, alone) for key, value in schema.items()} if is_object(schema) else schema


def _is_alone(item: Any, alone: set[str]) -> bool:
    """Whether an item refers to nothing but what only one file has."""
    places = list_references(item)
    return bool(places) and places <= alone


def list_references(schema: Any) -> set[str]:
    """The places that a schema refers to."""
    return {reference.removeprefix("#") for reference in find_refs_anywhere(schema)}


# --- attacks on a "yes" ----------------------------------------------------------------------------------------------


class Sent(Instances):
    """Values as a peer sends them to one that advertised nothing: what is declared and needs no capability."""

    def __init__(self, meaning: Meaning) -> None:
        super().__init__(meaning)
        self.definitions = {name: _sent(each) for name, each in meaning.definitions.items()}


def _sent(definition: ir.Definition) -> ir.Definition:
    from dataclasses import replace

    match definition:
        case ir.Record():
            kept = tuple(each for each in definition.fields if each.capability is None or each.required)
            extra = ir.Nothing() if isinstance(definition.extra, ir.Anything) else definition.extra
            return replace(definition, fields=kept, extra=extra)
        case ir.TaggedUnion(variants=variants):
            known = tuple(each for each in variants if each.capability is None)
            return replace(definition, variants=known, fallback=None, fallback_shapes=()) if known else definition
        case ir.Enum(values=values):
            known_values = tuple(each for each in values if each.capability is None)
            return replace(definition, values=known_values, openness="closed") if known_values else definition
        case _:
            return definition


def attacked(pair: Pair, samples: int) -> Iterator[str]:
    """One text for each message that was tried: empty, or how it contradicts a "yes".

    Where messages as a whole have another answer, those are tried still that no finding which counts is about.
    """
    meanings: dict[Revision, Meaning] = {side: Meaning(pair.side(side).protocol) for side in SIDES}
    ways: list[tuple[str, str, Revision, Revision]] = [
        (relation, direction, sender, receiver) for relation in RELATIONS for direction, sender, receiver in DIRECTIONS
    ]
    harmed = _harmed(pair)
    for relation, direction, sender, receiver in ways:
        is_sure = getattr(getattr(pair.report, relation), direction) == "yes"
        if not is_sure and relation == "language":
            continue
        make = (Sent if relation == "wire" else Instances)(meanings[sender])
        for held in pair.held:
            ours, theirs = held if sender == "old" else held[::-1]
            name = ours.content
            if name is None or not (is_sure or _is_quiet(pair, held, harmed)):
                continue
            luck = Chooser(f"{relation} {direction} {ours.part} {name}")
            for turn in range(samples):
                try:
                    value = (make.damaged if relation == "language" and turn % 3 == 2 else make.valid)(luck, name)
                except RecursionError:
                    break  # no finite value fits
                whole = wrap_message(pair.side(sender).protocol.envelope, ours, value)
                if not is_plain(whole) or not pair.accepts(sender, ours, whole):
                    continue
                refuted = not pair.accepts(receiver, theirs, whole)
                if refuted and relation == "wire" and theirs.content is not None:
                    refuted = not meanings[receiver].accepts(theirs.content, value)  # tolerated: receivers keep it
                what = ours.method.name if ours.method is not None else name
                yield f"{relation} {direction} is no: {what} {json.dumps(whole)[:300]}" if refuted else ""


def _harmed(pair: Pair) -> tuple[set[str], tuple[set[str], set[str]]]:
    """The methods that a finding which counts is about, and the definitions of each side in which one stands."""
    harmful = [each for each in pair.report.findings if each.severity in ("breaking", "undecided", "risky")]
    names: tuple[set[str], set[str]] = set(), set()
    for finding in harmful:
        for side, spot, found in zip((pair.old, pair.new), (finding.old, finding.new), names, strict=True):
            at = "" if spot is None else f"#{spot.pointer}"
            found |= {
                name
                for name, place in side.bundle.origins.items()
                if f"{at}/".startswith(f"#{place.partition('#')[2]}/")
            }
    return {method for each in harmful for method in (*each.methods, *filter(None, [each.method]))}, names


def _is_quiet(pair: Pair, held: tuple[Held, Held], harmed: tuple[set[str], tuple[set[str], set[str]]]) -> bool:
    """Whether no finding which counts is about a kind of message, or about anything that it holds."""
    methods, names = harmed
    if any(route.method is not None and route.method.name in methods for route in held):
        return False
    for side, route, found in zip((pair.old, pair.new), held, names, strict=True):
        if route.content is not None and not found.isdisjoint(_closure(side, route.content)):
            return False
    return True


def _closure(side: SchemaRevision, name: str) -> set[str]:
    """A definition and all that it leads to."""
    found: set[str] = set()
    pending = [name]
    while pending:
        each = pending.pop()
        if each not in found:
            found.add(each)
            pending.extend(side.references.get(each, ()))
    return found


def is_plain(value: Any) -> bool:
    """Whether two validators see the same: numbers that a float does not hold are judged differently."""
    if is_object(value):
        return all(map(is_plain, value.values()))
    if is_array(value):
        return all(map(is_plain, value))
    return isinstance(value, bool) or not isinstance(value, int | float) or abs(value) < 2**53


# --- witnesses -------------------------------------------------------------------------------------------------------


def contradicted(pair: Pair, finding: Finding) -> Iterator[str]:
    """What the judges say against a witness."""
    witness = cast("Witness", finding.witness)
    named: list[tuple[Revision | None, bool]] = [
        (witness.accepted_by, True),
        (witness.carried_by, True),
        (witness.refused_by, False),
    ]
    for side, verdict in named:
        if side is None:
            continue
        kinds = list(routed(pair, finding, side))
        if not kinds:
            yield f"{finding.rule} {finding.location}: the witness belongs to no message that is known"
        elif all(pair.judgements(side, held, witness.value) != {verdict} for held in kinds):
            word = "accepted" if verdict else "refused"
            yield (
                f"{finding.rule} {finding.method} {finding.location}: not {word} by all judges of the {side} side: "
                + json.dumps(witness.value)[:300]
            )


def routed(pair: Pair, finding: Finding, side: Revision) -> Iterator[Held]:
    """The kinds of message that a finding's witness may be, on one side."""
    revised_ = pair.side(side)
    head = finding.location
    if finding.method is not None:
        part: Literal["params", "result"] = "result" if head.startswith("result") else "params"
        shared = ((one, other) for one, other in pair.methods if other.name == finding.method)
        methods = [one if side == "old" else other for one, other in shared]
        for method in methods or [each for each in revised_.methods if each.name == finding.method]:
            yield Route(part, method, method.params if part == "params" else method.result)
        return
    kind = re.match(r"(error|id|message)(?![A-Za-z0-9_])", head)
    if kind is not None:
        yield from _of_envelopes(pair, revised_, kind[1])
    places = {
        name: f"#{place.partition('#')[2]}" if (place := revised_.locate_in_file(at)) != at else name
        for name, at in revised_.bundle.origins.items()
    }
    names = [
        name
        for name, called in places.items()
        if head == called or head.startswith((f"{called}.", f"{called}(", f"{called}["))
    ]
    if names:
        name = max(names, key=len)
        yield Route("document", None, name, name)
    elif revised_.roots is not None:
        named = [Route("document", None, name, name) for name in revised_.roots.labels]
        yield from named or [Route("root", None)]


def _of_envelopes(pair: Pair, side: SchemaRevision, part: str) -> Iterator[Held]:
    """The errors, the identifiers or the whole messages of a revision."""
    if part == "message":
        methods = (one if side is pair.old else other for one, other in pair.methods)
        yield from (Route("params", method, method.params) for method in methods)
        return
    found: dict[str, None] = {}
    for schema in side.bundle.definitions.values():
        for each in (schema, *(branch for key in ("anyOf", "oneOf", "allOf") for branch in schema.get(key, ()))):
            member = each.get("properties", {}).get(part) if is_object(each) else None
            frames = schema.get("x-docs-ignore") is True
            frames = frames or "jsonrpc" in {**schema.get("properties", {}), **each.get("properties", {})}
            if is_object(member) and frames:
                found |= dict.fromkeys(place.rpartition("/")[2] for place in list_references(member))
    yield from (Route("error" if part == "error" else "id", None, name) for name in found)


# --- answers against one another -------------------------------------------------------------------------------------


def inconsistent(report: Report) -> Iterator[str]:
    """Answers that contradict each other or their findings."""
    severities = {each.severity for each in report.findings}
    if report.verdict in ("editorial", "identical") and "no" in (report.wire.backward, report.wire.forward):
        yield "nothing is found where the wire says no"
    explained = any(each.rule in ("definition-renamed", "schema-restructured") for each in report.findings)
    if report.verdict in ("editorial", "identical") and report.bindings == "breaking" and not explained:
        yield "generated code breaks, and no finding explains it"
    if report.verdict == "identical" and report.bindings != "identical":
        yield "identical beside other generated code"
    for direction in ("backward", "forward"):
        wire, language = getattr(report.wire, direction), getattr(report.language, direction)
        told = any("does not declare" in each.message for each in report.findings)
        if wire == "yes" and language != "yes" and severities <= {"editorial"} and not told:
            yield f"{direction}: wire yes, language {language}, and no finding tells why"
