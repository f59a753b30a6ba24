"""The methods that an agent of v2 must support once it advertises sessions.

Source: the RFD on required session methods (2026-07-02).
"""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from acp_bindings import v2

BASELINE: Final = (
    "session/new",
    "session/load",
    "session/list",
    "session/resume",
    "session/close",
    "session/prompt",
    "session/cancel",
    "session/update",
)
"""The eight methods behind `capabilities.session`; `session/update` is the one that the agent sends."""


def missing_methods(capabilities: v2.AgentCapabilities, supported: Collection[str]) -> tuple[str, ...]:
    """The baseline methods that an agent with these capabilities must support and does not; call it before advertising.

    `supported` are the methods that the agent handles or, for `session/update`, sends. Empty where no sessions are advertised.

    >>> from acp_bindings import v2
    >>> missing_methods(v2.AgentCapabilities(session=v2.SessionCapabilities()), set(BASELINE) - {"session/close"})
    ('session/close',)
    >>> missing_methods(v2.AgentCapabilities(), ())
    ()
    """
    if capabilities.session is None:
        return ()
    return tuple(method for method in BASELINE if method not in supported)
