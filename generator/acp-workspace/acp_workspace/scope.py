"""Workspace roots as text: the ordered list `[cwd, *additionalDirectories]`, independent of this machine's directories.

A `Scope` can be stored, compared, filtered and announced wherever its paths are: on another machine, on another platform, or not
existing yet. It enforces nothing: use a `RootSet` (`acp_workspace.workspace`) or a sandbox (`acp_workspace.sandbox`) for that.

Paths are text on the wire. They are never case-folded, `..` is never removed (it may follow a link), and comparison never accesses the
file system: `normalise` is the one rule for stored state, `SessionInfo` and the filter of `session/list`.

Source: the RFD on `additionalDirectories` (2026-03-24), cited as "RFD" with its section.
"""

from __future__ import annotations

import ntpath
import os
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final, Literal, Protocol, TypeAlias, cast

from acp_bindings import UNSET

from .errors import make_invalid_params, make_problem, make_refusal

Flavour: TypeAlias = Literal["posix", "windows"]
"""The syntax of paths."""
NATIVE: Final[Flavour] = "windows" if os.name == "nt" else "posix"
"""The path syntax of this machine."""

MOST_ROOTS: Final = 256
"""The maximum number of entries in `additionalDirectories`: a bound session holds a descriptor for each."""


class LifecycleRequest(Protocol):
    """Params of `session/new`, `session/load`, `session/resume`, `session/fork` or `session/list`, of v1 or v2."""

    @property
    def cwd(self) -> str | None:
        """The working directory, an absolute path; `None` if a list is not filtered by it."""
        ...

    @property
    def additional_directories(self) -> object:
        """The additional roots, unvalidated: an array of absolute paths, null, or omitted."""
        ...


class SessionRequest(LifecycleRequest, Protocol):
    """A `SessionInfo`, or the params of a lifecycle request that names a session."""

    @property
    def session_id(self) -> str:
        """The id of the session."""
        ...


# --- paths as text ---------------------------------------------------------------------------------------------------


def is_absolute(path: str, flavour: Flavour = NATIVE) -> bool:
    r"""Whether a path is absolute by the rules of a platform (RFD, "Field definition").

    >>> [is_absolute(path, "posix") for path in ("/srv", "work", "", "C:\\srv")]
    [True, False, False, False]
    >>> [is_absolute(path, "windows") for path in ("C:/srv", r"\\nas\srv", "C:work", r"\srv")]
    [True, True, False, False]
    """
    if flavour == "posix":
        return path.startswith("/")
    return _WINDOWS_ROOT.match(path) is not None


_WINDOWS_ROOT: Final = re.compile(r"[A-Za-z]:[\\/]|[\\/]{2}[^\\/]+[\\/][^\\/]")
"""A drive's root or a server's share; not left to the standard library, whose rules differ between versions of Python."""


def normalise(path: str, flavour: Flavour = NATIVE) -> str:
    r"""The normalized form of an absolute path for state, results and filters (RFD, "Field definition").

    Repeated separators, `.` and a trailing separator are removed; on Windows separators become `\` and the drive letter upper case. `..`
    stays, because its meaning depends on links. The file system is not accessed.

    >>> normalise("/srv//app/./src/", "posix"), normalise("/srv/../etc", "posix"), normalise("//", "posix")
    ('/srv/app/src', '/srv/../etc', '/')
    >>> normalise("c:/srv/app/", "windows"), normalise("//nas/srv/", "windows")
    ('C:\\srv\\app', '\\\\nas\\srv\\')
    """
    if flavour == "posix":
        return "/" + "/".join(part for part in path.split("/") if part not in ("", "."))
    drive, tail = ntpath.splitdrive(path.replace("/", "\\"))
    drive = drive.upper() if drive[1:] == ":" else drive
    return drive + "\\" + "\\".join(part for part in tail.split("\\") if part not in ("", "."))


def find_flavour(path: str) -> Flavour | None:
    r"""The syntax by which a path is absolute, POSIX if both apply; `None` for a relative path.

    >>> find_flavour("/srv"), find_flavour("C:\\srv"), find_flavour(r"\\nas\srv"), find_flavour("srv")
    ('posix', 'windows', 'windows', None)
    """
    return next((flavour for flavour in ("posix", "windows") if is_absolute(path, flavour)), None)


@dataclass(frozen=True, slots=True)
class Scope:
    """The ordered root set of a session as text: `cwd` first, then the additional directories.

    `flavour` is the syntax of its paths, which need not be this platform's; the paths need not exist.
    """

    cwd: str
    additional: tuple[str, ...] = ()
    flavour: Flavour = field(default=NATIVE, repr=False)

    @property
    def paths(self) -> tuple[str, ...]:
        """The effective ordered roots (RFD, "Semantics").

        >>> Scope("/srv/app", ("/srv/lib",)).paths
        ('/srv/app', '/srv/lib')
        """
        return (self.cwd, *self.additional)

    def absolute(self, path: str) -> str:
        """Make a path absolute: a relative path is resolved against `cwd` and no other root (RFD, "Semantics").

        >>> Scope("/srv/app", ("/srv/lib",), "posix").absolute("src/main.py")
        '/srv/app/src/main.py'
        """
        if is_absolute(path, self.flavour):
            return path
        if self.flavour == "windows" and (ntpath.splitdrive(path)[0] or path[:1] in ("\\", "/")):
            raise make_refusal(path, "a path relative to a drive means no certain directory")
        separator = _SEPARATORS[self.flavour]
        return f"{self.cwd.rstrip(separator)}{separator}{path}"

    def as_listed(self) -> list[str]:
        """The value of `SessionInfo.additionalDirectories`: always a list, `[]` without additional roots."""
        return list(self.additional)

    def locate(self, path: str) -> tuple[tuple[str, tuple[str, ...]], ...]:
        r"""The roots that lexically contain a path, in order, each with the components below it.

        A path with `..` is in none, since its meaning depends on links. This compares names and enforces nothing. Raises `RequestError`
        as `absolute` does.

        >>> Scope("C:\\srv\\app", flavour="windows").locate("src/main.py")
        (('C:\\srv\\app', ('src', 'main.py')),)
        >>> Scope("/srv/app", flavour="posix").locate("/srv/app/../secret")
        ()
        """
        separator = _SEPARATORS[self.flavour]
        plain = normalise(self.absolute(path), self.flavour)
        if ".." in plain.split(separator):
            return ()
        return tuple(
            (root, tuple(name for name in plain[len(root) :].split(separator) if name))
            for root in self.paths
            if ".." not in root.split(separator) and _is_below(plain, root, separator)
        )


_SEPARATORS: Final[dict[Flavour, str]] = {"posix": "/", "windows": "\\"}


def _is_below(path: str, root: str, separator: str) -> bool:
    return path == root or path.startswith(root.rstrip(separator) + separator)


def parse_scope(cwd: object, additional: object = UNSET, *, flavour: Flavour | None = NATIVE) -> Scope:
    """The root set of a request: validated, normalized, without duplicates. An omitted list is empty.

    `flavour` is the syntax of its paths; `None` takes that of `cwd`, for a peer on any machine. Paths of two platforms cannot be mixed.
    An entry that equals `cwd` or an earlier entry after normalization is removed; the others keep their order, so the access is never
    widened. Roots within other roots stay. Raises `RequestError` -32602 that names every malformed entry (RFD, "Validation and error
    handling").

    >>> parse_scope("/srv/app", ["/srv/lib/", "/srv/app", "/srv/lib"], flavour="posix")
    Scope(cwd='/srv/app', additional=('/srv/lib',))
    >>> parse_scope("/srv/app", ["/srv/lib", "skills"], flavour="posix")
    Traceback (most recent call last):
    jsonrpc_bindings.failures.RequestError: additionalDirectories[1] must be an absolute path (-32602)
    """
    flavour = flavour or (isinstance(cwd, str) and find_flavour(cwd)) or NATIVE
    _require_well_formed(cwd, additional, flavour)
    first = normalise(cast("str", cwd), flavour)
    return Scope(first, _list_others(first, additional, flavour), flavour)


def _list_others(cwd: str, additional: object, flavour: Flavour) -> tuple[str, ...]:
    """The normalized entries of an optional list, without duplicates and `cwd`."""
    paths = dict.fromkeys(normalise(path, flavour) for path in list_entries(additional))
    return tuple(path for path in paths if path != cwd)


def request_scope(request: LifecycleRequest) -> Scope:
    """The root set of a lifecycle request; see `parse_scope`. Earlier roots of the session are ignored."""
    return parse_scope(request.cwd, request.additional_directories)


def matches(scope: Scope, *, cwd: str | None = None, additional: object = UNSET) -> bool:
    """Whether a session passes a well-formed filter of `session/list`; if both filters are set, both must match (RFD, "Schema changes").

    The lists must be equal, including order, after normalization and removal of duplicates and `cwd`. `[]` selects only sessions without
    additional roots, an omitted list selects all. A path of another platform is in no session.

    >>> found = Scope("/srv/app", ("/srv/lib", "/srv/skills"))
    >>> matches(found, additional=["/srv/lib/", "/srv/skills", "/srv/lib"]), matches(found, additional=["/srv/skills", "/srv/lib"])
    (True, False)
    >>> matches(found, additional=[]), matches(Scope("/srv/app"), additional=[]), matches(found, cwd="/srv/app")
    (False, True, True)
    """
    root, flavour = normalise(scope.cwd, scope.flavour), scope.flavour
    if cwd is not None and normalise(cwd, flavour) != root:
        return False
    return additional is UNSET or _list_others(root, additional, flavour) == _list_others(
        root, scope.additional, flavour
    )


def require_filter(cwd: str | None, additional: object) -> None:
    """Raise `RequestError` -32602 for a malformed filter of `session/list`."""
    _require_well_formed(UNSET if cwd is None else cwd, additional, NATIVE)


def _require_well_formed(cwd: object, additional: object, flavour: Flavour) -> None:
    entries: dict[str, object] = {} if cwd is UNSET else {"/cwd": cwd}
    list_problem = None
    if isinstance(additional, list | tuple):
        paths = cast("Sequence[object]", additional)
        if len(paths) > MOST_ROOTS:
            list_problem = f"must hold at most {MOST_ROOTS} entries"
        else:
            entries |= {f"/additionalDirectories/{index}": path for index, path in enumerate(paths)}
    elif additional is not UNSET:
        list_problem = "must be an array"
    problems = [
        (at, reason) for at, path in entries.items() if (reason := _describe_problem(path, flavour)) is not None
    ]
    if list_problem is not None:
        problems.append(("/additionalDirectories", list_problem))
    if problems:
        message = "; ".join(f"{_show_pointer(pointer)} {reason}" for pointer, reason in problems)
        raise make_invalid_params(message, problems=[make_problem(pointer, reason) for pointer, reason in problems])


def _describe_problem(entry: object, flavour: Flavour) -> str | None:
    if not isinstance(entry, str):
        return "must be a string"
    if not entry:
        return "must not be empty"
    if not is_absolute(entry, flavour):
        return (
            "must be an absolute path" if find_flavour(entry) is None else f"must be a {flavour} path like the others"
        )
    return "must not contain a NUL character" if "\0" in entry else None


def _show_pointer(pointer: str) -> str:
    name, _, index = pointer[1:].partition("/")
    return f"{name}[{index}]" if index else name


def list_entries(additional: object) -> list[str]:
    """The entries of an optional list."""
    return [] if additional is UNSET else list(cast("Sequence[str]", additional))
