"""Templates and what they may call. Whatever a template writes that is no `Markdown` is escaped on its way."""

from __future__ import annotations

import base64
import posixpath
from collections.abc import Callable
from functools import cache
from inspect import isfunction
from typing import Any, Final

from jinja2 import BytecodeCache, Environment, FileSystemLoader, StrictUndefined
from jinja2.bccache import Bucket

from acpgen.diagnostics import markup
from acpgen.diagnostics.markup import Markdown
from acpgen.files.cache import Cache, key_of, own_code
from acpgen.input.step_budget import spend
from acpgen.resources import templates
from acpgen.targets.docs import codes, page_notes, page_paths, pictures, type_text, views

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


def html(text: str) -> Markdown:
    """HTML that stands in a page as it is."""
    return Markdown(markup.html(text))


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
    for module in (markup, codes, page_notes, page_paths, pictures, type_text, views):
        made.globals.update((name, each) for name, each in vars(module).items() if isfunction(each))
    functions: dict[str, Callable[..., Markdown]] = {"relative": relative, "html": html}
    made.globals.update(functions)
    return made


class _Compiled(BytecodeCache):
    """Templates as an earlier run compiled them."""

    def __init__(self, cache: Cache) -> None:
        self._cache: Final = cache

    def load_bytecode(self, bucket: Bucket) -> None:
        found = self._cache.find(self._key(bucket))
        if isinstance(found, str):
            bucket.bytecode_from_string(base64.b64decode(found))

    def dump_bytecode(self, bucket: Bucket) -> None:
        self._cache.keep(self._key(bucket), base64.b64encode(bucket.bytecode_to_string()).decode())

    def _key(self, bucket: Bucket) -> str:
        return key_of("template", own_code().digest, bucket.key, bucket.checksum)


def use_compiled(cache: Cache) -> None:
    """Take compiled templates from a cache, and keep there those that are compiled now."""
    environment().bytecode_cache = None if cache.folder is None else _Compiled(cache)


def _tidy(page: str) -> str:
    """At most one empty line in a row, and one line end at the end."""
    lines: list[str] = []
    for line in page.split("\n"):
        kept = line.rstrip()
        if kept or (lines and lines[-1]):
            lines.append(kept)
    return "\n".join(lines).strip("\n") + "\n"
