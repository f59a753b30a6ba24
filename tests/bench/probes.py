"""Probes agents that others ship and writes what was found, with versions, to `probes.json` and to the page of the docs. No part of CI.

    python tests/bench/probes.py FOLDER [NAME…]

Each package is installed by npm or pip into a folder of its own below FOLDER, as long as it is not there yet. No login is needed and no
home folder is passed on; agents that can be told where their model is get that of `model.py`. Without names all of them are probed; with
names the others keep the results that they have.
"""

from __future__ import annotations

import argparse
import json
import re
import shlex
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

from acpgen.probe import driver
from acpgen.probe.conformance import Conformance

HERE: Final = Path(__file__).parent
ROOT: Final = HERE.parents[1]
if __name__ == "__main__":
    sys.path[:1] = [str(ROOT / "tests")]  # in place of this folder

from bench import model  # noqa: E402

RESULTS: Final = HERE / "probes.json"
PAGE: Final = ROOT / "schema" / "pages" / "agents.md"
SEED: Final = 1


@dataclass(frozen=True)
class Shipped:
    """A package of npm, and the command of it that speaks ACP.

    `variables` are those of its environment, `settings` a file that it reads, by name. In both, `{model}` stands for the address
    of the model and `{folder}` for the package's folder.
    """

    package: str
    version: str
    command: tuple[str, ...]
    variables: tuple[str, ...] = ()
    settings: tuple[str, str] | None = None


_ANTHROPIC: Final = ("ANTHROPIC_API_KEY=tide", "ANTHROPIC_BASE_URL={model}")
_OPENAI: Final = ("OPENAI_API_KEY=tide", "OPENAI_BASE_URL={model}/v1", "OPENAI_MODEL=tide")
_CODEX: Final = ("CODEX_HOME={folder}", "CODEX_API_KEY=tide")
_CODEX_SETTINGS: Final = """model = "tide"
model_provider = "tide"

[model_providers.tide]
name = "tide"
base_url = "{model}/v1"
wire_api = "responses"
env_key = "CODEX_API_KEY"
"""
_OPENCODE_SETTINGS: Final = {
    "model": "tide/tide",
    "permission": {"bash": "ask", "edit": "ask"},
    "provider": {
        "tide": {
            "npm": "@ai-sdk/openai-compatible",
            "options": {"apiKey": "tide", "baseURL": "{model}/v1"},
            "models": {"tide": {"name": "tide"}},
        }
    },
}

SHIPPED: Final = {
    "Auggie": Shipped("@augmentcode/auggie", "0.36.0", ("auggie", "--acp")),
    "Claude Agent": Shipped("@agentclientprotocol/claude-agent-acp", "0.101.0", ("claude-agent-acp",), _ANTHROPIC),
    "Claude Code (Zed)": Shipped("@zed-industries/claude-code-acp", "0.16.2", ("claude-code-acp",), _ANTHROPIC),
    "Cline": Shipped("cline", "3.0.65", ("cline", "--acp")),
    "Codex": Shipped(
        "@agentclientprotocol/codex-acp", "2.6.0", ("codex-acp",), _CODEX, ("config.toml", _CODEX_SETTINGS)
    ),
    "Codex (Zed)": Shipped(
        "@zed-industries/codex-acp", "0.16.0", ("codex-acp",), _CODEX, ("config.toml", _CODEX_SETTINGS)
    ),
    "Copilot": Shipped("@github/copilot", "1.0.102", ("copilot", "--acp")),
    "Gemini CLI": Shipped(
        "@google/gemini-cli",
        "0.61.0",
        ("gemini", "--acp"),
        ("GEMINI_API_KEY=tide", "GOOGLE_GEMINI_BASE_URL={model}"),
    ),
    "OpenCode": Shipped(
        "opencode-ai",
        "1.18.33",
        ("opencode", "acp"),
        ("OPENCODE_CONFIG={folder}/settings.json",),
        ("settings.json", json.dumps(_OPENCODE_SETTINGS)),
    ),
    "pi": Shipped("pi-acp", "0.0.34", ("pi-acp",)),
    "Qoder CLI": Shipped("@qoder-ai/qodercli", "1.1.52", ("qodercli", "--acp")),
    "Qwen Code": Shipped("@qwen-code/qwen-code", "0.24.4", ("qwen", "--acp", "--auth-type", "openai"), _OPENAI),
}
PYTHON_SDK: Final = "0.12.1"
TYPESCRIPT_SDK: Final = Shipped("@agentclientprotocol/sdk", "0.28.1", ())
TYPESCRIPT_EXAMPLE: Final = "dist/examples/agent.js"
OURS: Final = ("-m", "examples.agent")
RIGHT: Final = "tests/probe/agent.py"
ACPLINT: Final = "0.1.0"
OWN_PATH: Final = "PYTHONPATH=" + ":".join(
    str(ROOT / folder)
    for folder in ("generated/python/acp-bindings", "generator/acp-session", "generator/acp-workspace", "tests")
)


def read_arguments(description: str | None) -> tuple[Path, list[str]]:
    """The folder of the packages, and the names of agents."""
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("names", nargs="*", metavar="name")
    given = parser.parse_args()
    return given.folder, given.names


def main() -> None:
    folder, names = read_arguments(__doc__)
    rows: dict[str, Any] = json.loads(RESULTS.read_text("utf-8")) if RESULTS.exists() else {}
    with model.served() as address:
        for name, shipped in SHIPPED.items():
            if not names or name in names:
                command = (str(installed(folder, shipped) / shipped.command[0]), *shipped.command[1:])
                keep(rows, name, f"{shipped.package} {shipped.version}", command, told(folder, shipped, address))
    if not names or "Python SDK" in names:
        title = f"agent-client-protocol {PYTHON_SDK}, `examples/agent.py`"
        keep(rows, "Python SDK", title, python_example(folder))
    if not names or "TypeScript SDK" in names:
        title = (
            f"{TYPESCRIPT_SDK.package} {TYPESCRIPT_SDK.version}, `{TYPESCRIPT_EXAMPLE}`; newer packages ship no example"
        )
        keep(rows, "TypeScript SDK", title, typescript_example(folder))
    if not names or "acpgen" in names:
        keep(rows, "acpgen", f"the agent of the README, `{OURS[-1]}`", (sys.executable, *OURS), (OWN_PATH,))
    if not names or "acpgen, tests" in names:
        keep(rows, "acpgen, tests", f"the agent of the tests, `{RIGHT}`", (sys.executable, str(ROOT / RIGHT)))
    for name in ("acpgen", "acpgen, tests", "Python SDK", "TypeScript SDK"):
        if not names or name in names:
            command = {
                "acpgen": ("env", OWN_PATH, sys.executable, *OURS),
                "acpgen, tests": (sys.executable, str(ROOT / RIGHT)),
            }.get(name) or (python_example(folder) if name == "Python SDK" else typescript_example(folder))
            rows[name]["acplint"] = linted(folder, command)
            print(f"{name}: acplint {rows[name]['acplint']}", flush=True)
    rows = dict(sorted(rows.items()))
    RESULTS.write_text(json.dumps(rows, indent=2, ensure_ascii=False, sort_keys=True) + "\n", "utf-8")
    PAGE.write_text(page(rows), "utf-8")


def keep(
    rows: dict[str, Any], name: str, package: str, command: Sequence[str], variables: tuple[str, ...] = ()
) -> None:
    """Probe a program and keep the outcome."""
    report = driver.run(driver.ProbeOptions(tuple(command), seed=SEED, total=600, variables=variables))
    print(f"{name}: {report.verdict}, {dict(report.counts)}, {report.seconds:.0f} s", flush=True)
    rows[name] = {"package": package, "measured": datetime.now(UTC).date().isoformat(), **outcome(report)}


def outcome(report: Conformance) -> dict[str, Any]:
    """What is kept of a report: what was found and why the rest was not reached, nothing that differs from run to run."""
    findings = Counter((one.level, one.rule, _plain(one.message)) for one in report.findings)
    reasons: dict[str, int] = Counter(_plain(one.reason) for one in report.not_reached)
    return {
        "versions": list(report.versions),
        "verdict": report.verdict,
        "reached": len(report.reached),
        "not_reached": dict(sorted(reasons.items())),
        "findings": [{"level": level, "rule": rule, "message": message} for level, rule, message in findings],
        "seconds": round(report.seconds),
    }


def linted(folder: Path, command: Sequence[str]) -> dict[str, int]:
    """How many of its tests acplint runs on an agent, and how many of them fail."""
    own = folder / "acplint"
    if not (own / "bin" / "acplint").exists():
        subprocess.run([sys.executable, "-m", "venv", str(own)], check=True)
        subprocess.run(
            [str(own / "bin" / "python"), "-m", "pip", "install", "--quiet", f"acplint=={ACPLINT}"], check=True
        )
    with tempfile.TemporaryDirectory() as passing:
        script, result = Path(passing) / "agent", Path(passing) / "result.json"
        script.write_text(f"#!/bin/sh\nexec {shlex.join(command)} 2>/dev/null\n")
        script.chmod(0o755)
        options = ("--timeout", "5", "--cwd", passing, "--output", "json", "--output-file", str(result))
        subprocess.run([str(own / "bin" / "acplint"), "--agent", str(script), *options], check=False)
        found = json.loads(result.read_text("utf-8"))["summary"].values()
    return {
        "tests": sum(part[kind] for part in found for kind in ("passed", "failed", "skipped", "errored")),
        "failed": sum(part[kind] for part in found for kind in ("failed", "errored")),
    }


def _plain(text: str) -> str:
    """A sentence without what is drawn: the names of the passing folder and of sessions."""
    text = re.sub(r"acpgen-probe-\w+", "acpgen-probe", text)
    return re.sub(r"[0-9a-f]{8}-[0-9a-f-]{27}", "…", text)


def page(rows: Mapping[str, Any]) -> str:
    """The page of the docs."""
    lines = [
        "# Shipped agents, probed",
        "",
        "What `acpgen probe` found in agents from npm and PyPI, without a login: broken MUSTs and SHOULDs, notes, and the cases that it",
        "could judge. Details are [below](#what-was-found).",
        "",
        "| Agent | Version | ACP | MUST | SHOULD | Notes | Cases |",
        "| --- | --- | --- | --- | --- | --- | --- |",
    ]
    for name, row in rows.items():
        counts = Counter(one["level"] for one in row["findings"])
        versions = ", ".join(f"v{version}" for version in row["versions"]) or "none"
        release = re.search(r" (\d+\.[\d.]+)", row["package"])
        cells = (
            name,
            release[1] if release else "",
            versions,
            *(counts[level] for level in ("must", "should", "note")),
        )
        lines.append(f"| {' | '.join(map(str, (*cells, row['reached'])))} |")
    lines += [
        "",
        "Agents that can be told where their model is use a small one on the same machine, which only says `ok`, counts, or calls a",
        "tool. The others refuse prompts without a login: the table does not show how their prompts work. `python tests/bench/probes.py`",
        "measures all of it again, with the seed 1, and writes this page.",
        "",
        "## What was found",
    ]
    for name, row in rows.items():
        lines += ["", '<details markdown="1">', f"<summary>{name}: {_cell(row['package'])}</summary>", ""]
        lines += [f"Measured on {row['measured']}, in {row['seconds']} seconds on a machine with two processors.", ""]
        if row["findings"]:
            lines += ["| Level | Rule | Found |", "| --- | --- | --- |"]
            lines += [f"| {one['level']} | `{one['rule']}` | {_cell(one['message'])} |" for one in row["findings"]]
        else:
            lines.append("Nothing was found.")
        lines += ["", "| Not reached because | Cases |", "| --- | --- |"]
        lines += [f"| {_cell(reason)} | {count} |" for reason, count in row["not_reached"].items()]
        lines += ["", "</details>"]
    lines += [
        *("", "## Comparison with acplint", "", f"acplint {ACPLINT} of PyPI, on the same programs.", ""),
        *(
            "| Agent | Broken MUSTs, by the probe | Cases judged | Tests of acplint | Failed |",
            "| --- | --- | --- | --- | --- |",
        ),
    ]
    for name, row in rows.items():
        if "acplint" in row:
            counts = Counter(one["level"] for one in row["findings"])
            cells = (name, counts["must"], row["reached"], row["acplint"]["tests"], row["acplint"]["failed"])
            lines.append(f"| {' | '.join(map(str, cells))} |")
    return "\n".join(lines) + "\n"


def _cell(text: str) -> str:
    return "".join(f"\\{one}" if one in "\\|<>[]`*_" else one for one in " ".join(text.split()))


# --- installing ------------------------------------------------------------------------------------------------------


def told(folder: Path, shipped: Shipped, address: str) -> tuple[str, ...]:
    """The variables of a package's environment, once its settings are written."""
    own = _own(folder, shipped)

    def filled(text: str) -> str:
        return text.replace("{model}", address).replace("{folder}", str(own))

    if shipped.settings is not None:
        name, text = shipped.settings
        (own / name).write_text(filled(text))
    return tuple(map(filled, shipped.variables))


def _own(folder: Path, shipped: Shipped) -> Path:
    return folder / shipped.package.replace("@", "_").replace("/", "_").lstrip("_")


def installed(folder: Path, shipped: Shipped) -> Path:
    """The folder of the commands of a package of npm."""
    own = _own(folder, shipped)
    if not (own / "node_modules").exists():
        own.mkdir(parents=True, exist_ok=True)
        (own / "package.json").write_text("{}")
        options = ("--no-audit", "--no-fund", "--loglevel=error")
        subprocess.run(["npm", "install", *options, f"{shipped.package}@{shipped.version}"], cwd=own, check=True)
    return own / "node_modules" / ".bin"


def typescript_example(folder: Path) -> tuple[str, ...]:
    """The command of the example agent in the package of the TypeScript SDK."""
    modules = installed(folder, TYPESCRIPT_SDK).parent
    return ("node", str(modules / TYPESCRIPT_SDK.package / TYPESCRIPT_EXAMPLE))


def python_example(folder: Path) -> tuple[str, ...]:
    """The command of the example agent in the source package of the Python SDK."""
    own = folder / "python-sdk"
    python = own / "bin" / "python"
    source = own / f"agent_client_protocol-{PYTHON_SDK}"
    pinned = f"agent-client-protocol=={PYTHON_SDK}"
    if not python.exists():
        subprocess.run([sys.executable, "-m", "venv", str(own)], check=True)
        subprocess.run([str(python), "-m", "pip", "install", "--quiet", pinned], check=True)
    if not source.exists():
        with tempfile.TemporaryDirectory() as passing:
            download = ["download", "--quiet", "--no-deps", "--no-binary", ":all:", "--dest", passing, pinned]
            subprocess.run([str(python), "-m", "pip", *download], check=True)
            (archive,) = Path(passing).glob("*.tar.gz")
            subprocess.run(["tar", "-xzf", str(archive), "-C", str(own)], check=True)
    return (str(python), str(source / "examples" / "agent.py"))


if __name__ == "__main__":
    main()
