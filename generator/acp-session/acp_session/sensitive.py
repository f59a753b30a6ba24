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
)
"""Wildcards for names of files that hold secrets, neither read nor written by default."""

SECRET_FOLDERS: Final = (".ssh", ".gnupg", ".aws", ".azure", ".kube", ".docker")
"""Names of folders that hold secrets: nothing in them is read or written by default."""

VERSION_CONTROL: Final = (".git", ".hg", ".svn", ".bzr", ".jj")
"""Names of folders (or files) of version control, not written by default: their hooks and settings run programs."""


RUN_BY_TOOLS: Final = (
    *(".vscode/tasks.json", ".vscode/launch.json", ".vscode/settings.json", ".vscode/mcp.json", "*.code-workspace"),
    *(".idea/runConfigurations", ".idea/workspace.xml", ".fleet/run.json"),
    *(".zed/tasks.json", ".zed/settings.json", ".zed/debug.json", ".exrc", ".nvimrc", ".nvim.lua", ".dir-locals.el"),
    *(".mcp.json", ".cursor/mcp.json", ".cursor/hooks.json", ".claude/settings*.json", ".claude/hooks"),
    *(".codex/config.toml", ".gemini/settings.json", ".qwen/settings.json", ".aider.conf.y*ml", ".continue/mcpServers"),
    *("opencode.json*", ".opencode/opencode.json*", ".opencode/plugin*", ".windsurf/mcp*.json", ".roo/mcp.json"),
    *(".kiro/settings", ".kiro/hooks", ".cargo/config", ".cargo/config.toml", ".githooks"),
    *(".devcontainer", ".devcontainer.json", ".husky", ".lefthook*", "lefthook*", ".pre-commit-config.y*ml"),
    *(".github/workflows", ".github/actions", ".gitlab-ci.y*ml", ".circleci", ".buildkite", ".travis.yml"),
    *("azure-pipelines.y*ml", "bitbucket-pipelines.yml", "Jenkinsfile", ".forgejo/workflows", ".gitea/workflows"),
    *(".drone.y*ml", ".woodpecker", ".woodpecker.y*ml", ".appveyor.yml", "appveyor.yml", ".cirrus.yml"),
    *(".bashrc", ".bash_profile", ".bash_login", ".bash_logout", ".profile", ".zshrc", ".zshenv", ".zprofile"),
    *(".zlogin", ".config/fish", ".mise.toml", "mise.toml", ".tool-versions", ".gitconfig", ".gitmodules"),
)
"""Files that editors, agents, shells, hooks and services of continuous integration run or take commands from, not written by default.

`*.env*` among the secrets covers `.envrc`. Build files (`Makefile`, `package.json`, `conftest.py`) are what an agent is asked to write
and run when somebody asks for a build; they are not here.
"""


def is_denied(parts: Sequence[str], patterns: Iterable[str]) -> bool:
    r"""Whether a component of a path below its root matches a pattern, or components in a row do, for a pattern with `/`.

    Case, compatibility forms, invisible characters, dots and spaces at the end, and the name of a stream make no difference: some file
    systems ignore them. A short name (`GIT~1`) is one of those that it may stand for.

    >>> [is_denied(["src", name], SECRETS) for name in (".env", "ID_RSA", "CREDEN~1.JSO", ".e\u200bnv", "environment.ts")]
    [True, True, True, True, False]
    """
    names = tuple(map(folded, parts))
    single, rows = _expressions(tuple(patterns))
    if any(single.match(name) is not None for name in (*names, *map(_plain, parts))):
        return True
    return any(
        all(expression.match(name) is not None for expression, name in zip(row, names[start:], strict=False))
        for row in rows
        for start in range(len(names) - len(row) + 1)
    )


def folded(name: str) -> str:
    """A name as the most forgetful file system would compare it."""
    plain = _plain(name)
    return plain.partition(":")[0].rstrip(" .") or plain


def _plain(name: str) -> str:
    """The same with the name of a stream, which is part of the file's name elsewhere."""
    visible = "".join(character for character in name if unicodedata.category(character) not in ("Cf", "Cc"))
    plain = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", visible).casefold())
    return plain.rstrip(" .") or plain


def _short(name: str) -> str:
    """An expression for what a file system with names of eight and three characters calls a file that this wildcard matches."""
    base, _, ending = name.lstrip("*.").rpartition(".")
    if not base:
        base, ending = ending, ""
    known = re.split(r"[*?\[]", base)[0].replace(" ", "").replace(".", "")[:6]
    more = "" if known == base or len(known) == 6 else "[^~.]*"
    first = re.split(r"[*?\[]", ending)[0][:3]
    is_open = known != base and "*" in base
    rest = r"(?:\..*)?" if is_open else rf"\.{re.escape(first)}.*" if ending else ""
    return rf"{re.escape(known)}{more}~[0-9]+{rest}\Z" if known else r"(?!)"


@cache
def _expressions(patterns: tuple[str, ...]) -> tuple[re.Pattern[str], tuple[tuple[re.Pattern[str], ...], ...]]:
    rows = [pattern.split("/") for pattern in patterns]
    return (
        _expression([row[0] for row in rows if len(row) == 1]),
        tuple(tuple(_expression([name]) for name in row) for row in rows if len(row) > 1),
    )


def _expression(names: Sequence[str]) -> re.Pattern[str]:
    plain = [folded(name) for name in names]
    return re.compile("|".join([*map(translate, plain), *map(_short, plain)]) if names else r"(?!)")
