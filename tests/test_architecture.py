"""Which room may import which: the table of floors is the truth about the arrows of the architecture."""

from __future__ import annotations

import ast
import re
from functools import cache
from graphlib import TopologicalSorter
from pathlib import Path

import schema_inclusion

PACKAGE = Path(__file__).parents[1] / "generator" / "acpgen"

FLOORS: tuple[frozenset[str], ...] = (
    frozenset({"commands"}),
    frozenset({"plugins", "probe", "publish", "recordings"}),
    frozenset({"adopt", "compat", "lint", "messages", "targets"}),
    frozenset({"meaning"}),
    frozenset({"bundle"}),
    frozenset({"config", "importers"}),
    frozenset({"diagnostics", "files", "methods"}),
    frozenset({"naming"}),
    frozenset({"input"}),
    frozenset({"embedded", "errors", "ir", "pointers", "resources"}),
)
"""The rooms, the highest floor first: a room imports from the floors below it."""

KIT = frozenset(
    {"built_in", "faults", "interface", "options", "outside", "pipeline", "process", "installed", "settings"}
)
"""Beside the targets: what they are all made with, and those of others."""

READERS = frozenset(
    {
        "acpgen.targets.python.formatting",
        "adopt",
        "probe",
        "acpgen.input.load",
        "messages",
        "recordings",
        *(
            f"acpgen.publish.site{name}"
            for name in ("", ".generator", ".http_server", ".live", ".search_index", ".site_files")
        ),
        "files",
    }
)
"""Open files. `files` is the writer, and reads the generator itself and cached results, `adopt` writes the schema that people edit,
`messages` and `recordings` open conversations and record them, and the null device and the terminal, `publish.site` hands pages to the site
generator in a passing folder, `probe` serves files of one."""

HEAVY = frozenset({"datamodel_code_generator", "jinja2", "jsonschema_rs", "rich", "watchfiles"})
"""Imported where they are needed and not before: the command starts without them."""


@cache
def tree(path: Path) -> ast.Module:
    return ast.parse(path.read_text("utf-8"))


def modules() -> list[Path]:
    return sorted(PACKAGE.rglob("*.py"))


def room(path: Path) -> str:
    """The module or folder directly below the package; what starts the commands is one of them."""
    return _room(path.relative_to(PACKAGE).with_suffix("").parts[0])


def _room(name: str) -> str:
    return "commands" if name in ("__main__", "cli") else name


def dotted(path: Path) -> str:
    return ".".join(("acpgen", *path.relative_to(PACKAGE).with_suffix("").parts)).removesuffix(".__init__")


def imported_at_start(path: Path) -> set[str]:
    """Dotted names that a file imports when it is imported itself."""
    found: set[str] = set()
    for node in tree(path).body:
        if isinstance(node, ast.ImportFrom):
            found.update(f"{node.module}.{alias.name}" for alias in node.names)
    return found


@cache
def imported(path: Path) -> set[str]:
    """Dotted names that a file imports, from anywhere in it."""
    found: set[str] = set()
    for node in ast.walk(tree(path)):
        if isinstance(node, ast.Import):
            found.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: a relative import"
            assert node.module is not None
            found.update(f"{node.module}.{alias.name}" for alias in node.names)
    return found


def rooms_of(names: set[str]) -> set[str]:
    """The rooms among dotted names."""
    found = {name.split(".")[1] for name in names if name.startswith("acpgen.")}
    return {_room(name) for name in found if (PACKAGE / name).is_dir() or (PACKAGE / f"{name}.py").exists()}


def test_a_room_imports_from_the_floors_below_it() -> None:
    height = {name: floor for floor, names in enumerate(FLOORS) for name in names}
    present = {room(path) for path in modules()} - {"__init__"}
    assert present == height.keys()
    refused = {
        dotted(path): wrong
        for path in modules()
        if room(path) != "__init__"
        if (wrong := {name for name in rooms_of(imported(path)) - {room(path)} if height[name] <= height[room(path)]})
    }
    assert not refused


def test_modules_do_not_import_one_another_in_a_circle() -> None:
    names = {dotted(path) for path in modules()}
    graph = {
        dotted(path): {name if name in names else name.rpartition(".")[0] for name in imported_at_start(path)} & names
        for path in modules()
    }
    TopologicalSorter({name: used - {name} for name, used in graph.items()}).prepare()


def test_each_room_says_in_five_lines_what_goes_in_and_what_comes_out() -> None:
    docstrings = {path.parent.name: ast.get_docstring(tree(path)) or "" for path in PACKAGE.glob("*/__init__.py")}
    assert docstrings.keys() == {path.name for path in PACKAGE.iterdir() if any(path.glob("*.py"))}
    wrong = {
        room
        for room, text in docstrings.items()
        if len(text.splitlines()) > 5 or not re.search(r"^In(put)?: .*Out(put)?: ", text, re.MULTILINE | re.DOTALL)
    }
    assert not wrong


def test_targets_do_not_know_one_another() -> None:
    for path in modules():
        if room(path) == "targets" and len(path.relative_to(PACKAGE).parts) > 1:
            own = path.relative_to(PACKAGE).parts[1].removesuffix(".py")
            others = {name.split(".")[2] for name in imported(path) if name.startswith("acpgen.targets.")} - KIT
            assert not {other for other in others if (PACKAGE / "targets" / other).exists()} - {own}
            assert not {other for other in others if (PACKAGE / "targets" / f"{other}.py").exists()} - {own}


def test_only_the_reader_and_the_writer_touch_the_disk() -> None:
    touching = {"read_text", "read_bytes", "write_text", "write_bytes", "open", "mkdir", "unlink", "rename", "rmtree"}
    for path in modules():
        if not READERS.isdisjoint((room(path), dotted(path))):
            continue
        found = tree(path)
        called = {
            node.func.attr
            for node in ast.walk(found)
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)
        }
        # The run-time modules that are copied verbatim are read by their target.
        assert not called & touching - ({"read_text"} if room(path) == "targets" else set()), dotted(path)


def test_heavy_libraries_are_not_imported_when_a_stage_before_them_is() -> None:
    for path in modules():
        found = tree(path)
        top = [node for node in found.body if isinstance(node, ast.Import | ast.ImportFrom)]
        names = {alias.name for node in top if isinstance(node, ast.Import) for alias in node.names}
        names |= {str(node.module) for node in top if isinstance(node, ast.ImportFrom)}
        heavy = {name.split(".")[0] for name in names} & HEAVY
        assert not heavy or room(path) in ("targets", "compat"), f"{dotted(path)} imports {sorted(heavy)}"


PROVER = frozenset(
    f"schema_inclusion.{name}"
    for name in ("culprits", "ecma", "imports", "once", "patterns", "spelling", "syntax", "validation", "values")
)
"""The modules of the prover that are public beside its own names."""


ELSEWHERE = {
    "acpgen.cli": ("schema_inclusion.imports.",),
    "acpgen.input.expressions": ("schema_inclusion.spelling.", "schema_inclusion.syntax."),
    "acpgen.input.numbers": ("schema_inclusion.values.",),
}
"""What is used outside of the check, and asks the prover nothing: what prepares a process before a stage runs, what a pattern means, and
exact numbers."""


def test_acpgen_uses_only_what_the_prover_offers_and_only_the_check_asks_it() -> None:
    offered = {f"schema_inclusion.{name}" for name in schema_inclusion.__all__}
    for path in modules():
        used = {name for name in imported(path) if name.split(".")[0] == "schema_inclusion"}
        private = {name for name in used if name not in offered and name.rpartition(".")[0] not in PROVER}
        assert not private, f"{dotted(path)} imports {sorted(private)}"
        beyond = {name for name in used if not f"{name}.".startswith(ELSEWHERE.get(dotted(path), ("\0",)))}
        assert not beyond or room(path) == "compat", dotted(path)


BLIND = frozenset(
    {
        "acpgen.cli",
        "acpgen.recordings.recording_result",
        "acpgen.recordings.stores",
        "acpgen.targets.outside",
    }
)
"""Tell a defect of their own, by an exit code or in the verdict on one recording of many, or run code of others, targets and stores: they
may meet anything."""


def test_nothing_is_caught_blindly() -> None:
    for path in modules():
        if dotted(path) in BLIND:
            continue
        for node in ast.walk(tree(path)):
            if isinstance(node, ast.ExceptHandler):
                caught = ast.unparse(node.type) if node.type else "everything"
                assert caught not in ("everything", "Exception", "BaseException"), f"{dotted(path)}:{node.lineno}"


def test_generated_code_and_the_run_time_do_not_know_the_generator() -> None:
    root = PACKAGE.parents[1]
    for folder in ("generated", "templates"):
        for path in (root / folder).rglob("*.py"):
            for node in ast.walk(tree(path)):
                if isinstance(node, ast.Import):
                    assert not any(alias.name.split(".")[0] == "acpgen" for alias in node.names)
                elif isinstance(node, ast.ImportFrom):
                    assert (node.module or "").split(".")[0] != "acpgen"


# --- inside compat ---------------------------------------------------------------------------------------------------

COMPAT: dict[str, tuple[frozenset[str], frozenset[str]]] = {
    "findings": (frozenset({"faults", "findings"}), frozenset()),
    "diff": (
        frozenset(
            {
                *(
                    f"diff.{name}"
                    for name in ("definitions", "methods", "pairs", "records", "renames", "scalars", "shapes", "unions")
                ),
                *(f"protocol.{name}" for name in ("revision", "sender_schemas", "value_parts")),
                "changes",
            }
        ),
        frozenset({"findings"}),
    ),
    "acceptance": (
        frozenset({"protocol.acceptance", "protocol.messages"}),
        frozenset({"diff", "findings"}),
    ),
    "rules": (
        frozenset({"protocol.culprits", "rule", "rules"}),
        frozenset({"diff", "findings"}),
    ),
    "check": (
        frozenset(
            {
                "protocol.bindings",
                *(
                    f"protocol.check.{name}"
                    for name in (
                        *("check", "content", "context", "counterparts", "frames", "outside_messages"),
                        *("methods", "reception"),
                    )
                ),
            }
        ),
        frozenset({"diff", "findings", "acceptance", "rules"}),
    ),
    "files": (frozenset({"fingerprints", "project_releases", "source_positions", "sources"}), frozenset({"findings"})),
    "compare": (
        frozenset(
            {
                "catalogue",
                "compare",
                "different_parts",
                "keyword_notes",
                "language",
                "policy",
                "waivers",
            }
        ),
        frozenset({"acceptance", "check", "diff", "files", "findings", "rules"}),
    ),
    "repair": (
        frozenset({"repair.proposals", "repair.repair", "repair.reversals", "repair.schema_files"}),
        frozenset({"compare", "diff", "files", "findings"}),
    ),
    "history": (
        frozenset({"history.revision_sources", "history.timeline"}),
        frozenset({"compare", "files", "findings", "rules"}),
    ),
    "report": (frozenset({"check_report", "history_report"}), frozenset({"compare", "findings", "history"})),
    "cache": (frozenset({"report_cache"}), frozenset({"compare", "files", "findings"})),
    "front": (
        frozenset(
            {
                *("command", "history.history_command"),
            }
        ),
        frozenset(
            {
                "check",
                "compare",
                "diff",
                "files",
                "findings",
                "history",
                "judged",
                "acceptance",
                "cache",
                "repair",
                "report",
            },
        ),
    ),
}
"""The steps of the comparison: the modules of each, and the steps whose modules they may import beside their own."""


def compat_modules(names: set[str]) -> set[str]:
    """The modules of `compat` among dotted names."""
    found: set[str] = set()
    for name in names:
        parts = name.split(".")[2:] if name.startswith("acpgen.compat.") else []
        while parts and not (PACKAGE / "compat" / "/".join(parts)).with_suffix(".py").exists():
            if (PACKAGE / "compat" / "/".join(parts) / "__init__.py").exists():
                parts.append("__init__")
            else:
                parts = parts[:-1]
        if parts:
            found.add(".".join(parts))
    return found


def step_of(module: str) -> str:
    (step,) = [step for step, (members, _) in COMPAT.items() if module in members]
    return step


def test_inside_compat_changes_know_no_rules_and_reports_know_findings_alone() -> None:
    for path in sorted((PACKAGE / "compat").rglob("*.py")):
        module = ".".join(path.relative_to(PACKAGE / "compat").with_suffix("").parts)
        if len(tree(path).body) <= 1:  # a package that holds nothing of its own
            continue
        step = step_of(module)
        allowed = {step} | COMPAT[step][1]
        used = {step_of(other) for other in compat_modules(imported(path)) if not other.endswith("protocol.__init__")}
        assert used <= allowed, (module, used - allowed)


# --- names -----------------------------------------------------------------------------------------------------------

SAME_CLASS = {
    "Change": "what differs between two revisions, and what happens to one file",
    "Rule": "a row of the compatibility rules, and how a profile finds a method",
    "Finding": "what a rule of `lint` and what a rule of `compat` says; no module knows both",
    "Report": "what `adopt` and what `compat` print; no module knows both",
}
SAME_MODULE = {
    "errors": "what a fault is, and the command that lists them",
    "rules": "the command, and the table of the rules",
    "faults": "what can be wrong in a room",
    "tap": "the command, and its work",
    "validate": "the command, and its work",
    "bundle": "the target that writes the bundle",
    "ir": "the target that writes the IR",
    "dialect": "the rules of `lint` about the dialect",
    "methods": "how the methods of a schema are read, and what differs between those of two revisions",
    "types": "the types that schemas describe, and those of Python",
}


def test_a_class_and_a_module_have_a_name_of_their_own() -> None:
    classes: dict[str, list[str]] = {}
    stems: dict[str, list[str]] = {}
    for path in modules():
        if not path.stem.startswith("__"):
            stems.setdefault(path.stem, []).append(dotted(path))
        for node in tree(path).body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                classes.setdefault(node.name, []).append(dotted(path))
    assert {name: places for name, places in classes.items() if len(places) > 1}.keys() == SAME_CLASS.keys()
    assert {name: places for name, places in stems.items() if len(places) > 1}.keys() == SAME_MODULE.keys()


def test_no_interpreter_that_is_started_imports_from_the_current_folder() -> None:
    for path in PACKAGE.parent.rglob("*.py"):
        for call in re.findall(r"\[sys\.executable, (\S+)", path.read_text(encoding="utf-8")):
            assert call in ('"-P",', '"-I",'), path
