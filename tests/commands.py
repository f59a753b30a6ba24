"""The command `acpgen` within this process: its arguments, input and folder, and what it says. Only what is about processes starts one."""

from __future__ import annotations

import contextlib
import io
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from subprocess import CompletedProcess
from typing import Any, Final

import pytest

from acpgen import cli
from acpgen.files.cache import NO_CACHE, Cache
from acpgen.input.load import Documents
from acpgen.input.step_budget import join_steps
from acpgen.messages import validators
from acpgen.messages.validators import read_strict
from acpgen.methods.profile import Profile

_CACHE_SIZE: Final = 8
_CACHE: Final[list[tuple[Documents, Profile | None, Any]]] = []


def strict_once(documents: Documents, methods: Profile | None = None, cache: Cache = NO_CACHE) -> Any:
    """`validators.read_strict`, which understands what is the same once: most of what a short command takes is that."""
    for index, (known, profile, validator) in enumerate(_CACHE):
        if known == documents and profile == methods:
            _CACHE.append(_CACHE.pop(index))
            return validator
    validator = read_strict(documents, methods, cache)
    _CACHE.append((documents, methods, validator))
    del _CACHE[:-_CACHE_SIZE]
    return validator


def acpgen(
    arguments: Sequence[str | Path],
    stdin: bytes = b"",
    cwd: Path | None = None,
    environment: Mapping[str, str] | None = None,
) -> CompletedProcess[bytes]:
    """Run the command."""
    words = [str(argument) for argument in arguments]
    out, err = io.BytesIO(), io.BytesIO()
    streams = [io.TextIOWrapper(each, "utf-8", "backslashreplace", write_through=True) for each in (out, err)]
    with pytest.MonkeyPatch.context() as patch, contextlib.ExitStack() as stack:
        patch.setattr(validators, "read_strict", strict_once)
        patch.setattr(sys, "stdin", io.TextIOWrapper(io.BufferedReader(io.BytesIO(stdin)), "utf-8"))
        for name, value in {"NO_COLOR": "1", "COLUMNS": "80", **(environment or {})}.items():
            patch.setenv(name, value)
        if cwd is not None:
            patch.chdir(cwd)
        stack.enter_context(contextlib.redirect_stdout(streams[0]))
        stack.enter_context(contextlib.redirect_stderr(streams[1]))
        with pytest.raises(SystemExit) as ended, join_steps():
            cli.app(words, prog_name="acpgen")
    return CompletedProcess(words, int(ended.value.code or 0), _content(streams[0], out), _content(streams[1], err))


def _content(stream: io.TextIOWrapper, buffer: io.BytesIO) -> bytes:
    """What was written; the command closes a stream that nobody reads."""
    if not stream.closed:
        stream.flush()
    return b"" if buffer.closed else buffer.getvalue()
