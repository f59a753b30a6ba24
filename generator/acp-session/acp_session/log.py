"""The loggers of this package and of a session."""

from __future__ import annotations

import logging
from collections.abc import MutableMapping
from typing import Any, Final

LOG: Final = logging.getLogger("acp_session")


class SessionLog(logging.LoggerAdapter[logging.Logger]):
    """The logger `acp_session`, with a session's id in each message and, as `session_id`, in each record."""

    def __init__(self, session_id: str) -> None:
        super().__init__(LOG, {"session_id": session_id})
        self._prefix = f"session {session_id}: "

    def process(self, msg: Any, kwargs: MutableMapping[str, Any]) -> tuple[Any, MutableMapping[str, Any]]:
        """See `logging.LoggerAdapter`."""
        return super().process(f"{self._prefix}{msg}", kwargs)
