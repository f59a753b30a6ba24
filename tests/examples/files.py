"""A client that serves real files: it starts an agent, opens one session, and answers its requests for files inside the roots.

    python files.py DIRECTORY [MORE DIRECTORIES] -- AGENT COMMAND

The user has granted the directories by naming them. Everything else that an agent may ask is declined.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Sequence
from itertools import count
from typing import Any

from acp_bindings import DecodeError, ErrorResponse, Notification, Request, Response, v1

from acp_session.filesystem import FileEvent, FilePolicy, FileSystem
from acp_session.permission import cancel
from acp_session.workspace import ClientWorkspace, RootSet

LONGEST_LINE = 64 * 1024 * 1024


class FilesClient:
    """One connection to an agent over a pair of streams."""

    def __init__(
        self,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
        granted: Sequence[str],
        policy: FilePolicy | None = None,
    ) -> None:
        self.reader = reader
        self.writer = writer
        self.workspace = ClientWorkspace(granted)
        self.events: list[FileEvent] = []
        self.files = FileSystem(policy, notify=self.events.append)
        self.numbers = count(1)
        self.methods: dict[Any, str] = {}
        self.waiting: dict[Any, asyncio.Future[Any]] = {}
        self.tasks = set[asyncio.Task[None]]()

    async def run(self) -> None:
        """Handle what the agent sends until it ends; requests are answered side by side."""
        while line := await self.reader.readline():
            try:
                message = v1.decode(line, sender="agent", pending=self.methods)
            except DecodeError as error:
                if error.id is not None and error.method is not None:
                    body = v1.Error(code=error.code, message=str(error))
                    self.send(ErrorResponse(error.id, body))
                continue
            match message:
                case Request():
                    task = asyncio.create_task(self.answer(message))
                    self.tasks.add(task)
                    task.add_done_callback(self.tasks.discard)
                case Response() | ErrorResponse():
                    self.methods.pop(message.id, None)
                    waiting = self.waiting.pop(message.id, None)
                    if waiting is not None:
                        waiting.set_result(message)
                case Notification():
                    pass  # session/update: what a user interface would show
        for waiting in self.waiting.values():
            waiting.set_exception(RuntimeError("the agent has ended"))

    async def answer(self, request: Request[Any]) -> None:
        """Answer one request of the agent."""
        match request.params:
            case v1.ReadTextFileRequest() | v1.WriteTextFileRequest():
                self.send(await self.files.answer(request))
            case v1.RequestPermissionRequest() as params:
                self.send(Response(request.id, cancel(params), request.method))
            case _:
                body = v1.Error(code=-32601, message=f"{request.method} is not supported")
                self.send(ErrorResponse(request.id, body, request.method))

    async def ask(self, method: str, params: Any) -> Any:
        """Send a request and return its result. Raises `RuntimeError` where the agent answers with an error."""
        number = next(self.numbers)
        self.methods[number] = method
        self.waiting[number] = asyncio.get_running_loop().create_future()
        self.send(Request(number, method, params))
        answer: Response[Any] | ErrorResponse[Any] = await self.waiting[number]
        if isinstance(answer, ErrorResponse):
            raise RuntimeError(f"{method}: {answer.error.message}")
        return answer.result

    async def start(self, cwd: str, additional: Sequence[str] = ()) -> str:
        """Initialize, open a session, and let it use its roots; the session's id."""
        capabilities = v1.ClientCapabilities(fs=self.files.capabilities())
        hello = v1.InitializeRequest(protocol_version=1, client_capabilities=capabilities)
        agent: v1.InitializeResponse = await self.ask("initialize", hello)
        advertised = agent.agent_capabilities.session_capabilities.additional_directories is not None
        roots: RootSet = self.workspace.prepare(cwd, additional, advertised=advertised)
        request = v1.NewSessionRequest(
            cwd=roots.scope.cwd,
            additional_directories=self.workspace.arguments(roots, advertised=advertised),
            mcp_servers=[],
        )
        session: v1.NewSessionResponse = await self.ask("session/new", request)
        self.workspace.establish(session.session_id, roots)
        await self.files.attach(session.session_id, self.workspace.roots(session.session_id))
        return session.session_id

    def send(self, message: Any) -> None:
        self.writer.write(v1.encode(message) + b"\n")


async def main(arguments: Sequence[str]) -> None:
    """Run an agent with the directories given."""
    split = arguments.index("--")
    directories, command = arguments[:split], arguments[split + 1 :]
    process = await asyncio.create_subprocess_exec(
        *command, stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE, limit=LONGEST_LINE
    )
    assert process.stdin is not None
    assert process.stdout is not None
    client = FilesClient(process.stdout, process.stdin, directories)
    running = asyncio.create_task(client.run())
    session = await client.start(directories[0], directories[1:])
    prompt = v1.PromptRequest(session_id=session, prompt=[v1.TextContent(text=sys.stdin.readline())])
    await client.ask("session/prompt", prompt)
    process.stdin.close()
    await running


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1:]))
