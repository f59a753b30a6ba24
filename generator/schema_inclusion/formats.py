"""Bound each format by two patterns: texts that match the first are of the format, and all texts of the format match the second.

The prover decides nothing about texts between the two. So a leap second, an email address with quotes or a domain name in another script
is neither proven to be of its format nor proven not to be.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from functools import lru_cache
from typing import Final

import jsonschema_rs
from msgspec import Struct


class Bounds(Struct, frozen=True):
    """Two ECMA-262 patterns: a text that matches the first is of the format, and one that does not match the second is not."""

    surely: str
    possibly: str


class UnknownFormat(ValueError):
    """Formats that cannot be asserted; the message names them."""


def _bound_exactly(pattern: str) -> Bounds:
    return Bounds(pattern, pattern)


_LONG_MONTHS: Final = r"(?:0[13578]|1[02])-(?:0[1-9]|[12][0-9]|3[01])"
_SHORT_MONTHS: Final = r"(?:0[469]|11)-(?:0[1-9]|[12][0-9]|30)"
_DATE: Final = rf"(?:19|20)[0-9]{{2}}-(?:{_LONG_MONTHS}|{_SHORT_MONTHS}|02-(?:0[1-9]|1[0-9]|2[0-8]))"
_PERHAPS_DATE: Final = rf"(?:19|20)[0-9]{{2}}-(?:{_LONG_MONTHS}|{_SHORT_MONTHS}|02-(?:0[1-9]|[12][0-9]))"
_CLOCK: Final = r"(?:[01][0-9]|2[0-3]):[0-5][0-9]"
_TIME: Final = rf"{_CLOCK}:[0-5][0-9](?:\.[0-9]{{1,6}})?(?:Z|[+-]{_CLOCK})"
_PERHAPS_TIME: Final = rf"{_CLOCK}:(?:[0-5][0-9]|60)(?:\.[0-9]+)?(?:[Zz]|[+-]{_CLOCK})"
_LABELS: Final = r"[a-z]{1,20}(?:\.[a-z]{1,20}){0,4}"
_PATH: Final = r"(?:/[A-Za-z0-9_-]{1,20}){0,8}"
_URI_CHARACTERS: Final = r"[!#$%&'()*+,\-./0-9:;=?@A-Z_a-z~\[\]]*"
_SCHEME: Final = r"[A-Za-z][A-Za-z0-9+.\-]*:"
_URI: Final = rf"^[a-z]{{1,12}}://{_LABELS}{_PATH}$"
_REFERENCE: Final = rf"^(?:[a-z]{{1,12}}://{_LABELS})?{_PATH}$"
_OCTET: Final = r"(?:25[0-5]|2[0-4][0-9]|1[0-9][0-9]|[1-9]?[0-9])"
_GROUP: Final = r"[0-9a-f]{1,4}"
_POINTER: Final = r"(?:/(?:[^~/]|~[01])*)*"

FORMATS: Final[Mapping[str, Bounds]] = {
    "date": Bounds(f"^{_DATE}$", f"^{_PERHAPS_DATE}$"),
    "time": Bounds(f"^{_TIME}$", f"^{_PERHAPS_TIME}$"),
    "date-time": Bounds(f"^{_DATE}T{_TIME}$", f"^{_PERHAPS_DATE}[Tt ]{_PERHAPS_TIME}$"),
    "duration": Bounds(r"^P(?:[0-9]{1,4}[YMWD]|T[0-9]{1,4}[HMS])$", r"^P[0-9YMWDTHS]+$"),
    "email": Bounds(r"^[a-z0-9]{1,20}@[a-z]{1,20}\.[a-z]{2,6}$", "@"),
    "idn-email": Bounds(r"^[a-z0-9]{1,20}@[a-z]{1,20}\.[a-z]{2,6}$", "@"),
    "hostname": Bounds(f"^{_LABELS}$", r"^[A-Za-z0-9.\-]+$"),
    "idn-hostname": Bounds(f"^{_LABELS}$", ""),
    "ipv4": _bound_exactly(rf"^{_OCTET}(?:\.{_OCTET}){{3}}$"),
    "ipv6": Bounds(
        rf"^(?:::|::{_GROUP}|{_GROUP}::|{_GROUP}::{_GROUP}|(?:{_GROUP}:){{7}}{_GROUP})$", "^[0-9A-Fa-f:.]+$"
    ),
    "uri": Bounds(_URI, f"^{_SCHEME}{_URI_CHARACTERS}$"),
    "uri-reference": Bounds(_REFERENCE, f"^{_URI_CHARACTERS}$"),
    "iri": Bounds(_URI, f"^{_SCHEME}"),
    "iri-reference": Bounds(_REFERENCE, ""),
    "uri-template": Bounds(_REFERENCE, ""),
    "uuid": _bound_exactly("^[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$"),
    "json-pointer": _bound_exactly(f"^{_POINTER}$"),
    "relative-json-pointer": Bounds(f"^(?:0|[1-9][0-9]{{0,5}})(?:#|{_POINTER})$", "^[0-9]"),
    "regex": Bounds("^[a-z0-9]*$", ""),
}
"""The formats that can be asserted: those of the drafts."""


WIDER: Final[Mapping[str, tuple[str, ...]]] = {
    "uri": ("uri-reference", "iri"),
    "uri-reference": ("iri-reference",),
    "iri": ("iri-reference",),
    "email": ("idn-email",),
}
"""The formats that include all texts of a format (RFC 3986, RFC 3987, RFC 6531)."""


def require_known(names: Collection[str]) -> frozenset[str]:
    """Check the names of the formats to assert. Raises `UnknownFormat` for names that are not in `FORMATS`."""
    unknown = sorted(set(names) - FORMATS.keys())
    if unknown:
        raise UnknownFormat(f"these formats cannot be asserted: {', '.join(unknown)}")
    return frozenset(names)


def is_of(name: str, text: str) -> bool:
    """Whether an independent validator accepts the text as one of the format."""
    return _make_validator(name).is_valid(text)


@lru_cache
def _make_validator(name: str) -> jsonschema_rs.Draft202012Validator:
    return jsonschema_rs.Draft202012Validator({"format": name}, validate_formats=True)
