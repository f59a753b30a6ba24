"""A client that sends an agent what it must refuse: malformed roots, one kind a request. Takes a folder, a version and the command."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any

MALFORMED: dict[str, Any] = {
    "null": None,
    "no array": "/tmp",
    "null entry": ["/tmp", None],
    "number entry": [7],
    "empty entry": [""],
    "relative entry": ["lib"],
}


def main() -> int:
    folder, version, *command = sys.argv[1:]
    agent = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert agent.stdin is not None
    assert agent.stdout is not None
    offers: dict[str, Any] = (
        {"clientCapabilities": {}} if version == "1" else {"info": {"name": "probe", "version": "1"}}
    )
    calls: list[tuple[str, Any]] = [("initialize", {"protocolVersion": int(version), **offers})]
    base: dict[str, Any] = {"cwd": folder, "mcpServers": []}
    calls += [("session/new", {**base, "additionalDirectories": roots}) for roots in MALFORMED.values()]
    for name, (method, params) in enumerate(calls):
        agent.stdin.write(json.dumps({"jsonrpc": "2.0", "id": name, "method": method, "params": params}) + "\n")
        agent.stdin.flush()
        while json.loads(agent.stdout.readline()).get("id") != name:
            pass
    agent.stdin.close()
    return agent.wait()


if __name__ == "__main__":
    sys.exit(main())
