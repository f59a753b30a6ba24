"""What the tests of connections share."""

from __future__ import annotations

import gc
from collections.abc import Iterator

import pytest


@pytest.fixture(autouse=True, scope="module")
def what_was_there_is_not_collected() -> Iterator[None]:
    """Tests collect what they leave, and look for what is left then; each time, only what has come since is looked at."""
    gc.collect()
    gc.freeze()
    yield
    gc.unfreeze()
