"""Which requirements of the protocols' own pages stand behind which rule, by protocol and by the method or capability that a
breach is about; an empty word stands for every breach. `tests/requirements_file.py` writes this from `schema/requirements.json`.
"""

from typing import Final

BEHIND: Final[dict[str, dict[str, dict[str, tuple[str, ...]]]]] = {}
