"""Processor time and memory of every command that reads a stranger's schema, with schemas that were written to make it work for long.

    python tests/bench/hostile_schemas.py [--command NAME] [--largest] [--seconds N] [--all] [SHAPE]...

Each command runs as on the command line, in a process of its own that ends after 30 seconds of processor time or at 1 GiB. What ends
otherwise than by an exit code of its own is printed in capitals, and makes this script exit 1; what took over 10 s or 512 MB is printed,
with `--all` every row.
"""

from __future__ import annotations

import argparse
import importlib
import json
import os
import resource
import signal
import sys
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

sys.path[:1] = [str(Path(__file__).parents[1])]  # in place of this folder

from acpgen.adopt.adoption import BASE  # noqa: E402
from hostile_schemas import SHAPES, text  # noqa: E402 - the tests' folder is on the path only now

SECONDS: Final = 30
BYTES: Final = 1 << 30
SLOW, MUCH = 10, 512
LOADED: Final = ("adopt", "cli", "compat.compare", "lint", "messages.validate", "publish", "targets.installed")
TARGETS: Final = ("bundle", "docs", "ir", "python", "typescript", "vectors")
MESSAGE: Final = {"jsonrpc": "2.0", "id": 1, "method": "go", "params": {"x": "a" * 5_000 + "!"}}


def commands(folder: Path) -> Mapping[str, tuple[str, ...]]:
    """The command lines by name, for `new.json` and `old.json` in a folder."""
    new, old = str(folder / "new.json"), str(folder / "old.json")
    made = ("generate", "--schema", new, "--package", "p.q", "--no-cache")
    return {
        "lint": ("lint", new),
        **{f"generate {name}": (*made, "--target", name, "--out", str(folder / f"out-{name}")) for name in TARGETS},
        "diff": ("diff", "--no-cache", old, new),
        "diff itself": ("diff", "--no-cache", new, new),
        "diff language": ("diff", "--no-cache", old, new, "--mode", "language"),
        "history": ("history", old, new),
        "validate": ("validate", str(folder / "messages.jsonl"), "--protocol", new),
        "adopt": ("adopt", new, "--into", "v1"),
        "init": ("init", str(folder / "project"), f"acme/v2={new}"),
    }


def changed(content: str) -> str:
    """The same schema, but for what the request demands."""
    for mark in ('"x-method":"go"', '"x-method": "go"'):
        content = content.replace(mark, f'"required":["x"],{mark}')
    return content


def follow(home: Path, content: str) -> None:
    """Make a project whose protocol `v1` follows a schema. One that cannot be adopted from is its own upstream nevertheless, so that what
    `adopt` says is of the schema.
    """
    schema = home / "schema" / "v1"
    schema.mkdir(parents=True)
    (home / "pyproject.toml").write_text('[project]\nname = "home"\n\n[tool.acpgen]\nschema = "schema"\n')
    (schema / "home.json").write_text(content)
    (schema / BASE).write_text(content)


def run(arguments: tuple[str, ...], home: Path, allowed: int) -> tuple[float, int, str, bool]:
    """Seconds, megabytes, what became of it, and whether that is how a command may end."""
    with tempfile.TemporaryFile() as said:
        child = os.fork()
        if child == 0:
            os.chdir(home)
            os.dup2(said.fileno(), 1)
            os.dup2(said.fileno(), 2)
            resource.setrlimit(resource.RLIMIT_CPU, (allowed, allowed + 1))
            resource.setrlimit(resource.RLIMIT_AS, (BYTES, BYTES))
            resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
            sys.argv = ["acpgen", *arguments]
            code = 70
            try:
                from acpgen.cli import main

                main()
                code = 0
            except SystemExit as end:
                code = end.code if isinstance(end.code, int) else 1
            except MemoryError:
                code = 71
            finally:
                sys.stdout.flush()
                os._exit(code)
        _, status, used = os.wait4(child, 0)
        said.seek(0)
        lines = said.read().decode(errors="replace").splitlines()
    seconds, megabytes = used.ru_utime + used.ru_stime, used.ru_maxrss >> 10
    code = os.waitstatus_to_exitcode(status)
    last = next((line for line in reversed(lines) if line.strip()), "")
    if code < 0:
        name = signal.Signals(-code).name
        return seconds, megabytes, "TIME" if name in ("SIGXCPU", "SIGKILL") else name, False
    if code == 71:
        return seconds, megabytes, "MEMORY", False
    defect = next((line for line in lines if "defect" in line or "Traceback" in line or "MemoryError" in line), None)
    if code not in (0, 1, 2) or defect is not None:
        return seconds, megabytes, f"DEFECT {last if defect is None else lines[-1]}", False
    return seconds, megabytes, f"exit {code}" + (f": {last}" if code == 2 else ""), True


def rows(
    shapes: list[str], wanted: list[str] | None, allowed: int, largest: bool
) -> Iterator[tuple[str, int, str, float, int, str, bool]]:
    for shape in shapes:
        for size in SHAPES[shape][1][-1 if largest else 0 :]:
            content = text(shape, size)
            with tempfile.TemporaryDirectory(prefix="hostile-") as made:
                folder = Path(made)
                (folder / "new.json").write_text(changed(content))
                (folder / "old.json").write_text(content)
                (folder / "messages.jsonl").write_text(json.dumps(MESSAGE) + "\n")
                home = folder / "home"
                follow(home, content)
                for name, arguments in commands(folder).items():
                    if not wanted or name in wanted:
                        yield shape, size, name, *run(arguments, home, allowed)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("shapes", nargs="*", metavar="SHAPE")
    parser.add_argument("--command", action="append", metavar="NAME")
    parser.add_argument("--largest", action="store_true", help="each shape just below 1 MB, and no smaller one")
    parser.add_argument("--all", action="store_true")
    parser.add_argument("--seconds", type=int, default=SECONDS, help=f"of processor time, {SECONDS} if left out")
    asked = parser.parse_args()
    for name in LOADED:
        importlib.import_module(f"acpgen.{name}")
    importlib.import_module("jsonschema_rs")  # where examples are judged
    importlib.import_module("jsonschema")  # over a second where a tool beside it has brought rfc3987-syntax

    for name in TARGETS:
        assert importlib.import_module("acpgen.targets.installed").TARGETS[name]
    failed = total = 0
    for shape, size, name, seconds, megabytes, said, is_well in rows(
        asked.shapes or list(SHAPES), asked.command, asked.seconds, asked.largest
    ):
        total += 1
        failed += not is_well
        if asked.all or not is_well or seconds > SLOW or megabytes > MUCH:
            print(f"{shape:34} {size:>14} {name:18} {seconds:6.1f} s {megabytes:5} MB  {said[:150]}", flush=True)
    print(f"{total} runs, {failed} did not end well")
    sys.exit(bool(failed))


if __name__ == "__main__":
    main()
