"""Checks of requirements that running programs keep, against the functions that `schema/requirements.json` names for each."""

from __future__ import annotations

import importlib
import inspect
import json
import sys
import threading
from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path
from types import CodeType, FrameType
from typing import Any, Final, TypeAlias

from requirements_file import identity

TABLE: Final = Path(__file__).parents[1] / "schema" / "requirements.json"

Check: TypeAlias = "Callable[[Path], object]"


def functions(*packages: str) -> dict[int | str, list[str]]:
    """The functions that keep each requirement, for requirements kept in these packages; in any, where none is named."""
    rules = json.loads(TABLE.read_text("utf-8"))["rules"]
    found = {identity(rule): rule["functions"] for rule in rules if "functions" in rule}
    return {
        number: names
        for number, names in found.items()
        if not packages or {name.split(".")[0] for name in names} <= {*packages}
    }


class Checks:
    """The checks for the requirements that some packages keep."""

    def __init__(self, *packages: str) -> None:
        self.functions = functions(*packages)
        self.checks: dict[int | str, Check] = {}

    def requirement(self, *numbers: int | str) -> Callable[[Check], Check]:
        """Note that a function checks these requirements."""

        def noted(check: Check) -> Check:
            for number in numbers:
                assert number not in self.checks, number
                self.checks[number] = check
            return check

        return noted

    def run(self, number: int | str, folder: Path) -> None:
        """The check holds, and it is every function of the table that keeps the requirement: each is called."""
        for name in ("app", "lib", "outside"):
            (folder / name).mkdir()
            (folder / name / "a.txt").write_text(name)
        with calls() as called:
            self.checks[number](folder)
        assert [name for name in self.functions[number] if called.isdisjoint(bodies(name))] == []


@contextmanager
def calls() -> Generator[set[CodeType]]:
    """The code of every function that is called meanwhile, in this thread and in those that begin."""
    found: set[CodeType] = set()

    def note(frame: FrameType, event: str, _value: object) -> None:
        if event == "call":
            found.add(frame.f_code)

    before = sys.getprofile()
    threading.setprofile(note)
    sys.setprofile(note)
    try:
        yield found
    finally:
        sys.setprofile(before)
        threading.setprofile(before)


def bodies(name: str) -> set[CodeType]:
    """The code of a function, method or property; of a class that of all its methods."""
    module, _, attribute = name.partition(":")
    found: Any = importlib.import_module(module)
    for part in attribute.split("."):
        found = inspect.getattr_static(found, part)
    if inspect.isclass(found):
        return {member.__code__ for member in vars(found).values() if inspect.isfunction(member)}
    function: Any = found.fget if isinstance(found, property) else getattr(found, "__func__", found)
    return {inspect.unwrap(function).__code__}
