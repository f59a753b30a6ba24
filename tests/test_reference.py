"""The Python API reference: what stands on a page of a module, which names are public, and where links lead."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

from acpgen import config
from acpgen.errors import Faults
from acpgen.publish import reference
from acpgen.publish.pages import Page
from acpgen.publish.reference import Library, PythonSource, add_links, parse_modules, read_sources

ROOT = Path(__file__).parents[1]
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)

TIDE = '''
"""Tides.

Use `wave`.
"""
from __future__ import annotations
from .shore import Shore as Coast
from elsewhere import Moon

__all__ = ["HIGH", "Coast", "Moon", "Tide", "wave"]

HIGH: int = 3
"""As `high` as <it> goes."""

class Base:
    def rise(self) -> None:
        """Go up."""

class Tide(Base):
    """A tide.

    >>> Tide(1)
    Tide(1)
    """

    metres: float
    """How high."""

    _secret: int

    def rise(self) -> None: ...
    def _hidden(self) -> None: ...

async def wave(first: int, /, second: str = "a", *rest: bool, third: float = 1.5, **others: object) -> dict[str, int]:
    """Wave.

        wave(1)

    - one
    - two
    """

def unlisted() -> None:
    """Not public."""
'''
SHORE = '"""The shore."""\n\nclass Shore:\n    """Sand."""\n\ndef _dig() -> None: ...\n'


def pages(found: Library) -> dict[str, str]:
    return {page.path: page.text for page in reference.write_pages(found)}


def library(**more: str) -> Library:
    texts = {"sea": "", "sea.tide": TIDE, "sea.shore": SHORE, "sea._deep": "class Fish: ...", **more}
    return parse_modules([PythonSource(name, f"{name}.py", text, name == "sea") for name, text in texts.items()])


def test_a_page_tells_the_public_names_of_a_module_and_no_others() -> None:
    made = pages(library())
    assert set(made) == {"api/index.md", "api/sea.shore.md", "api/sea.tide.md"}
    page = made["api/sea.tide.md"]
    assert page.startswith("# `sea.tide`\n\nTides.\n\nUse `wave`.\n")
    assert re.findall(r"^## (.*)$", page, re.MULTILINE) == [
        f"`{name}` {{ #{name} }}" for name in ("HIGH", "Coast", "Moon", "Tide", "wave")
    ]
    assert "As `high` as &lt;it> goes." in page or "As `high` as &#60;it&#62; goes." in page
    assert "unlisted" not in page and "_hidden" not in page and "_secret" not in page
    assert "### `Tide.rise` { #Tide.rise }\n\n```python\ndef rise(self) -> None\n```\n\nGo up.\n" in page
    assert "```pycon\n>>> Tide(1)\nTide(1)\n```" in page
    assert "- `metres: float`: How high." in page
    assert "From `elsewhere`." in page and "From [`sea.shore`](sea.shore.md#Shore)." in page
    assert "```text\nwave(1)\n```" in page and "- one\n- two\n" in page


def test_a_long_signature_has_a_line_for_each_parameter() -> None:
    told = [f"    {each},\n" for each in ("first: int", "/", "second: str = 'a'", "*rest: bool", "third: float = 1.5")]
    wanted = f"async def wave(\n{''.join(told)}    **others: object,\n) -> dict[str, int]\n"
    assert wanted in pages(library())["api/sea.tide.md"]


def test_no_docstring_becomes_markup_or_ends_a_block_of_code() -> None:
    head = '"""<script>x</script> [a](javascript:b) {{ c }}"""'
    body = '    """\n    >>> 1\n    ```\n    <i>\n    """'
    text = f"{head}\ndef f(x: str = '\\n```') -> None:\n{body}\n"
    page = pages(library(**{"sea.bad": text}))["api/sea.bad.md"]
    assert "<script>" not in page and "](javascript" not in page
    assert "````pycon\n>>> 1\n```\n<i>\n````" in page


def test_a_page_by_hand_links_to_what_its_python_imports() -> None:
    text = "# A\n\n```python\nfrom sea.tide import Tide, Coast\nfrom sea import shore\nimport json\n```\n\n    from sea.tide import wave\n"
    found = add_links(library(), Page("guides/a.md", text)).text.removeprefix(text)
    assert "[`Tide`](../api/sea.tide.md#Tide)" in found and "[`Coast`](../api/sea.shore.md#Shore)" in found
    assert "[`shore`](../api/sea.shore.md)" in found and "json" not in found and "wave" not in found
    other = Page("a.md", "# A\n\n```python\nimport json\n```\n")
    assert add_links(library(), other) == other


def test_what_is_not_python_is_a_fault_with_its_line() -> None:
    with pytest.raises(Faults, match=r"bad\.py:2: this is not Python"):
        parse_modules([PythonSource("bad", "bad.py", "x = 1\ndef (")])
    with pytest.raises(Faults, match=r"bad\.py: this is not Python"):
        parse_modules([PythonSource("bad", "bad.py", "\0")])


def test_a_project_names_files_and_folders_and_a_missing_one_is_a_fault(tmp_path: Path) -> None:
    package = tmp_path / "src" / "sea" / "deep"
    package.mkdir(parents=True)
    for path in (package / "__init__.py", package.parent / "__init__.py", package / "fish.py"):
        path.write_text('"""Text."""\n')
    found = read_sources(tmp_path, ["src/sea/deep", "src/sea/deep/fish.py"])
    assert [(each.name, each.at, each.is_package) for each in found] == [
        ("sea.deep", "src/sea/deep/__init__.py", True),
        ("sea.deep.fish", "src/sea/deep/fish.py", False),
    ]
    with pytest.raises(Faults, match="no Python is there"):
        read_sources(tmp_path, ["src/none"])


@pytest.mark.parametrize("value", ['"src"', "[1]", '["a", "a"]', '["../a"]', '["/a"]', '[""]'])
def test_python_of_a_site_that_is_no_list_of_paths_is_a_fault(tmp_path: Path, value: str) -> None:
    (tmp_path / "pyproject.toml").write_text(f"[tool.acpgen.site]\npython = {value}\n")
    with pytest.raises(Faults, match=r"tool\.acpgen\.site\.python"):
        config.read(tmp_path)


def test_a_property_is_told_by_what_reads_it() -> None:
    source = """
class Tide:
    @property
    def height(self) -> float:
        "The height in metres."

    @height.setter
    def height(self, value: float) -> None: ...
"""
    (declaration,) = reference.read_body(ast.parse(source).body).values()
    assert [each.doc for each in declaration.methods] == ["The height in metres."]


def test_every_public_name_of_this_project_has_a_docstring() -> None:
    """What another package defines, and what a base of another package declares, is told there."""
    found = parse_modules(read_sources(ROOT, config.find(ROOT).site.python))
    made = pages(found)
    assert {"api/acp_session.client.md", "api/acp_bindings.md", "api/jsonrpc_bindings.connection.md"} <= set(made)
    missing: list[str] = []
    for module in filter(found.has_page, found.modules.values()):
        missing += [] if module.doc else [module.name]
        for name in module.public:
            origin = found.find_origin(module.name, name)
            if origin is None:
                continue
            there, declaration = origin
            missing += [] if declaration.doc else [f"{module.name}.{name}"]
            for method in declaration.methods:
                said = method.doc or found.find_inherited(there, declaration, method.name)
                # The class of a protocol says what all of its stubs are.
                is_stub = isinstance(method.node, FUNCTIONS) and ast.unparse(method.node.body[-1]) == "..."
                missing += [] if said or is_stub else [f"{module.name}.{name}.{method.name}"]
    assert not missing


def test_below_a_package_that_exports_names_only_modules_that_define_them_are_public() -> None:
    named = "from .tide import Tide as Tide\n"
    assert set(pages(library(sea=named))) == {"api/index.md", "api/sea.tide.md"}
    assert set(pages(library(sea='from .shore import Shore\n__all__ = ["Shore"]\n'))) == {
        *("api/index.md", "api/sea.md", "api/sea.shore.md", "api/sea.tide.md")  # tide has an __all__ of its own
    }
    texts = {"sea": named, "sea.tide": TIDE, "sea.shore": SHORE}
    found = [PythonSource(name, name, text, name == "sea", name == "sea.shore") for name, text in texts.items()]
    assert "api/sea.shore.md" in pages(parse_modules(found))
