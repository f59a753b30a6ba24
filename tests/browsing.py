"""The built site and a browser to look at it.

Without Zensical or Chromium the tests that need them say so and are skipped.
"""

from __future__ import annotations

import fcntl
import os
import shutil
from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, Final

import pytest

from acpgen import config
from acpgen.files.cache import find_user_cache
from acpgen.publish import site
from acpgen.publish.site import generator, http_server

ROOT: Final = Path(__file__).parents[1]
CHROMIUM: Final = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
SCHEMES: Final = ("light", "dark")
SCREENSHOTS: Final = os.environ.get("ACPGEN_SCREENSHOTS")
"""A folder for pictures of what is looked at, if somebody wants to see them."""


def project() -> config.Config:
    return config.find(ROOT)


@pytest.fixture(scope="session")
def installed() -> None:
    """The site generator."""
    try:
        found = version("zensical")
    except PackageNotFoundError:
        found = "none"
    if found != generator.ZENSICAL:
        pytest.skip(f"the site is built with zensical {generator.ZENSICAL} (extra docs); installed: {found}")


@pytest.fixture(scope="session")
def built(installed: None, request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The site, built once for all workers, and again by a later run only where what it is made from has changed.

    The first worker builds it while the others wait; the test of a second build makes it anew.
    """
    cache: pytest.Cache | None = getattr(request.config, "cache", None)
    folder = cache.mkdir("site") if cache is not None else tmp_path_factory.mktemp("site")
    with (folder / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        site.build(project(), folder / "built", find_user_cache())
    return folder / "built"


class Window:
    """A browser window on the site, which notes everything that goes wrong."""

    def __init__(self, page: Any, home: str) -> None:
        self.page = page
        self.home = home
        self.wrong: list[str] = []
        page.on("console", self._hear)
        page.on("pageerror", self._fail)
        page.on("requestfailed", self._miss)
        page.on("response", self._receive)
        page.on("request", self._ask)

    def _hear(self, message: Any) -> None:
        if message.type in ("error", "warning"):
            self.wrong.append(f"console: {message.text}")

    def _fail(self, error: Any) -> None:
        self.wrong.append(f"error: {error}")

    def _miss(self, request: Any) -> None:
        if request.failure != "net::ERR_ABORTED":  # so ends what a page still asked for when it was left
            self.wrong.append(f"failed: {request.url}")

    def _receive(self, response: Any) -> None:
        if response.status >= 400:
            self.wrong.append(f"{response.status}: {response.url}")

    def _ask(self, request: Any) -> None:
        if not request.url.startswith((self.home, "data:", "blob:")):
            self.wrong.append(f"foreign: {request.url}")

    def open(self, path: str) -> None:
        self.page.goto(self.home + path)

    def keep(self, name: str) -> None:
        """Leave a picture of what is to be seen, if somebody wants them."""
        if SCREENSHOTS:
            self.page.screenshot(path=str(Path(SCREENSHOTS) / f"{name}.png"))

    def rest(self) -> None:
        """Wait until nothing more is asked for, so that a late request or error is seen."""
        self.page.wait_for_load_state("networkidle")

    def search(self, words: str, *, by_touch: bool = False) -> list[tuple[str, str]]:
        """The first results: path and fragment of the address, and what is shown."""
        self.rest()  # until its scripts have run, the page hears no key
        if by_touch:
            self.page.locator("label[for=__search]").first.tap()
        else:
            self.page.keyboard.press("Control+k")
        self.page.get_by_role("combobox", name="Search").fill(words)
        results = self.page.get_by_role("option")
        results.first.wait_for(timeout=30_000)
        found: list[list[str]] = []
        for _ in range(40):  # results of one letter less may stand there for a moment
            self.page.wait_for_timeout(250)
            before, found = found, results.evaluate_all("all => all.slice(0, 12).map(a => [a.href, a.innerText])")
            if found == before:
                break
        return [(address.removeprefix(self.home), shown) for address, shown in found]


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """A browser for the tests of one module.

    Its driver keeps an event loop running in this thread, in which no test after it could run one of its own.
    """
    if CHROMIUM is None:
        pytest.skip("no Chromium here: apt-get install chromium")
    playwright: Any = pytest.importorskip("playwright.sync_api", reason="no playwright here: pip install playwright")
    with playwright.sync_playwright() as driver:
        opened = driver.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield opened
        opened.close()


@pytest.fixture
def window(built: Path, browser: Any) -> Iterator[Window]:
    with http_server.serve_folder(built) as home:
        context = browser.new_context(viewport={"width": 1400, "height": 900})
        found = Window(context.new_page(), home)
        yield found
        found.rest()
        context.close()
    assert not found.wrong
