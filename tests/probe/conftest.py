"""What the tests of the probe share."""

from __future__ import annotations

import pytest

from commands import strict_once


@pytest.fixture(autouse=True)
def judges_are_made_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each probe in this process takes the validators that an earlier one made."""
    monkeypatch.setattr("acpgen.messages.validators.read_strict", strict_once)
