"""Restricts itself by the rules for a directory, then tries what the arguments say and prints what the system answers."""

from __future__ import annotations

import ctypes
import json
import os
import sys
from pathlib import Path

from acp_workspace.sandbox import landlock, list_handled_rights
from acp_workspace.scope import Scope

LIBRARY = ctypes.CDLL(None, use_errno=True)


class Beneath(ctypes.Structure):
    _pack_ = 1
    _fields_ = [("access", ctypes.c_uint64), ("parent", ctypes.c_int32)]


def called(number: int, *arguments: object) -> int:
    found: int = LIBRARY.syscall(number, *arguments)
    if found < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return found


def restrict(paths: list[str], *, read_only: bool) -> None:
    abi = called(444, None, ctypes.c_size_t(0), 1)
    access = ctypes.c_uint64(list_handled_rights(abi))
    ruleset = called(444, ctypes.byref(access), ctypes.c_size_t(8), 0)
    for rule in landlock(Scope(paths[0], tuple(paths[1:])), abi=abi, read_only=read_only):
        try:
            parent = os.open(rule.path, os.O_PATH)
        except FileNotFoundError:
            continue
        fit = rule if Path(rule.path).is_dir() else rule.limit_to_file()
        called(445, ruleset, 1, ctypes.byref(Beneath(fit.access, parent)), 0)
        os.close(parent)
    if LIBRARY.prctl(38, 1, 0, 0, 0):  # PR_SET_NO_NEW_PRIVS
        raise OSError(ctypes.get_errno(), "prctl")
    called(446, ruleset, 0)


def tried(action: str, path: str) -> str:
    try:
        if action == "read":
            return Path(path).read_text()
        if action == "write":
            Path(path).write_text("new")
        elif action == "list":
            os.listdir(path)
        elif action == "make":
            Path(path).mkdir()
        elif action == "link":
            Path(path).symlink_to("/etc")
        elif action == "move":
            Path(path.split(":")[0]).rename(path.split(":")[1])
    except OSError as error:
        return type(error).__name__
    return "done"


def main(order: str) -> None:
    asked = json.loads(order)
    restrict(asked["roots"], read_only=asked["read_only"])
    print(json.dumps([tried(*one) for one in asked["tries"]]))


main(sys.argv[1])
