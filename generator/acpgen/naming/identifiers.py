"""Naming: from wire names to the names of classes, fields and constants.

A name depends only on the thing named, so adding an unrelated definition, field or variant never renames another one. If two things
collide, the one whose name in the schema is exactly this keeps it, and the other's name gets a distinguishing addition.
"""

from __future__ import annotations

import builtins
import keyword
import re
import sys
import unicodedata
from collections.abc import Collection, Mapping, Sequence
from itertools import groupby
from typing import Final

from acpgen.input.numbers import dumps

# A lower-case letter or digit before a capital, or the last capital of an acronym before a word.
_BOUNDARY = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")

ERROR_CODES: Final = "ErrorCode"
"""The definition whose constants are the error codes of a protocol, whether it is referenced or not."""

_BUILTINS: Final = {name for name in vars(builtins) if name[0].isupper()} - {"WindowsError"} | {
    "PythonFinalizationError"
}
"""Names of built-in classes on every system: an annotation that names a type so before it is defined would mean the built-in one."""

_IN_ANNOTATIONS: Final = frozenset({"ClassVar", "Literal"})
"""Names that records need when their annotations are evaluated from text."""

RESERVED_FIELDS = frozenset(
    {
        *("extra", "mro", "unknown_fields"),
        *("is_extension", "is_reserved", "payload", "tag"),
        # A field named like a type that annotations use would hide the type inside its own class.
        *("bool", "dict", "float", "int", "list", "str", "tuple"),
    }
)
"""Attributes of the base classes of records, the parameter for unknown fields, and builtin types used in annotations."""


def split_words(text: str) -> list[str]:
    """The words of a wire name: split at punctuation and at changes of case."""
    return [word for part in _split_parts(text) if _is_letter(part[0]) for word in _BOUNDARY.split(part)]


def _split_parts(text: str) -> list[str]:
    """The runs of letters and digits of a text, and each character between them, in order."""
    groups = groupby(unicodedata.normalize("NFKC", text), _is_letter)
    return [part for is_run, group in groups for part in (["".join(group)] if is_run else group)]


def _is_letter(character: str) -> bool:
    """Whether a character is a letter or digit that a name in Python can have: `½` and `௰` are numbers, but cannot."""
    return character.isalnum() and f"a{character}".isidentifier()


def make_class_name(text: str) -> str:
    """The PascalCase name of a definition, tag or field: `user_message_chunk` becomes `UserMessageChunk`.

    Capitals inside a word stay (`JSONRPCMessage`). A text without letters and digits becomes its code points.
    """
    name = "".join(part[0].upper() + part[1:] for part in _split_parts(text) if _is_letter(part[0]))
    name = unicodedata.normalize("NFKC", name)  # which a capital of several characters may not be: that of `ΐ`
    if not name:
        name = "".join(f"U{ord(character):04X}" for character in text) or "Empty"
    if not name[0].isidentifier():
        name = f"N{name}"
    return name


def make_python_class(name: str) -> str:
    """The class or alias of a definition: its PascalCase name, with an underscore if Python reserves it."""
    plain = make_class_name(name)
    return f"{plain}_" if keyword.iskeyword(plain) or plain in _BUILTINS or plain in _IN_ANNOTATIONS else plain


def make_field_name(text: str) -> str:
    """The snake_case attribute of a property: `toolCallId` becomes `tool_call_id`, `_meta` becomes `meta`."""
    return _make_attribute("_".join(word.lower() for word in split_words(text)), text)


def make_class_names(definitions: Collection[str]) -> Mapping[str, str]:
    """The distinct class or alias of each definition of a schema.

    For collisions such as `Foo` and `foo`, `foo-bar` and `foo_bar`: one that is spelled like its class keeps the name, otherwise the
    first in alphabetical order; the others are spelled out (`FooDashBar`) or get an underscore (`Foo_`).
    """
    return assign({name: (make_python_class(name), make_python_class(spell_out(name))) for name in definitions})


def make_field_names(properties: Collection[str], inherited: Mapping[str, str] | None = None) -> Mapping[str, str]:
    """The distinct attribute of each property of one record, by the rule of `make_class_names`.

    `inherited` are the attributes that a base class defines.
    """
    base_names = inherited or {}
    spelled = {
        name: "_".join(word.lower() for part in _spell_parts(name) for word in split_words(part)) for name in properties
    }
    ladders = {
        name: (make_field_name(name), _make_attribute(spelled[name], name))
        for name in properties
        if name not in base_names
    }
    names = {**base_names, **assign(ladders, used=base_names.values())}
    return {name: names[name] for name in properties}


def make_method_keys(methods: Collection[str]) -> Mapping[str, str]:
    """The distinct key of each method of one side in `meta.json`."""
    return assign({name: (make_method_key(name) or "empty", "_".join(_spell_parts(name))) for name in methods})


def make_method_names(methods: Mapping[str, str], used: Collection[str]) -> Mapping[str, str]:
    """The distinct coroutine name of each method, different from those in `used`: `session/set_mode` becomes `session_set_mode`.

    `methods` has the wire name of each key; a key may include more, such as the kind, to distinguish two methods with one name.
    """
    return assign(
        {
            key: (
                _make_coroutine(split_words(name)),
                _make_coroutine(split_words(key)),
                _make_coroutine(_spell_parts(key)),
            )
            for key, name in methods.items()
        },
        used=used,
    )


def _make_coroutine(parts: Sequence[str]) -> str:
    name = "_".join(part.lower() for part in parts if part)
    if not name:
        return "empty"
    name = name if name[0].isidentifier() else f"n{name}"
    return f"{name}_" if keyword.iskeyword(name) or name.startswith("_") else name


def make_member_names(values: Collection[str]) -> Mapping[str, str]:
    """The distinct enumeration member for each text: `in_progress` becomes `IN_PROGRESS`."""
    return assign(
        {value: (_make_member(split_words(value), value), _make_member(_spell_parts(value), value)) for value in values}
    )


def _make_member(parts: Sequence[str], text: str) -> str:
    name = unicodedata.normalize("NFKC", "_".join(part.upper() for part in parts if part))
    if not name:
        return "_".join(f"U{ord(character):04X}" for character in text) or "EMPTY"
    return name if name[0].isalpha() else f"N{name}"


def describe_conflict(package: str) -> str:
    """The reason why a package cannot have this name in Python; empty if it can."""
    top, *inner = package.split(".")
    if top in sys.stdlib_module_names:
        return f"{top!r} is a module of Python"
    if top in _DEPENDENCIES:
        return f"{top!r} is a package that the generated code imports"
    if any(len(part) > _LONGEST for part in (top, *inner)):
        return f"a name between dots has at most {_LONGEST} letters, so that it can be that of a folder"
    device = next((part for part in (top, *inner) if part.lower() in _DEVICES), None)
    if device is not None:
        return f"{device!r} is a device on Windows, so that no folder can have this name there"
    special = next((part for part in (top, *inner) if part.startswith("__") and part.endswith("__")), None)
    return "" if special is None else f"{special!r} has a meaning of its own in Python"


def make_file_name(name: str) -> str:
    """A name without ending that a file can have on Windows, too: that of a device gets an underscore."""
    return f"{name}_" if name.lower() in _DEVICES else name


_LONGEST: Final = 100
_DEVICES: Final = frozenset(
    {"con", "prn", "aux", "nul", *(f"{port}{number}" for port in ("com", "lpt") for number in range(10))}
)
"""The names that Windows has for devices in each folder, with any ending."""


_DEPENDENCIES: Final = frozenset(
    {
        *("jsonrpc_bindings", "pydantic", "pydantic_core", "annotated_types", "typing_extensions", "typing_inspection"),
        *("jiter", "jsonschema_rs", "msgspec", "websockets"),
    }
)


def is_class_name(name: str) -> bool:
    """Whether `name` is valid as the name of a class in generated modules."""
    return name.isascii() and name.isidentifier() and name[0].isupper() and not keyword.iskeyword(name)


def make_javascript_key(name: str) -> str:
    """A name as the key of a member in JavaScript, quoted if necessary."""
    return name if re.fullmatch(r"[A-Za-z_$][A-Za-z0-9_$]*", name) else dumps(name)


def make_method_key(method: str) -> str:
    """The usual key of a method: `session/set_mode` becomes `session_set_mode`, `$/cancel_request` `cancel_request`."""
    return "_".join(part for part in re.split(r"[^A-Za-z0-9]+", method) if part)


def spell_out(text: str) -> str:
    """A wire name with its punctuation as words, so that `depends-on` and `depends_on` stay distinct: `depends dash on`."""
    return " ".join(_spell_parts(text))


def assign(ladders: Mapping[str, Sequence[str]], used: Collection[str] = ()) -> Mapping[str, str]:
    """Assign each key the first free name of its candidates, regardless of the order of the keys.

    A key equal to its first candidate takes precedence; first candidates take precedence over later ones of other keys. If none is free,
    underscores are appended, then the code points of the key.
    """
    used_names = set(used)
    names: dict[str, str] = {}
    order = sorted(ladders, key=lambda key: (key != ladders[key][0], key))

    def take(key: str, name: str) -> None:
        names[key] = name
        used_names.add(name)

    for key in order:
        if ladders[key][0] not in used_names:
            take(key, ladders[key][0])
    for key in order:
        if key not in names:
            first, *alternatives = ladders[key]
            points = "".join(f"U{ord(character):04X}" for character in key)
            candidates = (*alternatives, f"{first}_", f"{first}__", f"{first}_{points}", f"{first}_{points}_")
            take(key, next((name for name in candidates if name not in used_names), candidates[-1]))
    return {key: names[key] for key in ladders}


def _make_attribute(name: str, text: str) -> str:
    """A valid name for an attribute of a record."""
    if not name:
        name = "_".join(f"u{ord(character):04x}" for character in text) or "empty"
    if not name[0].isidentifier():
        name = f"n{name}"
    return f"{name}_" if keyword.iskeyword(name) or name in RESERVED_FIELDS else name


def _spell_parts(text: str) -> list[str]:
    """The words of a text and the names of the punctuation between them, in order."""
    return [part if _is_letter(part[0]) else _PUNCTUATION.get(part, f"u{ord(part):04x}") for part in _split_parts(text)]


_PUNCTUATION: Final = {
    " ": "space", "_": "underscore", "-": "dash", ".": "dot", "/": "slash", ":": "colon", ",": "comma", ";": "semicolon",
    "$": "dollar", "@": "at", "#": "hash", "+": "plus", "*": "star", "=": "equals", "%": "percent", "&": "and", "<": "less",
    ">": "greater", "!": "not", "?": "question", "~": "tilde", "|": "bar", "^": "caret", "\\": "backslash", "(": "open",
    ")": "close", "[": "open", "]": "close", "{": "open", "}": "close", "'": "quote", '"': "quote",
}  # fmt: skip
