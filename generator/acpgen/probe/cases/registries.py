"""What registries of agents demand beyond the specification. These cases only run on request."""

from __future__ import annotations

from typing import Any

from acpgen.input.walk import is_object
from acpgen.probe.case_context import AUTH_REQUIRED, Handshake, SkipCase, Trial
from acpgen.probe.cases.initialization import describe_unspoken
from acpgen.probe.connection import as_list
from acpgen.probe.registry import case


@case("registry/login-methods", "listed-login", "program", (1,))
def login_methods(trial: Trial) -> None:
    """`initialize` by a client that can open a terminal. Expected: an authentication method of the agent itself, or in a terminal."""
    outcome = _initialize(trial)
    assert outcome.answer is not None
    methods = _list_methods(outcome)
    if not any(kind in ("agent", "terminal") for kind in map(_find_kind, methods)):
        kinds = ", ".join(dict.fromkeys(repr(_find_kind(method)) for method in methods))
        sentence = (
            f"all authentication methods are of the type {kinds}" if methods else "there is no authentication method"
        )
        trial.fail_answer(outcome.answer, f"{sentence}; one must be of the type 'agent' or 'terminal'")
    ids = [method.get("id", method.get("methodId")) for method in methods]
    twice = [name for name in dict.fromkeys(map(str, ids)) if list(map(str, ids)).count(name) > 1]
    if twice:
        trial.fail_answer(outcome.answer, f"two authentication methods have the id {twice[0][:80]!r}", place="id")


@case("registry/name-and-version", "listed-name", "program", (1,))
def name_and_version(trial: Trial) -> None:
    """`initialize`. Expected: an answer that names the program and its version, which bug reports need."""
    outcome = _initialize(trial)
    assert outcome.answer is not None
    field = "agentInfo" if outcome.answer.reach("result", "agentInfo") is not None else "info"
    values = {key: outcome.answer.reach("result", field, key) for key in ("name", "version")}
    missing = [key for key, value in values.items() if not (isinstance(value, str) and value)]
    if missing:
        trial.fail_answer(outcome.answer, f"the answer to `initialize` has no {' and no '.join(missing)} of the agent")


@case("registry/session-or-login", "login-or-session")
def session_or_login(trial: Trial) -> None:
    """`session/new` without a login. Expected: a session, or the error that asks for a login which `initialize` has offered."""
    answer = trial.expect("session/new", trial.make_new_params(), seconds=trial.slow)
    if answer is None or "result" in answer.value:
        return
    if answer.code != AUTH_REQUIRED:
        trial.fail_answer(answer, f"`session/new` was refused with {answer.reason}, which does not ask for a login")
    elif trial.handshake is not None and not _list_methods(trial.handshake):
        trial.fail_answer(answer, "`session/new` asks for a login, and `initialize` offered no authentication method")


def _initialize(trial: Trial) -> Handshake:
    """`initialize`, answered. Raises `SkipCase` where it is not."""
    outcome = trial.initialize("registry")
    if outcome.answer is None or "result" not in outcome.answer.value:
        raise SkipCase(describe_unspoken(outcome, 1))
    trial.handshake = outcome
    return outcome


def _list_methods(outcome: Handshake) -> list[dict[str, Any]]:
    """The authentication methods in the answer to `initialize`."""
    methods = as_list(None if outcome.answer is None else outcome.answer.reach("result", "authMethods"))
    return [{**method} for method in methods if is_object(method)]


def _find_kind(method: dict[str, Any]) -> str:
    """The type of an authentication method: its `type`, the mark of older agents in `_meta`, or `agent`."""
    meta = method.get("_meta")
    marks = [kind for kind in ("terminal", "agent") if is_object(meta) and f"{kind}-auth" in meta]
    return str(method.get("type") or next(iter(marks), "agent"))
