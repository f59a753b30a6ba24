"""Policies: what a client lets an agent do with files inside the roots.

Files are classified by name. The patterns of the file-system page are wildcards on whole names here, which match at least the same
names; common names of keys and credentials are added.

Source: the file-system page, sections "File Type Restrictions" and "Size Limits".
"""

from __future__ import annotations

import os
import re
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fnmatch import translate
from functools import cache
from typing import Final, Literal

from .atomic import TEMPORARY
from .containment import Place, split_path

DEFAULT_LIMIT: Final = 10 * 1024 * 1024
"""The limit of the file-system page, 10 MiB."""
LONGEST_LOOK: Final = 1024 * 1024 * 1024
"""The maximum number of bytes of a larger file that are searched for lines, 1 GiB."""


def _split_words(text: str) -> tuple[str, ...]:
    return tuple(text.split())


SECRETS: Final = _split_words("""
    *.env* *.secret* *credentials* *password* *private*key* id_rsa* id_dsa* id_ecdsa* id_ed25519* *.key *.pem *.ppk *.p12 *.pfx *.jks
    *.keystore *.kdbx .netrc _netrc .npmrc .pypirc .pgpass .my.cnf .vault-token .htpasswd
""")
"""Wildcards for names of files with secrets, neither read nor written by default."""

SECRET_FOLDERS: Final = (".ssh", ".gnupg", ".aws", ".azure", ".kube", ".docker")
"""Names of folders with secrets: nothing in them is read or written by default."""

VERSION_CONTROL: Final = (".git", ".hg", ".svn", ".bzr", ".jj")
"""Names of version-control folders (or files), not written by default: their hooks and settings run programs."""

RUN_BY_TOOLS: Final = _split_words("""
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
"""Files that tools run or take commands from, by themselves or when a folder is opened; not written by default.

These are the files of editors, agents, shells, debuggers, hooks and continuous integration. `*.env*` among the secrets covers `.envrc`.
Build files (`Makefile`, `package.json`, `build.rs`, `conftest.py`) are not included: agents are asked to write them, and they run when
somebody builds or tests. To deny them too, add them to `FilePolicy.denied_for_writing`.
"""


@dataclass(frozen=True, slots=True)
class FilePolicy:
    """What a client lets an agent do with files inside the roots. Sizes are in bytes.

    `read`, `write`: which of the two methods are available. `max_read`, `max_write`: the maximum size of a file that is read, or
    written. `extensions`: if set, only names with one of these endings are allowed (with the dot, in any case; `""` allows names without
    one). `max_look`: how far a file larger than `max_read` is searched for requested lines; the result is still limited by `max_read`.
    `denied`: wildcards for names of files that are denied anywhere below a root; `denied_folders`: for names of folders, with all their
    content. `denied_for_writing`: for files and folders that are not written; such a wildcard may have several names separated by `/`,
    for consecutive components.

    `hard_links`: whether a file is read that has other hard links, which may be outside. `fallback_encoding`: the encoding of files that
    are not UTF-8 and have no byte order mark; `None` refuses them. `keep_form`: whether a write keeps the encoding, byte order mark and
    line ends of the file it replaces. `backups`: a folder, best outside the roots, for the old content before each write
    (`<name>.<time>.<random>.bak`, readable by its owner only); then an old file larger than both limits is not replaced. `durable`:
    whether a write is synced to disk before the response.

    Raises `ValueError` for a setting that would protect nothing, `LookupError` for an unknown encoding.
    """

    read: bool = True
    write: bool = True
    max_read: int = DEFAULT_LIMIT
    max_write: int = DEFAULT_LIMIT
    extensions: frozenset[str] | None = None
    max_look: int = LONGEST_LOOK
    denied: tuple[str, ...] = SECRETS
    denied_folders: tuple[str, ...] = SECRET_FOLDERS
    denied_for_writing: tuple[str, ...] = (*VERSION_CONTROL, *RUN_BY_TOOLS)
    hard_links: Literal["refuse", "read"] = "refuse"
    fallback_encoding: str | None = None
    keep_form: bool = True
    backups: str | None = None
    durable: bool = True

    def __post_init__(self) -> None:
        if min(self.max_read, self.max_write, self.max_look) < 0:
            raise ValueError("a limit is a number of bytes, 0 or more")
        if self.hard_links not in ("refuse", "read"):
            raise ValueError("'hard_links' is 'refuse' or 'read'")
        for patterns in (self.denied, self.denied_folders, self.denied_for_writing):
            if isinstance(patterns, str):
                raise ValueError(f"wildcards are a tuple: ({patterns!r},)")
            for pattern in patterns:
                names = pattern.split("/")
                if not all(names) or (len(names) > 1 and patterns is not self.denied_for_writing):
                    raise ValueError(f"the wildcard {pattern!r} matches no name: names hold no '/'")
        for extension in self.extensions or ():
            if extension and not extension.startswith("."):
                raise ValueError(f"the extension {extension!r} must begin with a dot")
        if self.fallback_encoding is not None:
            "".encode(self.fallback_encoding)  # raises LookupError for an unknown name
        if self.backups is not None and not os.path.isabs(self.backups):  # noqa: PTH117
            raise ValueError("the folder for backups must be an absolute path")

    def find_objection(self, place: Place, *, writing: bool) -> str | None:
        """The reason why a place is denied, as the end of a sentence, or `None`.

        >>> from acp_workspace.containment import Root
        >>> root = Root("/srv", "/srv", (0, 0))
        >>> FilePolicy().find_objection(Place(root, (".env",), "/srv/.env"), writing=False)
        'the name is one that files with secrets have'
        >>> FilePolicy(extensions=frozenset({".md"})).find_objection(Place(root, ("a.exe",), "/srv/a.exe"), writing=False)
        "files of the type '.exe' are not allowed"
        """
        requested_names = _list_requested_names(place)
        for names in (place.parts, requested_names):
            if is_denied(names[-1:], self.denied) or is_denied(names, self.denied_folders):
                return "the name is one that files with secrets have"
            if any(TEMPORARY.fullmatch(name) for name in names):
                return "the name belongs to a file that is being written"
            if writing and is_denied(names, self.denied_for_writing):
                return "other programs, such as version control, run or read the files there"
        if self.extensions is not None:
            for name in (*place.parts[-1:], *requested_names[-1:]):
                if not _ends_in(fold_name(name), self.extensions):
                    extension = os.path.splitext(fold_name(name))[1][:80]  # noqa: PTH122
                    return (
                        f"files of the type {extension!r} are not allowed"
                        if extension
                        else "files without a type are not allowed"
                    )
        return None


def _list_requested_names(place: Place) -> tuple[str, ...]:
    """The names of the requested path below its root: a link may have a denied name itself."""
    names = split_path(place.path)
    prefix_lengths = (_count_shared(names, split_path(declared)) for declared in (place.root.path, place.root.real))
    return tuple(names[max(prefix_lengths) :] or names[-1:])


def _count_shared(left: Sequence[str], right: Sequence[str]) -> int:
    return next((i for i, (a, b) in enumerate(zip(left, right, strict=False)) if a != b), min(len(left), len(right)))


def _ends_in(name: str, extensions: Iterable[str]) -> bool:
    has_none = not os.path.splitext(name)[1]  # noqa: PTH122
    return any(
        name.endswith(end) and len(name) > len(end) if end else has_none
        for end in (extension.casefold() for extension in extensions)
    )


# --- names of files ---------------------------------------------------------------------------------------------------


def is_denied(parts: Sequence[str], patterns: Iterable[str]) -> bool:
    r"""Whether a component of a path below its root matches a pattern, or consecutive components match a pattern with `/`.

    Case, compatibility forms, invisible characters, trailing dots and spaces, and stream names are ignored, because some file systems
    ignore them. A short name (`GIT~1`) matches if it may stand for a denied name.

    >>> [is_denied(["src", name], SECRETS) for name in (".env", "ID_RSA", "CREDEN~1.JSO", ".e\u200bnv", "environment.ts")]
    [True, True, True, True, False]
    """
    names = tuple(map(fold_name, parts))
    single, rows = _compile_patterns(tuple(patterns))
    if any(single.match(name) is not None for name in (*names, *map(_fold_plain_name, parts))):
        return True
    return any(
        all(expression.match(name) is not None for expression, name in zip(row, names[start:], strict=False))
        for row in rows
        for start in range(len(names) - len(row) + 1)
    )


_IN_REPOSITORY: Final = frozenset({"head", "objects", "refs", "commondir", "config", "config.worktree", "hooks"})
"""The names by which git recognizes a folder as a repository, and those that it runs or takes commands from."""


def may_belong_to_repository(parts: Sequence[str]) -> bool:
    """Whether a path below its root has a component that may belong to a git repository."""
    return any(fold_name(name) in _IN_REPOSITORY for name in parts)


def belongs_to_repository(root: str, parts: Sequence[str]) -> bool:
    """Whether a path is in a folder that git recognizes as a repository, or would once the path exists.

    Such a folder need not be named `.git`: one with `HEAD`, `objects` and `refs` is a repository, and one with `HEAD` and `commondir`.
    Source: git's gitrepository-layout(5).
    """
    for index, name in enumerate(map(fold_name, parts)):
        if name in _IN_REPOSITORY:
            folder = os.path.join(root, *parts[:index])  # noqa: PTH118
            has = {
                entry: name == entry.casefold() or os.path.lexists(os.path.join(folder, entry))  # noqa: PTH118
                for entry in ("HEAD", "objects", "refs", "commondir")
            }
            if has["HEAD"] and (has["commondir"] or (has["objects"] and has["refs"])):
                return True
    return False


def fold_name(name: str) -> str:
    """A name normalized as by the most tolerant file system."""
    plain = _fold_plain_name(name)
    return plain.partition(":")[0].rstrip(" .") or plain


def _fold_plain_name(name: str) -> str:
    """Like `fold_name`, with the stream name, which elsewhere is part of the file's name."""
    visible = "".join(character for character in name if unicodedata.category(character) not in ("Cf", "Cc"))
    plain = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", visible).casefold())
    return plain.rstrip(" .") or plain


def _make_short(name: str) -> str:
    """A regular expression for the short (8.3) names of files that match this wildcard."""
    base, _, ending = name.lstrip("*.").rpartition(".")
    if not base:
        base, ending = ending, ""
    prefix = re.split(r"[*?\[]", base)[0].replace(" ", "").replace(".", "")[:6]
    padding = "" if prefix == base or len(prefix) == 6 else "[^~.]*"
    first = re.split(r"[*?\[]", ending)[0][:3]
    is_open = prefix != base and "*" in base
    suffix = r"(?:\..*)?" if is_open else rf"\.{re.escape(first)}.*" if ending else ""
    return rf"{re.escape(prefix)}{padding}~[0-9]+{suffix}\Z" if prefix else r"(?!)"


@cache
def _compile_patterns(patterns: tuple[str, ...]) -> tuple[re.Pattern[str], tuple[tuple[re.Pattern[str], ...], ...]]:
    rows = [pattern.split("/") for pattern in patterns]
    return (
        _compile_names([row[0] for row in rows if len(row) == 1]),
        tuple(tuple(_compile_names([name]) for name in row) for row in rows if len(row) > 1),
    )


def _compile_names(names: Sequence[str]) -> re.Pattern[str]:
    plain = [fold_name(name) for name in names]
    return re.compile("|".join([*map(translate, plain), *map(_make_short, plain)]) if names else r"(?!)")
