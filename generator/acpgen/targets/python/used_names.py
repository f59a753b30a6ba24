"""What a statement uses of what is outside it: names, by their places in the text, types in quotes included."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Final, TypeAlias

_CONTAINERS: Final = frozenset({"dict", "frozenset", "list", "set", "tuple", "type"})
_NAMING: Final = frozenset({"TypeVar", "TypeAliasType", "NewType"})
_Function: TypeAlias = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True, slots=True)
class Import:
    """What a module imports under a name. `name` is empty where it is the module itself; `inside` is the module of ours, or empty."""

    module: str
    name: str
    is_for_types: bool = False
    is_ours: bool = False


@dataclass(frozen=True, slots=True)
class NameUse:
    """Something outside a statement that it uses: the name that its module has for it, or a `member` of a module of that name.

    `start` and `end` are bytes of the module's text. Where `kept`, the text has to stay: a class has a name of its own for it.
    `quoted` is the type in a text literal that stands there, with its uses by byte of it.
    """

    name: str
    member: str = ""
    start: int = 0
    end: int = 0
    kept: bool = False
    quoted: str = ""
    within: tuple[NameUse, ...] = ()
    is_template: bool = False


class Text:
    """A text and its tree, with what its names are imported from. Places in it are bytes."""

    def __init__(self, text: str, imports: Mapping[str, Import]) -> None:
        self.bytes: Final = text.encode()
        self.tree: Final = ast.parse(text)
        self.imports: Final = imports
        self.lines: Final = self.bytes.splitlines(keepends=True)
        self.starts: Final = [0]
        for line in self.lines:
            self.starts.append(self.starts[-1] + len(line))

    def place(self, node: ast.expr) -> tuple[int, int]:
        """Where an expression begins and ends."""
        assert node.end_lineno is not None and node.end_col_offset is not None
        return self.starts[node.lineno - 1] + node.col_offset, self.starts[node.end_lineno - 1] + node.end_col_offset


def uses(text: Text, node: ast.AST) -> tuple[NameUse, ...]:
    """What a statement of a text uses."""
    finder = _Uses(text)
    finder.visit(node, frozenset(), frozenset())
    return tuple(finder.found)


class _Uses:
    """The names that a statement uses and does not bind. `functions` are names of functions around, `class_` those of the class."""

    def __init__(self, text: Text) -> None:
        self.text: Final = text
        self.found: list[NameUse] = []

    def visit(self, node: ast.AST | None, functions: frozenset[str], class_: frozenset[str]) -> None:
        match node:
            case None:
                return
            case ast.Name(id=name):
                if name not in functions:
                    start, end = self.text.place(node)
                    is_written = isinstance(node.ctx, ast.Store)
                    self.found.append(
                        NameUse(name, start=start, end=end, kept=name in class_ or (is_written and bool(class_)))
                    )
                return
            case ast.Attribute(value=ast.Name(id=name), attr=member) if (
                name not in functions | class_ and self._is_module(name)
            ):
                start, end = self.text.place(node)
                self.found.append(NameUse(name, member, start, end))
                return
            case ast.FunctionDef() | ast.AsyncFunctionDef():
                self._own_name(node, functions | class_)
                self._function(node, functions, class_)
                return
            case ast.Lambda(args=args, body=body):
                self._parameters(args, functions, class_)
                self.visit(body, functions | _parameters(args), frozenset())
                return
            case ast.ClassDef():
                self._own_name(node, functions | class_)
                for each in node.decorator_list:
                    self.visit(each, functions, class_)
                for each in [*node.bases, *(keyword.value for keyword in node.keywords)]:
                    self._type(each, functions, class_)
                own = frozenset(bound(node.body))
                for statement in node.body:
                    self.visit(statement, functions, own)
                return
            case ast.ListComp() | ast.SetComp() | ast.GeneratorExp() | ast.DictComp():
                inner = functions | {name for one in node.generators for name in _targets(one.target)}
                for one in node.generators:
                    self.visit(one.iter, inner, class_)
                    for each in one.ifs:
                        self.visit(each, inner, class_)
                for each in [node.key, node.value] if isinstance(node, ast.DictComp) else [node.elt]:
                    self.visit(each, inner, class_)
                return
            case ast.AnnAssign(target=target, annotation=annotation, value=value):
                self.visit(target, functions, class_)
                self._type(annotation, functions, class_)
                is_alias = isinstance(annotation, ast.Name) and self._means(annotation.id, "TypeAlias")
                (self._type if is_alias else self.visit)(value, functions, class_)
                return
            case ast.Call(func=ast.Name(id=name)) if self._means(name, "cast"):
                self.visit(node.func, functions, class_)
                self._type(node.args[0], functions, class_)
                self.visit(node.args[1], functions, class_)
                return
            case ast.Call(func=ast.Name(id=name)) if self._means(name, *_NAMING):
                self.visit(node.func, functions, class_)
                first, *others = node.args
                if isinstance(first, ast.Constant) and isinstance(first.value, str):
                    self._quoted(first, first.value, [NameUse(first.value, start=0, end=len(first.value.encode()))])
                for each in [*others, *(keyword.value for keyword in node.keywords)]:
                    self._type(each, functions, class_)
                return
            case ast.Subscript(value=ast.Name(id=name)) if name in _CONTAINERS or self._is_typing(name):
                self._type(node, functions, class_)
                return
            case ast.JoinedStr():
                self._template(node, functions, class_)
                return
            case _:
                for child in ast.iter_child_nodes(node):
                    self.visit(child, functions, class_)

    def _function(self, node: _Function, functions: frozenset[str], class_: frozenset[str]) -> None:
        for each in node.decorator_list:
            self.visit(each, functions, class_)
        self._parameters(node.args, functions, class_)
        self._type(node.returns, functions, class_)
        inner = functions | _parameters(node.args) | (frozenset(bound(node.body)) - self._of_ours(node))
        for statement in node.body:
            self.visit(statement, inner, frozenset())

    def _own_name(self, node: _Function | ast.ClassDef, inner: frozenset[str]) -> None:
        """The name of a definition at the level of the module."""
        if node.name not in inner:
            word = {ast.ClassDef: "class ", ast.FunctionDef: "def ", ast.AsyncFunctionDef: "async def "}[type(node)]
            start = self.text.starts[node.lineno - 1] + node.col_offset + len(word)
            self.found.append(NameUse(node.name, start=start, end=start + len(node.name.encode())))

    def _of_ours(self, node: _Function) -> set[str]:
        """The names that a function imports from modules of ours."""
        imports = (each for each in ast.walk(node) if isinstance(each, ast.ImportFrom))
        names = {alias.asname or alias.name for each in imports for alias in each.names}
        return {name for name in names if self._is_ours(name)}

    def _is_ours(self, name: str) -> bool:
        return name in self.text.imports and self.text.imports[name].is_ours

    def _parameters(self, args: ast.arguments, functions: frozenset[str], class_: frozenset[str]) -> None:
        for each in [*args.posonlyargs, *args.args, *args.kwonlyargs, args.vararg, args.kwarg]:
            if each is not None:
                self._type(each.annotation, functions, class_)
        for default in [*args.defaults, *args.kw_defaults]:
            self.visit(default, functions, class_)

    def _type(self, node: ast.AST | None, functions: frozenset[str], class_: frozenset[str]) -> None:
        """The same of what is a type: texts in it are types, too."""
        match node:
            case ast.Constant(value=str() as text):
                quoted = Text(text.strip(), self.text.imports)
                inner = _Uses(quoted)
                offset = len(text.encode()) - len(text.lstrip().encode())
                for statement in quoted.tree.body:
                    assert isinstance(statement, ast.Expr), text
                    inner._type(statement.value, functions, class_)
                self._quoted(node, text, [_moved(one, offset) for one in inner.found])
            case ast.Subscript(value=ast.Name(id=name)) if self._means(name, "Literal"):
                self.visit(node.value, functions, class_)
            case ast.Subscript(value=ast.Name(id=name), slice=ast.Tuple(elts=[first, *others])) if self._means(
                name, "Annotated"
            ):
                self.visit(node.value, functions, class_)
                self._type(first, functions, class_)
                for each in others:
                    self.visit(each, functions, class_)
            case ast.Subscript(value=value, slice=inside):
                self.visit(value, functions, class_)
                self._type(inside, functions, class_)
            case ast.BinOp(left=left, right=right):
                self._type(left, functions, class_)
                self._type(right, functions, class_)
            case ast.Tuple(elts=elements) | ast.List(elts=elements):
                for each in elements:
                    self._type(each, functions, class_)
            case _:
                self.visit(node, functions, class_)

    def _quoted(self, node: ast.Constant, text: str, within: list[NameUse]) -> None:
        if within:
            start, end = self.text.place(node)
            self.found.append(NameUse("", start=start, end=end, quoted=text, within=tuple(within)))

    def _template(self, node: ast.JoinedStr, functions: frozenset[str], class_: frozenset[str]) -> None:
        """An f-string as a whole: which bytes of it are which expression is not known before Python 3.12."""
        inner = _Uses(self.text)
        for each in node.values:
            if isinstance(each, ast.FormattedValue):
                inner.visit(each.value, functions, class_)
                inner.visit(each.format_spec, functions, class_)
        start, end = self.text.place(node)
        if inner.found:
            self.found.append(NameUse("", start=start, end=end, within=tuple(inner.found), is_template=True))

    def _is_module(self, name: str) -> bool:
        found = self.text.imports.get(name)
        return found is not None and found.is_ours and not found.name

    def _means(self, name: str, *others: str) -> bool:
        """Whether a name is that of something imported."""
        found = self.text.imports.get(name)
        return found is not None and not found.is_ours and found.name in others

    def _is_typing(self, name: str) -> bool:
        found = self.text.imports.get(name)
        return found is not None and found.module in ("typing", "typing_extensions", "collections.abc")


def _moved(use: NameUse, by: int) -> NameUse:
    return replace(use, start=use.start + by, end=use.end + by)


def _parameters(args: ast.arguments) -> frozenset[str]:
    every = [*args.posonlyargs, *args.args, *args.kwonlyargs, args.vararg, args.kwarg]
    return frozenset(each.arg for each in every if each is not None)


def _targets(node: ast.expr) -> set[str]:
    return {each.id for each in ast.walk(node) if isinstance(each, ast.Name)}


def bound(body: Iterable[ast.stmt]) -> list[str]:
    """The names that statements bind in their own scope, in order."""
    found: list[str] = []
    pending: list[ast.AST] = list[ast.AST](body)[::-1]
    while pending:
        node = pending.pop()
        match node:
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
                found.append(name)
                continue
            case ast.Lambda() | ast.ListComp() | ast.SetComp() | ast.DictComp() | ast.GeneratorExp():
                found.extend(
                    each.target.id
                    for each in ast.walk(node)
                    if isinstance(each, ast.NamedExpr) and not isinstance(node, ast.Lambda)
                )
                continue
            case ast.Name(id=name, ctx=ast.Store()):
                found.append(name)
            case ast.Import(names=aliases) | ast.ImportFrom(names=aliases):
                found.extend(alias.asname or alias.name.partition(".")[0] for alias in aliases)
            case (
                ast.ExceptHandler(name=str() as name)
                | ast.MatchAs(name=str() as name)
                | ast.MatchStar(name=str() as name)
            ):
                found.append(name)
            case ast.MatchMapping(rest=str() as name):
                found.append(name)
            case ast.Global() | ast.Nonlocal():
                raise AssertionError("no module of ours binds names of another scope")
            case _:
                pass
        pending.extend(list(ast.iter_child_nodes(node))[::-1])
    return list(dict.fromkeys(found))
