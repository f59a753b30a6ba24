"""Generate documents about several versions or protocols and their history: docs that link to their counterparts, changelogs, guides.

This is the only stage that calls targets and the compatibility check. `site` builds the pages that it generates.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Final, TypeVar

from acpgen.config.docs_inputs import NONE, Material
from acpgen.errors import Fault, Faults
from acpgen.files.cache import NO_CACHE, Cache
from acpgen.publish import (
    changelog,
    divergences,
    lint_rules,
    project_pages,
    reference,
    requirements,
    schemas,
    validation_page,
    version_differences,
)
from acpgen.publish import monitor as monitoring
from acpgen.publish.channels import VersionPaths, find_page_paths
from acpgen.publish.memory import FORGETFUL, Memory
from acpgen.publish.page_requirements import requirements_by_page
from acpgen.publish.pages import Entry, Page, arrange_navigation, map_texts
from acpgen.publish.requirement_table import Table
from acpgen.publish.validation_page import make_scripts
from acpgen.publish.version_comparison import find_other_versions
from acpgen.publish.versions import Version, find_extended, find_successions
from acpgen.targets import docs
from acpgen.targets.docs.page_notes import NO_REQUIREMENTS, Origins
from acpgen.targets.docs.page_paths import WHOLE, PagePaths
from acpgen.targets.docs.version_docs import Snippets, VersionDocs
from acpgen.targets.python import construct
from acpgen.targets.python.construct import Constructor

__all__ = ["Entry", "Page", "Version", "arrange_navigation", "make_pages", "make_scripts", "map_texts"]

if TYPE_CHECKING:
    from acpgen.publish.release_verdicts import History

T = TypeVar("T")

RULES: Final = "compatibility.md"
_BETWEEN: Final = "Between versions"


def make_pages(
    every: Sequence[Version],
    material: Material = NONE,
    *,
    for_site: bool = False,
    python: reference.Library = reference.NOTHING,
    memory: Memory = FORGETFUL,
    cache: Cache = NO_CACHE,
) -> list[Page]:
    """Generate the docs of all versions and the pages about several of them, in the order of the navigation.

    The latter are the home page, changelogs, the differences between versions, the rules of the compatibility check and of the monitor,
    the requirements, and the pages that the project adds.

    By default these are the pages that people read in a repository, without versions that extend another one. `for_site` adds such
    versions, the pages of types and of rules, search marks on headings, each version as a single file, the page that validates messages
    in the browser, and the API of `python`. Results whose inputs are unchanged come from `memory`, findings of the check in an earlier
    run from `cache`. Raises `Faults`.
    """
    from acpgen.publish.release_verdicts import read_histories
    from acpgen.targets.docs.templates import use_compiled

    use_compiled(cache)

    def once(kind: str, make: Callable[..., T], *inputs: object, may_lag: bool = True, **options: object) -> T:
        call = partial(make, *inputs, **options)
        return memory.once(kind, (*inputs, *options.values()), call, may_lag=may_lag)

    table = once("table", _read_table, json.dumps(material.requirements), material.root, may_lag=False)
    versions = [version for version in every if for_site or find_extended(version, every) is None]
    where = find_page_paths(versions, for_site=for_site)
    version_names = tuple((version.protocol.name, version.family) for version in versions)
    past = memory.once("past", (version_names, material.releases), lambda: read_histories(versions, material))
    pages: list[Page] = []
    faults: list[Fault] = []
    for version in versions:
        name = version.protocol.name
        others = [other for other in versions if other.family == version.family and other is not version]
        others += filter(None, [find_extended(version, versions)])
        releases = material.releases.get(name)
        origins = once(f"origins {name}", divergences.find_origins, version, past.get(name), releases, material.root)
        try:
            with version.bundle.bounded():
                content = once(
                    f"content {name}", _build_content, version, past.get(name), table, origins, may_lag=False
                )
                texts = once(
                    f"pages {name}",
                    docs.write_pages,
                    content,
                    version.settings,
                    find_other_versions(version, others, where),
                    where[name],
                    may_lag=False,
                    changelog=_find_changelog(version, past),
                    for_site=for_site,
                )
                pages += _pages_of_version(version, where[name], texts)
                if for_site:
                    whole = once(f"single file {name}", docs.write_single_file, content, version.settings)
                    pages += (Page(path, text) for path, text in whole.items())
        except Faults as caught:
            faults.extend(fault.move_to(version.at(fault.at)) for fault in caught.faults)
            continue
        if name in past:
            path = version.path(changelog.PAGE)
            inputs = (name, past[name], material.releases[name].about, path, RULES, version, where[name])
            text = once(f"changelog {name}", changelog.write_page, *inputs, has_own=for_site)
            pages.append(Page(path, text, (name, "Changelog")))
    if faults:
        raise Faults(faults)
    for name in dict.fromkeys(version.family for version in versions):
        if name in past and name not in where:
            path = f"{name}/{changelog.PAGE}"
            text = changelog.write_page(name, past[name], material.releases[name].about, path, RULES, has_own=False)
            pages.append(Page(path, text, (_BETWEEN, f"{name}: changelog"), about=f"Changelog of {name}"))
    for old, new in find_successions(versions):
        path, title = version_differences.name_page(old, new), f"{old.protocol.name} to {new.protocol.name}"
        try:
            guide = once(f"guide {path}", _make_guide, old, new, title, cache)
        except Faults as caught:
            raise Faults([fault.move_to(new.at(fault.at)) for fault in caught.faults]) from None
        text = once(f"changes {path}", version_differences.write_page, old, new, path, guide[0].path, where)
        place = (_BETWEEN, f"{title}: differences")
        pages += (Page(path, text, place, about=f"What differs from {title}"), *guide)
    checked: Mapping[str, str] = {}
    rules: list[Page] = []
    if any(map(monitoring.is_known, versions)):
        words: monitoring.Requirements = {} if table is None else requirements.map_words(table)
        rules = once("monitor", monitoring.write_pages, versions, words, for_site=for_site)
        checked = monitoring.map_pages(for_site=for_site)
    if table is not None:
        demanded = once("requirements", requirements.write_pages, table, every, where, checked, for_site=for_site)
        rules = [*demanded, *rules]
    pages += once("reference", reference.write_pages, python, may_lag=False)
    if for_site and validation_page.find_supported_versions(versions):
        text = once("judging", validation_page.write_page, versions, checked)
        pages.append(Page(validation_page.PAGE, text, ("Judge messages",), about="Judge messages in the browser"))
    if for_site:
        pages += once("schemas", schemas.write_pages, versions)
    pages += [*rules, *once("rules", _write_rules, may_lag=False, for_site=for_site)]
    own_pages = project_pages.read_project_pages(material, {page.path for page in pages})
    if for_site:
        own_pages = [once(f"used {page.path}", reference.add_links, python, page, may_lag=False) for page in own_pages]
    return project_pages.add_home_page(material, [*own_pages, *pages], _list_versions(versions, where, past, pages))


def _read_table(requirements_text: str, root: str) -> Table | None:
    """The requirements of the project; `None` if it has no table of them. Raises `Faults`."""
    value = json.loads(requirements_text)
    return None if value is None else requirements.parse_table(value, f"{root}/requirements.json".lstrip("/"))


def _build_content(version: Version, history: History | None, table: Table | None, origins: Origins) -> VersionDocs:
    from acpgen.publish.first_releases import find_availability

    return docs.build(
        version.protocol,
        version.bundle,
        version.settings,
        find_availability(version, history),
        requirements_by_page(table, version) if table is not None else NO_REQUIREMENTS,
        origins,
        _make_snippets(version),
    )


def _make_snippets(version: Version) -> Snippets | None:
    """The function that writes the examples of a version with its Python package; `None` if it has no package."""
    if not version.settings.package or version.protocol.envelope != "json-rpc":
        return None
    return partial(construct.example, Constructor(version.protocol, version.settings.package))


def _pages_of_version(version: Version, paths: PagePaths, texts: Mapping[str, str]) -> Iterator[Page]:
    """The pages of a version in the order of the navigation, each with the source file of its method or type."""
    protocol = version.protocol
    at = {paths.types[name]: definition.at for name, definition in protocol.definitions.items()}
    at |= {paths.methods[method.name]: method.at for method in protocol.methods}
    for page, place in docs.places(protocol, version.bundle, paths).items():
        if page not in paths.replacements:
            source = version.at(at[page]).partition("#")[0] if at.get(page) else ""
            path = version.path(page)
            yield Page(path, texts[path], (protocol.name, *place), source=source)


def _make_guide(old: Version, new: Version, title: str, cache: Cache) -> list[Page]:
    """The pages of the migration guide, the first page first. Raises `Faults`."""
    from acpgen.compat.protocol.revision import SchemaRevision
    from acpgen.publish.migration import make_guide

    guide = make_guide(SchemaRevision(old.protocol, old.bundle), SchemaRevision(new.protocol, new.bundle), cache)
    has_tasks = any(move.does for move in new.bundle.moves.values())
    first = "Checklists" if has_tasks else "Overview"
    return [
        Page(
            old.beside(path),
            text,
            (_BETWEEN, f"{title}: migration guide", area or first),
            about="" if area else f"Migration guide: {title}",
        )
        for path, (area, text) in guide.items()
    ]


def _write_rules(*, for_site: bool) -> list[Page]:
    """The pages about rules that are the same for every project; a page for each compatibility rule only with `for_site`."""
    from acpgen.compat import catalogue

    group = ("Rules", "Compatibility rules")
    about = "How versions are compared: the compatibility rules"
    every = Page(RULES, catalogue.as_markdown(linked=for_site), (*group, "All rules"), about=about)
    lint = Page(lint_rules.PAGE, lint_rules.write_page(), ("Rules", "Lint rules"), about="The rules of lint")
    each = [Page(rule.page, catalogue.page(rule), (*group, rule.id)) for rule in catalogue.catalogue() if for_site]
    return [lint, every, *each]


def _list_versions(
    versions: Sequence[Version], where: VersionPaths, past: Mapping[str, object], pages: Sequence[Page]
) -> list[dict[str, object]]:
    """The content of the home page for each version."""
    paths = {page.path for page in pages}
    return [
        {
            "name": version.protocol.name,
            "doc": version.protocol.doc,
            "pages": {
                page.removesuffix(".md"): version.path(where[version.protocol.name].address(page))
                for page in docs.FIXED
            },
            "whole": whole if (whole := version.path(WHOLE)) in paths else "",
            "changelog": _find_changelog(version, past),
        }
        for version in versions
    ]


def _find_changelog(version: Version, past: Mapping[str, object]) -> str:
    """The path of the changelog of a version or of its family; empty if neither has releases."""
    if version.protocol.name in past:
        return version.path(changelog.PAGE)
    return f"{version.family}/{changelog.PAGE}" if version.family in past else ""
