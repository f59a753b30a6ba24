"""One message of a conversation as rules see it, and their findings."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple, TypeAlias

from .json_values import Path, get_integer

if TYPE_CHECKING:
    from jsonrpc_bindings.contract import Method
    from jsonrpc_bindings.strict import Strict, Violation

    from .records import Pending, Session
    from .undeclared import Content, Undeclared, Use

Kind: TypeAlias = Literal["unreadable", "batch", "malformed", "request", "notification", "result", "error", "end"]
"""`unreadable` is text that is not JSON, `malformed` is JSON that is not a message, `end` is the end of the conversation."""

Level: TypeAlias = Literal["must", "should", "note"]
"""What the documents demand, what they recommend, and what is merely worth knowing. A note is not a breach."""

CROSSED: Final = "; the messages may have crossed"
"""The suffix of a sentence if a peer may not have read an earlier message when it sent its own."""


class Finding(NamedTuple):
    """What a rule found. `path` leads into the message, `earlier` is the index of the message that makes this one a breach.

    `words` say what the breach is about, such as the last name in the path of a capability: requirements are looked up by them. `about`
    is the request at fault, if it is not the message itself. `level` is lower than that of the rule if the order of messages does not
    prove the breach.
    """

    path: Path
    sentence: str
    earlier: int | None = None
    words: tuple[str, ...] = ()
    about: Pending | None = None
    level: Level | None = None


@dataclass(slots=True)
class Event:
    """One message. `body` holds its params, result or error; `request` is the request that it answers, `session` what is known of the
    session `session_id` that it or that request names. `update_kind` is the kind of a session update.

    `at` is its place in a batch. `problems` are the errors of the schema, with pointers into the message; `uses` are the places in the
    body that depend on capabilities, with paths into the line. `duplicates` are duplicate keys. `undeclared` are fields and values that
    its types do not declare, with paths into the body; `content` are objects in it with data, links or patches. `unjudged` says why the
    schema does not validate it, or not its body. `strict` is its validator: for the handshake, that of the version it names.
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
    session_id: str | None = None
    session: Session | None = None
    route: Method[Any, Any] | None = None
    problems: tuple[Violation, ...] = ()
    uses: tuple[Use, ...] = ()
    duplicates: tuple[Violation, ...] = ()
    undeclared: tuple[Undeclared, ...] = ()
    content: tuple[Content, ...] = ()
    update_kind: str | None = None
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
        name = self.route.result if self.kind == "result" else self.route.params
        return name if isinstance(name, str) else None

    @property
    def update(self) -> Any:
        """The session update in the body."""
        return self.body.get("update") if self.body.__class__ is dict else None

    @property
    def error_code(self) -> int | None:
        """The code of an error; `None` if it is not a number."""
        return get_integer(self.body, "code")

    def locate_member(self, name: str) -> Path:
        """The path of a member of the message itself."""
        return (*self.at, name)

    def extend_path(self, *path: str | int) -> Path:
        """The path of a place in the body."""
        return (*self.at, self.part, *path)
