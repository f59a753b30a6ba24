"""The quick loop of an edit: the tests that it chooses are those nearest to what has changed."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[1]


def _load() -> Any:
    spec = importlib.util.spec_from_file_location("quick_loop", ROOT / ".ci" / "quick.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


quick = _load()


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    (tmp_path / "pyproject.toml").write_text('[tool.pytest.ini_options]\npythonpath = ["lib", "tests"]\n')
    texts = {
        "lib/pack/__init__.py": "",
        "lib/pack/low.py": "",
        "lib/pack/high.py": "def f():\n    from pack.low import (\n        a,\n        b,\n    )\n",
        "lib/pack/apart.py": "import json, os\n",
        "tests/helper.py": "from pack import high\n",
        "tests/test_low.py": "import pack.low as low\ndef test(): ...\n",
        "tests/test_helped.py": "import os, helper\ndef test(): ...\n",
        "tests/room/test_high.py": "from pack import low as x, high\n" + 30 * "def test(): ...\n",
        "tests/test_apart.py": "from pack.apart import json\ndef test(): ...\n",
    }
    for path, text in texts.items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(text)
    return tmp_path


def test_a_file_is_as_far_as_the_imports_that_lead_to_what_has_changed(clone: Path) -> None:
    found = quick.distances(["lib/pack/low.py"], clone)
    assert found == {
        "lib/pack/low.py": 0,
        "lib/pack/high.py": 1,
        "tests/test_low.py": 1,
        "tests/room/test_high.py": 1,
        "tests/helper.py": 2,
        "tests/test_helped.py": 3,
    }


def test_the_nearest_tests_run_as_far_as_the_seconds_go_and_the_others_are_named(clone: Path) -> None:
    near = quick.distances(["lib/pack/low.py", "tests/test_apart.py"], clone)
    durations = {"tests/test_apart.py::test": 90.0, "tests/test_low.py::test": 3.0, "tests/test_helped.py::test": 9.0}
    chosen, left = quick.nearest_tests(near, 100.0, durations, clone)
    assert chosen == ["tests/test_apart.py", "tests/test_low.py"]
    assert left == ["tests/room/test_high.py", "tests/test_helped.py"]


def test_what_is_generated_is_checked_where_what_makes_it_has_changed() -> None:
    assert [each[:2] for each in quick.steps(["README.md"], [])] == [["ruff", "check"], ["ruff", "format"]]
    commands = quick.steps(["schema/acp/v1/plan.json", "generator/acpgen/ir.py"], ["tests/test_cache.py"])
    assert [each[0] for each in commands] == ["ruff", "ruff", "mypy", "acpgen", "acpgen", "pytest"]
    assert commands[2] == ["mypy", "generator/acpgen/ir.py"]


def test_a_module_that_is_loaded_by_its_name_is_as_near_as_its_package() -> None:
    for path in ("acpgen/diagnostics/gitlab.py", "acp-monitor/acp_monitor/turns.py", "acpgen/probe/cases/prompts.py"):
        assert any(file.startswith("tests/") for file in quick.distances([f"generator/{path}"], ROOT)), path


def test_every_module_that_is_imported_here_is_known() -> None:
    near = quick.distances(["generator/acpgen/files/cache.py"], ROOT)
    assert near["generator/acpgen/commands/build.py"] == near["tests/test_cache.py"] == 1
