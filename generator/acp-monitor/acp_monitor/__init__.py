"""Monitor one connection in both directions, message by message, and report each broken rule.

    monitor = Monitor()
    for breach in monitor.observe("client", line):
        print(breach)
    for breach in monitor.finish():
        print(breach)

The monitor tracks what was negotiated, the open requests of each side, and the sessions with their roots. It reads from the schema what
depends on a capability and what an advertised capability requires. Each message is parsed and validated once, and memory is bounded on
endless connections. The parsed values of the densest JSON take up to 40 times its bytes, and the validators less than ten times. A
message of over 500,000 values is not read and counts as missed: so one takes at most ten times its bytes and 256 MiB.
"""

from .breach import Breach, Folding, cite
from .json_values import REDACTED
from .monitor import Monitor
from .rule import REMARKS, Rule
from .rules import RULES

__all__ = ["REDACTED", "REMARKS", "RULES", "Breach", "Folding", "Monitor", "Rule", "cite"]
