"""What stands above each page for the site generator: one description for each page, and the link by which its source is edited."""

from __future__ import annotations

import html
import json
import re
from collections.abc import Mapping
from typing import Final
from urllib.parse import quote

from acpgen.config import SiteSettings
from acpgen.config.docs_inputs import title
from acpgen.files import Files

LONGEST: Final = 160
"""What search engines show of a description, in characters."""

_CODE: Final = re.compile(r"^(```+|~~~+).*?^\1\s*$", re.MULTILINE | re.DOTALL)
_NO_PROSE: Final = re.compile(r"[#|>*+<`-]|\d+\. |!\[|Versions: |\s{4}")
"""What a block begins with that is no paragraph: headings, tables, lists, HTML, fences, and the switch between versions."""

_LINK: Final = re.compile(r"!?\[([^\]]*)\]\([^)]*\)")
_TAG: Final = re.compile(r"<[^>]*>|\{[^}]*\}")
_MARK: Final = re.compile(r"[`*]|\\(?=\W)|(?<!\w)_|_(?!\w)")


def heads(
    documents: Files, address: SiteSettings, edited: Mapping[str, str], *, is_draft: bool = False
) -> Mapping[str, str]:
    """What stands above each page, by its path.

    A draft is described by its path alone: the site generator makes every page again when the description of one differs.
    """
    told = {path: path for path in documents} if is_draft else _find_descriptions(documents)
    return {path: _head(told[path], address, edited.get(path)) for path in documents}


def description(text: str) -> str:
    """What a page is about, in one line of plain text: its title and the beginning of its first paragraph."""
    head = _plain(title(text) or "")
    blocks = (" ".join(block.split()) for block in re.split(r"\n\s*\n", _CODE.sub("", text)))
    said = next((_plain(block) for block in blocks if block and not _NO_PROSE.match(block)), "")
    return _short(f"{head}: {said}" if head and said else head or said)


def _find_descriptions(documents: Files) -> Mapping[str, str]:
    """The description of each page. Pages that would say the same name themselves."""
    told = {path: description(text) for path, text in documents.items()}
    counts: dict[str, int] = {}
    for each in told.values():
        counts[each] = counts.get(each, 0) + 1
    return {
        path: each if each and counts[each] == 1 else _short(f"{path.removesuffix('.md')}: {each}".strip(": "))
        for path, each in told.items()
    }


def _head(said: str, address: SiteSettings, source: str | None) -> str:
    """The lines above a page. The site generator puts them into HTML as they are."""
    lines = [f"description: {json.dumps(html.escape(said), ensure_ascii=False)}"]
    if address.source and source is not None:
        lines.append(f"edit: {json.dumps(html.escape(address.source + quote(source)), ensure_ascii=False)}")
    return "\n".join(("---", *lines, "---", "", ""))


def _plain(text: str) -> str:
    """Markdown of a line as plain text."""
    return html.unescape(_MARK.sub("", _TAG.sub("", _LINK.sub(r"\1", text)))).strip()


def _short(text: str) -> str:
    """A text of at most `LONGEST` characters: cut between words."""
    if len(text) <= LONGEST:
        return text
    return text[: LONGEST - 1].rpartition(" ")[0].rstrip(",;:.") + "…"
