"""What all generated modules share: records, messages, decoding, encoding and errors."""

from . import pydantic_hooks as _  # noqa: F401 - it puts them on the types, where pydantic finds them
from .annotations import Choice, Constants, Number, Shapes, Tagged
from .codec import Codec, ErrorObject
from .contract import Method
from .errors import DecodeError, Dropped, EncodeError, Problem
from .failures import ConnectionClosed, NotAdvertised, NotStrict, PeerError, RequestError
from .jsonrpc import JSON, ErrorResponse, Notification, Request, Response
from .records import UNSET, Meta, Record, Unknown, UnknownTag, UnsetType
from .strict import Strict, Violation
from .string_enums import OpenStringEnum, StringEnum
from .writers import to_builtins

__all__ = [
    "JSON",
    "UNSET",
    "Choice",
    "Codec",
    "ConnectionClosed",
    "Constants",
    "DecodeError",
    "Dropped",
    "EncodeError",
    "ErrorObject",
    "ErrorResponse",
    "Meta",
    "Method",
    "NotAdvertised",
    "NotStrict",
    "Notification",
    "Number",
    "OpenStringEnum",
    "PeerError",
    "Problem",
    "Record",
    "Request",
    "RequestError",
    "Response",
    "Shapes",
    "Strict",
    "StringEnum",
    "Tagged",
    "Unknown",
    "UnknownTag",
    "UnsetType",
    "Violation",
    "to_builtins",
]
