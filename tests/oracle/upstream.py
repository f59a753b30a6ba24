"""Upstream's schemas, the rows of `differences.json` done to them, and what both sides state as facts."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Final

import jsonschema_rs

import evidence
from acpgen.bundle.bundle import Bundle, bundle
from acpgen.bundle.collect import ABSOLUTE_PATH, Collected, collect
from acpgen.input.load import load
from acpgen.input.walk import find_reachable
from acpgen.pointers import resolve, split_pointer, write_plain_pointer
from oracle.values import Schema, is_array, is_object

ROOT: Final = Path(__file__).parents[2]

_WORDS: Final = frozenset(
    {
        *("title", "description", "examples", "$comment", "$schema", "$id"),
        *("x-null", "x-capability", "x-required-with", "x-gates", "x-unknown"),
        *("x-unstable", "x-name", "x-was", "x-batch"),
    }
)
"""What the canonical files may say freely: words, and the keywords that upstream does not have."""

_BELOW: Final = ("items", "not", "additionalProperties", "unevaluatedProperties")


@dataclass(frozen=True)
class Row:
    """One deliberate difference: an operation of JSON Patch on a definition, or on the root where that has no name."""

    protocol: str
    definition: str
    pointer: str
    op: str
    what: str
    reason: str
    value: Any = None
    source: str | None = None
    given: tuple[str, ...] = ()
    witness: Mapping[str, Any] | None = None
    corpus: tuple[str, ...] = ()

    @property
    def id(self) -> str:
        return f"{self.protocol}-{self.definition or 'root'}{self.pointer}"

    @property
    def place(self) -> str:
        """How other rows of the same protocol name this one."""
        return f"{self.definition}{self.pointer}"


@dataclass(frozen=True)
class Table:
    """The differences of one protocol. `added` names definitions without any counterpart, with the reason for each."""

    protocol: str
    upstream: str
    added: Mapping[str, str]
    rows: tuple[Row, ...]


@cache
def tables() -> Mapping[str, Table]:
    """Every table of `differences.json`, by protocol."""
    written = json.loads(Path(__file__).with_name("differences.json").read_text(encoding="utf-8"))
    return {
        protocol: Table(
            protocol, table["upstream"], table["added"], tuple(_row(protocol, row) for row in table["rows"])
        )
        for protocol, table in written.items()
        if protocol != "about"
    }


def _row(protocol: str, row: Mapping[str, Any]) -> Row:
    assert set(row) <= {"definition", "pointer", "op", "value", "from", "what", "reason", "given", "witness", "corpus"}
    assert ("value" in row) + ("from" in row) == (row["op"] != "remove")
    return Row(
        protocol=protocol,
        definition=row["definition"],
        pointer=row["pointer"],
        op=row["op"],
        what=row["what"],
        reason=row["reason"],
        value=row.get("value"),
        source=row.get("from"),
        given=tuple(row.get("given", ())),
        witness=row.get("witness"),
        corpus=tuple(row.get("corpus", ())),
    )


@cache
def published(path: str) -> Schema:
    """A schema file of upstream; draft-07 writes its definitions as 2020-12 does."""
    evidence.need(f"upstream/{path}")
    text = evidence.path(f"upstream/{path}").read_text(encoding="utf-8")
    text = text.replace('"definitions":', '"$defs":').replace("#/definitions/", "#/$defs/")
    schema: Schema = json.loads(text)
    return {**schema, "$schema": "https://json-schema.org/draft/2020-12/schema"}


def patched(table: Table, rows: Sequence[Row]) -> Schema:
    """Upstream's schema with `rows` done to it, one after the other.

    Where only some rows are done, what they refer to comes from the files that the table's other rows name.
    """
    schema = copy.deepcopy(published(table.upstream))
    for row in rows:
        _apply(schema, row)
    files = {row.source.partition("#")[0] for row in table.rows if row.source is not None}
    missing = _missing(schema)
    while missing:
        for name in missing:
            schema["$defs"][name] = next(
                published(file)["$defs"][name] for file in files if name in published(file)["$defs"]
            )
        missing = _missing(schema)
    return schema


def _missing(schema: Schema) -> set[str]:
    """The definitions that a schema refers to and does not have."""
    names = {part.split('"', 1)[0] for part in json.dumps(schema).split("#/$defs/")[1:]}
    return {name for name in names if name not in schema["$defs"]}


def _apply(schema: Schema, row: Row) -> None:
    above = ["$defs", row.definition] if row.definition else []
    *parts, last = [*above, *split_pointer(row.pointer)]
    node: Any = resolve(schema, write_plain_pointer(*parts))
    key = _key(node, last)
    exists = key < len(node) if isinstance(key, int) else key in node
    if row.op == "remove":
        del node[key]
        return
    value = copy.deepcopy(row.value if row.source is None else _published_at(row.source))
    if row.op == "add" and isinstance(key, int):
        node.insert(key, value)
        return
    assert exists == (row.op == "replace"), f"{row.id}: {row.op} meets {'something' if exists else 'nothing'}"
    node[key] = value


def _published_at(source: str) -> Any:
    path, _, fragment = source.partition("#")
    return resolve(published(path), fragment)


def _key(node: object, part: str) -> Any:
    return int(part) if is_array(node) else part


# --- ours ------------------------------------------------------------------------------------------------------------


@cache
def written(protocol: str) -> Collected:
    """The definitions of the canonical files as people wrote them, before anything is named or distributed."""
    return collect(load(ROOT / "schema" / protocol, name=protocol))


def bodies(protocol: str, bundled: Bundle) -> frozenset[str]:
    """The definitions that have the tag of their variant in the bundle, and not as people wrote them."""
    nodes, own = bundled.make_nodes(), written(protocol).definitions

    def variants(union: str) -> Iterator[tuple[str, str]]:
        tagged = bundled.unions.get(union)
        for branch in nodes[union].branches:
            if branch.reference in own:
                yield branch.reference, "" if tagged is None else tagged.tag

    found = [
        name for union in nodes for name, tag in variants(union) if tag not in ("", *own[name].get("properties", ()))
    ]
    return frozenset(find_reachable(found, lambda body: (name for name, _ in variants(body))))


# --- judging ---------------------------------------------------------------------------------------------------------


class Judge:
    """Judges instances of every definition of one schema; an instance of the root has the empty name."""

    def __init__(self, schema: Schema) -> None:
        """Compile everything once: a field for each definition."""
        definitions = _asserted({**schema["$defs"], "": {k: v for k, v in schema.items() if k not in ("$defs", "$id")}})
        fields = {name: {"$ref": f"#/$defs/{name}"} for name in definitions}
        self.names = frozenset(definitions)
        self._validator = jsonschema_rs.Draft202012Validator({"$defs": definitions, "properties": fields})

    def accepts(self, name: str, instance: Any) -> bool:
        """Whether `instance` is valid for the definition."""
        assert name in self.names, name
        return self._validator.is_valid({name: instance})


class BundleJudge(Judge):
    """Judges by the bundle of the canonical files, and by bodies of variants as people wrote them."""

    def __init__(self, protocol: str) -> None:
        bundled = bundle(load(ROOT / "schema" / protocol, name=protocol))
        super().__init__(bundled.schema)
        self._bodies = bodies(protocol, bundled)
        self._written = Judge({"$defs": written(protocol).definitions})

    def accepts(self, name: str, instance: Any) -> bool:
        return self._written.accepts(name, instance) if name in self._bodies else super().accepts(name, instance)


@cache
def canonical(protocol: str) -> BundleJudge:
    """The judge of the canonical files."""
    return BundleJudge(protocol)


def _asserted(schema: Any) -> Any:
    """A copy in which absolute paths are a pattern, as the bundle writes them."""
    if is_array(schema):
        return [_asserted(item) for item in schema]
    if not is_object(schema):
        return schema
    changed = {key: _asserted(value) for key, value in schema.items() if key != "$schema"}
    return changed | {"pattern": ABSOLUTE_PATH} if changed.get("format") == "absolute-path" else changed


# --- facts -----------------------------------------------------------------------------------------------------------


def facts(schema: Any, named: Mapping[str, Schema], ignored: frozenset[str] = frozenset()) -> Any:
    """What a schema states, in one notation, without words; references to `named` are written out."""
    if not is_object(schema):
        return schema
    result: Schema = {}
    for key, value in schema.items():
        if key in _WORDS or key in ignored or _says_nothing(key, value):
            continue
        if key in ("properties", "patternProperties"):
            result[key] = {name: facts(sub, named, ignored) for name, sub in value.items()}
        elif key in ("anyOf", "oneOf", "allOf"):
            result[key] = [facts(sub, named, ignored) for sub in value]
        elif key in _BELOW:
            result[key] = facts(value, named, ignored)
        elif (key, value) == ("format", "absolute-path"):
            result |= {"format": value, "pattern": ABSOLUTE_PATH}
        elif key == "enum" and len(value) == 1:
            result["const"] = value[0]
        elif key in ("required", "type") and is_array(value):
            result[key] = sorted(value)
        else:
            result[key] = value
    return _written_out(_unwrapped(result), named, ignored)


def order(schema: Any, path: str = "") -> Iterator[tuple[str, tuple[str, ...]]]:
    """The fields of every object in a definition, in the order in which they are written."""
    if is_array(schema):
        for index, item in enumerate(schema):
            yield from order(item, f"{path}/{index}")
    elif is_object(schema):
        for key, value in schema.items():
            if key == "properties":
                yield path, tuple(value)
                for name, sub in value.items():
                    yield from order(sub, f"{path}/properties/{name}")
            else:
                yield from order(value, f"{path}/{key}")


def _says_nothing(key: str, value: Any) -> bool:
    is_open = key in ("additionalProperties", "unevaluatedProperties") and value in (True, {})
    return is_open or (key in ("required", "properties") and not value)


def _unwrapped(schema: Schema) -> Schema:
    """`allOf` of one is that one, null beside a plain type is one more type, and so are several plain types."""
    if len(schema.get("allOf", ())) == 1 and not schema["allOf"][0].keys() & schema.keys():
        schema |= schema.pop("allOf")[0]
    branches: list[Schema] = schema.get("anyOf", [])
    types = [str(branch.get("type")) for branch in branches if isinstance(branch.get("type"), str)]
    detailed = [branch for branch in branches if set(branch) != {"type"}]
    is_nullable = "null" in types and len(branches) == 2
    if branches and len(types) == len(branches) and (not detailed or (is_nullable and len(detailed) == 1)):
        schema = {key: value for key, value in schema.items() if key != "anyOf"}
        schema |= {**(detailed[0] if detailed else {}), "type": sorted(types)}
    return schema


def _written_out(schema: Schema, named: Mapping[str, Schema], ignored: frozenset[str]) -> Schema:
    name = str(schema.get("$ref", "")).removeprefix("#/$defs/")
    if name not in named:
        return schema
    rest = {key: value for key, value in schema.items() if key != "$ref"}
    return {**facts(named[name], named, ignored), **rest}
