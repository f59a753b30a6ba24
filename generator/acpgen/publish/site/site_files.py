"""The docs of the project as input of the site generator: pages with front matter, configuration, theme and scripts."""

from __future__ import annotations

import html
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final
from urllib.parse import quote

from acpgen import resources
from acpgen.config import SiteSettings
from acpgen.config.docs_inputs import read_title
from acpgen.errors import make_visible
from acpgen.files import Files
from acpgen.publish.pages import INDEX, Entry
from acpgen.publish.project_pages import MACHINES
from acpgen.publish.site.generator import CONFIGURATION
from acpgen.targets.docs.page_paths import WHOLE

PAGES: Final = "docs"
"""The folder of the pages."""

_LEFT_OUT: Final = ("theme/partials/javascripts/palette.html", "theme/partials/javascripts/content.html")
"""Parts of the theme that are replaced by nothing: `theme.js` covers the first, and no page has the tabs that the second is for."""

_MARKS: Final = re.compile(r"(?<=\S) \{ (?:data-search-exclude|#[\w.+-]+) \}$", re.MULTILINE)
"""The mark at the end of a heading, for the search or with its anchor.

No text of a schema can contain it: braces in texts are written as character references.
"""


LONGEST: Final = 160
"""The number of characters of a description that search engines show."""

_CODE: Final = re.compile(r"^(```+|~~~+).*?^\1\s*$", re.MULTILINE | re.DOTALL)
_NO_PROSE: Final = re.compile(r"[#|>*+<`-]|\d+\. |!\[|Versions: |\s{4}")
"""The beginnings of blocks that are not paragraphs: headings, tables, lists, HTML, fences, and the version switch."""

_LINK: Final = re.compile(r"!?\[([^\]]*)\]\([^)]*\)")
_TAG: Final = re.compile(r"<[^>]*>|\{[^}]*\}")
_MARK: Final = re.compile(r"[`*]|\\(?=\W)|(?<!\w)_|_(?!\w)")


@dataclass(frozen=True, slots=True)
class Docs:
    """The content of a site before conversion for the site generator: pages and other files, and the navigation.

    `edited` has the source file of the project for each page, `scripts` the scripts that pages load.
    """

    documents: Files
    navigation: Sequence[Entry]
    edited: Mapping[str, str] = field(default_factory=dict[str, str])
    scripts: Files = field(default_factory=dict[str, str])

    def lay_out(self, address: SiteSettings, *, is_draft: bool = False) -> Files:
        """The input files of the site generator; in a draft, pages have no real descriptions."""
        source = resources.locate_templates() / "docs" / "site"
        pages = {path: text for path, text in self.documents.items() if not _is_for_machines(path)}
        above = write_heads(pages, address, self.edited, is_draft=is_draft)
        page_files = {f"{PAGES}/{path}": head + pages[path] for path, head in above.items()}
        files = (path for path in sorted(source.rglob("*")) if path.is_file())
        assets = {path.relative_to(source).as_posix(): path.read_text("utf-8") for path in files}
        assets |= {f"{PAGES}/assets/{path}": text for path, text in self.scripts.items()}
        assets |= dict.fromkeys(_LEFT_OUT, "")
        title = _write_title(read_title(self.documents.get(INDEX, "")) or "Protocols")
        settings = {"INHERIT": "base.yml", "site_name": title, "nav": _nest(self.navigation)}
        settings |= {"site_url": address.url} if address.url else {}
        return {**page_files, **assets, CONFIGURATION: json.dumps(settings, indent=1)}


def name_text_file(page: str) -> str:
    """The Markdown of a page for machines, served beside its HTML: without the marks for the site."""
    return _MARKS.sub("", page)


def _is_for_machines(path: str) -> bool:
    return path.endswith((".js", ".json")) or path.rpartition("/")[2] in (WHOLE, MACHINES)


def _nest(entries: Sequence[Entry]) -> list[Mapping[str, Any]]:
    """Convert the navigation to the form of the site generator."""
    return [{_write_title(head): below if isinstance(below, str) else _nest(below)} for head, below in entries]


def _write_title(text: str) -> str:
    """Escape a title for the site generator's configuration: the generator inserts it into HTML unescaped."""
    return html.escape(make_visible(text))


# --- the lines above a page ------------------------------------------------------------------------------------------


def write_heads(
    documents: Files, address: SiteSettings, edited: Mapping[str, str], *, is_draft: bool = False
) -> Mapping[str, str]:
    """Write the front matter of each page, by its path.

    In a draft, the description of a page is its path: the site generator rebuilds every page when one description changes.
    """
    descriptions = {path: path for path in documents} if is_draft else _find_descriptions(documents)
    return {path: _write_head(descriptions[path], address, edited.get(path)) for path in documents}


def describe_page(text: str) -> str:
    """Describe a page in one line of plain text: its title and the beginning of its first paragraph."""
    head = _remove_markup(read_title(text) or "")
    blocks = (" ".join(block.split()) for block in re.split(r"\n\s*\n", _CODE.sub("", text)))
    paragraph = next((_remove_markup(block) for block in blocks if block and not _NO_PROSE.match(block)), "")
    return _shorten(f"{head}: {paragraph}" if head and paragraph else head or paragraph)


def _find_descriptions(documents: Files) -> Mapping[str, str]:
    """The description of each page. Descriptions that would not be unique begin with the path of the page."""
    descriptions = {path: describe_page(text) for path, text in documents.items()}
    counts: dict[str, int] = {}
    for text in descriptions.values():
        counts[text] = counts.get(text, 0) + 1
    return {
        path: text if text and counts[text] == 1 else _shorten(f"{path.removesuffix('.md')}: {text}".strip(": "))
        for path, text in descriptions.items()
    }


def _write_head(description: str, address: SiteSettings, source: str | None) -> str:
    """Write the front matter of a page. The site generator inserts its values into HTML unescaped."""
    lines = [f"description: {json.dumps(html.escape(description), ensure_ascii=False)}"]
    if address.source and source is not None:
        lines.append(f"edit: {json.dumps(html.escape(address.source + quote(source)), ensure_ascii=False)}")
    return "\n".join(("---", *lines, "---", "", ""))


def _remove_markup(text: str) -> str:
    """Convert a line of Markdown to plain text."""
    return html.unescape(_MARK.sub("", _TAG.sub("", _LINK.sub(r"\1", text)))).strip()


def _shorten(text: str) -> str:
    """Shorten a text to at most `LONGEST` characters, cut between words."""
    if len(text) <= LONGEST:
        return text
    return text[: LONGEST - 1].rpartition(" ")[0].rstrip(",;:.") + "…"
