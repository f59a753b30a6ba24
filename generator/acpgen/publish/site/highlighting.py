"""Syntax highlighting, as an extension of the site generator's Markdown: only tokens with a colour of their own get an element.

In JSON, three of four tokens are punctuation and space. With an element around each, a page of many examples is slow on a phone.
"""

# mypy: disable-error-code="import-untyped,misc"
# pyright: basic

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, Final

from pygments.filter import Filter
from pygments.token import Name, Operator, Punctuation, Text, Whitespace
from pymdownx.highlight import Highlight, HighlightExtension

PLAIN: Final = frozenset({Name, Name.Other, Operator, Punctuation, Whitespace})
"""The kinds of token that have the colour of the surrounding text."""


class _Sparse(Filter):
    def filter(self, lexer: Any, stream: Iterable[tuple[Any, str]]) -> Iterator[tuple[Any, str]]:  # noqa: ARG002 - the name is the base class's
        """Yield the tokens of a code block, with uncoloured kinds replaced by plain text."""
        return ((Text if kind in PLAIN else kind, text) for kind, text in stream)


class _Highlighter(Highlight):
    def get_lexer(self, src: str, language: str, inline: bool, stripnl: bool) -> tuple[Any, str]:
        """The lexer of a language, and the name of the language."""
        lexer, name = super().get_lexer(src, language, inline, stripnl)
        lexer.add_filter(_Sparse())
        return lexer, name


class Highlighting(HighlightExtension):
    """A replacement of `pymdownx.highlight`."""

    def get_pymdownx_highlighter(self) -> type[Any]:
        """The class that writes a code block as HTML."""
        return _Highlighter
