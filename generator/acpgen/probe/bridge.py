"""The process that a client starts as its agent: it passes bytes between its standard streams and the probe's socket."""

from __future__ import annotations

import contextlib
import os
import socket
import sys
import threading

CHUNK = 65536


def main(address: str) -> None:
    """Pass bytes on until the probe closes the socket."""
    probe = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    probe.connect(address)

    def read() -> None:
        with contextlib.suppress(OSError):
            while data := os.read(0, CHUNK):
                probe.sendall(data)
            probe.shutdown(socket.SHUT_WR)

    threading.Thread(target=read, daemon=True).start()
    with contextlib.suppress(OSError):
        while data := probe.recv(CHUNK):
            view = memoryview(data)
            while view:
                view = view[os.write(1, view) :]


if __name__ == "__main__":
    main(sys.argv[1])
