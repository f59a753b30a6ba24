"""What readers come for: each task takes one search and one click at most, on a desktop and on a phone, in light and in dark.

With `ACPGEN_SCREENSHOTS` naming a folder, a picture of each answer is left there.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import pytest

from acpgen.publish.site import http_server
from browsing import SCHEMES, Window
from tiers import sample

WIDTHS: Final = (1440, 390)
THEMES: Final = ("default", "slate")
"""What the site calls each scheme."""


@dataclass(frozen=True)
class Task:
    """What a reader types, the page or section where the answer stands, and what must be there to read without another click."""

    name: str
    typed: str
    place: str
    answer: tuple[str, ...]


TASKS: Final = (
    Task(
        "additional-directories-as-a-client",
        "additional directories client",
        "guides/additional-directories.html",
        (
            r"A client MUST NOT send the field to an agent that does not",
            r"session/load and session/resume name all roots",
        ),
    ),
    Task(
        "errors-of-session-load",
        "session/load errors",
        "acp/v1/methods/session_load.html",
        (r"-32002 Resource not found", r"-32000 Authentication required", r"unknown session is refused with -32002"),
    ),
    Task(
        "permission-from-v1-to-v2",
        "permission request v1 to v2",
        "acp/migration-v1-v2/permission.html#permission-requests",
        (r"Permission requests", r"toolCall → .*subject"),
    ),
    Task(
        "since-when",
        "session/resume since",
        "acp/v1/methods/session_resume.html",
        (r"Published: since schema release \d+\.\d+",),
    ),
    Task(
        "gate-of-fs-write-text-file",
        "capability of fs/write_text_file",
        "acp/v1/methods/fs_write_text_file.html",
        (r"Needs the capability clientCapabilities\.fs\.writeTextFile",),
    ),
    Task(
        "answer-a-permission-request-in-python",
        "answer a permission request in python",
        "guides/answer-a-permission-request.html",
        (r"from acp_bindings",),
    ),
    Task(
        "which-rules-are-tested",
        "which rules are tested",
        "requirements.html",
        (r"What checks them", r"Monitor", r"Probe"),
    ),
    Task(
        "migrate-an-sdk",
        "migrate an sdk",
        "acp/migration-v1-v2.html#checklist-for-sdks",
        (r"Checklist for SDKs",),
    ),
    Task(
        "add-a-target",
        "add a target",
        "guides/write-a-target.html",
        (r"entry-points",),
    ),
    Task(
        "what-broke-between-two-releases",
        "what broke between two releases",
        "acp/v1/changelog.html",
        (r"Changelog of acp/v1", r"\bbreaking\b"),
    ),
)


def first(found: list[tuple[str, str]]) -> list[str]:
    """The pages of the results, each once, best first."""
    return list(dict.fromkeys(path(address) for address, _ in found))


def path(address: str) -> str:
    return re.sub(r"[?#].*", "", address)


def as_read(page: Any) -> str:
    """What can be read of a page without another click: text that is folded is not in it."""
    text: str = page.evaluate("document.querySelector('article').innerText")
    return re.sub(r"\s+", " ", text)


@pytest.mark.parametrize(
    "case",
    sample([(task, width) for task in TASKS for width in WIDTHS], 2, lambda case: f"{case[1]}-{case[0].name}"),
)
def test_a_task_of_a_reader_takes_one_search_and_one_click(case: tuple[Task, int], built: Path, browser: Any) -> None:
    task, width = case
    is_phone = width < 600
    page = path(task.place)
    with http_server.serve_folder(built) as home:
        context = browser.new_context(viewport={"width": width, "height": 900}, has_touch=is_phone)
        window = Window(context.new_page(), home)
        window.open("index.html")
        found = window.search(task.typed, by_touch=is_phone)
        assert page in first(found)[:3], found
        places = [re.sub(r"\?[^#]*", "", address) for address, _ in found]
        shown = places.index(task.place) if "#" in task.place else [*map(path, places)].index(page)
        window.page.get_by_role("option").nth(shown).click()
        window.page.wait_for_url(f"**/{page}*")
        window.rest()
        for scheme, theme in zip(SCHEMES, THEMES, strict=True):
            window.page.emulate_media(color_scheme=scheme)
            window.page.wait_for_selector(f"body[data-md-color-scheme={theme}]")
            window.keep(f"{task.name}-{width}-{scheme}")
            read = as_read(window.page)
            assert not [part for part in task.answer if not re.search(part, read)]
        assert window.page.evaluate("document.documentElement.scrollWidth") <= width
        assert not window.wrong
        context.close()
