"""Requests for permission of both versions, read from JSON, for tests of sessions and of the adapter."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from acp_bindings import v1, v2

V1_OPTIONS = [
    {"optionId": "yes", "name": "Allow", "kind": "allow_once"},
    {"optionId": "no", "name": "No", "kind": "reject_once"},
]


def v1_request(tool_call: Mapping[str, Any], **more: Any) -> v1.RequestPermissionRequest:
    body = {"sessionId": "s", "toolCall": tool_call, "options": V1_OPTIONS, **more}
    return v1.decode_as(v1.RequestPermissionRequest, body, lenient=False)


def v2_request(tool_call: Mapping[str, Any] | None = None, **more: Any) -> v2.RequestPermissionRequest:
    body: dict[str, Any] = {"sessionId": "s", "title": "Edit a.py?", "options": V1_OPTIONS}
    if tool_call is not None:
        body["subject"] = {"type": "tool_call", "toolCall": tool_call}
    return v2.decode_as(v2.RequestPermissionRequest, {**body, **more}, lenient=False)


def as_json(value: Any) -> Any:
    return json.loads(v1.encode(value))
