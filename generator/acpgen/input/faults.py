"""Faults of schema files: their JSON, drafts and references, and the arguments of commands."""

from __future__ import annotations

from acpgen.errors import Fault, FaultKind
from acpgen.input.keywords import DRAFTS

_DRAFTS = [name.removeprefix("draft-") for name in DRAFTS]

NOT_FOUND = FaultKind("not-found", "there is no such file or folder.", "Correct the path.")
UNREADABLE = FaultKind("unreadable", "it cannot be read ({reason}).", "Correct this, or name another file.")
NOT_REGULAR = FaultKind("not-regular", "this is not a regular file.", "Save the schema as a file and name that.")
LINK_REFUSED = FaultKind(
    "link-refused",
    "this symbolic link is broken, or leads to a folder or out of the schema folder.",
    "Replace it by the file itself.",
)
NO_FILES = FaultKind(
    "no-files",
    "this folder holds no '*.json' file.",
    "Name the folder that holds the schema; convert a schema in YAML to JSON first.",
)
NO_REVISION = FaultKind(
    "no-revision",
    "git cannot show this revision: {reason}.",
    "Name a branch, tag or commit of the repository you are in.",
)
NO_REPOSITORY = FaultKind(
    "no-repository",
    "the current folder is in no git repository, so there are no revisions to read.",
    "Go into the repository, or name files: acpgen diff OLD.json NEW.json, acpgen history OLDEST.json NEWEST.json.",
)
NO_MERGE_BASE = FaultKind(
    "no-merge-base",
    "it has no commit in common with {other!r}.",
    "Compare with it as it is: leave '--merge-base' out.",
)
SHALLOW_CLONE = FaultKind(
    "shallow-clone",
    "git finds no commit that it has in common with {other!r}, because this clone is shallow.",
    "Fetch the history: 'git fetch --unshallow', 'fetch-depth: 0' of actions/checkout, or 'GIT_DEPTH: 0' in GitLab.",
)
TOO_LARGE = FaultKind(
    "too-large",
    "this exceeds the limit of {mebibytes} MiB for one protocol.",
    "Split the protocol or remove data.",
)
WRONG_ENCODING = FaultKind(
    "wrong-encoding",
    "{found}.",
    "Save the file as UTF-8 without a byte order mark.",
    "The file is not UTF-8, or has a byte order mark. Save it as UTF-8 without one.",
)
NOT_JSON = FaultKind("not-json", "this is not JSON: {reason}.", "Correct it here.")
YAML_GIVEN = FaultKind(
    "yaml-given",
    "acpgen reads JSON, and this is not JSON: {reason}.",
    "Convert the YAML file to JSON, and name that file.",
)
DUPLICATE_KEY = FaultKind(
    "duplicate-key",
    "the key {key!q} occurs twice in one object.",
    "Remove or rename one of the two.",
)
NOT_REPRESENTABLE = FaultKind(
    "not-representable",
    "{reason}.",
    "Write a value that every JSON reader understands.",
    "A number or text is not one that every JSON reader understands. Write one that is.",
)
TOO_DEEP = FaultKind(
    "too-deep",
    "this is nested more than {limit} levels deep.",
    "Move inner parts to '$defs' and refer to them.",
)
TOO_MANY_PATHS = FaultKind(
    "too-many-paths",
    "this has more than {limit} evaluation paths, because references, or 'unevaluated…' keywords inside each other, "
    "lead to the same schemas again and again; so its examples and messages are not judged.",
    "Refer to each definition once, and use such a keyword once.",
)
TOO_MUCH_WORK = FaultKind(
    "too-much-work",
    "the work on this schema was stopped here, after {limit} steps: its meaning is far larger than its text.",
    "Refer to each definition once, make unions and lists of constants smaller, or split the schema.",
)
TOO_LONG_CHAIN = FaultKind(
    "too-long-chain",
    "more than {limit} references follow one another before a value of this can be judged.",
    "Refer to the last definition itself.",
)
NOT_AN_OBJECT = FaultKind("not-an-object", "a schema file must hold one JSON object.", "Put the schema in '{{ … }}'.")
UNKNOWN_DIALECT = FaultKind(
    "unknown-dialect",
    f"'$schema' names {{dialect!q}}, which is none of the drafts {', '.join(_DRAFTS[:-1])} and {_DRAFTS[-1]}.",
    "Give the file with that meta-schema: --ref URL=FILE; or the draft that it extends: --ref URL=draft-07; "
    "or write https://json-schema.org/draft/2020-12/schema here.",
)
UNKNOWN_VOCABULARY = FaultKind(
    "unknown-vocabulary",
    "the meta-schema requires the vocabulary {vocabulary!q}, which acpgen does not know.",
    "Name a meta-schema whose '$vocabulary' does not require it, or do without it: --ref URL=2020-12 takes the draft that it extends.",
)
NOT_A_SCHEMA = FaultKind("not-a-schema", "JSON Schema {dialect} refuses this value: {reason}.", "Correct it.")
MALFORMED_KEYWORD = FaultKind("malformed-keyword", "{keyword!r} must be {expected}.", "Correct the value.")
UNKNOWN_SIDE = FaultKind(
    "unknown-side",
    "{keyword!r} names the side {side!q}, and nothing declares it. {hint}",
    "Correct it, or declare every side: 'x-sides' at the root of a schema file, or 'sides' of the profile "
    "given to --methods.",
)
BAD_OVERLAY = FaultKind(
    "bad-overlay",
    "{reason}.",
    "{remedy}.",
    "A file with 'x-extends' or 'x-adds' does not fit the files that it extends; the error says what is wrong and what to do.",
)
DANGLING_REFERENCE = FaultKind(
    "dangling-reference",
    "'{keyword}' points to {ref!q}, which does not exist.",
    "Correct the reference or add the definition.",
)
REFERENCE_NOT_GIVEN = FaultKind(
    "reference-not-given",
    "'{keyword}' points to {ref!q}, and none of the given files has a schema there.",
    "Give the folder that holds all files of the schema, or the file that is missing: --ref {address}=FILE; or correct the reference. "
    "In a folder, a file is found by its path or its '$id'.",
)
BAD_SETTING = FaultKind("bad-setting", "{key} must be {expected}.", "{hint}")
UNKNOWN_NAME = FaultKind("unknown-name", "there is no {kind} {name!q}.", "{hint}")


def report_dangling(at: str, ref: str, address: str, keyword: str = "$ref") -> Fault:
    """The fault of a dangling reference. `address` is the URI that no file has; it is empty if the file is there and only the place is
    missing.
    """
    if address:
        return REFERENCE_NOT_GIVEN(at, ref=ref, keyword=keyword, address=address)
    return DANGLING_REFERENCE(at, ref=ref, keyword=keyword)
