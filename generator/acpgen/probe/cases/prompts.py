"""Prompts: with each kind of content, cancelled at several points, and with a client that serves, refuses or is slow."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any, Final

from acpgen.probe.case_context import SkipCase, Trial
from acpgen.probe.cases.sessions import needs
from acpgen.probe.connection import ReceivedMessage, write_id
from acpgen.probe.registry import case

LATE: Final = 1.0
"""Seconds of required silence after a cancelled turn."""

WITHDRAWN: Final = -32800
"""The code of a cancelled request."""

_STOPPED: Final = "its cancellation"

_PNG: Final = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
_WAV: Final = "UklGRiQAAABXQVZFZm10IBAAAAABAAEAQB8AAEAfAAABAAgAZGF0YQAAAAA="
_BRIEF: Final = {"type": "text", "text": "Reply with the single word ok."}
_LONG: Final = {"type": "text", "text": "Count from one to three hundred in words, one number on each line."}


@case("prompt-turn/text", "ended", "session")
def text(trial: Trial) -> None:
    """A prompt of text. Expected: the turn ends with a stop reason."""
    _run_turn(trial, [_BRIEF])


@case("prompt-turn/resource-link", "must", "session")
def resource_link(trial: Trial) -> None:
    """A prompt with a link to a file. Expected: it is accepted like text."""
    _prompt_with_block(
        trial, {"type": "resource_link", "name": "notes.txt", "uri": (trial.folder / "notes.txt").as_uri()}
    )


@case("prompt-turn/image", "offered-content", "session")
def image(trial: Trial) -> None:
    """A prompt with an image, where that is advertised. Expected: it is accepted."""
    needs(trial, "prompt", "image")
    _prompt_with_block(trial, {"type": "image", "mimeType": "image/png", "data": _PNG})


@case("prompt-turn/audio", "offered-content", "session")
def audio(trial: Trial) -> None:
    """A prompt with sound, where that is advertised. Expected: it is accepted."""
    needs(trial, "prompt", "audio")
    _prompt_with_block(trial, {"type": "audio", "mimeType": "audio/wav", "data": _WAV})


@case("prompt-turn/embedded-resource", "offered-content", "session")
def embedded(trial: Trial) -> None:
    """A prompt with a file inside, where that is advertised. Expected: it is accepted."""
    needs(trial, "prompt", "embeddedContext")
    uri = (trial.folder / "notes.txt").as_uri()
    _prompt_with_block(trial, {"type": "resource", "resource": {"uri": uri, "mimeType": "text/plain", "text": "tide"}})


@case("prompt-turn/cancel-idle", "no-reply", "session")
def cancel_idle(trial: Trial) -> None:
    """`session/cancel` while no turn runs. Expected: no answer, and the agent goes on."""
    trial.notify("session/cancel", {"sessionId": trial.require_session()}, "a cancel outside a turn")


@case("prompt-turn/cancel-at-once", "cancelled", "session")
def cancel_at_once(trial: Trial) -> None:
    """A prompt and, at once, its cancellation. Expected: the turn ends, as a rule with `cancelled`."""
    _cancel_turn(trial, lambda _: True)


@case("prompt-turn/cancel-after-update", "cancelled", "session")
def cancel_after_update(trial: Trial) -> None:
    """A prompt that is cancelled once the agent has sent something about it. Expected: `cancelled`, and silence after it."""
    session = trial.require_session()
    _cancel_turn(trial, partial(trial.list_updates, session))


@case("prompt-turn/cancel-open-permission", "cancelled", "session")
def cancel_permission(trial: Trial) -> None:
    """A prompt that is cancelled while the agent waits for a permission. Expected: `cancelled`."""
    connection = trial.connection
    connection.delay = connection.clock.answer
    try:
        is_asked = partial(connection.list_calls, "session/request_permission")
        _cancel_turn(trial, is_asked, make_work_block(trial), "the agent asked for no permission")
    finally:
        connection.delay = 0.0


@case("cancellation/cancel-request", "stopped-request", "session", versions=(1,))
def cancel_request(trial: Trial) -> None:
    """A prompt whose request is withdrawn with `$/cancel_request`. Expected: it is answered all the same."""
    require_ready(trial)
    connection, session = trial.connection, trial.require_session()
    id_, index = prompt(trial, session, [_LONG])
    connection.notify("$/cancel_request", {"requestId": id_})
    response = connection.answer(id_)
    if response is None and not connection.is_over:
        _stop(trial, session)  # a peer is free not to know this notification
        response = connection.answer(id_, trial.slow)
    if response is None:
        trial.require_answer(id_, index, "session/prompt", "stopped-request", after=_STOPPED)


@case("session-setup/close-during-turn", "closed", "session")
def close_during_turn(trial: Trial) -> None:
    """`session/close` while a turn runs. Expected: the turn ends, and the close is answered."""
    needs(trial, "session/close")
    require_ready(trial)
    connection, session = trial.connection, trial.require_session(anew=True)
    id_, index = prompt(trial, session, [_LONG])
    connection.wait(lambda: bool(trial.list_updates(session, index)), connection.clock.answer)
    close = connection.call("session/close", {"sessionId": session})
    close_index, close_message = len(connection.rows) - 1, connection.sent
    trial.client.cancelled.add(session)
    connection.answer_delayed_now()
    closing = connection.answer(close, trial.slow)
    if closing is None:
        trial.require_answer(close, close_index, "session/close", "closed")
    trial.memory["sessions"].remove(session)
    response = connection.answer(id_, trial.slow)
    if response is None:
        trial.require_answer(id_, index, "session/prompt", "closed")
    elif trial.version == 2:
        _require_accepted(trial, session, index, response)
        if (
            "error" in response.value
            and response.code != WITHDRAWN
            and not _list_inserted_updates(trial, session, index, response.index)
        ):
            sentence = f"a prompt that `session/close` cancelled fails with {response.code}, not {WITHDRAWN}"
            trial.fail(
                sentence,
                index,
                close_index,
                response.index,
                clause="forestalled",
                place="forestalled",
                message_sent=close_message,
            )
    elif closing is not None and "result" in closing.value and response.index > closing.index:
        trial.fail("the turn ended after `session/close` was answered", index, closing.index, response.index)


@case("client-methods/served", "ended", "session")
def served(trial: Trial) -> None:
    """A prompt that asks for files and a command, with a client that serves both. Expected: the turn ends, terminals are released."""
    _run_helped_turn(trial, "serves", 0.0)


@case("client-methods/not-advertised", "must", "session")
def not_advertised(trial: Trial) -> None:
    """The same on a connection whose client advertises nothing. Expected: the agent calls nothing of a client."""
    require_ready(trial)
    bare = trial.bare()
    with trial.use_other_run(bare):
        if bare.version != trial.version:
            raise SkipCase(f"version {trial.version} is not negotiated with a client that advertises nothing")
        _run_turn(trial, [make_work_block(trial)])


@case("client-methods/refused", "ended", "session")
def refused(trial: Trial) -> None:
    """The same with a client that refuses files and commands, and permissions. Expected: the turn ends all the same."""
    _run_helped_turn(trial, "refuses", 0.0)


@case("client-methods/slow", "ended", "session")
def slow(trial: Trial) -> None:
    """The same with a client that takes its time. Expected: the turn ends all the same."""
    _run_helped_turn(trial, "serves", min(2.0, trial.connection.clock.answer / 2))


# --- turns -----------------------------------------------------------------------------------------------------------


def make_work_block(trial: Trial) -> dict[str, Any]:
    """A content block that asks for a file, a change and a command."""
    notes, result = trial.folder / "notes.txt", trial.folder / "result.txt"
    words = f"Read the file {notes}, write its first word to {result}, then run the command: echo ok"
    return {"type": "text", "text": words}


def prompt(trial: Trial, session: str, blocks: list[Any]) -> tuple[int, int]:
    """Send a prompt; its id, and its place in the transcript."""
    id_: int = trial.connection.call("session/prompt", {"sessionId": session, "prompt": blocks})
    return id_, len(trial.connection.rows) - 1


def require_ready(trial: Trial) -> None:
    """Raise `SkipCase` if a plain prompt is known to fail."""
    if "no prompts" in trial.memory:
        raise SkipCase(trial.memory["no prompts"])
    trial.require_session()


def _run_turn(trial: Trial, blocks: list[Any]) -> ReceivedMessage:
    """A whole turn: the answer to its prompt, or in version 2 the news that it ended. Raises `SkipCase` where it fails."""
    require_ready(trial)
    connection, session = trial.connection, trial.require_session()
    trial.client.cancelled.discard(session)
    id_, index = prompt(trial, session, blocks)
    response = connection.answer(id_, trial.slow)
    if response is not None and "error" in response.value:
        _require_accepted(trial, session, index, response)
        reason = trial.describe_refusal("session/prompt", response)
        trial.memory.setdefault("no prompts", reason)
        raise SkipCase(reason)
    if response is not None and trial.version == 2:
        acceptance, response = response, _wait_for_idle(trial, session, index)
        if (
            response is not None
            and response.index < acceptance.index
            and _has_run(trial, session, index, response.index)
        ):
            sentence = "the prompt was answered only when its work had ended"
            trial.fail(sentence, index, response.index, acceptance.index, clause="accepted", place="answered late")
        end: dict[str, Any] = {} if response is None else response.value["params"]["update"]
        if response is not None and end.get("stopReason") is None:
            trial.fail("the work of a prompt ended without a stop reason", index, response.index, clause="accepted")
        if response is not None and end.get("stopReason") == "error":
            reason = trial.describe_failure("session/prompt", replace(response, value=end))
            trial.memory.setdefault("no prompts", reason)
            raise SkipCase(reason)
    if response is None:
        if connection.is_over:
            trial.fail("the program ended during a turn", index, len(connection.rows) - 1)
            raise SkipCase("the program ended")
        _stop(trial, session)
        reason = f"a turn did not end within {trial.slow:g} s"
        if connection.answer(id_) is None:
            trial.require_answer(id_, index, "session/prompt", "ended", after=_STOPPED)
        trial.memory.setdefault("no prompts", reason)
        raise SkipCase(reason)
    trial.memory["prompted"] = session
    return response


def _wait_for_idle(trial: Trial, session: str, since: int) -> ReceivedMessage | None:
    """The update, after an index of the transcript, that the session is idle."""
    trial.connection.wait(lambda: bool(list_turn_ends(trial, session, since)), trial.slow)
    return next(iter(list_turn_ends(trial, session, since)), None)


def _list_inserted_updates(trial: Trial, session: str, since: int, until: int) -> list[ReceivedMessage]:
    """The updates between two indices of the transcript that report a message of the user. Only the probe writes in its sessions."""
    kinds = ("user_message", "user_message_chunk")
    return [
        update
        for update in trial.list_updates(session, since)
        if update.index < until and update.get_update_field("sessionUpdate") in kinds
    ]


def _require_accepted(trial: Trial, session: str, since: int, response: ReceivedMessage) -> None:
    """Report an agent of version 2 that fails the prompt though it reported its message."""
    insertions = (
        _list_inserted_updates(trial, session, since, response.index)
        if trial.version == 2 and "error" in response.value
        else []
    )
    if insertions:
        sentence = f"the message of the prompt was reported, and the prompt then failed with {response.reason}"
        trial.fail(sentence, since, insertions[0].index, response.index, clause="inserted", place="inserted")


def _has_run(trial: Trial, session: str, since: int, until: int) -> bool:
    """Whether a session was reported as running between two indices of the transcript."""
    return any(
        update.index < until and _read_state(update) == "running" for update in trial.list_updates(session, since)
    )


def _read_state(message: ReceivedMessage) -> Any:
    return message.get_update_field("state") if message.get_update_field("sessionUpdate") == "state_update" else None


def _prompt_with_block(trial: Trial, block: Any) -> None:
    """Prompt with text and another block. Where text alone is accepted, this must be too."""
    require_ready(trial)
    connection, session = trial.connection, trial.require_session()
    id_, index = prompt(trial, session, [_BRIEF, block])
    response = connection.answer(id_, trial.slow)
    if response is None:
        _stop(trial, session)
        if connection.answer(id_) is None:
            trial.require_answer(id_, index, "session/prompt", "ended", after=_STOPPED)
        raise SkipCase(f"a turn did not end within {trial.slow:g} s")
    if response.code == -32602:
        trial.fail_answer(
            response, f"a prompt with {block['type']!r} is refused: {response.reason}", place=block["type"]
        )
    elif "error" in response.value:
        raise SkipCase(trial.describe_refusal("session/prompt", response))
    elif trial.version == 2:
        _wait_for_idle(trial, session, index)


def _cancel_turn(trial: Trial, is_time: Callable[[int], object], block: Any = _LONG, otherwise: str = "") -> None:
    """Start a turn, cancel it once `is_time` holds, and wait for its end. The monitor judges the end."""
    require_ready(trial)
    connection, session = trial.connection, trial.require_session()
    trial.client.cancelled.discard(session)
    id_, index = prompt(trial, session, [block])

    def is_over() -> bool:
        answers = connection.answers.get(write_id(id_), ())
        if trial.version == 1:
            return bool(answers)
        is_withdrawn = any(answer.code == WITHDRAWN for answer in answers)  # it never began
        return is_withdrawn or bool(list_turn_ends(trial, session, index))

    connection.wait(lambda: bool(is_time(index)) or is_over(), trial.slow)
    was_time, had_ended = bool(is_time(index)), is_over()
    cancel = _stop(trial, session)
    if not is_over():
        connection.call(*trial.choose_ping())  # once this is answered, the cancellation was read
    if not connection.wait(is_over, trial.slow):
        if trial.version == 1:
            trial.require_answer(id_, index, "session/prompt", "cancelled", after=_STOPPED)
        elif connection.answers.get(write_id(id_)):
            trial.fail("a cancelled turn was never reported as idle", index, cancel, len(connection.rows) - 1)
    trial.is_alive()
    connection.wait(lambda: False, LATE)  # what comes late shows here
    if otherwise and not was_time:
        raise SkipCase(otherwise)
    if had_ended:
        raise SkipCase("the turn had ended before it could be cancelled")


def list_turn_ends(trial: Trial, session: str, since: int) -> list[ReceivedMessage]:
    """The updates after an index of the transcript that end the work of a session in version 2."""
    return [update for update in trial.list_updates(session, since) if _read_state(update) == "idle"]


def _stop(trial: Trial, session: str) -> int:
    """Cancel the turn of a session as a client does: open permission requests are answered as cancelled."""
    index = trial.connection.notify("session/cancel", {"sessionId": session})
    trial.client.cancelled.add(session)  # only now: what had come before was answered as if nothing was
    trial.connection.answer_delayed_now()
    return index


def _run_helped_turn(trial: Trial, manner: Any, delay: float) -> None:
    require_ready(trial)
    before = len(trial.client.called_methods)
    trial.client.manner, trial.connection.delay = manner, delay
    try:
        _run_turn(trial, [make_work_block(trial)])
    finally:
        trial.client.manner, trial.connection.delay = "serves", 0.0
        trial.connection.answer_delayed_now()
    if len(trial.client.called_methods) == before:
        raise SkipCase("the agent asked the client for nothing")
