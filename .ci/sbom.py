"""What the wheels of a release are made of: a bill of materials in CycloneDX's JSON.

The components are what each wheel needs when it is installed, down to the last, in the versions of `requirements-ci.txt`: those that the
tests ran with. What only extras need is `optional`; the extra `dev` is left out. Of the release's own wheels it has the hash of the file,
of the others, in the property `lock:sha256`, those of the files that the lock admits. Needs `cyclonedx-python-lib` and `packaging` (they
are in the extra `dev`), and reads metadata of what is installed. It fetches nothing.
"""

from __future__ import annotations

import json
import uuid
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from cyclonedx.model import HashAlgorithm, HashType, Property
from cyclonedx.model.bom import Bom
from cyclonedx.model.component import Component, ComponentScope, ComponentType
from cyclonedx.output.json import JsonV1Dot6
from lock import Needs, Row, rows
from packageurl import PackageURL
from packaging.utils import canonicalize_name

_NOT_RELEASED = "dev"


@dataclass(frozen=True)
class Wheel:
    """A wheel of the release: what its metadata requires (PEP 508), the extras that it has, and the hash of its bytes."""

    requires: tuple[str, ...]
    extras: tuple[str, ...]
    sha256: str


def bill(lock: Path, version: str, wheels: Mapping[str, Wheel]) -> str:
    """The bill of materials. The same input makes the same bytes.

    Args:
        lock: the versions, in pip's format.
        version: of the release.
        wheels: what is released, by distribution.

    Raises:
        SystemExit: A requirement is in no row of the lock, or is not installed.
    """
    own: dict[str, Wheel] = {canonicalize_name(name): wheel for name, wheel in wheels.items()}
    required = {name: wheel.requires for name, wheel in own.items()}
    plain, whole = Needs(required), Needs(required)
    for name, wheel in own.items():
        plain.add([name])
        whole.add([f"{name}[{','.join(each for each in wheel.extras if each != _NOT_RELEASED)}]"])
    known: dict[str, Row] = {**rows(lock), **{name: Row(version, (wheel.sha256,)) for name, wheel in own.items()}}
    if missing := sorted(whole.edges.keys() - known.keys()):
        raise SystemExit(
            f"{lock} has no row for {', '.join(missing)}, which a wheel of the release needs. Make the lock again."
        )
    release = Component(name="acpgen-release", version=version, type=ComponentType.APPLICATION, bom_ref="release")
    components = {
        name: _component(name, known[name], is_own=name in own, is_optional=name not in plain.edges)
        for name in sorted(whole.edges)
    }
    text = json.dumps(
        {name: [known[name].version, known[name].hashes, sorted(whole.edges[name])] for name in components}
    )
    bom = Bom(serial_number=uuid.uuid5(uuid.NAMESPACE_OID, text), components=components.values())
    bom.metadata.component = release
    bom.register_dependency(release, [components[name] for name in sorted(own)])
    for name, component in components.items():
        bom.register_dependency(component, [components[each] for each in sorted(whole.edges[name])])
    made = json.loads(JsonV1Dot6(bom).output_as_string())
    del made["metadata"]["timestamp"]
    return json.dumps(made, indent=2) + "\n"


def _component(name: str, row: Row, *, is_own: bool, is_optional: bool) -> Component:
    purl = PackageURL("pypi", name=name, version=row.version)
    return Component(
        name=name,
        version=row.version,
        type=ComponentType.LIBRARY,
        bom_ref=str(purl),
        purl=purl,
        scope=ComponentScope.OPTIONAL if is_optional else ComponentScope.REQUIRED,
        hashes=[HashType(alg=HashAlgorithm.SHA_256, content=each) for each in row.hashes] if is_own else (),
        properties=() if is_own else [Property(name="lock:sha256", value=each) for each in row.hashes],
    )
