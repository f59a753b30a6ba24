"""What the SDK calls things, where that is not the name in the schema: an interface that people import from."""

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
"""Classes by the name that acpgen gives. A body that would have the name of its variant gets an underscore before it."""

ROOT_MODELS: Final = frozenset(
    {"AvailableCommandInput", "ElicitationContentValue", "ElicitationFormMode", "ElicitationUrlMode"}
)
"""Definitions that are no objects and classes nevertheless."""

LOOSE: Final = frozenset({"ElicitationContentValue"})
"""Root models that fields do not use: they hold the plain value, whatever it is."""

PUBLIC: Final = frozenset(
    {
        "CreateElicitationRequest",
        "CreateElicitationResponse",
        "FormCreateElicitationRequest",
        "UrlCreateElicitationRequest",
    }
)
"""Unions that have a name of their own. All others are private: their members are what people import."""

LITERALS: Final = frozenset(
    {"PermissionOptionKind", "PlanEntryPriority", "PlanEntryStatus", "StopReason", "ToolCallStatus", "ToolKind"}
)
"""Sets of constants that are types. Other closed ones are plain text in the SDK, which refuses no value of them."""

FIELDS: Final[Mapping[str, str]] = {"_meta": "field_meta", "list": "list"}
"""Attributes by wire name, where that is not the wire name in snake case."""

COERCED: Final = ("InitializeRequest", "protocolVersion")
"""The field that takes any value: shipped clients send a date as their version, and are answered rather than refused."""
