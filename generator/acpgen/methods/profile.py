"""Profiles: data on where a protocol's schema defines its methods, which side handles them, and how messages are framed.

A profile is TOML or JSON of the form that `profiles/profile.schema.json` describes. Those in the same folder are built in. For each
schema the first of these applies: the profile that was named, `x-method` if the schema marks methods, the built-in profile that
evidently fits the schema, a guess.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias, cast

from msgspec import Struct

from acpgen import resources
from acpgen.errors import Fault, Faults, show, suggest_name
from acpgen.input.faults import UNKNOWN_NAME
from acpgen.input.form import Form, FormError
from acpgen.input.load import decode, read_bytes
from acpgen.input.walk import DEFINITIONS, is_object
from acpgen.ir import Envelope, Stream
from acpgen.methods.faults import BAD_PROFILE
from acpgen.pointers import write_plain_pointer

if TYPE_CHECKING:
    from acpgen.input.load import Documents

Kind: TypeAlias = Literal["request", "notification"]

How: TypeAlias = Literal["named", "marked", "evident", "guessed"]
"""The reason for choosing a profile: the user named it, the schema marks its methods, it evidently fits, or it is a guess."""

Document: TypeAlias = Literal["openrpc"]

KINDS: Final[Mapping[Document, str]] = {
    "openrpc": "an OpenRPC document",
}
"""Descriptions of documents other than JSON Schema."""

FRAMES: Final[Mapping[Envelope, frozenset[str]]] = {
    "json-rpc": frozenset({"jsonrpc", "id"}),
    "json-rpc-unversioned": frozenset({"jsonrpc", "id"}),
    "dap": frozenset({"seq", "type"}),
}
"""The members of a call in each envelope, in addition to its method and its params."""


class Rule(Struct, frozen=True):
    """A description of messages: definitions with such names, or branches of unions. `spelled`: the definitions are the params
    themselves.

    `method` and `params` are the members that the envelope has for them.
    """

    kind: Kind
    named: str = ""
    unions: tuple[str, ...] = ()
    method: str = "method"
    params: str = "params"
    spelled: str = ""
    side: str = ""
    results: tuple[str, ...] = ()

    def find_stem(self, name: str) -> str | None:
        """The part of a name in the position of `{name}` in `named`; `None` if the rest differs or the part is empty."""
        before, _, after = self.named.partition("{name}")
        fits = self.named and name.startswith(before) and name.endswith(after) and len(name) > len(before + after)
        return name[len(before) : len(name) - len(after)] if fits else None


class Listed(Struct, frozen=True):
    """A method that a profile lists by its name."""

    kind: Kind
    side: str = ""
    params: str = ""
    result: str = ""


@dataclass(frozen=True, slots=True)
class Profile:
    """Where methods are defined. `handled` maps methods to sides, `sent` sides to the unions of what they send.

    `at` is the file of a profile that the user wrote, empty for built-in ones. `unmatched` is the treatment of entries that match
    nothing in a schema. `alternatives` are unions to define, by name, with their members. `evidence` are definitions by which a schema
    is recognised.
    """

    name: str
    title: str
    sides: tuple[str, ...]
    envelope: Envelope = "json-rpc"
    stream: Stream = "lines"
    rules: tuple[Rule, ...] = ()
    listed: Mapping[str, Listed] = field(default_factory=dict[str, Listed])
    marked: bool = False
    document: Document | None = None
    sent: Mapping[str, tuple[str, ...]] = field(default_factory=dict[str, tuple[str, ...]])
    handled: Mapping[str, str] = field(default_factory=dict[str, str])
    results: Mapping[str, str] = field(default_factory=dict[str, str])
    alternatives: Mapping[str, tuple[str, ...]] = field(default_factory=dict[str, tuple[str, ...]])
    unmatched: Literal["refused", "told"] = "refused"
    evidence: tuple[str, ...] = ()
    how: How = "named"
    at: str = ""


MARKED: Final = Profile("x-method", "the keyword 'x-method'", (), marked=True, how="marked")
"""The profile of a schema that marks its methods and fits no built-in profile."""

_GUESS: Final = "guess"


def choose(documents: Documents, profile: Profile | None = None) -> Profile:
    """The profile for a schema: the one named, or the one that fits."""
    if profile is not None:
        return profile
    values = [document.value for document in documents.documents if is_object(document.value)]
    for name in list_names():
        candidate = read_built_in(name)
        if candidate.document is not None and any(is_document(value, candidate.document) for value in values):
            return replace(candidate, how="evident")
    definition_names = {name for value in values for name in list_definition_names(value)}
    marks = any(_has_mark(value) for value in values)
    for name in list_names():
        candidate = read_built_in(name)
        if candidate.evidence and definition_names.issuperset(candidate.evidence) and candidate.marked == marks:
            return replace(candidate, how="marked" if candidate.marked else "evident")
    return MARKED if marks else replace(read_built_in(_GUESS), how="guessed")


def is_document(value: Mapping[str, Any], kind: Document) -> bool:
    """Whether a file evidently is such a document, and not a JSON Schema."""
    return isinstance(value.get(kind), str) and "methods" in value


@cache
def list_names() -> tuple[str, ...]:
    """The names of the built-in profiles, without that of the guess, in alphabetical order."""
    return tuple(sorted(path.stem for path in resources.locate_profiles().glob("*.toml") if path.stem != _GUESS))


@cache
def read_built_in(name: str) -> Profile:
    """A built-in profile. Raises `Faults` if there is none with this name."""
    if name != _GUESS and name not in list_names():
        raise Faults([UNKNOWN_NAME(at="--methods", kind="profile", name=name, hint=suggest_name(name, list_names()))])
    path = resources.locate_profiles() / f"{name}.toml"
    return read_profile(tomllib.loads(decode(read_bytes(path), str(path))), "", name)


def read_profile(value: object, at: str, name: str) -> Profile:
    """A profile from the content of its file. Raises `Faults` with the place of each error."""
    table = cast("Mapping[str, Any]", value)
    faults = [_convert_error(error, at) for error in _FORM.list_errors(value)] or [*_check_contradictions(table, at)]
    if faults:
        raise Faults(faults)
    envelope: Envelope = table.get("envelope", "json-rpc")
    return _FORM.convert(
        {
            "title": name,
            "stream": "headers" if envelope == "dap" else "lines",
            **table,
            "name": name,
            "at": at,
            "rules": [{**_list_members(envelope, rule["kind"]), **rule} for rule in table.get("messages", ())],
            "listed": table.get("methods", {}),
            "handled": {method: side for side, methods in table.get("handled", {}).items() for method in methods},
            "evidence": table.get("when", {}).get("definitions", ()),
        },
        Profile,
    )


def _make_fault(at: str, reason: str, remedy: str) -> Fault:
    return BAD_PROFILE(at, reason=reason, remedy=remedy if remedy.endswith((".", "?")) else f"{remedy}.")


def _check_contradictions(table: Mapping[str, Any], at: str) -> Iterator[Fault]:
    """Yield faults that the schema of profiles does not detect."""

    def report(reason: str, remedy: str, *keys: str) -> Fault:
        return _make_fault(f"{at}#{write_plain_pointer(*keys)}", reason, remedy)

    wheres = [key for key in ("messages", "methods", "marked", "document") if key in table]
    if not wheres:
        yield report("nothing says where the methods stand", _WHERE)
    elif len(wheres) > 1 and wheres != ["messages", "methods"]:
        yield report(f"{' and '.join(map(repr, wheres))} exclude each other", _WHERE)
    sides, envelope = table["sides"], table.get("envelope", "json-rpc")
    rules: list[tuple[tuple[str, ...], Any]] = [
        (("messages", str(index)), rule) for index, rule in enumerate(table.get("messages", ()))
    ]
    methods = [(("methods", name), entry) for name, entry in table.get("methods", {}).items()]
    named_sides = [((*keys, "side"), entry["side"]) for keys, entry in (*rules, *methods) if "side" in entry]
    named_sides += [((key, side), side) for key in ("sent", "handled") for side in table.get(key, {})]
    for keys, side in named_sides:
        if side not in sides:
            yield report(
                f"the side {show(side)} is not among 'sides'", f"{suggest_name(side, sides)} Or list it".strip(), *keys
            )
    handled: set[str] = set()
    for side, names_ in table.get("handled", {}).items():
        for index, method in enumerate(names_):
            if method in handled:
                remedy = "Leave it with one side, or with none if either side may send it"
                yield report(f"{show(method)} is handled twice", remedy, "handled", side, str(index))
            handled.add(method)
    for keys, rule in rules:
        for key, member in _list_members(envelope, rule["kind"]).items():
            if rule.get(key, member) != member:
                reason = f"a {rule['kind']} of the envelope '{envelope}' holds its {key} in {member!r}, not in {show(rule[key])}"
                remedy = f"Leave {key!r} out, or name another envelope. Messages of any other form cannot be read"
                yield report(reason, remedy, *keys, key)
        if rule["kind"] == "notification" and "results" in rule:
            yield report("nothing answers a notification", "Leave 'results' out", *keys, "results")
    for keys, rule in rules:
        for number, place in enumerate(rule.get("results", ())):
            braced = (part.partition("}")[0] for part in place.split("{")[1:])
            unknown = next((word for word in braced if word not in ("name", "params")), None)
            if unknown is not None:
                reason = f"{show('{' + unknown + '}')} stands for nothing"
                yield report(reason, "Use '{name}' or '{params}', or no braces", *keys, "results", str(number))


_WHERE: Final = "Write [[messages]] or [methods], or one of 'marked' and 'document'"


def _list_members(envelope: Envelope, kind: Kind) -> Mapping[str, str]:
    """The members of a message that contain its method and its params."""
    if envelope != "dap":
        return {"method": "method", "params": "params"}
    return {"method": "command", "params": "arguments"} if kind == "request" else {"method": "event", "params": "body"}


def list_definition_names(value: Mapping[str, Any]) -> Iterator[str]:
    """Yield the names of definitions, including those in groups."""
    for keyword in DEFINITIONS:
        members = value.get(keyword)
        for name, member in members.items() if is_object(members) else ():
            yield name
            yield from member if is_object(member) else ()


def _has_mark(value: Mapping[str, Any]) -> bool:
    """Whether a definition has `x-method`, with any value."""
    groups = [value[keyword] for keyword in DEFINITIONS if is_object(value.get(keyword))]
    for depth in range(3):
        members = [member for group in groups for member in group.values() if is_object(member)]
        if any("x-method" in member for member in members):
            return True
        groups = members if depth < 2 else []
    return False


_FORM: Final = Form(resources.locate_profiles() / "profile.schema.json")


def _convert_error(error: FormError, at: str) -> Fault:
    place = f"{at}#{write_plain_pointer(*error.path)}"
    if error.known is not None:
        return _make_fault(
            place, f"there is no key {show(error.path[-1])} here", suggest_name(error.path[-1], error.known)
        )
    reason = f"this must be {error.expected}" if error.expected else error.reason.removesuffix(".")
    return _make_fault(place, reason, error.description or "Correct it as 'profile.schema.json' says")
