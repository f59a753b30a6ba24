"""Recordings without what is nobody else's business: secrets and the contents of files.

A redacted message keeps its shape: the same keys in the same order, doubled ones too, the same numbers, text in the place of text. So the
monitor judges a redacted recording as it judges the conversation, but for rules about the very text that is gone.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple, TypeGuard

from acpgen import secret_options
from acpgen.schema.walk import is_array
from acpgen.secret_options import REDACTED

_CALLED: Final = (
    r"(?:token|secret|passw(?:or)?d|passphrase|(?:api|access|private|account|shared|signing|encryption|master)[-_]?key"
    r"|authorization|cookie|credential|(?<=[_-])pass|(?<=[_-])pwd)s?"
)
SECRET_KEYS: Final = re.compile(
    rf"(?i)(?:{_CALLED}(?:[_-]?(?:value|pem|\d{{1,9}}))?|^_?(?:auth|bearer|jwt|passcode|pass_word|pass|pwd|otp))$"
)
"""Names whose text is a secret, mostly by their ends: of fields, of settings, of options of a command."""
NOT_SECRET: Final = frozenset({"progressToken"})
"""Names that look like one and are not: MCP's progress tokens are ids."""
SETTINGS: Final = re.compile(
    r"(?:^|[_-]|(?<=[a-z])(?=[EH]))(?i:headers|env|environment|env(?:ironment)?[_-]?var(?:iable)?s)$"
)
"""Fields that hold pairs of names and values, as a list or as an object: every value goes, at any depth."""
CALLED_BY: Final = frozenset({"name", "key", "header", "id", "field"})
"""Members that say what the `value` beside them is, in lower case."""
SCHEMAS: Final = frozenset({"properties", "patternProperties", "$defs", "definitions"})
"""Fields whose members are schemas: what is below `password` there is not a password."""
CONTENTS: Final = frozenset({"oldText", "newText"})
"""Fields that hold the text of files: diffs."""
RAW: Final = frozenset({"rawInput", "rawOutput"})
"""Fields that hold what a tool got and gave, in a form of its own: every text in them goes."""
BYTES: Final = frozenset({"blob", "data"})
"""Fields for bytes in base64, which stay base64 where they go: they become empty."""
FILE_FIELDS: Final[Mapping[str, str]] = {
    "fs/read_text_file": "content",
    "fs/write_text_file": "content",
    "terminal/output": "output",
}
"""Methods with the field of their params or result that is the text of a file, or what a command printed."""

SHAPES: Final = (
    r"-----BEGIN [A-Z ]*PRIVATE KEY-----.*?(?:-----END [A-Z ]*PRIVATE KEY-----|\Z)",
    r"\b(?i:bearer|basic)\s+[A-Za-z0-9._~+/=-]{8,}",
    r"\beyJ[A-Za-z0-9_-]{5,}\.[A-Za-z0-9_-]{5,}\.[A-Za-z0-9_-]*",
    r"\b(?:sk|pk|rk)-[A-Za-z0-9_-]{16,}",
    r"\bgh[pousr]_[A-Za-z0-9]{16,}",
    r"\bgithub_pat_[A-Za-z0-9_]{16,}",
    r"\bxox[abprs]-[A-Za-z0-9-]{8,}",
    r"\b(?:AKIA|ASIA)[A-Z0-9]{16}\b",
    r"\bAIza[A-Za-z0-9_-]{30,}",
    r"\bya29\.[A-Za-z0-9_-]{16,}",
    r"\b(?:npm|hf)_[A-Za-z0-9]{30,}",
    r"\b(?:glpat-|xapp-|dckr_pat_)[A-Za-z0-9_-]{16,}",
    r"\bpypi-[A-Za-z0-9_-]{40,}",
    r"(?<=hooks\.slack\.com/services/)[A-Za-z0-9/_-]+",
)
"""What keys and tokens look like anywhere in a text."""

_SAID: Final = rf"(?i:{_CALLED}(?:\\{{0,8}}[\"'])?\s{{0,8}}[=:]\s{{0,8}}(?:bearer\s|basic\s|token\s)?)"
_BARE: Final = r"(?:\[redacted\]|(?!\\+[\"'])[^\s\"'&;,<>]+)"
_NAMED: Final = tuple(
    re.compile(f"({kept}){gone}")
    for kept, gone in (
        (r"(?i:(?:set-)?cookie[\"']?\s{0,8}:\s{0,8})", r"[^\r\n\"]+"),
        (rf'{_SAID}\\{{1,8}}"', r'[^"\\\n]+'),
        (rf'{_SAID}"', r'[^"\n]+'),
        (rf"{_SAID}'", r"[^'\n]+"),
        (_SAID, _BARE),
        (rf"--(?i:[a-z-]{{0,40}}{_CALLED}\s{{1,8}}\")", r'[^"\n]+'),
        (rf"--(?i:[a-z-]{{0,40}}{_CALLED}\s{{1,8}}')", r"[^'\n]+"),
        (rf"--(?i:[a-z-]{{0,40}}{_CALLED}\s{{1,8}})", _BARE),
        (r"(?i:[?&#](?:key|code|sig|(?:[a-z]{1,20}-){0,4}(?:signature|security-token|credential))=)", r"[^&\s#]+"),
        (r"(?i:\b[a-z][a-z0-9+.-]{0,30}://[^\s/:@]{0,200}:)", r"[^\s/@]{1,200}(?=@)"),
        (r"(?i:\b[a-z][a-z0-9+.-]{0,30}://)", r"[^\s/:@]{20,200}(?=@)"),
    )
)
"""What a text calls a secret: `NAME_TOKEN=…`, `--password …`, a member of JSON inside the text, a key in a query, a password in a URL. The
name stays, the value goes."""

_OPTION: Final = re.compile(rf"--?[A-Za-z-]{{0,40}}{_CALLED}", re.IGNORECASE)
"""An argument after which a secret is the next one."""

MOST_OPEN: Final = 4096
"""Requests whose answers are awaited, in both directions together."""
UNKNOWN: Final = frozenset(FILE_FIELDS.values())
"""What goes from an answer of which no request is known: it may be the content of a file."""


class _Pairs(NamedTuple):
    """An object as it came: keys in order, doubled ones too."""

    items: list[tuple[str, Any]]


class _Number(str):
    """A number as it was written."""

    __slots__ = ()


class Redactor:
    """Takes secrets and contents of files out of the messages of one conversation, in their order.

    `patterns` are further expressions (Python's `re`); what matches one goes from any text.
    """

    def __init__(self, patterns: Sequence[str] = ()) -> None:
        self._shapes = re.compile("|".join(f"(?:{each})" for each in (*SHAPES, *patterns)), re.DOTALL)
        self._open: dict[tuple[str, str], frozenset[str]] = {}

    def line(self, sender: str, line: bytes) -> bytes:
        """A line without what is redacted. What is no JSON goes as a whole: nobody can say what it holds."""
        if not line.strip():
            return line
        try:
            message = json.loads(line, object_pairs_hook=_Pairs, parse_int=_Number, parse_float=_Number)
        except (ValueError, RecursionError):
            return f"[redacted: {len(line)} bytes that are no JSON]".encode()
        try:
            return "".join(_written(self._message(sender, message))).encode("utf-8", "surrogatepass")
        except RecursionError:
            return f"[redacted: {len(line)} bytes that are nested too deep]".encode()

    def _message(self, sender: str, message: Any) -> Any:
        if is_array(message):
            return [self._message(sender, each) for each in message]
        if not isinstance(message, _Pairs):
            return self._value(message)
        methods = [value for key, value in message.items if key == "method" and _is_text(value)]
        numbers = {_number(value) for key, value in message.items if key == "id"}
        if methods:
            fields = frozenset(FILE_FIELDS[method] for method in methods if method in FILE_FIELDS)
            for number in numbers:
                awaited = (sender, number)
                if awaited in self._open or len(self._open) < MOST_OPEN:
                    self._open[awaited] = fields | self._open.get(awaited, frozenset())
        else:
            asker = "agent" if sender == "client" else "client"
            known = [self._open.pop((asker, number), UNKNOWN) for number in numbers]
            fields = frozenset[str]().union(*known) if known else UNKNOWN
        return _Pairs(
            [
                (key, self._value(value, key, fields if key in ("params", "result") else frozenset()))
                for key, value in message.items
            ]
        )

    def _value(
        self,
        value: Any,
        key: str = "",
        fields: frozenset[str] = frozenset(),
        *,
        is_tool: bool = False,
        is_schema: bool = False,
        program: str = "",
    ) -> Any:
        """A value below `key` without what is redacted. All text of `fields` goes, and in a tool call that of content.

        `program` is what a list of arguments is for; `is_schema` where `key` names a value that this describes.
        """
        if isinstance(value, str | bool | int | float | None):
            return self._text(value, key) if _is_text(value) else value
        if key in RAW or key in CONTENTS:
            return _emptied(value, "")
        if SETTINGS.search(key) and not is_schema:
            return [_setting(each) for each in value] if is_array(value) else _emptied(value, "")
        if _is_secret(key) and not is_schema:
            return _emptied(value, key, kept=frozenset({"type"}))
        if isinstance(value, _Pairs):
            is_tool = is_tool or _is_tool_call(value, key)
            gone = fields | _contents(value, key, is_tool=is_tool)
            program = next((one for name, one in value.items if name == "command" and _is_text(one)), "")
            return _Pairs(
                [
                    (
                        name,
                        _emptied(one, name, kept=frozenset({"type"}))
                        if name in gone
                        else self._value(
                            one, name, is_tool=is_tool, is_schema=key in SCHEMAS and _is_schema(one), program=program
                        ),
                    )
                    for name, one in value.items
                ]
            )
        if value and all(map(_is_text, value)):
            value = secret_options.in_words(value, program)
        named = [False, *(_is_text(each) and _OPTION.fullmatch(each) is not None for each in value)]
        return [
            REDACTED if (after or fields) and _is_text(each) else self._value(each, key, fields, is_tool=is_tool)
            for after, each in zip(named, value, strict=False)
        ]

    def _text(self, value: str, key: str) -> str:
        if key in RAW or key in CONTENTS or _is_secret(key) or SETTINGS.search(key):
            return REDACTED
        value = secret_options.in_text(value)
        for said in _NAMED:
            value = said.sub(rf"\g<1>{REDACTED}", value)
        return self._shapes.sub(REDACTED, value)


def _is_secret(name: str) -> bool:
    """Whether what has this name is a secret."""
    return SECRET_KEYS.search(name) is not None and name not in NOT_SECRET


def _is_schema(value: Any) -> bool:
    """Whether a value looks like a schema, which says what a secret is like and holds none."""
    return isinstance(value, _Pairs) and any(
        name in ("type", "$ref", "const", "enum", "oneOf", "anyOf") for name, _ in value.items
    )


def _emptied(value: Any, key: str, kept: frozenset[str] = frozenset()) -> Any:
    """A value without any text, but for that of the members `kept`: their tags."""
    if isinstance(value, _Pairs):
        return _Pairs(
            [(name, one if name in kept and _is_text(one) else _emptied(one, name, kept)) for name, one in value.items]
        )
    if is_array(value):
        return [_emptied(each, key, kept) for each in value]
    return _without(key) if _is_text(value) else value


def _setting(value: Any) -> Any:
    """An entry of a list of names and values, without its value."""
    return _emptied(value, "", kept=frozenset({"name", "type"}))


def _number(value: Any) -> str:
    """What an id is known by. Numbers that are equal are one: a peer may answer `1.0` with `1`."""
    if isinstance(value, _Number):
        return f"number {float(value)!r}"
    return f"{type(value).__name__} {value}" if value is None or isinstance(value, str | bool | float) else "no id"


def _is_tool_call(value: _Pairs, key: str) -> bool:
    """Whether an object is a tool call, or an update of one."""
    return key == "toolCall" or any(
        name == "sessionUpdate" and _is_text(one) and one.startswith("tool_call") for name, one in value.items
    )


def _contents(value: _Pairs, key: str, *, is_tool: bool) -> frozenset[str]:
    """The fields of an object whose text is the content of a file, the output of a command, or the value of a secret."""
    named = {name: one for name, one in value.items if _is_text(one)}
    is_secret = any(name.lower() in CALLED_BY and _is_text(one) and _is_secret(one) for name, one in value.items)
    gone = {
        "blob": True,
        "text": "uri" in named or key == "patch" or is_tool,
        "data": named.get("type") in ("image", "audio") or key == "output" or "terminalId" in named,
        "value": is_secret,
        "Value": is_secret,
    }
    return frozenset(name for name, is_gone in gone.items() if is_gone)


def _without(name: str) -> str:
    """What stands in the place of a text."""
    return "" if name in BYTES else REDACTED


def _is_text(value: object) -> TypeGuard[str]:
    return isinstance(value, str) and not isinstance(value, _Number)


def _written(value: Any) -> Iterator[str]:
    if isinstance(value, _Pairs):
        yield "{"
        for index, (key, one) in enumerate(value.items):
            yield f"{',' if index else ''}{json.dumps(key)}:"
            yield from _written(one)
        yield "}"
    elif is_array(value):
        yield "["
        for index, one in enumerate(value):
            yield "," if index else ""
            yield from _written(one)
        yield "]"
    else:
        yield value if isinstance(value, _Number) else json.dumps(value)
