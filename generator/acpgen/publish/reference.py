"""The reference of the Python API from its docstrings: a page for each public module of the packages that a project names for its site.

Sources are parsed, never imported. A module is public if no part of its name begins with an underscore. Below a package that exports
names, it must also define one of them, have an `__all__`, or be named explicitly by the project. The public names of a module are those
in its `__all__`, or without one those that do not begin with an underscore.
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
"""The maximum number of steps when resolving an imported name or searching base classes for a docstring."""

_LONGEST: Final = 88
"""The maximum number of characters of a signature on one line."""

_IMPORT: Final = re.compile(r"^(?:from ([\w.]+) import ([\w, ]+)|import ([\w.]+))", re.MULTILINE)
_PYTHON: Final = re.compile(r"^```(?:python|pycon)\n(.*?)^```", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True, slots=True)
class PythonSource:
    """The source of a module: its dotted name, its path in the project, its text, whether it is a package, and whether the project names
    the file.
    """

    name: str
    at: str
    text: str = field(repr=False)
    is_package: bool = False
    is_named: bool = False


@dataclass(frozen=True)
class Module:
    """A parsed module."""

    source: PythonSource
    tree: ast.Module = field(repr=False)

    @property
    def name(self) -> str:
        return self.source.name

    @property
    def path(self) -> str:
        """The path of its page."""
        return f"{FOLDER}/{identifier(self.name)}.md"

    @cached_property
    def defined(self) -> Mapping[str, ast.stmt]:
        """The top-level classes, functions and variables by name."""
        definitions: dict[str, ast.stmt] = {}
        for node in self.tree.body:
            match node:
                case ast.ClassDef() | ast.FunctionDef() | ast.AsyncFunctionDef():
                    definitions[node.name] = node  # the last one: overloads stand before it
                case ast.AnnAssign(target=ast.Name(id=name)) | ast.Assign(targets=[ast.Name(id=name)]):
                    definitions.setdefault(name, node)
                case _:
                    pass
        return definitions

    @cached_property
    def imported(self) -> Mapping[str, tuple[str, str]]:
        """The imported names, each with its module and its name there."""
        package = self.name if self.source.is_package else self.name.rpartition(".")[0]
        imports: dict[str, tuple[str, str]] = {}
        for node in ast.walk(self.tree):
            if isinstance(node, ast.ImportFrom):
                above = package.split(".")[: len(package.split(".")) - node.level + 1] if node.level else []
                origin = ".".join((*above, *([node.module] if node.module else [])))
                imports |= {alias.asname or alias.name: (origin, alias.name) for alias in node.names}
        return imports

    @cached_property
    def exported(self) -> tuple[str, ...]:
        """The names that it declares public: its `__all__`, or what it imports under the same name (`from .a import b as b`)."""
        imports = [node for node in ast.walk(self.tree) if isinstance(node, ast.ImportFrom)]
        same = (alias.name for node in imports for alias in node.names if alias.asname == alias.name)
        return self.public if "__all__" in self.defined else tuple(same)

    @cached_property
    def public(self) -> tuple[str, ...]:
        """The public names, in the order of `__all__` or of their definitions."""
        all_statement = self.defined.get("__all__")
        if isinstance(all_statement, ast.Assign | ast.AnnAssign) and isinstance(
            all_statement.value, ast.List | ast.Tuple
        ):
            return tuple(str(each.value) for each in all_statement.value.elts if isinstance(each, ast.Constant))
        return tuple(
            name
            for name, node in self.defined.items()
            if not name.startswith("_")
            if isinstance(node, ast.ClassDef | Function) or self.said_of(node)
        )

    def said_of(self, node: ast.stmt) -> str | None:
        """The docstring of a class or function, or the string below a variable; `None` if there is none."""
        if isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            return ast.get_docstring(node)
        return _find_text_below(self.tree.body, node)


@dataclass(frozen=True)
class Library:
    """The modules of all packages, by name."""

    modules: Mapping[str, Module]

    @cached_property
    def _offered(self) -> frozenset[str]:
        """The names of modules that define what a package exports."""
        packages = [each for each in self.modules.values() if each.source.is_package]
        origins = (self.origin(each.name, name) for each in packages for name in each.exported)
        return frozenset(definition[0].name for definition in origins if definition is not None)

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
        """The definition of a name that a module provides, following imports; `None` if it is outside this library."""
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
        """The page and anchor that document a name; `None` if there is none."""
        definition = self.origin(module, name)
        if definition is None:
            return None
        there, node = definition
        own = next((each for each, other in there.defined.items() if other is node), name)
        if self.is_public(there) and own in there.public:
            return f"{there.path}#{_make_anchor(own)}"
        here = self.modules[module]
        return f"{here.path}#{_make_anchor(name)}" if self.is_public(here) and name in here.public else None

    def _base(self, module: Module, name: ast.expr) -> tuple[Module, ast.stmt] | None:
        """The definition of a base class that is written as a name or as an attribute of a module; `None` if it is unknown."""
        match name:
            case ast.Name(id=own):
                return self.origin(module.name, own)
            case ast.Attribute(value=ast.Name(id=of), attr=own) if of in module.imported:
                return self.origin(".".join(module.imported[of]), own)
            case _:
                return None

    def inherited(self, module: Module, node: ast.ClassDef, method: str) -> str | None:
        """The docstring of a method in the nearest known base class that has one; `None` if none has."""
        waiting: list[tuple[Module, ast.ClassDef]] = [(module, node)]
        for _ in range(_DEPTH):
            if not waiting:
                break
            there, each = waiting.pop(0)
            for base in each.bases:
                name = base.value if isinstance(base, ast.Subscript) else base
                definition = self._base(there, name)
                if definition is not None and isinstance(definition[1], ast.ClassDef):
                    own = next(
                        (m for m in find_methods(definition[1]) if m.name == method and ast.get_docstring(m)), None
                    )
                    if own is not None:
                        return ast.get_docstring(own)
                    waiting.append((definition[0], definition[1]))
        return None


NOTHING: Final = Library({})


def read_sources(root: Path, paths: Sequence[str]) -> tuple[PythonSource, ...]:
    """Read the modules in these files and folders, each once, sorted by name. Raises `Faults`."""
    sources: dict[str, PythonSource] = {}
    for each in paths:
        files = [*_list_files(root / each)]
        if not files:
            reason, remedy = "no Python is there", "Correct [tool.acpgen.site] python, or generate it first"
            raise Faults([SITE_NOT_BUILT(at=place(root / each), reason=reason, remedy=remedy)])
        for file in files:
            name, is_package = _name_module(file), file.name == "__init__.py"
            at = file.relative_to(root).as_posix()
            text, is_named = decode(read_bytes(file), place(file)), file == root / each
            sources.setdefault(name, PythonSource(name, at, text, is_package, is_named))
    return tuple(sources[name] for name in sorted(sources))


def _list_files(path: Path) -> Iterator[Path]:
    if path.is_dir():
        yield from sorted(each for each in path.rglob("*.py") if each.is_file())
    elif path.is_file() and path.suffix == ".py":
        yield path


def _name_module(file: Path) -> str:
    """The dotted name by which a file is imported: parent folders are packages as long as they contain `__init__.py`."""
    parts = [] if file.name == "__init__.py" else [file.stem]
    folder = file.parent
    while (folder / "__init__.py").is_file() and folder != folder.parent:
        parts.insert(0, folder.name)
        folder = folder.parent
    return ".".join(parts)


def parse_modules(sources: Sequence[PythonSource]) -> Library:
    """Parse these sources. Raises `Faults` for those that are not valid Python."""
    modules: dict[str, Module] = {}
    faults: list[Fault] = []
    for source in sources:
        try:
            modules[source.name] = Module(source, ast.parse(source.text))
        except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
            line = f":{error.lineno}" if isinstance(error, SyntaxError) and error.lineno else ""
            remedy = "Correct it, or name another folder in [tool.acpgen.site]"
            faults.append(BAD_MATERIAL(at=f"{source.at}{line}", reason="this is not Python", remedy=remedy))
    if faults:
        raise Faults(faults)
    return Library(modules)


def write_pages(library: Library) -> list[Page]:
    """Write the index of all public modules and the page of each, grouped by package; no pages if there is no public module."""
    modules = _find_public_modules(library)
    if not modules:
        return []
    rows = [(Markdown(f"[{code(each.name)}]({relative(INDEX, each.path)})"), _write_summary(each)) for each in modules]
    text, about = lay_out("api-index", path=INDEX, rows=rows), "The Python API, module by module"
    pages = [Page(INDEX, text, ("Python API", "All modules"), about=about)]
    for each in modules:
        text = "\n".join(_write_module(library, each)).rstrip() + "\n"
        place = ("Python API", each.name.partition(".")[0], each.name)
        pages.append(Page(each.path, text, place, source=each.source.at))
    return pages


def add_links(library: Library, page: Page) -> Page:
    """Append links to what the Python code on a page imports."""
    links = link_imports(library, page.text, page.path)
    return page if links is None else replace(page, text=f"{page.text}\n{links}")


def link_imports(library: Library, text: str, path: str) -> Markdown | None:
    """Links to what the Python code in a page at `path` imports, in the order of the page; `None` if none of the imports is in the
    library.
    """
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
        label = name or module
        links.setdefault(label, Markdown(f"[{code(label)}]({relative(path, page)}{'#' if anchor else ''}{anchor})"))


def _find_public_modules(library: Library) -> list[Module]:
    """The modules that have a page: public modules with at least one public name."""
    return [each for _, each in sorted(library.modules.items()) if library.is_public(each) and each.public]


def _write_summary(module: Module) -> Markdown:
    docstring = ast.get_docstring(module.tree) or ""
    return prose(docstring.strip().partition("\n\n")[0])


def _write_module(library: Library, module: Module) -> Iterator[str]:
    yield f"# {code(module.name)}\n"
    yield from _write_docstring(ast.get_docstring(module.tree))
    for name in module.public:
        definition = library.origin(module.name, name)
        if definition is not None and definition[0] is module:
            yield from _write_definition(library, module, name, definition[1])
        else:
            yield from _write_imported(library, module, name)


def _write_imported(library: Library, module: Module, name: str) -> Iterator[str]:
    """Write a name that is defined in another module: what it is, and a link to it."""
    yield _write_heading("##", name)
    definition = library.origin(module.name, name)
    if definition is None:
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
        yield f"From [{code(definition[0].name)}]({relative(module.path, page)}#{anchor}).\n"
        yield from _write_docstring((definition[0].said_of(definition[1]) or "").partition("\n\n")[0])
    else:
        yield from _write_body(library, definition[0], name, definition[1])


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
    """Write the annotated fields of a class, each with the string below it."""
    rows: list[str] = []
    for each in node.body:
        if isinstance(each, ast.AnnAssign) and isinstance(each.target, ast.Name) and not each.target.id.startswith("_"):
            text = _find_text_below(node.body, each)
            description = f": {prose(text)}" if text else ""
            rows.append(f"- {code(f'{each.target.id}: {ast.unparse(each.annotation)}')}{description}")
    if rows:
        yield "Fields:\n"
        yield from rows
        yield ""


def find_methods(node: ast.ClassDef) -> list[Function]:
    """The public methods of a class; of overloads the last declaration, of a property its getter."""
    methods: dict[str, Function] = {}
    for each in node.body:
        if not isinstance(each, ast.FunctionDef | ast.AsyncFunctionDef) or each.name.startswith("_"):
            continue
        if not any(isinstance(one, ast.Attribute) and one.attr == "setter" for one in each.decorator_list):
            methods[each.name] = each
    return [*methods.values()]


def _find_text_below(body: Sequence[ast.stmt], node: ast.stmt) -> str | None:
    """The string literal directly below a statement; `None` if there is none."""
    after = next((other for before, other in pairwise(body) if before is node), None)
    match after:
        case ast.Expr(value=ast.Constant(value=str(text))):
            return text
        case _:
            return None


def _write_signature(node: Function) -> str:
    """Write the signature of a function, with each parameter on its own line if one line is too long."""
    kind = "async def" if isinstance(node, ast.AsyncFunctionDef) else "def"
    marks = [f"@{ast.unparse(each)}" for each in node.decorator_list if isinstance(each, ast.Name)]
    returns = f" -> {ast.unparse(node.returns)}" if node.returns is not None else ""
    line = f"{kind} {node.name}({ast.unparse(node.args)}){returns}"
    if len(line) > _LONGEST:
        line = f"{kind} {node.name}(\n{''.join(f'    {each},{chr(10)}' for each in _write_parameters(node.args))}){returns}"
    return "\n".join((*marks, line))


def _write_parameters(arguments: ast.arguments) -> Iterator[str]:
    """Yield the parameters of a function as source text."""
    leading = [*arguments.posonlyargs, *arguments.args]
    defaults: list[ast.expr | None] = [*[None] * (len(leading) - len(arguments.defaults)), *arguments.defaults]
    for number, (each, default) in enumerate(zip(leading, defaults, strict=True), 1):
        yield _write_parameter(each, default)
        if number == len(arguments.posonlyargs):
            yield "/"
    if arguments.vararg is not None:
        yield f"*{ast.unparse(arguments.vararg)}"
    elif arguments.kwonlyargs:
        yield "*"
    yield from (_write_parameter(*each) for each in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True))
    if arguments.kwarg is not None:
        yield f"**{ast.unparse(arguments.kwarg)}"


def _write_parameter(each: ast.arg, default: ast.expr | None) -> str:
    if default is None:
        return ast.unparse(each)
    return f"{ast.unparse(each)}{' = ' if each.annotation else '='}{ast.unparse(default)}"


def _write_docstring(text: str | None) -> Iterator[str]:
    """Convert a docstring to Markdown: paragraphs and lists as prose, doctests and indented parts as code."""
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
    """Write a heading with an explicit anchor, so that names that differ only in case have different anchors."""
    return f"{marks} {code(name)} {{ #{_make_anchor(name)} }}\n"


def _make_anchor(name: str) -> str:
    return identifier(name)
