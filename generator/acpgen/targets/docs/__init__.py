"""The target `docs`: a protocol version as plain Markdown, one page for each method, area, type and conversation; for a site also one
file.

Every example is validated while the pages are generated. An invalid example is a fault or, with the option `refused-examples`, left out
and listed. Text of the schema reaches a page only through `text`.
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
    """Generate all pages below the prefix, without references to other versions. Raises `Faults` for invalid examples."""
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
    """Collect the contents of a version's pages, before rendering. Raises `Faults`."""
    judge = examples.ExampleJudge(bundle)
    faults = examples.find_refused(judge)
    if faults and settings.options.get("refused-examples") != "leave-out":
        raise Faults(faults)
    schema_examples = examples.collect_examples(protocol, judge)
    generated = examples.generate_examples(protocol, judge, schema_examples)
    return VersionDocs(
        protocol,
        bundle,
        page_paths(protocol, bundle),
        {**schema_examples, **generated},
        frozenset(generated),
        faults,
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
    """Render the pages of a version below the prefix, except those that `paths` replaces.

    `changelog` is the path of the changelog, relative to the folder above all versions. For a site, headings of sections that only
    repeat other content are marked so that the search skips them.
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
    """Render all pages of a version into one file. It is not kept beside the pages, as it only repeats them."""
    folder = _folder(settings)
    pages = (
        content.page(template, Linker(content.paths, path, whole=True), view, folder, (), for_site=True)
        for path, template, view in content.pages()
    )
    return {folder + WHOLE: "\n".join(pages)}


def _folder(settings: Settings) -> str:
    return f"{settings.prefix}/" if settings.prefix else ""


def places(protocol: ir.Protocol, bundle: Bundle, paths: PagePaths) -> Mapping[str, tuple[str, ...]]:
    """The pages of a protocol, relative to its prefix, each with its titles in the navigation, in navigation order. Raises `Faults`."""
    titles = {area: area_title(bundle, area) for area in paths.areas}
    titles_by_page: dict[str, tuple[str, ...]] = {INDEX: ("Overview",), METHODS: ("Methods", "All methods")}
    titles_by_page |= {page: ("Methods", name) for name, page in sorted(paths.methods.items())}
    titles_by_page[TYPES] = ("Types", "All types")
    for area, title in sorted(titles.items(), key=lambda entry: entry[1]):
        titles_by_page[paths.areas[area]] = ("Types", title, "Overview")
        inside = sorted(name for name, there in paths.area_of.items() if there == area)
        titles_by_page |= {paths.types[name]: ("Types", title, name) for name in inside}
    titles_by_page |= {paths.conversations[each.name]: ("Conversations", each.title) for each in scenarios(protocol)}
    return titles_by_page | {CAPABILITIES: ("Capabilities",), ERRORS: ("Error codes",), MESSAGES: ("Messages",)}


def page_paths(protocol: ir.Protocol, bundle: Bundle) -> PagePaths:
    """The page of each method and type of a protocol. Raises `Faults`."""
    return find_page_paths(protocol, bundle.origins)


def area_title(bundle: Bundle, area: str) -> str:
    """The title of a source file, in plain text."""
    return about_area(bundle, area)[0]
