"""What a display terminal of v2 shows, as text.

Source: the RFD on terminal output in v2.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Mapping
from typing import Any, Final

from acp_session.diffs import as_object
from jsonrpc_bindings.tail import Tail

MOST: Final = 1024 * 1024
"""Bytes of output that are kept; the oldest go first."""
_LEAST: Final = 1024


class TerminalText:
    """One terminal: its command, the end of its output, how it ended."""

    def __init__(self) -> None:
        self._command = ""
        self._output = Tail(MOST)
        self._size = 0
        self._exit: dict[str, Any] | None = None
        self._new = 0
        self._sent = 0
        self._is_changed = False

    def take(self, update: Mapping[str, Any]) -> None:
        """Take in a `terminal_update` or a `terminal_output_chunk`."""
        if "data" in update:
            self._grow(update["data"])
        if "output" in update:
            self._output, self._size = Tail(MOST), 0
            self._is_changed = True
            self._grow(as_object(update["output"]).get("data", ""))
        if "command" in update:
            self._command = str(update["command"] or "")
            self._is_changed = True
        if "exitStatus" in update:
            self._exit = as_object(update["exitStatus"]) if update["exitStatus"] is not None else None
            self._is_changed = True

    def _grow(self, data: object) -> None:
        try:
            piece = base64.b64decode(str(data), validate=True)
        except (binascii.Error, ValueError):
            piece = b"[output that is not base64]"
        self._output.add(piece)
        self._new += len(piece)
        self._size = min(self._size + len(piece), MOST)

    @property
    def has_more(self) -> bool:
        """Whether anything has changed since it was sent."""
        return self._is_changed or self._new > 0

    @property
    def is_worth_sending(self) -> bool:
        """Whether enough has changed: output that grows is sent again when there is half as much more."""
        return self._is_changed or self._new >= max(_LEAST, self._sent // 2)

    def mark_sent(self) -> None:
        """Note that the text is sent."""
        self._sent, self._new, self._is_changed = self._size, 0, False

    @property
    def text(self) -> str:
        """Command, output and end, a line each; bytes that are no UTF-8 are replaced."""
        lines = [f"$ {self._command}"] if self._command else []
        shown = self._output.text
        if shown:
            lines.append(shown.removesuffix("\n"))
        if self._exit is not None:
            code, signal = self._exit.get("exitCode"), self._exit.get("signal")
            lines.append(f"[ended{f' with {code}' if code is not None else ''}{f' by {signal}' if signal else ''}]")
        return "\n".join(lines)
