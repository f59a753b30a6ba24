"""`[tool.acpgen]`: found upwards, read into frozen values; what is wrong is told with file and key (goldens: `test_bad_input`)."""

from __future__ import annotations

import json
import re
import time
import tomllib
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import jsonschema_rs
import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from acpgen import config
from acpgen.compat.findings import Waiver
from acpgen.config import (
    Config,
    Member,
    Output,
    SiteSettings,
    docs_inputs,
    find,
    is_package,
    is_protocol,
    move_site,
    read,
    read_names,
)
from acpgen.config.faults import NO_CONFIGURATION
from acpgen.errors import Fault, Faults
from acpgen.input.faults import BAD_SETTING
from acpgen.input.form import Form
from acpgen.input.load import Document, Documents
from acpgen.ir import JSON
from acpgen.publish.requirement_table import NormativeDocument, SchemaPlaces
from acpgen.targets.interface import Settings
from acpgen.targets.pipeline import generate

FULL = """
[tool.acpgen]
schema = "schemas"

[tool.acpgen.outputs."generated/python/acp-bindings"]
target = "python"
distribution = "acp-bindings"
version = "1.2.0rc1"
license = "MIT OR Apache-2.0"
packages = { "acp/v1" = "acp_bindings.v1", "acp/v2" = "acp_bindings.v2" }

[tool.acpgen.outputs."generated/schema"]
target = "bundle"
protocols = ["acp/v1", "mcp/2025-06-18", "acp/v1"]
"""


def config_of(tmp_path: Path, text: str) -> Config | None:
    (tmp_path / "pyproject.toml").write_text(text, encoding="utf-8")
    return read(tmp_path)


def faults_of(tmp_path: Path, text: str) -> tuple[Fault, ...]:
    with pytest.raises(Faults) as caught:
        config_of(tmp_path, text)
    return caught.value.faults


def test_a_configuration_is_read_as_it_stands(tmp_path: Path) -> None:
    config = config_of(tmp_path, FULL)
    assert config == Config(
        root=tmp_path,
        schema="schemas",
        outputs={
            "generated/python/acp-bindings": Output(
                target="python",
                packages={"acp/v1": "acp_bindings.v1", "acp/v2": "acp_bindings.v2"},
                distribution="acp-bindings",
                version="1.2.0rc1",
                license="MIT OR Apache-2.0",
            ),
            "generated/schema": Output(target="bundle", protocols=("acp/v1", "mcp/2025-06-18", "acp/v1")),
        },
    )
    assert config is not None
    assert config.protocols == ("acp/v1", "acp/v2", "mcp/2025-06-18")
    assert [output.members for output in config.outputs.values()] == [
        (Member("acp/v1", package="acp_bindings.v1"), Member("acp/v2", package="acp_bindings.v2")),
        (Member("acp/v1", prefix="acp/v1"), Member("mcp/2025-06-18", prefix="mcp/2025-06-18")),
    ]


def test_the_schema_folder_has_a_default(tmp_path: Path) -> None:
    config = config_of(tmp_path, FULL.replace('schema = "schemas"', ""))
    assert config is not None
    assert config.schema == "schema"


def test_the_nearest_configuration_upwards_counts_and_other_files_are_passed_by(tmp_path: Path) -> None:
    inner = tmp_path / "a" / "b" / "c"
    inner.mkdir(parents=True)
    (tmp_path / "pyproject.toml").write_text(FULL)
    (tmp_path / "a" / "pyproject.toml").write_text('[project]\nname = "x"\n')
    assert find(inner).root == tmp_path
    (tmp_path / "a" / "b" / "pyproject.toml").write_text(FULL)
    assert find(inner).root == tmp_path / "a" / "b"


def test_without_a_configuration_there_is_one_fault(tmp_path: Path) -> None:
    with pytest.raises(Faults) as caught:
        find(tmp_path)
    assert caught.value.faults == (NO_CONFIGURATION(at=tmp_path.as_posix()),)
    assert config_of(tmp_path, "[tool.other]\n") is None
    assert config_of(tmp_path, "tool = 3\n") is None


@pytest.mark.parametrize(
    "folder",
    ["", ".", "/", "/etc", "..", "../x", "a/../../x", "a\\\\b", "schemas", "schemas/inner", "generated/schema/x"],
)
def test_an_output_lies_below_the_project_and_apart_from_all_else(tmp_path: Path, folder: str) -> None:
    text = f'{FULL}\n[tool.acpgen.outputs."{folder}"]\ntarget = "ir"\nprotocols = ["acp/v1"]\n'
    assert faults_of(tmp_path, text)


def test_an_output_around_another_one_is_refused(tmp_path: Path) -> None:
    text = f'{FULL}\n[tool.acpgen.outputs.generated]\ntarget = "ir"\nprotocols = ["acp/v1"]\n'
    expected = "apart from the schema and every other output"
    at = (tmp_path / "pyproject.toml").as_posix()
    assert faults_of(tmp_path, text) == (
        BAD_SETTING(at=at, key="tool.acpgen.outputs.generated", expected=expected, hint="Correct this setting."),
    )


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("a", True),
        ("a.b_1", True),
        ("", False),
        ("a.", False),
        ("a.class", False),
        ("1a", False),
        ("a-b", False),
        ("é", False),
    ],
)
def test_a_package_can_be_imported(name: str, expected: bool) -> None:
    assert is_package(name) is expected


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("acp/v1", True),
        ("mcp/2025-06-18", True),
        *((name, False) for name in ("", "/", "a/", "/a", "..", "a/../b", ".hidden", "a b", "a\n", "a\\b", "é")),
    ],
)
def test_a_protocol_is_a_plain_relative_path(name: str, expected: bool) -> None:
    assert is_protocol(name) is expected


def test_names_are_read_from_toml_and_json(tmp_path: Path) -> None:
    (tmp_path / "n.toml").write_text('"#/$defs/A" = "B"\n"x.json#/$defs/C/oneOf/0" = "D_1"\n')
    (tmp_path / "n.json").write_text('{"#/$defs/A": "B", "x.json#/$defs/C/oneOf/0": "D_1"}')
    names = {"#/$defs/A": "B", "x.json#/$defs/C/oneOf/0": "D_1"}
    assert read_names(tmp_path / "n.toml") == read_names(tmp_path / "n.json") == names


@pytest.mark.parametrize("name", ["", "class", "None", "True", "lower", "A.B", "A-B", "1A", "É", "A B", "A\n"])
def test_a_name_that_python_cannot_use_is_refused(tmp_path: Path, name: str) -> None:
    (tmp_path / "n.json").write_text(json.dumps({"#/$defs/A": name}))
    with pytest.raises(Faults):
        read_names(tmp_path / "n.json")


VALUES: st.SearchStrategy[JSON] = st.recursive(
    st.sampled_from(["a", "a/b", "../x", "", "python", 'q"q\n']) | st.integers() | st.booleans(),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                ["schema", "outputs", "target", "packages", "protocols", "distribution", "version", "x y", "a/b"]
            ),
            inner,
            max_size=3,
        )
    ),
    max_leaves=12,
)


def toml(value: JSON) -> str:
    """A value as inline TOML."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{json.dumps(key)} = {toml(item)}" for key, item in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(toml, value)) + "]"
    return json.dumps(value)


@given(value=VALUES)
def test_no_value_of_the_table_is_more_than_a_fault(tmp_path_factory: pytest.TempPathFactory, value: JSON) -> None:
    folder = tmp_path_factory.mktemp("config")
    text = f"tool.acpgen = {toml(value)}\n"
    tomllib.loads(text)
    told: tuple[Fault, ...] = ()
    try:
        config_of(folder, text)
    except Faults as caught:
        told = caught.faults
    assert all(str(fault).isprintable() for fault in told)


def test_a_scope_is_part_of_names_of_npm_alone(tmp_path: Path) -> None:
    text = FULL.replace('"acp-bindings"\nversion = "1.2.0rc1"', '"@tide/protocol"')
    config = config_of(tmp_path, text.replace('target = "python"', 'target = "typescript"'))
    assert config is not None
    assert config.outputs["generated/python/acp-bindings"].distribution == "@tide/protocol"
    for target, name in (("python", "@tide/protocol"), ("typescript", "tide/protocol"), ("typescript", "@Tide/")):
        wrong = text.replace("@tide/protocol", name).replace('"python"', f'"{target}"')
        assert "the name of a distribution" in str(faults_of(tmp_path, wrong)[0])


def test_the_version_of_a_distribution_is_the_one_that_it_is_given() -> None:
    value: JSON = {"$defs": {"AskRequest": {"type": "object", "x-method": "ask", "x-side": "agent"}}}
    schema = Documents("p/v1", (Document("p.json", value, json.dumps(value)),))
    for version, said in (("1.2.0rc1", "1.2.0rc1"), (None, "0.1.0")):
        settings = Settings(package="p.v1", distribution="p", version=version)
        text = generate(schema, {"python": settings})["python"]["pyproject.toml"]
        assert tomllib.loads(text)["project"]["version"] == said


def test_a_distribution_has_the_license_that_it_is_given_and_no_other() -> None:
    value: JSON = {"$defs": {"A": {"type": "object"}}}
    schema = Documents("p/v1", (Document("p.json", value, json.dumps(value)),))
    for license_ in ("MIT", None):
        settings = Settings(package="p.v1", distribution="p", license=license_)
        text = generate(schema, {"python": settings})["python"]["pyproject.toml"]
        assert tomllib.loads(text)["project"].get("license") == license_


@pytest.mark.parametrize("row", ['license = "MIT;evil"', "license = 1", 'license = ""'])
def test_a_license_that_is_no_expression_is_told(row: str, tmp_path: Path) -> None:
    (fault,) = faults_of(tmp_path, FULL.replace('license = "MIT OR Apache-2.0"', row))
    assert "an SPDX license expression" in str(fault)


def test_a_license_without_a_distribution_is_told(tmp_path: Path) -> None:
    text = FULL.replace('distribution = "acp-bindings"\nversion = "1.2.0rc1"\n', "")
    (fault,) = faults_of(tmp_path, text)
    assert "given together with 'distribution', whose license it is" in str(fault)


# --- the site --------------------------------------------------------------------------------------------------------


def site_of(tmp_path: Path, text: str) -> SiteSettings:
    (tmp_path / "pyproject.toml").write_text(f"[tool.acpgen]\n{text}")
    return find(tmp_path).site


def test_the_site_is_told_where_it_stands_and_where_its_files_are_edited(tmp_path: Path) -> None:
    told = site_of(tmp_path, '[tool.acpgen.site]\nurl = "https://a.example/docs"\n')
    assert told == SiteSettings(url="https://a.example/docs/")
    moved = move_site(Config(tmp_path, site=told), url="", source="http://b.example/edit/main")
    assert moved.site == SiteSettings(url="https://a.example/docs/", source="http://b.example/edit/main/")
    assert site_of(tmp_path, "") == SiteSettings()


@pytest.mark.parametrize(
    ("text", "key"),
    [
        ("site = 1", "tool.acpgen.site"),
        ('site = { url = "docs" }', "tool.acpgen.site.url"),
        ('site = { url = "https://a.example/?q" }', "tool.acpgen.site.url"),
        ("site = { source = 5 }", "tool.acpgen.site.source"),
        ("site = { adress = 1 }", "tool.acpgen.site.adress"),
        ("site = { sections = [] }", "tool.acpgen.site.sections"),
        ("site = { sections = { A = [] } }", "tool.acpgen.site.sections.A"),
        ("site = { sections = { A = ['a.md', 1] } }", "tool.acpgen.site.sections.A.1"),
        ("site = { sections = { A = ['a.md'], B = ['a.md'] } }", "tool.acpgen.site.sections.B"),
    ],
)
def test_a_wrong_setting_of_the_site_is_a_fault(tmp_path: Path, text: str, key: str) -> None:
    with pytest.raises(Faults) as caught:
        site_of(tmp_path, text)
    assert [fault.values.get("key") for fault in caught.value.faults] == [key]


def test_an_address_on_the_command_line_is_held_to_the_same() -> None:
    with pytest.raises(Faults, match="--url"):
        move_site(Config(Path()), url="docs", source="")


@pytest.mark.parametrize(
    ("file", "place", "kind", "apart"),
    [
        ("config/config.schema.json", "", Config, {"root"}),
        ("config/config.schema.json", "/properties/site", SiteSettings, set[str]()),
        ("config/config.schema.json", "/$defs/output", Output, set[str]()),
        ("config/releases.schema.json", "", docs_inputs.Index, set[str]()),
        ("compat/waivers.schema.json", "/$defs/waiver", Waiver, {"at", "line"}),
        ("publish/requirements.schema.json", "/$defs/document", NormativeDocument, set[str]()),
        ("publish/requirements.schema.json", "/$defs/places", SchemaPlaces, set[str]()),
    ],
)
def test_the_members_of_a_form_are_the_fields_of_its_class(file: str, place: str, kind: Any, apart: set[str]) -> None:
    form: Any = json.loads((Path(config.__file__).parents[1] / file).read_text())
    for step in place.split("/")[1:]:
        form = form[step]
    fields: Any = msgspec.inspect.type_info(kind)
    assert {*form["properties"], *apart} == {each.name for each in fields.fields}


def test_editors_know_every_setting_by_the_schema_of_the_form() -> None:
    form = json.loads(Path(config.__file__).with_name("config.schema.json").read_text())
    assert not [*jsonschema_rs.Draft202012Validator({"$ref": form["$schema"]}).iter_errors(form)]
    assert all("description" in each for each in form["properties"].values())


def test_every_message_of_a_form_ends_the_sentence_that_something_must_be() -> None:
    for path in sorted(Path(config.__file__).parents[1].rglob("*.schema.json")):
        messages = re.findall(r'"errorMessage": "([^"]*)', path.read_text("utf-8"))
        assert all(message.startswith("must be ") for message in messages), path


def test_two_threads_never_convert_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """msgspec inspects a class at its first use, and crashes where another thread uses it meanwhile."""
    running: list[int] = []
    most: list[int] = []

    def convert(value: object, kind: type[object]) -> object:
        running.append(1)
        time.sleep(0.01)
        most.append(len(running))
        running.pop()
        return value

    monkeypatch.setattr("msgspec.convert", convert)
    form = Form(Path("none.json"))
    with ThreadPoolExecutor(4) as pool:
        assert [*pool.map(lambda value: form.convert(value, object), range(8))] == [*range(8)]
    assert max(most) == 1
