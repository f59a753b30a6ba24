"""The search of the site: an index computed from the site generator's, so that a browser only has to look words up.

Pages are ranked by words in titles, paths and texts. The index handles parts of names, synonyms, ignored words, and pages with more
weight than others, which `search.json` of the templates defines. Each page has a tag for filtering: its protocol version, or its folder.
"""

from __future__ import annotations

import html
import json
import math
import posixpath
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any, Final

from acpgen import resources
from acpgen.errors import Faults
from acpgen.input.load import read_data
from acpgen.publish.faults import SITE_NOT_BUILT
from acpgen.publish.site.generator import ZENSICAL

FOUND: Final = "search.json"
"""The search index of the site generator."""

INDEX: Final = "assets/search-index.js"
TEXTS: Final = "assets/search-texts.js"
"""The files of the search: the index for ranking, and the texts from which results show excerpts."""

_VERSION: Final = "types.html"
"""The page that identifies the folder of a protocol version."""

_FIELDS: Final = (("title", 9.0), ("path", 3.0), ("keywords", 7.0), ("text", 1.0))
_WORD: Final = re.compile(r"-?\d{4,}|[\w$]+")
_HUMP: Final = re.compile(r"(?<=[a-z\d])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])|_+")
_END: Final = re.compile(r"(ss|us|is)$|ies$|(?:ing|ed|es|s)$")

_DIGITS: Final = "".join(chr(code) for code in range(35, 127) if chr(code) != "\\")
"""The digits of postings: characters that need no escape in JSON."""

_LEAST, _STEP = 0.05, 1.08
"""The weights of words are stored as exponents of the step, relative to the least weight."""

_OTHER: Final = SITE_NOT_BUILT(
    at="zensical", reason="its search has another form", remedy=f"Install zensical {ZENSICAL}, which was tested"
)


def make_files(source: str) -> Mapping[str, str]:
    """Make the files of the search from the site generator's index. Raises `Faults` if the index has an unexpected form."""
    settings = read_data(resources.locate_templates() / "docs" / "search.json")
    try:
        items: list[Mapping[str, Any]] = json.loads(source)["items"]
        locations = [str(item["location"]) for item in items]
        fields = [
            {
                "title": _remove_markup(item["title"]),
                "path": " / ".join(map(_remove_markup, item["path"])),
                "keywords": " ".join(_match(settings["keywords"], location)),
                "text": _remove_markup(item["text"]),
            }
            for item, location in zip(items, locations, strict=True)
        ]
    except (KeyError, TypeError, AttributeError, ValueError):
        raise Faults([_OTHER]) from None
    if not items:
        raise Faults([_OTHER])
    versions = {posixpath.dirname(location) for location in locations if posixpath.basename(location) == _VERSION}
    terms = _Terms(len(items))
    for number, values in enumerate(fields):
        terms.add(number, values)
    names, postings = zip(*sorted(terms.postings.items()), strict=True)
    index = {
        "locations": locations,
        "titles": [values["title"] for values in fields],
        "paths": [values["path"] for values in fields],
        "tags": [_find_tag(posixpath.dirname(location.partition("#")[0]), versions) for location in locations],
        "weights": [
            next(_match(settings["weights"], location), 1) * (1 if "#" in location else 1.6) for location in locations
        ],
        "terms": " ".join(names),
        "postings": postings,
        "width": terms.width,
        "least": _LEAST,
        "step": _STEP,
        "ignored": settings["ignored"],
        "synonyms": settings["synonyms"],
    }
    return {
        INDEX: f"var acpSearchIndex = {_dump(index)}\n",
        TEXTS: f"var acpSearchTexts = {_dump([values['text'] for values in fields])}\n",
    }


class _Terms:
    """The terms of the index, each with its postings: the number of an item in a fixed width, and the weight of the term there."""

    def __init__(self, count: int) -> None:
        self.postings: dict[str, str] = {}
        self.width = max(1, math.ceil(math.log(count, len(_DIGITS)))) if count > 1 else 1
        self._parts: dict[str, list[str]] = {}

    def add(self, number: int, values: Mapping[str, str]) -> None:
        weights: dict[str, float] = {}
        for field, factor in _FIELDS:
            counts: dict[str, int] = {}
            length = 0
            for word in _WORD.findall(values[field]):
                parts = self._parts.get(word) or self._parts.setdefault(word, [*map(_stem, _split(word))])
                length += max(1, len(parts) - 1)
                for part in parts:
                    counts[part] = counts.get(part, 0) + 1
            share = 1 / math.sqrt(max(1.0, length / 3))
            for term, times in counts.items():
                often = times / (times + 1.5) if field == "text" else share
                weights[term] = weights.get(term, 0.0) + factor * often
        digits = ""
        for _ in range(self.width):
            number, digit = divmod(number, len(_DIGITS))
            digits = _DIGITS[digit] + digits
        for term, weight in weights.items():
            level = round(math.log(weight / _LEAST, _STEP))
            self.postings[term] = self.postings.get(term, "") + digits + _DIGITS[max(0, min(len(_DIGITS) - 1, level))]


def _split(word: str) -> Sequence[str]:
    """Split a word: the whole word, and the parts of camelCase and snake_case."""
    parts = [part.lower() for part in _HUMP.split(word) if part]
    return [word.lower(), *parts] if len(parts) > 1 else [word.lower()]


def _stem(word: str) -> str:
    if len(word) < 5:
        return word
    return _END.sub(lambda end: end[1] or ("y" if end[0] == "ies" else ""), word, count=1)


def _remove_markup(text: str) -> str:
    return " ".join(html.unescape(re.sub(r"<[^>]*>", " ", re.sub(r"</?(?:code|strong|em)>", "", text))).split())


def _match(patterns: Sequence[tuple[str, Any]], location: str) -> Iterator[Any]:
    return (value for pattern, value in patterns if re.search(pattern, location))


def _dump(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def _find_tag(folder: str, versions: Collection[str]) -> str:
    """The tag of the pages in a folder: their protocol version, otherwise the first folder of the path."""
    above = folder
    while above and above not in versions:
        above = posixpath.dirname(above)
    return above or folder.partition("/")[0]
