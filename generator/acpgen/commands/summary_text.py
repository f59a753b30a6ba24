"""The results of `validate`, as counts on standard error."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Final

from acpgen.commands import terminal
from acpgen.errors import count_noun

if TYPE_CHECKING:
    from acpgen.messages.validate import Counts
    from acpgen.recordings import Summary

MOST_ROWS: Final = 10
"""The maximum number of agents, and of recordings with invalid lines, in a summary."""


def show_counts(summary: Counts) -> None:
    """Print how many messages of each method were valid, invalid and not judged, and the rules that they broke."""
    valid, invalid, unjudged = summary.sums
    if not invalid and not unjudged:
        terminal.say(f"{count_noun(valid, 'line')} valid." if valid else "There was no line: nothing was judged.")
        notes = ", ".join(f"{rule} {count}" for rule, count in summary.rules.most_common())
        if notes:
            terminal.say(f"Notes: {notes}.")
        return
    column_count = 3 if unjudged else 2
    _show_counts(
        "method",
        ("valid", "invalid", "not judged")[:column_count],
        [
            (name, (summary.valid[name], summary.invalid[name], summary.unjudged[name])[:column_count])
            for name in _sort_methods(summary)
        ],
    )
    if summary.rules:
        _show_counts("rule", ("times",), [(rule, (count,)) for rule, count in summary.rules.most_common()])
    text = f"{count_noun(invalid, 'line')} of {valid + invalid + unjudged} invalid" if invalid else f"{valid} valid"
    terminal.say(f"{text}, {unjudged} not judged." if unjudged else f"{text}.")


def show_summary(summary: Summary, others: int) -> None:
    """Print the summary of many recordings. `others` is the number of files in their folders that are not recordings."""
    from acpgen.recordings.summary import sort_by_count, sort_by_invalid

    if summary.rules:
        rules = [(str(rule), (broken.times, broken.recordings)) for rule, broken in sort_by_count(summary)]
        _show_counts("rule", ("times", "recordings"), rules)
    agents = [(name or "(not named)", share) for name, share in sort_by_invalid(summary)[:MOST_ROWS]]
    remainder = sum((share for _, share in sort_by_invalid(summary)[MOST_ROWS:]), summary.other_agents)
    agents += [("(others)", remainder)] * bool(remainder.recordings)
    rows = [(name, (share.recordings, share.with_invalid, share.invalid)) for name, share in agents]
    _show_counts("agent", ("recordings", "with invalid", "invalid lines"), rows)
    if summary.worst:
        _show_counts(
            "recording",
            ("invalid lines",),
            [(recording.recording, (recording.invalid,)) for recording in summary.worst[:MOST_ROWS]],
        )
    lines = f"{count_noun(summary.valid, 'line')} valid, {summary.invalid} invalid, {summary.not_judged} not judged"
    terminal.say(f"{count_noun(summary.recordings, 'recording')}, {summary.bytes} bytes: {lines}.")
    parts = {
        "wholly valid": summary.well,
        "with invalid lines": summary.with_invalid,
        "not wholly judged": summary.not_wholly_judged,
        "not read to the end": summary.failed,
    }
    terminal.say(f"Recordings: {', '.join(f'{count} {label}' for label, count in parts.items() if count)}.")
    if others:
        terminal.say(f"{count_noun(others, 'file')} ignored: the name is not that of a recording.")


def _show_counts(heading: str, columns: Sequence[str], rows: Iterable[tuple[str, Sequence[int]]]) -> None:
    """Print a table of counts; zeros are left empty."""
    terminal.show_table(
        heading, columns, ((name, tuple(str(count or "") for count in counts)) for name, counts in rows)
    )


def _sort_methods(summary: Counts) -> list[str]:
    """The methods, by descending number of invalid messages."""
    names = {*summary.valid, *summary.invalid, *summary.unjudged}
    return sorted(names, key=lambda name: (-summary.invalid[name], -summary.unjudged[name], -summary.valid[name], name))
