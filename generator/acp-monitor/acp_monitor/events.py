"""One message of a conversation as the rules see it, and what a rule says about it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple, TypeAlias

from .json_values import Path, Place, integer, text

if TYPE_CHECKING:
    from jsonrpc_bindings.contract import Method
    from jsonrpc_bindings.strict import Strict, Violation

    from .records import Pending
    from .undeclared import Undeclared, Use

Kind: TypeAlias = Literal["unreadable", "batch", "malformed", "request", "notification", "result", "error", "end"]
"""`unreadable` is text that is not JSON, `malformed` JSON that is no message, `end` the end of the conversation."""

Level: TypeAlias = Literal["must", "should", "note"]
"""What the documents demand, what they advise, and what is merely worth knowing. A note is no breach."""

CROSSED: Final = "; the messages may have crossed"
"""What is added where a peer need not have read a message yet when it sent its own."""


class Finding(NamedTuple):
    """What a rule found. `path` leads into the message, `earlier` is the message that makes this one a breach.

    `words` are what the breach is about, such as the last word of the path of a capability: requirements are looked up by them. `about`
    is the request at fault, where it is not the message that was looked at; `level` is lower than the rule's where the order of
    messages does not prove the breach.
    """

    path: Path
    sentence: str
    earlier: int | None = None
    words: tuple[str, ...] = ()
    about: Pending | None = None
    level: Level | None = None


@dataclass(slots=True)
class Event:
    """One message. `body` holds its params, result or error; `request` is the request that it answers.

    `at` is its place in a batch. `problems` is what the schema says against it, with pointers into the message itself; `uses` are
    the places in the body that depend on capabilities, with paths into the line. `duplicates` are keys that an object of it gives twice.
    `undeclared` are fields and values that its types do not name, with paths into the body; `content` are objects in it that hold
    data, links or patches. `shape` is what it has in common with similar messages; if `is_plain`, none of these ever had `undeclared`,
    `uses` or `content`.
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
    duplicates: tuple[Violation, ...] = ()
    undeclared: tuple[Undeclared, ...] = ()
    content: tuple[Place, ...] = ()
    shape: int | None = None
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

    @property
    def update(self) -> Any:
        """The update of a session that it brings."""
        return self.body.get("update") if self.body.__class__ is dict else None

    @property
    def update_kind(self) -> str | None:
        """The kind of that update."""
        return text(self.update, "sessionUpdate")

    @property
    def error_code(self) -> int | None:
        """The code of an error; `None` where it is no number."""
        return integer(self.body, "code")

    def member(self, name: str) -> Path:
        """The path of a member of the message itself."""
        return (*self.at, name)

    def below(self, *path: str | int) -> Path:
        """The path of a place in the body."""
        return (*self.at, self.part, *path)
