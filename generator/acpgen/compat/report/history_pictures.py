"""A history as SVG: its steps from top to bottom, and which revisions understand each other as a grid.

The pictures stand inside a page and take the colour of the text around them, in light and dark. Colours are never alone: each outcome has
a sign too, and `title` and `desc` say in words what a picture shows.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from acpgen.compat.history.timeline import Matrix, Outcome, Timeline
from acpgen.compat.report.history_words import LEGEND, OUTCOME_ORDER, SIGNS, matrix_words, outcomes, step_words
from acpgen.markup import Markdown, html, identifier

WIDTH: Final = 352
"""The width in which a phone of 400 pixels shows a picture without shrinking it."""

_LETTER: Final = 7.25
_ROW: Final = 24
_LABEL: Final = 92
"""The room for the names of rows."""

_TONES: Final[Mapping[str, tuple[str, float]]] = {
    "no": ("#d1403a", 0.9),
    "breaking": ("#d1403a", 0.9),
    "undecided": ("#8e5bb5", 0.6),
    "not compared": ("#8e5bb5", 0.6),
    "cannot be read": ("#8e5bb5", 0.6),
    "risky": ("#d08700", 0.65),
    "yes": ("#2f9e62", 0.25),
    "additive": ("#2f9e62", 0.7),
    "editorial": ("currentColor", 0.25),
    "identical": ("currentColor", 0.1),
    "first": ("currentColor", 0.1),
}
"""A colour that stands on light and on dark, and how much of it."""

COLOURS: Final = frozenset(colour for colour, _ in _TONES.values())
"""All of them. A sign stands beside each that means harm."""

_MARKS: Final[Mapping[str, str]] = {
    **dict.fromkeys(("no", "breaking"), SIGNS["no"]),
    **dict.fromkeys(("undecided", "not compared", "cannot be read"), SIGNS["undecided"]),
    "risky": SIGNS["risky"],
}


def steps_picture(name: str, timeline: Timeline) -> Markdown:
    """The revisions from top to bottom, each with the verdict of the step to it."""
    rows = [(milestone.label, verdict, note) for milestone, verdict, note in step_words(timeline)]
    parts: list[str] = []
    for number, (label, verdict, note) in enumerate(rows):
        y = number * _ROW + _ROW / 2
        colour, much = _TONES[verdict]
        mark = _MARKS.get(verdict, "")
        if number:
            line = f'<path d="M16 {y - _ROW + 9:g}V{y - 9:g}" stroke="currentColor" stroke-opacity="0.4" fill="none"/>'
            parts.append(line)
        circle = f'<circle cx="16" cy="{y:g}" r="{9 if mark else 6}" fill="{colour}" fill-opacity="{much:g}" stroke="{colour}"/>'
        parts.append(circle)
        if mark:
            parts.append(_text(16, y + 4, mark, 20, centred=True, bold=True))
        parts.append(_text(34, y + 4, label, 142, size=11, bold=verdict == "breaking"))
        short = note.replace("but made", "not").partition(" (")[0]
        words = ", ".join(filter(None, (verdict if number else "", short)))
        parts.append(_text(178, y + 4, words, WIDTH - 178, size=11))
    told = "; ".join(f"{label}: {verdict}" for label, verdict, _ in rows)
    return _svg(name, f"The steps of {name}", f"From the oldest to the newest: {told}.", len(rows) * _ROW, parts)


def matrix_picture(name: str, matrix: Matrix) -> Markdown:
    """The matrix as a grid: of each cell the lower left is what the side of the row sends, the upper right what the other one does."""
    count = len(matrix.rows)
    size = min(40, (WIDTH - _LABEL - 2) / count)
    top = 20
    parts: list[str] = []
    for number, members in enumerate(matrix.rows):
        y = top + number * size + size / 2 + 4
        parts.append(_text(0, y, f"{number + 1} {members[0]}{' …' if len(members) > 1 else ''}", _LABEL - 4, size=11))
        parts.append(_text(_LABEL + number * size + size / 2, 14, str(number + 1), size, size=11, centred=True))
        cells = (
            _cell(outcomes(matrix, number, column), _LABEL + column * size, top + number * size, size)
            for column in range(count)
        )
        parts.extend(cells)
    bottom = top + count * size + 18
    for position, outcome in enumerate(OUTCOME_ORDER):
        x, y = (position % 2) * WIDTH / 2, bottom + (position // 2) * 22
        parts.append(_cell([outcome], x, y - 12, 16))
        parts.append(_text(x + 22, y, LEGEND[outcome], WIDTH / 2 - 24, size=11))
    words = " ".join(matrix_words(matrix))
    description = (
        f"{words} Lower left in a cell is the first, upper right the second. The table below says the same in signs."
    )
    return _svg(f"{name} matrix", f"Which revisions understand each other in {name}", description, bottom + 30, parts)


def _cell(found: Sequence[Outcome], x: float, y: float, size: float) -> str:
    """A square with an outcome in each half; all outcomes but the first two are in a corner."""
    left, right, low = x + 1, x + size - 1, y + size - 1
    high = y + 1
    if len(found) == 1:
        return _half(found[0], f"M{left:g} {high:g}H{right:g}V{low:g}H{left:g}z", x + size / 2, y + size / 2 + 4)
    shapes = (
        _half(found[0], f"M{left:g} {high:g}V{low:g}H{right:g}z", x + size * 0.3, y + size * 0.9 - 1),
        _half(found[1], f"M{left:g} {high:g}H{right:g}V{low:g}z", x + size * 0.7, y + size * 0.5 - 1),
    )
    return "".join(shapes)


def _half(outcome: Outcome, path: str, x: float, y: float) -> str:
    colour, much = _TONES[outcome]
    shape = f'<path d="{path}" fill="{colour}" fill-opacity="{much:g}"/>'
    return shape + (_text(x, y, _MARKS[outcome], 20, size=10, centred=True, bold=True) if outcome in _MARKS else "")


def _text(
    x: float, y: float, text: str, width: float, *, size: int = 12, bold: bool = False, centred: bool = False
) -> str:
    room = max(1, int(width / (_LETTER * size / 12)))
    shown = text if len(text) <= room else f"{text[: room - 1]}…"
    anchor = ' text-anchor="middle"' if centred else ""
    weight = ' font-weight="600"' if bold else ""
    return f'<text x="{x:g}" y="{y:g}" font-size="{size}"{anchor}{weight}>{html(shown)}</text>'


def _svg(name: str, title: str, description: str, height: float, parts: Sequence[str]) -> Markdown:
    """The whole picture without a line break in it: an empty line would end the HTML."""
    label = f"picture-{identifier(name)}"
    return Markdown(
        f'<figure class="acp-picture"><svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height:g}" width="{WIDTH}" '
        f'height="{height:g}" role="img" aria-labelledby="{label}-title {label}-desc" font-family="ui-monospace, monospace" '
        f'fill="currentColor"><title id="{label}-title">{html(title)}</title><desc id="{label}-desc">{html(description)}</desc>'
        f"{''.join(parts)}</svg></figure>"
    )
