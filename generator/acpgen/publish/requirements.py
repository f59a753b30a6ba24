"""The pages of requirements: every one of the documents that a project follows, and what checks it."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from acpgen.config.faults import BAD_MATERIAL
from acpgen.diagnostics.markup import Markdown, code, identifier, prose
from acpgen.errors import Fault, Faults, did_you_mean, shown
from acpgen.input.faults import UNKNOWN_NAME
from acpgen.input.walk import is_array, is_object
from acpgen.pointers import pointer_parts, resolve
from acpgen.publish.channels import VersionPaths
from acpgen.publish.pages import Page
from acpgen.publish.table import (
    CHECKERS,
    KEEPERS,
    PEERS,
    NormativeDocument,
    Requirement,
    SchemaPlaces,
    Table,
    parse,
    slug,
)
from acpgen.publish.versions import Version
from acpgen.targets import docs
from acpgen.targets.docs.page_paths import TYPES, PagePaths

__all__ = ["PAGE", "addresses", "areas", "checks", "pages", "parse", "path", "words_by_id"]

PAGE: Final = "requirements.md"

_MEANINGS: Final = {
    "schema": "The JSON Schema states it at the place that is named, and the generated types follow.",
    "validator": "`acpgen validate` and the strict validators refuse a message that breaks it, by the keyword that is named.",
    "lint": "`acpgen lint` refuses a schema that breaks it.",
    "monitor": "The monitor reports a breach in a recorded or running conversation.",
    "probe": "`acpgen probe` tests it on a running peer.",
    "bindings": "The generated codecs keep it without being asked.",
    "functions": "A program that calls these functions keeps it.",
}

_WORDS: Final = 8
"""As many words of a requirement are its anchor, if no other one begins with them."""


def pages(
    table: Table,
    versions: Sequence[Version],
    version_paths: VersionPaths,
    rules: Mapping[str, str],
    *,
    for_site: bool = True,
) -> list[Page]:
    """The pages of a table: at `PAGE` the areas, and a page for each with the requirements of its documents, and links to the
    types and the rules of the monitor that check each; for a site, to the tests that show it.

    `version_paths` are the places of the versions that have pages. `rules` are the pages that tell of each rule of the monitor; none where
    the docs do not. Raises `Faults` for a place that is not what the table says, and for a rule that the monitor does not have.
    """
    faults = list(_unfounded(table, versions, rules))
    if faults:
        raise Faults(faults)
    found = {version.protocol.name: version for version in versions}
    documented = {name: _DocumentedVersion(found[name], places) for name, places in version_paths.items()}
    titles = {page: title for title, page in areas(table).items()}
    grouped: dict[Markdown, list[_DocumentView]] = {page: [] for page in titles}
    known = addresses(table)
    for document in table.documents:
        sections = _sections(table, document, known, documented, rules, for_site=for_site)
        grouped[path(document)].append(_DocumentView(document, path(document), sections))
    checkers = [
        (
            title,
            sum(key in rule.checkers for rule in table.rules),
            sum(rule.checkers == (key,) for rule in table.rules),
            _MEANINGS[key],
        )
        for key, title in CHECKERS.items()
    ]
    text = docs.lay_out(
        "requirements",
        areas=[(title, page, _count(grouped[page]), grouped[page]) for page, title in titles.items()],
        documents=len(table.documents),
        count=len(table.rules),
        checked=sum(bool(rule.checkers) for rule in table.rules),
        checkers=checkers,
    )
    group, about = ("Rules", "Requirements"), "The requirements of the documents, and what checks each"
    pages = [Page(PAGE, text, (*group, "All requirements"), about=about)]
    for page, views in grouped.items():
        text = docs.lay_out("requirements-of", title=titles[page], documents=views)
        pages.append(Page(page, text, (*group, titles[page])))
    return pages


def _count(documents: Sequence[_DocumentView]) -> tuple[int, int]:
    """How many requirements these documents have, and how many of them something checks or keeps."""
    rules = [view.rule for document in documents for section in document.sections for view in section.rules]
    return len(rules), sum(bool(rule.checkers) for rule in rules)


def path(document: NormativeDocument) -> Markdown:
    """The page of a document."""
    return Markdown(f"requirements/{identifier(document.page)}.md")


def areas(table: Table) -> Mapping[str, Markdown]:
    """The title and path of each page with the requirements of documents, by title."""
    return dict(sorted((each.area or each.title, path(each)) for each in table.documents))


def addresses(table: Table) -> Mapping[int | str, Markdown]:
    """The page and anchor of each requirement by its id. An anchor is made of the first words of the requirement."""
    documents = {document.id: path(document) for document in table.documents}
    words = {rule.id: re.findall(r"[a-z0-9]+", rule.says.lower()) for rule in table.rules}
    taken = Counter(tuple(each[:_WORDS]) for each in words.values())
    return {
        rule.id: Markdown(f"{documents[rule.document]}#req-{'-'.join(_anchor_words(words[rule.id], taken))}")
        for rule in table.rules
    }


def words_by_id(table: Table) -> Mapping[int | str, tuple[str, Markdown]]:
    """The words and the address of each requirement by its id."""
    known = addresses(table)
    return {rule.id: (rule.says, known[rule.id]) for rule in table.rules}


def _anchor_words(words: Sequence[str], taken: Mapping[tuple[str, ...], int]) -> Sequence[str]:
    return words[:_WORDS] if taken[tuple(words[:_WORDS])] == 1 else words


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
                    yield BAD_MATERIAL(
                        at=f"{at}/schema/{number}", reason=reason, remedy="Correct the place or the schema"
                    )
        for name in (entry.partition(":")[0] for entry in rule.monitor if rules):
            if name not in rules:
                yield UNKNOWN_NAME(
                    f"{at}/monitor", kind="rule of the monitor", name=name, hint=did_you_mean(name, rules)
                )


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
class _DocumentedVersion:
    """A version and its pages."""

    version: Version
    places: PagePaths


@dataclass(frozen=True, slots=True)
class _Line:
    """What checks or keeps a requirement, or shows that: a word, and phrases."""

    title: str
    phrases: tuple[Markdown, ...]


@dataclass(frozen=True, slots=True)
class _View:
    """A requirement as the pages show it; `narrowed` are the protocols where they are not all of its document's."""

    rule: Requirement
    anchor: Markdown
    who: str
    narrowed: str
    checks: str
    lines: tuple[_Line, ...]


@dataclass(frozen=True, slots=True)
class _SectionView:
    """A section of a document. `target` is where it is published; `None` if the document's address is not known. `mark` gives its heading
    an anchor of its own on a site, where sections of several documents on one page may have the same title.
    """

    title: str
    mark: Markdown
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


def _sections(
    table: Table,
    document: NormativeDocument,
    known: Mapping[int | str, Markdown],
    documented: Mapping[str, _DocumentedVersion],
    rules: Mapping[str, str],
    *,
    for_site: bool,
) -> list[_SectionView]:
    """The sections of a document in the order of their first rules."""
    found: dict[str, list[_View]] = {}
    for rule in table.rules:
        if rule.document == document.id:
            anchor = Markdown(known[rule.id].partition("#")[2])
            view = _view(rule, anchor, document, documented, rules, with_tests=for_site)
            found.setdefault(rule.section, []).append(view)
    return [
        _SectionView(
            title,
            Markdown(f" {{ #{'-'.join(re.findall('[a-z0-9]+', f'{document.id} {title}'.lower()))} }}" * for_site),
            Markdown(f"{document.url}#{slug(title)}") if document.url is not None else None,
            views,
        )
        for title, views in found.items()
    ]


def _view(
    rule: Requirement,
    anchor: Markdown,
    document: NormativeDocument,
    documented: Mapping[str, _DocumentedVersion],
    rules: Mapping[str, str],
    *,
    with_tests: bool,
) -> _View:
    details: Mapping[str, Iterable[Markdown]] = {
        "schema": (phrase for place in rule.schema for phrase in _places(place, documented)),
        "validator": (Markdown(f"refuses by {_listed(rule.validator)}"),) if rule.validator else (),
        "lint": map(code, rule.lint),
        "monitor": (_rule_link(name, rules) for name in rule.monitor),
        "probe": map(code, rule.probe),
        "bindings": (code(name.replace(":", ".")) for name in rule.bindings),
        "functions": (code(name.replace(":", ".")) for name in rule.functions),
    }
    lines = [
        _Line("Methods", tuple(_method_links(rule, documented))),
        *(_Line(title, tuple(details[key])) for key, title in CHECKERS.items()),
        _Line("Shown by", tuple(map(code, rule.tests)) if with_tests else ()),
    ]
    narrowed = ", ".join(rule.protocols) if rule.protocols != document.protocols else ""
    shown = tuple(line for line in lines if line.phrases)
    return _View(rule, anchor, PEERS[rule.who], narrowed, checks(rule), shown)


def checks(rule: Requirement) -> str:
    """What checks or keeps a requirement, in words; empty if nothing does."""
    keys = {"checked by": [key for key in rule.checkers if key not in KEEPERS]}
    keys["kept by"] = [key for key in rule.checkers if key in KEEPERS]
    said = (f"{how} {', '.join(CHECKERS[key].lower() for key in found)}" for how, found in keys.items() if found)
    text = "; ".join(said)
    return text[:1].upper() + text[1:]


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
