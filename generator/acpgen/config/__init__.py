"""What `[tool.acpgen]` of the nearest pyproject.toml says, and what a file given to `--names` says.

In: TOML. Out: a frozen `Config`, or faults with file and key. `protocols` finds protocols by name, `docs_inputs` what the docs take in.

`config.schema.json` says what may stand there, and `input.form` judges by it. With `protocols`, each protocol has a folder of its own name
in the output; with `packages`, the package says where it goes. `methods` names a profile, for all protocols or by protocol.
"""

from __future__ import annotations

import keyword
import os
import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache
from itertools import chain, permutations
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias, cast

from acpgen.config.faults import NO_CONFIGURATION, NOT_TOML, UNKNOWN_KEY
from acpgen.errors import Fault, Faults, did_you_mean, shown
from acpgen.input.faults import BAD_SETTING, UNKNOWN_NAME
from acpgen.input.form import Form, FormError
from acpgen.input.keywords import DRAFTS
from acpgen.input.load import References, decode, parse_json, place, read_bytes
from acpgen.naming.identifiers import is_class_name

if TYPE_CHECKING:
    from acpgen.methods.profile import Profile


Table: TypeAlias = Mapping[str, object]

Level: TypeAlias = Literal["error", "warning", "off"]
"""What a finding of a rule of lint does: it makes the exit code 1, is told, or neither."""

_COUNTED: Final = re.compile(r"/(?:allOf|anyOf|oneOf|prefixItems|items)/\d+(?=/|$)")
_TOML_PLACE: Final = re.compile(r"(.*) \(at line (\d+), column (\d+)\)", re.DOTALL)
_ADDRESS: Final = re.compile(r"[^#\s]+#?")


@dataclass(frozen=True, slots=True)
class Member:
    """One protocol in an output. `prefix` is its folder there, `package` its dotted import package; one of them is set."""

    protocol: str
    package: str = ""
    prefix: str = ""


@dataclass(frozen=True, slots=True)
class Output:
    """One folder that a target fills. `folder` is relative to pyproject.toml.

    `options` are those of the target, as the file has them; the target declares which there are. Where `shared`, other files lie in the
    folder too, and only those of the target are written and removed.
    """

    folder: str
    target: str
    members: tuple[Member, ...]
    distribution: str | None = None
    version: str | None = None
    license: str | None = None
    options: Table = field(default_factory=dict[str, object], hash=False)
    shared: bool = False


@dataclass(frozen=True, slots=True)
class SiteSettings:
    """What the built site is told: `url` where it will stand, `source` what stands before the path of a file in links that edit it; both
    end in a slash or are empty. `python` are the files and folders of Python whose docstrings make the API reference. `sections` are the
    pages that stand together in the navigation, by the title above them; the first page of a group stands for the group.
    """

    url: str = ""
    source: str = ""
    python: tuple[str, ...] = ()
    sections: tuple[tuple[str, tuple[str, ...]], ...] = ()


@dataclass(frozen=True, slots=True)
class Config:
    """A project: `root` holds pyproject.toml, `schema` (relative to it) one folder or file for each protocol.

    `references` are files, or names of drafts, by the address that means each.
    `lint` has the level of each rule of lint that is not an error here.
    `compat` is the policy of the compatibility check as it stands there; `compat.policy_settings` reads it.
    `names` are those that people choose for all protocols, `names_of` those for one of them.
    """

    root: Path
    schema: str
    outputs: tuple[Output, ...]
    references: References = field(default_factory=dict[str, "str | os.PathLike[str]"])
    lint: Mapping[str, Level] = field(default_factory=dict[str, "Level"])
    names: Mapping[str, str] = field(default_factory=dict[str, str])
    names_of: Mapping[str, Mapping[str, str]] = field(default_factory=dict[str, "Mapping[str, str]"])
    methods: Mapping[str, str] = field(default_factory=dict[str, str])
    """By protocol, and for all others by the empty name: a profile that comes with acpgen, or the path of a file."""
    compat: Table = field(default_factory=dict[str, object])
    site: SiteSettings = field(default_factory=SiteSettings)

    def profile(self, protocol: str) -> Profile | None:
        """The profile that says where a protocol keeps its methods; `None` where the project names none. Raises `Faults`."""
        named = self.methods.get(protocol, self.methods.get(""))
        return None if named is None else find_profile(named, self.root, place(self.file))

    @property
    def file(self) -> Path:
        return self.root / "pyproject.toml"

    @property
    def protocols(self) -> tuple[str, ...]:
        """Every protocol that an output holds, in the order of the file."""
        return tuple(dict.fromkeys(member.protocol for output in self.outputs for member in output.members))

    def package(self, protocol: str) -> str:
        """The Python package that an output makes of a protocol with the names of the house; empty if none does."""
        return next((package for _, package in self._find_packages("python", protocol)), "")

    def module(self, protocol: str) -> str:
        """The npm module that an output makes of a protocol; empty if none does."""
        modules = (
            f"{name}/{package.replace('.', '/')}"
            for name, package in self._find_packages("typescript", protocol)
            if name
        )
        return next(modules, "")

    def _find_packages(self, target: str, protocol: str) -> Iterator[tuple[str | None, str]]:
        """The distribution and the package of each output without options that a target makes of a protocol."""
        outputs = (output for output in self.outputs if output.target == target and not output.options)
        yield from (
            (each.distribution, member.package)
            for each in outputs
            for member in each.members
            if member.protocol == protocol and member.package
        )


def find(start: Path) -> Config:
    """The configuration of the nearest pyproject.toml with `[tool.acpgen]`, from `start` upwards. Raises `Faults`."""
    for folder in (start, *start.parents):
        if (folder / "pyproject.toml").is_file():
            config = read(folder)
            if config is not None:
                return config
    raise Faults([NO_CONFIGURATION(at=place(start) or "this folder")])


def around(path: Path) -> Config | None:
    """The configuration of the project that a path lies in; `None` where it lies in none. Raises `Faults`."""
    try:
        return find(path.resolve())
    except Faults as caught:
        if all(fault.kind == NO_CONFIGURATION for fault in caught.faults):
            return None
        raise


def read(root: Path) -> Config | None:
    """The configuration in `root`; `None` where its pyproject.toml has no `[tool.acpgen]`. Raises `Faults`."""
    at = place(root / "pyproject.toml")
    tool: Any = _toml(decode(read_bytes(root / "pyproject.toml"), at), at).get("tool")
    table: Any = cast("dict[str, Any]", tool).get("acpgen") if isinstance(tool, dict) else None
    if table is None:
        return None
    require_settings(table, at)
    return _config(root, table)


def require_settings(table: Any, at: str) -> None:
    """Raise `Faults` where a table is no `[tool.acpgen]` of the file `at`."""
    faults = [_setting_fault(error, at) for error in _FORM.errors(table)] or [*_contradictions(table, at)]
    if faults:
        raise Faults(faults)


def references(pairs: Iterable[str], start: Path | None = None) -> References:
    """What addresses mean: what the project around `start` says, and `URL=FILE` as given on the command line. Raises `Faults`."""
    faults: list[Fault] = []
    files: dict[str, str | os.PathLike[str]] = {}
    try:
        files.update({} if start is None else find(start).references)
    except Faults as caught:
        faults.extend(fault for fault in caught.faults if fault.kind != NO_CONFIGURATION)
    for each in pairs:
        url, equals, file = each.rpartition("=")
        if not (equals and file and _ADDRESS.fullmatch(url)):
            expected = "an address as references have it, and the file that it means, written URL=FILE"
            hint = "Write it as in --ref https://example.com/common.json=common.json."
            faults.append(BAD_SETTING(at="--ref", key=shown(each), expected=expected, hint=hint))
        files[url] = file
    if faults:
        raise Faults(faults)
    return files


def read_names(path: Path) -> Mapping[str, str]:
    """Generated names by place, as `schema.chosen` says.

    The file is TOML if its name ends in `.toml`, else JSON. Raises `Faults`.
    """
    names: Any = _read_value(path)
    faults = [
        BAD_SETTING(
            at=place(path),
            key=f"the entry {shown(error.path[0])}" if error.path else "a names file",
            expected=error.expected,
            hint="""Write it as in {"Thing.kind": "ThingKind"}.""",
        )
        for error in _NAMES.errors(names)
    ]
    if faults:
        raise Faults(faults)
    return dict(names)


def find_profile(named: str, root: Path | None = None, at: str = "--methods") -> Profile:
    """The profile of methods that a person names: one that comes with acpgen, or a file, TOML if its name ends in `.toml`, else JSON.

    A relative path starts at `root`, else at the current folder. Raises `Faults`.
    """
    from acpgen.methods.profile import built_in, profile
    from acpgen.methods.profile import names as profile_names

    path = Path(named) if root is None else root / named
    if named in profile_names():
        return built_in(named)
    if not path.exists():
        hint = did_you_mean(named, profile_names())
        raise Faults([UNKNOWN_NAME(at=at, kind="profile or file", name=named, hint=hint)])
    return profile(_read_value(path), place(path), path.stem)


def _read_value(path: Path) -> object:
    """What a file of TOML or JSON holds, as its name tells. Raises `Faults`."""
    text = decode(read_bytes(path), place(path))
    return _toml(text, place(path)) if path.suffix == ".toml" else parse_json(text, place(path))


def by_position(names: Mapping[str, str]) -> int:
    """How many of these places count branches or items, so that they would be others after an insertion."""
    return sum(_COUNTED.search(key) is not None for key in names)


def is_package(name: str) -> bool:
    """Whether `name` can be imported: Python identifiers with dots between them."""
    return all(part.isascii() and part.isidentifier() and not keyword.iskeyword(part) for part in name.split("."))


def site_settings(said: SiteSettings, *, url: str = "", source: str = "") -> SiteSettings:
    """What a project says of its site, with what the command line says in its place. Raises `Faults`."""
    url, source = url or said.url, source or said.source
    faults = [
        BAD_SETTING(at=key, key=shown(address), expected=error.expected, hint=f"Correct it, or leave {key} out.")
        for key, address in (("--url", url), ("--source", source))
        for error in replace(_FORM, definition="address").errors(address)
    ]
    if faults:
        raise Faults(faults)
    return replace(said, url=_folder_address(url), source=_folder_address(source))


def _folder_address(address: str) -> str:
    return address and f"{address.rstrip('/')}/"


def is_protocol(name: str) -> bool:
    """Whether `name` is a plain relative path, as `acp/v1` is."""
    return all(re.fullmatch(r"[A-Za-z0-9_][A-Za-z0-9_.+-]*", part) for part in name.split("/"))


@lru_cache(maxsize=8)
def _loaded(text: str) -> dict[str, object]:
    """The tables of a file, which a command reads again and again: 10 % of the time of a comparison that is kept."""
    return tomllib.loads(text)


def _toml(text: str, at: str) -> dict[str, object]:
    try:
        return _loaded(text)
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        position = _TOML_PLACE.fullmatch(str(error))
        where, reason = (f"{at}:{position[2]}:{position[3]}", position[1]) if position else (at, str(error))
        raise Faults([NOT_TOML(at=where, reason=f"{reason[0].lower()}{reason[1:]}")]) from None


def _is_folder(text: str) -> bool:
    """Whether `text` is a folder or file below another one: relative, with `/`."""
    path = PurePosixPath(text)
    return not (path.is_absolute() or not path.parts or ".." in path.parts or "\\" in text or "\0" in text)


_FORM: Final = Form(
    Path(__file__).with_name("config.schema.json"),
    (("folder", _is_folder), ("package", is_package), ("protocol", is_protocol), ("class-name", is_class_name)),
)
_NAMES: Final = replace(_FORM, definition="names")


def _setting_fault(error: FormError, at: str) -> Fault:
    key = ".".join(("tool.acpgen", *map(quoted, error.path)))
    if error.known is not None:
        return UNKNOWN_KEY(at=at, key=key, hint=did_you_mean(error.path[-1], error.known))
    return BAD_SETTING(at=at, key=key, expected=error.expected, hint="Correct this setting.")


def _contradictions(table: Mapping[str, Any], at: str) -> Iterator[Fault]:
    """What the form of the settings allows, and their meaning does not."""

    def wrong(expected: str, *path: str) -> Fault:
        return _setting_fault(FormError(path, expected), at)

    outputs: Mapping[str, Mapping[str, Any]] = table.get("outputs", {})
    folders = [PurePosixPath(folder) for folder in (table.get("schema", "schema"), *outputs)]
    for index, folder in enumerate(outputs, 1):
        if any(
            one.is_relative_to(other)
            for before in folders[:index]
            for one, other in permutations((before, folders[index]))
        ):
            yield wrong("apart from the schema and every other output", "outputs", folder)
    pages: list[str] = []
    for title, section in table.get("site", {}).get("sections", {}).items():
        if not set(section).isdisjoint(pages):
            yield wrong("pages, such as 'why.md', each once and in one section", "site", "sections", title)
        pages += section
    protocols = {each for output in outputs.values() for each in output.get("packages", output.get("protocols", ()))}
    methods = table.get("methods", "")
    named = chain(() if isinstance(methods, str) else methods, _own_names(table))
    for protocol in named:
        if protocol not in protocols:
            yield UNKNOWN_NAME(at=at, kind="protocol", name=protocol, hint=did_you_mean(protocol, protocols))


def _own_names(table: Mapping[str, Any]) -> Mapping[str, Mapping[str, str]]:
    """The chosen names of each protocol that has a table of its own."""
    given: Mapping[str, str | Mapping[str, str]] = table.get("names", {})
    return {protocol: names for protocol, names in given.items() if not isinstance(names, str)}


def _config(root: Path, table: Mapping[str, Any]) -> Config:
    """The configuration that a table of the right form describes."""
    own_names, methods, site = _own_names(table), table.get("methods", {}), table.get("site", {})
    references = table.get("references", {}).items()
    return Config(
        root,
        str(PurePosixPath(table.get("schema", "schema"))),
        tuple(_output(folder, output) for folder, output in table.get("outputs", {}).items()),
        references={url: file if file in DRAFTS else root / file for url, file in references},
        lint=table.get("lint", {}),
        names={place: name for place, name in table.get("names", {}).items() if place not in own_names},
        names_of=own_names,
        methods={"": methods} if isinstance(methods, str) else methods,
        compat=table.get("compat", {}),
        site=SiteSettings(
            _folder_address(site.get("url", "")),
            _folder_address(site.get("source", "")),
            tuple(site.get("python", ())),
            tuple((title, tuple(pages)) for title, pages in site.get("sections", {}).items()),
        ),
    )


def _output(folder: str, table: Mapping[str, Any]) -> Output:
    members = [Member(protocol, package=package) for protocol, package in table.get("packages", {}).items()]
    members += [Member(protocol, prefix=protocol) for protocol in dict.fromkeys(table.get("protocols", ()))]
    return Output(folder, members=tuple(members), **{key: table[key] for key in table.keys() & _OUTPUT_KEYS})


_OUTPUT_KEYS: Final = frozenset({"target", "distribution", "version", "license", "options", "shared"})


def quoted(key: str) -> str:
    """A key as TOML writes it."""
    return key if re.fullmatch(r"[A-Za-z0-9_-]+", key) else f'"{key}"'
