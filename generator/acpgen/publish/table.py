"""The table of requirements of a project: `schema/requirements.json`, as `schema/README.md` describes it, taken apart and checked."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Final

from acpgen.errors import BadMaterial, Fault, Faults, UnknownKey, did_you_mean, shown
from acpgen.pointers import plain_pointer
from acpgen.schema.walk import is_array, is_object

if TYPE_CHECKING:
    from acpgen import ir

LEVELS: Final = ("MUST", "MUST NOT", "SHOULD", "SHOULD NOT", "RECOMMENDED", "MAY", "fact", "guidance")
PEERS: Final = {
    "client": "Client",
    "agent": "Agent",
    "server": "Server",
    "both": "Client and agent",
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
    "documentation": "Documentation",
}
"""The ways in which a requirement is enforced, by their key in the table, in the order of the page."""

_NAMES: Final = ("validator", "lint", "monitor", "functions", "bindings", "tests")
_DOCUMENT: Final = ("id", "title", "protocols", "revision", "about")
_RULE: Final = ("number", "document", "level", "who", "says", *WAYS, "tests")


@dataclass(frozen=True, slots=True)
class NormativeDocument:
    """A document whose rules are requirements. `revision` is its date or version, `None` if it has none."""

    id: str
    title: str
    protocols: tuple[str, ...]
    revision: str | None
    about: str


@dataclass(frozen=True, slots=True)
class SchemaPlaces:
    """Places of bundled schemas, `acp/v1#/$defs/Name/…`, each an object or array; what must be in every one of them, or must not be."""

    at: tuple[str, ...]
    has: tuple[str, ...]
    lacks: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Requirement:
    """One requirement and what enforces it.

    `validator` are keywords by which the strict validator refuses a breach, `lint` and `monitor` ids of rules, `functions` and
    `bindings` dotted names in `module:attribute`, `documentation` why nothing else reaches the rest, `tests` ids of pytest.
    """

    number: int
    document: str
    level: str
    who: str
    says: str
    schema: tuple[SchemaPlaces, ...]
    validator: tuple[str, ...]
    lint: tuple[str, ...]
    monitor: tuple[str, ...]
    functions: tuple[str, ...]
    bindings: tuple[str, ...]
    documentation: str | None
    tests: tuple[str, ...]

    @property
    def anchor(self) -> str:
        return f"req-{self.number}"

    @property
    def ways(self) -> tuple[str, ...]:
        """The keys of the ways in which it is enforced."""
        return tuple(key for key in WAYS if getattr(self, key))


@dataclass(frozen=True, slots=True)
class Table:
    """All requirements of a project, by number. `at` is the file."""

    at: str
    documents: tuple[NormativeDocument, ...]
    rules: tuple[Requirement, ...]


def parse(value: ir.JSON, at: str) -> Table:
    """The table in a file. Raises `Faults`, which name every place where it is not well formed."""
    reading = _Reading(at)
    top = reading.object(value, "", ("documents", "rules"))
    documents = tuple(
        reading.document(item, f"/documents/{index}") for index, item in reading.items(top, "documents", "")
    )
    known = {document.id: document for document in documents}
    rules = tuple(reading.rule(item, f"/rules/{index}", known) for index, item in reading.items(top, "rules", ""))
    numbers = [rule.number for rule in rules]
    for index, (before, number) in enumerate(pairwise(numbers), 1):
        if number <= before:
            reading.wrong(f"/rules/{index}/number", f"{number} comes after {before}", "Sort the rules by number")
    if len(known) < len(documents):
        reading.wrong("/documents", "an id stands twice", "Give each document its own")
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
            about=self.text(row, "about", at),
        )

    def rule(self, value: object, at: str, documents: Mapping[str, NormativeDocument]) -> Requirement:
        row = self.object(value, at, _RULE)
        number: object = row.get("number")
        if not isinstance(number, int) or isinstance(number, bool) or number < 1:
            self.wrong(f"{at}/number", "this is no positive integer", "Give the rule the number it has in its document")
            number = 0
        document = self.choice(row, "document", at, documents)
        names = {key: self.texts(row, key, at) if key in row else () for key in _NAMES}
        found = Requirement(
            number=number,
            document=document,
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
                reason = f"the document {shown(document.id)} is not about the protocol {shown(protocol)}"
                self.wrong(f"{at}/at/{index}", reason, f"It is about {' and '.join(document.protocols)}")
        return found

    def object(self, value: object, at: str, known: Iterable[str]) -> dict[str, Any]:
        if not is_object(value):
            self.wrong(at, "this is no object", f"Write one with the keys {', '.join(known)}")
            return {}
        for key in value:
            if key not in known:
                hint = did_you_mean(key, known)
                self.faults.append(UnknownKey(at=f"{self.file}#{at}{plain_pointer(key)}", key=shown(key), hint=hint))
        return value

    def items(self, row: Mapping[str, Any], key: str, at: str) -> Iterator[tuple[int, Any]]:
        value = row.get(key)
        if not is_array(value) or not value:
            self.wrong(f"{at}/{key}", "this is no array with something in it", "Write one")
            return
        yield from enumerate(value)

    def text(self, row: Mapping[str, Any], key: str, at: str) -> str:
        value = row.get(key)
        if isinstance(value, str) and value.strip():
            return value
        self.wrong(f"{at}/{key}", "this is no text", "Write one")
        return ""

    def texts(self, row: Mapping[str, Any], key: str, at: str) -> tuple[str, ...]:
        value = row.get(key)
        if is_array(value) and value and all(isinstance(item, str) and item for item in value):
            if len(set(value)) < len(value):
                self.wrong(f"{at}/{key}", "an entry stands twice", "Remove one of them")
            return tuple(value)
        self.wrong(f"{at}/{key}", "this is no array of texts with something in it", "Write one, or leave out the key")
        return ()

    def choice(self, row: Mapping[str, Any], key: str, at: str, known: Iterable[str]) -> str:
        value = row.get(key)
        if isinstance(value, str) and value in known:
            return value
        self.wrong(f"{at}/{key}", f"{shown(str(value))} is none of what may stand here", f"Write {' or '.join(known)}")
        return ""
