"""Packages that tests make up take no memory when their module has ended."""

from __future__ import annotations

import gc
import sys
import weakref
from pathlib import Path

import pytest

from bindings.subjects import Subjects

RECORD = {"Buoy": {"type": "object", "properties": {"lamp": {"type": "string"}}, "required": ["lamp"]}}


def test_nothing_is_left_of_a_package_that_is_forgotten(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "path", list(sys.path))
    subjects = Subjects(tmp_path)
    codec = weakref.ref(subjects.small("forgotten", RECORD).module.methods.decode_as)
    assert codec() is not None
    subjects.forget_small()
    gc.collect()
    assert codec() is None
    assert not [name for name in sys.modules if name.startswith("subject_forgotten")]
