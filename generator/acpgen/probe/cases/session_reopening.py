"""Sessions that are opened again: on the connection that made them, and by a program that was started anew."""

from __future__ import annotations

from acpgen.input.walk import is_object
from acpgen.probe.case_context import Trial
from acpgen.probe.cases.sessions import PATHS, ask, needs
from acpgen.probe.clauses import ADVERTISED, REPLAYED, STORED, UNIQUE
from acpgen.probe.connection import Heard
from acpgen.probe.registry import case


@case("session-setup/load", STORED)
def load(trial: Trial) -> None:
    """`session/load` of a session of this probe. Expected: all history before the answer, what the user said included,
    nothing of it after.
    """
    needs(trial, "session/load")
    _again(trial, "session/load")


@case("session-setup/resume", "must")
def resume(trial: Trial) -> None:
    """`session/resume` of a session of this probe. Expected: no history before the answer."""
    needs(trial, "session/resume")
    _again(trial, "session/resume")


@case("session-setup/fork", ADVERTISED)
def fork(trial: Trial) -> None:
    """`session/fork` of a session of this probe. Expected: a session with an id of its own."""
    needs(trial, "session/fork")
    name = trial.session()
    found = ask(trial, "session/fork", {**trial.new_params(), "sessionId": name})
    if "error" in found.value:
        raise trial.skip(trial.refused("session/fork", found))
    if is_object(found.result) and found.result.get("sessionId") == name:
        trial.fail("a fork has the id of its source", found.index - 1, found.index, clause=UNIQUE)


@case("session-setup/load-after-restart", STORED)
def load_after_restart(trial: Trial) -> None:
    """`session/load` of a prompted session by a new run of the agent. Expected: all history before the answer, nothing of it after."""
    needs(trial, "session/load")
    _elsewhere(trial, "session/load")


@case("session-setup/resume-after-restart", "must")
def resume_after_restart(trial: Trial) -> None:
    """`session/resume` of a prompted session by a new run of the agent. Expected: no history before the answer."""
    needs(trial, "session/resume")
    _elsewhere(trial, "session/resume")


def _elsewhere(trial: Trial, method: str) -> None:
    """Open a session by another run of the program, and give late messages time to show."""
    name = trial.memory.get("prompted")
    if name is None:
        raise trial.skip(trial.memory.get("no prompts") or trial.memory.get("no session") or "no session was prompted")
    here, memory = trial.greeting, trial.memory
    trial.greeting, trial.memory = trial.another(), {}
    try:
        index = len(trial.connection.rows)
        found = ask(trial, method, {**trial.new_params(), "sessionId": name})
        if "error" in found.value:
            raise trial.skip(trial.refused(method, found))
        if method == "session/load":
            _whole(trial, name, index, found)
        trial.alive()
    finally:
        trial.end(trial.greeting)
        trial.greeting, trial.memory = here, memory


def _whole(trial: Trial, name: str, index: int, found: Heard) -> None:
    """Report a loaded session, prompted before, of which nothing is replayed, or nothing that the user said."""
    kinds = [_kind(one) for one in trial.updates(name, index) if one.index < found.index]
    if any(kind.startswith("user_message") for kind in kinds):
        return
    is_replayed = any(kind.startswith(("agent_message", "agent_thought", "tool_call")) for kind in kinds)
    part = "the agent's part of its conversation alone" if is_replayed else "none of its conversation"
    trial.fail(f"a session that was prompted is loaded, and {part} is replayed", index, found.index, clause=REPLAYED)


def _kind(heard: Heard) -> str:
    update = heard.value["params"].get("update")
    kind = update.get("sessionUpdate") if is_object(update) else None
    return kind if isinstance(kind, str) else ""


def _again(trial: Trial, method: str) -> None:
    """Open a session once more, closed before where that is offered, and give late messages time to show."""
    prompted = trial.memory.get("prompted")
    name = prompted or trial.session()
    if trial.advertises(*PATHS["session/close"][trial.version]):
        ask(trial, "session/close", {"sessionId": name})
    index = len(trial.connection.rows)
    found = ask(trial, method, {**trial.new_params(), "sessionId": name})
    if "error" in found.value:
        if name in trial.memory.get("sessions", ()):
            trial.memory["sessions"].remove(name)
        raise trial.skip(trial.refused(method, found))
    if prompted and method == "session/load":
        _whole(trial, name, index, found)
    trial.alive()
