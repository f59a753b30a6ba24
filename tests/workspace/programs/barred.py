"""A sandbox that bars `openat2` with the error number in the second argument. Run by test_containment.py; raises if anything is wrong."""

from __future__ import annotations

import ctypes
import os
import sys
from pathlib import Path

from acp_workspace.containment import AccessDenied, Mechanism, bind, guarantees, open_regular, reach

OPENAT2 = 437


def bar(number: int) -> bool:
    """Install a filter of system calls that answers `openat2` with an error; whether the kernel has taken it."""
    code = (  # load the call's number; if it is openat2, skip nothing and return the error; else allow
        (0x20, 0, 0, 0),
        (0x15, 0, 1, OPENAT2),
        (0x06, 0, 0, 0x00050000 | number),
        (0x06, 0, 0, 0x7FFF0000),
    )

    class Instruction(ctypes.Structure):
        _fields_ = [("code", ctypes.c_ushort), ("jt", ctypes.c_ubyte), ("jf", ctypes.c_ubyte), ("k", ctypes.c_uint)]

    class Program(ctypes.Structure):
        _fields_ = [("len", ctypes.c_ushort), ("filter", ctypes.POINTER(Instruction))]

    instructions = (Instruction * len(code))(*(Instruction(*one) for one in code))
    program = Program(len(code), instructions)
    prctl = ctypes.CDLL(None, use_errno=True).prctl
    return (int(prctl(38, 1, 0, 0, 0)), int(prctl(22, 2, ctypes.byref(program), 0, 0))) == (0, 0)


def main(base: Path, number: int) -> None:
    (base / "app").mkdir()
    (base / "outside").mkdir()
    (base / "app" / "a.txt").write_text("inside")
    (base / "outside" / "a.txt").write_text("OUTSIDE")
    (base / "app" / "link").symlink_to("../outside")
    if not bar(number):
        print("not possible")
        return
    assert guarantees().mechanism is Mechanism.WALK
    roots = [bind(str(base / "app"))]

    def content(name: str) -> bytes:
        file = reach(roots, f"{base}/app/{name}", lambda at: open_regular(at.root, at.parts, os.O_RDONLY))
        try:
            return os.read(file, 100)
        finally:
            os.close(file)

    assert content("a.txt") == b"inside"
    for name in ("link/a.txt", "../outside/a.txt"):
        try:
            content(name)
        except AccessDenied:
            continue
        raise AssertionError(f"{name} was read")
    try:
        os.close(open_regular(roots[0], ("link", "a.txt"), os.O_RDONLY))
    except OSError:
        print("done")


main(Path(sys.argv[1]), int(sys.argv[2]))
