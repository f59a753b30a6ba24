"""The options of the Python target: what each promises, in every pair with another, on ACP and on schemas of others."""

from __future__ import annotations

import copy
import importlib
import itertools
import json
import pickle
import subprocess
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any, Final

import pytest
from pydantic import TypeAdapter

import evidence
import tiers
from acpgen.bundle.bundle import bundle
from acpgen.errors import Faults
from acpgen.input.load import load
from acpgen.input.walk import is_array, is_object
from acpgen.meaning.lower import lower
from acpgen.targets.installed import TARGETS, with_options
from acpgen.targets.interface import Settings
from acpgen.targets.python.python_options import read_options
from bindings.subjects import forget
from jsonrpc_bindings import DecodeError, Record, Unknown
from jsonrpc_bindings.fields import get_shape, get_value

ROOT: Final = Path(__file__).parents[2]

DIALS: Final[Mapping[str, tuple[Any, ...]]] = {
    "layout": ("package", "file"),
    "unknown-fields": ("keep", "ignore", "refuse"),
    "enums": ("literal", "str-enum"),
    "minimum-python": ("3.11", "3.12" if sys.version_info >= (3, 12) else "3.11"),
    "line-length": (88, 120),
}
"""The values that are tried of each option."""


def pairwise() -> list[dict[str, Any]]:
    """Combinations in which every value of an option meets every value of every other one."""
    every = [dict(zip(DIALS, values, strict=True)) for values in itertools.product(*DIALS.values())]
    left = {pair for one in every for pair in itertools.combinations(sorted(one.items()), 2)}
    chosen: list[dict[str, Any]] = []
    while left:
        best = max(every, key=lambda one: len(left & set(itertools.combinations(sorted(one.items()), 2))))
        chosen.append(best)
        left -= set(itertools.combinations(sorted(best.items()), 2))
    return chosen


COMBINATIONS: Final = pairwise()


def indices(*, whole: bool) -> list[int]:
    """The combinations that a test tries, counted from 1."""
    every = range(1, len(COMBINATIONS) + 1)
    return list(every) if whole else tiers.draw(every, 4)


def _evidence(name: str) -> Path:
    evidence.need(name)
    return evidence.path(name)


class Subject:
    """One protocol with a package for each combination of options, and one that has none chosen: each made when first asked for."""

    def __init__(self, name: str, protocol: Any, bundled: Any, folder: Path) -> None:
        self.name = name
        self.protocol, self.bundle = protocol, bundled
        self.folder, self.top = folder, f"dials_{name.replace('/', '_')}"
        self.written: set[int] = set()
        rows = TARGETS["vectors"](protocol, bundled, Settings())
        self.rows = [
            json.loads(line)
            for path, text in rows.items()
            if path.endswith(".jsonl") and "types/" in path
            for line in text.splitlines()
        ]

    def write(self, index: int) -> str:
        """The folder or the file of a package."""
        chosen = dict(COMBINATIONS[index - 1]) if index else {}
        if index not in self.written:
            self.written.add(index)
            chosen["runtime"] = "package"
            settings = with_options("python", Settings(package=f"{self.top}_{index}"), chosen, "here", "options")
            for path, text in TARGETS["python"](self.protocol, self.bundle, settings).items():
                (self.folder / path).parent.mkdir(parents=True, exist_ok=True)
                (self.folder / path).write_text(text, "utf-8")
        return f"{self.top}_{index}{'.py' if chosen.get('layout') == 'file' else ''}"

    def package(self, index: int) -> Any:
        self.write(index)
        importlib.invalidate_caches()
        return importlib.import_module(f"{self.top}_{index}")


@pytest.fixture(scope="module")
def option_subjects(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Path, list[Subject]]]:
    folder = tmp_path_factory.mktemp("dials")
    acp = bundle(load(ROOT / "schema" / "acp" / "v1", name="acp/v1"))
    mcp = bundle(load(_evidence("upstream/mcp-2025-11-25/schema.json"), name="mcp"))
    sys.path.insert(0, str(folder))
    yield folder, [Subject("acp/v1", lower(acp), acp, folder), Subject("mcp", lower(mcp), mcp, folder)]
    sys.path.remove(str(folder))
    for package in {name.partition(".")[0] for name in sys.modules if name.startswith("dials_")}:
        forget(package)


def loosened(record: Any, package: Any, spoken: frozenset[str]) -> bool:
    """Whether a record of the package without options holds fields that the schema does not speak of. They are taken away."""
    inner: list[Any] = []
    found = False
    if isinstance(record, Record):
        if (
            record.unknown_fields
            and not isinstance(record, Unknown)
            and spoken.isdisjoint(one.__name__ for one in type(record).__mro__)
        ):
            record.unknown_fields.clear()
            found = True
        inner += [get_value(record, one) for one in get_shape(type(record)).fields.values()]
        inner += record.unknown_fields.values()
    elif is_object(record):
        inner += record.values()
    elif is_array(record):
        inner += record
    for one in inner:
        found = loosened(one, package, spoken) or found
    return found


def is_between(least: Any, value: Any, most: Any) -> bool:
    """Whether a JSON value has all fields of one, and none that another lacks."""
    if is_object(least) and is_object(value) and is_object(most):
        has_them = least.keys() <= value.keys() <= most.keys()
        return has_them and all(is_between(least.get(key, item), item, most[key]) for key, item in value.items())
    if is_array(least) and is_array(value) and is_array(most):
        return len(least) == len(value) == len(most) and all(map(is_between, least, value, most))
    return bool(least == value == most)


def refusal(package: Any) -> type[Exception]:
    error: type[Exception] = getattr(package, "DecodeError", DecodeError)
    return error


def is_refused(package: Any, row: Any) -> bool:
    try:
        package.decode_as(row["type"], row["message"])
    except refusal(package):
        return True
    return False


@dataclass(frozen=True, slots=True)
class Plain:
    """What the package without options writes of a row. `bare` lacks the fields that the schema does not speak of, if it `is_loose`."""

    whole: Any
    bare: Any
    is_loose: bool


def as_without_options(package: Any, row: Any, spoken: frozenset[str]) -> Plain | None:
    """What the package without options makes of a row; None where it refuses the row."""
    try:
        known = package.decode_as(row["type"], row["message"])
    except refusal(package):
        return None
    whole = json.loads(package.encode(known))
    is_loose = loosened(known, package, spoken)
    return Plain(whole, json.loads(package.encode(known)), is_loose)


def test_pairs_are_all_there() -> None:
    met = {pair for one in COMBINATIONS for pair in itertools.combinations(sorted(one.items()), 2)}
    every = [dict(zip(DIALS, values, strict=True)) for values in itertools.product(*DIALS.values())]
    assert met == {pair for one in every for pair in itertools.combinations(sorted(one.items()), 2)}


def test_every_option_is_tried() -> None:
    assert {option.name for option in TARGETS["python"].options} == {
        *DIALS,
        "runtime",
    }  # which test_runtime_option.py tries


@pytest.mark.parametrize("whole", tiers.EXTENTS)
def test_each_combination_judges_and_writes_as_it_promises(
    option_subjects: tuple[Path, list[Subject]], whole: bool
) -> None:
    """By default some of the combinations are tried, each on one of the protocols, with a part of the rows."""
    for number, subject in enumerate(option_subjects[1]):
        plain = subject.package(0)
        spoken = frozenset(
            name
            for name, schema in subject.bundle.definitions.items()
            if any(
                schema.get(key) not in (None, False)
                for key in ("additionalProperties", "patternProperties", "unevaluatedProperties", "propertyNames")
            )
        )
        assert len(subject.rows) > 300
        rows = subject.rows if whole else tiers.draw(subject.rows, 150, lambda row: row["id"])
        expected = [as_without_options(plain, row, spoken) for row in rows]
        for index in indices(whole=whole):
            if not whole and index % 2 != number:
                continue
            chosen = COMBINATIONS[index - 1]
            package, lost, refused = subject.package(index), 0, 0
            for row, known in zip(rows, expected, strict=True):
                if known is None:
                    assert is_refused(package, row), (subject.name, chosen, row)
                    continue
                bare = known.bare
                if known.is_loose and chosen["unknown-fields"] == "refuse":
                    if is_refused(package, row):
                        refused += 1
                        continue
                    bare = known.whole  # another branch of a union without a tag names those fields
                written = json.loads(package.encode(package.decode_as(row["type"], row["message"])))
                is_dropping = (
                    chosen["unknown-fields"] == "ignore"
                )  # a union without tags takes the branch that names most
                least = known.whole if chosen["unknown-fields"] == "keep" else bare
                most = known.whole if is_dropping else least
                assert is_between(least, written, most), (subject.name, chosen, row["id"])
                lost += known.whole != written
            assert bool(lost) == (chosen["unknown-fields"] == "ignore")
            assert bool(refused) == (chosen["unknown-fields"] == "refuse")


@pytest.mark.parametrize("whole", tiers.EXTENTS)
def test_each_combination_is_typed_strictly_and_formatted(
    option_subjects: tuple[Path, list[Subject]], whole: bool
) -> None:
    """Each with one of the protocols."""
    folder, found = option_subjects
    paths = {index: found[index % 2].write(index) for index in indices(whole=whole)}
    for path in paths.values():
        (folder / path if path.endswith(".py") else folder / path / "peers.py").stat()
    command = [sys.executable, "-m", "mypy", "--strict", *paths.values()]
    run = subprocess.run(command, capture_output=True, text=True, cwd=folder, check=False)
    assert run.returncode == 0, run.stdout
    for length in DIALS["line-length"]:
        those = [path for index, path in paths.items() if COMBINATIONS[index - 1]["line-length"] == length]
        for check in (["format", "--check"], ["check"]):
            options = ["--isolated", "--no-cache", "--config", f"line-length = {length}"]
            command = [sys.executable, "-m", "ruff", *check, *options, *those]
            run = subprocess.run(command, capture_output=True, text=True, cwd=folder, check=False)
            assert run.returncode == 0, run.stdout


def chosen_by(option: str, value: Any) -> int:
    return next(index for index, one in enumerate(COMBINATIONS, 1) if one[option] == value)


def test_sets_of_texts_are_classes_and_open_ones_keep_what_they_do_not_know(
    option_subjects: tuple[Path, list[Subject]],
) -> None:
    acp = option_subjects[1][0]
    index = next(
        n for n, one in enumerate(COMBINATIONS, 1) if one["enums"] == "str-enum" and one["unknown-fields"] == "keep"
    )
    v1 = acp.package(index)
    kinds: Any = v1.ToolKind
    assert issubclass(kinds, StrEnum)
    assert [one for one in kinds if one == "read"] == ["read"]
    call = v1.decode_as("PermissionOption", {"optionId": "y", "name": "Yes", "kind": "allow_once"})
    assert call.kind is v1.PermissionOptionKind.ALLOW_ONCE
    assert json.loads(v1.encode(call))["kind"] == "allow_once"
    kept = v1.decode_as(v1.ToolKind, "hum")
    assert isinstance(kept, v1.ToolKind) and kept == "hum" and kept not in list(v1.ToolKind)
    assert {kept, "hum"} == {"hum"} and v1.ToolKind("hum") == kept
    with pytest.raises(ValueError, match="allow_once"):
        v1.decode_as(v1.PermissionOptionKind, "hum")
    with pytest.raises(ValueError, match="known values"):
        v1.encode(
            v1.decode_as("ToolCall", {"sessionUpdate": "tool_call", "toolCallId": "1", "title": "t", "kind": "hum"}),
            strict=True,
        )
    for value in (call, kept, call.kind):
        for again in (copy.copy(value), copy.deepcopy(value), pickle.loads(pickle.dumps(value))):
            assert again == value and type(again) is type(value)
    made = v1.PermissionOption(option_id="y", name="Yes", kind=v1.PermissionOptionKind.ALLOW_ONCE)
    assert made == call == v1.PermissionOption(option_id="y", name="Yes", kind="allow_once")
    assert made.kind is call.kind
    with pytest.raises(DecodeError, match="allow_once"):
        call.kind = "hum"
    update = b'{"sessionUpdate":"tool_call","toolCallId":"1","title":"t","kind":"read"}'
    line = b'{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","update":%s}}' % update
    assert v1.decode(line, sender="agent").params.update.kind is v1.ToolKind.READ
    assert json.loads(v1.encode(v1.decode(line, sender="agent"))) == json.loads(line)
    kind = v1.decode(line.replace(b'"read"', b'"hum"'), sender="agent").params.update.kind
    assert type(kind) is v1.ToolKind and kind == "hum"
    assert TypeAdapter(v1.PermissionOptionKind).validate_python("allow_once") is v1.PermissionOptionKind.ALLOW_ONCE
    assert TypeAdapter(v1.PermissionOption).json_schema()["properties"]["kind"]


def test_what_is_dropped_or_refused_is_not_taken_by_a_constructor(option_subjects: tuple[Path, list[Subject]]) -> None:
    for value in ("ignore", "refuse"):
        v1 = option_subjects[1][0].package(chosen_by("unknown-fields", value))
        with pytest.raises(ValueError, match="futureField"):
            v1.TextContent(text="a", extra={"futureField": 1})
        with pytest.raises(ValueError, match="no such field"):
            v1.TextContent(text="a", futureField=1)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"unknown-field": "keep"}, "Did you mean 'unknown-fields'?"),
        ({"line-length": 7}, "from 20 to 320"),
        ({"layout": "module"}, "one of 'package', 'file'"),
    ],
)
def test_what_cannot_be_used_is_a_fault(
    given: dict[str, Any], said: str, option_subjects: tuple[Path, list[Subject]]
) -> None:
    acp = option_subjects[1][0]

    def render() -> None:
        settings = with_options("python", Settings(package="p"), given, "here", "options")
        TARGETS["python"](acp.protocol, acp.bundle, settings)

    with pytest.raises(Faults) as faults:
        render()
    assert said in str(faults.value)


@pytest.mark.parametrize(
    ("package", "why"),
    [
        ("a.runtime", "a.runtime holds the modules that its packages share"),
        ("jsonrpc_bindings", "'jsonrpc_bindings' is a package that the generated code imports"),
        ("jsonrpc_bindings.x", "'jsonrpc_bindings' is a package that the generated code imports"),
        ("a.Runtime", "a.runtime holds"),  # one folder, where case does not count
        ("a.runtime.v1", "a.runtime holds"),
        ("json.v1", "'json' is a module of Python"),
        ("types", "'types' is a module of Python"),
        ("pydantic.v1", "'pydantic' is a package that the generated code imports"),
        ("a.__init__", "'__init__' has a meaning of its own"),
        (f"a.{'b' * 101}", "a name between dots has at most 100 letters"),
        *((name, "is a device on Windows") for name in ("con.v1", "a.NUL", "aux", "a.com1.v1", "lpt9")),
    ],
)
def test_a_package_that_could_not_be_used_is_a_fault(package: str, why: str) -> None:
    with pytest.raises(Faults) as faults:
        read_options(with_options("python", Settings(package=package), {}, "here", "options"))
    assert f"package must be another name than {package!r}" in str(faults.value)
    assert why in str(faults.value)


@pytest.mark.parametrize("package", ["a.models", "a.json.types", "a.v1.runtime", "a.strict.v1", "a.match"])
def test_a_package_may_be_called_like_a_module_in_it_or_elsewhere(
    package: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    package = f"{package.replace('.', '_')}_{package}"  # whose first part no other has
    file = tmp_path / "schema.json"
    file.write_text(json.dumps({"$defs": {"A": {"type": "object", "properties": {"b": {"type": "string"}}}}}))
    found = bundle(load(file, name="a"))
    for path, text in TARGETS["python"](lower(found), found, Settings(package=package)).items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(text, "utf-8")
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    module = importlib.import_module(package)
    assert module.encode(module.decode_as(module.A, {"b": "c"})) == b'{"b":"c"}'


def test_a_union_without_tags_takes_what_names_most_where_others_are_dropped(tmp_path: Path) -> None:
    thing = {"type": "object", "properties": {"a": {"type": "integer"}}}
    more = {"type": "object", "properties": {"a": {"type": "integer"}, "b": {"type": "integer"}}}
    holder = {
        "type": "object",
        "properties": {
            "thing": {"$ref": "#/$defs/Thing"},
        },
    }
    either = {"anyOf": [{"$ref": "#/$defs/Thing"}, {"$ref": "#/$defs/More"}]}
    definitions = {
        "Thing": thing,
        "More": more,
        "Holder": holder,
        "Either": either,
    }
    (tmp_path / "schema.json").write_text(json.dumps({"$defs": definitions}), "utf-8")
    bundled = bundle(load(tmp_path / "schema.json", name="ignoring"))
    protocol = lower(bundled)
    options: dict[str, Any] = {"unknown-fields": "ignore"}
    for path, text in TARGETS["python"](protocol, bundled, Settings(package="kept_in.v1", options=options)).items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(text, "utf-8")
    sys.path.insert(0, str(tmp_path))
    try:
        v1 = importlib.import_module("kept_in.v1")
    finally:
        sys.path.remove(str(tmp_path))
    read = v1.decode_as(v1.Holder, {"thing": {"a": 1, "x": 2}, "x": 2})
    assert json.loads(v1.encode(read)) == {"thing": {"a": 1}}
    assert type(v1.decode_as(v1.Either, {"a": 1, "b": 2, "c": 3})) is v1.More
    assert type(v1.decode_as(v1.Either, {"a": 1})) is v1.Thing
