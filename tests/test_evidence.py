"""What others published is pinned, brought as it is pinned, and never missed in silence."""

from __future__ import annotations

import base64
import hashlib
import io
import re
import sys
import tarfile
import zipfile
from collections.abc import Mapping
from pathlib import Path, PurePath

import pytest

import evidence
from evidence import Fault, Fetch, Package, bring, call, need, pins

TAR, ZIP = "one-1.0.tgz", "two-2.0-py3-none-any.whl"


def tar(files: Mapping[str, bytes]) -> bytes:
    made = io.BytesIO()
    with tarfile.open(fileobj=made, mode="w:gz") as archive:
        for name, content in files.items():
            member = tarfile.TarInfo(name)
            member.size = len(content)
            archive.addfile(member, io.BytesIO(content))
    return made.getvalue()


def zipped(files: Mapping[str, bytes]) -> bytes:
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w") as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return made.getvalue()


def package(content: bytes, files: Mapping[str, str], version: str = "1.0") -> Package:
    integrity = f"sha512-{base64.b64encode(hashlib.sha512(content).digest()).decode()}"
    return Package("npm", "@a/one", version, integrity, files)


def gives(content: bytes, fetched: list[str] | None = None) -> Fetch:
    def fetch(package: Package, into: Path) -> None:
        (into / TAR).write_bytes(content)
        if fetched is not None:
            fetched.append(str(package))

    return fetch


def files_below(folder: Path) -> dict[str, bytes]:
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


# --- the pins --------------------------------------------------------------------------------------------------------


def test_every_package_is_pinned_by_an_exact_version_and_a_hash_of_its_registrys_kind() -> None:
    kinds = {"npm": r"sha512-[A-Za-z0-9+/]{86}==", "pypi": r"sha256:[0-9a-f]{64}"}
    for pinned in pins().packages:
        assert re.fullmatch(kinds[pinned.registry], pinned.integrity), str(pinned)
        assert re.fullmatch(r"\d+(\.\d+)+", pinned.version), str(pinned)


def test_a_name_is_brought_by_one_package_or_kept_apart_for_a_reason() -> None:
    brought = [there for pinned in pins().packages for there in pinned.files.values()]
    assert len({*brought, *pins().apart}) == len(brought) + len(pins().apart)
    assert all(len(reason.split()) > 3 for reason in pins().apart.values())
    for name in (*brought, *pins().apart):
        assert not PurePath(name).is_absolute() and ".." not in PurePath(name).parts


# --- bringing --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("archive", [tar, zipped])
def test_files_and_folders_of_an_archive_get_the_names_that_are_pinned(archive: object, tmp_path: Path) -> None:
    members = {"top/a.json": b"1", "top/suite/b.json": b"2", "top/suite/more/c.json": b"3", "top/else.json": b"4"}
    content = tar(members) if archive is tar else zipped(members)
    wanted = package(content, {"top/a.json": "one/a.json", "top/suite/": "suite/"})
    assert list(bring((wanted,), tmp_path, gives(content))) == []
    assert files_below(tmp_path / "files") == {
        "one/a.json": b"1",
        "suite/b.json": b"2",
        "suite/more/c.json": b"3",
    }


def test_what_is_there_is_not_fetched_again_and_what_is_no_longer_pinned_goes(tmp_path: Path) -> None:
    content = tar({"a": b"1", "b": b"2"})
    fetched: list[str] = []
    assert list(bring((package(content, {"a": "a", "b": "b"}),), tmp_path, gives(content, fetched))) == []
    assert list(bring((package(content, {"a": "a"}),), tmp_path, gives(content, fetched))) == []
    assert fetched == ["@a/one 1.0"]
    assert files_below(tmp_path / "files") == {"a": b"1"}


def test_an_archive_that_was_damaged_here_is_fetched_again(tmp_path: Path) -> None:
    content = tar({"a": b"1"})
    wanted = package(content, {"a": "a"})
    assert list(bring((wanted,), tmp_path, gives(content))) == []
    (archive,) = (tmp_path / "archives").iterdir()
    archive.write_bytes(b"damaged")
    assert list(bring((wanted,), tmp_path, gives(content))) == []
    assert archive.read_bytes() == content


def test_an_archive_with_another_hash_is_refused_and_what_was_brought_before_stays(tmp_path: Path) -> None:
    content, other = tar({"a": b"1"}), tar({"a": b"2"})
    assert list(bring((package(content, {"a": "a"}),), tmp_path, gives(content))) == []
    (fault,) = bring((package(content, {"a": "a"}, "1.1"),), tmp_path, gives(other))
    assert re.match(r"@a/one 1\.1 has the hash sha512-\S+, but evidence\.toml pins sha512-", str(fault))
    assert files_below(tmp_path / "files") == {"a": b"1"}
    assert sorted(path.name for path in tmp_path.iterdir()) == ["archives", "files"]
    assert len(list((tmp_path / "archives").iterdir())) == 1


def test_a_file_that_the_archive_lacks_and_a_member_that_leads_out_of_it_are_faults(tmp_path: Path) -> None:
    content = tar({"a": b"1"})
    (fault,) = bring((package(content, {"a": "a", "b/": "b/"}),), tmp_path, gives(content))
    assert str(fault) == "@a/one 1.0 has no b/"
    content = tar({"../a": b"1"})
    (fault,) = bring((package(content, {"a": "a"}, "1.1"),), tmp_path, gives(content))
    assert str(fault) == "an archive has the member '../a', which leads out of it"


def test_every_package_is_tried_and_every_fault_is_told(tmp_path: Path) -> None:
    def fetch(package: Package, into: Path) -> None:
        call(package, [sys.executable, "-c", "import sys; print('ERROR: no way'); sys.exit(1)"], into)

    content = tar({"a": b"1"})
    wanted = tuple(package(content, {"a": "a"}, version) for version in ("1.0", "1.1"))
    assert [str(fault) for fault in bring(wanted, tmp_path, fetch)] == [
        f"@a/one {version} was not fetched: ERROR: no way; check the connection to the registry"
        for version in ("1.0", "1.1")
    ]


def test_a_client_that_is_not_installed_is_a_fault_that_says_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def nothing(name: str) -> None:
        """What looks for a program or a module finds none."""

    monkeypatch.setattr("shutil.which", nothing)
    for looked_in in ("importlib.util", "javascript"):
        monkeypatch.setattr(f"{looked_in}.find_spec", nothing)
    for registry, told in (("npm", "install Node.js"), ("pypi", "install pip")):
        with pytest.raises(Fault, match=told):
            evidence.FETCH[registry](package(b"", {}), tmp_path)


# --- reading ---------------------------------------------------------------------------------------------------------


@pytest.fixture
def empty(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A machine that has nothing."""
    monkeypatch.setattr(evidence, "FOLDER", tmp_path / "brought")
    monkeypatch.setattr(evidence, "SHARED", tmp_path / "shared")
    return tmp_path


def test_what_was_not_brought_skips_the_test_and_in_ci_fails_it(empty: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    name = "upstream/acp-v1-newest/schema.json"
    monkeypatch.delenv("CI", raising=False)
    with pytest.raises(pytest.skip.Exception, match=r"python tests/evidence\.py"):
        need(name)
    monkeypatch.setenv("CI", "true")
    with pytest.raises(pytest.fail.Exception, match=r"python tests/evidence\.py"):
        need(name)
    with pytest.raises(pytest.fail.Exception):
        need("json-schema-test-suite/draft2020-12")


def test_what_no_package_carries_skips_the_test_with_its_reason_in_ci_too(
    empty: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CI", "true")
    for name, reason in pins().apart.items():
        with pytest.raises(pytest.skip.Exception, match=re.escape(reason)):
            need(name)


def test_a_name_that_is_not_listed_is_a_mistake_of_the_test(empty: Path) -> None:
    with pytest.raises(AssertionError, match=r"not in evidence\.toml"):
        need("upstream/acp-v3/schema.json")


def test_what_was_brought_is_read_before_what_is_kept_apart(empty: Path) -> None:
    for folder in ("brought/files", "shared/data"):
        (empty / folder / "corpus").mkdir(parents=True)
        (empty / folder / "corpus" / "v1.jsonl").write_text(folder)
    assert evidence.path("corpus/v1.jsonl").read_text() == "brought/files"
    (empty / "brought/files/corpus/v1.jsonl").unlink()
    assert evidence.path("corpus/v1.jsonl").read_text() == "shared/data"
    need("corpus/v1.jsonl")


def test_what_is_pinned_is_known_where_nothing_is_at_hand(empty: Path) -> None:
    names = evidence.known("upstream/*/schema*.json")
    assert len(names) == 10
    assert set(names) < {there for pinned in pins().packages for there in pinned.files.values()}
