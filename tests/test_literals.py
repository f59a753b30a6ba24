"""Texts of a schema as literals and docstrings: Python reads the same text back, and nothing else."""

from __future__ import annotations

import ast
from itertools import product

import pytest

from acpgen.targets.python.literals import wrap_docstring, write_docstring, write_literal

TEXTS = ["".join(found) for length in range(7) for found in product('"\\ a\n', repeat=length)]


def test_every_short_text_of_quotes_backslashes_and_lines_is_its_own_docstring() -> None:
    for text in TEXTS:
        source = f"class A:\n    {write_docstring(text, 4)}\n    b = 1\n"
        (found,) = ast.parse(source).body
        assert isinstance(found, ast.ClassDef)
        assert (ast.get_docstring(found) or "").split() == text.split(), source
        assert len(found.body) == (2 if text.strip() else 1), source


def test_every_such_text_stands_in_a_docstring_with_more() -> None:
    for text in TEXTS:
        body = wrap_docstring(text, 0)
        (found,) = ast.parse(f'"""{body}:\n\n{body}\n"""\n').body
        assert isinstance(found, ast.Expr)
        assert ast.literal_eval(found.value).split() == f"{text.strip()}:\n{text}".split()


@pytest.mark.parametrize(
    "text",
    ["\0", "\u2028", "\ud800", "\ufeff", "\u202e", "\u200b", "\U000e0041", "\x85", "\\N{DIGIT ONE}", "{x}", "%s"],
)
def test_a_literal_is_the_text_in_printable_characters(text: str) -> None:
    assert ast.literal_eval(write_literal(text)) == text
    assert write_literal(text).isprintable()
