"""Builds everything that a release carries, into one flat folder: schemas, method tables, vectors, wheels, what
these are made of (`sbom.cdx.json`), and checksums.

    python .ci/release.py [--out dist] [--no-isolation]

Needs the extra `dev`. What is released is what is checked in: run `acpgen generate --check` first, as CI does. With
`--no-isolation` the build back end that is installed is used and nothing is fetched.
"""

from __future__ import annotations

import argparse
import gzip
import hashlib
import io
import shutil
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from collections.abc import Iterable
from email.parser import Parser
from pathlib import Path

from sbom import Wheel, bill

ROOT = Path(__file__).resolve().parents[1]


def main() -> None:
    """Build all of it, or stop at the first thing that is not there."""
    parser = argparse.ArgumentParser(description="Build what a release carries.")
    parser.add_argument("--out", type=Path, default=Path("dist"), help="the folder to fill; it must be empty or absent")
    parser.add_argument("--no-isolation", action="store_true", help="build with what is installed, and fetch nothing")
    options = parser.parse_args()
    out: Path = options.out.resolve()
    if out.exists() and any(out.iterdir()):
        sys.exit(f"{out} is not empty. Name another folder, or empty it.")
    out.mkdir(parents=True, exist_ok=True)
    copy_schemas(out)
    pack_vectors(out)
    wheel(ROOT, out, isolated=not options.no_isolation)
    for project in distributions():
        with tempfile.TemporaryDirectory() as folder:
            copied = Path(folder) / project.parent.name
            shutil.copytree(project.parent, copied, ignore=shutil.ignore_patterns("__pycache__", ".acpgen.json"))
            shutil.copy(ROOT / "LICENSE", copied)
            wheel(copied, out, isolated=not options.no_isolation)
    write_bill(out)
    write_sums(out)
    for path in sorted(out.iterdir()):
        print(f"{path.stat().st_size:>9} {path.name}")


def distributions() -> list[Path]:
    """The pyproject.toml of each distribution beside acpgen: the generated ones, and those that are written by hand."""
    return [
        path for place in ("generated/python", "generator") for path in sorted((ROOT / place).glob("*/pyproject.toml"))
    ]


def copy_schemas(out: Path) -> None:
    """`schema.json` and `meta.json` of each protocol, with the protocol in the name: attachments have no folders."""
    folder = ROOT / "generated" / "schema"
    found = [path for name in ("schema.json", "meta.json") for path in sorted(folder.rglob(name))]
    if not found:
        sys.exit(f"{folder} holds no schema. Run acpgen generate.")
    for path in found:
        protocol = "-".join(path.parent.relative_to(folder).parts)
        shutil.copyfile(path, out / f"{protocol}.{path.name}")


def pack_vectors(out: Path) -> None:
    """The conformance vectors as one archive, whose bytes depend on their content alone."""
    folder = ROOT / "generated" / "vectors"
    files = sorted(path for path in folder.rglob("*") if path.is_file() and path.name != ".acpgen.json")
    if not any(path.suffix == ".jsonl" for path in files):
        sys.exit(f"{folder} holds no vectors. Run acpgen generate.")
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w", format=tarfile.PAX_FORMAT) as archive:
        for path in files:
            entry = tarfile.TarInfo(f"vectors/{path.relative_to(folder).as_posix()}")
            entry.size = path.stat().st_size
            with path.open("rb") as content:
                archive.addfile(entry, content)
    (out / "vectors.tar.gz").write_bytes(gzip.compress(packed.getvalue(), mtime=0))


def wheel(project: Path, out: Path, *, isolated: bool) -> None:
    """The wheel of one project."""
    command = [sys.executable, "-m", "build", "--wheel", "--outdir", str(out), str(project)]
    subprocess.run([*command, *([] if isolated else ["--no-isolation"])], check=True, stdout=subprocess.DEVNULL)  # noqa: S603 - a fixed command


def write_bill(out: Path) -> None:
    """`sbom.cdx.json`: what the wheels need, as their metadata says it."""
    wheels: dict[str, Wheel] = {}
    versions = set()
    for path in sorted(out.glob("*.whl")):
        with zipfile.ZipFile(path) as archive:
            (name,) = (each for each in archive.namelist() if each.endswith(".dist-info/METADATA"))
            told = Parser().parsestr(archive.read(name).decode())
        wheels[told["Name"]] = Wheel(
            tuple(told.get_all("Requires-Dist") or ()),
            tuple(told.get_all("Provides-Extra") or ()),
            hashlib.sha256(path.read_bytes()).hexdigest(),
        )
        versions.add(told["Version"])
    (version,) = versions
    (out / "sbom.cdx.json").write_text(bill(ROOT / "requirements-ci.txt", version, wheels), encoding="utf-8")


def write_sums(out: Path) -> None:
    """`SHA256SUMS`, as `sha256sum --check` reads it."""
    (out / "SHA256SUMS").write_text("".join(sums(sorted(out.iterdir()))), encoding="utf-8")


def sums(paths: Iterable[Path]) -> Iterable[str]:
    """A line for each file."""
    for path in paths:
        yield f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {path.name}\n"


if __name__ == "__main__":
    main()
