"""OpenRPC documents: what they mean, and where things stand in them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Final

import pytest

from acpgen import Faults, compare, ir, load
from acpgen.compat.findings import Report
from acpgen.importers.faults import NOT_THAT_DOCUMENT
from acpgen.input.faults import DANGLING_REFERENCE, NOT_A_SCHEMA, REFERENCE_NOT_GIVEN
from acpgen.meaning.method_summary import describe_methods
from acpgen.meaning.understanding import understand
from acpgen.methods.profile import read_built_in
from commands import acpgen
from methods.made import documents, faults_of, kinds_of, meaning, package, rows, wild

NAME: Final = {"name": "name", "required": True, "schema": {"type": "string"}}
COUNT: Final = {"name": "count", "description": "How many.", "schema": {"$ref": "#/components/schemas/Count"}}


def openrpc(*methods: Any, **components: Any) -> dict[str, Any]:
    schemas = {
        "Count": {"type": "integer", "minimum": 0},
        "Door": {"type": "object", "properties": {"id": {"type": "integer"}}},
    }
    return {
        "openrpc": "1.3.2",
        "info": {"title": "Doors", "version": "1"},
        "methods": list(methods),
        "components": {"schemas": schemas, **components},
    }


def method(name: str, *params: Any, structure: str = "by-name", result: Any = None, **more: Any) -> dict[str, Any]:
    told = {"name": name, "params": list(params), "paramStructure": structure, **more}
    return told if result is None else {**told, "result": {"name": "result", "schema": result}}


# --- OpenRPC ---------------------------------------------------------------------------------------------------------


def test_the_petstore_has_its_methods_with_params_and_results(tmp_path: Path) -> None:
    protocol, found = understand(wild("openrpc-petstore"))
    assert (found.profile.name, found.profile.how, protocol.sides) == ("openrpc", "evident", ("client", "server"))
    assert rows(protocol) == [
        ("list_pets", "server", "request", "ListPetsParams", "Pets"),
        ("create_pet", "server", "request", "CreatePetParams", "PetId"),
        ("get_pet", "server", "request", "GetPetParams", "Pet"),
    ]
    v1 = package(wild("openrpc-petstore"), "petstore_wire", tmp_path)
    for line in (
        b'{"jsonrpc":"2.0","id":1,"method":"create_pet","params":{"newPetName":"a","newPetTag":"b"}}',
        b'{"jsonrpc":"2.0","id":1,"method":"create_pet","params":["a","b"]}',
        b'{"jsonrpc":"2.0","id":1,"method":"create_pet","params":["a"]}',
        b'{"jsonrpc":"2.0","id":1,"method":"list_pets"}',
    ):
        assert json.loads(v1.encode(v1.decode(line, sender="client"))) == json.loads(line)
        assert v1.validate(line, sender="client") == ()
    answer = b'{"jsonrpc":"2.0","id":1,"result":[{"id":7,"name":"a","tag":"b"}]}'
    assert type(v1.decode(answer, sender="server", method="list_pets").result[0]) is v1.Pet
    for params in ([], {}, ["a", 1], ["a", "b", "c"], {"newPetName": 1}, None):
        message = {"jsonrpc": "2.0", "id": 1, "method": "create_pet", "params": params}
        assert v1.validate(message, sender="client"), params


def test_params_are_read_by_name_by_position_or_either_way() -> None:
    schema = openrpc(
        method("named", NAME, COUNT, result={"type": "null"}),
        method("placed", NAME, COUNT, structure="by-position", result={"$ref": "#/components/schemas/Door"}),
        method(
            "either", NAME, structure="either", result={"type": "array", "items": {"$ref": "#/components/schemas/Door"}}
        ),
        method("none", result=True),
        method("told", COUNT),
    )
    protocol, found = meaning(schema)
    assert rows(protocol) == [
        ("named", "server", "request", "NamedParams", "NamedResult"),
        ("placed", "server", "request", "PlacedParams", "Door"),
        ("either", "server", "request", "EitherParams", "EitherResult"),
        ("none", "server", "request", "NoParams", "NoneResult"),
        ("told", "server", "notification", "ToldParams", None),
    ]
    record = protocol.definitions["NamedParams"]
    assert isinstance(record, ir.Record)
    assert [(field.name, field.required, field.at, field.doc) for field in record.fields] == [
        ("name", True, "schema.json#/methods/0/params/0/schema", ""),
        ("count", False, "schema.json#/methods/0/params/1/schema", ""),
    ]
    written = found.definitions
    assert (written["PlacedParams"]["minItems"], len(written["PlacedParams"]["prefixItems"])) == (1, 2)
    assert written["EitherParams"] == {
        "anyOf": [{"$ref": "#/$defs/EitherParamsByName"}, {"$ref": "#/$defs/EitherParamsByPosition"}]
    }
    assert found.origins["Door"] == "schema.json#/components/schemas/Door"
    assert found.origins["EitherResult"] == "schema.json#/methods/2/result/schema"
    assert [one.at for one in protocol.methods[:2]] == ["schema.json#/methods/0", "schema.json#/methods/1"]


def test_methods_without_params_take_none(tmp_path: Path) -> None:
    schema = openrpc(
        method("clear", structure="either", result={"type": "null"}),
        method("reset", structure="either", result={"type": "null"}),
        method("put", structure="by-position", result={"type": "null"}),
        method("name", structure="by-name", result={"type": "null"}),
    )
    protocol, _ = meaning(schema)
    assert [one.params for one in protocol.methods] == ["NoParams", "NoParams", "NoParams1", "NoParams2"]
    v1 = package(documents(schema), "without_params_wire", tmp_path)
    cases: list[tuple[str, list[Any], list[Any]]] = [
        ("clear", [[], {}], [[1], "text", 1, False]),
        ("put", [[]], [[1], {}, "text"]),
        ("name", [{}], [[], "text"]),
    ]
    for name, right, wrong in cases:
        call = {"jsonrpc": "2.0", "id": 1, "method": name}
        assert v1.validate(call, sender="client") == ()
        for params in right:
            assert v1.validate({**call, "params": params}, sender="client") == (), params
        for params in wrong:
            assert v1.validate({**call, "params": params}, sender="client"), params


def test_a_param_for_a_method_that_took_none_is_compared_with_none() -> None:
    old = openrpc(method("clear", structure="either", result={"type": "null"}))
    given = {"name": "all", "schema": {"type": "boolean"}}
    needed = {(rule, "breaking") for rule in ("required-field-added", "limit-tightened", "type-widened")}
    for param, rules, verdict in (
        (given, {("field-added", "additive"), ("type-widened", "breaking")}, "yes"),
        ({**given, "required": True}, needed, "no"),
    ):
        report = compare(
            documents(old), documents(openrpc(method("clear", param, structure="either", result={"type": "null"})))
        )
        told = {(one.rule, one.severity) for one in report.findings if one.severity != "editorial"}
        assert (told, report.wire.backward) == (rules, verdict)


def test_descriptors_and_methods_may_be_references() -> None:
    schema = openrpc(
        {"$ref": "#/components/methods/open"},
        contentDescriptors={"Name": NAME, "Door": {"name": "door", "schema": {"$ref": "#/components/schemas/Door"}}},
        methods={
            "open": {
                "name": "open",
                "params": [{"$ref": "#/components/contentDescriptors/Name"}],
                "result": {"$ref": "#/components/contentDescriptors/Door"},
            }
        },
    )
    protocol, _ = meaning(schema)
    assert rows(protocol) == [("open", "server", "request", "OpenParams", "Door")]
    record = protocol.definitions["OpenParamsByName"]
    assert isinstance(record, ir.Record)
    assert record.fields[0].at == "schema.json#/components/contentDescriptors/Name/schema"


def test_names_that_are_taken_get_others() -> None:
    schema = openrpc(method("open", NAME, result={"type": "null"}))
    schema["components"]["schemas"] |= {"OpenParams": {"type": "object"}, "OpenResult": {"type": "object"}}
    assert rows(meaning(schema)[0]) == [("open", "server", "request", "OpenMethodParams", "OpenMethodResult")]


def test_descriptors_and_errors_of_other_documents_are_followed(tmp_path: Path) -> None:
    """What stands there refers to its own document, and on to a third one."""
    shared = openrpc(
        contentDescriptors={
            "Name": {**NAME, "schema": {"$ref": "#/components/schemas/Word"}},
            "Door": {"name": "door", "schema": {"$ref": "more/third.json#/components/schemas/Handle"}},
            "Again": {"$ref": "#/components/contentDescriptors/Name"},
            "Mark": {"name": "mark", "schema": {"const": {"$ref": "#/is/a/value"}}},
        },
        errors={"Shut": {"code": 7, "message": "The door is shut."}},
    )
    shared["components"]["schemas"] = {"Word": {"type": "string", "maxLength": 3}}
    third = openrpc()
    third["components"]["schemas"] = {
        "Handle": {"type": "object", "properties": {"of": {"$ref": "#/components/schemas/Of"}}}
    }
    third["components"]["schemas"]["Of"] = {"enum": ["brass", "wood"]}
    here = "parts/shared.json#/components"
    names = [{"$ref": f"{here}/contentDescriptors/{each}"} for each in ("Again", "Mark")]
    one = method("open", *names, errors=[{"$ref": f"{here}/errors/Shut"}])
    one["result"] = {"$ref": f"{here}/contentDescriptors/Door"}
    (tmp_path / "parts" / "more").mkdir(parents=True)
    for path, value in (("main", openrpc(one)), ("parts/shared", shared), ("parts/more/third", third)):
        (tmp_path / f"{path}.json").write_text(json.dumps(value))
    given = load(tmp_path / "main.json")
    assert rows(understand(given)[0]) == [("open", "server", "request", "OpenParams", "OpenResult")]
    v1 = package(given, "shared_descriptors", tmp_path / "made")
    asked = v1.decode(b'{"jsonrpc":"2.0","id":1,"method":"open","params":{"name":"abc"}}', sender="client")
    assert asked.params.name == "abc"
    marked = b'{"jsonrpc":"2.0","id":1,"method":"open","params":{"name":"abc","mark":{"$ref":"#/is/a/value"}}}'
    assert v1.validate(marked, sender="client") == (), "a value that looks like a reference is none"
    answered = b'{"jsonrpc":"2.0","id":1,"result":{"of":"%s"}}'
    assert v1.validate(answered % b"wood", sender="server", method="open") == ()
    assert v1.validate(answered % b"tin", sender="server", method="open")
    with pytest.raises(v1.DecodeError if hasattr(v1, "DecodeError") else Exception):
        v1.decode(b'{"jsonrpc":"2.0","id":1,"method":"open","params":{"name":"abcd"}}', sender="client")
    (tmp_path / "parts" / "shared.json").write_text(json.dumps({**shared, "components": {}}))
    with pytest.raises(Faults) as caught:
        understand(load(tmp_path / "main.json"))
    assert {each.kind for each in caught.value.faults} == {DANGLING_REFERENCE}
    assert [each.at for each in caught.value.faults] == [
        f"main.json#/methods/0/{place}" for place in ("errors/0", "params/0", "params/1", "result")
    ]


def test_methods_whose_names_make_one_name_keep_their_own_params_and_results() -> None:
    names = ("a.b", "a/b", "a-b", "a_b", "A b")
    each = [
        method(
            name, {"name": f"p{index}", "schema": {"type": "string"}}, structure="either", result={"maxLength": index}
        )
        for index, name in enumerate(names)
    ]
    protocol, _ = meaning(openrpc(*each))
    for key in ("params", "result"):
        assert len({getattr(one, key) for one in protocol.methods}) == len(names)


@pytest.mark.parametrize(
    ("twice", "place", "reason"),
    [
        (
            [method("f", NAME), method("f", COUNT)],
            "/methods/1",
            "a second method 'f'; the first is schema.json#/methods/0",
        ),
        (
            [method("f", NAME, {**COUNT, "name": "name"})],
            "/methods/0/params",
            "several params of 'f' have the name 'name'",
        ),
    ],
)
def test_what_an_openrpc_document_names_twice_is_refused(twice: list[Any], place: str, reason: str) -> None:
    assert kinds_of(openrpc(*twice)) == [NOT_THAT_DOCUMENT]
    (fault,) = faults_of(openrpc(*twice))
    assert f"#{place}: this is not" in fault and reason in fault


def test_what_is_wrong_with_an_openrpc_document_is_told_where_it_stands() -> None:
    loop = openrpc({"$ref": "#/components/methods/a"}, methods={"a": {"$ref": "#/components/methods/a"}})
    assert kinds_of(loop) == [DANGLING_REFERENCE]
    wrong = openrpc(
        {"params": []},
        {"name": "a", "params": {}},
        method("b", {"name": "x"}),
        method("c", structure="by-number"),
        method("d", {"$ref": "#/components/contentDescriptors/Nowhere"}),
        method("e", {"$ref": "other.json#/x"}),
        3,
        method("f", result={"$ref": "#/components/schemas/Nowhere"}),
    )
    assert [line.partition(": ")[0] for line in faults_of(wrong)] == [
        "schema.json#/methods/0",
        "schema.json#/methods/1/params",
        "schema.json#/methods/2/params/0",
        "schema.json#/methods/3/paramStructure",
        "schema.json#/methods/4/params/0",
        "schema.json#/methods/5/params/0",
        "schema.json#/methods/6",
    ]
    assert set(kinds_of(wrong)) == {NOT_THAT_DOCUMENT, DANGLING_REFERENCE, REFERENCE_NOT_GIVEN}
    dangling = openrpc(method("f", result={"$ref": "#/components/schemas/Nowhere"}))
    assert faults_of(dangling)[0].startswith("schema.json#/methods/0/result/schema: ")
    broken = openrpc(method("f", {"name": "a", "schema": {"type": "text"}}, result={"minimum": "0"}))
    assert kinds_of(broken) == [NOT_A_SCHEMA, NOT_A_SCHEMA]
    assert [line.partition(": ")[0] for line in faults_of(broken)] == [
        "schema.json#/methods/0/params/0/schema/type",
        "schema.json#/methods/0/result/schema/minimum",
    ]
    assert faults_of({**openrpc(), "methods": {"a": {}}})[0].startswith("schema.json#/methods: ")
    assert kinds_of({"$defs": {"A": {"type": "object"}}}, read_built_in("openrpc")) == [NOT_THAT_DOCUMENT]


def test_two_revisions_of_a_document_are_compared_by_their_messages_and_not_as_schemas() -> None:
    old = openrpc(method("open", NAME, result={"type": "string"}))
    new = openrpc(method("open", NAME, {**COUNT, "required": True}, result={"type": "string"}))
    report = compare(documents(old), documents(new))
    found = next(one for one in report.findings if one.rule == "required-field-added")
    assert (report.verdict, found.method) == ("breaking", "open")
    assert found.new is not None and found.new.pointer.startswith("/methods/0/params")
    with pytest.raises(Faults, match="no JSON Schema"):
        compare(documents(old), documents(new), mode="language")


def test_a_component_is_a_schema_whatever_it_holds() -> None:
    wrapped = {"schema": {"type": "object", "properties": {"a": {"type": "string"}}}}
    ref = {"$ref": "#/components/schemas/T"}
    for params in ([], [{"name": "p", "schema": ref}]):
        given = openrpc(method("get", *params, result=ref))
        given["components"]["schemas"]["T"] = wrapped
        protocol, found = meaning(given)
        assert [(one.name, one.result) for one in protocol.methods] == [("get", "T")]
        assert found.origins["T"] == "schema.json#/components/schemas/T"
        assert all("#/definitions" not in note.at for note in found.notes)


def test_a_reference_that_leads_nowhere_is_told_as_it_is_written() -> None:
    for ref in ("#/components/schemas/Missing", "#/components/schemas/Count/properties/x"):
        (told_of,) = faults_of(openrpc(method("get", {"name": "p", "schema": {"$ref": ref}})))
        assert told_of.startswith(
            f"schema.json#/methods/0/params/0/schema: '$ref' points to '{ref}', which does not exist"
        )


def test_nothing_is_said_of_what_the_profile_reads_and_of_others_that_it_has_no_effect(tmp_path: Path) -> None:
    number = {"type": "number"}
    descriptors = {"Left": {"name": "left", "schema": {"$ref": "#/components/schemas/Number"}}}
    add = {
        "name": "add",
        "params": [{"$ref": "#/components/contentDescriptors/Left"}],
        "result": {"name": "sum", "schema": number},
    }
    document = {
        "openrpc": "1.2.6",
        "info": {"title": "Sums", "version": "1"},
        "methods": [add],
        "components": {"schemas": {"Number": number}, "contentDescriptors": descriptors},
        "others": {"Number": number},
    }
    (tmp_path / "sums.json").write_text(json.dumps(document))
    made = acpgen(["generate", "--schema", "sums.json", "--target", "bundle", "--out", "out"], cwd=tmp_path)
    notes = [line for line in made.stderr.decode().splitlines() if line.startswith("note: ")]
    assert notes == ["note: sums.json#: 'others' is not a keyword of JSON Schema, and has no effect."]
    told = acpgen(["lint", "sums.json"], cwd=tmp_path).stdout.decode()
    assert [line for line in told.splitlines() if "keyword-meaningless" in line] == [
        "sums.json:1:1: keyword-meaningless: 'others' is not a keyword of JSON Schema, and has no effect."
    ]


def test_a_document_without_methods_is_told_to_have_none() -> None:
    empty = {key: value for key, value in openrpc().items() if key != "components"}
    assert faults_of(empty) == [
        "schema.json: this is an OpenRPC document that lists no method and no type. Add the methods that it should describe."
    ]
    assert list(describe_methods("p", *meaning(openrpc()))) == [
        "p: no methods: this is an OpenRPC document that lists none."
    ]


# --- params by position ----------------------------------------------------------------------------------------------

TEXT: Final = {"type": "string"}
FLAG: Final = {"type": "boolean"}


def params(*names: str, schema: Any = TEXT, required: bool = True) -> list[Any]:
    return [{"name": name, "required": required, "schema": schema} for name in names]


def order_changed(old: list[Any], new: list[Any], structure: str, tmp_path: Path) -> Report:
    for name, given in (("old", old), ("new", new)):
        document = openrpc(method("copy", *given, structure=structure, result=True))
        (tmp_path / f"{name}.json").write_text(json.dumps(document, indent=2))
    return compare(tmp_path / "old.json", tmp_path / "new.json")


@pytest.mark.parametrize("schema", [TEXT, FLAG], ids=["texts", "flags"])
@pytest.mark.parametrize("required", [True, False])
@pytest.mark.parametrize("structure", ["by-position", "either"])
def test_params_that_change_places_are_read_as_others_by_position(
    schema: Any, required: bool, structure: str, tmp_path: Path
) -> None:
    old, new = (
        params(*names, schema=schema, required=required) for names in (("from", "to", "c"), ("to", "from", "c"))
    )
    report = order_changed(old, new, structure, tmp_path)
    (finding,) = [each for each in report.findings if each.severity != "editorial"]
    assert (finding.rule, finding.severity) == ("position-changed", "breaking")
    assert finding.witness is not None
    sent: Any = finding.witness.value
    assert len({json.dumps(each) for each in sent["params"]}) > 1 or len(sent["params"]) == 1, (
        "equal values show nothing"
    )
    assert finding.breaks == "an old client that talks to a new server; a new client that talks to an old server"


def test_by_name_the_order_of_params_means_nothing(tmp_path: Path) -> None:
    assert order_changed(params("from", "to"), params("to", "from"), "by-name", tmp_path).verdict == "editorial"


def test_another_param_at_a_position_is_told_though_it_may_be_a_rename(tmp_path: Path) -> None:
    report = order_changed(params("from", "to"), params("from", "owner"), "by-position", tmp_path)
    assert [(each.rule, each.severity) for each in report.findings] == [("position-changed", "risky")]


def test_params_that_change_places_and_are_refused_there_are_told_by_what_refuses_them(tmp_path: Path) -> None:
    old = [*params("a"), *params("b", schema=FLAG)]
    report = order_changed(old, old[::-1], "by-position", tmp_path)
    assert {each.rule for each in report.findings} == {"type-changed"}
    assert all(each.old is not None and each.new is not None for each in report.findings)


def test_a_param_at_the_end_moves_no_other(tmp_path: Path) -> None:
    report = order_changed(params("a"), [*params("a"), *params("b", required=False)], "by-position", tmp_path)
    assert [each.rule for each in report.findings] == ["limit-loosened"]
