"""The table of requirements of a project: `schema/requirements.json`, as `schema/README.md` describes it, taken apart and checked."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Final

from acpgen.errors import BadMaterial, Fault, Faults, UnknownKey, did_you_mean, shown
from acpgen.input.walk import is_array, is_object
from acpgen.pointers import plain_pointer

if TYPE_CHECKING:
    from acpgen import ir

LEVELS: Final = ("MUST", "MUST NOT", "SHOULD", "SHOULD NOT", "RECOMMENDED", "MAY", "fact", "guidance")
PEERS: Final = {
    "client": "Client",
    "agent": "Agent",
    "server": "Server",
    "both": "Both sides",
    "schema": "Schema",
}
"""Whom a rule binds, and how the page says it."""

WAYS: Final = {
    "schema": "Schema",
    "validator": "Strict validator",
    "lint": "Lint",
    "monitor": "Monitor",
    "functions": "Functions",
    "bindings": "Bindings",
    "probe": "Probe",
    "documentation": "Documentation",
}
"""The ways in which a requirement is enforced, by their key in the table, in the order of the page."""

_NAMES: Final = ("protocols", "methods", "validator", "lint", "monitor", "functions", "bindings", "probe", "tests")
_DOCUMENT: Final = ("id", "title", "area", "protocols", "revision", "url", "about")
_RULE: Final = ("number", "id", "document", "section", "protocols", "level", "who", "says", "methods", *WAYS, "tests")


@dataclass(frozen=True, slots=True)
class NormativeDocument:
    """A document whose rules are requirements. `area` is the title of the page that it shares with others about the same, empty for a page
    of its own; `revision` is its date or version, `url` its address; `None` if it has none.
    """

    id: str
    title: str
    protocols: tuple[str, ...]
    revision: str | None
    url: str | None
    about: str
    area: str = ""

    @property
    def page(self) -> str:
        """The name of its page."""
        return slug(self.area) if self.area else self.id.replace("/", "-")


@dataclass(frozen=True, slots=True)
class SchemaPlaces:
    """Places of bundled schemas, `acp/v1#/$defs/Name/…`, each an object or array; what must be in every one of them, or must not be."""

    at: tuple[str, ...]
    has: tuple[str, ...]
    lacks: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Requirement:
    """One requirement and what enforces it.

    `id` is its number, or its document, section and place there (`acp/v1/content/image/2`). It holds in `protocols` and is about
    `methods`, which may be none. `validator` are keywords by which the strict validator refuses a breach, `lint` ids of rules, `monitor`
    ids of rules too, with `:word` after them where only a breach about that method or capability is meant, `functions` and `bindings`
    dotted names in `module:attribute`, `probe` ids of cases, `documentation` why nothing else reaches the rest, `tests` ids of pytest.
    """

    id: int | str
    document: str
    section: str
    protocols: tuple[str, ...]
    level: str
    who: str
    says: str
    methods: tuple[str, ...]
    schema: tuple[SchemaPlaces, ...]
    validator: tuple[str, ...]
    lint: tuple[str, ...]
    monitor: tuple[str, ...]
    functions: tuple[str, ...]
    bindings: tuple[str, ...]
    probe: tuple[str, ...]
    documentation: str | None
    tests: tuple[str, ...]

    @property
    def anchor(self) -> str:
        return anchor(self.id)

    @property
    def ways(self) -> tuple[str, ...]:
        """The keys of the ways in which it is enforced."""
        return tuple(key for key in WAYS if getattr(self, key))


@dataclass(frozen=True, slots=True)
class Table:
    """All requirements of a project, document by document. `at` is the file."""

    at: str
    documents: tuple[NormativeDocument, ...]
    rules: tuple[Requirement, ...]


def anchor(identifier: int | str) -> str:
    """Where the pages tell of a requirement."""
    return f"req-{str(identifier).replace('/', '-')}"


def slug(section: str) -> str:
    """The anchor of a heading, as its site writes it: lower case, words joined by hyphens."""
    return re.sub(r"[^\w-]+", "", re.sub(r"\s+", "-", section.strip().lower()))


def parse(value: ir.JSON, at: str) -> Table:
    """The table in a file. Raises `Faults`, which name every place where it is not well formed."""
    reading = _Reading(at)
    top = reading.object(value, "", ("documents", "rules"))
    documents = tuple(
        reading.document(item, f"/documents/{index}") for index, item in reading.items(top, "documents", "")
    )
    known = {document.id: document for document in documents}
    rules = tuple(reading.rule(item, f"/rules/{index}", known) for index, item in reading.items(top, "rules", ""))
    order = {name: place for place, name in enumerate(known)}
    for index, (before, rule) in enumerate(pairwise(rules), 1):
        if order.get(rule.document, 0) < order.get(before.document, 0):
            reason = f"rules of {shown(rule.document)} stand after those of {shown(before.document)}"
            reading.wrong(f"/rules/{index}/document", reason, "Keep the documents in the order of 'documents'")
        elif isinstance(rule.id, int) and isinstance(before.id, int) and rule.id <= before.id:
            reading.wrong(f"/rules/{index}/number", f"{rule.id} comes after {before.id}", "Sort the rules by number")
    ids = [rule.id for rule in rules]
    for index, rule in enumerate(rules):
        if isinstance(rule.id, str) and rule.id in ids[:index]:
            reading.wrong(
                f"/rules/{index}/id", f"{shown(rule.id)} occurs twice", "Give the rule the next place in its section"
            )
    if len(known) < len(documents):
        reading.wrong("/documents", "an id occurs twice", "Give each document its own")
    elif len({document.page for document in documents}) < len({document.area or document.id for document in documents}):
        reason = "two ids or areas differ only in case or punctuation, and would have one page"
        reading.wrong("/documents", reason, "Give each a name of its own, or the documents the same area")
    for index, document in enumerate(documents):
        if all(rule.document != document.id for rule in rules):
            reading.wrong(f"/documents/{index}", "no rule is from this document", "Add its rules, or remove it")
    if reading.faults:
        raise Faults(reading.faults)
    return Table(at, documents, rules)


# --- reading ----------------------------------------------------------------------------------------------------------


@dataclass(slots=True)
class _Reading:
    """Takes a table apart. What is not well formed is noted and read as something harmless, so that one run shows all of it."""

    file: str
    faults: list[Fault] = field(default_factory=list[Fault])

    def wrong(self, at: str, reason: str, remedy: str) -> None:
        self.faults.append(BadMaterial(at=f"{self.file}#{at}", reason=reason, remedy=remedy))

    def document(self, value: object, at: str) -> NormativeDocument:
        row = self.object(value, at, _DOCUMENT)
        return NormativeDocument(
            id=self.text(row, "id", at),
            title=self.text(row, "title", at),
            protocols=self.texts(row, "protocols", at),
            revision=self.text(row, "revision", at) if "revision" in row else None,
            url=self.text(row, "url", at) if "url" in row else None,
            about=self.text(row, "about", at),
            area=self.text(row, "area", at) if "area" in row else "",
        )

    def rule(self, value: object, at: str, documents: Mapping[str, NormativeDocument]) -> Requirement:
        row = self.object(value, at, _RULE)
        document = self.choice(row, "document", at, documents)
        section = self.text(row, "section", at)
        ours = documents[document].protocols if document in documents else ()
        names = {key: self.texts(row, key, at) if key in row else () for key in _NAMES}
        names["protocols"] = names["protocols"] or ours
        for index, name in enumerate(names["protocols"]):
            if ours and name not in ours:
                self.foreign(f"{at}/protocols/{index}", name, documents[document])
        found = Requirement(
            id=self.identity(row, at, document, section),
            document=document,
            section=section,
            level=self.choice(row, "level", at, LEVELS),
            who=self.choice(row, "who", at, PEERS),
            says=self.text(row, "says", at),
            schema=tuple(
                self.place(item, f"{at}/schema/{index}", documents.get(document))
                for index, item in (self.items(row, "schema", at) if "schema" in row else ())
            ),
            documentation=self.text(row, "documentation", at) if "documentation" in row else None,
            **names,
        )
        if not found.ways:
            self.wrong(at, "nothing enforces this rule", f"Give it one of {', '.join(WAYS)}")
        if found.ways != ("documentation",) and not found.tests:
            self.wrong(at, "no test shows this rule", "Name one in 'tests'")
        return found

    def identity(self, row: Mapping[str, Any], at: str, document: str, section: str) -> int | str:
        if ("number" in row) == ("id" in row):
            self.wrong(at, "a rule has a number or an id", "Write one of 'number' and 'id'")
            return 0
        if "id" in row:
            start = f"{document}/{slug(section)}/"
            found = self.text(row, "id", at)
            if not found.startswith(start) or re.fullmatch(r"[1-9][0-9]*", found.removeprefix(start)) is None:
                reason = f"{shown(found)} does not name the document, the section and the position in it"
                self.wrong(f"{at}/id", reason, f"Write {start}1 or a higher number at its end")
            return found
        number: object = row["number"]
        if not isinstance(number, int) or isinstance(number, bool) or number < 1:
            self.wrong(
                f"{at}/number", "this is not a positive integer", "Give the rule the number it has in its document"
            )
            return 0
        return number

    def foreign(self, at: str, protocol: str, document: NormativeDocument) -> None:
        reason = f"the document {shown(document.id)} is not about the protocol {shown(protocol)}"
        self.wrong(at, reason, f"It is about {' and '.join(document.protocols)}")

    def place(self, value: object, at: str, document: NormativeDocument | None) -> SchemaPlaces:
        row = self.object(value, at, ("at", "has", "lacks"))
        if ("has" in row) == ("lacks" in row):
            self.wrong(at, "a place has something or lacks something", "Write one of 'has' and 'lacks'")
        found = SchemaPlaces(
            at=self.texts(row, "at", at),
            has=self.texts(row, "has", at) if "has" in row else (),
            lacks=self.texts(row, "lacks", at) if "lacks" in row else (),
        )
        for index, where in enumerate(found.at):
            protocol = where.partition("#")[0]
            if document is not None and protocol not in document.protocols:
                self.foreign(f"{at}/at/{index}", protocol, document)
        return found

    def object(self, value: object, at: str, known: Iterable[str]) -> dict[str, Any]:
        if not is_object(value):
            self.wrong(at, "this is not an object", f"Write one with the keys {', '.join(known)}")
            return {}
        for key in value:
            if key not in known:
                hint = did_you_mean(key, known)
                self.faults.append(UnknownKey(at=f"{self.file}#{at}{plain_pointer(key)}", key=shown(key), hint=hint))
        return value

    def items(self, row: Mapping[str, Any], key: str, at: str) -> Iterator[tuple[int, Any]]:
        value = row.get(key)
        if not is_array(value) or not value:
            self.wrong(f"{at}/{key}", "this is not a non-empty array", "Write one")
            return
        yield from enumerate(value)

    def text(self, row: Mapping[str, Any], key: str, at: str) -> str:
        value = row.get(key)
        if isinstance(value, str) and value.strip():
            return value
        self.wrong(f"{at}/{key}", "this is not a non-empty string", "Write one")
        return ""

    def texts(self, row: Mapping[str, Any], key: str, at: str) -> tuple[str, ...]:
        value = row.get(key)
        if is_array(value) and value and all(isinstance(item, str) and item for item in value):
            if len(set(value)) < len(value):
                self.wrong(f"{at}/{key}", "an entry occurs twice", "Remove one of them")
            return tuple(value)
        self.wrong(f"{at}/{key}", "this is not a non-empty array of strings", "Write one, or leave out the key")
        return ()

    def choice(self, row: Mapping[str, Any], key: str, at: str, known: Iterable[str]) -> str:
        value = row.get(key)
        if isinstance(value, str) and value in known:
            return value
        self.wrong(f"{at}/{key}", f"{shown(str(value))} is not allowed here", f"Write {' or '.join(known)}")
        return ""
