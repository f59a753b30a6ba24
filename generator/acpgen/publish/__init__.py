"""Documents about several versions or protocols, and about their past: each version with the way to its counterpart, changelogs, guides.

This is the only stage that calls targets and the compatibility check.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from types import MappingProxyType
from typing import Final, TypeVar

from acpgen.config.docs_inputs import NONE, Material
from acpgen.config.docs_inputs import title as title_of
from acpgen.errors import Fault, Faults
from acpgen.files.cache import FORGETFUL, NO_CACHE, Cache, Memory
from acpgen.publish import (
    changelog,
    changes,
    in_browser,
    lint_rules,
    pages,
    reference,
    requirements,
    schemas,
    upstream,
)
from acpgen.publish import monitor as monitoring
from acpgen.publish.channels import VersionPaths, find_page_paths
from acpgen.publish.in_browser import scripts
from acpgen.publish.page_requirements import requirements_by_page
from acpgen.publish.pages import Entry
from acpgen.publish.table import Table
from acpgen.publish.version_comparison import other_versions
from acpgen.publish.versions import INDEX, Version, extended, successions
from acpgen.targets import docs
from acpgen.targets.docs.origin_notes import Origins
from acpgen.targets.docs.requirement_notes import NO_REQUIREMENTS, RequirementNotes
from acpgen.targets.python import construct
from acpgen.targets.python.construct import Constructor

__all__ = ["Entry", "Version", "documents", "navigation", "scripts", "sources"]

T = TypeVar("T")

HOME: Final = INDEX
RULES: Final = "compatibility.md"
MACHINES: Final = "llms.txt"

NO_FILES: Final[Mapping[str, str]] = MappingProxyType({})

_SAID_ONCE: Final = (("Error codes", "errors.md"), ("Messages", "messages.md"))
"""Pages that a version which extends another one may share with it."""


def documents(
    versions: Sequence[Version],
    material: Material = NONE,
    *,
    for_site: bool = False,
    python: reference.Library = reference.NOTHING,
    memory: Memory = FORGETFUL,
    cache: Cache = NO_CACHE,
) -> Mapping[str, str]:
    """The docs of all versions, and what is about several of them: home page, changelogs, what differs between versions, the rules of
    the compatibility check and of the monitor, the requirements, and the pages that the project adds.

    These are the pages that people read in a repository, without a version that extends another one. `for_site` adds that, the pages of
    types and of rules, marks for its search to headings, each version as one file, the page that judges messages in the browser and the
    API of `python`. What has the inputs of the last time is taken from `memory`, what the check found in an earlier run from `cache`.
    Raises `Faults`.
    """
    from acpgen.publish.first_releases import find_availability
    from acpgen.publish.history import histories

    def once(kind: str, make: Callable[..., T], *inputs: object, may_lag: bool = True, **options: object) -> T:
        made = partial(make, *inputs, **options)
        return memory.once(kind, (*inputs, *options.values()), made, may_lag=may_lag)

    table, every = _read(material, memory), versions
    versions = [version for version in every if for_site or extended(version, every) is None]
    where = find_page_paths(versions, for_site=for_site)
    named = tuple((version.protocol.name, version.family) for version in versions)
    past = memory.once("past", (named, material.releases), lambda: histories(versions, material))
    files: dict[str, str] = {}
    faults: list[Fault] = []
    for version in versions:
        name = version.protocol.name
        others = [other for other in versions if other.family == version.family and other is not version]
        others += filter(None, [extended(version, versions)])
        releases = material.releases.get(name)
        origins = once(f"origins {name}", upstream.origins, version, past.get(name), releases, material.root)
        try:
            with version.bundle.bounded():
                known = find_availability(version, past.get(name))
                required = requirements_by_page(table, version) if table is not None else NO_REQUIREMENTS
                content = once(f"content {name}", _content, version, known, required, origins, may_lag=False)
                files |= once(
                    f"pages {name}",
                    docs.write_pages,
                    content,
                    version.settings,
                    other_versions(version, others, where),
                    where[name],
                    may_lag=False,
                    changelog=_changelog_of(version, past),
                    for_site=for_site,
                )
                if for_site:
                    files |= once(f"single file {name}", docs.write_single_file, content, version.settings)
        except Faults as caught:
            faults.extend(fault.move_to(version.at(fault.at)) for fault in caught.faults)
    if faults:
        raise Faults(faults)
    for version in versions:
        name, path = version.protocol.name, version.path(changelog.PAGE)
        if name in past:
            told = (name, past[name], path, RULES, version, where[name])
            files[path] = once(f"changelog {name}", changelog.page, *told, has_own=for_site)
    for name in _families(versions, material):
        files[_changelog(name)] = changelog.page(name, past[name], _changelog(name), RULES, has_own=False)
    for old, new in successions(versions):
        path = changes.name(old, new)
        files[path] = once(f"changes {path}", changes.page, old, new, path, _guide(old, new), where)
        try:
            files |= once(f"guide {path}", _guided, old, new, cache)
        except Faults as caught:
            raise Faults([fault.move_to(new.at(fault.at)) for fault in caught.faults]) from None
    files |= once("rules", _rules, may_lag=False, for_site=for_site)
    checked: Mapping[str, str] = {}
    if any(map(monitoring.is_known, versions)):
        words: monitoring.Requirements = {} if table is None else requirements.words_by_id(table)
        files |= once("monitor", monitoring.pages, versions, words, for_site=for_site)
        checked = monitoring.paths(for_site=for_site)
    if table is not None:
        files |= once("requirements", requirements.pages, table, every, where, checked, for_site=for_site)
    if for_site and in_browser.supported(versions):
        files[in_browser.PAGE] = once("judging", in_browser.page, versions, checked)
    if for_site:
        files |= once("schemas", schemas.pages, versions)
    files.update(pages.added(material, files))
    if for_site:
        for path in filter(files.__contains__, material.pages):
            used = once(f"used {path}", reference.link_imports, python, files[path], path, may_lag=False)
            files[path] += f"\n{used}" if used is not None else ""
        files |= once("reference", reference.pages, python, may_lag=False)
    listed, above = _listed(versions, where, past, files), _above(versions, material, files)
    linked = pages.linked(material)
    more = [(title, path) for title, path in above if path not in linked]
    files[HOME] = docs.lay_out("home", path=HOME, head=pages.head(material), versions=listed, pages=more)
    files[MACHINES] = docs.lay_out("llms.txt", path=MACHINES, versions=listed, pages=above)
    pages.require_links(material, files)
    return files


def navigation(
    versions: Sequence[Version],
    material: Material = NONE,
    python: reference.Library = reference.NOTHING,
    sections: pages.Sections = (),
    memory: Memory = FORGETFUL,
    made: Mapping[str, str] = NO_FILES,
) -> list[Entry]:
    """How the pages hang together: a group for each version with its methods and, by area, its types; the areas of migration guides as
    far as they are among the `made` pages; all that arranged by `sections`. Raises `Faults`.
    """
    from acpgen.compat import catalogue

    found: list[Entry] = [("Home", HOME), *pages.navigation(material)]
    found += reference.navigation(python)
    if in_browser.supported(versions):
        found.append(("Judge messages", in_browser.PAGE))
    found.append(("JSON Schemas", schemas.PAGE))
    version_paths = find_page_paths(versions, for_site=True)
    for version in versions:
        where = version_paths[version.protocol.name]
        areas: list[Entry] = []
        for area, page in filter(lambda each: each[1] not in where.replacements, where.areas.items()):
            types = [(name, where.types[name]) for name, found in where.area_of.items() if found == area]
            inside = sorted((name, version.path(each)) for name, each in types if each not in where.replacements)
            areas.append((docs.area_title(version.bundle, area), [("Overview", version.path(page)), *inside]))
        plans = [(plan.title, where.conversations[plan.name]) for plan in docs.scenarios(version.protocol)]
        conversations: list[Entry] = [
            (title, version.path(page)) for title, page in plans if page not in where.replacements
        ]
        methods = sorted(
            (name, version.path(page)) for name, page in where.methods.items() if page not in where.replacements
        )
        has_past = _has_past(version.protocol.name, material)
        history: list[Entry] = [("Changelog", version.path(changelog.PAGE))] if has_past else []
        found.append(
            (
                version.protocol.name,
                [
                    ("Overview", version.home()),
                    ("Methods", [("All methods", version.path("methods.md")), *methods]),
                    ("Types", [("All types", version.path("types.md")), *sorted(areas, key=lambda entry: entry[0])]),
                    *([("Conversations", conversations)] if conversations else []),
                    ("Capabilities", version.path("capabilities.md")),
                    *((title, version.path(page)) for title, page in _SAID_ONCE if page not in where.replacements),
                    *history,
                ],
            )
        )
    between: list[Entry] = []
    between += [(f"{name}: changelog", _changelog(name)) for name in _families(versions, material)]
    for old, new in successions(versions):
        title = f"{old.protocol.name} to {new.protocol.name}"
        first = _guide(old, new)
        areas = [(_area(text), path) for path, text in made.items() if path.startswith(f"{first.removesuffix('.md')}/")]
        has_tasks = any(move.does for move in new.bundle.moves.values())
        told = [("Checklists" if has_tasks else "Overview", first), *areas]
        between += [(f"{title}: differences", changes.name(old, new)), (f"{title}: migration guide", told)]
    if between:
        found.append(("Between versions", between))
    rules: list[Entry] = []
    table = _read(material, memory)
    if table is not None:
        each: list[Entry] = [*requirements.areas(table).items()]
        rules = [("Requirements", [("All requirements", requirements.PAGE), *each])]
    if any(map(monitoring.is_known, versions)):
        rules.append(("Monitor rules", [("All rules", monitoring.PAGE), *monitoring.navigation()]))
    each_rule: list[Entry] = [(entry.id, entry.page) for entry in catalogue.catalogue()]
    rules.append(("Lint rules", lint_rules.PAGE))
    found.append(("Rules", [*rules, ("Compatibility rules", [("All rules", RULES), *each_rule])]))
    return pages.arrange(found, sections)


def sources(
    versions: Sequence[Version], material: Material = NONE, python: reference.Library = reference.NOTHING
) -> Mapping[str, str]:
    """The file that a page is made from, where it is one that people edit: schema files of methods, types and areas, Python, pages by
    hand.
    """
    found = {path: pages.source(material, path) for path in material.pages} | {**reference.sources(python)}
    version_paths = find_page_paths(versions, for_site=True)
    for version in versions:
        where = version_paths[version.protocol.name]
        definitions = version.protocol.definitions
        files = {where.types[name]: definitions[name].at for name in definitions}
        files |= {where.methods[method.name]: method.at for method in version.protocol.methods}
        found |= {
            version.path(path): version.at(at).partition("#")[0]
            for path, at in files.items()
            if at and path not in where.replacements
        }
    return found


def _content(
    version: Version, known: docs.Availability, required: RequirementNotes, origins: Origins
) -> docs.VersionDocs:
    return docs.build(version.protocol, version.bundle, version.settings, known, required, origins, _snippets(version))


def _requirements(material: Material) -> Table | None:
    """The requirements of the project, as far as it has a table of them. Raises `Faults`."""
    if material.requirements is None:
        return None
    return requirements.parse(material.requirements, _table(material))


def _read(material: Material, memory: Memory) -> Table | None:
    """The requirements of the project, read once while they are the same. Raises `Faults`."""
    written = (json.dumps(material.requirements), _table(material))
    return memory.once("table", written, lambda: _requirements(material))


def _rules(*, for_site: bool) -> Mapping[str, str]:
    """The pages about rules that are the same for every project; that of each rule is for a site."""
    from acpgen.compat import catalogue

    each: Mapping[str, str] = catalogue.pages() if for_site else {}
    return {RULES: catalogue.as_markdown(linked=for_site), **each, lint_rules.PAGE: lint_rules.page()}


def _snippets(version: Version) -> docs.Snippets | None:
    """What writes the examples of a version with its Python package; `None` where it has none."""
    if not version.settings.package or version.protocol.envelope != "json-rpc":
        return None
    return partial(construct.example, Constructor(version.protocol, version.settings.package))


def _table(material: Material) -> str:
    """The file of the requirements, as people know it."""
    return f"{material.root}/requirements.json".lstrip("/")


def _above(versions: Sequence[Version], material: Material, files: Mapping[str, str]) -> list[tuple[str, str]]:
    """Title and path of the pages that stand above versions, for the home page and for machines."""
    found = [(title_of(text) or path, path) for path, text in material.pages.items() if path != HOME]
    for old, new in successions(versions):
        title = f"{old.protocol.name} to {new.protocol.name}"
        found.append((f"What differs from {title}", changes.name(old, new)))
        found.append((f"Migration guide: {title}", _guide(old, new)))
    found += [(f"Changelog of {name}", _changelog(name)) for name in _families(versions, material)]
    rules = (
        ("The Python API, module by module", reference.INDEX),
        ("Judge messages in the browser", in_browser.PAGE),
        ("Download the JSON Schemas", schemas.PAGE),
        ("The requirements of the documents, and what checks each", requirements.PAGE),
        ("The rules of the monitor", monitoring.PAGE),
        ("The rules of lint", lint_rules.PAGE),
        ("How versions are compared: the compatibility rules", RULES),
    )
    return [*found, *((title, path) for title, path in rules if path in files)]


def _listed(
    versions: Sequence[Version], where: VersionPaths, past: Mapping[str, object], files: Mapping[str, str]
) -> list[dict[str, object]]:
    return [
        {
            "name": version.protocol.name,
            "doc": version.protocol.doc,
            "pages": {
                page.removesuffix(".md"): version.path(where[version.protocol.name].address(page))
                for page in docs.FIXED
            },
            "whole": whole if (whole := version.path(docs.WHOLE)) in files else "",
            "changelog": _changelog_of(version, past),
        }
        for version in versions
    ]


def _has_past(name: str, material: Material) -> bool:
    """Whether releases of a protocol, or of a family, are kept."""
    return name in material.releases and bool(material.releases[name].releases)


def _changelog(family: str) -> str:
    """The changelog of a family whose versions are releases of one protocol."""
    return f"{family}/{changelog.PAGE}"


def _changelog_of(version: Version, past: Mapping[str, object]) -> str:
    """The changelog of a version, or of its family; empty where no release is kept of either."""
    if version.protocol.name in past:
        return version.path(changelog.PAGE)
    return _changelog(version.family) if version.family in past else ""


def _families(versions: Sequence[Version], material: Material) -> list[str]:
    """The families whose versions are kept as releases of one protocol."""
    names = {version.protocol.name for version in versions}
    return [
        each
        for each in dict.fromkeys(version.family for version in versions)
        if each not in names and _has_past(each, material)
    ]


def _guided(old: Version, new: Version, cache: Cache) -> Mapping[str, str]:
    """The pages of the migration guide. Raises `Faults`."""
    from acpgen.compat.protocol.revision import SchemaRevision
    from acpgen.publish.migration import guide

    made = guide(SchemaRevision(old.protocol, old.bundle), SchemaRevision(new.protocol, new.bundle), cache)
    return {old.beside(path): text for path, text in made.items()}


def _area(text: str) -> str:
    """The area of which a page of a migration guide tells, by its title."""
    return (title_of(text) or "").rpartition(": ")[0]


def _guide(old: Version, new: Version) -> str:
    """The first page of the guide."""
    from acpgen.publish.migration import first_page

    return old.beside(first_page(old.protocol.name, new.protocol.name))
