"""`initialize` from one version to the other: who speaks, what each side can do, how to log in.

Sources: the pages on initialization and authentication of both versions; the migration page.
"""

from __future__ import annotations

from typing import Any, Final

from acp_bindings import to_builtins, v1

from acp_session.diffs import as_object

from .losses import Place
from .to_v1 import ToV1
from .to_v2 import ToV2
from .walker import Json

UNKNOWN_INFO: Final[Json] = {"name": "unknown", "version": "0"}
"""Who speaks, where v1 does not say it."""


def request_to_v1(request: Json, place: Place, offered: v1.ClientCapabilities) -> Json:
    """The params of `initialize`. `offered`: the files and terminals for an agent of v1, which v2 does not have."""
    found: Json = ToV1().convert("InitializeRequest", {"capabilities": {}, **request, "protocolVersion": 1}, place)
    if offered.terminal or offered.fs.read_text_file or offered.fs.write_text_file:
        services = to_builtins(offered)
        found["clientCapabilities"] |= {key: services[key] for key in ("fs", "terminal") if key in services}
    return found


def request_to_v2(request: Json, place: Place) -> Json:
    """The params of `initialize`."""
    source: Json = {"clientCapabilities": {}, **request, "protocolVersion": 2}
    return _with_info(ToV2().convert("InitializeRequest", source, place), place.at("clientInfo"))


def answer_to_v1(answer: Json, place: Place) -> Json:
    """The result of `initialize`."""
    source: Json = {"capabilities": {}, "authMethods": [], **answer, "protocolVersion": 1}
    found: Json = ToV1().convert("InitializeResponse", source, place)
    if found["authMethods"]:
        found["agentCapabilities"]["auth"] = {**found["agentCapabilities"]["auth"], "logout": {}}
    return found


def answer_to_v2(answer: Json, place: Place) -> Json:
    """The result of `initialize`."""
    source: Json = {"agentCapabilities": {}, "authMethods": [], **answer, "protocolVersion": 2}
    return _with_info(ToV2().convert("InitializeResponse", source, place), place.at("agentInfo"))


def _with_info(found: Json, place: Place) -> Json:
    info: Any = found.get("info")
    if not isinstance(info, dict):
        place.lose("v2 requires a name and a version", kind="added")
        info = UNKNOWN_INFO
    return {**found, "info": as_object(info)}
