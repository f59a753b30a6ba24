"""The target `docs`: a protocol version as plain Markdown, a page for each method, area, type and conversation; for a site one file too.

Every example is validated while the pages are made; one that the schema refuses is a fault or, where the option says so, left out and
listed. Text of the schema reaches a page through `text` alone.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from acpgen import ir
from acpgen.bundle.bundle import Bundle
from acpgen.errors import Faults
from acpgen.targets.docs import examples
from acpgen.targets.docs.page_notes import (
    NO_AVAILABILITY,
    NO_ORIGINS,
    NO_REQUIREMENTS,
    Availability,
    Origins,
    RequirementNotes,
)
from acpgen.targets.docs.page_paths import (
    CAPABILITIES,
    ERRORS,
    INDEX,
    MESSAGES,
    METHODS,
    TYPES,
    WHOLE,
    Linker,
    PagePaths,
    find_page_paths,
)
from acpgen.targets.docs.scenarios import scenarios
from acpgen.targets.docs.version_docs import OtherVersions, Snippets, VersionDocs, about_area
from acpgen.targets.interface import Settings
from acpgen.targets.options import Option

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
    return write_pages(build(protocol, bundle, settings), settings, {})


def build(
    protocol: ir.Protocol,
    bundle: Bundle,
    settings: Settings,
    availability: Availability = NO_AVAILABILITY,
    requirements: RequirementNotes = NO_REQUIREMENTS,
    origins: Origins = NO_ORIGINS,
    snippets: Snippets | None = None,
) -> VersionDocs:
    """What the pages of a version hold, before it is laid out. Raises `Faults`."""
    judge = examples.ExampleJudge(bundle)
    refused = examples.find_refused(judge)
    if refused and settings.options.get("refused-examples") != "leave-out":
        raise Faults(refused)
    found = examples.collect_examples(protocol, judge)
    generated = examples.generate_examples(protocol, judge, found)
    return VersionDocs(
        protocol,
        bundle,
        page_paths(protocol, bundle),
        {**found, **generated},
        frozenset(generated),
        refused,
        availability,
        requirements,
        origins,
        snippets,
        settings.module,
    )


def write_pages(
    content: VersionDocs,
    settings: Settings,
    others: OtherVersions,
    paths: PagePaths | None = None,
    *,
    changelog: str = "",
    for_site: bool = False,
) -> Mapping[str, str]:
    """The pages of a version below the prefix, all of them or those that `paths` does not replace. `changelog` is its page, seen from the
    folder above all versions. For a site, headings of sections that only repeat what stands elsewhere carry the mark by which search
    leaves them out.
    """
    folder, paths = _folder(settings), paths or content.paths
    return {
        folder + path: content.page(
            template,
            Linker(paths, path, folder=settings.prefix, types=view.get("shown", frozenset())),
            view,
            folder,
            others.get(path, ()),
            changelog=changelog,
            for_site=for_site,
        )
        for path, template, view in content.pages()
        if path not in paths.replacements
    }


def write_single_file(content: VersionDocs, settings: Settings) -> Mapping[str, str]:
    """All pages of a version in one file. Nobody keeps it beside the pages: it repeats them, and each change of one would be made twice."""
    folder = _folder(settings)
    pages = (
        content.page(template, Linker(content.paths, path, whole=True), view, folder, (), for_site=True)
        for path, template, view in content.pages()
    )
    return {folder + WHOLE: "\n".join(pages)}


def _folder(settings: Settings) -> str:
    return f"{settings.prefix}/" if settings.prefix else ""


def places(protocol: ir.Protocol, bundle: Bundle, paths: PagePaths) -> Mapping[str, tuple[str, ...]]:
    """The pages of a protocol, below its prefix, with the titles that lead to each in the navigation, in its order. Raises `Faults`."""
    titles = {area: area_title(bundle, area) for area in paths.areas}
    found: dict[str, tuple[str, ...]] = {INDEX: ("Overview",), METHODS: ("Methods", "All methods")}
    found |= {page: ("Methods", name) for name, page in sorted(paths.methods.items())}
    found[TYPES] = ("Types", "All types")
    for area, title in sorted(titles.items(), key=lambda entry: entry[1]):
        found[paths.areas[area]] = ("Types", title, "Overview")
        inside = sorted(name for name, there in paths.area_of.items() if there == area)
        found |= {paths.types[name]: ("Types", title, name) for name in inside}
    found |= {paths.conversations[each.name]: ("Conversations", each.title) for each in scenarios(protocol)}
    return found | {CAPABILITIES: ("Capabilities",), ERRORS: ("Error codes",), MESSAGES: ("Messages",)}


def page_paths(protocol: ir.Protocol, bundle: Bundle) -> PagePaths:
    """Where each method and type of a protocol has its page. Raises `Faults`."""
    return find_page_paths(protocol, bundle.origins)


def area_title(bundle: Bundle, area: str) -> str:
    """What a source file calls itself, in plain text."""
    return about_area(bundle, area)[0]
