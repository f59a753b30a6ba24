"""Many recordings at once: a verdict on each, made anywhere, and one summary of them all, made in any order.

`judge` is a function of a recording and a standard; what it takes and gives is small and can be pickled. `summarise` takes verdicts and
summaries of others, so that each process of an engine summarises its share.
"""

from acpgen.recordings.criteria import Standard
from acpgen.recordings.recording_result import judge
from acpgen.recordings.stores import Recording, find
from acpgen.recordings.summary import Summary, summarise
from acpgen.recordings.verdict import Finding, Verdict

__all__ = ["Finding", "Recording", "Standard", "Summary", "Verdict", "find", "judge", "summarise"]
