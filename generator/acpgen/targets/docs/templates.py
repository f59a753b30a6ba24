"""Templates and what they may call. Whatever a template writes that is no `Markdown` is escaped on its way."""

from __future__ import annotations

import posixpath
from functools import cache
from typing import Any, Final

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from acpgen.diagnostics import markup
from acpgen.diagnostics.markup import Markdown, prose
from acpgen.input.step_budget import spend
from acpgen.resources import templates
from acpgen.targets.docs import pictures
from acpgen.targets.docs.codes import codes_of
from acpgen.targets.docs.notes import since_phrase
from acpgen.targets.docs.page_paths import capability_anchor, join_markdown
from acpgen.targets.docs.type_text import describe_type
from acpgen.targets.docs.views import (
    capability_phrase,
    capability_usage_phrase,
    constraint_list,
    excluded_phrases,
    field_rows,
    kind_phrase,
    type_links,
    unknown_phrase,
    use_phrase,
    variant_views,
)

_STEPS_A_PAGE: Final = 60
"""What a page counts for, which takes as long as about so many looks at a schema."""


def lay_out(template: str, **values: Any) -> str:
    """A page as a template makes it from these values."""
    spend(_STEPS_A_PAGE)
    name = template if "." in template else f"{template}.md"
    return _tidy(environment().get_template(f"{name}.jinja2").render(**values))


def relative(here: str, page: str) -> Markdown:
    """The address of one page as seen from another."""
    return Markdown(posixpath.relpath(page, posixpath.dirname(here) or "."))


@cache
def environment() -> Environment:
    """The templates of `templates/docs`, with the functions that they call."""
    made = Environment(
        loader=FileSystemLoader(templates() / "docs"),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        finalize=markup.finalized,
        autoescape=False,  # noqa: S701 - `finalized` escapes whatever is not Markdown already
    )
    known: dict[str, Any] = {
        "block": markup.block,
        "blocks": markup.blocks,
        "capability_anchor": capability_anchor,
        "capability_phrase": capability_phrase,
        "code": markup.code,
        "constraint_list": constraint_list,
        "excluded_phrases": excluded_phrases,
        "field_rows": field_rows,
        "first_sentence": markup.first_sentence,
        "capability_usage_phrase": capability_usage_phrase,
        "html": lambda text: Markdown(markup.html(text)),
        "identifier": markup.identifier,
        "kind_phrase": kind_phrase,
        "describe_type": describe_type,
        "joined": join_markdown,
        "paragraphs": markup.paragraphs,
        "plain": markup.plain,
        "prose": prose,
        "relative": relative,
        "around": pictures.around,
        "codes_of": codes_of,
        "picture": pictures.picture,
        "since_phrase": since_phrase,
        "type_links": type_links,
        "unknown_phrase": unknown_phrase,
        "use_phrase": use_phrase,
        "value": markup.value,
        "variant_views": variant_views,
        "variants_picture": pictures.variants,
    }
    made.globals.update(known)
    return made


def _tidy(page: str) -> str:
    """At most one empty line in a row, and one line end at the end."""
    lines: list[str] = []
    for line in page.split("\n"):
        kept = line.rstrip()
        if kept or (lines and lines[-1]):
            lines.append(kept)
    return "\n".join(lines).strip("\n") + "\n"
