"""What a command prints, as a picture of a terminal: python tests/pictures.py writes those that the README shows.

A picture names no font of its own and asks nothing of the network. It is light or dark as its reader is.
"""

from __future__ import annotations

import json
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final
from xml.sax.saxutils import escape

ROOT: Final = Path(__file__).parents[1]
FOLDER: Final = ROOT / "tests" / "golden" / "pictures"

COLUMNS: Final = 80
_LETTER: Final = 8.4
_LINE: Final = 18
_MARGIN: Final = 16

_STYLE: Final = """
    .page { fill: #ffffff; stroke: #d0d7de }
    text { font: 14px ui-monospace, Menlo, Consolas, "DejaVu Sans Mono", monospace; fill: #1f2328; white-space: pre }
    .command { font-weight: bold }
    .bad { fill: #b3261e; font-weight: bold }
    @media (prefers-color-scheme: dark) {
      .page { fill: #0d1117; stroke: #30363d }
      text { fill: #e6edf3 }
      .bad { fill: #ff8a80 }
    }
"""
_BAD: Final = re.compile(r"(?:BREAKING|BREAKS|breaking|MUST)\b")


def picture(command: str, said: str) -> str:
    """An SVG file that shows a command line and what it printed, in 80 columns."""
    lines = [f"$ {command}", "", *said.rstrip("\n").split("\n")]
    assert all(len(line) <= COLUMNS for line in lines), max(lines, key=len)
    width = round(COLUMNS * _LETTER + 2 * _MARGIN)
    height = len(lines) * _LINE + 2 * _MARGIN
    rows = [_row(index, line) for index, line in enumerate(lines) if line]
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} {height}" role="img">',
            f"  <title>{escape(command)}</title>",
            f"  <style>{_STYLE}  </style>",
            f'  <rect class="page" x="0.5" y="0.5" width="{width - 1}" height="{height - 1}" rx="8"/>',
            *rows,
            "</svg>",
            "",
        ]
    )


def _row(index: int, line: str) -> str:
    text = line.lstrip()
    x, y = _MARGIN + (len(line) - len(text)) * _LETTER, _MARGIN + 14 + index * _LINE
    length = f'textLength="{len(text) * _LETTER:.1f}"'
    return f'  <text class="{_mark(index, text)}" x="{x:.1f}" y="{y}" {length}>{escape(text)}</text>'


def _mark(index: int, line: str) -> str:
    return "command" if index == 0 else "bad" if _BAD.match(line) else "said"


def said(command: str, folder: Path) -> str:
    """What a command of acpgen prints in a terminal of 80 columns."""
    words = shlex.split(command)
    done = subprocess.run(
        [sys.executable, "-m", *words],
        cwd=folder,
        env={"COLUMNS": str(COLUMNS), "PATH": str(Path(sys.executable).parent), "NO_COLOR": "1"},
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 1, done.stdout + done.stderr
    return done.stdout


def compared(folder: Path) -> str:
    """`acpgen diff` of ACP v1 and a revision in which a new field of `session/prompt` is required."""
    for name in ("old", "new"):
        shutil.copytree(ROOT / "schema" / "acp" / "v1", folder / name)
    file = folder / "new" / "prompt.json"
    schema = json.loads(file.read_text("utf-8"))
    request = schema["$defs"]["PromptRequest"]
    request["properties"]["messageId"] = {"type": "string"}
    request["required"].append("messageId")
    file.write_text(json.dumps(schema, indent=2), "utf-8")
    return picture("acpgen diff old new", said("acpgen diff old new", folder))


def probed(folder: Path) -> str:
    """`acpgen probe` of an agent that lists a session which was deleted. Its process, folder and time are not those of the run."""
    agent = ROOT / "tests" / "probe" / "agent.py"
    text = agent.read_text("utf-8")
    for old, new in (('sys.argv[1] if len(sys.argv) > 1 else ""', repr(DEFECT)), ("os.getpid()", "4711")):
        assert old in text
        text = text.replace(old, new)
    (folder / "agent.py").write_text(text, "utf-8")
    command = "acpgen probe --case session-delete/twice -- python agent.py"
    found = said(command.replace("--case", "--protocol acp/v1 --seed 1 --case"), folder)
    for shown, instead in ((r"; [0-9.]+ s\.", "; 2.6 s."), (r"acpgen-probe-\w{8}/", "acpgen-probe-tide4711/")):
        found = re.sub(shown, instead, found)
    return picture(command, found)


DEFECT: Final = "lists what was deleted"
PICTURES: Final[Mapping[str, Callable[[Path], str]]] = {"diff.svg": compared, "probe.svg": probed}


def main() -> None:
    FOLDER.mkdir(parents=True, exist_ok=True)
    for name, make in PICTURES.items():
        with tempfile.TemporaryDirectory() as folder:
            (FOLDER / name).write_text(make(Path(folder)), "utf-8")


if __name__ == "__main__":
    main()
