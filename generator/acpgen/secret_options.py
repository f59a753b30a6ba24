"""Secrets that a command line holds under an option whose name does not say so: `mysql -pWORD`, `curl -u user:WORD`.

`-p` is a password for one program and a port for another, so the program decides. A text is read in one pass, split as a shell would split
it: well enough to find commands in scripts, in quotes and in JSON.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple


class SecretOption(NamedTuple):
    """How programs are told a secret.

    `name` matches the option at the start of a word; what is left of the word is the value. Where nothing is left and `takes_next`, the
    next word is the value. `kept` matches the part of a value that is no secret; a value that it does not match holds none.
    """

    programs: str
    name: str
    takes_next: bool = True
    kept: str = ""
    behind: str = ""
    """A word that has to come before, so that the option means a secret."""


_FLAGS: Final = "-[a-zA-Z0-9#]{0,20}"
OPTIONS: Final = (
    SecretOption(
        r"mysql(?:dump|admin|import|show|check|pump|slap|binlog|sh)?|mariadb(?:-[a-z]+)?", "-p", takes_next=False
    ),
    SecretOption("sshpass", "-p"),
    SecretOption("curl", f"{_FLAGS}[uU]|--(?:proxy-)?user(?:=|$)", kept="[^:]*:"),
    SecretOption("curl", f"{_FLAGS}b", kept="[^=]*="),
    SecretOption("curl", "--oauth2-bearer(?:=|$)"),
    SecretOption("curl|wget", rf"{_FLAGS}H|--(?:proxy-)?header(?:=|$)", kept=r"[^:]*:\s*"),
    SecretOption("http|https|xh|xhs", "-a|--auth(?:=|$)", kept="(?:[^:]*:)?"),
    SecretOption("ab", "-[AP]", kept="[^:]*:"),
    SecretOption("redis-cli|valkey-cli", "-a"),
    SecretOption("mongo(?:sh|dump|restore|export|import|stat|top|files)?", "-p"),
    SecretOption("ldap(?:search|add|modify|modrdn|delete|passwd|whoami|compare|exop)", "-w"),
    SecretOption("sqlcmd|bcp|osql|tsql|ipmitool|zip|unzip", "-P"),
    SecretOption("rar|unrar", "-h?p", takes_next=False),
    SecretOption("7z|7za|7zr|7zz", "-p", takes_next=False),
    SecretOption("smbclient|rpcclient|smbmap|winexe", "-U|--user(?:=|$)", kept="[^%]*%"),
    SecretOption("plink|pscp|psftp|putty", "-pw"),
    SecretOption("xfreerdp3?|wlfreerdp", "/p:", takes_next=False),
    SecretOption("openssl", "-pass(?:in|out)?$", kept="pass:"),
    SecretOption("openssl", "-[kK]$"),
    SecretOption("keytool|jarsigner", "-(?:store|key|deststore|srcstore)pass$"),
    SecretOption("snmp(?:get|walk|set|bulkget|bulkwalk)", "-[cAX]"),
    SecretOption("docker|podman|nerdctl", "-e|--env(?:=|$)", kept="[^=]*="),
    SecretOption("docker|podman|buildah|skopeo|helm|oras|nerdctl|crane|az", "-p", behind="login"),
)
"""Options whose names are no words for secrets. Those that are, such as `--password`, are found in any command."""

REDACTED: Final = "[redacted]"

_NAMES: Final = tuple(re.compile(row.name) for row in OPTIONS)
_KEPT: Final = tuple(re.compile(row.kept, re.DOTALL) for row in OPTIONS)
_PROGRAM: Final = re.compile(
    rf"(?<![\w.-])(?:{'|'.join(sorted({row.programs for row in OPTIONS}))})(?:\.exe)?(?![\w:=-]|\.\w)"
)
_ROWS: Final = tuple(re.compile(rf"(?:{row.programs})(?:\.exe)?") for row in OPTIONS)

_PUNCTUATION: Final = ",:[]{}"
"""What stands between words in a list, as JSON and others write one."""
_TOKEN: Final = re.compile(
    r"(?P<space>[ \t\r]+|\\\r?\n)"
    r"|(?P<end>[\n;|&()`]+)"
    r"|(?P<quote>\\{0,8}[\"'])"
    r"|(?P<word>(?:[^\s;|&()`\"'\\]|\\[^\"'\n])+)"
    r"|(?P<other>.)",
    re.DOTALL,
)


class _Command:
    """What is known of the command whose words come one by one."""

    def __init__(self) -> None:
        self.rows: tuple[int, ...] = ()
        self.said: set[str] = set()
        self.awaited: tuple[int, ...] = ()
        """The options whose value is the next word."""

    def end(self) -> None:
        self.rows, self.awaited = (), ()
        self.said.clear()

    def value(self, value: str) -> int | None:
        """Where the secret starts in a value of the options that are awaited."""
        rows, self.awaited = self.awaited, ()
        return _start(rows, value)

    def word(self, word: str) -> int | None:
        """Where a secret starts in the next word."""
        if self.awaited:
            return self.value(word)
        if self.rows:
            starts: list[int] = []
            waits: list[int] = []
            for row in self.rows:
                option = OPTIONS[row]
                named = _NAMES[row].match(word)
                if named is None or (option.behind and option.behind not in self.said):
                    continue
                if word[named.end() :].strip(_PUNCTUATION):
                    start = _start((row,), word[named.end() :])
                    starts += [] if start is None else [named.end() + start]
                elif option.takes_next:
                    waits.append(row)
            self.awaited = tuple(waits)
            if starts or waits:
                return min(starts, default=None)
        if (program := _PROGRAM.search(word)) is not None:
            self.end()
            self.rows = tuple(row for row, each in enumerate(_ROWS) if each.fullmatch(program[0]))
        elif self.rows:
            self.said.add(word)
        return None

    def glued(self, word: str) -> bool:
        """Whether this word is an option whose value may only follow without a space, and does so in quotes."""
        return any(
            (named := _NAMES[row].match(word)) is not None and named.end() == len(word) and not OPTIONS[row].takes_next
            for row in self.rows
        )


def _start(rows: Sequence[int], value: str) -> int | None:
    starts = [kept.end() for row in rows if (kept := _KEPT[row].match(value)) is not None and kept.end() < len(value)]
    return min(starts, default=None)


def in_words(words: Sequence[str], program: str = "") -> list[str]:
    """The words of one command without secrets; `program` is the command where it is not among them."""
    command = _Command()
    if program:
        command.word(program)
    found = ((word, command.word(word)) for word in words)
    return [word if start is None else word[:start] + REDACTED for word, start in found]


def in_text(text: str) -> str:
    """A text without the secrets of the command lines in it."""
    if _PROGRAM.search(text) is None:
        return text
    pieces: list[str] = []
    done = 0
    for start, end in _hidden(text):
        pieces += text[done:start], REDACTED
        done = end
    return "".join((*pieces, text[done:]))


def _hidden(text: str) -> Iterator[tuple[int, int]]:
    """Where the secrets stand, in order."""
    command = _Command()
    open_quote, at, before = "", 0, ""
    last = ""
    while (token := _TOKEN.match(text, at)) is not None:
        kind, at = token.lastgroup, token.end()
        if kind == "end":
            command.end()
            if "\n" in token[0]:
                open_quote = ""
        elif kind == "quote":
            quote = token[0]
            if quote != open_quote and (command.awaited or command.glued(last)):
                close = _closing(text, quote, at)
                start = command.value(text[at:close]) if command.awaited else 0
                if start is not None and at + start < close:
                    yield at + start, close
                at = min(close + len(quote), len(text))
            elif open_quote == quote:
                open_quote = ""
            elif not (quote == "'" and last[-1:].isalnum()):  # an apostrophe
                open_quote = open_quote or quote
        elif kind == "word" and token[0].strip(_PUNCTUATION):
            start = command.word(token[0])
            if start is not None:
                end = _closing(text, before, at) if before else _rest(text, at, open_quote)
                yield token.start() + start, end
                at = end
        before = token[0] if kind == "quote" else ""
        last = token[0] if kind == "word" else ""


LONGEST: Final = 4096
"""Characters that a value in quotes may have."""


def _closing(text: str, quote: str, at: int) -> int:
    """Where what was begun by this quote ends: at the next one, or with the line where none follows."""
    close = text.find(quote, at, at + LONGEST)
    if close < 0:
        close = text.find("\n", at)
    return close if close >= 0 else len(text)


_BARE: Final = re.compile(r"(?:[^\s;|&()`\"'\\]|\\[^\"'\n])*")


def _rest(text: str, at: int, open_quote: str) -> int:
    """Where a word ends, of which parts may be in quotes that are not those around the whole command."""
    while True:
        bare = _BARE.match(text, at)
        at = bare.end() if bare is not None else at
        token = _TOKEN.match(text, at)
        if token is None or token.lastgroup != "quote" or token[0] == open_quote:
            return at
        close = text.find(token[0], token.end(), token.end() + LONGEST)
        if close < 0:
            return at
        at = close + len(token[0])
