"""The settings of `[tool.acpgen]` in the nearest pyproject.toml, and the names of a file given to `--names`.

In: TOML. Out: a frozen `Config`, or faults with file and key. `protocols` finds protocols by name, `docs_inputs` reads what a project
adds to its docs. `config.schema.json` describes each setting; `Config` has a field of the same name for each. `input.form` validates the
settings by the former and converts them to the latter.
"""

from __future__ import annotations

import keyword
import os
import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import chain, permutations
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias, TypeVar, cast

from msgspec import Struct
from msgspec.structs import force_setattr, replace

from acpgen.config.faults import NO_CONFIGURATION, NOT_TOML, UNKNOWN_KEY
from acpgen.errors import Fault, Faults, show, suggest_name
from acpgen.input.faults import BAD_SETTING, UNKNOWN_NAME
from acpgen.input.form import Form, FormError
from acpgen.input.keywords import DRAFTS
from acpgen.input.load import References, decode, display_path, parse_json, read_bytes
from acpgen.naming.identifiers import is_class_name

if TYPE_CHECKING:
    from acpgen.methods.profile import Profile


T = TypeVar("T")
Table: TypeAlias = Mapping[str, T]
"""A TOML table."""

Level: TypeAlias = Literal["error", "warning", "off"]
"""The effect of a lint finding: it makes the exit code 1, is only reported, or is ignored."""

_COUNTED: Final = re.compile(r"/(?:allOf|anyOf|oneOf|prefixItems|items)/\d+(?=/|$)")
_TOML_PLACE: Final = re.compile(r"(.*) \(at line (\d+), column (\d+)\)", re.DOTALL)
_ADDRESS: Final = re.compile(r"[^#\s]+#?")


class Member(Struct, frozen=True):
    """A protocol in an output. `prefix` is its folder there, `package` its dotted import package; exactly one of them is set."""

    protocol: str
    package: str = ""
    prefix: str = ""


class Output(Struct, frozen=True):
    """An output folder of a target. The target declares the allowed `options`."""

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
        """Its protocols, in the order of the file."""
        packages = (Member(protocol, package=package) for protocol, package in self.packages.items())
        return (*packages, *(Member(protocol, prefix=protocol) for protocol in dict.fromkeys(self.protocols)))


class SiteSettings(Struct, frozen=True):
    """The settings of the docs site. `url` and `source` end in a slash or are empty. The first page of a section represents it."""

    url: str = ""
    source: str = ""
    python: tuple[str, ...] = ()
    sections: Table[tuple[str, ...]] = {}

    def __post_init__(self) -> None:
        for name in ("url", "source"):
            address: str = getattr(self, name)
            force_setattr(self, name, address and f"{address.rstrip('/')}/")


class Config(Struct, frozen=True):
    """The configuration of a project: `root` is the folder of pyproject.toml; every other field is the setting of that name in
    `config.schema.json`.

    `compat.policy` parses `compat`.
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
    def schema_folder(self) -> Path:
        return self.root / self.schema

    @property
    def reference_files(self) -> References:
        """A file, or the name of a draft, by the URI that refers to it."""
        return {url: file if file in DRAFTS else self.root / file for url, file in self.references.items()}

    @property
    def protocols(self) -> tuple[str, ...]:
        """Every protocol of the outputs, in the order of the file."""
        return tuple(dict.fromkeys(member.protocol for output in self.outputs.values() for member in output.members))

    @property
    def shared_names(self) -> Table[str]:
        """The names chosen for all protocols, by place."""
        return {place: name for place, name in self.names.items() if isinstance(name, str)}

    @property
    def own_names(self) -> Table[Table[str]]:
        """The chosen names of each protocol that has its own table."""
        return {protocol: names for protocol, names in self.names.items() if not isinstance(names, str)}

    def choose_names(self, protocol: str) -> Table[str]:
        """The chosen names that apply to a protocol, by place."""
        return {**self.shared_names, **self.own_names.get(protocol, {})}

    @property
    def profile_files(self) -> Sequence[Path]:
        """The profile files that `methods` names, without the built-in profiles."""
        profiles = [self.methods] if isinstance(self.methods, str) else self.methods.values()
        return [path for name in profiles if (path := self.root / name).is_file()]

    def read_profile(self, protocol: str) -> Profile | None:
        """The method profile of a protocol; `None` if the project names none. Raises `Faults`."""
        profile_name = self.methods if isinstance(self.methods, str) else self.methods.get(protocol)
        return None if profile_name is None else find_profile(profile_name, self.root, display_path(self.file))

    def find_package(self, protocol: str) -> str:
        """The Python package of a protocol in the first Python output that is no single module; empty if there is none."""
        return next((package for _, package in self._find_packages("python", protocol)), "")

    def find_module(self, protocol: str) -> str:
        """The npm module of a protocol in the first distributed TypeScript output that is no single module; empty if there is none."""
        modules = (
            f"{name}/{package.replace('.', '/')}"
            for name, package in self._find_packages("typescript", protocol)
            if name
        )
        return next(modules, "")

    def _find_packages(self, target: str, protocol: str) -> Iterator[tuple[str | None, str]]:
        """Yield the distribution and the package of a protocol in each output of a target that is no single module."""
        for output in self.outputs.values():
            if output.target == target and output.options.get("layout") != "file" and protocol in output.packages:
                yield output.distribution, output.packages[protocol]


def find(start: Path) -> Config:
    """Find the configuration: the nearest pyproject.toml with `[tool.acpgen]`, from `start` upwards. Raises `Faults`."""
    for folder in (start, *start.parents):
        if (folder / "pyproject.toml").is_file():
            config = read(folder)
            if config is not None:
                return config
    raise Faults([NO_CONFIGURATION(at=display_path(start) or "this folder")])


def find_config(path: Path) -> Config | None:
    """The configuration of the project that contains a path; `None` if there is none. Raises `Faults`."""
    try:
        return find(Path(os.path.realpath(path)))
    except Faults as caught:
        if all(fault.kind == NO_CONFIGURATION for fault in caught.faults):
            return None
        raise


def read(root: Path) -> Config | None:
    """The configuration in `root`; `None` if its pyproject.toml has no `[tool.acpgen]`. Raises `Faults`."""
    at = display_path(root / "pyproject.toml")
    tool: Any = parse_toml(decode(read_bytes(root / "pyproject.toml"), at), at).get("tool")
    table: Any = cast("dict[str, Any]", tool).get("acpgen") if isinstance(tool, dict) else None
    if table is None:
        return None
    return parse_settings(root, table)


def parse_settings(root: Path, table: Any) -> Config:
    """The configuration of the project in `root` with this `[tool.acpgen]` table. Raises `Faults`."""
    at = display_path(root / "pyproject.toml")
    faults = [report_setting(error, at, *_TABLE) for error in _FORM.list_errors(table)]
    if not faults:
        config = _FORM.convert({**table, "root": root}, Config)
        faults = [*_find_contradictions(config, at)]
        if not faults:
            return config
    raise Faults(faults)


def read_references(pairs: Iterable[str], start: Path | None = None) -> References:
    """The files or drafts by URI: those of the project around `start`, overridden by `URL=FILE` pairs of the command line. Raises
    `Faults`.
    """
    faults: list[Fault] = []
    files: dict[str, str | os.PathLike[str]] = {}
    try:
        files.update({} if start is None else find(start).reference_files)
    except Faults as caught:
        faults.extend(fault for fault in caught.faults if fault.kind != NO_CONFIGURATION)
    for pair in pairs:
        url, equals, file = pair.rpartition("=")
        if not (equals and file and _ADDRESS.fullmatch(url)):
            expected = "an address as references have it, and the file that it means, written URL=FILE"
            hint = "Write it as in --ref https://example.com/common.json=common.json."
            faults.append(BAD_SETTING(at="--ref", key=show(pair), expected=expected, hint=hint))
        files[url] = file
    if faults:
        raise Faults(faults)
    return files


def read_names(path: Path) -> Mapping[str, str]:
    """Read generated names by place, in the forms that `naming.name_overrides` describes.

    The file is TOML if its name ends in `.toml`, else JSON. Raises `Faults`.
    """
    names: Any = _read_value(path)
    faults = [
        BAD_SETTING(
            at=display_path(path),
            key=f"the entry {show(error.path[0])}" if error.path else "a names file",
            expected=error.expected,
            hint="""Write it as in {"Thing.kind": "ThingKind"}.""",
        )
        for error in _NAMES.list_errors(names)
    ]
    if faults:
        raise Faults(faults)
    return dict(names)


def find_profile(name: str, root: Path | None = None, at: str = "--methods") -> Profile:
    """Find a method profile: a built-in one, or a file, which is TOML if its name ends in `.toml`, else JSON.

    A relative path is resolved against `root`, else against the current folder. Raises `Faults`.
    """
    from acpgen.methods.profile import list_names as profile_names
    from acpgen.methods.profile import read_built_in, read_profile

    path = Path(name) if root is None else root / name
    if name in profile_names():
        return read_built_in(name)
    if not path.exists():
        hint = suggest_name(name, profile_names())
        raise Faults([UNKNOWN_NAME(at=at, kind="profile or file", name=name, hint=hint)])
    return read_profile(_read_value(path), display_path(path), path.stem)


def _read_value(path: Path) -> object:
    """The value of a TOML or JSON file, according to its suffix. Raises `Faults`."""
    text = decode(read_bytes(path), display_path(path))
    return parse_toml(text, display_path(path)) if path.suffix == ".toml" else parse_json(text, display_path(path))


def count_positions(names: Mapping[str, str]) -> int:
    """The number of places that contain the index of a branch or item, and so change if one is inserted before it."""
    return sum(_COUNTED.search(key) is not None for key in names)


def is_package(name: str) -> bool:
    """Whether `name` is a valid dotted Python package name."""
    return all(part.isascii() and part.isidentifier() and not keyword.iskeyword(part) for part in name.split("."))


def move_site(project: Config, *, url: str, source: str) -> Config:
    """A project with the site addresses of the command line; an empty one leaves the project's unchanged. Raises `Faults`."""
    options = {"url": url, "source": source}
    faults = [
        BAD_SETTING(
            at=f"--{key}", key=show(address), expected=error.expected, hint=f"Correct it, or leave --{key} out."
        )
        for key, address in options.items()
        for error in _FORM.get_part("address").list_errors(address)
    ]
    if faults:
        raise Faults(faults)
    return replace(project, site=replace(project.site, **{key: address for key, address in options.items() if address}))


def is_protocol(name: str) -> bool:
    """Whether `name` is a plain relative path, such as `acp/v1`."""
    return all(re.fullmatch(r"[A-Za-z0-9_][A-Za-z0-9_.+-]*", part) for part in name.split("/"))


@lru_cache(maxsize=8)
def _parse_toml(text: str) -> dict[str, object]:
    """Parse TOML. Cached, because a command parses the same file repeatedly: 10 % of the time of a cached comparison."""
    return tomllib.loads(text)


def parse_toml(text: str, at: str) -> dict[str, object]:
    """Parse the text of a TOML file. Raises `Faults` with line and column."""
    try:
        return _parse_toml(text)
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        position = _TOML_PLACE.fullmatch(str(error))
        where, reason = (f"{at}:{position[2]}:{position[3]}", position[1]) if position else (at, str(error))
        raise Faults([NOT_TOML(at=where, reason=f"{reason[0].lower()}{reason[1:]}")]) from None


def _is_folder(text: str) -> bool:
    """Whether `text` is a relative path, with `/`, that stays below its base folder."""
    path = PurePosixPath(text)
    return not (path.is_absolute() or not path.parts or ".." in path.parts or "\\" in text or "\0" in text)


_FORM: Final = Form(
    Path(__file__).with_name("config.schema.json"),
    (("folder", _is_folder), ("package", is_package), ("protocol", is_protocol), ("class-name", is_class_name)),
)
_NAMES: Final = _FORM.get_part("names")
_TABLE: Final = ("tool", "acpgen")


def report_setting(error: FormError, at: str, *above: str) -> Fault:
    """The fault of a setting in the file `at`, inside the tables `above`."""
    key = ".".join((*above, *map(quote_key, error.path)))
    if error.known is not None:
        return UNKNOWN_KEY(at=at, key=key, hint=suggest_name(error.path[-1], error.known))
    return BAD_SETTING(at=at, key=key, expected=error.expected, hint="Correct this setting.")


def _find_contradictions(config: Config, at: str) -> Iterator[Fault]:
    """Yield faults of settings that are valid by the form, but contradict each other."""

    def report_wrong(expected: str, *path: str) -> Fault:
        return report_setting(FormError(path, expected), at, *_TABLE)

    folders = [PurePosixPath(folder) for folder in (config.schema, *config.outputs)]
    for index, folder in enumerate(config.outputs, 1):
        if any(
            path.is_relative_to(ancestor)
            for before in folders[:index]
            for path, ancestor in permutations((before, folders[index]))
        ):
            yield report_wrong("apart from the schema and every other output", "outputs", folder)
    pages: list[str] = []
    for title, section in config.site.sections.items():
        if not set(section).isdisjoint(pages):
            yield report_wrong("pages, such as 'why.md', each once and in one section", "site", "sections", title)
        pages += section
    for protocol in chain(() if isinstance(config.methods, str) else config.methods, config.own_names):
        if protocol not in config.protocols:
            yield UNKNOWN_NAME(at=at, kind="protocol", name=protocol, hint=suggest_name(protocol, config.protocols))


def quote_key(key: str) -> str:
    """A key in TOML syntax."""
    return key if re.fullmatch(r"[A-Za-z0-9_-]+", key) else f'"{key}"'
