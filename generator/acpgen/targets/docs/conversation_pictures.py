"""The pictures of conversations."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, Literal

from acpgen import ir
from acpgen.diagnostics.markup import Markdown
from acpgen.targets.docs import pictures
from acpgen.targets.docs.conversations import Conversation, Spoken
from acpgen.targets.docs.page_paths import Linker
from acpgen.targets.docs.scenarios import sides

AROUND: Final = 2
"""How many messages before a method and after it are shown on its page."""


def picture(protocol: ir.Protocol, conversation: Conversation, linker: Linker, *, for_site: bool) -> Markdown:
    """A conversation from top to bottom; on a site, each arrow leads to its message."""
    scenario = conversation.scenario
    return _drawn(
        protocol, conversation, conversation.messages, scenario.name, scenario.title, linker, for_site=for_site
    )


def around(
    protocol: ir.Protocol, conversation: Conversation, method: str, linker: Linker, *, for_site: bool
) -> Markdown:
    """The part of a conversation from shortly before the first message of a method until shortly after its answer."""
    mine = [place for place, spoken in enumerate(conversation.messages) if spoken.step.method.name == method]
    answer = next((place for place in mine if conversation.messages[place].step.is_answer), mine[0])
    shown = conversation.messages[max(0, mine[0] - AROUND) : max(answer, mine[0]) + AROUND + 1]
    title = f"Before and after {method}"
    name = f"{conversation.scenario.name}-around"
    return _drawn(protocol, conversation, shown, name, title, linker, for_site=for_site)


def _drawn(
    protocol: ir.Protocol,
    conversation: Conversation,
    shown: Sequence[Spoken],
    name: str,
    title: str,
    linker: Linker,
    *,
    for_site: bool,
) -> Markdown:
    both = sides(protocol)
    assert both is not None
    page = linker.paths.conversations[conversation.scenario.name]
    arrows = [_arrow(spoken, both, linker.href(page, spoken.anchor)) for spoken in shown]
    return pictures.conversation(name, title, both, arrows) if for_site else pictures.sequence_diagram(both, arrows)


def _arrow(spoken: Spoken, both: tuple[str, str], href: str) -> pictures.Arrow:
    to: Literal["left", "right"] = "right" if spoken.receiver == both[1] else "left"
    if not spoken.step.is_answer:
        return pictures.Arrow(spoken.step.method.name, to, note=spoken.note, href=href)
    label = f"response: {spoken.note}" if spoken.note else "response"
    return pictures.Arrow(label, to, answer=True, href=href)
