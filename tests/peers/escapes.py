"""A program whose children each evade all but one way to find them: python escapes.py FOLDER WAY... It prints their ids, and waits.

The children run `sleep` under a name of brackets, digits and a line end, and do not end when they are asked. Their environment is empty
except where it is what finds them.
"""

import os
import signal
import sys
import time
from pathlib import Path

WAYS = {
    "group": "in the group of the program; its parent has ended",
    "session": "in a group of its own; its parent has ended",
    "token": "in a session of its own; its parent has ended, and its environment is the program's",
    "parent": "in a session of its own",
}
NAME = "a) R 1\n(b) 2 3"


def run(way: str, name: str) -> None:
    """Be one of the children."""
    if way != "parent" and os.fork() > 0:
        os._exit(0)
    if way == "session":
        os.setpgid(0, 0)
    if way in ("token", "parent"):
        os.setsid()
    os.write(1, b"%d\n" % os.getpid())
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    null = os.open(os.devnull, os.O_RDWR)
    os.dup2(null, 1)
    os.execve(name, ["sleep", "60"], dict(os.environ) if way == "token" else {})


if __name__ == "__main__":
    folder, *ways = sys.argv[1:]
    name = f"{folder}/{NAME}"
    Path(name).symlink_to("/bin/sleep")
    for each in ways:
        if os.fork() == 0:
            run(each, name)
    time.sleep(60)
