"""`_schema.json`: the schema without its descriptions, and the data that receivers and validators need in addition."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from acpgen import ir
from acpgen.bundle.bundle import Bundle
from acpgen.bundle.unknown_variants import make_receiver_definitions
from acpgen.input.keywords import PROSE
from acpgen.input.numbers import dumps
from acpgen.input.patterns import Patterns
from acpgen.input.walk import ASSERTIONS, LISTS, MAPS, SINGLE, is_array, is_object
from acpgen.meaning.contract import make_protocol_row
from acpgen.targets.python.additional_properties import find_pattern_definitions
from acpgen.targets.python.naming import Names
from acpgen.targets.python.python_options import PythonOptions

_OF_DIALECT: Final = frozenset(
    {
        "x-capability",
        "x-deserialize-default-on-error",
        "x-deserialize-default-on-null",
        "x-deserialize-skip-invalid-items",
        "x-null",
        "x-required-with",
    }
)
"""The dialect's keywords for receivers of a value, and for checks of a conversation."""


def write_schema(bundle: Bundle, extra_data: Mapping[str, Any] | None = None) -> str:
    """The bundled schema as JSON, one definition per line, with assertions and keywords for receivers; `extra_data` precedes them as
    `x-protocol`.
    """
    definitions = ",\n".join(
        f"{_write_json(name)}: {_write_json(_strip_annotations(definition))}"
        for name, definition in bundle.definitions.items()
    )
    about = f'"x-protocol": {_write_json(extra_data)},\n' if extra_data is not None else ""
    return f'{{"$schema": {_write_json(bundle.schema["$schema"])},\n{about}"$defs": {{\n{definitions}\n}}}}\n'


def list_extra_data(protocol: ir.Protocol, bundle: Bundle, names: Names, options: PythonOptions) -> Mapping[str, Any]:
    """The data that is not in the schema: types whose names differ from their definitions, and the definitions by which receivers
    validate.
    """
    renamed = {class_: name for name, class_ in names.classes.items() if class_ != name}
    receiving = make_receiver_definitions(bundle.definitions, bundle.unions, protocol.tolerated, protocol.fallbacks)
    for name in find_pattern_definitions(protocol, bundle) if options.unknown == "refuse" else ():
        receiving[name] = {**receiving.get(name, bundle.definitions[name]), "unevaluatedProperties": False}
    whole = {**bundle.definitions, **receiving}
    protocol_row = make_protocol_row(protocol, bundle)
    adapted_definitions = Patterns(bundle.definitions.values()).translate_changed(whole)
    receiving |= {
        name: definition
        for name, definition in adapted_definitions.items()
        if name in receiving or definition != protocol_row["judging"].get(name)
    }
    for name, definitions in {"judging": protocol_row["judging"], "receiving": receiving}.items():
        protocol_row[name] = {key: _strip_annotations(definition) for key, definition in definitions.items()}
    return {**protocol_row, "definitions": renamed}


def _strip_annotations(schema: Any) -> Any:
    if not is_object(schema):
        return schema
    result: dict[str, Any] = {}
    for key, value in schema.items():
        if key in SINGLE:
            result[key] = _strip_annotations(value)
        elif key in LISTS and is_array(value):
            result[key] = [_strip_annotations(item) for item in value]
        elif key in MAPS and is_object(value):
            result[key] = {name: _strip_annotations(item) for name, item in value.items()}
        elif key in ASSERTIONS or key in _OF_DIALECT or (key not in PROSE and not key.startswith("x-")):
            result[key] = value
    return result


def _write_json(value: object) -> str:
    return dumps(value, ensure_ascii=True)
