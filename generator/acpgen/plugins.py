"""The API for targets in other packages: the IR, the target interface, an order of definitions, helpers that write text, and a test kit.

    from acpgen.plugins import Option, Settings, Target, ir, order_definitions

    def render(protocol: ir.Protocol, bundle: Bundle, settings: Settings) -> Mapping[str, str]:
        return {"types.txt": "".join(f"{d.name};" for group in order_definitions(protocol) for d in group)}

    target = Target(render, "The names of all types.", (Option("case", "How names are written.", "as-is"),))

A distribution declares the target as an entry point of the group `acpgen.targets`. The public names change incompatibly only with the
major version of acpgen or of `ir.VERSION`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final

from acpgen import ir
from acpgen.bundle.bundle import Bundle
from acpgen.errors import Fault, Faults
from acpgen.files import Files
from acpgen.input.load import Documents, parse
from acpgen.input.load import Source as _Source
from acpgen.meaning.definition_order import list_references, order_definitions, references
from acpgen.meaning.interchange import dump, load
from acpgen.meaning.understanding import understand
from acpgen.naming.identifiers import (
    assign,
    make_class_name,
    make_class_names,
    make_field_name,
    make_field_names,
    make_method_keys,
)
from acpgen.targets.faults import TARGET_REFUSED
from acpgen.targets.interface import Render, Settings, Target
from acpgen.targets.options import Option
from acpgen.targets.outside import check_files
from acpgen.targets.python.formatting import format_files
from acpgen.targets.python.literals import write_docstring, write_json, write_literal

__all__ = [
    "SAMPLES",
    "TARGET_REFUSED",
    "Bundle",
    "Documents",
    "Fault",
    "Faults",
    "Files",
    "Option",
    "Render",
    "Settings",
    "Target",
    "assign",
    "dump",
    "exercise",
    "format_files",
    "indent",
    "ir",
    "list_references",
    "load",
    "make_class_name",
    "make_class_names",
    "make_field_name",
    "make_field_names",
    "make_method_keys",
    "order_definitions",
    "references",
    "refuse",
    "sample",
    "understand",
    "write_comment",
    "write_docstring",
    "write_json",
    "write_literal",
]


# --- writers ---------------------------------------------------------------------------------------------------------


def indent(lines: Iterable[str], by: int = 4) -> list[str]:
    """Indent each line that is not empty; a text of several lines is split."""
    return [f"{' ' * by}{line}" if line else "" for text in lines for line in text.split("\n")]


def write_comment(text: str, mark: str, width: int = 100) -> list[str]:
    """A text as wrapped comment lines that begin with a mark, such as `//`. Unprintable characters are replaced, so no text can end a
    line.
    """
    import textwrap

    lines: list[str] = []
    for paragraph in text.strip().splitlines():
        plain = "".join(letter if letter.isprintable() else " " for letter in paragraph)
        lines.extend(textwrap.wrap(plain, max(width - len(mark) - 1, 20), break_on_hyphens=False) or [""])
    return [f"{mark} {line}".rstrip() for line in lines]


def refuse(protocol: ir.Protocol, target: str, reason: str, at: str = "") -> Faults:
    """The fault to raise for a protocol that a target does not support. `at` is the place of the cause; default: the protocol's name."""
    return Faults([TARGET_REFUSED(at=at or protocol.name, name=target, reason=reason.rstrip("."))])


# --- the test kit ----------------------------------------------------------------------------------------------------

SAMPLES: Final[Mapping[str, str]] = {
    "nothing but a type": '{"$defs": {"Thing": {"type": "object", "properties": {"a": {"type": "string"}}}}}',
    "circles": '{"$defs": {"A": {"properties": {"b": {"$ref": "#/$defs/B"}}, "type": "object"}, "B": {"type": "array", '
    '"items": {"$ref": "#/$defs/A"}}}}',
    "unions": '{"$defs": {"Shape": {"oneOf": [{"type": "object", "properties": {"kind": {"const": "round"}, "r": {"type": "number"}},'
    ' "required": ["kind", "r"]}, {"type": "object", "properties": {"kind": {"const": "flat"}}, "required": ["kind"]}]},'
    ' "Level": {"enum": ["low", "high"]}, "Either": {"anyOf": [{"type": "string"}, {"type": "integer"}, {"type": "null"}]},'
    ' "Pair": {"prefixItems": [{"type": "string"}, {"type": "integer"}], "minItems": 2, "items": false, "type": "array"}}}',
    "methods": '{"$defs": {"AddRequest": {"x-method": "note/add", "x-side": "server", "type": "object", "properties": {"text": '
    '{"type": "string"}}, "required": ["text"]}, "AddResponse": {"x-method": "note/add", "x-side": "server", "type": "object"},'
    ' "AddedNotification": {"x-method": "note/added", "x-side": "client", "type": "object"}}}',
    "names and words that try to get out": r'{"$defs": {"class": {"type": "object", "description": "*/ \"\"\" \\ '
    "'''"
    r' </script> \u2028 end", "properties": {"import": {"default": "\"\"\"\n${x} #{y}", "type": "string"}, "": {}, "a-b": {}, '
    r'"a_b": {}, "\u00e4 \"q\"": {"const": "\n"}}}}}',
}
"""Small schemas that each target should support, by subject."""


def sample(text: str, name: str = "sample") -> tuple[ir.Protocol, Bundle]:
    """The protocol and bundle of a schema text. Raises `Faults`."""
    return understand(parse(_Source(name, "", (("schema.json", text.encode()),))))


def exercise(
    target: Target | Render, settings: Settings | None = None, samples: Mapping[str, str] = SAMPLES
) -> Mapping[str, Files]:
    """Run a target on each sample, and check the contract of targets; return its files by sample.

    Raises `AssertionError` if equal input gives different files, or if the target modifies its input, and `Faults` if a file is not
    allowed in an output. A target may refuse a sample with `Faults` of its own, which are propagated: leave that sample out.
    """
    candidate = target if isinstance(target, Target) else Target(target)
    target_settings = Settings(package="sample") if settings is None else settings
    files: dict[str, Files] = {}
    for about, text in samples.items():
        protocol, bundle = sample(text)
        before, repetition = dump(protocol), sample(text)
        first = check_files(candidate(protocol, bundle, target_settings), "the target", "that is tried")
        assert dump(protocol) == before and bundle == repetition[1], f"{about}: the target changes what it is given"
        again = check_files(candidate(*repetition, target_settings), "the target", "that is tried")
        assert list(first.items()) == list(again.items()), f"{about}: equal input gave other files"
        files[about] = first
    return files
