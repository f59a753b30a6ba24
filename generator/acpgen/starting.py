"""A new project: schema files in their place, the configuration, CI, hooks and a page that says what is what."""

from __future__ import annotations

import keyword
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from acpgen import __version__
from acpgen.errors import BadSetting, Faults
from acpgen.generate import understand
from acpgen.lint import lint
from acpgen.resources import templates
from acpgen.schema.load import Source, parse, read

_FILES: Final[Mapping[str, str]] = {
    "pyproject.toml": "pyproject.toml",
    "README.md": "README.md",
    ".github/workflows/acpgen.yml": "workflow.yml",
    ".pre-commit-config.yaml": "pre-commit.yaml",
}
"""The files of a project, and the template of each."""

_STARTER: Final = "schema.json.jinja2"

_PLAIN: Final[Mapping[str, str]] = {
    ".gitattributes": "generated/** linguist-generated=true\n",
    ".gitignore": ".acpgen_cache/\n.venv/\n__pycache__/\n",
}


@dataclass(frozen=True, slots=True)
class _Version:
    """One version of the protocol: its name, which is its folder below `schema/` too, and its Python package."""

    name: str
    package: str
    source: Source


@dataclass(frozen=True, slots=True)
class Start:
    """The files of a new project by path, and the rules of lint that its schema breaks, which are warnings there."""

    files: Mapping[str, bytes]
    levels: tuple[str, ...]


def start(folder: Path, schemas: Mapping[str, Path]) -> Start:
    """What a new project in a folder consists of.

    `schemas` are files or folders by the protocol that each is, such as `acme/v1`; without any, the project begins with a protocol
    of two methods. Raises `Faults`: a schema cannot be used, two protocols are one package.
    """
    name = _identifier(folder.resolve().name)
    sources = [read(path, name=protocol) for protocol, path in schemas.items()] or [_starter(f"{name}/v1")]
    versions = [_Version(source.name, _package(source.name), source) for source in sources]
    _require_packages_apart(versions)
    levels: dict[str, None] = {}
    for version in versions:
        understand(parse(version.source))
        levels.update(dict.fromkeys(finding.rule for finding in lint(version.source)))
    values = {
        "protocols": versions,
        "levels": sorted(levels),
        "distribution": name.replace("_", "-"),
        "title": folder.resolve().name,
        "version": __version__,
    }
    files: dict[str, bytes] = {path: text.encode() for path, text in _PLAIN.items()}
    files |= {path: _rendered(template, values).encode() for path, template in _FILES.items()}
    for version in versions:
        files |= {f"schema/{version.name}/{path}": content for path, content in version.source.files}
    return Start(files, tuple(sorted(levels)))


def _starter(protocol: str) -> Source:
    """The schema of a small protocol to begin with."""
    source = read(templates() / "project" / _STARTER, name=protocol)
    return replace(source, files=(("schema.json", source.files[0][1]),))


def _package(protocol: str) -> str:
    """The Python package of a protocol: `acme.v1` for `acme/v1`, and for `acme`."""
    first, *rest = protocol.split("/")
    return ".".join(map(_identifier, (first, *(rest or ["v1"]))))


def _identifier(text: str) -> str:
    """A name as a part of a Python package has it: `v2025_06_18` for `2025-06-18`."""
    found = re.sub(r"\W+", "_", text, flags=re.ASCII).strip("_").lower() or "protocol"
    found = f"v{found}" if found[0].isdigit() else found
    return f"{found}_" if keyword.iskeyword(found) else found


def _require_packages_apart(versions: Sequence[_Version]) -> None:
    known: dict[str, str] = {}
    for version in versions:
        other = known.setdefault(version.package, version.name)
        if other != version.name:
            expected = f"unlike {other}: both would be the package {version.package}"
            raise Faults([BadSetting(at="init", key=f"the protocol {version.name}", expected=expected)])


def _rendered(template: str, values: Mapping[str, object]) -> str:
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    made = Environment(
        loader=FileSystemLoader(templates() / "project"),
        undefined=StrictUndefined,
        keep_trailing_newline=True,
        autoescape=False,  # noqa: S701 - it lays out TOML, YAML and Markdown
    )
    return made.get_template(f"{template}.jinja2").render(values)
