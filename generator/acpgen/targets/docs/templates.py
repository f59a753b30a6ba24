"""Templates and the functions that they may call. Template output that is not `Markdown` is escaped."""

from __future__ import annotations

import posixpath
from collections.abc import Callable
from functools import cache
from inspect import isfunction
from typing import Any, Final

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from acpgen.diagnostics import markup
from acpgen.diagnostics.markup import Markdown
from acpgen.input.step_budget import spend
from acpgen.resources import locate_templates
from acpgen.targets.docs import codes, page_notes, page_paths, pictures, type_text, views

_STEPS_A_PAGE: Final = 60
"""The cost of a page in steps of the budget, where a step is about one visit of a schema."""


def lay_out(template: str, **values: Any) -> str:
    """Render a page from a template and these values."""
    spend(_STEPS_A_PAGE)
    name = template if "." in template else f"{template}.md"
    return _tidy(make_environment().get_template(f"{name}.jinja2").render(**values))


def relativize(source: str, target: str) -> Markdown:
    """The link from one page to another."""
    return Markdown(posixpath.relpath(target, posixpath.dirname(source) or "."))


def escape_html(text: str) -> Markdown:
    """Escaped HTML that the page contains unchanged."""
    return Markdown(markup.escape_html(text))


@cache
def make_environment() -> Environment:
    """The Jinja environment for `templates/docs`, with the functions that templates may call."""
    jinja_environment = Environment(
        loader=FileSystemLoader(locate_templates() / "docs"),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        finalize=markup.finalize,
        autoescape=False,  # noqa: S701 - `finalize` escapes whatever is not Markdown already
    )
    for module in (markup, codes, page_notes, page_paths, pictures, type_text, views):
        jinja_environment.globals.update(
            (name, function) for name, function in vars(module).items() if isfunction(function)
        )
    functions: dict[str, Callable[..., Markdown]] = {"relativize": relativize, "escape_html": escape_html}
    jinja_environment.globals.update(functions)
    return jinja_environment


def _tidy(page: str) -> str:
    """Reduce consecutive empty lines to one, and end the page with one newline."""
    lines: list[str] = []
    for line in page.split("\n"):
        stripped_line = line.rstrip()
        if stripped_line or (lines and lines[-1]):
            lines.append(stripped_line)
    return "\n".join(lines).strip("\n") + "\n"
