"""All naming: from wire names to the names of classes, fields and constants.

Names depend on the thing named alone, so adding a definition, a field or a variant never renames another. Two things
with one name are a fault; a number is never appended.
"""

from __future__ import annotations

import keyword
import re
import unicodedata
from collections.abc import Iterable, Mapping

from acpgen.errors import Fault, Faults, NameCollision

# A lower-case letter or digit before a capital, or the last capital of an acronym before a word.
_BOUNDARY = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")

RESERVED_CLASSES = frozenset(
    {
        *(
            "Annotated",
            "Any",
            "BaseModel",
            "ClassVar",
            "ConfigDict",
            "Dict",
            "Exact",
            "Excluding",
            "Field",
            "List",
            "Literal",
            "MISSING",
            "MultipleOf",
        ),
        *(
            "Model",
            "Never",
            "Number",
            "Open",
            "Optional",
            "RootModel",
            "Positional",
            "Shapes",
            "Tagged",
            "TypeAliasType",
            "Union",
        ),
        *("Unknown", "None", "True", "False"),
        *(
            "AnyNotificationParams",
            "AnyRequestParams",
            "AnyResult",
            "Final",
            "LENIENT",
            "METHODS",
            "Mapping",
            "Message",
        ),
        *("OWNERS", "Sender", "T", "TypeAlias", "TypeVar", "UNENFORCED", "UniqueItems"),
    }
)
"""Names that generated modules import or define themselves."""

RESERVED_FIELDS = frozenset(
    {
        *("construct", "copy", "dict", "from_orm", "json", "parse_file", "parse_obj", "parse_raw", "schema"),
        *("schema_json", "update_forward_refs", "validate", "model_computed_fields", "model_config", "model_construct"),
        *("model_copy", "model_dump", "model_dump_json", "model_extra", "model_fields", "model_fields_set"),
        *("model_json_schema", "model_parametrized_name", "model_post_init", "model_rebuild", "model_validate"),
        *(
            "model_validate_json",
            "model_validate_strings",
            "payload",
            "tag",
            "excluded_constants",
            "is_extension",
            "is_reserved",
        ),
        # A field named like a type that annotations use would hide the type inside its own class.
        *("bool", "dict", "float", "int", "list", "str", "tuple"),
    }
)
"""Attributes of the models' base classes, and built-in types that annotations name."""


def words(text: str) -> list[str]:
    """The words of a wire name: split at punctuation and at changes of case."""
    plain = unicodedata.normalize("NFKC", text)
    parts = re.split(r"[^\w]|_", plain)
    return [word for part in parts if part for word in _BOUNDARY.split(part)]


def class_name(text: str) -> str:
    """The PascalCase name of a definition, tag or field: `user_message_chunk` becomes `UserMessageChunk`.

    Capitals inside a word stay (`JSONRPCMessage`). A text without a letter or digit is spelled by its code points.
    """
    plain = unicodedata.normalize("NFKC", text)
    parts = [part for part in re.split(r"[^\w]|_", plain) if part]
    name = "".join(part[0].upper() + part[1:] for part in parts)
    if not name:
        name = "".join(f"U{ord(character):04X}" for character in text) or "Empty"
    if not name[0].isidentifier():
        name = f"N{name}"
    return name


def python_class(name: str) -> str:
    """The class or alias of a definition: its PascalCase name, with an underscore where generated modules use that name."""
    plain = class_name(name)
    return f"{plain}_" if plain in RESERVED_CLASSES or keyword.iskeyword(plain) else plain


def field_name(text: str) -> str:
    """The snake_case attribute of a property: `toolCallId` becomes `tool_call_id`, `_meta` becomes `meta`."""
    name = "_".join(word.lower() for word in words(text))
    if not name:
        name = "_".join(f"u{ord(character):04x}" for character in text) or "empty"
    if not name[0].isidentifier():
        name = f"n{name}"
    return f"{name}_" if keyword.iskeyword(name) or name in RESERVED_FIELDS else name


def method_key(method: str) -> str:
    """The key of a method in `meta.json`: `session/set_mode` becomes `session_set_mode`, `$/cancel_request` `cancel_request`."""
    return "_".join(part for part in re.split(r"[^A-Za-z0-9]+", method) if part)


def assign(wanted: Iterable[tuple[str, str, str]]) -> Mapping[str, str]:
    """Give each `(key, name, at)` its name; return the mapping of keys to names.

    Raises `Faults` of `NameCollision` where two keys want one name.
    """
    taken: dict[str, tuple[str, str]] = {}
    faults: list[Fault] = []
    names: dict[str, str] = {}
    for key, name, at in wanted:
        if name in taken:
            other, other_at = taken[name]
            faults.append(NameCollision(at=at, name=name, other=f"{other} ({other_at})"))
        else:
            taken[name] = (key, at)
            names[key] = name
    if faults:
        raise Faults(faults)
    return names
