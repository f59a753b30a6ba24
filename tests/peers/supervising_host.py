"""A host of one program: python supervising_host.py LEADS COMMAND... A line on its standard input has it end the program."""

import os
import subprocess
import sys

from jsonrpc_bindings import supervisor

if __name__ == "__main__":
    leads, *command = sys.argv[1:]
    if leads == "frozen":  # as in a program of one file, where no Python can be started
        sys.frozen = True  # type: ignore[attr-defined]
        leads = "s"
    program = supervisor.start(command, leads=leads, stdin=subprocess.DEVNULL)
    # In one write: the program has the same pipe, and an unbuffered `print` writes the end of a line apart.
    os.write(1, b"started\n")
    sys.stdin.readline()
    program.end(0.2)
    os.write(1, b"closed\n")
    sys.stdin.readline()
