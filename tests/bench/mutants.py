"""Mutation testing of one module: changes one thing of it at a time, and runs the tests that are given against each change.

    python tests/bench/mutants.py MODULE [--sample N] [--seed N] [--times N] -- TEST...

    python tests/bench/mutants.py generator/acp-monitor/acp_monitor/bounded.py -- tests/monitor/test_rules.py
    python tests/bench/mutants.py generator/jsonrpc_bindings/parse.py -- tests/bindings tests/fuzz -k decode
    python tests/bench/mutants.py generator/schema_inclusion/scalars.py -- tests/schema_inclusion/test_keyword_cases.py
    python tests/bench/mutants.py generator/acp-workspace/acp_workspace/containment.py -- tests/workspace/test_containment.py

The checkout stays as it is: the mutants live in a copy of it in a folder that passes. Changed are comparisons, boolean operators,
`not`, constants, arithmetic, `return`, `break` and `continue`, and statements that are taken out. A mutant is
killed when a test fails, or when the tests take `--times` as long as without a change and a minute more, and survives otherwise.
"""

from __future__ import annotations

import argparse
import ast
import copy
import random
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Final

HERE: Final = Path(__file__).parents[2]
LEFT_OUT: Final = (
    ".git",
    ".mypy_cache",
    ".ruff_cache",
    ".pytest_cache",
    "__pycache__",
    ".hypothesis",
    ".venv",
    ".evidence",
)
LINKED: Final = (".venv", "tests/.evidence")

COMPARISONS: Final[dict[type[ast.cmpop], type[ast.cmpop]]] = {
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
}
OPERATORS: Final[dict[type[ast.operator], type[ast.operator]]] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Add,
    ast.BitAnd: ast.BitOr,
    ast.BitOr: ast.BitAnd,
}


def changes(node: ast.AST) -> Iterator[tuple[str, ast.AST | None]]:
    """What a node is changed into, with words for it; `None` where the statement is taken out."""
    match node:
        case ast.Compare(ops=[op, *_]) if type(op) in COMPARISONS:
            made = copy.deepcopy(node)
            made.ops[0] = COMPARISONS[type(op)]()
            yield "comparison", made
        case ast.BoolOp(op=op):
            made_bool = copy.deepcopy(node)
            made_bool.op = ast.And() if isinstance(op, ast.Or) else ast.Or()
            yield "and/or", made_bool
        case ast.UnaryOp(op=ast.Not(), operand=inner):
            yield "not", inner
        case ast.BinOp(op=op) if type(op) in OPERATORS:
            made_bin = copy.deepcopy(node)
            made_bin.op = OPERATORS[type(op)]()
            yield "arithmetic", made_bin
        case ast.Constant(value=bool(value)):
            yield "constant", ast.Constant(not value)
        case ast.Constant(value=int(number)):
            yield "constant", ast.Constant(number + 1)
        case ast.Return(value=ast.expr()):
            yield "return", ast.Return(ast.Constant(None))
        case ast.Break():
            yield "break", ast.Continue()
        case ast.Continue():
            yield "continue", ast.Break()
        case ast.Expr(value=ast.Call()) | ast.Assign() | ast.AugAssign() | ast.Raise():
            yield "taken out", ast.Pass()
        case _:
            return


class _Put(ast.NodeTransformer):
    def __init__(self, old: ast.AST, new: ast.AST) -> None:
        self.old, self.new = old, new

    def visit(self, node: ast.AST) -> ast.AST:
        return ast.copy_location(self.new, node) if node is self.old else self.generic_visit(node)


def places(tree: ast.Module) -> list[ast.AST]:
    """The nodes inside of functions, each once, in the order of the text."""
    functions = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)]
    inside = {id(node): node for function in functions for part in function.body for node in ast.walk(part)}
    return list(inside.values())


def mutants(text: str) -> list[tuple[int, int]]:
    """What can be changed: the number of a place, and of a change there."""
    return [
        (number, turn) for number, node in enumerate(places(ast.parse(text))) for turn, _ in enumerate(changes(node))
    ]


def mutated(text: str, number: int, turn: int) -> tuple[int, str, str]:
    """Line and kind of one change, and the module with it. Comments stay, so that no type checker misses one."""
    tree = ast.parse(text)
    node = places(tree)[number]
    kind, new = list(changes(node))[turn]
    written = ast.unparse(ast.fix_missing_locations(new or ast.Pass()))
    begin, end = (
        sum(map(len, text.encode().splitlines(keepends=True)[: line - 1])) + column
        for line, column in ((node.lineno, node.col_offset), (node.end_lineno, node.end_col_offset))  # type: ignore[attr-defined]
    )
    spliced = (
        text.encode()[:begin]
        + (f"({written})" if isinstance(new, ast.expr) else written).encode()
        + text.encode()[end:]
    )
    changed = ast.fix_missing_locations(_Put(node, new or ast.Pass()).visit(tree))
    try:
        is_same = ast.dump(ast.parse(spliced)) == ast.dump(changed)
    except SyntaxError:
        is_same = False  # inside an f-string places are not told before Python 3.12
    return getattr(node, "lineno", 0), kind, spliced.decode() if is_same else ast.unparse(changed)


def survives(folder: Path, tests: list[str], seconds: float | None) -> bool:
    """Whether the tests pass."""
    command = [str(folder / ".venv/bin/python"), "-B", "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", *tests]
    try:
        done = subprocess.run(command, cwd=folder, capture_output=True, timeout=seconds, check=False)
    except subprocess.TimeoutExpired:
        return False
    return done.returncode == 0


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("module", type=Path, metavar="MODULE")
    parser.add_argument("--sample", type=int, default=50)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument(
        "--times", type=float, default=5, help="as long as without a change the tests may take for a mutant"
    )
    parser.add_argument("tests", nargs="+", metavar="TEST")
    asked = parser.parse_args()
    text = (HERE / asked.module).read_text()
    every = mutants(text)
    sample = random.Random(asked.seed).sample(every, min(asked.sample, len(every)))
    with tempfile.TemporaryDirectory(prefix="mutants-") as made:
        folder = Path(made) / "checkout"
        shutil.copytree(HERE, folder, symlinks=True, ignore=shutil.ignore_patterns(*LEFT_OUT))
        for link in LINKED:
            if (HERE / link).exists():
                (folder / link).symlink_to((HERE / link).resolve())
        begun = time.monotonic()
        if not survives(folder, asked.tests, None):
            raise SystemExit("the tests fail before anything is changed")
        limit = 60 + asked.times * (time.monotonic() - begun)
        killed = 0
        for count, (number, turn) in enumerate(sample, 1):
            line, kind, changed = mutated(text, number, turn)
            (folder / asked.module).write_text(changed)
            if survives(folder, asked.tests, limit):
                print(f"{asked.module}:{line}: {kind}: survived: {text.splitlines()[line - 1].strip()}", flush=True)
            else:
                killed += 1
            print(f"{killed} of {count} killed", file=sys.stderr, flush=True)
    print(f"{asked.module}: {killed} of {len(sample)} killed, a sample of {len(every)} by seed {asked.seed}")


if __name__ == "__main__":
    main()
