"""Regular expressions of JSON Schema (ECMA-262, with Unicode) in a spelling that every engine here reads."""

from __future__ import annotations

import re
from functools import cache
from typing import Final

_TOKEN: Final = re.compile(
    r"""
      (?P<nul>\\0(?![0-9])) | (?P<backspace>\\b)
    | \\u(?P<high>[dD][89abAB][0-9A-Fa-f]{2})\\u(?P<low>[dD][c-fC-F][0-9A-Fa-f]{2})
    | \\. | (?P<any>\[\^\]) | (?P<none>\[\]) | (?P<open>\[) | (?P<close>\]) | .
    """,
    re.DOTALL | re.VERBOSE,
)


@cache
def plain_expression(written: str) -> str:
    r"""The same expression without what is rarely read: `\0`, a backspace in a class, `[]`, `[^]`, and pairs of surrogates."""
    found: list[str] = []
    is_class = False
    for token in _TOKEN.finditer(written):
        kind = token.lastgroup
        if kind in ("any", "none") and is_class:  # a class in which the first bracket is a member
            found.append(token[0])
            is_class = False
            continue
        if kind in ("open", "close"):
            is_class = kind == "open"
        found.append(_plain(token, is_class=is_class))
    return "".join(found)


def _plain(token: re.Match[str], *, is_class: bool) -> str:
    match token.lastgroup:
        case "nul":
            return r"\x00"
        case "backspace":
            return r"\x08" if is_class else token[0]
        case "low":
            return chr(0x10000 + ((int(token["high"], 16) - 0xD800) << 10) + int(token["low"], 16) - 0xDC00)
        case "any":
            return r"[\s\S]"
        case "none":
            return "(?!)"
        case _:
            return token[0]


_COUNTS: Final = re.compile(r"(\)?)\{([0-9]{1,9})(?:,([0-9]{0,9}))?\}")
_LETTERS: Final = re.compile(r"\\[pPwW]")

LARGEST: Final = 32_000
"""Steps for the largest expression: a larger one is refused before it is made."""


@cache
def size(expression: str) -> int:
    """How many steps it takes, about, to make what judges by an expression: what is counted is repeated in it so often."""
    repeated = 0
    for group, least, most in _COUNTS.findall(expression):
        times = max(int(least), int(most or 0))
        repeated = min((repeated + 1) * times if group else repeated + times, LARGEST)
    return min(repeated * (32 if _LETTERS.search(expression) else 2), LARGEST)


LONGEST_TRIED: Final = 2_000
"""Characters of an expression that looks around or back. Such a one is tried again and again, which takes as long as it has groups."""


@cache
def is_usable(expression: str) -> bool:
    """Whether the strict validators can judge by an expression: they know no names for groups to refer to, and bound the size."""
    import jsonschema_rs

    linear = jsonschema_rs.RegexOptions() if len(expression) > LONGEST_TRIED else None
    try:
        jsonschema_rs.Draft202012Validator({"pattern": expression}, pattern_options=linear)
    except (jsonschema_rs.ValidationError, ValueError):
        return False
    return True
