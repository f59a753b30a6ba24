"""Which public types the schema does not have. A new one is to be argued for here."""

from __future__ import annotations

from typing import Final

import pytest
from pydantic import BaseModel
from typing_extensions import TypeAliasType

from bindings.subjects import Subjects

BESIDE: Final = {
    "own_v1": {
        "UnknownAuthMethod",  # of each union that keeps unknown variants, what they are read as
        "UnknownContentBlock",
        "UnknownMcpServer",
        "UnknownSessionConfigOption",
        "UnknownSessionUpdate",
        "UnknownSetSessionConfigOptionRequest",
        "UnknownToolCallContent",
    },
    "own_v2": {
        "AnyIdleStateUpdate",  # the union of the variants that `IdleStateUpdate` builds
    },
}
"""Records, unions and other types that a package offers and that its schema does not define, by schema."""


@pytest.mark.parametrize("name", BESIDE)
def test_the_types_that_the_schema_does_not_have_are_those_that_are_argued_for(subjects: Subjects, name: str) -> None:
    subject = subjects(name)
    package = subject.module.__name__
    offered = {one: getattr(subject.module, one) for one in subject.module.__all__}
    types = {
        one
        for one, found in offered.items()
        if (isinstance(found, TypeAliasType) or (isinstance(found, type) and issubclass(found, BaseModel)))
        and (found.__module__ or "").startswith(f"{package}.")
    }
    fronts = {one for one, found in offered.items() if getattr(found, "__module__", "") == f"{package}._kinds"}
    assert len(types) > 100
    assert (types | fronts) - set(subject.bundle.definitions) == BESIDE[name]
