"""A judge for tests of processes that end: other processes import it, so it needs nothing but what it judges with."""

from __future__ import annotations

import os

from acpgen.recordings import Recording, Standard, Verdict


def fragile(recording: Recording, standard: Standard) -> Verdict:
    """Judges, but for recordings that end the process."""
    if "deadly" in recording.name:
        os._exit(9)
    return Verdict(recording.name, valid=1)
