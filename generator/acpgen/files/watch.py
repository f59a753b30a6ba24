"""Repeat a run whenever a file changes, until Ctrl-C."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path


def watch_changes(paths: Callable[[], Sequence[Path]]) -> Iterator[None]:
    """Yield once at the start and once after each burst of changes to `paths`; end when the user presses Ctrl-C.

    Watching begins before each yield, so changes during a round start the next one. `paths` is called for each round: a file that an
    editor replaced is another file to the system, and the configuration may name other folders.
    """
    from watchfiles import watch

    while True:
        watched_paths = paths()
        missing = [path for path in watched_paths if not path.exists()]
        events = watch(
            *(path for path in watched_paths if path not in missing),
            debounce=400,
            step=50,
            rust_timeout=100,
            yield_on_timeout=True,
            raise_interrupt=False,
        )
        if next(events, None) is None:
            return
        yield
        for changes in events:
            if changes or any(path.exists() for path in missing):
                break
        else:
            return
