"""Initialization once more: versions that are old, new or malformed, what a later peer may send, and requests that come too early."""

from __future__ import annotations

import json
from typing import Any, Final

from acpgen.probe.case_context import KNOWN, Handshake, SkipCase, Trial
from acpgen.probe.cases.initialization import fail_handshake, none_spoken, unspoken
from acpgen.probe.connection import id_text
from acpgen.probe.registry import case

NEWEST: Final = 65535
"""No protocol has this version; the schema has none above it."""


@case("initialization/newer-version", "version", "program", (1,))
def newer_version(trial: Trial) -> None:
    """`initialize` with a version that does not exist yet. Expected: the latest version that the agent speaks, not an error."""
    spoken = {one.version for one in map(trial.initialize, KNOWN) if one.version in KNOWN}
    if not spoken:
        raise SkipCase(none_spoken(trial))
    found = _initialize(trial, NEWEST, "version")
    if found.answer is None:
        return
    if "error" in found.answer.value:
        fail_handshake(trial, found, f"version {NEWEST} is refused with the error {found.answer.reason}")
    elif found.version == NEWEST:
        fail_handshake(trial, found, f"version {NEWEST} does not exist, but was accepted")
    elif isinstance(found.version, int) and found.version < max(spoken):
        sentence = f"version {NEWEST} is answered with {found.version}, though version {max(spoken)} is supported"
        fail_handshake(trial, found, sentence)


@case("initialization/older-version", "version", "program", (1,))
def older_version(trial: Trial) -> None:
    """`initialize` with version 0. Expected: an answer. An agent that speaks nothing so old may also refuse."""
    if not any(one.version in KNOWN for one in map(trial.initialize, KNOWN)):
        raise SkipCase(none_spoken(trial))
    found = _initialize(trial, 0, "answered")
    if found.version == 0:
        fail_handshake(trial, found, "version 0 was accepted; it was never published", "note")


@case("initialization/malformed-version", "answered", "program", (1,))
def malformed_version(trial: Trial) -> None:
    """`initialize` with a version that is an object. Expected: an answer, be it an error; the agent does not just end."""
    if not any(one.version in KNOWN for one in map(trial.initialize, KNOWN)):
        raise SkipCase(none_spoken(trial))
    if calm(trial):
        return
    _initialize(trial, {"major": 1}, "answered")


@case("initialization/unknown-capability", "should", "program", (1,))
def unknown_capability(trial: Trial) -> None:
    """`initialize` with a capability that does not exist yet. Expected: the same answer as without it."""
    _changes_nothing(trial, "capability", "an unknown capability was")


@case("extensibility/meta", "meta", "program", (1,))
def meta(trial: Trial) -> None:
    """`initialize` with `_meta` in its params and capabilities. Expected: the same answer as without it."""
    _changes_nothing(trial, "meta", "`_meta` is")


@case("initialization/early-request", "early", "program", (1,))
def early_request(trial: Trial) -> None:
    """`session/new` before `initialize`. Expected: an answer, as a rule an error; `initialize` works after it."""
    if trial.initialize(1).version != 1:
        raise SkipCase(unspoken(trial.initialize(1), 1))
    if calm(trial):
        return
    found = trial.initialize("early")
    trial.handshake = found
    connection = found.connection
    if found.answer is None:
        how = trial.ended if connection.is_over else "does not answer `initialize`"
        trial.fail(f"the program {how} after a request that came before `initialize`", 0, found.index)
    elif id_text("early") not in connection.answers:
        trial.fail("a request that came before `initialize` is not answered", 0, found.index, found.answer.index)


@case("initialization/repeated", "initialized-once")
def repeated(trial: Trial) -> None:
    """`initialize` once more, after another request. Expected: the error -32600."""
    with trial.elsewhere(trial.another()):
        connection, handshake = trial.connection, trial.handshake
        if handshake is None or handshake.answer is None:
            raise SkipCase(connection.silence)
        trial.is_alive()
        found = trial.expect("initialize", json.loads(connection.rows[handshake.index].message)["params"])
        if found is not None and found.code != -32600:
            how = "is answered with a result" if "error" not in found.value else f"fails with {found.reason}"
            trial.fail_answer(found, f"`initialize` after another request {how}, and not with the error -32600")


def _initialize(trial: Trial, wanted: Any, clause: str | None = None) -> Handshake:
    """What became of `initialize`; that it is not answered is a breach."""
    found = trial.initialize(wanted)
    if found.answer is None:
        trial.handshake = found
        trial.require_answer(found.id, found.index, "initialize", clause)
    return found


def _changes_nothing(trial: Trial, wanted: str, what: str) -> None:
    """`initialize` with something that nobody knows is answered as without it."""
    if trial.initialize(1).version != 1:
        raise SkipCase(unspoken(trial.initialize(1), 1))
    found = None if calm(trial) else _initialize(trial, wanted)
    if found is not None and found.answer is not None and "error" in found.answer.value:
        fail_handshake(trial, found, f"{what} refused: {found.answer.reason}")


def calm(trial: Trial) -> bool:
    """Whether a program takes an early request, a malformed one, `_meta` and a new capability all at once, each as it should: then it
    need not be started for each of them.
    """
    if trial.initialize(1).version != 1:
        return False
    found = trial.initialize("all at once")
    answers = found.connection.answers
    return found.version == 1 and all(id_text(name) in answers for name in ("early", "malformed"))
