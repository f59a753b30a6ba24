"""A client of ACP v1 on the bindings. Takes the agent's command, walks the whole tour, and exits as the agent does."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path
from typing import Any

from acp_bindings import v1

from conversations.peers.wire import Peer, RequestError, with_agent


class Client:
    """Answers what the agent asks: yes to permissions, files of the real disk, terminals that have ended at once."""

    def __init__(self) -> None:
        self.heard = asyncio.Event()

    async def handle(self, method: str, params: Any) -> Any:
        match params:
            case v1.SessionNotification():
                self.heard.set()
                return None
            case v1.RequestPermissionRequest():
                chosen = v1.SelectedPermissionOutcome(option_id=params.options[0].option_id)
                return v1.RequestPermissionResponse(outcome=chosen)
            case v1.WriteTextFileRequest():
                Path(params.path).write_text(params.content)
                return v1.WriteTextFileResponse()
            case v1.ReadTextFileRequest():
                return v1.ReadTextFileResponse(content=Path(params.path).read_text())
            case v1.CreateTerminalRequest():
                return v1.CreateTerminalResponse(terminal_id="term-1")
            case v1.WaitForTerminalExitRequest():
                return v1.WaitForTerminalExitResponse(exit_code=0)
            case v1.TerminalOutputRequest():
                return v1.TerminalOutputResponse(output="tide\n", truncated=False)
            case v1.ReleaseTerminalRequest():
                return v1.ReleaseTerminalResponse()
            case v1.CompleteElicitationNotification():
                return None
            case _ if method == "elicitation/create":
                return v1.decode_as(
                    v1.CreateElicitationResponse, {"action": "accept", "content": {"harbour": "Vlissingen"}}
                )
            case _:
                raise RequestError(-32601, f"{method} is not supported")


async def tour(peer: Peer, client: Client, folder: str) -> None:
    ready = await peer.request(
        "initialize",
        v1.InitializeRequest(
            protocol_version=1,
            client_info=v1.Implementation(name="tour", version="1"),
            client_capabilities=v1.ClientCapabilities(
                fs=v1.FileSystemCapabilities(read_text_file=True, write_text_file=True),
                terminal=True,
                elicitation=v1.ElicitationCapabilities(form=v1.ElicitationFormCapabilities()),
            ),
        ),
    )
    offers = ready.agent_capabilities.session_capabilities
    roots: Any = {"additional_directories": [f"{folder}/extra"]} if offers.additional_directories is not None else {}
    new = v1.NewSessionRequest(cwd=folder, mcp_servers=[], **roots)
    opened = await peer.request("session/new", new)
    name = opened.session_id
    if opened.modes is not None:
        other = opened.modes.available_modes[-1].id
        await peer.request("session/set_mode", v1.SetSessionModeRequest(session_id=name, mode_id=other))
    await peer.request("session/prompt", prompt(name, "Look at the tide."))
    client.heard.clear()
    waiting = asyncio.create_task(peer.request("session/prompt", prompt(name, "wait")))
    await client.heard.wait()
    await peer.notify("session/cancel", v1.CancelNotification(session_id=name))
    assert (await waiting).stop_reason == "cancelled"
    if offers.list_ is not None:
        await peer.request("session/list", v1.ListSessionsRequest(cwd=folder))
        if roots:
            await peer.request("session/list", v1.ListSessionsRequest(cwd=folder, **roots))
            await peer.request("session/list", v1.ListSessionsRequest(additional_directories=[]))
    if ready.agent_capabilities.load_session:
        await peer.request("session/load", v1.LoadSessionRequest(session_id=name, cwd=folder, mcp_servers=[], **roots))
    if offers.resume is not None:
        await peer.request("session/resume", v1.ResumeSessionRequest(session_id=name, cwd=folder, **roots))
    if offers.close is not None:
        await peer.request("session/close", v1.CloseSessionRequest(session_id=name))


def prompt(session: str, text: str) -> v1.PromptRequest:
    return v1.PromptRequest(session_id=session, prompt=[v1.TextContent(text=text)])


def main() -> int:
    folder, *command = sys.argv[1:]
    client = Client()
    return asyncio.run(with_agent(v1, command, lambda: client.handle, lambda peer: tour(peer, client, folder)))


if __name__ == "__main__":
    sys.exit(main())
