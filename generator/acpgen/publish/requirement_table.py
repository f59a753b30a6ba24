"""The requirement table of a project, `schema/requirements.json`, parsed and validated; `schema/README.md` describes it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeAlias, cast

from acpgen.config.docs_inputs import find_form_faults
from acpgen.config.faults import BAD_PROJECT_FILE
from acpgen.diagnostics.markup import Markdown
from acpgen.errors import Faults, show
from acpgen.input.form import Form

if TYPE_CHECKING:
    from acpgen import ir

PEERS: Final = {
    "client": "Client",
    "agent": "Agent",
    "server": "Server",
    "both": "Both sides",
    "schema": "Schema",
}
"""Who must follow a rule, with its label on the page."""

CHECKERS: Final = {
    "schema": "Schema and types",
    "validator": "Validator",
    "lint": "Lint",
    "monitor": "Monitor",
    "probe": "Probe",
    "bindings": "Codecs",
    "functions": "Functions",
}
"""What checks or ensures a requirement: labels by key of the table, in the order of the page."""

KEEPERS: Final = ("bindings", "functions")
"""Keys of what ensures a requirement without checking what peers send."""

_FORM: Final = Form(Path(__file__).with_name("requirements.schema.json"))


@dataclass(frozen=True, slots=True)
class NormativeDocument:
    """A document whose rules are requirements.

    `area` is the title of the page that it shares with documents on the same subject, empty if it has its own page. `revision` is its
    date or version, `url` its address; each `None` if it has none.
    """

    id: str
    title: str
    protocols: tuple[str, ...]
    about: str
    revision: str | None = None
    url: str | None = None
    area: str = ""

    @property
    def page(self) -> str:
        """The name of its page, without folder and suffix."""
        return make_slug(self.area) if self.area else self.id.replace("/", "-")


@dataclass(frozen=True, slots=True)
class SchemaPlaces:
    """Places in bundled schemas, `acp/v1#/$defs/Name/…`, each an object or array, and what each of them must contain or must not
    contain.
    """

    at: tuple[str, ...]
    has: tuple[str, ...] = ()
    lacks: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Requirement:
    """One requirement and what checks it.

    `id` is its number, or its document, section and position there (`acp/v1/content/image/2`). It holds in `protocols` and is about
    `methods`, which may be empty. `validator` are keywords by which the strict validator rejects a violation, `lint` rule ids, `monitor`
    rule ids, followed by `:word` if only violations about that method or capability count, `functions` and `bindings` dotted names as
    `module:attribute`, `probe` case ids, `documentation` the reason why nothing else covers the rest, `tests` pytest ids.
    """

    id: int | str
    document: str
    section: str
    protocols: tuple[str, ...]
    level: str
    who: str
    says: str
    methods: tuple[str, ...] = ()
    schema: tuple[SchemaPlaces, ...] = ()
    validator: tuple[str, ...] = ()
    lint: tuple[str, ...] = ()
    monitor: tuple[str, ...] = ()
    functions: tuple[str, ...] = ()
    bindings: tuple[str, ...] = ()
    probe: tuple[str, ...] = ()
    documentation: str | None = None
    tests: tuple[str, ...] = ()

    @property
    def checkers(self) -> tuple[str, ...]:
        """The keys of what checks or ensures it; empty if nothing does."""
        return tuple(key for key in CHECKERS if getattr(self, key))


@dataclass(frozen=True, slots=True)
class Table:
    """All requirements of a project, document by document. `at` is the file."""

    at: str
    documents: tuple[NormativeDocument, ...]
    rules: tuple[Requirement, ...]


def make_slug(heading: str) -> Markdown:
    """The anchor of a heading as site generators and GitHub generate it: lower case, words joined by hyphens."""
    return Markdown(re.sub(r"[^\w-]+", "", re.sub(r"\s+", "-", heading.strip().lower())))


def parse_table(value: ir.JSON, at: str) -> Table:
    """Parse and validate the table in a file. Raises `Faults` that name every invalid place."""
    faults = [*find_form_faults(_FORM, value, at, "Correct it: schema/README.md describes the table")]
    if faults:
        raise Faults(faults)
    top = cast("dict[str, list[dict[str, Any]]]", value)
    documents = _FORM.convert(top["documents"], tuple[NormativeDocument, ...])
    documents_by_id = {document.id: document for document in documents}
    rules = tuple(_make_requirement(row, documents_by_id) for row in top["rules"])
    table = Table(at, documents, rules)
    wrong = [*_check_documents(table), *_check_order(table)]
    for index, (row, rule) in enumerate(zip(top["rules"], rules, strict=True)):
        wrong += [
            (f"/rules/{index}{below}", why, remedy) for below, why, remedy in _check_rule(row, rule, documents_by_id)
        ]
    if wrong:
        raise Faults([BAD_PROJECT_FILE(at=f"{at}#{where}", reason=why, remedy=remedy) for where, why, remedy in wrong])
    return table


def _make_requirement(row: Mapping[str, Any], documents_by_id: Mapping[str, NormativeDocument]) -> Requirement:
    document = documents_by_id.get(row["document"])
    protocols = () if document is None else document.protocols
    return _FORM.convert({"id": row.get("number", 0), "protocols": protocols, **row}, Requirement)


# --- what its parts say of one another -------------------------------------------------------------------------------

Wrong: TypeAlias = tuple[str, str, str]
"""A JSON Pointer, what is wrong there, and what to do."""


def _check_documents(table: Table) -> Iterator[Wrong]:
    documents = table.documents
    if len({document.id for document in documents}) < len(documents):
        yield "/documents", "an id occurs twice", "Give each document its own"
    elif len({document.page for document in documents}) < len({document.area or document.id for document in documents}):
        reason = "two ids or areas differ only in case or punctuation, and would have one page"
        yield "/documents", reason, "Give each a name of its own, or the documents the same area"
    document_ids = {rule.document for rule in table.rules}
    for index, document in enumerate(documents):
        if document.id not in document_ids:
            yield f"/documents/{index}", "no rule is from this document", "Add its rules, or remove it"


def _check_order(table: Table) -> Iterator[Wrong]:
    order = {document.id: place for place, document in enumerate(table.documents)}
    for index, (before, rule) in enumerate(pairwise(table.rules), 1):
        if order.get(rule.document, 0) < order.get(before.document, 0):
            reason = f"rules of {show(rule.document)} stand after those of {show(before.document)}"
            yield f"/rules/{index}/document", reason, "Keep the documents in the order of 'documents'"
        elif isinstance(rule.id, int) and isinstance(before.id, int) and rule.id <= before.id:
            yield f"/rules/{index}/number", f"{rule.id} comes after {before.id}", "Sort the rules by number"
    ids = [rule.id for rule in table.rules]
    for index, id_ in enumerate(ids):
        if isinstance(id_, str) and id_ in ids[:index]:
            yield f"/rules/{index}/id", f"{show(id_)} occurs twice", "Give the rule the next place in its section"


def _check_rule(
    row: Mapping[str, Any], rule: Requirement, documents_by_id: Mapping[str, NormativeDocument]
) -> Iterator[Wrong]:
    """Yield what is wrong with one rule, by JSON Pointers relative to it."""
    start = f"{rule.document}/{make_slug(rule.section)}/"
    if ("number" in row) == ("id" in row):
        yield "", "a rule has a number or an id", "Write one of 'number' and 'id'"
    elif isinstance(rule.id, str) and re.fullmatch(re.escape(start) + "[1-9][0-9]*", rule.id) is None:
        reason = f"{show(rule.id)} does not name the document, the section and the position in it"
        yield "/id", reason, f"Write {start}1 or a higher number at its end"
    document = documents_by_id.get(rule.document)
    if document is None:
        yield "/document", f"{show(rule.document)} is not allowed here", f"Write {' or '.join(documents_by_id)}"
    else:
        protocol_names = {f"/protocols/{index}": name for index, name in enumerate(rule.protocols)}
        for number, place in enumerate(rule.schema):
            protocol_names |= {
                f"/schema/{number}/at/{index}": at.partition("#")[0] for index, at in enumerate(place.at)
            }
        for where, protocol in protocol_names.items():
            if protocol not in document.protocols:
                reason = f"the document {show(document.id)} is not about the protocol {show(protocol)}"
                yield where, reason, f"It is about {' and '.join(document.protocols)}"
    for number, place in enumerate(rule.schema):
        if bool(place.has) == bool(place.lacks):
            yield f"/schema/{number}", "a place has something or lacks something", "Write one of 'has' and 'lacks'"
    if not rule.checkers and rule.documentation is None:
        yield "", "nothing enforces this rule", f"Give it one of {', '.join((*CHECKERS, 'documentation'))}"
    if rule.checkers and not rule.tests:
        yield "", "no test shows this rule", "Name one in 'tests'"
