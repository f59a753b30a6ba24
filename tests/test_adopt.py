"""Adopting a newer upstream schema: on real revisions there and back, and on small ones, one change at a time."""

from __future__ import annotations

import copy
import errno
import io
import json
import shutil
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import pytest

import evidence
import tiers
from acpgen import cli
from acpgen.adopt import (
    BASE,
    Adoption,
    adopt,
    find_folder,
    find_followers,
    find_nearest,
    find_overlays,
    make_report,
    save,
    start_following,
    write_lines,
    write_markdown,
    write_summary,
)
from acpgen.adopt.adoption import read_upstream
from acpgen.adopt.canonical import Canonical, read_canonical
from acpgen.adopt.differences import find_differences
from acpgen.adopt.facts import OURS, Parts, extract_facts, find_conventions, key_branches
from acpgen.adopt.faults import (
    ADOPTION_REFUSED,
    CANNOT_FOLLOW,
    NO_BASE,
    NOT_ADOPTABLE,
    UNCLEAR_PROTOCOL,
    UNSTABLE_PARTS,
)
from acpgen.adopt.layout import format_compact
from acpgen.adopt.layout import format_document as laid_out
from acpgen.adopt.merge import Merge
from acpgen.config.docs_inputs import INDEX, RELEASES, VERDICTS, is_docs_input, parse_index
from acpgen.diagnostics.markup import write_code
from acpgen.errors import FaultKind, Faults
from acpgen.files.faults import UNWRITABLE
from acpgen.input.faults import NOT_JSON
from acpgen.input.load import load, read
from acpgen.input.step_budget import count_steps, limit_steps
from acpgen.input.walk import is_array, is_object, list_children
from acpgen.lint import lint
from acpgen.meaning.understanding import understand

ROOT: Final = Path(__file__).parents[1]
SCHEMA: Final = ROOT / "schema"
STEPS: Final = (
    ("acp/v1", "releases/acp/v1/1.21.0.json", "upstream/acp-v1-newest/schema.json"),
    ("acp/v2", "releases/acp/v2/2.0.0-alpha.3.json", "upstream/acp-v2-newest/schema.json"),
)
"""A protocol, the facts of a release that is kept, and a newer one as it was published."""

Json = dict[str, Any]


def published(name: str) -> Path:
    if name.startswith("releases/"):
        return SCHEMA / name
    evidence.need(name)
    return evidence.path(name)


def apply(file: Path, folder: Path, name: str = "p") -> Adoption:
    adoption = adopt(file, folder, name)
    save(folder, adoption.written, adoption.removed)
    return adoption


def files_of(folder: Path) -> dict[str, str]:
    return {
        path.relative_to(folder).as_posix(): path.read_text() for path in sorted(folder.rglob("*")) if path.is_file()
    }


def files_as_they_are(folder: Path) -> Canonical:
    return read_canonical(load(folder))


# --- the checked-in files --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "path", sorted(set(SCHEMA.rglob("*/**/*.json"))), ids=lambda path: path.relative_to(SCHEMA).as_posix()
)
def test_the_printer_reproduces_every_schema_file_byte_for_byte(path: Path) -> None:
    is_release = is_docs_input(path.relative_to(SCHEMA).as_posix()) and path.name not in (INDEX, VERDICTS)
    printer = format_compact if is_release or path.name == BASE else laid_out
    assert printer(json.loads(path.read_text())) == path.read_text()


@pytest.mark.parametrize("protocol", ["acp/v1", "acp/v2"])
def test_a_release_that_is_kept_holds_facts_and_no_sentence(protocol: str) -> None:
    versions = parse_index((SCHEMA / RELEASES / protocol / INDEX).read_bytes(), "").versions
    assert len(versions) > 5
    for version in versions:
        release = json.loads((SCHEMA / RELEASES / protocol / f"{version}.json").read_text())
        assert extract_facts(release) == release


@pytest.mark.parametrize(
    ("protocol", "number", "name"),
    [
        ("acp/v1", -2, "upstream/acp-v1-1.21.0/schema.json"),
        ("acp/v1", -1, "upstream/acp-v1-newest/schema.json"),
        ("acp/v2", -2, "upstream/acp-v2-alpha.3/schema.json"),
        ("acp/v2", -1, "upstream/acp-v2-newest/schema.json"),
    ],
)
def test_a_release_that_is_kept_has_the_facts_of_the_published_one(protocol: str, number: int, name: str) -> None:
    versions = parse_index((SCHEMA / RELEASES / protocol / INDEX).read_bytes(), "").versions
    kept = json.loads((SCHEMA / RELEASES / protocol / f"{versions[number]}.json").read_text())
    assert kept.pop("$schema").endswith("2020-12/schema")
    assert kept == read_upstream(published(name))


def test_both_versions_of_acp_follow_upstream() -> None:
    assert list(find_followers(SCHEMA)) == ["acp/v1", "acp/v2"]


@pytest.mark.parametrize("protocol", ["acp/v1", "acp/v2"])
def test_a_base_holds_facts_and_no_sentence(protocol: str) -> None:
    path = SCHEMA / protocol / BASE
    assert path.stat().st_size < 80_000

    def strings(value: Any) -> Iterator[str]:
        if is_object(value):
            assert value.keys().isdisjoint({"examples", "discriminator"} - set(value.get("properties", {})))
            yield from (item for child in value.values() for item in strings(child))
        elif is_array(value):
            yield from (item for child in value for item in strings(child))
        elif isinstance(value, str):
            yield value

    base = json.loads(path.read_text())
    base.pop("$comment")
    assert extract_facts(base) == base
    assert max(len(string.split()) for string in strings(base)) <= 4


@pytest.mark.parametrize(("protocol", "old", "new"), STEPS)
def test_the_files_follow_the_newest_upstream_and_adopting_it_changes_nothing(
    protocol: str, old: str, new: str
) -> None:
    adoption = adopt(published(new), SCHEMA / protocol, protocol)
    assert adoption.is_none
    assert not adoption.conflicts
    assert not adoption.examples
    found = make_report(adoption, protocol)
    assert not found.tasks
    assert not found.select("added", "changed", "removed", "conflict")
    assert write_summary(found).endswith("already.")


@pytest.mark.parametrize(("protocol", "old", "new"), STEPS)
def test_the_protocol_of_a_revision_is_recognised(protocol: str, old: str, new: str) -> None:
    for name in (old, new):
        assert find_nearest(published(name), find_followers(SCHEMA)) == protocol


# --- a real step, there and back -------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Step:
    """The canonical files, what they become for the old revision, and what that becomes for the newest again."""

    protocol: str
    folder: Path
    checked_in: Canonical
    old: Canonical
    back: Adoption
    forth: Adoption

    @property
    def final(self) -> Canonical:
        return self.forth.after


@pytest.fixture(scope="module", params=tiers.sample(STEPS, 1, lambda step: step[1]))
def step(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Step:
    protocol, old, new = request.param
    folder = tmp_path_factory.mktemp("schema") / "p"
    shutil.copytree(SCHEMA / protocol, folder)
    back = apply(published(old), folder, protocol)
    middle = files_as_they_are(folder)
    assert adopt(published(old), folder, protocol).is_none, "adopting twice"
    forth = apply(published(new), folder, protocol)
    return Step(protocol, folder, files_as_they_are(SCHEMA / protocol), middle, back, forth)


def test_going_back_gives_the_old_revision_but_for_what_is_different_on_purpose(step: Step) -> None:
    def apart(theirs: Json, files: Canonical) -> set[tuple[Any, ...]]:
        return {
            (name, *found.at)
            for name in theirs.keys() & files.definitions.keys()
            for found in find_differences(theirs[name], files.definitions[name])
        }

    on_purpose = apart(step.forth.theirs["$defs"], step.checked_in)
    conflicts = [conflict.at[1:] for conflict in step.back.conflicts if conflict.at[0] == "$defs"]
    written = {name: step.back.conventions.adapt_schema(schema) for name, schema in step.back.theirs["$defs"].items()}
    for place in apart(written, step.old):
        in_conflict = any(place[: len(at)] == at for at in conflicts)
        assert place in on_purpose or in_conflict, place
    unmentioned = step.back.theirs["$defs"].keys() - step.old.definitions.keys()
    assert unmentioned <= {"ProtocolLevelNotification"}, "referred to by the batches, which are written otherwise here"
    gone = step.forth.theirs["$defs"].keys() - step.back.theirs["$defs"].keys()
    assert gone.isdisjoint(step.old.definitions)
    ours = step.checked_in.definitions.keys() - step.forth.theirs["$defs"].keys()
    assert {"ForkSessionRequest", "Meta"} <= ours <= step.old.definitions.keys()


def test_what_the_documents_demand_stays_on_the_way(step: Step) -> None:
    found = 0
    for schema in step.old.definitions.values():
        field = schema.get("properties", {}).get("additionalDirectories", {})
        if field.get("type") == "array":
            found += 1
            assert field["items"] == {"$ref": "#/$defs/AbsolutePath"}
            assert not [keyword for keyword in field if keyword.startswith("x-deserialize")]
    assert found == 6
    assert "LoadSessionRequest" in step.old.definitions
    assert step.old.definitions["MultiSelectItems"]["anyOf"][2]["not"]


def test_there_and_back_again_ends_at_the_same_facts(step: Step) -> None:
    assert step.final.definitions.keys() == step.checked_in.definitions.keys()
    for name, schema in step.checked_in.definitions.items():
        assert not list(find_differences(schema, step.final.definitions[name])), name
    root = step.checked_in.root
    assert root is not None
    assert root == step.final.root
    assert not list(find_differences(step.checked_in.heads[root], step.final.heads[root]))
    assert (step.folder / BASE).read_text() == (SCHEMA / step.protocol / BASE).read_text()


def test_words_of_what_was_never_removed_are_as_they_were(step: Step) -> None:
    compared = 0
    for name, schema in step.old.definitions.items():
        stayed = set(words(schema))
        if name in step.checked_in.definitions:
            before, after = words(step.checked_in.definitions[name]), words(step.final.definitions[name])
            for place in before.keys() & stayed & words(step.checked_in.definitions[name]).keys():
                compared += 1
                assert after[place] == before[place], (name, place)
    assert compared > 900
    touched = {step.checked_in.paths[name] for name in changed(step)}
    for path, said in files_of(step.folder).items():
        if path.removesuffix(".json") and path not in touched and path != BASE and path != step.final.root:
            assert said == (SCHEMA / step.protocol / path).read_text(), path


def test_what_came_again_has_room_for_words_and_none_of_upstreams(step: Step) -> None:
    texts = "".join(files_of(step.folder).values())
    room = texts.count('"description": ""')
    assert room > 20
    upstream = json.loads(published({protocol: new for protocol, _, new in STEPS}[step.protocol]).read_text())
    sentences = {line for line in descriptions(upstream) if len(line) > 30}
    assert len(sentences) > 300
    assert not [sentence for sentence in sentences if json.dumps(sentence)[1:-1] in texts]


def test_lint_asks_for_every_word_that_is_missing_and_for_nothing_that_adopting_could_have_done(step: Step) -> None:
    findings = lint(read(step.folder, name=step.protocol))
    rules = {finding.rule for finding in findings}
    texts = "".join(files_of(step.folder).values())
    asked = [finding for finding in findings if finding.rule == "description-missing"]
    assert len(asked) == texts.count('"description": ""')
    assert rules <= {
        *("description-missing", "variant-example-missing", "method-example-missing", "null-meaning-missing"),
        *("capability-unused", "gate-missing", "name-colliding"),
    }


def test_the_report_of_a_real_step_names_what_came_and_what_is_left(step: Step) -> None:
    found = make_report(step.forth, step.protocol)
    lines = list(write_lines(found))
    assert lines[0] == write_summary(found)
    assert any(entry.definition == "Notice" for entry in found.select("added"))
    assert any("additionalDirectories" in task for task in found.tasks)
    assert any(task.startswith("Write ") and "acpgen lint" in task for task in found.tasks)
    if step.protocol == "acp/v2":
        assert any("AuthCapabilities is ClientAuthCapabilities" in task for task in found.tasks)
        assert any("AvailableCommand is Command now" in task for task in found.tasks)
    written = write_markdown(found)
    for entry in found.entries:
        assert f"`{entry.at}`" in written


def changed(step: Step) -> set[str]:
    """Definitions of the newest revision that the way there and back has touched."""
    return {
        name
        for name, schema in step.checked_in.definitions.items()
        if name not in step.old.definitions or list(find_differences(schema, step.old.definitions[name]))
    }


def words(schema: Any, at: Parts = ()) -> dict[Parts, Json]:
    """Descriptions and annotations of ours by place; branches are known by their marks."""
    found: dict[Parts, Json] = {}
    if not is_object(schema):
        return found
    found[at] = {key: value for key, value in schema.items() if key == "description" or key in OURS}
    for path, child in list_children(schema):
        if path[0] in ("anyOf", "oneOf"):
            marks = list(key_branches(schema[path[0]]))
            found |= words(child, (*at, "union", marks[int(path[1])]))
        else:
            found |= words(child, (*at, *path))
    return found


def descriptions(value: Any) -> Iterator[str]:
    if is_object(value):
        if isinstance(value.get("description"), str):
            yield value["description"]
        yield from (found for child in value.values() for found in descriptions(child))
    elif is_array(value):
        yield from (found for child in value for found in descriptions(child))


# --- one change at a time --------------------------------------------------------------------------------------------

DIALECT: Final = "https://json-schema.org/draft/2020-12/schema"
LOOSE_META: Final[Json] = {
    "description": "Upstream's words.",
    "type": ["object", "null"],
    "additionalProperties": True,
    "x-deserialize-default-on-error": True,
}
META: Final[Json] = {"$ref": "extensibility.json#/$defs/Meta", "x-deserialize-default-on-error": True}


def variant(tag: str, record: str) -> Json:
    return {
        "description": "Upstream's words.",
        "type": "object",
        "properties": {"type": {"type": "string", "const": tag}},
        "required": ["type"],
        "allOf": [{"$ref": f"#/$defs/{record}"}],
    }


def tagged(tag: str) -> Json:
    return {"type": "object", "properties": {"type": {"type": "string", "const": tag}}, "required": ["type"]}


def upstream() -> Json:
    """A small protocol as upstream would publish it."""
    fallback = {
        "title": "other",
        "description": "Upstream's words.",
        "type": "object",
        "properties": {"type": {"type": "string"}},
        "required": ["type"],
        "not": {"anyOf": [tagged("text"), tagged("image")]},
    }
    said = {"description": "Upstream's words."}
    return {
        "$schema": DIALECT,
        "title": "Small",
        "anyOf": [{"title": "Message", "allOf": [{"$ref": "#/$defs/Envelope"}]}],
        "$defs": {
            "Envelope": {
                **said,
                "type": "object",
                "properties": {
                    "params": {
                        "anyOf": [
                            {"title": name, "$ref": f"#/$defs/{name}"} for name in ("GreetRequest", "GreetResponse")
                        ]
                    }
                },
                "x-docs-ignore": True,
            },
            "GreetRequest": {
                **said,
                "type": "object",
                "properties": {
                    "count": {**said, "type": "integer", "minimum": 0, "maximum": 10},
                    "mood": {**said, "allOf": [{"$ref": "#/$defs/Mood"}]},
                    "items": {**said, "type": "array", "items": {"$ref": "#/$defs/Item"}},
                    "_meta": LOOSE_META,
                },
                "required": ["count"],
                "x-side": "agent",
                "x-method": "greet/send",
            },
            "GreetResponse": {
                **said,
                "type": "object",
                "properties": {"_meta": LOOSE_META},
                "x-side": "agent",
                "x-method": "greet/send",
            },
            "Item": {**said, "anyOf": [variant("text", "Text"), variant("image", "Image"), fallback]},
            "Text": {
                **said,
                "type": "object",
                "properties": {"text": {**said, "type": "string"}},
                "required": ["text"],
            },
            "Image": {
                **said,
                "type": "object",
                "properties": {"data": {**said, "type": "string"}},
                "required": ["data"],
            },
            "Server": {
                **said,
                "anyOf": [
                    variant("remote", "Remote"),
                    {"title": "local", **said, "allOf": [{"$ref": "#/$defs/Local"}]},
                ],
            },
            "Remote": {**said, "type": "object", "properties": {"url": {**said, "type": "string"}}},
            "Local": {**said, "type": "object", "properties": {"command": {**said, "type": "string"}}},
            "Mood": {
                **said,
                "oneOf": [{**said, "type": "string", "const": mood} for mood in ("glad", "calm", "cross")],
            },
        },
    }


def ours() -> dict[str, Json]:
    """The same in files and words of our own, with differences on purpose."""
    definitions = upstream()["$defs"]

    def renamed(value: Any, path: str) -> Any:
        if is_object(value):
            if value == LOOSE_META:
                return META
            result = {key: renamed(child, path) for key, child in value.items()}
            if "allOf" in result:
                result |= result.pop("allOf")[0]
            if "description" in result and isinstance(result["description"], str):
                result["description"] = "Our words."
            if "$ref" in result:
                name = result["$ref"].rpartition("/")[2]
                home = next((file for file, names in HOMES.items() if name in names), path)
                result["$ref"] = f"{'' if home == path else home}#/$defs/{name}"
            return result
        return [renamed(child, path) for child in value] if is_array(value) else value

    files: dict[str, Json] = {
        path: {
            "$schema": DIALECT,
            "title": path.removesuffix(".json").capitalize(),
            "description": "Our words.",
            "$defs": {name: renamed(definitions[name], path) for name in names},
        }
        for path, names in HOMES.items()
    }
    root = files["jsonrpc.json"]
    root["title"] = "Small"
    root["anyOf"] = [{"title": "Message", "description": "Our words.", "$ref": "#/$defs/Envelope"}]
    files["jsonrpc.json"] = {key: root[key] for key in ("$schema", "title", "description", "anyOf", "$defs")}
    files["extensibility.json"] = {
        "$schema": DIALECT,
        "title": "Meta",
        "description": "Our words.",
        "$defs": {"Meta": {"description": "Our words.", "type": ["object", "null"], "x-null": "omitted"}},
    }
    greet = files["greet.json"]["$defs"]["GreetRequest"]
    greet["properties"]["count"]["maximum"] = 5
    greet["properties"]["extra"] = {"description": "Our field.", "type": "string"}
    greet["examples"] = [{"count": 3, "mood": "glad", "items": [{"type": "text", "text": "hello"}]}]
    files["items.json"]["$defs"]["Item"]["examples"] = [
        {"type": "text", "text": "hello"},
        {"type": "image", "data": "aGVsbG8="},
        {"type": "_sound"},
    ]
    files["items.json"]["$defs"]["Mood"]["examples"] = ["glad", "cross"]
    files["items.json"]["$defs"]["Server"]["anyOf"][1]["not"] = tagged("remote")
    return files


HOMES: Final[Mapping[str, tuple[str, ...]]] = {
    "jsonrpc.json": ("Envelope",),
    "greet.json": ("GreetRequest", "GreetResponse"),
    "items.json": ("Item", "Text", "Image", "Mood", "Server", "Remote", "Local"),
}


@dataclass(frozen=True)
class Project:
    """A folder that follows the small upstream, and upstream's next revision."""

    folder: Path
    file: Path
    next: Json

    @property
    def definitions(self) -> Json:
        return self.next["$defs"]  # type: ignore[no-any-return]

    def adopt(self) -> Adoption:
        self.file.write_text(json.dumps(self.next))
        return apply(self.file, self.folder)

    def ours(self, path: str) -> Json:
        return json.loads((self.folder / path).read_text())["$defs"]  # type: ignore[no-any-return]

    def tasks(self, adoption: Adoption) -> str:
        return "\n".join(make_report(adoption, "p").tasks)


@pytest.fixture
def project(tmp_path: Path) -> Project:
    folder, file = tmp_path / "schema" / "p", tmp_path / "upstream.json"
    folder.mkdir(parents=True)
    for path, document in ours().items():
        (folder / path).write_text(laid_out(document))
    file.write_text(json.dumps(upstream()))
    save(folder, start_following(file, folder, "p"))
    return Project(folder, file, upstream())


def test_nothing_changes_where_upstream_did_not(project: Project) -> None:
    before = files_of(project.folder)
    assert project.adopt().is_none
    assert files_of(project.folder) == before


def test_nothing_is_written_where_a_file_has_its_definitions_first(project: Project) -> None:
    document = json.loads((project.folder / "greet.json").read_text())
    (project.folder / "greet.json").write_text(json.dumps({"$defs": document.pop("$defs"), **document}, indent=4))
    assert project.adopt().is_none


def test_a_reference_to_other_files_is_named_as_the_reason_why_a_folder_cannot_follow(project: Project) -> None:
    document = json.loads((project.folder / "greet.json").read_text())
    document["$defs"]["Far"] = {"$ref": "https://example.com/far.json"}
    (project.folder / "greet.json").write_text(json.dumps(document))
    with pytest.raises(Faults) as caught:
        project.adopt()
    assert [fault.kind for fault in caught.value.faults] == [CANNOT_FOLLOW], "acpgen adopt has no option for such files"


def test_a_new_field_comes_at_its_place_with_room_for_words(project: Project) -> None:
    fields = project.definitions["Text"]["properties"]
    project.definitions["Text"]["properties"] = {
        "lang": {
            "description": "Upstream's words.",
            "type": ["string", "null"],
            "x-deserialize-default-on-error": True,
        },
        **fields,
        "_meta": LOOSE_META,
    }
    adoption = project.adopt()
    assert list(adoption.written) == ["items.json", BASE]
    assert list(project.ours("items.json")["Text"]["properties"].items()) == [
        ("lang", {"description": "", "type": ["string", "null"], "x-deserialize-default-on-error": True}),
        ("text", {"description": "Our words.", "type": "string"}),
        ("_meta", META),
    ]
    assert "Say what null means ('x-null') at items.json#/$defs/Text/properties/lang." in project.tasks(adoption)
    assert "Write 1 description (Text)" in project.tasks(adoption)


@pytest.mark.parametrize("indent", [4, "\t", 1])
def test_a_file_keeps_the_layout_and_the_order_that_its_author_gave_it(project: Project, indent: int | str) -> None:
    file = project.folder / "items.json"
    head = json.loads(file.read_text())
    document = {"$defs": head.pop("$defs"), **head}
    file.write_text(json.dumps(document, indent=indent))
    before = file.read_text().splitlines()
    project.definitions["Image"]["properties"]["lang"] = {"type": "string"}
    project.adopt()
    after = file.read_text().splitlines()
    assert [line for line in before if f"{line}," not in after and line not in after] == []
    assert [line.strip() for line in after if line not in before and line.rstrip(",") not in before] == [
        '"lang": {',
        '"description": "",',
    ]
    assert list(json.loads(file.read_text())) == list(document)


def test_only_the_lines_of_a_change_change(project: Project) -> None:
    document = json.loads((project.folder / "items.json").read_text())
    document["$defs"]["Image"]["description"] = "Our words. " * 10
    (project.folder / "items.json").write_text(laid_out(document))
    before = (project.folder / "items.json").read_text().splitlines()
    project.definitions["Image"]["properties"]["lang"] = {"type": "string"}
    project.adopt()
    after = (project.folder / "items.json").read_text().splitlines()
    assert [line for line in after if line not in before] == [
        '      "properties": {',
        '        "data": {"description": "Our words.", "type": "string"},',
        '        "lang": {"description": "", "type": "string"}',
        "      },",
    ], "two fields do not fit on the line where there was one"
    assert len(after) == len(before) + 3
    assert laid_out(json.loads("\n".join(after))) == "\n".join(after) + "\n"


def test_a_new_branch_is_known_to_the_fallback_and_to_the_default(project: Project) -> None:
    item, server = project.definitions["Item"]["anyOf"], project.definitions["Server"]["anyOf"]
    item.insert(2, variant("sound", "Sound"))
    item[3]["not"]["anyOf"].append(tagged("sound"))
    server.insert(1, variant("socket", "Remote"))
    project.definitions["Sound"] = {"type": "object", "properties": {"wave": {"type": "string"}}}
    adoption = project.adopt()
    definitions = project.ours("items.json")
    new, fallback = definitions["Item"]["anyOf"][2:]
    assert new == {
        "description": "",
        "type": "object",
        "properties": {"type": {"type": "string", "const": "sound"}},
        "required": ["type"],
        "$ref": "#/$defs/Sound",
    }
    assert fallback["not"] == {"anyOf": [tagged("text"), tagged("image"), tagged("sound")]}
    assert fallback["description"] == "Our words."
    assert definitions["Server"]["anyOf"][2]["not"] == {"anyOf": [tagged("remote"), tagged("socket")]}, "ours, kept up"
    assert len(definitions["Item"]["examples"]) == 3
    assert list(definitions)[:2] == ["Item", "Sound"], "behind what refers to it"
    assert definitions["Sound"]["properties"] == {"wave": {"description": "", "type": "string"}}
    assert not adoption.conflicts
    assert not adoption.examples


def test_an_example_of_an_unknown_tag_that_is_known_now_is_told(project: Project) -> None:
    item = project.definitions["Item"]["anyOf"]
    item.insert(2, variant("_sound", "Text"))
    item[3]["not"]["anyOf"].append(tagged("_sound"))
    adoption = project.adopt()
    assert [(example.definition, example.index) for example in adoption.examples] == [("Item", 2)]
    assert "Correct the example items.json#/$defs/Item/examples/2" in project.tasks(adoption)


def test_a_removed_branch_goes_with_its_examples(project: Project) -> None:
    del project.definitions["Item"]["anyOf"][1]
    del project.definitions["Item"]["anyOf"][1]["not"]["anyOf"][1]
    del project.definitions["Image"]
    adoption = project.adopt()
    definitions = project.ours("items.json")
    assert "Image" not in definitions
    assert definitions["Item"]["examples"] == [{"type": "text", "text": "hello"}, {"type": "_sound"}]
    assert definitions["Item"]["anyOf"][1]["not"] == {"anyOf": [tagged("text")]}
    assert [entry.at for entry in make_report(adoption, "p").select("removed")] == [
        'items.json#/$defs/Item/anyOf (type "image")',
        'items.json#/$defs/Item/anyOf/1/not/anyOf (type "image")',
        "items.json#/$defs/Image",
    ]


def test_a_removed_constant_goes_with_its_example(project: Project) -> None:
    del project.definitions["Mood"]["oneOf"][2]
    adoption = project.adopt()
    mood = project.ours("items.json")["Mood"]
    assert [branch["const"] for branch in mood["oneOf"]] == ["glad", "calm"]
    assert mood["examples"] == ["glad"]
    assert not adoption.conflicts


def test_the_last_known_tag_takes_the_exclusion_of_the_default_with_it(project: Project) -> None:
    del project.definitions["Server"]["anyOf"][0]
    project.adopt()
    (default,) = project.ours("items.json")["Server"]["anyOf"]
    assert default == {"title": "local", "description": "Our words.", "$ref": "#/$defs/Local"}


def test_a_closed_list_that_opens_keeps_its_words(project: Project) -> None:
    mood = project.definitions["Mood"]
    mood["anyOf"] = [*mood.pop("oneOf"), {"title": "other", "type": "string"}]
    project.adopt()
    branches = project.ours("items.json")["Mood"]["anyOf"]
    assert [branch["description"] for branch in branches] == ["Our words."] * 3 + [""]


def test_a_bound_that_differs_on_purpose_is_a_conflict_and_stays(project: Project) -> None:
    project.definitions["GreetRequest"]["properties"]["count"] |= {"maximum": 20, "minimum": 1}
    adoption = project.adopt()
    count = project.ours("greet.json")["GreetRequest"]["properties"]["count"]
    assert (count["minimum"], count["maximum"]) == (1, 5), "a change of what was alike is taken, beside"
    (conflict,) = make_report(adoption, "p").select("conflict")
    assert conflict.at == "greet.json#/$defs/GreetRequest/properties/count/maximum"
    assert conflict.what == "upstream changed 10 to 20; here is 5, and stays"
    assert project.adopt().is_none, "it is told once"
    assert any(entry.at == conflict.at for entry in make_report(project.adopt(), "p").select("different"))


def test_a_type_that_differs_on_purpose_is_never_mixed_with_upstreams(project: Project) -> None:
    document = json.loads((project.folder / "items.json").read_text())
    document["$defs"]["Remote"]["properties"]["url"] = {"description": "Our words.", "$ref": "#/$defs/Text"}
    (project.folder / "items.json").write_text(laid_out(document))
    project.definitions["Remote"]["properties"]["url"] = {"anyOf": [{"$ref": "#/$defs/Image"}, {"type": "null"}]}
    adoption = project.adopt()
    assert project.ours("items.json")["Remote"]["properties"]["url"] == {
        "description": "Our words.",
        "$ref": "#/$defs/Text",
    }
    assert [conflict.theirs for conflict in adoption.conflicts] == [[{"$ref": "#/$defs/Image"}, {"type": "null"}]]


def test_leniency_is_one_fact(project: Project) -> None:
    document = json.loads((project.folder / "greet.json").read_text())
    document["$defs"]["GreetRequest"]["properties"]["items"]["x-deserialize-default-on-null"] = True
    (project.folder / "greet.json").write_text(laid_out(document))
    items = project.definitions["GreetRequest"]["properties"]["items"]
    items |= {"x-deserialize-default-on-error": True, "x-deserialize-skip-invalid-items": True}
    adoption = project.adopt()
    kept = project.ours("greet.json")["GreetRequest"]["properties"]["items"]
    assert [keyword for keyword in kept if keyword.startswith("x-")] == ["x-deserialize-default-on-null"]
    assert [conflict.at[-1] for conflict in adoption.conflicts] == ["items"]


def merged(base: Json, ours: Json, theirs: Json) -> Json:
    """Our schema with upstream's changes; nothing is in conflict."""
    merge = Merge(find_conventions({}, {}), {})
    result: Json = merge.merge_schema(extract_facts(base), ours, extract_facts(theirs), ())
    assert not merge.conflicts
    return result


@pytest.mark.parametrize(
    ("theirs", "result"),
    [
        ({"$ref": "#/$defs/New"}, {"allOf": [{"$ref": "#/$defs/New", "description": "Inside."}]}),
        ({"allOf": [{"$ref": "#/$defs/New"}]}, {"allOf": [{"$ref": "#/$defs/New", "description": "Inside."}]}),
        ({"type": "string"}, {"type": "string"}),
        (
            {"allOf": [{"$ref": "#/$defs/Old"}, {"minLength": 1}]},
            {"allOf": [{"$ref": "#/$defs/Old"}, {"minLength": 1}]},
        ),
    ],
)
def test_a_reference_written_as_an_all_of_changes_as_any_reference(theirs: Json, result: Json) -> None:
    ours = {"description": "Ours.", "allOf": [{"$ref": "#/$defs/Old", "description": "Inside."}]}
    assert merged({"allOf": [{"$ref": "#/$defs/Old"}]}, ours, theirs) == {"description": "Ours.", **result}


def test_a_reference_inside_two_conjunctions_is_merged() -> None:
    ours = {"allOf": [{"allOf": [{"$ref": "#/$defs/Old"}], "description": "Inside."}]}
    result = {"allOf": [{"$ref": "#/$defs/New", "description": "Inside."}]}
    assert merged({"$ref": "#/$defs/Old"}, ours, {"$ref": "#/$defs/New"}) == result


def test_renames_are_looked_for_in_steps_that_grow_as_the_schema_does(tmp_path: Path) -> None:
    def measure(count: int) -> int:
        def write(prefix: str) -> str:
            fields = ({f"f{number}": {"type": "string"}, "x": {"type": "integer"}} for number in range(count))
            records = enumerate({"type": "object", "properties": each} for each in fields)
            return laid_out({"$defs": {f"{prefix}{number}": record for number, record in records}})

        folder, file = tmp_path / str(count) / "p", tmp_path / "upstream.json"
        folder.mkdir(parents=True)
        for path in (file, folder / "a.json"):
            path.write_text(write("Old"))
        save(folder, start_following(file, folder, "p"))
        file.write_text(write("New"))
        adoption = adopt(file, folder, "p")
        with limit_steps("p", 0):
            assert "See whether Old1 is New1 now" in "\n".join(make_report(adoption, "p").tasks)
            return count_steps()

    assert measure(40) < 3 * measure(20)


def test_the_facts_of_nested_conjunctions_are_read_once() -> None:
    schema: dict[str, Any] = {"type": "string"}
    for _ in range(200):  # what is read twice at each level never ends
        schema = {"allOf": [schema]}
    assert extract_facts(schema) == schema


def test_a_branch_is_known_by_its_reference_in_either_notation() -> None:
    def union(second: Json) -> Json:
        first, third = {"type": "object", "allOf": [{"$ref": "#/$defs/A"}]}, {"type": "string"}
        return {"anyOf": [first, {"type": "object", "allOf": [{"$ref": "#/$defs/B"}], **second}, third]}

    ours = union({"description": "Ours."})
    assert merged(union({}), ours, union({"minProperties": 1})) == union({"description": "Ours.", "minProperties": 1})


def test_a_branch_that_admits_everything_is_one() -> None:
    ours = {"anyOf": [{"description": "Ours.", "type": "string"}, {"type": "integer"}]}
    theirs = {"anyOf": [True, {"type": "integer"}]}
    assert merged({"anyOf": [{"type": "string"}, {"type": "integer"}]}, ours, theirs) == theirs


@pytest.mark.parametrize("keyword", ["allOf", "prefixItems"])
def test_a_list_of_subschemas_that_changes_keeps_our_words(keyword: str) -> None:
    def parts(*items: Json) -> Json:
        return {keyword: [*items]}

    same, record = {"type": "string"}, {"type": "object", "properties": {"a": {"type": "string"}}}
    ours = parts({"description": "One.", **same}, {**record, "properties": {"a": {"description": "A.", **same}}})
    theirs = parts({**same, "minLength": 1}, record, {"type": "integer"})
    assert merged(parts(same, record), ours, theirs) == parts(
        {"description": "One.", **same, "minLength": 1}, ours[keyword][1], {"type": "integer"}
    )


def test_what_we_added_stays_and_what_we_took_out_stays_out(project: Project) -> None:
    document = json.loads((project.folder / "items.json").read_text())
    del document["$defs"]["Local"]["properties"]["command"]
    (project.folder / "items.json").write_text(laid_out(document))
    project.definitions["GreetRequest"]["properties"]["tone"] = {"type": "string"}
    project.definitions["Local"]["properties"]["command"]["minLength"] = 1
    adoption = project.adopt()
    assert list(project.ours("greet.json")["GreetRequest"]["properties"]) == [
        *("count", "mood", "items", "_meta", "tone", "extra"),
    ]
    assert project.ours("items.json")["Local"]["properties"] == {}
    assert "here it was taken out, and stays so" in project.tasks(adoption)


def test_a_thing_that_both_added_stays_as_it_is_here(project: Project) -> None:
    project.definitions["GreetRequest"]["properties"]["extra"] = {"type": "integer"}
    adoption = project.adopt()
    assert project.ours("greet.json")["GreetRequest"]["properties"]["extra"]["type"] == "string"
    assert 'here is {"type": "string"} already, and stays' in project.tasks(adoption)


def test_a_removed_thing_that_differs_on_purpose_or_is_still_used_stays(project: Project) -> None:
    document = json.loads((project.folder / "items.json").read_text())
    document["$defs"]["Text"]["properties"]["alt"] = {"description": "Our field.", "$ref": "#/$defs/Remote"}
    (project.folder / "items.json").write_text(laid_out(document))
    for name in ("Server", "Remote", "Local"):
        del project.definitions[name]
    adoption = project.adopt()
    assert project.ours("items.json").keys() >= {"Remote", "Server", "Local"}
    assert dict(adoption.kept) == {"Remote": ("Text", "Server"), "Local": ("Server",)}
    assert [conflict.at for conflict in adoption.conflicts] == [("$defs", "Server")], "its default branch is ours"
    assert "upstream removed it, and it stays because Text, Server refers to it" in project.tasks(adoption)


def test_a_definition_that_we_moved_stays_where_it_is(project: Project) -> None:
    items = json.loads((project.folder / "items.json").read_text())
    greet = json.loads((project.folder / "greet.json").read_text())
    greet["$defs"]["Mood"] = items["$defs"].pop("Mood")
    greet["$defs"]["GreetRequest"]["properties"]["mood"]["$ref"] = "#/$defs/Mood"
    (project.folder / "items.json").write_text(laid_out(items))
    (project.folder / "greet.json").write_text(laid_out(greet))
    project.next["$defs"] = dict(reversed(project.definitions.items()))
    project.definitions["Mood"]["oneOf"].append({"type": "string", "const": "shy"})
    project.definitions["Image"]["properties"]["mood"] = {"$ref": "#/$defs/Mood"}
    project.adopt()
    assert [branch["const"] for branch in project.ours("greet.json")["Mood"]["oneOf"]][-1] == "shy"
    assert project.ours("items.json")["Image"]["properties"]["mood"]["$ref"] == "greet.json#/$defs/Mood"
    assert list(project.ours("items.json")) == ["Item", "Text", "Image", "Server", "Remote", "Local"]


def test_upstreams_new_order_of_fields_is_taken_and_ours_follow_their_neighbours(project: Project) -> None:
    greet = project.definitions["GreetRequest"]
    greet["properties"] = {name: greet["properties"][name] for name in ("items", "mood", "count", "_meta")}
    project.adopt()
    assert list(project.ours("greet.json")["GreetRequest"]["properties"]) == [
        "items",
        "mood",
        "count",
        "_meta",
        "extra",
    ]


def test_new_methods_stand_beside_their_kin_or_in_a_file_of_their_own(project: Project) -> None:
    for name, method in (
        ("WaveRequest", "greet/wave"),
        ("WaveResponse", "greet/wave"),
        ("LeaveRequest", "leave_room/now"),
    ):
        project.definitions[name] = {"type": "object", "x-side": "agent", "x-method": method}
        branches = project.definitions["Envelope"]["properties"]["params"]["anyOf"]
        branches.append({"title": name, "$ref": f"#/$defs/{name}"})
    adoption = project.adopt()
    assert list(project.ours("greet.json")) == ["GreetRequest", "GreetResponse", "WaveRequest", "WaveResponse"]
    assert list(project.ours("leave-room.json")) == ["LeaveRequest"]
    assert json.loads((project.folder / "leave-room.json").read_text())["description"] == ""
    references = [
        branch["$ref"] for branch in project.ours("jsonrpc.json")["Envelope"]["properties"]["params"]["anyOf"]
    ]
    assert references[2:] == [
        "greet.json#/$defs/WaveRequest",
        "greet.json#/$defs/WaveResponse",
        "leave-room.json#/$defs/LeaveRequest",
    ]
    assert "Give LeaveRequest its gate" in project.tasks(adoption)


def test_a_field_that_may_have_been_renamed_is_told(project: Project) -> None:
    fields = project.definitions["Text"]["properties"]
    fields["words"] = fields.pop("text")
    project.definitions["Text"]["required"] = ["words"]
    adoption = project.adopt()
    assert project.ours("items.json")["Text"]["required"] == ["words"]
    assert "See whether Text.text is Text.words now" in project.tasks(adoption)
    assert {example.definition for example in adoption.examples} == {"GreetRequest", "Item"}


def test_the_root_changes_too(project: Project) -> None:
    project.next["anyOf"].append({"title": "Batch", "type": "array", "items": {"$ref": "#/$defs/Envelope"}})
    project.adopt()
    document = json.loads((project.folder / "jsonrpc.json").read_text())
    assert document["anyOf"][1] == {
        "title": "Batch",
        "description": "",
        "type": "array",
        "items": {"$ref": "#/$defs/Envelope"},
    }
    assert list(document) == ["$schema", "title", "description", "anyOf", "$defs"]


def test_any_two_revisions_can_be_adopted_one_after_the_other_without_a_trace(project: Project) -> None:
    before = {path: said for path, said in files_of(project.folder).items() if path != BASE}
    plain = copy.deepcopy(project.next)
    project.definitions["Text"]["properties"]["lang"] = {"type": "string"}
    project.definitions["Item"]["anyOf"].insert(0, variant("sound", "Text"))
    project.definitions["GreetRequest"]["required"].append("mood")
    project.adopt()
    project.file.write_text(json.dumps(plain))
    apply(project.file, project.folder)
    after = {path: said for path, said in files_of(project.folder).items() if path != BASE}
    assert after == before


def test_names_of_a_schema_are_no_markup_in_a_report(project: Project) -> None:
    project.definitions["Text"]["properties"]["`[x](y)`\n# <b>"] = {"type": "string", "const": "<img>"}
    found = make_report(project.adopt(), "p")
    lines = write_markdown(found).splitlines()
    assert not [line for line in lines if line.startswith("# <b>")]
    assert all(line.isprintable() for line in write_lines(found))
    assert any(write_code("items.json#/$defs/Text/properties/`[x](y)`\n# <b>") in line for line in lines)


# --- faults ----------------------------------------------------------------------------------------------------------


def refused(project: Project, kind: FaultKind) -> str:
    """The one fault of adopting, after which the folder is as it was."""
    before = files_of(project.folder)
    with pytest.raises(Faults) as caught:
        adopt(project.file, project.folder, "p")
    assert {fault.kind for fault in caught.value.faults} == {kind}
    assert files_of(project.folder) == before
    (line,) = {str(fault) for fault in caught.value.faults}
    return line


def test_what_is_no_schema_of_acps_layout_is_refused(project: Project) -> None:
    project.file.write_text("{")
    refused(project, NOT_JSON)
    project.file.write_text('{"type": "object"}')
    assert "there are no '$defs'" in refused(project, NOT_ADOPTABLE)
    project.file.write_text('{"$defs": {"A": {"$ref": "other.json#/$defs/A"}}}')
    assert "leads elsewhere" in refused(project, NOT_ADOPTABLE)
    project.file.write_text('{"$defs": {"A": {"$ref": "#/$defs/B"}}}')
    assert "leads nowhere" in refused(project, NOT_ADOPTABLE)
    project.file.write_text('{"$defs": {"A": true}}')
    assert "is not an object" in refused(project, NOT_ADOPTABLE)
    project.file.write_text('{"$defs": {"A": {"$defs": {}}}}')
    assert "there is '$defs' in this definition" in refused(project, NOT_ADOPTABLE)


def test_a_result_that_cannot_be_used_is_refused(project: Project) -> None:
    project.definitions["Text"]["properties"]["text"]["x-deserialize-sometimes"] = True
    project.file.write_text(json.dumps(project.next))
    assert "'x-deserialize-sometimes'" in refused(project, ADOPTION_REFUSED)


def test_a_new_definition_that_only_refers_to_itself_is_added(project: Project) -> None:
    project.definitions["Tree"] = {"type": "object", "properties": {"inner": {"$ref": "#/$defs/Tree"}}}
    assert [entry.definition for entry in make_report(project.adopt(), "p").select("added")] == ["Tree"]


def test_a_fault_of_our_own_files_names_the_file(project: Project) -> None:
    file = project.folder / "greet.json"
    document = json.loads(file.read_text())
    document["$defs"]["GreetRequest"]["x-side"] = 1
    file.write_text(json.dumps(document))
    with pytest.raises(Faults) as caught:
        adopt(project.file, project.folder, "p")
    assert {fault.at.partition("#")[0] for fault in caught.value.faults} == {file.as_posix()}


def test_without_a_base_nothing_can_be_adopted(project: Project) -> None:
    (project.folder / BASE).unlink()
    assert "acpgen adopt FILE --into p --start" in refused(project, NO_BASE)


def test_a_base_with_the_marks_of_a_merge_is_refused(project: Project) -> None:
    (project.folder / BASE).write_text("<<<<<<< ours\n")
    refused(project, NOT_JSON)


def test_an_unlike_schema_needs_to_be_told_its_protocol(project: Project) -> None:
    folders = find_followers(project.folder.parent)
    assert find_nearest(project.file, folders) == "p"
    shutil.copytree(project.folder, project.folder.with_name("q"))
    with pytest.raises(Faults) as caught:
        find_nearest(project.file, find_followers(project.folder.parent))
    assert caught.value.faults == (UNCLEAR_PROTOCOL(at=str(project.file), choices="--into p or --into q"),)


def test_where_no_folder_follows_upstream_the_hint_does_not_record_the_new_schema_as_adopted(project: Project) -> None:
    with pytest.raises(Faults) as caught:
        find_nearest(project.file, {})
    assert caught.value.faults == (UNCLEAR_PROTOCOL(at=str(project.file), choices="--into PROTOCOL"),)


def test_a_failure_while_writing_leaves_everything_as_it_was(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    import os

    project.definitions["Text"]["properties"]["lang"] = {"type": "string"}
    project.definitions["Envelope"]["properties"]["id"] = {"type": "string"}
    project.file.write_text(json.dumps(project.next))
    adoption = adopt(project.file, project.folder, "p")
    assert set(adoption.written) == {"items.json", "jsonrpc.json", BASE}
    before = files_of(project.folder)
    replace = os.replace
    for failing in adoption.written:

        def replace_or_fail(source: Path, target: Path, failing: str = failing) -> None:
            if target.name == failing:
                raise OSError(28, "No space left on device")
            replace(source, target)

        monkeypatch.setattr(os, "replace", replace_or_fail)
        with pytest.raises(Faults) as caught:
            save(project.folder, adoption.written, adoption.removed)
        assert caught.value.faults[0].kind == UNWRITABLE
        assert files_of(project.folder) == before, "and nothing lies beside"
    monkeypatch.setattr(os, "replace", replace)
    save(project.folder, adoption.written, adoption.removed)
    assert adopt(project.file, project.folder, "p").is_none


# --- a folder that extends another one -------------------------------------------------------------------------------

UNSTABLE: Final[Json] = {"description": "**UNSTABLE** Upstream's words.", "type": "object", "properties": {}}


def tried_out() -> Json:
    """What the small upstream tries out, beside what is stable."""
    whole = upstream()
    whole["$defs"]["Item"]["anyOf"].insert(2, variant("sound", "Sound"))
    whole["$defs"]["Item"]["anyOf"][3]["not"]["anyOf"].append(tagged("sound"))
    whole["$defs"]["Sound"] = {**copy.deepcopy(UNSTABLE), "properties": {"url": {"type": "string"}}}
    whole["$defs"]["Text"]["properties"]["lang"] = {"type": "string"}
    return whole


def overlaid(project: Project) -> Path:
    """A folder that extends the project's, and follows what upstream tries out."""
    words = {"description": "Our words."}
    branch = {**words, **tagged("sound"), "$ref": "#/$defs/Sound"}
    adds: Json = {
        "#/$defs/Item/anyOf": [branch],
        "#/$defs/Item/anyOf/2/not/anyOf": [tagged("sound")],
        "#/$defs/Text/properties": {"lang": {**words, "type": "string"}},
    }
    sound = {**words, "type": "object", "properties": {"url": {**words, "type": "string"}}}
    value = {"$schema": DIALECT, "x-extends": "../p/items.json", "x-adds": adds, "$defs": {"Sound": sound}}
    folder = project.folder.with_name("next")
    folder.mkdir()
    (folder / "items.json").write_text(laid_out(value))
    project.file.write_text(json.dumps(tried_out()))
    save(folder, start_following(project.file, folder, "next"))
    return folder


def test_an_overlay_is_adopted_as_an_overlay(project: Project) -> None:
    folder, theirs = overlaid(project), tried_out()
    stable, before = files_of(project.folder), files_of(folder)
    assert apply(project.file, folder, "next").is_none
    theirs["$defs"]["Sound"]["properties"]["loud"] = {"description": "Upstream's words.", "type": "boolean"}
    theirs["$defs"]["Image"]["properties"]["alt"] = {"type": "string"}
    theirs["$defs"]["GreetRequest"]["properties"]["hum"] = {"type": "string"}
    theirs["$defs"]["GreetRequest"]["required"].append("hum")
    theirs["$defs"]["Item"]["anyOf"].insert(0, variant("video", "Video"))
    theirs["$defs"]["Item"]["anyOf"][4]["not"]["anyOf"].append(tagged("video"))
    theirs["$defs"]["Video"] = copy.deepcopy(UNSTABLE)
    del theirs["$defs"]["Text"]["properties"]["lang"]
    project.file.write_text(json.dumps(theirs))
    adoption = apply(project.file, folder, "next")
    assert not adoption.conflicts
    assert files_of(project.folder) == stable
    items, greet = (json.loads((folder / path).read_text()) for path in ("items.json", "greet.json"))
    assert (items["x-extends"], greet["x-extends"]) == ("../p/items.json", "../p/greet.json")
    assert items["$defs"].keys() == {"Sound", "Video"}
    assert items["$defs"]["Sound"]["properties"]["loud"] == {"description": "", "type": "boolean"}
    assert "#/$defs/Text/properties" not in items["x-adds"]
    assert items["x-adds"]["#/$defs/Item/anyOf/2/not/anyOf"] == [tagged("sound"), tagged("video")]
    assert "x-unstable" not in json.dumps((items, greet))
    added = {"#/$defs/GreetRequest/properties": {"hum": {"description": "", "type": "string"}}}
    assert greet["x-adds"] == {**added, "#/$defs/GreetRequest/required": ["hum"]}
    assert apply(project.file, folder, "next").is_none
    bundle = understand(load(folder))[1].schema["$defs"]
    assert [extract_facts(bundle["GreetRequest"])["properties"][name] for name in ("hum", "extra")] == [
        {"type": "string"}
    ] * 2
    project.file.write_text(json.dumps(tried_out()))
    apply(project.file, folder, "next")
    assert list(files_of(folder)) == list(before), "and a file that says nothing more is gone"
    assert set(json.loads((folder / "items.json").read_text())["$defs"]) == {"Sound"}


def test_what_an_overlay_cannot_say_stays_and_is_told(project: Project) -> None:
    folder, theirs = overlaid(project), tried_out()
    del theirs["$defs"]["Image"]["properties"]["data"]
    theirs["$defs"]["Text"]["properties"]["text"]["type"] = "integer"
    project.file.write_text(json.dumps(theirs))
    adoption = apply(project.file, folder, "next")
    assert {conflict.at[1] for conflict in adoption.conflicts} == {"Image", "Text"}
    (task,) = (task for task in make_report(adoption, "next").tasks if task.startswith("Adopt the stable schema"))
    assert "items.json#/$defs/Text/properties/text/type" in task
    assert extract_facts(load(folder).documents[0].value) is not None
    assert json.loads((folder / "items.json").read_text())["x-extends"]


def test_an_overlay_that_the_next_stable_revision_breaks_is_told(project: Project) -> None:
    folder = overlaid(project)
    theirs = upstream()
    theirs["$defs"]["Item"]["anyOf"].insert(2, variant("video", "Sound"))
    theirs["$defs"]["Item"]["anyOf"][3]["not"]["anyOf"].append(tagged("video"))
    theirs["$defs"]["Sound"] = {"type": "object"}
    project.file.write_text(json.dumps(theirs))
    adoption = adopt(project.file, project.folder, "p", {"next": folder})
    told = "\n".join(make_report(adoption, "p").tasks)
    assert "next/items.json#/x-adds/#/$defs/Item/anyOf/2/not/anyOf: this leads to another branch now." in told
    assert "next/items.json#/$defs/Sound: the other file has this definition." in told


def test_an_unstable_schema_goes_into_no_stable_protocol_by_itself(project: Project) -> None:
    project.file.write_text(json.dumps(tried_out()))
    root = project.folder.parent
    with pytest.raises(Faults, match="no stable protocol"):
        find_nearest(project.file, find_followers(root), find_overlays(root))
    folder = overlaid(project)
    assert find_overlays(root) == {"next": folder}
    assert find_nearest(project.file, find_followers(root), find_overlays(root)) == "next"
    (folder / BASE).unlink()
    with pytest.raises(Faults) as caught:
        find_nearest(project.file, find_followers(root), find_overlays(root))
    assert caught.value.faults == (UNSTABLE_PARTS(at=str(project.file), choices="--into next"),)
    project.file.write_text(json.dumps(tried_out()).replace("UNSTABLE", ""))
    with pytest.raises(Faults) as caught:
        find_nearest(project.file, find_followers(root), find_overlays(root))
    assert caught.value.faults == (UNCLEAR_PROTOCOL(at=str(project.file), choices="--into p or --into next"),)


NO_OVERLAYS: Final[Mapping[str, tuple[Json, ...]]] = {
    "several folders": ({"x-extends": "../q/items.json"}, {"x-extends": "../r/items.json"}),
    "no other folder": ({"x-extends": "items.json"},),
    "no text": ({"x-extends": 5, "x-adds": [5], "$defs": [5]},),
    "no path": ({"x-extends": "\0/items.json"},),
}
"""Files of folders that `load` takes for no overlays."""


@pytest.mark.parametrize("files", NO_OVERLAYS.values(), ids=NO_OVERLAYS.keys())
def test_a_folder_that_is_no_overlay_and_none_of_this_one_is_passed_over(
    project: Project, files: tuple[Json, ...]
) -> None:
    broken = project.folder.with_name("broken")
    broken.mkdir()
    for number, value in enumerate(files):
        (broken / f"{number}.json").write_text(json.dumps(value))
    root = project.folder.parent
    extending = find_overlays(root)
    assert extending == {"broken": broken}
    assert find_nearest(project.file, find_followers(root), extending) == "p"
    project.definitions["Image"]["properties"]["alt"] = {"type": "string"}
    project.file.write_text(json.dumps(project.next))
    adoption = adopt(project.file, project.folder, "p", extending)
    assert adoption.written and not adoption.overlay_faults
    with pytest.raises(Faults):
        adopt(project.file, broken, "p", extending)


@pytest.mark.parametrize(
    ("other", "told"),
    [
        ({"x-extends": "../q/items.json"}, "extend files of several folders"),
        ({"x-extends": 5, "x-adds": [5]}, "there is no schema file 5"),
    ],
)
def test_a_folder_that_is_no_overlay_of_this_one_alone_is_told(project: Project, other: Json, told: str) -> None:
    broken = project.folder.with_name("broken")
    broken.mkdir()
    for path, value in (("items.json", {"x-extends": "../p/items.json"}), ("other.json", other)):
        (broken / path).write_text(json.dumps(value))
    project.definitions["Image"]["properties"]["alt"] = {"type": "string"}
    project.file.write_text(json.dumps(project.next))
    adoption = adopt(project.file, project.folder, "p", find_overlays(project.folder.parent))
    assert told in "\n".join(make_report(adoption, "p").tasks)


def test_a_folder_around_an_overlay_is_not_adopted_together_with_it(project: Project) -> None:
    inside = project.folder / "inside"
    inside.mkdir()
    (inside / "more.json").write_text(json.dumps({"x-extends": "../../q/more.json"}))
    other = project.folder.with_name("q")
    other.mkdir()
    (other / "more.json").write_text(laid_out({"$schema": DIALECT, "$defs": {"More": {"type": "object"}}}))
    with pytest.raises(Faults, match="this folder extends another one for itself") as caught:
        adopt(project.file, project.folder, "p")
    assert [fault.at for fault in caught.value.faults] == [f"{inside}/more.json#/x-extends"]


@pytest.mark.exhaustive
@pytest.mark.parametrize("version", ["v1", "v2"])
def test_the_unstable_channel_follows_upstream_there_and_back(version: str, tmp_path: Path) -> None:
    newest, older = (f"upstream/acp-{version}-{name}/schema.unstable.json" for name in ("newest", "sdk-2.0.0"))
    shutil.copytree(SCHEMA / "acp", tmp_path / "acp")
    folder = tmp_path / "acp" / "unstable" / version
    stable = files_of(tmp_path / "acp" / version)
    save(folder, start_following(published(newest), folder, version))
    assert apply(published(newest), folder, version).is_none
    apply(published(older), folder, version)
    assert apply(published(older), folder, version).is_none
    apply(published(newest), folder, version)
    assert files_of(tmp_path / "acp" / version) == stable
    raw = {path: json.loads(text) for path, text in files_of(folder).items() if path != BASE}
    kept = {path for path in stable if path in raw}
    assert kept
    assert all("x-extends" in raw[path] for path in kept)
    names = [
        read_canonical(load(tmp_path / "acp" / each)).definitions.keys() for each in (version, f"unstable/{version}")
    ]
    assert names[0] < names[1]


# --- the command -----------------------------------------------------------------------------------------------------

PYPROJECT: Final = (
    '[tool.acpgen]\nschema = "schema"\n\n[tool.acpgen.outputs."out"]\ntarget = "bundle"\nprotocols = ["p"]\n'
)


def command(*arguments: str) -> int:
    with pytest.raises(SystemExit) as stopped:
        cli.app(["adopt", *arguments], prog_name="acpgen")
    return int(stopped.value.code or 0)


def test_the_command_from_first_to_last(
    project: Project, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    root = project.file.parent
    monkeypatch.chdir(root)
    (root / "pyproject.toml").write_text(PYPROJECT)
    (project.folder / BASE).unlink()
    assert command("upstream.json", "--into", "p", "--start") == 0
    assert capsys.readouterr().err == "p follows upstream.json from now on.\n"
    assert command("upstream.json") == 0
    assert capsys.readouterr().out == "p has the facts of upstream.json already.\n"
    project.definitions["Text"]["properties"]["lang"] = {"type": "string"}
    project.file.write_text(json.dumps(project.next))
    before = files_of(project.folder)
    assert command("upstream.json", "--dry-run") == 1
    shown = capsys.readouterr()
    assert shown.err == "Nothing was written.\n"
    assert "  added    items.json#/$defs/Text/properties/lang\n" in shown.out
    assert files_of(project.folder) == before
    assert command("upstream.json", "--dry-run", "--report", "-") == 1
    shown = capsys.readouterr()
    assert shown.out.startswith("# ") and "## Added" in shown.out and "  added    items.json" not in shown.out
    assert not (root / "-").exists()
    for taken in (project.file, project.folder / "items.json", root / "pyproject.toml"):
        assert command("upstream.json", "--dry-run", "--report", str(taken)) == 2
        assert "must be another file than those that are read" in capsys.readouterr().err
    assert files_of(project.folder) == before
    assert command("upstream.json", "--report", "made/report.md") == 0
    assert capsys.readouterr().err == "Written. Now run: acpgen lint, then acpgen generate\n"
    report = (root / "made" / "report.md").read_text()
    assert "## Added" in report
    assert "$schema" not in report, "which is no fact"
    assert files_of(project.folder) != before
    project.definitions["GreetRequest"]["properties"]["count"]["maximum"] = 20
    project.file.write_text(json.dumps(project.next))
    assert command("upstream.json", "--into", "p") == 1
    assert "Decide greet.json#/$defs/GreetRequest/properties/count/maximum" in capsys.readouterr().out
    assert command("upstream.json", "--into", "q") == 2
    assert command("upstream.json", "--start") == 2
    understand(load(project.folder))


def test_a_reader_that_leaves_changes_no_exit_code(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    class ClosedPipe(io.StringIO):
        def write(self, *_: object) -> int:
            raise BrokenPipeError(errno.EPIPE, "Broken pipe")

    monkeypatch.chdir(project.file.parent)
    (project.file.parent / "pyproject.toml").write_text(PYPROJECT)
    monkeypatch.setattr(sys, "stdout", ClosedPipe())
    assert command("upstream.json") == 0


def test_what_is_adopted_can_be_kept_as_a_release(
    project: Project, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    root = project.folder.parents[1]
    (root / "pyproject.toml").write_text('[tool.acpgen.outputs."o"]\ntarget = "ir"\nprotocols = ["p"]\n')
    monkeypatch.chdir(root)

    def command(*arguments: str) -> int:
        with pytest.raises(SystemExit) as stopped:
            cli.app(["adopt", *arguments], prog_name="acpgen")
        return int(str(stopped.value.code))

    releases = root / "schema" / RELEASES / "p"
    assert command("upstream.json", "--into", "p", "--start", "--keep-as", "1.0") == 0
    why = [{"at": ["Text"], "why": "It is shorter here."}]
    known = {"about": "", "versions": ["1.0"], "titles": {"1.0": "First"}, "differences": why}
    (releases / INDEX).write_text(json.dumps(known))
    project.definitions["Text"]["properties"]["lang"] = {"type": "string", "description": "Upstream's words."}
    project.file.write_text(json.dumps(project.next))
    assert command("upstream.json", "--dry-run", "--keep-as", "2.0") == 2
    assert command("upstream.json", "--keep-as", "Index") == 2, "one file with index.json on some file systems"
    assert command("upstream.json", "--keep-as", "2.0") == 0
    assert command("upstream.json", "--keep-as", "2.0") == 0
    told = parse_index((releases / INDEX).read_bytes(), "")
    assert (told.versions, told.titles) == (("1.0", "2.0"), {"1.0": "First"})
    assert [(reason.at, reason.why) for reason in told.differences or ()] == [(("Text",), "It is shorter here.")]
    first, second = (json.loads((releases / f"{version}.json").read_text()) for version in ("1.0", "2.0"))
    assert "lang" not in first["$defs"]["Text"]["properties"]
    assert second["$defs"]["Text"]["properties"]["lang"] == {"type": "string"}
    capsys.readouterr()
    project.definitions["Text"]["properties"]["lang"] = {"type": "integer"}
    project.file.write_text(json.dumps(project.next))
    (releases / "3.0.json").write_text("{}")
    before = files_of(root)
    assert command("upstream.json", "--keep-as", "3.0") == 2
    assert command("upstream.json", "--into", "p", "--start") == 2
    assert "leave out --start" in capsys.readouterr().err
    assert command("upstream.json", "--keep-as", "2.0") == 2
    assert "2.0 is kept already, with other facts" in capsys.readouterr().err
    assert files_of(root) == before
    assert list(find_followers(root / "schema")) == ["p"]


def test_read_upstream_keeps_no_word(project: Project) -> None:
    assert "Upstream's words" not in json.dumps(read_upstream(project.file))


def test_a_release_of_a_family_is_kept_with_those_before_it(
    project: Project, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The versions of a family are protocols of their own: what is published next belongs to none of them yet."""
    root = project.folder.parents[1]
    (root / "pyproject.toml").write_text('[tool.acpgen.outputs."o"]\ntarget = "ir"\nprotocols = ["m/2025"]\n')
    project.folder.rename(project.folder.parent / "m")
    (root / "schema" / "m").mkdir(exist_ok=True)
    family = root / "schema" / RELEASES / "m"
    family.mkdir(parents=True)
    (family / INDEX).write_text('{"about": "All of m.", "versions": []}\n')
    monkeypatch.chdir(root)
    for into, version in (("m", "2025"), ("m", "2026")):
        with pytest.raises(SystemExit) as stopped:
            cli.app(["adopt", str(project.file), "--into", into, "--keep-as", version], prog_name="acpgen")
        assert stopped.value.code == 0, capsys.readouterr().err
        project.definitions["Text"]["properties"]["lang"] = {"type": "string"}
        project.file.write_text(json.dumps(project.next))
    assert parse_index((family / INDEX).read_bytes(), "").versions == ("2025", "2026")
    with pytest.raises(SystemExit) as stopped:
        cli.app(["adopt", str(project.file), "--into", "n", "--keep-as", "1"], prog_name="acpgen")
    assert stopped.value.code == 2


def test_a_protocol_without_releases_of_its_own_keeps_them_with_its_family(tmp_path: Path) -> None:
    assert find_folder(tmp_path, "m/2025") == tmp_path / RELEASES / "m" / "2025"
    (tmp_path / RELEASES / "m").mkdir(parents=True)
    (tmp_path / RELEASES / "m" / INDEX).write_text("{}")
    assert find_folder(tmp_path, "m/2025") == tmp_path / RELEASES / "m"
