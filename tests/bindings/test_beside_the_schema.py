"""Which public types the schema does not have. A new one is to be argued for here."""

from __future__ import annotations

import json
from importlib import import_module
from typing import Final

import pytest

from bindings.subjects import SOURCES, Subjects

BESIDE: Final[dict[str, set[str]]] = {
    "own_v1": {
        "UnknownAuthMethod",  # of each union that keeps unknown variants, what they are read as
        "UnknownContentBlock",
        "UnknownMcpServer",
        "UnknownSessionConfigOption",
        "UnknownSessionUpdate",
        "UnknownSetSessionConfigOptionRequest",
        "UnknownToolCallContent",
    },
    "own_v2": set(),
}
"""Records, unions and other types that a package offers and that its schema does not define, by schema."""


@pytest.mark.parametrize("name", BESIDE)
def test_the_types_that_the_schema_does_not_have_are_those_that_are_argued_for(subjects: Subjects, name: str) -> None:
    subject = subjects(name)
    defined = vars(import_module(f"{subject.module.__name__}.models"))
    types = {one for one in subject.module.__all__ if one in defined}
    assert len(types) > 100
    assert types - set(subject.bundle.definitions) == BESIDE[name]


VARIANTS: Final = {
    "own_v1": {
        *("AgentMessageChunk", "AgentThoughtChunk", "UserMessageChunk"),  # of one body, `ContentChunk`
        "SessionToolCallUpdate",  # the body stands alone as well
        *("CancelledPermissionOutcome", "ElicitationCancelAction", "ElicitationDeclineAction"),  # nothing but a tag
        *(
            "RequestElicitationFormMode",
            "RequestElicitationUrlMode",
        ),  # of two unions in one: by mode, and by whom it is for
        *("SessionElicitationFormMode", "SessionElicitationUrlMode"),
        *("RequestUnknownCreateElicitationRequest", "SessionUnknownCreateElicitationRequest"),
        *(
            "BooleanSetSessionConfigOptionRequest",
            "ValueIdSetSessionConfigOptionRequest",
        ),  # inside of the request, whose fields both have
    },
    "own_v2": {
        *("AgentMessageChunk", "AgentThoughtChunk", "UserMessageChunk"),
        "SessionToolCallUpdate",
        *("ElicitationCancelAction", "ElicitationDeclineAction"),
        *("RequestElicitationFormMode", "RequestElicitationUrlMode"),
        *("SessionElicitationFormMode", "SessionElicitationUrlMode"),
        *("RequestUnknownCreateElicitationRequest", "SessionUnknownCreateElicitationRequest"),
        *("BooleanSetSessionConfigOptionRequest", "IdSetSessionConfigOptionRequest"),
        *(
            "DiffAdd",
            "DiffCopy",
            "DiffDelete",
            "DiffModify",
            "DiffMove",
        ),  # written inside of `DiffChange`, whose fields all have
        *(
            "CancelledStopReason",
            "EndTurnStopReason",
            "MaxTokensStopReason",
        ),  # of one record
        *("MaxTurnRequestsStopReason", "NoStopReason", "RefusalStopReason"),
    },
}
"""What a package offers and the files that people edit do not define, but for what receivers alone know (`Unknown…`): variants that are
written inside of their union, and those that share a body. A body with several tags cannot be the class of each, since no tag would tell a
type checker which it is.
"""


@pytest.mark.parametrize("name", VARIANTS)
def test_the_types_that_the_edited_files_do_not_have_are_variants_that_have_no_definition_there(
    subjects: Subjects, name: str
) -> None:
    subject = subjects(name)
    edited: set[str] = set()
    for file in SOURCES[name].path.glob("*.json"):
        edited |= json.loads(file.read_text("utf-8")).get("$defs", {}).keys()
    assert edited < set(subject.bundle.definitions)
    beside = {
        one for one in subject.module.__all__ if one in subject.bundle.definitions or one in BESIDE[name]
    } - edited
    assert {one for one in beside if not one.startswith("Unknown")} == VARIANTS[name]
