"""Reopened sessions: on the same connection, and after a restart of the program."""

from __future__ import annotations

from acpgen.probe.case_context import SkipCase, Trial
from acpgen.probe.cases.sessions import PATHS, ask, needs, require_result
from acpgen.probe.connection import ReceivedMessage
from acpgen.probe.registry import case


@case("session-setup/load", "stored")
def load(trial: Trial) -> None:
    """`session/load` of a session of this probe. Expected: all history before the answer, what the user said included,
    nothing of it after.
    """
    needs(trial, "session/load")
    _reopen(trial, "session/load")


@case("session-setup/resume", "must")
def resume(trial: Trial) -> None:
    """`session/resume` of a session of this probe. Expected: no history before the answer."""
    needs(trial, "session/resume")
    _reopen(trial, "session/resume")


@case("session-setup/fork", "advertised")
def fork(trial: Trial) -> None:
    """`session/fork` of a session of this probe. Expected: a session with an id of its own."""
    needs(trial, "session/fork")
    name = trial.require_session()
    response = require_result(trial, "session/fork", {**trial.make_new_params(), "sessionId": name})
    if response.reach("result", "sessionId") == name:
        trial.fail_answer(response, "a fork has the id of its source", clause="unique")


@case("session-setup/load-after-restart", "stored")
def load_after_restart(trial: Trial) -> None:
    """`session/load` of a prompted session by a new run of the agent. Expected: all history before the answer, nothing of it after."""
    needs(trial, "session/load")
    _open_in_other_run(trial, "session/load")


@case("session-setup/resume-after-restart", "must")
def resume_after_restart(trial: Trial) -> None:
    """`session/resume` of a prompted session by a new run of the agent. Expected: no history before the answer."""
    needs(trial, "session/resume")
    _open_in_other_run(trial, "session/resume")


def _open_in_other_run(trial: Trial, method: str) -> None:
    """Open a session in another run of the program, and wait for late messages."""
    name = trial.memory.get("prompted")
    if name is None:
        raise SkipCase(trial.memory.get("no prompts") or trial.memory.get("no session") or "no session was prompted")
    with trial.use_other_run(trial.start_run()):
        response = require_result(trial, method, {**trial.make_new_params(), "sessionId": name})
        if method == "session/load":
            _require_replay(trial, name, response)
        trial.is_alive()


def _require_replay(trial: Trial, name: str, response: ReceivedMessage) -> None:
    """Report a loaded session with a prompt of which nothing is replayed, or nothing that the user said."""
    kinds = [
        str(update.get_update_field("sessionUpdate"))
        for update in trial.list_updates(name, response.request_index or 0)
        if update.index < response.index
    ]
    if any(kind.startswith("user_message") for kind in kinds):
        return
    is_replayed = any(kind.startswith(("agent_message", "agent_thought", "tool_call")) for kind in kinds)
    part = "the agent's part of its conversation alone" if is_replayed else "none of its conversation"
    trial.fail_answer(response, f"a session that was prompted is loaded, and {part} is replayed", clause="replayed")


def _reopen(trial: Trial, method: str) -> None:
    """Reopen a session, closed before if that is offered, and wait for late messages."""
    prompted = trial.memory.get("prompted")
    name = prompted or trial.require_session()
    if trial.advertises(*PATHS["session/close"][trial.version]):
        ask(trial, "session/close", {"sessionId": name})
    response = ask(trial, method, {**trial.make_new_params(), "sessionId": name})
    if "error" in response.value:
        if name in trial.memory.get("sessions", ()):
            trial.memory["sessions"].remove(name)
        raise SkipCase(trial.describe_refusal(method, response))
    if prompted and method == "session/load":
        _require_replay(trial, name, response)
    trial.is_alive()
