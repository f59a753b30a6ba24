"""Targets of MCP roots, a directory or a file in one, and their `file://` URIs.

Source: MCP 2025-06-18, "Roots", "Security Considerations".
"""

from __future__ import annotations

import errno
import os
from dataclasses import dataclass
from typing import Self
from urllib.parse import quote, unquote_to_bytes, urlsplit

from .containment import AccessDenied, Place, Root, bind, find_places, open_folder, open_regular
from .mechanism import SYNCABLE_FOLDER
from .scope import Flavour, is_absolute, normalise


@dataclass(frozen=True, slots=True)
class Target:
    """A directory, or a `file` in one, held open; `name` is its display name where it is exposed to servers."""

    root: Root
    file: str | None = None
    name: str | None = None

    @classmethod
    def bind(cls, path: str, name: str | None = None) -> Self:
        """Open what is currently at a path. Raises `OSError`, `AccessDenied`."""
        try:
            return cls(bind(path), None, name)
        except NotADirectoryError:
            folder, file = os.path.split(os.path.realpath(path))
            target = cls(bind(folder), file, name)
        if not target.is_there:
            target.root.close()
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), path)
        return target

    @property
    def path(self) -> str:
        """The path as it was bound."""
        return self._append_file(self.root.path)

    @property
    def real(self) -> str:
        """The real path."""
        return self._append_file(self.root.real)

    def _append_file(self, folder: str) -> str:
        return folder if self.file is None else f"{folder.rstrip('/')}/{self.file}"

    @property
    def is_there(self) -> bool:
        """Whether the same directory still exists, or a file of this name is readable in its directory."""
        try:
            if self.file is not None:
                os.close(open_regular(self.root, (self.file,), os.O_RDONLY))
            else:
                with self.root.open_directory():
                    pass
        except (OSError, AccessDenied):
            return False
        return True

    @property
    def is_accessible(self) -> bool:
        """Whether it still exists and, for a directory, can be listed."""
        if self.file is not None:
            return self.is_there
        try:
            os.close(open_folder(self.root, (), SYNCABLE_FOLDER))
        except (OSError, AccessDenied):
            return False
        return True

    def holds(self, place: Place) -> bool:
        """Whether a place in the directory belongs to the root, which may be a single file."""
        return place.root is self.root and self.file in (None, *(place.parts if len(place.parts) == 1 else ()))

    def allows(self, path: str) -> bool:
        """Whether a path is in it, following links."""
        try:
            return any(map(self.holds, find_places([self.root], path)))
        except (OSError, AccessDenied):
            return False


def make_uri(path: str, flavour: Flavour = "posix") -> str:
    r"""The `file://` URI of an absolute path. Raises `ValueError` for any other.

    >>> make_uri("/srv/tide data/é#1")
    'file:///srv/tide%20data/%C3%A9%231'
    >>> make_uri("C:\\srv\\a b", "windows"), make_uri(r"\\nas\srv\a", "windows")
    ('file:///C:/srv/a%20b', 'file://nas/srv/a')
    """
    if flavour == "windows" and is_absolute(path, flavour):
        plain = normalise(path, flavour).replace("\\", "/")
        if ".." in plain.split("/") or "\0" in plain:
            raise ValueError("a path with '..' is not shown as a root")
        return "file:" + ("//" if plain[1] == ":" else "") + ("/" if plain[1] == ":" else "") + quote(plain, safe="/:")
    if not path.startswith("/") or "\0" in path:
        raise ValueError("only an absolute path has a file URI")
    if ".." in path.split("/"):
        raise ValueError("a path with '..' is not shown as a root")
    return "file://" + quote(os.fsencode(path), safe="/")


def parse_uri(uri: str) -> str:
    """The path of a root's URI. Raises `ValueError` for anything but a plain, local `file://` URI.

    It refuses other schemes and hosts, queries and fragments, relative paths, `.` and `..` even if percent-encoded, encoded separators,
    backslashes and NUL (MCP, "Security Considerations": validate all root URIs).

    >>> parse_uri("file:///srv/tide%20data"), parse_uri("file://localhost/srv/")
    ('/srv/tide data', '/srv')
    >>> parse_uri("file:///srv/%2e%2e/etc")
    Traceback (most recent call last):
    ValueError: the URI contains '.' or '..'
    """
    if any(ord(character) <= 0x20 or ord(character) == 0x7F for character in uri) or "\\" in uri:
        raise ValueError("a URI must not contain spaces, control characters or backslashes")
    parts = urlsplit(uri)
    if not uri.lower().startswith("file://"):
        raise ValueError("a root must be a file:// URI")
    if parts.netloc.lower() not in ("", "localhost"):
        raise ValueError("a root must be on this machine")
    if "?" in uri or "#" in uri:
        raise ValueError("a root must not have a query or a fragment")
    if not parts.path.startswith("/"):
        raise ValueError("a root must be an absolute path")
    segments = [unquote_to_bytes(segment) for segment in parts.path.split("/")]
    if any(segment in (b".", b"..") for segment in segments):
        raise ValueError("the URI contains '.' or '..'")
    if any(b"/" in segment or b"\\" in segment or b"\0" in segment for segment in segments):
        raise ValueError("the URI encodes a separator or NUL")
    try:
        names = [segment.decode() for segment in segments if segment]
    except UnicodeDecodeError:
        raise ValueError("the URI is not UTF-8") from None
    return "/" + "/".join(names)
