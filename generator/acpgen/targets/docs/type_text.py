"""The values that a type admits, in words."""

from __future__ import annotations

from collections.abc import Iterator
from typing import assert_never

from acpgen import ir
from acpgen.diagnostics.markup import Markdown, write_code, write_prose, write_value
from acpgen.input.numbers import dumps
from acpgen.targets.docs.page_paths import Linker, join_markdown


def describe_type(type_: ir.Type, linker: Linker) -> Markdown:
    """A type as a phrase, e.g. `array of ContentBlock`, with links to what has a page."""
    match type_:
        case ir.Anything():
            return Markdown("any value")
        case ir.Nothing():
            return Markdown("no value at all")
        case ir.Null():
            return Markdown("null")
        case ir.Boolean():
            return Markdown("boolean")
        case ir.Number():
            return Markdown(f"{_name_number(type_)}{_describe_format(type_.format)}")
        case ir.String():
            return Markdown(f"string{_describe_format(type_.format)}")
        case ir.Constant():
            return join_markdown(map(write_value, type_.values), " or ")
        case ir.Array():
            return Markdown(f"array of {describe_type(type_.items, linker)}")
        case ir.Tuple():
            entries = [describe_type(item, linker) for item in type_.first]
            after = (
                [] if type_.rest == ir.Nothing() else [Markdown(f"any number of {describe_type(type_.rest, linker)}")]
            )
            return Markdown(f"array that holds, in this order: {join_markdown([*entries, *after], '; ')}")
        case ir.Map(values=ir.Anything()):
            return Markdown("object with any fields")
        case ir.Map():
            return Markdown(f"object whose values are each: {describe_type(type_.values, linker)}")
        case ir.Ref():
            return linker.link_type(type_.name)
        case ir.AnyOf():
            between = ", or " if any(map(_is_long, type_.types)) else " or "
            return join_markdown((describe_type(member, linker) for member in type_.types), between)
        case _:
            assert_never(type_)


def _is_long(type_: ir.Type) -> bool:
    """Whether words after the phrase of a type could be read as part of it."""
    return isinstance(type_, ir.Array | ir.Tuple | ir.Map | ir.Constant)


def describe_type_as_text(type_: ir.Type) -> str:
    """A type as plain text with all constraints, so that different types have different texts."""
    match type_:
        case ir.Constant():
            return " or ".join(dumps(item, ensure_ascii=False) for item in type_.values)
        case ir.Ref():
            return type_.name
        case ir.Array():
            return f"array of {describe_type_as_text(type_.items)}{_describe_constraints(type_)}"
        case ir.Tuple():
            entries = "; ".join(map(describe_type_as_text, type_.first))
            return f"array that holds {entries}; and then {describe_type_as_text(type_.rest)}{_describe_constraints(type_)}"
        case ir.Map():
            return f"object of {describe_type_as_text(type_.values)}"
        case ir.AnyOf():
            return " or ".join(map(describe_type_as_text, type_.types))
        case ir.Number():
            return f"{_name_number(type_)}{_describe_constraints(type_)}"
        case ir.Anything() | ir.Nothing():
            return "any value" if isinstance(type_, ir.Anything) else "no value"
        case ir.String() | ir.Boolean() | ir.Null():
            return f"{type(type_).__name__.lower()}{_describe_constraints(type_)}"
        case _:
            assert_never(type_)


def _name_number(type_: ir.Number) -> str:
    noun = "integer" if type_.integer else "number"
    return f"{noun} written without a fraction" if type_.without_fraction else noun


def _describe_constraints(type_: ir.Type) -> str:
    phrases = [text for text in list_constraint_texts(type_) if text]
    return f" ({'; '.join(phrases)})" if phrases else ""


def list_constraints(type_: ir.Type) -> Iterator[Markdown]:
    """Yield a phrase for each constraint of a type, its entries and its members."""
    for text in list_constraint_texts(type_):
        yield write_prose(text)
    match type_:
        case ir.Array():
            yield from (Markdown(f"each entry: {text}") for text in list_constraints(type_.items))
        case ir.Tuple():
            for index, item in enumerate(type_.first, 1):
                yield from (Markdown(f"entry {index}: {text}") for text in list_constraints(item))
            yield from (Markdown(f"each entry after them: {text}") for text in list_constraints(type_.rest))
        case ir.Map():
            yield from (Markdown(f"each value: {text}") for text in list_constraints(type_.values))
        case ir.AnyOf():
            for member in type_.types:
                yield from list_constraints(member)
        case _:
            pass


def list_constraint_texts(type_: ir.Type) -> Iterator[str]:
    """Yield the constraints of a type itself as plain text, patterns in backticks."""
    match type_:
        case ir.Number():
            yield from _describe_range(type_)
        case ir.String():
            yield from _describe_length(type_.min_length, type_.max_length, "character")
            if type_.pattern is not None:
                yield f"matches `{type_.pattern}`" if "`" not in type_.pattern else f"matches {type_.pattern}"
            if type_.encoding is not None:
                yield f"encoded as {type_.encoding}"
        case ir.Array():
            yield from _describe_length(type_.min_items, type_.max_items, "entry", "entries")
            if type_.unique:
                yield "no entry twice"
        case ir.Tuple():
            if type_.rest != ir.Nothing():
                min_items = type_.min_items if (type_.min_items or 0) > len(type_.first) else None
                yield from _describe_length(min_items, type_.max_items, "entry", "entries")
            if type_.unique:
                yield "no entry twice"
        case _:
            pass


def list_type_references(type_: ir.Type) -> Iterator[str]:
    """Yield the definitions to which a type refers."""
    match type_:
        case ir.Ref():
            yield type_.name
        case ir.Array():
            yield from list_type_references(type_.items)
        case ir.Tuple():
            for member in (*type_.first, type_.rest):
                yield from list_type_references(member)
        case ir.Map():
            yield from list_type_references(type_.values)
        case ir.AnyOf():
            for member in type_.types:
                yield from list_type_references(member)
        case _:
            pass


def admits_null(type_: ir.Type, protocol: ir.Protocol, through: frozenset[str] = frozenset()) -> bool:
    """Whether a type admits null, by itself or through an alias."""
    match type_:
        case ir.Null() | ir.Anything():
            return True
        case ir.Constant():
            return None in type_.values
        case ir.AnyOf():
            return any(admits_null(member, protocol, through) for member in type_.types)
        case ir.Ref() if type_.name not in through:
            definition = protocol.definitions[type_.name]
            return isinstance(definition, ir.Alias) and admits_null(
                definition.type, protocol, through | {definition.name}
            )
        case _:
            return False


def _describe_range(number: ir.Number) -> Iterator[str]:
    if number.minimum is not None:
        yield f"at least {number.minimum}"
    if number.exclusive_minimum is not None:
        yield f"more than {number.exclusive_minimum}"
    if number.maximum is not None:
        yield f"at most {number.maximum}"
    if number.exclusive_maximum is not None:
        yield f"less than {number.exclusive_maximum}"
    if number.multiple_of is not None:
        yield f"a multiple of {number.multiple_of}"


def _describe_length(minimum: int | None, maximum: int | None, noun: str, nouns: str | None = None) -> Iterator[str]:
    many = nouns or f"{noun}s"
    if minimum is not None and minimum == maximum:
        yield f"exactly {minimum} {noun if minimum == 1 else many}"
        return
    if minimum:
        yield f"at least {minimum} {noun if minimum == 1 else many}"
    if maximum is not None:
        yield f"at most {maximum} {noun if maximum == 1 else many}"


def _describe_format(name: str | None) -> str:
    return f" ({write_code(name)})" if name else ""
