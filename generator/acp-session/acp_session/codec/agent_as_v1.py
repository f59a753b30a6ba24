"""An agent of v1 whose work one of v2 does.

In v2 the answer to `session/prompt` says that the prompt was accepted; the answer of v1 waits for the state `idle` that ends the work.

Sources: the pages of both versions on initialization, session setup, prompts, cancellation, tool calls; the migration page.
"""

from __future__ import annotations

import asyncio
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, Final, cast

from acp_bindings import ConnectionClosed, PeerError, RequestError, to_builtins, v1, v2
from acp_bindings.v1 import peers as peers1
from acp_bindings.v2 import peers as peers2

from acp_session.background import Background
from acp_session.diffs import as_object
from acp_session.prompts import OpenPrompts, send_prompt
from acp_session.services import ClientServices
from acp_workspace.errors import INTERNAL_ERROR, METHOD_NOT_FOUND, UNSUPPORTED_VERSION
from jsonrpc_bindings.connection import Connection
from jsonrpc_bindings.errors import REQUEST_CANCELLED

from .handshakes import answer_to_v1, request_to_v2
from .interfaces import AgentInterface
from .losses import Losses, OnLoss, Place
from .messages import into_v1, into_v2, relay_errors, types_of, with_supported_roots
from .tables import METHODS
from .to_v1 import ToV1
from .to_v2 import ON, ToV2
from .v1_turns import forget_oldest
from .v2_client import ClientForV2
from .walker import Json, without

REASONS: Final = frozenset({"end_turn", "max_tokens", "max_turn_requests", "refusal", "cancelled"})


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


OPENS: Final = ("session/new", "session/fork", "session/load", "session/resume")
ENDS: Final = ("session/close", "session/delete")
ROUTES: Final = ("authenticate", "logout", "session/list", *OPENS, *ENDS)
"""Requests that both versions have."""


class AgentAsV1(peers1.Agent):
    """An agent of v1 that has one of v2 do its work: serve a connection to a client of v1 with this.

    `agent` is the agent of v2: an object of this process, or the calls to a peer, whose connection `v2_client` serves; set it before
    anything is asked. It calls `v2_client`, and uses the client's files and terminals by `client_services`. `losses` counts what could not
    be carried over; `on_loss` gets each.
    """

    agent: AgentInterface

    def __init__(self, agent: AgentInterface | None = None, *, on_loss: OnLoss = lambda loss: None) -> None:
        self._is_local = agent is not None
        if agent is not None:
            self.agent = agent
        self.losses = Losses(on_loss)
        self.v2_client = ClientForV2(self)
        self.client_services = ClientServices(lambda: self.client, lambda: self.client_capabilities)
        self.sessions: dict[str, Session] = {}
        self.client_capabilities = v1.ClientCapabilities()
        self._can = v1.AgentCapabilities()
        self._to_v2 = ToV2()
        self._background = Background()

    async def close(self) -> None:
        """End what runs beside."""
        await self._background.close()

    async def follow_agent(self, connection: Connection) -> None:
        """Wait until the agent at the far end of this connection has gone: turns end with an error, and the connection to the client is
        closed.
        """
        await connection.ended()
        error = RequestError(INTERNAL_ERROR, "the agent behind the adapter has ended")
        for session in self.sessions.values():
            session.open_prompts.fail(error)
        await asyncio.sleep(0)
        if self._connection is not None:
            await self._connection.close()

    def session(self, session_id: str) -> Session:
        """What is known of a session; one that is new begins."""
        found = self.sessions.get(session_id)
        if found is None:
            forget_oldest([one.id for one in self.sessions.values() if not one.is_used], self.sessions)
            found = self.sessions[session_id] = Session(session_id, self._to_v1(session_id))
        return found

    def _to_v1(self, session_id: str) -> ToV1:
        takes = self.client_capabilities.session
        options = None if takes is None else takes.config_options
        return ToV1(
            has_switches=options is not None and options.boolean is not None,
            has_notices=takes is not None and takes.notices is not None,
            has_compaction=takes is not None and takes.compaction is not None,
            terminals=lambda: self.client_services.terminals(session_id),
        )

    # --- the beginning

    async def initialize(self, params: v1.InitializeRequest, /) -> v1.InitializeResponse:
        place = self.losses.place("initialize")
        self.client_capabilities = params.client_capabilities
        body = to_builtins(params)
        if self._is_local:  # it uses these by `client_services`
            body["clientCapabilities"] = without(as_object(body.get("clientCapabilities")), "fs", "terminal")
        request = into_v2(v2.InitializeRequest, request_to_v2(body, place), place)
        answer = await self.agent.initialize(request)
        if answer.protocol_version != 2:
            raise RequestError(UNSUPPORTED_VERSION, f"the agent supports version {answer.protocol_version}, not 2")
        made = into_v1(v1.InitializeResponse, answer_to_v1(to_builtins(answer), place), place)
        self._can = made.agent_capabilities
        return made

    async def serve(self, method: str, params: Any) -> Any:
        """See `Side`: by `ROUTES`, or by the methods below. Errors of the agent are passed on as they are."""
        passed = self._pass(method, params) if method in ROUTES else super().serve(method, params)
        return await relay_errors(passed)

    async def _pass(self, method: str, params: Any) -> Any:
        place = self.losses.place(method, session_id=getattr(params, "session_id", None))
        newer = "session/resume" if method == "session/load" else METHODS.get(method, method)
        type_, _ = types_of(peers2.Agent, newer)
        body = self._to_v2.convert(type_.__name__, with_supported_roots(to_builtins(params), self._can), place)
        if method == "session/load":
            body["replayFrom"] = {"type": "start"}
        request = into_v2(type_, body, place)
        session = self.sessions.get(params.session_id) if method == "session/load" else None
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
        if method in ENDS:
            session = self.sessions.pop(params.session_id, None)
            for prompt in () if session is None else session.open_prompts.open:
                prompt.complete({"stopReason": "cancelled"})
        elif method in OPENS:
            answer = await self._opened(str(answer.get("sessionId", body.get("sessionId"))), answer, place)
        return into_v1(types_of(peers1.Agent, method)[1], answer, place)

    async def _opened(self, session_id: str, answer: Json, place: Place) -> Json:
        """The answer in the terms of v1, which has modes in it, and an update for commands."""
        session = self.session(session_id)
        session.is_open = True
        made = without(answer, "configOptions", "availableCommands", "modes")
        if answer.get("configOptions") is not None:
            made["configOptions"] = session.to_v1.replace_options(answer["configOptions"], place.at("configOptions"))
        modes = session.to_v1.modes()
        if modes is not None:
            made["modes"] = modes
        commands = answer.get("availableCommands")
        if commands is not None:
            update = {"sessionUpdate": "available_commands_update", "availableCommands": commands}
            sending = self.v2_client.update(session, update, {})
            if "sessionId" in answer:  # which the client does not know before
                self._background.start(sending)
            else:
                await sending
        return made

    async def session_set_mode(self, params: v1.SetSessionModeRequest, /) -> v1.SetSessionModeResponse:
        """The option of category `mode` is set."""
        place = self.losses.place("session/set_mode", session_id=params.session_id)
        session = self.session(params.session_id)
        option = session.to_v1.mode
        if option is None:
            raise RequestError(METHOD_NOT_FOUND, "the session has no modes", {"method": "session/set_mode"})
        body = to_builtins(params)
        chosen = {"type": "id", "configId": option.get("configId"), "value": body["modeId"]}
        answer = await self._set({**without(body, "modeId"), **chosen}, session, place)
        return into_v1(v1.SetSessionModeResponse, without(answer, "configOptions"), place)

    async def session_set_config_option(
        self, params: v1.SetSessionConfigOptionRequest, /
    ) -> v1.SetSessionConfigOptionResponse:
        place = self.losses.place("session/set_config_option", session_id=params.session_id)
        body = to_builtins(params)
        session = self.session(params.session_id)
        option = session.to_v1.option(body.get("configId"))
        if option is not None and option.get("type") == "boolean" and isinstance(body.get("value"), str):
            body |= {"type": "boolean", "value": body["value"] == ON[True]}
        answer = await self._set({"type": "id", **body}, session, place)
        return into_v1(v1.SetSessionConfigOptionResponse, answer, place)

    async def _set(self, body: Json, session: Session, place: Place) -> Json:
        request: Any = into_v2(cast("Any", v2.SetSessionConfigOptionRequest), body, place)
        answer = to_builtins(await self.agent.session_set_config_option(request))
        options = session.to_v1.replace_options(answer.get("configOptions") or (), place.at("configOptions"))
        return {**answer, "configOptions": options}

    # --- turns

    async def session_prompt(self, params: v1.PromptRequest, /) -> v1.PromptResponse:
        place = self.losses.place("session/prompt", session_id=params.session_id)
        request = into_v2(v2.PromptRequest, self._to_v2.convert("PromptRequest", to_builtins(params), place), place)
        session = self.session(params.session_id)
        said = to_builtins(request)["prompt"]

        async def send() -> str:
            accepted = await send_prompt(self.agent, request)
            place.lose_fields(to_builtins(accepted), "messageId")
            return accepted.message_id

        session.prompts.append(said)
        cancellations = session.cancellations
        try:
            end = await session.open_prompts.wait_for_end(send())
        except asyncio.CancelledError:
            with suppress(ConnectionClosed):
                await self.agent.session_cancel(v2.CancelSessionNotification(session_id=session.id))
            raise
        except (PeerError, RequestError) as error:
            if error.code != REQUEST_CANCELLED:
                raise
            return v1.PromptResponse(stop_reason="cancelled")
        finally:
            session.prompts.remove(said)
        if session.cancellations != cancellations:  # before anybody was told of the end
            return v1.PromptResponse(stop_reason="cancelled")
        reason = end.get("stopReason")
        if reason == "error":
            why = as_object(end.get("error"))
            message = why.get("message", "the work has failed")
            raise RequestError(why.get("code", INTERNAL_ERROR), message, why.get("data"))
        if reason not in REASONS:
            place.at("stopReason").lose("v1 has no such reason; 'end_turn' is sent instead", reason, "changed")
            reason = "end_turn"
        place.lose_fields(end, "stopReason", "background", "_meta")
        meta = {"_meta": end["_meta"]} if end.get("_meta") is not None else {}
        return into_v1(v1.PromptResponse, {"stopReason": reason, **meta}, place)

    async def session_cancel(self, params: v1.CancelNotification, /) -> None:
        place = self.losses.place("session/cancel", session_id=params.session_id)
        if params.session_id in self.sessions:
            self.sessions[params.session_id].cancellations += 1
        await asyncio.sleep(0)  # a prompt that came just before reaches the agent first
        await self.agent.session_cancel(into_v2(v2.CancelSessionNotification, to_builtins(params), place))

    async def extension_request(self, method: str, params: Any) -> Any:
        """Pass on a request that both versions leave to the peers."""
        return await self.agent.extension_request(method, params)

    async def extension_notification(self, method: str, params: Any) -> None:
        """Pass on a notification that both versions leave to the peers."""
        await self.agent.extension_notification(method, params)
