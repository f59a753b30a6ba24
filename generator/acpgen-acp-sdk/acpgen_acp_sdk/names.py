"""Names in the SDK that differ from those of the schema; they are public and must not change."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

CLASSES: Final[Mapping[str, str]] = {
    "AcceptCreateElicitationResponse": "AcceptElicitationResponse",
    "ArrayElicitationPropertySchema": "ElicitationMultiSelectPropertySchema",
    "AvailableCommandsUpdateSessionUpdate": "AvailableCommandsUpdate",
    "BooleanElicitationPropertySchema": "ElicitationBooleanPropertySchema",
    "BooleanSessionConfigOption": "SessionConfigOptionBoolean",
    "BooleanSetSessionConfigOptionRequest": "SetSessionConfigOptionBooleanRequest",
    "CancelCreateElicitationResponse": "CancelElicitationResponse",
    "CancelledRequestPermissionOutcome": "DeniedOutcome",
    "ConfigOptionUpdateSessionUpdate": "ConfigOptionUpdate",
    "CurrentModeUpdateSessionUpdate": "CurrentModeUpdate",
    "DeclineCreateElicitationResponse": "DeclineElicitationResponse",
    "DiffToolCallContent": "FileEditToolCallContent",
    "EditNesSuggestion": "NesEditSuggestionVariant",
    "FilePlanUpdateContent": "PlanUpdateFile",
    "FormCreateElicitationRequest": "CreateFormElicitationRequest",
    "IntegerElicitationPropertySchema": "ElicitationIntegerPropertySchema",
    "ItemsPlanUpdateContent": "PlanUpdateItems",
    "JumpNesSuggestion": "NesJumpSuggestionVariant",
    "MarkdownPlanUpdateContent": "PlanUpdateMarkdown",
    "MultiSelectItemsStringVariant": "StringMultiSelectItems",
    "NumberElicitationPropertySchema": "ElicitationNumberPropertySchema",
    "PlanRemovedSessionUpdate": "AgentPlanRemovedUpdate",
    "PlanSessionUpdate": "AgentPlanUpdate",
    "PlanUpdateSessionUpdate": "AgentPlanContentUpdate",
    "RenameNesSuggestion": "NesRenameSuggestionVariant",
    "RequestElicitationFormMode": "ElicitationFormRequestMode",
    "RequestElicitationUrlMode": "ElicitationUrlRequestMode",
    "RequestFormCreateElicitationRequest": "CreateFormRequestElicitationRequest",
    "RequestUrlCreateElicitationRequest": "CreateUrlRequestElicitationRequest",
    "ResourceContentBlock": "EmbeddedResourceContentBlock",
    "ResourceLinkContentBlock": "ResourceContentBlock",
    "SearchAndReplaceNesSuggestion": "NesSearchAndReplaceSuggestionVariant",
    "SelectSessionConfigOption": "SessionConfigOptionSelect",
    "SelectedRequestPermissionOutcome": "AllowedOutcome",
    "SessionElicitationFormMode": "ElicitationFormSessionMode",
    "SessionElicitationUrlMode": "ElicitationUrlSessionMode",
    "SessionFormCreateElicitationRequest": "CreateFormSessionElicitationRequest",
    "SessionInfoUpdateSessionUpdate": "SessionInfoUpdate",
    "SessionUrlCreateElicitationRequest": "CreateUrlSessionElicitationRequest",
    "SessionToolCallUpdate": "ToolCallProgress",
    "StringElicitationPropertySchema": "ElicitationStringPropertySchema",
    "ToolCallSessionUpdate": "ToolCallStart",
    "UnknownCreateElicitationRequest": "CreateOtherElicitationRequest",
    "UnknownCreateElicitationResponse": "OtherElicitationResponse",
    "UnknownElicitationPropertySchema": "ElicitationOtherPropertySchema",
    "UnknownMultiSelectItems": "OtherMultiSelectItems",
    "UrlCreateElicitationRequest": "CreateUrlElicitationRequest",
    "UsageUpdateSessionUpdate": "UsageUpdate",
    "ValueIdSetSessionConfigOptionRequest": "SetSessionConfigOptionSelectRequest",
}
"""SDK class names by acpgen's class names. A body whose name its variant needs gets an underscore prefix."""

ROOT_MODELS: Final = frozenset(
    {"AvailableCommandInput", "ElicitationContentValue", "ElicitationFormMode", "ElicitationUrlMode"}
)
"""Definitions that are not objects, but are classes in the SDK."""

LOOSE: Final = frozenset({"ElicitationContentValue"})
"""Root models that fields do not use: fields are typed as `Any`."""

PUBLIC: Final = frozenset(
    {
        "CreateElicitationRequest",
        "CreateElicitationResponse",
        "FormCreateElicitationRequest",
        "UrlCreateElicitationRequest",
    }
)
"""Unions with a public name. Other unions are private; users import their members."""

LITERALS: Final = frozenset(
    {"PermissionOptionKind", "PlanEntryPriority", "PlanEntryStatus", "StopReason", "ToolCallStatus", "ToolKind"}
)
"""Enumerations that are `Literal` types. Other closed enumerations are plain `str` in the SDK, which refuses no value."""

FIELDS: Final[Mapping[str, str]] = {"_meta": "field_meta", "list": "list"}
"""Attribute names by wire name, if they are not the wire name in snake case."""

COERCED: Final = ("InitializeRequest", "protocolVersion")
"""The field that accepts any value: released clients send a date as their version, and get a response rather than an error."""
