"""Words: texts for users take the field's standard terms. Each row is a phrase that engineers stumbled over, and what to write."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any, Final, cast

import pytest
from acp_bindings import v1, v2
from typer.main import get_command

from acpgen import lint
from acpgen.cli import app
from acpgen.compat import catalogue
from acpgen.input.walk import is_array, is_object

ROOT: Final = Path(__file__).parents[1]

INSTEAD: Final = {
    r"told apart by": "discriminated by",
    r"\bforg[ia]v\w*": "decode leniently",
    r"[Mm]aking contact": "initialization",
    r"\bwhat an? \w+ amounts to": "say what it is",
    r"[Tt]owards (an?|the) (agent|client|peer|server)": "name who sends and who receives",
    r"[Bb]eside the others": "comparison",
    r"[Aa]ccepted was": "must …, previously …",
    r"as plain schemas": "schema inclusion",
    r"[Cc]arr(y|ies) the facts": "merge",
    r"\bstands? twice": "occurs twice",
    r"\b(answers?|hears?|has it|have it|listed|reads?|sent it|waits?) no more\b": "no longer",
    r"\bways? to log in\b": "authentication method",
    r"\bpass(es|ed)? over\b": "ignore",
    r"\bin silence\b": "silently",
    r"\bplay(s|ed)? back\b|\bplays the \w+ back\b": "replay",
    r"\b(of|has|have) (an implementation's|one's) own\b": "custom",
    r"\b[Ff]urther (roots|directories)\b": "additional",
    r"\bversion .{0,20}\b(was|is) agreed on\b": "negotiated",
    r"(?<!there )\bis no (URI|object|JSON|text|string|array|schema|keyword|directory|file|path|number)\b": "is not a …",
    r"\b[Tt]ake the change back\b": "revert the change",
    r"[Nn]ull and absence|[Ll]eaving the field out|[Aa]bsent (means|leaves)": "omission",
}
"""Patterns, and what to write instead."""


def _descriptions(value: Any, at: str = "") -> Iterator[tuple[str, str]]:
    """Every `title` and `description` of a JSON document, and what a requirement says, with its pointer."""
    if is_object(value):
        for key, inner in value.items():
            if key in ("title", "description", "says", "about") and isinstance(inner, str):
                yield f"{at}/{key}", inner
            yield from _descriptions(inner, f"{at}/{key}")
    elif is_array(value):
        for index, inner in enumerate(value):
            yield from _descriptions(inner, f"{at}/{index}")


def _helps() -> Iterator[tuple[str, str]]:
    commands: list[tuple[str, Any]] = [("acpgen", get_command(app))]
    for name, command in commands:
        yield name, command.help or ""
        for option in command.params:
            yield f"{name} {option.name}", getattr(option, "help", None) or ""
        commands += [(f"{name} {inner}", found) for inner, found in getattr(command, "commands", {}).items()]


def _messages() -> Iterator[tuple[str, str]]:
    """The sentences in Python code that are no docstrings: what commands, faults, findings, rules and generated packages say."""
    for path in sorted((ROOT / "generator").rglob("*.py")):
        tree = ast.parse(path.read_text("utf-8"))
        bare = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
        for node in ast.walk(tree):
            if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in bare:
                yield f"{path.relative_to(ROOT).as_posix()}:{node.lineno}", node.value


@cache
def texts() -> tuple[tuple[str, str], ...]:
    """All that users read, with its place."""
    return tuple(_texts())


def _texts() -> Iterator[tuple[str, str]]:
    yield from _messages()
    for pattern in (
        "README.md",
        "SECURITY.md",
        "schema/README.md",
        "CONTRIBUTING.md",
        "schema/pages/**/*.md",
        "generator/acp-session/README.md",
        "generator/acp-workspace/README.md",
        "generator/acp-monitor/README.md",
    ):
        for path in ROOT.glob(pattern):
            yield path.relative_to(ROOT).as_posix(), path.read_text("utf-8")
    for path in [*sorted((ROOT / "templates" / "docs").glob("*.jinja2")), ROOT / "templates" / "vectors" / "README.md"]:
        yield path.relative_to(ROOT).as_posix(), path.read_text("utf-8")
    for path in sorted((ROOT / "templates" / "python").rglob("*")):
        if path.suffix in (".py", ".jinja2"):
            yield path.relative_to(ROOT).as_posix(), path.read_text("utf-8")
    for path in sorted((ROOT / "schema").rglob("*.json")):
        if "releases" not in path.parts:
            name = path.relative_to(ROOT).as_posix()
            yield from ((f"{name}#{at}", text) for at, text in _descriptions(json.loads(path.read_text("utf-8"))))
    meaning = json.loads((ROOT / "tests" / "golden" / "ir.schema.json").read_text("utf-8"))
    yield from ((f"ir.schema.json#{at}", text) for at, text in _descriptions(meaning))
    yield from _helps()
    for rule in catalogue.list_rules():
        yield f"compatibility rule {rule.id}", str(rule)


def test_texts_take_the_terms_of_the_field() -> None:
    found = [
        f"{where}: {match[0]!r}: write {instead!r}"
        for where, text in texts()
        for pattern, instead in INSTEAD.items()
        for match in re.finditer(pattern, text)
    ]
    assert not found, "\n".join(found)


PARTICIPLES: Final = frozenset(
    {
        *(
            "asked",
            "chosen",
            "claimed",
            "compared",
            "described",
            "found",
            "given",
            "joined",
            "judged",
            "kept",
            "known",
            "made",
        ),
        *("owned", "placed", "published", "reported", "taken", "told", "used", "wanted"),
    }
)
"""What is no name by itself: a function is named by a verb, a class by a noun."""


def test_no_function_and_no_class_is_named_by_a_participle_alone() -> None:
    package = ROOT / "generator"
    found = [
        f"{path.relative_to(package)}:{node.lineno}: {node.name}"
        for path in sorted(package.rglob("*.py"))
        for node in ast.walk(ast.parse(path.read_text("utf-8")))
        if isinstance(node, ast.FunctionDef | ast.ClassDef) and node.name.strip("_").lower() in PARTICIPLES
    ]
    assert not found, "\n".join(found)


PRIVATE: Final = frozenset(
    {"claim", "dials", "effort", "heirs", "made", "material", "meet", "owned", "siblings", "ways"}
)
"""Words that only their makers knew; the field says request, options, budget, renames, docs inputs, intersection, body, discovery, path."""


def test_no_name_has_a_word_that_only_its_makers_know() -> None:
    package = ROOT / "generator"
    names = [
        (f"{path.relative_to(package)}:{node.lineno}", node.name)
        for path in sorted(package.rglob("*.py"))
        for node in ast.walk(ast.parse(path.read_text("utf-8")))
        if isinstance(node, ast.FunctionDef | ast.ClassDef)
    ]
    found = [
        each
        for each in names
        if not PRIVATE.isdisjoint(re.findall(r"[a-z]+", re.sub("([A-Z])", r" \1", each[1]).lower()))
    ]
    assert not found


VERBS: Final = frozenset((ROOT / "tests" / "verbs.txt").read_text("utf-8").split())
"""The words with which the names of functions begin: verbs, `is_` and the like, and converters such as `to_text`."""

OTHERS: Final = {
    "schema_inclusion/syntax.py": {"*"},  # productions of the grammar
    "schema_inclusion/forms.py": {"*"},  # constructors of formulas
    "schema_inclusion": {"_plain_covers", "keyword", "main", "of"},
    "acp_session": {
        *(
            "absolute",
            "capabilities",
            "disconnected",
            "info",
            "new_session",
            "option_by_number",
            "process",
            "roots",
        ),
        *("terminal_output", "tool_call", "unsaved_text"),
    },
    "acp_workspace": {
        *(
            "_openat2",
            "absolute",
            "additional_directories",
            "arguments",
            "batch",
            "bubblewrap",
            "capabilities",
            "capability",
            "changed",
            "current",
        ),
        *("guarantees", "initialized", "input_responses", "landlock", "meta", "roots", "terminal_text"),
    },
    "acp_monitor": {"rule", "values"},
    "acpgen": {
        "_root",
        "case",
        "main",
        "references",
    },
    "jsonrpc_bindings": {
        *(
            "Choice",
            "_ending",
            "_message_to_plain",
            "connected",
            "connection_lost",
            "disconnected",
            "ended",
            "ending",
            "function",
        ),
        *(
            "invalid_params",
            "joined",
            "json_pointer",
            "spawned",
            "type",
        ),
    },
}
"""Names that are published, defined by others or nouns for a reason, by the folder or file that they are in."""


def test_the_name_of_a_function_begins_with_a_verb() -> None:
    """Apart from values, from rules, probe cases and commands, which have the name of what they are, and from methods of a protocol."""
    entries = {rule.__name__ for rule in lint.RULES} | {*cast("Any", get_command(app)).commands}
    methods = {name.replace("/", "_") for version in (v1, v2) for name in version.METHODS}
    methods |= {"extension_request", "extension_notification"}
    found: list[str] = []
    for path in sorted((ROOT / "generator").rglob("*.py")):
        place = path.relative_to(ROOT / "generator").as_posix()
        others = {name for part, names in OTHERS.items() if part in place for name in names}
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) or node.name.startswith("__"):
                continue
            decorators = {ast.unparse(each).partition("(")[0].rpartition(".")[2] for each in node.decorator_list}
            if decorators & {"property", "cached_property", "once", "overload", "setter", "rule", "case"}:
                continue
            is_constructor = node.name == "of" and "classmethod" in decorators
            is_named = is_constructor or node.name.strip("_").partition("_")[0] in VERBS
            if not is_named and "*" not in others and node.name not in others | entries | methods:
                found.append(f"{place}:{node.lineno}: {node.name}")
    assert not found, "\n".join(found)


NO_VARIABLES: Final = frozenset(
    {"asked", "found", "given", "kept", "listed", "made", "said", "taken", "told", "written"}
)
"""What no variable of a function and no parameter is called: it says that there is something, and not what."""


PRONOUNS: Final = frozenset({"another", "each", "mine", "one", "other", "own", "theirs"})
"""What they are not called either, apart from operands of operators: a branch, a member or a definition has a noun. The sides of a
merge are ours and theirs.
"""


def _list_bindings(function: ast.AST) -> Iterator[tuple[int, str]]:
    """The names of parameters, variables and attributes where they are bound, with their lines."""
    for node in ast.walk(function):
        match node:
            case ast.arg(arg=name) | ast.Name(id=name, ctx=ast.Store()) | ast.Attribute(attr=name, ctx=ast.Store()):
                yield node.lineno, name
            case ast.MatchAs(name=str(name)) | ast.MatchStar(name=str(name)) | ast.ExceptHandler(name=str(name)):
                yield node.lineno, name
            case _:
                pass


def test_a_variable_says_what_it_is() -> None:
    root = ROOT / "generator"
    names = [
        f"{path.relative_to(root)}:{line}: {name}"
        for path in sorted(root.rglob("*.py"))
        for function in ast.walk(ast.parse(path.read_text("utf-8")))
        if isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef) and not function.name.startswith("__")
        for line, name in _list_bindings(function)
        if name in NO_VARIABLES | PRONOUNS and not (name == "theirs" and "acpgen/adopt/" in path.as_posix())
    ]
    assert not names, "\n".join(names)


NAMED: Final = frozenset({"validate_as"})
"""Names of code that a sentence may give without quotes."""


def test_no_sentence_has_the_name_of_a_function_in_place_of_a_word() -> None:
    package = ROOT / "generator" / "acpgen"
    found: list[str] = []
    for path in sorted(package.rglob("*.py")):
        tree = ast.parse(path.read_text("utf-8"))
        docstrings = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
        for node in ast.walk(tree):
            if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in docstrings:
                words = re.findall(r"(?<= )[a-z]+(?:_[a-z]+)+(?=[ ,;.])", re.sub(r"`[^`]*`|\{[^}]*\}", "", node.value))
                found += [f"{path.name}:{node.lineno}: {word}" for word in words if word not in NAMED]
    assert not found, "\n".join(found)


def test_the_list_is_held_against_all_texts() -> None:
    kinds = {where.split("#")[0].split("/")[0].split()[0] for where, _ in texts()}
    assert {"README.md", "schema", "templates", "acpgen", "compatibility"} <= kinds
    assert len(texts()) > 3000


@pytest.mark.parametrize(
    "text",
    [
        "a union told apart by `type`",
        "bad items are forgiven",
        "Towards an agent",
        "Making contact",
        "the key 'a' stands twice",
        "the peer reads no more",
        "a way to log in",
        "'x' is no URI",
        "a notification is passed over in silence",
        "a type of an implementation's own",
        "version 2 was agreed on",
    ],
)
def test_the_list_finds_what_it_is_for(text: str) -> None:
    assert any(re.search(pattern, text) for pattern in INSTEAD)
