"""A small protocol, as it is generated: a class for each thing that the run-time can do."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Final, Literal, TypeAlias

from jsonrpc_bindings.annotations import Number, Shapes, Tagged
from jsonrpc_bindings.codec import Codec
from jsonrpc_bindings.contract import Method
from jsonrpc_bindings.module_registry import SchemaModule
from jsonrpc_bindings.receiving import Receiving
from jsonrpc_bindings.records import UNSET, Meta, Record, Unknown, UnknownTag, UnsetType, field


class Text(Record, tag_field="type", tag="text"):
    """Text."""

    type: ClassVar[Literal["text"]] = "text"
    text: str
    mime_type: str | None = field(name="mimeType", default=None)
    title: str | UnsetType | None = UNSET


class Picture(Record, tag_field="type", tag="picture"):
    """A picture."""

    type: ClassVar[Literal["picture"]] = "picture"
    data: str
    size: Annotated[int, Meta(ge=1, le=100)] = 1


class UnknownPart(Unknown, tag_field="type", known=("text", "picture")):
    """A part of another type."""

    type: UnknownTag
    note: str | None = None

    if TYPE_CHECKING:

        def __init__(self, *, type: str, extra: dict[str, Any] = ..., **fields: Any) -> None: ...  # noqa: A002 - as it is generated


Part: TypeAlias = Annotated["Text | Picture | UnknownPart", Tagged("type")]


class Body(Record):
    """What stands alone, and is a variant too."""

    call_id: str = field(name="callId")
    parts: list[Part] | None = None


class BodyUpdate(Body, tag_field="kind", tag="body"):
    """The variant."""

    kind: ClassVar[Literal["body"]] = "body"


class Progress(Record, tag_field="kind", tag="progress"):
    """Progress."""

    kind: ClassVar[Literal["progress"]] = "progress"
    done: Number
    state: Literal["slow", "fast"] | str = "slow"  # noqa: PYI051 - as it is generated


class UnknownUpdate(Unknown, tag_field="kind", known=("body", "progress")):
    """An update of another kind."""

    kind: str


Update: TypeAlias = Annotated[BodyUpdate | Progress | UnknownUpdate, Tagged("kind")]


class Local(Record):
    """The default branch: its type may be left out."""

    command: str
    type: Literal["local"] | UnsetType = UNSET


class Remote(Record, tag_field="type", tag="http"):
    """A branch with a tag."""

    type: ClassVar[Literal["http"]] = "http"
    url: str


Server: TypeAlias = Annotated["Remote | Local", Tagged("type")]


class Words(Record):
    """By shape: words."""

    words: list[str]


class Bytes(Record):
    """By shape: bytes."""

    bytes: str


Content: TypeAlias = Annotated["Words | Bytes", Shapes(exclusive=True)]
Keys: TypeAlias = Annotated["Words | Bytes | str", Shapes()]


class Tree(Record):
    """A type within itself."""

    name: str
    children: list[Tree] = []  # noqa: RUF012


Json: TypeAlias = "dict[str, Json] | list[Json] | str | Number | bool | None"


class Abilities(Record):
    """Booleans with defaults."""

    image: bool = False
    tags: list[str] = []  # noqa: RUF012


class Closed(Record, extra=None):
    """No further fields."""

    version: Literal["1"] = "1"
    name: str


class Counts(Record, extra=Annotated[int, Meta(ge=0)]):
    """Further fields are numbers."""

    total: int


class Forgetful(Record, drop=True):
    """Further fields are dropped."""

    name: str


class Other(Record, excludes={"type": ("http",)}):
    """Without a constant of another variant."""

    name: str


class Odd(Record, tag_field="is", tag=True):
    """Names and a tag that msgspec does not write."""

    quoted: str = field(name='a"b')
    lines: str | None = field(name="c\nd", default=None)
    ours: str | None = field(name="\x7f(notes)", default=None)


class Everything(Record):
    """All of it."""

    update: Update
    server: Server | None = None
    content: Content | None = None
    keys: Keys | None = None
    tree: Tree | None = None
    json: Json | UnsetType = UNSET
    odd: Odd | None = None
    abilities: Abilities = field(default_factory=lambda: Abilities())
    closed: Closed | None = None
    counts: Counts | None = None
    forgetful: Forgetful | None = None
    alone: Body | None = None
    other: Other | None = None
    code: Annotated[str, Meta(pattern="^[a-z]+$")] = "a"
    meta: dict[str, Any] | None = field(name="_meta", default=None)


class Done(Record):
    """A result."""

    reason: Literal["end", "error"]


METHODS: Final[dict[str, Method[Any, Any]]] = {
    "do": Method("do", "agent", "request", Everything, Done),
    "list": Method("list", "agent", "request", Done, Abilities, null_result=True),
    "tell": Method("tell", "client", "notification", Everything),
    "choose": Method("choose", "client", "request", Server, Update),
    "stop": Method("stop", "client", "notification", Abilities),
    "ping": Method("ping", "client", "request", None, None, omitted="nothing"),
}
CODEC: Final[Codec[Any, Any]] = Codec(
    METHODS,
    Receiving(SchemaModule(__name__, lambda: {"$defs": {}})),
    null_id=True,
    batch=True,
    sides=("agent", "client"),
)
