"""Cases for clients: the handshake, unknown content, permission requests, and the files and terminals that they advertise."""

from __future__ import annotations

from typing import Any, Final

from acpgen.probe.agent_peer import EARLY_UPDATE
from acpgen.probe.case_context import SkipCase, Trial
from acpgen.probe.connection import ReceivedMessage
from acpgen.probe.registry import case

CLIENT: Final = ("client",)
_MISSING: Final = "acpgen-probe-no-such-file"


@case("client/handshake", "must", sides=CLIENT)
def handshake(trial: Trial) -> None:
    """The client is let do what it does. Expected: `initialize` first, then a session and a prompt, all of it as the schema has it."""
    trial.get_agent()


@case("client/version-unknown", "should", "program", (1,), sides=CLIENT)
def version_unknown(trial: Trial) -> None:
    """`initialize` is answered with a version that does not exist. Expected: the client ends the connection."""
    handshake = trial.initialize("unknown")
    trial.handshake = handshake
    connection = handshake.connection
    if not any(call.value["method"] == "initialize" for call in connection.calls):
        raise SkipCase("the client did not send `initialize`")
    later = [call for call in connection.calls if call.value["method"] not in ("initialize", "$/cancel_request")]
    if later:
        trial.fail(
            f"the client continues with {later[0].value['method']!r} though it cannot support version 65535",
            0,
            later[0].index,
        )


@case("client/unknown-update", "robust", sides=CLIENT)
def unknown_update(trial: Trial) -> None:
    """An update of a kind that the client cannot know, in its session. Expected: the client goes on."""
    update = {"sessionUpdate": "_acpgen.dev/tide", "metres": 2.5}
    index = trial.connection.notify("session/update", {"sessionId": trial.get_client_session(), "update": update})
    trial.require_alive("an update of an unknown kind", index)


@case("client/early-update", "early-updates", sides=CLIENT)
def early_update(trial: Trial) -> None:
    """Another run, in which an update of the session comes before the answer to `session/new`. Expected: the client sends its prompt."""
    connection = trial.initialize(EARLY_UPDATE).connection
    request_indices = [call.index for call in connection.calls if call.value["method"] == "session/new"]
    if not request_indices:
        raise SkipCase("the client opened no session when it was run again")
    if not connection.open_requests:
        how = "ends" if connection.is_over else "sends no prompt"
        sentence = f"the client {how} after an update that came before the answer to `session/new`"
        trial.fail(
            sentence, request_indices[0], len(connection.rows) - 1, connection=connection, message_sent=connection.sent
        )


@case("client/stale-update", "stale-updates", sides=CLIENT)
def stale_update(trial: Trial) -> None:
    """Updates of a tool call that never was, and more of a message that is long over. Expected: the client goes on."""
    connection, session = trial.connection, trial.get_client_session()
    text = {"type": "text", "text": "tide"}
    for update in (
        {"sessionUpdate": "tool_call_update", "toolCallId": "acpgen-no-such-call", "status": "completed"},
        {"sessionUpdate": "agent_message_chunk", "messageId": "acpgen-no-such-message", "content": text},
    ):
        index = connection.notify("session/update", {"sessionId": session, "update": update})
    trial.require_alive("an update that refers to something unknown", index)


@case("client/permission", "outcome", sides=CLIENT)
def permission(trial: Trial) -> None:
    """A request for permission with two options. Expected: an outcome: one of the options, or that it was cancelled."""
    options = [
        {"optionId": "acpgen-yes", "name": "Yes", "kind": "allow_once"},
        {"optionId": "acpgen-no", "name": "No", "kind": "reject_once"},
    ]
    params: dict[str, Any] = {"sessionId": trial.get_client_session(), "options": options}
    if trial.version == 1:
        call = {"sessionUpdate": "tool_call", "toolCallId": "acpgen-1", "title": "Probe", "status": "pending"}
        trial.connection.notify("session/update", {"sessionId": trial.get_client_session(), "update": call})
        params["toolCall"] = {"toolCallId": "acpgen-1"}
    else:
        params |= {"title": "May the probe go on?"}
    response = trial.expect("session/request_permission", params, seconds=trial.slow)
    if response is not None and response.code == -32601:
        trial.fail_answer(response, "a request for permission is answered with 'method not found'")


@case("elicitation/unknown-mode", "must", sides=CLIENT)
def unknown_mode(trial: Trial) -> None:
    """A question in a mode that nobody has, where questions are advertised. Expected: it is refused or declined, not accepted."""
    if not trial.is_offered("elicitation"):
        raise SkipCase("the client does not advertise elicitation")
    params = {"sessionId": trial.get_client_session(), "mode": "_acpgen.dev/tide", "message": "How high is the tide?"}
    response = trial.connection.ask("elicitation/create", params, trial.slow)
    if response is None and trial.connection.is_over:
        trial.fail(f"the client {trial.ended} at an elicitation in an unknown mode", len(trial.connection.rows) - 1)
    elif response is None:
        raise SkipCase("an elicitation was not answered; it may wait for a person")
    elif response.reach("result", "action") == "accept":
        trial.fail_answer(response, "an elicitation in an unknown mode is answered with 'accept'")


@case("elicitation/unknown-completion", "must", sides=CLIENT)
def unknown_completion(trial: Trial) -> None:
    """`elicitation/complete`, twice, for a question that never was. Expected: no answer, and the client goes on."""
    for _ in range(2):
        params = {"elicitationId": "acpgen-no-such-question"}
        if not trial.notify("elicitation/complete", params, "the completion of an elicitation that never existed"):
            return


@case("file-system/not-advertised", "not-found", versions=(1,), sides=CLIENT)
def not_advertised(trial: Trial) -> None:
    """A file is asked for though the client advertises no file system. Expected: an error."""
    if trial.is_offered("fs", "readTextFile"):
        raise SkipCase("the client advertises fs.readTextFile")
    response = _read_missing(trial)
    if response is not None and "error" not in response.value:
        trial.fail_answer(response, "a file is read though fs.readTextFile is not advertised", level="note")


@case("file-system/read", "advertised-by-client", versions=(1,), sides=CLIENT)
def read(trial: Trial) -> None:
    """A file that does not exist, where reading is advertised. Expected: an error, not 'method not found'."""
    if not trial.is_offered("fs", "readTextFile"):
        raise SkipCase("the client does not advertise fs.readTextFile")
    response = _read_missing(trial, trial.slow)
    if response is not None and "error" not in response.value:
        trial.fail_answer(response, "a file that does not exist is read", level="note")


@case("terminals/run", "advertised-by-client", versions=(1,), sides=CLIENT)
def terminal(trial: Trial) -> None:
    """`echo` in a terminal, where terminals are advertised: created, waited for, read and released. Expected: results."""
    if not trial.is_offered("terminal"):
        raise SkipCase("the client does not advertise terminal")
    session = trial.get_client_session()
    creation = trial.expect(
        "terminal/create", {"sessionId": session, "command": "echo", "args": ["ok"]}, seconds=trial.slow
    )
    if creation is None or "error" in creation.value:
        raise SkipCase(
            "terminal/create was not answered"
            if creation is None
            else trial.describe_refusal("terminal/create", creation)
        )
    params = {"sessionId": session, "terminalId": creation.reach("result", "terminalId")}
    for method in ("terminal/wait_for_exit", "terminal/output", "terminal/release"):
        response = trial.expect(method, params, seconds=trial.slow)
        if response is None:
            return
        if "error" in response.value:
            trial.fail_answer(response, f"{method!r} of an open terminal failed: {response.reason}", level="should")


def _read_missing(trial: Trial, seconds: float | None = None) -> ReceivedMessage | None:
    params = {"sessionId": trial.get_client_session(), "path": f"{trial.get_client_folder()}/{_MISSING}"}
    return trial.expect("fs/read_text_file", params, seconds=seconds)
