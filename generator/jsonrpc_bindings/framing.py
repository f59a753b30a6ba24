"""Framing of messages in a byte stream: one per line, or each after a header with its length."""

from __future__ import annotations

import re
from typing import Final, Literal, Protocol, TypeAlias

from .partial_message import PartialMessage

LIMIT: Final = 64 << 20
"""The default limit of bytes of one message: prompts may contain images."""

_LONGEST_HEADER: Final = 8 << 10
_PASSED_OVER: Final = 1 << 30
"""The maximum length of an oversized message that is skipped, so that the next message can be read."""
_LENGTH: Final = re.compile(rb"content-length:[ \t]*([0-9]{1,15})[ \t]*", re.IGNORECASE)


class Unreadable(ValueError):
    """Data in the stream that is not a message.

    After `is_last` no further message can be found. `is_answered`: an error response is sent; otherwise it is ignored. `ends` has the
    beginning and the end of a message that is too long.
    """

    def __init__(
        self, sentence: str, *, is_last: bool = False, is_answered: bool = True, ends: PartialMessage | None = None
    ) -> None:
        super().__init__(sentence)
        self.is_last = is_last
        self.is_answered = is_answered
        self.ends = ends


Frame: TypeAlias = "bytes | Unreadable"
Kind: TypeAlias = Literal["lines", "headers"]


class Framing(Protocol):
    """Splits a stream into messages, and frames messages."""

    def feed(self, data: bytes) -> list[Frame]:
        """The messages that these bytes complete."""
        ...

    def end(self) -> list[Frame]:
        """What remains when the stream ends."""
        ...

    def write(self, message: bytes) -> bytes:
        """A message with its frame."""
        ...


def make_framing(kind: Kind, limit: int = LIMIT) -> Framing:
    """The framing of this name."""
    return Lines(limit) if kind == "lines" else Headers(limit)


class Lines:
    """One message per line. Blank lines are ignored; of a line that is too long, the beginning and the end are kept."""

    def __init__(self, limit: int = LIMIT) -> None:
        self._limit = limit
        self._parts: list[bytes] = []
        self._size = 0
        self._ends = PartialMessage()

    def feed(self, data: bytes) -> list[Frame]:
        """See `Framing`."""
        *lines, partial_line = data.split(b"\n")
        frames = [frame for line in lines for frame in self._end_line(line)]
        self._keep(partial_line)
        return frames

    def end(self) -> list[Frame]:
        """See `Framing`."""
        return self._end_line(b"")

    def write(self, message: bytes) -> bytes:
        """See `Framing`."""
        return message + b"\n"

    def _keep(self, part: bytes) -> None:
        self._size += len(part)
        if self._size > self._limit:
            for segment in (*self._parts, part):
                self._ends.add(segment)
            self._parts.clear()
        elif part:
            self._parts.append(part)

    def _end_line(self, end: bytes) -> list[Frame]:
        self._keep(end)
        parts, size = self._parts, self._size
        self._parts, self._size = [], 0
        if size > self._limit:
            ends, self._ends = self._ends, PartialMessage()
            return [Unreadable(f"a line is longer than {self._limit} bytes", ends=ends)]
        line = b"".join(parts)
        return [line] if line and not line.isspace() else []


class Headers:
    """Each message after a header with its length (`Content-Length: 2`), as in LSP and DAP."""

    def __init__(self, limit: int = LIMIT) -> None:
        self._limit = limit
        self._buffer = bytearray()
        self._length: int | None = None
        self._skip = 0
        self._ends = PartialMessage()
        self._is_lost = False

    def feed(self, data: bytes) -> list[Frame]:
        """See `Framing`."""
        if self._is_lost:
            return []
        frames: list[Frame] = []
        if self._skip:
            data = self._skip_rest(data, frames)
        self._buffer += data
        while True:
            if self._length is None and not self._read_headers(frames):
                return frames
            length = self._length or 0
            if len(self._buffer) < length:
                return frames
            frames.append(bytes(self._buffer[:length]))
            del self._buffer[:length]
            self._length = None

    def end(self) -> list[Frame]:
        """See `Framing`."""
        is_cut = bool(self._buffer) or self._length is not None or self._skip > 0
        return [Unreadable("the stream ends inside a message", is_last=True)] if is_cut and not self._is_lost else []

    def write(self, message: bytes) -> bytes:
        """See `Framing`."""
        return b"Content-Length: %d\r\n\r\n%b" % (len(message), message)

    def _read_headers(self, frames: list[Frame]) -> bool:
        """Read headers until one announces a message within the limit; return whether there is one."""
        while (end := self._buffer.find(b"\r\n\r\n", 0, _LONGEST_HEADER)) >= 0:
            lines = bytes(self._buffer[:end]).split(b"\r\n")
            del self._buffer[: end + 4]
            lengths = [match[1] for line in lines if (match := _LENGTH.fullmatch(line))]
            if len(lengths) != 1:
                return self._lose(frames, "a header must state the length of its message exactly once")
            length = int(lengths[0])
            if length <= self._limit:
                self._length = length
                return True
            if length > _PASSED_OVER:
                return self._lose(frames, f"a header announces {length} bytes, and a message may have {self._limit}")
            self._skip, begun = length, bytes(self._buffer)
            self._buffer[:] = self._skip_rest(begun, frames)
        if len(self._buffer) >= _LONGEST_HEADER:
            return self._lose(frames, "this is not a header")
        return False

    def _skip_rest(self, data: bytes, frames: list[Frame]) -> bytes:
        """Skip the rest of a message that is too long; return the bytes after it."""
        part, remainder = data[: self._skip], data[self._skip :]
        self._ends.add(part)
        self._skip -= len(part)
        if not self._skip:
            ends, self._ends = self._ends, PartialMessage()
            frames.append(Unreadable(f"a message is longer than {self._limit} bytes", ends=ends))
        return remainder

    def _lose(self, frames: list[Frame], sentence: str) -> bool:
        frames.append(Unreadable(sentence, is_last=True))
        self._buffer.clear()
        self._is_lost = True
        return False
