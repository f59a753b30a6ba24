"""Sessions of the Agent Client Protocol, for agents and clients that speak version 1 and version 2."""

from __future__ import annotations

from .agent import Agent as Agent
from .agent import AuthRequired as AuthRequired
from .agent_connection import AgentConnection as AgentConnection
from .client import Client as Client
from .client_session import ClientSession as ClientSession
from .client_session import PromptResult as PromptResult
from .connect import connect_agent as connect_agent
from .connect import connect_in_memory as connect_in_memory
from .connect import spawn_agent as spawn_agent
from .errors import ConnectionClosed as ConnectionClosed
from .errors import Error as Error
from .errors import InvalidMessage as InvalidMessage
from .errors import NotAdvertised as NotAdvertised
from .errors import PeerError as PeerError
from .errors import RequestError as RequestError
from .errors import UnsupportedVersion as UnsupportedVersion
from .modes import Mode as Mode
from .permission import PermissionRequest as PermissionRequest
from .serving import run_agent as run_agent
from .serving import serve_agent as serve_agent
from .session import ClientCapabilities as ClientCapabilities
from .session import ClientConnection as ClientConnection
from .session import Session as Session
from .store import FileStore as FileStore
from .store import MemoryStore as MemoryStore
from .store import Store as Store
from .store import StoredSession as StoredSession
from .transcript import Transcript as Transcript
from .turn import CommandResult as CommandResult
from .turn import Diff as Diff
from .turn import ToolCall as ToolCall
from .turn import Turn as Turn
