"""Text that can never become markup. `Markdown` is what is markup already; everything else that enters a page passes `prose`, `plain` or
`code`.

Every character that Markdown or HTML could read as markup becomes a numeric character reference, which no reader of Markdown takes
for syntax. A pair of backticks in prose still means a code span, because this module writes that span itself.
"""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Iterable, Iterator
from typing import Any, Final

from acpgen import ir
from acpgen.errors import visible
from acpgen.input.numbers import dumps

_SPAN: Final = re.compile(r"`([^`\n]+)`")
_SPECIAL: Final = re.compile(r"[\\`*_{}\[\]<>&|~$@#:.]")
"""What may have to be escaped: some of these only beside certain others."""

_LINE_START: Final = re.compile(r"[-+:=]|\d+[.)]")
_PLAIN_CODE: Final = re.compile(r"[A-Za-z0-9_.,:;/$()#@%?!+*=\"'\[\]{} -]+")
_NOT_IN_CODE: Final = re.compile(r"://|\]:")
"""Addresses, and what would make a definition of a link out of a line that begins with a bracket."""
_OUTSIDE_ID: Final = re.compile(r"[^A-Za-z0-9_.-]")
LONGEST_ID: Final = 96
_FENCE: Final = re.compile(r"^\s*(`{3,}|~{3,})", re.MULTILINE)
_WIDTH: Final = 100
"""As many characters a line of an example may have."""


class Markdown(str):
    """A piece of Markdown that this package wrote. Joining it with other text gives plain text again, on purpose."""

    __slots__ = ()


def finalized(value: object) -> str:
    """What a template writes for a value: Markdown as it is, numbers as they read, any other text as prose."""
    assert value is not None, "a template asked for text that is not there"
    return value if isinstance(value, Markdown) else prose(str(value))


def prose(text: str) -> Markdown:
    """Text of a schema on one line, with spans in backticks as code."""
    line = visible(" ".join(text.split()))
    parts: list[str] = []
    end = 0
    for span in _SPAN.finditer(line):
        parts += [_escaped(line[end : span.start()], at_start=end == 0), code(span[1])]
        end = span.end()
    parts.append(_escaped(line[end:], at_start=end == 0))
    return Markdown("".join(parts))


def plain(text: str) -> Markdown:
    """Text on one line as it stands: a backtick in it is a backtick."""
    return Markdown(_escaped(visible(text), at_start=True))


_LITERAL: Final = re.compile(r"(?<![\w'])'(?:[^'\\]|\\.)+'(?![\w'])")
_ESCAPED: Final = re.compile(r"\\(['\\])")


def quoting(message: str) -> Markdown:
    """What the compatibility check says, as it stands, but for the names and patterns that it quotes as Python does: they are code."""
    line = visible(message)
    parts: list[str] = []
    end = 0
    for quoted in _LITERAL.finditer(line):
        parts += [_escaped(line[end : quoted.start()], at_start=end == 0), code(_ESCAPED.sub(r"\1", quoted[0][1:-1]))]
        end = quoted.end()
    return Markdown("".join((*parts, _escaped(line[end:], at_start=end == 0))))


def paragraphs(text: str) -> Markdown:
    """Text of a schema, an empty line in it between paragraphs."""
    found = [prose(part) for part in re.split(r"\n\s*\n", text) if part.strip()]
    return Markdown("\n\n".join(found))


def first_sentence(text: str) -> Markdown:
    """The first sentence of a description, for lists."""
    return prose(next(sentences(text), ""))


_SPAN_OR_STOP: Final = re.compile(r"`[^`]*`|\.(?=\s|$)")


def sentences(text: str) -> Iterator[str]:
    """The sentences of a description on one line each. A full stop in a code span, or with no space after it, ends none."""
    line, start = " ".join(text.split()), 0
    for found in _SPAN_OR_STOP.finditer(line):
        if found[0] == ".":
            yield line[start : found.end()].strip()
            start = found.end()
    rest = line[start:].strip()
    if rest:
        yield rest


def code(text: str) -> Markdown:
    """Text as a code span, the same in a table as outside."""
    shown = visible(text)
    if _PLAIN_CODE.fullmatch(shown) and shown == shown.strip() and not _NOT_IN_CODE.search(shown):
        return Markdown(f"`{shown}`")
    return Markdown(f"<code>{_escaped(shown, at_start=False) or '&#8203;'}</code>")


def value(item: ir.JSON) -> Markdown:
    """A JSON value as a code span."""
    return code(dumps(item, ensure_ascii=False))


def block(item: ir.JSON) -> Markdown:
    """A JSON value as a fenced block; what fits in a line stands on one."""
    return blocks([item])


def blocks(items: Iterable[Any]) -> Markdown:
    """JSON values in one fenced block, one after another. What fits in a line stands on one, a small message on two."""
    text = "\n".join(_on_two_lines(item) or _laid_out(item) for item in items)
    return fenced("".join(c if c.isprintable() or c == "\n" else _json_escape(c) for c in text), "json")


def _on_two_lines(item: ir.JSON) -> str:
    """A message with its payload on a line of its own; empty for what is no message, fits in one line or does not fit in two."""
    if (
        not isinstance(item, dict)
        or "jsonrpc" not in item
        or len(item) < 2
        or len(dumps(item, ensure_ascii=False)) <= _WIDTH
    ):
        return ""
    *before, (key, payload) = item.items()
    head = f"{dumps(dict(before), ensure_ascii=False)[:-1]}, {dumps(key)}:"
    body = f"  {dumps(payload, ensure_ascii=False)}}}"
    return f"{head}\n{body}" if max(len(head), len(body)) <= _WIDTH else ""


def _laid_out(item: ir.JSON, indent: str = "", more: int = 0) -> str:
    """A JSON value in lines that are as full as may be; `more` are the characters around its first one."""
    line = dumps(item, ensure_ascii=False)
    if not isinstance(item, list | dict) or len(indent) + more + len(line) <= _WIDTH:
        return line
    inner = f"{indent}  "
    members = (
        [("", one) for one in item]
        if isinstance(item, list)
        else [(f"{dumps(k, ensure_ascii=False)}: ", v) for k, v in item.items()]
    )
    rows: list[str] = []
    for index, (key, one) in enumerate(members):
        row = f"{key}{_laid_out(one, inner, len(key) + 1)}"
        is_packed = (
            index > 0 and not isinstance(one, list | dict) and not isinstance(members[index - 1][1], list | dict)
        )
        if is_packed and len(inner) + len(rows[-1]) + len(row) + 3 <= _WIDTH:
            rows[-1] += f", {row}"
        else:
            rows.append(row)
    opening, closing = "{}" if isinstance(item, dict) else "[]"
    between = f",\n{inner}"
    return f"{opening}\n{inner}{between.join(rows)}\n{indent}{closing}"


def fenced(text: str, language: str) -> Markdown:
    """Text as a block of code, with a fence that no line of it ends."""
    marks = "`" * max(3, *(len(each) + 1 for each in _FENCE.findall(text)), 3)
    return Markdown(f"{marks}{language}\n{text}\n{marks}")


def html(text: str) -> str:
    """Text inside an element of HTML or SVG, or in one of its attributes."""
    return _escaped(visible(text), at_start=False).replace('"', "&#34;").replace("'", "&#39;")


def content_policy(*, style: str, script: str = "") -> str:
    """The value of `Content-Security-Policy` for a page that holds these texts inline, byte for byte: nothing else runs, nothing is loaded.

    Source: W3C Content Security Policy Level 3, "hash-source".
    """
    policy = f"default-src 'none'; base-uri 'none'; form-action 'none'; style-src {_digest(style)}"
    return f"{policy}; script-src {_digest(script)}" if script else policy


def _digest(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


def identifier(text: str) -> str:
    """An anchor or file name for a name: letters, digits, `_`, `.` and `-` stay, all else is spelled, what is long ends in a hash."""
    plain = _OUTSIDE_ID.sub(lambda found: f"+{ord(found[0]):x}+", text) or "empty"
    if len(plain) <= LONGEST_ID:
        return plain
    return f"{plain[: LONGEST_ID - 17]}+{hashlib.sha256(text.encode(errors='surrogatepass')).hexdigest()[:16]}"


def _escaped(text: str, *, at_start: bool) -> str:
    made: list[str] = []
    done = 0
    if at_start and (marker := _LINE_START.match(text)):
        done = marker.end()
        made += [text[: done - 1], _reference(text[done - 1])]
    for found in _SPECIAL.finditer(text, done):
        if _is_special(text, found.start()):
            made += [text[done : found.start()], _reference(found[0])]
            done = found.end()
    return "".join((*made, text[done:]))


def _is_special(text: str, index: int) -> bool:
    character, before, after = text[index], text[index - 1 : index], text[index + 1 : index + 2]
    if character == "_":
        return not (before.isalnum() and after.isalnum())
    if character == ":":  # addresses and emoji
        return bool(after) and not after.isspace()
    if character == ".":  # www.
        return text[max(index - 3, 0) : index].lower() == "www"
    return True


def _reference(character: str) -> str:
    return f"&#{ord(character)};"


def _json_escape(character: str) -> str:
    return dumps(character)[1:-1]
