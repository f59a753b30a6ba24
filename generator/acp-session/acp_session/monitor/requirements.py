"""Which requirements of the protocols' own pages stand behind which rule, by protocol and by the method or capability that a
breach is about; an empty word stands for every breach. And of which protocols the requirements are that have a number.
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
