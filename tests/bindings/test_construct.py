"""Examples in Python on the pages of methods: each runs, and sends and reads what stands above it; and what the classes cannot say is not
written.
"""

from __future__ import annotations

import importlib
import json
import re
import sys
from pathlib import Path
from typing import Any, Final

import pytest

from acpgen import ir
from acpgen.input.load import load
from acpgen.meaning.understanding import understand
from acpgen.targets.docs import examples
from acpgen.targets.python.construct import Constructor, NotConstructible, write_example, write_source

ROOT: Final = Path(__file__).parents[2]
DOCS: Final = ROOT / "generated" / "docs"
PYTHON: Final = [path.parent for path in sorted((ROOT / "generated" / "python").glob("*/pyproject.toml"))]

PAGES: Final = sorted(DOCS.glob("*/**/methods/*.md"))


@pytest.fixture(autouse=True)
def packages(monkeypatch: pytest.MonkeyPatch) -> None:
    for path in PYTHON:
        monkeypatch.setattr(sys, "path", [str(path), *sys.path])


def blocks(page: Path) -> list[tuple[str, str]]:
    return re.findall(r"^```(json|python)\n(.*?)^```$", page.read_text("utf-8"), re.MULTILINE | re.DOTALL)


def folders() -> list[str]:
    return sorted({str(path.relative_to(DOCS).parent.parent) for path in PAGES})


@pytest.mark.parametrize("folder", folders())
def test_each_page_of_a_method_has_python_that_sends_its_example(folder: str) -> None:
    for page in sorted((DOCS / folder / "methods").glob("*.md")):
        wanted: list[Any] = []
        shown = 0
        for language, text in blocks(page):
            if language == "json":
                wanted.append(json.loads(text))
                continue
            shown += 1
            names: dict[str, Any] = {}
            exec(text, names)
            request = next(one for one in wanted if "method" in one)
            answer = next((one for one in wanted if "result" in one), None)
            module = names[re.findall(r"import .*?(\w+)$", text.partition("\n\n")[0], re.MULTILINE)[-1]]
            assert json.loads(module.encode(names["message"])) == request, page
            assert json.loads(names["line"]) == (answer or request), page
            assert names["received"] == names["message"], page
            assert ("result" in names) == (answer is not None), page
            assert answer is None or names["response"].result == names["result"], page
            wanted.clear()
        assert shown, page


@pytest.mark.parametrize("version", ["v1", "v2"])
def test_every_example_of_a_type_is_constructed_as_it_decodes(version: str) -> None:
    protocol, bundle = understand(load(ROOT / "schema" / "acp" / version, name=f"acp/{version}"))
    found = examples.collect_examples(protocol, examples.ExampleJudge(bundle))
    constructor = Constructor(protocol, f"acp_bindings.{version}")
    module = importlib.import_module(f"acp_bindings.{version}")
    count = refused = 0
    for name, values in found.items():
        for value in values:
            try:
                source = write_source(constructor.build_expression(name, value))
            except NotConstructible:
                refused += 1
                continue
            made = eval(source, {version: module})
            assert made == module.decode_as(getattr(module, constructor.name_of(name)), value), source
            count += 1
    assert count > 250
    assert refused < count / 8


def made(*definitions: ir.Definition) -> Constructor:
    return Constructor(ir.Protocol("tide", None, {d.name: d for d in definitions}, (), ("a", "b")), "tides.v1")


def record(name: str, *fields: tuple[str, ir.Type]) -> ir.Record:
    return ir.Record(name, tuple(ir.Field(key, type_, required=True) for key, type_ in fields))


def test_text_of_a_schema_stays_a_text() -> None:
    constructor = made(record("Tide", ("class", ir.String()), ("free", ir.Map(ir.Anything()))))
    hostile = '"""\n```\n\\u2028\u2028\'); import os #'
    value: dict[str, Any] = {"class": hostile, "free": {hostile: [hostile, {"x": None}]}}
    source = write_source(constructor.build_expression("Tide", value))
    assert "\n```" not in source
    seen: dict[str, Any] = {}

    class Module:
        @staticmethod
        def Tide(**arguments: Any) -> Any:  # noqa: N802
            seen.update(arguments)

    eval(source, {"v1": Module})
    assert list(seen.values()) == list(value.values())


@pytest.mark.parametrize("value", [{}, {"a": 1, "other": 2}, [], None, {"a": "text"}, {"a": True}])
def test_what_the_class_cannot_say_is_not_written(value: Any) -> None:
    with pytest.raises(NotConstructible):
        made(record("Tide", ("a", ir.Number(integer=True)))).build_expression("Tide", value)


def test_a_type_that_is_nothing_but_itself_ends() -> None:
    constructor = made(ir.Alias("Loop", ir.AnyOf((ir.Ref("Loop"), ir.Ref("Loop")))))
    with pytest.raises(NotConstructible):
        constructor.build_expression("Loop", 1)


def test_a_package_without_a_parent_has_no_example() -> None:
    constructor = Constructor(ir.Protocol("tide", None, {}, (), ("a", "b")), "tides")
    method = ir.Method("ebb", "b", "request", None, None)
    assert write_example(constructor, method, {"jsonrpc": "2.0", "id": 1, "method": "ebb"}, None) is None
