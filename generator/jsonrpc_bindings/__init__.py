"""What all generated modules share: models, messages, decoding, encoding and their errors."""

from .alone import Alone
from .codec import Codec
from .contract import Method
from .errors import DecodeError, Dropped, EncodeError, Problem
from .failures import ConnectionEnded, Failed, NotAdvertised, NotStrict, Refused
from .jsonrpc import JSON, ErrorObject, ErrorResponse, Notification, Request, Response
from .markers import (
    Bounds,
    Exact,
    MultipleOf,
    Number,
    Open,
    Pattern,
    Positional,
    Shapes,
    Tagged,
    UniqueItems,
    WithoutFraction,
)
from .model import MISSING, Excluding, Model, Unknown, UnknownTag
from .published import Defined
from .sending import encode_strictly
from .strict import MissingExtra, Strict, Violation

__all__ = [
    "JSON",
    "MISSING",
    "Alone",
    "Bounds",
    "Codec",
    "ConnectionEnded",
    "DecodeError",
    "Defined",
    "Dropped",
    "EncodeError",
    "ErrorObject",
    "ErrorResponse",
    "Exact",
    "Excluding",
    "Failed",
    "Method",
    "MissingExtra",
    "Model",
    "MultipleOf",
    "NotAdvertised",
    "NotStrict",
    "Notification",
    "Number",
    "Open",
    "Pattern",
    "Positional",
    "Problem",
    "Refused",
    "Request",
    "Response",
    "Shapes",
    "Strict",
    "Tagged",
    "UniqueItems",
    "Unknown",
    "UnknownTag",
    "Violation",
    "WithoutFraction",
    "encode_strictly",
]
