"""Messages of protocols with other envelopes and other sides, read and written by generated packages, and judged strictly."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Final

import pytest

from acpgen import Settings, compare, generate
from acpgen.errors import Faults
from acpgen.meaning.faults import UNSUPPORTED
from acpgen.messages import validators
from methods.made import documents, meaning, own, package, wild

NAMED: Final = {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]}


def marked(method: str, side: str, **more: Any) -> dict[str, Any]:
    return {**NAMED, "x-method": method, "x-side": side, **more}


AIRPORT: Final[dict[str, Any]] = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "title": "Airport",
    "x-sides": ["plane", "tower"],
    "$defs": {
        "LandRequest": marked("land", "tower", examples=[{"name": "OE-ABC"}]),
        "LandResponse": marked("land", "tower"),
        "TurnNotification": marked("turn", "plane"),
        "PingRequest": marked("ping", "both"),
        "PingResponse": marked("ping", "both"),
    },
}
"""A protocol of two sides that are neither client nor server."""


def same(module: Any, line: bytes, **options: Any) -> Any:
    message = module.decode(line, **options)
    assert json.loads(module.encode(message)) == json.loads(line)
    return message


def refused(module: Any, line: bytes, **options: Any) -> str:
    with pytest.raises(ValueError, match=r".") as caught:
        module.decode(line, **options)
    return str(caught.value)


# --- sides of any name -----------------------------------------------------------------------------------------------


def test_two_sides_of_any_name_send_and_answer(tmp_path: Path) -> None:
    v1 = package(documents(AIRPORT), "airport_sides", tmp_path)
    land = b'{"jsonrpc":"2.0","id":1,"method":"land","params":{"name":"OE-ABC"}}'
    assert same(v1, land, sender="plane").params.name == "OE-ABC"
    assert "'land' is handled by the tower" in refused(v1, land, sender="tower")
    assert same(v1, b'{"jsonrpc":"2.0","method":"turn","params":{"name":"left"}}', sender="tower").params.name == "left"
    for sender in ("plane", "tower"):
        same(v1, b'{"jsonrpc":"2.0","id":1,"method":"ping","params":{"name":"a"}}', sender=sender)
        same(v1, b'{"jsonrpc":"2.0","id":1,"result":{"name":"a"}}', sender=sender, method="ping")
    assert "is answered by the tower" in refused(
        v1, b'{"jsonrpc":"2.0","id":1,"result":{"name":"a"}}', sender="plane", method="land"
    )
    assert "('plane', 'tower')" in refused(v1, land, sender="client")
    assert v1.validate(land, sender="plane") == ()
    assert v1.validate(land, sender="tower")


def test_every_target_knows_sides_of_any_name() -> None:
    made = generate(documents(AIRPORT), ["bundle", "docs", "ir", "vectors"])
    assert json.loads(made["bundle"]["meta.json"])["towerMethods"] == {"land": "land"}
    index = json.loads(made["vectors"]["index.json"])
    assert [(one["name"], one["senders"]) for one in index["methods"]] == [
        ("land", ["plane"]),
        ("turn", ["tower"]),
        ("ping", ["plane", "tower"]),
    ]
    pages = "\n".join(made["docs"].values())
    assert "Handled by the tower" in pages and "Handled by either side" in pages
    rows = [
        json.loads(line)
        for path, text in made["vectors"].items()
        if path.startswith("methods")
        for line in text.splitlines()
    ]
    strict = validators.read_strict(documents(AIRPORT))
    judged = [row for row in rows if "message" in row]
    assert len(judged) > 50
    for row in judged:
        is_answer = row["kind"] == "result"
        found = strict.judge(row["message"], sender=row["sender"], method=row["method"] if is_answer else None)
        assert (not found) == row["valid"], row


def test_a_comparison_names_sides_of_any_name() -> None:
    newer = json.loads(json.dumps(AIRPORT))
    newer["$defs"]["LandRequest"]["properties"]["gate"] = {"type": "string"}
    newer["$defs"]["LandRequest"]["required"].append("gate")
    report = compare(documents(AIRPORT), documents(newer))
    found = next(one for one in report.findings if one.rule == "required-field-added")
    assert (report.verdict, found.method) == ("breaking", "land")
    assert "plane" in found.breaks and found.witness is not None and found.witness.verified


def test_a_method_that_both_sides_handle_has_sides() -> None:
    schema = {"$defs": {"PingRequest": marked("ping", "both"), "PingResponse": marked("ping", "both")}}
    assert meaning(schema)[0].sides == ("client", "server")


def test_three_sides_are_sides_and_a_stream_of_theirs_is_refused_with_the_reason(tmp_path: Path) -> None:
    schema = {**AIRPORT, "x-sides": ["plane", "tower", "radar"]}
    made = generate(documents(schema), ["docs", "vectors"])
    index = json.loads(made["vectors"]["index.json"])
    assert [one["senders"] for one in index["methods"]] == [
        ["plane", "radar"],
        ["tower", "radar"],
        ["plane", "tower", "radar"],
    ]
    file = tmp_path / "airport.json"
    file.write_text(json.dumps(schema))
    with pytest.raises(Faults) as caught:
        validators.read_versions([str(file)])
    assert caught.value.faults[0].kind == UNSUPPORTED
    assert "it has 3 sides: plane, tower, radar" in str(caught.value)


# --- JSON-RPC without its member -------------------------------------------------------------------------------------


def test_a_protocol_without_the_member_jsonrpc_neither_demands_nor_writes_it(tmp_path: Path) -> None:
    schema = {key: value for key, value in AIRPORT.items() if key != "x-sides"}
    methods = own(sides=["plane", "tower"], envelope="json-rpc-unversioned", marked=True)
    v1 = package(documents(schema), "airport_bare", tmp_path, methods)
    message = same(v1, b'{"id":1,"method":"land","params":{"name":"a"}}', sender="plane")
    assert message.extra == {}
    with_version = b'{"id":1,"method":"land","params":{"name":"a"},"jsonrpc":"2.0"}'
    assert same(v1, with_version, sender="plane").extra == {"jsonrpc": "2.0"}
    same(v1, b'{"id":1,"result":{"name":"a"}}', sender="tower", method="land")
    assert v1.validate({"id": 1, "method": "land", "params": {"name": "a"}}, sender="plane") == ()
    rows = "\n".join(generate(documents(schema), ["vectors"], methods=methods)["vectors"].values())
    assert '"jsonrpc": "2.0", "id": "request-1"' not in rows
    old, new = (
        documents(schema),
        documents({**schema, "$defs": {**schema["$defs"], "LandRequest": marked("land", "tower", minProperties=2)}}),
    )
    report = compare(old, new, methods=methods)
    witness = next(one.witness for one in report.findings if one.witness is not None)
    assert isinstance(witness.value, dict) and "jsonrpc" not in witness.value


@pytest.mark.exhaustive  # one more large schema: profiles are tested on small ones
def test_requests_of_codex_are_read_as_it_sends_them(tmp_path: Path) -> None:
    v1 = package(wild("codex-0.145.0"), "codex_wire", tmp_path)
    same(v1, b'{"id":1,"method":"initialize","params":{"clientInfo":{"name":"a","version":"1"}}}', sender="client")
    same(v1, b'{"id":1,"method":"account/logout"}', sender="client")
    same(v1, b'{"id":1,"method":"account/logout","params":null}', sender="client")
    assert "null is expected" in refused(v1, b'{"id":1,"method":"account/logout","params":{"a":1}}', sender="client")
    result = same(v1, b'{"id":1,"result":{}}', sender="server", method="account/logout").result
    assert type(result) is v1.LogoutAccountResponse
    assert v1.METHODS["config/batchWrite"].result is v1.METHODS["config/value/write"].result is v1.ConfigWriteResponse


# --- frames of the Debug Adapter Protocol ----------------------------------------------------------------------------


def test_other_targets_know_the_frames_or_say_that_they_do_not(tmp_path: Path) -> None:
    given = wild("dap")
    pages = generate(given, ["docs"])["docs"]
    assert "the frames of the Debug Adapter Protocol" in pages["messages.md"]
    assert '"type": "request"' in "\n".join(pages.values()) and '"jsonrpc"' not in "\n".join(pages.values())
    for target in ("python", "vectors"):
        with pytest.raises(Faults) as caught:
            generate(given, [target])
        assert caught.value.faults[0].kind == UNSUPPORTED
    file = tmp_path / "dap.json"
    file.write_text(json.dumps(given.documents[0].value))
    with pytest.raises(Faults, match="frames of the Debug Adapter Protocol"):
        validators.read_versions([str(file)])


def test_a_comparison_of_dap_shows_its_own_messages() -> None:
    given = wild("dap")
    (one,) = given.documents
    newer: Any = json.loads(one.text)
    arguments = newer["definitions"]["SetVariableArguments"]
    arguments["properties"]["scope"] = {"type": "string"}
    arguments["required"].append("scope")
    report = compare(given, documents(newer, "dap"))
    found = next(
        each for each in report.findings if each.rule == "required-field-added" and each.method == "setVariable"
    )
    assert found.witness is not None and found.witness.verified
    assert isinstance(found.witness.value, dict) and found.witness.value["type"] == "request"


def test_revisions_with_other_envelopes_are_not_compared() -> None:
    schema = {"$defs": AIRPORT["$defs"]}
    with pytest.raises(Faults, match="'json-rpc'"):
        compare(documents({**AIRPORT, **schema}), wild("dap"))


def test_targets_take_a_profile_by_library_too() -> None:
    settings = {"python": Settings(package="acme.v1")}
    schema = {"$defs": {"Land": NAMED}}
    methods = own(sides=["a", "b"], methods={"land": {"kind": "request", "side": "b", "params": "Land"}})
    table = generate(documents(schema), settings, methods=methods)["python"]["acme/v1/methods.py"]
    assert '"land": contract.Method(' in table
