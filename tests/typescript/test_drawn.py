"""Drawn values, most of them damaged or misspelt, by JSON Schema, by the Python bindings and by the TypeScript modules: one verdict, and of
both bindings the same pointers, sentences, drops and written values."""

from __future__ import annotations

import json
from importlib import import_module
from pathlib import Path
from random import Random
from typing import Any

import pytest

import drafts_drawn
import tiers
from acpgen.bundle.bundle import bundle
from acpgen.input.drafts import MODERN
from acpgen.input.load import Document, Documents, load
from acpgen.input.walk import is_array, is_object
from acpgen.meaning.lower import lower
from acpgen.naming.identifiers import make_class_names
from acpgen.targets.installed import TARGETS
from acpgen.targets.interface import Settings
from jsonrpc_bindings.errors import DecodeError, Dropped
from oracle.instances import Maker, damaged
from oracle.upstream import Judge
from typescript.test_typescript import HERE, PROTOCOLS, ROOT, run, write

MANY = 12
"""Values drawn from each definition in the whole test; each is judged as it is, twice damaged and misspelt."""


@pytest.mark.parametrize("whole", tiers.EXTENTS)
@pytest.mark.parametrize("name", PROTOCOLS)
def test_three_judges_agree(name: str, whole: bool, tmp_path: Path) -> None:
    write(tmp_path, ROOT / "schema" / name)
    bindings, bundled = import_module(PROTOCOLS[name]), bundle(load(ROOT / "schema" / name))
    schema = Judge(bundled.schema)
    rows = list(drawn(bindings, bundled.definitions, MANY if whole else 2))
    found = run(HERE / "sentences.mjs", tmp_path / "index.js", given="\n".join(map(json.dumps, rows)))
    refused = 0
    for row, ours in zip(rows, found, strict=True):
        type_, value = row["type"], row["message"]
        valid = schema.accepts(type_, value)
        assert (ours["validate"] == []) == valid, row
        assert ours["validate"] == order(bindings.validate_as(type_, value)), row
        assert {key: ours[key] for key in ("decode", "dropped", "written")} == decoded(bindings, type_, value), row
        refused += not valid
    assert len(rows) / 4 < refused < len(rows) * 3 / 4


def drawn(bindings: Any, definitions: Any, many: int) -> Any:
    random = Random(42)
    maker = Maker(definitions, random)
    for name in definitions:
        if hasattr(bindings, name):
            for _ in range(many):
                value = maker.make(definitions[name])
                for one in (value, damaged(value, random), damaged(value, random), misspelt(value, random)):
                    yield {"type": name, "message": whole_numbers(one)}


def misspelt(value: Any, random: Random) -> Any:
    """A copy in which some names and texts have a wrong letter, are written otherwise, or are what others call them."""
    if is_object(value):
        return {_misspelt(key, random): misspelt(one, random) for key, one in value.items()}
    if is_array(value):
        return [misspelt(one, random) for one in value]
    return _misspelt(value, random) if isinstance(value, str) else value


def _misspelt(text: str, random: Random) -> str:
    if len(text) < 3 or random.random() < 0.75:
        return text
    place = random.randrange(len(text))
    other = {"path": "uri", "uri": "path", "cwd": "root", "sessionId": "session"}
    ways = [text[:place] + text[place + 1 :], text.upper(), text.replace("_", "-"), f"{text}'\N{NO-BREAK SPACE}\u200b"]
    return random.choice([*ways, other.get(text, text[:place] + "x" + text[place:])])


def whole_numbers(value: Any) -> Any:
    """A copy without numbers such as 1.0, which JavaScript writes as 1."""
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if is_object(value):
        return {key: whole_numbers(one) for key, one in value.items()}
    return [whole_numbers(one) for one in value] if is_array(value) else value


def decoded(bindings: Any, type_: str, value: Any) -> dict[str, Any]:
    dropped: list[Dropped] = []
    try:
        found = bindings.decode_as(type_, value, on_drop=dropped.append)
    except DecodeError as refused:
        return {"decode": order(refused.problems), "dropped": [], "written": None}
    drops = sorted([one.pointer, one.problem.pointer, one.problem.sentence] for one in dropped)
    return {"decode": [], "dropped": drops, "written": json.loads(bindings.encode(found))}


def order(problems: Any) -> list[list[str]]:
    return sorted([one.pointer, one.sentence] for one in problems)


ENVELOPES: Any = (
    *({}, {"jsonrpc": 2}, {"id": 1.5}, {"id": None}, {"id": []}, {"method": None}, {"method": "sesion/prompt"}),
    *({"method": "_tide"}, {"method": "session/cancel"}, {"params": None}, {"params": 5}, {"params": ...}),
    *(
        {"result": {}},
        {"error": {}},
        {"error": {"code": 1, "message": "x"}, "method": ...},
        {"methd": "x", "method": ...},
    ),
    *({"jsonrpc": ...}, {"id": ...}, {"result": {}, "method": ...}, {"result": None, "method": ...}),
    *({"result": {}, "error": {}, "method": ...}, {"result": {}, "method": ..., "id": ...}),
)
"""What is changed of messages; dots take a member away."""


@pytest.mark.parametrize("name", PROTOCOLS)
def test_messages_are_judged_as_in_python(name: str, tmp_path: Path) -> None:
    write(tmp_path, ROOT / "schema" / name)
    bindings, bundled = import_module(PROTOCOLS[name]), bundle(load(ROOT / "schema" / name))
    random = Random(42)
    maker = Maker(bundled.definitions, random)
    protocol = lower(bundled)
    rows: list[dict[str, Any]] = []
    for method in protocol.methods:
        params: Any = maker.make(bundled.definitions[method.params]) if method.params else {}
        whole = {"jsonrpc": "2.0", "id": 7, "method": method.name, "params": whole_numbers(params)}
        for change in random.sample(ENVELOPES, 6):
            merged = {**whole, **change}
            message = {key: one for key, one in merged.items() if one is not ...}
            if method.kind == "notification" and "id" not in change:
                message.pop("id", None)
            asked = method.name if "method" not in message and method.kind == "request" else None
            rows.append({"message": message, "sender": random.choice(protocol.sides), "method": asked})
    others: tuple[Any, ...] = (5, None, [], {})
    rows += [{"message": one, "sender": protocol.sides[0], "method": None} for one in others]
    found = run(HERE / "messages.mjs", tmp_path / "index.js", given="\n".join(map(json.dumps, rows)))
    for row, ours in zip(rows, found, strict=True):
        problems = bindings.validate(row["message"], sender=row["sender"], method=row["method"])
        assert sorted(ours["validate"]) == sorted([one.pointer, one.sentence, one.rule] for one in problems), row
        wanted = None
        try:
            bindings.decode(row["message"], sender=row["sender"], method=row["method"])
        except DecodeError as error:
            id_ = error.id if isinstance(error.id, str | int | float) else None
            wanted = {"code": error.code, "id": id_, "method": error.method, "problems": order(error.problems)}
        if ours["decode"] is not None:
            ours["decode"]["problems"].sort()
        assert ours["decode"] == wanted, row


@pytest.mark.parametrize("whole", tiers.EXTENTS)
def test_drawn_schemas_have_the_verdict_of_json_schema(whole: bool, tmp_path: Path) -> None:
    work: list[dict[str, Any]] = []
    wanted: list[list[list[bool]]] = []
    for seed in range(400 if whole else 40):
        maker = drafts_drawn.Maker(seed, MODERN)
        schema = maker.document()
        values = [whole_numbers(maker.value()) for _ in range(12)]
        made = bundle(Documents("drawn", (Document("schema.json", schema, json.dumps(schema)),)))
        protocol = lower(made)
        for path, text in TARGETS["typescript"](protocol, made, Settings(f"schema{seed}")).items():
            (tmp_path / path).parent.mkdir(exist_ok=True)
            (tmp_path / path).write_text(text, "utf-8")
        judge = Judge(made.schema)
        for name, type_ in make_class_names(protocol.definitions.keys()).items():
            if name in made.definitions:
                work.append({"module": str(tmp_path / f"schema{seed}" / "index.js"), "type": type_, "values": values})
                wanted.append([[valid, valid] for valid in (judge.accepts(name, value) for value in values)])
    (tmp_path / "package.json").write_text('{"type": "module"}', "utf-8")
    for row, found, verdicts in zip(work, run(HERE / "suite.mjs", given=json.dumps(work)), wanted, strict=True):
        assert found == verdicts, row
