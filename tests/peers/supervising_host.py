"""A host of one program: python supervising_host.py LEADS COMMAND... A line on its standard input has it end the program."""

import subprocess
import sys

from jsonrpc_bindings import supervisor

if __name__ == "__main__":
    leads, *command = sys.argv[1:]
    if leads == "frozen":  # as in a program of one file, where no Python can be started
        sys.frozen = True  # type: ignore[attr-defined]
        leads = "s"
    program = supervisor.start(command, leads=leads, stdin=subprocess.DEVNULL)
    print("started", flush=True)
    sys.stdin.readline()
    program.end(0.2)
    print("closed", flush=True)
    sys.stdin.readline()
