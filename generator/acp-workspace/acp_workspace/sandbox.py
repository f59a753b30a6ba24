"""A root set handed to a sandbox: what holds programs that access files by themselves, as data for whoever starts them.

    command = ["bwrap", *bubblewrap(roots, programs=SYSTEM), "--", "npm", "test"]

Nothing here starts or restricts anything. `bubblewrap` returns arguments of the program of that name, `landlock` the rules for the system
calls of Linux, `handled_rights` the rights that rules of a version of that interface are about.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from .scope import Scope
from .workspace import RootSet

SYSTEM: Final = ("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/etc/ld.so.cache", "/etc/alternatives")
"""What programs of a Linux distribution need in order to run, and holds nothing of a user."""

# --- bubblewrap ------------------------------------------------------------------------------------------------------


def bubblewrap(
    roots: RootSet | Scope,
    *,
    programs: Iterable[str] = SYSTEM,
    read_only: bool = False,
    network: bool = False,
    cwd: str | None = None,
) -> tuple[str, ...]:
    """The arguments of `bwrap` for a program that sees the roots, under their own names, and nothing else of a user's files.

    `programs`: what may be read and run besides; what of it is not there is left out by `bwrap`. `read_only`: the roots may not be
    written. `network`: the program keeps it. `cwd`: where the program begins, else in the first root. It gets a `/tmp` and a `/proc` of
    its own, and ends with the program that started it. A root inside another keeps what holds for the inner one.

    Raises `ValueError` for roots that are no paths of Linux, or hold `..`.

    >>> bubblewrap(Scope("/srv/app", ("/srv/lib",), "posix"), programs=["/usr"])[:6]
    ('--die-with-parent', '--new-session', '--unshare-all', '--ro-bind-try', '/usr', '/usr')
    """
    paths = _paths(roots)
    arguments = ["--die-with-parent", "--new-session", "--unshare-all"]
    if network:
        arguments.append("--share-net")
    for path in programs:
        arguments += ["--ro-bind-try", path, path]
    arguments += ["--proc", "/proc", "--dev", "/dev", "--tmpfs", "/tmp"]  # noqa: S108 - inside the sandbox
    bind = "--ro-bind" if read_only else "--bind"
    for path in sorted(paths, key=lambda one: one.count("/")):  # what lies above first: a later one covers it
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
"""The rights of files by name: the bit, and the version of the interface that has it first."""

READING: Final = ("execute", "read_file", "read_dir")
_NO_DEVICES: Final = frozenset({"make_char", "make_block", "ioctl_dev"})
_OF_FILES: Final = frozenset({"execute", "write_file", "read_file", "truncate", "ioctl_dev"})


@dataclass(frozen=True, slots=True)
class Rule:
    """What a program may do beneath a path: names of rights, and `access`, the number that the kernel takes for them."""

    path: str
    rights: tuple[str, ...]

    @property
    def access(self) -> int:
        """The rights as `struct landlock_path_beneath_attr` holds them.

        >>> Rule("/usr", READING).access
        13
        """
        return _bits(self.rights)

    def for_file(self) -> Rule:
        """The rule as it may stand for a file: the kernel refuses rights of directories there."""
        return Rule(self.path, tuple(right for right in self.rights if right in _OF_FILES))


def handled_rights(abi: int) -> int:
    """The rights that a ruleset of a version of the interface should deny where no rule grants them: all that it has.

    Raises `ValueError` for a version below 1: the kernel has no Landlock.

    >>> handled_rights(1), handled_rights(3)
    (8191, 32767)
    """
    return _bits(_known(abi))


def landlock(
    roots: RootSet | Scope, *, abi: int, programs: Iterable[str] = SYSTEM, read_only: bool = False
) -> tuple[Rule, ...]:
    """The rules for a program that may read and write beneath the roots and read and run `programs`, for a version of the interface.

    Make a ruleset that handles `handled_rights(abi)`, add each rule with the descriptor of its path, and restrict the process. Nobody
    may make devices, and links and names go from one root to another only where the version can say so (2). What lies inside a root is
    writable whatever a rule for it says: rules add up. Raises `ValueError` as `bubblewrap` and `handled_rights`.
    """
    known = _known(abi)
    reading = tuple(right for right in READING if right in known)
    writing = tuple(right for right in known if right not in _NO_DEVICES)
    own = tuple(Rule(path, reading if read_only else writing) for path in _paths(roots))
    return (*own, *(Rule(path, reading) for path in programs))


def _known(abi: int) -> tuple[str, ...]:
    if abi < 1:
        raise ValueError("the kernel has no Landlock")
    return tuple(name for name, (_, since) in _RIGHTS.items() if since <= abi)


def _bits(rights: Sequence[str]) -> int:
    return sum(1 << _RIGHTS[name][0] for name in set(rights))


def _paths(roots: RootSet | Scope) -> tuple[str, ...]:
    """The roots by their real paths where they are bound."""
    found = [root.real for root in roots.roots] if isinstance(roots, RootSet) else list(roots.paths)
    for path in found:
        if not path.startswith("/") or ".." in path.split("/") or "\0" in path:
            raise ValueError(f"the root {os.fsdecode(path)!r} is not a plain path of Linux")
    return tuple(dict.fromkeys(found))
