"""Former names of classes: they work for one release, say what to write now, and are no part of what a package offers."""

from __future__ import annotations

import importlib
import os
import shutil
import subprocess
import sys
import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import pytest

from bindings.subjects import Subject, Subjects

ROOT: Final = Path(__file__).parents[2]
PAGE: Final = ROOT / "schema/pages/former-names.md"
PACKAGES: Final = ("v1", "v2", "unstable.v1", "unstable.v2")

HEAD: Final = """# Former names of types

This page maps the names that types of `acp_bindings` had in the last release to their current names. A former name works for one
release. It is an alias of the current type, so type checkers accept it everywhere. Its use raises a `DeprecationWarning`; `python
-W error::DeprecationWarning` makes that an error. [How things are named](names.md) explains how names are chosen.
"""


@pytest.fixture(scope="module", params=["own_v1", "own_v2"])
def subject(request: pytest.FixtureRequest, subjects: Subjects) -> Subject:
    """Our own bindings of ACP."""
    return subjects(request.param)


def former(subject: Subject) -> dict[str, str]:
    """The table of a package."""
    found: dict[str, str] = importlib.import_module(f"{subject.module.__name__}._former").FORMER
    return found


def test_a_former_name_is_the_class_of_now_and_warns(subject: Subject) -> None:
    assert former(subject)["TextContentBlock"] == "TextContent"
    for before, now in former(subject).items():
        with pytest.warns(DeprecationWarning, match=rf"\.{before} is now called {now}\. ") as told:
            found = getattr(subject.module, before)
        assert found is getattr(subject.module, now)
        assert [one.filename for one in told] == [__file__]


def test_a_former_name_can_be_imported(subject: Subject) -> None:
    space: dict[str, Any] = {}
    with pytest.warns(DeprecationWarning, match="TextContentBlock is now called TextContent"):
        exec(f"from {subject.module.__name__} import TextContentBlock", space)
    assert space["TextContentBlock"] is subject.module.TextContent


def test_former_names_are_not_offered(subject: Subject) -> None:
    names = former(subject).keys()
    assert names.isdisjoint(subject.module.__all__)
    assert names.isdisjoint(dir(subject.module))
    assert names.isdisjoint(subject.protocol.definitions)
    space: dict[str, Any] = {}
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        exec(f"from {subject.module.__name__} import *", space)
    assert names.isdisjoint(space)


def test_a_name_that_there_never_was_is_no_attribute(subject: Subject) -> None:
    with pytest.raises(AttributeError, match=r"has no attribute 'TextBlock'$"):
        _ = subject.module.TextBlock
    assert not hasattr(subject.module, "__wrapped__")


def test_one_class_goes_into_an_update_as_it_is(subject: Subject) -> None:
    module = subject.module
    chunk = module.AgentMessageChunk if subject.name == "own_v1" else module.ToolCallContentChunk
    assert chunk.model_fields["session_update"].default == chunk.model_fields["session_update"].annotation.__args__[0]
    usage = module.UsageUpdate(used=1, size=2)
    assert subject.encoded(usage) == {"sessionUpdate": "usage_update", "used": 1, "size": 2}
    outcome = module.SelectedPermissionOutcome(option_id="yes")
    assert subject.encoded(module.RequestPermissionResponse(outcome=outcome)) == {
        "outcome": {"outcome": "selected", "optionId": "yes"}
    }
    assert sys.modules[module.__name__] is module


# --- our own bindings, as they are checked in --------------------------------------------------------------------------


def checked_in() -> dict[str, Mapping[str, str]]:
    """The former names by package."""
    return {name: importlib.import_module(f"acp_bindings.{name}._former").FORMER for name in PACKAGES}


def test_the_page_names_them_all(pytestconfig: pytest.Config) -> None:
    parts = [HEAD]
    for package, names in checked_in().items():
        rows = "\n".join(f"| `{before}` | `{now}` |" for before, now in names.items())
        parts.append(f"## acp_bindings.{package}\n\n| Former | Now |\n| --- | --- |\n{rows}\n")
    wanted = "\n".join(parts)
    if pytestconfig.getoption("rewrite_goldens") and not os.environ.get("CI"):
        PAGE.write_text(wanted, "utf-8")
    assert PAGE.read_text("utf-8") == wanted


@pytest.mark.parametrize("checker", ["mypy", pytest.param("pyright", marks=pytest.mark.exhaustive)])
def test_type_checkers_take_a_former_name_for_the_type_of_now(tmp_path: Path, checker: str) -> None:
    lines = ["from acp_bindings import v1, v2", "from acp_bindings.unstable import v1 as u1, v2 as u2", ""]
    count = 0
    for module, names in zip(("v1", "v2", "u1", "u2"), checked_in().values(), strict=True):
        for before, now in names.items():
            count += 1
            lines.append(f"def to_{count}(one: {module}.{before}) -> {module}.{now}: return one")
            lines.append(f"def from_{count}(one: {module}.{now}) -> {module}.{before}: return one")
    assert count > 200
    lines += [
        'v1.TextContentBlock(text="a")',
        "v1.TextContentBlock(words=1)  # an error, as of the class of now",
        "v1.NoSuchFormerName",
    ]
    file = tmp_path / "uses.py"
    file.write_text("\n".join(lines) + "\n", "utf-8")
    bindings = ROOT / "generated/python/acp-bindings"
    commands = {
        "mypy": [sys.executable, "-m", "mypy", "--strict", "--cache-dir", str(tmp_path / "cache"), str(file)],
        "pyright": [
            str(shutil.which("pyright", path=Path(sys.executable).parent)),
            "--pythonpath",
            sys.executable,
            str(file),
        ],
    }
    (tmp_path / "pyrightconfig.json").write_text(
        f'{{"typeCheckingMode": "strict", "extraPaths": ["{bindings}"]}}', "utf-8"
    )
    environment = {**os.environ, "MYPYPATH": str(bindings)}
    run = subprocess.run(commands[checker], env=environment, cwd=tmp_path, capture_output=True, text=True, check=False)
    errors = [line for line in run.stdout.splitlines() if "error" in line and "uses.py:" in line]
    assert {int(line.split("uses.py:")[1].split(":")[0]) for line in errors} == {len(lines) - 1, len(lines)}, run.stdout
