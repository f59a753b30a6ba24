"""What `[tool.acpgen]` of the nearest pyproject.toml says, and what a file given to `--names` says.

In: TOML. Out: a frozen `Config`, or faults with file and key. `protocols` finds protocols by name, `docs_inputs` what the docs take in.

    [tool.acpgen]
    schema = "schema"

    [tool.acpgen.outputs."generated/python/acp-bindings"]
    target = "python"
    distribution = "acp-bindings"
    version = "0.1.0"
    packages = { "acp/v1" = "acp_bindings.v1", "acp/v2" = "acp_bindings.v2" }

    [tool.acpgen.outputs."generated/schema"]
    target = "bundle"
    protocols = ["acp/v1", "acp/v2"]
    shared = true                                    # among files that others wrote

    [tool.acpgen.outputs."generated/schema".options]
    name = "value"                                   # what the target declares; see `acpgen targets`

    [tool.acpgen.names]                              # for every protocol; those of one stand in names."acp/v1"
    "SessionUpdate[tool_call]" = "ToolCallStart"

    [tool.acpgen.references]
    "https://example.com/common.json" = "vendored/common.json"

    [tool.acpgen.lint]
    description-missing = "warning"

    [tool.acpgen.compat]                             # see compat.policy_settings
    promise = "full"

    [tool.acpgen.site]                               # of `acpgen docs build`
    url = "https://example.com/docs/"                # where it will stand: canonical addresses, site map
    source = "https://example.com/edit/main/"        # before the path of a file: links that edit a page

With `protocols`, each protocol has a folder of its own name in the output; with `packages`, the package says where it goes.
`methods` names a profile, for all protocols or by protocol: `methods = "mcp"`, `methods = { "acme/v1" = "acme.toml" }`.
"""

from __future__ import annotations

import keyword
import os
import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Final, Literal, TypeAlias, cast, get_args

from acpgen.config.docs_inputs import RESERVED, is_material
from acpgen.config.faults import NO_CONFIGURATION, NOT_TOML, UNKNOWN_KEY
from acpgen.errors import Fault, Faults, did_you_mean, shown
from acpgen.input.faults import BAD_SETTING, UNKNOWN_NAME
from acpgen.input.keywords import DRAFTS
from acpgen.input.load import References, decode, parse_json, place, read_bytes

if TYPE_CHECKING:
    from acpgen.methods.profile import Profile


Table: TypeAlias = Mapping[str, object]

Level: TypeAlias = Literal["error", "warning", "off"]
"""What a finding of a rule of lint does: it makes the exit code 1, is told, or neither."""

_DISTRIBUTION: Final = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?")
_OF_NPM: Final = re.compile(rf"(?:@[a-z0-9~-][a-z0-9._~-]*/)?{_DISTRIBUTION.pattern}")
_VERSION: Final = re.compile(r"\d+(?:\.\d+)*(?:(?:a|b|rc)\d+)?(?:\.post\d+)?(?:\.dev\d+)?")
_LICENSE: Final = re.compile(r"[A-Za-z0-9.+()-]+(?: [A-Za-z0-9.+()-]+)*")
_PLACE: Final = re.compile(r"[^#]*#(?:/.*)?|[^#/\[]+(?:\[.*\].*)?", re.DOTALL)
_COUNTED: Final = re.compile(r"/(?:allOf|anyOf|oneOf|prefixItems|items)/\d+(?=/|$)")
_TOML_PLACE: Final = re.compile(r"(.*) \(at line (\d+), column (\d+)\)", re.DOTALL)
_REFERENCE: Final = (
    "an address as references have it, without a fragment, and the file that it means, or a draft such as 'draft-07'"
)
_RESERVED: Final = f"a protocol outside the folders {' and '.join(RESERVED)}, which hold material for the docs"
_ADDRESS: Final = re.compile(r"[^#\s]+#?")
_WEB: Final = re.compile(r"https?://[A-Za-z0-9.-]+(?::\d+)?(?:/[^\s?#\"<>]*)?")
_WEB_ADDRESS: Final = "an address that begins with 'https://' or 'http://'"
_OUTPUT_KEYS: Final = (
    *("target", "distribution", "version", "license", "packages", "protocols"),
    *("options", "shared"),
)


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
    tool = _as_table(_toml(decode(read_bytes(root / "pyproject.toml"), at), at).get("tool"))
    if tool is None or "acpgen" not in tool:
        return None
    faults: list[Fault] = []
    config = _Reader(at, faults).config(root, tool["acpgen"])
    if faults:
        raise Faults(faults)
    return config


def references(given: Iterable[str], start: Path | None = None) -> References:
    """What addresses mean: what the project around `start` says, and `URL=FILE` as given on the command line. Raises `Faults`."""
    faults: list[Fault] = []
    found: dict[str, str | os.PathLike[str]] = {}
    try:
        found.update({} if start is None else find(start).references)
    except Faults as caught:
        faults.extend(fault for fault in caught.faults if fault.kind != NO_CONFIGURATION)
    for each in given:
        url, equals, file = each.rpartition("=")
        if not (equals and file and _ADDRESS.fullmatch(url)):
            hint = "Write it as in --ref https://example.com/common.json=common.json."
            faults.append(
                BAD_SETTING(at="--ref", key=shown(each), expected=f"{_REFERENCE}, written URL=FILE", hint=hint)
            )
        found[url] = file
    if faults:
        raise Faults(faults)
    return found


_NAMES: Final = """Write it as in {"Thing.kind": "ThingKind"}."""


def read_names(path: Path) -> Mapping[str, str]:
    """Generated names by place, as `schema.chosen` says.

    The file is TOML if its name ends in `.toml`, else JSON. Raises `Faults`.
    """
    at = place(path)
    text = decode(read_bytes(path), at)
    value = _toml(text, at) if path.suffix == ".toml" else parse_json(text, at)
    if not isinstance(value, dict):
        raise Faults(
            [BAD_SETTING(at=at, key="a names file", expected="one object from pointers to names", hint=_NAMES)]
        )
    faults: list[Fault] = []
    names = _names(value, at, faults)
    if faults:
        raise Faults(faults)
    return names


def _names(value: Mapping[str, object], at: str, faults: list[Fault]) -> Mapping[str, str]:
    """Entries from places to names; what is wrong with one goes to `faults`."""
    for key, name in value.items():
        if not _PLACE.fullmatch(key):
            expected = (
                "a pointer such as '#/$defs/Name', a field such as 'Name.field', or a variant such as 'Union[tag]'"
            )
            faults.append(BAD_SETTING(at=at, key=f"the key {shown(key)}", expected=expected, hint="Correct the place."))
        from acpgen.naming.identifiers import is_class_name

        if not isinstance(name, str) or not is_class_name(name):
            expected = "the name of a Python class: letters, digits and '_', a capital first"
            hint = "Write a name such as 'TextBlock'."
            faults.append(BAD_SETTING(at=at, key=f"the value of {shown(key)}", expected=expected, hint=hint))
    return {key: str(name) for key, name in value.items()}


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
    where = place(path)
    text = decode(read_bytes(path), where)
    value = _toml(text, where) if path.suffix == ".toml" else parse_json(text, where)
    return profile(value, where, path.stem)


def by_position(names: Mapping[str, str]) -> int:
    """How many of these places count branches or items, so that they would be others after an insertion."""
    return sum(_COUNTED.search(key) is not None for key in names)


def is_package(name: str) -> bool:
    """Whether `name` can be imported: Python identifiers with dots between them."""
    return all(part.isascii() and part.isidentifier() and not keyword.iskeyword(part) for part in name.split("."))


def site_settings(said: SiteSettings, *, url: str = "", source: str = "") -> SiteSettings:
    """What a project says of its site, with what the command line says in its place. Raises `Faults`."""
    url, source = url or said.url, source or said.source
    faults: list[Fault] = [
        BAD_SETTING(at=key, key=shown(address), expected=_WEB_ADDRESS, hint=f"Correct it, or leave {key} out.")
        for key, address in (("--url", url), ("--source", source))
        if address and not is_web_address(address)
    ]
    if faults:
        raise Faults(faults)
    return replace(said, url=_folder_address(url), source=_folder_address(source))


def _folder_address(address: str) -> str:
    return address and f"{address.rstrip('/')}/"


def is_web_address(text: str) -> bool:
    """Whether `text` is an address on the web without query and fragment."""
    return _WEB.fullmatch(text) is not None


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
        found = _TOML_PLACE.fullmatch(str(error))
        where, reason = (f"{at}:{found[2]}:{found[3]}", found[1]) if found else (at, str(error))
        raise Faults([NOT_TOML(at=where, reason=f"{reason[0].lower()}{reason[1:]}")]) from None


@dataclass(frozen=True, slots=True)
class _Reader:
    """Reads the tables of one file; what is wrong goes to `faults`, and something harmless takes its place."""

    at: str
    faults: list[Fault]

    def config(self, root: Path, value: object) -> Config:
        table = self.table(
            value, "tool.acpgen", ("schema", "outputs", "references", "lint", "methods", "names", "compat", "site")
        )
        schema = self.folder(table.get("schema", "schema"), "tool.acpgen.schema")
        outputs = self.table(table.get("outputs", {}), "tool.acpgen.outputs", None)
        if "outputs" in table and not outputs and not self.faults:
            self.wrong("tool.acpgen.outputs", "a table with one entry for each output folder")
        made = [self.output(folder, output) for folder, output in outputs.items()]
        self.disjoint([output.folder for output in made], schema)
        references = self.references(root, table.get("references", {}))
        levels, methods = dict(self.levels(table.get("lint"))), self.methods(table.get("methods"), made)
        shared, own = self.names(table.get("names", {}), made)
        compat = self.table(table.get("compat", {}), "tool.acpgen.compat", None)
        site = self.site(table.get("site", {}))
        return Config(root, schema, tuple(made), references, levels, shared, own, methods, compat, site)

    def site(self, value: object) -> SiteSettings:
        key = "tool.acpgen.site"
        table = self.table(value, key, ("url", "source", "python", "sections"))
        addresses: dict[str, str] = {}
        for name in ("url", "source"):
            given = table.get(name, "")
            if not isinstance(given, str) or not (given == "" or is_web_address(given)):
                self.wrong(f"{key}.{name}", _WEB_ADDRESS)
            else:
                addresses[name] = _folder_address(given)
        python = table.get("python", [])
        listed = cast("list[object]", python) if isinstance(python, list) else []
        named = tuple(each for each in listed if isinstance(each, str) and each)
        if not isinstance(python, list) or len(named) < len(listed) or len(set(named)) < len(named):
            self.wrong(f"{key}.python", "files and folders of Python, each once")
        for each in named:
            self.folder(each, f"{key}.python")
        return SiteSettings(**addresses, python=named, sections=tuple(self.sections(table.get("sections", {}))))

    def sections(self, value: object) -> Iterator[tuple[str, tuple[str, ...]]]:
        key = "tool.acpgen.site.sections"
        listed: list[str] = []
        for title, pages in self.table(value, key, None).items():
            given = cast("list[object]", pages) if isinstance(pages, list) else []
            named = tuple(each for each in given if isinstance(each, str) and each and each not in listed)
            listed += named
            if not named or len(set(named)) < len(given):
                self.wrong(f"{key}.{quoted(title)}", "pages, such as 'why.md', each once and in one section")
            yield title, named

    def levels(self, value: object) -> Iterator[tuple[str, Level]]:
        for rule, level in self.table({} if value is None else value, "tool.acpgen.lint", None).items():
            known = next((each for each in get_args(Level) if each == level), None)
            if known is None:
                self.wrong(f"tool.acpgen.lint.{quoted(rule)}", "one of 'error', 'warning' and 'off'")
            else:
                yield rule, known

    def references(self, root: Path, value: object) -> References:
        """The files that addresses mean, or the names of drafts."""
        found: dict[str, str | os.PathLike[str]] = {}
        for url, file in self.table(value, "tool.acpgen.references", None).items():
            key = f"tool.acpgen.references.{quoted(url)}"
            if not _ADDRESS.fullmatch(url) or not isinstance(file, str) or not file or "\0" in file:
                self.wrong(key, _REFERENCE)
            else:
                found[url] = file if file in DRAFTS else root / file
        return found

    def methods(self, value: object, outputs: Iterable[Output]) -> Mapping[str, str]:
        """The profile of each protocol, or under the empty name that of all."""
        if value is None:
            return {}
        if isinstance(value, str) and value:
            return {"": value}
        known = {member.protocol for output in outputs for member in output.members}
        named: Table = self.table(value, "tool.acpgen.methods", None) if _as_table(value) is not None else {}
        if not named or not all(isinstance(one, str) and one for one in named.values()):
            expected = "the name or file of a profile, or a table from protocols to such"
            self.wrong("tool.acpgen.methods", expected)
            return {}
        for protocol in named:
            if protocol not in known:
                hint = did_you_mean(protocol, known)
                self.faults.append(UNKNOWN_NAME(at=self.at, kind="protocol", name=protocol, hint=hint))
        return {protocol: str(one) for protocol, one in named.items()}

    def names(self, value: object, outputs: list[Output]) -> tuple[Mapping[str, str], Mapping[str, Mapping[str, str]]]:
        """The chosen names for all protocols, and for each that has a table of its own."""
        table = self.table(value, "tool.acpgen.names", None)
        known = {member.protocol for output in outputs for member in output.members}
        own = {protocol: found for protocol, entries in table.items() if (found := _as_table(entries)) is not None}
        for protocol in own:
            if protocol not in known:
                hint = did_you_mean(protocol, known)
                self.faults.append(UNKNOWN_NAME(at=self.at, kind="protocol", name=protocol, hint=hint))
        at = f"{self.at}: tool.acpgen.names"
        shared = _names({key: name for key, name in table.items() if key not in own}, at, self.faults)
        each = {protocol: _names(entries, f"{at}.{quoted(protocol)}", self.faults) for protocol, entries in own.items()}
        return shared, each

    def output(self, folder: str, value: object) -> Output:
        key = f"tool.acpgen.outputs.{quoted(folder)}"
        self.folder(folder, key)
        table = self.table(value, key, _OUTPUT_KEYS)
        target = table.get("target")
        if ("target" in table or set(table) <= set(_OUTPUT_KEYS)) and not (isinstance(target, str) and target):
            self.wrong(f"{key}.target", "the name of a target, such as 'python'")
        distribution = table.get("distribution")
        names = _OF_NPM if target == "typescript" else _DISTRIBUTION
        if distribution is not None and not (isinstance(distribution, str) and names.fullmatch(distribution)):
            self.wrong(f"{key}.distribution", "the name of a distribution, such as 'acp-bindings'")
        version = table.get("version")
        if version is not None and not (isinstance(version, str) and _VERSION.fullmatch(version)):
            self.wrong(f"{key}.version", "a version of the distribution, such as '1.2.0' or '2.0.0rc1'")
        license_ = table.get("license")
        if license_ is not None and not (isinstance(license_, str) and _LICENSE.fullmatch(license_)):
            self.wrong(f"{key}.license", "an SPDX license expression, such as 'Apache-2.0' or 'MIT OR Apache-2.0'")
        shared = table.get("shared", False)
        if not isinstance(shared, bool):
            self.wrong(f"{key}.shared", "true or false")
        for name in ("version", "license"):
            if name in table and distribution is None:
                self.wrong(f"{key}.{name}", f"given together with 'distribution', whose {name} it is")
        if isinstance(value, dict) and ("packages" in table) == ("protocols" in table):
            self.wrong(key, "a table with one of 'packages' and 'protocols'")
        members = (*self.packages(table, f"{key}.packages"), *self.protocols(table, f"{key}.protocols"))
        return Output(
            folder,
            str(target),
            members,
            distribution=None if distribution is None else str(distribution),
            version=None if version is None else str(version),
            license=None if license_ is None else str(license_),
            options=self.table(table.get("options", {}), f"{key}.options", None),
            shared=shared is True,
        )

    def packages(self, table: Table, key: str) -> Iterator[Member]:
        if "packages" not in table:
            return
        packages = self.table(table["packages"], key, None)
        if not packages:
            self.wrong(key, 'a table from protocols to packages, such as { "acp/v1" = "acp_bindings.v1" }')
        for protocol, package in packages.items():
            if not is_protocol(protocol):
                self.wrong(f"{key}.{quoted(protocol)}", "named by a plain relative path, such as 'acp/v1'")
            elif is_material(f"{protocol}/"):
                self.wrong(f"{key}.{quoted(protocol)}", _RESERVED)
            elif not isinstance(package, str) or not is_package(package):
                self.wrong(f"{key}.{quoted(protocol)}", "a package that can be imported, such as 'acp_bindings.v1'")
            else:
                yield Member(protocol, package=package)

    def protocols(self, table: Table, key: str) -> Iterator[Member]:
        if "protocols" not in table:
            return
        protocols = table["protocols"]
        names = [str(name) for name in cast("list[object]", protocols)] if isinstance(protocols, list) else []
        if not names:
            self.wrong(key, 'a list of protocols, such as ["acp/v1"]')
        for protocol in dict.fromkeys(names):
            if is_protocol(protocol) and is_material(f"{protocol}/"):
                self.wrong(key, f"{_RESERVED}; {shown(protocol)} is none")
            elif is_protocol(protocol):
                yield Member(protocol, prefix=protocol)
            else:
                self.wrong(key, f"a list of plain relative paths, such as 'acp/v1'; {shown(protocol)} is none")

    def table(self, value: object, key: str, known: Iterable[str] | None) -> Table:
        """`value` as a table whose keys are among `known`."""
        table = _as_table(value)
        if table is None:
            self.wrong(key, "a table")
            return {}
        for name in table if known is not None else ():
            if name not in (known or ()):
                hint = did_you_mean(name, known or ())
                self.faults.append(UNKNOWN_KEY(at=self.at, key=f"{key}.{quoted(name)}", hint=hint))
        return table

    def folder(self, value: object, key: str) -> str:
        """`value` as a folder below pyproject.toml."""
        path = PurePosixPath(value) if isinstance(value, str) and "\\" not in value and "\0" not in value else None
        if path is None or path.is_absolute() or not path.parts or ".." in path.parts:
            self.wrong(key, "a folder below that of pyproject.toml, written with '/' and without '..'")
            return "schema"
        return str(path)

    def disjoint(self, folders: list[str], schema: str) -> None:
        """Refuse an output that lies in another one, or in or around the schema."""
        taken: list[PurePosixPath] = [PurePosixPath(schema)]
        for folder in folders:
            path = PurePosixPath(folder)
            if any(path.is_relative_to(other) or other.is_relative_to(path) for other in taken):
                self.wrong(f"tool.acpgen.outputs.{quoted(folder)}", "apart from the schema and every other output")
            taken.append(path)

    def wrong(self, key: str, expected: str) -> None:
        self.faults.append(BAD_SETTING(at=self.at, key=key, expected=expected, hint="Correct this setting."))


def _as_table(value: object) -> Table | None:
    return cast("Table", value) if isinstance(value, dict) else None


def quoted(key: str) -> str:
    """A key as TOML writes it."""
    return key if re.fullmatch(r"[A-Za-z0-9_-]+", key) else f'"{key}"'
