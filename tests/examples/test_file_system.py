"""Every example of the TypeScript SDK's file-system page, in Python, does what the page says."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from acp_workspace.containment import guarantees
from examples.file_system import EXAMPLES

pytestmark = pytest.mark.skipif(not guarantees().enforced, reason="this platform cannot keep an access in a root")


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: example.__name__)
def test_the_example_runs(example: Callable[[Path], Awaitable[None]], tmp_path: Path) -> None:
    async def whole() -> None:
        async with asyncio.timeout(60):
            await example(tmp_path)

    asyncio.run(whole())
