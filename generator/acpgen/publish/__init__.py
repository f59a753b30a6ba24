"""Generate documents about several versions or protocols and their history: docs that link to their counterparts, changelogs, guides.

In: versions, each an IR and a bundle, and the docs inputs of a project. Out: pages. This is the only stage that calls targets and the
compatibility check. `site` builds the pages that it generates.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Final, TypeVar

from acpgen.config.docs_inputs import NONE, DocsInputs
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
    version_comparison,
)
from acpgen.publish import monitor as monitoring
from acpgen.publish.memory import FORGETFUL, Memory
from acpgen.publish.page_requirements import group_requirements
from acpgen.publish.pages import Entry, Page, arrange_navigation, map_texts
from acpgen.publish.requirement_table import Table, parse_table
from acpgen.publish.validation_page import make_scripts
from acpgen.publish.versions import Version, find_extended, find_page_paths, find_successions
from acpgen.targets import docs
from acpgen.targets.docs.page_notes import Origins
from acpgen.targets.docs.page_paths import WHOLE
from acpgen.targets.docs.templates import lay_out
from acpgen.targets.docs.version_docs import VersionDocs
from acpgen.targets.python import construct
from acpgen.targets.python.construct import Constructor

__all__ = ["Entry", "Page", "Version", "arrange_navigation", "make_pages", "make_scripts", "map_texts"]

if TYPE_CHECKING:
    from acpgen.publish.release_verdicts import History

T = TypeVar("T")

_BETWEEN: Final = "Between versions"


def make_pages(
    all_versions: Sequence[Version],
    docs_inputs: DocsInputs = NONE,
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

    def compute_once(kind: str, make: Callable[..., T], *inputs: object, may_lag: bool = True, **options: object) -> T:
        call = partial(make, *inputs, **options)
        return memory.compute_once(kind, (*inputs, *options.values()), call, may_lag=may_lag)

    table = compute_once("table", _read_table, json.dumps(docs_inputs.requirements), docs_inputs.root, may_lag=False)
    versions = [version for version in all_versions if for_site or find_extended(version, all_versions) is None]
    where = find_page_paths(versions, for_site=for_site)
    names = tuple((version.name, version.family) for version in versions)
    past = memory.compute_once("past", (names, docs_inputs.releases), lambda: read_histories(versions, docs_inputs))
    of_name = {version.name: version for version in versions}
    changelogs = {
        name: of_name[name].locate(changelog.PAGE) if name in of_name else f"{name}/{changelog.PAGE}" for name in past
    }
    pages: list[Page] = []
    faults: list[Fault] = []
    for version in versions:
        name, releases = version.name, docs_inputs.releases.get(version.name)
        related = [relative for relative in versions if relative.family == version.family and relative is not version]
        related += filter(None, [find_extended(version, versions)])
        origins = compute_once(
            f"origins {name}", divergences.find_origins, version, past.get(name), releases, docs_inputs.root
        )
        try:
            with version.bundle.limit_steps():
                inputs = (version, past.get(name), table, origins)
                content = compute_once(f"content {name}", _build_content, *inputs, may_lag=False)
                version_pages = compute_once(
                    f"pages {name}",
                    docs.write_pages,
                    content,
                    version_comparison.find_other_versions(version, related, where),
                    where[name],
                    may_lag=False,
                    changelog=changelogs.get(name, changelogs.get(version.family, "")),
                    for_site=for_site,
                )
                for page in version_pages:
                    source = version.at(page.source).partition("#")[0] if page.source else ""
                    pages.append(replace(page, place=(name, *page.place), source=source))
                if for_site:
                    pages.append(compute_once(f"single file {name}", docs.write_single_file, content))
        except Faults as caught:
            faults.extend(fault.move_to(version.at(fault.at)) for fault in caught.faults)
    if faults:
        raise Faults(faults)
    for name, path in changelogs.items():
        subject = (name, past[name], docs_inputs.releases[name].about, path, of_name.get(name), where.get(name))
        text = compute_once(f"changelog {name}", changelog.write_page, *subject, has_own=for_site)
        place, about = (_BETWEEN, f"{name}: changelog"), f"Changelog of {name}"
        pages.append(Page(path, text, (name, "Changelog")) if name in of_name else Page(path, text, place, about))
    for old, new in find_successions(versions):
        title = f"{old.name} to {new.name}"
        path = f"{old.family}/changes-{old.name.rpartition('/')[2]}-{new.name.rpartition('/')[2]}.md"
        try:
            guide = compute_once(f"guide {path}", _make_guide, old, new, title, cache)
        except Faults as caught:
            raise Faults([fault.move_to(new.at(fault.at)) for fault in caught.faults]) from None
        text = compute_once(f"changes {path}", version_comparison.write_page, old, new, path, guide[0].path, where)
        place = (_BETWEEN, f"{title}: differences")
        pages += (Page(path, text, place, about=f"What differs from {title}"), *guide)
    checked: Mapping[str, str] = {}
    rules: list[Page] = []
    if any(map(monitoring.is_known, versions)):
        words: monitoring.Requirements = {} if table is None else requirements.map_words(table)
        rules = compute_once("monitor", monitoring.write_pages, versions, words, for_site=for_site)
        checked = monitoring.map_pages(for_site=for_site)
    if table is not None:
        demanded = compute_once(
            "requirements", requirements.write_pages, table, all_versions, where, checked, for_site=for_site
        )
        rules = [*demanded, *rules]
    pages += compute_once("reference", reference.write_pages, python, may_lag=False)
    if for_site and validation_page.find_supported_versions(versions):
        text = compute_once("judging", validation_page.write_page, versions, checked)
        pages.append(Page(validation_page.PAGE, text, ("Judge messages",), about="Judge messages in the browser"))
    if for_site:
        pages += compute_once("schemas", schemas.write_pages, versions)
    pages += [*rules, *compute_once("rules", _write_rules, may_lag=False, for_site=for_site)]
    paths = {page.path for page in pages}
    home = [
        {
            "name": version.name,
            "doc": version.protocol.doc,
            "pages": {page.removesuffix(".md"): where[version.name].locate(page) for page in docs.FIXED},
            "whole": version.locate(WHOLE) if version.locate(WHOLE) in paths else "",
            "changelog": changelogs.get(version.name, changelogs.get(version.family, "")),
        }
        for version in versions
    ]
    own_pages = project_pages.read_project_pages(docs_inputs, paths)
    if for_site:
        own_pages = [
            compute_once(f"used {page.path}", reference.add_links, python, page, may_lag=False) for page in own_pages
        ]
    return project_pages.add_home_page(docs_inputs, [*own_pages, *pages], home)


def _read_table(requirements_text: str, root: str) -> Table | None:
    """The requirements of the project; `None` if it has no table of them. Raises `Faults`."""
    value = json.loads(requirements_text)
    return None if value is None else parse_table(value, f"{root}/requirements.json".lstrip("/"))


def _build_content(version: Version, history: History | None, table: Table | None, origins: Origins) -> VersionDocs:
    from acpgen.publish.first_releases import find_availability

    protocol, package = version.protocol, version.settings.package
    has_examples = package and protocol.envelope == "json-rpc"
    return docs.build(
        protocol,
        version.bundle,
        version.settings,
        find_availability(version, history),
        None if table is None else group_requirements(table, version),
        origins,
        partial(construct.write_example, Constructor(protocol, package)) if has_examples else None,
    )


def _make_guide(old: Version, new: Version, title: str, cache: Cache) -> list[Page]:
    """The pages of the migration guide, the first page first. Raises `Faults`."""
    from acpgen.compat.protocol.revision import SchemaRevision
    from acpgen.publish.migration import make_guide

    guide = make_guide(SchemaRevision(old.protocol, old.bundle), SchemaRevision(new.protocol, new.bundle), cache)
    has_tasks = any(move.does for move in new.bundle.moves.values())
    first = "Checklists" if has_tasks else "Overview"
    return [
        Page(
            f"{old.family}/{path}",
            text,
            (_BETWEEN, f"{title}: migration guide", area or first),
            about="" if area else f"Migration guide: {title}",
        )
        for path, (area, text) in guide.items()
    ]


def _write_rules(*, for_site: bool) -> list[Page]:
    """The pages about rules that are the same for every project; a page for each compatibility rule only with `for_site`."""
    from acpgen.compat import catalogue
    from acpgen.input.dialect import describe_expected_value, read_keywords

    group = ("Rules", "Compatibility rules")
    about = "How versions are compared: the compatibility rules"
    index = Page(catalogue.INDEX, catalogue.as_markdown(linked=for_site), (*group, "All rules"), about=about)
    text = lay_out("dialect", keywords=read_keywords(), expect=describe_expected_value)
    dialect = Page("dialect.md", text, ("Rules", "Keywords of the dialect"), about="What acpgen adds to JSON Schema")
    lint = Page(lint_rules.PAGE, lint_rules.write_page(), ("Rules", "Lint rules"), about="The rules of lint")
    rule_pages = [
        Page(rule.page, catalogue.write_page(rule), (*group, rule.id)) for rule in catalogue.list_rules() if for_site
    ]
    return [dialect, lint, index, *rule_pages]
