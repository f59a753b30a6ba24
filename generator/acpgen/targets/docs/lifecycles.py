"""The pictures of conversations."""

from __future__ import annotations

from typing import Literal

from acpgen import ir
from acpgen.markup import Markdown
from acpgen.targets.docs import pictures
from acpgen.targets.docs.conversations import Conversation, Spoken
from acpgen.targets.docs.places import Linker
from acpgen.targets.docs.planned import sides


def picture(protocol: ir.Protocol, conversation: Conversation, linker: Linker) -> Markdown:
    """A conversation from top to bottom; each arrow leads to its message."""
    both = sides(protocol)
    assert both is not None
    page = linker.places.conversations[conversation.plan.name]
    arrows = [_arrow(spoken, both, linker.href(page, spoken.anchor)) for spoken in conversation.messages]
    return pictures.conversation(conversation.plan.name, conversation.plan.title, both, arrows)


def _arrow(spoken: Spoken, both: tuple[str, str], href: str) -> pictures.Arrow:
    to: Literal["left", "right"] = "right" if spoken.receiver == both[1] else "left"
    if not spoken.step.is_answer:
        return pictures.Arrow(spoken.step.method.name, to, note=spoken.note, href=href)
    label = f"answer: {spoken.note}" if spoken.note else "answer"
    return pictures.Arrow(label, to, answer=True, href=href)
