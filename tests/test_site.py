"""The built site, read as files and looked at in a real browser. Without Zensical or Chromium the tests say so and are skipped."""

from __future__ import annotations

import hashlib
import html
import json
import os
import posixpath
import re
import shutil
import socket
import subprocess
import sys
import time
from collections import Counter
from functools import cache
from html.parser import HTMLParser
from http.client import HTTPConnection
from pathlib import Path
from typing import Any
from urllib.error import HTTPError
from urllib.parse import unquote, urlsplit
from urllib.request import Request, urlopen

import jsonschema_rs
import pytest
from msgspec.structs import replace

import published
import tiers
from acpgen import cli, config, publish
from acpgen.errors import Faults
from acpgen.files.cache import Cache, Code
from acpgen.publish import site
from acpgen.publish.faults import SITE_NOT_BUILT
from acpgen.publish.site import generator, http_server, live, search_index, site_files
from browsing import ROOT, SCHEMES, SCREENSHOTS, Window, project

PROTOCOLS = ("acp/v1", "acp/v2", "mcp/2025-06-18")
JUDGED = ((400, "dark"), (1400, "light"))
"""Each width and each scheme once: what fits a window does not depend on colours, nor colours on the window."""

KINDS = (
    *(
        "index.html",
        "404.html",
        "acp/v1/index.html",
        "acp/v1/areas/file-system.html",
        "acp/v1/methods.html",
        "acp/v1/types.html",
    ),
    *("acp/v1/methods/session_prompt.html", "acp/v2/methods/session_load.html", "acp/v2/types/ContentBlock.html"),
    *("requirements/additional-directories.html", "api/index.html", "api/acp_session.permission.html"),
    *(
        "compatibility/required-field-added.html",
        "guides/write-an-agent.html",
        "monitor.html",
        "monitor/capabilities.html",
        "schemas.html",
        "lint.html",
        "judge.html",
    ),
    *("acp/migration-v1-v2.html", "acp/migration-v1-v2/permission.html", "acp/v2/changelog.html"),
    *("acp/v2/conversations/work.html", "mcp/changelog.html"),
    *(
        "acp/v1/messages.html",
        "acp/v1/errors.html",
        "acp/v1/capabilities.html",
        "acp/unstable/v1/methods/session_fork.html",
    ),
)
"""A page of each kind."""

HAND = ROOT / "schema" / "pages"
BY_HAND = {page.relative_to(HAND).with_suffix(".html").as_posix() for page in HAND.rglob("*.md")}
"""Pages that may name sources elsewhere."""

LOOKED_AT = (
    *("index.html", "acp/v1/index.html", "acp/v2/methods/session_new.html", "acp/v2/types/SessionUpdate.html"),
    *("acp/v1/capabilities.html", "acp/v1/errors.html", "acp/v1/types/ToolKind.html", "acp/changes-v1-v2.html"),
    *("acp/v1/changelog.html", "acp/v2/changelog.html", "acp/migration-v1-v2.html"),
    *(
        "compatibility.html",
        "monitor.html",
        "requirements.html",
        "judge.html",
        "mcp/changelog.html",
        "lint.html",
        "acp/v1/conversations/turn.html",
    ),
    *sorted(BY_HAND - {"index.html"}),
)


# --- the files -------------------------------------------------------------------------------------------------------


class Page(HTMLParser):
    """Ids, links and resources of a page."""

    def __init__(self) -> None:
        super().__init__()
        self.ids: list[str] = []
        self.links: list[str] = []
        self.resources: list[str] = []
        self.headings: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        found = {name: value or "" for name, value in attrs}
        if "id" in found:
            self.ids.append(found["id"])
            if re.fullmatch(r"h[1-6]", tag):
                self.headings.append(found["id"])
        if tag == "a" and "href" in found:
            self.links.append(found["href"])
        for name in ("src", "href"):
            if name in found and tag != "a":
                self.resources.append(found[name])


@cache
def parsed(path: Path) -> Page:
    page = Page()
    page.feed(path.read_text("utf-8"))
    return page


def drawn(folder: Path, *, whole: bool) -> dict[str, Page]:
    """Pages of the site, all or a sample, by path."""
    paths = sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*.html"))
    return {path: parsed(folder / path) for path in (paths if whole else [*KINDS, *tiers.draw(paths, 100)])}


@pytest.mark.parametrize("whole", tiers.EXTENTS)
def test_every_link_and_anchor_of_the_site_leads_somewhere(built: Path, whole: bool) -> None:
    """Only pages that are written by hand may name other places, for readers to go to, and those of requirements their documents."""
    requirements: dict[str, Any] = json.loads((ROOT / "schema" / "requirements.json").read_text("utf-8"))
    documents = tuple(each["url"] for each in requirements["documents"] if "url" in each)
    count = 0
    for path, page in drawn(built, whole=whole).items():
        if path == "404.html":  # it is shown at any address, so its own are absolute
            continue
        for link in page.links:
            parts = urlsplit(link)
            if parts.scheme == "https" and path in BY_HAND:
                continue
            if path.startswith("requirements/") and link.startswith(documents):
                continue
            assert not parts.scheme and not parts.netloc, f"{path}: {link}"
            target = (
                posixpath.normpath(posixpath.join(posixpath.dirname(path), unquote(parts.path))) if parts.path else path
            )
            target = "index.html" if target == "." else target
            assert (built / target).is_file(), f"{path}: {link}"
            if parts.fragment and not parts.fragment.startswith("__"):
                assert unquote(parts.fragment) in parsed(built / target).ids, f"{path}: {link}"
            count += 1
    assert count > (20_000 if whole else 2_000)


def test_an_element_stands_around_a_word_of_code_only_where_it_has_a_colour(installed: None) -> None:
    configuration = (ROOT / "templates/docs/site/base.yml").read_text("utf-8")
    name = re.search(r"^  - (\S+:Highlighting)\b", configuration, re.MULTILINE)
    assert name, "the site generator is not told"
    text = '{"a": [1, true, "<b>"],\n "c": {}}'
    page = pytest.importorskip("markdown").markdown(
        f"```json\n{text}\n```", extensions=[name[1], "pymdownx.superfences"]
    )
    assert re.findall(r'<span class="(\w+)">([^<]+)</span>', page) == [
        *(("nt", '"a"'), ("mi", "1"), ("kc", "true"), ("s2", '"&lt;b&gt;"')),
        ("nt", '"c"'),
    ]
    assert html.unescape(re.sub(r"<[^>]+>", "", page)).strip() == text


@pytest.mark.parametrize("whole", tiers.EXTENTS)
def test_no_page_asks_another_host_for_anything(built: Path, whole: bool) -> None:
    for path, page in drawn(built, whole=whole).items():
        for resource_ in page.resources:
            assert not re.match(r"(?:[a-z]+:)?//", resource_), f"{path}: {resource_}"
    for sheet in built.rglob("*.css"):
        assert not re.search(r"url\(\s*['\"]?(?:https?:)?//", sheet.read_text("utf-8")), sheet


@pytest.mark.parametrize("whole", tiers.EXTENTS)
def test_anchors_are_names_and_stand_once(built: Path, whole: bool) -> None:
    for path, page in drawn(built, whole=whole).items():
        assert not [name for name, count in Counter(page.ids).items() if count > 1], path
        # The site generator numbers headings that read alike.
        assert not [name for name in page.headings if re.search(r"_\d+$", name)], path


def test_no_page_is_above_a_megabyte_and_machines_have_their_files(built: Path) -> None:
    assert max(path.stat().st_size for path in built.rglob("*.html")) < site.LARGEST_PAGE
    assert sum(path.stat().st_size for path in built.rglob("*")) < 55_000_000
    for name in ("llms.txt", *(f"{name}/single-file.md" for name in PROTOCOLS)):
        assert (built / name).is_file()
    assert {f"{name}/single-file.md" for name in PROTOCOLS} <= set(markdown_links(built / "llms.txt"))


def markdown_links(path: Path) -> list[str]:
    """The relative links of a Markdown file, as paths from the folder above all."""
    text = re.sub(r"^```.*?^```$|`[^`\n]*`", "", path.read_text("utf-8"), flags=re.MULTILINE | re.DOTALL)
    return [unquote(link) for link in re.findall(r"\]\(([^)\s#]+)", text) if not link.startswith("https://")]


@pytest.mark.parametrize("where", ["site", "repository"])
def test_every_link_of_llms_txt_leads_to_a_file_on_the_site_and_in_the_repository(
    where: str, request: pytest.FixtureRequest
) -> None:
    folder: Path = request.getfixturevalue("built") if where == "site" else ROOT / "generated" / "docs"
    listed = markdown_links(folder / "llms.txt")
    assert len(listed) > 25
    assert not [link for link in listed if not (folder / link).is_file()]


def test_every_page_of_the_site_is_there_as_markdown_too_with_links_that_live(built: Path) -> None:
    """What llms.txt leads to leads on. Marks for the search of the site are not part of the text."""
    texts = [path for path in built.rglob("*.md") if path.name != "single-file.md"]
    assert {path.with_suffix(".html") for path in texts} == set(built.rglob("*.html")) - {built / "404.html"}
    for path in texts:
        assert "{ data-search-exclude }" not in path.read_text("utf-8"), path
        for link in markdown_links(path):
            assert (path.parent / link).is_file(), f"{path.relative_to(built)}: {link}"


@pytest.mark.exhaustive
def test_a_second_build_gives_equal_bytes(built: Path, tmp_path: Path) -> None:
    """But for the site map, which holds the day."""
    site.build(project(), tmp_path / "site")
    for path in built.rglob("*"):
        if path.is_file() and path.name != "sitemap.xml":
            assert path.read_bytes() == (tmp_path / "site" / path.relative_to(built)).read_bytes(), path


SMALL = {
    "index.md": "# Home\n\nIt *is* `a_b`, [home](other.md).\n",
    "other.md": '# `x` in y\n\nVersions: **y**\n\n| F |\n| --- |\n| `x` |\n\nSaid of "it" & more. ' + "word " * 60,
}
NAVIGATION: list[publish.Entry] = [("Home", "index.md"), ("Other", "other.md")]


def head_of(page: str) -> dict[str, str]:
    """What stands in the head of a page, by name or relation."""
    metas = re.findall(r'<meta (?:name|property)="([^"]+)" content="([^"]*)">', page)
    links = re.findall(r'<link rel="(canonical|alternate)"[^>]* href="([^"]*)">', page)
    return {name: html.unescape(value) for name, value in (*metas, *links)}


def test_a_site_with_an_address_says_on_each_page_where_it_stands_and_lists_all_pages(installed: None) -> None:
    address = config.SiteSettings("https://example.com/docs/", "https://example.com/edit/main/")
    files = site.make_files(site_files.Docs(SMALL, NAVIGATION, {"other.md": "schema/a b.json"}), address)
    head = head_of(files["other.html"])
    assert head["canonical"] == head["og:url"] == "https://example.com/docs/other.html"
    assert head["description"] == head["og:description"]
    assert head["description"].startswith('x in y: Said of "it" & more. word') and len(head["description"]) <= 160
    assert head["alternate"] == "other.md" and head["og:title"] == "Other"
    assert re.findall("<loc>(.*)</loc>", files["sitemap.xml"]) == [
        f"https://example.com/docs/{name}.html" for name in ("index", "other")
    ]
    assert 'href="https://example.com/edit/main/schema/a%20b.json" rel="edit"' in files["other.html"]
    assert 'rel="edit"' not in files["index.html"]


def test_a_site_without_an_address_has_no_site_map_and_no_canonical_address(built: Path) -> None:
    assert not (built / "sitemap.xml").exists()
    assert 'rel="canonical"' not in (built / "index.html").read_text("utf-8")


def test_each_schema_is_downloaded_with_its_size_and_checksum_and_the_strict_one_judges_alike(built: Path) -> None:
    page = (built / "schemas.md").read_text("utf-8")
    offered = re.findall(r'<a href="([^"]+)" download="([^"]+)">[^<]+</a> \((\d+) kB\)', page)
    told = {
        saved: digest
        for digest, saved in (
            line.split("  ") for line in page.partition("```text\n")[2].partition("```")[0].splitlines()
        )
    }
    assert len(offered) == 3 * len(published.all_versions()) and told.keys() == {saved for _, saved, _ in offered}
    for path, saved, size in offered:
        content = (built / path).read_bytes()
        assert hashlib.sha256(content).hexdigest() == told[saved], path
        assert abs(len(content) / 1000 - int(size)) <= 1, path
    for folder in {posixpath.dirname(path) for path, _, _ in offered}:
        whole, strict = (
            json.loads((built / folder / name).read_text("utf-8")) for name in ("schema.json", "strict.json")
        )
        assert whole["$defs"].keys() == strict["$defs"].keys()
        judges = [
            jsonschema_rs.Draft202012Validator(
                {"$defs": each["$defs"], "properties": {name: {"$ref": f"#/$defs/{name}"} for name in each["$defs"]}}
            )
            for each in (whole, strict)
        ]
        for name, definition in whole["$defs"].items():
            examples: list[Any] = definition.get("examples", [])
            lessened = [{key: each[key] for key in each if key != gone} for each in examples for gone in _keys(each)]
            values: list[Any] = [*examples, *lessened, None, "", 1, {}, []]
            verdicts = [[judge.is_valid({name: value}) for value in values] for judge in judges]
            assert verdicts[0] == verdicts[1] and all(verdicts[1][: len(examples)]), (folder, name)


def _keys(value: Any) -> list[str]:
    return [*value] if isinstance(value, dict) else []


def test_the_home_page_leads_each_reader_to_pages_and_lists_none_twice(built: Path) -> None:
    page = (built / "index.md").read_text("utf-8")
    head, more = page.partition("\n## More\n")[::2]
    readers = re.findall(r"^### You (.+)$", head, re.MULTILINE)
    assert len(readers) == 5
    linked = re.findall(r"\]\(([^)#]+)\)", head)
    listed = re.findall(r"^- \[.+\]\((.+)\)$", more, re.MULTILINE)
    assert listed and not set(listed) & set(linked)
    by_hand = {Path(path).with_suffix(".md").as_posix() for path in BY_HAND} - {"index.md"}
    assert by_hand <= {*linked}, "pages by hand that no reader is led to"


def test_the_page_for_what_is_missing_leads_home(built: Path) -> None:
    text = (built / "404.html").read_text("utf-8")
    assert "<h1>Page not found</h1>" in text
    assert re.search(r'<a href="[^"]*index\.html">home page</a>', text)


def test_every_page_has_a_description_of_its_own(built: Path) -> None:
    pages = [path for path in built.rglob("*.html") if path.name != "404.html"]
    said = {path: head_of(path.read_text("utf-8")).get("description", "") for path in pages}
    assert not [path for path, text in said.items() if not 10 < len(text) <= 160]
    assert len(set(said.values())) == len(said)


@pytest.mark.parametrize(
    ("path", "title"),
    [
        ("acp/v1/types/ToolKind", "ToolKind, acp/v1"),
        ("acp/unstable/v1/methods/session_fork", "session/fork, acp/unstable/v1"),
        ("guides/cancel", "Cancel, Build an agent"),
        ("acp/migration-v1-v2/permission", "Permission, acp/v1 to acp/v2: migration guide"),
    ],
)
def test_the_title_of_a_page_says_what_it_is_about(built: Path, path: str, title: str) -> None:
    assert f"<title>{title} - " in (built / f"{path}.html").read_text("utf-8")


def test_a_build_without_a_change_makes_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[str] = []

    def files(docs: site_files.Docs, *_: Any) -> dict[str, str]:
        made.append("")
        return {"index.html": docs.documents["index.md"]}

    monkeypatch.setattr(site, "make_files", files)
    shutil.copytree(ROOT / "schema" / "mcp", tmp_path / "schema" / "mcp")
    (tmp_path / "pyproject.toml").write_text(
        '[tool.acpgen.outputs.docs]\ntarget = "docs"\nprotocols = ["mcp/2025-06-18"]\n'
    )
    cache = Cache(tmp_path / "cache")

    def build() -> int:
        site.build(config.find(tmp_path), tmp_path / "site", cache)
        return len(made)

    assert [build(), build()] == [1, 1]
    (tmp_path / "schema" / "pages").mkdir()
    (tmp_path / "schema" / "pages" / "more.md").write_text("# More\n")
    assert [build(), build()] == [2, 2]
    (tmp_path / "site" / "index.html").write_text("damaged")
    assert [build(), build()] == [3, 3]


def test_a_page_that_leads_nowhere_stops_the_build(installed: None) -> None:
    with pytest.raises(Faults) as caught:
        site.make_files(site_files.Docs({"index.md": "# Home\n\n[gone](gone.md)\n"}, [("Home", "index.md")]))
    (fault,) = caught.value.faults
    assert fault.kind == SITE_NOT_BUILT and "gone.md" in str(fault)


def test_a_page_that_is_too_large_stops_the_build(installed: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(site, "LARGEST_PAGE", 50_000)
    with pytest.raises(Faults, match="bytes, and the limit is 50000"):
        site.make_files(site_files.Docs({"index.md": "# Home\n\n" + "word " * 12_500}, [("Home", "index.md")]))


def test_another_version_of_the_site_generator_is_a_fault(monkeypatch: pytest.MonkeyPatch) -> None:
    def other(name: str) -> str:
        return "99.0"

    monkeypatch.setattr(generator, "version", other)
    with pytest.raises(Faults, match=r"and 99\.0 is installed.*pip install 'acpgen\[docs\]'"):
        site.make_files(site_files.Docs({}, []))


@pytest.mark.parametrize(
    ("found", "is_taken", "is_told"),
    [
        ("0.0.72", False, False),
        ("0.0.73", True, False),
        ("0.0.74", True, True),
        ("0.1.3", True, True),
        ("0.2.0", False, False),
        ("none", False, False),
    ],
)
def test_a_newer_site_generator_is_taken_and_told(
    found: str, is_taken: bool, is_told: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    def version(_: str) -> str:
        return found

    monkeypatch.setattr(generator, "version", version)
    if is_taken:
        assert bool(generator.warn_untested(generator.require_generator())) == is_told
    else:
        with pytest.raises(Faults, match=r"from 0\.0\.73 on and below 0\.2"):
            generator.require_generator()


def test_a_search_of_another_form_is_a_fault() -> None:
    for index in ("", "{}", "[]", '{"config": {}, "items": [{}]}', '{"config": {}, "items": []}'):
        with pytest.raises(Faults, match="its search has another form"):
            search_index.make_files(index)


def test_what_refuses_a_site_is_told_before_the_work(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def work(*_: Any) -> Any:
        raise AssertionError("the work has begun")

    monkeypatch.setattr(site, "make_docs", work)
    monkeypatch.setattr(generator, "require_generator", lambda: generator.ZENSICAL)
    monkeypatch.setattr(site, "hash_all_code", lambda: Code("", ()))
    shutil.copytree(ROOT / "schema" / "mcp", tmp_path / "schema" / "mcp")
    (tmp_path / "pyproject.toml").write_text(
        '[tool.acpgen.outputs.docs]\ntarget = "docs"\nprotocols = ["mcp/2025-06-18"]\n'
    )
    with pytest.raises(Faults, match="not empty"):
        site.build(config.find(tmp_path), tmp_path / "schema")
    with http_server.serve_folder(tmp_path) as address, pytest.raises(Faults, match="--port N"):
        site.serve(lambda: config.find(tmp_path), urlsplit(address).port or 0, print, print)


def test_a_project_without_docs_is_a_fault() -> None:
    with pytest.raises(Faults, match="no output has the target docs"):
        site.read_inputs(config.Config(ROOT))


def test_the_site_is_served_on_the_loopback_interface_alone(tmp_path: Path) -> None:
    (tmp_path / "index.html").write_text("<p>x")
    with http_server.serve_folder(tmp_path) as address:
        port = urlsplit(address).port or 0
        assert urlsplit(address).hostname == "127.0.0.1"
        with socket.socket() as elsewhere:
            elsewhere.settimeout(5)
            assert elsewhere.connect_ex(("127.0.0.2", port)) != 0, "a server on all interfaces answers here too"
        with pytest.raises(Faults, match="--port N"), http_server.serve_folder(tmp_path, port):
            pass


@pytest.mark.parametrize("port", [-1, 65_536])
def test_a_number_that_is_no_port_is_a_fault(tmp_path: Path, port: int) -> None:
    with pytest.raises(Faults, match="a port is from 0 to 65535"), http_server.serve_folder(tmp_path, port):
        pytest.fail("no server runs there")


def fetched(address: str, method: str = "GET") -> tuple[int, str, str]:
    """The status, the kind and the text of an answer."""
    try:
        with urlopen(Request(address, method=method), timeout=10) as answer:
            return answer.status, answer.headers["Content-Type"], answer.read().decode()
    except HTTPError as error:
        with error:
            return error.code, error.headers["Content-Type"], error.read().decode()


def test_a_page_that_is_served_follows_its_changes(tmp_path: Path) -> None:
    """A page says what it is, and loads again when the server says otherwise; in a folder that does not change it stays as it is."""
    text = "<body><p>x</body>"
    (tmp_path / "index.html").write_text(text)
    (tmp_path / "page.html").write_text("<p>without a body")
    (tmp_path / "data.txt").write_text("x")
    with http_server.serve_folder(tmp_path) as address:
        assert fetched(address)[2] == text
        assert fetched(address + "index.html")[2] == text
        assert fetched(f"{address}.acpgen/state/")[0] == 404
    with http_server.serve_folder(tmp_path, find_text={"page.md": "# Page", "a b.md": "x"}.get) as address:
        states = {name: fetched(f"{address}.acpgen/state/{name}") for name in ("", "index.html", "page.html")}
        assert states[""] == states["index.html"] != states["page.html"]
        assert {(status, kind) for status, kind, _ in states.values()} == {(200, "text/plain")}
        for name, (_, _, state) in states.items():
            assert f'!== "{state}") location.reload()' in fetched(address + name)[2]
        assert fetched(address + "data.txt")[2] == "x"
        assert fetched(address + "page.md") == (200, "text/markdown; charset=utf-8", "# Page")
        assert fetched(address + "a%20b.md")[2] == "x"
        assert fetched(address + "index.html", "HEAD") == (200, "text/html; charset=utf-8", "")
        (tmp_path / "index.html").write_text("<body>y</body>")
        assert fetched(f"{address}.acpgen/state/")[2] not in ("", states[""][2])
        assert fetched(f"{address}.acpgen/state/page.html") == states["page.html"]
        (tmp_path / "index.html").write_text("")
        assert fetched(f"{address}.acpgen/state/")[0] == 503  # it is being written, and the page waits


def test_a_page_that_is_served_follows_its_style_sheets_and_scripts(tmp_path: Path) -> None:
    (tmp_path / "index.html").write_text(
        '<head><link href="assets/a.css"><script src="assets/a.js"></script></head><body>x</body>'
    )
    (tmp_path / "404.html").write_text('<link href="/assets/a.css"><body>none</body>')
    (tmp_path / "assets").mkdir()
    seen: list[tuple[str, str]] = []
    with http_server.serve_folder(tmp_path, find_text=lambda _: None) as address:
        for name, text in (("a.css", "a {}"), ("a.css", "b {}"), ("a.js", "1"), ("other.js", "2")):
            (tmp_path / "assets" / name).write_text(text)
            seen.append((fetched(f"{address}.acpgen/state/")[2], fetched(f"{address}.acpgen/state/none")[2]))
            assert f'!== "{seen[-1][0]}") location.reload()' in fetched(address)[2]
    pages, missing = zip(*seen, strict=True)
    assert len(set(pages)) == 3 and pages[2] == pages[3]
    assert missing[0] != missing[1] == missing[2] == missing[3]


@pytest.mark.parametrize(
    "host",
    [
        "evil.example",
        "evil.example:{port}",
        "127.0.0.1.evil.example",
        "localhost.evil.example",
        "127.0.0.1@evil.example",
        "",
        None,
    ],
)
def test_a_request_by_the_name_of_another_host_is_refused(tmp_path: Path, host: str | None) -> None:
    """So does a page elsewhere ask whose name was made to lead to this machine."""
    (tmp_path / "index.html").write_text("<body>secret</body>")
    with http_server.serve_folder(tmp_path, find_text=lambda _: "secret") as address:
        port = urlsplit(address).port or 0
        named = None if host is None else host.format(port=port)
        for method in ("GET", "HEAD"):
            for path in ("/", "/.acpgen/state/", "/index.md"):
                assert answered(port, method, path, named) == (421, False), path
        for own in ("localhost", f"LOCALHOST:{port}", f"127.0.0.1:{port}", f"[::1]:{port}"):
            assert answered(port, "GET", "/", own) == (200, True), own


def answered(port: int, method: str, path: str, host: str | None) -> tuple[int, bool]:
    """The status of an answer, and whether it holds the secret."""
    connection = HTTPConnection("127.0.0.1", port, timeout=10)
    try:
        connection.putrequest(method, path, skip_host=True)
        if host is not None:
            connection.putheader("Host", host)
        connection.endheaders()
        answer = connection.getresponse()
        return answer.status, b"secret" in answer.read()
    finally:
        connection.close()


def waited_for(text: str, path: Path) -> None:
    """Wait until a file holds a text."""
    end = time.monotonic() + 120
    while not (path.is_file() and text in path.read_text("utf-8")):
        assert time.monotonic() < end, f"{path} never held {text}"
        time.sleep(0.05)


def test_the_site_generator_keeps_running_and_makes_only_what_differs(installed: None, tmp_path: Path) -> None:
    """What the pages have in common makes all of them again."""
    told: list[Faults] = []
    with live.Live(tmp_path, told.append) as shown:

        def show(documents: dict[str, str], *names: str) -> int:
            entries: list[publish.Entry] = [(name, name) for name in names]
            return shown.show(
                site_files.Docs(documents, entries).lay_out(config.SiteSettings(), is_draft=True), documents
            )

        two = {"a.md": "# A\n\nfirst\n", "index.md": "# Home\n\nhome { data-search-exclude }\n"}
        show(two, *two)
        waited_for("first", shown.pages / "a.html")
        waited_for("home", shown.pages / "index.html")
        assert shown.get_text("a.md") == two["a.md"] and shown.get_text("b.md") is None
        assert shown.get_text("index.md") == "# Home\n\nhome\n"
        assert '"synonyms"' in (shown.get_text(search_index.INDEX) or "")
        before = (shown.pages / "index.html").stat().st_mtime_ns
        assert show({**two, "a.md": "# A\n\nsecond\n"}, *two) == 1
        waited_for("second", shown.pages / "a.html")
        assert (shown.pages / "index.html").stat().st_mtime_ns == before
        assert show({**two, "b.md": "# B\n\nthird\n"}, *two, "b.md") == 3  # and the navigation
        waited_for("third", shown.pages / "b.html")
        waited_for("b.html", shown.pages / "index.html")
        assert not told
        show({**two, "b.md": "# B\n\n[gone](gone.md)\n"}, *two, "b.md")
        waited_for("gone", shown.pages / "b.html")
        show(two, *two)
        assert not (shown.pages / "b.html").exists()
    assert told and all("b.md" in str(each) for faults in told for each in faults.faults)


def test_only_a_site_that_is_built_describes_its_pages_by_what_they_say() -> None:
    """The site generator makes every page again when one description differs, so what is served does not describe them."""

    def above(said: str, *, is_draft: bool) -> str:
        made = site_files.Docs({"index.md": f"# Home\n\n{said}\n"}, []).lay_out(
            config.SiteSettings(), is_draft=is_draft
        )
        return made["docs/index.md"].partition("# Home")[0]

    assert above("It ebbs.", is_draft=True) == above("It flows.", is_draft=True) != above("It flows.", is_draft=False)
    assert "It flows." in above("It flows.", is_draft=False)


def test_the_address_of_a_rule_on_the_page_of_all_leads_to_the_page_with_the_rule(built: Path, window: Window) -> None:
    """They stood there once, and others link to them."""
    for name, path in (("not-json", "monitor/json_rpc.html"), ("roots-kept", "monitor/roots.html")):
        window.page.goto(f"{window.home}monitor.html#{name}")
        window.page.wait_for_url(f"{window.home}{path}#{name}")
        assert window.page.locator(f"[id='{name}']").count() == 1
    assert not window.wrong


def test_a_long_name_in_the_navigation_is_broken_between_its_words(built: Path, window: Window) -> None:
    window.page.goto(f"{window.home}acp/v1/methods/session_load.html")
    link = window.page.locator(".md-nav__link[href$='session_request_permission.html']").first
    assert link.inner_html().count("<wbr>") == 2
    assert link.text_content().strip() == "session/request_permission"
    window.page.goto(f"{window.home}api/acp_bindings.v1.peers.html")
    title = window.page.locator("h1 code")
    assert title.inner_html().split("<wbr>") == ["acp_", "bindings.", "v1.", "peers"]


def test_a_block_of_code_is_copied_by_its_button(window: Window) -> None:
    window.page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    window.open("acp/v1/methods/session_prompt.html")
    window.rest()
    block = window.page.locator(".md-typeset pre").filter(visible=True).first
    block.get_by_role("button", name="Copy").focus()
    window.page.keyboard.press("Enter")
    block.get_by_role("button", name="Copied").wait_for()
    assert window.page.evaluate("navigator.clipboard.readText()") == block.locator("code").text_content()


def test_on_paper_names_are_whole_and_nothing_is_there_to_click(built: Path, window: Window) -> None:
    window.page.set_viewport_size({"width": 794, "height": 1000})
    window.open("acp/v1/methods/session_prompt.html")
    window.page.emulate_media(media="print")
    assert not window.page.locator(".acp-actions, .acp-permalink, .acp-copy").filter(visible=True).count()
    name = window.page.locator("td:first-child code", has_text="stopReason").first
    assert name.evaluate("code => code.getClientRects().length") == 1


def small_project(folder: Path) -> Path:
    """A project with one protocol, a page by hand and a module; the schema file that holds the type Root."""
    shutil.copytree(ROOT / "schema" / "mcp", folder / "schema" / "mcp")
    (folder / "schema" / "pages").mkdir()
    (folder / "schema" / "pages" / "more.md").write_text("# More\n\nBy hand.\n")
    (folder / "module.py").write_text('"""A module."""\n\n__all__ = ["add"]\n\n\ndef add() -> None:\n    """Add."""\n')
    (folder / "pyproject.toml").write_text(
        '[tool.acpgen.outputs.docs]\ntarget = "docs"\nprotocols = ["mcp/2025-06-18"]\n[tool.acpgen.site]\npython = ["module.py"]\n'
    )
    (schema,) = (path for path in folder.rglob("*.json") if '"Root": {' in path.read_text("utf-8"))
    return schema


def test_serve_shows_each_change_and_leaves_nothing_behind(installed: None, tmp_path: Path) -> None:
    schema = small_project(tmp_path)
    (tmp_path / "tmp").mkdir()
    environment = {**os.environ, "TMPDIR": str(tmp_path / "tmp"), "XDG_CACHE_HOME": str(tmp_path / "cache")}
    command = [sys.executable, "-m", "acpgen", "docs", "serve", "--port", "0"]
    environment["PYTHONPATH"] = os.pathsep.join(filter(None, sys.path))
    with subprocess.Popen(command, cwd=tmp_path, env=environment, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        try:
            (home,) = re.findall(r"^(http://127\.0\.0\.1:\d+/) shows the site", process.stderr.readline())
            for path, old, new, page in (
                (tmp_path / "schema" / "pages" / "more.md", "By hand.", "Edited.", "more.html"),
                (schema, "One place in the file system", "Edited.", "mcp/2025-06-18/types/Root.html"),
                (tmp_path / "module.py", "A module.", "Edited.", "api/module.html"),
                (tmp_path / "schema" / "pages" / "more.md", "Edited.", "[gone](gone.md)", ""),
                (tmp_path / "schema" / "pages" / "more.md", "[gone](gone.md)", "Mended.", "more.html"),
            ):
                text = path.read_text("utf-8")
                assert old in text
                path.write_text(text.replace(old, new), "utf-8")
                end = time.monotonic() + 120
                while page and new not in fetched(home + page)[2]:
                    assert time.monotonic() < end, page
                    time.sleep(0.1)
                assert (
                    not page
                    or f'<meta name="description" content="{page.removesuffix("html")}md">' in fetched(home + page)[2]
                )
                while not page and "gone.md" not in process.stderr.readline():
                    assert process.poll() is None
        finally:
            process.terminate()
        said = process.stderr.read()
    assert process.returncode == 0, said
    assert "Made again: " in said
    assert not list((tmp_path / "tmp").iterdir())


def test_what_is_missing_is_answered_with_the_page_of_the_site_that_says_so(tmp_path: Path) -> None:
    with http_server.serve_folder(tmp_path) as address:
        assert fetched(address + "none.html")[0] == 404
        (tmp_path / "404.html").write_text("<body>Ours</body>")
        for path in ("none.html", "a/b/none", "none/", "..%2f..%2fetc/passwd"):
            assert fetched(address + path) == (404, "text/html; charset=utf-8", "<body>Ours</body>")
        assert fetched(address + "none.html", "HEAD") == (404, "text/html; charset=utf-8", "")


def test_a_site_with_an_address_is_served_at_the_root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its page for what is missing holds addresses from the root: with the path of the published site they would lead nowhere."""
    asked: list[config.SiteSettings] = []

    def docs(found: config.Config, *_: Any) -> site_files.Docs:
        asked.append(found.site)
        raise Faults([SITE_NOT_BUILT(at="here", reason="it is enough", remedy="none")])

    monkeypatch.setattr(site, "make_docs", docs)
    address = config.SiteSettings("https://example.com/docs/", "https://example.com/edit/")
    with pytest.raises(Faults):
        site.serve(lambda: replace(project(), site=address), 0, print, print)
    assert asked == [config.SiteSettings("", "https://example.com/edit/")]


def test_the_command_builds_the_site(
    built: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The step of the workflow, dry: the site of a small project, in a folder that is then replaced as a whole."""
    shutil.copytree(ROOT / "schema" / "mcp", tmp_path / "schema" / "mcp")
    (tmp_path / "pyproject.toml").write_text(
        '[tool.acpgen.outputs."generated/docs"]\ntarget = "docs"\nprotocols = ["mcp/2025-06-18"]\n'
    )
    monkeypatch.chdir(tmp_path)
    for said in ("files written, 0 unchanged", "unchanged."):
        with pytest.raises(SystemExit) as stopped:
            cli.app(["docs", "build", "--out", "site"], prog_name="acpgen")
        assert stopped.value.code == 0
        assert said in capsys.readouterr().err
    assert (tmp_path / "site" / "mcp" / "2025-06-18" / "methods" / "roots_list.html").is_file()
    with pytest.raises(SystemExit) as stopped:
        cli.app(["docs", "build", "--out", "schema"], prog_name="acpgen")
    assert stopped.value.code == 2
    assert "acpgen did not write it" in capsys.readouterr().err
    assert (tmp_path / "schema" / "mcp").is_dir()


# --- a browser -------------------------------------------------------------------------------------------------------


def test_a_page_in_the_browser_loads_again_after_a_build(tmp_path: Path, browser: Any) -> None:
    (tmp_path / "index.html").write_text("<body><p>old</p></body>")
    with http_server.serve_folder(tmp_path, find_text=lambda _: None) as home:
        context = browser.new_context()
        page = context.new_page()
        page.goto(home)
        (tmp_path / "index.html").write_text("<body><p>new</p></body>")
        page.wait_for_selector("text=new")
        context.close()


def test_search_finds_a_method(window: Window) -> None:
    window.open("index.html")
    found = window.search("session/request_permission")
    assert any(address.startswith("acp/v1/methods/session_request_permission.html") for address, _ in found)


ASKED = {
    "-32602": "acp/v1/errors.html#-32602-invalid-params",
    "authentication required": "acp/v1/errors.html#-32000-authentication-required",
    "allow_once": "acp/v1/types/PermissionOptionKind.html",
    "unknown update": "acp/v1/types/UnknownSessionUpdate.html",
    "roots": "mcp/2025-06-18/areas/roots.html",
    "migration guide": "acp/migration-v1-v2.html",
    "capabilities": "acp/v2/capabilities.html",
}


@pytest.mark.parametrize("words", tiers.sample(ASKED, 2))
def test_search_finds_what_people_ask_for_among_the_first(window: Window, words: str) -> None:
    page = ASKED[words]
    window.open("index.html")
    addresses = [re.sub(r"\?[^#]*", "", address) for address, _ in window.search(words)]
    first = list(dict.fromkeys(address.partition("#")[0] for address in addresses))[:3]
    assert page.partition("#")[0] in first, addresses
    assert "#" not in page or page in addresses


ASK = """async queries => {
    const found = {};
    for (const query of queries) found[query] = (await acpSearch(query)).slice(0, 10);
    return found;
}"""
TIME = """async queries => {
    const times = [];
    for (const query of queries) {
        const start = performance.now();
        await acpSearch(query);
        times.push(performance.now() - start);
    }
    return times;
}"""


def test_a_result_is_there_in_milliseconds(window: Window) -> None:
    """The first one with the index, which is loaded for it."""
    window.open("index.html")
    window.rest()
    first, *others = window.page.evaluate(TIME, [*ASKED] * 3)
    assert first < 1_000
    assert sorted(others)[len(others) // 2] < 50


def test_most_of_what_people_ask_leads_to_the_wanted_page_among_the_first_three(built: Path, window: Window) -> None:
    """The queries of `search_queries.tsv`, each with the pages of which one is wanted, asked of the search itself."""
    lines = (Path(__file__).parent / "search_queries.tsv").read_text("utf-8").splitlines()
    asked = {query: wanted.split("|") for query, wanted in (line.split("\t") for line in lines)}
    assert len(asked) >= 150
    for wanted in asked.values():
        assert any((built / page).is_file() for page in wanted), wanted
    window.open("index.html")
    window.rest()
    found: dict[str, list[str]] = window.page.evaluate(ASK, list(asked))
    first = {
        query: list(dict.fromkeys(place.partition("#")[0] for place in places))[:3] for query, places in found.items()
    }
    missed = {query: first[query] for query, wanted in asked.items() if not set(wanted) & set(first[query])}
    assert not missed


def test_search_finds_a_type_by_part_of_its_name(window: Window) -> None:
    window.open("acp/v2/methods/initialize.html")
    found = window.search("RequestPermissionSub")
    assert any("types/RequestPermissionSubject.html" in address for address, _ in found)


def test_search_finds_a_field_and_its_result_leads_there_by_keyboard(window: Window) -> None:
    window.open("index.html")
    found = window.search("additionalDirectories")
    assert {"#fields", "#params"} <= {f"#{urlsplit(address).fragment}" for address, _ in found}
    assert sum("additionalDirectories" in shown for _, shown in found) >= 4
    window.page.keyboard.press("Enter")
    window.page.wait_for_url(re.compile(r"h=additionalDirectories"))
    assert "additionalDirectories" in window.page.inner_text("article")


def test_search_works_in_a_site_that_is_opened_from_the_disk(built: Path, browser: Any) -> None:
    context = browser.new_context()
    window = Window(context.new_page(), built.as_uri() + "/")
    window.open("index.html")
    found = window.search("session/new")
    assert any("session_new.html" in address for address, _ in found)
    window.rest()
    assert not window.wrong
    context.close()


def test_the_version_switch_lands_on_the_same_method_and_back(window: Window) -> None:
    window.open("acp/v1/methods/session_new.html")
    window.page.locator("article").get_by_role("link", name="acp/v2", exact=True).first.click()
    window.page.wait_for_url("**/acp/v2/methods/session_new.html")
    assert "session/new" in window.page.inner_text("h1")
    window.page.locator("article").get_by_role("link", name="acp/v1", exact=True).first.click()
    window.page.wait_for_url("**/acp/v1/methods/session_new.html")


def test_the_skip_link_comes_first_and_a_picture_can_be_used_by_keyboard(window: Window) -> None:
    window.open("acp/v2/types/ContentBlock.html")
    window.page.keyboard.press("Tab")
    assert "Skip to content" in window.page.evaluate("document.activeElement.textContent")
    window.page.locator(".acp-picture a").nth(1).focus()
    window.page.keyboard.press("Enter")
    window.page.wait_for_url("**#tag-image")


def test_pasted_messages_are_judged_in_the_browser(window: Window) -> None:
    window.open("judge.html")
    window.page.get_by_role("button", name="Put in an example").click()
    status = window.page.locator(".acp-judge [role=status]")
    status.filter(has_text=", 0 invalid, 0 not judged").wait_for()
    wrong = {"jsonrpc": "2.0", "id": 1, "method": "session/new", "params": {"cwd": "/"}}
    window.page.get_by_label("Protocol", exact=True).select_option("acp/v1")
    window.page.get_by_label("Messages, one a line").fill(json.dumps(wrong, indent=2))
    window.page.get_by_role("button", name="Judge", exact=True).click()
    status.filter(has_text="acp/v1: 1 message, 0 valid, 1 invalid").wait_for()
    assert "the field 'mcpServers' is required" in window.page.locator(".acp-judge tbody").inner_text()


def test_an_arrow_of_a_conversation_opens_its_message(window: Window) -> None:
    window.open("acp/v1/index.html")
    window.page.locator("#picture-turn-title").locator("xpath=..").locator("a").nth(2).focus()
    window.page.keyboard.press("Enter")
    window.page.wait_for_url("**/acp/v1/conversations/turn.html#session-prompt")


METHODS_OF_THE_EXAMPLE = ("acp/v1/methods/initialize", "acp/v1/methods/session_new", "acp/v2/methods/session_prompt")


@pytest.mark.parametrize("size", [(1440, 900), (390, 844)], ids=["desktop", "phone"])
def test_the_request_and_the_response_of_a_method_stand_on_the_first_screen(
    window: Window, size: tuple[int, int]
) -> None:
    width, height = size
    window.page.set_viewport_size({"width": width, "height": height})
    for page in METHODS_OF_THE_EXAMPLE:
        window.open(f"{page}.html")
        window.rest()
        blocks = window.page.locator(".acp-exchange pre > code")
        assert blocks.count() == 2
        for index in range(2):
            box = blocks.nth(index).bounding_box()
            assert box["height"] > 30 and box["y"] + box["height"] <= height
            scrolls = blocks.nth(index).evaluate("each => each.scrollHeight > each.clientHeight")
            assert not scrolls or blocks.nth(index).get_attribute("tabindex") == "0"


def test_a_table_that_no_longer_fits_can_be_scrolled_by_keyboard(window: Window) -> None:
    """Also when the window became narrow after the page was loaded, as when a phone is turned."""
    window.open("comparison.html")
    region = window.page.get_by_role("region", name="Table")
    assert region.count() == 0
    window.page.set_viewport_size({"width": 400, "height": 900})
    region.first.wait_for()
    assert region.first.get_attribute("tabindex") == "0"
    window.page.set_viewport_size({"width": 1400, "height": 900})
    region.first.wait_for(state="detached")


def test_dark_mode_follows_the_system_and_can_be_chosen(built: Path, browser: Any) -> None:
    with http_server.serve_folder(built) as home:
        shades: dict[str, str] = {}
        for scheme in SCHEMES:
            context = browser.new_context(color_scheme=scheme)
            window = Window(context.new_page(), home)
            window.open("index.html")
            shades[scheme] = window.page.evaluate("getComputedStyle(document.body).backgroundColor")
            assert not window.wrong
            context.close()
        assert shades["light"] != shades["dark"]


def serious_faults(window: Window) -> list[str]:
    axe: Any = pytest.importorskip(
        "axe_playwright_python.base", reason="no axe here: pip install axe-playwright-python"
    )
    window.page.evaluate((Path(axe.__file__).parent / "axe.min.js").read_text("utf-8"))
    judged = window.page.evaluate("axe.run(document, {resultTypes: ['violations']})")
    return [
        f"{found['id']}: {found['nodes'][0]['html']}"
        for found in judged["violations"]
        if found["impact"] in ("serious", "critical")
    ]


@pytest.mark.parametrize("path", tiers.sample(dict.fromkeys((*KINDS, *LOOKED_AT)), 4))
def test_a_page_fits_its_window_and_axe_finds_no_serious_fault(built: Path, browser: Any, path: str) -> None:
    """With `ACPGEN_SCREENSHOTS` naming a folder, in each width and each scheme; pictures of what was looked at are left there."""
    with http_server.serve_folder(built) as home:
        context = browser.new_context(viewport={"width": 1400, "height": 900})
        window = Window(context.new_page(), home)
        every = [(width, scheme) for width, _ in JUDGED for scheme in SCHEMES]
        for width, scheme in every if SCREENSHOTS else JUDGED:
            window.page.set_viewport_size({"width": width, "height": 900})
            window.page.emulate_media(color_scheme=scheme)
            window.open(path)
            assert window.page.evaluate("document.documentElement.scrollWidth") <= width
            assert not serious_faults(window)
            window.keep(f"{path.replace('/', '-')}-{width}-{scheme}")
        window.rest()
        assert not window.wrong
        context.close()


@pytest.mark.parametrize(("width", "scheme"), JUDGED)
def test_axe_finds_no_serious_fault_in_the_search(built: Path, browser: Any, width: int, scheme: str) -> None:
    with http_server.serve_folder(built) as home:
        context = browser.new_context(viewport={"width": width, "height": 900}, color_scheme=scheme)
        window = Window(context.new_page(), home)
        window.open("index.html")
        assert window.search("session/new")
        assert not serious_faults(window)
        window.keep(f"search-{width}-{scheme}")
        context.close()


def test_results_of_the_search_are_filtered_by_protocol_version(window: Window) -> None:
    window.open("index.html")
    window.search("session/new")
    window.page.get_by_role("button").filter(has_text=re.compile("^acp.v2")).click()
    results = window.page.get_by_role("option")
    window.page.wait_for_function(
        """() => {
            const found = [...document.querySelectorAll("[role=option]")];
            return found.length > 3 && found.every(each => each.href.includes("/acp/v2/"));
        }"""
    )
    assert "acp/v2/methods/session_new.html" in results.first.get_attribute("href")


def test_what_is_typed_before_the_index_of_the_search_is_there_is_searched_for(window: Window) -> None:
    """And a page of which nobody asks anything does not load the index."""
    asked: list[str] = []

    def hear(request: Any) -> None:
        asked.append(request.url)

    window.page.on("request", hear)
    window.open("index.html")
    window.rest()
    assert not [url for url in asked if "search-" in url]
    waiting: list[Any] = []

    def hold(route: Any) -> None:
        waiting.append(route)

    window.page.route("**/search-index.js", hold)
    window.page.keyboard.press("Control+k")
    window.page.keyboard.type("session/newx")
    window.page.keyboard.press("Backspace")
    for _ in range(1000):
        if waiting:
            break
        window.page.wait_for_timeout(20)
    waiting[0].continue_()
    box = window.page.get_by_role("combobox", name="Search")
    box.wait_for()
    assert box.input_value() == "session/new"
    window.page.get_by_role("option").first.wait_for()
