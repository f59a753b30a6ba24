"""Documents that are no JSON Schema but hold some: what is made of them, and where each piece of it stands in the document.

What is made are definitions in the document's own place, so that all that follows reads a schema. `places` lead back: from the place
of a piece to that in the file, where the two differ.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final

from acpgen import ir
from acpgen.errors import Fault, Faults
from acpgen.importers.faults import NOT_THAT_DOCUMENT
from acpgen.importers.importer_document import Elsewhere, ImporterDocument
from acpgen.importers.openrpc import read_openrpc
from acpgen.input.drafts import address
from acpgen.input.file_discovery import address_of, beside
from acpgen.input.load import Document, Documents, check
from acpgen.input.positions import relocated
from acpgen.input.schema_nodes import Schemas
from acpgen.input.walk import is_object
from acpgen.methods.discovery import find_omitted
from acpgen.methods.profile import KINDS, Profile, is_document

_READERS: Final[Mapping[str, Callable[[Mapping[str, Any], str, Elsewhere], ImporterDocument]]] = {
    "openrpc": read_openrpc,
}


@dataclass(frozen=True, slots=True)
class Translation:
    """The documents of a protocol as JSON Schema; `methods` have places in place of names for params and result.

    `unread` are the files that were no JSON Schema, each with what of it is not read, by a phrase that names it; `read` are the places in
    them of the members that were read.
    """

    documents: Documents
    methods: tuple[ir.Method, ...] = ()
    places: Mapping[str, str] = field(default_factory=dict[str, str])
    unread: Mapping[str, Mapping[str, Any]] = field(default_factory=dict[str, "Mapping[str, Any]"])
    read: frozenset[str] = frozenset()

    def bind(self, schemas: Schemas, envelope: ir.Envelope) -> tuple[ir.Method, ...]:
        """The methods with the names that the definitions at their places have got."""
        names = {node.at: name for name, node in schemas.items()}
        return tuple(
            replace(
                one,
                params=(params := None if one.params is None else names[one.params]),
                result=None if one.result is None else names[one.result],
                omitted=find_omitted(schemas, params, envelope, is_optional=one.omitted != "refused"),
                at=relocated(one.at, self.places),
            )
            for one in self.methods
        )


def translate(documents: Documents, profile: Profile) -> Translation:
    """The documents as JSON Schema. Raises `Faults` where one is not of the kind that the profile reads, or is not well formed."""
    if profile.document is None:
        return Translation(documents)
    schemas: list[Document] = []
    methods: list[ir.Method] = []
    places: dict[str, str] = {}
    unread: dict[str, Mapping[str, Any]] = {}
    read: set[str] = set()
    faults: list[Fault] = []
    for document in documents.documents:
        if not is_object(document.value) or not is_document(document.value, profile.document):
            if len(documents.documents) == 1:
                kind = KINDS[profile.document]
                faults.append(NOT_THAT_DOCUMENT(at=document.path, kind=kind, reason="its members are others"))
            schemas.append(document)
            continue
        found = _READERS[profile.document](document.value, document.path, _elsewhere(documents, document.path))
        unread[document.path] = found.unread
        read.update(map(found.at, found.read))
        faults.extend(found.faults)
        places.update(found.places)
        methods.extend(found.methods)
        schemas.append(replace(document, value=found.value))
        if not found.faults:
            wrong = check(found.value, document.path)
            faults.extend(fault.move_to(relocated(fault.at, places)) for fault in wrong)
    if faults:
        raise Faults(faults)
    return Translation(replace(documents, documents=tuple(schemas)), tuple(methods), places, unread, frozenset(read))


def _elsewhere(documents: Documents, path: str) -> Elsewhere:
    """Finds the other documents that a document refers to, by their addresses or their paths."""
    known = {address_of(each.path): (each.path, each.value) for each in documents.documents}
    known |= {address(written): (each.path, each.value) for written, each in documents.references.items()}

    def find(location: str) -> tuple[str, Any] | None:
        return known.get(address(location)) or known.get(address_of(beside(path, location)))

    return find
