"""Which requirements of the protocols' own pages stand behind which rule, by protocol and by the method or capability that a
breach is about; an empty word stands for every breach. Of which protocols the requirements are that have a number. And which of them
the schema enforces in a field of a definition, or by requiring it.
`tests/requirements_file.py` writes this from `schema/requirements.json`.
"""

from typing import Final

BEHIND: Final[dict[str, dict[str, dict[str, tuple[str, ...]]]]] = {
    "advertised-method-missing": {
        "acp/v1": {
            "session/new": (
                "acp/v1/overview/baseline-methods/1",
                "acp/v1/initialization/session-capabilities/1",
            ),
            "session/prompt": (
                "acp/v1/overview/baseline-methods/1",
                "acp/v1/initialization/session-capabilities/1",
            ),
            "session/request_permission": ("acp/v1/overview/baseline-methods/2",),
            "terminal/create": ("acp/v1/initialization/terminal/1",),
        },
        "acp/v2": {
            "auth/login": (
                "acp/v2/overview/baseline-methods/1",
                "acp/v2/authentication/advertising-authentication/1",
            ),
            "auth/logout": (
                "acp/v2/overview/baseline-methods/1",
                "acp/v2/authentication/advertising-authentication/1",
            ),
            "session/close": ("acp/v2/session-setup/closing-active-sessions/1",),
            "session/list": ("acp/v2/session-list/overview/2",),
            "session/request_permission": ("acp/v2/overview/baseline-methods/3",),
            "session/resume": ("acp/v2/session-setup/resuming-sessions/1",),
            "session/set_config_option": ("acp/v2/schema/setsessionconfigoptionrequest/1",),
        },
    },
    "auth-method-not-offered": {
        "acp/v1": {
            "": (
                "acp/v1/authentication/protocol-driven-authentication/1",
                "acp/v1/authentication/protocol-driven-authentication/2",
                "acp/v1/authentication/terminal-authentication/4",
            ),
        },
        "acp/v2": {
            "": ("acp/v2/authentication/agent-handled-authentication/2",),
            "none": (
                "acp/v2/overview/baseline-methods/2",
                "acp/v2/authentication/advertising-authentication/2",
            ),
            "terminal": (
                "acp/v2/authentication/agent-handled-authentication/1",
                "acp/v2/authentication/terminal-authentication/6",
                "acp/v2/schema/loginauthrequest/1",
            ),
        },
    },
    "background-end-not-reported": {
        "acp/v2": {
            "": ("acp/v2/schema/backgroundwork/2",),
        },
    },
    "background-left-out": {
        "acp/v2": {
            "": ("acp/v2/schema/backgroundwork/3",),
        },
    },
    "background-not-announced": {
        "acp/v2": {
            "": ("acp/v2/schema/backgroundwork/1",),
        },
    },
    "base64-malformed": {
        "acp/v2": {
            "audio": ("acp/v2/content/audio-content/1",),
            "image": ("acp/v2/content/image-content/1",),
            "resource": ("acp/v2/content/embedded-resource/1",),
            "terminal_output_chunk": ("acp/v2/tool-calls/display-only-terminals/10",),
            "terminal_update": ("acp/v2/tool-calls/display-only-terminals/7",),
        },
    },
    "batch-empty": {
        "acp/v2": {
            "": ("acp/v2/transports/json-rpc-batch-messages/3",),
        },
    },
    "batch-of-unbatchable": {
        "acp/v2": {
            "": ("acp/v2/transports/json-rpc-batch-messages/11",),
        },
    },
    "cancel-not-offered": {
        "acp/v2": {
            "terminal/cancel": ("acp/v2/schema/cancelterminalrequest/1",),
            "tool_call/cancel": ("acp/v2/schema/canceltoolcallrequest/1",),
        },
    },
    "cancel-of-unknown-request": {
        "acp/v2": {
            "": ("acp/v2/schema/cancelrequestnotification/1",),
        },
    },
    "cancelled-prompt-failed": {
        "acp/v1": {
            "": (
                "acp/v1/prompt-turn/cancellation/6",
                "acp/v1/schema/stopreason/1",
            ),
        },
    },
    "cancelled-request-unanswered": {
        "acp/v1": {
            "": (
                "acp/v1/cancellation/cancel_request-notification/4",
                "acp/v1/rfds/request-cancellation/cancellation-processing/2",
            ),
        },
        "acp/v2": {
            "": ("acp/v2/cancellation/cancel_request-notification/4",),
        },
    },
    "cancelled-turn-ended-otherwise": {
        "acp/v1": {
            "": (
                "acp/v1/prompt-turn/stop-reasons/2",
                "acp/v1/prompt-turn/cancellation/5",
            ),
            "session/prompt": ("acp/v1/schema/sessioncancel/1",),
        },
        "acp/v2": {
            "": (
                "acp/v2/prompt-lifecycle/cancellation/5",
                "acp/v2/prompt-lifecycle/cancellation/6",
                "acp/v2/schema/cancelsessionnotification/3",
                "acp/v2/schema/cancelsessionnotification/5",
            ),
        },
    },
    "close-without-cancel": {
        "acp/v1": {
            "": (
                "acp/v1/session-setup/closing-a-session/2",
                "acp/rfds/session-close/what-we-propose-to-do-about-it/1",
            ),
        },
        "acp/v2": {
            "": (
                "acp/rfds/session-close/what-we-propose-to-do-about-it/1",
                "acp/v2/session-setup/closing-active-sessions/3",
                "acp/v2/schema/closesessionrequest/3",
            ),
        },
    },
    "command-name-invalid": {
        "acp/v2": {
            "unique": ("acp/v2/schema/command/2",),
            "whitespace": ("acp/v2/schema/command/1",),
        },
    },
    "config-option-inconsistent": {
        "acp/v2": {
            "": ("acp/v2/session-config-options/default-values-and-graceful-degradation/1",),
            "currentValue": ("acp/v2/schema/sessionconfigselect/1",),
            "unique": ("acp/v2/schema/sessionconfigselect/3",),
        },
    },
    "config-option-not-offered": {
        "acp/v1": {
            "": ("acp/v1/session-config-options/from-the-client/1",),
        },
        "acp/v2": {
            "value": ("acp/v2/session-config-options/setting-a-config-option/2",),
        },
    },
    "cursor-not-given": {
        "acp/v1": {
            "": (
                "acp/v1/session-list/pagination/2",
                "acp/rfds/session-list/how-should-pagination-work-for-large-session-lists/2",
            ),
        },
        "acp/v2": {
            "": (
                "acp/rfds/session-list/how-should-pagination-work-for-large-session-lists/2",
                "acp/v2/session-list/pagination/2",
            ),
        },
    },
    "deleted-session-listed": {
        "acp/v1": {
            "": ("acp/v1/session-delete/semantics/1",),
        },
        "acp/v2": {
            "": ("acp/v2/session-delete/semantics/1",),
        },
    },
    "elicitation-content-unfit": {
        "acp/v1": {
            "": ("acp/v1/elicitation/responses/3",),
        },
        "acp/v2": {
            "": (
                "acp/v2/elicitation/form-mode/2",
                "acp/v2/elicitation/responses/2",
            ),
        },
    },
    "elicitation-id-in-use": {
        "acp/v1": {
            "": ("acp/v1/elicitation/url-completion/1",),
        },
        "acp/v2": {
            "": ("acp/v2/elicitation/url-completion/1",),
        },
    },
    "elicitation-not-asked": {
        "acp/v1": {
            "": ("acp/v1/elicitation/url-completion/4",),
        },
        "acp/v2": {
            "": ("acp/v2/elicitation/url-completion/4",),
        },
    },
    "elicitation-of-unknown-request": {
        "acp/v2": {
            "": ("acp/v2/schema/elicitationrequestscope/1",),
        },
    },
    "elicitation-refused-otherwise": {
        "acp/v1": {
            "": ("acp/v1/elicitation/url-completion/6",),
        },
        "acp/v2": {
            "": ("acp/v2/elicitation/url-completion/6",),
        },
    },
    "elicitation-url-with-credentials": {
        "acp/v1": {
            "": ("acp/v1/elicitation/url-security/1",),
        },
        "acp/v2": {
            "": ("acp/v2/elicitation/url-security/1",),
        },
    },
    "envelope-malformed": {
        "acp/v1": {
            "": (
                "acp/v1/overview/error-handling/1",
                "acp/v1/transports/introduction/1",
                "acp/v1/schema/requestid/1",
                "acp/v1/schema/requestid/2",
            ),
        },
        "acp/v2": {
            "agent": ("acp/v2/transports/stdio/4",),
            "client": ("acp/v2/transports/stdio/5",),
        },
    },
    "error-malformed": {
        "acp/v1": {
            "": (
                "acp/v1/overview/error-handling/1",
                "acp/v1/schema/error/1",
                "acp/rfds/elicitation/error-handling/1",
            ),
        },
        "acp/v2": {
            "": (
                "acp/rfds/elicitation/error-handling/1",
                "acp/v2/overview/error-handling/2",
            ),
        },
    },
    "extension-refused-otherwise": {
        "acp/v1": {
            "": ("acp/v1/extensibility/custom-requests/3",),
        },
    },
    "field-unknown": {
        "acp/v1": {
            "": ("acp/v1/extensibility/the-_meta-field/4",),
        },
        "acp/v2": {
            "": ("acp/v2/extensibility/the-_meta-field/3",),
        },
    },
    "field-used-without-capability": {
        "acp/v1": {
            "": ("acp/v1/initialization/capabilities/3",),
        },
        "acp/v2": {
            "": ("acp/v2/initialization/capabilities/3",),
            "additionalDirectories": ("acp/v2/session-setup/additional-workspace-roots/3",),
        },
    },
    "file-access-outside-roots": {
        "acp/v1": {
            "": ("acp/v1/session-setup/working-directory/5",),
        },
    },
    "file-longer-than-asked": {
        "acp/v1": {
            "": ("acp/v1/file-system/reading-files/3",),
        },
    },
    "history-after-answer": {
        "acp/v1": {
            "": ("acp/v1/session-setup/loading-a-session/4",),
        },
        "acp/v2": {
            "session/update": ("acp/v2/session-setup/resuming-sessions/8",),
        },
    },
    "history-not-requested": {
        "acp/v1": {
            "": (
                "acp/v1/session-setup/resuming-a-session/2",
                "acp/rfds/session-resume/what-we-propose-to-do-about-it/1",
            ),
        },
        "acp/v2": {
            "": (
                "acp/rfds/session-resume/what-we-propose-to-do-about-it/1",
                "acp/v2/session-setup/resuming-sessions/3",
            ),
        },
    },
    "icon-not-fetchable": {
        "acp/v2": {
            "": ("acp/v2/schema/icon/1",),
        },
    },
    "id-in-use": {
        "acp/v2": {
            "": ("acp/v2/schema/requestid/3",),
        },
    },
    "idle-without-running": {
        "acp/v2": {
            "": (
                "acp/v2/prompt-lifecycle/3-agent-reports-output/1",
                "acp/v2/schema/stateupdate/1",
            ),
        },
    },
    "idle-without-stop-reason": {
        "acp/v2": {
            "": (
                "acp/v2/prompt-lifecycle/4-report-completion/2",
                "acp/v2/schema/stateupdate/3",
            ),
        },
    },
    "initialize-repeated": {
        "acp/v2": {
            "": ("acp/v2/schema/initializerequest/1",),
        },
    },
    "initialized-not-sent": {
        "mcp/2025-06-18": {
            "": ("mcp/lifecycle/initialization/4",),
        },
        "mcp/2025-11-25": {
            "": ("mcp/lifecycle/initialization/4",),
        },
    },
    "list-result-outside-filter": {
        "acp/v1": {
            "": ("acp/v1/session-list/listing-sessions/2",),
        },
    },
    "login-variable-repeated": {
        "acp/v2": {
            "": (
                "acp/v2/authentication/terminal-authentication/1",
                "acp/v2/schema/authmethodterminal/2",
            ),
        },
    },
    "logout-not-offered": {
        "acp/v2": {
            "": (
                "acp/v2/overview/baseline-methods/2",
                "acp/v2/authentication/advertising-authentication/2",
            ),
        },
    },
    "message-before-initialize": {
        "acp/v1": {
            "": ("acp/v1/initialization/introduction/1",),
            "session/delete": ("acp/v1/session-delete/introduction/1",),
            "session/list": ("acp/v1/session-list/introduction/1",),
            "session/new": ("acp/v1/session-setup/introduction/1",),
            "session/prompt": ("acp/v1/prompt-turn/introduction/1",),
        },
        "acp/v2": {
            "session/delete": ("acp/v2/session-delete/overview/1",),
            "session/list": ("acp/v2/session-list/overview/1",),
            "session/load": (
                "acp/v2/initialization/overview/1",
                "acp/v2/session-setup/overview/1",
            ),
            "session/new": (
                "acp/v2/initialization/overview/1",
                "acp/v2/session-setup/overview/1",
            ),
            "session/prompt": ("acp/v2/prompt-lifecycle/overview/1",),
            "session/resume": (
                "acp/v2/initialization/overview/1",
                "acp/v2/session-setup/overview/1",
            ),
        },
        "mcp/2025-06-18": {
            "": ("mcp/lifecycle/initialization/1",),
            "client": ("mcp/lifecycle/initialization/5",),
            "server": ("mcp/lifecycle/initialization/6",),
        },
        "mcp/2025-11-25": {
            "": ("mcp/lifecycle/initialization/1",),
            "client": ("mcp/lifecycle/initialization/5",),
            "server": ("mcp/lifecycle/initialization/6",),
        },
    },
    "method-unknown": {
        "acp/v1": {
            "": ("acp/v1/extensibility/extension-methods/1",),
        },
        "acp/v2": {
            "": ("acp/v2/extensibility/custom-requests/1",),
            "authenticate": ("acp/v2/migration/method-changes/1",),
            "fs/read_text_file": (
                "acp/v2/migration/method-changes/1",
                "acp/v2/rfds/client-filesystem-terminal-capabilities/what-we-propose-to-do-about-it/2",
            ),
            "fs/write_text_file": (
                "acp/v2/rfds/client-filesystem-terminal-capabilities/what-we-propose-to-do-about-it/2",
            ),
            "session/set_mode": ("acp/v2/migration/method-changes/1",),
            "terminal/create": (
                "acp/v2/migration/method-changes/1",
                "acp/v2/rfds/client-filesystem-terminal-capabilities/what-we-propose-to-do-about-it/2",
            ),
        },
    },
    "method-used-without-capability": {
        "acp/v1": {
            "": ("acp/v1/initialization/capabilities/3",),
            "elicitation/create": (
                "acp/v1/elicitation/checking-support/1",
                "acp/v1/elicitation/checking-support/2",
            ),
            "fs/read_text_file": (
                "acp/v1/prompt-turn/5-tool-invocation-and-status-reporting/4",
                "acp/v1/file-system/checking-support/1",
                "acp/v1/file-system/checking-support/2",
            ),
            "fs/write_text_file": (
                "acp/v1/prompt-turn/5-tool-invocation-and-status-reporting/4",
                "acp/v1/file-system/checking-support/1",
                "acp/v1/file-system/checking-support/2",
            ),
            "logout": (
                "acp/v1/overview/optional-methods/1",
                "acp/v1/authentication/advertising-authentication/2",
                "acp/v1/authentication/logging-out/1",
                "acp/v1/rfds/logout-method/behavior/1",
            ),
            "session/close": (
                "acp/v1/initialization/session-capabilities/2",
                "acp/v1/session-setup/checking-support/5",
                "acp/v1/session-setup/checking-support/6",
            ),
            "session/delete": (
                "acp/v1/initialization/session-capabilities/2",
                "acp/v1/session-delete/introduction/1",
                "acp/v1/session-delete/checking-support/1",
                "acp/v1/session-delete/checking-support/2",
            ),
            "session/fork": ("acp/rfds/session-fork/implementation-details-and-plan/1",),
            "session/list": (
                "acp/v1/initialization/session-capabilities/2",
                "acp/v1/session-list/checking-support/1",
                "acp/v1/session-list/checking-support/2",
            ),
            "session/load": (
                "acp/v1/overview/optional-methods/1",
                "acp/v1/initialization/session-capabilities/2",
                "acp/v1/session-setup/checking-support/1",
                "acp/v1/session-setup/checking-support/2",
            ),
            "session/resume": (
                "acp/v1/initialization/session-capabilities/2",
                "acp/v1/session-setup/checking-support/3",
                "acp/v1/session-setup/checking-support/4",
            ),
            "terminal/create": (
                "acp/v1/terminals/checking-support/1",
                "acp/v1/terminals/checking-support/2",
            ),
            "terminal/kill": ("acp/v1/terminals/checking-support/2",),
            "terminal/output": ("acp/v1/terminals/checking-support/2",),
            "terminal/release": ("acp/v1/terminals/checking-support/2",),
            "terminal/wait_for_exit": ("acp/v1/terminals/checking-support/2",),
        },
        "acp/v2": {
            "": ("acp/v2/initialization/capabilities/3",),
            "delete": (
                "acp/v2/initialization/session-capabilities/2",
                "acp/v2/session-delete/checking-support/1",
                "acp/v2/session-delete/checking-support/2",
            ),
            "elicitation": (
                "acp/v2/overview/optional-methods/1",
                "acp/v2/elicitation/checking-support/2",
            ),
            "fork": ("acp/v2/migration/scope-stable-v2-and-draft-surfaces/1",),
            "session/fork": ("acp/rfds/session-fork/implementation-details-and-plan/1",),
        },
        "mcp/2025-06-18": {
            "": (
                "mcp/lifecycle/capability-negotiation/1",
                "mcp/lifecycle/operation/2",
            ),
        },
        "mcp/2025-11-25": {
            "": (
                "mcp/lifecycle/capability-negotiation/1",
                "mcp/lifecycle/operation/2",
            ),
        },
    },
    "mode-not-offered": {
        "acp/v1": {
            "": ("acp/v1/session-modes/from-the-client/1",),
        },
    },
    "not-json": {
        "acp/v1": {
            "": (
                "acp/v1/transports/introduction/1",
                "acp/v1/transports/stdio/2",
            ),
            "agent": ("acp/v1/transports/stdio/5",),
            "client": ("acp/v1/transports/stdio/6",),
        },
        "acp/v2": {
            "": (
                "acp/v2/transports/overview/1",
                "acp/v2/transports/stdio/1",
            ),
            "agent": ("acp/v2/transports/stdio/4",),
            "client": ("acp/v2/transports/stdio/5",),
        },
    },
    "notification-answered": {
        "acp/v1": {
            "": (
                "acp/v1/overview/error-handling/2",
                "acp/v1/extensibility/custom-notifications/1",
            ),
        },
    },
    "output-over-limit": {
        "acp/v1": {
            "": ("acp/v1/terminals/executing-commands/2",),
        },
    },
    "patch-malformed": {
        "acp/v2": {
            "envelope": ("acp/v2/tool-calls/diffs/6",),
            "path": (
                "acp/v2/tool-calls/diffs/5",
                "acp/v2/schema/diffpatchformat/1",
                "acp/v2/schema/diffpatchformat/2",
            ),
        },
    },
    "permission-not-cancelled": {
        "acp/v1": {
            "": (
                "acp/v1/prompt-turn/cancellation/3",
                "acp/v1/tool-calls/requesting-permission/5",
            ),
        },
        "acp/v2": {
            "": (
                "acp/v2/prompt-lifecycle/cancellation/3",
                "acp/v2/tool-calls/requesting-permission/8",
            ),
        },
    },
    "permission-options-repeated": {
        "acp/v1": {
            "": ("acp/v1/tool-calls/permission-options/1",),
        },
        "acp/v2": {
            "": ("acp/v2/schema/permissionoption/1",),
        },
    },
    "permission-outcome-not-offered": {
        "acp/v1": {
            "": (
                "acp/v1/tool-calls/requesting-permission/3",
                "acp/v1/schema/sessionrequest_permission/1",
            ),
        },
        "acp/v2": {
            "": ("acp/v2/tool-calls/requesting-permission/9",),
        },
    },
    "prompt-not-reported": {
        "acp/v2": {
            "": (
                "acp/v2/prompt-lifecycle/2-prompt-accepted/2",
                "acp/v2/schema/promptresponse/1",
            ),
        },
    },
    "repeated-delete-refused": {
        "acp/v1": {
            "": (
                "acp/v1/session-delete/semantics/2",
                "acp/rfds/session-delete/implementation-details-and-plan/1",
            ),
        },
        "acp/v2": {
            "": (
                "acp/rfds/session-delete/implementation-details-and-plan/1",
                "acp/v2/session-delete/semantics/2",
            ),
        },
    },
    "request-before-initialized": {
        "mcp/2025-06-18": {
            "": ("mcp/lifecycle/initialization/6",),
        },
        "mcp/2025-11-25": {
            "": ("mcp/lifecycle/initialization/6",),
        },
    },
    "request-unanswered": {
        "acp/v1": {
            "": (
                "acp/v1/overview/communication-model/1",
                "acp/v1/initialization/introduction/3",
                "acp/v1/prompt-turn/4-check-for-completion/1",
                "acp/v1/extensibility/custom-requests/2",
            ),
        },
    },
    "response-without-request": {
        "acp/v1": {
            "": ("acp/v1/schema/requestid/3",),
        },
        "acp/v2": {
            "": ("acp/v2/schema/requestid/2",),
        },
    },
    "result-null": {
        "acp/v1": {
            "": (
                "acp/v1/authentication/protocol-driven-authentication/3",
                "acp/v1/authentication/logging-out/2",
                "acp/v1/session-setup/closing-a-session/3",
                "acp/v1/session-delete/deleting-a-session/1",
                "acp/v1/file-system/writing-files/2",
            ),
            "session/load": ("acp/v1/session-setup/loading-a-session/4",),
        },
    },
    "roots-not-resent": {
        "acp/v2": {
            "session/resume": ("acp/v2/session-setup/additional-workspace-roots/2",),
        },
    },
    "roots-reordered": {
        "acp/v1": {
            "": ("acp/v1/session-setup/working-directory/4",),
        },
    },
    "roots-where-none-belong": {
        "acp/v2": {
            "session/update": ("acp/v2/session-list/updating-session-metadata/2",),
        },
    },
    "server-variable-repeated": {
        "acp/v2": {
            "": ("acp/v2/schema/mcpserverstdio/1",),
        },
    },
    "session-closed": {
        "acp/v2": {
            "session/request_permission": ("acp/v2/schema/closesessionrequest/6",),
            "session/update": ("acp/v2/schema/closesessionrequest/6",),
        },
    },
    "session-id-in-use": {
        "acp/v1": {
            "": ("acp/v1/session-setup/creating-a-session/2",),
        },
        "acp/v2": {
            "session/new": (
                "acp/v2/session-setup/creating-a-session/3",
                "acp/v2/schema/newsessionrequest/1",
            ),
        },
    },
    "session-in-other-directory": {
        "acp/v2": {
            "": ("acp/v2/schema/resumesessionrequest/1",),
        },
    },
    "session-not-open": {
        "acp/v1": {
            "": ("acp/v1/session-setup/session-id/1",),
            "elicitation/create": ("acp/v1/elicitation/creating-an-elicitation/2",),
            "session/cancel": ("acp/v1/prompt-turn/cancellation/1",),
            "session/prompt": ("acp/v1/prompt-turn/introduction/1",),
        },
        "acp/v2": {
            "session/prompt": ("acp/v2/prompt-lifecycle/overview/1",),
        },
    },
    "state-missing-on-resume": {
        "acp/v2": {
            "": ("acp/v2/schema/resumesessionresponse/1",),
        },
    },
    "terminal-not-created": {
        "acp/v1": {
            "": ("acp/v1/tool-calls/terminals/1",),
        },
    },
    "terminal-not-open": {
        "acp/v1": {
            "": ("acp/v1/terminals/releasing-terminals/2",),
        },
    },
    "terminal-updates-in-one-batch": {
        "acp/v2": {
            "": ("acp/v2/rfds/terminal-output/live-output-chunks/1",),
        },
    },
    "update-after-cancelled": {
        "acp/v1": {
            "": ("acp/v1/prompt-turn/cancellation/8",),
        },
        "acp/v2": {
            "": ("acp/v2/prompt-lifecycle/cancellation/8",),
        },
    },
    "value-unknown": {
        "acp/v1": {
            "ElicitationPropertySchema": ("acp/rfds/elicitation/restricted-json-schema/4",),
            "SessionConfigOptionCategory": ("acp/v1/session-config-options/option-categories/4",),
            "action": ("acp/rfds/elicitation/user-response/1",),
            "mode": ("acp/rfds/elicitation/elicitation-modes/2",),
        },
        "acp/v2": {
            "": (
                "acp/v2/overview/conventions/2",
                "acp/v2/extensibility/enum-and-tagged-union-variants/1",
            ),
            "AuthMethod": ("acp/v2/authentication/authentication-method-types/2",),
            "AvailableCommandInput": ("acp/v2/slash-commands/availablecommandinput/2",),
            "ContentBlock": ("acp/v2/content/content-types/1",),
            "ElicitationPropertySchema": ("acp/rfds/elicitation/restricted-json-schema/4",),
            "McpServer": ("acp/v2/session-setup/transport-types/2",),
            "PermissionOptionKind": ("acp/v2/tool-calls/permission-options/2",),
            "PlanEntryPriority": ("acp/v2/agent-plan/plan-entries/2",),
            "PlanEntryStatus": ("acp/v2/agent-plan/plan-entries/3",),
            "PlanUpdateContent": ("acp/v2/agent-plan/extensibility/1",),
            "SessionConfigOption": ("acp/v2/session-config-options/default-values-and-graceful-degradation/2",),
            "SessionConfigOptionCategory": ("acp/v2/session-config-options/option-categories/4",),
            "ToolCallStatus": ("acp/v2/tool-calls/status/1",),
            "ToolKind": ("acp/v2/tool-calls/reporting/4",),
            "action": ("acp/rfds/elicitation/user-response/1",),
            "mode": ("acp/rfds/elicitation/elicitation-modes/2",),
            "stopReason": ("acp/v2/prompt-lifecycle/stop-reasons/1",),
        },
    },
    "variant-used-without-capability": {
        "acp/v1": {
            "": ("acp/v1/initialization/capabilities/3",),
            "audio": (
                "acp/v1/initialization/prompt-capabilities/2",
                "acp/v1/prompt-turn/1-user-message/2",
                "acp/v1/content/audio-content/1",
                "acp/v1/schema/sessionprompt/1",
            ),
            "boolean": (
                "acp/v1/initialization/boolean-config-options/1",
                "acp/v1/session-config-options/boolean-config-options/1",
                "acp/v1/session-config-options/boolean-config-options/3",
            ),
            "embeddedContext": (
                "acp/v1/initialization/prompt-capabilities/2",
                "acp/v1/prompt-turn/1-user-message/2",
                "acp/v1/content/embedded-resource/2",
                "acp/v1/schema/sessionprompt/1",
            ),
            "form": (
                "acp/v1/initialization/elicitation/1",
                "acp/v1/elicitation/checking-support/2",
            ),
            "http": (
                "acp/v1/initialization/mcp-capabilities/1",
                "acp/v1/session-setup/checking-transport-support/1",
            ),
            "image": (
                "acp/v1/initialization/prompt-capabilities/2",
                "acp/v1/prompt-turn/1-user-message/2",
                "acp/v1/content/image-content/1",
                "acp/v1/schema/sessionprompt/1",
            ),
            "sse": (
                "acp/v1/initialization/mcp-capabilities/1",
                "acp/v1/session-setup/checking-transport-support/1",
            ),
            "terminal": (
                "acp/v1/initialization/terminal-authentication/1",
                "acp/v1/authentication/authentication-method-types/3",
                "acp/v1/schema/authmethodterminal/1",
            ),
            "url": (
                "acp/v1/initialization/elicitation/1",
                "acp/v1/elicitation/checking-support/2",
            ),
        },
        "acp/v2": {
            "": ("acp/v2/initialization/capabilities/3",),
            "audio": (
                "acp/v2/prompt-lifecycle/1-user-message/1",
                "acp/v2/content/audio-content/2",
                "acp/v2/schema/promptrequest/2",
            ),
            "embeddedContext": (
                "acp/v2/prompt-lifecycle/1-user-message/1",
                "acp/v2/content/embedded-resource/2",
                "acp/v2/schema/promptrequest/2",
            ),
            "form": (
                "acp/v2/overview/optional-methods/1",
                "acp/v2/initialization/elicitation/1",
                "acp/v2/elicitation/checking-support/1",
                "acp/v2/elicitation/checking-support/2",
            ),
            "http": (
                "acp/v2/initialization/session-mcp-capabilities/1",
                "acp/v2/session-setup/checking-transport-support/1",
            ),
            "image": (
                "acp/v2/prompt-lifecycle/1-user-message/1",
                "acp/v2/content/image-content/2",
                "acp/v2/schema/promptrequest/2",
            ),
            "stdio": (
                "acp/v2/initialization/session-mcp-capabilities/1",
                "acp/v2/session-setup/checking-transport-support/1",
            ),
            "terminal": (
                "acp/v2/initialization/terminal-authentication/1",
                "acp/v2/authentication/authentication-method-types/4",
                "acp/v2/schema/authmethodterminal/1",
            ),
            "url": (
                "acp/v2/overview/optional-methods/1",
                "acp/v2/initialization/elicitation/1",
                "acp/v2/elicitation/checking-support/1",
                "acp/v2/elicitation/checking-support/2",
            ),
        },
    },
    "version-above-requested": {
        "acp/v2": {
            "": ("acp/v2/schema/initializeresponse/1",),
        },
    },
    "version-unknown": {
        "acp/v1": {
            "": ("acp/v1/initialization/version-negotiation/3",),
        },
        "mcp/2025-06-18": {
            "": ("mcp/lifecycle/version-negotiation/5",),
        },
        "mcp/2025-11-25": {
            "": ("mcp/lifecycle/version-negotiation/5",),
        },
    },
    "withdrawn-request-failed-otherwise": {
        "acp/v1": {
            "": ("acp/v1/cancellation/cancel_request-notification/4",),
        },
        "acp/v2": {
            "": ("acp/v2/cancellation/cancel_request-notification/4",),
        },
    },
}
"""The requirements behind each rule, by protocol and by what a breach is about."""

NUMBERED: Final[dict[int, tuple[str, ...]]] = {
    1: ("acp/v1", "acp/v2"),
    2: ("acp/v1", "acp/v2"),
    3: ("acp/v1", "acp/v2"),
    4: ("acp/v1", "acp/v2"),
    5: ("acp/v1", "acp/v2"),
    6: ("acp/v1", "acp/v2"),
    7: ("acp/v1", "acp/v2"),
    8: ("acp/v1", "acp/v2"),
    9: ("acp/v1", "acp/v2"),
    10: ("acp/v1", "acp/v2"),
    11: ("acp/v1", "acp/v2"),
    12: ("acp/v1", "acp/v2"),
    13: ("acp/v1", "acp/v2"),
    14: ("acp/v1", "acp/v2"),
    15: ("acp/v1", "acp/v2"),
    16: ("acp/v1", "acp/v2"),
    17: ("acp/v1", "acp/v2"),
    18: ("acp/v1", "acp/v2"),
    19: ("acp/v1", "acp/v2"),
    20: ("acp/v1", "acp/v2"),
    21: ("acp/v1", "acp/v2"),
    22: ("acp/v1", "acp/v2"),
    23: ("acp/v1", "acp/v2"),
    24: ("acp/v1", "acp/v2"),
    25: ("acp/v1", "acp/v2"),
    26: ("acp/v1", "acp/v2"),
    27: ("acp/v1", "acp/v2"),
    28: ("acp/v1", "acp/v2"),
    29: ("acp/v1", "acp/v2"),
    30: ("acp/v1", "acp/v2"),
    31: ("acp/v1", "acp/v2"),
    32: ("acp/v1", "acp/v2"),
    33: ("acp/v1", "acp/v2"),
    34: ("acp/v1", "acp/v2"),
    35: ("acp/v1", "acp/v2"),
    36: ("acp/v1", "acp/v2"),
    37: ("acp/v1", "acp/v2"),
    38: ("acp/v1", "acp/v2"),
    39: ("acp/v1", "acp/v2"),
    40: ("acp/v1", "acp/v2"),
    41: ("acp/v1", "acp/v2"),
    42: ("acp/v1", "acp/v2"),
    43: ("acp/v1", "acp/v2"),
    44: ("acp/v1", "acp/v2"),
    45: ("acp/v1", "acp/v2"),
    46: ("acp/v1", "acp/v2"),
    47: ("acp/v1", "acp/v2"),
    48: ("acp/v1", "acp/v2"),
    49: ("acp/v1", "acp/v2"),
    50: ("acp/v1", "acp/v2"),
    51: ("acp/v1", "acp/v2"),
    52: ("acp/v1", "acp/v2"),
    53: ("acp/v1", "acp/v2"),
    54: ("acp/v1", "acp/v2"),
    55: ("acp/v1", "acp/v2"),
    56: ("acp/v1", "acp/v2"),
    57: ("acp/v1", "acp/v2"),
    58: ("acp/v1", "acp/v2"),
    59: ("acp/v1", "acp/v2"),
    60: ("acp/v1", "acp/v2"),
    61: ("acp/v1", "acp/v2"),
    62: ("acp/v1", "acp/v2"),
    63: ("acp/v1", "acp/v2"),
    64: ("acp/v1", "acp/v2"),
    65: ("acp/v2",),
    66: ("acp/v2",),
    67: ("acp/v2",),
    68: ("acp/v2",),
    69: ("acp/v2",),
    70: ("acp/v2",),
    71: ("acp/v2",),
    72: ("acp/v1",),
    73: ("mcp/2025-06-18", "mcp/2025-11-25"),
    74: ("mcp/2025-06-18", "mcp/2025-11-25"),
    75: ("mcp/2025-06-18", "mcp/2025-11-25"),
    76: ("mcp/2025-06-18", "mcp/2025-11-25"),
    77: ("mcp/2025-06-18", "mcp/2025-11-25"),
    78: ("mcp/2025-06-18", "mcp/2025-11-25"),
    79: ("mcp/2025-06-18", "mcp/2025-11-25"),
    80: ("mcp/2025-06-18", "mcp/2025-11-25"),
    81: ("mcp/2025-06-18", "mcp/2025-11-25"),
    82: ("mcp/2025-06-18", "mcp/2025-11-25"),
    83: ("mcp/2025-06-18", "mcp/2025-11-25"),
    84: ("mcp/2025-06-18", "mcp/2025-11-25"),
    85: ("mcp/2025-06-18", "mcp/2025-11-25"),
    86: ("mcp/2025-06-18", "mcp/2025-11-25"),
    87: ("mcp/2025-06-18", "mcp/2025-11-25"),
    88: ("mcp/2025-06-18", "mcp/2025-11-25"),
    89: ("acp/v2",),
    90: ("acp/v2",),
    91: ("acp/v2",),
    92: ("acp/v2",),
    93: ("acp/v2",),
    94: ("acp/v2",),
    95: ("acp/v2",),
    96: ("acp/v2",),
    97: ("acp/v2",),
    98: ("acp/v2",),
    99: ("acp/v2",),
    100: ("acp/v2",),
    101: ("acp/v2",),
    102: ("acp/v1",),
    103: ("acp/v1",),
    104: ("acp/v1",),
    105: ("acp/v1",),
    106: ("acp/v1",),
    107: ("acp/v1",),
    108: ("acp/v1",),
    109: ("acp/v1",),
    110: ("acp/v1",),
    111: ("acp/v1",),
    112: ("acp/v1",),
    113: ("acp/v1",),
}

SHAPED: Final[dict[str, dict[str, tuple[str, ...]]]] = {
    "acp/v1": {
        "AudioContent without data": ("acp/v1/content/audio-content/2",),
        "AudioContent without mimeType": ("acp/v1/content/audio-content/2",),
        "AuthMethodAgent without id": ("acp/v1/authentication/advertising-authentication/1",),
        "AuthMethodAgent without name": ("acp/v1/authentication/advertising-authentication/1",),
        "AuthMethodTerminal without id": ("acp/v1/authentication/advertising-authentication/1",),
        "AuthMethodTerminal without name": ("acp/v1/authentication/advertising-authentication/1",),
        "AuthenticateRequest without methodId": ("acp/v1/authentication/protocol-driven-authentication/1",),
        "AvailableCommand without description": ("acp/v1/slash-commands/availablecommand/1",),
        "AvailableCommand without name": ("acp/v1/slash-commands/availablecommand/1",),
        "AvailableCommandsUpdate without availableCommands": ("acp/v1/slash-commands/advertising-commands/1",),
        "BlobResourceContents without blob": ("acp/v1/content/embedded-resource/3",),
        "BlobResourceContents without uri": ("acp/v1/content/embedded-resource/3",),
        "BooleanSetSessionConfigOptionRequest without configId": ("acp/v1/session-config-options/from-the-client/1",),
        "BooleanSetSessionConfigOptionRequest without sessionId": ("acp/v1/session-config-options/from-the-client/1",),
        "BooleanSetSessionConfigOptionRequest without type": ("acp/v1/session-config-options/from-the-client/1",),
        "BooleanSetSessionConfigOptionRequest without value": ("acp/v1/session-config-options/from-the-client/1",),
        "CancelNotification without sessionId": (
            "acp/v1/session-setup/session-id/1",
            "acp/v1/prompt-turn/cancellation/1",
        ),
        "CloseSessionRequest without sessionId": (
            "acp/v1/session-setup/closing-a-session/1",
            "acp/v1/session-setup/session-id/1",
        ),
        "CompleteElicitationNotification without elicitationId": ("acp/v1/elicitation/url-completion/3",),
        "ConfigOptionUpdate without configOptions": ("acp/v1/session-config-options/from-the-agent/1",),
        "Cost without amount": (
            "acp/v1/prompt-turn/session-usage-updates/2",
            "acp/rfds/session-usage/why-not-assume-usd-for-cost/1",
        ),
        "Cost without currency": (
            "acp/v1/prompt-turn/session-usage-updates/2",
            "acp/rfds/session-usage/why-not-assume-usd-for-cost/1",
        ),
        "CreateTerminalRequest without command": ("acp/v1/terminals/executing-commands/1",),
        "CreateTerminalRequest without sessionId": ("acp/v1/terminals/executing-commands/1",),
        "CreateTerminalRequest/cwd": ("acp/v1/terminals/executing-commands/1",),
        "CreateTerminalRequest/outputByteLimit": ("acp/v1/terminals/executing-commands/2",),
        "CreateTerminalResponse without terminalId": ("acp/v1/terminals/executing-commands/4",),
        "CurrentModeUpdate without currentModeId": (
            "acp/v1/session-modes/from-the-agent/1",
            "acp/v1/session-modes/from-the-agent/2",
        ),
        "DeleteSessionRequest without sessionId": ("acp/v1/session-delete/deleting-a-session/1",),
        "Diff without newText": ("acp/v1/tool-calls/diffs/1",),
        "Diff without path": ("acp/v1/tool-calls/diffs/1",),
        "Diff/oldText": ("acp/v1/tool-calls/diffs/1",),
        "Diff/path": ("acp/v1/overview/argument-requirements/1",),
        "ElicitationRequestScope without requestId": ("acp/v1/elicitation/creating-an-elicitation/2",),
        "ElicitationSessionScope without sessionId": ("acp/v1/elicitation/creating-an-elicitation/2",),
        "ForkSessionRequest without cwd": ("acp/rfds/session-fork/implementation-details-and-plan/2",),
        "ForkSessionRequest without sessionId": ("acp/rfds/session-fork/implementation-details-and-plan/2",),
        "ForkSessionResponse without sessionId": ("acp/rfds/session-fork/implementation-details-and-plan/3",),
        "ImageContent without data": ("acp/v1/content/image-content/2",),
        "ImageContent without mimeType": ("acp/v1/content/image-content/2",),
        "Implementation without name": (
            "acp/v1/initialization/introduction/2",
            "acp/v1/initialization/implementation-information/1",
        ),
        "Implementation without version": (
            "acp/v1/initialization/introduction/2",
            "acp/v1/initialization/implementation-information/1",
        ),
        "Implementation/title": ("acp/v1/initialization/implementation-information/1",),
        "InitializeRequest without protocolVersion": ("acp/v1/initialization/introduction/1",),
        "InitializeResponse without protocolVersion": ("acp/v1/initialization/introduction/3",),
        "KillTerminalRequest without sessionId": ("acp/v1/terminals/killing-commands/1",),
        "KillTerminalRequest without terminalId": ("acp/v1/terminals/killing-commands/1",),
        "ListSessionsRequest/cursor": ("acp/rfds/session-list/how-should-pagination-work-for-large-session-lists/1",),
        "ListSessionsRequest/cwd": ("acp/v1/session-list/listing-sessions/2",),
        "ListSessionsResponse without sessions": ("acp/v1/session-list/listing-sessions/3",),
        "ListSessionsResponse/nextCursor": (
            "acp/rfds/session-list/how-should-pagination-work-for-large-session-lists/1",
        ),
        "ListSessionsResponse/sessions": ("acp/v1/session-list/listing-sessions/8",),
        "LoadSessionRequest without cwd": ("acp/v1/session-setup/loading-a-session/1",),
        "LoadSessionRequest without mcpServers": ("acp/v1/session-setup/loading-a-session/1",),
        "LoadSessionRequest without sessionId": (
            "acp/v1/session-setup/loading-a-session/1",
            "acp/v1/session-setup/session-id/1",
        ),
        "LoadSessionRequest/cwd": (
            "acp/v1/overview/argument-requirements/1",
            "acp/v1/session-setup/working-directory/1",
        ),
        "McpServerHttp without headers": ("acp/v1/session-setup/http-transport/1",),
        "McpServerHttp without name": ("acp/v1/session-setup/http-transport/1",),
        "McpServerHttp without url": ("acp/v1/session-setup/http-transport/1",),
        "McpServerSse without headers": ("acp/v1/session-setup/sse-transport/1",),
        "McpServerSse without name": ("acp/v1/session-setup/sse-transport/1",),
        "McpServerSse without url": ("acp/v1/session-setup/sse-transport/1",),
        "McpServerStdio without args": ("acp/v1/session-setup/stdio-transport/1",),
        "McpServerStdio without command": ("acp/v1/session-setup/stdio-transport/1",),
        "McpServerStdio without env": ("acp/v1/session-setup/stdio-transport/1",),
        "McpServerStdio without name": ("acp/v1/session-setup/stdio-transport/1",),
        "NewSessionRequest without cwd": ("acp/v1/session-setup/creating-a-session/1",),
        "NewSessionRequest without mcpServers": ("acp/v1/session-setup/creating-a-session/1",),
        "NewSessionRequest/cwd": (
            "acp/v1/overview/argument-requirements/1",
            "acp/v1/session-setup/working-directory/1",
        ),
        "NewSessionRequest/mcpServers": ("acp/v1/session-setup/mcp-servers/1",),
        "NewSessionResponse without sessionId": ("acp/v1/session-setup/creating-a-session/2",),
        "PermissionOption without kind": ("acp/v1/tool-calls/permission-options/1",),
        "PermissionOption without name": ("acp/v1/tool-calls/permission-options/1",),
        "PermissionOption without optionId": ("acp/v1/tool-calls/permission-options/1",),
        "Plan without entries": ("acp/v1/agent-plan/creating-plans/1",),
        "PlanEntry without content": ("acp/v1/agent-plan/plan-entries/1",),
        "PlanEntry without priority": ("acp/v1/agent-plan/plan-entries/1",),
        "PlanEntry without status": ("acp/v1/agent-plan/plan-entries/1",),
        "PromptRequest without prompt": ("acp/v1/prompt-turn/1-user-message/1",),
        "PromptRequest without sessionId": ("acp/v1/session-setup/session-id/1", "acp/v1/prompt-turn/1-user-message/1"),
        "PromptResponse without stopReason": ("acp/v1/prompt-turn/4-check-for-completion/1",),
        "ReadTextFileRequest/limit": ("acp/v1/file-system/reading-files/2",),
        "ReadTextFileRequest/line": ("acp/v1/overview/argument-requirements/2", "acp/v1/file-system/reading-files/2"),
        "ReadTextFileRequest/path": ("acp/v1/overview/argument-requirements/1",),
        "ReadTextFileResponse without content": ("acp/v1/file-system/reading-files/1",),
        "ReleaseTerminalRequest without sessionId": ("acp/v1/terminals/releasing-terminals/1",),
        "ReleaseTerminalRequest without terminalId": ("acp/v1/terminals/releasing-terminals/1",),
        "RequestPermissionRequest without options": ("acp/v1/tool-calls/requesting-permission/2",),
        "RequestPermissionRequest without sessionId": ("acp/v1/tool-calls/requesting-permission/2",),
        "RequestPermissionRequest without toolCall": ("acp/v1/tool-calls/requesting-permission/2",),
        "RequestPermissionResponse without outcome": ("acp/v1/tool-calls/requesting-permission/3",),
        "ResourceLink without name": ("acp/v1/content/resource-link/1",),
        "ResourceLink without uri": ("acp/v1/content/resource-link/1",),
        "ResumeSessionRequest without cwd": ("acp/v1/session-setup/resuming-a-session/1",),
        "ResumeSessionRequest without sessionId": (
            "acp/v1/session-setup/resuming-a-session/1",
            "acp/v1/session-setup/session-id/1",
        ),
        "ResumeSessionRequest/cwd": (
            "acp/v1/overview/argument-requirements/1",
            "acp/v1/session-setup/working-directory/1",
        ),
        "SelectedPermissionOutcome without optionId": ("acp/v1/tool-calls/requesting-permission/3",),
        "SessionConfigBoolean without currentValue": (
            "acp/v1/session-config-options/configoption/1",
            "acp/v1/session-config-options/default-values-and-graceful-degradation/1",
        ),
        "SessionConfigSelect without currentValue": (
            "acp/v1/session-config-options/configoption/1",
            "acp/v1/session-config-options/default-values-and-graceful-degradation/1",
        ),
        "SessionConfigSelect without id": ("acp/v1/session-config-options/configoption/1",),
        "SessionConfigSelect without name": ("acp/v1/session-config-options/configoption/1",),
        "SessionConfigSelect without options": ("acp/v1/session-config-options/configoption/1",),
        "SessionConfigSelect without type": ("acp/v1/session-config-options/configoption/1",),
        "SessionConfigSelectOption without name": ("acp/v1/session-config-options/configoptionvalue/1",),
        "SessionConfigSelectOption without value": ("acp/v1/session-config-options/configoptionvalue/1",),
        "SessionElicitationUrlMode without elicitationId": ("acp/v1/elicitation/url-mode/1",),
        "SessionElicitationUrlMode without message": ("acp/v1/elicitation/url-mode/1",),
        "SessionElicitationUrlMode without mode": ("acp/v1/elicitation/url-mode/1",),
        "SessionElicitationUrlMode without url": ("acp/v1/elicitation/url-mode/1",),
        "SessionInfo without cwd": ("acp/v1/session-list/listing-sessions/4",),
        "SessionInfo without sessionId": ("acp/v1/session-list/listing-sessions/4",),
        "SessionInfo/cwd": ("acp/v1/overview/argument-requirements/1", "acp/v1/session-list/listing-sessions/4"),
        "SessionMode without id": ("acp/v1/session-modes/sessionmode/1",),
        "SessionMode without name": ("acp/v1/session-modes/sessionmode/1",),
        "SessionModeState without availableModes": ("acp/v1/session-modes/sessionmodestate/1",),
        "SessionModeState without currentModeId": ("acp/v1/session-modes/sessionmodestate/1",),
        "SessionNotification without sessionId": ("acp/v1/prompt-turn/3-agent-reports-output/1",),
        "SessionNotification without update": ("acp/v1/prompt-turn/3-agent-reports-output/1",),
        "SetSessionConfigOptionResponse without configOptions": ("acp/v1/session-config-options/from-the-client/2",),
        "SetSessionModeRequest without modeId": ("acp/v1/session-modes/from-the-client/1",),
        "SetSessionModeRequest without sessionId": ("acp/v1/session-modes/from-the-client/1",),
        "StringPropertySchema/pattern": ("acp/v1/schema/stringpropertyschema/1",),
        "Terminal without terminalId": ("acp/v1/tool-calls/terminals/1", "acp/v1/schema/terminal/1"),
        "TerminalOutputResponse without output": ("acp/v1/terminals/getting-output/1",),
        "TerminalOutputResponse without truncated": ("acp/v1/terminals/getting-output/1",),
        "TerminalOutputResponse/exitStatus": ("acp/v1/terminals/getting-output/1",),
        "TextContent without text": ("acp/v1/content/text-content/1",),
        "TextResourceContents without text": ("acp/v1/content/embedded-resource/3",),
        "TextResourceContents without uri": ("acp/v1/content/embedded-resource/3",),
        "ToolCall without title": ("acp/v1/tool-calls/creating/2",),
        "ToolCall without toolCallId": ("acp/v1/tool-calls/creating/2",),
        "ToolCallLocation without path": ("acp/v1/tool-calls/following-the-agent/1",),
        "ToolCallLocation/path": ("acp/v1/overview/argument-requirements/1", "acp/v1/tool-calls/following-the-agent/1"),
        "ToolCallUpdate without toolCallId": ("acp/v1/tool-calls/updating/1",),
        "UnknownCreateElicitationRequest without message": ("acp/v1/elicitation/user-interaction-requirements/4",),
        "UnknownCreateElicitationRequest without mode": (
            "acp/v1/elicitation/creating-an-elicitation/1",
            "acp/v1/schema/createelicitationrequest/1",
            "acp/rfds/elicitation/elicitation-modes/2",
        ),
        "UnknownCreateElicitationResponse without action": (
            "acp/v1/schema/createelicitationresponse/1",
            "acp/rfds/elicitation/user-response/1",
        ),
        "UnknownElicitationPropertySchema without type": ("acp/v1/schema/elicitationpropertyschema/1",),
        "UnstructuredCommandInput without hint": ("acp/v1/slash-commands/availablecommand/1",),
        "UsageUpdate without size": (
            "acp/v1/prompt-turn/session-usage-updates/2",
            "acp/rfds/session-usage/context-window-fields/1",
        ),
        "UsageUpdate without used": (
            "acp/v1/prompt-turn/session-usage-updates/2",
            "acp/rfds/session-usage/context-window-fields/1",
        ),
        "ValueIdSetSessionConfigOptionRequest without configId": ("acp/v1/session-config-options/from-the-client/1",),
        "ValueIdSetSessionConfigOptionRequest without sessionId": ("acp/v1/session-config-options/from-the-client/1",),
        "ValueIdSetSessionConfigOptionRequest without value": ("acp/v1/session-config-options/from-the-client/1",),
        "WriteTextFileRequest/path": ("acp/v1/overview/argument-requirements/1",),
    },
    "acp/v2": {
        "AgentMessage without messageId": (
            "acp/v2/session-setup/resuming-sessions/6",
            "acp/v2/prompt-lifecycle/message-ids/1",
        ),
        "AgentThought without messageId": (
            "acp/v2/session-setup/resuming-sessions/6",
            "acp/v2/prompt-lifecycle/message-ids/1",
        ),
        "Annotations/priority": ("acp/v2/schema/annotations/1",),
        "AudioContent without data": ("acp/v2/content/audio-content/1",),
        "AudioContent without mimeType": ("acp/v2/content/audio-content/1",),
        "AuthMethodAgent without methodId": (
            "acp/v2/authentication/advertising-authentication/3",
            "acp/v2/migration/auth-methods/1",
        ),
        "AuthMethodAgent without type": ("acp/v2/authentication/authentication-method-types/1",),
        "AuthMethodTerminal without methodId": ("acp/v2/authentication/advertising-authentication/3",),
        "AuthMethodTerminal without type": ("acp/v2/authentication/authentication-method-types/1",),
        "AvailableCommandsUpdate without availableCommands": ("acp/v2/slash-commands/advertising-commands/1",),
        "BlobResourceContents without blob": ("acp/v2/content/embedded-resource/1",),
        "BlobResourceContents without uri": ("acp/v2/content/embedded-resource/1",),
        "BooleanSetSessionConfigOptionRequest without configId": (
            "acp/v2/session-config-options/setting-a-config-option/1",
        ),
        "BooleanSetSessionConfigOptionRequest without sessionId": (
            "acp/v2/session-config-options/setting-a-config-option/1",
        ),
        "BooleanSetSessionConfigOptionRequest without type": (
            "acp/v2/session-config-options/setting-a-config-option/1",
        ),
        "BooleanSetSessionConfigOptionRequest without value": (
            "acp/v2/session-config-options/setting-a-config-option/1",
        ),
        "CancelRequestNotification without requestId": ("acp/v2/cancellation/cancel_request-notification/1",),
        "CancelSessionNotification without sessionId": ("acp/v2/prompt-lifecycle/cancellation/1",),
        "CloseSessionRequest without sessionId": ("acp/v2/session-setup/closing-active-sessions/2",),
        "Command without description": ("acp/v2/slash-commands/availablecommand/1",),
        "Command without name": ("acp/v2/slash-commands/availablecommand/1",),
        "CommandPermissionSubject without command": ("acp/v2/tool-calls/requesting-permission/4",),
        "CommandPermissionSubject without cwd": ("acp/v2/tool-calls/requesting-permission/4",),
        "CommandPermissionSubject/cwd": ("acp/v2/tool-calls/requesting-permission/4",),
        "CompactionUpdate without compactionId": ("acp/v2/schema/compactionupdate/1",),
        "CompactionUpdate without status": ("acp/v2/schema/compactionupdate/1",),
        "CompleteElicitationNotification without elicitationId": ("acp/v2/elicitation/url-completion/3",),
        "ConfigOptionUpdate without configOptions": ("acp/v2/session-config-options/setting-a-config-option/4",),
        "ContentChunk without messageId": (
            "acp/v2/session-setup/resuming-sessions/6",
            "acp/v2/prompt-lifecycle/message-ids/1",
            "acp/v2/rfds/message-id/proposed-structure/1",
        ),
        "Cost without amount": (
            "acp/rfds/session-usage/why-not-assume-usd-for-cost/1",
            "acp/v2/prompt-lifecycle/session-usage-updates/2",
        ),
        "Cost without currency": (
            "acp/rfds/session-usage/why-not-assume-usd-for-cost/1",
            "acp/v2/prompt-lifecycle/session-usage-updates/2",
        ),
        "DeleteSessionRequest without sessionId": ("acp/v2/session-delete/deleting-a-session/1",),
        "Diff without changes": ("acp/v2/tool-calls/diffs/1",),
        "DiffPathChange without path": ("acp/v2/tool-calls/diffs/7",),
        "DiffPathChange/path": ("acp/v2/tool-calls/diffs/7",),
        "DiffPathPairChange without oldPath": ("acp/v2/tool-calls/diffs/7",),
        "DiffPathPairChange without path": ("acp/v2/tool-calls/diffs/7",),
        "DiffPathPairChange/oldPath": ("acp/v2/tool-calls/diffs/7",),
        "DiffPathPairChange/path": ("acp/v2/tool-calls/diffs/7",),
        "ElicitationAcceptAction without action": ("acp/v2/elicitation/responses/1",),
        "ElicitationCancelAction without action": ("acp/v2/elicitation/responses/1",),
        "ElicitationDeclineAction without action": ("acp/v2/elicitation/responses/1",),
        "ElicitationSchema without properties": ("acp/v2/elicitation/form-mode/1",),
        "ElicitationSchema without type": ("acp/v2/elicitation/form-mode/1",),
        "EmbeddedResource without resource": ("acp/v2/content/embedded-resource/1",),
        "Error without code": ("acp/v2/overview/error-handling/2",),
        "Error without message": ("acp/v2/overview/error-handling/2",),
        "ForkSessionRequest without cwd": ("acp/rfds/session-fork/implementation-details-and-plan/2",),
        "ForkSessionRequest without sessionId": ("acp/rfds/session-fork/implementation-details-and-plan/2",),
        "ForkSessionResponse without sessionId": ("acp/rfds/session-fork/implementation-details-and-plan/3",),
        "Icon without src": ("acp/v2/content/resource-link/2",),
        "IdSetSessionConfigOptionRequest without configId": (
            "acp/v2/session-config-options/setting-a-config-option/1",
        ),
        "IdSetSessionConfigOptionRequest without sessionId": (
            "acp/v2/session-config-options/setting-a-config-option/1",
        ),
        "IdSetSessionConfigOptionRequest without type": ("acp/v2/session-config-options/setting-a-config-option/1",),
        "IdSetSessionConfigOptionRequest without value": ("acp/v2/session-config-options/setting-a-config-option/1",),
        "ImageContent without data": ("acp/v2/content/image-content/1",),
        "ImageContent without mimeType": ("acp/v2/content/image-content/1",),
        "Implementation without name": ("acp/v2/initialization/implementation-information/1",),
        "Implementation without version": ("acp/v2/initialization/implementation-information/1",),
        "InitializeRequest without info": ("acp/v2/initialization/overview/2",),
        "InitializeRequest without protocolVersion": ("acp/v2/initialization/overview/2",),
        "InitializeResponse without info": ("acp/v2/initialization/overview/3",),
        "InitializeResponse without protocolVersion": ("acp/v2/initialization/overview/3",),
        "ListSessionsRequest/cursor": ("acp/rfds/session-list/how-should-pagination-work-for-large-session-lists/1",),
        "ListSessionsResponse without sessions": (
            "acp/v2/session-list/listing-sessions/4",
            "acp/v2/session-list/listing-sessions/8",
        ),
        "ListSessionsResponse/nextCursor": (
            "acp/rfds/session-list/how-should-pagination-work-for-large-session-lists/1",
        ),
        "LoginAuthRequest without methodId": ("acp/v2/authentication/agent-handled-authentication/2",),
        "McpServerHttp without name": ("acp/v2/session-setup/http-transport/1",),
        "McpServerHttp without type": ("acp/v2/session-setup/transport-types/1",),
        "McpServerHttp without url": ("acp/v2/session-setup/http-transport/1",),
        "McpServerStdio without command": ("acp/v2/session-setup/stdio-transport/1",),
        "McpServerStdio without name": ("acp/v2/session-setup/stdio-transport/1",),
        "McpServerStdio without type": (
            "acp/v2/session-setup/transport-types/1",
            "acp/v2/migration/mcp-server-configuration/1",
        ),
        "McpServerStdio/command": ("acp/v2/session-setup/stdio-transport/1",),
        "NewSessionRequest without cwd": ("acp/v2/session-setup/creating-a-session/1",),
        "NewSessionRequest/cwd": ("acp/v2/session-setup/working-directory/1",),
        "NewSessionResponse without sessionId": ("acp/v2/session-setup/creating-a-session/2",),
        "NewSessionResponse/availableCommands": ("acp/v2/schema/newsessionresponse/2",),
        "NewSessionResponse/configOptions": ("acp/v2/schema/newsessionresponse/2",),
        "Notice without severity": ("acp/v2/schema/notice/2",),
        "Notice without title": ("acp/v2/schema/notice/2",),
        "Notice/title": ("acp/v2/schema/notice/2",),
        "PermissionOption without kind": ("acp/v2/tool-calls/permission-options/1",),
        "PermissionOption without name": ("acp/v2/tool-calls/permission-options/1",),
        "PermissionOption without optionId": ("acp/v2/tool-calls/permission-options/1",),
        "PlanEntry without content": ("acp/v2/agent-plan/plan-entries/1",),
        "PlanEntry without priority": ("acp/v2/agent-plan/plan-entries/1",),
        "PlanEntry without status": ("acp/v2/agent-plan/plan-entries/1",),
        "PlanItems without entries": ("acp/v2/agent-plan/overview/1", "acp/v2/agent-plan/updating-plans/2"),
        "PlanItems without planId": ("acp/v2/agent-plan/overview/1",),
        "PlanUpdate without plan": ("acp/v2/agent-plan/overview/1",),
        "PromptRequest without prompt": ("acp/v2/prompt-lifecycle/1-user-message/2",),
        "PromptRequest without sessionId": ("acp/v2/prompt-lifecycle/1-user-message/2",),
        "PromptRequest/prompt": ("acp/v2/schema/promptrequest/4",),
        "PromptResponse without messageId": ("acp/v2/schema/promptrequest/6",),
        "ReplayFromStart without type": ("acp/v2/schema/resumesessionrequest/4",),
        "RequestElicitationFormMode without mode": ("acp/v2/elicitation/creating-an-elicitation/1",),
        "RequestElicitationUrlMode without elicitationId": ("acp/v2/elicitation/url-mode/1",),
        "RequestElicitationUrlMode without mode": ("acp/v2/elicitation/creating-an-elicitation/1",),
        "RequestElicitationUrlMode without url": ("acp/v2/elicitation/url-mode/1",),
        "RequestPermissionRequest without options": ("acp/v2/tool-calls/requesting-permission/2",),
        "RequestPermissionRequest without sessionId": ("acp/v2/tool-calls/requesting-permission/2",),
        "RequestPermissionRequest without title": ("acp/v2/tool-calls/requesting-permission/2",),
        "RequestPermissionRequest/options": ("acp/v2/tool-calls/requesting-permission/3",),
        "ResourceLink without name": ("acp/v2/content/resource-link/1",),
        "ResourceLink without uri": ("acp/v2/content/resource-link/1",),
        "ResourceLink/size": ("acp/v2/content/resource-link/3",),
        "ResumeSessionRequest without cwd": ("acp/v2/session-setup/resuming-sessions/2",),
        "ResumeSessionRequest without sessionId": ("acp/v2/session-setup/resuming-sessions/2",),
        "ResumeSessionRequest/cwd": ("acp/v2/session-setup/working-directory/1",),
        "ResumeSessionResponse/availableCommands": ("acp/v2/schema/newsessionresponse/2",),
        "ResumeSessionResponse/configOptions": ("acp/v2/schema/newsessionresponse/2",),
        "SelectedPermissionOutcome without optionId": ("acp/v2/tool-calls/requesting-permission/9",),
        "SessionConfigBoolean without configId": ("acp/v2/session-config-options/configoption/1",),
        "SessionConfigBoolean without currentValue": (
            "acp/v2/session-config-options/configoption/1",
            "acp/v2/session-config-options/default-values-and-graceful-degradation/1",
        ),
        "SessionConfigBoolean without name": ("acp/v2/session-config-options/configoption/1",),
        "SessionConfigBoolean without type": ("acp/v2/session-config-options/configoption/1",),
        "SessionConfigBoolean/currentValue": ("acp/v2/session-config-options/configoption/2",),
        "SessionConfigSelect without configId": ("acp/v2/session-config-options/configoption/1",),
        "SessionConfigSelect without currentValue": (
            "acp/v2/session-config-options/configoption/1",
            "acp/v2/session-config-options/default-values-and-graceful-degradation/1",
        ),
        "SessionConfigSelect without name": ("acp/v2/session-config-options/configoption/1",),
        "SessionConfigSelect without options": (
            "acp/v2/session-config-options/configoption/1",
            "acp/v2/session-config-options/configoption/2",
        ),
        "SessionConfigSelect without type": ("acp/v2/session-config-options/configoption/1",),
        "SessionConfigSelectGroup/options": ("acp/v2/schema/sessionconfigselectgroup/1",),
        "SessionElicitationFormMode without message": ("acp/v2/elicitation/user-interaction-requirements/4",),
        "SessionElicitationFormMode without mode": ("acp/v2/elicitation/creating-an-elicitation/1",),
        "SessionElicitationFormMode without requestedSchema": ("acp/v2/elicitation/form-mode/1",),
        "SessionElicitationUrlMode without elicitationId": ("acp/v2/elicitation/url-mode/1",),
        "SessionElicitationUrlMode without mode": ("acp/v2/elicitation/creating-an-elicitation/1",),
        "SessionElicitationUrlMode without url": ("acp/v2/elicitation/url-mode/1",),
        "SessionInfo without cwd": ("acp/v2/session-list/listing-sessions/5",),
        "SessionInfo without sessionId": ("acp/v2/session-list/listing-sessions/5",),
        "SessionInfo/cwd": ("acp/v2/session-list/listing-sessions/5",),
        "SetSessionConfigOptionResponse without configOptions": (
            "acp/v2/session-config-options/setting-a-config-option/3",
        ),
        "StringMultiSelectItems/enum": ("acp/v2/schema/multiselectitems/1",),
        "StringPropertySchema/enum": ("acp/v2/schema/stringpropertyschema/1",),
        "StringPropertySchema/oneOf": ("acp/v2/schema/stringpropertyschema/1",),
        "Terminal without terminalId": ("acp/v2/tool-calls/display-only-terminals/1",),
        "TerminalOutput without data": ("acp/v2/tool-calls/display-only-terminals/7",),
        "TerminalOutputChunk without data": ("acp/v2/tool-calls/display-only-terminals/10",),
        "TerminalOutputChunk without terminalId": ("acp/v2/tool-calls/display-only-terminals/10",),
        "TerminalSize/cols": ("acp/v2/schema/terminalsize/1",),
        "TerminalSize/rows": ("acp/v2/schema/terminalsize/1",),
        "TerminalUpdate without terminalId": ("acp/v2/tool-calls/display-only-terminals/4",),
        "TextCommandInput without hint": ("acp/v2/slash-commands/availablecommandinput/1",),
        "TextContent without text": ("acp/v2/content/text-content/2",),
        "TextResourceContents without text": ("acp/v2/content/embedded-resource/1",),
        "TextResourceContents without uri": ("acp/v2/content/embedded-resource/1",),
        "TitledMultiSelectItems/anyOf": ("acp/v2/schema/multiselectitems/1",),
        "ToolCallContentChunk without content": ("acp/v2/tool-calls/streaming-content/1",),
        "ToolCallContentChunk without toolCallId": ("acp/v2/tool-calls/streaming-content/1",),
        "ToolCallLocation without path": ("acp/v2/tool-calls/following-the-agent/1",),
        "ToolCallLocation/line": ("acp/v2/overview/argument-requirements/2",),
        "ToolCallLocation/path": ("acp/v2/tool-calls/following-the-agent/1",),
        "ToolCallUpdate without toolCallId": ("acp/v2/tool-calls/reporting/2",),
        "UnknownAuthMethod without methodId": ("acp/v2/authentication/advertising-authentication/3",),
        "UnknownAuthMethod without type": ("acp/v2/authentication/authentication-method-types/1",),
        "UnknownCreateElicitationRequest without mode": (
            "acp/rfds/elicitation/elicitation-modes/2",
            "acp/v2/elicitation/creating-an-elicitation/1",
        ),
        "UnknownCreateElicitationResponse without action": ("acp/rfds/elicitation/user-response/1",),
        "UnknownMcpServer without type": ("acp/v2/session-setup/transport-types/1",),
        "UnknownPlanUpdateContent without planId": (
            "acp/v2/agent-plan/overview/1",
            "acp/v2/agent-plan/extensibility/2",
        ),
        "UnknownPlanUpdateContent without type": ("acp/v2/agent-plan/overview/1",),
        "UnknownReplayFrom without type": ("acp/v2/schema/resumesessionrequest/4",),
        "UnsupportedProtocolVersionErrorData without requested": ("acp/v2/schema/errorcode/2",),
        "UnsupportedProtocolVersionErrorData without supported": ("acp/v2/schema/errorcode/2",),
        "UsageUpdate without size": (
            "acp/rfds/session-usage/context-window-fields/1",
            "acp/v2/prompt-lifecycle/session-usage-updates/2",
        ),
        "UsageUpdate without used": (
            "acp/rfds/session-usage/context-window-fields/1",
            "acp/v2/prompt-lifecycle/session-usage-updates/2",
        ),
        "UserMessage without messageId": (
            "acp/v2/session-setup/resuming-sessions/6",
            "acp/v2/prompt-lifecycle/message-ids/1",
        ),
    },
    "mcp/2025-06-18": {
        "InitializeRequest without capabilities": ("mcp/lifecycle/initialization/2",),
        "InitializeRequest without clientInfo": ("mcp/lifecycle/initialization/2",),
        "InitializeRequest without protocolVersion": ("mcp/lifecycle/initialization/2",),
        "InitializeRequest/protocolVersion": ("mcp/lifecycle/version-negotiation/1",),
        "InitializeResult without capabilities": ("mcp/lifecycle/initialization/3",),
        "InitializeResult without protocolVersion": ("mcp/lifecycle/initialization/3",),
        "InitializeResult without serverInfo": ("mcp/lifecycle/initialization/3",),
    },
}
