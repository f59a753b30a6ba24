"""The pages of requirements: every rule of the documents that a project follows, and what enforces it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from acpgen.errors import BadMaterial, Fault, Faults, UnknownName, did_you_mean, shown
from acpgen.input.walk import is_array, is_object
from acpgen.markup import Markdown, code, identifier, prose
from acpgen.pointers import pointer_parts, resolve
from acpgen.publish.channels import VersionPlaces
from acpgen.publish.table import PEERS, WAYS, NormativeDocument, Requirement, SchemaPlaces, Table, parse, slug
from acpgen.publish.versions import Version
from acpgen.targets import docs
from acpgen.targets.docs.places import TYPES, Places

__all__ = ["PAGE", "areas", "pages", "parse", "path", "paths"]

PAGE: Final = "requirements.md"

_MEANINGS: Final = {
    "schema": "The bundled JSON Schema says so, at the place that is named. Every judge and every binding knows it.",
    "validator": "`validate` refuses a message that breaks the rule, by the keyword that is named.",
    "lint": "`acpgen lint` refuses a schema that breaks the rule.",
    "monitor": "It reports a breach in a conversation, with the id of the rule.",
    "functions": "A program that calls them keeps the rule.",
    "bindings": "The generated types and codecs keep it by themselves.",
    "probe": "`acpgen probe` tries it on a running peer.",
    "documentation": "What is left to people, and why nothing else reaches it.",
}


def pages(
    table: Table,
    versions: Sequence[Version],
    version_places: VersionPlaces,
    rules: Mapping[str, str],
    *,
    for_site: bool = True,
) -> Mapping[str, str]:
    """The pages of a table by path: at `PAGE` the documents with an anchor for each of their rules, and one page for each area with the
    rules of its documents, and links to the types and the rules of the monitor that enforce each; for a site, to the tests that show it.

    `version_places` are the places of the versions that have pages. `rules` are the pages that tell of each rule of the monitor; none where
    the docs do not. Raises `Faults` for a place that is not what the table says, and for a rule that the monitor does not have.
    """
    faults = list(_unfounded(table, versions, rules))
    if faults:
        raise Faults(faults)
    found = {version.protocol.name: version for version in versions}
    documented = {name: _DocumentedVersion(found[name], places) for name, places in version_places.items()}
    views = [
        _DocumentView(document, path(document), _sections(table, document, documented, rules, with_tests=for_site))
        for document in table.documents
    ]
    ways = [
        _Way(
            title,
            _MEANINGS[key],
            sum(key in rule.ways for rule in table.rules),
            sum(rule.ways == (key,) for rule in table.rules),
        )
        for key, title in WAYS.items()
    ]
    kinds = [_Kind(names, [view for view in views if view.document.protocols == names]) for names in _kinds(table)]
    enforced = sum(rule.ways != ("documentation",) for rule in table.rules)
    figures = {"count": len(table.rules), "enforced": enforced}
    files = {PAGE: docs.lay_out("requirements", documents=views, kinds=kinds, ways=ways, **figures)}
    for title, page in areas(table).items():
        inside = [view for view in views if view.page == page]
        files[page] = docs.lay_out("requirements-of", title=title, documents=inside)
    return files


def _kinds(table: Table) -> Sequence[tuple[str, ...]]:
    """The sets of protocols that documents are about, in the order of the first document of each."""
    return tuple(dict.fromkeys(document.protocols for document in table.documents))


def path(document: NormativeDocument) -> Markdown:
    """The page of a document."""
    return Markdown(f"requirements/{identifier(document.page)}.md")


def paths(table: Table) -> Mapping[str, Markdown]:
    """The page of each document by its id."""
    return {document.id: path(document) for document in table.documents}


def areas(table: Table) -> Mapping[str, Markdown]:
    """The title and path of each page with the rules of documents."""
    return {document.area or document.title: path(document) for document in table.documents}


# --- what the table claims -------------------------------------------------------------------------------------------


def _unfounded(table: Table, versions: Sequence[Version], rules: Mapping[str, str]) -> Iterator[Fault]:
    """What a well-formed table says and the schemas and the monitor do not bear out."""
    schemas = {version.protocol.name: version.bundle.schema for version in versions}
    for index, rule in enumerate(table.rules):
        at = f"{table.at}#/rules/{index}"
        for number, place in enumerate(rule.schema):
            for where in place.at:
                reason = _contradicted(place, where, schemas)
                if reason is not None:
                    yield BadMaterial(
                        at=f"{at}/schema/{number}", reason=reason, remedy="Correct the place or the schema"
                    )
        for name in (entry.partition(":")[0] for entry in rule.monitor if rules):
            if name not in rules:
                yield UnknownName(f"{at}/monitor", "rule of the monitor", name, did_you_mean(name, rules))


def _contradicted(place: SchemaPlaces, where: str, schemas: Mapping[str, Any]) -> str | None:
    """Why a place is not what the table says; `None` if it is."""
    protocol, _, fragment = where.partition("#")
    if protocol not in schemas:
        return f"the docs hold no protocol {shown(protocol)}"
    try:
        value = resolve(schemas[protocol], fragment)
    except KeyError:
        return f"nothing is at {where}"
    if not is_object(value) and not is_array(value):
        return f"the value at {where} is not an object or an array"
    missing = [name for name in place.has if name not in value]
    if missing:
        return f"{where} has no {', '.join(map(shown, missing))}"
    present = [name for name in place.lacks if name in value]
    return f"{where} has {', '.join(map(shown, present))}" if present else None


# --- the page --------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Way:
    """A way of enforcement in the summary, with how many rules it enforces, and how many it enforces alone."""

    title: str
    meaning: str
    count: int
    alone: int


@dataclass(frozen=True, slots=True)
class _DocumentedVersion:
    """A version and its pages."""

    version: Version
    places: Places


@dataclass(frozen=True, slots=True)
class _Line:
    """One way in which a requirement is enforced, or how that is shown: a word, and phrases."""

    title: str
    phrases: tuple[Markdown, ...]


@dataclass(frozen=True, slots=True)
class _View:
    """A requirement as the pages show it; `narrowed` are the protocols where they are not all of its document's."""

    rule: Requirement
    anchor: Markdown
    who: str
    narrowed: str
    lines: tuple[_Line, ...]


@dataclass(frozen=True, slots=True)
class _SectionView:
    """A section of a document. `target` is where it is published; `None` if the document's address is not known."""

    title: str
    target: Markdown | None
    rules: Sequence[_View]


@dataclass(frozen=True, slots=True)
class _DocumentView:
    document: NormativeDocument
    page: Markdown
    sections: Sequence[_SectionView]

    @property
    def address(self) -> Markdown | None:
        return Markdown(self.document.url) if self.document.url is not None else None

    @property
    def count(self) -> int:
        return sum(len(section.rules) for section in self.sections)


@dataclass(frozen=True, slots=True)
class _Kind:
    """The documents about the same protocols."""

    protocols: tuple[str, ...]
    documents: Sequence[_DocumentView]


def _sections(
    table: Table,
    document: NormativeDocument,
    documented: Mapping[str, _DocumentedVersion],
    rules: Mapping[str, str],
    *,
    with_tests: bool,
) -> list[_SectionView]:
    """The sections of a document in the order of their first rules."""
    found: dict[str, list[_View]] = {}
    for rule in table.rules:
        if rule.document == document.id:
            found.setdefault(rule.section, []).append(_view(rule, document, documented, rules, with_tests=with_tests))
    return [
        _SectionView(title, Markdown(f"{document.url}#{slug(title)}") if document.url is not None else None, views)
        for title, views in found.items()
    ]


def _view(
    rule: Requirement,
    document: NormativeDocument,
    documented: Mapping[str, _DocumentedVersion],
    rules: Mapping[str, str],
    *,
    with_tests: bool,
) -> _View:
    lines = [
        _Line("Methods", tuple(_method_links(rule, documented))),
        _Line(WAYS["schema"], tuple(phrase for place in rule.schema for phrase in _places(place, documented))),
        _Line(WAYS["validator"], (_refuses(rule.validator),) if rule.validator else ()),
        _Line(WAYS["lint"], tuple(map(code, rule.lint))),
        _Line(WAYS["monitor"], tuple(_rule_link(name, rules) for name in rule.monitor)),
        _Line(WAYS["functions"], tuple(code(name.replace(":", ".")) for name in rule.functions)),
        _Line(WAYS["bindings"], tuple(code(name.replace(":", ".")) for name in rule.bindings)),
        _Line(WAYS["probe"], tuple(map(code, rule.probe))),
        _Line("Shown by", tuple(map(code, rule.tests)) if with_tests else ()),
    ]
    narrowed = ", ".join(rule.protocols) if rule.protocols != document.protocols else ""
    return _View(rule, Markdown(rule.anchor), PEERS[rule.who], narrowed, tuple(line for line in lines if line.phrases))


def _method_links(rule: Requirement, documented: Mapping[str, _DocumentedVersion]) -> Iterator[Markdown]:
    """The methods that a rule is about, each linked to its page in each protocol."""
    for name in rule.methods:
        links = [
            f"[{prose(protocol)}](../{at.version.path(at.places.address(at.places.methods[name]))})"
            for protocol, at in documented.items()
            if protocol in rule.protocols and name in at.places.methods
        ]
        yield Markdown(f"{code(name)} ({', '.join(links)})" if links else code(name))


def _rule_link(entry: str, rules: Mapping[str, str]) -> Markdown:
    """A rule of the monitor, and the word that narrows it."""
    name, _, word = entry.partition(":")
    found = f"[{code(name)}](../{rules[name]}#{name})" if name in rules else code(name)
    return Markdown(f"{found} about {code(word)}" if word else found)


def _refuses(keywords: Sequence[str]) -> Markdown:
    return Markdown(f"refuses by {_listed(keywords)}")


_PHRASES: Final = {
    ("properties", True): ("the field {}", "the fields {}", "of"),
    ("properties", False): ("no field {}", "no fields {}", "in"),
    ("required", True): ("{} is required", "{} are required", "in"),
    ("required", False): ("{} is not required", "{} are not required", "in"),
    ("$defs", True): ("the type {}", "the types {}", "in"),
    ("$defs", False): ("no type {}", "no types {}", "in"),
    ("", True): ("{}", "{}", "at"),
    ("", False): ("no {}", "no {}", "at"),
}
"""What a place has or lacks, by the last key of its pointer: of one thing, of several, and how what holds it is joined on."""


def _places(place: SchemaPlaces, documented: Mapping[str, _DocumentedVersion]) -> Iterator[Markdown]:
    """What a schema has or lacks, a phrase for each kind of place; the same place in several protocols is told once."""
    kinds: dict[tuple[str, str], dict[str, list[Markdown]]] = {}
    for where in place.at:
        protocol, _, fragment = where.partition("#")
        parts = list(pointer_parts(fragment))
        kind = parts.pop() if len(parts) in (1, 3) and (parts[-1], True) in _PHRASES else ""
        below = ".".join(part for part in parts[2:] if part != "properties")
        types = kinds.setdefault((kind, below), {})
        types.setdefault("".join(parts[1:2]), []).append(
            _type_link(documented[protocol], parts) if protocol in documented else prose(protocol)
        )
    for (kind, below), types in kinds.items():
        one, several, joint = _PHRASES[kind, bool(place.has)]
        words = place.has or place.lacks
        what = (one if len(words) == 1 else several).format(_listed(words))
        holders = [f"{code(name)} ({', '.join(links)})" if name else ", ".join(links) for name, links in types.items()]
        member = f"{code(below)} of " if below else ""
        yield Markdown(f"{what} {joint} {member}{', '.join(holders)}")


def _type_link(documented: _DocumentedVersion, parts: Sequence[str]) -> Markdown:
    """A protocol, linked to the page of the type at `parts` of its schema, and to the field if they lead to one."""
    version, places = documented.version, documented.places
    match parts:
        case ["$defs", name, "properties", member, *_] if name in places.types:
            target = places.address(places.types[name], f"field-{identifier(member)}")
        case ["$defs", name, *_] if name in places.types:
            target = places.address(places.types[name])
        case _:
            target = places.address(TYPES)
    return Markdown(f"[{prose(version.protocol.name)}](../{version.path(target)})")


def _listed(names: Sequence[str]) -> Markdown:
    return Markdown(", ".join(map(code, names)))
