"""The strict validator says what the schema says: `jsonschema` gives the same verdicts on real messages and on damaged ones."""

from __future__ import annotations

import json
import random
from collections import Counter
from typing import Any

import pytest

import tiers
from acpgen.input.walk import is_array
from validators.drawn import corpus, damaged, least
from validators.judges import NAMES, UPSTREAM, Subject, subject
from variants import bodies

EMPTY: dict[str, Any] = {}


def known_difference(value: Any) -> bool:
    """Where the judges are known to differ: `jsonschema` lets `$` match before a line end at the end of a text."""
    text = json.dumps(value)
    return '\\n"' in text


def same(subject_: Subject, message: Any, sender: str, method: str | None) -> bool:
    mine = not subject_.strict.validate(message, sender=sender, method=method)
    theirs = subject_.accepts_message(message, sender, method)
    assert mine == theirs or known_difference(message), (
        message,
        subject_.strict.validate(message, sender=sender, method=method),
    )
    return mine


@pytest.mark.parametrize("name", tiers.sample(["acp/v1", "acp/v2", "acp-v1-newest", "acp-v2-newest"], 2))
def test_both_judges_agree_on_the_corpus(name: str) -> None:
    version, upstream = 1 if "v1" in name else 2, name not in NAMES
    judged = subject(name)
    verdicts: Counter[bool] = Counter()
    for row in corpus(version):
        message, method = row["message"], row["method"]
        if row["kind"] in ("request", "notification", "result", "error"):
            sender = (row["direction"] or "client->agent").split("->")[0]
            valid = same(judged, message, sender, method)
        elif row["type"] in judged.bundle.definitions:
            valid = not judged.strict.validate_as(row["type"], message)
            assert valid == judged.accepts(row["type"], message), message
        else:
            continue
        verdicts[valid] += 1
        if upstream and row["type"] not in bodies(judged.protocol):  # a variant's body has the tag of it here
            assert valid == row["valid_newest"], message
    assert verdicts[True] > 100
    assert verdicts[False] > 10


@pytest.mark.parametrize("whole", tiers.EXTENTS)
@pytest.mark.parametrize("name", tiers.sample([*NAMES, *UPSTREAM], 4))
def test_both_judges_agree_on_every_definition_and_on_damage_to_it(name: str, whole: bool) -> None:
    judged, chance = subject(name), random.Random(name)
    verdicts: Counter[bool] = Counter()
    for definition in judged.bundle.definitions:
        if definition not in judged.protocol.definitions:
            continue
        examples = judged.bundle.definitions[definition].get("examples", [])
        sound = [least(judged.protocol, definition), *(examples if is_array(examples) else [])]
        for instance in [*sound, *(damaged(chance.choice(sound), chance) for _ in range(24 if whole else 2))]:
            mine = not judged.strict.validate_as(definition, instance)
            assert mine == judged.accepts(definition, instance), (definition, instance)
            verdicts[mine] += 1
    assert verdicts[True] > len(judged.protocol.definitions) / 2
    assert verdicts[False] > len(judged.protocol.definitions) / 2


@pytest.mark.parametrize("whole", tiers.EXTENTS)
@pytest.mark.parametrize("name", NAMES)
def test_both_judges_agree_on_messages_of_every_method_and_on_damage_to_them(name: str, whole: bool) -> None:
    judged, chance = subject(name), random.Random(name)
    verdicts: Counter[bool] = Counter()
    for method in judged.protocol.methods:
        peer = "server" if "server" in judged.protocol.sides else "agent"
        asker, answerer = (peer, "client") if method.side == "client" else ("client", peer)
        messages: list[tuple[str, Any]] = []
        for params in [EMPTY, *_instances(judged, method.params)]:
            call: dict[str, Any] = {"jsonrpc": "2.0", "method": method.name, "params": params}
            messages.append((asker, call if method.kind == "notification" else {**call, "id": 1}))
        if method.kind == "request":
            messages += [
                (answerer, {"jsonrpc": "2.0", "id": 1, "result": found}) for found in _instances(judged, method.result)
            ]
            messages.append((answerer, {"jsonrpc": "2.0", "id": 1, "error": {"code": -32603, "message": "no"}}))
        for sender, message in messages:
            assert same(judged, message, sender, method.name) or message.get("params") == {}, message
            verdicts[True] += 1
            for _ in range(80 if whole else 8):
                verdicts[same(judged, damaged(message, chance), sender, method.name)] += 1
            without = {key: item for key, item in message.items() if key != "params"}
            verdicts[same(judged, without, sender, method.name)] += 1
            verdicts[same(judged, {**message, "params": None}, sender, method.name)] += 1
            other = answerer if sender == asker else asker
            either = method.side in ("both", "protocol") or "error" in message
            assert not same(judged, message, other, method.name) or either, message
    assert verdicts[True] > 20
    assert verdicts[False] > 20


def _instances(judged: Subject, definition: str | None) -> list[Any]:
    if definition is None:
        return []
    return [least(judged.protocol, definition), *judged.bundle.definitions[definition].get("examples", [])]
