"""The canonical schemas against upstream's: the same facts and the same verdicts, but for the rows of `differences.json`."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping
from functools import cache
from random import Random
from typing import Any, Final

import pytest

import evidence
import tiers
from oracle.instances import Maker, damaged
from oracle.upstream import (
    Judge,
    Row,
    Table,
    canonical,
    facts,
    order,
    patched,
    tables,
    written,
)

PROTOCOLS: Final = tuple(tables())
ROWS: Final = [row for table in tables().values() for row in table.rows]
MADE: Final = 30
MANY: Final = 300
"""Instances drawn from each definition of either side, by default and in the whole test; each is judged as it is and twice damaged."""


@pytest.fixture(scope="module", params=PROTOCOLS)
def table(request: pytest.FixtureRequest) -> Table:
    return tables()[request.param]


@cache
def judges(protocol: str) -> tuple[Judge, Judge, Judge]:
    """Ours, upstream's with the definitions that rows bring, and upstream's with every row done."""
    table = tables()[protocol]
    return canonical(protocol), Judge(patched(table, brought(protocol))), Judge(patched(table, table.rows))


@cache
def brought(protocol: str) -> tuple[Row, ...]:
    """The rows that bring a definition: the others of that definition are seen on top of them."""
    return tuple(row for row in tables()[protocol].rows if row.pointer == "" and row.op == "add")


# --- facts -----------------------------------------------------------------------------------------------------------


def test_both_sides_have_the_same_definitions_but_for_the_added_ones(table: Table) -> None:
    ours = set(written(table.protocol).definitions)
    theirs = set(patched(table, table.rows)["$defs"])
    assert ours - theirs == set(table.added)
    if table.protocol.startswith("acp/"):
        assert theirs <= ours


def test_every_definition_states_the_same_facts_with_the_rows_done(table: Table) -> None:
    ours, theirs = written(table.protocol), patched(table, table.rows)
    named = {name: ours.definitions[name] for name in table.added}
    ignored = ignored_in(table)
    differing = {
        name: (facts(theirs["$defs"][name], {}, ignored), facts(schema, named, ignored))
        for name, schema in ours.definitions.items()
        if name not in table.added and facts(theirs["$defs"][name], {}, ignored) != facts(schema, named, ignored)
    }
    assert differing == {}


def test_fields_stand_in_upstreams_order(table: Table) -> None:
    if not table.protocol.startswith("acp/"):
        pytest.skip("MCP's files sort their fields by the alphabet; ours are in reading order")
    ours, theirs = written(table.protocol), patched(table, table.rows)
    named = {name: ours.definitions[name] for name in table.added}
    for name, schema in ours.definitions.items():
        if name not in table.added:
            added = {row.pointer for row in table.rows if row.definition == name and row.op == "add"}
            left, right = (dict(order(side)) for side in (facts(theirs["$defs"][name], {}), facts(schema, named)))
            for path, fields in left.items():
                kept = [field for field in fields if f"{path}/properties/{field}" not in added]
                assert [field for field in right[path] if field in kept] == kept, f"{name}{path}"


def test_the_root_states_the_same_facts_with_the_rows_done(table: Table) -> None:
    if not table.protocol.startswith("acp/"):
        pytest.skip("MCP's file has no root that asserts anything")
    theirs = {key: value for key, value in patched(table, table.rows).items() if key != "$defs"}
    assert facts(written(table.protocol).root, {}) == facts(theirs, {})


def ignored_in(table: Table) -> frozenset[str]:
    """Keywords that upstream's notation does not have at all."""
    return frozenset() if table.protocol.startswith("acp/") else frozenset({"x-method", "x-side", "x-docs-ignore"})


# --- rows ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("row", tiers.sample(ROWS, 25, lambda row: row.id))
def test_every_row_is_seen(row: Row) -> None:
    """A row changes what upstream states; its witness is judged as it says, and by this row alone."""
    table = tables()[row.protocol]
    needed = [other for other in table.rows if other.place in row.given]
    assert len(needed) == len(row.given)
    before = [*(other for other in brought(row.protocol) if other != row), *needed]
    plain, done = patched(table, before), patched(table, [*before, row])
    assert facts(plain["$defs"].get(row.definition, plain), {}) != facts(done["$defs"].get(row.definition, done), {})
    assert row.what.endswith(".")
    assert row.reason.endswith(".")
    if row.witness is None:
        return
    instance, upstream, ours = (row.witness[key] for key in ("instance", "upstream", "ours"))
    assert upstream != ours
    own = canonical(row.protocol)
    assert Judge(plain).accepts(row.definition, instance) == upstream
    assert Judge(done).accepts(row.definition, instance) == ours
    assert own.accepts(row.definition, instance) == ours


def test_rows_without_a_witness_change_no_verdict(table: Table) -> None:
    """What they change is not seen by any judge: the same instances, with and without them."""
    silent = [row for row in table.rows if row.witness is None]
    loud = [row for row in table.rows if row.witness is not None or row in brought(table.protocol)]
    with_all, without = judges(table.protocol)[2], Judge(patched(table, loud))
    for name, instance in instances(table.protocol, made=3):
        if name in without.names:
            assert with_all.accepts(name, instance) == without.accepts(name, instance), (name, instance, silent)


# --- verdicts --------------------------------------------------------------------------------------------------------


def test_verdicts_agree_on_the_corpus_but_for_the_listed_messages(table: Table) -> None:
    need_corpus(table.protocol)
    ours, upstream, theirs = judges(table.protocol)
    judged = Counter[bool]()
    seen: set[str] = set()
    for row in corpus(table.protocol):
        name, instance = row["type"], payload(row)
        verdict = ours.accepts(name, instance)
        judged[verdict] += 1
        assert theirs.accepts(name, instance) == verdict, row["source"]
        if upstream.accepts(name, instance) != verdict:
            seen.add(row["source"])
    assert seen == {source for row in table.rows for source in row.corpus}
    if table.protocol.startswith("acp/"):
        assert judged[True] > 100
        assert judged[False] > 5


def test_whole_messages_of_the_corpus_are_judged_alike_by_the_roots(table: Table) -> None:
    if not table.protocol.startswith("acp/"):
        pytest.skip("MCP's file has no root, and the corpus no message of MCP")
    need_corpus(table.protocol)
    ours, _, theirs = judges(table.protocol)
    messages = [row["message"] for row in corpus(table.protocol) if "jsonrpc" in row["message"]]
    assert len(messages) > 20
    for message in messages:
        assert ours.accepts("", message) == theirs.accepts("", message)


@pytest.mark.parametrize("whole", tiers.EXTENTS)
def test_verdicts_agree_on_generated_and_damaged_instances(table: Table, whole: bool) -> None:
    ours, upstream, theirs = judges(table.protocol)
    judged, differing = Counter[bool](), Counter[str]()
    for name, instance in instances(table.protocol, made=MANY if whole else MADE):
        verdict = ours.accepts(name, instance)
        judged[verdict] += 1
        assert theirs.accepts(name, instance) == verdict, f"{name}: ours {verdict}: {json.dumps(instance)}"
        if upstream.accepts(name, instance) != verdict:
            differing[name] += 1
    assert judged[True] > 1000
    assert judged[False] > 1000
    changed = {row.definition for row in table.rows if row.witness}
    for name in differing:
        assert changed & reached(table, name), f"{name} is judged differently and reaches no row"
    assert changed & set(differing)


def instances(protocol: str, *, made: int) -> Iterator[tuple[str, Any]]:
    """Instances of every definition that both sides have: examples, messages, generated ones of either, all also damaged."""
    table = tables()[protocol]
    ours, _, theirs = judges(protocol)
    definitions = [written(protocol).definitions, patched(table, table.rows)["$defs"]]
    messages: dict[str, list[Any]] = {}
    for row in corpus(protocol):
        messages.setdefault(row["type"], []).append(payload(row))
    for name in sorted((ours.names & theirs.names) - {""}):
        random = Random(f"{protocol} {name}")
        makers = [Maker(side, random) for side in definitions]
        found = [*written(protocol).definitions[name].get("examples", ()), *messages.get(name, ())]
        found.extend(maker.make(maker.definitions[name]) for maker in makers for _ in range(made))
        for instance in found:
            yield name, instance
            yield name, damaged(instance, random)
            yield name, damaged(instance, random)


def recorded(protocol: str) -> str:
    """What the corpus of a protocol is called, if it has one."""
    return f"corpus/{protocol.rsplit('/')[-1]}.jsonl"


def need_corpus(protocol: str) -> None:
    if protocol.startswith("acp/"):
        evidence.need(recorded(protocol))


@cache
def corpus(protocol: str) -> tuple[Mapping[str, Any], ...]:
    """The recorded messages of types that the protocol has, where they are at hand."""
    file = evidence.path(recorded(protocol))
    if not file.exists():
        return ()
    rows = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
    return tuple(row for row in rows if row["type"] in written(protocol).definitions)


def payload(row: Mapping[str, Any]) -> Any:
    """What the type of a row describes: params, result or error of a message, or the fragment itself."""
    member = {"request": "params", "notification": "params", "result": "result", "error": "error"}.get(row["kind"])
    return row["message"] if member is None else row["message"].get(member)


def reached(table: Table, name: str) -> frozenset[str]:
    """The definition and all that it refers to, directly or not."""
    definitions = patched(table, table.rows)["$defs"]
    found: set[str] = set()
    queue = [name]
    while queue:
        current = queue.pop()
        if current not in found:
            found.add(current)
            text = json.dumps(definitions[current])
            queue.extend(part.split('"', 1)[0] for part in text.split("#/$defs/")[1:])
    return frozenset(found)


def test_messages_that_our_mcp_root_accepts_are_messages_of_upstream() -> None:
    protocol = "mcp/2025-06-18"
    ours, upstream, _ = judges(protocol)
    collected = written(protocol)
    maker = Maker(collected.definitions, Random(protocol))
    root = {key: value for key, value in collected.root.items() if key in ("anyOf", "oneOf")}
    made = [maker.make(root) for _ in range(600)]
    accepted = [message for message in made if ours.accepts("", message)]
    assert len(accepted) > 40
    for message in accepted:
        if message.get("method") == "initialize" and not isinstance(message["params"].get("_meta", {}), dict):
            continue  # upstream's InitializeRequest says nothing about `_meta`, its JSONRPCRequest does
        assert upstream.accepts("JSONRPCMessage", message), message
