"""The pages of requirements: all requirements of the documents that a project follows, and what checks each."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Final

from acpgen.config.faults import BAD_PROJECT_FILE
from acpgen.diagnostics.markup import Markdown, make_identifier, write_code, write_prose
from acpgen.errors import Fault, Faults, show, suggest_name
from acpgen.input.faults import UNKNOWN_NAME
from acpgen.input.walk import is_array, is_object
from acpgen.pointers import resolve, split_pointer
from acpgen.publish.pages import Page
from acpgen.publish.requirement_table import (
    CHECKERS,
    KEEPERS,
    PEERS,
    NormativeDocument,
    Requirement,
    SchemaPlaces,
    Table,
    make_slug,
)
from acpgen.publish.versions import Version, VersionPaths
from acpgen.targets.docs.page_paths import TYPES
from acpgen.targets.docs.templates import lay_out

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
"""The number of first words of a requirement that form its anchor, if no other requirement begins with them."""


def write_pages(
    table: Table,
    versions: Sequence[Version],
    version_paths: VersionPaths,
    rules: Mapping[str, str],
    *,
    for_site: bool = True,
) -> list[Page]:
    """Write the pages of a table: an overview of the areas at `PAGE`, and a page for each area.

    A page of an area has the requirements of its documents, with links to the types and monitor rules that check each, and for a site
    the tests. `version_paths` are the page paths of versions. `rules` are the pages of the monitor rules by id, empty if the docs have
    none. Raises `Faults` for a place that contradicts the table and for an unknown monitor rule.
    """
    faults = list(_find_contradictions(table, versions, rules))
    if faults:
        raise Faults(faults)
    writer = _Writer(version_paths, rules, for_site)
    of_document = {
        document.id: [rule for rule in table.rules if rule.document == document.id] for document in table.documents
    }
    areas = [
        (title, page, [rule for document in documents for rule in of_document[document.id]], documents)
        for title, page in map_areas(table).items()
        for documents in [[document for document in table.documents if find_page(document) == page]]
    ]
    checked = [rule.checkers for rule in table.rules]
    checkers = [
        (title, sum(key in keys for keys in checked), checked.count((key,)), _MEANINGS[key])
        for key, title in CHECKERS.items()
    ]
    text = lay_out("requirements", areas=areas, documents=len(table.documents), rules=table.rules, checkers=checkers)
    group, about = ("Rules", "Requirements"), "The requirements of the documents, and what checks each"
    pages = [Page(PAGE, text, (*group, "All requirements"), about=about)]
    anchors = {rule: Markdown(address.partition("#")[2]) for rule, address in map_addresses(table).items()}
    for title, page, _, documents in areas:
        text = lay_out(
            "requirements-of",
            title=title,
            documents=documents,
            rules=of_document,
            anchors=anchors,
            peers=PEERS,
            checks=describe_checks,
            slug=make_slug,
            lines=writer.write_lines,
            sections=_group_by_section,
            words=_join_words,
            verbatim=Markdown,
            for_site=for_site,
        )
        pages.append(Page(page, text, (*group, title)))
    return pages


def find_page(document: NormativeDocument) -> Markdown:
    """The path of the page of a document."""
    return Markdown(f"requirements/{make_identifier(document.page)}.md")


def map_areas(table: Table) -> Mapping[str, Markdown]:
    """The title and path of each page with the requirements of documents, sorted by title."""
    return dict(sorted((document.area or document.title, find_page(document)) for document in table.documents))


def map_addresses(table: Table) -> Mapping[int | str, Markdown]:
    """The page and anchor of each requirement by its id. An anchor consists of the first words of the requirement."""
    documents = {document.id: find_page(document) for document in table.documents}
    words = {rule.id: tuple(_join_words(rule.says).split("-")) for rule in table.rules}
    counts = Counter(terms[:_WORDS] for terms in words.values())
    anchors = {id_: terms[:_WORDS] if counts[terms[:_WORDS]] == 1 else terms for id_, terms in words.items()}
    return {rule.id: Markdown(f"{documents[rule.document]}#req-{'-'.join(anchors[rule.id])}") for rule in table.rules}


def map_words(table: Table) -> Mapping[int | str, tuple[str, Markdown]]:
    """The text and the address of each requirement by its id."""
    addresses = map_addresses(table)
    return {rule.id: (rule.says, addresses[rule.id]) for rule in table.rules}


def _join_words(text: str) -> str:
    """The words of a text, joined as an anchor."""
    return "-".join(re.findall(r"[a-z0-9]+", text.lower()))


def _group_by_section(rules: Iterable[Requirement]) -> list[tuple[str, list[Requirement]]]:
    """Group rules by section, in the order of each section's first rule."""
    sections: dict[str, list[Requirement]] = {}
    for rule in rules:
        sections.setdefault(rule.section, []).append(rule)
    return [*sections.items()]


# --- what the table claims -------------------------------------------------------------------------------------------


def _find_contradictions(table: Table, versions: Sequence[Version], rules: Mapping[str, str]) -> Iterator[Fault]:
    """Yield a fault for each statement of a well-formed table that the schemas or the monitor contradict."""
    schemas = {version.protocol.name: version.bundle.schema for version in versions}
    for index, rule in enumerate(table.rules):
        at = f"{table.at}#/rules/{index}"
        for number, place in enumerate(rule.schema):
            for where in place.at:
                reason = _find_contradiction(place, where, schemas)
                if reason is not None:
                    yield BAD_PROJECT_FILE(
                        at=f"{at}/schema/{number}", reason=reason, remedy="Correct the place or the schema"
                    )
        for name in (entry.partition(":")[0] for entry in rule.monitor if rules):
            if name not in rules:
                yield UNKNOWN_NAME(
                    f"{at}/monitor", kind="rule of the monitor", name=name, hint=suggest_name(name, rules)
                )


def _find_contradiction(place: SchemaPlaces, where: str, schemas: Mapping[str, Any]) -> str | None:
    """The reason why a place contradicts the table; `None` if it does not."""
    protocol, _, fragment = where.partition("#")
    if protocol not in schemas:
        return f"the docs hold no protocol {show(protocol)}"
    try:
        value = resolve(schemas[protocol], fragment)
    except KeyError:
        return f"nothing is at {where}"
    if not is_object(value) and not is_array(value):
        return f"the value at {where} is not an object or an array"
    missing = [name for name in place.has if name not in value]
    if missing:
        return f"{where} has no {', '.join(map(show, missing))}"
    present = [name for name in place.lacks if name in value]
    return f"{where} has {', '.join(map(show, present))}" if present else None


def describe_checks(rule: Requirement) -> str:
    """Describe what checks or ensures a requirement; empty if nothing does."""
    keys = {"checked by": [key for key in rule.checkers if key not in KEEPERS]}
    keys["kept by"] = [key for key in rule.checkers if key in KEEPERS]
    phrases = (f"{how} {', '.join(CHECKERS[key].lower() for key in group)}" for how, group in keys.items() if group)
    text = "; ".join(phrases)
    return text[:1].upper() + text[1:]


# --- what checks each ------------------------------------------------------------------------------------------------


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
"""What a place has or lacks, by the last key of its pointer: singular, plural, and the preposition before what contains it."""


@dataclass(frozen=True, slots=True)
class _Writer:
    """Describes what checks or ensures a requirement, with links to the pages of `paths` and of the monitor's `rules`."""

    paths: VersionPaths
    rules: Mapping[str, str]
    with_tests: bool

    def write_lines(self, rule: Requirement) -> list[tuple[str, list[Markdown]]]:
        """The lines about what checks, ensures or tests a requirement: each a title with its phrases."""
        details: Mapping[str, Iterable[Markdown]] = {
            "Methods": map(partial(self._link_method, rule), rule.methods),
            CHECKERS["schema"]: (phrase for place in rule.schema for phrase in self._describe_places(place)),
            CHECKERS["validator"]: [Markdown(f"refuses by {_join_names(rule.validator)}")] * bool(rule.validator),
            CHECKERS["lint"]: map(write_code, rule.lint),
            CHECKERS["monitor"]: map(self._link_rule, rule.monitor),
            CHECKERS["probe"]: map(write_code, rule.probe),
            CHECKERS["bindings"]: (write_code(name.replace(":", ".")) for name in rule.bindings),
            CHECKERS["functions"]: (write_code(name.replace(":", ".")) for name in rule.functions),
            "Shown by": map(write_code, rule.tests * self.with_tests),
        }
        return [(title, texts) for title, phrases in details.items() if (texts := [*phrases])]

    def _link_method(self, rule: Requirement, name: str) -> Markdown:
        """A method that a rule is about, linked to its page in each protocol."""
        links = [
            self._link(protocol, paths.methods[name])
            for protocol, paths in self.paths.items()
            if protocol in rule.protocols and name in paths.methods
        ]
        return Markdown(f"{write_code(name)} ({', '.join(links)})" if links else write_code(name))

    def _link_rule(self, entry: str) -> Markdown:
        """A rule of the monitor with a link, and the word that narrows it."""
        name, _, word = entry.partition(":")
        link = f"[{write_code(name)}](../{self.rules[name]}#{name})" if name in self.rules else write_code(name)
        return Markdown(f"{link} about {write_code(word)}" if word else link)

    def _describe_places(self, place: SchemaPlaces) -> Iterator[Markdown]:
        """Yield a phrase for each kind of place about what schemas have or lack; the same place in several protocols shares one."""
        kinds: dict[tuple[str, str], dict[str, list[Markdown]]] = {}
        for where in place.at:
            protocol, _, fragment = where.partition("#")
            parts = list(split_pointer(fragment))
            kind = parts.pop() if len(parts) in (1, 3) and (parts[-1], True) in _PHRASES else ""
            below = ".".join(part for part in parts[2:] if part != "properties")
            types = kinds.setdefault((kind, below), {})
            types.setdefault("".join(parts[1:2]), []).append(self._link_type(protocol, parts))
        for (kind, below), types in kinds.items():
            singular, plural, preposition = _PHRASES[kind, bool(place.has)]
            words = place.has or place.lacks
            phrase = (singular if len(words) == 1 else plural).format(_join_names(words))
            holders = [f"{write_code(name)} ({', '.join(at)})" if name else ", ".join(at) for name, at in types.items()]
            member = f"{write_code(below)} of " if below else ""
            yield Markdown(f"{phrase} {preposition} {member}{', '.join(holders)}")

    def _link_type(self, protocol: str, parts: Sequence[str]) -> Markdown:
        """A protocol name linked to the page of the type at `parts` of its schema, with the anchor of the field if they lead to one."""
        if protocol not in self.paths:
            return write_prose(protocol)
        types = self.paths[protocol].types
        match parts:
            case ["$defs", name, "properties", member, *_] if name in types:
                return self._link(protocol, types[name], f"field-{make_identifier(member)}")
            case ["$defs", name, *_] if name in types:
                return self._link(protocol, types[name])
            case _:
                return self._link(protocol, TYPES)

    def _link(self, protocol: str, page: str, anchor: str = "") -> Markdown:
        address = self.paths[protocol].locate(page, anchor)
        return Markdown(f"[{write_prose(protocol)}](../{address})")


def _join_names(names: Sequence[str]) -> Markdown:
    return Markdown(", ".join(map(write_code, names)))
