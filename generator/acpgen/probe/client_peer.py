"""The client that the probe plays for an agent: it serves files of the scratch folder and pretends to run commands, or refuses."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import count
from pathlib import Path
from typing import Any, Final, Literal, TypeAlias

from acpgen.input.walk import is_object
from acpgen.probe.connection import RequestError, as_list

Manner: TypeAlias = Literal["serves", "refuses"]

CAPABILITIES: Final[dict[int, dict[str, Any]]] = {
    1: {"fs": {"readTextFile": True, "writeTextFile": True}, "terminal": True, "elicitation": {"form": {}}},
    2: {"elicitation": {"form": {}}},
}
"""What this client advertises, by protocol version."""

_REFUSED: Final = -32000
_MISSING: Final = -32002
_OUTPUT: Final = "acpgen probe: this command was not run\n"
_LARGEST: Final = 1 << 20


class Client:
    """Answers the requests of an agent. It reads and writes only inside the folder, and runs no command."""

    def __init__(self, folder: Path, *, serves: bool = True) -> None:
        self._folder = folder
        self.manner: Manner = "serves"
        self.cancelled: set[str] = set()
        """Sessions whose turn was cancelled: open questions of it are answered so."""
        self.called_methods: list[str] = []
        """The methods that were called."""
        self._offers = serves
        self._terminals: dict[str, bool] = {}
        self._numbers = count(1)

    def __call__(self, method: str, params: Any) -> Any:
        """The result of a request. Raises `RequestError`."""
        self.called_methods.append(method)
        body: Mapping[str, Any] = params if is_object(params) else {}
        if method == "session/request_permission":
            return self._choose_permission(body)
        serve = self._list_services().get(method)
        if serve is None:
            raise RequestError(-32601, f"Method not found: {method}")
        if self.manner == "refuses":
            if method == "elicitation/create":
                return {"action": "decline"}
            raise RequestError(_REFUSED, "this client refuses")
        return serve(body)

    def _list_services(self) -> dict[str, Callable[[Mapping[str, Any]], Any]]:
        if not self._offers:
            return {}
        return {
            "fs/read_text_file": self._read,
            "fs/write_text_file": self._write,
            "terminal/create": self._create,
            "terminal/output": self._read_output,
            "terminal/wait_for_exit": self._read_exit,
            "terminal/kill": self._kill,
            "terminal/release": self._release,
            "elicitation/create": lambda _: {"action": "cancel"},
        }

    def _choose_permission(self, body: Mapping[str, Any]) -> Any:
        options = [option for option in as_list(body.get("options")) if is_object(option)]
        if str(body.get("sessionId")) in self.cancelled or not options:
            return {"outcome": {"outcome": "cancelled"}}
        prefix = "allow" if self.manner == "serves" else "reject"
        fitting = [option for option in options if str(option.get("kind")).startswith(prefix)]
        if not fitting:
            return {"outcome": {"outcome": "cancelled"}}
        return {"outcome": {"outcome": "selected", "optionId": fitting[0].get("optionId")}}

    def _read_path(self, body: Mapping[str, Any]) -> Path:
        text = body.get("path")
        if not isinstance(text, str) or "\0" in text:
            raise RequestError(-32602, "path is required")
        root = self._folder.resolve()
        try:
            path = Path(text).resolve()
        except (OSError, RuntimeError):
            raise RequestError(_MISSING, "this path leads nowhere") from None
        if not path.is_absolute() or not path.is_relative_to(root):
            raise RequestError(-32602, "the path is outside the session's roots")
        return path

    def _read(self, body: Mapping[str, Any]) -> Any:
        path = self._read_path(body)
        try:
            with path.open("rb") as file:
                text = file.read(_LARGEST).decode("utf-8", "replace")
        except OSError:
            raise RequestError(_MISSING, "no such file") from None
        lines = text.splitlines(keepends=True)
        first, most = body.get("line"), body.get("limit")
        begin = max(first - 1, 0) if isinstance(first, int) else 0
        end = begin + most if isinstance(most, int) else len(lines)
        return {"content": "".join(lines[begin:end])}

    def _write(self, body: Mapping[str, Any]) -> Any:
        path, content = self._read_path(body), body.get("content")
        if not isinstance(content, str):
            raise RequestError(-32602, "content is required")
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(content[:_LARGEST], "utf-8", "replace")
        except OSError:
            raise RequestError(-32603, "the file cannot be written") from None
        return {}

    def _create(self, _: Mapping[str, Any]) -> Any:
        name = f"terminal-{next(self._numbers)}"
        self._terminals[name] = True
        return {"terminalId": name}

    def _require_terminal(self, body: Mapping[str, Any]) -> str:
        name = body.get("terminalId")
        if not isinstance(name, str) or name not in self._terminals:
            raise RequestError(_MISSING, "no such terminal")
        return name

    def _read_output(self, body: Mapping[str, Any]) -> Any:
        self._require_terminal(body)
        return {"output": _OUTPUT, "truncated": False, "exitStatus": {"exitCode": 0, "signal": None}}

    def _read_exit(self, body: Mapping[str, Any]) -> Any:
        self._require_terminal(body)
        return {"exitCode": 0, "signal": None}

    def _kill(self, body: Mapping[str, Any]) -> Any:
        self._require_terminal(body)
        return {}

    def _release(self, body: Mapping[str, Any]) -> Any:
        del self._terminals[self._require_terminal(body)]
        return {}
