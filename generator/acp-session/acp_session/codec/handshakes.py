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

UNKNOWN: Final[Json] = {"name": "unknown", "version": "0"}
"""Who speaks, where v1 does not say it."""


def request_to_v1(request: Json, place: Place, offered: v1.ClientCapabilities) -> Json:
    """The params of `initialize`. `offered`: the files and terminals for an agent of v1, which v2 does not have."""
    made: Json = ToV1().convert("InitializeRequest", {"capabilities": {}, **request, "protocolVersion": 1}, place)
    services = {key: value for key, value in to_builtins(offered).items() if key in ("fs", "terminal")}
    if offered.terminal or offered.fs.read_text_file or offered.fs.write_text_file:
        made["clientCapabilities"] |= services
    return made


def request_to_v2(request: Json, place: Place) -> Json:
    """The params of `initialize`."""
    made: Json = ToV2().convert("InitializeRequest", {"clientCapabilities": {}, **request, "protocolVersion": 2}, place)
    return {**made, "info": _info(made.get("info"), place.at("clientInfo"))}


def answer_to_v1(answer: Json, place: Place) -> Json:
    """The result of `initialize`."""
    source: Json = {"capabilities": {}, "authMethods": [], **answer, "protocolVersion": 1}
    made: Json = ToV1().convert("InitializeResponse", source, place)
    if made["authMethods"]:
        made["agentCapabilities"]["auth"] = {**made["agentCapabilities"]["auth"], "logout": {}}
    return made


def answer_to_v2(answer: Json, place: Place) -> Json:
    """The result of `initialize`."""
    source: Json = {"agentCapabilities": {}, "authMethods": [], **answer, "protocolVersion": 2}
    made: Json = ToV2().convert("InitializeResponse", source, place)
    return {**made, "info": _info(made.get("info"), place.at("agentInfo"))}


def _info(info: Any, place: Place) -> Json:
    if isinstance(info, dict):
        return as_object(info)
    place.lose("v2 requires a name and a version", kind="added")
    return UNKNOWN
