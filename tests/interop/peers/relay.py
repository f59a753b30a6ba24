"""Stands between a client and an agent, passes every byte on, and writes down each line.

python relay.py FILE [NAME=VALUE…] AGENT…
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from pathlib import Path
from typing import IO

lock = threading.Lock()


def main(file: str, words: list[str]) -> int:
    """Pass everything on until the agent has ended."""
    environment = dict(os.environ)
    while "=" in words[0]:
        name, _, value = words.pop(0).partition("=")
        environment[name] = value
    with Path(file).open("w", encoding="utf-8") as record:
        agent = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment)
        assert agent.stdin is not None
        assert agent.stdout is not None
        given = agent.stdin

        def passed(sender: str, source: IO[bytes], target: IO[bytes]) -> None:
            for line in source:
                with lock:
                    note(sender, line)
                target.write(line)
                target.flush()

        def note(sender: str, line: bytes) -> None:
            try:
                message = json.loads(line)
            except ValueError:
                message = line.decode("utf-8", "replace")
            print(json.dumps({"from": sender, "message": message}), file=record, flush=True)

        def hear() -> None:
            try:
                passed("client", sys.stdin.buffer, given)
                given.close()
            except OSError:
                pass

        threading.Thread(target=hear, daemon=True).start()
        passed("agent", agent.stdout, sys.stdout.buffer)
        return agent.wait()


if __name__ == "__main__":
    sys.stdout.flush()
    os._exit(main(sys.argv[1], sys.argv[2:]))
