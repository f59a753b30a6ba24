"""Initialization: the negotiated version, and what happens if the two sides know different ones."""

from __future__ import annotations

from acpgen.probe.case_context import KNOWN, Handshake, SkipCase, Trial
from acpgen.probe.clauses import Strength
from acpgen.probe.registry import case


@case("initialization/answer", "must", "program", (1,))
def answer(trial: Trial) -> None:
    """`initialize` with a version that exists. Expected: an answer with a version and capabilities, for one of the versions at least."""
    handshakes = [trial.initialize(version) for version in KNOWN]
    if any(handshake.answer is not None and "result" in handshake.answer.value for handshake in handshakes):
        return
    first = handshakes[0]
    trial.handshake = first
    if first.answer is not None:
        trial.fail_answer(first.answer, f"`initialize` was refused: {first.answer.reason}")
    elif first.connection.rows and any(row.sender == first.connection.program_side for row in first.connection.rows):
        trial.fail("`initialize` was not answered, though the program sends output", first.index, first.index + 5)
    else:
        raise SkipCase(first.connection.silence)


@case("initialization/supported-version", "version", "program", (1,))
def supported_version(trial: Trial) -> None:
    """`initialize` with the versions 1 and 2. Expected: each version that the agent turns out to speak is agreed on when asked for."""
    handshakes = {version: trial.initialize(version) for version in KNOWN}
    spoken = [handshake.version for handshake in handshakes.values()]
    if not any(version in KNOWN for version in spoken):
        raise SkipCase(describe_no_version(trial))
    for requested, outcome in handshakes.items():
        if requested in spoken and isinstance(outcome.version, int) and outcome.version != requested:
            fail_handshake(
                trial,
                outcome,
                f"version {requested} was requested and is supported, but the answer is {outcome.version}",
            )


def describe_unspoken(outcome: Handshake, version: int) -> str:
    """Why a version is not spoken."""
    if outcome.answer is None:
        return outcome.connection.silence
    if "result" not in outcome.answer.value:
        return f"`initialize` was refused: {outcome.answer.reason}"
    return f"the agent does not support version {version}"


def describe_no_version(trial: Trial) -> str:
    """Why no version is spoken."""
    outcomes = [trial.initialize(version) for version in KNOWN]
    return (
        outcomes[0].connection.silence
        if all(outcome.answer is None for outcome in outcomes)
        else "no version was negotiated"
    )


def fail_handshake(trial: Trial, outcome: Handshake, message: str, level: Strength | None = None) -> None:
    """Report a violation that the answer to `initialize` shows."""
    trial.handshake = outcome
    assert outcome.answer is not None
    trial.fail_answer(outcome.answer, message, level=level)
