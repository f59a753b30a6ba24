"""A release, built in a folder of its own as the workflow builds it: everything is there, complete and installable."""

from __future__ import annotations

import hashlib
import json
import re
import shutil
import subprocess
import sys
import tarfile
import tomllib
import uuid
import zipfile
from functools import partial
from pathlib import Path
from typing import Any, Final

import pytest
import yaml
from cyclonedx.schema import SchemaVersion
from cyclonedx.validation.json import JsonStrictValidator

import acpgen
from conformance.vectors import protocol

ROOT: Final = Path(__file__).parents[1]
PROTOCOLS: Final = ("acp/v1", "acp/v2", "mcp/2025-06-18")
"""Those whose schemas and vectors are checked in."""

WORKFLOW: Final = ROOT / ".github" / "workflows" / "release.yml"


@pytest.fixture(scope="module")
def copy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What a release is built from, apart from this checkout, with the vectors of the schema at hand."""
    folder = tmp_path_factory.mktemp("release") / "acpgen"
    leave = shutil.ignore_patterns("__pycache__", "dist", "build", "*.egg-info")
    for name in (".ci", "generator", "templates", "schema", "generated"):
        shutil.copytree(ROOT / name, folder / name, ignore=leave)
    for path in ROOT.iterdir():
        if path.suffix in (".md", ".toml") or path.name in ("LICENSE", "requirements-ci.txt"):
            shutil.copy(path, folder)
    for name in PROTOCOLS:
        for file, text in protocol(name).files.items():
            place = folder / "generated" / "vectors" / (name if "/" in file or file == "index.json" else "") / file
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_text(text, "utf-8")
    return folder


@pytest.fixture(scope="module")
def released(copy: Path) -> Path:
    """The folder of a release. Nothing is fetched."""
    command = [sys.executable, ".ci/release.py", "--out", "out", "--no-isolation"]
    ran = subprocess.run(command, cwd=copy, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    return copy / "out"


def distributions(folder: Path) -> dict[str, dict[str, Any]]:
    """The `project` tables of the distributions beside acpgen, by name."""
    files = sorted(
        path for place in ("generated/python", "generator") for path in (folder / place).glob("*/pyproject.toml")
    )
    projects = [tomllib.loads(file.read_text("utf-8"))["project"] for file in files]
    return {project["name"]: project for project in projects}


def test_a_release_carries_schemas_method_tables_vectors_wheels_and_sums(copy: Path, released: Path) -> None:
    names = {path.name for path in released.iterdir()}
    for name in PROTOCOLS:
        flat = name.replace("/", "-")
        for kind in ("schema.json", "meta.json"):
            checked_in = copy / "generated" / "schema" / name / kind
            assert (released / f"{flat}.{kind}").read_bytes() == checked_in.read_bytes()
    wheels = {name.split("-")[0].replace("_", "-") for name in names if name.endswith(".whl")}
    assert wheels == {"acpgen", *distributions(copy)}
    assert {
        "acp-bindings",
        "acp-monitor",
        "acp-session",
        "acp-workspace",
        "jsonrpc-bindings",
        "mcp-bindings",
        "schema-inclusion",
    } <= wheels
    assert {name.split("-")[1] for name in names if name.endswith(".whl")} == {acpgen.__version__}
    lines = (released / "SHA256SUMS").read_text("utf-8").splitlines()
    hashed = {name: hashlib.sha256((released / name).read_bytes()).hexdigest() for name in names - {"SHA256SUMS"}}
    assert lines == [f"{hashed[name]}  {name}" for name in sorted(hashed)]


def test_each_wheel_holds_its_package_typed_and_with_the_licence(copy: Path, released: Path) -> None:
    for wheel in released.glob("*.whl"):
        with zipfile.ZipFile(wheel) as archive:
            names = archive.namelist()
            (licence,) = [name for name in names if name.endswith(".dist-info/licenses/LICENSE")]
            assert archive.read(licence) == (ROOT / "LICENSE").read_bytes()
            metadata = archive.read(next(name for name in names if name.endswith(".dist-info/METADATA"))).decode()
        packages = {name.split("/")[0] for name in names if ".dist-info/" not in name}
        package = wheel.name.split("-")[0]
        assert packages == ({package, "schema_inclusion"} if package == "acpgen" else {package})
        assert {f"{each}/{name}" for each in packages for name in ("py.typed", "__init__.py")} <= set(names)
        assert not [name for name in names if "__pycache__" in name or name.endswith(".acpgen.json")]
        assert "License-Expression: Apache-2.0" in metadata
        assert "Requires-Python: >=3.11" in metadata
        for place in ("generated/python", "generator"):
            source = copy / place / package.replace("_", "-")
            if not (source / "pyproject.toml").is_file():
                continue
            files = {path.relative_to(source).as_posix() for path in (source / package).rglob("*") if path.is_file()}
            assert {name for name in names if ".dist-info/" not in name} == files


def test_the_wheel_of_the_prover_holds_what_that_of_acpgen_holds_of_it_and_answers(
    released: Path, tmp_path: Path
) -> None:
    held: list[dict[str, bytes]] = []
    for name in ("acpgen", "schema_inclusion"):
        with zipfile.ZipFile(next(released.glob(f"{name}-*.whl"))) as archive:
            names = [each for each in archive.namelist() if each.startswith("schema_inclusion/")]
            held.append({each: archive.read(each) for each in names})
            if name == "schema_inclusion":
                archive.extractall(tmp_path)
    assert held[0] == held[1]
    (tmp_path / "old.json").write_text('{"type": "integer"}', "utf-8")
    (tmp_path / "new.json").write_text('{"type": "number"}', "utf-8")
    command = [sys.executable, "-m", "schema_inclusion", "old.json", "new.json"]
    ran = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert ran.returncode == 0 and "one? yes" in ran.stdout


def test_the_packed_vectors_are_those_that_are_checked_in(copy: Path, released: Path) -> None:
    folder = copy / "generated" / "vectors"
    with tarfile.open(released / "vectors.tar.gz") as archive:
        packed = {entry.name: archive.extractfile(entry) for entry in archive.getmembers()}
        contents = {name.removeprefix("vectors/"): file.read() for name, file in packed.items() if file is not None}
    files = (path for path in folder.rglob("*") if path.is_file() and path.name != ".acpgen.json")
    assert contents == {path.relative_to(folder).as_posix(): path.read_bytes() for path in files}
    for line in contents["acp/v1/methods/initialize.jsonl"].splitlines():
        assert json.loads(line)["method"] == "initialize"


def test_the_bill_of_materials_names_everything_that_the_wheels_need_and_nothing_of_the_tests(released: Path) -> None:
    text = (released / "sbom.cdx.json").read_text("utf-8")
    problems = JsonStrictValidator(SchemaVersion.V1_6).validate_str(text)
    assert problems is None, problems
    bill = json.loads(text)
    assert uuid.UUID(bill["serialNumber"].removeprefix("urn:uuid:"))
    found = {each["name"]: each["version"] for each in bill["components"]}
    wheels = {path.name.split("-")[0].replace("_", "-") for path in released.glob("*.whl")}
    assert {found[name] for name in wheels} == {acpgen.__version__}
    others = {name: version for name, version in found.items() if name not in wheels}
    lock = (ROOT / "requirements-ci.txt").read_text("utf-8")
    assert all(f"\n{name}=={version} " in f"\n{lock}" for name, version in others.items())
    assert {"pydantic", "pydantic-core", "typer", "jinja2", "markupsafe"} <= others.keys()
    assert not {"pytest", "hypothesis", "mypy", "playwright"} & others.keys()
    rows = lock.replace("\\\n", "").splitlines()
    optional = {each["name"] for each in bill["components"] if each["scope"] == "optional"}
    assert "zensical" in optional and not {"pydantic", "typer", "acpgen"} & optional
    for each in bill["components"]:
        name = each["name"].replace("-", "_")
        if each["name"] in wheels:
            (wheel,) = released.glob(f"{name}-*.whl")
            assert [one["content"] for one in each["hashes"]] == [hashlib.sha256(wheel.read_bytes()).hexdigest()]
        else:
            (row,) = (one for one in rows if one.startswith(f"{each['name']}=="))
            admitted = sorted(re.findall(r"sha256:([0-9a-f]{64})", row))
            assert sorted(one["value"] for one in each["properties"] if one["name"] == "lock:sha256") == admitted != []
    edges = {each["ref"]: each.get("dependsOn", []) for each in bill["dependencies"]}
    assert f"pkg:pypi/markupsafe@{others['markupsafe']}" in edges[f"pkg:pypi/jinja2@{others['jinja2']}"]


@pytest.mark.exhaustive
def test_a_second_build_makes_the_same_bytes(copy: Path, released: Path) -> None:
    command = [sys.executable, ".ci/release.py", "--out", "again", "--no-isolation"]
    ran = subprocess.run(command, cwd=copy, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert (copy / "again" / "SHA256SUMS").read_bytes() == (released / "SHA256SUMS").read_bytes()


def test_an_old_release_is_not_mixed_with_a_new_one(copy: Path, released: Path) -> None:
    command = [sys.executable, ".ci/release.py", "--out", str(released), "--no-isolation"]
    ran = subprocess.run(command, cwd=copy, capture_output=True, text=True, check=False)
    assert ran.returncode == 1
    assert "is not empty" in ran.stderr


def test_the_wheels_of_the_bindings_work_where_they_are_unpacked(released: Path, tmp_path: Path) -> None:
    for wheel in released.glob("*_bindings-*.whl"):
        with zipfile.ZipFile(wheel) as archive:
            archive.extractall(tmp_path)
    code = (
        "import json; from acp_bindings import v1; from mcp_bindings import roots; "
        'line = b\'{"jsonrpc":"2.0","id":1,"method":"session/close","params":{"sessionId":"s"}}\'; '
        "same = json.loads(v1.encode(v1.decode(line, sender='client'))) == json.loads(line); "
        "print(same, 'roots/list' in roots.METHODS)"
    )
    ran = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert ran.stdout == "True True\n", ran.stderr


@pytest.mark.exhaustive
def test_the_wheels_are_a_wheelhouse_from_which_pip_installs_by_name(released: Path, tmp_path: Path) -> None:
    call = partial(subprocess.run, cwd=tmp_path, check=True, capture_output=True, text=True)
    call([sys.executable, "-m", "venv", "--without-pip", "empty"])
    (place,) = (tmp_path / "empty").rglob("site-packages")
    (place / "beside.pth").write_text("\n".join(path for path in sys.path if "site-packages" in path), "utf-8")
    wanted = ("acpgen", "acp-session", "acp-workspace", "acp-bindings", "jsonrpc-bindings")
    options = (
        "--ignore-installed",
        "--no-deps",
        "--no-index",
        "--find-links",
        str(released),
        "--disable-pip-version-check",
    )
    call([sys.executable, "-m", "pip", "--python", "empty", "install", *options, *wanted])
    (program,) = (tmp_path / "empty").glob("*/acpgen*")
    assert "IDENTICAL" in call([str(program), "diff", "acp/v2", "acp/v2"]).stdout
    call([str(program.with_name("python")), "-c", "import acp_session, acp_bindings.v1.peers"])


def test_the_workflow_runs_the_same_script() -> None:
    workflow = yaml.safe_load(WORKFLOW.read_text("utf-8"))
    assert workflow[True] == {"push": {"tags": ["v*"]}}  # YAML 1.1 reads the key `on` as true
    assert workflow["permissions"] == {"contents": "read"}
    build, publish = workflow["jobs"]["build"], workflow["jobs"]["publish"]
    assert any(".ci/release.py --out dist" in step.get("run", "") for step in build["steps"])
    assert any("acpgen generate --check" in step.get("run", "") for step in build["steps"])
    assert publish["permissions"] == {"contents": "write", "id-token": "write", "attestations": "write"}
    assert any("gh release create" in step.get("run", "") for step in publish["steps"])
    assert not any(
        "--clobber" in step.get("run", "") or "gh release upload" in step.get("run", "") for step in publish["steps"]
    )
    attested = [step["with"] for step in publish["steps"] if step.get("uses", "").startswith("actions/attest@")]
    assert attested == [
        {"subject-path": "dist/*"},
        {"subject-path": "dist/*.whl", "sbom-path": "dist/sbom.cdx.json"},
    ]
    index = workflow["jobs"]["index"]
    assert index["permissions"] == {"id-token": "write"}
    assert index["environment"] == {"name": "pypi"}
    assert "password" not in str(index)
    for step in [*build["steps"], *publish["steps"]]:
        subprocess.run(["bash", "-n", "-c", step.get("run", "")], check=True)
