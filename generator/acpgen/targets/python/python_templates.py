"""The templates of the target, and text that all of them contain."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, cast

from acpgen import ir
from acpgen.resources import NOTICE, load_templates
from acpgen.targets.python.literals import wrap_docstring


def render_template(template: str, *, replacements: Mapping[str, str] | None = None, **values: Any) -> str:
    """Render a template, with one newline at its end. `replacements` maps names in the template itself to other names."""
    name = template if "." in template else f"{template}.py"
    environment = load_templates("python")
    jinja_template = environment.get_template(f"{name}.jinja2")
    if replacements:
        source, _, _ = cast("Any", environment.loader).get_source(environment, f"{name}.jinja2")
        jinja_template = environment.from_string(_with_names(source, replacements))
    return jinja_template.render(notice=NOTICE, **values).strip("\n") + "\n"


def _with_names(source: str, replacements: Mapping[str, str]) -> str:
    """Rename the names in a template, but not inside its expressions and statements."""

    def replace(match: re.Match[str]) -> str:
        name = match["name"]
        return match[0] if name is None else f"{name} as {replacements[name]}" if is_import else replacements[name]

    words = re.compile(rf"\{{[{{%].*?[%}}]\}}|(?<![.\w])(?P<name>{'|'.join(map(re.escape, replacements))})\b")
    lines: list[str] = []
    for line in source.splitlines(keepends=True):
        is_import = line.startswith("from ")
        lines.append(words.sub(replace, line))
    return "".join(lines)


def name_protocol(protocol: ir.Protocol) -> str:
    """The name of a protocol in docstrings."""
    return wrap_docstring(protocol.name, 0) or "protocol"
