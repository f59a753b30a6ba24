"""What stands above versions in the docs: a project's own pages, changelogs, since when, the monitor's rules."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from acp_monitor.requirements import list_requirements
from acpgen import cli, config, embedded, ir, publish
from acpgen.commands import build, project
from acpgen.compat.compare import compare
from acpgen.compat.findings import SEVERITIES
from acpgen.config import docs_inputs
from acpgen.errors import Faults
from acpgen.input.load import load
from acpgen.meaning.understanding import understand
from acpgen.publish import changelog, divergences, monitor, requirement_table, site
from acpgen.publish.first_releases import UNRELEASED, find_availability
from acpgen.publish.pages import arrange_navigation
from acpgen.publish.release_verdicts import FEW, History, read_histories
from acpgen.publish.versions import find_page_paths
from acpgen.targets import docs
from acpgen.targets.docs import examples
from acpgen.targets.interface import Settings
from monitor.cases import CASES, MCP_CASES
from published import PROTOCOLS, ROOT, files, read_docs_inputs, versions

Json = dict[str, Any]


@cache
def past() -> Mapping[str, History]:
    return read_histories(versions(), read_docs_inputs())


# --- a small project -------------------------------------------------------------------------------------------------

ASK: Json = {
    "type": "object",
    "properties": {"question": {"type": "string"}},
    "required": ["question"],
    "x-method": "ask",
    "x-side": "agent",
}
ANSWER: Json = {
    "type": "object",
    "properties": {"mood": {"$ref": "#/$defs/Mood"}},
    "x-method": "ask",
    "x-side": "agent",
}
PART: Json = {
    "anyOf": [
        {"type": "object", "properties": {"type": {"const": "text"}, "text": {"type": "string"}}, "required": ["type"]}
    ]
}


def schema(**changes: Json | None) -> Json:
    made: dict[str, Json | None] = {
        "AskRequest": ASK,
        "AskResponse": ANSWER,
        "Mood": {"enum": ["calm", "angry"]},
        "Part": PART,
        **changes,
    }
    return {"$defs": {name: value for name, value in made.items() if value is not None}}


def with_field(definition: Json, name: str, field: Json) -> Json:
    return {**definition, "properties": {**definition["properties"], name: field}}


def small(
    folder: Path,
    now: Json,
    releases: Mapping[str, Json],
    pages: Mapping[str, str] | None = None,
    differences: list[Json] | None = None,
) -> config.Config:
    """A project of one protocol `p/v1` with docs, and its releases, oldest first."""
    (folder / "pyproject.toml").write_text('[tool.acpgen.outputs."docs"]\ntarget = "docs"\nprotocols = ["p/v1"]\n')
    texts = {
        f"schema/{name}": text for name, text in {f"pages/{name}": text for name, text in (pages or {}).items()}.items()
    }
    texts["schema/p/v1/p.json"] = json.dumps(now)
    if releases:
        index: Json = {"about": "From *somewhere*.", "versions": list(releases)}
        if differences is not None:
            index["differences"] = differences
        texts["schema/releases/p/v1/index.json"] = json.dumps(index)
        texts |= {f"schema/releases/p/v1/{name}.json": json.dumps(value) for name, value in releases.items()}
    for path, text in texts.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text)
    found = config.read(folder)
    assert found is not None
    return found


def made(found: config.Config) -> Mapping[str, str]:
    """The docs of the site."""
    return site.make_docs(found, site.read_inputs(found)).documents


def in_repository(found: config.Config) -> Mapping[str, str]:
    """The docs that `acpgen generate` writes."""
    build.run(project.plan_outputs(found))
    return {
        path.relative_to(found.root / "docs").as_posix(): path.read_text("utf-8")
        for path in (found.root / "docs").rglob("*.*")
    }


# --- the repository, and versions that extend others -----------------------------------------------------------------


@pytest.mark.parametrize("version", versions(), ids=lambda version: version.protocol.name)
def test_a_repository_has_no_pages_of_types_and_shows_each_type_once_all_the_same(version: publish.Version) -> None:
    """On the page of a method, or where its area lists it; its fields are rows there."""
    here = files(for_site=False)
    where = docs.find_page_paths(version.protocol, version.bundle)
    shown = "\n".join(here[version.locate(page)] for page in (*where.methods.values(), *where.areas.values()))
    for name, definition in version.protocol.definitions.items():
        area = here[version.locate(where.areas[where.area_of[name]])]
        assert version.locate(where.types[name]) not in here and area.count(f'<a id="{name}"></a>') == 1, name
        whole = f'<a id="type-{name}"></a>' in shown or re.search(rf"<summary>{name}</summary>", area)
        assert whole and not (isinstance(definition, ir.Record) and definition.fields and name not in shown), name


def test_a_repository_holds_what_people_read_there() -> None:
    here, site_files = files(for_site=False), files()
    assert 150 < len(here) < 260 < len(site_files)
    folders = {path.rpartition("/")[0] for path in here}
    assert not {"compatibility", "monitor", "acp/v1/types", "acp/unstable", "acp/unstable/v1"} & folders
    assert {"compatibility", "monitor", "acp/v1/types", "acp/unstable", "acp/unstable/v1"} <= {
        path.rpartition("/")[0] for path in site_files
    }
    assert not [path for path, text in here.items() if ".py::" in text]
    assert [path for path, text in site_files.items() if ".py::" in text]


def test_what_lenient_decoding_and_metadata_mean_is_said_once_a_version() -> None:
    for said in ("receivers treat the field as omitted", "Data of an implementation"):
        told = [path for path, text in files(for_site=False).items() if path.startswith("acp/v1/") and said in text]
        assert len(told) <= 3 and "acp/v1/messages.md" in told, told  # where the type itself is listed, too
    assert "[lenient](../messages.md#lenient) |" in files(for_site=False)["acp/v1/methods/session_new.md"]


def test_a_version_that_extends_another_one_has_pages_for_what_differs(tmp_path: Path) -> None:
    text: Json = {"type": "string", "description": "Said."}
    other = {"Same": {"type": "object"}, "Worded": text, "Shown": {**text, "examples": ["a"]}}
    stable = schema(
        AskRequest=with_field(ASK, "part", {"$ref": "#/$defs/Part"}),
        TellRequest=TELL,
        **other,
    )
    adds = {
        "x-extends": "../../v1/p.json",
        "x-adds": {
            "#/$defs/Part/anyOf": [{"type": "object", "properties": {"type": {"const": "image"}}, "required": ["type"]}]
        },
        "$defs": {"HintRequest": {"type": "object", "x-method": "hint", "x-side": "agent"}},
    }
    for folder, value in (("v1", stable), ("next/v1", adds)):
        (tmp_path / "schema/p" / folder).mkdir(parents=True)
        (tmp_path / "schema/p" / folder / "p.json").write_text(json.dumps(value))
    names = '["p/v1", "p/next/v1"]'
    (tmp_path / "pyproject.toml").write_text(f'[tool.acpgen.outputs."docs"]\ntarget = "docs"\nprotocols = {names}\n')
    found = config.find(tmp_path)
    pages = made(found)
    own = {path for path in pages if path.startswith("p/next/v1/")}
    assert {f"p/next/v1/{each}.md" for each in ("methods/ask", "methods/hint", "types/Part", "areas/p")} <= own
    assert not {f"p/next/v1/{each}.md" for each in ("methods/tell", "types/Same", "types/Worded", "errors")} & own
    assert "[`tell`](../../v1/methods/tell.md)" in pages["p/next/v1/methods.md"]
    assert "[`Part`](types/Part.md)" in pages["p/next/v1/types.md"]
    ask = pages["p/next/v1/methods/ask.md"]
    assert "[`Part`](../types/Part.md)" in ask and "[`AskRequest`](../../../v1/types/AskRequest.md)" in ask
    assert "Compared with p/v1" in pages["p/next/v1/types/Part.md"]
    assert "- Methods: [`ask`](methods/ask.md), [`hint`](methods/hint.md)." in pages["p/next/v1/index.md"]
    titles = str(site.make_docs(found, site.read_inputs(found)).navigation)
    assert "p/next/v1/types/Part.md" in titles and "p/next/v1/types/Same.md" not in titles
    assert not [path for path in in_repository(found) if "next" in path]


def test_a_version_of_which_more_is_to_be_told_of_messages_or_errors_has_pages_for_them(tmp_path: Path) -> None:
    small(tmp_path, schema(AskRequest=ASK), {})
    (tmp_path / "pyproject.toml").write_text(
        '[tool.acpgen.outputs."docs"]\ntarget = "docs"\nprotocols = ["p/v1", "p/next/v1"]\n'
    )
    hint = {"type": "object", "x-method": "hint", "x-side": "agent", "description": "Fails with -32603 at night."}
    cancel = {"type": "object", "x-method": "$/cancel_request", "x-side": "agent"}
    (tmp_path / "schema/p/next/v1").mkdir(parents=True)
    for added, own in ({"HintRequest": hint}, "errors"), ({"CancelNotification": cancel}, "messages"):
        (tmp_path / "schema/p/next/v1/p.json").write_text(json.dumps({"x-extends": "../../v1/p.json", "$defs": added}))
        found = config.find(tmp_path)
        pages = made(found)
        assert [page for page in ("errors", "messages") if f"p/next/v1/{page}.md" in pages] == [own]
        assert {"errors": "methods/hint.md", "messages": "## Cancelling"}[own] in pages[f"p/next/v1/{own}.md"]


def test_another_word_or_example_makes_a_type_differ(tmp_path: Path) -> None:
    one: Json = {"type": "string", "description": "Said.", "examples": ["a"]}
    for folder, value in (
        ("a", one),
        ("b", one),
        ("c", {**one, "description": "Told."}),
        ("d", {**one, "examples": ["b"]}),
    ):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "p.json").write_text(json.dumps({"$defs": {"Word": value}}))
    made = {
        name: publish.Version(
            *understand(load(tmp_path / name, name=name)), Settings(prefix=name), extends="a" * (name != "a")
        )
        for name in "abcd"
    }
    has = {
        name: "types/Word.md" not in places.replacements
        for name, places in find_page_paths(list(made.values()), for_site=True).items()
    }
    assert has == {"a": True, "b": False, "c": True, "d": True}


# --- pages of the project --------------------------------------------------------------------------------------------


def test_pages_of_a_project_go_into_its_docs_and_its_navigation(tmp_path: Path) -> None:
    pages = {
        "index.md": "# The toy\n\nRead [why](why.md) and [ask](p/v1/methods/ask.md).\n",
        "why.md": "# Why *this*\n\n| a |\n| --- |\n| <b>raw</b> |\n\nBack [home](index.md#the-toy).\n",
    }
    found = small(tmp_path, schema(), {}, pages)
    files = made(found)
    assert files["why.md"] == pages["why.md"]
    home = files["index.md"]
    assert home.startswith("# The toy\n\nRead [why](why.md)") and "# Protocols" not in home
    assert home.index("# The toy") < home.index("## [p/v1](p/v1/index.md)")
    assert "(why.md)" in files["llms.txt"]
    beside = docs_inputs.parse_docs_inputs(docs_inputs.read(tmp_path / "schema", ["p/v1"]))
    version = publish.Version(*understand(load(tmp_path / "schema/p/v1", name="p/v1")), Settings(prefix="p/v1"))
    pages_ = publish.make_pages([version], beside)
    entries = publish.arrange_navigation(pages_)
    assert entries[:2] == [("Home", "index.md"), ("Why *this*", "why.md")]
    assert "Changelog" not in json.dumps(entries) and "monitor.md" not in files
    sections = (("Reasons", ("why.md",)),)
    assert publish.arrange_navigation(pages_, sections)[1] == ("Reasons", [("Why *this*", "why.md")])
    with pytest.raises(Faults, match=r"sections: there is no page 'whi\.md'\. Did you mean 'why\.md'\?"):
        publish.arrange_navigation(pages_, (("Reasons", ("whi.md",)),))


def test_a_section_takes_a_group_by_its_first_page_and_other_pages_one_by_one() -> None:
    places = {
        "index.md": ("Home",),
        "how/index.md": ("How", "Overview"),
        "how/a.md": ("How", "A"),
        "how/b.md": ("How", "B"),
        "v1/index.md": ("v1", "Overview"),
        "v1/methods.md": ("v1", "Methods", "All"),
        "v1/ask.md": ("v1", "Methods", "ask"),
        "for-machines.txt": (),
        "lint.md": ("Rules", "Lint", "All"),
        "lint/x.md": ("Rules", "Lint", "x"),
    }
    entries = [publish.Page(path, "", place) for path, place in places.items()]
    sections = (("Learn", ("index.md", "how/b.md", "how/index.md")), ("Look up", ("v1/methods.md", "lint.md")))
    assert arrange_navigation(entries, sections) == [
        (
            "Learn",
            [("Home", "index.md"), ("B", "how/b.md"), ("How", [("Overview", "how/index.md"), ("A", "how/a.md")])],
        ),
        (
            "Look up",
            [
                ("Methods", [("All", "v1/methods.md"), ("ask", "v1/ask.md")]),
                ("Lint", [("All", "lint.md"), ("x", "lint/x.md")]),
            ],
        ),
        ("v1", [("Overview", "v1/index.md")]),
    ]
    assert arrange_navigation(entries) == [
        ("Home", "index.md"),
        ("How", [("Overview", "how/index.md"), ("A", "how/a.md"), ("B", "how/b.md")]),
        ("v1", [("Overview", "v1/index.md"), ("Methods", [("All", "v1/methods.md"), ("ask", "v1/ask.md")])]),
        ("Rules", [("Lint", [("All", "lint.md"), ("x", "lint/x.md")])]),
    ]


def test_the_pages_of_a_folder_stand_in_the_order_in_which_its_own_page_links_to_them(tmp_path: Path) -> None:
    pages = {
        "how/a.md": "# A\n",
        "how/b.md": "# B\n",
        "how/c.md": "# C\n",
        "how/index.md": "# How\n\n`[a](a.md)` [c](c.md#d), [home](../index.md), [b](b.md)\n",
        "why/d.md": "# D\n",
    }
    small(tmp_path, schema(), {}, pages)
    beside = docs_inputs.parse_docs_inputs(docs_inputs.read(tmp_path / "schema", ["p/v1"]))
    version = publish.Version(*understand(load(tmp_path / "schema/p/v1", name="p/v1")), Settings(prefix="p/v1"))
    entries = dict(publish.arrange_navigation(publish.make_pages([version], beside)))
    assert entries["How"] == [("Overview", "how/index.md"), ("C", "how/c.md"), ("B", "how/b.md"), ("A", "how/a.md")]
    assert entries["Why"] == [("D", "why/d.md")]


@pytest.mark.parametrize(
    "path", ["pages/why.md", "releases/p/v1/1.0.json", "releases/p/v1/index.json", "requirements.json"]
)
def test_an_edit_beside_the_schemas_makes_the_docs_anew_and_nothing_else(tmp_path: Path, path: str) -> None:
    small(tmp_path, schema(), {"1.0": schema()}, {"why.md": "# Why\n"})
    (tmp_path / "pyproject.toml").write_text(
        (tmp_path / "pyproject.toml").read_text()
        + '\n[tool.acpgen.outputs."bundles"]\ntarget = "bundle"\nprotocols = ["p/v1"]\n'
    )
    found = config.find(tmp_path)
    build.run(project.plan_outputs(found))
    assert len(build.run(project.plan_outputs(found)).fresh) == 2
    edited = tmp_path / "schema" / path
    if path == "requirements.json":
        edited.write_text((ROOT / "schema" / path).read_text())
    elif path.endswith(".md"):
        edited.write_text(edited.read_text() + "\nMore.\n")
    else:
        edited.write_text(edited.read_text().replace("somewhere", "elsewhere").replace("question", "wish"))
    stamps = build.read_docs_inputs(project.plan_outputs(found))
    assert path in dict(stamps[tmp_path / "docs"].files)
    if path == "requirements.json":
        return  # a table about other protocols is a fault here; that it is read is what counts
    assert build.run(project.plan_outputs(found)).fresh == (tmp_path / "bundles",)


def test_what_lies_beside_the_schemas_is_no_protocol(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    found = small(tmp_path, schema(), {"1.0": schema()}, {"why.md": "# Why\n"})
    (tmp_path / "schema" / "requirements.json").write_text("{}")
    monkeypatch.chdir(found.root)
    with pytest.raises(SystemExit):
        cli.app(["lint"], prog_name="acpgen")
    *lines, count = capsys.readouterr().out.splitlines()
    assert {line.partition(":")[0] for line in lines} == {"schema/p/v1/p.json"}
    assert count == f"{len(lines)} errors"
    with pytest.raises(SystemExit):
        cli.app(["validate", "--protocol", "releases/p/v1", "/dev/null"], prog_name="acpgen")
    assert "there is no protocol 'releases/p/v1'" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("[]", "index.json#: this must be an object"),
        ('{"versions": "1.0"}', "index.json#/versions: this must be a list"),
        ('{"versions": [1]}', "index.json#/versions/0: this must be a version"),
        ('{"about": 1, "versions": []}', "index.json#/about: this must be a string"),
        ('{"versions": [], "dates": []}', "index.json#/dates: this must be an object"),
        ('{"versions": ["1"], "dates": {"2/": "2026-01-31"}}', "index.json#/dates/2~1: no such version is kept"),
        ('{"versions": ["1"], "dates": {"1": "2026-02-30"}}', "index.json#/dates/1: this must be a date"),
        ('{"versions": ["1"], "dates": {"1": 20260131}}', "index.json#/dates/1: this must be a date"),
        ('{"versions": ["1"], "titles": ["One"]}', "index.json#/titles: this must be an object"),
        ('{"versions": ["1"], "titles": {"2": "Two"}}', "index.json#/titles/2: no such version is kept"),
        ('{"versions": ["1"], "titles": {"1": ""}}', "index.json#/titles/1: this must be a line"),
        ('{"versions": ["1", "2"], "titles": {"1": "2"}}', "index.json#/titles: two releases have one title"),
        ('{"versions": ["1"], "differences": {}}', "index.json#/differences: this must be an array"),
        (
            '{"versions": ["1"], "differences": [{"at": [], "why": "So."}]}',
            "index.json#/differences/0/at: this must be a reason",
        ),
        ('{"versions": ["1"], "differences": [{"at": ["A"]}]}', "index.json#/differences/0/why: this must be a reason"),
        ("{", "index.json:1:2: this is not JSON"),
    ],
)
def test_an_index_of_releases_that_is_none_is_a_fault_with_its_place(text: str, told: str) -> None:
    with pytest.raises(Faults, match=re.escape(told)):
        docs_inputs.parse_index(text.encode(), "index.json")


def test_a_project_without_any_of_it_has_no_page_for_it(tmp_path: Path) -> None:
    (tmp_path / "schema" / "pages").mkdir(parents=True)
    files = made(small(tmp_path, schema(), {}))
    assert not {"requirements.md", "monitor.md", "p/v1/changelog.md"} & files.keys()
    assert files["index.md"].startswith("# Protocols\n")
    assert "Published" not in files["p/v1/methods/ask.md"]


# --- since when ------------------------------------------------------------------------------------------------------


def test_methods_types_and_their_members_say_since_when_they_are_published(tmp_path: Path) -> None:
    tell = {"type": "object", "x-method": "tell", "x-side": "agent"}
    first = schema(Mood=None, AskResponse={**ANSWER, "properties": {}})
    second = schema(AskRequest=with_field(ASK, "tone", {"type": "string"}), Mood={"enum": ["calm"]}, TellRequest=tell)
    third = schema(AskRequest=with_field(ASK, "tone", {"type": "string"}))
    now = schema(
        AskRequest=with_field(with_field(ASK, "tone", {"type": "string"}), "haste", {"type": "boolean"}),
        TellRequest=tell,
        HintRequest={"type": "object", "x-method": "hint", "x-side": "agent"},
    )
    files = made(small(tmp_path, now, {"1.0": first, "1.1": second, "2.0": third}))
    ask = files["p/v1/methods/ask.md"]
    assert "- Published: since schema release 1.0 or earlier ([changelog](../changelog.md))\n" in ask
    rows = {name: line for line in ask.splitlines() for name in re.findall(r'^\| <a id="params-(\w+)">', line)}
    assert "Since" not in rows["question"] and "Since schema release 1.1 (1.0 lacks it)." in rows["tone"]
    assert "Not in a schema release yet." in rows["haste"]
    assert "- Published: in schema releases up to 1.1 (" in files["p/v1/methods/tell.md"]
    assert "- Published: not in a schema release yet (" in files["p/v1/methods/hint.md"]
    mood = files["p/v1/types/Mood.md"]
    assert " · since schema release 1.1 (1.0 lacks it)\n" in mood
    values = {name: line for line in mood.splitlines() for name in re.findall(r'^\| <a id="value-(\w+)">', line)}
    assert "Since" not in values["calm"] and "Since schema release 2.0 (1.1 lacks it)." in values["angry"]


def test_nothing_is_said_of_a_type_whose_name_upstream_does_not_know(tmp_path: Path) -> None:
    nested = {"type": "object", "properties": {"depth": {"type": "integer"}}}
    now = schema(AskRequest=with_field(ASK, "inner", nested), Ours={"type": "object", "properties": {"a": True}})
    files = made(small(tmp_path, now, {"1.0": schema(AskRequest=with_field(ASK, "inner", nested))}))
    named = [path for path in files if path.startswith("p/v1/types/") and "nner" in path]
    assert named
    for path in (*named, "p/v1/types/Ours.md"):
        assert "since" not in files[path].lower() and "release" not in files[path]


def test_a_type_that_was_another_kind_of_thing_makes_no_claim_about_its_members(tmp_path: Path) -> None:
    text = {"type": "string"}
    files = made(small(tmp_path, schema(), {"1.0": schema(Mood=text), "1.1": schema()}))
    assert " · since schema release 1.0 or earlier\n" in files["p/v1/types/Mood.md"]
    assert "Since schema release 1.1 or earlier." in files["p/v1/types/Mood.md"]


def test_a_field_of_a_variant_is_as_old_as_it_is_on_the_wire(tmp_path: Path) -> None:
    """Before, the fields stood beside the reference to the record; now they stand in it."""
    text: Json = {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]}
    tag: Json = {"type": {"const": "text"}}
    size: Json = {"size": {"type": "integer"}}
    beside_it: Json = {"allOf": [{"$ref": "#/$defs/Text"}], "properties": {**tag, **size}, "required": ["type"]}
    now: Json = {**text, "properties": {**text["properties"], **tag, **size, "new": {"type": "string"}}}
    now["required"] = ["type", "text"]
    files = made(
        small(
            tmp_path,
            schema(Part={"anyOf": [{"$ref": "#/$defs/Text"}]}, Text=now),
            {"1.0": schema(Part={"anyOf": [beside_it]}, Text=text)},
        )
    )
    rows = {line.split("`")[1]: line for line in files["p/v1/types/Text.md"].splitlines() if line.startswith("| <a id")}
    assert set(rows) == {"type", "text", "size", "new"}
    assert [name for name, row in rows.items() if "Not in a schema release yet." in row] == ["new"]
    assert "The discriminator of [`Part`](Part.md)." in rows["type"]


# --- how things stand to upstream -------------------------------------------------------------------------------------


TELL: Json = {"type": "object", "x-method": "tell", "x-side": "agent"}


def test_methods_types_and_their_members_say_how_they_stand_to_upstream(tmp_path: Path) -> None:
    path: Json = {"type": "string"}
    lenient: Json = {"type": "integer", "x-deserialize-default-on-error": True}
    base = with_field(with_field(ASK, "file", path), "size", {"type": "integer"})
    older = schema(AskRequest=base, TellRequest=TELL)
    newest = schema(AskRequest=with_field(base, "size", lenient))
    now = schema(
        AskRequest=with_field(with_field(base, "file", {"$ref": "#/$defs/Where"}), "tone", {"type": "string"}),
        Mood={"enum": ["calm", "angry"], "x-unknown": "keep"},
        Where={"type": "string", "minLength": 1},
        TellRequest=TELL,
        HintRequest={"type": "object", "x-method": "hint", "x-side": "agent"},
        Note={"type": "object", "properties": {"part": {"$ref": "#/$defs/Part"}}},
    )
    why = [
        {"at": ["Where"], "why": "An empty path names nothing."},
        {"at": ["AskRequest.size"], "why": "A *bad* size is an error."},
        {"at": ["TellRequest"], "why": "Peers still send it."},
        {"at": ["x-unknown"], "why": "Newer peers have more."},
    ]
    files = made(small(tmp_path, now, {"1.0": older, "2.0": newest}, differences=why))
    ask = files["p/v1/methods/ask.md"]
    told = "As upstream (2&#46;0). Added here: [`AskRequest`](../types/AskRequest.md)"
    assert f"- Provenance: {told}, [`Where`](../types/Where.md). Stricter here: [`AskRequest`]" in ask
    assert "More lenient here: [`Mood`](../types/Mood.md)." in ask
    rows = {name: line for line in ask.splitlines() for name in re.findall(r'^\| <a id="params-(\w+)">', line)}
    assert "Stricter here than upstream. An empty path names nothing. |" in rows["file"]
    assert "Stricter here than upstream. A &#42;bad&#42; size is an error. |" in rows["size"]
    assert "Upstream does not have it. |" in rows["tone"] and "pstream" not in rows["question"]
    assert (
        "- Provenance: Kept here, removed upstream after 1&#46;0. Peers still send it.\n"
        in files["p/v1/methods/tell.md"]
    )
    assert "- Provenance: Of this project; upstream (2&#46;0) does not have it.\n" in files["p/v1/methods/hint.md"]
    types = {name: files[f"p/v1/types/{name}.md"] for name in ("AskRequest", "AskResponse", "Mood", "Part", "Where")}
    assert "Stricter here than upstream (2&#46;0): `file`, `size`." in types["AskRequest"]
    assert "Extended here beyond upstream (2&#46;0): `tone`." in types["AskRequest"]
    assert "Provenance: More lenient here than upstream (2&#46;0). Newer peers have more.\n" in types["Mood"]
    assert all("Provenance: As upstream (2&#46;0).\n" in types[name] for name in ("AskResponse", "Part"))
    assert "Of this project; upstream (2&#46;0) does not have it. An empty path names nothing." in types["Where"]


@pytest.mark.parametrize("is_in_schema", [True, False], ids=["x-name", "names"])
def test_a_type_with_a_chosen_name_keeps_its_history(is_in_schema: bool, tmp_path: Path) -> None:
    shape: Json = {"type": "object", "properties": {"a": {"type": "string"}}}
    inner: Json = {"type": "object", "properties": {"b": {"type": "string"}}, "required": ["b"]}
    ask, chosen = with_field(ASK, "shape", {"$ref": "#/$defs/Shape"}), {"x-name": "Form"} if is_in_schema else {}
    now = schema(AskRequest=ask, Shape={**with_field(shape, "inner", inner), **chosen})
    releases = {"1.0": schema(), "2.0": schema(AskRequest=ask, Shape=shape)}
    found = small(tmp_path, now, releases, differences=[{"at": ["Shape.inner"], "why": "It holds more."}])
    files = made(found if is_in_schema else replace(found, names={"Shape": "Form"}))
    page = files["p/v1/types/Form.md"]
    assert "since schema release 2.0 (1.0 lacks it)" in page
    assert "Extended here beyond upstream (2&#46;0): `inner`." in page and "It holds more. |" in page
    assert "Part of [`Form`](Form.md), which differs from upstream." in files["p/v1/types/FormInner.md"]


def test_releases_that_nobody_calls_upstreams_say_nothing_of_it(tmp_path: Path) -> None:
    files = made(small(tmp_path, schema(), {"1.0": schema()}))
    assert not [path for path, text in files.items() if "Provenance" in text]


def test_a_reason_for_what_is_as_upstream_is_a_fault_with_its_place(tmp_path: Path) -> None:
    why = [{"at": ["Mood"], "why": "It was so."}]
    with pytest.raises(Faults, match=re.escape("index.json#/differences/0/at/0: nothing differs from 1.0 at Mood")):
        made(small(tmp_path, schema(), {"1.0": schema()}, differences=why))


@pytest.mark.parametrize("name", ["acp/v1", "acp/v2"])
def test_every_difference_from_upstream_has_its_reason(name: str) -> None:
    version = next(each for each in versions() if each.protocol.name == name)
    found = divergences.find_origins(version, past()[name], read_docs_inputs().releases[name], read_docs_inputs().root)
    shown = {key: told for key, told in found.members.items() if key[0] in version.protocol.definitions}
    alone = {
        (key,): tuple(each for each in told if not each.members)
        for key, told in found.types.items()
        if key in version.protocol.definitions
    }
    assert shown and [key for key, told in (shown | alone).items() if not all(each.why for each in told)] == []
    assert all(origin.why for origin in found.methods.values())


@pytest.mark.parametrize("name", ["acp/v1", "acp/v2"])
def test_every_age_is_that_of_the_first_release_that_names_the_thing(name: str) -> None:
    """Told again without the meaning: by the words that stand in the files."""
    version = next(each for each in versions() if each.protocol.name == name)
    known = find_availability(version, past()[name])
    releases = [release.title for release in read_docs_inputs().releases[name].releases]
    kept = [release.version for release in read_docs_inputs().releases[name].releases]
    raw = [(ROOT / "schema" / "releases" / name / f"{each}.json").read_text() for each in kept]
    for method, said in known.methods.items():
        has = [f'"x-method":"{method}"' in text for text in raw]
        if said == UNRELEASED:
            assert not any(has), method
        elif said.startswith("in schema releases up to "):
            last = releases.index(said.removeprefix("in schema releases up to "))
            assert has[last] and not any(has[last + 1 :]), method
        else:
            first = releases.index(said.partition(" (")[0].removesuffix(" or earlier"))
            assert all(has[first:]), method
            assert not any(has[:first]), method
            assert said.endswith(" or earlier" if first == 0 else f" ({releases[first - 1]} lacks it)"), method
    for type_, said in known.types.items():
        has = [re.search(rf'^  "{re.escape(type_)}": ', text, re.MULTILINE) is not None for text in raw]
        if said.endswith("lacks it)") and any(has):
            at = releases.index(said.partition(" (")[0])
            assert has[at] and not has[at - 1], type_
    assert len(known.types) > 100 and len(known.members) > 300
    assert UNRELEASED in known.methods.values()


def test_a_method_of_each_age_says_so_on_its_page() -> None:
    for page, said in (
        ("acp/v1/methods/session_new.md", "since schema release 0.4.0 or earlier"),
        ("acp/v1/methods/session_list.md", "since schema release 0.12.1 (0.11.0 lacks it)"),
        ("acp/v1/methods/elicitation_create.md", "since schema release 1.21.0 (0.13.5 lacks it)"),
        ("acp/v1/methods/session_fork.md", UNRELEASED),
        ("acp/v2/methods/tool_call_cancel.md", "since schema release TypeScript SDK 2.4.0 (2.0.0-alpha.3 lacks it)"),
    ):
        assert f"- Published: {said} ([changelog](../changelog.md))\n" in files()[page], page
    assert "Published" not in files()["mcp/2025-06-18/methods/roots_list.md"]


# --- changelogs ------------------------------------------------------------------------------------------------------


def sections(page: str) -> list[tuple[str, str]]:
    found = re.split(r"^## ", page, flags=re.MULTILINE)[1:]
    return [(head, body) for part in found for head, _, body in [part.partition("\n")]]


@pytest.mark.exhaustive
@pytest.mark.parametrize("name", ["acp/v1", "acp/v2"])
def test_the_changelog_tells_what_the_compatibility_check_finds_between_releases(name: str) -> None:
    releases = read_docs_inputs().releases[name].releases
    page = files(for_site=False)[f"{name}/changelog.md"]
    told = sections(page)
    assert len(told) == len(releases)
    for (old, new), (head, body) in zip(pairwise(releases), reversed(told[:-1]), strict=True):
        assert head == f"`{new.title}`, after `{old.title}`"
        report = compare(old.documents, new.documents)
        found = {each.severity for each in report.findings}
        tally = ", ".join(level for level in SEVERITIES if level in found)
        assert re.match(rf"(Published on [0-9-]+\. )?{report.verdict.capitalize()}", body.strip())
        assert f"Findings: {tally}." in body if tally else "Findings" not in body
        told_rules = set(re.findall(r"compatibility\.md#([a-z-]+)\)", body))
        assert told_rules <= {each.rule for each in report.findings if each.severity != "editorial"}
        if "more kinds of change" not in body:
            assert told_rules == {each.rule for each in report.findings if each.severity != "editorial"}
            named = {each.method for each in report.findings if each.severity in ("breaking", "risky") and each.method}
            if len(named) <= FEW:
                assert all(f"`{method}`" in body for method in named)
    assert told[-1][0].endswith("and earlier")
    assert "There may have been other releases" in page


@pytest.mark.parametrize("name", ["acp/v1", "acp/v2"])
def test_what_this_schema_differs_in_from_the_newest_release_is_decided(name: str) -> None:
    this_schema = files()[f"{name}/changelog.md"].partition('<a id="this-schema"></a>')[2]
    assert "**additive**" in this_schema
    assert "undecided" not in this_schema


def test_a_changelog_links_what_is_still_there_and_names_what_is_not(tmp_path: Path) -> None:
    tell = {"type": "object", "properties": {"a": {"type": "string"}}, "x-method": "tell", "x-side": "agent"}
    first = schema(TellRequest=tell)
    second = schema(AskRequest=with_field(ASK, "<b>|`x`", {"type": "string"}))
    found = small(tmp_path, second, {"1.0": first, "2.0": second})
    page = made(found)["p/v1/changelog.md"]
    heads = [head for head, _ in sections(page)]
    assert heads == ["`2.0`, after `1.0`", "`1.0` and earlier", "This schema, compared with `2.0`"]
    step = sections(page)[0][1]
    assert "**`tell`**" in step and "**breaking**, [`method-removed`](../../compatibility.md#method-removed)" in step
    assert "**[`ask`](methods/ask.md)**" in step and "[`AskRequest`](types/AskRequest.md)" in step
    assert "<b>" not in page and "From &#42;somewhere&#42;." in page
    assert sections(page)[2][1].split("\n\n")[-1].strip() == "Identical."
    alone = in_repository(found)["p/v1/changelog.md"]
    assert [head for head, _ in sections(alone)] == heads[:2] and "This schema" not in alone
    assert "[`AskRequest`](areas/p.md#AskRequest)" in alone


def test_a_step_of_many_changes_is_cut_and_says_so(tmp_path: Path) -> None:
    many = {f"field{index}": {"type": "string"} for index in range(changelog.MANY + 5)}
    grown = schema(AskRequest={**ASK, "properties": {**ASK["properties"], **many}})
    page = made(small(tmp_path, grown, {"1.0": schema(), "2.0": grown}))["p/v1/changelog.md"]
    assert page.count("`field-added`") == changelog.MANY
    assert "There are more kinds of change" in page


def test_what_a_growing_schema_adds_is_told_whole(tmp_path: Path) -> None:
    """A cut after so many would hide what two branches add together."""
    many = {f"field{index}": {"type": "string"} for index in range(changelog.MANY + 5)}
    grown = schema(AskRequest={**ASK, "properties": {**ASK["properties"], **many}})
    page = made(small(tmp_path, grown, {"1.0": schema()}))["p/v1/changelog.md"]
    assert page.count("`field-added`") == len(many)
    assert "more kinds of change" not in page


def test_one_change_in_many_places_is_one_entry() -> None:
    step = dict(sections(files()["acp/v1/changelog.md"]))["`0.9.0`, after `0.8.0`"]
    assert "Findings: breaking." in step
    assert step.count("\n- **breaking**") < 10 and " and others." in step


def test_changelogs_stay_small() -> None:
    assert max(len(files()[f"{name}/changelog.md"].encode()) for name in PROTOCOLS[:2]) < 200_000


# --- rules of the monitor --------------------------------------------------------------------------------------------


def test_the_pages_of_the_monitor_are_the_list_of_its_rules() -> None:
    pages, rules = monitor.map_pages(), embedded.monitor.RULES
    known = publish.requirements.map_addresses(requirement_table.parse_table(read_docs_inputs().requirements, ""))
    told: dict[str, str] = {}
    for path in dict.fromkeys(pages.values()):
        found = dict(re.findall(r"^## (\S+)\n(.*?)(?=^## |\Z)", files()[path], re.MULTILINE | re.DOTALL))
        assert found.keys() == {name for name in rules if pages[name] == path}
        told |= found
    assert told.keys() == rules.keys()
    listed = re.findall(
        r'^- <a id="(.*?)"></a>\[`(.*?)`\]\((.*?)#(.*?)\), (\w+): ', files()["monitor.md"], re.MULTILINE
    )
    assert sorted(listed) == sorted((name, name, pages[name], name, rules[name].level) for name in rules), (
        "an address from before leads to the rule"
    )
    assert {case.rule for case in (*CASES, *MCP_CASES)} <= set(told)
    for name, rule in rules.items():
        assert " ".join(rule.doc.split())[:40].split("`")[0] in told[name]
        assert f"- Level: {rule.level}\n" in told[name] and rule.level in monitor.LEVELS
        linked = re.findall(r"^    - \[.*\]\(\.\./(requirements/.*)\)$", told[name], re.MULTILINE)
        assert linked == [known[each] for each in rule.requirements]
        assert set(rule.requirements) == set(list_requirements(name))
        assert re.search(r"^- In: `", told[name], re.MULTILINE), name


def test_each_subject_of_the_monitor_is_introduced_by_whole_sentences() -> None:
    for path in dict.fromkeys(monitor.map_pages().values()):
        title, said = files()[path].split("\n\n")[:2]
        assert title.startswith("# ") and re.fullmatch(r"[A-Z`].*\.", " ".join(said.split())), said
        assert len(said.split()) > 10, f"{path}: is this a sentence?"
        assert said in files()["monitor.md"], path


def test_a_rule_names_the_protocols_in_which_it_can_be_broken() -> None:
    spoken = {rule: set(monitor.find_protocols(found, versions())) for rule, found in embedded.monitor.RULES.items()}
    assert spoken["mode-not-offered"] == {"acp/v1"} and spoken["marker-without-meaning"] == {"acp/v2"}
    assert spoken["root-with-traversal"] == {"mcp/2025-06-18"} and spoken["not-json"] == set(PROTOCOLS)
    for case in (*CASES, *MCP_CASES):
        text = json.dumps([repr(line) for line in case.said])
        asked = re.search(r"protocolVersion\D+?(1|2|2025-06-18)\D", text)
        if asked is not None:
            protocol = {"1": "acp/v1", "2": "acp/v2"}.get(asked[1], "mcp/2025-06-18")
            assert protocol in spoken[case.rule], case


# --- capabilities ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("version", versions(), ids=lambda version: version.protocol.name)
def test_what_a_capability_gates_says_so_where_it_is_told(version: publish.Version) -> None:
    where = docs.find_page_paths(version.protocol, version.bundle)

    def lines(name: str) -> list[str]:
        return files()[version.locate(where.types[name])].splitlines()

    count = 0
    for method in version.protocol.methods:
        page = files()[version.locate(where.methods[method.name])]
        (line,) = (line for line in page.splitlines() if line.startswith(f"**{method.kind.capitalize()}** "))
        gate = f"Needs the capability [`{(method.capability or '').partition(':')[2]}`]"
        assert (gate in line) == (method.capability is not None) != ("Needs no capability." in line)
    for definition in version.protocol.definitions.values():
        if isinstance(definition, ir.Record):
            for field in definition.fields:
                if field.capability is not None:
                    row = next(line for line in lines(definition.name) if f'<a id="field-{field.name}">' in line)
                    assert f"has advertised [`{field.capability.partition(':')[2]}`]" in row
                    count += 1
        elif isinstance(definition, ir.TaggedUnion):
            page = "\n".join(lines(definition.name))
            for variant in definition.variants:
                if variant.capability is not None:
                    section = page.partition(f'\n<a id="tag-{variant.tag}"></a>')[2].partition("\n## ")[0]
                    assert f"has advertised [`{variant.capability.partition(':')[2]}`]" in section
                    count += 1
    assert count >= (10 if version.family == "acp" else 0)


# --- examples --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("version", versions(), ids=lambda version: version.protocol.name)
def test_every_type_has_an_example_of_its_own_or_one_that_is_made(version: publish.Version) -> None:
    judge = examples.ExampleJudge(version.bundle)
    given = examples.collect_examples(version.protocol, judge)
    made = examples.generate_examples(version.protocol, judge, given)
    assert made.keys() == {name for name, found in given.items() if not found}
    where = docs.find_page_paths(version.protocol, version.bundle)
    for name in version.protocol.definitions:
        page = files()[version.locate(where.types[name])]
        assert "## Examples" in page
        assert ("This value was generated from it" in page) == (name in made)
    for method in version.protocol.methods:
        assert not {method.params, method.result} & made.keys()


def test_a_method_without_examples_shows_messages_that_are_made_and_hold(tmp_path: Path) -> None:
    page = made(small(tmp_path, schema(), {}))["p/v1/methods/ask.md"]
    request, answer = (json.loads(body) for body in re.findall(r"^```json\n(.*?)^```$", page, re.MULTILINE | re.DOTALL))
    assert request == {"jsonrpc": "2.0", "id": 1, "method": "ask", "params": {"question": "text"}}
    assert answer == {"jsonrpc": "2.0", "id": 1, "result": {"mood": "calm"}}
    assert "the rest was made from the types" in page


def test_a_type_that_admits_nothing_has_no_example(tmp_path: Path) -> None:
    page = made(small(tmp_path, schema(Never={"type": "object", "properties": {"a": False}, "required": ["a"]}), {}))
    assert "```" not in page["p/v1/types/Never.md"]


def test_a_definition_is_an_ir_definition() -> None:
    """The kinds that ages tell members of are all that there are but aliases."""
    kinds = {type(found) for version in versions() for found in version.protocol.definitions.values()}
    assert kinds == {ir.Record, ir.TaggedUnion, ir.Enum, ir.Alias}


# --- histories -------------------------------------------------------------------------------------------------------


def test_a_family_keeps_its_versions_as_releases_and_its_protocols_theirs() -> None:
    kept = read_docs_inputs().releases
    assert [each.version for each in kept["mcp"].releases][:2] == ["2024-11-05", "2025-03-26"]
    assert "mcp/2025-06-18" not in kept
    assert "acp" not in kept
    titles = [title for title, _ in publish.arrange_navigation(publish.make_pages(versions(), read_docs_inputs()))]
    assert "Between versions" in titles
    for name, address in (("acp/v1", "changelog.md"), ("mcp/2025-06-18", "../changelog.md")):
        assert f"[Changelog]({address})" in files()[f"{name}/index.md"]
    assert "[changelog](mcp/changelog.md)" in files()["index.md"]
    told = sections(files()["mcp/changelog.md"])
    assert len(told) == len(kept["mcp"].releases)
    assert "- **breaking**" in files()["mcp/changelog.md"] and "This schema" not in files()["mcp/changelog.md"]
