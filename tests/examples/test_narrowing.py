"""Typical user code, held to both type checkers: tags, `match` and `isinstance` narrow."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from acp_bindings import v1, v2

import tiers
from examples import narrowing

ROOT = Path(__file__).parents[2]
BINDINGS = ROOT / "generated" / "python" / "acp-bindings"
FILE = Path(narrowing.__file__)
ASKED = {"sessionId": "s", "mode": "form", "message": "Which?", "requestedSchema": {"type": "object"}}


@pytest.mark.parametrize("checker", tiers.sample(["mypy", "pyright"], 1, by="test_narrowing"))
def test_both_checkers_accept_typical_code_strictly(checker: str, tmp_path: Path) -> None:
    program = tmp_path / "narrowing.py"
    program.write_bytes(FILE.read_bytes())
    config = {"typeCheckingMode": "strict", "pythonVersion": "3.11", "extraPaths": [str(BINDINGS)]}
    (tmp_path / "pyrightconfig.json").write_text(json.dumps(config))
    commands = {
        "mypy": ["mypy", "--strict", "--config-file", os.devnull, str(program)],
        "pyright": ["pyright", "--pythonpath", sys.executable, "-p", str(tmp_path)],
    }
    done = subprocess.run(
        [sys.executable, "-m", *commands[checker]],
        cwd=tmp_path,
        env={**os.environ, "MYPYPATH": str(BINDINGS)},
        capture_output=True,
        text=True,
        check=False,
        timeout=600,
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_code_does_what_the_types_say() -> None:
    told = narrowing.told()
    assert [narrowing.ending(update) for update in told] == ["", "done", "", ""]
    assert [narrowing.called(update) for update in told] == [None, None, "1", None]
    line = json.loads(v2.encode(told[3]))
    assert line == {"sessionUpdate": "_acme.tide", "metres": 2.5}
    decoded = v1.decode_as(v1.SessionUpdate, line)
    assert narrowing.headline(decoded) == "new: _acme.tide"
    assert narrowing.headline(v1.ToolCall(tool_call_id="1", title="Read")) == "Read"
    assert narrowing.words(v1.TextContent(text="Hello")) == "Hello"
    assert narrowing.paths([v1.Diff(path="/a", new_text="b"), v1.Terminal(terminal_id="t")]) == ["/a"]
    chosen = v1.RequestPermissionResponse(outcome=v1.SelectedPermissionOutcome(option_id="yes"))
    assert narrowing.is_allowed(chosen)
    assert narrowing.transport(v1.McpServerStdio(name="n", command="/bin/run", args=[], env=[])) == "/bin/run"
    assert narrowing.stopped(lambda _: {"stopReason": "refusal"}) == "refusal"
    asked = v1.decode_as(v1.CreateElicitationRequest, ASKED)
    assert narrowing.answered(lambda _: {"action": "accept", "content": {"a": 1}}, asked) == "{'a': 1}"
    with pytest.raises(ValueError, match="session/cancel has no result"):
        narrowing.ask(v1.METHODS["session/cancel"], v1.CancelNotification(session_id="s"), lambda _: None)
