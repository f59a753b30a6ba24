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
from itertools import zip_longest
from pathlib import Path
from textwrap import dedent
from typing import Final, NamedTuple

from acpgen.config.faults import BAD_PROJECT_FILE
from acpgen.diagnostics.markup import Markdown, make_identifier, write_code, write_code_block, write_prose
from acpgen.errors import Fault, Faults
from acpgen.input.load import decode, display_path, read_bytes
from acpgen.publish.faults import SITE_NOT_BUILT
from acpgen.publish.pages import Page
from acpgen.targets.docs.page_paths import join_markdown
from acpgen.targets.docs.templates import lay_out, relativize

FOLDER: Final = "api"
INDEX: Final = f"{FOLDER}/index.md"

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


class ApiDeclaration(NamedTuple):
    """A class, function or variable: its name, its statement, and its docstring or the string below it, empty if it has none."""

    name: str
    node: ast.stmt
    doc: str

    @property
    def is_function(self) -> bool:
        return isinstance(self.node, ast.FunctionDef | ast.AsyncFunctionDef)

    @property
    def methods(self) -> Sequence[ApiDeclaration]:
        """The public methods of a class."""
        return [member for member in self._list_members() if member.is_function]

    @property
    def fields(self) -> Sequence[ApiDeclaration]:
        """The public annotated fields of a class."""
        return [member for member in self._list_members() if isinstance(member.node, ast.AnnAssign)]

    def _list_members(self) -> Iterator[ApiDeclaration]:
        body = self.node.body if isinstance(self.node, ast.ClassDef) else ()
        return (declaration for name, declaration in read_body(body).items() if not name.startswith("_"))


def read_body(body: Sequence[ast.stmt]) -> Mapping[str, ApiDeclaration]:
    """The declarations in a module or class by name; of overloads the last one, of a property its getter."""
    declarations: dict[str, ApiDeclaration] = {}
    for node, below in zip_longest(body, body[1:]):
        match node, below:
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef(), _:
                decorators = (
                    decorator.attr for decorator in node.decorator_list if isinstance(decorator, ast.Attribute)
                )
                if "setter" not in decorators:
                    declarations[node.name] = ApiDeclaration(node.name, node, ast.get_docstring(node) or "")
            case (
                ast.AnnAssign(target=ast.Name(id=name)) | ast.Assign(targets=[ast.Name(id=name)]),
                ast.Expr(value=ast.Constant(value=str(text))),
            ):
                declarations.setdefault(name, ApiDeclaration(name, node, text))
            case ast.AnnAssign(target=ast.Name(id=name)) | ast.Assign(targets=[ast.Name(id=name)]), _:
                declarations.setdefault(name, ApiDeclaration(name, node, ""))
            case _:
                pass
    return declarations


class Module:
    """A parsed module: its declarations by name, and the imported names, each with its module and its name there."""

    def __init__(self, source: PythonSource, tree: ast.Module) -> None:
        self.source: Final = source
        self.name: Final = source.name
        self.path: Final = f"{FOLDER}/{make_identifier(source.name)}.md"
        self.doc: Final = ast.get_docstring(tree) or ""
        self.declarations: Final = read_body(tree.body)
        self.imported: Final[dict[str, tuple[str, str]]] = {}
        package = self.name.split(".")[: None if source.is_package else -1]
        same_names: list[str] = []
        for node in ast.walk(tree):
            if isinstance(node, ast.ImportFrom):
                above = package[: len(package) - node.level + 1] if node.level else []
                origin = ".".join((*above, *filter(None, (node.module,))))
                self.imported.update({alias.asname or alias.name: (origin, alias.name) for alias in node.names})
                same_names += (alias.name for alias in node.names if alias.asname == alias.name)
        self.has_all: Final = "__all__" in self.declarations
        exports = getattr(self.declarations["__all__"].node, "value", None) if self.has_all else None
        if isinstance(exports, ast.List | ast.Tuple):
            self.public: Sequence[str] = [
                str(element.value) for element in exports.elts if isinstance(element, ast.Constant)
            ]
        else:
            described = [
                declaration.name
                for declaration in self.declarations.values()
                if declaration.doc or hasattr(declaration.node, "body")
            ]
            self.public = [name for name in described if not name.startswith("_")]
        self.exported: Final = self.public if self.has_all else same_names
        """The names that it declares public: its `__all__`, or what it imports under the same name (`from .a import b as b`)."""


@dataclass(frozen=True)
class Library:
    """The modules of all packages, by name."""

    modules: Mapping[str, Module]

    @cached_property
    def _offered(self) -> frozenset[str]:
        """The names of modules that define what a package exports."""
        packages = [module for module in self.modules.values() if module.source.is_package]
        origins = (self.find_origin(module.name, name) for module in packages for name in module.exported)
        return frozenset(definition[0].name for definition in origins if definition is not None)

    def has_page(self, module: Module) -> bool:
        """Whether a module is public and has a public name."""
        parts = module.name.split(".")
        if not module.public or any(part.startswith("_") for part in parts):
            return False
        above = (self.modules.get(".".join(parts[:count])) for count in range(1, len(parts)))
        if not any(package is not None and package.exported for package in above):
            return True
        return module.source.is_named or module.has_all or module.name in self._offered

    def find_origin(self, module: str, name: str) -> tuple[Module, ApiDeclaration] | None:
        """The definition of a name that a module provides, following imports; `None` if it is outside this library."""
        for _ in range(_DEPTH):
            provider = self.modules.get(module)
            if provider is None:
                return None
            if name in provider.declarations:
                return provider, provider.declarations[name]
            if name not in provider.imported:
                return None
            module, name = provider.imported[name]
        return None

    def link(self, path: str, module: str, name: str, label: str = "") -> Markdown | None:
        """A link from a page to the page and anchor that document a name, or to the page of a module; `None` if there is none."""
        target = self.modules.get(f"{module}.{name}".removesuffix("."))
        anchor = ""
        if target is None or not self.has_page(target):
            definition = self.find_origin(module, name)
            if definition is None:
                return None
            places = (definition[0], definition[1].name), (self.modules[module], name)
            target, anchor = next(
                (
                    (candidate, own_name)
                    for candidate, own_name in places
                    if self.has_page(candidate) and own_name in candidate.public
                ),
                (None, ""),
            )
        if target is None:
            return None
        address = f"{relativize(path, target.path)}{'#' if anchor else ''}{make_identifier(anchor) if anchor else ''}"
        return Markdown(f"[{write_code(label or name or module)}]({address})")

    def find_inherited(self, module: Module, declaration: ApiDeclaration, method: str) -> str:
        """The docstring of a method in the nearest known base class that has one; empty if none has."""
        waiting = [(module, declaration)]
        for _ in range(_DEPTH):
            if not waiting:
                break
            class_module, class_ = waiting.pop(0)
            for base in class_.node.bases if isinstance(class_.node, ast.ClassDef) else ():
                base_class = self._find_base(class_module, base.value if isinstance(base, ast.Subscript) else base)
                if base_class is not None:
                    waiting.append(base_class)
                    doc = next(
                        (base_method.doc for base_method in base_class[1].methods if base_method.name == method), ""
                    )
                    if doc:
                        return doc
        return ""

    def _find_base(self, module: Module, name: ast.expr) -> tuple[Module, ApiDeclaration] | None:
        """The definition of a base class that is written as a name or as an attribute of a module; `None` if it is unknown."""
        match name:
            case ast.Name(id=base_name):
                return self.find_origin(module.name, base_name)
            case ast.Attribute(value=ast.Name(id=of), attr=base_name) if of in module.imported:
                return self.find_origin(".".join(module.imported[of]), base_name)
            case _:
                return None


NOTHING: Final = Library({})


def read_sources(root: Path, paths: Sequence[str]) -> tuple[PythonSource, ...]:
    """Read the modules in these files and folders, each once, sorted by name. Raises `Faults`."""
    sources: dict[str, PythonSource] = {}
    for path in (root / name for name in paths):
        files = sorted(path.rglob("*.py")) if path.is_dir() else [path] if path.suffix == ".py" else []
        files = [file for file in files if file.is_file()]
        if not files:
            reason, remedy = "no Python is there", "Correct [tool.acpgen.site] python, or generate it first"
            raise Faults([SITE_NOT_BUILT(at=display_path(path), reason=reason, remedy=remedy)])
        for file in files:
            name, text = _name_module(file), decode(read_bytes(file), display_path(file))
            at, is_package = file.relative_to(root).as_posix(), file.name == "__init__.py"
            sources.setdefault(name, PythonSource(name, at, text, is_package, is_named=file == path))
    return tuple(sources[name] for name in sorted(sources))


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
            faults.append(BAD_PROJECT_FILE(at=f"{source.at}{line}", reason="this is not Python", remedy=remedy))
    if faults:
        raise Faults(faults)
    return Library(modules)


def write_pages(library: Library) -> list[Page]:
    """Write the index of all public modules and the page of each, grouped by package; no pages if there is no public module."""
    modules = [module for _, module in sorted(library.modules.items()) if library.has_page(module)]
    if not modules:
        return []
    text, about = lay_out("api-index", path=INDEX, modules=modules), "The Python API, module by module"
    pages = [Page(INDEX, text, ("Python API", "All modules"), about=about)]
    for module in modules:
        entries = [*_list_entries(library, module)]
        text = lay_out("api-module", module=module, entries=entries, docstring=_format_docstring)
        place = ("Python API", module.name.partition(".")[0], module.name)
        pages.append(Page(module.path, text, place, source=module.source.at))
    return pages


def add_links(library: Library, page: Page) -> Page:
    """Append links to what the Python code on a page imports, in the order of the page, as far as it is in the library."""
    links: dict[str, Markdown] = {}
    for block in _PYTHON.findall(page.text):
        for module, names, whole in _IMPORT.findall(re.sub(r"^>>> ", "", block, flags=re.MULTILINE)):
            for name in filter(None, re.split(r"[ ,]+", names)) if names else ("",):
                link = library.link(page.path, module or whole, name)
                if link is not None:
                    links.setdefault(name or whole, link)
    if not links:
        return page
    section = f"## Python API\n\nThe Python on this page uses {join_markdown(links.values())}.\n"
    return replace(page, text=f"{page.text}\n{section}")


class ApiEntry(NamedTuple):
    """One heading of the page of a module, with what stands below it: where the name comes from, or its source, docstring and fields."""

    marks: Markdown
    name: str
    doc: str = ""
    source: str = ""
    origin: Markdown = Markdown()
    fields: Sequence[tuple[str, str]] = ()


def _list_entries(library: Library, module: Module) -> Iterator[ApiEntry]:
    for name in module.public:
        definition = library.find_origin(module.name, name)
        if definition is None:
            link = library.link(
                module.path, *module.imported.get(name, ("", "")), ".".join(module.imported.get(name, ()))
            )
            if link is not None:
                origin = Markdown(f"The module {link}.")
            elif name in module.imported:
                origin = Markdown(f"From {write_code(module.imported[name][0])}.")
            else:
                origin = Markdown("Made when the module is loaded.")
            yield ApiEntry(Markdown("##"), name, origin=origin)
            continue
        origin_module, declaration = definition
        if origin_module is not module and library.has_page(origin_module) and declaration.name in origin_module.public:
            link = library.link(module.path, module.name, name, origin_module.name)
            summary = declaration.doc.partition("\n\n")[0]
            yield ApiEntry(Markdown("##"), name, summary, origin=Markdown(f"From {link}."))
            continue
        fields = [(ast.unparse(field.node), field.doc) for field in declaration.fields]
        fields = [(text.partition(" = ")[0], doc) for text, doc in fields]
        yield ApiEntry(Markdown("##"), name, declaration.doc, _write_source(name, declaration.node), fields=fields)
        for method in declaration.methods:
            doc = method.doc or library.find_inherited(origin_module, declaration, method.name)
            yield ApiEntry(Markdown("###"), f"{name}.{method.name}", doc, _write_source(method.name, method.node))


def _write_source(name: str, node: ast.stmt) -> str:
    """The head of a class or function, or the annotation of a variable; empty if it has none."""
    match node:
        case ast.ClassDef():
            bases = ", ".join(map(ast.unparse, node.bases))
            return f"class {name}({bases})" if bases else f"class {name}"
        case ast.FunctionDef() | ast.AsyncFunctionDef():
            return _write_signature(node)
        case ast.AnnAssign():
            return f"{name}: {ast.unparse(node.annotation)}"
        case _:
            return ""


def _write_signature(node: ast.FunctionDef | ast.AsyncFunctionDef) -> str:
    """Write the signature of a function, with each parameter on its own line if one line is too long."""
    kind = "async def" if isinstance(node, ast.AsyncFunctionDef) else "def"
    marks = [f"@{ast.unparse(decorator)}" for decorator in node.decorator_list if isinstance(decorator, ast.Name)]
    returns = f" -> {ast.unparse(node.returns)}" if node.returns is not None else ""
    line = f"{kind} {node.name}({ast.unparse(node.args)}){returns}"
    if len(line) > _LONGEST:
        line = f"{kind} {node.name}(\n{''.join(f'    {parameter},{chr(10)}' for parameter in _write_parameters(node.args))}){returns}"
    return "\n".join((*marks, line))


def _write_parameters(arguments: ast.arguments) -> Iterator[str]:
    """Yield the parameters of a function as source text."""
    leading = [*arguments.posonlyargs, *arguments.args]
    defaults: list[ast.expr | None] = [*[None] * (len(leading) - len(arguments.defaults)), *arguments.defaults]
    for number, (argument, default) in enumerate(zip(leading, defaults, strict=True), 1):
        yield _write_parameter(argument, default)
        if number == len(arguments.posonlyargs):
            yield "/"
    if arguments.vararg is not None:
        yield f"*{ast.unparse(arguments.vararg)}"
    elif arguments.kwonlyargs:
        yield "*"
    yield from (_write_parameter(*pair) for pair in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True))
    if arguments.kwarg is not None:
        yield f"**{ast.unparse(arguments.kwarg)}"


def _write_parameter(argument: ast.arg, default: ast.expr | None) -> str:
    if default is None:
        return ast.unparse(argument)
    return f"{ast.unparse(argument)}{' = ' if argument.annotation else '='}{ast.unparse(default)}"


def _format_docstring(text: str) -> Markdown:
    """Convert a docstring to Markdown: paragraphs and lists as prose, doctests and indented parts as code."""
    blocks: list[str] = []
    for part in filter(str.strip, re.split(r"\n[ \t]*\n", text.strip("\n"))):
        lines = part.split("\n")
        if lines[0].lstrip().startswith(">>>"):
            blocks.append(write_code_block(dedent(part), "pycon"))
        elif all(line.startswith("    ") for line in lines):
            blocks.append(write_code_block(dedent(part), "text"))
        elif lines[0].startswith(("- ", "* ")):
            blocks.append(
                "\n".join(f"- {write_prose(item)}" for item in re.split(r"^[-*] ", part, flags=re.MULTILINE)[1:])
            )
        else:
            blocks.append(write_prose(part))
    return Markdown("\n\n".join(blocks))
