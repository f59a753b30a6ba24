"""Many recordings at once: a verdict for each, computed anywhere, and one summary, merged in any order.

In: recordings and a standard. Out: verdicts and a summary. `judge` is a function of both; its arguments and results are small and can
be pickled. `summarise` takes verdicts and summaries, so that each worker can summarise its share.
"""

from acpgen.recordings.criteria import Standard
from acpgen.recordings.recording_result import judge
from acpgen.recordings.stores import Recording, find
from acpgen.recordings.summary import Summary, summarise
from acpgen.recordings.verdict import Finding, Verdict

__all__ = ["Finding", "Recording", "Standard", "Summary", "Verdict", "find", "judge", "summarise"]
