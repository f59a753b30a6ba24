"""A new project: schema files in their folders, configuration, CI, hooks and a README."""

from __future__ import annotations

import json
import keyword
import os
import re
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from acpgen import __version__
from acpgen.config import find_profile
from acpgen.errors import Fault, Faults, make_printable
from acpgen.input.drafts import normalize_uri
from acpgen.input.faults import BAD_SETTING
from acpgen.input.keywords import DRAFTS
from acpgen.input.load import NO_REFERENCES, References, Source, read, read_bytes
from acpgen.lint import lint
from acpgen.methods.profile import list_names as profile_names
from acpgen.naming.identifiers import describe_conflict
from acpgen.resources import load_templates, locate_templates

_FILES: Final[Mapping[str, str]] = {
    "pyproject.toml": "pyproject.toml",
    "README.md": "README.md",
    ".github/workflows/acpgen.yml": "workflow.yml",
    ".pre-commit-config.yaml": "pre-commit.yaml",
}
"""The files of a project, and the template of each."""

TARGETS: Final = ("python", "bundle", "docs")
"""The targets of a project that names none."""

_FOLDERS: Final = {"bundle": "generated/schema"}
"""The folders of outputs that do not have the name of their target."""

_STARTER: Final = "schema.json.jinja2"

_PLAIN: Final[Mapping[str, str]] = {
    ".gitattributes": "generated/** linguist-generated=true\n",
    ".gitignore": ".venv/\n__pycache__/\nsite/\n",
}


@dataclass(frozen=True, slots=True)
class _Version:
    """A version of a protocol: its name, which is also its folder below `schema/`, its package, and the distribution around that."""

    name: str
    package: str
    distribution: str
    source: Source


@dataclass(frozen=True, slots=True)
class Start:
    """The files of a new project by path, and the lint rules that its schema breaks, which become warnings there.

    `originals` maps the path of each copied schema file to the user's name of its original.
    """

    files: Mapping[str, bytes]
    levels: tuple[str, ...]
    originals: Mapping[str, str]

    def locate_original(self, fault: Fault, folder: str) -> Fault:
        """A fault of the project, located in the original file instead of its copy, because the copy is removed."""
        for path, original in self.originals.items():
            copy = f"{folder}/{path}" if folder else path
            if fault.at == copy or fault.at.startswith((f"{copy}:", f"{copy}#")):
                return fault.move_to(original + fault.at.removeprefix(copy))
        return fault


def start(
    folder: Path,
    schemas: Mapping[str, Path],
    references: References = NO_REFERENCES,
    methods: str | None = None,
    targets: Sequence[str] = TARGETS,
) -> Start:
    """Prepare the files of a new project in a folder.

    `schemas` maps protocols, such as `acme/v1`, to files or folders; if it is empty, the project starts with a protocol of two methods.
    `references` maps URIs to files, `methods` names the method profile; the files of both are copied into the project. Each of
    `targets` gets an output. Raises `Faults` if a schema cannot be read, or two protocols have the same package. The schemas are not
    analyzed here, but in the project's first run.
    """
    own_name = Path(os.path.realpath(folder)).name
    name = _make_identifier(own_name)
    sources = [read(path, name=protocol, references=references) for protocol, path in schemas.items()]
    sources = sources or [_read_starter(f"{name}/v1")]
    versions = _name_versions(sources, name.strip("_").replace("_", "-"))
    _require_packages_apart(versions)
    if methods is not None:
        find_profile(methods)
    levels: dict[str, None] = {}
    for version in versions:
        levels.update(dict.fromkeys(finding.rule for finding in lint(version.source)))
    beside = _list_reference_files(references, sources[0])
    profiles: dict[str, bytes] = {}
    if methods is not None and methods not in profile_names():
        profiles[f"methods{'.toml' if methods.endswith('.toml') else '.json'}"] = read_bytes(Path(methods))
    values = {
        "protocols": versions,
        "folders": {target: _FOLDERS.get(target, f"generated/{target}") for target in targets},
        "levels": sorted(levels),
        "references": {url: next(iter(copies), references[url]) for url, copies in beside.items()},
        "methods": next(iter(profiles), methods),
        "title": make_printable(own_name) or name,
        "version": __version__,
    }
    files: dict[str, bytes] = {path: text.encode() for path, text in _PLAIN.items()}
    files |= {path: _render(template, values).encode() for path, template in _FILES.items()}
    files |= {path: content for copies in (*beside.values(), profiles) for path, content in copies.items()}
    originals: dict[str, str] = {}
    for version in versions:
        contents = (*version.source.files, *version.source.discovered_files)
        files |= {f"schema/{version.name}/{path}": content for path, content in contents}
        originals |= {f"schema/{version.name}/{path}": version.source.locate(path) for path, _ in contents}
    return Start(files, tuple(sorted(levels)), originals)


def find_repository(folder: Path) -> Path | None:
    """The git repository that contains a folder; `None` if the folder is the top of a repository, or in none."""
    within = folder.resolve()
    if (within / ".git").exists():
        return None
    return next((above for above in within.parents if (above / ".git").exists()), None)


def _read_starter(protocol: str) -> Source:
    """The schema of a small starter protocol."""
    source = read(locate_templates() / "project" / _STARTER, name=protocol)
    return replace(source, files=(("schema.json", source.files[0][1]),))


def _list_reference_files(references: References, source: Source) -> Mapping[str, Mapping[str, bytes]]:
    """The files that a project holds for each reference URI, by path; none for a URI that means a draft of JSON Schema."""
    contents = {address_: content for address_, _, content in source.references}
    copies: dict[str, Mapping[str, bytes]] = {}
    owners: dict[str, str] = {}
    for url, file in references.items():
        if file in DRAFTS:
            copies[url] = {}
            continue
        path = f"references/{re.sub(r'[^A-Za-z0-9.-]+', '_', url.rstrip('#').partition(':')[2]).strip('._')}"
        if owners.setdefault(path, url) != url:
            raise Faults(
                [
                    BAD_SETTING(
                        at="--ref",
                        key=url,
                        expected=f"a file of its own: {path} is that of {owners[path]}",
                        hint="Correct it.",
                    )
                ]
            )
        copies[url] = {path: contents[normalize_uri(url)]}
    return copies


def _name_versions(sources: Sequence[Source], project: str) -> list[_Version]:
    """The versions with their names. A distribution holds one top-level package: several protocols have one each."""
    packages = [_name_package(source.name) for source in sources]
    tops = [package.partition(".")[0] for package in packages]
    names = [project if len({*tops}) == 1 else f"{project}-{top.replace('_', '-')}" for top in tops]
    rows = zip(sources, packages, names, strict=True)
    return [_Version(source.name, package, distribution, source) for source, package, distribution in rows]


def _name_package(protocol: str) -> str:
    """The Python package of a protocol: `acme.v1` for `acme/v1`, and for `acme`."""
    first, *parts = map(_make_identifier, protocol.split("/"))
    top = f"{first}_protocol" if describe_conflict(first) else first
    return ".".join((top, *(f"{part}_" if part == "runtime" else part for part in parts or ["v1"])))


def _make_identifier(text: str) -> str:
    """A name as a component of a Python package: `v2025_06_18` for `2025-06-18`."""
    plain = re.sub(r"[\u0300-\u036f]", "", unicodedata.normalize("NFKD", text))  # letters without their accents
    word = re.sub(r"\W+", "_", plain, flags=re.ASCII).strip("_").lower() or "protocol"
    word = f"v{word}" if word[0].isdigit() else word
    return f"{word}_" if keyword.iskeyword(word) else word


def _require_packages_apart(versions: Sequence[_Version]) -> None:
    owners: dict[str, str] = {}
    for version in versions:
        owner = owners.setdefault(version.package, version.name)
        if owner != version.name:
            expected = f"unlike {owner}: both would be the package {version.package}"
            raise Faults(
                [BAD_SETTING(at="init", key=f"the protocol {version.name}", expected=expected, hint="Correct it.")]
            )


def _render(template: str, values: Mapping[str, object]) -> str:
    environment = load_templates("project")
    environment.filters["quoted"] = lambda value: json.dumps(str(value), ensure_ascii=False)
    return environment.get_template(f"{template}.jinja2").render(values)
