"""What `[tool.acpgen]` of the nearest pyproject.toml says, and what a file given to `--names` says.

In: TOML. Out: a frozen `Config`, or faults with file and key. `protocols` finds protocols by name, `docs_inputs` what the docs take in.

`config.schema.json` says what each setting means and may be; `Config` has a field of the same name for each. `input.form` judges by the
one and fills the other.
"""

from __future__ import annotations

import keyword
import os
import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain, permutations
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias, TypeVar, cast

from msgspec import Struct
from msgspec.structs import force_setattr, replace

from acpgen.config.faults import NO_CONFIGURATION, NOT_TOML, UNKNOWN_KEY
from acpgen.errors import Fault, Faults, did_you_mean, shown
from acpgen.input.faults import BAD_SETTING, UNKNOWN_NAME
from acpgen.input.form import Form, FormError
from acpgen.input.keywords import DRAFTS
from acpgen.input.load import References, decode, parse_json, place, read_bytes
from acpgen.naming.identifiers import is_class_name

if TYPE_CHECKING:
    from acpgen.methods.profile import Profile


T = TypeVar("T")
Table: TypeAlias = Mapping[str, T]
"""A table of TOML."""

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


class Output(Struct, frozen=True):
    """One folder that a target fills. The target declares which `options` there are."""

    target: str
    packages: Table[str] = {}
    protocols: tuple[str, ...] = ()
    distribution: str | None = None
    version: str | None = None
    license: str | None = None
    options: Table[Any] = {}
    shared: bool = False

    @property
    def members(self) -> tuple[Member, ...]:
        """The protocols in it, in the order of the file."""
        packages = (Member(protocol, package=package) for protocol, package in self.packages.items())
        return (*packages, *(Member(protocol, prefix=protocol) for protocol in dict.fromkeys(self.protocols)))


class SiteSettings(Struct, frozen=True):
    """The site. Both addresses end in a slash or are empty. The first page of a section stands for the section."""

    url: str = ""
    source: str = ""
    python: tuple[str, ...] = ()
    sections: Table[tuple[str, ...]] = {}

    def __post_init__(self) -> None:
        for name in ("url", "source"):
            address: str = getattr(self, name)
            force_setattr(self, name, address and f"{address.rstrip('/')}/")


class Config(Struct, frozen=True):
    """A project: `root` holds pyproject.toml, and every other field is the setting of its name, which `config.schema.json` describes.

    `compat.policy_settings` reads `compat`.
    """

    root: Path
    schema: str = "schema"
    outputs: Table[Output] = {}
    references: Table[str] = {}
    lint: Table[Level] = {}
    names: Table[str | Table[str]] = {}
    methods: str | Table[str] = {}
    compat: Table[Any] = {}
    site: SiteSettings = SiteSettings()

    @property
    def file(self) -> Path:
        return self.root / "pyproject.toml"

    @property
    def reference_files(self) -> References:
        """A file, or the name of a draft, by the address that means it."""
        return {url: file if file in DRAFTS else self.root / file for url, file in self.references.items()}

    @property
    def protocols(self) -> tuple[str, ...]:
        """Every protocol that an output holds, in the order of the file."""
        return tuple(dict.fromkeys(member.protocol for output in self.outputs.values() for member in output.members))

    @property
    def shared_names(self) -> Table[str]:
        """The chosen names for all protocols, by place."""
        return {place: name for place, name in self.names.items() if isinstance(name, str)}

    @property
    def own_names(self) -> Table[Table[str]]:
        """The chosen names of each protocol that has a table of its own."""
        return {protocol: names for protocol, names in self.names.items() if not isinstance(names, str)}

    def chosen_names(self, protocol: str) -> Table[str]:
        """The names that hold for a protocol, by place."""
        return {**self.shared_names, **self.own_names.get(protocol, {})}

    @property
    def profile_files(self) -> Sequence[Path]:
        """The files of the profiles that `methods` names; those that come with acpgen are none."""
        named = [self.methods] if isinstance(self.methods, str) else self.methods.values()
        return [path for name in named if (path := self.root / name).is_file()]

    def profile(self, protocol: str) -> Profile | None:
        """The profile that says where a protocol keeps its methods; `None` where the project names none. Raises `Faults`."""
        named = self.methods if isinstance(self.methods, str) else self.methods.get(protocol)
        return None if named is None else find_profile(named, self.root, place(self.file))

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
        for output in self.outputs.values():
            if output.target == target and not output.options and protocol in output.packages:
                yield output.distribution, output.packages[protocol]


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
    tool: Any = parse_toml(decode(read_bytes(root / "pyproject.toml"), at), at).get("tool")
    table: Any = cast("dict[str, Any]", tool).get("acpgen") if isinstance(tool, dict) else None
    if table is None:
        return None
    return parse_settings(root, table)


def parse_settings(root: Path, table: Any) -> Config:
    """The project in `root`, whose pyproject.toml has this `[tool.acpgen]`. Raises `Faults`."""
    at = place(root / "pyproject.toml")
    faults = [setting_fault(error, at, *_TABLE) for error in _FORM.errors(table)]
    if not faults:
        config = _FORM.convert({**table, "root": root}, Config)
        faults = [*_contradictions(config, at)]
        if not faults:
            return config
    raise Faults(faults)


def references(pairs: Iterable[str], start: Path | None = None) -> References:
    """What addresses mean: what the project around `start` says, and `URL=FILE` as given on the command line. Raises `Faults`."""
    faults: list[Fault] = []
    files: dict[str, str | os.PathLike[str]] = {}
    try:
        files.update({} if start is None else find(start).reference_files)
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
    return parse_toml(text, place(path)) if path.suffix == ".toml" else parse_json(text, place(path))


def by_position(names: Mapping[str, str]) -> int:
    """How many of these places count branches or items, so that they would be others after an insertion."""
    return sum(_COUNTED.search(key) is not None for key in names)


def is_package(name: str) -> bool:
    """Whether `name` can be imported: Python identifiers with dots between them."""
    return all(part.isascii() and part.isidentifier() and not keyword.iskeyword(part) for part in name.split("."))


def move_site(project: Config, *, url: str, source: str) -> Config:
    """A project with the addresses that the command line gives in place of its own; an empty one gives none. Raises `Faults`."""
    given = {"url": url, "source": source}
    faults = [
        BAD_SETTING(
            at=f"--{key}", key=shown(address), expected=error.expected, hint=f"Correct it, or leave --{key} out."
        )
        for key, address in given.items()
        for error in _FORM.part("address").errors(address)
    ]
    if faults:
        raise Faults(faults)
    return replace(project, site=replace(project.site, **{key: address for key, address in given.items() if address}))


def is_protocol(name: str) -> bool:
    """Whether `name` is a plain relative path, as `acp/v1` is."""
    return all(re.fullmatch(r"[A-Za-z0-9_][A-Za-z0-9_.+-]*", part) for part in name.split("/"))


@lru_cache(maxsize=8)
def _loaded(text: str) -> dict[str, object]:
    """The tables of a file, which a command reads again and again: 10 % of the time of a comparison that is kept."""
    return tomllib.loads(text)


def parse_toml(text: str, at: str) -> dict[str, object]:
    """The tables of the text of a file. Raises `Faults`, with the line and column."""
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
_NAMES: Final = _FORM.part("names")
_TABLE: Final = ("tool", "acpgen")


def setting_fault(error: FormError, at: str, *above: str) -> Fault:
    """The fault of a setting in the file `at`, below the tables that are named first."""
    key = ".".join((*above, *map(quoted, error.path)))
    if error.known is not None:
        return UNKNOWN_KEY(at=at, key=key, hint=did_you_mean(error.path[-1], error.known))
    return BAD_SETTING(at=at, key=key, expected=error.expected, hint="Correct this setting.")


def _contradictions(config: Config, at: str) -> Iterator[Fault]:
    """What the form of the settings allows, and their meaning does not."""

    def wrong(expected: str, *path: str) -> Fault:
        return setting_fault(FormError(path, expected), at, *_TABLE)

    folders = [PurePosixPath(folder) for folder in (config.schema, *config.outputs)]
    for index, folder in enumerate(config.outputs, 1):
        if any(
            one.is_relative_to(other)
            for before in folders[:index]
            for one, other in permutations((before, folders[index]))
        ):
            yield wrong("apart from the schema and every other output", "outputs", folder)
    pages: list[str] = []
    for title, section in config.site.sections.items():
        if not set(section).isdisjoint(pages):
            yield wrong("pages, such as 'why.md', each once and in one section", "site", "sections", title)
        pages += section
    for protocol in chain(() if isinstance(config.methods, str) else config.methods, config.own_names):
        if protocol not in config.protocols:
            yield UNKNOWN_NAME(at=at, kind="protocol", name=protocol, hint=did_you_mean(protocol, config.protocols))


def quoted(key: str) -> str:
    """A key as TOML writes it."""
    return key if re.fullmatch(r"[A-Za-z0-9_-]+", key) else f'"{key}"'
