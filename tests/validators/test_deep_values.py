"""Values that are nested without end, or hold themselves, are refused before jsonschema-rs has them: it ends the process."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import pytest
from acp_bindings import DecodeError, EncodeError, Request, v1, v2
from acp_bindings.v1 import methods
from pydantic import TypeAdapter, ValidationError
from pydantic_core import PydanticSerializationError

from jsonrpc_bindings import Record
from jsonrpc_bindings.annotations import Choice
from jsonrpc_bindings.json_types import is_object


def nested(depth: int, *, in_array: bool) -> Any:
    value: Any = None
    for _ in range(depth):
        value = [value] if in_array else {"type": value}
    return value


def object_of_itself() -> Any:
    value: dict[str, Any] = {}
    value["type"] = value
    return value


def array_of_itself() -> Any:
    value: list[Any] = []
    value.append(value)
    return value


DEEP: Final[dict[str, Callable[[], Any]]] = {
    "objects": lambda: nested(30_000, in_array=False),
    "arrays": lambda: nested(30_000, in_array=True),
    "object of itself": object_of_itself,
    "array of itself": array_of_itself,
    "deeper than a parser goes": lambda: nested(400, in_array=False),
}


def message(value: Any) -> Any:
    params: dict[str, Any] = {"cwd": "/", "mcpServers": [], "_meta": {"tide": value}}
    return {"jsonrpc": "2.0", "id": 1, "method": "session/new", "params": params}


def wrong(value: Any) -> Any:
    return {**message(None), "params": {"cwd": value, "mcpServers": value}}


def as_id(value: Any) -> Any:
    return {**message(None), "id": value}


def beside_params(value: Any) -> Any:
    return {**message(None), "more": value}


def whole(value: Any) -> Any:
    return value


deep = pytest.mark.parametrize("make", DEEP.values(), ids=list(DEEP))


@deep
@pytest.mark.parametrize(
    "of", [message, wrong, as_id, beside_params, whole], ids=["beside", "within", "id", "beside params", "whole"]
)
def test_the_strict_judge_refuses_them_as_no_json(make: Callable[[], Any], of: Callable[[Any], Any]) -> None:
    value = of(make())
    payload = value.get("params", value) if is_object(value) else value
    for found in (
        v1.validate(value, sender="client"),
        methods.STRICT.judge(value, sender="client"),
        *((v1.validate_as(v1.NewSessionRequest, payload),) if of not in (as_id, beside_params) else ()),
    ):
        assert [problem.rule for problem in found] == ["json"]


@deep
def test_decoding_refuses_them_as_no_json(make: Callable[[], Any]) -> None:
    for of in (message, wrong):
        value = of(make())
        for decode in (
            lambda value=value: v1.decode(value, sender="client"),
            lambda value=value: v1.decode_as(v1.NewSessionRequest, value["params"]),
            lambda value=value: v1.decode_as(v1.NewSessionRequest, value["params"], strict=True),
        ):
            with pytest.raises(DecodeError) as refused:
                decode()
            assert refused.value.code == -32700


@deep
def test_constructors_and_assignments_refuse_them(make: Callable[[], Any]) -> None:
    value, request = make(), v1.NewSessionRequest(cwd="/", mcp_servers=[])
    for build in (
        lambda: v1.NewSessionRequest(cwd=value, mcp_servers=[]),
        lambda: v1.NewSessionRequest(cwd="/", mcp_servers=[value]),
        lambda: v1.NewSessionRequest(cwd="/", mcp_servers=value),
        lambda: setattr(request, "cwd", value),
        lambda: setattr(request, "mcp_servers", [value]),
    ):
        with pytest.raises(DecodeError, match=r"nested too deep|is required|is expected"):
            build()
    assert request == v1.NewSessionRequest(cwd="/", mcp_servers=[])


class Judged(Record, judged=True):
    any: Any


class Holder(Record):
    one: Choice(__name__, "Judged | str")  # type: ignore[valid-type]


@deep
def test_constructors_of_what_the_schema_judges_refuse_them(make: Callable[[], Any]) -> None:
    value = make()
    judged = Judged(any=1)
    for build in (
        lambda: Judged(any=value),
        lambda: Holder(one={"any": value}),
        lambda: setattr(judged, "any", value),
        lambda: setattr(Holder(one="x"), "one", {"any": value}),
    ):
        with pytest.raises(DecodeError, match="nested too deep"):
            build()
    assert judged.any == 1


@deep
@pytest.mark.parametrize("strict", [False, True])
def test_encoding_refuses_them(make: Callable[[], Any], strict: bool) -> None:
    value = make()
    wrong = v1.NewSessionRequest(cwd="/", mcp_servers=[], meta={"tide": value})
    wrong.mcp_servers.append(3)  # type: ignore[arg-type]
    values: list[Any] = [wrong, value, {"cwd": value, "mcpServers": [], "more": 1}]
    for given in values:
        with pytest.raises(EncodeError):
            v1.encode(Request(1, "session/new", given), strict=strict)
        for encode in (v1.encode, v2.encode):
            with pytest.raises(EncodeError, match="nested too deep"):
                encode(wrong if encode is v1.encode else [value], strict=strict)


@deep
def test_pydantic_refuses_them(make: Callable[[], Any]) -> None:
    value = make()
    requests = TypeAdapter(v1.NewSessionRequest)
    cases: list[tuple[Any, Any]] = [(v1.ContentBlock, value), (v1.NewSessionRequest, wrong(value)["params"])]
    for type_, given in cases:
        with pytest.raises(ValidationError):
            TypeAdapter(type_).validate_python(given)
    built = v1.NewSessionRequest(cwd="/", mcp_servers=[], meta={"tide": value})
    if make is not DEEP["deeper than a parser goes"]:
        with pytest.raises(PydanticSerializationError, match="nested too deep"):
            requests.dump_python(built)
