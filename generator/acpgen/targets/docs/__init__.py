"""The target `docs`: a protocol version as plain Markdown, a page for each method, area, type and conversation; for a site one file too.

Every example is judged while the pages are made; one that the schema refuses is a fault or, where the option says so, left out and
listed. Text of the schema reaches a page through `text` alone.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from acpgen import ir
from acpgen.bundle.bundle import Bundle
from acpgen.errors import Faults
from acpgen.markup import Markdown, code, prose
from acpgen.targets import Settings
from acpgen.targets.docs import examples
from acpgen.targets.docs.age_notes import NO_AGES, Ages, Member
from acpgen.targets.docs.book import (
    Beside,
    Book,
    Counterpart,
    Snippets,
    VersionDifference,
    about_area,
    about_errors,
    about_messages,
)
from acpgen.targets.docs.origin_notes import NO_ORIGINS, Origins
from acpgen.targets.docs.phrases import plainly
from acpgen.targets.docs.places import (
    CAPABILITIES,
    ERRORS,
    INDEX,
    MESSAGES,
    METHODS,
    TYPES,
    WHOLE,
    Linker,
    Places,
    joined,
    places,
    with_replacements,
    with_types_in_areas,
)
from acpgen.targets.docs.planned import PlannedConversation, plans
from acpgen.targets.docs.rule_notes import NO_RULES, RuleNotes
from acpgen.targets.docs.templates import lay_out, relative
from acpgen.targets.options import Option

__all__ = [
    "FIXED",
    "OPTIONS",
    "WHOLE",
    "Ages",
    "Beside",
    "Book",
    "Counterpart",
    "Markdown",
    "Member",
    "Places",
    "PlannedConversation",
    "Snippets",
    "VersionDifference",
    "about_errors",
    "about_messages",
    "area_title",
    "book",
    "code",
    "compose",
    "joined",
    "laid_out",
    "lay_out",
    "pages",
    "places_of",
    "plainly",
    "plans",
    "prose",
    "relative",
    "render",
    "single_file",
    "with_replacements",
    "with_types_in_areas",
]

FIXED: Final = (INDEX, METHODS, TYPES, CAPABILITIES, ERRORS, MESSAGES)
"""The pages that every protocol has."""

OPTIONS: Final = (
    Option(
        "refused-examples",
        "Examples that the schema beside them refuses: an error, or left out and listed on the first page.",
        "error",
        ("error", "leave-out"),
    ),
)


def render(protocol: ir.Protocol, bundle: Bundle, settings: Settings) -> Mapping[str, str]:
    """All pages below the prefix, with nothing about other versions. Raises `Faults` of examples that do not hold."""
    return compose(protocol, bundle, settings, {})


def compose(
    protocol: ir.Protocol,
    bundle: Bundle,
    settings: Settings,
    beside: Beside,
    ages: Ages = NO_AGES,
    rules: RuleNotes = NO_RULES,
    origins: Origins = NO_ORIGINS,
    snippets: Snippets | None = None,
) -> Mapping[str, str]:
    """All pages below the prefix, each with its counterparts in other versions, what is known of ages and of upstream, the requirements of
    what it is about, and its examples in Python. Raises `Faults`.
    """
    return laid_out(book(protocol, bundle, settings, ages, rules, origins, snippets), settings, beside)


def book(
    protocol: ir.Protocol,
    bundle: Bundle,
    settings: Settings,
    ages: Ages = NO_AGES,
    rules: RuleNotes = NO_RULES,
    origins: Origins = NO_ORIGINS,
    snippets: Snippets | None = None,
) -> Book:
    """What the pages of a version hold, before it is laid out. Raises `Faults`."""
    judge = examples.ExampleJudge(bundle)
    refused = examples.refused(judge)
    if refused and settings.options.get("refused-examples") != "leave-out":
        raise Faults(refused)
    found = examples.collect(protocol, judge)
    made = examples.made(protocol, judge, found)
    found_places = places(protocol, bundle.origins)
    return Book(
        protocol, bundle, found_places, {**found, **made}, frozenset(made), refused, ages, rules, origins, snippets
    )


def laid_out(
    told: Book,
    settings: Settings,
    beside: Beside,
    where: Places | None = None,
    *,
    changelog: str = "",
    for_site: bool = False,
) -> Mapping[str, str]:
    """The pages of a book below the prefix, all of them or those that are at a place of their own. `changelog` is its page, seen from the
    folder above all versions. For a site, headings of sections that only repeat what stands elsewhere carry the mark by which search
    leaves them out.
    """
    folder, where = _folder(settings), where or told.places
    return {
        folder + path: told.page(
            template,
            Linker(where, path, folder=settings.prefix, types=view.get("shown", frozenset())),
            view,
            folder,
            beside.get(path, ()),
            changelog=changelog,
            for_site=for_site,
        )
        for path, template, view in told.pages()
        if path not in where.replacements
    }


def single_file(told: Book, settings: Settings) -> Mapping[str, str]:
    """All pages of a book in one file. Nobody keeps it beside the pages: it repeats them, and each change of one would be made twice."""
    folder = _folder(settings)
    pages = (
        told.page(template, Linker(told.places, path, whole=True), view, folder, (), for_site=True)
        for path, template, view in told.pages()
    )
    return {folder + WHOLE: "\n".join(pages)}


def _folder(settings: Settings) -> str:
    return f"{settings.prefix}/" if settings.prefix else ""


def pages(protocol: ir.Protocol, bundle: Bundle) -> tuple[str, ...]:
    """The paths of all pages of a protocol, below its prefix. Raises `Faults`."""
    found = places(protocol, bundle.origins)
    return (
        *FIXED,
        *found.areas.values(),
        *found.conversations.values(),
        *found.methods.values(),
        *found.types.values(),
    )


def places_of(protocol: ir.Protocol, bundle: Bundle) -> Places:
    """Where each method and type of a protocol has its page. Raises `Faults`."""
    return places(protocol, bundle.origins)


def area_title(bundle: Bundle, area: str) -> str:
    """What a source file calls itself, in plain text."""
    return about_area(bundle, area)[0]
