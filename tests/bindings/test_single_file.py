"""The layout `file` of the Python target: one module that reads, writes and judges what a package does."""

from __future__ import annotations

import ast
import copy
import json
import os
import pickle
import subprocess
import sys
from collections.abc import Iterator
from importlib import import_module, invalidate_caches
from pathlib import Path
from typing import Any, Final

import pytest
from acp_bindings.v1 import methods
from pydantic import TypeAdapter

import evidence
import tiers
from acpgen.bundle.bundle import Bundle, bundle
from acpgen.errors import Faults
from acpgen.input.load import load
from acpgen.meaning.lower import lower
from acpgen.targets.installed import TARGETS, with_options
from acpgen.targets.interface import Settings
from acpgen.targets.python.exports import OWN
from bindings.subjects import forget
from jsonrpc_bindings import DecodeError, Record

ROOT: Final = Path(__file__).parents[2]
SOURCES: Final[dict[str, tuple[str | Path, str]]] = {
    "own_v1": (ROOT / "schema" / "acp" / "v1", "acp/v1"),
    "own_v2": (ROOT / "schema" / "acp" / "v2", "acp/v2"),
    "mcp": ("upstream/mcp-2025-11-25/schema.json", "mcp"),
    "a2a": ("wild/a2a-0.3.0.json", "a2a"),
}
OTHERS: Final = [pytest.param(name, marks=pytest.mark.exhaustive) for name in ("own_v1", "mcp", "a2a")]
TAKEN: Final = (
    *("Message", "Record", "Any", "Field", "UNSET", "UnsetType", "Method", "Unknown", "DecodeError", "ValueError"),
    *(
        "Exception",
        "T",
        "SchemaModule",
        "Codec",
        "TYPE_CHECKING",
        "Literal",
        "Annotated",
        "Request",
        "Response",
        "Mapping",
    ),
    *("Path", "Struct", "NamedTuple", "Meta", "Choice", "Number", "Shapes", "Tagged", "KeyError", "Iterator"),
    *(
        "Problem",
        "Final",
        "METHODS",
        "CODEC",
        "STRICT",
        "ClassVar",
        "Sent",
        "Generic",
        "Self",
        "TypeAlias",
        "StringEnum",
    ),
    *("OpenStringEnum", "Never", "AnyMessage", "AnyMethod", "StrEnum", "Violation", "TypeVar", "Sender"),
)
"""Names of what the module itself has, and of what it imports."""


class Pair:
    """One protocol as a package and as a file, in one folder."""

    def __init__(self, folder: Path, name: str, bundled: Bundle, **options: Any) -> None:
        self.bundle, self.protocol = bundled, lower(bundled)
        for layout in ("package", "file"):
            make(folder, f"{name}_{layout}", bundled, layout=layout, runtime="package", **options)
        self.package, self.file = import_module(f"{name}_package"), import_module(f"{name}_file")
        self.path = folder / f"{name}_file.py"

    def rows(self) -> Iterator[dict[str, Any]]:
        for text in TARGETS["vectors"](self.protocol, self.bundle, Settings()).values():
            yield from (row for row in map(json.loads, text.splitlines() if text.startswith('{"id"') else ()))


def make(folder: Path, package: str, bundled: Bundle, distribution: str | None = None, **options: Any) -> list[str]:
    """Write what the target makes; the paths of it."""
    settings = with_options("python", Settings(package, distribution), options, "here", "options")
    files = TARGETS["python"](lower(bundled), bundled, settings)
    for path, text in files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text, "utf-8")
    invalidate_caches()
    return [*files]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    found = tmp_path_factory.mktemp("single")
    sys.path.insert(0, str(found))
    yield found
    sys.path.remove(str(found))
    _PAIRS.clear()
    for package in {name.partition(".")[0] for name in sys.modules if name.startswith("single_")}:
        forget(package)


_PAIRS: Final[dict[str, Pair]] = {}


def pair(folder: Path, name: str) -> Pair:
    if name not in _PAIRS:
        where, protocol = SOURCES[name]
        if isinstance(where, str):
            evidence.need(where)
            where = evidence.path(where)
        _PAIRS[name] = Pair(folder, f"single_{name}", bundle(load(where, name=protocol)))
    return _PAIRS[name]


def _names(schema_names: tuple[str, ...]) -> dict[str, Any]:
    """A schema with these definitions, each a field of the one before."""
    following = [*schema_names[1:], schema_names[0]]
    return {
        **{
            name: {
                "type": "object",
                "properties": {"a": {"type": "integer"}, "next": {"$ref": f"#/$defs/{other}"}},
                "required": ["a"],
            }
            for name, other in zip(schema_names, following, strict=True)
        },
        "Kind": {"enum": ["x", "y"], "type": "string"},
        "Shape": {
            "description": "''' \"\"\" \\ \u2028 end '''",
            "oneOf": [
                {"type": "object", "properties": {"kind": {"const": "x"}, "TypeError": {}}, "required": ["kind"]},
                {"type": "object", "properties": {"kind": {"const": "y"}}, "required": ["kind"]},
            ],
        },
        "AddRequest": {
            "x-method": "note/add",
            "x-side": "server",
            "type": "object",
            "properties": {"text": {"type": "string", "pattern": "^'''a\"\"\"\u2028$"}},
            "required": ["text"],
        },
        "AddResponse": {"x-method": "note/add", "x-side": "server", "type": "object"},
    }


def drawn(folder: Path, definitions: dict[str, Any]) -> Bundle:
    file = folder / "schema.json"
    file.write_text(json.dumps({"$defs": definitions}), "utf-8")
    return bundle(load(file, name="drawn"))


def outcome(module: Any, row: dict[str, Any]) -> Any:
    """What a module makes of a row: what it writes again and what was dropped, or what it says is wrong."""
    dropped: list[Any] = []
    try:
        if "type" in row:
            read = module.decode_as(row["type"], row["message"], on_drop=dropped.append)
        else:
            sent = row["text"] if "text" in row else json.dumps(row["message"])
            read = module.decode(sent, sender=row["sender"], method=row["method"], on_drop=dropped.append)
    except DecodeError as error:
        return [str(problem) for problem in error.problems]
    return module.encode(read), [str(one) for one in dropped]


@pytest.mark.parametrize("whole", tiers.EXTENTS)
@pytest.mark.parametrize("name", ["own_v2", *OTHERS[:-1]])
def test_a_file_reads_writes_and_judges_every_vector_as_the_package_does(folder: Path, name: str, whole: bool) -> None:
    subject = pair(folder, name)
    counts = {"read": 0, "refused": 0}
    rows = list(subject.rows())
    for row in rows if whole else tiers.draw(rows, 400, lambda row: row["id"]):
        expected = outcome(subject.package, row)
        assert outcome(subject.file, row) == expected, row["id"]
        counts["refused" if isinstance(expected, list) else "read"] += 1
        if "type" in row:
            told = subject.package.validate_as(row["type"], row["message"])
            assert [*map(str, subject.file.validate_as(row["type"], row["message"]))] == [*map(str, told)], row["id"]
    assert min(counts.values()) > 100, counts


@pytest.mark.parametrize("name", ["own_v2", *OTHERS])
def test_a_file_publishes_the_same_schemas_and_offers_the_same_names(folder: Path, name: str) -> None:
    subject = pair(folder, name)
    assert {*subject.package.__all__} == {*subject.file.__all__}
    for one in subject.package.__all__:
        type_, other = getattr(subject.package, one), getattr(subject.file, one)
        if isinstance(type_, type) and issubclass(type_, Record):
            assert TypeAdapter(other).json_schema() == TypeAdapter(type_).json_schema(), one


@pytest.mark.parametrize("value", ["a", "a\r", "<1>", "<a>", {"1": 1}, {"1": "a"}, {"a": "a"}, "\u0663"])
def test_a_file_judges_by_patterns_as_the_package_does(folder: Path, value: Any) -> None:
    name = "single_patterns"
    if name not in _PAIRS:
        definitions: dict[str, Any] = {
            "Line": {"type": "string", "pattern": "^.+$"},
            "Angle": {"type": "string", "pattern": r"^\<\d\>$"},
            "Keys": {
                "type": "object",
                "patternProperties": {r"^\d$": {"type": "integer"}},
                "additionalProperties": False,
            },
            "Pattern": {"type": "object", "properties": {"a": {"type": "string", "pattern": r"^\w\-.{1,90}$"}}},
        }
        _PAIRS[name] = Pair(folder, name, drawn(folder, definitions))
    both = _PAIRS[name]
    for definition in ("Line", "Angle", "Keys", "Pattern"):
        row = {"type": definition, "message": value}
        assert outcome(both.package, row) == outcome(both.file, row)
        judged, same = (module.validate_as(definition, value) for module in (both.package, both.file))
        assert list(map(str, judged)) == list(map(str, same))
    assert both.file.UNENFORCED == both.package.UNENFORCED
    assert [list(places) for places in both.file.UNENFORCED.values()] == [
        ["schema.json#/$defs/Pattern/properties/a/pattern"]
    ]


def test_values_of_a_file_are_copied_and_pickled(folder: Path) -> None:
    v2 = pair(folder, "own_v2").file
    update = v2.decode_as("SessionUpdate", {"sessionUpdate": "tide", "metres": 2.5})
    for other in (copy.deepcopy(update), pickle.loads(pickle.dumps(update))):
        assert v2.encode(other) == v2.encode(update) == b'{"sessionUpdate":"tide","metres":2.5}'


def test_names_of_the_schema_come_before_all_others_of_a_file(folder: Path, tmp_path: Path) -> None:
    subject = Pair(folder, "single_names", drawn(tmp_path, _names(TAKEN)))
    file: Any = subject.file
    for name in TAKEN:
        read = file.decode_as(name, {"a": 1, "next": {"a": 2, "z": 3}})
        assert json.loads(file.encode(read)) == {"a": 1, "next": {"a": 2, "z": 3}}, name
        with pytest.raises(DecodeError, match="/next/a"):
            file.decode_as(name, {"a": 1, "next": {"a": "x"}})
    assert "`AnyMessage_` is the module's own `Message`" in file.__doc__
    call = {"jsonrpc": "2.0", "id": 1, "method": "note/add", "params": {"text": "'''a\"\"\"\u2028"}}
    assert json.loads(file.encode(file.decode(json.dumps(call), sender="client"))) == call
    assert [*file.validate(call, sender="client")] == []
    call["params"] = {"text": "b"}
    assert [one.rule for one in file.validate(call, sender="client")] == ["pattern"]


@pytest.mark.parametrize("whole", tiers.EXTENTS)
def test_files_are_typed_strictly_and_formatted(folder: Path, tmp_path: Path, whole: bool) -> None:
    Pair(
        folder,
        "single_names_of_base",
        drawn(tmp_path, _names(TAKEN)),
        **{"unknown-fields": "refuse"},
    )
    paths = [str(pair(folder, name).path) for name in ("own_v2", *(("mcp",) if whole else ()))]
    paths.append(str(folder / "single_names_of_base_file.py"))
    runs = (
        ["-m", "ruff", "format", "--check", "--isolated", "--no-cache"],
        ["-m", "ruff", "check", "--isolated", "--no-cache"],
        ["-m", "mypy", "--strict"],
    )
    for run in runs:
        done = subprocess.run([sys.executable, *run, *paths], capture_output=True, text=True, cwd=folder, check=False)
        assert done.returncode == 0, done.stdout


def test_one_file_lies_among_those_of_others_with_its_run_time_beside_it(tmp_path: Path) -> None:
    (tmp_path / "schema" / "acme").mkdir(parents=True)
    (tmp_path / "schema" / "acme" / "schema.json").write_text(json.dumps({"$defs": _names(("Thing",))}), "utf-8")
    (tmp_path / "pyproject.toml").write_text(
        '[tool.acpgen]\n[tool.acpgen.outputs.src]\ntarget = "python"\nshared = true\n'
        'packages = { acme = "acme.wire" }\noptions = { layout = "file" }\n',
        "utf-8",
    )
    own = tmp_path / "src" / "acme" / "__init__.py"
    own.parent.mkdir(parents=True)
    own.write_text("from .wire import Thing as Thing, encode as encode\n", "utf-8")
    command = [sys.executable, "-m", "acpgen", "generate"]
    done = subprocess.run(
        command, cwd=tmp_path, capture_output=True, text=True, check=False, env=_path(ROOT / "generator")
    )
    assert done.returncode == 0, done.stderr
    assert own.read_text("utf-8").startswith("from .wire")
    assert {path.name for path in own.parent.iterdir()} == {"__init__.py", "wire.py", "runtime"}
    code = "import acme; print(acme.encode(acme.Thing(a=1)).decode(), acme.Thing(a=1).next)"
    done = subprocess.run([sys.executable, "-c", code], cwd=own.parents[1], capture_output=True, text=True, check=False)
    assert done.stdout.strip() == '{"a":1} UNSET', done.stderr
    checked = subprocess.run(
        [*command, "--check"], cwd=tmp_path, capture_output=True, check=False, env=_path(ROOT / "generator")
    )
    assert checked.returncode == 0


def _path(folder: Path) -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": str(folder)}


def test_a_distribution_of_files_says_that_they_are_typed(tmp_path: Path) -> None:
    schema = drawn(tmp_path, _names(("Thing",)))
    paths = make(tmp_path, "acme.v1", schema, "acme-bindings", layout="file")
    assert sorted(paths) == ["README.md", "acme/__init__.py", "acme/py.typed", "acme/v1.py", "pyproject.toml"]
    assert "websocket" not in (tmp_path / "pyproject.toml").read_text("utf-8") + (tmp_path / "README.md").read_text(
        "utf-8"
    )
    with pytest.raises(Faults, match="cannot say that it is typed"):
        make(tmp_path, "acme", schema, "acme-bindings", layout="file")


def test_a_large_union_is_one_file(folder: Path, tmp_path: Path) -> None:
    tags = [f"k{index}" for index in range(600)]
    branches = {
        tag.upper(): {"type": "object", "properties": {"kind": {"const": tag}}, "required": ["kind"]} for tag in tags
    }
    union = {"oneOf": [{"$ref": f"#/$defs/{name}"} for name in branches]}
    make(folder, "single_large", drawn(tmp_path, {**branches, "Any": union}), layout="file")
    large = import_module("single_large")
    assert type(large.decode_as("Any", {"kind": "k599"})).__name__ == "K599"


def test_every_name_of_methods_that_a_type_could_have_is_known() -> None:
    tree = ast.parse(Path(methods.__file__).read_text("utf-8"))
    siblings = {
        alias.name for node in tree.body if isinstance(node, ast.ImportFrom) and node.level for alias in node.names
    }
    assert {name for name in vars(methods) if name[0].isupper()} - siblings == {
        name for name in OWN if name[0].isupper()
    }
