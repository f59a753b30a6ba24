"""Names are stable: what does not change keeps its name, whatever is added beside it."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Mapping
from functools import lru_cache
from itertools import pairwise
from pathlib import Path
from typing import Any, Final

import pytest

import evidence
import tiers
from acpgen import ir
from acpgen.bundle.bundle import bundle
from acpgen.input.load import load
from acpgen.input.walk import is_array, is_object
from acpgen.meaning.lower import lower
from acpgen.naming.identifiers import make_method_key
from acpgen.targets.python.naming import name_all
from compat.protocols import releases

PUBLISHED: Final = evidence.known("upstream/*/schema*.json", "history/*/*.schema.json")


def file_of(name: str) -> Path:
    """A published schema."""
    evidence.need(name)
    return evidence.path(name)


def pairs() -> list[tuple[str, str]]:
    """Published schemas that follow one another, and those of which one adds to the other."""
    followers = [
        ("history/v1/v0.4.0.schema.json", "history/v1/v0.6.2.schema.json"),
        ("upstream/acp-v1-sdk-2.0.0/schema.json", "upstream/acp-v1-newest/schema.json"),
        ("upstream/acp-v2-sdk-2.0.0/schema.json", "upstream/acp-v2-newest/schema.json"),
        ("upstream/mcp-2025-06-18/schema.json", "upstream/mcp-2025-11-25/schema.json"),
    ]
    unstable = [name for name in PUBLISHED if name.endswith("/schema.unstable.json")]
    return [*followers, *((name.replace(".unstable", ""), name) for name in unstable)]


def title(value: object) -> str:
    """What a test is called after."""
    return "/".join(value.parts[-2:]) if isinstance(value, Path) else str(value)


@lru_cache(maxsize=8)
def protocol_of(file: Path) -> ir.Protocol:
    """What a schema file means."""
    return lower(bundle(load(file, name=file.parent.name)))


def content(definition: ir.Definition) -> object:
    """A definition without its name and place, and without the names of what it refers to: those are judged for themselves."""
    return _plain(json.loads(json.dumps(dataclasses.asdict(definition))))


def _plain(value: Any) -> Any:
    match value:
        case _ if is_object(value):
            left: dict[str, Any] = {
                key: _plain(item)
                for key, item in value.items()
                if key not in ("name", "doc", "at", "owner", "base", "body")
            }
            return {**left, "name": value["name"]} if "required" in value else left
        case _ if is_array(value):
            return [_plain(item) for item in value]
        case _:
            return value


def places(protocol: ir.Protocol) -> dict[str, tuple[str, str, object]]:
    """Definitions by their pointer in the source, with class and content. One place may hold several: those are left out."""
    classes = name_all(protocol).classes
    found: dict[str, list[tuple[str, str, object]]] = {}
    for name, definition in protocol.definitions.items():
        at = definition.at.partition("#")[2].replace("/definitions/", "/$defs/")  # which drafts call differently
        found.setdefault(at, []).append((name, classes[name], content(definition)))
    return {at: entries[0] for at, entries in found.items() if len(entries) == 1}


@pytest.mark.parametrize(
    "pair",
    tiers.sample([*pairwise(releases("v1")), *pairwise(releases("v2"))], 4, lambda pair: "-".join(map(title, pair))),
)
def test_a_class_whose_definition_did_not_change_keeps_its_name(pair: tuple[Path, Path]) -> None:
    assert_names_kept(*pair)


@pytest.mark.parametrize("pair", tiers.sample(pairs(), 3, "-".join))
def test_a_published_class_whose_definition_did_not_change_keeps_its_name(pair: tuple[str, str]) -> None:
    assert_names_kept(*map(file_of, pair))


def assert_names_kept(old: Path, new: Path) -> None:
    before, after = places(protocol_of(old)), places(protocol_of(new))
    kept = 0
    for at, (_, name, meaning) in before.items():
        if at in after and after[at][2] == meaning:
            assert after[at][1] == name, at
            kept += 1
    assert kept > 5


NEWEST: Final = ("acp-v1-newest", "acp-v2-newest", "mcp-2025-11-25")


def named(schema: Mapping[str, Any], tmp_path: Path) -> dict[str, tuple[str, object]]:
    """The classes of a schema with their places and contents."""
    file = tmp_path / "schema.json"
    file.write_text(json.dumps(schema), "utf-8")
    protocol = lower(bundle(load(file, name="changed")))
    classes = name_all(protocol).classes
    return {classes[name]: (one.at.partition("#")[2], content(one)) for name, one in protocol.definitions.items()}


def schema_of(folder: str) -> tuple[dict[str, Any], dict[str, Any]]:
    """A published schema and its definitions, to be changed."""
    schema: dict[str, Any] = json.loads(file_of(f"upstream/{folder}/schema.json").read_text("utf-8"))
    return schema, schema["$defs"] if "$defs" in schema else schema["definitions"]


@pytest.mark.parametrize("folder", tiers.sample(NEWEST, 1))
def test_what_is_added_renames_nothing(folder: str, tmp_path: Path) -> None:
    schema, definitions = schema_of(folder)
    key = "$defs" if "$defs" in schema else "definitions"
    before = named(schema, tmp_path)
    unions = 0
    for name, definition in list(definitions.items()):
        if definition.get("x-docs-ignore"):
            continue
        if definition.get("type") == "object" and definition.get("properties"):
            definition["properties"]["zAdded"] = {"type": "object", "properties": {"kind": {"enum": ["a", "b"]}}}
        union: list[Any] = definition.get("oneOf") or definition.get("anyOf") or []
        tagged = [one for one in union if any("const" in sub for sub in one.get("properties", {}).values())]
        if len(tagged) > 1 and all("type" in one for one in tagged):
            tag = next(name for name, sub in tagged[0]["properties"].items() if "const" in sub)
            body = tagged[0].get("allOf")  # another variant with the body of the first
            more: dict[str, Any] = {
                "type": "object",
                "properties": {tag: {"type": "string", "const": "z_added"}},
                "required": [tag],
            }
            union.insert(len(tagged), {**more, **({"allOf": body} if body else {})})
            for one in union:
                if "not" in one:  # the fallback excludes the new tag too
                    excluded: dict[str, Any] = {"properties": {tag: {"const": "z_added"}}, "required": [tag]}
                    one["not"] = {"anyOf": [*one["not"].get("anyOf", [one["not"]]), excluded]}
            unions += 1
        definitions[f"AAdded{name}"] = {"type": "object", "properties": {"one": {"$ref": f"#/{key}/{name}"}}}
    after = named(schema, tmp_path)
    assert unions > 5 or folder.startswith("mcp")
    assert set(before) <= set(after)
    assert {name: at for name, (at, _) in before.items() if "/oneOf/" not in at and "/anyOf/" not in at}.items() <= {
        name: at for name, (at, _) in after.items()
    }.items()


@pytest.mark.parametrize("folder", tiers.sample(NEWEST, 1))
def test_the_order_of_keys_renames_nothing(folder: str, tmp_path: Path) -> None:
    schema, definitions = schema_of(folder)
    before = named(schema, tmp_path)
    turned = dict(reversed(list(schema.items())))
    for key in ("$defs", "definitions"):
        if key in turned:
            turned[key] = {name: dict(reversed(list(one.items()))) for name, one in reversed(list(definitions.items()))}
    after = named(turned, tmp_path)
    assert {name: at for name, (at, _) in before.items()} == {name: at for name, (at, _) in after.items()}


def source_names(file: Path) -> set[str]:
    """The names that a schema file itself gives."""
    schema: Mapping[str, Any] = json.loads(file.read_text("utf-8"))
    return set(schema.get("$defs") or schema["definitions"])


@pytest.mark.parametrize("published", tiers.sample(PUBLISHED, 6))
def test_no_class_ends_in_a_digit_that_its_definition_does_not_end_in(published: str) -> None:
    file = file_of(published)
    known = source_names(file)
    for name, class_ in name_all(protocol_of(file)).classes.items():
        assert not class_[-1].isdigit() or name in known, class_


@pytest.mark.parametrize("published", tiers.sample(PUBLISHED, 6))
def test_every_method_is_in_the_table_on_its_side(published: str) -> None:
    file = file_of(published)
    schema: Mapping[str, Any] = json.loads(file.read_text("utf-8"))
    methods = protocol_of(file).methods
    table = {(method.side, method.name) for method in methods}
    definitions: Mapping[str, Any] = schema.get("$defs") or schema["definitions"]
    marked = {
        (one["x-side"], one["x-method"])
        for one in definitions.values()
        if "x-method" in one and not one.get("x-docs-ignore")
    }
    if marked:
        assert table == marked
    else:
        constants = {one.get("properties", {}).get("method", {}).get("const") for one in definitions.values()} - {None}
        assert {name for _, name in table} == constants
    for method in methods:
        assert method.params is None or method.params in definitions or file.parent.name.startswith("mcp")
        assert (method.result is None) == (method.kind == "notification")


@pytest.mark.parametrize("published", evidence.known("upstream/*/meta.json"))
def test_the_table_says_what_the_published_one_says(published: str) -> None:
    file = file_of(published)
    meta: Mapping[str, Any] = json.loads(file.read_text("utf-8"))
    methods = protocol_of(file.with_name("schema.json")).methods
    for key, side in (("agentMethods", "agent"), ("clientMethods", "client"), ("protocolMethods", "protocol")):
        assert {make_method_key(one.name): one.name for one in methods if one.side == side} == meta.get(key, {})
