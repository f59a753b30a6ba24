"""Repeat a run whenever a file changes."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from acpgen.errors import Faults


def watch_changes(paths: Callable[[], Sequence[Path]]) -> Iterator[None]:
    """Yield once at the start and once after each burst of changes to `paths`.

    Watching begins before each yield, so changes during a round start the next one. `paths` is called for each round: a file that an
    editor replaced is another file to the system, and the configuration may name other folders. While it raises `Faults`, because the
    configuration is broken, the paths stay those of the round before; the first time, they are raised.
    """
    from watchfiles import watch

    watched_paths = paths()
    while True:
        missing = [path for path in watched_paths if not path.exists()]
        events = watch(
            *(path for path in watched_paths if path not in missing),
            debounce=400,
            step=50,
            rust_timeout=100,
            yield_on_timeout=True,
        )
        next(events)
        yield
        next(changes for changes in events if changes or any(path.exists() for path in missing))
        with contextlib.suppress(Faults):
            watched_paths = paths()
