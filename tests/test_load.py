"""Reading: strict JSON with exact places, the meta-schema, and nothing from outside the folder."""

from __future__ import annotations

import codecs
import json
import os
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import evidence
from acpgen.errors import Fault, Faults
from acpgen.input import positions
from acpgen.input.faults import (
    DUPLICATE_KEY,
    LINK_REFUSED,
    NO_FILES,
    NOT_A_SCHEMA,
    NOT_AN_OBJECT,
    NOT_FOUND,
    NOT_JSON,
    NOT_REGULAR,
    NOT_REPRESENTABLE,
    TOO_DEEP,
    TOO_LARGE,
    UNKNOWN_DIALECT,
    WRONG_ENCODING,
)
from acpgen.input.load import LARGEST, check, load, parse_json, read
from acpgen.ir import JSON
from acpgen.pointers import split_pointer, write_plain_pointer

DIALECT = "https://json-schema.org/draft/2020-12/schema"

VALUES: st.SearchStrategy[JSON] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=9),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=6), inner, max_size=4),
    max_leaves=20,
)


def faults_of(path: Path) -> tuple[Fault, ...]:
    with pytest.raises(Faults) as caught:
        load(path)
    return caught.value.faults


def faults_in(text: str) -> tuple[Fault, ...]:
    with pytest.raises(Faults) as caught:
        parse_json(text, "x.json")
    return caught.value.faults


# --- what is read ----------------------------------------------------------------------------------------------------


def test_a_folder_is_read_with_its_folders_in_the_order_of_paths(tmp_path: Path) -> None:
    for name in ("b.json", "a/z.json", "a.json", ".hidden.json", ".git/x.json", "notes.txt"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text('{"title": "é"}', encoding="utf-8")
    documents = load(tmp_path, name="acme/v1")
    assert documents.name == "acme/v1"
    assert [document.path for document in documents.documents] == ["a.json", "a/z.json", "b.json"]
    assert documents.documents[0].value == {"title": "é"}
    assert documents.documents[0].text == '{"title": "é"}'


def test_a_file_lends_its_name_and_a_folder_too(tmp_path: Path) -> None:
    (tmp_path / "v7").mkdir()
    (tmp_path / "v7" / "schema.json").write_text("{}")
    assert load(tmp_path / "v7").name == "v7"
    assert load(tmp_path / "v7" / "schema.json").name == "schema"
    assert load(tmp_path / "v7" / "schema.json").documents[0].path == "schema.json"


def test_every_published_schema_is_read_and_accepted() -> None:
    names = evidence.known("upstream/*/schema*.json")
    assert len(names) > 9
    evidence.need(*names)
    for file in map(evidence.path, names):
        assert load(file).documents[0].value == json.loads(file.read_text(encoding="utf-8"))


def test_all_faults_of_all_files_are_told_at_once(tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text("{")
    (tmp_path / "b.json").write_text("[]")
    (tmp_path / "c.json").write_text('{"type": "strng", "minLength": -1}')
    assert [fault.kind for fault in faults_of(tmp_path)] == [NOT_JSON, NOT_AN_OBJECT, NOT_A_SCHEMA, NOT_A_SCHEMA]


# --- what is refused: files ------------------------------------------------------------------------------------------


def test_a_path_that_is_nowhere_an_empty_folder_and_a_pipe_are_refused(tmp_path: Path) -> None:
    assert faults_of(tmp_path / "nowhere") == (NOT_FOUND(at=(tmp_path / "nowhere").as_posix()),)
    assert faults_of(tmp_path) == (NO_FILES(at=tmp_path.as_posix()),)
    os.mkfifo(tmp_path / "pipe.json")
    assert faults_of(tmp_path / "pipe.json") == (NOT_REGULAR(at=(tmp_path / "pipe.json").as_posix()),)
    assert faults_of(tmp_path) == (NOT_REGULAR(at=(tmp_path / "pipe.json").as_posix()),)


def test_a_name_that_no_system_takes_is_a_fault() -> None:
    for name in ("x\0y", "x" * 5000):
        with pytest.raises(Faults):
            read(Path(name))


def test_links_stay_inside_the_folder_and_lead_to_files(tmp_path: Path) -> None:
    root = tmp_path / "schema"
    (root / "inner").mkdir(parents=True)
    (root / "a.json").write_text("{}")
    (tmp_path / "secret.json").write_text("{}")
    (root / "fine.json").symlink_to("a.json")
    assert [document.path for document in load(root).documents] == ["a.json", "fine.json"]
    for name, target in (
        ("out.json", "../secret.json"),
        ("absolute.json", tmp_path / "secret.json"),
        ("dangling.json", "nothing.json"),
        ("loop.json", "loop.json"),
        ("up", ".."),
        ("again", "inner"),
    ):
        (root / name).symlink_to(target)
        assert faults_of(root) == (LINK_REFUSED(at=(root / name).as_posix()),)
        (root / name).unlink()


# --- a file and what it refers to ------------------------------------------------------------------------------------


def refers(*references: str) -> str:
    return json.dumps({"$defs": {f"D{number}": {"$ref": each} for number, each in enumerate(references)}})


def beside(path: Path) -> list[str]:
    """The files that a file is read with."""
    found = read(path)
    assert [each for each, _ in found.files] == [path.name]
    return [each for each, _ in found.discovered_files]


def test_a_file_is_read_with_the_files_below_its_folder_that_references_name(tmp_path: Path) -> None:
    (tmp_path / "in" / "deep").mkdir(parents=True)
    (tmp_path / "main.json").write_text(refers("in/b.json#/$defs/B", "#/$defs/D0", "with%20space.json", "main.json"))
    (tmp_path / "in" / "b.json").write_text(refers("deep/c.json", "../main.json#/$defs/D0", "../d.json"))
    (tmp_path / "in" / "deep" / "c.json").write_text('{"$defs": {"C": {"$dynamicRef" : "../b.json#x"}}}')
    (tmp_path / "with space.json").write_text("{}")
    (tmp_path / "d.json").write_text("{}")
    (tmp_path / "other.json").write_text("{ not read")
    assert beside(tmp_path / "main.json") == ["d.json", "in/b.json", "in/deep/c.json", "with space.json"]


def test_what_a_file_refers_to_above_its_folder_hidden_or_elsewhere_is_not_read(tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    for name in ("up.json", "in/.hidden.json", "in/text.yaml", "in/x.json"):
        (tmp_path / name).write_text("{}")
    away = (
        "../up.json",
        ".hidden.json",
        "text.yaml",
        f"{tmp_path}/up.json",
        f"file://{tmp_path}/up.json",
        "nowhere.json",
    )
    (tmp_path / "in" / "main.json").write_text(refers(*away, "https://x.example/x.json", "x.json?y", "a\\u0000.json"))
    assert beside(tmp_path / "in" / "main.json") == []


def test_what_a_file_refers_to_is_held_to_the_rules_of_a_folder(tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    main = tmp_path / "in" / "main.json"
    main.write_text(refers("b.json"))
    (tmp_path / "out.json").write_text("{}")
    sibling = tmp_path / "in" / "b.json"
    sibling.symlink_to(tmp_path / "out.json")
    assert [fault.kind for fault in faults_of(main)] == [LINK_REFUSED]
    sibling.unlink()
    os.mkfifo(sibling)
    assert [fault.kind for fault in faults_of(main)] == [LINK_REFUSED]
    sibling.unlink()
    sibling.write_text("{")
    assert [fault.at for fault in faults_of(main)] == [f"{sibling}:1:2"]
    sibling.write_bytes(b" " * LARGEST)
    (tmp_path / "in" / "c.json").write_bytes(b" " * 99)
    main.write_text(refers("b.json", "c.json"))
    assert TOO_LARGE in [fault.kind for fault in faults_of(main)]


def test_the_folder_itself_may_be_a_link(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "real" / "a.json").write_text("{}")
    (tmp_path / "link").symlink_to("real")
    assert [document.path for document in load(tmp_path / "link").documents] == ["a.json"]


def test_size_is_limited_over_all_files_together(tmp_path: Path) -> None:
    for name in ("a.json", "b.json", "c.json"):
        with (tmp_path / name).open("wb") as file:
            file.truncate(LARGEST // 2)
    assert faults_of(tmp_path) == (TOO_LARGE(at=(tmp_path / "c.json").as_posix(), mebibytes=LARGEST >> 20),)
    with (tmp_path / "a.json").open("wb") as file:
        file.truncate(LARGEST + 1)
    assert faults_of(tmp_path / "a.json") == (TOO_LARGE(at=(tmp_path / "a.json").as_posix(), mebibytes=LARGEST >> 20),)


@pytest.mark.parametrize(
    ("content", "where", "found"),
    [
        (codecs.BOM_UTF8 + b"{}", "", "the file begins with a byte order mark"),
        ("{}".encode("utf-16"), "", "the file is UTF-16 or UTF-32"),
        ("{}".encode("utf-32"), "", "the file is UTF-16 or UTF-32"),
        (codecs.BOM_UTF16_BE + "{}".encode("utf-16-be"), "", "the file is UTF-16"),
        (codecs.BOM_UTF32_BE + "{}".encode("utf-32-be"), "", "the file is UTF-32"),
        ('{"ä":\n "é"}'.encode("latin-1"), ":1:3", "byte 0xe4 is not UTF-8"),
        ('{"ä":\n '.encode() + b'"\xed\xa0\x80"}', ":2:3", "byte 0xed is not UTF-8"),
    ],
)
def test_other_encodings_are_refused(tmp_path: Path, content: bytes, where: str, found: str) -> None:
    (tmp_path / "a.json").write_bytes(content)
    assert faults_of(tmp_path) == (WRONG_ENCODING(at=f"{(tmp_path / 'a.json').as_posix()}{where}", found=found),)


# --- what is refused: text -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "where", "reason"),
    [
        ("", "1:1", "expected a value, and the text ends here"),
        ("  \n ", "2:2", "expected a value, and the text ends here"),
        ("{", "1:2", "expected a key in double quotes, and the text ends here"),
        ('{"a"', "1:5", "expected ':' after the key, and the text ends here"),
        ('{"a" 1}', "1:6", "expected ':' after the key"),
        ('{"a": 1,\n}', "2:1", "no ',' may stand before '}'"),
        ("[1, ]", "1:5", "no ',' may stand before ']'"),
        ("[1 2]", "1:4", "expected ',' or ']'"),
        ('{"a": 1 "b": 2}', "1:9", "expected ',' or '}'"),
        ("{'a': 1}", "1:2", "expected a key in double quotes"),
        ("{a: 1}", "1:2", "expected a key in double quotes"),
        ("{} {}", "1:4", "something follows the end of the document"),
        ('{"a": NaN}', "1:7", "expected a value, and JSON does not know NaN"),
        ('{"a": -Infinity}', "1:7", "expected a value, and JSON does not know -Infinity"),
        ('{"a": True}', "1:7", "expected a value, and JSON does not know True"),
        ("{// no\n}", "1:2", "expected a key in double quotes"),
        ('{"a": // no\n 1}', "1:7", "expected a value, and JSON does not know //"),
        ('{"a": 01}', "1:8", "expected ',' or '}'"),
        ('{"a": .5}', "1:7", "expected a value"),
        ('{"a": +5}', "1:7", "expected a value"),
        (
            '{"a": "\n"}',
            "1:7",
            "this string has no end, or holds a line break, a control character or an unknown escape",
        ),
        (
            r'{"a": "\x41"}',
            "1:7",
            "this string has no end, or holds a line break, a control character or an unknown escape",
        ),
        ("{\u00a0}", "1:2", "expected a key in double quotes"),
    ],
)
def test_what_is_not_json_is_told_with_line_and_column(text: str, where: str, reason: str) -> None:
    assert faults_in(text) == (NOT_JSON(at=f"x.json:{where}", reason=reason),)


def test_every_key_that_stands_twice_is_told() -> None:
    text = '{"a": 1,\n "b": {"c": 1, "c": 2},\n "\\u0061": 3}'
    assert faults_in(text) == (DUPLICATE_KEY(at="x.json:2:16", key="c"), DUPLICATE_KEY(at="x.json:3:2", key="a"))


@pytest.mark.parametrize(
    "text",
    ['["\\ud800"]', '["\\uDFFFx"]', '[{"\\ud800": 1}]', "[1e9999]", "[-1e999999999]", "[1e-9999]", f"[{'9' * 4_001}]"],
)
def test_values_that_cannot_be_handed_on_are_refused(text: str) -> None:
    (fault,) = faults_in(text)
    assert fault.kind == NOT_REPRESENTABLE
    assert fault.at == f"x.json:1:{3 if '{' in text else 2}"


def test_a_surrogate_pair_and_large_numbers_are_fine() -> None:
    assert parse_json('["\\ud83d\\ude00", 1e308, 123456789012345678901234567890]', "x") == [
        "😀",
        1e308,
        123456789012345678901234567890,
    ]


@pytest.mark.parametrize("depth", [101, 5_000, 400_000])
@pytest.mark.parametrize(("opening", "closing"), [("[", "]"), ('{"a":', "}")])
def test_deep_nesting_is_refused_at_any_depth(depth: int, opening: str, closing: str) -> None:
    (fault,) = faults_in(opening * depth + "1" + closing * depth)
    assert fault == TOO_DEEP(at=f"x.json:1:{100 * len(opening) + 1}", limit=100)


def test_nesting_up_to_the_limit_is_fine() -> None:
    parse_json("[" * 100 + "]" * 100, "x")


@given(VALUES)
def test_what_json_writes_is_read_back(value: JSON) -> None:
    text = json.dumps(value, ensure_ascii=False, indent=1)
    assert parse_json(text, "x") == value
    assert positions.find_problems(text) == ()


@given(st.text(alphabet='[]{}:,"\\01-+.eEtrufalsn \n\t\x00ud8é', max_size=24))
def test_strict_reading_and_the_walk_agree_on_what_is_json(text: str) -> None:
    try:
        parse_json(text, "x")
    except Faults:
        assert positions.find_problems(text)
    else:
        json.loads(text)
        assert positions.find_problems(text) == ()


# --- what is refused: schemas ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("schema", "where"),
    [
        ({"type": "strng"}, "#/type"),
        ({"$defs": 3}, "#/$defs"),
        ({"$defs": {"a/b~c": {"minLength": "x"}}}, "#/$defs/a~1b~0c/minLength"),
        ({"properties": {"a": 7}}, "#/properties/a"),
        ({"required": ["a", "a"]}, "#/required"),
        ({"$ref": 7}, "#/$ref"),
        ({"$schema": "http://json-schema.org/draft-07/schema#", "items": 3}, "#/items"),
        ({"$defs": {"": {"type": "strng"}}}, "#/$defs//type"),
        ({"$defs": {"": {"type": "strng"}, "type": 5}}, "#/$defs//type"),
        ({"$defs": {"": {"$defs": {"": {"": 1, "type": "strng"}}}}}, "#/$defs//$defs//type"),
        ({"properties": {"7": {"type": "string"}, "007": {"type": "strng"}}}, "#/properties/007/type"),
        ({"properties": {"7": {"type": "strng"}, "007": {"type": "string"}}}, "#/properties/7/type"),
        ({"prefixItems": [{"properties": {"00": {"type": "strng"}}}]}, "#/prefixItems/0/properties/00/type"),
    ],
)
def test_the_meta_schema_of_the_dialect_judges(schema: dict[str, JSON], where: str) -> None:
    faults = list(check(schema, "x.json"))
    assert [(fault.kind, fault.at) for fault in faults] == [(NOT_A_SCHEMA, f"x.json{where}")]


@pytest.mark.parametrize("schema", [{}, {"$ref": "#/$defs/A B"}, {"x-anything": 1}, {"pattern": "^(?!_)\\p{L}+$"}])
def test_what_the_meta_schema_leaves_open_passes(schema: dict[str, JSON]) -> None:
    assert list(check(schema, "x.json")) == []


@pytest.mark.parametrize("dialect", ["http://json-schema.org/draft-03/schema#", "file:///etc/passwd", 7, None])
def test_other_dialects_are_refused(dialect: JSON) -> None:
    assert list(check({"$schema": dialect}, "x.json")) == [UNKNOWN_DIALECT(at="x.json#/$schema", dialect=str(dialect))]


def test_a_dialect_may_end_in_an_empty_fragment() -> None:
    assert list(check({"$schema": f"{DIALECT}#"}, "x.json")) == []


# --- places ----------------------------------------------------------------------------------------------------------

TEXT = """{
  "title": "x",
  "$defs": {
    "a/b": {"~": [1, {"": true}]},
    "é": null
  }
}"""


def position(text: str, pointer: str) -> tuple[int, int]:
    found = positions.Positions(text)
    offset, keys = found.find_nearest(split_pointer(pointer))
    assert keys == split_pointer(pointer)
    return found.locate_offset(offset)


@pytest.mark.parametrize(
    ("pointer", "expected"),
    [
        ("", (1, 1)),
        ("#", (1, 1)),
        ("/title", (2, 3)),
        ("#/$defs/a~1b", (4, 5)),
        ("#/$defs/a~1b/~0", (4, 13)),
        ("#/$defs/a~1b/~0/0", (4, 19)),
        ("#/$defs/a~1b/~0/1", (4, 22)),
        ("#/$defs/a~1b/~0/1/", (4, 23)),
        ("#/$defs/é", (5, 5)),
    ],
)
def test_a_pointer_leads_to_line_and_column(pointer: str, expected: tuple[int, int]) -> None:
    assert position(TEXT, pointer) == expected


@pytest.mark.parametrize(
    ("pointer", "nearest"),
    [
        ("/nothing", ""),
        ("/title/0", "/title"),
        ("/$defs/a~1b/~0/2", "/$defs/a~1b/~0"),
        ("/definitions/é/x", "/$defs/é"),
    ],
)
def test_of_what_is_not_there_the_nearest_thing_around_it_is_found(pointer: str, nearest: str) -> None:
    _, keys = positions.Positions(TEXT).find_nearest(split_pointer(pointer), {"definitions": "$defs"})
    assert write_plain_pointer(*keys) == nearest


@given(VALUES, st.sampled_from([None, 0, 3]))
def test_every_value_is_found_where_it_stands(value: JSON, indent: int | None) -> None:
    text = json.dumps(value, indent=indent)
    lines = text.split("\n")
    decoder = json.JSONDecoder()

    def walk(inner: JSON, pointer: str, is_member: bool) -> None:
        line, column = position(text, pointer)
        at = sum(len(before) + 1 for before in lines[: line - 1]) + column - 1
        found, end = decoder.raw_decode(text, at)
        if is_member:
            assert found == split_pointer(pointer)[-1]
            found, _ = decoder.raw_decode(text, end + len(text[end:]) - len(text[end:].lstrip(": ")))
        assert found == inner
        if isinstance(inner, dict):
            for key, child in inner.items():
                walk(child, pointer + write_plain_pointer(key), True)
        elif isinstance(inner, list):
            for index, child in enumerate(inner):
                walk(child, f"{pointer}/{index}", False)

    walk(value, "", False)


def test_of_a_long_document_only_the_way_to_a_place_is_read() -> None:
    names = [f"Name{n}" for n in range(5_000)]
    text = json.dumps({"$defs": {name: {"properties": {"a": {"type": "string"}}} for name in names}}, indent=2)
    found: Any = positions.Positions(text)
    for _ in range(2):
        found.find_nearest(("$defs", names[-1], "properties", "a", "type"))
    assert len(found._inside) == 5
