"""The programs of the guide to TypeScript: the compiler accepts them, and they converse by the connection of the official SDK."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import evidence
import javascript
from typescript.test_typescript import ROOT, compiler, node

GUIDE = ROOT / "schema" / "pages" / "typescript.md"
PACKAGES = {"@agentclientprotocol/sdk": "2.4.0", "zod": "4.6.7", "@types/node": "20.9.5"}


def programs() -> list[str]:
    return re.findall(r"```typescript\n(.*?)```", GUIDE.read_text("utf-8"), re.DOTALL)


def test_the_programs_are_short() -> None:
    assert [len(one.splitlines()) <= 30 for one in programs()] == [True, True]


def test_the_programs_converse(tmp_path: Path) -> None:
    try:
        packages = javascript.packages(**PACKAGES) / "node_modules"
    except javascript.Unreachable as reason:
        evidence.lack(str(reason))
    modules = tmp_path / "node_modules"
    modules.mkdir()
    for name in ("@agentclientprotocol", "@types", "zod", "undici-types"):
        (modules / name).symlink_to(packages / name)
    (modules / "acp-bindings").symlink_to(ROOT / "generated" / "typescript" / "acp")
    (tmp_path / "package.json").write_text('{"type": "module"}', "utf-8")
    agent, client = programs()
    unknown = 'update: { sessionUpdate: "_moon", phase: 3 } as never'
    told = "await client.notify"
    agent = agent.replace(told, f'{told}("session/update", {{ sessionId: params.sessionId, {unknown} }});\n    {told}')
    block = '{ type: "text", text: "High water?" }'
    client = client.replace(block, f'{block}, {{ type: "_chart", tide: 4 }} as never')
    (tmp_path / "agent.ts").write_text(agent, "utf-8")
    (tmp_path / "client.ts").write_text(client, "utf-8")
    (arguments,) = re.findall(r"^npx tsc (.*)$", GUIDE.read_text("utf-8"), re.MULTILINE)
    ran = subprocess.run(
        [node(), compiler(), *arguments.split()], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert ran.stdout == ""
    command = [node(), "client.js", node(), "agent.js"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False, timeout=60)
    assert done.stdout.splitlines() == [
        "_moon { sessionUpdate: '_moon', phase: 3 }",
        "High water? (unknown: _chart)",
        "end_turn",
    ], done.stderr
