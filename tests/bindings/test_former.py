"""Former names of classes: they work for one release, say what to write now, and are no part of what a package offers."""

from __future__ import annotations

import importlib
import sys
import warnings
from typing import Any

import pytest

from bindings.subjects import Subject, Subjects


@pytest.fixture(scope="module", params=["own_v1", "own_v2"])
def subject(request: pytest.FixtureRequest, subjects: Subjects) -> Subject:
    """Our own bindings of ACP."""
    return subjects(request.param)


def former(subject: Subject) -> dict[str, str]:
    """The table of a package."""
    found: dict[str, str] = importlib.import_module(f"{subject.module.__name__}._former").FORMER
    return found


def test_a_former_name_is_the_class_of_now_and_warns(subject: Subject) -> None:
    assert former(subject)["TextContentBlock"] == "TextContent"
    for before, now in former(subject).items():
        with pytest.warns(DeprecationWarning, match=rf"\.{before} is now called {now}\. ") as told:
            found = getattr(subject.module, before)
        assert found is getattr(subject.module, now)
        assert [one.filename for one in told] == [__file__]


def test_a_former_name_can_be_imported(subject: Subject) -> None:
    space: dict[str, Any] = {}
    with pytest.warns(DeprecationWarning, match="TextContentBlock is now called TextContent"):
        exec(f"from {subject.module.__name__} import TextContentBlock", space)
    assert space["TextContentBlock"] is subject.module.TextContent


def test_former_names_are_not_offered(subject: Subject) -> None:
    names = former(subject).keys()
    assert names.isdisjoint(subject.module.__all__)
    assert names.isdisjoint(dir(subject.module))
    assert names.isdisjoint(subject.protocol.definitions)
    space: dict[str, Any] = {}
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        exec(f"from {subject.module.__name__} import *", space)
    assert names.isdisjoint(space)


def test_a_name_that_there_never_was_is_no_attribute(subject: Subject) -> None:
    with pytest.raises(AttributeError, match=r"has no attribute 'TextBlock'$"):
        _ = subject.module.TextBlock
    assert not hasattr(subject.module, "__wrapped__")


def test_one_class_goes_into_an_update_as_it_is(subject: Subject) -> None:
    module = subject.module
    chunk = module.AgentMessageChunk if subject.name == "own_v1" else module.ToolCallContentChunk
    assert chunk.model_fields["session_update"].default == chunk.model_fields["session_update"].annotation.__args__[0]
    usage = module.UsageUpdate(used=1, size=2)
    assert subject.encoded(usage) == {"sessionUpdate": "usage_update", "used": 1, "size": 2}
    outcome = module.SelectedPermissionOutcome(option_id="yes")
    assert subject.encoded(module.RequestPermissionResponse(outcome=outcome)) == {
        "outcome": {"outcome": "selected", "optionId": "yes"}
    }
    assert sys.modules[module.__name__] is module
