"""The docs inputs of a project: handwritten pages, earlier releases of its protocols, a table of requirements.

    schema/pages/*.md, schema/pages/*/*.md          pages of the docs, some in folders; index.md is the beginning of the home page
    schema/releases/<protocol>/index.json           the stored releases, oldest first; also of a family whose versions are dates
    schema/releases/<protocol>/<version>.json       the published schema without descriptions
    schema/releases/<protocol>/verdicts.json        the computed changes of each release; `acpgen generate` writes it
    schema/requirements.json                        the requirements and what enforces each

All of it is optional.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final

from msgspec import Struct

from acpgen.config.faults import BAD_PROJECT_FILE, UNKNOWN_KEY
from acpgen.errors import Fault, Faults, show, suggest_name
from acpgen.input.faults import NO_FILES
from acpgen.input.form import Form
from acpgen.input.load import Documents, Source, decode, display_path, parse, parse_json, read_bytes, read_folder
from acpgen.pointers import write_pointer

if TYPE_CHECKING:
    from acpgen.ir import JSON


PAGES: Final = "pages"
RELEASES: Final = "releases"
REQUIREMENTS: Final = "requirements.json"
RESERVED: Final = (PAGES, RELEASES)
"""Folders of the schema folder that hold no protocol."""

INDEX: Final = "index.json"
VERDICTS: Final = "verdicts.json"

_KEEP: Final = "Store it with acpgen adopt FILE --keep-as VERSION, or strike the version out"


@dataclass(frozen=True, slots=True)
class Files:
    """The docs inputs as bytes, by path below the schema folder `root` (as shown to users), sorted by path."""

    root: str
    files: tuple[tuple[str, bytes], ...] = field(repr=False)


@dataclass(frozen=True, slots=True)
class Release:
    """A published version of a protocol, in one file. `title` is its displayed name, usually the version itself."""

    version: str
    source: Source = field(repr=False)
    title: str = ""

    @property
    def content(self) -> bytes:
        """The bytes of its file."""
        return self.source.files[0][1]

    @property
    def documents(self) -> Documents:
        """The parsed document of its file; parsed on each access. Raises `Faults`."""
        return parse(self.source)


class Reason(Struct, frozen=True):
    """The reason for differences of a schema from upstream: `at` are definitions (`Name`), members of definitions (`Name.member`), or
    keywords.
    """

    at: tuple[str, ...]
    why: str


@dataclass(frozen=True, slots=True)
class Index:
    """An index of releases: their origin, and their versions, oldest first.

    `dates` has the day (`YYYY-MM-DD`) of each version for which it is known, `titles` the displayed names of some. `differences`, if not
    `None`, means that the releases are upstream's, and gives the reasons for differences of the schema; `None` if their origin is not
    stated. `typescript` is the npm package of upstream's TypeScript SDK, whose types are named like the definitions of the newest release.
    """

    about: str = ""
    versions: tuple[str, ...] = ()
    dates: Mapping[str, str] = field(default_factory=dict[str, str])
    titles: Mapping[str, str] = field(default_factory=dict[str, str])
    differences: tuple[Reason, ...] | None = None
    typescript: str = ""


@dataclass(frozen=True, slots=True)
class Releases(Index):
    """The stored releases of a protocol, oldest first. `verdicts` are the path and content of the file of verdicts on them."""

    releases: tuple[Release, ...] = ()
    verdicts: tuple[str, bytes] | None = field(default=None, repr=False)


@dataclass(frozen=True, slots=True)
class DocsInputs:
    """What a project adds to its docs: `pages` by file name, `releases` by protocol."""

    pages: Mapping[str, str] = field(default_factory=dict[str, str], repr=False)
    releases: Mapping[str, Releases] = field(default_factory=dict[str, Releases])
    requirements: JSON = field(default=None, repr=False)
    root: str = ""


NONE: Final = DocsInputs(MappingProxyType({}), MappingProxyType({}))


def is_docs_input(path: str) -> bool:
    """Whether a path below a project's schema folder belongs to the docs rather than to a protocol."""
    return path == REQUIREMENTS or path.partition("/")[0] in RESERVED


def select_schemas(source: Source) -> Source:
    """The source with only the files that belong to protocols."""
    return replace(source, files=tuple(file for file in source.files if not is_docs_input(file[0])))


def read(schema: Path, protocols: Iterable[str]) -> Files:
    """Read the docs inputs for these protocols, as bytes. Raises `Faults`."""
    protocols = tuple(protocols)
    folders = [(PAGES, ".md"), *((f"{RELEASES}/{protocol}", ".json") for protocol in protocols)]
    inputs: list[tuple[str, bytes]] = []
    faults: list[Fault] = []
    for folder, ending in folders:
        if (schema / folder).is_dir():
            try:
                inputs += [(f"{folder}/{path}", content) for path, content in read_folder(schema / folder, ending)]
            except Faults as caught:  # an empty folder is none
                faults.extend(fault for fault in caught.faults if fault.kind != NO_FILES)
    for family in dict.fromkeys(protocol.rpartition("/")[0] for protocol in protocols):
        folder = f"{RELEASES}/{family}"
        if family and (schema / folder / INDEX).exists():
            files = read_folder(schema / folder, ".json")
            inputs += [(f"{folder}/{path}", content) for path, content in files if "/" not in path]
    if (schema / REQUIREMENTS).exists():
        inputs.append((REQUIREMENTS, read_bytes(schema / REQUIREMENTS)))
    if faults:
        raise Faults(faults)
    return Files(display_path(schema), tuple(sorted(inputs)))


def parse_docs_inputs(files: Files) -> DocsInputs:
    """Parse the docs inputs of a project. Raises `Faults`."""
    faults: list[Fault] = []
    pages: dict[str, str] = {}
    folders: dict[str, dict[str, bytes]] = {}
    requirements: JSON = None
    for path, content in files.files:
        at = f"{files.root}/{path}" if files.root else path
        folder, _, name = path.rpartition("/")
        try:
            if folder.startswith(PAGES):
                pages[path.removeprefix(f"{PAGES}/")] = decode(content, at)
            elif not folder:
                requirements = parse_json(decode(content, at), at)
            else:
                folders.setdefault(folder.removeprefix(f"{RELEASES}/"), {})[name] = content
        except Faults as caught:
            faults.extend(caught.faults)
    releases: dict[str, Releases] = {}
    for protocol, contents in folders.items():
        try:
            releases[protocol] = _read_releases(protocol, contents, f"{files.root}/{RELEASES}/{protocol}".lstrip("/"))
        except Faults as caught:
            faults.extend(caught.faults)
    faults.extend(_find_page_faults(pages, files.root))
    if faults:
        raise Faults(faults)
    return DocsInputs(pages, releases, requirements, files.root)


def parse_index(content: bytes | None, at: str) -> Index:
    """Parse an index of releases; empty without content. Raises `Faults`."""
    if content is None:
        return Index()
    table: Any = parse_json(decode(content, at), at)
    faults = [*find_form_faults(_FORM, table, at, _INDEX_REMEDY)] or [*_find_contradictions(table, at)]
    if faults:
        raise Faults(faults)
    return _FORM.convert(table, Index)


def find_form_faults(form: Form, value: object, at: str, remedy: str) -> Iterator[Fault]:
    """Yield a fault for each violation of the form of a file beside the schemas."""
    for error in form.list_errors(value):
        where = f"{at}{write_pointer(*error.path)}"
        if error.known is not None:
            yield UNKNOWN_KEY(at=where, key=show(error.path[-1]), hint=suggest_name(error.path[-1], error.known))
        else:
            reason = f"this must be {error.expected}" if error.expected else error.reason.removesuffix(".")
            yield BAD_PROJECT_FILE(at=where, reason=reason[:_LONGEST_REASON], remedy=remedy)


def _find_contradictions(table: Mapping[str, Any], at: str) -> Iterator[Fault]:
    """Yield faults of an index that is valid by its form, but contradicts itself."""
    titles = table.get("titles", {})
    for key in ("dates", "titles"):
        for version in table.get(key, {}).keys() - {*table["versions"]}:
            below = f"{at}{write_pointer(key, version)}"
            yield BAD_PROJECT_FILE(at=below, reason="no such version is kept", remedy="Remove it, or list the version")
    if len({titles.get(version, version) for version in table["versions"]}) < len(table["versions"]):
        reason = "two releases have one title"
        yield BAD_PROJECT_FILE(at=f"{at}#/titles", reason=reason, remedy="Give each a title of its own")


_FORM: Final = Form(
    Path(__file__).with_name("releases.schema.json"),
    (("line", lambda text: bool(text.strip()) and text.isprintable()),),
)
_LONGEST_REASON: Final = 200
"""The maximum number of characters of a validator's message that are shown."""

_INDEX_REMEDY: Final = (
    'Write {"about": "…", "versions": ["…"], "dates": {"…": "2026-01-31"}, "titles": {"…": "…"}}, with the dates that are known'
    " and the titles that differ from the version"
)


def _read_releases(protocol: str, contents: Mapping[str, bytes], at: str) -> Releases:
    entry = parse_index(contents.get(INDEX), f"{at}/{INDEX}")
    file_names = {f"{version}.json" for version in entry.versions}
    verdicts = contents.get(VERDICTS)
    faults: list[Fault] = [
        BAD_PROJECT_FILE(
            at=f"{at}/{name}", reason=f"{INDEX} does not list this release", remedy="List it, oldest first"
        )
        for name in contents.keys() - file_names - {INDEX, VERDICTS}
    ]
    faults += [
        BAD_PROJECT_FILE(at=f"{at}/{INDEX}#/versions/{number}", reason=f"there is no file {version}.json", remedy=_KEEP)
        for number, version in enumerate(entry.versions)
        if f"{version}.json" not in contents
    ]
    releases: list[Release] = []
    for version in entry.versions:
        name = f"{version}.json"
        if name in contents:
            source = Source(f"{protocol} {version}", at, ((name, contents[name]),))
            releases.append(Release(version, source, entry.titles.get(version, version)))
    if faults:
        raise Faults(sorted(faults, key=str))
    beside = None if verdicts is None else (f"{at}/{VERDICTS}", verdicts)
    about = {field.name: getattr(entry, field.name) for field in fields(entry)}
    return Releases(**about, releases=tuple(releases), verdicts=beside)


def _find_page_faults(pages: Mapping[str, str], root: str) -> Iterator[Fault]:
    for path, text in pages.items():
        at = f"{root}/{PAGES}/{path}".lstrip("/")
        if path.count("/") > 1:
            yield BAD_PROJECT_FILE(at=at, reason="this page stands in a folder of a folder", remedy="Move it up")
        elif read_title(text) is None:
            yield BAD_PROJECT_FILE(
                at=at, reason="this page has no title", remedy="Begin it with a line such as '# Title'"
            )


def read_title(page: str) -> str | None:
    """The heading with which a page begins; `None` if it does not begin with one."""
    first = next((line for line in page.splitlines() if line.strip()), "")
    return first[2:].strip() or None if first.startswith("# ") else None
