"""A v1 agent whose work is done by a v2 agent.

In v2 the response to `session/prompt` says that the prompt was accepted; the v1 response waits for the state `idle` that ends the work.

Sources: the pages of both versions on initialization, session setup, prompts, cancellation, tool calls, elicitation; the migration page.
"""

from __future__ import annotations

import asyncio
import math
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, Final

from acp_bindings import ConnectionClosed, PeerError, RequestError, to_builtins, v1, v2
from acp_bindings.v1 import peers as peers1
from acp_bindings.v2 import peers as peers2

from acp_session.arguments import list_values
from acp_session.diffs import as_object
from acp_session.prompts import OpenPrompts
from acp_session.services import ClientServices
from acp_workspace.errors import INTERNAL_ERROR, METHOD_NOT_FOUND, UNSUPPORTED_VERSION, make_invalid_params
from jsonrpc_bindings.errors import REQUEST_CANCELLED
from jsonrpc_bindings.peers import Side

from .losses import OnLoss, Place
from .relay import AgentRelay, ClientRelay, Handler, decode, with_id_of_client
from .tables import METHODS
from .to_v1 import CARRIER_METHOD, ToV1
from .to_v2 import SWITCH_VALUES, ToV2
from .walker import Json, omit

BUSY_STATES: Final = frozenset({"running", "requires_action"})
CANCELLED: Final = {"stopReason": "cancelled"}


@dataclass(slots=True, eq=False)
class Session:
    """A session: the converter with what was sent, the unfinished prompts and their content, and how often the client has cancelled."""

    id: str
    to_v1: ToV1
    open_prompts: OpenPrompts[Json] = field(default_factory=OpenPrompts[Json])
    prompts: list[list[Any]] = field(default_factory=list[Any])
    cancellations: int = 0
    sending: asyncio.Lock = field(default_factory=asyncio.Lock)
    is_open: bool = False
    is_replayed: bool = False

    @property
    def is_used(self) -> bool:
        """Whether the session was opened or is being loaded, or has an unfinished prompt or an update that is being sent."""
        return self.is_open or self.is_replayed or bool(self.prompts) or self.sending.locked()


class AgentAsV1(AgentRelay[Session], peers1.Agent):
    """A v1 agent whose work is done by a v2 agent: use this to serve a connection to a v1 client.

    `agent` is the v2 agent: an object of this process, or the calls to a peer whose connection `v2_client` serves; set it before the
    first request. It calls `v2_client`, and uses the client's files and terminals by `client_services`. `losses` counts the losses of
    the conversion; `on_loss` gets each.
    """

    far_side = peers2.Agent
    agent: Side | peers2.RemoteAgent

    def __init__(self, agent: Side | None = None, *, on_loss: OnLoss = lambda loss: None) -> None:
        super().__init__(on_loss, ToV2())
        self._is_local = agent is not None
        if agent is not None:
            self.agent = agent
        self.handlers = {
            "initialize": self._initialize,
            **dict.fromkeys(("authenticate", "logout", "session/list"), self._pass),
            **dict.fromkeys(("session/new", "session/fork", "session/resume"), self._open),
            "session/load": self._load,
            **dict.fromkeys(("session/close", "session/delete"), self._end),
            "session/set_mode": self._set_mode,
            "session/set_config_option": self._set_config_option,
            "session/prompt": self._prompt,
            "session/cancel": self._cancel,
        }
        handlers: Mapping[str, Handler] = {
            "session/update": self._update,
            "session/request_permission": self._request_permission,
            "elicitation/create": self._elicit,
        }
        self.v2_client = ClientForV2(self, handlers)
        self.client_services = ClientServices(lambda: self.client, lambda: self.client_capabilities)
        self.client_capabilities = v1.ClientCapabilities()

    async def end_turns(self) -> None:
        error = RequestError(INTERNAL_ERROR, "the agent behind the adapter has ended")
        for session in self.sessions.values():
            session.open_prompts.fail(error)
        await asyncio.sleep(0)

    async def close(self) -> None:
        await self.end_turns()  # also those that no client waits for any more
        await super().close()

    def make_session(self, session_id: str) -> Session:
        return Session(session_id, self._get_converter(session_id))

    def _get_converter(self, session_id: str) -> ToV1:
        takes = as_object(to_builtins(self.client_capabilities).get("session"))
        return ToV1(takes, lambda: self.client_services.list_terminals(session_id))

    async def _initialize(self, body: Json, place: Place) -> Json:
        client_capabilities = as_object(body.get("clientCapabilities"))
        self.client_capabilities = v1.decode_as(v1.ClientCapabilities, client_capabilities)
        if self._is_local:  # it uses these by `client_services`
            body["clientCapabilities"] = omit(client_capabilities, "fs", "terminal")
        answer = await self.pass_on("initialize", body, place)
        if answer["protocolVersion"] != 2:
            raise RequestError(UNSUPPORTED_VERSION, f"the agent supports version {answer['protocolVersion']}, not 2")
        result: Json = ToV1().convert("InitializeResponse", answer, place)
        self.capabilities = as_object(result["agentCapabilities"])
        return result

    async def _pass(self, body: Json, place: Place) -> Json:
        return await self.pass_on(METHODS.get(place.method, place.method), body, place)

    async def _open(self, body: Json, place: Place) -> Json:
        return await self._convert_answer(await self._pass(body, place), body, place)

    async def _load(self, body: Json, place: Place) -> Json:
        """Load a session. Replayed updates are sent again, whatever was sent before."""
        session = self.get_session(body["sessionId"])
        before, session.to_v1, session.is_replayed = session.to_v1, self._get_converter(session.id), True
        try:
            answer = await self.pass_on("session/resume", body, place, replayFrom={"type": "start"})
        except BaseException:
            session.to_v1 = before
            raise
        finally:
            session.is_replayed = False
        return await self._convert_answer(answer, body, place)

    async def _convert_answer(self, answer: Json, body: Json, place: Place) -> Json:
        """Convert the response that opens a session to v1, and send its commands as the update that v1 has for them."""
        session = self.get_session(str(answer.get("sessionId", body.get("sessionId"))))
        session.is_open = True
        result: Json = session.to_v1.convert("NewSessionResponse", answer, place)
        commands = answer.get("availableCommands")
        if commands is not None:
            update = {"sessionUpdate": "available_commands_update", "availableCommands": commands}
            sending = self._convert_update(session, update, {})
            if "sessionId" in answer:  # which the client does not know before
                self.background.start(sending)
            else:
                await sending
        return result

    async def _end(self, body: Json, place: Place) -> Json:
        answer = await self._pass(body, place)
        session = self.sessions.pop(body["sessionId"], None)
        for prompt in () if session is None else session.open_prompts.open:
            prompt.complete(CANCELLED)
        return answer

    async def _set_mode(self, body: Json, place: Place) -> Json:
        """Set the mode by the option of category `mode`."""
        to_v1, mode_id = self.get_session(body["sessionId"]).to_v1, body["modeId"]
        option = to_v1.mode
        if option is None:
            raise RequestError(METHOD_NOT_FOUND, "the session has no modes", {"method": "session/set_mode"})
        if mode_id not in [mode["id"] for mode in to_v1.modes]:
            raise make_invalid_params(f"the session has no mode {mode_id!r}", "/modeId")
        value = {"type": "id", "configId": option.get("configId"), "value": mode_id}
        return omit(await self._set({**omit(body, "modeId"), **value}, place), "configOptions")

    async def _set_config_option(self, body: Json, place: Place) -> Json:
        option = self.get_session(body["sessionId"]).to_v1.find_option(body.get("configId"))
        if option is not None and option.get("type") == "boolean" and body.get("value") in SWITCH_VALUES.values():
            body |= {"type": "boolean", "value": body["value"] == SWITCH_VALUES[True]}
        return await self._set({"type": "id", **body}, place)

    async def _set(self, body: Json, place: Place) -> Json:
        answer = await self.request("session/set_config_option", body, place)
        to_v1 = self.get_session(body["sessionId"]).to_v1
        options = to_v1.replace_options(answer.get("configOptions") or (), place.descend("configOptions"))
        return {**answer, "configOptions": options}

    async def _prompt(self, body: Json, place: Place) -> Json:
        request = decode(peers2.Agent, v2.PromptRequest, self.walker.convert("PromptRequest", body, place), place)
        session = self.get_session(body["sessionId"])
        content, cancellations = to_builtins(request)["prompt"], session.cancellations

        async def send() -> str:
            # it may wait for the work before it
            response = await self.far.request("session/prompt", request, timeout=math.inf)
            place.lose_fields(to_builtins(response), "messageId")
            return str(response.message_id)

        session.prompts.append(content)
        try:
            end = await session.open_prompts.wait_for_end(send())
        except asyncio.CancelledError:
            with suppress(ConnectionClosed):
                await self.notify("session/cancel", {"sessionId": session.id}, place)
            raise
        except (PeerError, RequestError) as error:
            if error.code != REQUEST_CANCELLED:
                raise
            end = CANCELLED
        finally:
            session.prompts.remove(content)
        if session.cancellations != cancellations:  # before anybody knew of the end
            end = CANCELLED
        reason = end.get("stopReason")
        if reason == "error":
            why = as_object(end.get("error"))
            message = why.get("message", "the work has failed")
            raise RequestError(why.get("code", INTERNAL_ERROR), message, why.get("data"))
        if reason not in list_values(v1.StopReason):
            place.descend("stopReason").lose("v1 has no such reason; 'end_turn' is sent instead", reason, "changed")
            reason = "end_turn"
        place.lose_fields(end, "stopReason", "background", "_meta")
        return {"stopReason": reason, **({"_meta": end["_meta"]} if end.get("_meta") is not None else {})}

    async def _cancel(self, body: Json, place: Place) -> None:
        if body["sessionId"] in self.sessions:
            self.sessions[body["sessionId"]].cancellations += 1
        await asyncio.sleep(0)  # a prompt that came just before reaches the agent first
        await self.notify("session/cancel", body, place)

    async def _update(self, body: Json, place: Place) -> None:
        session, update, envelope = self.get_session(body["sessionId"]), body["update"], omit(body, "update")
        kind = update.get("sessionUpdate")
        if kind == "state_update":
            await self._handle_state(session, update, envelope, place.descend("update"))
            return
        if kind == "user_message":
            session.open_prompts.record_user_message(str(update.get("messageId")))
            if update.get("content") in session.prompts and not session.is_replayed:
                return  # v1 does not repeat what the client has said itself
        await self._convert_update(session, update, envelope)

    async def _handle_state(self, session: Session, update: Json, envelope: Json, place: Place) -> None:
        state = update.get("state")
        if update.get("background"):
            place.descend("background").lose("v1 does not report background work", update["background"], "carried")
            await self._carry(session, update, envelope)
        if state in BUSY_STATES:
            session.open_prompts.record_running()
            place.lose_fields(update, "sessionUpdate", "state", "background")
            if not session.open_prompts.open:
                place.descend("state").lose("v1 has no work without a prompt; its updates are still sent", state)
        elif state == "idle":
            is_cancelled = update.get("stopReason") == "cancelled"
            async with session.sending:
                if session.open_prompts.list_completing(is_cancelled=is_cancelled):
                    await self._send(session, session.to_v1.flush(place), {})
                session.open_prompts.record_idle(omit(update, "sessionUpdate", "state"), is_cancelled=is_cancelled)
        elif not update.get("background"):
            place.descend("state").lose("v1 has no such state", update, "carried")
            await self._carry(session, update, envelope)

    async def _convert_update(self, session: Session, update: Json, envelope: Json) -> None:
        """Send the v1 client all that an update converts to, before the next update."""
        async with session.sending:
            place = self.losses.make_place("session/update", "update", session_id=session.id)
            updates = session.to_v1.update(update, place)
            if updates is None:
                await self._carry(session, update, envelope)
            else:
                await self._send(session, updates, envelope)

    async def _carry(self, session: Session, update: Json, envelope: Json) -> None:
        with suppress(ConnectionClosed):
            await self.calls_to_client.notify(CARRIER_METHOD, {**envelope, "sessionId": session.id, "update": update})

    async def _send(self, session: Session, updates: list[Json], envelope: Json) -> None:
        place = self.losses.make_place("session/update", session_id=session.id)
        for update in updates:
            with suppress(ConnectionClosed, RequestError):  # what is refused is reported as a loss
                await self.v2_client.notify(
                    "session/update", {**envelope, "sessionId": session.id, "update": update}, place
                )

    async def _request_permission(self, body: Json, place: Place) -> Json:
        session = self.get_session(body["sessionId"])
        request = session.to_v1.convert("RequestPermissionRequest", body, place)
        subject, tool_call = as_object(body.get("subject")), request["toolCall"]
        shown_call = as_object(subject.get("toolCall")) if subject.get("type") == "tool_call" else subject
        end: Json = {}
        if shown_call.get("toolCallId") != tool_call["toolCallId"]:  # the call stands for the prompt alone
            end = {"status": "failed"}
        elif isinstance(shown_call.get("title"), str) and shown_call["title"] != tool_call.get("title"):
            end = {"title": shown_call["title"]}  # clients show the words of the prompt as the call's title
        try:
            answer = await self.v2_client.request("session/request_permission", request, place)
            selected = [
                option for option in request["options"] if option["optionId"] == answer["outcome"].get("optionId")
            ]
            if "status" in end and selected and selected[0]["kind"].startswith("allow"):
                end = {"status": "completed"}
            return answer
        finally:
            if end:
                update = {"sessionUpdate": "tool_call_update", "toolCallId": tool_call["toolCallId"], **end}
                await self._convert_update(session, update, {})

    async def _elicit(self, body: Json, place: Place) -> Json:
        request = with_id_of_client(body, place, self.v2_client._connection)
        return await self.v2_client.request("elicitation/create", request, place)


class ClientForV2(ClientRelay, peers2.Client):
    """The client that a v2 agent sees."""

    far_side = peers1.Client
