"""The target `docs` and what stands above versions: nothing of a schema becomes markup, every link leads somewhere, every example holds."""

from __future__ import annotations

import json
import posixpath
import re
import xml.etree.ElementTree as ET
from collections import Counter
from collections.abc import Iterator
from functools import cache
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import jsonschema_rs
import pytest
import yaml
from hypothesis import example, given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from acpgen import config, ir, publish
from acpgen.bundle.bundle import Bundle
from acpgen.diagnostics import markup
from acpgen.diagnostics.markup import write_code, write_message, write_prose
from acpgen.errors import Faults, make_visible
from acpgen.input.load import load
from acpgen.meaning.understanding import understand
from acpgen.publish import reference, requirement_table, site
from acpgen.targets import docs
from acpgen.targets.docs import pictures, templates, views
from acpgen.targets.docs.page_paths import Linker, find_page_paths
from acpgen.targets.docs.scenarios import has_message
from acpgen.targets.docs.type_text import admits_null, describe_type
from acpgen.targets.docs.usages import find_capability_usages
from acpgen.targets.faults import INVALID_EXAMPLE
from acpgen.targets.interface import Settings
from acpgen.targets.pipeline import generate
from published import PROTOCOLS, ROOT, files, read_docs_inputs, site_pages, versions

HOSTILE = ROOT / "tests" / "golden" / "targets" / "hostile" / "schema.json"


@cache
def requirements() -> dict[str, Any]:
    found: dict[str, Any] = json.loads((ROOT / "schema" / "requirements.json").read_text("utf-8"))
    return found


def pages() -> dict[str, str]:
    """All that the site shows."""
    return {
        path: page for path, page in files().items() if path.endswith(".md") and not path.endswith("single-file.md")
    }


def hostile() -> tuple[ir.Protocol, Bundle]:
    return understand(load(HOSTILE, name="hostile"))


# --- text ------------------------------------------------------------------------------------------------------------


class Reader(HTMLParser):
    """The text of some HTML, and its tags with their attributes."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.text = ""
        self.tags: list[tuple[str, dict[str, str | None]]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        self.text += data

    def handle_comment(self, data: str) -> None:  # noqa: ARG002 - the base class calls it so
        self.tags.append(("comment", {}))

    def handle_decl(self, decl: str) -> None:  # noqa: ARG002 - the base class calls it so
        self.tags.append(("declaration", {}))


def read(html: str) -> Reader:
    reader = Reader()
    reader.feed(html)
    reader.close()
    return reader


def commonmark(markdown: str) -> str:
    """As GitHub reads it: tables, struck text, bare addresses and raw HTML."""
    reader = MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"])
    return str(reader.render(markdown))


def python_markdown(markdown: str) -> str:
    """As the site generator reads it."""
    module: Any = pytest.importorskip("markdown", reason="the extra docs is not installed")
    given_to_site = yaml.safe_load((ROOT / "templates/docs/site/base.yml").read_text("utf-8"))["markdown_extensions"]
    names = [name if isinstance(name, str) else next(iter(name)) for name in given_to_site]
    return str(module.markdown(markdown, extensions=[name for name in names if name != "toc"]))


READERS = {"commonmark": commonmark, "python-markdown": python_markdown}

MARKUP = st.text(st.sampled_from("`*_{}[]()#+-.!|<>&\\\"'~^=:/$@%;\n\t 1aw\u202e\x00\x02\x03é"), max_size=24)
PIECES = st.lists(
    st.sampled_from(
        [
            *(
                "<script>alert(1)</script>",
                "<!-- x -->",
                "[a](javascript:b)",
                "![a](b)",
                "https://a.b/c",
                "www.a.b",
                "a@b.cc",
            ),
            *(
                "# a",
                "- a",
                "1. a",
                "> a",
                "```",
                "~~~",
                "---",
                "===",
                "| a |",
                "&amp;",
                "&#60;b&#62;",
                "{% raw %}",
                "{{ 7*7 }}",
            ),
            *(
                "`a`",
                "``a``",
                "**a**",
                "__a__",
                "_a_",
                "<b>",
                "</td>",
                "\\",
                "\\*",
                "[x]: y",
                ":smile:",
                "[^1]",
                "\n\n",
                " ",
                "a",
            ),
            *(
                "klzzwxh:0001",
                "\x02wzxhzdk:0\x03",
                "{: .a }",
                "<?a?>",
                "<![CDATA[a]]>",
                "$a$",
                "~~a~~",
                "==a==",
                "*[a]: b",
            ),
        ]
    ),
    max_size=6,
).map("".join)


@pytest.mark.parametrize("reader", READERS)
@settings(max_examples=100, deadline=None)
@given(given_text=MARKUP | PIECES)
@example(given_text='"""\n\'\'\'\\"); import os; os.system("x") #{{ 7*7 }}{% raw %}</script><b>\u2028\u202e\x00')
@example(given_text="`")
@example(given_text="]:")
@example(given_text="a `b` c `<d>` e `f|g`")
def test_no_text_becomes_markup(reader: str, given_text: str) -> None:
    """In a paragraph, a heading, a list, a link and a table, prose is its own text and `code` a code span, whatever it holds."""
    prose, code = markup.write_prose(given_text), markup.write_code(given_text)
    page = f"{prose}\n\n# x{prose}\n\n- x {prose}\n- x {code}\n\n[x{code}](y)\n\n| a | b |\n| --- | --- |\n| x{prose} | {code} |\n"
    found = read(READERS[reader](page))
    allowed = {"p", "h1", "ul", "li", "a", "table", "thead", "tbody", "tr", "th", "td", "code"}
    assert {tag for tag, _ in found.tags} <= allowed
    assert [attributes for tag, attributes in found.tags if tag == "a"] == [{"href": "y"}]
    assert all(set(attributes) <= {"href", "style", "align"} for _, attributes in found.tags)
    assert [tag for tag, _ in found.tags].count("td") == 2
    shown = "".join(make_visible(" ".join(given_text.split())).split()).replace("`", "")
    coded = "".join(make_visible(given_text).split()).replace("`", "")
    expected = f"{shown}x{shown}x{shown}x{coded}x{coded}abx{shown}{coded}"
    assert "".join(found.text.replace("\u200b", "").split()).replace("`", "") == expected


@given(st.text(max_size=300))
def test_a_name_makes_an_identifier_that_is_safe_in_paths_and_addresses(name: str) -> None:
    made = markup.make_identifier(name)
    assert re.fullmatch(r"[A-Za-z0-9_.+-]{1,96}", made)


@given(st.text(max_size=40), st.text(max_size=40))
def test_different_names_make_different_identifiers(one: str, other: str) -> None:
    assert (markup.make_identifier(one) == markup.make_identifier(other)) == (one == other) or "" in (one, other)


def test_a_template_cannot_forget_to_escape() -> None:
    made = (
        templates.make_environment()
        .from_string("{{ a }} {{ a ~ a }} {{ b }} {{ 3 }}")
        .render(a="<b>", b=markup.Markdown("<b>"))
    )
    assert made == "&#60;b&#62; &#60;b&#62;&#60;b&#62; <b> 3"


@pytest.mark.parametrize("reader", READERS)
def test_a_hostile_schema_puts_nothing_into_its_pages(reader: str) -> None:
    made = docs.render(*hostile(), Settings())
    allowed = {
        *(
            "p",
            "h1",
            "h2",
            "h3",
            "ul",
            "li",
            "a",
            "table",
            "thead",
            "tbody",
            "tr",
            "th",
            "td",
            "code",
            "pre",
            "br",
            "em",
            "strong",
        ),
        *("div", "span", "figure", "svg", "title", "desc", "rect", "text", "path", "details", "summary"),
    }
    for path, page in made.items():
        found = read(READERS[reader](page))
        assert {tag for tag, _ in found.tags} <= allowed, path
        for _, attributes in found.tags:
            assert not any(
                name.startswith("on") or name in ("style", "src") for name in attributes if attributes[name] != ""
            )
            address = attributes.get("href") or ""
            assert re.fullmatch(r"[A-Za-z0-9_.+/#-]*", address), address
        assert page.isprintable() or all(c.isprintable() or c == "\n" for c in page)


@pytest.mark.parametrize("reader", READERS)
def test_what_stands_above_versions_takes_no_markup_from_a_hostile_schema(reader: str, tmp_path: Path) -> None:
    old = json.loads(HOSTILE.read_text("utf-8"))
    new = json.loads(HOSTILE.read_text("utf-8"))
    evil = new["$defs"]["Evil"]
    image = "x|<img src=x onerror=alert(1)>"
    evil["properties"] = {name: field for name, field in evil["properties"].items() if "import" not in name}
    evil["properties"][image] = {"type": "string", "description": f"{image} `{image}` </script>"}
    evil["required"].append(image)
    evil["description"] = new["$defs"]["EvilRequest"]["description"] = f"{image} <b\\> `{image}`"
    made: list[publish.Version] = []
    for name, schema in (("p/v1", old), ("p/v2", new)):
        (tmp_path / name).mkdir(parents=True)
        (tmp_path / name / "schema.json").write_text(json.dumps(schema))
        made.append(publish.Version(*understand(load(tmp_path / name, name=name)), Settings(prefix=name)))
    for path, page in publish.map_texts(publish.make_pages(made)).items():
        found = read(READERS[reader](page))
        assert not {tag for tag, _ in found.tags} & {"img", "script", "b", "b\\"}, path


# --- examples --------------------------------------------------------------------------------------------------------


def fenced(page: str) -> list[Any]:
    return [json.loads(body) for body in re.findall(r"^```json\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)]


def judged_by(bundle: Bundle, name: str) -> jsonschema_rs.Draft202012Validator:
    return jsonschema_rs.Draft202012Validator({"$ref": f"#/$defs/{name}", "$defs": bundle.schema["$defs"]})


@pytest.mark.parametrize("version", versions(), ids=lambda version: version.protocol.name)
def test_every_method_shows_a_whole_request_and_answer_that_hold(version: publish.Version) -> None:
    where = docs.find_page_paths(version.protocol, version.bundle)
    for method in version.protocol.methods:
        shown = fenced(files()[version.locate(where.methods[method.name])])
        request = shown[0]
        assert request["method"] == method.name and request["jsonrpc"] == "2.0"
        assert ("id" in request) == (method.kind == "request")
        if method.params is not None:
            assert judged_by(version.bundle, method.params).is_valid(request["params"])
        if method.kind == "request" and method.result is not None:
            assert shown[1]["id"] == request["id"]
            assert judged_by(version.bundle, method.result).is_valid(shown[1]["result"])


@pytest.mark.parametrize("version", versions(), ids=lambda version: version.protocol.name)
def test_every_example_on_the_page_of_a_type_holds(version: publish.Version) -> None:
    where = docs.find_page_paths(version.protocol, version.bundle)
    without: list[str] = []
    for name in version.protocol.definitions:
        shown = fenced(files()[version.locate(where.types[name])])
        if name in version.bundle.definitions:
            assert all(judged_by(version.bundle, name).is_valid(value) for value in shown), name
        without += [] if shown else [name]
    assert len(without) < len(version.protocol.definitions) / 3, without


def test_an_example_that_does_not_hold_stops_the_docs_and_is_told_with_its_place(tmp_path: Path) -> None:
    schema = {
        "$defs": {"A": {"type": "object", "properties": {"b": {"type": "integer"}}, "examples": [{"b": 1}, {"b": "x"}]}}
    }
    (tmp_path / "a.json").write_text(json.dumps(schema))
    with pytest.raises(Faults) as caught:
        docs.render(*understand(load(tmp_path / "a.json", name="a")), Settings())
    (fault,) = caught.value.faults
    assert fault.kind == INVALID_EXAMPLE
    assert fault.at.endswith("#/$defs/A/examples/1")
    assert 'set the option refused-examples of the target docs to "leave-out"' in str(fault)


@pytest.mark.parametrize("pattern", ["^[a-z_]+$", r"^\w~/%41 \d$"])
def test_an_example_below_a_pattern_of_names_is_judged(tmp_path: Path, pattern: str) -> None:
    inner = {"type": "integer", "examples": [1, "x"]}
    schema = {"$defs": {"A": {"type": "object", "patternProperties": {pattern: inner}}}}
    (tmp_path / "a.json").write_text(json.dumps(schema))
    with pytest.raises(Faults) as caught:
        docs.render(*understand(load(tmp_path / "a.json", name="a")), Settings())
    (fault,) = caught.value.faults
    assert fault.kind == INVALID_EXAMPLE and fault.at.endswith("/examples/1")


def test_an_example_that_does_not_hold_is_left_out_and_listed_where_the_option_says_so(tmp_path: Path) -> None:
    schema = {
        "$defs": {
            "A": {
                "type": "object",
                "properties": {"b": {"type": "integer", "examples": ["inside"]}},
                "examples": [{"b": 1}, {"b": "refused"}],
            },
            "B": {"type": "integer", "examples": ["all | refused"]},
        }
    }
    (tmp_path / "a.json").write_text(json.dumps(schema))
    settings = Settings(options={"refused-examples": "leave-out"})
    made = docs.render(*understand(load(tmp_path / "a.json", name="a")), settings)
    listed = made["index.md"].partition("## Examples that are left out")[2]
    for at in ("A/examples/1", "A/properties/b/examples/0", "B/examples/0"):
        assert f"`a.json#/$defs/{at}`: " in listed
    assert fenced(made["types/A.md"]) == [{"b": 1}]
    assert all(isinstance(value, int) for value in fenced(made["types/B.md"]))


# --- errors ----------------------------------------------------------------------------------------------------------


def errors_on(page: str) -> dict[int, str]:
    """The error codes of the page of a method, with what is said of each."""
    section = page.partition("\n## Errors")[2].partition("\n## ")[0]
    return {int(code): said for code, said in re.findall(r"^\| \[`(-\d+)`\]\([^)]*\)(.*)\|$", section, re.MULTILINE)}


def errors_of(name: str, method: str) -> dict[int, str]:
    version = next(each for each in versions() if each.protocol.name == name)
    return errors_on(files()[version.locate(docs.find_page_paths(version.protocol, version.bundle).methods[method])])


def records_of(protocol: ir.Protocol, name: str | None) -> list[ir.Record]:
    definition = protocol.definitions[name] if name is not None else None
    if isinstance(definition, ir.TaggedUnion):
        others = (definition.fallback, definition.default, *definition.fallback_shapes)
        names = [*(variant.type for variant in definition.variants), *(other for other in others if other)]
        return [record for inner in names for record in records_of(protocol, inner)]
    return [definition] if isinstance(definition, ir.Record) else []


@pytest.mark.parametrize("name", ["acp/v1", "acp/v2"])
def test_every_request_lists_the_errors_that_its_params_can_be_refused_with(name: str) -> None:
    """-32002 where it names a session, -32000 where it opens one; nothing is said of roots where none can be sent."""
    protocol = next(each.protocol for each in versions() if each.protocol.name == name)
    opening = {f"session/{verb}" for verb in ("new", "load", "resume", "fork")}
    for method in protocol.methods:
        if method.kind != "request":
            continue
        fields = {field.name for record in records_of(protocol, method.params) for field in record.fields}
        listed = errors_of(name, method.name)
        assert {-32601, -32602, -32603, -32800} <= set(listed), method.name
        is_file = method.name == "fs/read_text_file"
        assert (-32002 in listed) == ("sessionId" in fields or is_file), method.name
        assert (-32000 in listed) == (method.name in opening), method.name
        assert (-32001 in listed) == method.name.startswith("fs/"), method.name
        has_roots = "additionalDirectories" in fields or method.name.startswith("fs/")
        assert has_roots or not [said for said in listed.values() if "roots" in said], method.name
        assert "additionalDirectories" not in fields or "-32602" in listed[-32602], method.name


@pytest.mark.parametrize(
    ("document", "methods"),
    [
        ("file-system", ["acp/v1 fs/read_text_file", "acp/v1 fs/write_text_file"]),
        ("additional-directories", [f"acp/{v} session/{m}" for v in ("v1", "v2") for m in ("new", "load", "resume")]),
        ("mcp-roots", ["mcp/2025-06-18 roots/list"]),
    ],
)
def test_the_errors_that_the_requirements_prescribe_are_on_the_pages_of_their_methods(
    document: str, methods: list[str]
) -> None:
    rules = json.loads((ROOT / "schema" / "requirements.json").read_text("utf-8"))["rules"]
    missing_file, asks_to_log_in = -32002, -32000
    prescribed = {
        int(code) for rule in rules if rule["document"] == document for code in re.findall(r"-32\d{3}", rule["says"])
    } - {asks_to_log_in}
    assert prescribed
    for method in methods:
        wanted = prescribed - ({missing_file} if "write" in method else set())
        assert wanted <= set(errors_of(*method.split(" "))), method


def test_an_error_is_listed_with_the_sentence_that_says_when_and_not_for_what_a_result_speaks_of(
    tmp_path: Path,
) -> None:
    def texts(name: str, said: str) -> dict[str, Any]:
        return {"description": f"First. {said} with {name}. Last 1.5 `a. b`.", "type": "string"}

    schema = {
        "Named": texts("-32001", "RequestError"),
        "Told": texts("-32002", "Stored"),
        "AskRequest": {
            "description": "Asks. It fails with -32003. It does more.",
            "type": "object",
            "properties": {"named": {"$ref": "#/$defs/Named"}},
            "x-method": "ask",
            "x-side": "agent",
        },
        "AskResponse": {
            "type": "object",
            "properties": {"told": {"$ref": "#/$defs/Told"}},
            "x-method": "ask",
            "x-side": "agent",
        },
        "ErrorCode": {
            "anyOf": [
                *({"type": "integer", "const": code, "description": f"Code {code}."} for code in range(-32003, -32000)),
                {"type": "integer", "title": "other"},
            ]
        },
    }
    (tmp_path / "a.json").write_text(json.dumps({"$defs": schema}))
    listed = errors_on(docs.render(*understand(load(tmp_path / "a.json", name="a")), Settings())["methods/ask.md"])
    assert {code: said.strip() for code, said in listed.items()} == {
        -32003: "| Code -32003.<br>It fails with -32003.",
        -32001: "| Code -32001.<br>RequestError with -32001.",
    }


def test_the_pages_of_what_upstream_has_removed_say_so_and_point_to_what_takes_its_place() -> None:
    for page in ("methods/session_load.md", "types/LoadSessionRequest.md", "types/LoadSessionResponse.md"):
        told = files()[f"acp/v2/{page}"]
        assert "Upstream's newest schema has" in told and "`session/resume`" in told.partition("## ")[0], page
    for page in ("v2/types/AgentCapabilities.md", "v2/types/SessionCapabilities.md", "migration-v1-v2/sessions.md"):
        told = files()[f"acp/{page}"]
        assert "Upstream's newest schema has removed" in told, page


# --- links -----------------------------------------------------------------------------------------------------------


def unfolded(page: str) -> dict[str, tuple[bool, str]]:
    """The types that the page of a method unfolds, by name: whether one is open, and its text."""
    found = re.findall(
        r"^<details markdown=\"1\"( open)?>\n<summary>(.*?)</summary>\n(.*?)^</details>$",
        page,
        re.MULTILINE | re.DOTALL,
    )
    return {name: (bool(is_open), text) for is_open, name, text in found}


def test_the_page_of_a_method_unfolds_the_types_that_it_names_and_folds_those_below() -> None:
    shown = unfolded(files()["acp/v1/methods/session_new.md"])
    assert [shown[name][0] for name in ("McpServer", "SessionModeState", "McpServerStdio", "SessionMode")] == [
        True,
        True,
        False,
        False,
    ]
    assert "AbsolutePath" not in shown and "EnvVariable" not in shown
    assert '<a id="params-McpServerStdio-command"></a>`command` | [`AbsolutePath`]' in shown["McpServerStdio"][1]
    kinds = unfolded(files()["acp/v1/methods/session_request_permission.md"])["PermissionOptionKind"]
    assert '`"allow_once"`' in kinds[1] and not kinds[0]
    assert not unfolded(files()["acp/v1/single-file.md"])


@pytest.mark.parametrize("version", versions(), ids=lambda version: version.protocol.name)
def test_no_type_is_unfolded_twice_on_a_page(version: publish.Version) -> None:
    methods = [page for path, page in files().items() if path.startswith(version.locate("methods/"))]
    assert methods
    for page in methods:
        names = re.findall(r"<summary>(.*?)</summary>", page)
        assert len(names) == len(set(names)), page[:80]


def test_the_page_of_a_method_draws_what_comes_before_it_and_after_it() -> None:
    page = files()["acp/v1/methods/session_prompt.md"]
    drawn = page.partition("## Before and after")[2].partition("\n## ")[0]
    told = re.findall(r'<a href="[^"]*conversations/turn\.md#([^"]+)">', drawn)
    assert told[:3] == ["session-new", "session-new-answer", "session-prompt"]
    assert told[3].startswith("session-update")
    assert "## Before and after" not in files()["acp/v1/methods/logout.md"]


def slug(heading: str) -> str:
    """The anchor of a heading, as Python-Markdown and GitHub make it for the headings that stand here."""
    plain = re.sub(r"<[^>]*>|&#\d+;|[`*]", "", re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading))
    return re.sub(r"[-\s]+", "-", re.sub(r"[^\w\s-]", "", plain).strip().lower())


def without_code(page: str) -> str:
    return re.sub(r"^```.*?^```$", "", page, flags=re.MULTILINE | re.DOTALL)


def anchors(page: str) -> list[str]:
    bare = without_code(page)
    return [
        *re.findall(r' id="([^"]+)"', bare),
        *(slug(heading) for heading in re.findall(r"^#+ (.*?)(?: \{ data-search-exclude \})?$", bare, re.MULTILINE)),
    ]


def links(page: str) -> Iterator[str]:
    bare = re.sub(r"`[^`\n]*`", "", without_code(page))
    yield from re.findall(r"\]\(([^)\s]*)\)", bare)
    yield from re.findall(r'href="([^"]*)"', bare)


@pytest.mark.parametrize("for_site", [True, False], ids=["site", "repository"])
def test_every_link_and_anchor_of_the_markdown_leads_somewhere(for_site: bool) -> None:
    """Only pages that are written by hand may name other places, and those of requirements the documents that these come from."""
    documents = tuple(each["url"] for each in requirements()["documents"] if "url" in each)
    texts = files(for_site=for_site)
    known = {path: set(anchors(page)) for path, page in texts.items() if path.endswith(".md")}
    known |= {path: set[str]() for path in texts if path not in known}
    count = 0
    for path, page in texts.items():
        for link in links(page):
            if link.startswith("https://") and path in read_docs_inputs().pages:
                continue
            if path.startswith("requirements/") and link.startswith(documents):
                continue
            address, _, anchor = unquote(link).partition("#")
            target = posixpath.normpath(posixpath.join(posixpath.dirname(path), address)) if address else path
            target = re.sub(r"\.html$", ".md", target)  # pages with parts of HTML link as the site does
            assert target in known, f"{path}: {link}"
            assert not anchor or anchor in known[target], f"{path}: {link}"
            count += 1
    assert count > (20_000 if for_site else 8_000)


@pytest.mark.parametrize("for_site", [True, False], ids=["site", "repository"])
def test_no_anchor_stands_twice_on_a_page_and_none_is_a_number(for_site: bool) -> None:
    for path, page in files(for_site=for_site).items():
        if path.endswith("single-file.md"):  # its headings repeat, and links to it name anchors of its own
            continue
        if path.startswith("requirements/"):  # two documents may have sections of one title, to which nothing links
            page = re.sub(r"^### .*$", "", page, flags=re.MULTILINE)
        twice = [anchor for anchor, count in Counter(anchors(page)).items() if count > 1]
        assert not twice, f"{path}: {twice}"
        assert not [anchor for anchor in anchors(page) if anchor.isdecimal()], path


def test_every_page_is_in_the_navigation() -> None:
    def paths(entries: list[publish.Entry]) -> Iterator[str]:
        for _, below in entries:
            if isinstance(below, str):
                yield below
            else:
                yield from paths(below)

    made = files()
    reached = list(paths(publish.arrange_navigation(site_pages())))
    pages = {path for path in made if path.endswith(".md") and not path.endswith("single-file.md")}
    assert set(reached) == pages
    assert len(reached) == len(set(reached))


def test_the_navigation_has_seven_entries_by_what_people_want() -> None:
    sections = config.find(ROOT).site.sections
    python = reference.parse_modules(site.read_inputs(config.find(ROOT)).python)
    found = publish.arrange_navigation([*site_pages(), *reference.write_pages(python)], sections.items())
    assert [title for title, _ in found] == [
        *(
            "Learn",
            "Look up",
            "Build an agent",
            "Build an editor",
            "Change the protocol",
            "Your own protocol",
            "Project",
        )
    ]


def test_the_anchor_of_a_field_does_not_depend_on_the_fields_beside_it() -> None:
    for prefix in ("params", "result"):
        page = files()["acp/v1/methods/session_new.md"]
        assert f'<a id="{prefix}-_meta"></a>' in page
    assert '<a id="field-additionalDirectories"></a>' in files()["acp/v2/types/SessionInfo.md"]


def test_each_page_is_below_a_megabyte() -> None:
    assert max(len(page.encode()) for page in pages().values()) < 500_000


# --- contents --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("version", versions(), ids=lambda version: version.protocol.name)
def test_every_method_type_and_area_has_a_page_and_a_place_in_the_single_file(version: publish.Version) -> None:
    where = docs.find_page_paths(version.protocol, version.bundle)
    for page in (*where.methods.values(), *where.types.values(), *where.areas.values()):
        assert version.locate(page) in files()
        assert f'<a id="{page.removesuffix(".md").replace("/", "-")}"></a>' in files()[version.locate("single-file.md")]
    assert not [path for path in files(for_site=False) if path.endswith("single-file.md")]


@pytest.mark.parametrize("version", versions(), ids=lambda version: version.protocol.name)
def test_the_page_of_a_method_says_who_sends_it_what_gates_it_and_what_it_holds(version: publish.Version) -> None:
    where = docs.find_page_paths(version.protocol, version.bundle)
    for method in version.protocol.methods:
        page = files()[version.locate(where.methods[method.name])]
        kind, sides = (
            method.kind.capitalize(),
            {"client": "the agent to the client", "agent": "the client to the agent"},
        )
        either = f"**{kind}** that either side may send."
        if version.protocol.name.startswith("acp/"):
            assert (f"**{kind}** from {sides[method.side]}." if method.side in sides else either) in page
        assert ("Needs no capability." in page) == (method.capability is None)
        if method.capability is not None:
            assert f"`{method.capability.partition(':')[2]}`" in page
        for part, name in (("params", method.params), ("result", method.result)):
            definition = version.protocol.definitions.get(name or "")
            if isinstance(definition, ir.Record):
                for field in definition.fields:
                    assert f'<a id="{part}-{field.name}"></a>`{field.name}`' in page
            elif isinstance(definition, ir.TaggedUnion):
                assert all(f"{variant.tag}" in page for variant in definition.variants)
        if method.kind == "request":
            assert "-32602" in page
        assert ("**unstable**" in page) >= method.unstable


NULL_MEANS = (
    "Null removes the value that the receiver holds",
    "Null means the same as omission",
    "Null is a value of its own",
)
SAYS_NULL = re.compile(r"(?<![\w-])null(?![\w-])", re.IGNORECASE)


@pytest.mark.parametrize("version", versions(), ids=lambda version: version.protocol.name)
def test_every_field_that_may_be_null_says_what_null_means_and_no_other_does(version: publish.Version) -> None:
    """Whether it may be null is asked of JSON Schema, so that null behind a name such as `Meta` counts too."""
    where, known = docs.find_page_paths(version.protocol, version.bundle), version.bundle.schema["$defs"]
    records = {name: each for name, each in version.protocol.definitions.items() if isinstance(each, ir.Record)}
    schemas = {
        f"{name} {field}": schema
        for name in records
        for field, schema in known.get(name, {}).get("properties", {}).items()
    }
    asked = jsonschema_rs.Draft202012Validator({"properties": schemas, "$defs": known})
    refused = {error.instance_path[0] for error in asked.iter_errors(dict.fromkeys(schemas))}
    told = 0
    for name, definition in records.items():
        page = files()[version.locate(where.types[name])].splitlines()
        for field in definition.fields:
            if f"{name} {field.name}" not in schemas:
                continue
            (row,) = (line for line in page if line.startswith(f'| <a id="field-{field.name}"></a>'))
            computed = sum(phrase in row for phrase in NULL_MEANS)
            is_told = computed > 0 or (field.null is not None and SAYS_NULL.search(field.doc) is not None)
            assert computed <= (field.null is None or not SAYS_NULL.search(field.doc)), (name, field.name, row)
            if isinstance(field.type, ir.Anything) and field.null is None:
                assert not is_told, (name, field.name)
            else:
                assert is_told == (f"{name} {field.name}" not in refused), (name, field.name)
            told += is_told
    assert told > 200 or version.protocol.name.startswith("mcp/")


def test_what_the_compatibility_check_quotes_is_code_and_reads_as_it_is() -> None:
    pattern = r"^[\\/]$"
    told = write_message(f"Must match {pattern!r}; peers' rules stay, see 'x-y' and {'<b>'!r}.")
    assert told.startswith(f"Must match {write_code(pattern)}; ")
    assert write_code(pattern) == "<code>^&#91;&#92;&#92;/&#93;&#36;</code>"
    assert "peers' rules stay, see `x-y` and <code>&#60;b&#62;</code>." in told
    assert write_message("*No* name.") == write_prose("*No* name.")


def test_every_requirement_of_a_version_is_told_on_a_page_of_that_version() -> None:
    for version in versions():
        folder = f"{version.protocol.name}/"
        told = {
            name
            for path, text in files().items()
            if path.startswith(folder)
            for name in re.findall(r"requirements/[^)#]*#(req-[^)]*)\)", text)
        }
        rules = [
            each
            for each in requirement_table.parse_table(read_docs_inputs().requirements, "").rules
            if version.protocol.name in each.protocols
        ]
        assert rules
        known = publish.requirements.map_addresses(requirement_table.parse_table(read_docs_inputs().requirements, ""))
        assert {known[each.id].partition("#")[2] for each in rules} <= told


def test_a_schema_without_methods_makes_no_claim_about_messages(tmp_path: Path) -> None:
    (tmp_path / "schema.json").write_text(json.dumps({"$defs": {"Thing": {"type": "object"}}}))
    version = publish.Version(*understand(load(tmp_path, name="p/v1")), Settings(prefix="p/v1"))
    made = publish.map_texts(publish.make_pages([version]))
    assert "no methods" in made["p/v1/methods.md"] and "(types.md)" in made["p/v1/index.md"]
    assert "(messages.md)" not in made["p/v1/index.md"]
    for name in ("messages", "errors"):
        assert f"The schema has no methods, so it says nothing of {name}." in made[f"p/v1/{name}.md"]
    assert "Every message is" not in made["p/v1/messages.md"]


def test_what_is_deprecated_is_marked_and_names_that_patterns_admit_are_told(tmp_path: Path) -> None:
    thing: dict[str, Any] = {
        "type": "object",
        "properties": {"old": {"type": "string", "deprecated": True}, "new": {"type": "string"}},
        "patternProperties": {"^x-": {}},
        "additionalProperties": False,
    }
    put = {"properties": {"thing": {"$ref": "#/$defs/Thing"}}, "x-method": "thing/put", "x-side": "agent"}
    former = {"type": "object", "deprecated": True}
    (tmp_path / "schema.json").write_text(
        json.dumps({"$defs": {"Thing": thing, "Former": former, "PutNotification": put}})
    )
    version = publish.Version(*understand(load(tmp_path, name="p/v1")), Settings(prefix="p/v1"))
    made = publish.map_texts(publish.make_pages([version], for_site=True))
    page = made["p/v1/types/Thing.md"]
    assert "`old` **deprecated** |" in page and "`new` |" in page
    sentence = "Other fields are allowed where their names match <code>^x-</code>. Any other makes the object invalid."
    assert sentence in page and sentence in made["p/v1/methods/thing_put.md"]
    assert "receivers keep them" not in page
    assert "**deprecated**" in made["p/v1/types/Former.md"] and page.count("**deprecated**") == 1


def test_a_cell_says_what_null_means_once(tmp_path: Path) -> None:
    told = {
        "None at all.": ("omitted", "Null means the same as omission."),
        "Null and omission both mean none.": ("omitted", ""),
        "Null means none.": ("omitted", "Null means the same as omission."),
        "A null-terminated text, or absent.": ("omitted", "Null means the same as omission."),
        "The title.": ("clears", "Null removes the value that the receiver holds; omission keeps it."),
        "The title; null removes it.": ("clears", "Omission keeps the value that the receiver holds."),
        "Null removes it; omission leaves it.": ("clears", ""),
        "Null is as good as omission.": (None, "Null is a value of its own."),
    }
    fields = {
        f"f{index}": {"type": ["string", "null"], "description": text} | ({"x-null": null} if null else {})
        for index, (text, (null, _)) in enumerate(told.items())
    }
    (tmp_path / "schema.json").write_text(json.dumps({"$defs": {"Thing": {"type": "object", "properties": fields}}}))
    version = publish.Version(*understand(load(tmp_path, name="p/v1")), Settings(prefix="p/v1"))
    page = publish.map_texts(publish.make_pages([version], for_site=True))["p/v1/types/Thing.md"]
    for text, (_, computed) in told.items():
        (row,) = (line for line in page.splitlines() if text in line)
        assert row.endswith(f"{text}{computed and f'<br>{computed}'} |"), row


def test_types_that_stand_side_by_side_are_told_apart_in_words() -> None:
    protocol, bundle = hostile()
    linker = Linker(find_page_paths(protocol, bundle), "types/x.md")
    anything, null = ir.Map(ir.Anything()), ir.Null()
    assert describe_type(ir.AnyOf((anything, null)), linker) == "object with any fields, or null"
    assert describe_type(ir.AnyOf((ir.Array(ir.Boolean()), null)), linker) == "array of boolean, or null"
    assert describe_type(ir.Map(ir.Boolean()), linker) == "object whose values are each: boolean"
    assert describe_type(ir.AnyOf((ir.Boolean(), null)), linker) == "boolean or null"


def test_of_a_pattern_that_no_engine_can_hold_docs_tell_and_vectors_claim_nothing(tmp_path: Path) -> None:
    long = {"type": "string", "pattern": "a{99999999}", "examples": ["a"]}
    schema = {"$defs": {"Long": long, "User": {"type": "array", "items": {"$ref": "#/$defs/Long"}, "minItems": 1}}}
    (tmp_path / "schema.json").write_text(json.dumps(schema))
    made = generate(load(tmp_path, name="p/v1"), ["docs", "vectors"])
    assert "a{99999999}" in "".join(made["docs"].values())
    index = json.loads(made["vectors"]["index.json"])
    assert (index["files"], index["types_without_rows"]) == ([], ["Long", "User"])


def test_vectors_of_many_required_fields_grow_with_their_number_and_say_which_types_they_do_not_cover(
    tmp_path: Path,
) -> None:
    made: dict[int, str] = {}
    for count in (400, 800):
        names = [f"field{number}" for number in range(count)]
        many = {"type": "object", "properties": {key: {"type": "boolean"} for key in names}, "required": names}
        few = {"type": "object", "properties": {"a": {"type": "boolean"}}, "required": ["a"]}
        (tmp_path / "schema.json").write_text(json.dumps({"$defs": {"Many": many, "Few": few}}))
        files = generate(load(tmp_path, name="p/v1"), ["vectors"])["vectors"]
        index = json.loads(files["index.json"])
        assert index["types_with_rows_of_some_fields"] == (["Many"] if count > 400 else [])
        made[count] = files["types/schema.jsonl"]
    for field in ("field0", "field399"):
        assert f"invalid:required [{field}]" in made[400]
    assert len(made[800]) < 2 * len(made[400])


def test_what_has_no_description_leaves_no_colon_behind(tmp_path: Path) -> None:
    """As the schemas of others have it: no word about the file, the protocol or a type."""
    (tmp_path / "schema.json").write_text(
        json.dumps(
            {
                "$defs": {
                    "Bare": {"type": "object", "properties": {"x": {"$ref": "#/$defs/Inner"}}},
                    "Inner": {"type": "object"},
                }
            }
        )
    )
    version = publish.Version(*understand(load(tmp_path, name="p/v1")), Settings(prefix="p/v1"))
    for path, page in publish.map_texts(publish.make_pages([version])).items():
        assert not [line for line in page.splitlines() if re.fullmatch(r"- .*\):", line)], path


def test_a_method_lists_the_error_codes_that_its_description_names() -> None:
    page = files()["acp/v1/methods/session_new.md"]
    row = next(line for line in page.splitlines() if "-32000" in line and line.startswith("|"))
    assert "may answer with error -32000 if the user must sign in first." in row


@pytest.mark.parametrize("version", versions(), ids=lambda version: version.protocol.name)
def test_unions_and_enumerations_say_what_happens_to_the_unknown(version: publish.Version) -> None:
    where = docs.find_page_paths(version.protocol, version.bundle)
    for definition in version.protocol.definitions.values():
        page = files()[version.locate(where.types[definition.name])]
        match definition:
            case ir.TaggedUnion():
                assert "## Unknown variants" in page
                # A closed union whose branch without a tag takes objects of any other tag refuses no tag as such.
                is_kept = definition.openness == "closed" and definition.fallback is not None
                takes_any = definition.default_admits_unknown
                assert (markup.write_prose(views.FALLS_TO_DEFAULT.format("tag")) in page) == takes_any
                assert (markup.write_prose(views.KEPT_BESIDE_DEFAULT.format("tag")) in page) == is_kept
                assert (markup.write_prose(views.UNKNOWN["closed"].format("tag")) in page) == (
                    definition.openness == "closed" and not takes_any and not is_kept
                )
                assert all(
                    f'<a id="tag-{markup.make_identifier(str(v.tag))}"></a>' in page for v in definition.variants
                )
            case ir.Enum():
                assert "## Unknown values" in page
                assert all(
                    f'<a id="value-{markup.make_identifier(str(v.value))}"></a>' in page for v in definition.values
                )
            case _:
                assert "## Unknown" not in page
        assert "## Used by" in page


@pytest.mark.parametrize("version", versions(), ids=lambda version: version.protocol.name)
def test_the_capability_matrix_holds_every_gate(version: publish.Version) -> None:
    page = files()[version.locate("capabilities.md")]
    for path, gated in find_capability_usages(version.protocol).items():
        row = next(
            line for line in page.splitlines() if f'id="{markup.make_identifier(path.replace(":", "-", 1))}"' in line
        )
        for gate in gated:
            assert gate.member in row and (gate.owner in row or gate.how == "method")


def test_the_same_method_in_the_other_version_is_one_click_away_with_what_differs() -> None:
    one, two = versions()[:2]
    shared = {m.name: m.name for m in one.protocol.methods if m.name in {m.name for m in two.protocol.methods}}
    assert len(shared) > 10
    renamed = {was: m.name for m in two.protocol.methods for was in m.was}
    assert renamed == {"authenticate": "auth/login", "logout": "auth/logout"}
    shared |= renamed | {new: old for old, new in renamed.items()}
    for here, there in ((one, two), (two, one)):
        where, other = (docs.find_page_paths(v.protocol, v.bundle) for v in (here, there))
        for method in here.protocol.methods:
            page = files()[here.locate(where.methods[method.name])]
            line = next(line for line in page.splitlines() if line.startswith("Versions: "))
            if method.name in shared:
                assert f"../../{there.protocol.name.rpartition('/')[2]}/{other.methods[shared[method.name]]})" in line
                assert f"## Compared with {there.protocol.name}" in page
            else:
                assert "(does not have it)" in line
    compared = files()["acp/v1/methods/session_new.md"].partition("## Compared with acp/v2")[2]
    assert "`result.modes`" in compared and "`params.mcpServers`" in compared


def test_nothing_differs_is_only_said_where_a_field_is_the_same_in_all_that_its_row_tells(tmp_path: Path) -> None:
    plain: dict[str, Any] = {"type": "string"}
    others: dict[str, dict[str, Any]] = {
        "default": plain | {"default": "a"},
        "forgives": plain | {"x-deserialize-default-on-error": True},
        "null": {"type": ["string", "null"], "x-null": "clears"},
        "limit": plain | {"maxLength": 3},
    }
    for name, field in {"v1": plain, **others}.items():
        (tmp_path / name).mkdir()
        holder = {"type": "object", "properties": {"x": field}}
        (tmp_path / name / "schema.json").write_text(json.dumps({"$defs": {"Thing": holder}}))
    for name in others:
        found = [
            publish.Version(*understand(load(tmp_path / each, name=f"p/{each}")), Settings(prefix=f"p/{each}"))
            for each in ("v1", name)
        ]
        page = publish.map_texts(publish.make_pages(found, for_site=True))["p/v1/types/Thing.md"]
        assert "Nothing differs" not in page and "| `x` | `string, optional` |" in page, name


def test_a_method_that_was_renamed_is_found_under_its_new_name(tmp_path: Path) -> None:
    def version(name: str, method: str, was: list[str]) -> publish.Version:
        marks = {"x-method": method, "x-side": "agent", **({"x-was": was} if was else {})}
        schema = {"$defs": {"ARequest": {"type": "object", **marks}}}
        folder = tmp_path / name
        folder.mkdir(parents=True)
        (folder / "a.json").write_text(json.dumps(schema))
        return publish.Version(*understand(load(folder, name=name)), Settings(prefix=name))

    made = publish.map_texts(publish.make_pages([version("p/v1", "old", []), version("p/v2", "new", ["old"])]))
    assert "[p/v2](../../v2/methods/new.md)" in made["p/v1/methods/old.md"]
    assert "[p/v1](../../v1/methods/old.md)" in made["p/v2/methods/new.md"]
    assert "`name` | `old` | `new`" in made["p/v1/methods/old.md"]


def test_a_type_with_another_name_differs_and_nothing_is_claimed_of_the_types_that_it_names() -> None:
    page = files()["acp/v2/types/LoginAuthRequest.md"]
    assert "| `name` | `LoginAuthRequest` | `AuthenticateRequest` |" in page
    for page in pages().values():
        assert "Nothing differs." not in page
    told = "Nothing differs here. The types that it names are compared on their own pages."
    assert told in files()["acp/v1/types/RequestElicitationFormMode.md"]


@pytest.mark.parametrize("version", versions(), ids=lambda version: version.protocol.name)
def test_no_row_speaks_of_null_or_absence_where_neither_can_be(version: publish.Version) -> None:
    """Words that stand once for all branches of a union hold in each of them."""
    for definition in version.protocol.definitions.values():
        for field in definition.fields if isinstance(definition, ir.Record) else ():
            words = field.doc.lower().replace("`null` is not allowed", "")
            where = (definition.name, field.name, field.doc)
            assert "null" not in words or admits_null(field.type, version.protocol), where
            assert not (field.required and re.search(r"omission|omitted|absence|absent", words)), where


def test_machines_find_everything_from_llms_txt() -> None:
    listed = re.findall(r"\]\(([^)]*)\)", files()["llms.txt"])
    assert {f"{name}/index.md" for name in PROTOCOLS} <= set(listed) <= set(files())


# --- pictures --------------------------------------------------------------------------------------------------------


def drawn(page: str) -> list[ET.Element]:
    return [ET.fromstring(svg) for svg in re.findall(r"<svg.*?</svg>", page)]


def test_every_union_and_lifecycle_is_drawn_with_words_for_those_who_do_not_see_it() -> None:
    count = 0
    for version in versions():
        where = docs.find_page_paths(version.protocol, version.bundle)
        for definition in version.protocol.definitions.values():
            if isinstance(definition, ir.TaggedUnion):
                (svg,) = drawn(files()[version.locate(where.types[definition.name])])
                told = "".join(svg.itertext())
                assert all(str(variant.tag) in told for variant in definition.variants)
                count += 1
    for name, least in (("acp/v1", 5), ("acp/v2", 5), ("mcp/2025-06-18", 2)):
        assert len(drawn(files()[f"{name}/index.md"])) >= least
    for page in pages().values():
        for svg in drawn(page):
            named = [child.tag.rpartition("}")[2] for child in svg][:2]
            assert named == ["title", "desc"] and all(child.text for child in list(svg)[:2])
            assert svg.get("aria-labelledby") == " ".join(child.get("id", "") for child in list(svg)[:2])
            assert float(svg.get("width", "0")) <= pictures.WIDTH
            colours = {item.get(name) for item in svg.iter() for name in ("fill", "stroke")}
            assert colours <= {None, "none", "currentColor"}
    assert count > 30


def test_pages_of_a_repository_have_diagrams_that_a_forge_draws_in_place_of_svg() -> None:
    count = 0
    for path, page in files(for_site=False).items():
        assert "<svg" not in page, path
        drawn_here = len(drawn(files().get(path, "")))
        assert page.count("\n```mermaid\nsequenceDiagram\n    participant a as client\n") == drawn_here, path
        count += drawn_here
    assert count > 40


def test_a_diagram_obeys_no_name() -> None:
    arrows = [pictures.Arrow("a/b", "right", note="x;y"), pictures.Arrow("```\nend #1%", "left", answer=True)]
    assert pictures.write_mermaid(("client", "agent"), arrows).splitlines()[2:] == [
        "    participant a as client",
        "    participant b as agent",
        "    a->>b: a/b (x#59;y)",
        "    b-->>a: #96;#96;#96;#10;end #35;1#37;",
        "```",
    ]


def test_no_text_of_a_picture_runs_over_its_edge() -> None:
    for page in pages().values():
        for svg in drawn(page):
            for item in svg.iter("{http://www.w3.org/2000/svg}text"):
                width = len(item.text or "") * float(item.get("font-size", "12")) * 0.61
                x = float(item.get("x", "0"))
                room = 2 * min(x, pictures.WIDTH - x) if item.get("text-anchor") else pictures.WIDTH - x
                assert width <= room + 1, item.text


def test_every_planned_message_is_one_that_some_protocol_has() -> None:
    told = json.loads((ROOT / "templates/docs/scenarios.json").read_text("utf-8"))
    for plan in told:
        for message in plan["messages"]:
            assert any(has_message(v.protocol, message) for v in versions()), message


def test_the_way_of_an_answer_is_the_other_way() -> None:
    svg = pictures.draw_messages(
        "x", "X", ("client", "agent"), [pictures.Arrow("a", "right"), pictures.Arrow("b", "left", answer=True)]
    )
    assert "a to the agent; b to the client" in svg


def test_the_picture_of_a_union_links_to_its_variants() -> None:
    protocol, bundle = hostile()
    linker = Linker(find_page_paths(protocol, bundle), "types/Union.md")
    union = protocol.definitions["Union"]
    assert isinstance(union, ir.TaggedUnion)
    assert '<a href="#tag-two">' in pictures.draw_union(union, linker)


# --- publishing ------------------------------------------------------------------------------------------------------


def test_the_workflow_that_publishes_the_site_is_one_that_a_release_calls() -> None:
    """A release made by a workflow starts no other workflow, so the one that makes it has to call this one."""
    workflow = ROOT / ".github/workflows/docs.yml"
    told: Any = yaml.safe_load(workflow.read_text("utf-8"))
    assert set(told[True]) == {"workflow_call", "workflow_dispatch"}  # YAML 1.1 reads the key `on` as true
    calling = yaml.safe_load((ROOT / ".github/workflows/release.yml").read_text("utf-8"))["jobs"]["site"]
    assert (calling["needs"], calling["uses"]) == ("publish", "./.github/workflows/docs.yml")
    assert calling["permissions"] == told["permissions"] | told["jobs"]["publish"]["permissions"]
    steps = told["jobs"]["build"]["steps"]
    (built,) = [step["run"] for step in steps if step.get("run", "").startswith("acpgen docs build ")]
    assert built.startswith("acpgen docs build --out site --url ")


def test_the_area_of_a_file_that_names_the_whole_protocol_is_the_base_protocol() -> None:
    """The file with the root says what the protocol is called; a page with one area of many is not about all of it."""
    protocol, bundle = understand(load(ROOT / "schema" / "acp" / "v1", name="acp/v1"))
    assert bundle.schema["title"] == bundle.files["jsonrpc.json"][0] == "Agent Client Protocol"
    built = docs.build(protocol, bundle, Settings())
    assert built.describe_area("jsonrpc")[0] == "Base protocol"
    assert built.describe_area("session")[0] == "Sessions"
