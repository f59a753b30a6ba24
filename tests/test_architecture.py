"""Which module may import which. This table is the truth about the arrows of the architecture."""

from __future__ import annotations

import ast
import re
from functools import cache
from pathlib import Path

import schema_inclusion

PACKAGE = Path(__file__).parents[1] / "generator" / "acpgen"

ROOMS = frozenset({"schema", "meaning"})
"""What every other room builds on."""

LEAVES = frozenset({"built_in", "errors", "ir", "schema.keywords", "pointers", "resources"})
"""Import nothing of ours."""

COMMON = frozenset({"schema.effort", "schema.equality", "schema.keywords", "schema.numbers", "markup", "pointers"})
"""What every module may import."""

ARROWS: dict[str, frozenset[str]] = {
    **dict.fromkeys(LEAVES, frozenset()),
    "__init__": frozenset(
        {"compat", "config", "errors", "pipeline", "schema.load", "schema.profile", "targets", "files"}
    ),
    "__main__": frozenset({"cli"}),
    "schema.positions": frozenset({"schema.numbers"}),
    "schema.numbers": frozenset(),
    "schema.expressions": frozenset({"schema.walk"}),
    "validator": frozenset({"embedded", "schema.expressions"}),
    "schema.effort": frozenset({"errors", "schema.positions"}),
    "schema.walk": frozenset(),
    "schema.paths": frozenset({"ir", "schema.walk"}),
    "schema.unread": frozenset({"schema.walk"}),
    "schema.ways": frozenset({"errors", "schema.walk"}),
    "schema.edits": frozenset({"ir", "schema.positions", "schema.walk"}),
    "schema.names": frozenset(),
    "schema.equality": frozenset({"schema.walk"}),
    "schema.labels": frozenset({"schema.names", "schema.unions", "schema.walk"}),
    "schema.drafts": frozenset({"schema.walk"}),
    "schema.addresses": frozenset({"schema.drafts", "schema.positions", "schema.siblings", "schema.walk"}),
    "schema.overlay": frozenset({"errors", "schema.walk"}),
    "schema.siblings": frozenset(),
    "schema.load": frozenset(
        {
            *("errors", "ir", "schema.drafts", "schema.overlay", "schema.paths", "schema.positions", "schema.siblings"),
            *("schema.expressions", "schema.walk"),
        }
    ),
    "schema.revisions": frozenset({"errors", "schema.load", "schema.overlay", "schema.siblings"}),
    "material": frozenset({"errors", "ir", "pointers", "schema.load"}),
    "meaning.limits": frozenset({"ir"}),
    "markup": frozenset({"errors", "ir"}),
    "meaning.texts": frozenset({"schema.walk"}),
    "meaning.values": frozenset(
        {"ir", "meaning.limits", "meaning.texts", "schema.expressions", "schema.walk", "schema.positions"}
    ),
    "meaning.contract": frozenset({"ir", "schema.bundle", "schema.expressions", "schema.walk"}),
    "schema.unions": frozenset({"schema.walk"}),
    "schema.chosen": frozenset({"errors", "schema.names", "schema.unions"}),
    "schema.claims": frozenset({"schema.labels", "schema.names", "schema.unions", "schema.walk"}),
    "schema.collect": frozenset(
        {
            *("schema.addresses", "schema.chosen", "schema.claims", "schema.dialect", "schema.drafts", "errors"),
            *("schema.expressions", "schema.load", "schema.names", "schema.siblings", "schema.unions", "schema.unread"),
            "schema.walk",
        }
    ),
    "schema.dialect": frozenset({"errors", "schema.load", "schema.walk", "resources"}),
    "schema.profile": frozenset({"errors", "ir", "schema.load", "schema.paths", "schema.walk", "resources"}),
    "schema.sites": frozenset({"schema.profile", "schema.unions", "schema.walk"}),
    "schema.unmatched": frozenset({"errors", "schema.profile"}),
    "schema.calls": frozenset(
        {
            *("errors", "ir", "schema.names", "schema.profile", "schema.sites", "schema.unions", "schema.unmatched"),
            "schema.walk",
        }
    ),
    "schema.made": frozenset({"errors", "schema.calls", "schema.names", "schema.walk"}),
    "schema.openrpc": frozenset({"errors", "schema.calls", "schema.made", "schema.names", "schema.walk"}),
    "schema.foreign": frozenset(
        {
            *("errors", "schema.calls", "schema.drafts", "schema.load", "schema.made", "schema.openrpc"),
            *("schema.positions", "schema.profile", "schema.siblings", "schema.walk"),
        }
    ),
    "schema.inherited": frozenset({"schema.unions", "schema.walk"}),
    "schema.merging": frozenset({"schema.effort", "schema.unions", "schema.walk"}),
    "schema.owned": frozenset({"schema.merging", "schema.unions", "schema.walk"}),
    "schema.inline": frozenset({"schema.unions", "schema.walk"}),
    "schema.branch_names": frozenset({"schema.unions", "schema.walk"}),
    "schema.tolerance": frozenset({"schema.unions", "schema.walk"}),
    "schema.named_places": frozenset({"errors", "schema.chosen", "schema.drafts", "schema.unions", "schema.walk"}),
    "schema.bundler": frozenset(
        {
            *("errors", "schema.branch_names", "schema.calls", "schema.chosen", "schema.collect", "schema.drafts"),
            *("schema.inherited", "schema.inline", "schema.labels", "schema.merging", "schema.named_places"),
            *("schema.names", "schema.owned", "schema.unions", "schema.walk"),
        }
    ),
    "schema.bundle": frozenset(
        {
            *("errors", "schema.bundler", "schema.calls", "schema.chosen", "schema.collect", "schema.drafts"),
            *("schema.foreign", "schema.load", "schema.positions", "schema.profile", "schema.walk", "schema.ways"),
        }
    ),
    "interchange": frozenset({"ir"}),
    "plugins": frozenset(
        {
            *(
                "errors",
                "pipeline",
                "interchange",
                "ir",
                "meaning.order",
                "schema.bundle",
                "schema.load",
                "schema.names",
            ),
            *("targets", "files"),
        }
    ),
    "meaning.order": frozenset({"ir"}),
    "meaning.unenforced": frozenset({"meaning.checks", "schema.bundle", "schema.drafts", "ir"}),
    "meaning.checks": frozenset({"ir", "meaning.lower", "schema.bundle", "schema.expressions", "schema.walk"}),
    "meaning.discriminators": frozenset({"ir", "meaning.nodes", "pointers", "schema.unions", "schema.walk"}),
    "meaning.constants": frozenset({"ir", "schema.unions", "schema.walk"}),
    "meaning.nodes": frozenset({"schema.bundle", "schema.unions", "schema.walk"}),
    "meaning.members": frozenset({"meaning.nodes", "schema.unions"}),
    "meaning.methods": frozenset({"errors", "ir", "meaning.nodes", "schema.bundle", "schema.calls", "schema.dialect"}),
    "meaning.placing": frozenset({"ir", "schema.bundle", "schema.foreign"}),
    "meaning.found": frozenset({"ir", "schema.bundle", "schema.profile"}),
    "meaning.framing": frozenset({"ir"}),
    "meaning.narrow": frozenset(
        {"meaning.constants", "meaning.members", "meaning.nodes", "schema.unions", "schema.walk"}
    ),
    "meaning.meet": frozenset(
        {
            *("meaning.constants", "meaning.narrow", "meaning.nodes"),
            *("schema.positions", "schema.unions", "schema.walk"),
        }
    ),
    "meaning.reading": frozenset(
        {
            *("errors", "ir", "meaning.constants", "meaning.limits", "meaning.narrow", "meaning.nodes"),
            *("meaning.meet", "schema.expressions", "schema.unions", "schema.walk"),
        }
    ),
    "meaning.lower": frozenset(
        {
            *(
                "errors",
                "ir",
                "meaning.constants",
                "meaning.discriminators",
                "meaning.members",
                "meaning.methods",
                "meaning.narrow",
            ),
            *(
                "meaning.meet",
                "meaning.nodes",
                "meaning.placing",
                "meaning.reading",
                "schema.bundle",
                "schema.profile",
                "schema.tolerance",
                "schema.unions",
                "schema.walk",
            ),
        }
    ),
    "meaning": frozenset(),
    "schema": frozenset(),
    "starting": frozenset(
        {
            *("config", "errors", "pipeline", "lint", "resources", "schema.drafts", "schema.load", "schema.names"),
            "schema.profile",
        }
    ),
    "targets": frozenset(
        {
            *(
                "schema.bundle",
                "schema.tolerance",
                "meaning.checks",
                "meaning.order",
                "meaning.contract",
                "meaning.discriminators",
                "meaning.framing",
                "meaning.unenforced",
                "errors",
                "ir",
                "meaning.limits",
                "schema.names",
                "resources",
                "schema.expressions",
                "validator",
                "meaning.values",
                "schema.walk",
                "schema.ways",
            ),
            *("embedded", "built_in", "interchange", "schema.load", "files"),
        }
    ),
    "protocols": frozenset({"config", "errors", "material", "resources"}),
    "compat": frozenset(
        {
            "diagnostics",
            "protocols",
            "validator",
            "files",
            "schema.edits",
            "material",
            "resources",
            "schema.bundle",
            "schema.drafts",
            "config",
            "schema.names",
            "errors",
            "ir",
            "meaning.limits",
            "schema.load",
            "meaning.discriminators",
            "meaning.framing",
            "meaning.lower",
            "schema.positions",
            "schema.profile",
            "schema.revisions",
            "schema.unions",
            "meaning.texts",
            "meaning.values",
            "schema.unread",
            "schema.walk",
        },
    ),
    "adopt": frozenset(
        {
            "files",
            "validator",
            "schema.bundle",
            "schema.collect",
            "errors",
            "pipeline",
            "ir",
            "schema.load",
            "schema.overlay",
            "material",
            "schema.names",
            "schema.unions",
            "schema.walk",
        }
    ),
    "lint": frozenset(
        {
            "diagnostics",
            "validator",
            *(
                "config",
                "schema.addresses",
                "schema.bundle",
                "schema.collect",
                "schema.dialect",
                "schema.drafts",
                "errors",
                "ir",
                "schema.load",
                "schema.paths",
                "material",
                "meaning.lower",
                "meaning.methods",
                "schema.names",
                "schema.positions",
            ),
            *("schema.unions", "schema.walk"),
        },
    ),
    "files": frozenset({"errors", "ir", "resources", "schema.load"}),
    "config": frozenset({"errors", "schema.load", "schema.names", "schema.profile", "material"}),
    "pipeline": frozenset(
        {
            *("schema.bundle", "errors", "ir", "schema.load", "meaning.lower", "schema.positions", "schema.profile"),
            *("targets", "files"),
        }
    ),
    "project": frozenset(
        {
            *(
                "schema.bundle",
                "config",
                "meaning.found",
                "meaning.unenforced",
                "errors",
                "built_in",
                "pipeline",
                "ir",
                "schema.load",
                "schema.profile",
                "material",
                "publish",
            ),
            *("targets", "files"),
        },
    ),
    "embedded": frozenset({"resources"}),
    "judge": frozenset(
        {
            "schema.ways",
            *("embedded", "config", "meaning.contract", "errors", "pipeline", "protocols", "schema.load"),
            *("schema.expressions", "schema.profile"),
        }
    ),
    "recording": frozenset({"errors", "schema.load", "schema.walk"}),
    "diagnostics": frozenset({"errors", "ir", "schema.load"}),
    "validate": frozenset({"embedded", "judge", "recording", "schema.walk"}),
    "recordings": frozenset(
        {
            *("config", "diagnostics", "errors", "ir", "judge", "recording", "schema.load", "schema.walk"),
            *("files", "validate"),
        }
    ),
    "redaction": frozenset({"schema.expressions", "schema.walk"}),
    "tape": frozenset({"errors", "recording", "schema.load"}),
    "tap": frozenset({"embedded", "errors", "judge", "recording", "tape"}),
    "probe": frozenset({"diagnostics", "embedded", "errors", "judge", "schema.load", "resources", "schema.walk"}),
    "publish": frozenset(
        {
            *(
                "adopt",
                "embedded",
                "schema.bundle",
                "compat",
                "errors",
                "files",
                "ir",
                "material",
                "targets",
                "validator",
            ),
            *("lint", "schema.names", "schema.walk", "schema.load", "meaning.contract", "meaning.framing", "resources"),
        }
    ),
    "site": frozenset(
        {
            *(
                "embedded",
                "config",
                "errors",
                "pipeline",
                "schema.load",
                "material",
                "publish",
                "resources",
            ),
            *("targets", "watch", "files"),
        }
    ),
    "terminal": frozenset(
        {
            "errors",
            "material",
            "meaning.unenforced",
            "project",
            "recordings",
            "schema.load",
            "targets",
            "validate",
            "files",
        }
    ),
    "watch": frozenset(),
}

KIT = frozenset({"interface", "options", "outside", "process"})
"""Beside the targets: what they are all made with, and those of others."""

READERS = frozenset(
    {
        "acpgen.targets.python.formatted",
        "adopt",
        "probe",
        "schema.load",
        "recording",
        "recordings",
        "site",
        "tap",
        "tape",
        "files",
    }
)
"""Open files. `files` is the writer, and reads the generator itself and cached results, `adopt` writes the schema that people edit,
`recording` and `recordings` open conversations, `tape` makes files for them,
`tap` the null device and the terminal, `site` hands pages to the site generator in a passing folder, `probe` serves files of one."""

HEAVY = frozenset({"datamodel_code_generator", "jinja2", "jsonschema_rs", "rich", "watchfiles"})
"""Imported where they are needed and not before: the command starts without them."""


def modules() -> list[Path]:
    return sorted(PACKAGE.rglob("*.py"))


def stage(path: Path) -> str:
    """The module or folder directly below the package; in the first two rooms, each module is a stage of its own."""
    parts = path.relative_to(PACKAGE).with_suffix("").parts
    return ".".join(parts[: 2 if parts[0] in ROOMS else 1]).removesuffix(".__init__")


def dotted(path: Path) -> str:
    return ".".join(("acpgen", *path.relative_to(PACKAGE).with_suffix("").parts)).removesuffix(".__init__")


@cache
def imported(path: Path) -> set[str]:
    """Dotted names that a file imports, from anywhere in it."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: a relative import"
            assert node.module is not None
            found.update(f"{node.module}.{alias.name}" for alias in node.names)
    return found


def stages_of(names: set[str]) -> set[str]:
    """The modules of ours among dotted names."""
    ours = [name.split(".")[1:3] for name in names if name.startswith("acpgen.")]
    found = {".".join(parts) if parts[0] in ROOMS and _is_module(*parts) else parts[0] for parts in ours}
    return {name for name in found if (PACKAGE / name).exists() or _is_module(*name.split("."))}


def _is_module(*parts: str) -> bool:
    return PACKAGE.joinpath(*parts).with_suffix(".py").exists()


def test_every_module_has_a_row_and_imports_only_what_it_allows() -> None:
    refused = {
        dotted(path): extra
        for path in modules()
        if stage(path) != "cli"
        if (extra := stages_of(imported(path)) - ARROWS.get(stage(path), frozenset()) - {stage(path)} - COMMON)
    }
    assert not refused
    assert {stage(path) for path in modules()} - {"cli"} <= ARROWS.keys()


def test_the_table_names_no_module_that_is_gone_and_nothing_imports_the_command() -> None:
    present = {stage(path) for path in modules()}
    assert set(ARROWS) <= present
    assert all("cli" not in allowed for module, allowed in ARROWS.items() if module != "__main__")


def test_targets_do_not_know_one_another() -> None:
    for path in modules():
        if stage(path) == "targets" and len(path.relative_to(PACKAGE).parts) > 1:
            own = path.relative_to(PACKAGE).parts[1].removesuffix(".py")
            others = {name.split(".")[2] for name in imported(path) if name.startswith("acpgen.targets.")} - KIT
            assert not {other for other in others if (PACKAGE / "targets" / other).exists()} - {own}
            assert not {other for other in others if (PACKAGE / "targets" / f"{other}.py").exists()} - {own}


def test_only_the_reader_and_the_writer_touch_the_disk() -> None:
    touching = {"read_text", "read_bytes", "write_text", "write_bytes", "open", "mkdir", "unlink", "rename", "rmtree"}
    for path in modules():
        if not READERS.isdisjoint((stage(path), dotted(path))):
            continue
        tree = ast.parse(path.read_text(encoding="utf-8"))
        called = {
            node.func.attr
            for node in ast.walk(tree)
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)
        }
        # The run-time modules that are copied verbatim are read by their target.
        assert not called & touching - ({"read_text"} if stage(path) == "targets" else set()), dotted(path)


def test_heavy_libraries_are_not_imported_when_a_stage_before_them_is() -> None:
    for path in modules():
        tree = ast.parse(path.read_text(encoding="utf-8"))
        top = [node for node in tree.body if isinstance(node, ast.Import | ast.ImportFrom)]
        names = {alias.name for node in top if isinstance(node, ast.Import) for alias in node.names}
        names |= {str(node.module) for node in top if isinstance(node, ast.ImportFrom)}
        heavy = {name.split(".")[0] for name in names} & HEAVY
        assert not heavy or stage(path) in ("targets", "compat"), f"{dotted(path)} imports {sorted(heavy)}"


PROVER = frozenset(
    f"schema_inclusion.{name}" for name in ("ecma", "imports", "once", "patterns", "spelling", "syntax", "values")
)
"""The modules of the prover that are public beside its own names."""


ELSEWHERE = {
    "acpgen.cli": ("schema_inclusion.imports.",),
    "acpgen.schema.expressions": ("schema_inclusion.spelling.", "schema_inclusion.syntax."),
    "acpgen.schema.numbers": ("schema_inclusion.values.",),
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
        assert not beyond or stage(path) == "compat", dotted(path)


BLIND = frozenset({"acpgen.cli", "acpgen.recordings.reached", "acpgen.recordings.stores", "acpgen.targets.outside"})
"""Tell a defect of their own, by an exit code or in the verdict on one recording of many, or run code of others, targets and stores: they
may meet anything."""


def test_nothing_is_caught_blindly() -> None:
    for path in modules():
        if dotted(path) in BLIND:
            continue
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ExceptHandler):
                caught = ast.unparse(node.type) if node.type else "everything"
                assert caught not in ("everything", "Exception", "BaseException"), f"{dotted(path)}:{node.lineno}"


def test_generated_code_and_the_run_time_do_not_know_the_generator() -> None:
    root = PACKAGE.parents[1]
    for folder in ("generated", "templates"):
        for path in (root / folder).rglob("*.py"):
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
                if isinstance(node, ast.Import):
                    assert not any(alias.name.split(".")[0] == "acpgen" for alias in node.names)
                elif isinstance(node, ast.ImportFrom):
                    assert (node.module or "").split(".")[0] != "acpgen"


# --- inside compat ---------------------------------------------------------------------------------------------------

COMPAT: dict[str, tuple[frozenset[str], frozenset[str]]] = {
    "findings": (frozenset({"findings"}), frozenset()),
    "diff": (
        frozenset(
            {
                *(
                    f"diff.{name}"
                    for name in ("definitions", "methods", "pairs", "records", "renames", "scalars", "shapes", "unions")
                ),
                *(f"protocol.{name}" for name in ("covered", "declared", "formats", "frames", "revision")),
                "changes",
            }
        ),
        frozenset({"findings"}),
    ),
    "acceptance": (
        frozenset(f"protocol.{name}" for name in ("acceptance", "culprits", "messages")),
        frozenset({"diff", "findings"}),
    ),
    "rules": (
        frozenset({"rules"}),
        frozenset({"diff", "findings"}),
    ),
    "check": (
        frozenset(
            {
                "protocol.bindings",
                *(
                    f"protocol.check.{name}"
                    for name in (
                        *("check", "content", "context", "outside_messages", "message_frames", "message_pairs"),
                        *("methods", "reception"),
                    )
                ),
            }
        ),
        frozenset({"diff", "findings", "acceptance", "rules"}),
    ),
    "files": (frozenset({"fingerprints", "project_releases", "sources", "spots"}), frozenset({"findings"})),
    "compare": (
        frozenset(
            {
                "catalogue",
                "compare",
                "keyword_notes",
                "language",
                "policy_settings",
                "project_policy",
                "waivers",
            }
        ),
        frozenset({"check", "diff", "files", "findings", "rules"}),
    ),
    "repair": (
        frozenset({"repair.proposals", "repair.repair", "repair.reversals", "repair.sides"}),
        frozenset({"compare", "diff", "files", "findings"}),
    ),
    "timeline": (frozenset({"history.timeline"}), frozenset({"files", "findings"})),
    "history": (
        frozenset({"history.revision_sources", "history.steps"}),
        frozenset({"check", "compare", "diff", "files", "findings", "timeline"}),
    ),
    "report": (frozenset({"check_report", "history_report"}), frozenset({"compare", "findings", "timeline"})),
    "cache": (frozenset({"report_cache"}), frozenset({"compare", "files", "findings"})),
    "front": (
        frozenset(
            {
                *("command", "repair.fix", "history.history_command"),
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
                "timeline",
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
        if path.read_text(encoding="utf-8").count("\n") <= 1:  # a package that holds nothing of its own
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
    "bundle": "the target that writes the bundle",
    "ir": "the target that writes the IR",
    "dialect": "the rules of `lint` about the dialect",
    "changes": "what differs between two revisions, and the page that shows it of two versions",
    "methods": "how the methods of a schema are read, and what differs between those of two revisions",
    "unions": "how a schema writes unions, and what differs between two of them",
    "words": "the rules of `lint` about words, and the words that `adopt` carries over",
}


def test_a_class_and_a_module_have_a_name_of_their_own() -> None:
    classes: dict[str, list[str]] = {}
    stems: dict[str, list[str]] = {}
    for path in modules():
        if not path.stem.startswith("__"):
            stems.setdefault(path.stem, []).append(dotted(path))
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                classes.setdefault(node.name, []).append(dotted(path))
    assert {name: places for name, places in classes.items() if len(places) > 1}.keys() == SAME_CLASS.keys()
    assert {name: places for name, places in stems.items() if len(places) > 1}.keys() == SAME_MODULE.keys()


def test_no_interpreter_that_is_started_imports_from_the_current_folder() -> None:
    for path in PACKAGE.parent.rglob("*.py"):
        for call in re.findall(r"\[sys\.executable, (\S+)", path.read_text(encoding="utf-8")):
            assert call in ('"-P",', '"-I",'), path
