"""The packages that acpgen shares modules with: which module of them may import which, and how acpgen comes by what it shares."""

from __future__ import annotations

import ast
import os
import subprocess
import sys
import tomllib
from pathlib import Path
from types import ModuleType
from typing import Final

import pytest
from packaging.requirements import Requirement

from acpgen import embedded
from acpgen.targets.python.distribution import MSGSPEC, OF_RUNTIME

ROOT: Final = Path(__file__).parents[1]
GENERATOR: Final = ROOT / "generator" / "acpgen"
SESSION: Final = ROOT / "generator" / "acp-session" / "acp_session"
RUNTIME: Final = ROOT / "generator" / "jsonrpc_bindings"

RUNTIME_ARROWS: Final[dict[str, set[str]]] = {
    "__init__": {
        *("choices", "codec", "contract", "errors", "failures", "jsonrpc", "records", "strict"),
        *("strict_encode", "texts", "writers"),
    },
    "calling": {"contract", "envelopes", "failures", "framing", "gates", "pending", "places", "transport", "wire"},
    "child": {"framing", "pipes", "streams", "supervisor"},
    "choices": {"pydantic_guest"},
    "codec": {
        *("choices", "contract", "errors", "explain", "json_types", "jsonrpc", "native", "parse", "pointers"),
        *("readers", "receiving", "records", "routing", "strict_encode", "types", "writers"),
    },
    "connection": {
        *("calling", "ends", "envelopes", "errors", "failures", "framing", "incoming", "json_types", "parse"),
        *("places", "transport", "wire"),
    },
    "construct": {"errors", "json_types", "pointers", "readers", "receiving", "records", "types", "writers"},
    "contract": {"json_types"},
    "documentation": set(),
    "ends": {"parse"},
    "engine": {"contract", "explain", "patterns", "pointers"},
    "envelopes": {"failures", "jsonrpc"},
    "errors": set(),
    "discriminators": {"json_types"},
    "explain": {"contract", "discriminators", "engine", "errors", "json_types", "pointers"},
    "failures": {"errors", "strict"},
    "framing": {"ends"},
    "gates": {"codec", "contract", "json_types", "parse"},
    "homes": {"choices", "patterns", "records"},
    "incoming": {"json_types"},
    "json_types": set(),
    "jsonrpc": {"records"},
    "native": {"choices", "json_types", "jsonrpc", "parse", "readers", "records", "types", "writers"},
    "parse": {"errors", "json_types", "pointers"},
    "patterns": {"contract", "json_types", "pointers"},
    "peers": {"child", "connection", "failures", "framing", "stdio", "transport", "wire"},
    "pending": {"json_types", "places"},
    "pipes": {"failures", "framing"},
    "places": set(),
    "pointers": set(),
    "process_tree": set(),
    "pydantic_guest": {
        *("choices", "documentation", "errors", "json_types", "pointers", "readers", "receiving", "records"),
        *("types", "writers"),
    },
    "readers": {"choices", "json_types", "receiving", "records", "texts", "types"},
    "receiving": {
        *("choices", "contract", "engine", "errors", "explain", "homes", "json_types", "patterns", "pointers"),
        *("records", "texts", "types", "writers"),
    },
    "records": {"choices", "construct", "documentation", "json_types", "pydantic_guest", "writers"},
    "routing": {"contract", "errors", "explain", "json_types"},
    "stdio": {"framing", "pipes", "streams"},
    "streams": {"pipes"},
    "strict": {"contract", "engine", "errors", "homes", "json_types", "parse", "pointers", "routing"},
    "strict_encode": {
        *("construct", "contract", "errors", "json_types", "pointers", "receiving", "records", "types"),
    },
    "supervisor": {"process_tree"},
    "texts": {"pydantic_guest"},
    "transport": {"failures"},
    "types": {"choices", "json_types", "records", "texts"},
    "websocket": {"failures", "framing", "peers", "transport", "wire"},
    "wire": {"codec", "strict"},
    "writers": {"errors", "json_types", "jsonrpc", "parse", "records"},
}

SESSION_ARROWS: Final[dict[str, set[str]]] = {
    "__init__": set(),
    "adapter": {
        *("approval", "client_host", "diffs", "endings", "errors", "filesystem", "hooks", "permission"),
        *("permission_folding", "processes", "scope", "store", "tail", "terminals", "workspace"),
    },
    "agent_base": {"errors", "scope", "workspace"},
    "agent_host": {"agent_base", "agent_session", "errors", "turn", "workspace"},
    "agent_session": {"agent_base", "hooks"},
    "approval": {"errors", "hooks"},
    "atomic": {"containment", "handles"},
    "baseline": set(),
    "bounded": set(),
    "client_base": {"errors", "hooks", "workspace"},
    "client_host": {
        "approval",
        "client_base",
        "errors",
        "filesystem",
        "hooks",
        "permission",
        "store",
        "terminals",
        "transcript",
    },
    "containment": {"handles", "mechanism"},
    "diffs": set(),
    "disk": {"atomic", "containment", "errors", "policy", "sensitive", "store", "text", "workers", "workspace"},
    "endings": {"client_base"},
    "errors": set(),
    "filesystem": {"approval", "disk", "errors", "hooks", "policy", "scope", "store", "workers"},
    "handles": {"mechanism"},
    "hooks": set(),
    "hosted": {"agent_host", "client_host", "errors", "turn"},
    "mcp_cache": {"containment", "errors", "mcp_uris", "scope"},
    "mcp_provider": {"containment", "errors", "mcp_uris", "scope", "workspace"},
    "mcp_roots": {"mcp_cache", "mcp_provider", "mcp_uris"},
    "mcp_uris": {"scope"},
    "mechanism": set(),
    "monitor": set(),
    "negotiation": {"adapter", "hosted", "opening", "v2"},
    "opening": {"diffs", "errors"},
    "permission": {"errors", "permission_mapping"},
    "permission_folding": set(),
    "permission_mapping": {"diffs", "errors", "permission_folding"},
    "policy": {"atomic", "containment", "sensitive"},
    "processes": {"tail"},
    "sandbox": {"scope", "workspace"},
    "scope": {"errors"},
    "sensitive": set(),
    "store": {"containment", "errors", "policy", "scope", "text", "workspace"},
    "tail": set(),
    "terminals": {"approval", "containment", "errors", "hooks", "processes", "tail", "workers", "workspace"},
    "text": set(),
    "transcript": {"bounded"},
    "turn": {"agent_session", "permission"},
    "v2": {
        *("agent_base", "bounded", "client_base", "endings", "errors", "hooks", "hosted", "permission", "transcript"),
        "workspace",
    },
    "versioning": set(),
    "workers": set(),
    "workspace": {"containment", "errors", "scope"},
}
"""The monitor stands alone: acpgen ships it without the rest."""

MONITOR_LEAVES: Final[dict[str, set[str]]] = {
    "events": {"json_types", "records", "shapes"},
    "forms": {"events", "json_types"},
    "json_types": set(),
    "kept": set(),
    "objects": {"events", "json_types"},
    "offers": {"events", "json_types", "kept"},
    "patches": set(),
    "records": {"kept", "offers", "rootpaths"},
    "requirements": set(),
    "rootpaths": {"events", "json_types"},
    "rule": {"events", "state"},
    "shapes": {"json_types"},
    "state": {"kept", "offers", "records", "rootpaths", "versions"},
    "upstream": set(),
    "versions": {"json_types"},
    "work": {"events", "kept", "records", "state"},
}
"""What modules of rules are made of. Those do not know one another."""

SUBJECTS: Final = (
    "background",
    "capabilities",
    "contents",
    "fields",
    "files",
    "frame",
    "handshake",
    "history",
    "listing",
    "mcp",
    "questions",
    "roots",
    "sessions",
    "turns",
)

ARROWS: Final[dict[Path, dict[str, set[str]]]] = {
    RUNTIME: RUNTIME_ARROWS,
    SESSION: SESSION_ARROWS,
    SESSION / "monitor": {
        **MONITOR_LEAVES,
        **{subject: set(MONITOR_LEAVES) for subject in SUBJECTS},
        "rules": {"rule", *SUBJECTS},
        "alike": {"events", "rule", "work"},
        "intake": set(MONITOR_LEAVES) - {"rule"},
        "beyond": {"events", "json_types"},
        "folding": {"kept"},
        "requirements": set(),
        "observe": set(MONITOR_LEAVES) | {"alike", "beyond", "intake", "requirements", "rules"},
        "__init__": {"folding", "observe", "requirements", "rule", "rules"},
    },
}

BINDINGS: Final = {"acp_bindings", "mcp_bindings"}
PYDANTIC: Final = {"pydantic", "pydantic_core"}
OUTSIDE: Final = {
    RUNTIME: {"jiter", "jsonschema_rs", "msgspec", *PYDANTIC},  # type checkers would ask for what its extra installs
    SESSION: {*BINDINGS, "acp_session", "jiter", "jsonrpc_bindings"},
}
"""What the modules of a package may need besides the standard library."""


def neighbours(path: Path, folder: Path) -> set[str]:
    """What a module imports of its own package: modules directly in `folder`."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith(f"{folder.name}."):
            found.add((node.module or "").split(".")[1])
        if isinstance(node, ast.ImportFrom) and node.level:
            place = path.parents[node.level - 1].relative_to(folder).parts
            names = [node.module] if node.module else [alias.name for alias in node.names]
            found |= {".".join((*place, name)).split(".")[0] for name in names}
    return found


def foreign(path: Path) -> set[str]:
    """The packages besides its own and the standard library that a module imports."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name.split(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and not node.level:
            found.add((node.module or "").split(".")[0])
    return found - sys.stdlib_module_names


@pytest.mark.parametrize("folder", ARROWS, ids=lambda folder: folder.name)
def test_every_module_of_a_shared_package_imports_only_what_it_allows(folder: Path) -> None:
    present = {path.stem for path in folder.iterdir() if path.suffix == ".py" or (path / "__init__.py").is_file()}
    assert present == ARROWS[folder].keys()
    for path in folder.rglob("*.py"):
        own = path.relative_to(folder).parts[0].removesuffix(".py")
        assert neighbours(path, folder) - {own} <= ARROWS[folder][own], path


@pytest.mark.parametrize("folder", OUTSIDE, ids=lambda folder: folder.name)
def test_a_shared_package_needs_nothing_else_and_does_not_know_the_generator(folder: Path) -> None:
    for path in folder.rglob("*.py"):
        assert foreign(path) <= OUTSIDE[folder], path


def test_a_type_checker_needs_no_package_of_an_extra(tmp_path: Path) -> None:
    for name in OUTSIDE[RUNTIME]:
        (tmp_path / f"{name}.pyi").write_text("from typing import Any\ndef __getattr__(name: str) -> Any: ...\n")
    run = subprocess.run(
        [
            *(sys.executable, "-m", "mypy", "--strict", "--no-site-packages", "--follow-imports=silent"),
            *("--config-file=", "-m", "jsonrpc_bindings.websocket"),
        ],
        capture_output=True,
        text=True,
        env={**os.environ, "MYPYPATH": os.pathsep.join((str(RUNTIME.parent), str(tmp_path))), "PYTHONUTF8": "1"},
    )
    assert run.returncode == 0, run.stdout + run.stderr


def test_pydantic_is_a_guest_that_one_module_alone_knows() -> None:
    users = {path.stem for path in RUNTIME.glob("*.py") if foreign(path) & PYDANTIC}
    assert users == {"pydantic_guest"}
    code = "import sys, acp_bindings.v1, jsonrpc_bindings.peers; print(*sys.modules)"
    path = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, env=path)
    assert PYDANTIC.isdisjoint(run.stdout.split())


def test_a_copy_of_the_run_time_asks_for_what_the_run_time_asks_for() -> None:
    declared = tomllib.loads((RUNTIME / "pyproject.toml").read_text("utf-8"))["project"]["dependencies"]
    assert sorted(declared) == sorted((MSGSPEC, *OF_RUNTIME))
    needed = {Requirement(each).name.replace("-", "_") for each in declared}
    assert needed == OUTSIDE[RUNTIME] - PYDANTIC


def is_for_checkers(node: ast.stmt) -> bool:
    return isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"


def test_acpgen_imports_shared_modules_under_their_own_names_for_type_checkers_alone() -> None:
    """Another version of these packages may be installed, or none."""
    for path in GENERATOR.rglob("*.py"):
        tree = ast.parse(path.read_text("utf-8"))
        running = [node for node in tree.body if not is_for_checkers(node)]
        names = {name for node in running for inner in ast.walk(node) for name in imported(inner)}
        assert names.isdisjoint({*BINDINGS, "acp_session", "jsonrpc_bindings"}), path


def imported(node: ast.AST) -> set[str]:
    if isinstance(node, ast.Import):
        return {alias.name.split(".")[0] for alias in node.names}
    return {(node.module or "").split(".")[0]} if isinstance(node, ast.ImportFrom) else set()


def test_what_type_checkers_take_for_a_shared_module_is_the_file_that_is_loaded() -> None:
    (block,) = [
        node for node in ast.parse((GENERATOR / "embedded.py").read_text("utf-8")).body if is_for_checkers(node)
    ]
    assert isinstance(block, ast.If)
    told = {
        alias.name: f"{node.module}.{alias.name}"
        for node in block.body
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }
    assert told
    for name, module in told.items():
        shared: ModuleType = getattr(embedded, name)
        loaded = shared.__name__
        assert loaded.removeprefix("acpgen.") == module
    with pytest.raises(AttributeError):
        _ = vars(embedded)["__getattr__"]("records")


def test_what_acpgen_shares_loads_neither_codecs_nor_bindings_nor_the_rest_of_acp_session() -> None:
    code = (
        "import sys; from acpgen import embedded\n"
        "for name in embedded.MODULES: getattr(embedded, name)\n"
        "ours = ('acpgen.acp_session', 'acpgen.jsonrpc_bindings')\n"
        "print(*sorted(name for name in sys.modules if name.startswith(ours) or name.split('.')[0] in "
        f"{sorted({*BINDINGS, 'acp_session', 'jsonrpc_bindings', 'pydantic'})}))"
    )
    run = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=True,
        env={"PYTHONPATH": str(GENERATOR.parent), "PYTHONUTF8": "1"},
    )
    loaded = set(run.stdout.split())
    monitor = {
        f"acpgen.acp_session.monitor.{path.stem}".removesuffix(".__init__")
        for path in (SESSION / "monitor").glob("*.py")
    }
    runtime = {
        f"acpgen.jsonrpc_bindings.{name}"
        for name in (
            *(
                "choices",
                "contract",
                "discriminators",
                "ends",
                "engine",
                "errors",
                "explain",
                "framing",
                "homes",
                "json_types",
                "parse",
            ),
            *("patterns", "pointers", "process_tree", "records", "routing", "strict", "supervisor"),
        )
    }
    assert loaded == {"acpgen.jsonrpc_bindings", "acpgen.acp_session", *monitor, *runtime}
