"""The Python API from its docstrings: a page for each public module of the packages that a project names for its site.

Sources are read, never imported. A module is public if no part of its name begins with an underscore. Below a package that exports names,
it also has to define one of them, to have an `__all__`, or to be named by itself. Of a module, the names in its `__all__` are
public, or without one those that do not begin with an underscore.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import pairwise
from pathlib import Path
from typing import Final, TypeAlias

from acpgen.config.faults import BAD_MATERIAL
from acpgen.diagnostics.markup import Markdown, code, fenced, identifier, prose
from acpgen.errors import Fault, Faults
from acpgen.input.load import decode, place, read_bytes
from acpgen.publish.faults import SITE_NOT_BUILT
from acpgen.publish.pages import Page
from acpgen.targets.docs.page_paths import join_markdown
from acpgen.targets.docs.templates import lay_out, relative

FOLDER: Final = "api"
INDEX: Final = f"{FOLDER}/index.md"

Function: TypeAlias = ast.FunctionDef | ast.AsyncFunctionDef

_DEPTH: Final = 20
"""As many bases of a class are asked for the docstring of a method."""

_LONGEST: Final = 88
"""Characters of a signature on one line."""

_IMPORT: Final = re.compile(r"^(?:from ([\w.]+) import ([\w, ]+)|import ([\w.]+))", re.MULTILINE)
_PYTHON: Final = re.compile(r"^```(?:python|pycon)\n(.*?)^```", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True, slots=True)
class PythonSource:
    """A module: its dotted name, the file as people know it, its text, whether it is a package, and whether a project names the file."""

    name: str
    at: str
    text: str = field(repr=False)
    is_package: bool = False
    is_named: bool = False


@dataclass(frozen=True)
class Module:
    """A module that was read."""

    source: PythonSource
    tree: ast.Module = field(repr=False)

    @property
    def name(self) -> str:
        return self.source.name

    @property
    def path(self) -> str:
        """Its page."""
        return f"{FOLDER}/{identifier(self.name)}.md"

    @cached_property
    def defined(self) -> Mapping[str, ast.stmt]:
        """What stands at its top, by name: classes, functions and variables."""
        found: dict[str, ast.stmt] = {}
        for node in self.tree.body:
            match node:
                case ast.ClassDef() | ast.FunctionDef() | ast.AsyncFunctionDef():
                    found[node.name] = node  # the last one: overloads stand before it
                case ast.AnnAssign(target=ast.Name(id=name)) | ast.Assign(targets=[ast.Name(id=name)]):
                    found.setdefault(name, node)
                case _:
                    pass
        return found

    @cached_property
    def imported(self) -> Mapping[str, tuple[str, str]]:
        """What it imports by name: the module, and the name there."""
        package = self.name if self.source.is_package else self.name.rpartition(".")[0]
        found: dict[str, tuple[str, str]] = {}
        for node in ast.walk(self.tree):
            if isinstance(node, ast.ImportFrom):
                above = package.split(".")[: len(package.split(".")) - node.level + 1] if node.level else []
                origin = ".".join((*above, *([node.module] if node.module else [])))
                found |= {alias.asname or alias.name: (origin, alias.name) for alias in node.names}
        return found

    @cached_property
    def exported(self) -> tuple[str, ...]:
        """The names that it says to be public: its `__all__`, or what it imports under the same name (`from .a import b as b`)."""
        imports = [node for node in ast.walk(self.tree) if isinstance(node, ast.ImportFrom)]
        same = (alias.name for node in imports for alias in node.names if alias.asname == alias.name)
        return self.public if "__all__" in self.defined else tuple(same)

    @cached_property
    def public(self) -> tuple[str, ...]:
        """The names that it offers, as they stand."""
        listed = self.defined.get("__all__")
        if isinstance(listed, ast.Assign | ast.AnnAssign) and isinstance(listed.value, ast.List | ast.Tuple):
            return tuple(str(each.value) for each in listed.value.elts if isinstance(each, ast.Constant))
        return tuple(
            name
            for name, node in self.defined.items()
            if not name.startswith("_")
            if isinstance(node, ast.ClassDef | Function) or self.said_of(node)
        )

    def said_of(self, node: ast.stmt) -> str | None:
        """The docstring of a class or function, or the text that stands below a variable."""
        if isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            return ast.get_docstring(node)
        return _find_text_below(self.tree.body, node)


@dataclass(frozen=True)
class Library:
    """The modules of all packages, by name."""

    modules: Mapping[str, Module]

    @cached_property
    def _offered(self) -> frozenset[str]:
        """The modules that define what a package exports."""
        packages = [each for each in self.modules.values() if each.source.is_package]
        origins = (self.origin(each.name, name) for each in packages for name in each.exported)
        return frozenset(found[0].name for found in origins if found is not None)

    def is_public(self, module: Module) -> bool:
        """Whether a module may have a page."""
        parts = module.name.split(".")
        if any(part.startswith("_") for part in parts):
            return False
        above = (self.modules.get(".".join(parts[:count])) for count in range(1, len(parts)))
        if not any(each is not None and each.exported for each in above):
            return True
        return module.source.is_named or "__all__" in module.defined or module.name in self._offered

    def origin(self, module: str, name: str) -> tuple[Module, ast.stmt] | None:
        """Where a name that a module offers is defined, through imports; `None` where that is elsewhere."""
        for _ in range(_DEPTH):
            here = self.modules.get(module)
            if here is None:
                return None
            if name in here.defined:
                return here, here.defined[name]
            if name not in here.imported:
                return None
            module, name = here.imported[name]
        return None

    def page(self, module: str, name: str) -> str | None:
        """The address of what tells of a name: a page and an anchor on it; `None` where there is none."""
        found = self.origin(module, name)
        if found is None:
            return None
        there, node = found
        own = next((each for each, other in there.defined.items() if other is node), name)
        if self.is_public(there) and own in there.public:
            return f"{there.path}#{_make_anchor(own)}"
        here = self.modules[module]
        return f"{here.path}#{_make_anchor(name)}" if self.is_public(here) and name in here.public else None

    def _base(self, module: Module, name: ast.expr) -> tuple[Module, ast.stmt] | None:
        """Where a base is defined that is written as a name, or as a name in a module."""
        match name:
            case ast.Name(id=own):
                return self.origin(module.name, own)
            case ast.Attribute(value=ast.Name(id=of), attr=own) if of in module.imported:
                return self.origin(".".join(module.imported[of]), own)
            case _:
                return None

    def inherited(self, module: Module, node: ast.ClassDef, method: str) -> str | None:
        """What the nearest base that is known says of a method."""
        waiting: list[tuple[Module, ast.ClassDef]] = [(module, node)]
        for _ in range(_DEPTH):
            if not waiting:
                break
            there, each = waiting.pop(0)
            for base in each.bases:
                name = base.value if isinstance(base, ast.Subscript) else base
                found = self._base(there, name)
                if found is not None and isinstance(found[1], ast.ClassDef):
                    own = next((m for m in find_methods(found[1]) if m.name == method and ast.get_docstring(m)), None)
                    if own is not None:
                        return ast.get_docstring(own)
                    waiting.append((found[0], found[1]))
        return None


NOTHING: Final = Library({})


def read_sources(root: Path, named: Sequence[str]) -> tuple[PythonSource, ...]:
    """The modules in these files and folders, each once, by name. Raises `Faults`."""
    found: dict[str, PythonSource] = {}
    for each in named:
        files = [*_list_files(root / each)]
        if not files:
            reason, remedy = "no Python is there", "Correct [tool.acpgen.site] python, or generate it first"
            raise Faults([SITE_NOT_BUILT(at=place(root / each), reason=reason, remedy=remedy)])
        for file in files:
            name, is_package = _name_module(file), file.name == "__init__.py"
            at = file.relative_to(root).as_posix()
            text, is_named = decode(read_bytes(file), place(file)), file == root / each
            found.setdefault(name, PythonSource(name, at, text, is_package, is_named))
    return tuple(found[name] for name in sorted(found))


def _list_files(path: Path) -> Iterator[Path]:
    if path.is_dir():
        yield from sorted(each for each in path.rglob("*.py") if each.is_file())
    elif path.is_file() and path.suffix == ".py":
        yield path


def _name_module(file: Path) -> str:
    """The dotted name by which a file is imported: folders above it are packages as long as they hold `__init__.py`."""
    parts = [] if file.name == "__init__.py" else [file.stem]
    folder = file.parent
    while (folder / "__init__.py").is_file() and folder != folder.parent:
        parts.insert(0, folder.name)
        folder = folder.parent
    return ".".join(parts)


def parse_modules(sources: Sequence[PythonSource]) -> Library:
    """The modules of these sources. Raises `Faults` for those that are not Python."""
    found: dict[str, Module] = {}
    faults: list[Fault] = []
    for source in sources:
        try:
            found[source.name] = Module(source, ast.parse(source.text))
        except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
            line = f":{error.lineno}" if isinstance(error, SyntaxError) and error.lineno else ""
            remedy = "Correct it, or name another folder in [tool.acpgen.site]"
            faults.append(BAD_MATERIAL(at=f"{source.at}{line}", reason="this is not Python", remedy=remedy))
    if faults:
        raise Faults(faults)
    return Library(found)


def write_pages(library: Library) -> list[Page]:
    """One that lists all public modules, and the page of each below its package; none without a module."""
    modules = _find_public_modules(library)
    if not modules:
        return []
    rows = [(Markdown(f"[{code(each.name)}]({relative(INDEX, each.path)})"), _write_summary(each)) for each in modules]
    text, about = lay_out("api-index", path=INDEX, rows=rows), "The Python API, module by module"
    found = [Page(INDEX, text, ("Python API", "All modules"), about=about)]
    for each in modules:
        text = "\n".join(_write_module(library, each)).rstrip() + "\n"
        place = ("Python API", each.name.partition(".")[0], each.name)
        found.append(Page(each.path, text, place, source=each.source.at))
    return found


def add_links(library: Library, page: Page) -> Page:
    """A page with links to what the Python in it imports at its end."""
    links = link_imports(library, page.text, page.path)
    return page if links is None else replace(page, text=f"{page.text}\n{links}")


def link_imports(library: Library, text: str, path: str) -> Markdown | None:
    """Links to what the Python in a page at `path` imports, in the order of the page; `None` where nothing of it is known."""
    links: dict[str, Markdown] = {}
    for block in _PYTHON.findall(text):
        for module, names, whole in _IMPORT.findall(re.sub(r"^>>> ", "", block, flags=re.MULTILINE)):
            for name in filter(None, re.split(r"[ ,]+", names)):
                _add_link(links, library, path, module, name)
            if whole:
                _add_link(links, library, path, whole, "")
    if not links:
        return None
    return Markdown(f"## Python API\n\nThe Python on this page uses {join_markdown([*links.values()])}.\n")


def _add_link(links: dict[str, Markdown], library: Library, path: str, module: str, name: str) -> None:
    """Add the link to a name, or to a module that is imported by its name."""
    whole = library.modules.get(f"{module}.{name}" if name else module)
    address = (
        whole.path if whole is not None and library.is_public(whole) else library.page(module, name) if name else None
    )
    if address is not None:
        page, _, anchor = address.partition("#")
        shown = name or module
        links.setdefault(shown, Markdown(f"[{code(shown)}]({relative(path, page)}{'#' if anchor else ''}{anchor})"))


def _find_public_modules(library: Library) -> list[Module]:
    """The modules that have a page: those that offer something."""
    return [each for _, each in sorted(library.modules.items()) if library.is_public(each) and each.public]


def _write_summary(module: Module) -> Markdown:
    said = ast.get_docstring(module.tree) or ""
    return prose(said.strip().partition("\n\n")[0])


def _write_module(library: Library, module: Module) -> Iterator[str]:
    yield f"# {code(module.name)}\n"
    yield from _write_docstring(ast.get_docstring(module.tree))
    for name in module.public:
        found = library.origin(module.name, name)
        if found is not None and found[0] is module:
            yield from _write_definition(library, module, name, found[1])
        else:
            yield from _write_imported(library, module, name)


def _write_imported(library: Library, module: Module, name: str) -> Iterator[str]:
    """A name that is defined in another module: what it is, and the link to it."""
    yield _write_heading("##", name)
    found = library.origin(module.name, name)
    if found is None:
        origin = module.imported.get(name)
        below = library.modules.get(".".join(origin)) if origin is not None else None
        if below is not None and library.is_public(below) and below.public:
            yield f"The module [{code(below.name)}]({relative(module.path, below.path)}).\n"
            return
        yield f"From {code(origin[0])}.\n" if origin is not None else "Made when the module is loaded.\n"
        return
    address = library.page(module.name, name) or ""
    page, _, anchor = address.partition("#")
    if page and page != module.path:
        yield f"From [{code(found[0].name)}]({relative(module.path, page)}#{anchor}).\n"
        yield from _write_docstring((found[0].said_of(found[1]) or "").partition("\n\n")[0])
    else:
        yield from _write_body(library, found[0], name, found[1])


def _write_definition(library: Library, module: Module, name: str, node: ast.stmt) -> Iterator[str]:
    yield _write_heading("##", name)
    yield from _write_body(library, module, name, node)


def _write_body(library: Library, module: Module, name: str, node: ast.stmt) -> Iterator[str]:
    match node:
        case ast.ClassDef():
            bases = ", ".join(map(ast.unparse, [*node.bases]))
            yield _fence(f"class {name}({bases})" if bases else f"class {name}")
            yield from _write_docstring(ast.get_docstring(node))
            yield from _write_fields(node)
            for method in find_methods(node):
                yield _write_heading("###", f"{name}.{method.name}")
                yield _fence(_write_signature(method))
                yield from _write_docstring(ast.get_docstring(method) or library.inherited(module, node, method.name))
        case ast.FunctionDef() | ast.AsyncFunctionDef():
            yield _fence(_write_signature(node))
            yield from _write_docstring(ast.get_docstring(node))
        case ast.AnnAssign():
            yield _fence(f"{name}: {ast.unparse(node.annotation)}")
            yield from _write_docstring(module.said_of(node))
        case _:
            yield from _write_docstring(module.said_of(node))


def _write_fields(node: ast.ClassDef) -> Iterator[str]:
    """The annotated fields of a class, with what stands below each."""
    rows: list[str] = []
    for each in node.body:
        if isinstance(each, ast.AnnAssign) and isinstance(each.target, ast.Name) and not each.target.id.startswith("_"):
            said = _find_text_below(node.body, each)
            told = f": {prose(said)}" if said else ""
            rows.append(f"- {code(f'{each.target.id}: {ast.unparse(each.annotation)}')}{told}")
    if rows:
        yield "Fields:\n"
        yield from rows
        yield ""


def find_methods(node: ast.ClassDef) -> list[Function]:
    """The public methods of a class; of several declarations (overloads), the last, and of a property what reads it."""
    found: dict[str, Function] = {}
    for each in node.body:
        if not isinstance(each, ast.FunctionDef | ast.AsyncFunctionDef) or each.name.startswith("_"):
            continue
        if not any(isinstance(one, ast.Attribute) and one.attr == "setter" for one in each.decorator_list):
            found[each.name] = each
    return [*found.values()]


def _find_text_below(body: Sequence[ast.stmt], node: ast.stmt) -> str | None:
    """The text that stands directly below a statement."""
    after = next((other for before, other in pairwise(body) if before is node), None)
    match after:
        case ast.Expr(value=ast.Constant(value=str(said))):
            return said
        case _:
            return None


def _write_signature(node: Function) -> str:
    """A function as it is called, each parameter on a line of its own where one line is too long."""
    kind = "async def" if isinstance(node, ast.AsyncFunctionDef) else "def"
    marks = [f"@{ast.unparse(each)}" for each in node.decorator_list if isinstance(each, ast.Name)]
    returns = f" -> {ast.unparse(node.returns)}" if node.returns is not None else ""
    line = f"{kind} {node.name}({ast.unparse(node.args)}){returns}"
    if len(line) > _LONGEST:
        line = f"{kind} {node.name}(\n{''.join(f'    {each},{chr(10)}' for each in _write_parameters(node.args))}){returns}"
    return "\n".join((*marks, line))


def _write_parameters(given: ast.arguments) -> Iterator[str]:
    """The parameters of a function, each as it is written."""
    leading = [*given.posonlyargs, *given.args]
    defaults: list[ast.expr | None] = [*[None] * (len(leading) - len(given.defaults)), *given.defaults]
    for number, (each, default) in enumerate(zip(leading, defaults, strict=True), 1):
        yield _write_parameter(each, default)
        if number == len(given.posonlyargs):
            yield "/"
    if given.vararg is not None:
        yield f"*{ast.unparse(given.vararg)}"
    elif given.kwonlyargs:
        yield "*"
    yield from (_write_parameter(*each) for each in zip(given.kwonlyargs, given.kw_defaults, strict=True))
    if given.kwarg is not None:
        yield f"**{ast.unparse(given.kwarg)}"


def _write_parameter(each: ast.arg, default: ast.expr | None) -> str:
    if default is None:
        return ast.unparse(each)
    return f"{ast.unparse(each)}{' = ' if each.annotation else '='}{ast.unparse(default)}"


def _write_docstring(text: str | None) -> Iterator[str]:
    """A docstring as Markdown: paragraphs and lists as prose, examples and indented parts as code."""
    for part in re.split(r"\n[ \t]*\n", (text or "").strip("\n")):
        lines = part.split("\n")
        if lines[0].lstrip().startswith(">>>"):
            yield _fence(_dedent(lines), "pycon")
        elif part.strip() and all(line.startswith("    ") for line in lines):
            yield _fence(_dedent(lines), "text")
        elif lines[0].startswith(("- ", "* ")):
            yield "".join(f"- {prose(each)}\n" for each in re.split(r"^[-*] ", part, flags=re.MULTILINE)[1:])
        elif part.strip():
            yield f"{prose(part)}\n"


def _dedent(lines: Sequence[str]) -> str:
    space = min(len(line) - len(line.lstrip()) for line in lines if line.strip())
    return "\n".join(line[space:] for line in lines)


def _fence(text: str, kind: str = "python") -> str:
    return f"{fenced(text, kind)}\n"


def _write_heading(marks: str, name: str) -> str:
    """A heading with its own anchor: names that differ in case alone have two."""
    return f"{marks} {code(name)} {{ #{_make_anchor(name)} }}\n"


def _make_anchor(name: str) -> str:
    return identifier(name)
