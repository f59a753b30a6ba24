"""Redaction of recorded messages: a string is kept only where the schema makes it protocol.

Ids, kinds, methods, names of members and constants of the schema are kept. Every other string is removed: text, paths, URLs, contents of
files, and everything in an extension without a schema. A redacted message keeps its shape, so the monitor gives the same verdict, except
for rules about the removed text.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeAlias, TypeGuard

from acpgen import embedded
from acpgen.input.expressions import matches
from acpgen.input.walk import is_array, is_object

if TYPE_CHECKING:
    from jsonrpc_bindings.strict import Strict

REDACTED: Final = embedded.monitor.REDACTED
PLACEHOLDERS: Final = (REDACTED, f"/{REDACTED}", f"file:///{REDACTED}", "")
"""Replacements for a string: the first one that the schema accepts there is used."""

SECRET_WORDS: Final = frozenset(
    (
        *("auth", "authorization", "bearer", "cookie", "cookies", "credential", "credentials", "cvc", "cvv", "jwt"),
        *("mnemonic", "otp", "pass", "passcode", "passphrase", "passwd", "password", "passwords", "pin", "pwd"),
        *("secret", "secrets", "ssn", "token"),
    )
)
"""Words in names of secrets, below which numbers are removed too: `password`, `userPin`, `refresh_token`. The plural of `token` names a
count.
"""
KEY_WORDS: Final = frozenset(
    ["access", "account", "api", "encryption", "master", "private", "secret", "shared", "signing"]
)
"""Words before `key` that make it a secret."""

SHAPES: Final = (
    r"-----BEGIN [A-Z ]*PRIVATE KEY",
    r"(?i:bearer|basic)\s+[A-Za-z0-9._~+/=-]{8,}",
    r"eyJ[A-Za-z0-9_-]{5,}\.[A-Za-z0-9_-]{5,}\.",
    r"(?:sk|pk|rk|whsec)[-_][A-Za-z0-9_-]{16,}",
    r"gh[pousr]_[A-Za-z0-9]{16,}",
    r"github_pat_[A-Za-z0-9_]{16,}",
    r"xox[abeprs]-[A-Za-z0-9-]{8,}",
    r"(?:AKIA|ASIA)[A-Z0-9]{16}",
    r"AIza[A-Za-z0-9_-]{30,}",
    r"ya29\.[A-Za-z0-9_-]{16,}",
    r"SG\.[A-Za-z0-9_-]{16,}",
    r"AGE-SECRET-KEY-",
    r"(?:npm|hf|dop_v1|doo_v1|shpat|lin_api|secret)_[A-Za-z0-9]{24,}",
    r"(?:glpat-|xapp-|dckr_pat_|pypi-)[A-Za-z0-9_-]{16,}",
)
"""Patterns of keys and tokens. No string or name that contains one is kept, whatever the schema says."""

WORD: Final = re.compile(r"_?[A-Za-z][A-Za-z0-9]*(?:[_./:-][A-Za-z0-9]+){0,8}")
"""The pattern of kinds, methods and programs."""
NAME: Final = re.compile(r"[A-Za-z_$@][\w$.:/-]{0,79}")
"""The pattern of member names that no schema declares."""
OPAQUE: Final = re.compile(r"(?=[A-Za-z]*[0-9])(?=[0-9]*[A-Za-z])[A-Za-z0-9]{16,}")
"""A run of letters and digits that is not a name."""
INSTANT: Final = re.compile(r"\d{4}-\d\d-\d\d(?:[Tt ]\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?(?:[Zz]|[+-]\d\d:?\d\d)?)?")
INSTANTS: Final = frozenset({"updatedAt", "lastModified", "protocolVersion"})
"""Members whose strings are dates or times, whatever their schema says."""
LONGEST_WORD: Final = 80
LONGEST_ID: Final = 512

NAMES: Final = frozenset(
    [("Implementation", "name"), ("Implementation", "version"), ("EnvVariable", "name"), ("HttpHeader", "name")]
)
"""Members of definitions whose strings are names: of programs, variables and headers."""
WORDS: Final = frozenset({"mimeType", "signal", "currency"})
"""Members whose strings come from registries."""

MOST_OPEN: Final = 4096
"""The maximum number of open requests, both directions together."""


class _Pairs(NamedTuple):
    """An object as the line has it: members in order, duplicates included."""

    items: list[tuple[str, Any]]


class _Number(str):
    """A number as the line has it."""

    __slots__ = ()


class _Place(NamedTuple):
    """A schema that describes a value: its document, the definition that contains it, and the member's name."""

    schema: Any
    root: Any
    definition: str
    member: str


class Redactor:
    """Redacts the messages of one conversation in order.

    `patterns` are additional regular expressions (Python's `re`): a string or name with a match is removed everywhere. `protocols`
    returns the validators of the versions that may be spoken; it is called for the first message. Methods that none of them has are
    extensions.
    """

    def __init__(self, patterns: Sequence[str] = (), protocols: Callable[[], Sequence[Strict]] = lambda: ()) -> None:
        shapes = rf"(?<![A-Za-z0-9])(?:{'|'.join(SHAPES)})"
        self._secret = re.compile("|".join((shapes, *(f"(?:{pattern})" for pattern in patterns))), re.DOTALL)
        self._protocols = cache(lambda: tuple(protocols()))
        self._schemas = _Schemas()
        self._constants = cache(
            lambda: frozenset(self._schemas.list_constants(protocol.schema for protocol in self._protocols()))
        )
        self._open: dict[tuple[str, str], str] = {}

    def redact_line(self, sender: str, line: bytes) -> bytes:
        """Redact one line. A line that is not JSON is removed completely, since its content is unknown."""
        if not line.strip():
            return line
        try:
            message = json.loads(line, object_pairs_hook=_Pairs, parse_int=_Number, parse_float=_Number)
            return "".join(_write_value(self._redact_message(sender, message))).encode("utf-8", "surrogatepass")
        except ValueError:
            return f"[redacted: {len(line)} bytes that are no JSON]".encode()
        except RecursionError:
            return f"[redacted: {len(line)} bytes that are nested too deep]".encode()

    # --- envelopes ---

    def _redact_message(self, sender: str, message: Any) -> Any:
        if is_array(message):
            return [self._redact_message(sender, item) for item in message]
        if not isinstance(message, _Pairs):
            return self._redact_value(message, [])
        params, result = self._find_payloads(sender, message)
        places = {"params": params, "result": result}
        return _Pairs(
            [
                (self._redact_name(key), self._redact_member(key, value, places.get(key, [])))
                for key, value in message.items
            ]
        )

    def _redact_member(self, key: str, value: Any, places: list[_Place]) -> Any:
        """Redact one member of an envelope."""
        if _is_text(value) and key in ("id", "method", "jsonrpc"):
            stays = value == "2.0" if key == "jsonrpc" else key == "id" or self._is_word(value.removeprefix("$/"))
            return self._redact_secret(value) if stays else REDACTED
        return self._redact_value(value, places, key, is_secret=_is_secret(key))

    def _find_payloads(self, sender: str, message: _Pairs) -> tuple[list[_Place], list[_Place]]:
        """The schemas of the params and the result of a message; unknown if its method or id is given twice."""
        methods = [value for key, value in message.items if key == "method"]
        numbers = {_make_key(value) for key, value in message.items if key == "id"}
        if methods:
            method = methods[0] if len(methods) == 1 and _is_text(methods[0]) else ""
            for number in numbers:
                awaited = (sender, number)
                if awaited in self._open:
                    self._open[awaited] = ""
                elif len(self._open) < MOST_OPEN:
                    self._open[awaited] = method if len(numbers) == 1 else ""
            return self._find_payload(method, "params", is_request=bool(numbers)), []
        asker = "agent" if sender == "client" else "client"
        request_methods = {self._open.pop((asker, number), "") for number in numbers}
        return [], self._find_payload(request_methods.pop(), "result", is_request=True) if len(
            request_methods
        ) == 1 else []

    def _find_payload(self, method: str, part: str, *, is_request: bool) -> list[_Place]:
        rows = ((protocol, protocol.route(method, is_request=is_request)) for protocol in self._protocols())
        definition_names = ((protocol, getattr(row, part)) for protocol, row in rows if row is not None)
        return [
            _Place({"$ref": f"#/$defs/{name}"}, protocol.schema, name, "")
            for protocol, name in definition_names
            if name is not None
        ]

    # --- values ---

    def _redact_value(self, value: Any, places: list[_Place], key: str = "", *, is_secret: bool = False) -> Any:
        """Redact a value that the schemas of `places` describe; without any, its meaning is unknown. `is_secret`: it is below the name
        of a secret.
        """
        if isinstance(value, _Pairs):
            return self._redact_object(value, places, is_secret=is_secret)
        if is_array(value):
            if not places and value and all(isinstance(item, _Number) for item in value):
                return [_Number("0")] * len(value)  # bytes
            leaves = self._schemas.find_leaves(places)
            inner = [leaf._replace(schema=leaf.schema["items"]) for leaf in leaves if "items" in leaf.schema]
            return [self._redact_value(item, inner, key, is_secret=is_secret) for item in value]
        if _is_text(value):
            return self._redact_text(value, places, key)
        return _Number("0") if is_secret and isinstance(value, _Number) else value

    def _redact_object(self, value: _Pairs, places: list[_Place], *, is_secret: bool) -> _Pairs:
        members = dict(value.items)
        if len(members) < len(value.items):
            places = []
        described = self._schemas.find_leaves(places, members)
        uses: dict[str, int] = {}
        items: list[tuple[str, Any]] = []
        for key, member in value.items:
            inner = [
                _Place(schema, place.root, place.definition, key)
                for place in described
                if (schema := _find_property(place.schema, key)) is not None
            ]
            is_declared = any(key in place.schema.get("properties", ()) for place in described)
            name = key if is_declared else self._redact_name(key)
            if name != key:
                uses[name] = uses.get(name, 0) + 1
                name = name if uses[name] == 1 else f"[redacted {uses[name]}]"
            items.append(
                (
                    name,
                    self._redact_value(
                        member, inner, key, is_secret=is_secret or (not is_declared and _is_secret(key))
                    ),
                )
            )
        return _Pairs(items)

    def _redact_text(self, value: str, places: list[_Place], key: str) -> str:
        if not places:
            return value if (key, value) in self._constants() else REDACTED
        leaves = self._schemas.find_leaves(places)
        constants = {constant for leaf in leaves for constant in _list_values(leaf.schema)}
        if value in constants:
            return value
        free = [leaf for leaf in leaves if "string" in _list_types(leaf.schema) and not list(_list_values(leaf.schema))]
        if constants or any(_is_tag(leaf) for leaf in free):
            stays = self._is_word(value)
        elif key == "command":
            program = value.rpartition("/")[2]
            if not self._is_word(program):
                return _make_placeholder(leaves, value)
            return self._redact_secret(program if program == value else f"{_make_placeholder(leaves, value)}/{program}")
        else:
            stays = bool(free) and all(self._is_protocol(value, leaf) for leaf in free)
        return self._redact_secret(value) if stays else _make_placeholder(leaves, value)

    def _is_protocol(self, value: str, leaf: _Place) -> bool:
        """Whether a string without constants is an id, a name or a timestamp by its schema."""
        names = (leaf.definition, leaf.member)
        if any(name == "id" or name.endswith(("Id", "ID", "_id")) for name in names):
            return len(value) <= LONGEST_ID and not any(character.isspace() for character in value)
        if leaf.schema.get("format") in ("date-time", "date") or leaf.member in INSTANTS:
            return INSTANT.fullmatch(value) is not None
        if names == ("ElicitationSchema", "required"):  # names of members, which are kept as such
            return self._redact_name(value) == value
        return (names in NAMES or leaf.member in WORDS or leaf.definition == "MediaType") and len(value) <= LONGEST_WORD

    def _redact_secret(self, value: str) -> str:
        return REDACTED if self._secret.search(value) else value

    def _is_word(self, value: str) -> bool:
        return len(value) <= LONGEST_WORD and WORD.fullmatch(value) is not None and OPAQUE.search(value) is None

    def _redact_name(self, name: str) -> str:
        """Redact the name of a member that no schema declares."""
        is_name = (not name or NAME.fullmatch(name) is not None) and OPAQUE.search(name) is None
        return self._redact_secret(name) if is_name else REDACTED


# --- schemas ---------------------------------------------------------------------------------------------------------


_Leaves: TypeAlias = "dict[int, _Place]"
"""The schemas without references and combinations that describe a value, each once."""
_Memo: TypeAlias = "dict[tuple[int, str, str], _Leaves | None]"


class _Schemas:
    """Follows references and combinations, each schema once per value."""

    def __init__(self) -> None:
        self._any: _Memo = {}

    def find_leaves(self, places: Iterable[_Place], members: Mapping[str, Any] | None = None) -> Sequence[_Place]:
        """The leaf schemas of a value. `members` are those of an object, whose constants rule out branches; for other types nothing is
        ruled out.
        """
        memo: _Memo = self._any if members is None else {}
        leaves: _Leaves = {}
        for place in places:
            leaves |= self._collect(place, members, memo) or {}
        return tuple(leaves.values())

    def _collect(self, place: _Place, members: Mapping[str, Any] | None, memo: _Memo) -> _Leaves | None:
        """The leaves of a schema; `None` if the value contradicts it."""
        key = (id(place.schema), place.definition, place.member)
        if key not in memo:
            memo[key] = {}  # what leads back here adds nothing
            memo[key] = self._collect_once(place, members, memo)
        return memo[key]

    def _collect_once(self, place: _Place, members: Mapping[str, Any] | None, memo: _Memo) -> _Leaves | None:
        schema = place.schema
        if not is_object(schema):
            return {}
        if members is not None and self._is_contradicted(place, members):
            return None
        leaves: _Leaves = {id(schema): place}
        parts = [place._replace(schema=part) for part in schema.get("allOf", ())]
        reference = schema.get("$ref")
        if isinstance(reference, str) and reference.startswith("#/$defs/"):
            name = reference.removeprefix("#/$defs/")
            parts.append(_Place(place.root["$defs"].get(name, {}), place.root, name, place.member))
        for part in parts:
            inner = self._collect(part, members, memo)
            if inner is None:
                return None
            leaves |= inner
        for keyword in ("anyOf", "oneOf"):
            branches = [place._replace(schema=branch) for branch in schema.get(keyword, ())]
            possible = [inner for branch in branches if (inner := self._collect(branch, members, memo)) is not None]
            for inner in possible:
                leaves |= inner
            if branches and not possible:
                unknown = place._replace(schema={"properties": self._find_tags(branches)})
                leaves[id(unknown.schema)] = unknown
        return leaves

    def _is_contradicted(self, place: _Place, members: Mapping[str, Any]) -> bool:
        """Whether a member of an object is none of the constants that a schema allows."""
        for name, schema in place.schema.get("properties", {}).items():
            if _is_text(members.get(name)):
                leaves = self.find_leaves([_Place(schema, place.root, place.definition, name)])
                values = {value for leaf in leaves for value in _list_values(leaf.schema)}
                is_open = any(
                    "string" in _list_types(leaf.schema) and not list(_list_values(leaf.schema)) for leaf in leaves
                )
                if values and not is_open and members[name] not in values:
                    return True
        return False

    def _find_tags(self, branches: Iterable[_Place]) -> dict[str, Any]:
        """The members that discriminate the branches of a union, for an object that matches none of them."""
        tags: dict[str, set[str]] = {}
        for leaf in self.find_leaves(branches):
            for name, schema in leaf.schema.get("properties", {}).items():
                if is_object(schema) and (values := set(_list_values(schema))):
                    tags.setdefault(name, set()).update(values)
        return {name: {"enum": sorted(values)} for name, values in tags.items()}

    def list_constants(self, roots: Iterable[Any]) -> Iterator[tuple[str, str]]:
        """Yield each member with the strings that some schema gives it as a constant."""
        for root in roots:
            waiting = [root]
            while waiting:
                schema = waiting.pop()
                if is_array(schema):
                    waiting += schema
                elif is_object(schema):
                    waiting += schema.values()
                    members = schema.get("properties")
                    for name, member in members.items() if is_object(members) else ():
                        for leaf in self.find_leaves([_Place(member, root, "", name)]):
                            yield from ((name, value) for value in _list_values(leaf.schema))


def _find_property(schema: Any, key: str) -> Any:
    """The schema of a member; `None` if it has none."""
    declared = schema.get("properties", {})
    member = declared[key] if key in declared else schema.get("additionalProperties")
    return member if is_object(member) and member else None


def _is_tag(leaf: _Place) -> bool:
    """Whether a string without constants stands for a kind that the schema does not define: it, or its object, must be none of these."""
    excluded = leaf.root["$defs"].get(leaf.definition, {}).get("not", {})
    variants = (excluded, *excluded.get("anyOf", ()))
    return "not" in leaf.schema or any(leaf.member in variant.get("properties", ()) for variant in variants)


def _list_values(schema: Any) -> Iterator[str]:
    """Yield the strings that a schema gives as constants."""
    for value in (schema.get("const"), *schema.get("enum", ())):
        if isinstance(value, str):
            yield value


def _list_types(schema: Any) -> Sequence[str]:
    types = schema.get("type", ())
    return (types,) if isinstance(types, str) else types


def _make_placeholder(leaves: Sequence[_Place], value: str) -> str:
    """The replacement of a string, which its schema accepts or refuses as it does the string, if such a one is easy to find."""
    schemas = [leaf.schema for leaf in leaves]
    if any(
        "contentEncoding" in schema or leaf.member in ("data", "blob")
        for schema, leaf in zip(schemas, leaves, strict=True)
    ):
        return ""
    patterns = [schema["pattern"] for schema in schemas if isinstance(schema.get("pattern"), str)]
    is_valid = all(matches(pattern, value) for pattern in patterns)
    return next(
        (text for text in PLACEHOLDERS if all(matches(pattern, text) for pattern in patterns) == is_valid), REDACTED
    )


# --- texts -----------------------------------------------------------------------------------------------------------


_WORDS: Final = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])")


def _is_secret(name: str) -> bool:
    """Whether a name is that of a secret."""
    words = [word.lower() for word in _WORDS.findall(name)]
    is_key = any(before in KEY_WORDS and word in ("key", "keys") for before, word in pairwise(words))
    return is_key or not SECRET_WORDS.isdisjoint(words)


def _make_key(value: Any) -> str:
    """The key of an id. Equal numbers have the same key: a peer may answer `1.0` with `1`."""
    if isinstance(value, _Number):
        return f"number {float(value)!r}"
    return f"{type(value).__name__} {value}" if value is None or isinstance(value, str | bool | float) else "no id"


def _is_text(value: object) -> TypeGuard[str]:
    return isinstance(value, str) and not isinstance(value, _Number)


def _write_value(value: Any) -> Iterator[str]:
    if isinstance(value, _Pairs):
        yield "{"
        for index, (key, member) in enumerate(value.items):
            yield f"{',' if index else ''}{json.dumps(key)}:"
            yield from _write_value(member)
        yield "}"
    elif is_array(value):
        yield "["
        for index, item in enumerate(value):
            yield "," if index else ""
            yield from _write_value(item)
        yield "]"
    else:
        yield value if isinstance(value, _Number) else json.dumps(value)
