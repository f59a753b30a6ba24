"""The report as one self-contained HTML page: summary, filter, old beside new, evidence to copy."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any, Final

from acpgen import resources
from acpgen.diagnostics import outline
from acpgen.diagnostics.markup import write_content_policy
from acpgen.diagnostics.model import Diagnostic, DiagnosticReport, Snippet, SourceLocation, get_tone
from acpgen.errors import make_visible
from acpgen.input.numbers import dumps

if TYPE_CHECKING:
    from jinja2 import Environment
    from markupsafe import Markup

LONGEST: Final = 30_000
"""The maximum number of characters of a page that shows the evidence and both schemas with each diagnostic. A longer one shows the
evidence once for those with the same statement.
"""

LONGEST_EXCERPT: Final = 24
"""The maximum number of lines of a schema in a diagnostic."""


def write_page(report: DiagnosticReport) -> str:
    """Write the report as a page, in the fullest form that fits."""
    environment = _make_environment()
    assert environment.loader is not None
    style, script = (environment.loader.get_source(environment, name)[0] for name in ("page.css", "page.js"))

    def render(*, full: bool) -> str:
        return environment.get_template("page.html.jinja2").render(
            report=report,
            full=full,
            heavy=outline.group_by_rule(report.diagnostics, heavy=True),
            light=outline.group_by_rule(report.diagnostics, heavy=False),
            counts=outline.count_by_severity(report.diagnostics),
            style=style,
            script=script,
            policy=write_content_policy(style=f"\n{style}", script=f"\n{script}"),
        )

    page = render(full=True)
    return page if report.layout == "full" or len(page) <= LONGEST else render(full=False)


@cache
def _make_environment() -> Environment:
    """The templates of `templates/report`, with the functions that they call."""
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    environment = Environment(
        loader=FileSystemLoader(resources.locate_templates() / "report"),
        undefined=StrictUndefined,
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=_escape_control_characters,
    )
    functions = (_list_details, _list_evidence, _map_locations, _cut_excerpt, _write_lines, _find_shortest_evidence)
    names: dict[str, Any] = {function.__name__.strip("_"): function for function in functions}
    names |= {
        function.__name__: function
        for function in (outline.name_subject, outline.describe_reach, outline.describe_count, get_tone)
    }
    environment.globals.update(names)
    return environment


def _escape_control_characters(value: object) -> object:
    """A value of a template with control characters made visible; markup is unchanged."""
    return value if hasattr(value, "__html__") else make_visible(str(value))


def _list_details(diagnostic: Diagnostic) -> Iterator[tuple[str, object]]:
    """The lines below a message, each with its kind."""
    return ((type(line).__name__, line) for line in outline.describe_details(diagnostic))


def _list_evidence(snippet: Snippet) -> Sequence[str]:
    return snippet.lines or [dumps(snippet.value, ensure_ascii=False)]


def _find_shortest_evidence(diagnostics: Sequence[Diagnostic]) -> Diagnostic:
    """The diagnostic whose evidence is shown for all: the one with the shortest, and one without evidence only if none has any."""
    return min(
        diagnostics,
        key=lambda diagnostic: (
            sum(len(line) for snippet in diagnostic.evidence for line in _list_evidence(snippet)) or float("inf")
        ),
    )


def _write_lines(lines: Sequence[str]) -> Markup:
    """Preformatted lines."""
    from markupsafe import Markup

    return Markup("<pre>{}</pre>").format("\n".join(map(make_visible, lines)))


def _map_locations(diagnostic: Diagnostic) -> Mapping[str, SourceLocation]:
    """The locations by label (old and new) whose value is known."""
    return {location.label: location for location in diagnostic.locations if location.value is not None}


def _cut_excerpt(place: SourceLocation) -> Sequence[str]:
    lines = outline.split_json(place.value)
    return [*lines[:LONGEST_EXCERPT], "…"] if len(lines) > LONGEST_EXCERPT else lines
