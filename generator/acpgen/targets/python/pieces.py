"""Modules in pieces: each statement with what it binds and what it uses of other modules, by its place in the text.

It reads the modules of the run-time package and those that templates make; a form that none of them has is an `AssertionError`.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final, cast

from acpgen.targets.python.used_names import Import, NameUse, Text, bound, uses


@dataclass(frozen=True, slots=True)
class Piece:
    """A statement of a module, with the comment before it and the docstring after it. `start` and `end` are bytes of the module's text.

    `cuts` are parts that are left out. Where `is_for_types`, type checkers alone read it.
    """

    module: str
    binds: tuple[str, ...]
    start: int
    end: int
    uses: tuple[NameUse, ...]
    cuts: tuple[tuple[int, int, str], ...] = ()
    is_for_types: bool = False


@dataclass(frozen=True, slots=True)
class ModuleText:
    """A module: its text, imports by local name, pieces, and names: what it binds, all that anything in it is called, variables.

    `about` is the first line of its docstring, `comments` are those that tell type checkers how to read it.
    """

    name: str
    text: bytes
    imports: dict[str, Import]
    pieces: tuple[Piece, ...]
    bound: frozenset[str]
    words: frozenset[str]
    variables: frozenset[str]
    about: str = ""
    comments: tuple[str, ...] = ()


def read(name: str, text: str, ours: Iterable[str], *, is_package: bool = False) -> ModuleText:
    """A module in pieces. `name` is dotted, `ours` are the names of all modules that count as ours."""
    return _Reader(name, text, frozenset(ours), is_package=is_package).source()


class _Reader:
    def __init__(self, name: str, text: str, ours: frozenset[str], *, is_package: bool) -> None:
        self.name: Final = name
        self.ours: Final = ours
        self.package: Final = name if is_package else name.rpartition(".")[0]
        self.imports: Final[dict[str, Import]] = {}
        self.text: Final = Text(text, self.imports)
        self.pieces: Final[list[Piece]] = []

    def source(self) -> ModuleText:
        body = self.text.tree.body
        for node in ast.walk(self.text.tree):
            if isinstance(node, ast.ImportFrom) and node not in body and self._is_ours(node):
                self._import(node, is_for_types=True)
        for node in body:
            match node:
                case ast.Import() | ast.ImportFrom():
                    self._import(node)
                case ast.If() if _is_for_types(node) and not node.orelse:
                    for each in node.body:
                        if isinstance(each, ast.Import | ast.ImportFrom):
                            self._import(each, is_for_types=True)
                case _:
                    continue
        for index, node in enumerate(body):
            self._take(node, body[index + 1 :])
        docstring = ast.get_docstring(self.text.tree) or ""
        words = {one.id for one in ast.walk(self.text.tree) if isinstance(one, ast.Name)}
        words |= {one.arg for one in ast.walk(self.text.tree) if isinstance(one, ast.arg)}
        words |= {one.name for one in ast.walk(self.text.tree) if isinstance(one, ast.FunctionDef | ast.ClassDef)}
        return ModuleText(
            name=self.name,
            text=self.text.bytes,
            imports=self.imports,
            pieces=tuple(self.pieces),
            bound=frozenset(name for piece in self.pieces for name in piece.binds),
            words=frozenset(words),
            variables=frozenset(
                one.id
                for one in ast.walk(self.text.tree)
                if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Store)
            ),
            about=docstring.partition("\n")[0],
            comments=tuple(line.decode().strip() for line in self.text.lines if line.startswith(b"# pyright:")),
        )

    # --- imports ---

    def _is_ours(self, node: ast.ImportFrom) -> bool:
        return bool(node.level) or (node.module or "") in self.ours

    def _import(self, node: ast.Import | ast.ImportFrom, *, is_for_types: bool = False) -> None:
        if isinstance(node, ast.Import):
            for alias in node.names:
                local = alias.asname or alias.name
                assert alias.asname or "." not in alias.name, f"{self.name}: import {alias.name}"
                self._bind(local, Import(alias.name, "", is_for_types))
            return
        module = node.module or ""
        if module == "__future__":
            return
        if node.level:
            steps = self.package.split(".")
            base = steps[: len(steps) - node.level + 1]
            module = ".".join([*base, *([module] if module else [])])
        for alias in node.names:
            local, inner = alias.asname or alias.name, f"{module}.{alias.name}"
            if inner in self.ours:
                found = Import(inner, "", is_for_types, is_ours=True)
            else:
                found = Import(module, alias.name, is_for_types, is_ours=module in self.ours)
            self._bind(local, found)

    def _bind(self, local: str, found: Import) -> None:
        before = self.imports.get(local)
        if before is None or before.is_for_types:
            self.imports[local] = found

    # --- statements ---

    def _take(self, node: ast.stmt, rest: Sequence[ast.stmt]) -> None:
        match node:
            case ast.Import() | ast.ImportFrom():
                return
            case ast.Expr(value=ast.Constant(value=str())):
                return
            case ast.Assign(targets=[ast.Name(id="__all__")]):
                return
            case ast.If() if all(isinstance(each, ast.Import | ast.ImportFrom) for each in node.body):
                return
            case _:
                pass
        start, end = self._start(node), self._end(node)
        if isinstance(node, ast.Assign | ast.AnnAssign) and rest and _is_text(rest[0]):
            end = self._end(rest[0])
        self.pieces.append(
            Piece(
                module=self.name,
                binds=tuple(bound([node])),
                start=start,
                end=end,
                uses=uses(self.text, node),
                cuts=tuple(self._cuts(node)),
                is_for_types=isinstance(node, ast.If) and _is_for_types(node) and not node.orelse,
            )
        )

    def _start(self, node: ast.stmt) -> int:
        line = node.lineno
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) and node.decorator_list:
            line = node.decorator_list[0].lineno
        while line > 1 and self.text.lines[line - 2].startswith(b"#"):
            line -= 1
        return self.text.starts[line - 1]

    def _end(self, node: ast.stmt) -> int:
        return self.text.starts[node.end_lineno or node.lineno]

    def _cuts(self, node: ast.stmt) -> Iterator[tuple[int, int, str]]:
        """Imports of modules of ours, and those at the level of the module, with what stands for each."""
        for parent in ast.walk(node):
            for block in _blocks(parent):
                is_top = parent is node and isinstance(node, ast.If)
                gone = [each for each in block if self._is_cut(each, is_top=is_top)]
                for each in gone:
                    stays = "" if len(gone) < len(block) else f"{' ' * each.col_offset}pass\n"
                    yield self.text.starts[each.lineno - 1], self._end(each), stays

    def _is_cut(self, node: ast.stmt, *, is_top: bool) -> bool:
        if isinstance(node, ast.ImportFrom) and self._is_ours(node):
            return True
        return is_top and isinstance(node, ast.Import | ast.ImportFrom)


def _blocks(node: ast.AST) -> Iterator[list[ast.stmt]]:
    """The blocks of a statement."""
    for _, value in ast.iter_fields(node):
        block = cast("list[object]", value) if isinstance(value, list) else []
        statements = [each for each in block if isinstance(each, ast.stmt)]
        if statements:
            yield statements


def _is_for_types(node: ast.If) -> bool:
    return isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING"


def _is_text(node: ast.stmt) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)
