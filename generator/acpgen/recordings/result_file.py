"""A file with the verdicts of a run, so that the next run can reuse them."""

from __future__ import annotations

import contextlib
import json
import os
from dataclasses import asdict
from pathlib import Path
from typing import Any, Final, Self

from acpgen.errors import Faults
from acpgen.input.load import display_path
from acpgen.input.walk import is_object
from acpgen.messages.faults import NOT_CREATED, OTHER_RESULTS
from acpgen.messages.recording import describe_reason
from acpgen.recordings.stores import File, Recording
from acpgen.recordings.verdict import Verdict

_FORM: Final = "acpgen validate, results 1"


class Results:
    """A file of results, one JSON value per line: the standard, then a recording and its verdict each.

    A recording is unchanged while its files have the same names, sizes and versions. Failed verdicts are not stored, so the next run
    retries. A partial last line of an interrupted run is cut off. Raises `Faults` for a file of another kind or another standard.
    """

    def __init__(self, path: Path, standard: str) -> None:
        self._path = path
        self._known: dict[str, Verdict] = {}
        head = json.dumps({"form": _FORM, "standard": standard})
        try:
            self._file = os.fdopen(os.open(path, os.O_RDWR | os.O_CREAT, 0o600), "r+b")
        except (OSError, ValueError) as error:
            raise Faults([NOT_CREATED(at=display_path(path), reason=describe_reason(error))]) from None
        with contextlib.ExitStack() as on_failure:
            on_failure.callback(self._file.close)
            self._read(standard)
            on_failure.pop_all()
        if not self._file.tell():
            self._write(head)

    def find(self, recording: Recording) -> Verdict | None:
        """The stored verdict of an unchanged recording."""
        return self._known.get(_make_key(recording))

    def keep(self, recording: Recording, verdict: Verdict) -> None:
        """Store a verdict. Raises `OSError`."""
        if not verdict.failure:
            self._write(json.dumps({"files": _list_rows(recording), "verdict": verdict.as_json()}))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        with contextlib.suppress(OSError):
            self._file.close()

    def _read(self, standard: str) -> None:
        end = 0
        for number, line in enumerate(self._file):
            if not line.endswith(b"\n"):
                break
            try:
                row = json.loads(line)
            except ValueError:
                raise self._refuse_other(f"line {number + 1} is not JSON") from None
            if not number:
                self._require_ours(row, standard)
            else:
                self._take(row, number)
            end += len(line)
        if not end and os.fstat(self._file.fileno()).st_size:
            raise self._refuse_other("its first line does not end")
        self._file.seek(end)
        self._file.truncate()

    def _require_ours(self, row: Any, standard: str) -> None:
        if not is_object(row) or row.get("form") != _FORM:
            raise self._refuse_other("it does not begin as a file of results does")
        if row.get("standard") != standard:
            raise self._refuse_other("options, schemas or acpgen itself were others")

    def _take(self, row: Any, number: int) -> None:
        try:
            files = tuple(File(*file) for file in row["files"])
            self._known[_make_key(Recording(files))] = Verdict.from_json(row["verdict"])
        except (KeyError, TypeError, ValueError):
            raise self._refuse_other(f"line {number + 1} holds no verdict") from None

    def _refuse_other(self, reason: str) -> Faults:
        return Faults([OTHER_RESULTS(at=display_path(self._path), reason=reason)])

    def _write(self, line: str) -> None:
        self._file.write(line.encode() + b"\n")
        self._file.flush()


def _list_rows(recording: Recording) -> list[list[Any]]:
    return [[*asdict(file).values()] for file in recording.files]


def _make_key(recording: Recording) -> str:
    return json.dumps(_list_rows(recording))
