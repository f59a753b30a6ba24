"""The docs of the project in the form that the site generator reads: pages with their heads, configuration, theme and scripts."""

from __future__ import annotations

import html
import json
import re
from collections.abc import Mapping, Sequence
from typing import Any, Final
from urllib.parse import quote

from acpgen import resources
from acpgen.config import SiteSettings
from acpgen.config.docs_inputs import title
from acpgen.errors import visible
from acpgen.files import Files
from acpgen.publish.pages import INDEX, Entry
from acpgen.publish.site.generator import CONFIGURATION

WHOLE: Final = "single-file.md"

PAGES: Final = "docs"
"""The folder of the pages."""

_LEFT_OUT: Final = ("theme/partials/javascripts/palette.html", "theme/partials/javascripts/content.html")
"""Parts of the theme without which pages do: `theme.js` has the first, and no page has tabs that the second opens."""

_MARKS: Final = re.compile(r"(?<=\S) \{ (?:data-search-exclude|#[\w.+-]+) \}$", re.MULTILINE)
"""The mark at the end of a heading, for the search or with its anchor. No text of a schema makes one: a brace in it is a character
reference.
"""


LONGEST: Final = 160
"""What search engines show of a description, in characters."""

_CODE: Final = re.compile(r"^(```+|~~~+).*?^\1\s*$", re.MULTILINE | re.DOTALL)
_NO_PROSE: Final = re.compile(r"[#|>*+<`-]|\d+\. |!\[|Versions: |\s{4}")
"""What a block begins with that is no paragraph: headings, tables, lists, HTML, fences, and the switch between versions."""

_LINK: Final = re.compile(r"!?\[([^\]]*)\]\([^)]*\)")
_TAG: Final = re.compile(r"<[^>]*>|\{[^}]*\}")
_MARK: Final = re.compile(r"[`*]|\\(?=\W)|(?<!\w)_|_(?!\w)")


def lay_out_site(
    documents: Files,
    navigation: Sequence[Entry],
    address: SiteSettings,
    edited: Mapping[str, str],
    scripts: Files,
    *,
    is_draft: bool = False,
) -> Files:
    """The files that the site generator reads; in a draft, pages are not described."""
    source = resources.templates() / "docs" / "site"
    shown = {path: text for path, text in documents.items() if not _is_for_machines(path)}
    above = write_heads(shown, address, edited, is_draft=is_draft)
    laid = {f"{PAGES}/{path}": head + documents[path] for path, head in above.items()}
    files = (path for path in sorted(source.rglob("*")) if path.is_file())
    given = {path.relative_to(source).as_posix(): path.read_text("utf-8") for path in files}
    given |= {f"{PAGES}/assets/{path}": text for path, text in scripts.items()}
    given |= dict.fromkeys(_LEFT_OUT, "")
    settings = {"INHERIT": "base.yml", "site_name": _name_section(documents), "nav": _nest(navigation)}
    settings |= {"site_url": address.url} if address.url else {}
    return {**laid, **given, CONFIGURATION: json.dumps(settings, indent=1)}


def name_text_file(page: str) -> str:
    """A page beside its HTML, as Markdown for machines: without the marks for the site."""
    return _MARKS.sub("", page)


def _is_for_machines(path: str) -> bool:
    return path.endswith((".js", ".json")) or path.rpartition("/")[2] in (WHOLE, "llms.txt")


def _name_section(documents: Files) -> str:
    """What the site calls itself: the title of its home page."""
    return _write_page(title(documents.get(INDEX, "")) or "Protocols")


def _nest(entries: Sequence[Entry]) -> list[Mapping[str, Any]]:
    """Navigation as the site generator reads it."""
    return [{_write_page(head): below if isinstance(below, str) else _nest(below)} for head, below in entries]


def _write_page(text: str) -> str:
    """A title as it stands in the site generator's file: text to it, which it puts into HTML unescaped."""
    return html.escape(visible(text))


# --- the lines above a page ------------------------------------------------------------------------------------------


def write_heads(
    documents: Files, address: SiteSettings, edited: Mapping[str, str], *, is_draft: bool = False
) -> Mapping[str, str]:
    """What stands above each page, by its path.

    A draft is described by its path alone: the site generator makes every page again when the description of one differs.
    """
    descriptions = {path: path for path in documents} if is_draft else _find_descriptions(documents)
    return {path: _write_head(descriptions[path], address, edited.get(path)) for path in documents}


def describe_page(text: str) -> str:
    """What a page is about, in one line of plain text: its title and the beginning of its first paragraph."""
    head = _remove_markup(title(text) or "")
    blocks = (" ".join(block.split()) for block in re.split(r"\n\s*\n", _CODE.sub("", text)))
    said = next((_remove_markup(block) for block in blocks if block and not _NO_PROSE.match(block)), "")
    return _shorten(f"{head}: {said}" if head and said else head or said)


def _find_descriptions(documents: Files) -> Mapping[str, str]:
    """The description of each page. Pages that would say the same name themselves."""
    descriptions = {path: describe_page(text) for path, text in documents.items()}
    counts: dict[str, int] = {}
    for each in descriptions.values():
        counts[each] = counts.get(each, 0) + 1
    return {
        path: each if each and counts[each] == 1 else _shorten(f"{path.removesuffix('.md')}: {each}".strip(": "))
        for path, each in descriptions.items()
    }


def _write_head(said: str, address: SiteSettings, source: str | None) -> str:
    """The lines above a page. The site generator puts them into HTML as they are."""
    lines = [f"description: {json.dumps(html.escape(said), ensure_ascii=False)}"]
    if address.source and source is not None:
        lines.append(f"edit: {json.dumps(html.escape(address.source + quote(source)), ensure_ascii=False)}")
    return "\n".join(("---", *lines, "---", "", ""))


def _remove_markup(text: str) -> str:
    """Markdown of a line as plain text."""
    return html.unescape(_MARK.sub("", _TAG.sub("", _LINK.sub(r"\1", text)))).strip()


def _shorten(text: str) -> str:
    """A text of at most `LONGEST` characters: cut between words."""
    if len(text) <= LONGEST:
        return text
    return text[: LONGEST - 1].rpartition(" ")[0].rstrip(",;:.") + "…"
