"""Cases of values that no type names: those of extensions begin with `_`, and whoever sends others is told so."""

from __future__ import annotations

from typing import Any, Final

from monitor.scripts import CWD, Case, Said, agent, client, opened, permission_v2, prompt, result, text, update, v1, v2

OPEN: Final = [*v2(), *opened()]
FORMS: Final[dict[str, Any]] = {"elicitation": {"form": {}}}
AT_WORK: Final = [
    *OPEN,
    prompt(),
    result("agent", "p", {"messageId": "u"}),
    update(sessionUpdate="user_message", messageId="u", content=[text()]),
    update(sessionUpdate="state_update", state="running"),
]
CATEGORY: Final = {"name": "C", "type": "boolean", "currentValue": True}


def plan(**entry: str) -> dict[str, Any]:
    whole = {"content": "a", "priority": "high", "status": "pending", **entry}
    return {"sessionUpdate": "plan_update", "plan": {"type": "items", "planId": "p", "entries": [whole]}}


def asked(**field: Any) -> Said:
    form = {"type": "object", "properties": {"a": field}}
    question = {"message": "Which?", "sessionId": "s", "mode": "form", "requestedSchema": form}
    return agent("elicitation/create", question, id_="ask")


def values(word: str) -> dict[str, tuple[list[Said], str]]:
    """By type, a conversation of version 2 in which a value of it is this word, and its place."""
    tool: dict[str, Any] = {"sessionUpdate": "tool_call_update", "toolCallId": "t", "title": "T"}
    command = {"type": "command", "name": "a", "description": "A", "input": {"type": word}}
    commands: dict[str, Any] = {"sessionUpdate": "available_commands_update", "availableCommands": [command]}
    return {
        "AuthMethod": (
            v2(authMethods=[{"type": word, "methodId": "a", "name": "A"}]),
            "/result/authMethods/0/type",
        ),
        "McpServer": (
            [*v2(), client("session/new", {"cwd": CWD, "mcpServers": [{"type": word, "name": "a"}]}, id_="n")],
            "/params/mcpServers/0/type",
        ),
        "stopReason": (
            [*AT_WORK, update(sessionUpdate="state_update", state="idle", stopReason=word)],
            "/params/update/stopReason",
        ),
        "ContentBlock": ([*OPEN, prompt({"type": word})], "/params/prompt/0/type"),
        "ToolKind": ([*OPEN, update(**tool, kind=word)], "/params/update/kind"),
        "ToolCallStatus": ([*OPEN, update(**tool, status=word)], "/params/update/status"),
        "PermissionOptionKind": (
            [*OPEN, permission_v2(options=[{"optionId": "a", "name": "A", "kind": word}])],
            "/params/options/0/kind",
        ),
        "PlanUpdateContent": (
            [*OPEN, update(sessionUpdate="plan_update", plan={"type": word, "planId": "p"})],
            "/params/update/plan/type",
        ),
        "PlanEntryPriority": ([*OPEN, update(**plan(priority=word))], "/params/update/plan/entries/0/priority"),
        "PlanEntryStatus": ([*OPEN, update(**plan(status=word))], "/params/update/plan/entries/0/status"),
        "SessionConfigOption": (
            [*v2(), *opened(answer={"configOptions": [{"configId": "c", "name": "C", "type": word}]})],
            "/result/configOptions/0/type",
        ),
        "SessionConfigOptionCategory": (
            [*v2(), *opened(answer={"configOptions": [{"configId": "c", "category": word, **CATEGORY}]})],
            "/result/configOptions/0/category",
        ),
        "AvailableCommandInput": ([*OPEN, update(**commands)], "/params/update/availableCommands/0/input/type"),
        "ElicitationPropertySchema": (
            [*v2(caps=FORMS), *opened(), asked(type=word)],
            "/params/requestedSchema/properties/a/type",
        ),
        "action": (
            [*v2(caps=FORMS), *opened(), asked(type="string"), result("client", "ask", {"action": word})],
            "/result/action",
        ),
        "mode": (
            [
                *v2(caps=FORMS),
                *opened(),
                agent("elicitation/create", {"message": "Which?", "sessionId": "s", "mode": word}, id_="ask"),
            ],
            "/params/mode",
        ),
    }


VALUE_CASES: Final = (
    *(Case("value-unknown", said, place, name=name) for name, (said, place) in values("tide").items()),
    Case(
        "value-unknown",
        [
            *v1(caps={**FORMS, "session": {"configOptions": {"boolean": {}}}}),
            *opened(answer={"configOptions": [{"id": "c", "category": "tide", **CATEGORY}]}),
        ],
        "/result/configOptions/0/category",
        name="a category in version 1",
    ),
)

QUIET_VALUES: Final = {f"{name} of an extension": said for name, (said, _) in values("_tide").items()}
