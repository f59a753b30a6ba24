"""The page of requirements: every rule at its anchor with links to what enforces it, and faults for a table that is not right."""

from __future__ import annotations

import copy
import json
import posixpath
import re
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, Final

import pytest

from acpgen.diagnostics.markup import make_identifier, write_prose
from acpgen.errors import Faults
from acpgen.publish import monitor, requirements
from acpgen.publish.page_requirements import group_requirements
from acpgen.publish.requirement_table import CHECKERS, PEERS, Requirement, parse_table
from acpgen.publish.versions import find_page_paths
from acpgen.targets import docs
from published import versions

ROOT: Final = Path(__file__).parents[1]
FILE: Final = "schema/requirements.json"
WHOLE: Final[dict[str, Any]] = json.loads((ROOT / FILE).read_text("utf-8"))

SMALL: Final[dict[str, Any]] = {
    "documents": [
        {
            "id": "tides",
            "title": "Tides & *currents*",
            "protocols": ["acp/v1", "acp/v2"],
            "url": "https://tides.example/page",
            "about": "On <water>.",
        }
    ],
    "rules": [
        {
            "number": 3,
            "document": "tides",
            "section": "The ebb & its `flow`",
            "level": "MUST",
            "who": "agent",
            "says": "A `<b>` is *no* markup.",
            "methods": ["session/new"],
            "schema": [
                {"at": ["acp/v1#/$defs/NewSessionRequest/properties/cwd"], "has": ["$ref"]},
                {"at": ["acp/v1#/$defs/NewSessionRequest/required"], "lacks": ["_meta"]},
            ],
            "monitor": ["roots-kept:session/new"],
            "tests": ["tests/test_tides.py::test_they_turn[ebb]"],
        },
        {
            "number": 5,
            "document": "tides",
            "section": "Moons",
            "level": "fact",
            "who": "both",
            "says": "The moon pulls.",
            "documentation": "Nobody can send a message about that.",
        },
        {
            "id": "tides/moons/1",
            "document": "tides",
            "section": "Moons",
            "protocols": ["acp/v1"],
            "level": "guidance",
            "who": "client",
            "says": "The sun pulls too.",
            "documentation": "It is far away.",
        },
    ],
}


@cache
def rules() -> Mapping[str, str]:
    return monitor.map_pages()


def made(table: Any = WHOLE, monitored: Mapping[str, str] | None = None) -> Mapping[str, str]:
    known = rules() if monitored is None else monitored
    found = requirements.write_pages(
        parse_table(table, FILE), versions(), find_page_paths(versions(), for_site=True), known
    )
    return {page.path: page.text for page in found}


@cache
def addresses() -> Mapping[int | str, str]:
    return requirements.map_addresses(parse_table(WHOLE, FILE))


def faults(table: Any) -> list[str]:
    with pytest.raises(Faults) as caught:
        made(table)
    return [str(fault) for fault in caught.value.faults]


def section(pages: Mapping[str, str], rule: Requirement, known: Mapping[int | str, str]) -> str:
    page, _, anchor = known[rule.id].partition("#")
    found = re.search(rf'^<a id="{anchor}"></a>\n\n#### .*?(?=^<a|^##|\Z)', pages[page], re.MULTILINE | re.DOTALL)
    assert found is not None
    return found[0]


def test_every_requirement_is_found_by_its_words_with_all_that_checks_it() -> None:
    pages = made()
    for rule in parse_table(WHOLE, FILE).rules:
        text = section(pages, rule, addresses())
        assert f"\n#### {write_prose(rule.says)}\n" in text
        words = re.findall(r"[a-z0-9]+", rule.says.lower())
        assert addresses()[rule.id].partition("#req-")[2] in ("-".join(words[:8]), "-".join(words))
        assert f"\n{PEERS[rule.who]}, {rule.level}" in text and f"\n- Id: `{rule.id}`\n" in text
        assert all(f"- {CHECKERS[key]}:" in text for key in rule.checkers)
        for name in (entry.partition(":")[0] for entry in rule.monitor):
            assert f"[`{name}`](../{monitor.map_pages()[name]}#{name})" in text
        for name in (*rule.functions, *rule.bindings):
            assert f"`{name.replace(':', '.')}`" in text
        assert all(
            f"`{name}`" in text for name in (*rule.tests, *rule.validator, *rule.lint, *rule.probe, *rule.methods)
        )
        for place in rule.schema:
            for where in place.at:
                name = where.split("/$defs/")[-1].split("/")[0]
                assert f"/types/{name}.md" in text or where.endswith("/$defs"), where


def test_what_nothing_checks_says_so_and_what_only_keeps_is_not_called_a_check() -> None:
    pages = made()
    for rule in parse_table(WHOLE, FILE).rules:
        text = section(pages, rule, addresses())
        said = write_prose(rule.documentation or "")
        assert (f". **Not checked.** {said}\n" in text) == (not rule.checkers)
        assert (f"\n- Not checked: {said}\n" in text) == bool(rule.checkers and rule.documentation)
        by, _, kept = requirements.describe_checks(rule).lower().partition("kept by ")
        for key in rule.checkers:
            assert CHECKERS[key].lower() in (kept if key in ("bindings", "functions") else by), rule.id
        assert not rule.checkers or f"**{requirements.describe_checks(rule)}.**" in text
    assert "nforce" not in pages[requirements.PAGE]


def test_documents_of_one_area_share_a_page_and_no_two_areas_do() -> None:
    other = {**SMALL["documents"][0], "id": "moons", "title": "Moons", "area": "The sea"}
    sea = {**SMALL["documents"][0], "area": "The sea"}
    rule = {**SMALL["rules"][1], "document": "moons"}
    table = {"documents": [sea, other], "rules": [*SMALL["rules"], rule]}
    pages = made(table)
    assert [path for path in pages if path != requirements.PAGE] == ["requirements/the-sea.md"]
    page = pages["requirements/the-sea.md"]
    assert page.startswith("# The sea: requirements\n") and "\n## Tides" in page and "\n## Moons\n" in page
    alike = faults({**table, "documents": [sea, {**other, "area": "the sea"}]})
    assert any("would have one page" in fault for fault in alike)


def test_in_a_repository_no_test_is_named() -> None:
    table, where = parse_table(SMALL, FILE), find_page_paths(versions(), for_site=False)
    (page,) = (
        p.text for p in requirements.write_pages(table, versions(), where, rules(), for_site=False) if "/" in p.path
    )
    assert "Shown by" not in page and "](../acp/v1/areas/session.md#NewSessionRequest)" in page


def test_links_lead_to_pages_and_anchors_that_are_made() -> None:
    files: dict[str, str] = {}
    for version in versions():
        files.update(docs.render(version.protocol, version.bundle, version.settings))
    files.update(made())
    for page, text in made().items():
        for target in re.findall(r"\]\(([^)]+)\)", text):
            path, _, anchor = target.partition("#")
            path = posixpath.normpath(posixpath.join(posixpath.dirname(page), path)) if path else page
            if path in rules().values():
                assert rules()[anchor] == path, target
            elif not target.startswith("https://"):
                assert path in files, target
                assert not anchor or f'<a id="{anchor}"></a>' in files[path], target


def test_pages_of_methods_and_types_tell_the_requirements_about_them() -> None:
    table = parse_table(WHOLE, FILE)
    for version in versions():
        notes = group_requirements(table, version)
        content = docs.build(version.protocol, version.bundle, version.settings, requirements=notes)
        pages = {page.path: page.text for page in docs.write_pages(content, {})}
        shelf = docs.find_page_paths(version.protocol, version.bundle)
        for rule in (each for each in table.rules if version.protocol.name in each.protocols):
            link = f"/{addresses()[rule.id]})"
            told = [shelf.methods[name] for name in rule.methods if name in shelf.methods]
            places = (
                where
                for each in rule.schema
                for where in each.at
                if where.startswith(f"{version.protocol.name}#/$defs/")
            )
            told += [shelf.types[name] for name in (where.split("/$defs/")[1].split("/")[0] for where in places)]
            for page in told:
                text = pages[version.locate(page)]
                assert link in text, (rule.id, page)
                assert f"- **{rule.level}**: {write_prose(rule.says)}" in text
                for target in re.findall(r"\]\(([^)]*/requirements/[^)]+)\)", text):
                    path = posixpath.normpath(
                        posixpath.join(posixpath.dirname(version.locate(page)), target.partition("#")[0])
                    )
                    assert path in {each.partition("#")[0] for each in addresses().values()}


def test_a_rule_that_names_a_code_stands_beside_it_among_the_errors_of_its_methods() -> None:
    table = parse_table(WHOLE, FILE)
    version = versions()[1]
    notes = group_requirements(table, version)
    content = docs.build(version.protocol, version.bundle, version.settings, requirements=notes)
    pages = {page.path: page.text for page in docs.write_pages(content, {})}
    shelf = docs.find_page_paths(version.protocol, version.bundle)
    found = 0
    for page in shelf.methods.values():
        rows = pages[version.locate(page)].partition("## Errors")[2].partition("## Requirements")[0]
        for note in notes.get(page, ()) if rows else ():
            for named in note.codes:
                row = re.search(rf"^\| \[`{named}`\].*$", rows, re.MULTILINE)
                assert row is None or write_prose(note.says) in row[0]
                found += row is not None
    assert found > 10


def test_the_summary_counts_what_is_checked_by_area_and_by_checker() -> None:
    page = made()[requirements.PAGE]
    table = parse_table(WHOLE, FILE)
    for key, title in CHECKERS.items():
        count = sum(key in rule.checkers for rule in table.rules)
        alone = sum(rule.checkers == (key,) for rule in table.rules)
        assert re.search(rf"^\| {title} \| {count} \| {alone} \| [^|]* \|$", page, re.MULTILINE)
    said = " ".join(page.split())
    assert f"What {len(table.documents)} documents" in said and f": {len(table.rules)} requirements" in said
    assert f"checks or keeps {sum(bool(rule.checkers) for rule in table.rules)} of them" in said
    for title, path in requirements.map_areas(table).items():
        rules = [rule for rule in table.rules if addresses()[rule.id].startswith(f"{path}#")]
        checked = sum(bool(rule.checkers) for rule in rules)
        assert f"| [{title}]({path}) | {len(rules)} | {checked} | [" in page
    assert all(f"#document-{make_identifier(each.id)})" in page for each in table.documents)


def test_a_small_table_makes_a_small_page() -> None:
    table = parse_table(SMALL, FILE)
    pages, rules, known = made(SMALL), table.rules, requirements.map_addresses(table)
    text = section(pages, rules[0], known)
    assert known[rules[0].id] == "requirements/tides.md#req-a-b-is-no-markup"
    assert "#### A `<b>` is &#42;no&#42; markup.\n" in text.replace("<code>&#60;b&#62;</code>", "`<b>`")
    assert "\nAgent, MUST. **Checked by schema and types, monitor.**\n" in text
    assert (
        "- Schema and types:\n    - `$ref` at `cwd` of `NewSessionRequest` ([acp/v1](../acp/v1/types/NewSessionRequest.md#field-cwd))\n"
        in text
    )
    assert (
        "    - `_meta` is not required in `NewSessionRequest` ([acp/v1](../acp/v1/types/NewSessionRequest.md))\n"
        in text
    )
    assert "- Monitor: [`roots-kept`](../monitor/roots.md#roots-kept) about `session/new`\n" in text
    assert "- Shown by: `tests/test_tides.py::test_they_turn[ebb]`\n" in text
    assert "\nBoth sides, fact. **Not checked.** Nobody can send a message about that.\n" in section(
        pages, rules[1], known
    )
    assert "- Methods: `session/new` ([acp/v1](../acp/v1/methods/session_new.md), [acp/v2](../acp/v2/methods/" in text
    assert (
        "[This section of the document](https://tides.example/page#the-ebb--its-flow)" in pages["requirements/tides.md"]
    )
    for page in pages.values():
        assert "Tides &#38; &#42;currents&#42;" in page
    assert "\nClient, guidance, only in acp/v1. **Not checked.**" in section(pages, rules[2], known)
    assert "only in" not in text


def test_without_a_page_about_the_monitor_nothing_links_to_one() -> None:
    pages = made(SMALL, {})
    assert "- Monitor: `roots-kept` about `session/new`\n" in pages["requirements/tides.md"]
    assert not any("monitor/" in page for page in pages.values())


def put(*keys: Any) -> Callable[[Any], None]:
    """A change to a table: the last of `keys` is put where the others lead."""
    *way, last, value = keys
    return lambda table: led(table, way).__setitem__(last, value)


def add(*keys: Any) -> Callable[[Any], None]:
    *way, value = keys
    return lambda table: led(table, way).append(value)


def drop(*keys: Any) -> Callable[[Any], None]:
    *way, last = keys
    return lambda table: led(table, way).__delitem__(last)


def led(table: Any, way: Sequence[Any]) -> Any:
    for key in way:
        table = table[key]
    return table


BAD: Final[tuple[tuple[Callable[[Any], None], str, str], ...]] = (
    (drop("rules"), "/rules", '"rules" is a required property'),
    (put("documents", []), "/documents", "has less than 1 item"),
    (put("notes", []), "/notes", "'notes' is not known"),
    (put("rules", 0, "sayz", "x"), "/rules/0/sayz", "Did you mean 'says'?"),
    (put("rules", 0, 7), "/rules/0", 'is not of type "object"'),
    (put("rules", 0, "number", "3"), "/rules/0/number", 'is not of type "integer"'),
    (put("rules", 0, "number", True), "/rules/0/number", 'is not of type "integer"'),
    (put("rules", 1, "number", 3), "/rules/1/number", "3 comes after 3"),
    (put("rules", 1, "id", "tides/moons/5"), "/rules/1", "Write one of 'number' and 'id'"),
    (put("rules", 2, "id", "tides/moons/01"), "/rules/2/id", "Write tides/moons/1 or a higher number"),
    (put("rules", 2, "id", "tides/suns/1"), "/rules/2/id", "does not name the document, the section"),
    (add("rules", {**SMALL["rules"][2]}), "/rules/3/id", "'tides/moons/1' occurs twice"),
    (drop("rules", 2, "section"), "/rules/2/section", "this must be a text that is not empty"),
    (put("rules", 2, "protocols", ["acp/v3"]), "/rules/2/protocols/0", "It is about acp/v1"),
    (put("rules", 2, "methods", "session/new"), "/rules/2/methods", "this must be a list of texts, each once"),
    (put("rules", 0, "level", "SHALL"), "/rules/0/level", 'is not one of "MUST", "MUST NOT"'),
    (put("rules", 0, "who", "user"), "/rules/0/who", 'is not one of "client", "agent"'),
    (put("rules", 0, "document", "moons"), "/rules/0/document", "Write tides"),
    (put("rules", 0, "says", " "), "/rules/0/says", "this must be a text that is not empty"),
    (put("rules", 0, "tests", []), "/rules/0/tests", "this must be a list of texts, each once"),
    (put("rules", 0, "tests", ["a", "a"]), "/rules/0/tests", "this must be a list of texts, each once"),
    (drop("rules", 0, "tests"), "/rules/0", "no test shows this rule"),
    (drop("rules", 1, "documentation"), "/rules/1", "nothing enforces this rule"),
    (put("rules", 0, "schema", 0, "lacks", ["x"]), "/rules/0/schema/0", "Write one of 'has' and 'lacks'"),
    (
        put("rules", 0, "schema", 0, "at", "acp/v1#/x"),
        "/rules/0/schema/0/at",
        "this must be a list of texts, each once",
    ),
    (put("rules", 0, "schema", 0, "at", ["acp/v9#/$defs"]), "/rules/0/schema/0/at/0", "It is about acp/v1"),
    (
        put("rules", 0, "schema", 0, "at", ["acp/v1#/$defs/Tide"]),
        "/rules/0/schema/0",
        "nothing is at acp/v1#/$defs/Tide",
    ),
    (put("rules", 0, "schema", 0, "has", ["type"]), "/rules/0/schema/0", "has no 'type'"),
    (put("rules", 0, "schema", 1, "lacks", ["cwd"]), "/rules/0/schema/1", "required has 'cwd'"),
    (put("rules", 0, "monitor", ["roots-keep"]), "/rules/0/monitor", "Did you mean 'roots-kept'?"),
    (put("documents", 0, "protocols", []), "/documents/0/protocols", "this must be a list of texts, each once"),
    (add("documents", {**SMALL["documents"][0], "id": "moons"}), "/documents/1", "no rule is from this document"),
    (put("documents", 0, "a/b", 1), "/documents/0/a~1b", "'a/b' is not known"),
)


@pytest.mark.parametrize(("change", "pointer", "words"), BAD, ids=[f"{at} {words}" for _, at, words in BAD])
def test_a_table_that_is_not_right_is_a_fault_with_its_place(
    change: Callable[[Any], None], pointer: str, words: str
) -> None:
    table = copy.deepcopy(SMALL)
    change(table)
    found = [fault for fault in faults(table) if fault.startswith(f"{FILE}#{pointer}: ")]
    assert any(words in fault for fault in found), faults(table)


def test_an_id_that_two_documents_have_is_a_fault() -> None:
    table = {**SMALL, "documents": SMALL["documents"] * 2}
    assert faults(table) == [f"{FILE}#/documents: an id occurs twice. Give each document its own."]


def test_ids_that_would_have_one_page_are_a_fault() -> None:
    other = {**SMALL["documents"][0], "id": "tides/moons"}
    alike = {**SMALL["documents"][0], "id": "tides-moons"}
    assert any("would have one page" in fault for fault in faults({**SMALL, "documents": [other, alike]}))


def test_all_faults_are_told_at_once() -> None:
    table = copy.deepcopy(SMALL)
    put("rules", 0, "level", "SHALL")(table)
    put("rules", 1, "who", 7)(table)
    assert len(faults(table)) == 2


NO_TABLES: Final = (
    *("null", "7", '"x"', "[]", "{}", '{"documents": {}, "rules": {}}', '{"documents": [7], "rules": [[]]}'),
    '{"documents": [{"id": []}], "rules": [{"number": 1.5, "schema": [7], "tests": [7]}]}',
)


@pytest.mark.parametrize("text", NO_TABLES)
def test_what_is_no_table_at_all_is_faults_and_never_an_exception(text: str) -> None:
    assert faults(json.loads(text))
