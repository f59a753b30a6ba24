"""Sample texts that suit a schema: by format, by examples of fields of the same name, by the field's name.

They are short and the same on every machine. The caller checks whether one is valid: limits and patterns are ignored here.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

from acpgen.input.walk import is_array, is_object, list_schemas
from acpgen.pointers import read_reference

OF_FORMAT: Final[Mapping[str, tuple[str, ...]]] = {
    **dict.fromkeys(("uri", "url", "iri"), ("https://example.com/text", "a:")),
    **dict.fromkeys(("uri-reference", "iri-reference"), ("https://example.com/text", "text", "")),
    **dict.fromkeys(("email", "idn-email"), ("text@example.com", "a@b.co")),
    **dict.fromkeys(("hostname", "idn-hostname"), ("example.com", "a")),
    "uri-template": ("https://example.com/{id}", "text", ""),
    "uuid": ("123e4567-e89b-42d3-a456-426614174000",),
    "date": ("2026-07-02",),
    "time": ("08:30:00Z",),
    "date-time": ("2026-07-02T08:30:00Z",),
    "duration": ("PT30S", "P1D"),
    "ipv4": ("192.0.2.1",),
    "ipv6": ("2001:db8::1", "::"),
    "json-pointer": ("/text", ""),
    "relative-json-pointer": ("0/text", "0"),
    "regex": ("^[a-z]+$", "a", ""),
    "absolute-path": ("/text", "/"),
    "byte": ("dGV4dA==", ""),
}
"""Texts of each format, the most typical first and the shortest last. Formats annotate, but some validators assert them."""

_PLAIN: Final = ("uri-reference", "iri-reference", "uri-template", "hostname", "idn-hostname", "regex")
_GROWING: Final = {
    **dict.fromkeys(_PLAIN, "{}"),
    **dict.fromkeys(("uri", "iri"), "a:{}"),
    **dict.fromkeys(("email", "idn-email"), "{}@b.co"),
    **dict.fromkeys(("json-pointer", "absolute-path"), "/{}"),
    "url": "https://example.com/{}",
    "relative-json-pointer": "0/{}",
}
"""Templates for longer texts of a format."""

_LONGEST: Final = {"email": 70, "idn-email": 70, "hostname": 63, "idn-hostname": 63}
"""The maximum number of characters, for formats that limit it."""

_OF_NAME: Final = {
    **dict.fromkeys(("cwd", "dir", "directory", "folder", "root", "workspace"), "/project"),
    **dict.fromkeys(("path", "file", "filename"), "/project/README.md"),
    **dict.fromkeys(("uri", "url", "href", "link", "iri"), "https://example.com/text"),
    **dict.fromkeys(("email", "mail"), "text@example.com"),
    **dict.fromkeys(("host", "hostname", "domain"), "example.com"),
    **dict.fromkeys(("timestamp", "datetime"), "2026-07-02T08:30:00Z"),
    "date": "2026-07-02",
    "uuid": "123e4567-e89b-42d3-a456-426614174000",
    "version": "1.0.0",
    "currency": "USD",
    "locale": "en",
    "language": "en",
}
"""Typical texts by the last word of a field's name."""

_WORDS: Final = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])")
_LONGEST_SHOWN: Final = 40


def suggest_for_format(format_: str | None, low: int = 0, high: int | None = None) -> Iterator[str]:
    """Yield texts of a format whose length is within limits; none for an unknown format."""
    room = low + 100 if high is None else high
    for text in OF_FORMAT.get(format_ or "", ()):
        if low <= len(text) <= room:
            yield text
    frame = _GROWING.get(format_ or "")
    if frame is not None:
        missing = max(low - len(frame) + 2, 1)
        grown = frame.format("e" * missing)
        if low <= len(grown) <= min(room, _LONGEST.get(format_ or "", room)):
            yield grown


def suggest_for_name(name: str) -> str | None:
    """A text for a field with this name: `session-1` for `sessionId`; `None` if the name suggests nothing."""
    words = [word.lower() for word in _WORDS.findall(name)]
    if not words:
        return None
    if words[-1] in ("id", "ids") and len(words) > 1:
        return f"{words[-2]}-1"
    if words[-2:] in (["mime", "type"], ["media", "type"]):
        return "text/plain"
    return _OF_NAME.get(words[-1]) or _OF_NAME.get(words[-1].removesuffix("s"))


def collect_examples(definitions: Mapping[str, Any]) -> Mapping[str, str]:
    """Examples in the schema by the name of the field: the first short text among `examples` and defaults."""
    text_by_name: dict[str, str] = {}
    for schema in (subschema for definition in definitions.values() for subschema in list_schemas(definition)):
        for name, field in schema.get("properties", {}).items():
            for text in _list_examples(field, definitions):
                text_by_name.setdefault(name, text)
    return text_by_name


def _list_examples(schema: Any, definitions: Mapping[str, Any]) -> Iterator[str]:
    if not is_object(schema):
        return
    referred = definitions.get(read_reference(schema["$ref"])) if "$ref" in schema else None
    for subschema in (schema, referred):
        if is_object(subschema):
            examples = subschema.get("examples")
            values = [*(examples if is_array(examples) else []), subschema.get("default")]
            yield from (value for value in values if isinstance(value, str) and 0 < len(value) <= _LONGEST_SHOWN)
