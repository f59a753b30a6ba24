"""What the Python target writes passes the formatter and the linter of whoever uses it, as they come."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

from acpgen.errors import Faults
from acpgen.targets.python.formatting import find_ruff, format_files, relativize_imports
from acpgen.targets.python.types import join_types

ROOT = Path(__file__).parents[1]
MADE = [
    *sorted((ROOT / "generated" / "python").iterdir()),
    *sorted(path for path in (ROOT / "tests" / "golden" / "targets").glob("*/out/python")),
]
CHECKS = (
    ["format", "--check"],
    ["check"],
    ["check", "--target-version", "py314", "--ignore", "UP035,UP040,UP046,UP047"],  # as the page of options says
    ["check", "--select", "E4,E7,E9,F,I"],  # what older releases of ruff check, and the order of imports
)


@pytest.mark.parametrize("check", CHECKS, ids=" ".join)
def test_generated_python_is_clean_to_a_formatter_that_knows_nothing_of_it(check: list[str], tmp_path: Path) -> None:
    run = subprocess.run(
        [sys.executable, "-m", "ruff", *check, "--isolated", "--no-cache", *map(str, MADE)],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 0, run.stdout


@pytest.mark.parametrize("folder", MADE[:2], ids=lambda folder: folder.name)
def test_imports_are_in_order_from_inside_the_distribution_too(folder: Path) -> None:
    run = subprocess.run(
        [sys.executable, "-m", "ruff", "check", "--isolated", "--no-cache", "--select", "I", "."],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 0, run.stdout


def test_a_line_has_the_length_that_is_asked_for() -> None:
    source = "\n".join(f"value_{n} = call({', '.join(['argument'] * n)})" for n in range(1, 20)) + "\n"
    for length in (40, 88, 120):
        found = format_files({"a/b.py": source}, length)["a/b.py"]
        assert max(map(len, found.splitlines())) <= length
        assert compile(found, "b.py", "exec")


def test_a_formatter_that_fails_is_told_with_its_reason(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    failing = tmp_path / "ruff"
    failing.write_text("#!/bin/sh\necho >&2; echo 'memory allocation of 9 bytes failed' >&2; exit 101\n")
    failing.chmod(0o755)
    monkeypatch.setattr(sys.modules[format_files.__module__], "find_ruff", lambda: str(failing))
    with pytest.raises(Faults, match=r"a/b\.py: .* with code 101: memory allocation of 9 bytes failed\. Nothing was"):
        format_files({"a/b.py": "only_here = 1\n"})


def test_imports_from_ones_own_package_become_relative() -> None:
    source = (
        "from top.runtime import A\nfrom top.v1.models import B\nfrom other import C\nif C:\n    from top.v1 import D\n"
    )
    assert relativize_imports(source, "top/v1/unions.py") == (
        "from ..runtime import A\nfrom .models import B\nfrom other import C\nif C:\n    from . import D\n"
    )
    assert relativize_imports("from top.runtime import A\n", "top/__init__.py") == "from .runtime import A\n"
    assert (
        relativize_imports("from top.runtime import A\n", "top/unstable/v1/models.py") == "from ...runtime import A\n"
    )


@pytest.mark.parametrize("joint", [" | ", "\n    | "])
def test_a_union_of_very_many_stays_flat_enough_for_compilers_and_keeps_its_order(joint: str) -> None:
    """Formatters and CPython go down a level with each operator; ruff ended in an overflow of its stack at 2,500."""
    names = [f"V{number}" for number in range(60_000)]
    tree = ast.parse(f"({join_types(names, joint)})", mode="eval")
    deepest, found, pending = 0, list[str](), [(tree.body, 1)]
    while pending:
        node, level = pending.pop()
        deepest = max(deepest, level)
        if isinstance(node, ast.BinOp):
            pending += [(node.right, level + 1), (node.left, level + 1)]
        elif isinstance(node, ast.Name):
            found.append(node.id)
    assert found == names
    assert deepest < 1_000
    assert join_types(names[:3]) == "V0 | V1 | V2"


def test_any_ruff_will_do_and_none_is_a_fault(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    assert Path(find_ruff()).is_file()
    for name in ("ruff", "ruff.__main__"):
        monkeypatch.setitem(sys.modules, name, None)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(Faults, match="ruff lays it out, and is not installed"):
        find_ruff()
    (tmp_path / "ruff").write_text("#!/bin/sh\n")
    (tmp_path / "ruff").chmod(0o755)
    assert find_ruff() == str(tmp_path / "ruff")
