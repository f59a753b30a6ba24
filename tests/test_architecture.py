"""Which module may import which. This table is the truth about the arrows of the architecture."""

from __future__ import annotations

import ast
import sys
from pathlib import Path

PACKAGE = Path(__file__).parents[1] / "generator" / "acpgen"

LEAVES = frozenset({"errors", "ir", "keywords", "patterns", "pointers", "resources"})
"""Import nothing of ours."""

COMMON = frozenset({"keywords", "markup", "pointers"})
"""Leaves that every module may import."""

ARROWS: dict[str, frozenset[str]] = {
    **dict.fromkeys(LEAVES, frozenset()),
    "__init__": frozenset({"compat", "errors", "generate", "load", "targets", "write"}),
    "__main__": frozenset({"cli"}),
    "positions": frozenset(),
    "walk": frozenset(),
    "names": frozenset({"errors"}),
    "load": frozenset({"errors", "ir", "positions"}),
    "material": frozenset({"errors", "ir", "load"}),
    "limits": frozenset({"ir"}),
    "markup": frozenset({"errors", "ir"}),
    "values": frozenset({"ir", "limits"}),
    "contract": frozenset({"ir"}),
    "unions": frozenset({"walk"}),
    "collect": frozenset({"dialect", "errors", "load", "names", "unions", "walk"}),
    "dialect": frozenset({"errors", "load", "resources"}),
    "bundle": frozenset({"collect", "errors", "load", "names", "unions", "walk"}),
    "methods": frozenset({"bundle", "errors", "ir", "names", "unions", "walk"}),
    "unenforced": frozenset({"bundle", "ir", "walk"}),
    "lower": frozenset({"bundle", "errors", "ir", "limits", "methods", "patterns", "unions", "walk"}),
    "targets": frozenset(
        {
            *(
                "bundle",
                "contract",
                "unenforced",
                "errors",
                "ir",
                "limits",
                "names",
                "patterns",
                "resources",
                "values",
                "walk",
            ),
            "write",
        }
    ),
    "compat": frozenset(
        {"bundle", "config", "errors", "ir", "limits", "load", "lower", "positions", "unions", "values", "walk"},
    ),
    "adopt": frozenset(
        {"bundle", "collect", "errors", "generate", "ir", "load", "material", "names", "unions", "walk"}
    ),
    "lint": frozenset(
        {
            *("bundle", "collect", "dialect", "errors", "ir", "load", "material", "methods", "names", "positions"),
            *("unions", "walk"),
        },
    ),
    "write": frozenset({"errors", "load"}),
    "config": frozenset({"errors", "load", "material"}),
    "stamp": frozenset({"errors", "load", "resources", "write"}),
    "generate": frozenset({"bundle", "errors", "ir", "load", "lower", "positions", "targets", "write"}),
    "project": frozenset(
        {
            *("bundle", "config", "unenforced", "errors", "generate", "ir", "load", "material", "publish", "stamp"),
            *("targets", "write"),
        },
    ),
    "borrowed": frozenset({"resources"}),
    "judge": frozenset({"borrowed", "config", "contract", "errors", "generate", "load", "material", "resources"}),
    "recording": frozenset({"errors", "load", "walk"}),
    "validate": frozenset({"judge", "recording", "walk"}),
    "tap": frozenset({"errors", "judge", "recording"}),
    "publish": frozenset({"borrowed", "bundle", "compat", "errors", "ir", "material", "targets", "walk"}),
    "site": frozenset(
        {"config", "errors", "generate", "load", "material", "publish", "resources", "targets", "watch", "write"}
    ),
    "terminal": frozenset({"unenforced", "errors", "load", "project", "validate", "write"}),
    "watch": frozenset(),
}

READERS = frozenset({"adopt", "load", "recording", "site", "stamp", "tap", "write"})
"""Open files. `stamp` reads the generator itself, `adopt` writes the schema that people edit, `recording` opens conversations,
`tap` the null device and the terminal, `site` hands pages to the site generator in a passing folder."""

HEAVY = frozenset({"datamodel_code_generator", "jinja2", "jsonschema_rs", "rich", "watchfiles"})
"""Imported where they are needed and not before: the command starts without them."""


def modules() -> list[Path]:
    return sorted(PACKAGE.rglob("*.py"))


def stage(path: Path) -> str:
    """The module or folder directly below the package."""
    return path.relative_to(PACKAGE).parts[0].removesuffix(".py")


def dotted(path: Path) -> str:
    return ".".join(("acpgen", *path.relative_to(PACKAGE).with_suffix("").parts)).removesuffix(".__init__")


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
    ours = {name.split(".")[1] for name in names if name.startswith("acpgen.")}
    return {name for name in ours if (PACKAGE / name).exists() or (PACKAGE / f"{name}.py").exists()}


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
    assert set(ARROWS) - present <= {"adopt", "compat", "lint"}
    assert all("cli" not in allowed for module, allowed in ARROWS.items() if module != "__main__")


def test_targets_do_not_know_one_another() -> None:
    for path in modules():
        if stage(path) == "targets" and len(path.relative_to(PACKAGE).parts) > 1:
            own = path.relative_to(PACKAGE).parts[1].removesuffix(".py")
            others = {name.split(".")[2] for name in imported(path) if name.startswith("acpgen.targets.")}
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


BLIND = frozenset({"acpgen.targets"})
"""Runs targets of other packages, whose code may raise anything."""


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

PROVER = "language"
COMPAT: dict[str, tuple[frozenset[str], frozenset[str]]] = {
    "findings": (frozenset({"findings"}), frozenset()),
    "facts": (
        frozenset(
            f"protocol.{name}"
            for name in ("covered", "declared", "envelopes", "facts", "leaves", "pairing", "revision", "shapes")
        ),
        frozenset({"findings", PROVER}),
    ),
    "proof": (
        frozenset(f"protocol.{name}" for name in ("candidates", "messages", "proof")),
        frozenset({"facts", "findings", PROVER}),
    ),
    "rules": (frozenset({"protocol.policy", "protocol.rules"}), frozenset({"facts", "findings", "proof"})),
    "check": (
        frozenset({"protocol.bindings", "protocol.check"}),
        frozenset({"facts", "findings", "proof", "rules"}),
    ),
    "files": (frozenset({"sources", "spots"}), frozenset({"findings"})),
    "compare": (
        frozenset({"catalogue", "compare", "waivers"}),
        frozenset({"check", "facts", "files", "findings", "rules", PROVER}),
    ),
    "report": (
        frozenset(
            f"report.{name}"
            for name in ("__init__", "data", "github", "junit", "markdown", "page", "sarif", "text", "wording")
        ),
        frozenset({"compare", "findings"}),
    ),
    "front": (
        frozenset({"command", "guide"}),
        frozenset({"check", "compare", "facts", "files", "findings", "proof", "report"}),
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
    if module.startswith(f"{PROVER}."):
        return PROVER
    (step,) = [step for step, (members, _) in COMPAT.items() if module in members]
    return step


def test_inside_compat_facts_know_no_rules_and_reports_know_findings_alone() -> None:
    for path in sorted((PACKAGE / "compat").rglob("*.py")):
        module = ".".join(path.relative_to(PACKAGE / "compat").with_suffix("").parts)
        if path.read_text(encoding="utf-8").count("\n") <= 1:  # a package that holds nothing of its own
            continue
        step = step_of(module)
        allowed = {step} | (COMPAT[step][1] if step in COMPAT else frozenset[str]())
        used = {step_of(other) for other in compat_modules(imported(path)) if not other.endswith("protocol.__init__")}
        assert used <= allowed, (module, used - allowed)


# --- templates -------------------------------------------------------------------------------------------------------

TEMPLATES = PACKAGE.parents[1] / "templates"

JUDGES = frozenset({"contract", "errors", "explain", "json_types", "parse", "pieces", "pointers", "strict"})
"""Modules of the run-time package that work without models, so that acpgen judges with them too."""


def siblings(path: Path) -> set[str]:
    """The modules beside a file that it imports."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.level == 1:
            found.update([node.module.split(".")[0]] if node.module else [alias.name for alias in node.names])
    return found


def absolute(tree: ast.AST) -> set[str]:
    """The packages that a tree imports by their full names, from anywhere in it but what only type checkers read."""
    found: set[str] = set()
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
            continue
        if isinstance(node, ast.Import):
            found.update(alias.name.split(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.level == 0:
            found.add(str(node.module).split(".")[0])
        found |= absolute(node)
    return found


def test_the_judges_of_the_run_time_package_need_no_models() -> None:
    for module in JUDGES:
        path = TEMPLATES / "python" / "runtime" / f"{module}.py"
        assert siblings(path) <= JUDGES, module
        used = absolute(ast.parse(path.read_text(encoding="utf-8"))) - sys.stdlib_module_names
        assert used <= {"jsonschema_rs", "pydantic_core"}, module  # the engine, and the reader of JSON


def test_what_acpgen_borrows_is_what_works_without_models() -> None:
    borrowed: dict[str, set[str]] = {"runtime": set(), "session": set()}
    for path in modules():
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and ast.unparse(node.func) in ("borrowed.runtime", "borrowed.session"):
                (name,) = node.args
                assert isinstance(name, ast.Constant), ast.unparse(node)
                borrowed[ast.unparse(node.func).partition(".")[2]].add(str(name.value))
    assert borrowed["runtime"] <= JUDGES
    assert {name.split(".")[0] for name in borrowed["session"]} == {"monitor"}


def test_the_monitor_needs_bindings_only_where_nobody_hands_it_any() -> None:
    (monitor,) = [path.parent for path in PACKAGE.parents[1].rglob("acp_session/monitor/rules.py") if is_source(path)]
    for path in sorted(monitor.glob("*.py")):
        used = absolute(ast.parse(path.read_text(encoding="utf-8"))) - sys.stdlib_module_names
        assert used <= ({"acp_bindings"} if path.stem == "observe" else set()), path.stem


def is_source(path: Path) -> bool:
    """Whether a file is ours and no copy of it."""
    return path.relative_to(PACKAGE.parents[1]).parts[0] in ("generator", "templates")


# --- names -----------------------------------------------------------------------------------------------------------

SAME_CLASS = {
    "Finding": "what a rule of `lint` and what a rule of `compat` says; no module knows both",
    "Report": "what `adopt` and what `compat` print; no module knows both",
}
SAME_MODULE = {
    "bundle": "the target that writes the bundle",
    "ir": "the target that writes the IR",
    "dialect": "the rules of `lint` about the dialect",
    "facts": "what upstream states about a definition, and what a comparison found: `adopt` and `compat` know nothing of one another",
    "words": "the rules of `lint` about words, and the words that `adopt` carries over",
}


def test_a_class_and_a_module_have_a_name_of_their_own() -> None:
    """The prover is a library of its own, with names of its own."""
    classes: dict[str, list[str]] = {}
    stems: dict[str, list[str]] = {}
    for path in modules():
        if PROVER in path.relative_to(PACKAGE).parts:
            continue
        if not path.stem.startswith("__"):
            stems.setdefault(path.stem, []).append(dotted(path))
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                classes.setdefault(node.name, []).append(dotted(path))
    assert {name: places for name, places in classes.items() if len(places) > 1}.keys() == SAME_CLASS.keys()
    assert {name: places for name, places in stems.items() if len(places) > 1}.keys() == SAME_MODULE.keys()
