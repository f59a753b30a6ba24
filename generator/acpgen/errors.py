"""Every fault that a user can cause, one class each. A fault is data: it holds a place, never a document.

Stages collect what they find and raise it together as `Faults`, so one run shows everything. Our own bugs are
`AssertionError`. The classes are plain dataclasses and not frozen: a frozen exception breaks `with`, `add_note` and pickle. They are
equal and shown by what `Fault` has: methods that are made for each of eighty classes take a tenth of the time of a command.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, fields
from string import Formatter
from typing import Any, ClassVar, Final

LONGEST_LINE: Final = 600


def visible(text: str) -> str:
    """`text` as one line that a terminal shows and does not obey."""
    if text.isprintable():
        return text
    return "".join(character if character.isprintable() else repr(character)[1:-1] for character in text)


def printable(text: str) -> str:
    """`text` as one line that a terminal shows and does not obey; what is very long loses its middle."""
    line = visible(text)
    if len(line) <= LONGEST_LINE:
        return line
    return f"{line[: LONGEST_LINE // 2]} … {line[-LONGEST_LINE // 2 :]}"


def shown(text: str) -> str:
    """`text` in quotes for use in a sentence, shortened to 80 characters."""
    return repr(text if len(text) <= 80 else f"{text[:79]}…")


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """A sentence that suggests the known name nearest to `name`, or lists the few there are; empty if there are none. Of a version, such
    as `acp/v9`, and of a family, such as `acp`, it lists the known ones: none of them is nearer.
    """
    from difflib import get_close_matches

    choices = sorted(known)
    family, _, version = name.rpartition("/")
    if not family:
        family, version = name, "0"
    versions = [each for each in choices if each.rpartition("/")[0] == family]
    if versions and re.fullmatch(r"v?\d[\w.-]*", version):
        return f"Known versions of {family!r}: {', '.join(map(repr, versions))}."
    close = get_close_matches(name, choices, n=1)
    if close:
        return f"Did you mean {close[0]!r}?"
    others = f", and {len(choices) - 12} more" if len(choices) > 12 else ""
    return f"Known names: {', '.join(map(repr, choices[:12]))}{others}." if choices else ""


class _Sentences(Formatter):
    """Fills the fields of a fault into its sentence."""

    def convert_field(self, value: Any, conversion: Any) -> Any:
        return shown(value) if conversion == "q" else super().convert_field(value, conversion)


_SENTENCES: Final = _Sentences()


@dataclass(repr=False, eq=False)
class Fault(Exception):
    """Something in the user's input that stops the work.

    `at` is the place: `file`, `file:line:column` or `file#/json/pointer`.
    """

    at: str
    message: ClassVar[str]
    """What is wrong, and after a line break what to do; `{field}` is a field of the fault, `{field!q}` the same in quotes and shortened."""

    def __reduce__(self) -> tuple[object, ...]:
        return type(self), tuple(self._values().values()), self.__dict__

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Fault) and type(self) is type(other) and self._values() == other._values()

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(f'{name}={value!r}' for name, value in self._values().items())})"

    def __str__(self) -> str:
        return printable(f"{self.at}: {self.what()}")

    def _values(self) -> dict[str, object]:
        return {field.name: getattr(self, field.name) for field in fields(self)}

    def text(self) -> str:
        """What is wrong, and after a line break what to do."""
        return _SENTENCES.vformat(self.message, (), self._values())

    def what(self) -> str:
        """What is wrong and what to do, in one line."""
        return " ".join(filter(None, self.error_and_hint()))

    def error_and_hint(self) -> tuple[str, str]:
        """What is wrong, and what to do; the second is empty where the first says it."""
        text = self.text()
        error, _, hint = text.rpartition("\n")
        return (error, hint) if error else (text, "")


class Faults(Exception):
    """All faults of one stage, in the order of the input. Never empty."""

    def __init__(self, faults: Iterable[Fault]) -> None:
        self.faults: tuple[Fault, ...] = tuple(faults)
        assert self.faults
        super().__init__(*self.faults)

    def __reduce__(self) -> tuple[object, ...]:
        return type(self), (self.faults,), self.__dict__

    def __str__(self) -> str:
        return "\n".join(str(fault) for fault in self.faults)


def distinct(faults: Iterable[Fault]) -> Iterator[Fault]:
    """Each fault once, by what it says."""
    return iter({str(fault): fault for fault in faults}.values())


# --- reading ---------------------------------------------------------------------------------------------------------


@dataclass(repr=False, eq=False)
class NotFound(Fault):
    """A path that leads nowhere."""

    message = "there is no such file or folder.\nCorrect the path."


@dataclass(repr=False, eq=False)
class Unreadable(Fault):
    """A file or folder that the system does not let us read."""

    reason: str

    message = "it cannot be read ({reason}).\nCorrect this, or name another file."


@dataclass(repr=False, eq=False)
class NotRegular(Fault):
    """A pipe, device or socket where a file should be."""

    message = "this is not a regular file.\nSave the schema as a file and name that."


@dataclass(repr=False, eq=False)
class LinkRefused(Fault):
    """A symbolic link in a schema folder that leads out of it, to a folder, or nowhere."""

    message = (
        "this symbolic link is broken, or leads to a folder or out of the schema folder.\n"
        "Replace it by the file itself."
    )


@dataclass(repr=False, eq=False)
class NoFiles(Fault):
    """A schema folder without any schema."""

    message = (
        "this folder holds no '*.json' file.\n"
        "Name the folder that holds the schema; convert a schema in YAML to JSON first."
    )


@dataclass(repr=False, eq=False)
class NoRevision(Fault):
    """A git revision that cannot be read."""

    reason: str

    message = "git cannot show this revision: {reason}.\nName a branch, tag or commit of the repository you are in."


@dataclass(repr=False, eq=False)
class NoRepository(Fault):
    """A git revision, asked for where no git repository is."""

    message = (
        "the current folder is in no git repository, so there are no revisions to read.\n"
        "Go into the repository, or name files: acpgen diff OLD.json NEW.json, acpgen history OLDEST.json NEWEST.json."
    )


@dataclass(repr=False, eq=False)
class NoMergeBase(Fault):
    """Two git revisions without a common commit, as far as this clone knows."""

    other: str
    is_shallow: bool

    def text(self) -> str:
        if self.is_shallow:
            return (
                f"git finds no commit that it has in common with {self.other!r}, because this clone is shallow.\n"
                "Fetch the history: 'git fetch --unshallow', 'fetch-depth: 0' of actions/checkout, or 'GIT_DEPTH: 0' in GitLab."
            )
        return f"it has no commit in common with {self.other!r}.\nCompare with it as it is: leave '--merge-base' out."


@dataclass(repr=False, eq=False)
class NotAtARevision(Fault):
    """A file of today where a git revision is asked for."""

    message = (
        "'--merge-base' cannot be used: OLD names no git revision, and only revisions have a merge base.\n"
        "Name one, such as 'main:acp/v1', or leave '--merge-base' out."
    )


@dataclass(repr=False, eq=False)
class TooLarge(Fault):
    """More text than the tool is ready to read."""

    limit: int

    def text(self) -> str:
        return f"this exceeds the limit of {self.limit >> 20} MiB for one protocol.\nSplit the protocol or remove data."


@dataclass(repr=False, eq=False)
class WrongEncoding(Fault):
    """Bytes that are not plain UTF-8."""

    found: str

    message = "{found}.\nSave the file as UTF-8 without a byte order mark."


@dataclass(repr=False, eq=False)
class NotJson(Fault):
    """Text that JSON does not allow."""

    reason: str

    def text(self) -> str:
        if self.at.partition(":")[0].lower().endswith((".yaml", ".yml")):
            return f"acpgen reads JSON, and this is not JSON: {self.reason}.\nConvert the YAML file to JSON, and name that file."
        return f"this is not JSON: {self.reason}.\nCorrect it here."


@dataclass(repr=False, eq=False)
class DuplicateKey(Fault):
    """A key that one object has twice."""

    key: str

    message = "the key {key!q} occurs twice in one object.\nRemove or rename one of the two."


@dataclass(repr=False, eq=False)
class NotRepresentable(Fault):
    """JSON text whose value no program can hand on: a lone surrogate, a number out of range."""

    reason: str

    message = "{reason}.\nWrite a value that every JSON reader understands."


@dataclass(repr=False, eq=False)
class TooDeep(Fault):
    """Values nested beyond what a schema needs."""

    limit: int

    message = "this is nested more than {limit} levels deep.\nMove inner parts to '$defs' and refer to them."


@dataclass(repr=False, eq=False)
class TooManyWays(Fault):
    """A definition whose values are judged by the same schemas over and over."""

    limit: int

    message = (
        "this has more than {limit} evaluation paths, because references lead to the same definitions again and "
        "again; so its examples and messages are not judged.\n"
        "Refer to each definition once."
    )


@dataclass(repr=False, eq=False)
class TooMuchWork(Fault):
    """A schema that takes more steps than any that people write. The place is the one that was worked on then."""

    limit: int

    message = (
        "the work on this schema was stopped here, after {limit} steps: its meaning is far larger than its text.\n"
        "Refer to each definition once, make unions and lists of constants smaller, or split the schema."
    )


@dataclass(repr=False, eq=False)
class TooLongChain(Fault):
    """A definition from which references lead on and on."""

    limit: int

    message = (
        "more than {limit} references follow one another before a value of this can be judged.\n"
        "Refer to the last definition itself."
    )


@dataclass(repr=False, eq=False)
class NotAnObject(Fault):
    """A document that is no JSON object."""

    message = "a schema file must hold one JSON object.\nPut the schema in '{{ … }}'."


@dataclass(repr=False, eq=False)
class UnknownDialect(Fault):
    """A `$schema` that names no draft that is read, and no document that was given."""

    dialect: str

    message = (
        "'$schema' names {dialect!q}, which is none of the drafts 04, 06, 07, 2019-09 and 2020-12.\n"
        "Give the file with that meta-schema: --ref URL=FILE; or the draft that it extends: --ref URL=draft-07; "
        "or write https://json-schema.org/draft/2020-12/schema here."
    )


@dataclass(repr=False, eq=False)
class UnknownVocabulary(Fault):
    """A meta-schema that demands a vocabulary that nobody here knows, so that keywords may mean anything."""

    vocabulary: str

    message = (
        "the meta-schema requires the vocabulary {vocabulary!q}, which acpgen does not know.\n"
        "Name a meta-schema whose '$vocabulary' does not require it."
    )


@dataclass(repr=False, eq=False)
class UnclearDraft(Fault):
    """A keyword of an older draft in a document that does not say which draft it follows."""

    keyword: str

    message = (
        "{keyword!r} has a meaning only in older drafts, and no '$schema' says which draft this file follows.\n"
        'Add it, such as "$schema": "http://json-schema.org/draft-07/schema#".'
    )


@dataclass(repr=False, eq=False)
class NotASchema(Fault):
    """A value that the meta-schema refuses."""

    reason: str
    dialect: str

    message = "JSON Schema {dialect} refuses this value: {reason}.\nCorrect it."


@dataclass(repr=False, eq=False)
class DanglingReference(Fault):
    """A reference to a place that does not exist. `address` is what no file is known by, empty where only the place is missing."""

    ref: str
    keyword: str = "$ref"
    address: str = ""

    def text(self) -> str:
        leads = f"'{self.keyword}' points to {shown(self.ref)}"
        if not self.address:
            return f"{leads}, which does not exist.\nCorrect the reference or add the definition."
        return (
            f"{leads}, and none of the given files has a schema there.\n"
            f"Put the file into the schema's folder, or give the file: --ref {self.address}=FILE; or correct the reference."
        )


@dataclass(repr=False, eq=False)
class SeveralTargets(Fault):
    """A reference that leads elsewhere from each of several places, or to several documents of one address.

    `places` are some of those that it can mean, and `more` is the number of the others.
    """

    ref: str
    keyword: str
    places: tuple[str, ...]
    more: int = 0

    def text(self) -> str:
        others = f" or one of {self.more} more places" if self.more else ""
        return (
            f"'{self.keyword}' points to {shown(self.ref)}, which can mean {' or '.join(self.places)}{others}.\n"
            f"Bindings need a reference with one target: write a '$ref' to the intended one."
        )


@dataclass(repr=False, eq=False)
class NotADefinition(Fault):
    """A member of `$defs` or `definitions` that is neither a schema nor a group of schemas."""

    message = (
        "this has schemas under keys that are not keywords, and other values too, so it is neither a schema nor "
        "a group of definitions.\n"
        "Move the schemas to '$defs', or remove the other values."
    )


@dataclass(frozen=True)
class LeftOut:
    """Something in the user's input that means nothing and was left out. It stops nothing. `at` is the place, as in a fault."""

    at: str

    def __str__(self) -> str:
        return printable(f"{self.at}: {self.what()}")

    def what(self) -> str:
        """What it is, and what to do, as one line."""
        raise AssertionError(f"{type(self).__name__} does not say what it is")


@dataclass(frozen=True)
class StrayDefinition(LeftOut):
    """A member of `$defs` or `definitions` that is no schema, and that nothing refers to."""

    def what(self) -> str:
        return "this is not a schema, nothing refers to it, and it was left out. Write it as '$comment', or remove it."


@dataclass(frozen=True)
class ForeignKeyword(LeftOut):
    """A keyword that means nothing where it stands: its draft does not know it, or `$ref` hides it."""

    keyword: str
    draft: str
    beside: str = ""

    def what(self) -> str:
        if self.beside:
            return (
                f"{self.keyword!r} beside '$ref' has no meaning in {self.draft}, and was left out. "
                f"Put the '$ref' into 'allOf', or name a newer draft in '$schema'."
            )
        return (
            f"{self.keyword!r} has no meaning in {self.draft}, and was left out. "
            f"Remove it, or name the draft that it belongs to in '$schema'."
        )


@dataclass(frozen=True)
class UnknownKeyword(LeftOut):
    """A key of a schema that is no keyword. `meant` is what was probably meant, `more` at how many other places it stands, too."""

    keyword: str
    meant: str = ""
    more: int = 0

    def what(self) -> str:
        told = f"{shown(self.keyword)} is not a keyword of JSON Schema, and has no effect"
        if self.meant:
            return f"{told}. Did you mean {self.meant}?"
        also = f", here and at {self.more} more place{'s' if self.more > 1 else ''}" if self.more else ""
        return f"{told}{also}."


@dataclass(repr=False, eq=False)
class NothingDefined(Fault):
    """A document from which neither a type nor a method can be read. `kind` is what it is, where it is not a JSON Schema."""

    kind: str = ""

    def text(self) -> str:
        if self.kind:
            return f"this is {self.kind} that lists no method and no type.\nAdd the methods that it should describe."
        return (
            "this file defines no type and no method: its root has no keyword of JSON Schema that describes a value, and "
            "'$defs' and 'definitions' are empty or missing.\nName a file with a JSON Schema; documents that only contain "
            "schemas, such as OpenAPI, are not read."
        )


@dataclass(repr=False, eq=False)
class NoKeyword(Fault):
    """A document that is to be compared as a JSON Schema, and has no keyword of JSON Schema at its root."""

    message = (
        "this is not a JSON Schema: none of its members is a keyword.\n"
        "Name the schema itself; documents that only contain schemas, such as OpenAPI, are not read."
    )


@dataclass(repr=False, eq=False)
class ReferenceLoop(Fault):
    """References that lead only to one another, so that no type is ever reached."""

    names: tuple[str, ...]

    def text(self) -> str:
        return f"these references only lead to each other: {' -> '.join(self.names)}.\nGive one of them a type."


# --- meaning ---------------------------------------------------------------------------------------------------------


@dataclass(repr=False, eq=False)
class NameCollision(Fault):
    """Two things that would get the same generated name."""

    name: str
    other: str

    message = (
        "the generated name {name!r} is also the name of {other}.\n"
        "Set 'x-name' on one of them, or map one in the file given to --names."
    )


@dataclass(repr=False, eq=False)
class MalformedKeyword(Fault):
    """A keyword whose value has the wrong form."""

    keyword: str
    expected: str

    message = "{keyword!r} must be {expected}."


@dataclass(repr=False, eq=False)
class NoRole(Fault):
    """A definition with `x-method` whose name does not say what it is to the method."""

    name: str
    method: str

    message = (
        "'x-method' says {method!q}, and the name {name!r} does not say whether this is params or result.\n"
        "Let it end in 'Request', 'Notification', 'Response' or 'Result', or set 'x-name' so."
    )


@dataclass(repr=False, eq=False)
class SidesDiffer(Fault):
    """The params and the result of one method name two peers that handle it."""

    method: str
    side: str
    other: str
    params: str

    message = (
        "'x-side' says that {side!r} handles the method {method!q}; its params, {params}, say {other!r}. The "
        "peer that handles a method stands on both.\n"
        "Correct one of them."
    )


@dataclass(repr=False, eq=False)
class RoleTaken(Fault):
    """Two definitions that are the same thing to one method."""

    method: str
    role: str
    other: str

    message = (
        "this is a second {role} of the method {method!q}; the first is {other}.\nRemove 'x-method' from one of them."
    )


@dataclass(repr=False, eq=False)
class UnknownLeniency(Fault):
    """An `x-deserialize-…` keyword that this version does not know. It would change what is decoded."""

    keyword: str

    message = "{keyword!r} would change what is decoded, and is not known.\nRemove it or use a newer acpgen."


@dataclass(repr=False, eq=False)
class NamedByPosition(Fault):
    """An entry of the chosen names that points to a variant of a tagged union by its index."""

    instead: str

    message = (
        "this entry of the names counts the variants of a union, and would name another one after an insertion.\n"
        "Name the variant by its tag: {instead!r}."
    )


@dataclass(repr=False, eq=False)
class UnknownSide(Fault):
    """A keyword that names a peer which the protocol does not have."""

    keyword: str
    side: str
    known: tuple[str, ...]

    def text(self) -> str:
        return (
            f"{self.keyword!r} names the side {shown(self.side)}, and nothing declares it. {did_you_mean(self.side, self.known)}\n"
            "Correct it, or declare every side: 'x-sides' at the root of a schema file, or 'sides' of the profile given to --methods."
        )


@dataclass(repr=False, eq=False)
class BadProfile(Fault):
    """A profile of methods that has not the form of one, or contradicts itself."""

    reason: str
    remedy: str

    def text(self) -> str:
        return f"{self.reason}.\n{self.remedy}{'' if self.remedy.endswith(('.', '?')) else '.'}"


@dataclass(repr=False, eq=False)
class UnusedRule(Fault):
    """An entry of a profile that matches nothing in the schema."""

    what_for: str

    message = "{what_for}.\nCorrect the name, or remove the entry."


@dataclass(repr=False, eq=False)
class NoMethods(Fault):
    """A schema in which the profile that was named finds no method."""

    profile: str

    message = (
        "the profile {profile!q} finds no method here.\n"
        "Name the one that fits the schema, write one, or leave '--methods' out: then acpgen tells what it finds "
        "by itself."
    )


@dataclass(repr=False, eq=False)
class NotThatDocument(Fault):
    """A file that is not the kind of document which the profile reads."""

    kind: str
    reason: str

    message = "this is not {kind}: {reason}.\nCorrect it, or name another profile with --methods."


@dataclass(repr=False, eq=False)
class Unsupported(Fault):
    """Something that a target or command cannot do for this protocol."""

    subject: str
    reason: str
    remedy: str

    message = "{subject} cannot be made: {reason}.\n{remedy}."


@dataclass(repr=False, eq=False)
class UnusedName(Fault):
    """An entry of the chosen names that matches nothing in the schema."""

    hint: str = ""

    def text(self) -> str:
        told = "this entry of the names matches no definition, variant or inline type."
        return f"{told}\n{self.hint or 'Correct the place or remove it.'}"


# --- configuration ---------------------------------------------------------------------------------------------------


@dataclass(repr=False, eq=False)
class NoConfiguration(Fault):
    """No `[tool.acpgen]` from the current folder upwards."""

    message = (
        "no pyproject.toml, here or in a parent folder, has a table [tool.acpgen].\n"
        "Run this in a project, make one with 'acpgen init DIR', or, without a project, name files, or protocols "
        "such as acp/v1: acpgen lint FILE, acpgen diff OLD NEW, acpgen generate --schema FILE --package NAME "
        "--out DIR."
    )


@dataclass(repr=False, eq=False)
class NotToml(Fault):
    """Text that TOML does not allow."""

    reason: str

    message = "this is not TOML: {reason}.\nCorrect it here."


@dataclass(repr=False, eq=False)
class UnknownKey(Fault):
    """A key that the configuration does not know."""

    key: str
    hint: str

    message = "the key {key} is not known.\n{hint}"


@dataclass(repr=False, eq=False)
class BadSetting(Fault):
    """A key of the configuration whose value has the wrong form, or that is missing."""

    key: str
    expected: str
    hint: str = ""

    def text(self) -> str:
        return f"{self.key} must be {self.expected}.\n{self.hint}".rstrip()


@dataclass(repr=False, eq=False)
class NotAppendable(Fault):
    """A file of waivers to which no further table can be added."""

    message = "no waiver can be appended to this file.\nWrite its waivers as separate tables: [[waiver]]."


@dataclass(repr=False, eq=False)
class UnknownName(Fault):
    """A protocol or target that does not exist here."""

    kind: str
    name: str
    hint: str

    def text(self) -> str:
        return f"there is no {self.kind} {shown(self.name)}.\n{self.hint}".rstrip()


@dataclass(repr=False, eq=False)
class NoOutput(Fault):
    """A target that exists, and that no output of the project has."""

    target: str
    protocol: str

    def text(self) -> str:
        return (
            f"no output of this project has the target {shown(self.target)}.\n"
            f'Add one: [tool.acpgen.outputs."FOLDER"] with target = "{self.target}" and protocols = ["{self.protocol}"].'
        )


@dataclass(repr=False, eq=False)
class SameVersion(Fault):
    """Two schemas to judge by that are the same version, so that a handshake could not choose between them."""

    first: str
    second: str

    message = "{first!q} and {second!q} are the same version.\nName one of them."


@dataclass(repr=False, eq=False)
class TargetFailed(Fault):
    """A target of another package that raised an exception or made something else than files, or the tool beside one that failed."""

    name: str
    reason: str

    def text(self) -> str:
        return (
            f"the target {shown(self.name)} failed: {self.reason.rstrip('.')}. Nothing was written.\n"
            "Report this to the authors of the target."
        )


@dataclass(repr=False, eq=False)
class TargetRefused(Fault):
    """A protocol that the target of another package cannot use, in the words of that target."""

    name: str
    reason: str

    def text(self) -> str:
        return f"the target {shown(self.name)} cannot use it: {self.reason.rstrip('.')}. Nothing was written."


# --- writing ---------------------------------------------------------------------------------------------------------


@dataclass(repr=False, eq=False)
class ForeignFolder(Fault):
    """A folder with content that this tool did not write."""

    message = (
        "this folder is not empty, and acpgen did not write it.\nName a new or empty folder, or empty it yourself."
    )


@dataclass(repr=False, eq=False)
class StrayFile(Fault):
    """A file in a generated folder that no target wrote."""

    message = "acpgen did not write this file, and it replaces the whole folder.\nMove the file out of the folder."


@dataclass(repr=False, eq=False)
class ForeignFile(Fault):
    """A file that acpgen did not write, where an output among other files needs one."""

    message = (
        "acpgen did not write this file, and an output has a file of the same name.\n"
        "Move the file away, or name another folder."
    )


@dataclass(repr=False, eq=False)
class PathClash(Fault):
    """A path in an output that two protocols or targets need for different things."""

    path: str

    message = "two protocols or targets need {path!q} for different content.\nGive each its own output."


@dataclass(repr=False, eq=False)
class NotEmpty(Fault):
    """A folder for a new project in which there is something already."""

    message = "a project needs a new or empty folder, and this is not one.\nName another folder."


@dataclass(repr=False, eq=False)
class NotAFolder(Fault):
    """An output path at which something else than a folder stands."""

    message = "the output must be a folder, and this is a file or a link.\nName another path."


@dataclass(repr=False, eq=False)
class CurrentFolder(Fault):
    """An output folder from inside which the command was run."""

    message = (
        "the current folder is inside this output, which is replaced as a whole.\nRun the command from another folder."
    )


@dataclass(repr=False, eq=False)
class Unwritable(Fault):
    """An output that the system does not let us write. `left` are files whose old text could not be put back: it stands in these."""

    reason: str
    left: tuple[str, ...] = ()

    def text(self) -> str:
        if self.left:
            return (
                f"it cannot be written ({self.reason}), and not all files written before it could be restored. "
                f"Their old text is in {', '.join(map(shown, self.left))}.\nGive permission or free space, and rename them back."
            )
        return f"it cannot be written ({self.reason}). Nothing was changed.\nGive permission or free space, or name another path."


@dataclass(repr=False, eq=False)
class NotRepairable(Fault):
    """A file of the new side that `acpgen diff --fix` cannot write repairs to."""

    reason: str

    message = "no repair can be written here: {reason}. Nothing was changed."


# --- adopting --------------------------------------------------------------------------------------------------------


@dataclass(repr=False, eq=False)
class NotAdoptable(Fault):
    """A schema that is not laid out as ACP's: one file, definitions in `$defs`, references to them alone."""

    reason: str

    message = (
        "{reason}. Only a schema laid out as ACP publishes it can be adopted: one file, all definitions in '$defs'."
    )


@dataclass(repr=False, eq=False)
class NoBase(Fault):
    """A schema folder that does not say which upstream revision it follows."""

    protocol: str

    message = (
        "this file is missing. Without it, local changes cannot be distinguished from upstream changes.\n"
        "Write it from the revision that the folder follows: acpgen adopt FILE --into {protocol} --start."
    )


@dataclass(repr=False, eq=False)
class BaseExists(Fault):
    """A schema folder that is to follow another revision than it says."""

    protocol: str

    message = (
        "this file says that the folder follows another revision.\n"
        "To merge the new one, leave out --start; if the files of {protocol} follow the new one already, remove "
        "this file first."
    )


@dataclass(repr=False, eq=False)
class UnclearProtocol(Fault):
    """An upstream schema that could belong to several protocols here, or to none."""

    known: tuple[str, ...]
    is_unstable: bool = False

    def text(self) -> str:
        choices = " or ".join(f"--into {name}" for name in self.known) or "--into PROTOCOL --start"
        if self.is_unstable:
            return f"its descriptions call parts of it unstable, so it goes into no stable protocol by itself.\nName one: {choices}."
        return f"it is not clear which protocol this schema belongs to.\nName it: {choices}."


@dataclass(repr=False, eq=False)
class AdoptionRefused(Fault):
    """An upstream schema that would leave files that cannot be used."""

    reason: str

    message = "adopting this would leave a schema that cannot be used: {reason} Nothing was written."


# --- conversations ---------------------------------------------------------------------------------------------------


@dataclass(repr=False, eq=False)
class NotStarted(Fault):
    """A command of `acpgen tap` that the system does not start."""

    reason: str

    message = "this command cannot be started ({reason}).\nCorrect it, or give its path."


@dataclass(repr=False, eq=False)
class NotCreated(Fault):
    """A file for a recording or a report that cannot be written."""

    reason: str

    message = "this file cannot be written ({reason}).\nName another path."


@dataclass(repr=False, eq=False)
class NoRecordings(Fault):
    """A folder or pattern in which no file is a recording."""

    message = (
        "no file here has the extension of a recording: .jsonl or .ndjson, optionally with .gz or .zst.\n"
        "Name the file itself."
    )


@dataclass(repr=False, eq=False)
class Inflated(Fault):
    """A compressed file that holds far more than recordings of its size do."""

    times: int

    message = (
        "it decompresses to over {times} times its size, and the rest was not read.\n"
        "If you trust it, decompress it and name the plain file."
    )


@dataclass(repr=False, eq=False)
class OtherResults(Fault):
    """A file of results that another run has made, or none of ours."""

    reason: str

    message = "the results in this file cannot be continued: {reason}.\nName a new file, or remove this one."


# --- documentation ---------------------------------------------------------------------------------------------------


@dataclass(repr=False, eq=False)
class InvalidExample(Fault):
    """An example that the schema beside it refuses; `remedy` is what may be done besides correcting it."""

    reason: str
    remedy: str = ""

    def text(self) -> str:
        otherwise = f", or {self.remedy}" if self.remedy else ""
        return f"the schema refuses this example: {self.reason}.\nCorrect the example or the schema{otherwise}."


@dataclass(repr=False, eq=False)
class BadOverlay(Fault):
    """Something in a folder that extends another one, and does not fit what it extends."""

    reason: str

    message = "{reason}."


@dataclass(repr=False, eq=False)
class BadMaterial(Fault):
    """A page, a release or a table beside the schemas that the docs cannot take in."""

    reason: str
    remedy: str

    message = "{reason}.\n{remedy}."


@dataclass(repr=False, eq=False)
class SiteNotBuilt(Fault):
    """A site that cannot be built or shown."""

    reason: str
    remedy: str

    message = "the site was not built: {reason}. Nothing was changed.\n{remedy}."
