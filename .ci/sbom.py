"""What the wheels of a release are made of: a bill of materials in CycloneDX's JSON.

The components are what each wheel needs when it is installed without extras, down to the last, in the versions of
`requirements-ci.txt`: those that the tests ran with. Needs `cyclonedx-python-lib` and `packaging` (they are in the extra `dev`), and
reads metadata of what is installed. It fetches nothing.
"""

from __future__ import annotations

import json
import re
import uuid
from collections.abc import Iterable, Mapping
from importlib import metadata
from pathlib import Path

from cyclonedx.model.bom import Bom
from cyclonedx.model.component import Component, ComponentType
from cyclonedx.output.json import JsonV1Dot6
from packageurl import PackageURL
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

PINNED = re.compile(r"^(?P<name>[\w.-]+)==(?P<version>[^\s;]+)", re.MULTILINE)


def bill(lock: Path, version: str, needs: Mapping[str, Iterable[str]]) -> str:
    """The bill of materials. The same input makes the same bytes.

    Args:
        lock: the versions, in pip's format.
        version: of the release.
        needs: by distribution of the release, what it requires, as its metadata has it (PEP 508).

    Raises:
        SystemExit: A requirement is in no row of the lock, or is not installed.
    """
    versions = {
        canonicalize_name(found["name"]): found["version"] for found in PINNED.finditer(lock.read_text("utf-8"))
    }
    edges: dict[str, tuple[str, ...]] = {canonicalize_name(name): _wanted(lines) for name, lines in needs.items()}
    versions |= dict.fromkeys(edges, version)
    whole = Component(name="acpgen-release", version=version, type=ComponentType.APPLICATION, bom_ref="release")
    waiting = [name for each in edges.values() for name in each]
    ours = sorted(edges)
    while waiting:
        name = waiting.pop()
        if name not in edges:
            edges[name] = _installed(name)
            waiting.extend(edges[name])
    if missing := sorted(edges.keys() - versions.keys()):
        raise SystemExit(
            f"{lock} has no row for {', '.join(missing)}, which a wheel of the release needs. Make the lock again."
        )
    components = {name: _component(name, versions[name]) for name in edges}
    text = json.dumps({name: [versions[name], edges[name]] for name in sorted(edges)})
    bom = Bom(serial_number=uuid.uuid5(uuid.NAMESPACE_OID, text), components=components.values())
    bom.metadata.component = whole
    bom.register_dependency(whole, [components[name] for name in ours])
    for name, wanted in edges.items():
        bom.register_dependency(components[name], [components[each] for each in wanted])
    made = json.loads(JsonV1Dot6(bom).output_as_string())
    del made["metadata"]["timestamp"]
    return json.dumps(made, indent=2) + "\n"


def _component(name: str, version: str) -> Component:
    purl = PackageURL("pypi", name=name, version=version)
    return Component(name=name, version=version, type=ComponentType.LIBRARY, bom_ref=str(purl), purl=purl)


def _wanted(lines: Iterable[str]) -> tuple[str, ...]:
    """Names that requirements ask for here."""
    found = set()
    for requirement in map(Requirement, lines):
        if requirement.marker is None or requirement.marker.evaluate({"extra": ""}):
            found.add(canonicalize_name(requirement.name))
    return tuple(sorted(found))


def _installed(name: str) -> tuple[str, ...]:
    try:
        return _wanted(metadata.requires(name) or ())
    except metadata.PackageNotFoundError:
        raise SystemExit(
            f"{name} is not installed, so what it needs is unknown. Install requirements-ci.txt."
        ) from None
