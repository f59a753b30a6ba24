"""Prints how well breaks are found, against the checkers that can be installed here. Measures; judges nothing, and is no part of CI.

    python3.13 -m venv others && others/bin/pip install jsoncompat==0.5.0 jsonsubschema==0.0.8 jsonschema-rs==0.60.3
    npm install json-schema-diff@1.0.0
    python tests/bench/compat.py [FOLDER_OF_NODE_MODULES [others/bin/python]]

Two sets: small schema pairs, each asked both ways ("is everything valid here valid there?"), and real releases of ACP ("may old and
new peers talk?"; the others compare whole documents, for they know no methods). A tool that takes longer than 20 seconds gives no
answer. Reads what `tests/evidence.toml` calls apart, in `../shared` beside the project.
"""

from __future__ import annotations

import json
import os
import selectors
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

ROOT = Path(__file__).parents[2]
sys.path[:1] = [str(ROOT / "tests")]  # in place of this folder

import evidence  # noqa: E402 - the tests' folder is on the path only now

SECONDS: Final = 20.0

OURS = """
from pathlib import Path
from schema_inclusion import include
from acpgen.compat.compare import compare
def answer(ask):
    if "files" in ask:
        return {"breaking": False, "risky": False, "undecided": None}.get(compare(*map(Path, ask["files"])).verdict, True)
    return {"yes": True, "no": False, "undecided": None}[include(ask["old"], ask["new"]).verdict.value]
"""
JSONCOMPAT = """
import json, jsoncompat
def answer(ask):
    old, new = json.dumps(ask["old"]), json.dumps(ask["new"])
    found = jsoncompat.analyze_compat(old, new, "both" if "files" in ask else "deserializer")
    return {"compatible": True, "incompatible": False}.get(found["status"])
"""
COVERS = """
from jsonschema_rs import canonicalize
def answer(ask):
    old, new = canonicalize(ask["old"]), canonicalize(ask["new"])
    said = {str(each) for each in (new.covers(old), *([old.covers(new)] if "files" in ask else []))}
    return False if "no" in said else True if said == {"yes"} else None
"""
JSONSUBSCHEMA = """
from jsonsubschema import isSubschema
def answer(ask):
    back = "files" not in ask or isSubschema(ask["new"], ask["old"])
    return back and isSubschema(ask["old"], ask["new"])
"""
LOOP = """
import contextlib, io, json, sys
for line in sys.stdin:
    try:
        with contextlib.redirect_stdout(io.StringIO()):
            said = answer(json.loads(line))
    except Exception:
        said = None
    print(json.dumps(said), flush=True)
"""
NODE = """
const {diffSchemas} = require("json-schema-diff");
require("readline").createInterface({input: process.stdin}).on("line", async line => {
  const ask = JSON.parse(line);
  let said = null;
  try {
    const found = await diffSchemas({sourceSchema: ask.old, destinationSchema: ask.new});
    said = "files" in ask ? !found.removalsFound && !found.additionsFound : !found.removalsFound;
  } catch (error) { said = null; }
  console.log(JSON.stringify(said));
});
"""


@dataclass(frozen=True, slots=True)
class Question:
    """What is asked, and whether the answer is yes: nothing breaks."""

    ask: dict[str, Any]
    holds: bool


def small() -> Iterator[Question]:
    """Each small pair both ways."""
    for case in json.loads(evidence.path("compat/cases.json").read_text()):
        yield Question({"old": case["old"], "new": case["new"]}, case["backward"])
        yield Question({"old": case["new"], "new": case["old"]}, case["forward"])


def releases() -> Iterator[Question]:
    """Each pair of releases once."""
    pairs = evidence.path("history/pairs.json")
    for pair in json.loads(pairs.read_text()):
        paths = [pairs.parent / pair[side] for side in ("old", "new")]
        old, new = (json.loads(path.read_text()) for path in paths)
        yield Question(
            {"old": old, "new": new, "files": [str(path) for path in paths]},
            pair["verdict"] not in ("breaking", "risky"),
        )


class Tool:
    """A checker in a process of its own, started again after it has taken too long."""

    def __init__(self, name: str, command: list[str], **environment: str) -> None:
        self.name = name
        self.command = command
        self.environment = {**os.environ, **environment}
        self.process: subprocess.Popen[str] | None = None

    def answer(self, ask: dict[str, Any]) -> bool | None:
        """What the tool says; `None` for no answer in time."""
        if self.process is None or self.process.poll() is not None:
            self.process = subprocess.Popen(
                self.command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                text=True,
                env=self.environment,
            )
        process = self.process
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            process.stdin.write(json.dumps(ask) + "\n")
            process.stdin.flush()
        except BrokenPipeError:
            return None
        with selectors.DefaultSelector() as selector:
            selector.register(process.stdout, selectors.EVENT_READ)
            if not selector.select(SECONDS):
                process.kill()
                process.wait()
                return None
        line = process.stdout.readline()
        said = json.loads(line) if line.strip() else None
        return said if isinstance(said, bool) else None

    def close(self) -> None:
        if self.process is not None:
            self.process.kill()
            self.process.wait()


def tools(modules: str, others: str) -> Iterator[Tool]:
    """The checkers that are installed."""
    python = {"PYTHONPATH": str(ROOT / "generator")}
    yield Tool("acpgen", [sys.executable, "-c", OURS + LOOP], **python)
    for name, source in (("jsoncompat", JSONCOMPAT), ("jsonsubschema", JSONSUBSCHEMA), ("jsonschema_rs", COVERS)):
        if subprocess.run([others, "-c", f"import {name}"], capture_output=True, check=False).returncode == 0:
            yield Tool(name, [others, "-c", source + LOOP])
        else:
            print(f"{name} is not installed", file=sys.stderr)
    found = subprocess.run(
        ["node", "-e", "require('json-schema-diff')"],
        capture_output=True,
        check=False,
        env={**os.environ, "NODE_PATH": modules},
    )
    if found.returncode == 0:
        yield Tool("json-schema-diff", ["node", "-e", NODE], NODE_PATH=modules)
    else:
        print("json-schema-diff is not installed", file=sys.stderr)


def row(tool: Tool, questions: list[Question]) -> str:
    """Right answers, missed breaks, false alarms, no answer; precision and recall of 'this breaks'; seconds."""
    start = time.perf_counter()
    said = [(tool.answer(question.ask), question.holds) for question in questions]
    seconds = time.perf_counter() - start
    right = sum(answer == holds for answer, holds in said)
    missed = sum(answer is True and not holds for answer, holds in said)
    false = sum(answer is False and holds for answer, holds in said)
    silent = sum(answer is None for answer, _ in said)
    found = sum(answer is False and not holds for answer, holds in said)
    breaks = sum(not holds for _, holds in said)
    precision = f"{found / (found + false):.0%}" if found + false else "—"
    numbers = f"{right:5} {missed:7} {false:7} {silent:7} {precision:>10} {found / breaks:>7.0%} {seconds:8.1f}"
    return f"{tool.name:18}{numbers}"


def main() -> None:
    modules = sys.argv[1] if len(sys.argv) > 1 else str(Path.cwd() / "node_modules")
    others = sys.argv[2] if len(sys.argv) > 2 else sys.executable
    for name, questions in (("small schema pairs, both ways", list(small())), ("releases of ACP", list(releases()))):
        print(f"{name}: {len(questions)} questions, {sum(not question.holds for question in questions)} of them breaks")
        print(
            f"{'':18}{'right':>5} {'missed':>7} {'false':>7} {'silent':>7} {'precision':>10} {'recall':>7} {'seconds':>8}"
        )
        for tool in tools(modules, others):
            print(row(tool, questions), flush=True)
            tool.close()
        print()


if __name__ == "__main__":
    main()
