"""Runs every client of the matrix of SDKs with every agent, and writes the data and the page of the docs. No part of CI.

    .venv/bin/python tests/bench/interop.py

The SDKs are fetched by pip and npm if they are not here.
"""

from __future__ import annotations

import json
import sys
from itertools import product
from pathlib import Path

ROOT = Path(__file__).parents[2]
HERE = ("generator", "generator/acpgen-acp-sdk", "tests")
sys.path[:1] = [str(ROOT / folder) for folder in HERE]  # in place of this folder, which would hide the package

from interop.page import page, rows  # noqa: E402 - the tests' folder is on the path only now
from interop.pairs import MAKERS, SPEAKS, Pair, run  # noqa: E402

RESULTS = Path(__file__).with_name("interop.json")
PAGE = ROOT / "schema" / "pages" / "interop.md"


def main() -> None:
    """Run everything that has a version of the protocol in common."""
    programs = [make() for make in MAKERS.values()]
    pairs: list[Pair] = []
    for version in (1, 2):
        for client, agent in product(programs, programs):
            if version in SPEAKS[client.name] and version in SPEAKS[agent.name]:
                pairs.append(run(client, agent, version))
                wrong = [one.exchange for one in pairs[-1].found if one.effect != "kept"]
                print(f"v{version} {client.name} with {agent.name}: {', '.join(wrong) or 'all right'}", flush=True)
    data = rows(pairs)
    RESULTS.write_text(json.dumps(data, indent=2, ensure_ascii=False) + "\n", "utf-8")
    PAGE.write_text(page(data), "utf-8")


if __name__ == "__main__":
    main()
