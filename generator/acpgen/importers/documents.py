"""Translation of documents that contain JSON Schema but are not schemas, with the source location of each piece.

The translation puts definitions into the document at the same path, so that all later stages read a schema. `places` maps the places of
the result to those in the file, where the two differ.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from acpgen import ir
from acpgen.errors import Fault, Faults
from acpgen.importers.faults import NOT_THAT_DOCUMENT
from acpgen.importers.openrpc import READ, Elsewhere, OpenRpc
from acpgen.input.drafts import normalize_uri
from acpgen.input.file_discovery import make_address, resolve_path
from acpgen.input.load import Document, Documents, check
from acpgen.input.positions import relocate
from acpgen.input.schema_nodes import Schemas
from acpgen.input.walk import is_object
from acpgen.methods.discovery import find_omitted
from acpgen.methods.profile import KINDS, Profile, is_document


@dataclass(frozen=True, slots=True)
class Translation:
    """The documents of a protocol as JSON Schema; `methods` refer to params and result by place instead of by name.

    `unread` holds, for each file that was translated, the parts that were ignored, by a phrase that names each; `read` are the places in
    these files of the members that were read.
    """

    documents: Documents
    methods: tuple[ir.Method, ...] = ()
    places: Mapping[str, str] = field(default_factory=dict[str, str])
    unread: Mapping[str, Mapping[str, Any]] = field(default_factory=dict[str, "Mapping[str, Any]"])
    read: frozenset[str] = frozenset()

    def bind(self, schemas: Schemas, envelope: ir.Envelope) -> tuple[ir.Method, ...]:
        """The methods with the names of the definitions at their places."""
        names = {node.at: name for name, node in schemas.items()}
        return tuple(
            replace(
                method,
                params=(params := None if method.params is None else names[method.params]),
                result=None if method.result is None else names[method.result],
                omitted=find_omitted(schemas, params, envelope, is_optional=method.omitted != "refused"),
                at=relocate(method.at, self.places),
            )
            for method in self.methods
        )


def translate(documents: Documents, profile: Profile) -> Translation:
    """Translate the documents to JSON Schema. Raises `Faults` if one is not of the kind that the profile reads, or is malformed."""
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
        result = OpenRpc(document.value, document.path, _make_finder(documents, document.path))
        unread[document.path] = result.unread
        read.update(map(result.locate, READ))
        faults.extend(result.faults)
        places.update(result.places)
        methods.extend(result.methods)
        schemas.append(replace(document, value=result.value))
        if not result.faults:
            wrong = check(result.value, document.path)
            faults.extend(fault.move_to(relocate(fault.at, places)) for fault in wrong)
    if faults:
        raise Faults(faults)
    return Translation(replace(documents, documents=tuple(schemas)), tuple(methods), places, unread, frozenset(read))


def _make_finder(documents: Documents, path: str) -> Elsewhere:
    """A function that finds other documents by URI, or by path relative to this document."""
    by_uri = {make_address(document.path): (document.path, document.value) for document in documents.documents}
    by_uri |= {normalize_uri(uri): (document.path, document.value) for uri, document in documents.references.items()}

    def find(location: str) -> tuple[str, Any] | None:
        return by_uri.get(normalize_uri(location)) or by_uri.get(make_address(resolve_path(path, location)))

    return find
