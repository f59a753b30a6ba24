"""The page on the rules of `acpgen lint`: what each looks for, a change that violates it, and the message that it reports."""

from __future__ import annotations

import sys
from inspect import getdoc
from typing import Any, Final

from acpgen import resources
from acpgen.diagnostics.markup import Markdown, write_code_block
from acpgen.input.load import read_data
from acpgen.lint import RULES, name_rule
from acpgen.targets.docs.templates import lay_out

PAGE: Final = "lint.md"


def write_page() -> str:
    """Write the page of all lint rules, grouped by the subject of their modules."""
    examples = read_data(resources.LINT_EXAMPLES)
    groups: dict[str, list[dict[str, Any]]] = {}
    for rule in RULES:
        subject = (getdoc(sys.modules[rule.__module__]) or "").split("\n")[0]
        row = {"id": name_rule(rule), "doc": getdoc(rule) or "", "example": examples[name_rule(rule)]}
        groups.setdefault(subject, []).append(row)
    return lay_out("lint", path=PAGE, groups=list(groups.items()), difference=_format_difference)


def _format_difference(text: str) -> Markdown:
    return write_code_block(text.rstrip(), "diff")
