"""One message of a conversation as the rules see it, and what a rule says about it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple, TypeAlias

from .json_types import is_array

if TYPE_CHECKING:
    from jsonrpc_bindings.contract import Method, Use
    from jsonrpc_bindings.strict import Strict, Violation

    from .records import Pending
    from .shapes import Unknown

Path: TypeAlias = tuple["str | int", ...]
Place: TypeAlias = tuple[Path, Any]
"""A path below the body of a message, and the value that stands there."""

Kind: TypeAlias = Literal["unreadable", "batch", "malformed", "request", "notification", "result", "error", "end"]
"""`unreadable` is text that is not JSON, `malformed` JSON that is no message, `end` the end of the conversation."""

Level: TypeAlias = Literal["must", "should", "note"]
"""What the documents demand, what they advise, and what is merely worth knowing. A note is no breach."""


Requirement: TypeAlias = "int | str"
"""A requirement of the project's table: its number, or its document, section and place there."""


class Found(NamedTuple):
    """What a rule found. `path` leads into the message, `earlier` is the message that makes this one a breach.

    `requirements` are those behind this breach, where they are not all of the rule's; `about` is the request at fault, where it is
    not the message that was looked at; `level` is lower than the rule's where the order of messages does not prove the breach;
    `word` is what the breach is about, such as the last word of the path of a capability.
    """

    path: Path
    sentence: str
    earlier: int | None = None
    requirements: tuple[Requirement, ...] | None = None
    about: Pending | None = None
    level: Level | None = None
    word: str = ""


@dataclass(slots=True)
class Event:
    """One message. `body` holds its params, result or error; `request` is the request that it answers.

    `at` is its place in a batch. `problems` is what the schema says against it, with pointers into the message itself; `uses` are
    the places in the body that depend on capabilities, with paths into the line. `repeated` are keys that an object of it gives twice.
    `unknown` are the fields of the body that its types do not have, with paths into the body; `contents` are objects in it that hold
    data, links or patches. `form` is what a message has in common with others, and `is_plain`: of such a message nothing was ever to be
    said, of its `unknown`, `uses` and `contents`.
    `unjudged` says why the schema does not judge it, or not its body. `strict` is what judges it: of the handshake, the version that it
    names.
    """

    index: int
    sender: str
    receiver: str
    kind: Kind
    value: Any
    method: str = ""
    at: Path = ()
    id: Any = None
    body: Any = None
    request: Pending | None = None
    route: Method[Any, Any] | None = None
    problems: tuple[Violation, ...] = ()
    uses: tuple[Use, ...] = ()
    repeated: tuple[Violation, ...] = ()
    unknown: tuple[Unknown, ...] = ()
    contents: tuple[Place, ...] = ()
    form: int | None = None
    is_plain: bool = False
    unjudged: str = ""
    strict: Strict | None = None

    @property
    def part(self) -> str:
        """The member of the message that holds the body."""
        return self.kind if self.kind in ("result", "error") else "params"

    @property
    def definition(self) -> str | None:
        """The definition of the body."""
        if self.route is None or self.kind == "error":
            return None
        found = self.route.result if self.kind == "result" else self.route.params
        return found if isinstance(found, str) else None

    @property
    def session(self) -> str | None:
        """The session that the message, or the request that it answers, names."""
        own = text(self.body, "sessionId")
        return own if own is not None or self.request is None else self.request.session

    def below(self, *path: str | int) -> Path:
        """The path of a place in the body."""
        return (*self.at, self.part, *path)


def reach(value: Any, *path: str | int) -> Any:
    """What stands at a path of a JSON value; `None` where there is nothing."""
    for step in path:
        if isinstance(step, str):
            if value.__class__ is not dict:  # not by a call: this runs some thirty times a message
                return None
            value = value.get(step)
        else:
            value = value[step] if is_array(value) and 0 <= step < len(value) else None
    return value


def error_code(body: Any) -> int | None:
    """The code of an error; `None` where it is no number."""
    code = reach(body, "code")
    return code if isinstance(code, int) and not isinstance(code, bool) else None


def json_pointer(path: Iterable[str | int]) -> str:
    """The JSON Pointer of a path of keys and indices."""
    return "".join("/" + str(step).replace("~", "~0").replace("/", "~1") for step in path)


def pointer_steps(pointer: str) -> tuple[str, ...]:
    """The keys and indices of a JSON Pointer."""
    return tuple(step.replace("~1", "/").replace("~0", "~") for step in pointer.split("/")[1:])


def text(value: Any, *path: str | int) -> str | None:
    """The string at a path; `None` where there is none."""
    found = reach(value, *path)
    return found if isinstance(found, str) else None


def items(value: Any, *path: str | int) -> list[Any]:
    """The array at a path; empty where there is none."""
    found = reach(value, *path)
    return found if is_array(found) else []


CROSSED: Final = "; the messages may have crossed"
"""What is said where a peer need not have read a message yet when it sent its own."""


def shown(value: object) -> str:
    """A value in a sentence, cut at 80 characters."""
    whole = _WORDS[value] if value is None or isinstance(value, bool) else str(value)
    if isinstance(value, str):
        whole = repr(value)
    return whole if len(whole) <= 80 else f"{whole[:77]}..."


_WORDS: Final = {None: "null", True: "true", False: "false"}
