"""Bindings are generated once a process and shared."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from bindings.subjects import Subjects


@pytest.fixture(scope="session")
def subjects(tmp_path_factory: pytest.TempPathFactory) -> Subjects:
    """The bindings under test, by name."""
    return Subjects(tmp_path_factory.mktemp("subjects"))


@pytest.fixture(scope="module", autouse=True)
def what_a_module_makes_up_ends_with_it(subjects: Subjects) -> Iterator[None]:
    """Packages of schemas that tests of a module make up take no memory afterwards."""
    yield
    subjects.forget_small()
