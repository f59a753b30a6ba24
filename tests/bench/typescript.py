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
PROGRAM = "globalThis.used = [decode, encode, validate];"
"""What keeps these three functions in a bundle."""
ZOD = "node_modules/@agentclientprotocol/sdk/dist/v1/schema/zod.gen.js"


def main() -> None:
    """Measure and print."""
    folder = packages(**VERSIONS)
    with TemporaryDirectory() as name:
        work = Path(name)
        program = work / "program.mjs"
        program.write_text(f'import {{ decode, encode, validate }} from "{MODULE}";\n{PROGRAM}', "utf-8")
        empty = work / "empty.mjs"
        empty.write_text("export {};", "utf-8")
        sources = {"a program": program, "ours": MODULE, "zod": folder / ZOD, "nothing": empty}
        made = {label: minified(folder, path, work / f"{label}.js") for label, path in sources.items()}
        print(f"| | {' | '.join(made)} |\n| --- | {'--- | ' * len(made)}")
        rows = {
            "minified": (f"{len(text):,} bytes" for text in made.values()),
            "compressed by gzip": (f"{len(gzip.compress(text, 9)):,} bytes" for text in made.values()),
            "compressed by brotli": (f"{brotli(work / f'{label}.js'):,} bytes" for label in made),
            "import, processor time": (f"{imported(work / f'{label}.js'):.1f} ms" for label in made),
        }
        for name, cells in rows.items():
            print(f"| {name} | {' | '.join(cells)} |")
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
        figures = [f"{time:.3f}, {size:,.0f}" for time, size in zip(row["times"], row["bytes"], strict=True)]
        print(f"| {row['name']} | {' | '.join(figures)} |")


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
