"""Read schema files. Only this module and `files` access the disk, and only this module decides which files are valid.

`collect` resolves references only to files that were read here.
"""

from __future__ import annotations

import importlib
import json
import os
import posixpath
import stat
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cache, partial
from itertools import chain
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final, NoReturn, TypeAlias

from acpgen.errors import Fault, Faults
from acpgen.input.drafts import BY_NAME, Draft, find_draft, normalize_uri
from acpgen.input.equality import is_equal
from acpgen.input.error_paths import Paths
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
    UNKNOWN_VOCABULARY,
    UNREADABLE,
    WRONG_ENCODING,
    YAML_GIVEN,
)
from acpgen.input.file_discovery import discover_files, make_address
from acpgen.input.numbers import dumps, parse_number, with_decimals
from acpgen.input.overlay import SourceMap, extend_files
from acpgen.input.positions import DEEPEST, JsonProblem, find_problems, locate_offset
from acpgen.input.walk import as_object, is_definition, is_object
from acpgen.pointers import follow, split_pointer, write_plain_pointer

if TYPE_CHECKING:
    import jsonschema_rs

    from acpgen.ir import JSON

LARGEST: Final = 16 << 20
"""The maximum size in bytes of all files of one protocol. The largest published schema has half a million."""

References: TypeAlias = "Mapping[str, str | os.PathLike[str]]"
"""Overrides of URIs: each maps to a file, or to the name of a draft whose meta-schema it then denotes."""

_BYTE_ORDER_MARKS: Final = (
    (b"\xef\xbb\xbf", "the file begins with a byte order mark"),
    (b"\xff\xfe", "the file is UTF-16 or UTF-32"),
    (b"\xfe\xff", "the file is UTF-16"),
    (b"\x00\x00\xfe\xff", "the file is UTF-32"),
)


NO_REFERENCES: Final[References] = MappingProxyType({})
"""No overrides: URIs denote only what the files themselves declare."""


@dataclass(frozen=True, slots=True)
class Document:
    """One schema file: `path` is relative to the source, `text` is the source text of `value`."""

    path: str
    value: JSON = field(repr=False)
    text: str = field(repr=False)


@dataclass(frozen=True, slots=True)
class Documents:
    """All files of one protocol version, sorted by path. `references` maps URIs to documents outside the protocol."""

    name: str
    documents: tuple[Document, ...]
    references: Mapping[str, Document] = field(default_factory=dict[str, Document])

    @property
    def values_by_uri(self) -> Mapping[str, JSON]:
        """The values of its files by their `$id`, and of the referenced documents."""
        roots = (document.value for document in self.documents if isinstance(document.value, dict))
        identified_roots = ((root.get("$id", root.get("id")), root) for root in roots)
        values: dict[str, JSON] = {normalize_uri(uri): root for uri, root in identified_roots if isinstance(uri, str)}
        return values | {uri: document.value for uri, document in self.references.items()}

    @property
    def values(self) -> tuple[JSON, ...]:
        """The values of its files and of the referenced documents."""
        return tuple(document.value for document in (*self.documents, *self.references.values()))

    def list_inputs(self) -> Iterator[str]:
        """Everything that a result depends on: path and text of each file, and the URI of each referenced document."""
        yield str(len(self.documents))
        for uri, document in [*(("", document) for document in self.documents), *self.references.items()]:
            yield from (uri, document.path, document.text)

    def says_the_same(self, documents: Documents) -> bool:
        """Whether both hold equal JSON values in the same order: 1.0 equals 1, true does not."""
        return is_equal([*self.values], [*documents.values])

    @property
    def size(self) -> int:
        """The number of characters in all of its files without white space, a measure of work that does not depend on layout."""
        references = {document.path: document for document in self.references.values()}
        return sum(sum(map(len, document.text.split())) for document in (*self.documents, *references.values()))

    def find(self, path: str) -> Document | None:
        """The document with a path: one of the protocol, a referenced one, or a published meta-schema."""
        documents = (*self.documents, *self.references.values())
        return next((document for document in documents if document.path == path), None) or find_meta_schema(path)


@dataclass(frozen=True, slots=True)
class Source:
    """The bytes of schema files, not parsed yet. `root` is the displayed name of the folder that the paths are relative to.

    `references` are URI, path and bytes of documents outside the protocol. Their paths are relative to no root, but a file beside a
    single schema file has the URI `file_discovery.make_address` of its path. `source_maps` say, for files that come from or extend
    another folder, where their parts are written.
    """

    name: str
    root: str
    files: tuple[tuple[str, bytes], ...] = field(repr=False)
    references: tuple[tuple[str, str, bytes], ...] = field(default=(), repr=False)
    source_maps: Mapping[str, SourceMap] = field(default_factory=dict[str, SourceMap], repr=False)

    def locate(self, path: str) -> str:
        """The displayed place of a file or of a part of it."""
        file, mark, fragment = path.partition("#")
        source_map = self.source_maps.get(file)
        if source_map is not None:
            is_own, keys = source_map.find_origin(split_pointer(fragment))
            if not source_map.overlay or (mark and not is_own):
                return f"{source_map.at}#{write_plain_pointer(*keys)}" if mark else source_map.at
            path = file + mark + write_plain_pointer(*keys)
        is_own = any(file == path for path, _ in (*self.files, *self.discovered_files))
        is_beside = any(file == path for _, path, _ in self.references) or find_meta_schema(file) is not None
        if not self.root or (is_beside and not is_own):
            return path
        return f"{self.root}{path}" if self.root.endswith(":") else f"{self.root}/{path}"

    @property
    def places(self) -> tuple[str, ...]:
        """The displayed places of all files that were read, referenced ones included."""
        return tuple(
            self.locate(path) for path in (*(path for path, _ in self.files), *(path for _, path, _ in self.references))
        )

    @property
    def extends(self) -> str:
        """The folder of the protocol that this one extends; empty if there is none."""
        folders = {posixpath.dirname(source_map.at) for source_map in self.source_maps.values()}
        if len(folders) != 1:
            return ""
        return posixpath.normpath(posixpath.join(self.name, posixpath.relpath(folders.pop(), self.root or ".")))

    @property
    def discovered_files(self) -> tuple[tuple[str, bytes], ...]:
        """Path and bytes of the files beside a single schema file that it refers to."""
        return tuple((path, content) for uri, path, content in self.references if uri == make_address(path))


def load(
    source: str | os.PathLike[str], *, name: str | None = None, references: References = NO_REFERENCES
) -> Documents:
    """Load the schema of a file, with the files below its folder that relative references name, or of all `*.json` files of a folder.

    Subfolders count; hidden files are left out. `name` is the name of the protocol version, by default that of the file or folder.
    `references` say which file a `$ref` or `$schema` URI denotes, absolute or as written: `{"https://example.com/common.json":
    "common.json"}`. Raises `Faults`.
    """
    return parse(read(Path(source), name=name, references=references))


def read(source: Path, *, name: str | None = None, references: References = NO_REFERENCES) -> Source:
    """Read the bytes of a schema and of everything that its references may lead to. Raises `Faults`."""
    referenced_files: tuple[tuple[str, str, bytes], ...] = ()
    if stat.S_ISDIR(_read_mode(source)):
        folder, files, default_name = source, read_folder(source), source.resolve().name
    else:
        folder, content, default_name = source.parent, read_bytes(source, LARGEST), source.stem
        files = ((source.name, content),)
        referenced_files = discover_files(source.name, content, LARGEST, partial(_read_below, folder))
    whole, parts_by_path = extend_files(
        files, display_path(folder), lambda relative_path: read_folder(folder / relative_path), parse_strict
    )
    return with_references(
        Source(name or default_name, display_path(folder), whole, referenced_files, parts_by_path), references
    )


def _read_below(folder: Path, path: str, room: int) -> bytes | None:
    """Read a file below a folder; `None` if there is none. A link must stay inside the folder."""
    file = folder / path
    if not os.path.lexists(file):
        return None
    if not _is_inside(file, Path(os.path.realpath(folder))):
        raise Faults([LINK_REFUSED(at=display_path(file))])
    return read_bytes(file, room)


def _is_inside(file: Path, root: Path) -> bool:
    """Whether a path leads to a file below a folder, wherever its links point."""
    target = Path(os.path.realpath(file))
    return target.is_file() and target.is_relative_to(root)


def parse_strict(content: bytes, at: str) -> JSON:
    """Parse a file of strict JSON. Raises `Faults`."""
    return parse_json(decode(content, at), at)


def with_references(source: Source, references: References) -> Source:
    """Add the documents that the references of a schema may lead to; a file that was read already is the same document. Raises `Faults`."""
    known_files = {source.locate(path): (path, content) for path, content in (*source.files, *source.discovered_files)}
    size = sum(len(content) for *_, content in (*source.files, *source.references))
    faults: list[Fault] = []
    referenced_files = list(source.references)
    for uri, file in references.items():
        draft = BY_NAME.get(os.fspath(file))
        if draft is not None:
            meta = find_meta_schema(draft.address)
            assert meta is not None
            referenced_files.append((normalize_uri(uri), meta.path, meta.text.encode()))
            continue
        at = display_path(Path(file))
        try:
            if at not in known_files:
                known_files[at] = at, read_bytes(Path(file), LARGEST - size)
                size += len(known_files[at][1])
        except Faults as caught:
            faults.extend(caught.faults)
        else:
            referenced_files.append((normalize_uri(uri), *known_files[at]))
    if faults:
        raise Faults(faults)
    return replace(source, references=tuple(referenced_files))


def find_meta_schema(path: str) -> Document | None:
    """The meta-schema of JSON Schema with this URI, with `http` or `https`; `None` for any other URI."""
    if not path.startswith(("http://json-schema.org/", "https://json-schema.org/")):
        return None
    specifications: Any = importlib.import_module("jsonschema_specifications").REGISTRY
    location = path.partition("://")[2].removesuffix("#")
    for uri in (f"http://{location}", f"https://{location}"):
        resource = specifications.get(uri)
        if resource is not None:
            return Document(uri, resource.contents, dumps(resource.contents, indent=2))
    return None


def read_folder(folder: Path, ending: str = ".json") -> tuple[tuple[str, bytes], ...]:
    """Path and bytes of every file below a folder with this ending, sorted by path. Raises `Faults`."""
    faults: list[Fault] = []
    files: list[tuple[str, bytes]] = []
    room = LARGEST
    for path in sorted(_list_files(folder, ending, Path(os.path.realpath(folder)), faults)):
        try:
            files.append((path, read_bytes(folder / path, room)))
        except Faults as caught:
            faults.extend(caught.faults)
            if any(fault.kind == TOO_LARGE for fault in caught.faults):
                break
        else:
            room -= len(files[-1][1])
    if not files and not faults:
        faults.append(NO_FILES(at=display_path(folder)))
    if faults:
        raise Faults(faults)
    return tuple(files)


def read_bytes(path: Path, limit: int = LARGEST) -> bytes:
    """Read a regular file. Raises `Faults`."""
    if not stat.S_ISREG(_read_mode(path)):
        raise Faults([NOT_REGULAR(at=display_path(path))])
    try:
        with path.open("rb") as file:
            content = file.read(limit + 1)
    except OSError as error:
        raise Faults([UNREADABLE(at=display_path(path), reason=str(error.strerror))]) from None
    if len(content) > limit:
        raise Faults([TOO_LARGE(at=display_path(path), mebibytes=LARGEST >> 20)])
    return content


def decode(content: bytes, at: str) -> str:
    """Decode a file as UTF-8. Raises `Faults`."""
    for mark, reason in _BYTE_ORDER_MARKS:
        if content.startswith(mark):
            raise Faults([WRONG_ENCODING(at=at, found=reason)])
    try:
        return content.decode()
    except UnicodeDecodeError as error:
        before = content[: error.start].decode()
        line, column = locate_offset(before, len(before))
        byte = f"byte 0x{content[error.start]:02x} is not UTF-8"
        raise Faults([WRONG_ENCODING(at=f"{at}:{line}:{column}", found=byte)]) from None


def parse(source: Source) -> Documents:
    """Parse a schema and validate each document against the meta-schema of its dialect. Raises `Faults`.

    A single file may be `true`, `false` or an object without assertions: it becomes an object with an equivalent keyword.
    """
    documents = _make_documents(
        source, lambda value, at, references: () if isinstance(value, bool) else check(value, at, references)
    )
    faults = [
        NOT_AN_OBJECT(at=source.locate(document.path))
        for document in documents.documents
        if isinstance(document.value, bool)
    ]
    if len(documents.documents) == 1:
        return replace(documents, documents=(_as_object(*documents.documents),))
    if faults:
        raise Faults(faults)
    return documents


_SILENT: Final = frozenset(("$schema", "$id", "id", "$comment", "title", "description"))
"""Keywords that assert nothing."""


def _as_object(document: Document) -> Document:
    value = as_object(document.value)
    is_silent = is_object(value) and value.keys() <= _SILENT
    return replace(document, value={**value, "allOf": [{}]} if is_silent else value)


def parse_unchecked(source: Source, *, drafts: bool = False) -> Documents:
    """Parse a schema as strict JSON without validation against a meta-schema; with `drafts`, unknown drafts are faults. Raises `Faults`."""
    return _make_documents(source, check_draft if drafts else lambda value, at, references: ())


def _make_documents(source: Source, judge: Callable[[JSON, str, Mapping[str, JSON]], Iterable[Fault]]) -> Documents:
    faults: list[Fault] = []

    def read_as(path: str, content: bytes, at: str) -> Document | None:
        try:
            text = decode(content, at)
            return Document(path, parse_json(text, at), text)
        except Faults as caught:
            faults.extend(caught.faults)
            return None

    read_documents = [read_as(path, content, source.locate(path)) for path, content in source.files]
    references = [(uri, read_as(path, content, source.locate(path))) for uri, path, content in source.references]
    documents = Documents(
        source.name,
        tuple(filter(None, read_documents)),
        {uri: document for uri, document in references if document is not None},
    )
    values = documents.values_by_uri
    references_by_path = {document.path: document for document in documents.references.values()}
    for document in (*documents.documents, *references_by_path.values()):
        document_faults = judge(document.value, document.path, values)
        faults.extend(fault.move_to(source.locate(fault.at)) for fault in document_faults)
    if faults:
        raise Faults(faults)
    return documents


def parse_json(text: str, at: str) -> JSON:
    """Parse strict JSON: no duplicate key, no number with too many digits, no lone surrogate, no deep nesting. Raises `Faults`."""
    try:
        value: JSON = json.loads(
            text,
            object_pairs_hook=_make_object,
            parse_constant=_refuse,
            parse_float=parse_number,
            parse_int=parse_number,
        )
        if _is_shallow(value) and "\\u" not in text:
            return value
    except (ValueError, RecursionError):
        value = None
        errors = find_problems(text)
        assert errors, f"{at}: refused for a reason that was not found again"
    else:
        errors = find_problems(text)
    if errors:
        raise Faults(_make_fault(problem, text, at) for problem in errors)
    return value


@cache
def read_data(file: Path) -> Any:
    """The value of a JSON file that comes with acpgen, read once."""
    return parse_json(decode(read_bytes(file), file.name), file.name)


def check(
    value: JSON, at: str, documents: Mapping[str, JSON] = MappingProxyType({}), *, patterns: bool = False
) -> Iterator[Fault]:
    """Yield what the meta-schema of a document's draft refuses in it. `documents` maps URIs to documents.

    `patterns`: also refuse invalid regular expressions, which bindings can do without.
    """
    if not isinstance(value, dict):
        yield NOT_AN_OBJECT(at=at)
        return
    yield from check_draft(value, at, documents)
    draft = find_draft(value, documents)
    if draft is not None:
        yield from check_schema(value, f"{at}#", draft, patterns=patterns)


def check_draft(value: JSON, at: str, documents: Mapping[str, JSON]) -> Iterator[Fault]:
    """Yield what is unknown of the draft that a document names by `$schema`. `documents` maps URIs to documents."""
    draft = find_draft(value, documents)
    if draft is not None:
        yield from (UNKNOWN_VOCABULARY(at=f"{at}#/$schema", vocabulary=vocabulary) for vocabulary in draft.demands)
    elif is_object(value):
        yield UNKNOWN_DIALECT(at=f"{at}#/$schema", dialect=str(value["$schema"]))


def check_schema(value: JSON, at: str, draft: Draft, *, patterns: bool = False) -> Iterator[Fault]:
    """Yield what the meta-schema of a draft refuses in one schema at `file#/pointer`.

    A value among definitions that is not a schema is skipped: it only matters if something refers to it.
    """
    reported_places: set[str] = set()
    paths = Paths(value)
    is_silent = at.endswith("#") and is_object(value) and "$schema" not in value
    name = f"{draft.name} (no '$schema' names another draft)" if is_silent else draft.name
    errors = _judge(draft.name, patterns).iter_errors(with_decimals(value))
    for error in chain.from_iterable(map(_find_causes, errors)):
        parts = paths.locate(error)
        where = write_plain_pointer(*parts)
        is_stray = is_definition(parts) and not isinstance(follow(value, parts), dict | bool)
        if where not in reported_places and not is_stray:
            reported_places.add(where)
            yield NOT_A_SCHEMA(at=f"{at}{where}", reason=describe_refusal(error), dialect=name)


def display_path(path: Path) -> str:
    """The displayed form of a path: relative to the current folder if it is below it or was relative; empty for that folder itself."""
    relative = os.path.relpath(os.path.abspath(path))
    if relative == ".":
        return ""
    return Path(os.path.normpath(path) if relative.startswith("..") else relative).as_posix()


@cache
def _judge(draft: str, patterns: bool) -> Any:
    import jsonschema_rs  # only where a schema is read: the command starts without it

    address = BY_NAME[draft].address
    schema = {"$schema": address, "$ref": address}
    return jsonschema_rs.validator_for(schema, mask="it", validate_formats=patterns, formats=FORMATS)


FORMATS: Final[dict[str, Callable[[str], bool]]] = {
    **dict.fromkeys(("uri", "uri-reference"), lambda _: True),
    "regex": lambda pattern: not _describe_fault(pattern),
}
"""The formats that are asserted in schemas: only that a pattern is valid."""


_TYPES: Final = ("array", "boolean", "integer", "null", "number", "object", "string")


def _describe_fault(pattern: str) -> str:
    """Why a text is not a pattern; empty if it is one."""
    from acpgen.input.expressions import describe_fault

    return describe_fault(pattern)


def describe_refusal(error: jsonschema_rs.ValidationError) -> str:
    """Why a meta-schema refuses a value, as a part of a sentence."""
    rule = str(error.schema_path[-1])
    if rule in ("anyOf", "enum"):
        keyword = next((part for part in reversed(error.instance_path) if isinstance(part, str)), "")
        value = dumps(error.instance)
        types_clause = f"; the types are {', '.join(_TYPES)}" if keyword == "type" else ""
        return f"{value if len(value) <= 80 else f'{value[:79]}…'} is not a valid value of '{keyword}'{types_clause}"
    return _describe_fault(str(error.instance)) if rule == "format" else error.message


def _find_causes(error: jsonschema_rs.ValidationError) -> Iterator[jsonschema_rs.ValidationError]:
    """Yield what is wrong below a value of a union, if a branch fits the value itself; else the error."""
    depth = len(error.instance_path)
    for branch in getattr(error.kind, "context", ()):
        if all(len(cause.instance_path) > depth for cause in branch):
            yield from chain.from_iterable(map(_find_causes, branch))
            return
    yield error


def _read_mode(path: Path) -> int:
    try:
        return path.stat().st_mode
    except (FileNotFoundError, NotADirectoryError):
        raise Faults([NOT_FOUND(at=display_path(path) or ".")]) from None
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else "this is not a path"
        raise Faults([UNREADABLE(at=display_path(path), reason=str(reason))]) from None


def _list_files(folder: Path, ending: str, root: Path, faults: list[Fault], below: str = "") -> Iterator[str]:
    """Yield the paths of the files below `folder` with this ending, unordered. Links must stay inside `root` and lead to files."""
    try:
        with os.scandir(folder) as scan:
            entries = sorted((e for e in scan if not e.name.startswith(".")), key=lambda e: e.name)
    except OSError as error:
        faults.append(UNREADABLE(at=display_path(folder), reason=str(error.strerror)))
        return
    for entry in entries:
        path = Path(entry.path)
        if entry.is_symlink() and not _is_inside(path, root):
            faults.append(LINK_REFUSED(at=display_path(path)))
        elif entry.is_dir():
            yield from _list_files(path, ending, root, faults, f"{below}{entry.name}/")
        elif entry.name.endswith(ending):
            yield f"{below}{entry.name}"


def _make_object(pairs: list[tuple[str, JSON]]) -> dict[str, JSON]:
    members = dict(pairs)
    if len(members) < len(pairs):
        raise ValueError("a key occurs twice")
    return members


def _refuse(constant: str) -> NoReturn:
    raise ValueError(constant)


def _is_shallow(value: JSON) -> bool:
    level: list[JSON] = [value]
    for _ in range(DEEPEST):
        level = [
            child
            for node in level
            for child in (node.values() if isinstance(node, dict) else node if isinstance(node, list) else ())
            if isinstance(child, dict | list)
        ]
        if not level:
            return True
    return False


def _make_fault(problem: JsonProblem, text: str, at: str) -> Fault:
    line, column = locate_offset(text, problem.offset)
    place = f"{at}:{line}:{column}"
    match problem.kind:
        case "syntax":
            is_yaml = at.lower().endswith((".yaml", ".yml"))
            return (YAML_GIVEN if is_yaml else NOT_JSON)(place, reason=problem.detail)
        case "duplicate":
            return DUPLICATE_KEY(at=place, key=problem.detail)
        case "depth":
            return TOO_DEEP(at=place, limit=DEEPEST)
        case "value":
            return NOT_REPRESENTABLE(at=place, reason=problem.detail)
