"""`initialize` from one version to the other: who speaks, what each side can do, how to log in.

Sources: the pages on initialization and authentication of both versions; the migration page.
"""

from __future__ import annotations

from typing import Any, Final

from acp_bindings import v1

from acp_session.diffs import as_object

from .losses import Place
from .parts import Json, without

NOBODY: Final[Json] = {"name": "unknown", "version": "0"}
"""Who speaks, where v1 does not say it."""
_SESSION: Final = ("list", "resume", "close")
"""What v1 advertises and v2 takes for granted."""


# --- the client's side -----------------------------------------------------------------------------------------------


def request_to_v1(request: Json, place: Place, offered: v1.ClientCapabilities) -> Json:
    """The params of `initialize`. `offered`: the files and terminals of v1, which v2 does not have."""
    capabilities = as_object(request.get("capabilities"))
    auth = as_object(capabilities.get("auth"))
    made: Json = {**without(capabilities, "auth", "fs", "terminal", "session"), **_offered(offered)}
    for key in ("fs", "terminal", "session"):
        if key in capabilities:
            place.at("capabilities", key).lose("v2 does not define this field, and v1 gives it a meaning")
    made["auth"] = {**auth, "terminal": isinstance(auth.get("terminal"), dict)}
    made["session"] = {"configOptions": {"boolean": {}}, "notices": {}, "compaction": {}}
    return {
        **without(request, "info", "capabilities", "protocolVersion"),
        "protocolVersion": 1,
        "clientInfo": request.get("info"),
        "clientCapabilities": made,
    }


def _offered(capabilities: v1.ClientCapabilities) -> Json:
    fs = capabilities.fs
    found: Json = {"fs": {"readTextFile": fs.read_text_file, "writeTextFile": fs.write_text_file}}
    found["terminal"] = capabilities.terminal
    return found if found["terminal"] or any(found["fs"].values()) else {}


def request_to_v2(request: Json, place: Place) -> Json:
    """The params of `initialize`."""
    capabilities = as_object(request.get("clientCapabilities"))
    made = without(capabilities, "fs", "terminal", "session", "auth")
    fs = as_object(capabilities.get("fs"))
    for key in ("readTextFile", "writeTextFile"):
        if fs.get(key) is True:
            place.at("clientCapabilities", "fs", key).lose("an agent of v2 does not use the files of the client", True)
    if capabilities.get("terminal") is True:
        place.at("clientCapabilities", "terminal").lose("an agent of v2 does not use terminals of the client", True)
    auth = as_object(capabilities.get("auth"))
    terminal: Json = {"terminal": {}} if auth.get("terminal") is True else {}
    if auth:
        made["auth"] = {**without(auth, "terminal"), **terminal}
    return {
        **without(request, "clientInfo", "clientCapabilities", "protocolVersion"),
        "protocolVersion": 2,
        "info": _known(request.get("clientInfo"), place.at("clientInfo")),
        "capabilities": made,
    }


# --- the agent's side ------------------------------------------------------------------------------------------------


def answer_to_v2(answer: Json, place: Place) -> Json:
    """The result of `initialize`."""
    capabilities = as_object(answer.get("agentCapabilities"))
    at = place.at("agentCapabilities")
    session = without(as_object(capabilities.get("sessionCapabilities")), *_SESSION)
    prompt = as_object(capabilities.get("promptCapabilities"))
    mcp = as_object(capabilities.get("mcpCapabilities"))
    if mcp.get("sse") is True:
        at.at("mcpCapabilities", "sse").lose("v2 has no MCP servers over SSE", True)
    session["prompt"] = _markers(prompt, "image", "audio", "embeddedContext")
    session["mcp"] = {"stdio": {}, **_markers(without(mcp, "sse"), "http")}
    auth = without(as_object(capabilities.get("auth")), "logout")
    rest = without(
        capabilities, "loadSession", "promptCapabilities", "mcpCapabilities", "sessionCapabilities", "auth", "session"
    )
    made: Json = {**rest, "session": session, **({"auth": auth} if auth else {})}
    methods = [_method_to_v2(one) for one in answer.get("authMethods") or ()]
    return {
        **without(answer, "agentInfo", "agentCapabilities", "protocolVersion", "authMethods"),
        "protocolVersion": 2,
        "info": _known(answer.get("agentInfo"), place.at("agentInfo")),
        "capabilities": made,
        "authMethods": methods,
    }


def answer_to_v1(answer: Json, place: Place) -> Json:
    """The result of `initialize`."""
    capabilities = as_object(answer.get("capabilities"))
    found = capabilities.get("session")
    session = as_object(found)
    if not isinstance(found, dict):
        place.at("capabilities", "session").lose("an agent of v1 always has sessions; requests for them are refused")
    prompt, mcp = as_object(session.get("prompt")), as_object(session.get("mcp"))
    if not isinstance(mcp.get("stdio"), dict) and isinstance(found, dict):
        place.at("capabilities", "session", "mcp", "stdio").lose("in v1 every agent starts MCP servers", kind="added")
    methods = [_method_to_v1(one, place.at("authMethods", i)) for i, one in enumerate(answer.get("authMethods") or ())]
    auth: Json = {**as_object(capabilities.get("auth")), **({"logout": {}} if methods else {})}
    made: Json = {
        **without(capabilities, "session", "auth"),
        "loadSession": isinstance(found, dict),
        "promptCapabilities": _booleans(prompt, "image", "audio", "embeddedContext"),
        "mcpCapabilities": {**_booleans(without(mcp, "stdio"), "http"), "sse": False},
        "sessionCapabilities": {
            **without(session, "prompt", "mcp"),
            **({key: {} for key in _SESSION} if isinstance(found, dict) else {}),
        },
        "auth": auth,
    }
    return {
        **without(answer, "info", "capabilities", "protocolVersion", "authMethods"),
        "protocolVersion": 1,
        "agentInfo": answer.get("info"),
        "agentCapabilities": made,
        "authMethods": [one for one in methods if one is not None],
    }


# --- parts -----------------------------------------------------------------------------------------------------------


def _known(info: Any, place: Place) -> Any:
    if isinstance(info, dict):
        return as_object(info)
    place.lose("v2 requires a name and a version", kind="added")
    return NOBODY


def _markers(source: Json, *keys: str) -> Json:
    """Booleans of v1 as objects of v2."""
    return {**without(source, *keys), **{key: {} for key in keys if source.get(key) is True}}


def _booleans(source: Json, *keys: str) -> Json:
    return {**without(source, *keys), **{key: isinstance(source.get(key), dict) for key in keys}}


def _method_to_v2(method: Any) -> Json:
    source = as_object(method)
    made: Json = {"type": "agent", **without(source, "id"), "methodId": source.get("id")}
    variables = source.get("env")
    if made["type"] == "terminal" and isinstance(variables, dict):
        made["env"] = [{"name": name, "value": value} for name, value in as_object(variables).items()]
    return made


def _method_to_v1(method: Any, place: Place) -> Json | None:
    source = as_object(method)
    kind = source.get("type")
    if kind not in ("agent", "terminal"):
        place.lose("v1 has no authentication method of this type", method)
        return None
    made: Json = {**without(source, "methodId"), "id": source.get("methodId")}
    if kind == "agent":
        return without(made, "type")
    if isinstance(source.get("env"), list):
        made["env"] = {one["name"]: one["value"] for one in map(as_object, source["env"])}
        if any(one.keys() - {"name", "value"} for one in map(as_object, source["env"])):
            place.at("env").lose("v1 has only names and values", source["env"], "changed")
    return made
