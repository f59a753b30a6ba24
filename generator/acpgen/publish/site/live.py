"""A site while people write it: the site generator keeps running in a folder, and gets only the pages that differ."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from pathlib import Path

from acpgen.errors import Faults
from acpgen.files import Files
from acpgen.publish.site import generator, search_index
from acpgen.publish.site.site_files import PAGES, name_text_file


class Live(contextlib.AbstractContextManager["Live"]):
    """A site that changes, in a folder of its own; `complain` is told what the site generator warns of."""

    def __init__(self, folder: Path, complain: Callable[[Faults], None]) -> None:
        self.pages = folder / generator.BUILT
        self._folder = folder
        self._complain = complain
        self._laid: Files = {}
        self._beside: Files = {}
        self._running = contextlib.ExitStack()
        self._is_running: Callable[[], bool] = lambda: False

    def __exit__(self, *_: object) -> None:
        self._running.close()

    def show(self, laid: Files, documents: Files) -> int:
        """Show the site of these files and documents instead of what it was; answer how many files differ.

        What pages have in common, such as the navigation, makes all of them again. Raises `Faults`.
        """
        changed = [path for path, text in laid.items() if self._laid.get(path) != text]
        gone = [path for path in self._laid if path not in laid]
        is_everywhere = any(_is_everywhere(path) for path in (*changed, *gone)) or not self._is_running()
        if is_everywhere:
            self._running.close()
            self._laid = {}
        for path in changed:
            file = self._folder / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(laid[path], "utf-8")
        for path in gone:
            (self._folder / path).unlink()
            if not is_everywhere:
                (self.pages / path.removeprefix(f"{PAGES}/")).with_suffix(".html").unlink(missing_ok=True)
        self._beside = documents
        if is_everywhere:
            self._is_running = self._running.enter_context(generator.run_continuously(self._folder, self._complain))
        self._laid = laid
        return len(changed) + len(gone)

    def beside(self, path: str) -> str | None:
        """What stands at a path of the site in place of what the site generator made, or beside it."""
        if path in self._beside:
            return name_text_file(self._beside[path])
        if path in (search_index.INDEX, search_index.TEXTS):
            with contextlib.suppress(OSError):  # it is being written
                return search_index.make_files((self.pages / search_index.FOUND).read_text("utf-8"))[path]
        return None


def _is_everywhere(path: str) -> bool:
    """Whether all pages hold what a file says."""
    return not path.startswith(f"{PAGES}/")
