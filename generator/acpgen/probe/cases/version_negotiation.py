"""Initialization again: old, new and malformed versions, content of later peers, and requests that come too early."""

from __future__ import annotations

import json
from typing import Any, Final

from acpgen.probe.case_context import KNOWN, Handshake, SkipCase, Trial
from acpgen.probe.cases.initialization import describe_no_version, describe_unspoken, fail_handshake
from acpgen.probe.connection import write_id
from acpgen.probe.registry import case

NEWEST: Final = 65535
"""A version that no protocol has; the schema allows none above it."""


@case("initialization/newer-version", "version", "program", (1,))
def newer_version(trial: Trial) -> None:
    """`initialize` with a version that does not exist yet. Expected: the latest version that the agent speaks, not an error."""
    spoken = {handshake.version for handshake in map(trial.initialize, KNOWN) if handshake.version in KNOWN}
    if not spoken:
        raise SkipCase(describe_no_version(trial))
    outcome = _initialize(trial, NEWEST, "version")
    if outcome.answer is None:
        return
    if "error" in outcome.answer.value:
        fail_handshake(trial, outcome, f"version {NEWEST} is refused with the error {outcome.answer.reason}")
    elif outcome.version == NEWEST:
        fail_handshake(trial, outcome, f"version {NEWEST} does not exist, but was accepted")
    elif isinstance(outcome.version, int) and outcome.version < max(spoken):
        sentence = f"version {NEWEST} is answered with {outcome.version}, though version {max(spoken)} is supported"
        fail_handshake(trial, outcome, sentence)


@case("initialization/older-version", "version", "program", (1,))
def older_version(trial: Trial) -> None:
    """`initialize` with version 0. Expected: an answer. An agent that speaks nothing so old may also refuse."""
    if not any(handshake.version in KNOWN for handshake in map(trial.initialize, KNOWN)):
        raise SkipCase(describe_no_version(trial))
    outcome = _initialize(trial, 0, "answered")
    if outcome.version == 0:
        fail_handshake(trial, outcome, "version 0 was accepted; it was never published", "note")


@case("initialization/malformed-version", "answered", "program", (1,))
def malformed_version(trial: Trial) -> None:
    """`initialize` with a version that is an object. Expected: an answer, be it an error; the agent does not just end."""
    if not any(handshake.version in KNOWN for handshake in map(trial.initialize, KNOWN)):
        raise SkipCase(describe_no_version(trial))
    if is_calm(trial):
        return
    _initialize(trial, {"major": 1}, "answered")


@case("initialization/unknown-capability", "should", "program", (1,))
def unknown_capability(trial: Trial) -> None:
    """`initialize` with a capability that does not exist yet. Expected: the same answer as without it."""
    _require_same_answer(trial, "capability", "an unknown capability was")


@case("extensibility/meta", "meta", "program", (1,))
def meta(trial: Trial) -> None:
    """`initialize` with `_meta` in its params and capabilities. Expected: the same answer as without it."""
    _require_same_answer(trial, "meta", "`_meta` is")


@case("initialization/early-request", "early", "program", (1,))
def early_request(trial: Trial) -> None:
    """`session/new` before `initialize`. Expected: an answer, as a rule an error; `initialize` works after it."""
    if trial.initialize(1).version != 1:
        raise SkipCase(describe_unspoken(trial.initialize(1), 1))
    if is_calm(trial):
        return
    outcome = trial.initialize("early")
    trial.handshake = outcome
    connection = outcome.connection
    if outcome.answer is None:
        how = trial.ended if connection.is_over else "does not answer `initialize`"
        trial.fail(f"the program {how} after a request that came before `initialize`", 0, outcome.index)
    elif write_id("early") not in connection.answers:
        trial.fail("a request that came before `initialize` is not answered", 0, outcome.index, outcome.answer.index)


@case("initialization/repeated", "initialized-once")
def repeated(trial: Trial) -> None:
    """`initialize` once more, after another request. Expected: the error -32600."""
    with trial.use_other_run(trial.start_run()):
        connection, handshake = trial.connection, trial.handshake
        if handshake is None or handshake.answer is None:
            raise SkipCase(connection.silence)
        trial.is_alive()
        response = trial.expect("initialize", json.loads(connection.rows[handshake.index].message)["params"])
        if response is not None and response.code != -32600:
            how = "is answered with a result" if "error" not in response.value else f"fails with {response.reason}"
            trial.fail_answer(response, f"`initialize` after another request {how}, and not with the error -32600")


def _initialize(trial: Trial, variant: Any, clause: str | None = None) -> Handshake:
    """The outcome of `initialize`; a missing answer is a violation."""
    outcome = trial.initialize(variant)
    if outcome.answer is None:
        trial.handshake = outcome
        trial.require_answer(outcome.id, outcome.index, "initialize", clause)
    return outcome


def _require_same_answer(trial: Trial, requested: str, addition: str) -> None:
    """Require the same answer to `initialize` with an unknown addition as without it."""
    if trial.initialize(1).version != 1:
        raise SkipCase(describe_unspoken(trial.initialize(1), 1))
    outcome = None if is_calm(trial) else _initialize(trial, requested)
    if outcome is not None and outcome.answer is not None and "error" in outcome.answer.value:
        fail_handshake(trial, outcome, f"{addition} refused: {outcome.answer.reason}")


def is_calm(trial: Trial) -> bool:
    """Whether the program handles an early request, a malformed one, `_meta` and a new capability in one run; then separate runs are not
    needed.
    """
    if trial.initialize(1).version != 1:
        return False
    outcome = trial.initialize("all at once")
    answers = outcome.connection.answers
    return outcome.version == 1 and all(write_id(name) in answers for name in ("early", "malformed"))
