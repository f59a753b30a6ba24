"""Diagrams of the variants of a union and of the messages of a session: SVG in the pages of a site, Mermaid elsewhere, as code hosting
sites remove SVG from Markdown.

The SVG has one colour, that of the surrounding text, so that it suits light and dark themes; fits a phone; and has a description in
`title` and `desc`.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Literal

from acpgen import ir
from acpgen.diagnostics.markup import Markdown, escape_html, make_identifier
from acpgen.targets.docs.conversations import Conversation, ConversationMessage
from acpgen.targets.docs.page_paths import Linker
from acpgen.targets.docs.scenarios import find_sides

WIDTH: Final = 352
"""The width of a diagram that a phone with a width of 400 pixels shows unscaled."""

AROUND: Final = 2
"""The number of messages shown before and after a method on its page."""

_LETTER: Final = 7.3
_ROW: Final = 40
_OBEYED: Final = re.compile(r"[^A-Za-z0-9_.,:/$() -]")


@dataclass(frozen=True, slots=True)
class Arrow:
    """One message of a conversation. `answer` is drawn dashed; `note` describes its content, `href` links to its documentation."""

    label: str
    to: Literal["left", "right"]
    answer: bool = False
    note: str = ""
    href: str = ""


def draw_union(union: ir.TaggedUnion, linker: Linker) -> Markdown:
    """Draw a union as a tree: its tag on top, a row for each variant and for the default and fallback branches."""
    rows = [
        (_write_tag(variant.tag), variant.type, f"tag-{make_identifier(str(variant.tag))}")
        for variant in union.variants
    ]
    dashed: set[int] = set()
    if union.default is not None:
        rows.append(("no known tag" if union.default_admits_unknown else "no tag", union.default, "unknown"))
    if union.fallback is not None:
        dashed.add(len(rows))
        rows.append(("any other", union.fallback, "unknown"))
    parts = [_draw_box(1, 1, union.name, f"discriminated by {union.tag}")]
    for index, (tag, name, anchor) in enumerate(rows):
        y = 58 + index * _ROW
        line = ' stroke-dasharray="4 3"' if index in dashed else ""
        parts.append(
            f'<path d="M16 {y - _ROW + 16 if index else 37}V{y + 16}H32" fill="none" stroke="currentColor"{line}/>'
        )
        parts.append(
            f'<a href="{linker.make_href(linker.page, anchor)}"><rect x="32" y="{y}" width="{WIDTH - 33}" height="32" rx="4" '
            f'fill="currentColor" fill-opacity="0.06" stroke="currentColor" stroke-opacity="0.5"{line}/>'
            f"{_draw_text(42, y + 14, tag, bold=True)}{_draw_text(42, y + 27, name, size=11)}</a>"
        )
    pairs = ", ".join(f"{tag} is {name}" for tag, name, _ in rows)
    height = 58 + len(rows) * _ROW
    return _write_svg(union.name, f"Variants of {union.name}", f"By {union.tag}: {pairs}.", height, parts, role="group")


def draw_messages(name: str, title: str, sides: tuple[str, str], arrows: Sequence[Arrow]) -> Markdown:
    """Draw messages from top to bottom between two sides."""
    left, right = 34, WIDTH - 34
    height = 50 + sum(_measure_arrow(arrow) for arrow in arrows)
    parts = [
        f'<path d="M{x} 30V{height - 6}" stroke="currentColor" stroke-opacity="0.4" fill="none"/>'
        for x in (left, right)
    ]
    parts += [_draw_side(x, side) for x, side in ((left, sides[0]), (right, sides[1]))]
    y = 40
    lines: list[str] = []
    for arrow in arrows:
        y += _measure_arrow(arrow)
        start, end, tip = (left, right, -7) if arrow.to == "right" else (right, left, 7)
        dash = ' stroke-dasharray="5 4"' if arrow.answer else ""
        elements = [
            f'<path d="M{start} {y}H{end}" stroke="currentColor" fill="none"{dash}/>',
            f'<path d="M{end} {y}l{tip} -4v8z" fill="currentColor"/>',
        ]
        above = y - 6
        if arrow.note:
            elements.append(_draw_text(WIDTH / 2, above, arrow.note, size=11, centred=True))
            above -= 14
        elements.append(_draw_text(WIDTH / 2, above, arrow.label, centred=True, bold=not arrow.answer))
        parts += _wrap_in_link(arrow, y, elements) if arrow.href else elements
        receiver = sides[1] if arrow.to == "right" else sides[0]
        lines.append(f"{arrow.label}{f' ({arrow.note})' if arrow.note else ''} to the {receiver}")
    role = "group" if any(arrow.href for arrow in arrows) else "img"
    return _write_svg(name, title, f"In this order: {'; '.join(lines)}.", height, parts, role)


def write_mermaid(sides: tuple[str, str], arrows: Sequence[Arrow]) -> Markdown:
    """A Mermaid sequence diagram of messages between two sides."""
    lines = [f"participant {name} as {_escape_mermaid(side)}" for name, side in zip("ab", sides, strict=True)]
    for arrow in arrows:
        ends = ("a", "b") if arrow.to == "right" else ("b", "a")
        note = f" ({arrow.note})" if arrow.note else ""
        lines.append(f"{ends[0]}{'-->>' if arrow.answer else '->>'}{ends[1]}: {_escape_mermaid(arrow.label + note)}")
    return Markdown("```mermaid\nsequenceDiagram\n" + "".join(f"    {line}\n" for line in lines) + "```")


def _escape_mermaid(text: str) -> str:
    """Escape text for Mermaid."""
    return _OBEYED.sub(lambda match: f"#{ord(match[0])};", text) or "#8203;"


def _wrap_in_link(arrow: Arrow, y: float, elements: Sequence[str]) -> Sequence[str]:
    """Wrap an arrow in a link that covers the space between the two sides. The link consists only of identifiers and needs no escaping."""
    height = _measure_arrow(arrow)
    area = f'<rect x="36" y="{y - height + 5}" width="{WIDTH - 72}" height="{height}" rx="4" fill="currentColor" fill-opacity="0"/>'
    return (f'<a href="{arrow.href}">{area}', *elements, "</a>")


def _measure_arrow(arrow: Arrow) -> int:
    return 42 if arrow.note else 28


def _draw_side(x: int, name: str) -> str:
    return (
        f'<rect x="{x - 33}" y="4" width="66" height="26" rx="4" fill="currentColor" fill-opacity="0.1" stroke="currentColor"/>'
        f"{_draw_text(x, 21, name, centred=True, bold=True)}"
    )


def _draw_box(x: int, y: int, title: str, below: str) -> str:
    return (
        f'<rect x="{x}" y="{y}" width="{WIDTH - 2}" height="36" rx="4" fill="currentColor" fill-opacity="0.1" stroke="currentColor"/>'
        f"{_draw_text(x + 9, y + 16, title, bold=True)}{_draw_text(x + 9, y + 30, below, size=11)}"
    )


def _draw_text(x: float, y: float, text: str, *, size: int = 12, bold: bool = False, centred: bool = False) -> str:
    room = int((WIDTH - (20 if centred else x)) / (_LETTER * size / 12))
    visible_text = text if len(text) <= room else f"{text[: room - 1]}…"
    anchor = ' text-anchor="middle"' if centred else ""
    weight = ' font-weight="600"' if bold else ""
    return f'<text x="{x:g}" y="{y:g}" font-size="{size}"{anchor}{weight}>{escape_html(visible_text)}</text>'


def _write_svg(
    name: str, title: str, description: str, height: int, parts: Sequence[str], role: str = "img"
) -> Markdown:
    """The SVG in one line: an empty line would end the HTML block. With links inside, its role is not `img`."""
    label = f"picture-{make_identifier(name)}"
    inside = "".join(parts)
    return Markdown(
        f'<figure class="acp-picture"><svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" '
        f'height="{height}" role="{role}" aria-labelledby="{label}-title {label}-desc" font-family="ui-monospace, monospace" '
        f'fill="currentColor"><title id="{label}-title">{escape_html(title)}</title>'
        f'<desc id="{label}-desc">{escape_html(description)}</desc>'
        f"{inside}</svg></figure>"
    )


def _write_tag(tag: str | int | float | bool) -> str:
    return str(tag).lower() if isinstance(tag, bool) else str(tag)


def draw_conversation(protocol: ir.Protocol, conversation: Conversation, linker: Linker, *, for_site: bool) -> Markdown:
    """Draw a conversation from top to bottom; on a site, each arrow links to its message."""
    scenario = conversation.scenario
    return _draw(
        protocol, conversation, conversation.messages, scenario.name, scenario.title, linker, for_site=for_site
    )


def draw_around(
    protocol: ir.Protocol, conversation: Conversation, method: str, linker: Linker, *, for_site: bool
) -> Markdown:
    """Draw the part of a conversation from `AROUND` messages before the first message of a method to `AROUND` after its response."""
    indices = [index for index, message in enumerate(conversation.messages) if message.step.method.name == method]
    answer = next((index for index in indices if conversation.messages[index].step.is_answer), indices[0])
    excerpt = conversation.messages[max(0, indices[0] - AROUND) : max(answer, indices[0]) + AROUND + 1]
    title = f"Before and after {method}"
    name = f"{conversation.scenario.name}-around"
    return _draw(protocol, conversation, excerpt, name, title, linker, for_site=for_site)


def _draw(
    protocol: ir.Protocol,
    conversation: Conversation,
    messages: Sequence[ConversationMessage],
    name: str,
    title: str,
    linker: Linker,
    *,
    for_site: bool,
) -> Markdown:
    sides = find_sides(protocol)
    assert sides is not None
    page = linker.paths.conversations[conversation.scenario.name]
    arrows = [_make_arrow(message, sides, linker.make_href(page, message.anchor)) for message in messages]
    return draw_messages(name, title, sides, arrows) if for_site else write_mermaid(sides, arrows)


def _make_arrow(message: ConversationMessage, sides: tuple[str, str], href: str) -> Arrow:
    to: Literal["left", "right"] = "right" if message.receiver == sides[1] else "left"
    if not message.step.is_answer:
        return Arrow(message.step.method.name, to, note=message.note, href=href)
    label = f"response: {message.note}" if message.note else "response"
    return Arrow(label, to, answer=True, href=href)
