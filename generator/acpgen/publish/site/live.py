"""A site that is being edited: the site generator keeps running in a folder, and gets only the pages that change."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from pathlib import Path

from acpgen.errors import Faults
from acpgen.files import Files
from acpgen.publish.site import generator, search_index
from acpgen.publish.site.site_files import PAGES, name_text_file


class Live(contextlib.AbstractContextManager["Live"]):
    """A site that changes, in its own folder; `complain` receives the warnings of the site generator."""

    def __init__(self, folder: Path, complain: Callable[[Faults], None]) -> None:
        self.pages = folder / generator.BUILT
        self._folder = folder
        self._complain = complain
        self._laid: Files = {}
        self._documents: Files = {}
        self._running = contextlib.ExitStack()
        self._is_running: Callable[[], bool] = lambda: False

    def __exit__(self, *_: object) -> None:
        self._running.close()

    def show(self, files: Files, documents: Files) -> int:
        """Show the site of these files and documents instead of the previous one; return the number of files that changed.

        A change of what pages share, such as the navigation, rebuilds all of them. Raises `Faults`.
        """
        changed_paths = [path for path, text in files.items() if self._laid.get(path) != text]
        removed_paths = [path for path in self._laid if path not in files]
        is_everywhere = any(_is_everywhere(path) for path in (*changed_paths, *removed_paths)) or not self._is_running()
        if is_everywhere:
            self._running.close()
            self._laid = {}
        for path in changed_paths:
            file = self._folder / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(files[path], "utf-8")
        for path in removed_paths:
            (self._folder / path).unlink()
            if not is_everywhere:
                (self.pages / path.removeprefix(f"{PAGES}/")).with_suffix(".html").unlink(missing_ok=True)
        self._documents = documents
        if is_everywhere:
            self._is_running = self._running.enter_context(generator.run_continuously(self._folder, self._complain))
        self._laid = files
        return len(changed_paths) + len(removed_paths)

    def get_text(self, path: str) -> str | None:
        """The text to serve at a path of the site instead of, or in addition to, the site generator's files; `None` if there is none."""
        if path in self._documents:
            return name_text_file(self._documents[path])
        if path in (search_index.INDEX, search_index.TEXTS):
            with contextlib.suppress(OSError):  # it is being written
                return search_index.make_files((self.pages / search_index.FOUND).read_text("utf-8"))[path]
        return None


def _is_everywhere(path: str) -> bool:
    """Whether a file affects all pages."""
    return not path.startswith(f"{PAGES}/")
