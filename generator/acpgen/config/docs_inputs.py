"""What a project adds to its docs beside the schemas: pages written by hand, earlier releases of its protocols, a table of requirements.

    schema/pages/*.md, schema/pages/*/*.md          pages of the docs, some in folders; index.md is the head of the home page
    schema/releases/<protocol>/index.json           the releases that are kept, oldest first; of a family too, whose versions are dates
    schema/releases/<protocol>/<version>.json       what was published then: facts alone, without descriptions
    schema/releases/<protocol>/verdicts.json        what each release changed, computed: `acpgen generate` writes it
    schema/requirements.json                        the requirements and what enforces each

All of it may be absent.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final

from acpgen.config.faults import BAD_MATERIAL, UNKNOWN_KEY
from acpgen.errors import Fault, Faults, did_you_mean, shown
from acpgen.input.faults import NO_FILES
from acpgen.input.form import Form
from acpgen.input.load import Documents, Source, decode, parse, parse_json, place, read_bytes, read_folder
from acpgen.pointers import pointer

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
    """The material as bytes, by path below the schema folder `root` (as people know it), in the order of the paths."""

    root: str
    files: tuple[tuple[str, bytes], ...] = field(repr=False)


@dataclass(frozen=True, slots=True)
class Release:
    """A protocol as it was published under a version: one file. `title` is what readers know it by, mostly the version itself."""

    version: str
    source: Source = field(repr=False)
    title: str = ""

    @property
    def content(self) -> bytes:
        """The bytes of its file."""
        return self.source.files[0][1]

    @property
    def documents(self) -> Documents:
        """What its file holds, read now. Raises `Faults`."""
        return parse(self.source)


@dataclass(frozen=True, slots=True)
class Reason:
    """Why a schema differs from upstream: `at` are definitions (`Name`), members of them (`Name.member`), or keywords."""

    at: tuple[str, ...]
    why: str


@dataclass(frozen=True, slots=True)
class Releases:
    """The releases of a protocol that are kept, oldest first. `about` says where they come from and what their numbers mean.

    `dates` has the day (`YYYY-MM-DD`) of those versions of which it is known. `differences` says that the releases are upstream's, and why
    the schema differs where it does; `None` where nothing says whose they are.
    """

    about: str
    releases: tuple[Release, ...]
    dates: Mapping[str, str] = field(default_factory=dict[str, str])
    differences: tuple[Reason, ...] | None = None
    typescript: str = ""
    """The npm package of upstream's TypeScript SDK, whose types have the names of the newest release's definitions."""
    verdicts: tuple[str, bytes] | None = field(default=None, repr=False)
    """The file of verdicts on these releases, by its place."""


@dataclass(frozen=True, slots=True)
class Material:
    """What a project adds to its docs. `pages` are texts by file name, `releases` stand by protocol."""

    pages: Mapping[str, str] = field(default_factory=dict[str, str], repr=False)
    releases: Mapping[str, Releases] = field(default_factory=dict[str, Releases])
    requirements: JSON = field(default=None, repr=False)
    root: str = ""


NONE: Final = Material(MappingProxyType({}), MappingProxyType({}))


def is_material(path: str) -> bool:
    """Whether a path below a project's schema folder belongs to no protocol but to the docs."""
    return path == REQUIREMENTS or path.partition("/")[0] in RESERVED


def schemas(source: Source) -> Source:
    """The files of a project's schema folder that belong to protocols."""
    return replace(source, files=tuple(file for file in source.files if not is_material(file[0])))


def read(schema: Path, protocols: Iterable[str]) -> Files:
    """The material beside the schemas of these protocols, as bytes. Raises `Faults`."""
    protocols = tuple(protocols)
    wanted = [(PAGES, ".md"), *((f"{RELEASES}/{protocol}", ".json") for protocol in protocols)]
    inputs: list[tuple[str, bytes]] = []
    faults: list[Fault] = []
    for folder, ending in wanted:
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
    return Files(place(schema), tuple(sorted(inputs)))


def parsed(files: Files) -> Material:
    """The material of a project, understood. Raises `Faults`."""
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
            releases[protocol] = _releases(protocol, contents, f"{files.root}/{RELEASES}/{protocol}".lstrip("/"))
        except Faults as caught:
            faults.extend(caught.faults)
    faults.extend(_page_faults(pages, files.root))
    if faults:
        raise Faults(faults)
    return Material(pages, releases, requirements, files.root)


@dataclass(frozen=True, slots=True)
class Index:
    """What an index of releases says: where they come from, their versions, oldest first, the dates and the titles that some have."""

    about: str = ""
    versions: tuple[str, ...] = ()
    dates: Mapping[str, str] = field(default_factory=dict[str, str])
    titles: Mapping[str, str] = field(default_factory=dict[str, str])
    differences: tuple[Reason, ...] | None = None
    typescript: str = ""


def index(content: bytes | None, at: str) -> Index:
    """An index of releases as it is written. Raises `Faults`."""
    if content is None:
        return Index()
    table: Any = parse_json(decode(content, at), at)
    faults = [*form_faults(_FORM, table, at, _INDEX_REMEDY)] or [*_contradictions(table, at)]
    if faults:
        raise Faults(faults)
    return _FORM.convert(table, Index)


def form_faults(form: Form, value: object, at: str, remedy: str) -> Iterator[Fault]:
    """What the form of a file beside the schemas refuses."""
    for error in form.errors(value):
        where = f"{at}{pointer(*error.path)}"
        if error.known is not None:
            yield UNKNOWN_KEY(at=where, key=shown(error.path[-1]), hint=did_you_mean(error.path[-1], error.known))
        else:
            reason = f"this must be {error.expected}" if error.expected else error.reason.removesuffix(".")
            yield BAD_MATERIAL(at=where, reason=reason[:_LONGEST_REASON], remedy=remedy)


def _contradictions(table: Mapping[str, Any], at: str) -> Iterator[Fault]:
    """What the form of an index allows, and its meaning does not."""
    titles = table.get("titles", {})
    for key in ("dates", "titles"):
        for version in table.get(key, {}).keys() - {*table["versions"]}:
            below = f"{at}{pointer(key, version)}"
            yield BAD_MATERIAL(at=below, reason="no such version is kept", remedy="Remove it, or list the version")
    if len({titles.get(version, version) for version in table["versions"]}) < len(table["versions"]):
        reason = "two releases have one title"
        yield BAD_MATERIAL(at=f"{at}#/titles", reason=reason, remedy="Give each a title of its own")


_FORM: Final = Form(
    Path(__file__).with_name("releases.schema.json"),
    (("line", lambda text: bool(text.strip()) and text.isprintable()),),
)
_LONGEST_REASON: Final = 200
"""As many characters of the validator's words are shown."""

_INDEX_REMEDY: Final = (
    'Write {"about": "…", "versions": ["…"], "dates": {"…": "2026-01-31"}, "titles": {"…": "…"}}, with the dates that are known'
    " and the titles that differ from the version"
)


def _releases(protocol: str, contents: Mapping[str, bytes], at: str) -> Releases:
    entry = index(contents.get(INDEX), f"{at}/{INDEX}")
    listed = {f"{version}.json" for version in entry.versions}
    verdicts = contents.get(VERDICTS)
    faults: list[Fault] = [
        BAD_MATERIAL(at=f"{at}/{name}", reason=f"{INDEX} does not list this release", remedy="List it, oldest first")
        for name in contents.keys() - listed - {INDEX, VERDICTS}
    ]
    faults += [
        BAD_MATERIAL(at=f"{at}/{INDEX}#/versions/{number}", reason=f"there is no file {version}.json", remedy=_KEEP)
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
    return Releases(entry.about, tuple(releases), entry.dates, entry.differences, entry.typescript, beside)


def _page_faults(pages: Mapping[str, str], root: str) -> Iterator[Fault]:
    for path, text in pages.items():
        at = f"{root}/{PAGES}/{path}".lstrip("/")
        if path.count("/") > 1:
            yield BAD_MATERIAL(at=at, reason="this page stands in a folder of a folder", remedy="Move it up")
        elif title(text) is None:
            yield BAD_MATERIAL(at=at, reason="this page has no title", remedy="Begin it with a line such as '# Title'")


def title(page: str) -> str | None:
    """The first heading of a page; `None` where it does not begin with one."""
    first = next((line for line in page.splitlines() if line.strip()), "")
    return first[2:].strip() or None if first.startswith("# ") else None
