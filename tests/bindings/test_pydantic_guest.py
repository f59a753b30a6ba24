"""Records inside of pydantic's models."""

from __future__ import annotations

from functools import cache
from typing import Any

import pytest

from bindings.notes_protocol import Everything, Progress, Text, Tree, UnknownPart, Update

pydantic = pytest.importorskip("pydantic")


@cache
def model() -> Any:
    return pydantic.create_model("Note", text=(Text, ...), more=(list[Tree], []), part=(UnknownPart | None, None))


def test_a_field_of_a_model_is_read_and_written() -> None:
    one = model().model_validate({"text": {"type": "text", "text": "a", "x": 1}, "more": [{"name": "n"}]})
    assert one.text == Text(text="a", extra={"x": 1})
    written = {"text": {"type": "text", "text": "a", "x": 1}, "more": [{"name": "n"}], "part": None}
    assert one.model_dump() == written
    assert model().model_validate_json(one.model_dump_json()) == one
    assert model()(text=one.text).text == one.text


def test_what_is_wrong_is_said() -> None:
    with pytest.raises(pydantic.ValidationError, match="a string is expected, not 5"):
        model().model_validate({"text": {"type": "text", "text": 5}})
    with pytest.raises(pydantic.ValidationError, match="excluded"):
        pydantic.TypeAdapter(UnknownPart).validate_python({"type": "text"})


def test_a_type_adapter_and_its_schema() -> None:
    adapter = pydantic.TypeAdapter(Everything)
    found = adapter.validate_json(b'{"update":{"kind":"progress","done":1.5},"tree":{"name":"a","children":[]}}')
    assert found.update == Progress(done=1.5)
    assert adapter.dump_python(found)["tree"] == {"name": "a", "children": []}
    schema = model().model_json_schema()
    text = str(schema)
    assert "'mimeType'" in text
    assert "x-" not in text.replace("max-", "")


def test_a_union_is_told_apart_as_in_messages() -> None:
    adapter: Any = pydantic.TypeAdapter(Update)
    assert adapter.validate_python({"kind": "progress", "done": 1}) == Progress(done=1)
    assert adapter.dump_python(adapter.validate_python({"kind": "_own", "x": 1})) == {"kind": "_own", "x": 1}
    with pytest.raises(pydantic.ValidationError, match="a number is expected"):
        adapter.validate_python({"kind": "progress", "done": "x"})
    holder = pydantic.create_model("Holder", one=(Update, ...), more=(list[Update], []))
    assert holder(one={"kind": "progress", "done": 1}).one == Progress(done=1)
    assert "'progress'" in str(holder.model_json_schema())
