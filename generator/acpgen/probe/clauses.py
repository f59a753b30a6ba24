"""What the specifications demand, as far as a case of the probe tries it: where it stands, how strongly, and in our own words."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

Strength: TypeAlias = Literal["must", "should", "note"]
"""`must` and `should` are breaches. A `note` is worth knowing: the documents say less than SHOULD, or nothing."""


@dataclass(frozen=True, slots=True)
class Clause:
    """A demand. `number` is that of the table of requirements, or its id there, where it has one."""

    document: str
    section: str
    strength: Strength
    says: str
    number: int | str | None = None

    def __str__(self) -> str:
        number = f"requirement {self.number}" if self.number is not None else ""
        return f"{', '.join(part for part in (self.document, self.section, number) if part)}: {self.says}"


RPC: Final = "JSON-RPC 2.0"
ACP: Final = "Agent Client Protocol"
REGISTRY: Final = "ACP Registry"

ANSWERED: Final = Clause(RPC, "5 Response object", "must", "Every request gets a response; notifications get none.")
NOT_FOUND: Final = Clause(
    RPC, "5.1 Error object", "must", "A request for a method that does not exist fails with the code -32601."
)
NO_REPLY: Final = Clause(RPC, "4.1 Notification", "must", "A notification gets no response, whatever is wrong with it.")
INVALID_PARAMS: Final = Clause(
    RPC, "5.1 Error object", "should", "A request whose parameters are invalid fails with the code -32602."
)
ROBUST: Final = Clause(
    RPC, "5.1 Error object", "should", "An invalid message is answered with an error; the connection continues."
)
LONG: Final = Clause(
    RPC, "5 Response object", "should", "Every request gets a response, also a long one: the documents set no limit."
)
EARLY: Final = Clause(
    RPC,
    "5 Response object",
    "should",
    "A request that comes too early gets a response too, although the client made the first mistake.",
)
INTEROPERABLE: Final = Clause(
    RPC,
    "5 Response object",
    "should",
    "The id comes back unchanged, even if it is larger than a double can represent exactly.",
)
VERSION: Final = Clause(
    ACP,
    "Initialization: protocol version",
    "must",
    "An agent answers with the requested version if it supports it, otherwise with the latest version that it supports.",
)
EXTENSION_ANSWERED: Final = Clause(
    ACP, "Extensibility: custom requests", "must", "A request of an unknown extension is answered under its id."
)
META: Final = Clause(
    ACP,
    "Extensibility: the `_meta` field",
    "must",
    "Every type has a `_meta` object for information of implementations.",
)
UNKNOWN_SESSION: Final = Clause(
    ACP,
    "Session setup: session ID",
    "note",
    "A prompt names an open session. The specification does not say what happens to a prompt for another session.",
)
UNIQUE: Final = Clause(
    ACP, "Session setup: creating a session", "must", "The answer to `session/new` names the session by a unique id."
)
ADVERTISED: Final = Clause(
    ACP, "Initialization: agent capabilities", "must", "An agent implements each method whose capability it advertises."
)
DELETED: Final = Clause(
    ACP, "Session delete", "should", "Deleting a session that was already deleted, or never existed, succeeds silently."
)
CLOSED: Final = Clause(
    ACP,
    "Session setup: closing active sessions",
    "must",
    "`session/close` ends ongoing work as `session/cancel` would, before it is answered.",
)
STORED: Final = Clause(
    ACP,
    "Session setup: loading sessions",
    "must",
    "`session/load` replays the conversation and is answered when all of it was sent.",
)
ENDED: Final = Clause(
    ACP,
    "Prompt turn: check for completion",
    "must",
    "A turn ends with the answer to `session/prompt` and a stop reason.",
)
CANCELLED: Final = Clause(
    ACP,
    "Prompt turn: cancellation",
    "must",
    "A cancelled turn ends with the stop reason `cancelled`, after all updates and never with an error.",
)
OFFERED_CONTENT: Final = Clause(
    ACP, "Initialization: prompt capabilities", "must", "Prompts with content that an agent advertises are accepted."
)
STOPPED_REQUEST: Final = Clause(
    ACP,
    "Cancellation",
    "must",
    "A request that `$/cancel_request` names is still answered: with a result, or with the error -32800.",
)
ACCEPTED: Final = Clause(
    ACP,
    "Prompt lifecycle",
    "must",
    "An agent answers a prompt once it has accepted it, and reports `running` and, at the end, `idle` with a stop reason.",
)
INSERTED: Final = Clause(
    ACP,
    "Prompt lifecycle: prompt accepted",
    "must",
    "A prompt whose message was inserted is answered with its id, whatever becomes of the work.",
    "acp/v2/schema/promptrequest/7",
)
FORESTALLED: Final = Clause(
    ACP,
    "Session setup: closing active sessions",
    "must",
    "A prompt whose message is not inserted because the session is closed fails with -32800.",
    "acp/v2/schema/closesessionrequest/4",
)
REPLAYED: Final = Clause(
    ACP,
    "Session setup: loading sessions",
    "must",
    "On `session/load` the agent MUST replay the whole conversation as `session/update` notifications.",
    "acp/v1/session-setup/loading-a-session/2",
)
EARLY_UPDATES: Final = Clause(
    ACP,
    "Session setup: creating a session",
    "should",
    "An agent may send an update of a new session before it answers `session/new`; the client continues.",
)
STALE_UPDATES: Final = Clause(
    ACP,
    "Prompt turn: agent reports output",
    "should",
    "A client continues after an update that refers to a tool call or message that it does not know.",
)
OUTCOME: Final = Clause(
    ACP, "Tool calls: requesting permission", "must", "A client answers a permission request with an outcome."
)
ADVERTISED_BY_CLIENT: Final = Clause(
    ACP,
    "Initialization: client capabilities",
    "must",
    "A client implements each method whose capability it advertises.",
)
LISTED_LOGIN: Final = Clause(
    REGISTRY,
    "Authentication",
    "must",
    "A listed agent offers an authentication method of the type `agent` or `terminal`.",
)
LISTED_NAME: Final = Clause(REGISTRY, "Listing", "should", "An agent answers `initialize` with its name and version.")
LOGIN_OR_SESSION: Final = Clause(
    ACP,
    "Authentication",
    "should",
    "An agent that needs a login refuses `session/new` with the error -32000, and offers authentication methods.",
)
ENDS: Final = Clause(
    ACP,
    "Transports: stdio",
    "note",
    "The client closes standard input and ends the agent; most agents end by themselves.",
)
