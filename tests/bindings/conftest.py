"""What tests of bindings make up ends with their module."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from bindings.subjects import Subjects


@pytest.fixture(scope="module", autouse=True)
def what_a_module_makes_up_ends_with_it(subjects: Subjects) -> Iterator[None]:
    """Packages of schemas that tests of a module make up take no memory afterwards."""
    yield
    subjects.forget_small()
