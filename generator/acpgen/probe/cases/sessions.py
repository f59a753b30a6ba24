"""Sessions: created, listed, loaded, resumed, forked, closed and deleted, as far as advertised."""

from __future__ import annotations

from typing import Any, Final

from acpgen.input.walk import is_object
from acpgen.pointers import find_value
from acpgen.probe.case_context import SkipCase, Trial
from acpgen.probe.connection import ReceivedMessage, as_list
from acpgen.probe.registry import case

PATHS: Final[dict[str, dict[int, tuple[str, ...]]]] = {
    "session/list": {1: ("sessionCapabilities", "list"), 2: ("session",)},
    "session/load": {1: ("loadSession",), 2: ("session",)},
    "session/resume": {1: ("sessionCapabilities", "resume"), 2: ("session",)},
    "session/close": {1: ("sessionCapabilities", "close"), 2: ("session",)},
    "session/delete": {1: ("sessionCapabilities", "delete"), 2: ("session", "delete")},
    "prompt": {1: ("promptCapabilities",), 2: ("session", "prompt")},
    "additionalDirectories": {
        1: ("sessionCapabilities", "additionalDirectories"),
        2: ("session", "additionalDirectories"),
    },
    "session/fork": {1: ("sessionCapabilities", "fork"), 2: ("session", "fork")},
}
"""The path of the capability of a method or a field, by version."""


@case("session-setup/new", "unique")
def new(trial: Trial) -> None:
    """`session/new` twice. Expected: two sessions with ids of their own."""
    first = trial.require_session(anew=True)
    index = len(trial.connection.rows) - 1
    if trial.require_session(anew=True) == first:
        trial.fail(f"two sessions have the id {first!r}", index, len(trial.connection.rows) - 1)


@case("session-setup/additional-directories", "advertised")
def additional_directories(trial: Trial) -> None:
    """`session/new` with a second root, where that is advertised. Expected: a session."""
    needs(trial, "additionalDirectories")
    trial.require_session()
    directory = trial.folder.parent / "more"
    response = ask(trial, "session/new", {**trial.make_new_params(), "additionalDirectories": [str(directory)]})
    if response.code == -32602:
        trial.fail_answer(response, f"`additionalDirectories` is advertised, and refused with {response.reason}")


@case("session-list/all", "must")
def list_all(trial: Trial) -> None:
    """`session/list` without a filter, and every page that it names. Expected: lists; the last page names no other."""
    needs(trial, "session/list")
    params: dict[str, Any] = {}
    cursors: set[str] = set()
    for _ in range(5):
        response = require_result(trial, "session/list", params)
        cursor = response.reach("result", "nextCursor")
        if not isinstance(cursor, str):
            return
        if cursor in cursors:
            trial.fail_answer(response, f"the page {cursor!r} names itself as the next one", level="note")
            return
        cursors.add(cursor)
        params = {"cursor": cursor}


@case("session-list/none-matches", "must")
def list_none(trial: Trial) -> None:
    """`session/list` for a folder that no session was made in. Expected: an empty list."""
    needs(trial, "session/list")
    folder = trial.folder.parent / "unused"
    response = require_result(trial, "session/list", {"cwd": str(folder)})
    sessions = as_list(response.reach("result", "sessions"))
    wrong = [session for session in sessions if is_object(session) and session.get("cwd") != str(folder)]
    if wrong:
        cwd = wrong[0].get("cwd")
        trial.fail_answer(
            response, f"a list for one folder contains {len(wrong)} sessions of other folders, such as {cwd!r}"
        )


@case("session-list/invalid-cursor", "should")
def list_cursor(trial: Trial) -> None:
    """`session/list` with a cursor that the agent never gave. Expected: an error."""
    needs(trial, "session/list")
    response = ask(trial, "session/list", {"cursor": f"acpgen-{trial.random.getrandbits(32):08x}"})
    if "error" not in response.value:
        trial.fail_answer(response, "a cursor that was never issued is answered with a list")


@case("session-setup/load-unknown", "answered")
def load_unknown(trial: Trial) -> None:
    """`session/load` of a session that does not exist. Expected: an answer; the document does not say which."""
    needs(trial, "session/load")
    _ask_for_unknown(trial, "session/load")


@case("session-setup/resume-unknown", "answered")
def resume_unknown(trial: Trial) -> None:
    """`session/resume` of a session that does not exist. Expected: an answer; the document does not say which."""
    needs(trial, "session/resume")
    _ask_for_unknown(trial, "session/resume")


@case("session-setup/close", "closed")
def close(trial: Trial) -> None:
    """`session/close` of an idle session. Expected: a result, and silence about the session from then on."""
    needs(trial, "session/close")
    name = trial.require_session(anew=True)
    response = ask(trial, "session/close", {"sessionId": name})
    trial.memory["sessions"].remove(name)
    if "error" in response.value:
        trial.fail_answer(response, f"closing an open session failed: {response.reason}", level="should")


@case("session-delete/unknown", "deleted")
def delete_unknown(trial: Trial) -> None:
    """`session/delete` of a session that never was. Expected: a result."""
    needs(trial, "session/delete")
    response = ask(trial, "session/delete", {"sessionId": f"never-{trial.random.getrandbits(32):08x}"})
    if "error" in response.value and response.code != -32000:
        trial.fail_answer(response, f"deleting a session that never existed failed: {response.reason}")


@case("session-delete/twice", "deleted")
def delete_twice(trial: Trial) -> None:
    """`session/delete` of a session of this probe, twice, and a list after it. Expected: two results, and no such session listed."""
    needs(trial, "session/delete")
    name = trial.require_session(anew=True)
    trial.memory["sessions"].remove(name)
    require_result(trial, "session/delete", {"sessionId": name})
    ask(trial, "session/delete", {"sessionId": name})
    if trial.advertises(*PATHS["session/list"][trial.version]):
        ask(trial, "session/list", {})


@case("session-modes/set", "advertised", versions=(1,))
def set_mode(trial: Trial) -> None:
    """`session/set_mode` to each mode that a new session offers. Expected: a result."""
    name, result = open_session(trial)
    names = [mode.get("id") for mode in as_list(find_value(result, ("modes", "availableModes"))) if is_object(mode)]
    if not names:
        raise SkipCase("the session offers no modes")
    for mode in names[:4]:
        response = ask(trial, "session/set_mode", {"sessionId": name, "modeId": mode})
        if response.code == -32602:
            trial.fail_answer(response, f"the mode {mode!r} is offered, and refused with {response.reason}")


@case("session-config-options/set", "advertised")
def set_config_option(trial: Trial) -> None:
    """`session/set_config_option` of each option to the value that it has. Expected: a result with all options."""
    name, result = open_session(trial)
    options = [option for option in as_list(result.get("configOptions")) if is_object(option)]
    options = [
        option for option in options if isinstance(option.get("currentValue"), str) and option.get("type") == "select"
    ]
    if not options:
        raise SkipCase("the session offers no configuration options")
    for option in options[:4]:
        key = option.get("configId") or option.get("id")
        response = ask(
            trial,
            "session/set_config_option",
            {"sessionId": name, "configId": key, "value": option["currentValue"]}
            | ({"type": "id"} if trial.version == 2 else {}),
        )
        if response.code == -32602:
            trial.fail_answer(response, f"the option {key!r} refuses the value that it has: {response.reason}")


def open_session(trial: Trial) -> tuple[str, dict[str, Any]]:
    """A session and the result that opened it."""
    name = trial.require_session()
    for responses in trial.connection.answers.values():
        if responses[0].reach("result", "sessionId") == name:
            return name, responses[0].result
    raise SkipCase("the session was not opened on this connection")


def needs(trial: Trial, name: str, *subpath: str) -> None:
    """Raise `SkipCase` unless the capability of a method or a field, or one below it, is advertised."""
    trial.needs(*PATHS[name][trial.version], *subpath)


def ask(trial: Trial, method: str, params: Any) -> ReceivedMessage:
    """An answer, however slow. Raises `SkipCase` without one, which is reported when the connection ends."""
    response = trial.expect(method, params, seconds=trial.slow)
    if response is None:
        raise SkipCase(f"{method} was not answered in time")
    return response


def require_result(trial: Trial, method: str, params: Any) -> ReceivedMessage:
    """A result, as `ask`. Raises `SkipCase` for an error, too."""
    response = ask(trial, method, params)
    if "error" in response.value:
        raise SkipCase(trial.describe_refusal(method, response))
    return response


def _ask_for_unknown(trial: Trial, method: str) -> None:
    params = {**trial.make_new_params(), "sessionId": f"00000000-0000-4000-8000-{trial.random.getrandbits(48):012x}"}
    response = ask(trial, method, params)
    if "error" not in response.value:
        trial.fail_answer(response, "a session that does not exist was opened", clause="unknown-session")
