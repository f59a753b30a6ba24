"""The strict judgement of messages in the frames of the Debug Adapter Protocol."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from .contract import Method, Path
from .errors import INVALID_PARAMS, INVALID_REQUEST, METHOD_NOT_FOUND, shown, told
from .frames import frame_problems
from .json_types import is_object
from .pointers import json_pointer
from .strict import Strict, Violation, did_you_mean, wrong


class FrameStrict(Strict):
    """Judges the messages of one version of a protocol in these frames."""

    def _message(
        self, value: Any, at: Path, sender: str, method: str | None, pending: Callable[[Any], str | None] | None
    ) -> Iterator[Violation]:
        if is_object(value):
            yield from self._frame(value, at, sender)
        else:
            yield wrong(f"a message is an object, not {told(value)}", at)

    def _frame(self, value: dict[str, Any], at: Path, sender: str) -> Iterator[Violation]:
        kind = value.get("type")
        frame = kind.capitalize() if isinstance(kind, str) else ""
        problems = frame_problems(value, None)
        if kind in ("request", "response", "event") and frame in self.schema["$defs"]:
            yield from self._against(frame, value, at, INVALID_REQUEST)
        else:
            yield from (wrong(sentence, (*at, *path)) for sentence, path in problems)
        if problems:
            return
        key = "event" if kind == "event" else "command"
        route = self._routes.get((value[key], kind != "event"))
        is_answer = kind == "response"
        if route is None:
            known = [method for method, is_request in self._routes if is_request == (kind != "event")]
            sentence = f"the {key} {shown(value[key])} is not known{did_you_mean(value[key], known)}"
            yield Violation(json_pointer((*at, key)), "", sentence, METHOD_NOT_FOUND, "method")
        elif is_answer and route.side not in (sender, "both"):
            yield wrong(f"{value[key]!r} is answered by the {route.side}, not by the {sender}", at)
        elif not is_answer and route.side == sender:
            sentence = f"{value[key]!r} is handled by the {route.side}, so the {sender} does not send it"
            yield Violation(json_pointer((*at, key)), "", sentence, METHOD_NOT_FOUND, "method")
        else:
            yield from self._carried(value, route, at)

    def _carried(self, value: dict[str, Any], route: Method[Any, Any], at: Path) -> Iterator[Violation]:
        """What is wrong with the arguments or the body of a message."""
        is_answer, key = value["type"] == "response", "arguments" if value["type"] == "request" else "body"
        definition: Any = route.result if is_answer else route.params
        if is_answer and not value["success"]:
            definition, key = ("ErrorResponse", "") if "ErrorResponse" in self.schema["$defs"] else (None, "")
        if definition is None:
            return
        if not key:
            yield from self._against(definition, value, at, INVALID_REQUEST)
        elif key in value:
            yield from self._against(definition, value[key], (*at, key), INVALID_PARAMS)
        elif not route.optional_result if is_answer else route.omitted == "refused":
            yield Violation(json_pointer(at), "", f"the field {key!r} is required", INVALID_PARAMS, "required")
