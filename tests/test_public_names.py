"""What `import acpgen` offers is imported when it is asked for, and is seen before."""

from __future__ import annotations

import ast
import inspect
import pydoc
from types import ModuleType

import pytest

import acpgen
import schema_inclusion

MODULES = pytest.mark.parametrize("module", [acpgen, schema_inclusion], ids=lambda module: module.__name__)


@MODULES
def test_dir_shows_what_is_imported_when_it_is_asked_for(module: ModuleType) -> None:
    assert set(module.__all__) <= set(dir(module))


def test_help_shows_what_is_imported_when_it_is_asked_for() -> None:
    told = pydoc.plain(pydoc.render_doc(acpgen))
    assert all(f"    {name}(" in told for name in ("compare", "generate", "load", "write"))


@MODULES
def test_type_checkers_see_exactly_the_public_names(module: ModuleType) -> None:
    """Without a literal `__all__`, they take `import x as x` and assignments for public."""
    body = ast.parse(inspect.getsource(module)).body
    (block,) = (each for each in body if isinstance(each, ast.If) and ast.unparse(each.test) == "TYPE_CHECKING")
    aliases = [alias for each in block.body if isinstance(each, ast.ImportFrom) for alias in each.names]
    targets = [ast.unparse(each.targets[0]) for each in block.body if isinstance(each, ast.Assign)]
    assert {alias.name for alias in aliases if alias.asname == alias.name} | {*targets} == set(module.__all__)


@MODULES
def test_a_name_that_is_not_public_is_no_attribute(module: ModuleType) -> None:
    with pytest.raises(AttributeError, match="has no attribute 'Absent'"):
        module.__getattr__("Absent")
