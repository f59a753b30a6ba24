"""Reads schema files. With `write` the only code that touches the disk, and the only code that decides what a file may be.

References are never followed here: what `bundle` resolves is among the documents that were given, or nowhere.
"""

from __future__ import annotations

import json
import math
import os
import stat
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Final, NoReturn

from acpgen.errors import (
    DuplicateKey,
    Fault,
    Faults,
    LinkRefused,
    NoFiles,
    NoRevision,
    NotAnObject,
    NotASchema,
    NotFound,
    NotJson,
    NotRegular,
    NotRepresentable,
    TooDeep,
    TooLarge,
    UnknownDialect,
    Unreadable,
    WrongEncoding,
)
from acpgen.pointers import plain_pointer
from acpgen.schema.positions import DEEPEST, LONGEST_INTEGER, JsonProblem, line_and_column, problems

if TYPE_CHECKING:
    import jsonschema_rs

    from acpgen.ir import JSON

LARGEST: Final = 16 << 20
"""Bytes of all files of one protocol together. The largest published schema has half of one million."""

_DIALECTS: Final = {
    "https://json-schema.org/draft/2020-12/schema": "2020-12",
    "http://json-schema.org/draft-07/schema": "draft-07",
    "https://json-schema.org/draft-07/schema": "draft-07",
}
_BYTE_ORDER_MARKS: Final = (
    (b"\xef\xbb\xbf", "the file begins with a byte order mark"),
    (b"\xff\xfe", "the file is UTF-16 or UTF-32"),
    (b"\xfe\xff", "the file is UTF-16"),
    (b"\x00\x00\xfe\xff", "the file is UTF-32"),
)


@dataclass(frozen=True, slots=True)
class Document:
    """One schema file: `path` is relative to the source, `text` is what the value was read from."""

    path: str
    value: JSON = field(repr=False)
    text: str = field(repr=False)


@dataclass(frozen=True, slots=True)
class Documents:
    """All files of one protocol version, sorted by path."""

    name: str
    documents: tuple[Document, ...]


@dataclass(frozen=True, slots=True)
class Source:
    """Files as they were found, not yet understood. `root` is how people know the folder that the paths are relative to."""

    name: str
    root: str
    files: tuple[tuple[str, bytes], ...] = field(repr=False)

    def at(self, path: str) -> str:
        """The place of one file, for people."""
        return f"{self.root}/{path}" if self.root else path


def load(source: str | os.PathLike[str], *, name: str | None = None) -> Documents:
    """The schema in a file, or in all `*.json` files of a folder and its folders; names that begin with a dot are left out.

    `name` is what the protocol version is called; without it, the file or folder lends its own. Raises `Faults`.
    """
    return parse(read(Path(source), name=name))


def read(source: Path, *, name: str | None = None) -> Source:
    """The bytes of a schema. Raises `Faults`."""
    mode = _mode(source)
    if stat.S_ISDIR(mode):
        found = read_folder(source)
        return Source(name or source.resolve().name, place(source), found)
    content = read_bytes(source, LARGEST)
    return Source(name or source.stem, place(source.parent), ((source.name, content),))


def read_folder(folder: Path, ending: str = ".json") -> tuple[tuple[str, bytes], ...]:
    """Path and bytes of every file below a folder whose name ends so, sorted by path. Raises `Faults`."""
    faults: list[Fault] = []
    files: list[tuple[str, bytes]] = []
    size = 0
    for path in sorted(_files(folder, ending, Path(os.path.realpath(folder)), faults)):
        try:
            content = read_bytes(folder / path, LARGEST - size)
        except Faults as caught:
            faults.extend(caught.faults)
            if any(isinstance(fault, TooLarge) for fault in caught.faults):
                break
        else:
            size += len(content)
            files.append((path, content))
    if not files and not faults:
        faults.append(NoFiles(at=place(folder)))
    if faults:
        raise Faults(faults)
    return tuple(files)


def read_bytes(path: Path, limit: int = LARGEST) -> bytes:
    """The content of a regular file. Raises `Faults`."""
    if not stat.S_ISREG(_mode(path)):
        raise Faults([NotRegular(at=place(path))])
    try:
        with path.open("rb") as file:
            content = file.read(limit + 1)
    except OSError as error:
        raise Faults([Unreadable(at=place(path), reason=str(error.strerror))]) from None
    if len(content) > limit:
        raise Faults([TooLarge(at=place(path), limit=LARGEST)])
    return content


def decode(content: bytes, at: str) -> str:
    """The text of a file. Raises `Faults`."""
    for mark, found in _BYTE_ORDER_MARKS:
        if content.startswith(mark):
            raise Faults([WrongEncoding(at=at, found=found)])
    try:
        return content.decode()
    except UnicodeDecodeError as error:
        before = content[: error.start].decode()
        line, column = line_and_column(before, len(before))
        byte = f"byte 0x{content[error.start]:02x} is not UTF-8"
        raise Faults([WrongEncoding(at=f"{at}:{line}:{column}", found=byte)]) from None


def read_revision(revision: str, paths: Sequence[Path], *, name: str) -> Source:
    """The bytes of a schema as a git revision has it: of the first of the paths that is there, file or folder.

    Relative paths are looked up below the current folder, then below the repository's root. Git is asked for objects alone, so no
    filter, hook or driver runs. Raises `Faults`.
    """
    top = Path(os.fsdecode(_git(["rev-parse", "--show-toplevel"], revision)).removesuffix("\n"))
    options = ["--verify", "--quiet", "--end-of-options"]
    commit = _git(["rev-parse", *options, f"{revision}^{{commit}}"], revision).decode().strip()
    below = [Path(os.path.abspath(path)) for path in paths] + [top / path for path in paths if not path.is_absolute()]
    for path in dict.fromkeys(Path(os.path.realpath(each.parent)) / each.name for each in below):
        if path.is_relative_to(top):
            wanted = path.relative_to(top).as_posix()
            entries = _git(["ls-tree", "-r", "-z", "--full-tree", commit, "--", wanted], revision)
            found = _listed(entries, wanted)
            if found:
                return _from_git(revision, wanted, name, found)
    raise Faults([NotFound(at=f"{revision}:{paths[-1].as_posix()}")])


def _listed(entries: bytes, wanted: str) -> list[tuple[str, str, str]]:
    """Mode, object and path of the schema files that git lists; hidden files and folders are left out."""
    found: list[tuple[str, str, str]] = []
    for entry in entries.split(b"\0")[:-1]:
        about, _, path = os.fsdecode(entry).partition("\t")
        mode, _, identity = about.split(" ")
        inside = path.removeprefix(wanted).lstrip("/")
        hidden = any(part.startswith(".") for part in inside.split("/"))
        if path == wanted or (path.endswith(".json") and not hidden):
            found.append((mode, identity, path))
    return sorted(found, key=lambda each: each[2])


def _from_git(revision: str, wanted: str, name: str, found: list[tuple[str, str, str]]) -> Source:
    is_file = found[0][2] == wanted
    folder = wanted.rpartition("/")[0] if is_file else wanted
    faults: list[Fault] = []
    files: list[tuple[str, bytes]] = []
    size = 0
    for mode, identity, path in found:
        if mode not in ("100644", "100755"):
            faults.append(LinkRefused(at=f"{revision}:{path}"))
            continue
        size += int(_git(["cat-file", "-s", identity], revision))
        if size > LARGEST:
            faults.append(TooLarge(at=f"{revision}:{path}", limit=LARGEST))
            break
        content = _git(["cat-file", "blob", identity], revision)
        files.append((path.removeprefix(folder).lstrip("/"), content))
    if faults:
        raise Faults(faults)
    return Source(name, f"{revision}:{folder}", tuple(files))


def _git(arguments: Sequence[str], revision: str) -> bytes:
    """What git prints. Raises `Faults` where there is no git, no repository, or no such revision."""
    import subprocess  # only where a revision is named

    try:
        done = subprocess.run(["git", "--no-pager", *arguments], capture_output=True, check=False)  # noqa: S603, S607
    except OSError as error:
        raise Faults([NoRevision(at=revision, reason=f"git cannot be run: {error.strerror}")]) from None
    if done.returncode:
        reason = done.stderr.decode(errors="replace").strip().removeprefix("fatal: ").partition("\n")[0]
        raise Faults([NoRevision(at=revision, reason=reason or "this repository has no such revision")])
    return done.stdout


def parse(source: Source) -> Documents:
    """The documents of a schema, each checked against the meta-schema of its dialect. Raises `Faults`."""
    return _documents(source, check)


def parse_unchecked(source: Source) -> Documents:
    """The documents of a schema as strict JSON, whatever a meta-schema says of them. Raises `Faults`."""
    return _documents(source, lambda value, at: ())


def _documents(source: Source, judge: Callable[[JSON, str], Iterable[Fault]]) -> Documents:
    faults: list[Fault] = []
    documents: list[Document] = []
    for path, content in source.files:
        at = source.at(path)
        try:
            text = decode(content, at)
            value = parse_json(text, at)
        except Faults as caught:
            faults.extend(caught.faults)
            continue
        documents.append(Document(path, value, text))
        faults.extend(judge(value, at))
    if faults:
        raise Faults(faults)
    return Documents(source.name, tuple(documents))


def parse_json(text: str, at: str) -> JSON:
    """The value of strict JSON: no key twice, nothing that is not finite, no lone surrogate, no deep nesting. Raises `Faults`."""
    try:
        value: JSON = json.loads(
            text,
            object_pairs_hook=_object,
            parse_constant=_refuse,
            parse_float=_finite,
            parse_int=_integer,
        )
        if _is_shallow(value) and "\\u" not in text:
            return value
    except (ValueError, RecursionError):
        value = None
        found = problems(text)
        assert found, f"{at}: refused for a reason that was not found again"
    else:
        found = problems(text)
    if found:
        raise Faults(_fault(problem, text, at) for problem in found)
    return value


def check(value: JSON, at: str) -> Iterator[Fault]:
    """What the meta-schema of a document's dialect says against it; nothing, if all is well."""
    if not isinstance(value, dict):
        yield NotAnObject(at=at)
        return
    named = value.get("$schema", "https://json-schema.org/draft/2020-12/schema")
    dialect = _DIALECTS.get(named.removesuffix("#")) if isinstance(named, str) else None
    if dialect is None:
        yield UnknownDialect(at=f"{at}#/$schema", dialect=str(named))
        return
    yield from check_schema(value, f"{at}#", dialect)


def check_schema(value: JSON, at: str, dialect: str) -> Iterator[Fault]:
    """What the meta-schema of a dialect says against one schema, which stands at `file#/pointer`; nothing, if all is well."""
    told: set[str] = set()
    for error in _judge(dialect).iter_errors(value):
        where = plain_pointer(*error.instance_path)
        if where not in told:
            told.add(where)
            yield NotASchema(at=f"{at}{where}", reason=_reason(error), dialect=dialect)


def place(path: Path) -> str:
    """A path as people know it: relative to the current folder where it lies below it, empty for that folder itself."""
    absolute = os.path.abspath(path)
    relative = os.path.relpath(absolute)
    if relative == ".":
        return ""
    return Path(absolute).as_posix() if relative.startswith("..") else Path(relative).as_posix()


@cache
def _judge(dialect: str) -> jsonschema_rs.Draft202012Validator | jsonschema_rs.Draft7Validator:
    import jsonschema_rs  # only where a schema is read: the command starts without it

    # Of all formats only regular expressions are asserted: a broken one would break every reader of the bindings.
    lenient: dict[str, Callable[[str], bool]] = dict.fromkeys(("uri", "uri-reference"), lambda _: True)
    if dialect == "2020-12":
        return jsonschema_rs.Draft202012Validator(
            {"$ref": "https://json-schema.org/draft/2020-12/schema"}, mask="it", validate_formats=True, formats=lenient
        )
    return jsonschema_rs.Draft7Validator(
        {"$ref": "http://json-schema.org/draft-07/schema#"}, mask="it", validate_formats=True, formats=lenient
    )


def _reason(error: jsonschema_rs.ValidationError) -> str:
    keyword = str(error.schema_path[-1])
    if keyword in ("anyOf", "enum"):
        return "it has none of the forms that this keyword allows"
    return "it is not a regular expression" if keyword == "format" else error.message


def _mode(path: Path) -> int:
    try:
        return path.stat().st_mode
    except (FileNotFoundError, NotADirectoryError):
        raise Faults([NotFound(at=place(path) or ".")]) from None
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else "this is no path"
        raise Faults([Unreadable(at=place(path), reason=str(reason))]) from None


def _files(folder: Path, ending: str, root: Path, faults: list[Fault], below: str = "") -> Iterator[str]:
    """Paths of the files below `folder` with this ending, in no order; links must stay inside `root` and lead to files."""
    try:
        with os.scandir(folder) as scan:
            entries = sorted((e for e in scan if not e.name.startswith(".")), key=lambda e: e.name)
    except OSError as error:
        faults.append(Unreadable(at=place(folder), reason=str(error.strerror)))
        return
    for entry in entries:
        path = Path(entry.path)
        if entry.is_symlink():
            target = Path(os.path.realpath(path))
            if not target.is_file() or not target.is_relative_to(root):
                faults.append(LinkRefused(at=place(path)))
                continue
        if entry.is_dir():
            yield from _files(path, ending, root, faults, f"{below}{entry.name}/")
        elif entry.name.endswith(ending):
            yield f"{below}{entry.name}"


def _object(pairs: list[tuple[str, JSON]]) -> dict[str, JSON]:
    members = dict(pairs)
    if len(members) < len(pairs):
        raise ValueError("a key stands twice")
    return members


def _refuse(constant: str) -> NoReturn:
    raise ValueError(constant)


def _finite(literal: str) -> float:
    value = float(literal)
    if not math.isfinite(value):
        raise ValueError(literal)
    return value


def _integer(literal: str) -> int:
    if len(literal) > LONGEST_INTEGER:
        raise ValueError("too long")
    return int(literal)


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


def _fault(problem: JsonProblem, text: str, at: str) -> Fault:
    line, column = line_and_column(text, problem.offset)
    here = f"{at}:{line}:{column}"
    match problem.kind:
        case "syntax":
            return NotJson(at=here, reason=problem.detail)
        case "duplicate":
            return DuplicateKey(at=here, key=problem.detail)
        case "depth":
            return TooDeep(at=here, limit=DEEPEST)
        case "value":
            return NotRepresentable(at=here, reason=problem.detail)
