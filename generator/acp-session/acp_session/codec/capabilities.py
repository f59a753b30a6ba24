"""Capabilities from one version to the other: what v1 says with booleans, and what v2 takes for granted.

Sources: the pages on initialization and authentication of both versions; the migration page.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from acp_session.diffs import as_object

from .losses import Place
from .walker import MEANING, Hook, Json, without

GRANTED: Final = ("list", "resume", "close")
"""What v1 advertises and v2 takes for granted."""
PROMPT: Final = ("image", "audio", "embeddedContext")
"""Contents of prompts: booleans in v1, objects in v2."""
CLIENT_OF_V1: Final = ("fs", "terminal", "session")
"""What only a client of v1 advertises."""


def _client_to_v1(capabilities: Json, place: Place) -> Json:
    for key in CLIENT_OF_V1:
        if key in capabilities:
            place.at(key).lose(MEANING)
    auth = as_object(capabilities.get("auth"))
    return {
        **without(capabilities, *CLIENT_OF_V1),
        "auth": {**auth, "terminal": isinstance(auth.get("terminal"), dict)},
        "session": {"configOptions": {"boolean": {}}, "notices": {}, "compaction": {}},
    }


def _client_to_v2(capabilities: Json, place: Place) -> Json:
    fs = as_object(capabilities.get("fs"))
    for key in ("readTextFile", "writeTextFile"):
        if fs.get(key) is True:
            place.at("fs", key).lose("an agent of v2 does not use the files of the client", True)
    place.at("fs").lose_fields(fs, "readTextFile", "writeTextFile")
    if capabilities.get("terminal") is True:
        place.at("terminal").lose("an agent of v2 does not use terminals of the client", True)
    auth = as_object(capabilities.get("auth"))
    return {
        **without(capabilities, *CLIENT_OF_V1, "auth"),
        **({"auth": _markers(auth, "terminal")} if auth else {}),
    }


def _agent_to_v2(capabilities: Json, place: Place) -> Json:
    mcp = as_object(capabilities.get("mcpCapabilities"))
    if mcp.get("sse") is True:
        place.at("mcpCapabilities", "sse").lose("v2 has no MCP servers over SSE", True)
    auth = without(as_object(capabilities.get("auth")), "logout")
    rest = without(
        capabilities, "loadSession", "promptCapabilities", "mcpCapabilities", "sessionCapabilities", "session"
    )
    return {
        **without(rest, "auth"),
        "session": {
            **without(as_object(capabilities.get("sessionCapabilities")), *GRANTED),
            "prompt": _markers(as_object(capabilities.get("promptCapabilities")), *PROMPT),
            "mcp": {"stdio": {}, **_markers(without(mcp, "sse"), "http")},
        },
        **({"auth": auth} if auth else {}),
    }


def _agent_to_v1(capabilities: Json, place: Place) -> Json:
    session = as_object(capabilities.get("session"))
    has_sessions = isinstance(capabilities.get("session"), dict)
    mcp = as_object(session.get("mcp"))
    if not has_sessions:
        place.at("session").lose("an agent of v1 always has sessions; requests for them are refused")
    elif not isinstance(mcp.get("stdio"), dict):
        place.at("session", "mcp", "stdio").lose("in v1 every agent starts MCP servers", kind="added")
    return {
        **without(capabilities, "session", "auth"),
        "loadSession": has_sessions,
        "promptCapabilities": _booleans(as_object(session.get("prompt")), place.at("session", "prompt"), *PROMPT),
        "mcpCapabilities": {**_booleans(without(mcp, "stdio"), place.at("session", "mcp"), "http"), "sse": False},
        "sessionCapabilities": {
            **without(session, "prompt", "mcp"),
            **({key: {} for key in GRANTED} if has_sessions else {}),
        },
        "auth": as_object(capabilities.get("auth")),
    }


def _markers(source: Mapping[str, Any], *keys: str) -> Json:
    """Booleans of v1 as objects of v2."""
    return {**without(source, *keys), **{key: {} for key in keys if source.get(key) is True}}


def _booleans(source: Mapping[str, Any], place: Place, *keys: str) -> Json:
    """Objects of v2 as booleans of v1."""
    for key in keys:
        place.at(key).lose_fields(as_object(source.get(key)))
    return {**without(source, *keys), **{key: isinstance(source.get(key), dict) for key in keys}}


CAPABILITIES_TO_V1: Final[Mapping[str, Hook]] = {
    "ClientCapabilities": _client_to_v1,
    "AgentCapabilities": _agent_to_v1,
}
CAPABILITIES_TO_V2: Final[Mapping[str, Hook]] = {
    "ClientCapabilities": _client_to_v2,
    "AgentCapabilities": _agent_to_v2,
}
