"""Initialization: which version is agreed on, and what happens where the two sides know different ones."""

from __future__ import annotations

from typing import Final

from acpgen.probe.clauses import ANSWERED, FUTURE, HANDSHAKE, META, VERSION, Strength
from acpgen.probe.registry import case
from acpgen.probe.trial import Greeting, Trial

NEWEST: Final = 65535
"""No protocol has this version; the schema has none above it."""

KNOWN: Final = (1, 2)


@case("initialization/answer", HANDSHAKE, "program", (1,))
def answer(trial: Trial) -> None:
    """`initialize` with a version that exists. Expected: an answer with a version and capabilities, for one of the versions at least."""
    greetings = [trial.greet(version) for version in KNOWN]
    if any(one.answer is not None and "result" in one.answer.value for one in greetings):
        return
    first = greetings[0]
    trial.greeting = first
    if first.answer is not None:
        trial.fail(f"`initialize` was refused: {first.answer.reason}", first.index, first.answer.index)
    elif first.connection.rows and any(row.sender == first.connection.other for row in first.connection.rows):
        trial.fail("`initialize` was not answered, though the program says something", first.index, first.index + 5)
    else:
        raise trial.skip(silence(first))


@case("initialization/supported-version", VERSION, "program", (1,))
def supported_version(trial: Trial) -> None:
    """`initialize` with the versions 1 and 2. Expected: each version that the agent turns out to speak is agreed on when asked for."""
    greetings = {version: trial.greet(version) for version in KNOWN}
    spoken = {one.version for one in greetings.values()}
    if not spoken & {*KNOWN}:
        raise trial.skip("no version was agreed on")
    for wanted, found in greetings.items():
        if wanted in spoken and isinstance(found.version, int) and found.version != wanted:
            _tell(trial, found, f"version {wanted} was asked for and is spoken, but the answer is {found.version}")


@case("initialization/newer-version", VERSION, "program", (1,))
def newer_version(trial: Trial) -> None:
    """`initialize` with a version that does not exist yet. Expected: the latest version that the agent speaks, not an error."""
    spoken = {one.version for one in map(trial.greet, KNOWN) if one.version in KNOWN}
    if not spoken:
        raise trial.skip("no version was agreed on")
    found = trial.greet(NEWEST)
    if found.answer is None:
        trial.greeting = found
        trial.due(found.id, found.index, "initialize", VERSION)
    elif "error" in found.answer.value:
        _tell(trial, found, f"version {NEWEST} is refused with the error {found.answer.reason}")
    elif found.version == NEWEST:
        _tell(trial, found, f"version {NEWEST} does not exist, and is agreed on")
    elif isinstance(found.version, int) and found.version < max(spoken):
        sentence = f"version {NEWEST} is answered with {found.version}, though version {max(spoken)} is spoken"
        _tell(trial, found, sentence)


@case("initialization/older-version", VERSION, "program", (1,))
def older_version(trial: Trial) -> None:
    """`initialize` with version 0. Expected: an answer. An agent that speaks nothing so old may also refuse."""
    if not any(one.version in KNOWN for one in map(trial.greet, KNOWN)):
        raise trial.skip("no version was agreed on")
    found = trial.greet(0)
    if found.answer is None:
        trial.greeting = found
        trial.due(found.id, found.index, "initialize", ANSWERED)
    elif found.version == 0:
        _tell(trial, found, "version 0 is agreed on; it was never published", "note")


@case("initialization/malformed-version", ANSWERED, "program", (1,))
def malformed_version(trial: Trial) -> None:
    """`initialize` with a version that is an object. Expected: an answer, be it an error; the agent does not just end."""
    if not any(one.version in KNOWN for one in map(trial.greet, KNOWN)):
        raise trial.skip("no version was agreed on")
    found = trial.greet({"major": 1})
    if found.answer is None:
        trial.greeting = found
        trial.due(found.id, found.index, "initialize", ANSWERED)


@case("initialization/unknown-capability", FUTURE, "program", (1,))
def unknown_capability(trial: Trial) -> None:
    """`initialize` with a capability that does not exist yet. Expected: the same answer as without it."""
    plain = trial.greet(1)
    if plain.version != 1:
        raise trial.skip("the agent does not speak version 1")
    found = trial.greet("capability")
    if found.answer is None:
        trial.greeting = found
        trial.due(found.id, found.index, "initialize")
    elif "error" in found.answer.value:
        _tell(trial, found, f"a capability that is not known is refused: {found.answer.reason}")


@case("extensibility/meta", META, "program", (1,))
def meta(trial: Trial) -> None:
    """`initialize` with `_meta` in its params and capabilities. Expected: the same answer as without it."""
    if trial.greet(1).version != 1:
        raise trial.skip("the agent does not speak version 1")
    found = trial.greet("meta")
    if found.answer is None:
        trial.greeting = found
        trial.due(found.id, found.index, "initialize")
    elif "error" in found.answer.value:
        _tell(trial, found, f"`_meta` is refused: {found.answer.reason}")


def silence(found: Greeting) -> str:
    """Why a program that said nothing was not judged."""
    if not found.connection.is_over:
        return f"the program said nothing within {found.connection.clock.start:g} s of `initialize`"
    code = found.connection.child.wait(1)
    ended = "closed its output" if code is None else f"ended (exit code {code})"
    return f"the program {ended} and said nothing to `initialize`"


def _tell(trial: Trial, found: Greeting, message: str, level: Strength | None = None) -> None:
    trial.greeting = found
    assert found.answer is not None
    trial.fail(message, found.index, found.answer.index, level=level)
