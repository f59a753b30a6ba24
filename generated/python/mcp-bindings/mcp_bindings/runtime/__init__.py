"""What all generated modules share: models, messages, decoding, encoding and their errors."""

from .codec import Codec, Method
from .errors import DecodeError, Dropped, EncodeError, Problem
from .jsonrpc import JSON, ErrorObject, ErrorResponse, Notification, Request, Response
from .markers import Exact, Number, Open, Shapes, Tagged
from .model import MISSING, Model, Unknown
from .strict import MissingExtra, Strict, Violation

__all__ = [
    "JSON",
    "MISSING",
    "Codec",
    "DecodeError",
    "Dropped",
    "EncodeError",
    "ErrorObject",
    "ErrorResponse",
    "Exact",
    "Method",
    "MissingExtra",
    "Model",
    "Notification",
    "Number",
    "Open",
    "Problem",
    "Request",
    "Response",
    "Shapes",
    "Strict",
    "Tagged",
    "Unknown",
    "Violation",
]
