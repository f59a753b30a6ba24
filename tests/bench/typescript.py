"""Measures the TypeScript modules of ACP v1 beside the official SDK's zod schemas and ajv, in one session. Prints a table; judges nothing.

    .venv/bin/python tests/bench/typescript.py

esbuild, ajv and the SDK are fetched by npm if they are not here.
"""

from __future__ import annotations

import gzip
import json
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

ROOT = Path(__file__).parents[2]
sys.path[:1] = [str(ROOT / "generator"), str(ROOT / "tests")]

from javascript import node, packages  # noqa: E402 - the tests' folder is on the path only now

MODULE = ROOT / "generated" / "typescript" / "acp" / "v1" / "index.js"
VERSIONS = {"esbuild": "0.25.12", "ajv": "8.17.1", "@agentclientprotocol/sdk": "2.4.0"}
ZOD = "node_modules/@agentclientprotocol/sdk/dist/v1/schema/zod.gen.js"


def main() -> None:
    """Measure and print."""
    folder = packages(**VERSIONS)
    with TemporaryDirectory() as name:
        work = Path(name)
        ours, theirs = (
            minified(folder, path, work / f"{label}.js") for label, path in (("ours", MODULE), ("zod", folder / ZOD))
        )
        print("| | Ours | The SDK's zod |\n| --- | --- | --- |")
        print(f"| minified | {len(ours):,} bytes | {len(theirs):,} bytes |")
        print(f"| compressed by brotli | {brotli(work / 'ours.js'):,} bytes | {brotli(work / 'zod.js'):,} bytes |")
        print(
            f"| compressed by gzip | {len(gzip.compress(ours, 9)):,} bytes | {len(gzip.compress(theirs, 9)):,} bytes |"
        )
        times = [imported(work / f"{label}.js") for label in ("ours", "zod")]
        print(f"| import of the minified module, processor time | {times[0]:.1f} ms | {times[1]:.1f} ms |")
    print(
        "\n| A parsed message: µs of the processor, bytes | decodeAs | validateAs | zod | ajv | JSON.parse | decode of the line |\n"
        "| --- | --- | --- | --- | --- | --- | --- |"
    )
    schema = ROOT / "generated" / "schema" / "acp" / "v1" / "schema.json"
    script = ROOT / "tests" / "typescript" / "bench.mjs"
    ran = subprocess.run(
        [node(), "--expose-gc", "--max-semi-space-size=256", script, MODULE, folder / ZOD, schema, folder],
        capture_output=True,
        text=True,
        check=True,
    )
    for line in ran.stdout.splitlines():
        row = json.loads(line)
        cells = [f"{time:.3f}, {size:,.0f}" for time, size in zip(row["times"], row["bytes"], strict=True)]
        print(f"| {row['name']} | {' | '.join(cells)} |")


def minified(folder: Path, source: Path, target: Path) -> bytes:
    """A module with all that it imports, as esbuild makes it small."""
    program = str(folder / "node_modules" / ".bin" / "esbuild")
    command = [program, str(source), "--bundle", "--minify", "--format=esm", f"--outfile={target}"]
    subprocess.run(command, capture_output=True, check=True)
    return target.read_bytes()


def brotli(module: Path) -> int:
    """The size of a module that brotli has compressed."""
    script = (
        f"console.log(require('zlib').brotliCompressSync(require('fs').readFileSync({json.dumps(str(module))})).length)"
    )
    return int(subprocess.run([node(), "-e", script], capture_output=True, text=True, check=True).stdout)


def imported(module: Path) -> float:
    """Milliseconds of the processor that an import takes once the loader has loaded another module: the least of several."""
    script = f"""
        await import("data:text/javascript,");
        const start = process.cpuUsage();
        await import({json.dumps(module.as_uri())});
        const {{ user, system }} = process.cpuUsage(start);
        console.log((user + system) / 1000);
    """
    ran = [
        subprocess.run([node(), "--input-type=module", "-e", script], capture_output=True, text=True, check=True)
        for _ in range(15)
    ]
    return min(float(one.stdout) for one in ran)


if __name__ == "__main__":
    main()
