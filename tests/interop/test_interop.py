"""The matrix of SDKs: its page is what was measured, its conversation is of the protocol, and what it says can be seen here again."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, Final

import pytest

import evidence
import tiers
from interop.page import NEWER, page
from interop.pairs import MAKERS, OURS, PYTHON, ROOT, TYPESCRIPT, Pair, Program, run
from interop.scenario import NOT_SENT, Exchange, Judged, Line, Seen, exchanges, judged
from javascript import Unreachable
from validators import judges

DATA: Final = json.loads((ROOT / "tests" / "bench" / "interop.json").read_text("utf-8"))
SAMPLE: Final = ("session", "text", "meta", "cleared", "permission", "cancel", "extension", "new-update", "new-field")
"""Exchanges that the tests run again; the rest of the matrix is run by the benchmark."""


def program(name: str) -> Program:
    try:
        return MAKERS[name]()
    except Unreachable as reason:
        evidence.lack(str(reason))
        raise


def told(pair: Pair) -> dict[str, tuple[str, str | None]]:
    return {one.exchange: (one.effect, one.by) for one in pair.found if one.effect != "kept"}


def measured(version: int, client: str, agent: str) -> dict[str, tuple[str, str | None]]:
    (row,) = (one for one in DATA if (one["version"], one["client"], one["agent"]) == (version, client, agent))
    return {one["exchange"]: (one["effect"], one["by"]) for one in row["wrong"]}


# --- what the page shows ---------------------------------------------------------------------------------------------


def test_the_page_is_what_was_measured() -> None:
    assert (ROOT / "schema" / "pages" / "interop.md").read_text("utf-8") == page(DATA)


def test_every_red_cell_shows_the_message_that_fails_or_says_that_none_could_be_sent() -> None:
    wrong = [one for row in DATA for one in row["wrong"]]
    assert wrong
    for one in wrong:
        assert one["message"] or one["effect"] == "not sent", one
        assert one["reason"] or one["effect"] not in ("not sent", "refused"), one


@pytest.mark.parametrize("version", [1, 2])
def test_our_bindings_get_everything_through(version: int) -> None:
    maker = program(OURS)
    assert told(run(maker, maker, version)) == {} == measured(version, OURS, OURS)


PAIRS: Final = (
    *((1, PYTHON, OURS), (1, OURS, PYTHON), (1, PYTHON, PYTHON)),
    *((1, TYPESCRIPT, OURS), (1, OURS, TYPESCRIPT), (2, TYPESCRIPT, OURS), (2, OURS, TYPESCRIPT)),
)


@pytest.mark.parametrize("pair", tiers.sample(PAIRS, 2, lambda pair: f"v{pair[0]}-{pair[1]}-{pair[2]}"))
def test_an_sdk_does_what_the_page_says(pair: tuple[int, str, str]) -> None:
    _again(*pair)


def _again(version: int, client: str, agent: str) -> None:
    pair = run(program(client), program(agent), version, SAMPLE)
    assert [one.exchange for one in pair.found] == [one.name for one in exchanges(version) if one.name in SAMPLE]
    expected = {name: what for name, what in measured(version, client, agent).items() if name in SAMPLE}
    assert told(pair) == expected


# --- the conversation ------------------------------------------------------------------------------------------------


def messages(exchange: Exchange, version: int) -> Iterator[tuple[str, dict[str, Any]]]:
    """What passes in an exchange, with its sender."""
    if exchange.call is not None:
        yield "client", {"id": 1, "method": exchange.call["method"], "params": exchange.call["params"]}
        return
    blocks = [{"type": "text", "text": exchange.name}, *exchange.blocks]
    meta = {} if exchange.meta is None else {"_meta": exchange.meta}
    yield "client", {"id": 1, "method": "session/prompt", "params": {"sessionId": "s", "prompt": blocks, **meta}}
    for update in exchange.updates:
        yield "agent", {"method": "session/update", "params": {"sessionId": "s", "update": update}}
    for request in exchange.requests:
        yield "agent", {"id": 1, "method": request["method"], "params": {"sessionId": "s", **request["params"]}}


@pytest.mark.parametrize("version", [1, 2])
def test_the_conversation_is_of_the_protocol_but_for_what_is_newer(version: int) -> None:
    subject = judges.subject(f"acp/v{version}")
    names = [one.name for one in exchanges(version)]
    assert len(set(names)) == len(names)
    assert names[:2] == ["initialize", "session"]
    for exchange in exchanges(version):
        assert bool(exchange.newer) == exchange.name.startswith(NEWER)
        for sender, message in messages(exchange, version):
            wrong = subject.strict.validate({"jsonrpc": "2.0", **message}, sender=sender)
            assert not wrong or exchange.newer, (exchange.name, wrong)


# --- the judgement ---------------------------------------------------------------------------------------------------

UPDATE: Final = {"sessionUpdate": "notice", "severity": "warning", "title": "Slow."}
NOTICE: Final = Exchange("notice", "A notice.", (1,), updates=(UPDATE,))


def chunk(prompt: Any, **more: Any) -> Any:
    text = json.dumps({"prompt": prompt, "meta": None, "answers": [], "trouble": None, **more})
    return {"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": text}}


PROMPT: Final = [{"type": "text", "text": "notice"}]
ASKED: Final = Line("client", {"id": 3, "method": "session/prompt", "params": {"sessionId": "s", "prompt": PROMPT}})
ENDED: Final = {"stopReason": "end_turn"}


def updated(update: Any) -> Line:
    return Line("agent", {"method": "session/update", "params": {"sessionId": "s", "update": update}})


@pytest.mark.parametrize(
    ("seen", "lines", "effect", "by"),
    [
        (Seen(ENDED, (UPDATE, chunk(PROMPT))), [ASKED, updated(UPDATE)], "kept", None),
        (Seen(ENDED, ({**UPDATE, "more": 1}, chunk(PROMPT))), [ASKED, updated(UPDATE)], "kept", None),
        (Seen(ENDED, (chunk(PROMPT),)), [ASKED, updated(UPDATE)], "lost on receipt", "client"),
        (Seen(ENDED, (chunk(PROMPT),)), [ASKED, updated({**UPDATE, "title": ""})], "altered on sending", "agent"),
        (Seen(ENDED, (chunk(PROMPT),)), [ASKED], "not sent", "agent"),
        (Seen(ENDED, (chunk(PROMPT, trouble=f"{NOT_SENT}x"),)), [ASKED], "not sent", "agent"),
        (Seen(error=f"{NOT_SENT}x"), [], "not sent", "client"),
        (
            Seen(ENDED, (UPDATE, chunk([{"type": "text", "text": "no"}]))),
            [ASKED, updated(UPDATE)],
            "lost on receipt",
            "agent",
        ),
        (
            Seen(error="-32602 no", code=-32602),
            [ASKED, Line("agent", {"id": 3, "error": {"code": -32602}})],
            "refused",
            "agent",
        ),
        (Seen(error="the connection ended", is_over=True), [ASKED, updated(UPDATE)], "refused", "agent"),
        (Seen(error="no answer", updates=(chunk(PROMPT),)), [ASKED, updated(UPDATE)], "refused", "client"),
    ],
    ids=lambda value: value if isinstance(value, str) else None,
)
def test_whose_doing_it_is_shows_in_what_passed(seen: Seen, lines: list[Line], effect: str, by: str | None) -> None:
    found: Judged = judged(NOTICE, seen, lines, 1)
    assert (found.effect, found.by) == (effect, by)
