"""The matrix of SDKs as data, and as a page of the docs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any, Final

from interop.pairs import SPEAKS, Pair
from interop.scenario import Judged, exchanges

NEWER: Final = "new-"
"""How the names of exchanges begin that a peer of today's version need not know."""

LONGEST: Final = 700
"""Characters of a message or a reason that the page shows."""

HEAD: Final = """\
# SDK with SDK, executed

Each client is connected to each agent over standard streams, in a fixed conversation. The programs (`tests/interop/peers/`) have the same
few lines on the public API of each SDK, and report what their SDK gave them. An exchange is right if one side sent everything in the
scenario (`tests/interop/scenario.json`) unchanged and it reached the program at the other side. Additions by an SDK are not a loss.
`python tests/bench/interop.py` runs it again and writes this page.

- **not sent**: the SDK's API cannot express it.
- **altered on sending**: the SDK sent something else.
- **lost on receipt**: it was received, but did not reach the program, or not completely; the conversation continued.
- **refused**: the receiver answered with an error, or the connection ended.

Exchanges whose name begins with `new-` are messages of a peer of a later version. Dropping new content violates no requirement, so a cell
in which only these fail is yellow. A cell in which an exchange of the current version fails is red.
"""


def rows(pairs: Sequence[Pair]) -> list[dict[str, Any]]:
    """The data that is kept: of each pair what is not right, and how many exchanges there were."""
    return [
        {
            "version": pair.version,
            "client": pair.client,
            "agent": pair.agent,
            "exchanges": len(pair.found),
            "wrong": [asdict(_shortened(one)) for one in pair.found if one.effect != "kept"],
        }
        for pair in pairs
    ]


def _shortened(found: Judged) -> Judged:
    return Judged(found.exchange, found.effect, found.by, _cut(found.message), _cut(found.reason))


def _cut(words: str) -> str:
    return words if len(words) <= LONGEST else f"{words[:LONGEST]}… ({len(words) - LONGEST} more characters)"


def page(data: Sequence[Mapping[str, Any]]) -> str:
    """The page."""
    parts = [HEAD]
    for version in sorted({row["version"] for row in data}):
        cells = {(row["client"], row["agent"]): row for row in data if row["version"] == version}
        parts += [
            f"\n## Version {version}\n",
            _table(version, cells),
            _failures(version, cells),
            _conversation(version),
        ]
    return "\n".join(parts)


def _table(version: int, cells: Mapping[tuple[str, str], Mapping[str, Any]]) -> str:
    names = list(SPEAKS)
    lines = [f"| Client ↓ Agent → | {' | '.join(names)} |", f"| --- |{' --- |' * len(names)}"]
    for client in names:
        shown = [_cell(version, client, agent, cells.get((client, agent))) for agent in names]
        lines.append(f"| **{client}** | {' | '.join(shown)} |")
    return "\n".join(lines) + "\n"


def _cell(version: int, client: str, agent: str, row: Mapping[str, Any] | None) -> str:
    for name in (client, agent):
        if version not in SPEAKS[name]:
            return f"no version {version} in {name}"
    if row is None:
        return "not run"
    right = row["exchanges"] - len(row["wrong"])
    if not row["wrong"]:
        return f"🟢 all {right}"
    wrong = ", ".join(f"`{one['exchange']}`" for one in row["wrong"])
    sign = "🟡" if all(one["exchange"].startswith(NEWER) for one in row["wrong"]) else "🔴"
    return f"{sign} {right} of {row['exchanges']}: {wrong}"


def _failures(version: int, cells: Mapping[tuple[str, str], Mapping[str, Any]]) -> str:
    """What is not right, by exchange, by what became of it, and by whose SDK it was."""
    groups: dict[tuple[str, str, str, str], list[tuple[str, str, Mapping[str, Any]]]] = {}
    for (client, agent), row in cells.items():
        for one in row["wrong"]:
            by = client if one["by"] == "client" else agent
            groups.setdefault((one["exchange"], one["effect"], one["by"], by), []).append((client, agent, one))
    lines: list[str] = []
    for (exchange, effect, side, by), found in groups.items():
        lines += [f"### `{exchange}` in version {version}: {effect}, by the {side} of {by}\n"]
        others = [agent if side == "client" else client for client, agent, _ in found]
        lines.append(f"In conversation with {', '.join(dict.fromkeys(others))}.\n")
        first = found[0][2]
        if first["message"]:
            lines += ["```json", first["message"], "```\n"]
        if first["reason"]:
            lines += ["It says:\n", "```text", first["reason"], "```\n"]
    return "\n".join(lines)


def _conversation(version: int) -> str:
    lines = [f"### The conversation of version {version}\n", "| Exchange | What passes |", "| --- | --- |"]
    lines += [f"| `{one.name}` | {one.says} |" for one in exchanges(version)]
    return "\n".join(lines) + "\n"
