"""A client of ACP v2 on the bindings. Takes a folder and the agent's command, and relies on the whole baseline."""

from __future__ import annotations

import asyncio
import contextlib
import sys
from typing import Any

from acp_bindings import v2

from conversations.peers.wire import Peer, RequestError, with_agent


class Client:
    """Says yes, fills in forms, and knows when the session rests."""

    def __init__(self) -> None:
        self.running, self.idle = asyncio.Event(), asyncio.Event()

    async def handle(self, method: str, params: Any) -> Any:
        match params:
            case v2.UpdateSessionNotification(update=v2.RunningStateUpdate()):
                self.running.set()
            case v2.UpdateSessionNotification(update=update) if getattr(update, "state", None) == "idle":
                self.idle.set()  # the reasons to be idle are a class each
            case v2.RequestPermissionRequest():
                chosen = v2.SelectedPermissionOutcome(option_id=params.options[0].option_id)
                return v2.RequestPermissionResponse(outcome=chosen)
            case v2.UpdateSessionNotification() | v2.CompleteElicitationNotification():
                pass
            case _ if method == "elicitation/create":
                return v2.decode_as(
                    v2.CreateElicitationResponse, {"action": "accept", "content": {"harbour": "Vlissingen"}}
                )
            case _:
                raise RequestError(-32601, f"{method} is not supported")
        return None


async def tour(peer: Peer, client: Client, folder: str) -> None:
    elicitation = v2.ElicitationCapabilities(form=v2.ElicitationFormCapabilities())
    ready = await peer.request(
        "initialize",
        v2.InitializeRequest(
            protocol_version=2,
            info=v2.Implementation(name="tour", version="1"),
            capabilities=v2.ClientCapabilities(elicitation=elicitation),
        ),
    )
    offers = ready.capabilities.session
    assert offers is not None
    roots: Any = {"additional_directories": [f"{folder}/extra"]} if offers.additional_directories is not None else {}
    opened = await peer.request("session/new", v2.NewSessionRequest(cwd=folder, **roots))
    name = opened.session_id
    for text in ("Look at the tide.", "wait"):
        client.idle.clear()
        client.running.clear()
        said = v2.PromptRequest(session_id=name, prompt=[v2.TextContent(text=text)])
        await peer.request("session/prompt", said)
        if text == "wait":
            await client.running.wait()
            await peer.notify("session/cancel", v2.CancelSessionNotification(session_id=name))
        await client.idle.wait()
    await peer.request("session/list", v2.ListSessionsRequest(cwd=folder))
    if roots:
        await peer.request("session/list", v2.ListSessionsRequest(cwd=folder, **roots))
        await peer.request("session/list", v2.ListSessionsRequest(additional_directories=[]))
    with contextlib.suppress(RequestError):
        await peer.request("session/load", v2.LoadSessionRequest(session_id=name, cwd=folder, **roots))
    await peer.request("session/resume", v2.ResumeSessionRequest(session_id=name, cwd=folder, **roots))
    await peer.request("session/close", v2.CloseSessionRequest(session_id=name))


def main() -> int:
    folder, *command = sys.argv[1:]
    client = Client()
    return asyncio.run(with_agent(v2, command, lambda: client.handle, lambda peer: tour(peer, client, folder)))


if __name__ == "__main__":
    sys.exit(main())
