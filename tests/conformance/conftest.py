"""Bindings are generated once a process and shared."""

from __future__ import annotations

import pytest

from bindings.subjects import Subjects


@pytest.fixture(scope="session")
def subjects(tmp_path_factory: pytest.TempPathFactory) -> Subjects:
    """The bindings that the vectors are run through, by name."""
    return Subjects(tmp_path_factory.mktemp("conformance"))
