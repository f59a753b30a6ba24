"""Escaping of text, so that it never becomes markup. `Markdown` is markup; everything else on a page passes `write_prose`, `write_code` or
`escape_line`.

Each character that Markdown or HTML could read as markup becomes a numeric character reference, which no Markdown parser treats as
syntax. A pair of backticks in prose still makes a code span, because this module writes that span itself.
"""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Iterable, Iterator
from typing import Any, Final

from acpgen import ir
from acpgen.errors import make_visible
from acpgen.input.numbers import dumps

_SPAN: Final = re.compile(r"`([^`\n]+)`")
_SPECIAL: Final = re.compile(r"[\\`*_{}\[\]<>&|~$@#:.]")
"""Characters that may need escaping, some of them only beside certain others."""

_LINE_START: Final = re.compile(r"[-+:=]|\d+[.)]")
_PLAIN_CODE: Final = re.compile(r"[A-Za-z0-9_.,:;/$()#@%?!+*=\"'\[\]{} -]+")
_NOT_IN_CODE: Final = re.compile(r"://|\]:")
"""URLs, and what would turn a line that begins with a bracket into a link definition."""
_OUTSIDE_ID: Final = re.compile(r"[^A-Za-z0-9_.-]")
LONGEST_ID: Final = 96
_WIDTH: Final = 100
"""The maximum number of characters in a line of an example."""


class Markdown(str):
    """Markdown that this package wrote. Concatenation with other text gives a plain string again, on purpose."""

    __slots__ = ()


def finalize(value: object) -> str:
    """What a template outputs for a value: Markdown unchanged, anything else as prose."""
    assert value is not None, "a template asked for text that is not there"
    return value if isinstance(value, Markdown) else write_prose(str(value))


def write_prose(text: str) -> Markdown:
    """Text of a schema on one line, with spans in backticks as code."""
    line = make_visible(" ".join(text.split()))
    parts: list[str] = []
    end = 0
    for span in _SPAN.finditer(line):
        parts += [_escape(line[end : span.start()], at_start=end == 0), write_code(span[1])]
        end = span.end()
    parts.append(_escape(line[end:], at_start=end == 0))
    return Markdown("".join(parts))


def escape_line(text: str) -> Markdown:
    """Text on one line, literally: a backtick in it is a backtick."""
    return Markdown(_escape(make_visible(text), at_start=True))


_LITERAL: Final = re.compile(r"(?<![\w'])'(?:[^'\\]|\\.)+'(?![\w'])")
_ESCAPED: Final = re.compile(r"\\(['\\])")


def write_message(message: str) -> Markdown:
    """A message of the compatibility check as plain text, in which names and patterns quoted in Python's style become code."""
    line = make_visible(message)
    parts: list[str] = []
    end = 0
    for match in _LITERAL.finditer(line):
        parts += [
            _escape(line[end : match.start()], at_start=end == 0),
            write_code(_ESCAPED.sub(r"\1", match[0][1:-1])),
        ]
        end = match.end()
    return Markdown("".join((*parts, _escape(line[end:], at_start=end == 0))))


def write_paragraphs(text: str) -> Markdown:
    """Text of a schema, with empty lines between paragraphs."""
    parts = [write_prose(part) for part in re.split(r"\n\s*\n", text) if part.strip()]
    return Markdown("\n\n".join(parts))


def take_first_sentence(text: str) -> Markdown:
    """The first sentence of a description, for lists."""
    return write_prose(next(split_sentences(text), ""))


_SPAN_OR_STOP: Final = re.compile(r"`[^`]*`|\.(?=\s|$)")


def split_sentences(text: str) -> Iterator[str]:
    """The sentences of a description, each on one line. A full stop in a code span, or without a space after it, does not end a
    sentence.
    """
    line, start = " ".join(text.split()), 0
    for match in _SPAN_OR_STOP.finditer(line):
        if match[0] == ".":
            yield line[start : match.end()].strip()
            start = match.end()
    tail = line[start:].strip()
    if tail:
        yield tail


def write_code(text: str) -> Markdown:
    """Text as a code span, identical inside and outside of tables."""
    printable = make_visible(text)
    if _PLAIN_CODE.fullmatch(printable) and printable == printable.strip() and not _NOT_IN_CODE.search(printable):
        return Markdown(f"`{printable}`")
    return Markdown(f"<code>{_escape(printable, at_start=False) or '&#8203;'}</code>")


def write_value(item: ir.JSON) -> Markdown:
    """A JSON value as a code span."""
    return write_code(dumps(item, ensure_ascii=False))


def write_block(item: ir.JSON) -> Markdown:
    """A JSON value as a fenced block, on one line if it fits."""
    return write_blocks([item])


def write_blocks(items: Iterable[Any]) -> Markdown:
    """JSON values in one fenced block, one after another: each on one line if it fits, a small message on two."""
    text = "\n".join(_write_two_lines(item) or _fill_lines(item) for item in items)
    return write_code_block("".join(c if c.isprintable() or c == "\n" else _escape_json(c) for c in text), "json")


def _write_two_lines(item: ir.JSON) -> str:
    """A message with its payload on a second line; empty if the value is not a message, fits into one line, or does not fit into two."""
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


def _fill_lines(item: ir.JSON, indent: str = "", offset: int = 0) -> str:
    """A JSON value in lines that are as full as possible; `offset` is the number of characters beside its first line."""
    line = dumps(item, ensure_ascii=False)
    if not isinstance(item, list | dict) or len(indent) + offset + len(line) <= _WIDTH:
        return line
    inner = f"{indent}  "
    members = (
        [("", member) for member in item]
        if isinstance(item, list)
        else [(f"{dumps(k, ensure_ascii=False)}: ", v) for k, v in item.items()]
    )
    rows: list[str] = []
    for index, (key, member) in enumerate(members):
        row = f"{key}{_fill_lines(member, inner, len(key) + 1)}"
        is_packed = (
            index > 0 and not isinstance(member, list | dict) and not isinstance(members[index - 1][1], list | dict)
        )
        if is_packed and len(inner) + len(rows[-1]) + len(row) + 3 <= _WIDTH:
            rows[-1] += f", {row}"
        else:
            rows.append(row)
    opening, closing = "{}" if isinstance(item, dict) else "[]"
    between = f",\n{inner}"
    return f"{opening}\n{inner}{between.join(rows)}\n{indent}{closing}"


def write_code_block(text: str, language: str) -> Markdown:
    """Text as a code block."""
    fence = choose_fence(text)
    return Markdown(f"{fence}{language}\n{text}\n{fence}")


def choose_fence(text: str) -> str:
    """A fence that is longer than any run of backticks in the text."""
    return "`" * max(3, 1 + max((len(run) for run in re.findall("`+", text)), default=0))


def escape_html(text: str) -> str:
    """Text escaped for an element of HTML or SVG, or for one of its attributes."""
    return _escape(make_visible(text), at_start=False).replace('"', "&#34;").replace("'", "&#39;")


def write_content_policy(*, style: str, script: str = "") -> str:
    """The value of `Content-Security-Policy` for a page with this inline style and script, byte for byte: nothing else runs, nothing is
    loaded.

    Source: W3C Content Security Policy Level 3, "hash-source".
    """
    policy = f"default-src 'none'; base-uri 'none'; form-action 'none'; style-src {_hash(style)}"
    return f"{policy}; script-src {_hash(script)}" if script else policy


def _hash(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


def make_identifier(text: str) -> str:
    """An anchor or file name for a name: letters, digits, `_`, `.` and `-` stay, others become code points, and long names end with a
    hash.
    """
    plain = _OUTSIDE_ID.sub(lambda match: f"+{ord(match[0]):x}+", text) or "empty"
    if len(plain) <= LONGEST_ID:
        return plain
    return f"{plain[: LONGEST_ID - 17]}+{hashlib.sha256(text.encode(errors='surrogatepass')).hexdigest()[:16]}"


def _escape(text: str, *, at_start: bool) -> str:
    parts: list[str] = []
    position = 0
    if at_start and (marker := _LINE_START.match(text)):
        position = marker.end()
        parts += [text[: position - 1], _write_reference(text[position - 1])]
    for match in _SPECIAL.finditer(text, position):
        if _is_special(text, match.start()):
            parts += [text[position : match.start()], _write_reference(match[0])]
            position = match.end()
    return "".join((*parts, text[position:]))


def _is_special(text: str, index: int) -> bool:
    character, before, after = text[index], text[index - 1 : index], text[index + 1 : index + 2]
    if character == "_":
        return not (before.isalnum() and after.isalnum())
    if character == ":":  # addresses and emoji
        return bool(after) and not after.isspace()
    if character == ".":  # www.
        return text[max(index - 3, 0) : index].lower() == "www"
    return True


def _write_reference(character: str) -> str:
    return f"&#{ord(character)};"


def _escape_json(character: str) -> str:
    return dumps(character)[1:-1]
