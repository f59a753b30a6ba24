"""Names of files that an agent has no business with.

Source: the file-system page, section "File Type Restrictions". Its patterns are here as wildcards on whole names that match all that they
do, with the usual names of keys and credentials added.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence
from fnmatch import translate
from functools import cache
from typing import Final

SECRETS: Final = (
    "*.env*",
    "*.secret*",
    "*credentials*",
    "*password*",
    "*private*key*",
    "id_rsa*",
    "id_dsa*",
    "id_ecdsa*",
    "id_ed25519*",
    "*.key",
    "*.pem",
    "*.ppk",
    "*.p12",
    "*.pfx",
    "*.jks",
    "*.keystore",
    "*.kdbx",
    ".netrc",
    "_netrc",
    ".npmrc",
    ".pypirc",
    ".pgpass",
    ".my.cnf",
    ".vault-token",
    ".htpasswd",
    ".ssh",
    ".gnupg",
    ".aws",
    ".azure",
    ".kube",
    ".docker",
)
"""Wildcards for names of files and folders that hold secrets, neither read nor written by default."""

VERSION_CONTROL: Final = (".git", "git~[0-9]*", ".hg", ".svn", ".bzr", ".jj")
"""Names of folders (or files) of version control, not written by default: their hooks and settings run programs.

`git~1` is what file systems with short names call `.git`; other short names are not known here.
"""


def is_denied(parts: Sequence[str], patterns: Iterable[str]) -> bool:
    r"""Whether a component of a path below its root matches a pattern.

    Case, compatibility forms, invisible characters, and dots and spaces at the end make no difference: some file systems ignore them.

    >>> [is_denied(["src", name], SECRETS) for name in (".env", "ID_RSA", "Credentials.json", ".e\u200bnv", "environment.ts")]
    [True, True, True, True, False]
    """
    expression = _expression(tuple(patterns))
    return any(expression.match(folded(part)) is not None for part in parts)


def folded(name: str) -> str:
    """A name as the most forgetful file system would compare it."""
    visible = "".join(character for character in name if unicodedata.category(character) not in ("Cf", "Cc"))
    plain = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", visible).casefold())
    return plain.rstrip(" .") or plain


@cache
def _expression(patterns: tuple[str, ...]) -> re.Pattern[str]:
    return re.compile("|".join(translate(folded(pattern)) for pattern in patterns) if patterns else r"(?!)")
