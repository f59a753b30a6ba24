"""JSON Pointers, written and read: in the generator, in generated bindings and in the monitor."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from acp_monitor import json_values as monitor
from acpgen.pointers import (
    read_reference,
    resolve,
    split_place,
    split_pointer,
    write_plain_pointer,
    write_pointer,
    write_reference,
)
from jsonrpc_bindings import pointers as runtime

NAMES = st.sampled_from(
    ("", "a", "a/b", "/", "//", "~", "~~", "~1", "~01", "~0/1", "0", "#", "#/a", "%", "%7E", "a ö", "<a>")
)
KEYS = st.lists(NAMES, max_size=4).map(tuple)


@given(KEYS)
def test_the_keys_of_a_pointer_are_those_that_it_was_written_of(keys: tuple[str, ...]) -> None:
    assert split_pointer(write_plain_pointer(*keys)) == split_pointer(write_pointer(*keys)) == keys
    assert split_place(f"v1/schema.json{write_pointer(*keys)}") == keys
    assert re.fullmatch(r"(?:/(?:[^/~]|~[01])*)*", write_plain_pointer(*keys))  # the grammar of RFC 6901


@given(KEYS)
def test_every_house_writes_and_reads_the_same_pointers(keys: tuple[str, ...]) -> None:
    written = write_plain_pointer(*keys)
    assert written == runtime.json_pointer(keys) == monitor.write_pointer(keys)
    assert keys == runtime.steps(written) == monitor.split_pointer(written)
    assert runtime.referred(runtime.reference(keys)) == keys
    assert runtime.schema_pointer(keys) == write_pointer(*keys)


@given(NAMES)
def test_a_reference_names_the_definition_that_it_was_made_for(name: str) -> None:
    assert read_reference(write_reference(name)) == read_reference(write_reference(name, "properties", "a/b")) == name


@pytest.mark.parametrize(
    ("written", "expected"),
    [("", {"a/b": [{"~": 1}]}), ("#/a~1b", [{"~": 1}]), ("/a~1b/0/~0", 1)],
)
def test_a_pointer_leads_to_what_stands_there(written: str, expected: object) -> None:
    assert resolve({"a/b": [{"~": 1}]}, written) == expected


@pytest.mark.parametrize("written", ["/", "/a", "/a~1b/1", "/a~1b/-1", "/a~1b/\u0660", "/a~1b/0/~0/0", "/a~1b/x"])
def test_a_pointer_that_leads_nowhere_is_told(written: str) -> None:
    with pytest.raises(KeyError):
        resolve({"a/b": [{"~": 1}]}, written)
