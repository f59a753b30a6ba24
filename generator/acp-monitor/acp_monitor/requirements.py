"""The requirements behind each rule: the index that `tests/requirements_file.py` makes from `schema/requirements.json`.

For each protocol, it maps a key to numbers and ids of requirements. A key is a rule (`roots-kept`), a rule and what a breach is about
(`roots-kept:fork`), or a field that the schema checks (`NewSessionRequest/cwd`, `NewSessionRequest without cwd`).
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path
from typing import TypeAlias

Requirement: TypeAlias = "int | str"
"""A requirement of the project's table: its number, or its document, section and place."""


@cache
def _read_index() -> Mapping[str, Mapping[str, list[Requirement]]]:
    index: dict[str, dict[str, list[Requirement]]]
    index = json.loads(Path(__file__).with_name("requirements.json").read_bytes())
    return index


def find_requirements(protocol: str, rule: str, words: Iterable[str]) -> tuple[Requirement, ...]:
    """The requirements of a protocol behind a breach of a rule about these words, nearest first."""
    index = _read_index().get(protocol.replace("/unstable/", "/"), {})  # a channel has the documents of its version
    keys = [key for word in words for key in (f"{rule}:{word}", word)]
    return tuple(dict.fromkeys(requirement for key in (*keys, rule) for requirement in index.get(key, ())))


def list_requirements(rule: str) -> tuple[Requirement, ...]:
    """All requirements behind a rule."""
    keys = (ids for index in _read_index().values() for key, ids in index.items() if key.partition(":")[0] == rule)
    return tuple(dict.fromkeys(requirement for ids in keys for requirement in ids))
