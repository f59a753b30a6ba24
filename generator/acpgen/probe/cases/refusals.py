"""Refusals of version 2: unsupported values get -32602, and a cancelled turn does not wait for a permission."""

from __future__ import annotations

from functools import partial
from typing import Any

from acpgen.input.walk import is_object
from acpgen.probe.case_context import AUTH_REQUIRED, SkipCase, Trial
from acpgen.probe.cases.prompts import list_turn_ends, make_work_block, prompt, require_ready
from acpgen.probe.cases.sessions import ask, open_session
from acpgen.probe.connection import as_list
from acpgen.probe.registry import case


@case("content/unknown-block", "must", "session", versions=(2,))
def unknown_block(trial: Trial) -> None:
    """A prompt with a block of a kind that nobody has. Expected: the error -32602."""
    session = trial.require_session()
    blocks = [{"type": "text", "text": "Reply with the single word ok."}, {"type": "_acpgen_chart", "probe": True}]
    _require_refused(
        trial, "session/prompt", {"sessionId": session, "prompt": blocks}, "a content block of the type '_acpgen_chart'"
    )
    trial.client.cancelled.add(session)
    trial.connection.notify("session/cancel", {"sessionId": session})


@case("session-setup/unknown-transport", "must", "session", versions=(2,))
def unknown_transport(trial: Trial) -> None:
    """`session/new` with an MCP server over a transport that nobody has. Expected: the error -32602."""
    params = {**trial.make_new_params(), "mcpServers": [{"type": "_acpgen_wire", "name": "probe"}]}
    _require_refused(trial, "session/new", params, "an MCP server over '_acpgen_wire'")


@case("session-config-options/unknown", "must", "session", versions=(2,))
def unknown_option(trial: Trial) -> None:
    """`session/set_config_option` of an unknown option, and of an offered choice to a value and a shape of value that nobody
    has. Expected: the error -32602 each time.
    """
    session, result = open_session(trial)
    options = [
        option
        for option in as_list(result.get("configOptions"))
        if is_object(option) and option.get("type") == "select"
    ]
    if not options:
        raise SkipCase("the session offers no configuration options")
    known_option, word = options[0].get("configId"), f"acpgen-{trial.random.getrandbits(32):08x}"
    for defect, params in (
        ("an unknown option", {"configId": word, "type": "id", "value": word}),
        ("a value that is not offered", {"configId": known_option, "type": "id", "value": word}),
        ("an unknown form of value", {"configId": known_option, "type": "_acpgen_shape", "value": [word]}),
    ):
        _require_refused(trial, "session/set_config_option", {"sessionId": session, **params}, defect)


@case("prompt-turn/cancel-unanswered-permission", "must", "session", versions=(2,))
def cancel_unanswered(trial: Trial) -> None:
    """A prompt that is cancelled while the agent waits for a permission, which is answered only afterwards. Expected: the turn is
    over as `cancelled` before that.
    """
    require_ready(trial)
    connection, session = trial.connection, trial.require_session()
    trial.client.cancelled.discard(session)
    connection.delay = 10 * trial.slow
    try:
        _, index = prompt(trial, session, [make_work_block(trial)])
        find_calls = partial(connection.list_calls, "session/request_permission", index)
        connection.wait(lambda: bool(find_calls()) or bool(list_turn_ends(trial, session, index)), trial.slow)
        trial.client.cancelled.add(session)
        cancel = connection.notify("session/cancel", {"sessionId": session})
        message_sent = connection.sent
        is_over = connection.wait(lambda: bool(list_turn_ends(trial, session, index)), trial.slow)
        if not find_calls():
            raise SkipCase("the agent asked for no permission")
        if not is_over:
            trial.fail(
                "a cancelled turn waits for the answer to its permission request",
                find_calls()[0].index,
                cancel,
                message_sent=message_sent,
            )
    finally:
        connection.delay = 0.0
        connection.answer_delayed_now()
    trial.is_alive()


def _require_refused(trial: Trial, method: str, params: Any, defect: str) -> None:
    response = ask(trial, method, params)
    if response.code == AUTH_REQUIRED:
        raise SkipCase(trial.describe_refusal(method, response))
    if response.code != -32602:
        how = f"fails with {response.reason}" if "error" in response.value else "is accepted"
        trial.fail_answer(response, f"{method!r} with {defect} {how} instead of -32602", place=defect)
