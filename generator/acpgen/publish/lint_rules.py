"""The page on the rules of `acpgen lint`: what each looks for, a change that violates it, and the message that it reports."""

from __future__ import annotations

import sys
from functools import cache
from inspect import getdoc
from typing import Any, Final, cast

from acpgen import resources
from acpgen.diagnostics.markup import Markdown, write_code_block
from acpgen.input.load import decode, parse_json, read_bytes
from acpgen.lint import RULES, name_rule
from acpgen.targets.docs.templates import lay_out

PAGE: Final = "lint.md"


def write_page() -> str:
    """Write the page of all lint rules, grouped by the subject of their modules."""
    groups: dict[str, list[dict[str, Any]]] = {}
    for rule in RULES:
        subject = (getdoc(sys.modules[rule.__module__]) or "").split("\n")[0]
        row = {"id": name_rule(rule), "doc": getdoc(rule) or "", "example": read_examples()[name_rule(rule)]}
        groups.setdefault(subject, []).append(row)
    return lay_out("lint", path=PAGE, groups=list(groups.items()), difference=_format_difference)


@cache
def read_examples() -> dict[str, Any]:
    """For each rule, a change of the project's schemas that violates it, the place of the finding, and the message."""
    file = resources.locate_lint_examples()
    return cast("dict[str, Any]", parse_json(decode(read_bytes(file), file.name), file.name))


def _format_difference(text: str) -> Markdown:
    return write_code_block(text.rstrip(), "diff")
