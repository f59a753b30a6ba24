"""An agent of v1 whose work one of v2 does.

In v2 the answer to `session/prompt` says that the prompt was accepted; the answer of v1 waits for the state `idle` that ends the work.

Sources: the pages of both versions on initialization, session setup, prompts, cancellation, tool calls, elicitation; the migration page.
"""

from __future__ import annotations

import asyncio
import math
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, Final, cast

from acp_bindings import ConnectionClosed, PeerError, RequestError, to_builtins, v1, v2
from acp_bindings.v1 import peers as peers1
from acp_bindings.v2 import peers as peers2

from acp_session.diffs import as_object
from acp_session.prompts import OpenPrompts
from acp_session.services import ClientServices
from acp_workspace.errors import INTERNAL_ERROR, METHOD_NOT_FOUND, UNSUPPORTED_VERSION
from jsonrpc_bindings.errors import REQUEST_CANCELLED

from .handshakes import answer_to_v1, request_to_v2
from .interfaces import AgentInterface
from .losses import OnLoss, Place
from .messages import AgentRelay, Relay, decode_v1, decode_v2, relay_errors, require_supported_roots, types_of
from .tables import METHODS
from .to_v1 import CARRIER_METHOD, ToV1
from .to_v2 import SWITCH_VALUES, ToV2
from .user_requests import elicitation_to_v1, permission_to_v1
from .walker import Json, omit

STOP_REASONS: Final = frozenset({"end_turn", "max_tokens", "max_turn_requests", "refusal", "cancelled"})
BUSY_STATES: Final = frozenset({"running", "requires_action"})
OPENING_METHODS: Final = ("session/new", "session/fork", "session/load", "session/resume")
ENDING_METHODS: Final = ("session/close", "session/delete")
SHARED_METHODS: Final = ("authenticate", "logout", "session/list", *OPENING_METHODS, *ENDING_METHODS)
"""Requests that both versions have."""


@dataclass(slots=True, eq=False)
class Session:
    """A session: what it was sent, its prompts whose work has not ended, what these say, and how often the client has cancelled."""

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
        """Whether it was opened, or a prompt is worked on."""
        return self.is_open or bool(self.prompts) or self.sending.locked()


class AgentAsV1(AgentRelay[Session], peers1.Agent):
    """An agent of v1 that has one of v2 do its work: serve a connection to a client of v1 with this.

    `agent` is the agent of v2: an object of this process, or the calls to a peer, whose connection `v2_client` serves; set it before
    anything is asked. It calls `v2_client`, and uses the client's files and terminals by `client_services`. `losses` counts what could not
    be carried over; `on_loss` gets each.
    """

    agent: AgentInterface

    def __init__(self, agent: AgentInterface | None = None, *, on_loss: OnLoss = lambda loss: None) -> None:
        super().__init__(on_loss)
        self._is_local = agent is not None
        if agent is not None:
            self.agent = agent
        self.v2_client = ClientForV2(self)
        self.client_services = ClientServices(lambda: self.client, lambda: self.client_capabilities)
        self.client_capabilities = v1.ClientCapabilities()
        self._can = v1.AgentCapabilities()
        self._to_v2 = ToV2()

    async def end_turns(self) -> None:
        error = RequestError(INTERNAL_ERROR, "the agent behind the adapter has ended")
        for session in self.sessions.values():
            session.open_prompts.fail(error)
        await asyncio.sleep(0)

    def new_session(self, session_id: str) -> Session:
        return Session(session_id, self._to_v1(session_id))

    def _to_v1(self, session_id: str) -> ToV1:
        takes = self.client_capabilities.session
        options = None if takes is None else takes.config_options
        return ToV1(
            has_switches=options is not None and options.boolean is not None,
            has_notices=takes is not None and takes.notices is not None,
            has_compaction=takes is not None and takes.compaction is not None,
            terminals=lambda: self.client_services.terminals(session_id),
        )

    async def initialize(self, params: v1.InitializeRequest, /) -> v1.InitializeResponse:
        place = self.losses.place("initialize")
        self.client_capabilities = params.client_capabilities
        body = to_builtins(params)
        if self._is_local:  # it uses these by `client_services`
            body["clientCapabilities"] = omit(as_object(body.get("clientCapabilities")), "fs", "terminal")
        request = decode_v2(v2.InitializeRequest, request_to_v2(body, place), place)
        answer = await self.agent.initialize(request)
        if answer.protocol_version != 2:
            raise RequestError(UNSUPPORTED_VERSION, f"the agent supports version {answer.protocol_version}, not 2")
        found = decode_v1(v1.InitializeResponse, answer_to_v1(to_builtins(answer), place), place)
        self._can = found.agent_capabilities
        return found

    async def serve(self, method: str, params: Any) -> Any:
        """See `Side`: by `SHARED_METHODS`, or by the methods below."""
        return await (
            relay_errors(self._pass(method, params)) if method in SHARED_METHODS else super().serve(method, params)
        )

    async def _pass(self, method: str, params: Any) -> Any:
        place = self.losses.place(method, session_id=getattr(params, "session_id", None))
        is_load = method == "session/load"
        newer = "session/resume" if is_load else METHODS.get(method, method)
        type_, _ = types_of(peers2.Agent, newer)
        body = self._to_v2.convert(type_.__name__, require_supported_roots(to_builtins(params), self._can), place)
        if is_load:
            body["replayFrom"] = {"type": "start"}
        request = decode_v2(type_, body, place)
        session = self.sessions.get(params.session_id) if is_load else None
        before = None if session is None else session.to_v1
        if session is not None:
            session.to_v1, session.is_replayed = self._to_v1(session.id), True  # what is replayed is sent anew
        try:
            answer = to_builtins(await getattr(self.agent, peers2.Agent.requests[newer])(request))
        except BaseException:
            if session is not None and before is not None:
                session.to_v1 = before
            raise
        finally:
            if session is not None:
                session.is_replayed = False
        if method in ENDING_METHODS:
            session = self.sessions.pop(params.session_id, None)
            for prompt in () if session is None else session.open_prompts.open:
                prompt.complete({"stopReason": "cancelled"})
        elif method in OPENING_METHODS:
            answer = await self._convert_answer(str(answer.get("sessionId", body.get("sessionId"))), answer, place)
        return decode_v1(types_of(peers1.Agent, method)[1], answer, place)

    async def _convert_answer(self, session_id: str, answer: Json, place: Place) -> Json:
        """The answer in the terms of v1, which has modes in it, and an update for commands."""
        session = self.session(session_id)
        session.is_open = True
        found = omit(answer, "configOptions", "availableCommands", "modes")
        if answer.get("configOptions") is not None:
            found["configOptions"] = session.to_v1.replace_options(answer["configOptions"], place.at("configOptions"))
        modes = session.to_v1.modes()
        if modes is not None:
            found["modes"] = modes
        commands = answer.get("availableCommands")
        if commands is not None:
            update = {"sessionUpdate": "available_commands_update", "availableCommands": commands}
            sending = self.v2_client.update(session, update, {})
            if "sessionId" in answer:  # which the client does not know before
                self._background.start(sending)
            else:
                await sending
        return found

    async def session_set_mode(self, params: v1.SetSessionModeRequest, /) -> v1.SetSessionModeResponse:
        """The option of category `mode` is set."""
        place = self.losses.place("session/set_mode", session_id=params.session_id)
        session = self.session(params.session_id)
        option = session.to_v1.mode
        if option is None:
            raise RequestError(METHOD_NOT_FOUND, "the session has no modes", {"method": "session/set_mode"})
        body = to_builtins(params)
        value = {"type": "id", "configId": option.get("configId"), "value": body["modeId"]}
        answer = await self._set({**omit(body, "modeId"), **value}, session, place)
        return decode_v1(v1.SetSessionModeResponse, omit(answer, "configOptions"), place)

    async def session_set_config_option(
        self, params: v1.SetSessionConfigOptionRequest, /
    ) -> v1.SetSessionConfigOptionResponse:
        place = self.losses.place("session/set_config_option", session_id=params.session_id)
        body, session = to_builtins(params), self.session(params.session_id)
        option = session.to_v1.option(body.get("configId"))
        if option is not None and option.get("type") == "boolean" and isinstance(body.get("value"), str):
            body |= {"type": "boolean", "value": body["value"] == SWITCH_VALUES[True]}
        answer = await self._set({"type": "id", **body}, session, place)
        return decode_v1(v1.SetSessionConfigOptionResponse, answer, place)

    async def _set(self, body: Json, session: Session, place: Place) -> Json:
        request: Any = decode_v2(cast("Any", v2.SetSessionConfigOptionRequest), body, place)
        answer = to_builtins(await self.agent.session_set_config_option(request))
        options = session.to_v1.replace_options(answer.get("configOptions") or (), place.at("configOptions"))
        return {**answer, "configOptions": options}

    async def session_prompt(self, params: v1.PromptRequest, /) -> v1.PromptResponse:
        place = self.losses.place("session/prompt", session_id=params.session_id)
        request = decode_v2(v2.PromptRequest, self._to_v2.convert("PromptRequest", to_builtins(params), place), place)
        session = self.session(params.session_id)
        content, cancellations = to_builtins(request)["prompt"], session.cancellations

        async def send() -> str:
            if isinstance(self.agent, peers2.RemoteAgent):  # it may wait for the work before it
                accepted = await self.agent.connection.request("session/prompt", request, timeout=math.inf)
            else:
                accepted = await self.agent.session_prompt(request)
            place.lose_fields(to_builtins(accepted), "messageId")
            return str(accepted.message_id)

        session.prompts.append(content)
        try:
            end = await session.open_prompts.wait_for_end(send())
        except asyncio.CancelledError:
            with suppress(ConnectionClosed):
                await self.agent.session_cancel(v2.CancelSessionNotification(session_id=session.id))
            raise
        except (PeerError, RequestError) as error:
            if error.code != REQUEST_CANCELLED:
                raise
            end = {"stopReason": "cancelled"}
        finally:
            session.prompts.remove(content)
        if session.cancellations != cancellations:  # before anybody knew of the end
            end = {"stopReason": "cancelled"}
        reason = end.get("stopReason")
        if reason == "error":
            why = as_object(end.get("error"))
            message = why.get("message", "the work has failed")
            raise RequestError(why.get("code", INTERNAL_ERROR), message, why.get("data"))
        if reason not in STOP_REASONS:
            place.at("stopReason").lose("v1 has no such reason; 'end_turn' is sent instead", reason, "changed")
            reason = "end_turn"
        place.lose_fields(end, "stopReason", "background", "_meta")
        meta = {"_meta": end["_meta"]} if end.get("_meta") is not None else {}
        return decode_v1(v1.PromptResponse, {"stopReason": reason, **meta}, place)

    async def session_cancel(self, params: v1.CancelNotification, /) -> None:
        place = self.losses.place("session/cancel", session_id=params.session_id)
        if params.session_id in self.sessions:
            self.sessions[params.session_id].cancellations += 1
        await asyncio.sleep(0)  # a prompt that came just before reaches the agent first
        await self.agent.session_cancel(decode_v2(v2.CancelSessionNotification, to_builtins(params), place))


class ClientForV2(Relay, peers2.Client):
    """What an agent of v2 sees: its client, which is one of v1."""

    def __init__(self, codec: AgentAsV1) -> None:
        self._codec = codec

    @property
    def far(self) -> Any:
        return self._codec.client

    async def session_update(self, params: v2.UpdateSessionNotification, /) -> None:
        session = self._codec.session(params.session_id)
        body = to_builtins(params)
        update, more = body["update"], omit(body, "update")
        kind = update.get("sessionUpdate")
        if kind == "state_update":
            await self._handle_state(session, update, more)
            return
        if kind == "user_message":
            session.open_prompts.record_user_message(str(update.get("messageId")))
            if update.get("content") in session.prompts and not session.is_replayed:
                return  # v1 does not repeat what the client has said itself
        await self.update(session, update, more)

    async def _handle_state(self, session: Session, update: Json, more: Json) -> None:
        place, state = self._place(session), update.get("state")
        if update.get("background"):
            place.at("background").lose("v1 does not report background work", update["background"], "carried")
            await self._carry(session, update, more)
        if state in BUSY_STATES:
            session.open_prompts.record_running()
            place.lose_fields(update, "sessionUpdate", "state", "background")
            if not session.open_prompts.open:
                place.at("state").lose("v1 has no work without a prompt; its updates are still sent", state)
        elif state == "idle":
            is_cancelled = update.get("stopReason") == "cancelled"
            async with session.sending:
                if session.open_prompts.completing(is_cancelled=is_cancelled):
                    await self._send(session, session.to_v1.flush(place), {})
                session.open_prompts.record_idle(omit(update, "sessionUpdate", "state"), is_cancelled=is_cancelled)
        elif not update.get("background"):
            place.at("state").lose("v1 has no such state", update, "carried")
            await self._carry(session, update, more)

    async def update(self, session: Session, update: Json, more: Json) -> None:
        """Send the client of v1 what an update says, whole before the next."""
        async with session.sending:
            found = session.to_v1.update(update, self._place(session))
            if found is None:
                await self._carry(session, update, more)
            else:
                await self._send(session, found, more)

    async def _carry(self, session: Session, update: Json, more: Json) -> None:
        with suppress(ConnectionClosed):
            await self.far.extension_notification(CARRIER_METHOD, {**more, "sessionId": session.id, "update": update})

    async def _send(self, session: Session, updates: list[Json], more: Json) -> None:
        place = self._codec.losses.place("session/update", session_id=session.id)
        for one in updates:
            body = {**more, "sessionId": session.id, "update": one}
            with suppress(ConnectionClosed, RequestError):  # what is refused is reported as a loss
                await self.far.session_update(decode_v1(v1.SessionNotification, body, place))

    def _place(self, session: Session) -> Place:
        return self._codec.losses.place("session/update", "update", session_id=session.id)

    async def session_request_permission(self, params: v2.RequestPermissionRequest, /) -> v2.RequestPermissionResponse:
        place = self._codec.losses.place("session/request_permission", session_id=params.session_id)
        session, subject = self._codec.session(params.session_id), params.subject
        request = permission_to_v1(params, session.to_v1, place)
        answer = await self.far.session_request_permission(request)
        own = subject.tool_call.title if isinstance(subject, v2.ToolCallPermissionSubject) else None
        if isinstance(own, str) and own != request.tool_call.title:
            # clients show the words of the prompt as the call's title
            update = {"sessionUpdate": "tool_call_update", "toolCallId": request.tool_call.tool_call_id, "title": own}
            await self.update(session, update, {})
        return decode_v2(v2.RequestPermissionResponse, to_builtins(answer), place)

    async def elicitation_create(self, params: v2.CreateElicitationRequest, /) -> v2.CreateElicitationResponse:
        place = self._codec.losses.place("elicitation/create", session_id=getattr(params, "session_id", None))
        answer: Any = await self.far.elicitation_create(elicitation_to_v1(params, place, self._connection))
        return decode_v2(v2.CreateElicitationResponse, to_builtins(answer), place)  # type: ignore[arg-type]

    async def elicitation_complete(self, params: v2.CompleteElicitationNotification, /) -> None:
        place = self._codec.losses.place("elicitation/complete")
        await self.far.elicitation_complete(decode_v1(v1.CompleteElicitationNotification, to_builtins(params), place))
