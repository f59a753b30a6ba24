"""Counts the lines of the examples and of the same programs on the official SDKs: python tests/examples/lines.py.

A line counts that holds code: no blank one, no comment, no docstring. Prints the table of the page on peers.
"""

from __future__ import annotations

import ast
from pathlib import Path
from typing import Final

HERE: Final = Path(__file__).parent
SDKS: Final = HERE / "sdks"
PROGRAMS: Final = {
    "acp-bindings with acp-session": (HERE / "agent.py", HERE / "client.py"),
    "Python SDK 0.12.1": (SDKS / "python_sdk_agent.py", SDKS / "python_sdk_client.py"),
    "TypeScript SDK 2.4.0": (SDKS / "typescript_sdk_agent.mjs", SDKS / "typescript_sdk_client.mjs"),
}


def count(file: Path) -> int:
    """The lines of code in a program in Python or JavaScript."""
    text = file.read_text("utf-8")
    comment = "#" if file.suffix == ".py" else "//"
    prose = _docstrings(text) if file.suffix == ".py" else set[int]()
    lines = enumerate(text.splitlines(), 1)
    return sum(
        1 for number, line in lines if number not in prose and (said := line.strip()) and not said.startswith(comment)
    )


def _docstrings(text: str) -> set[int]:
    found: set[int] = set()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef) and ast.get_docstring(
            node
        ):
            found |= set(range(node.body[0].lineno, (node.body[0].end_lineno or 0) + 1))
    return found


def table() -> str:
    """The table."""
    rows = [f"| {name} | {count(agent)} | {count(client)} |" for name, (agent, client) in PROGRAMS.items()]
    return "\n".join(["| Lines of code | Agent | Client |", "| --- | --- | --- |", *rows])


if __name__ == "__main__":
    print(table())
