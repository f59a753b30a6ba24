"""Which requirements of the protocols' own pages each case tries, by case. `tests/requirements_file.py` writes this from
`schema/requirements.json`.
"""

from typing import Final

TRIED: Final[dict[str, tuple[int | str, ...]]] = {
    "cancellation/cancel-request": (
        "acp/v1/cancellation/cancel_request-notification/4",
        "acp/v1/rfds/request-cancellation/cancellation-processing/2",
    ),
    "client-methods/not-advertised": (
        "acp/v1/file-system/checking-support/2",
        "acp/v1/terminals/checking-support/2",
        "acp/v1/elicitation/checking-support/2",
        "acp/v2/elicitation/checking-support/2",
    ),
    "client-methods/refused": (
        "acp/v1/prompt-turn/4-check-for-completion/1",
        "acp/v1/elicitation/responses/5",
        "acp/v2/prompt-lifecycle/4-report-completion/2",
        "acp/v2/elicitation/responses/4",
    ),
    "client-methods/served": (
        "acp/v1/prompt-turn/4-check-for-completion/1",
        "acp/v1/terminals/releasing-terminals/2",
        "acp/v1/elicitation/responses/5",
        "acp/v2/prompt-lifecycle/4-report-completion/2",
        "acp/v2/elicitation/responses/4",
    ),
    "client-methods/slow": (
        "acp/v1/prompt-turn/4-check-for-completion/1",
        "acp/v2/prompt-lifecycle/4-report-completion/2",
    ),
    "client/handshake": (
        "acp/v1/initialization/introduction/1",
        "acp/v2/initialization/overview/1",
        "acp/v2/initialization/overview/2",
    ),
    "client/permission": (
        "acp/v1/overview/baseline-methods/2",
        "acp/v1/tool-calls/requesting-permission/3",
        "acp/v2/overview/baseline-methods/3",
    ),
    "client/version-unknown": (
        "acp/v1/initialization/version-negotiation/3",
        "acp/v2/initialization/version-negotiation/4",
    ),
    "content/unknown-block": ("acp/v2/schema/contentblock/1",),
    "elicitation/unknown-completion": ("acp/v1/elicitation/url-completion/5", "acp/v2/elicitation/url-completion/5"),
    "elicitation/unknown-mode": ("acp/rfds/elicitation/elicitation-modes/3",),
    "extensibility/meta": ("acp/v1/extensibility/the-_meta-field/1", "acp/v2/extensibility/the-_meta-field/1"),
    "extensibility/unknown-notification": (
        "acp/v1/extensibility/custom-notifications/1",
        "acp/v2/extensibility/custom-notifications/1",
    ),
    "extensibility/unknown-request": (
        "acp/v1/extensibility/custom-requests/2",
        "acp/v2/extensibility/custom-requests/2",
    ),
    "initialization/answer": ("acp/v1/initialization/introduction/3", "acp/v2/initialization/overview/3"),
    "initialization/newer-version": (
        "acp/v1/initialization/version-negotiation/2",
        "acp/v2/initialization/version-negotiation/3",
    ),
    "initialization/supported-version": (
        "acp/v1/initialization/version-negotiation/2",
        "acp/v2/initialization/version-negotiation/2",
    ),
    "initialization/unknown-capability": (
        "acp/v1/initialization/capabilities/2",
        "acp/v2/initialization/capabilities/2",
    ),
    "json-rpc/ids": ("acp/v1/schema/requestid/3", "acp/v2/schema/requestid/2"),
    "json-rpc/optional-notification": (
        "acp/v1/overview/error-handling/2",
        "acp/v1/cancellation/cancel_request-notification/1",
        "acp/v2/overview/error-handling/3",
        "acp/v2/transports/json-rpc-batch-messages/7",
    ),
    "json-rpc/unknown-notification": (
        "acp/v1/overview/error-handling/2",
        "acp/v2/overview/error-handling/3",
        "acp/v2/transports/json-rpc-batch-messages/7",
    ),
    "prompt-turn/audio": (
        "acp/v1/initialization/prompt-capabilities/2",
        "acp/v2/initialization/session-prompt-capabilities/2",
    ),
    "prompt-turn/cancel-after-update": (
        "acp/v1/prompt-turn/cancellation/5",
        "acp/v1/prompt-turn/cancellation/6",
        "acp/v1/prompt-turn/cancellation/8",
        "acp/v2/prompt-lifecycle/cancellation/5",
        "acp/v2/prompt-lifecycle/cancellation/6",
        "acp/v2/prompt-lifecycle/cancellation/8",
    ),
    "prompt-turn/cancel-at-once": (
        "acp/v1/prompt-turn/cancellation/5",
        "acp/v1/prompt-turn/cancellation/6",
        "acp/v2/prompt-lifecycle/cancellation/5",
        "acp/v2/prompt-lifecycle/cancellation/6",
    ),
    "prompt-turn/cancel-idle": ("acp/v1/overview/error-handling/2", "acp/v2/overview/error-handling/3"),
    "prompt-turn/cancel-open-permission": (
        "acp/v1/prompt-turn/cancellation/5",
        "acp/v2/prompt-lifecycle/cancellation/5",
    ),
    "prompt-turn/cancel-unanswered-permission": ("acp/v2/schema/cancelsessionnotification/1",),
    "prompt-turn/embedded-resource": (
        "acp/v1/initialization/prompt-capabilities/2",
        "acp/v2/initialization/session-prompt-capabilities/2",
    ),
    "prompt-turn/image": (
        "acp/v1/initialization/prompt-capabilities/2",
        "acp/v2/initialization/session-prompt-capabilities/2",
    ),
    "prompt-turn/resource-link": (
        "acp/v1/initialization/prompt-capabilities/1",
        "acp/v2/initialization/session-prompt-capabilities/1",
        "acp/v2/schema/promptrequest/1",
    ),
    "prompt-turn/text": (
        "acp/v1/prompt-turn/4-check-for-completion/1",
        "acp/v1/content/text-content/1",
        "acp/v2/prompt-lifecycle/2-prompt-accepted/1",
        "acp/v2/prompt-lifecycle/4-report-completion/2",
        "acp/v2/content/text-content/1",
        "acp/v2/schema/promptrequest/7",
    ),
    "session-config-options/set": (
        "acp/v1/session-config-options/from-the-client/2",
        "acp/v2/schema/setsessionconfigoptionrequest/1",
    ),
    "session-config-options/unknown": (
        "acp/v2/schema/setsessionconfigoptionrequest/2",
        "acp/v2/schema/setsessionconfigoptionrequest/3",
    ),
    "session-delete/twice": (
        "acp/v1/session-delete/semantics/1",
        "acp/v1/session-delete/semantics/2",
        "acp/rfds/session-delete/implementation-details-and-plan/1",
        "acp/v2/session-delete/semantics/1",
        "acp/v2/session-delete/semantics/2",
    ),
    "session-delete/unknown": ("acp/v1/session-delete/semantics/2", "acp/v2/session-delete/semantics/2"),
    "session-list/all": (
        "acp/v1/session-list/listing-sessions/3",
        "acp/v2/session-list/overview/2",
        "acp/v2/session-list/listing-sessions/4",
    ),
    "session-list/invalid-cursor": ("acp/v1/session-list/pagination/3", "acp/v2/session-list/pagination/3"),
    "session-list/none-matches": ("acp/v1/session-list/listing-sessions/8", "acp/v2/session-list/listing-sessions/8"),
    "session-setup/close": (
        "acp/v1/session-setup/closing-a-session/3",
        "acp/v2/session-setup/closing-active-sessions/1",
        "acp/v2/schema/closesessionrequest/6",
    ),
    "session-setup/close-during-turn": (
        "acp/v1/session-setup/closing-a-session/2",
        "acp/rfds/session-close/what-we-propose-to-do-about-it/1",
        "acp/v2/session-setup/closing-active-sessions/3",
        "acp/v2/schema/closesessionrequest/3",
        "acp/v2/schema/closesessionrequest/4",
        "acp/v2/schema/closesessionrequest/5",
        "acp/v2/schema/promptrequest/7",
    ),
    "session-setup/fork": ("acp/rfds/session-fork/implementation-details-and-plan/3",),
    "session-setup/load": ("acp/v1/session-setup/loading-a-session/2", "acp/v1/session-setup/loading-a-session/4"),
    "session-setup/load-after-restart": (
        "acp/v1/session-setup/loading-a-session/2",
        "acp/v1/session-setup/loading-a-session/4",
    ),
    "session-setup/new": (
        "acp/v1/session-setup/creating-a-session/2",
        "acp/v2/session-setup/creating-a-session/2",
        "acp/v2/session-setup/creating-a-session/3",
    ),
    "session-setup/resume": (
        "acp/v1/session-setup/resuming-a-session/2",
        "acp/v2/session-setup/resuming-sessions/1",
        "acp/v2/session-setup/resuming-sessions/3",
    ),
    "session-setup/resume-after-restart": (
        "acp/v1/session-setup/resuming-a-session/2",
        "acp/v2/session-setup/resuming-sessions/3",
    ),
    "session-setup/unknown-transport": ("acp/v2/schema/mcpserver/1",),
    "terminals/run": ("acp/v1/initialization/terminal/1",),
    "transports/batch-of-notifications": (
        "acp/v2/transports/json-rpc-batch-messages/7",
        "acp/v2/transports/json-rpc-batch-messages/9",
    ),
    "transports/batch-of-requests": (
        "acp/v2/transports/json-rpc-batch-messages/5",
        "acp/v2/transports/json-rpc-batch-messages/6",
    ),
    "transports/empty-batch": ("acp/v2/transports/json-rpc-batch-messages/3",),
    "transports/joined-lines": ("acp/v1/transports/stdio/2", "acp/v2/transports/stdio/1"),
    "transports/separators-in-text": ("acp/v1/transports/stdio/2", "acp/v2/transports/stdio/1"),
    "transports/split-line": ("acp/v1/transports/stdio/2", "acp/v2/transports/stdio/1"),
    "transports/white-space": ("acp/v1/transports/stdio/2", "acp/v2/transports/stdio/1"),
}
