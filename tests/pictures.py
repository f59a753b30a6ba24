"""The pictures of the README: what commands print, badges of what the project says of itself, and a page of the site.

    python tests/pictures.py           writes the terminals and the badges
    python tests/pictures.py SITE      writes the page, as a browser shows it from the folder of a built site

The picture of the page holds a digest of what it shows, by which the tests see that the page has changed since.

A picture of a terminal names no font of its own and asks nothing of the network. It is light or dark as its reader is.
"""

from __future__ import annotations

import hashlib
import json
import re
import shlex
import shutil
import struct
import subprocess
import sys
import tempfile
import tomllib
import zlib
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, Final
from xml.sax.saxutils import escape

ROOT: Final = Path(__file__).parents[1]
FOLDER: Final = ROOT / "tests" / "golden" / "pictures"

COLUMNS: Final = 80
_LETTER: Final = 8.4
_LINE: Final = 18
_MARGIN: Final = 16
_BADGE_LETTER: Final = 6.6

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
    for shown, instead in ((r"seconds: [0-9.]+", "seconds: 2.6"), (r"acpgen-probe-\w{8}/", "acpgen-probe-tide4711/")):
        found = re.sub(shown, instead, found)
    return picture(command, found)


def badge(label: str, value: str) -> str:
    """An SVG file that says one thing of the project."""
    left, right = (round(len(text) * _BADGE_LETTER) + 16 for text in (label, value))
    said = escape(f"{label}: {value}")
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{left + right}" height="20" role="img" aria-label="{said}">',
            f"  <title>{said}</title>",
            f'  <rect width="{left + right}" height="20" rx="3" fill="#2f4f8f"/>',
            f'  <path d="M3 0h{left - 3}v20H3a3 3 0 0 1-3-3V3a3 3 0 0 1 3-3z" fill="#44474d"/>',
            '  <g fill="#ffffff" font-family="Verdana, DejaVu Sans, sans-serif" font-size="11" text-anchor="middle">',
            f'    <text x="{left / 2:g}" y="14">{escape(label)}</text>',
            f'    <text x="{left + right / 2:g}" y="14">{escape(value)}</text>',
            "  </g>",
            "</svg>",
            "",
        ]
    )


def project() -> Any:
    return tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]


def python_badge(_: Path) -> str:
    return badge("Python", project()["requires-python"].removeprefix(">=") + "+")


def license_badge(_: Path) -> str:
    return badge("license", project()["license"])


def protocols_badge(_: Path) -> str:
    found = [path for path in ("acp/v1", "acp/v2", "mcp/2025-06-18") if (ROOT / "schema" / path).is_dir()]
    return badge("protocols", ", ".join(found))


def shown(site: Path) -> bytes:
    """A page of a built site in a browser, as a PNG file."""
    from playwright.sync_api import sync_playwright

    from acpgen.publish.site import http_server
    from browsing import CHROMIUM

    with http_server.serve_folder(site) as home, sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        context = browser.new_context(viewport={"width": SIZE[0], "height": SIZE[1]})
        page = context.new_page()
        page.goto(home + PAGE)
        page.wait_for_load_state("networkidle")
        made: bytes = page.screenshot()
        browser.close()
    return made


def page_digest() -> str:
    """SHA-256, in hexadecimal, of what the picture shows of the page: all before its params, and its headings."""
    text = (ROOT / "generated" / "docs" / PAGE).with_suffix(".md").read_text("utf-8")
    before, below, rest = text.partition("\n## Params\n")
    assert below, "the page has no params any more"
    headings = [line for line in rest.splitlines() if line.startswith("##")]
    return hashlib.sha256("\n".join([before, *headings]).encode()).hexdigest()


def marked(picture: bytes, digest: str) -> bytes:
    """A PNG file with a digest as a text of its own, behind its header. Source: PNG (Third Edition), 11.3.3 `tEXt`."""
    text = b"tEXt" + _KEY + b"\0" + digest.encode("ascii")
    chunk = struct.pack(">I", len(text) - 4) + text + struct.pack(">I", zlib.crc32(text))
    return picture[:_AFTER_HEADER] + chunk + picture[_AFTER_HEADER:]


def digests(picture: bytes) -> list[str]:
    """The digests that a PNG file holds."""
    return [text.partition(b"\0")[2].decode("ascii") for text in _texts(picture) if text.startswith(_KEY + b"\0")]


def _texts(picture: bytes) -> Iterator[bytes]:
    at = len(PNG)
    while at < len(picture):
        (length,) = struct.unpack(">I", picture[at : at + 4])
        if picture[at + 4 : at + 8] == b"tEXt":
            yield picture[at + 8 : at + 8 + length]
        at += length + 12


PNG: Final = b"\x89PNG\r\n\x1a\n"
_AFTER_HEADER: Final = len(PNG) + 25
_KEY: Final = b"SHA-256 of the page"

DEFECT: Final = "lists what was deleted"
PICTURES: Final[Mapping[str, Callable[[Path], str]]] = {
    "diff.svg": compared,
    "probe.svg": probed,
    "python.svg": python_badge,
    "license.svg": license_badge,
    "protocols.svg": protocols_badge,
}
DOCS: Final = "docs.png"
PAGE: Final = "acp/v1/methods/session_prompt.html"
SIZE: Final = (1280, 800)
"""The page that stands for the docs, and the window in which it is shown."""


def main() -> None:
    FOLDER.mkdir(parents=True, exist_ok=True)
    if sys.argv[1:]:
        (FOLDER / DOCS).write_bytes(marked(shown(Path(sys.argv[1])), page_digest()))
        return
    for name, make in PICTURES.items():
        with tempfile.TemporaryDirectory() as folder:
            (FOLDER / name).write_text(make(Path(folder)), "utf-8")


if __name__ == "__main__":
    main()
