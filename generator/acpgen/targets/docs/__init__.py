"""The target `docs`: a protocol version as plain Markdown, one page for each method, area, type and conversation; for a site also one
file.

Every example is validated while the pages are generated. An invalid example is a fault or, with the option `refused-examples`, left out
and listed. Text of the schema reaches a page only through `text`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from acpgen import ir
from acpgen.bundle.bundle import Bundle
from acpgen.errors import Faults
from acpgen.targets.docs import examples
from acpgen.targets.docs.page_notes import NO_AVAILABILITY, NO_ORIGINS, Availability, Origins, RequirementNote
from acpgen.targets.docs.page_paths import FIXED, WHOLE, Linker, Page, PagePaths, find_page_paths
from acpgen.targets.docs.version_docs import OtherVersions, Snippets, VersionDocs
from acpgen.targets.interface import Settings
from acpgen.targets.options import Option

__all__ = ["FIXED", "OPTIONS", "build", "find_page_paths", "render", "write_pages", "write_single_file"]

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
    return {page.path: page.text for page in write_pages(build(protocol, bundle, settings), {})}


def build(
    protocol: ir.Protocol,
    bundle: Bundle,
    settings: Settings,
    availability: Availability = NO_AVAILABILITY,
    requirements: Mapping[str, Sequence[RequirementNote]] | None = None,
    origins: Origins = NO_ORIGINS,
    snippets: Snippets | None = None,
) -> VersionDocs:
    """Collect the contents of a version's pages, before rendering; `requirements` are those on each page. Raises `Faults`."""
    judge = examples.ExampleJudge(bundle)
    faults = examples.find_refused(judge)
    if faults and settings.options.get("refused-examples") != "leave-out":
        raise Faults(faults)
    schema_examples = examples.collect_examples(protocol, judge)
    generated = examples.generate_examples(protocol, judge, schema_examples)
    return VersionDocs(
        protocol,
        bundle,
        find_page_paths(protocol, bundle, settings.prefix),
        {**schema_examples, **generated},
        frozenset(generated),
        faults,
        availability,
        requirements or {},
        origins,
        snippets,
        settings.module,
    )


def write_pages(
    content: VersionDocs,
    others: OtherVersions,
    paths: PagePaths | None = None,
    *,
    changelog: str = "",
    for_site: bool = False,
) -> list[Page]:
    """Write the pages of a version in the order of the navigation, except those that `paths` replaces.

    `changelog` is the path of the changelog, relative to the folder above all versions. For a site, headings of sections that only
    repeat other content are marked so that the search skips them.
    """
    paths = paths or content.paths
    pages: list[Page] = []
    for outline in content.list_outlines():
        if outline.path not in paths.replacements:
            linker = Linker(paths, outline.path, types=outline.values.get("shown", frozenset()))
            others_here = others.get(outline.path, ())
            text = content.write(outline, linker, others_here, changelog=changelog, for_site=for_site)
            pages.append(Page(paths.locate(outline.path), text, outline.place, source=outline.at))
    return pages


def write_single_file(content: VersionDocs) -> Page:
    """Write all pages of a version into one file. It is not kept beside the pages, as it only repeats them."""
    pages = (
        content.write(outline, Linker(content.paths, outline.path, whole=True), (), for_site=True)
        for outline in content.list_outlines()
    )
    return Page(content.paths.locate(WHOLE), "\n".join(pages))
