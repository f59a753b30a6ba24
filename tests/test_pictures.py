"""The pictures of the README are what the commands print today."""

from __future__ import annotations

import os
import struct
import zlib
from collections.abc import Iterator
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

import pictures


@pytest.mark.parametrize("name", pictures.PICTURES)
def test_a_picture_shows_what_the_command_prints(name: str, tmp_path: Path, request: pytest.FixtureRequest) -> None:
    made = pictures.PICTURES[name](tmp_path)
    if request.config.getoption("rewrite_goldens"):
        assert not os.environ.get("CI"), "goldens are rewritten by people, and read before they are committed"
        (pictures.FOLDER / name).write_text(made, "utf-8")
    assert (pictures.FOLDER / name).read_text("utf-8") == made


@pytest.mark.parametrize("name", pictures.PICTURES)
def test_a_picture_is_well_formed_and_asks_nothing_of_the_network(name: str) -> None:
    text = (pictures.FOLDER / name).read_text("utf-8")
    assert ET.fromstring(text).tag == "{http://www.w3.org/2000/svg}svg"
    assert text.count("://") == 1, "the address of the namespace alone"
    assert f"tests/golden/pictures/{name}" in (pictures.ROOT / "README.md").read_text("utf-8")


def test_the_picture_of_the_docs_is_one_of_the_page_that_it_names() -> None:
    content = (pictures.FOLDER / pictures.DOCS).read_bytes()
    assert content.startswith(pictures.PNG)
    assert struct.unpack(">II", content[16:24]) == pictures.SIZE
    assert len(content) < 300_000
    page = Path("generated/docs", pictures.PAGE).with_suffix(".md")
    assert (pictures.ROOT / page).is_file()
    assert f"](tests/golden/pictures/{pictures.DOCS})]({page.as_posix()})" in (pictures.ROOT / "README.md").read_text(
        "utf-8"
    )


def test_the_picture_of_the_docs_shows_the_page_as_it_is_now() -> None:
    found = pictures.digests((pictures.FOLDER / pictures.DOCS).read_bytes())
    assert found == [pictures.page_digest()], (
        f"{pictures.PAGE} has changed since its picture was taken: "
        "acpgen docs build --out /tmp/site && python tests/pictures.py /tmp/site"
    )


def test_a_picture_holds_the_digest_that_it_was_marked_with_and_shows_the_same() -> None:
    plain = b"".join(each for each in _chunks((pictures.FOLDER / pictures.DOCS).read_bytes()) if each[4:8] != b"tEXt")
    assert pictures.digests(plain) == []
    marked = pictures.marked(plain, "0" * 64)
    assert pictures.digests(marked) == ["0" * 64]
    for chunk in list(_chunks(marked))[1:]:
        assert struct.unpack(">I", chunk[-4:]) == (zlib.crc32(chunk[4:-4]),)
    assert b"".join(each for each in _chunks(marked) if each[4:8] != b"tEXt") == plain


def _chunks(picture: bytes) -> Iterator[bytes]:
    """The signature, then the chunks of a PNG file."""
    yield picture[: len(pictures.PNG)]
    at = len(pictures.PNG)
    while at < len(picture):
        end = at + struct.unpack(">I", picture[at : at + 4])[0] + 12
        yield picture[at:end]
        at = end
