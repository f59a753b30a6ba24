"""`acpgen validate` for many recordings: a line or object for each relevant one, and the summary."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Final

from acpgen.errors import count_noun
from acpgen.recordings.criteria import Standard
from acpgen.recordings.result_file import Results
from acpgen.recordings.stores import Recording
from acpgen.recordings.summary import Summary, summarise
from acpgen.recordings.verdict import Verdict
from acpgen.recordings.worker_pool import judge_all

MOST_FINDINGS: Final = 3
"""The maximum number of findings of a recording in the text; JSON has all that are stored."""

_SHARE: Final = 256
"""The number of verdicts that are summarised at a time."""


def run(
    recordings: Sequence[Recording],
    standard: Standard,
    jobs: int,
    results: Path | None,
    tell: Callable[[Verdict], None],
    progress: Callable[[int, int, str], None],
) -> Summary:
    """Judge recordings, report each verdict in order, and summarise them. Stored verdicts in `results` are reused.

    Raises `Faults`, and `OSError` if results cannot be written.
    """
    standard.get_validators()
    total, progress_bytes = sum(recording.size for recording in recordings), 0
    summary, share = Summary(), list[Verdict]()
    with contextlib.ExitStack() as stack:
        result_file = stack.enter_context(Results(results, standard.hash_inputs())) if results is not None else None
        for recording, verdict in _list_verdicts(recordings, standard, jobs, result_file):
            share.append(verdict)
            if len(share) == _SHARE:
                summary, share = summarise([summary, *share]), []
            progress_bytes += recording.size
            progress(progress_bytes, total, recording.name)
            tell(verdict)
    return summarise([summary, *share])


def _list_verdicts(
    recordings: Sequence[Recording], standard: Standard, jobs: int, result_file: Results | None
) -> Iterator[tuple[Recording, Verdict]]:
    """Yield each recording with its verdict, stored or new."""
    earlier = (
        {}
        if result_file is None
        else {recording.name: verdict for recording in recordings if (verdict := result_file.find(recording))}
    )
    new = [recording for recording in recordings if recording.name not in earlier]
    results = judge_all(new, standard, max(1, min(jobs, len(new))))
    with contextlib.closing(results):
        for recording in recordings:
            if recording.name in earlier:
                yield recording, earlier[recording.name]
                continue
            verdict = next(results)[1]
            if result_file is not None:
                result_file.keep(recording, verdict)
            yield recording, verdict


def as_json(verdict: Verdict) -> str:
    """A verdict as one line of JSON."""
    state = False if verdict.invalid else True if verdict.is_well else None
    return json.dumps({"valid": state} | verdict.as_json())


def write_summary(summary: Summary) -> str:
    """The summary as one line of JSON."""
    return json.dumps({"summary": summary.as_json()})


def as_text(verdict: Verdict) -> str:
    """The text of a recording with problems; empty for others."""
    if verdict.is_well:
        return ""
    lines = verdict.valid + verdict.invalid + verdict.not_judged
    counts = [f"{verdict.invalid} invalid"] * bool(verdict.invalid) + [f"{verdict.not_judged} not judged"] * bool(
        verdict.not_judged
    )
    of = f"of {count_noun(lines, 'line')}" if lines else "no line: nothing was judged"
    rows = [f"{verdict.recording}: {' and '.join(counts)} {of}".replace("  ", " ")]
    for finding in verdict.findings[:MOST_FINDINGS]:
        at = "" if finding.file == verdict.recording else f"{finding.file}:"
        rows.append(f"  {at}{finding.text}")
    omitted_count = len(verdict.findings) - MOST_FINDINGS
    if omitted_count > 0:
        rows.append(
            f"  … and {count_noun(omitted_count, 'more kind')}; --format json has them, or name this file alone"
        )
    if verdict.failure:
        rows.append(f"  {verdict.failure}")
    return "\n".join(rows)
