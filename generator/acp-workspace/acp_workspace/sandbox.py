"""Sandbox settings for a root set: the data by which a launcher confines programs that access files by themselves.

    command = ["bwrap", *bubblewrap(roots, programs=SYSTEM), "--", "npm", "test"]

Nothing here starts or restricts anything. `bubblewrap` returns arguments of the program of that name, `landlock` the rules for Linux's
Landlock system calls, `list_handled_rights` the rights that a ruleset handles in a version of that interface.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from .scope import Scope
from .workspace import RootSet

SYSTEM: Final = (
    *("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/etc/ld.so.cache", "/etc/alternatives"),
    *("/etc/hosts", "/etc/nsswitch.conf"),  # without these, no program finds `localhost`
)
"""What programs of a Linux distribution need to run; it contains no user data."""
NETWORK: Final = (
    *("/etc/resolv.conf", "/etc/ssl/certs", "/etc/ssl/openssl.cnf"),
    *("/etc/ca-certificates", "/etc/pki/tls/certs", "/etc/pki/ca-trust"),
)
"""What programs need besides to find the names of hosts and to verify their certificates."""

# --- bubblewrap ------------------------------------------------------------------------------------------------------


def bubblewrap(
    roots: RootSet | Scope,
    *,
    programs: Iterable[str] = SYSTEM,
    read_only: bool = False,
    network: bool = False,
    cwd: str | None = None,
) -> tuple[str, ...]:
    """The arguments of `bwrap` for a program that sees the roots, under their own names, and no other files of a user.

    `programs`: paths that may also be read and executed; `bwrap` skips missing ones. `read_only`: the roots are not writable. `network`:
    the program keeps network access, and may read `NETWORK`. `cwd`: the initial directory, by default the first root. The program gets
    its own `/tmp` and `/proc`, and ends with its parent. A root inside another keeps its own settings.

    Raises `ValueError` for roots that are not Linux paths, or contain `..`.

    >>> bubblewrap(Scope("/srv/app", ("/srv/lib",), "posix"), programs=["/usr"])[:6]
    ('--die-with-parent', '--new-session', '--unshare-all', '--ro-bind-try', '/usr', '/usr')
    """
    paths = _list_paths(roots)
    arguments = ["--die-with-parent", "--new-session", "--unshare-all"]
    if network:
        arguments.append("--share-net")
    for path in (*programs, *(NETWORK if network else ())):
        arguments += ["--ro-bind-try", path, path]
    arguments += ["--proc", "/proc", "--dev", "/dev", "--tmpfs", "/tmp"]  # noqa: S108 - inside the sandbox
    bind = "--ro-bind" if read_only else "--bind"
    for path in sorted(paths, key=lambda path: path.count("/")):  # what lies above first: a later one covers it
        arguments += [bind, path, path]
    return (*arguments, "--chdir", cwd if cwd is not None else paths[0])


# --- Landlock --------------------------------------------------------------------------------------------------------

_RIGHTS: Final = {
    "execute": (0, 1),
    "write_file": (1, 1),
    "read_file": (2, 1),
    "read_dir": (3, 1),
    "remove_dir": (4, 1),
    "remove_file": (5, 1),
    "make_char": (6, 1),
    "make_dir": (7, 1),
    "make_reg": (8, 1),
    "make_sock": (9, 1),
    "make_fifo": (10, 1),
    "make_block": (11, 1),
    "make_sym": (12, 1),
    "refer": (13, 2),
    "truncate": (14, 3),
    "ioctl_dev": (15, 5),
}
"""The file rights by name: the bit, and the first version of the interface that has it."""

READING: Final = ("execute", "read_file", "read_dir")
_NO_DEVICES: Final = frozenset({"make_char", "make_block", "ioctl_dev"})
_OF_FILES: Final = frozenset({"execute", "write_file", "read_file", "truncate", "ioctl_dev"})


@dataclass(frozen=True, slots=True)
class Rule:
    """What a program may do beneath a path: the names of rights, and `access`, their number for the kernel."""

    path: str
    rights: tuple[str, ...]

    @property
    def access(self) -> int:
        """The rights as a bit mask for `struct landlock_path_beneath_attr`.

        >>> Rule("/usr", READING).access
        13
        """
        return _combine_bits(self.rights)

    def limit_to_file(self) -> Rule:
        """The rule reduced for a file: the kernel refuses directory rights there."""
        return Rule(self.path, tuple(right for right in self.rights if right in _OF_FILES))


def list_handled_rights(abi: int) -> int:
    """The rights that a ruleset should deny unless a rule grants them: all rights of that version of the interface.

    Raises `ValueError` for a version below 1: the kernel has no Landlock.

    >>> list_handled_rights(1), list_handled_rights(3)
    (8191, 32767)
    """
    return _combine_bits(_list_known_rights(abi))


def landlock(
    roots: RootSet | Scope, *, abi: int, programs: Iterable[str] = SYSTEM, read_only: bool = False
) -> tuple[Rule, ...]:
    """The Landlock rules for a program that may read and write beneath the roots, and read and execute `programs`.

    `abi` is the version of the interface. Create a ruleset that handles `list_handled_rights(abi)`, add each rule with the descriptor of
    its path, and restrict the process. No devices can be created, and files can be linked or renamed across roots only from version 2 on.
    A path inside a root is writable whatever its own rule says: rules are additive. A program that uses the network needs `NETWORK`
    among `programs`. Raises `ValueError` as `bubblewrap` and `list_handled_rights` do.
    """
    rights = _list_known_rights(abi)
    reading = tuple(right for right in READING if right in rights)
    writing = tuple(right for right in rights if right not in _NO_DEVICES)
    root_rules = tuple(Rule(path, reading if read_only else writing) for path in _list_paths(roots))
    return (*root_rules, *(Rule(path, reading) for path in programs))


def _list_known_rights(abi: int) -> tuple[str, ...]:
    if abi < 1:
        raise ValueError("the kernel has no Landlock")
    return tuple(name for name, (_, since) in _RIGHTS.items() if since <= abi)


def _combine_bits(rights: Sequence[str]) -> int:
    return sum(1 << _RIGHTS[name][0] for name in set(rights))


def _list_paths(roots: RootSet | Scope) -> tuple[str, ...]:
    """The paths of the roots, real ones if they are bound."""
    paths = [root.real for root in roots.roots] if isinstance(roots, RootSet) else list(roots.paths)
    for path in paths:
        if not path.startswith("/") or ".." in path.split("/") or "\0" in path:
            raise ValueError(f"the root {os.fsdecode(path)!r} is not a plain path of Linux")
    return tuple(dict.fromkeys(paths))
