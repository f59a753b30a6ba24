"""Paths as `file://` URIs and back: what a root of MCP is named by.

Source: MCP 2025-06-18, "Roots", "Security Considerations".
"""

from __future__ import annotations

import os
from urllib.parse import quote, unquote_to_bytes, urlsplit

from .scope import Flavour, is_absolute, normalise


def uri_of(path: str, flavour: Flavour = "posix") -> str:
    r"""The `file://` URI of an absolute path. Raises `ValueError` for any other.

    >>> uri_of("/srv/tide data/é#1")
    'file:///srv/tide%20data/%C3%A9%231'
    >>> uri_of("C:\\srv\\a b", "windows"), uri_of(r"\\nas\srv\a", "windows")
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


def path_of(uri: str) -> str:
    """The path that a root's URI names. Raises `ValueError` for anything that is not a plain, local `file://` URI.

    Refused are other schemes and hosts, queries and fragments, relative paths, and whatever could climb: `.` and `..`, also written with
    percent signs, encoded separators, backslashes and NUL (MCP, "Security Considerations": validate all root URIs).

    >>> path_of("file:///srv/tide%20data"), path_of("file://localhost/srv/")
    ('/srv/tide data', '/srv')
    >>> path_of("file:///srv/%2e%2e/etc")
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
