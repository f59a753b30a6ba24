"""Names of files that an agent has no business with.

Source: the file-system page, section "File Type Restrictions". Its patterns are here as wildcards on whole names that match all that they
do, with the usual names of keys and credentials added.
"""

from __future__ import annotations

import os
import re
import unicodedata
from collections.abc import Iterable, Sequence
from fnmatch import translate
from functools import cache
from typing import Final


def _table(text: str) -> tuple[str, ...]:
    """The words of a text."""
    return tuple(text.split())


SECRETS: Final = _table("""
    *.env* *.secret* *credentials* *password* *private*key* id_rsa* id_dsa* id_ecdsa* id_ed25519* *.key *.pem *.ppk *.p12 *.pfx *.jks
    *.keystore *.kdbx .netrc _netrc .npmrc .pypirc .pgpass .my.cnf .vault-token .htpasswd
""")
"""Wildcards for names of files that hold secrets, neither read nor written by default."""

SECRET_FOLDERS: Final = (".ssh", ".gnupg", ".aws", ".azure", ".kube", ".docker")
"""Names of folders that hold secrets: nothing in them is read or written by default."""

VERSION_CONTROL: Final = (".git", ".hg", ".svn", ".bzr", ".jj")
"""Names of folders (or files) of version control, not written by default: their hooks and settings run programs."""

RUN_BY_TOOLS: Final = _table("""
    .vscode/tasks.json .vscode/launch.json .vscode/settings.json .vscode/mcp.json *.code-workspace .vs/tasks.vs.json .vs/launch.vs.json
    *.sublime-project .helix .nova/Tasks .idea/runConfigurations .idea/workspace.xml .idea/watcherTasks.xml .idea/externalTools.xml .run
    .fleet/run.json .zed/tasks.json .zed/settings.json .zed/debug.json
    .vimrc .gvimrc _vimrc .exrc .nvimrc .nvim.lua .lvimrc .dir-locals*.el .emacs .emacs.d
    .mcp.json .cursor/*.json .cursor/hooks .claude/settings*.json .claude/hooks .claude.json .codex/config.toml .codex/hooks*
    .gemini/settings.json .gemini/extensions .gemini/hooks .qwen/settings.json .aider.conf.y*ml .continue/mcpServers .continue/config.*
    .amazonq/*.json opencode.json* .opencode/opencode.json* .opencode/plugin* .opencode/tool* .crush.json crush.json .windsurf/mcp*.json
    .windsurf/hooks.json .roo/mcp.json .clinerules/hooks .junie/mcp .trae/mcp.json .kiro/settings .kiro/hooks .github/hooks
    .cargo/config .cargo/config.toml .githooks .devcontainer .devcontainer.json devfile.y*ml .devfile.y*ml .gitpod.yml .replit .idx/dev.nix
    .husky .lefthook* lefthook* .pre-commit-config.y*ml .overcommit.yml .simple-git-hooks.* simple-git-hooks.* .lintstagedrc*
    lint-staged.config.* .trunk/trunk.yaml
    .github/workflows .github/actions .gitlab-ci.y*ml .circleci .buildkite .travis.yml azure-pipelines.y*ml bitbucket-pipelines.yml
    Jenkinsfile .forgejo/workflows .gitea/workflows .drone.y*ml .woodpecker .woodpecker.y*ml .appveyor.yml appveyor.yml .cirrus.yml
    .build.yml .builds .semaphore .teamcity .tekton buildspec.y*ml cloudbuild.y*ml
    .bashrc .bash_profile .bash_login .bash_logout .bash_aliases .profile .zshrc .zshenv .zprofile .zlogin .zlogout .config/fish
    .inputrc .tmux.conf .gdbinit .lldbinit .Rprofile .direnvrc .mise.*toml mise.*toml .mise mise/config*.toml .config/mise .tool-versions
    .yarnrc .yarnrc.yml .pnpmfile.*js .gitconfig .gitmodules
""")
"""Files that editors, agents, shells, debuggers, hooks and services of continuous integration run or take commands from, by themselves or
when a folder is opened. Not written by default.

`*.env*` among the secrets covers `.envrc`. Build files (`Makefile`, `package.json`, `build.rs`, `conftest.py`) are what an agent is asked
to write, and run when somebody builds or tests; they are not here. To deny them too, add them to `FilePolicy.denied_for_writing`.
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


_IN_REPOSITORY: Final = frozenset({"head", "objects", "refs", "commondir", "config", "config.worktree", "hooks"})
"""What git needs to take any folder for a repository, and what it then runs or takes commands from."""


def may_belong_to_repository(parts: Sequence[str]) -> bool:
    """Whether a path below its root has a name that stands in every git repository."""
    return any(folded(name) in _IN_REPOSITORY for name in parts)


def belongs_to_repository(root: str, parts: Sequence[str]) -> bool:
    """Whether a path lies in a folder that git takes for a repository, or would once something is at that path.

    No such folder needs the name `.git`: one with `HEAD`, `objects` and `refs` is a repository, or one with `HEAD` and `commondir`. Source:
    git's gitrepository-layout(5).
    """
    for index, name in enumerate(map(folded, parts)):
        if name in _IN_REPOSITORY:
            folder = os.path.join(root, *parts[:index])  # noqa: PTH118
            has = {
                other: name == other.casefold() or os.path.lexists(os.path.join(folder, other))  # noqa: PTH118
                for other in ("HEAD", "objects", "refs", "commondir")
            }
            if has["HEAD"] and (has["commondir"] or (has["objects"] and has["refs"])):
                return True
    return False


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
