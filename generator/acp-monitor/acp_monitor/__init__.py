"""Watches one connection, both directions, message by message, and names every rule that is broken.

    monitor = Monitor()
    for breach in monitor.observe("client", line):
        print(breach)
    for breach in monitor.finish():
        print(breach)

The monitor knows what was negotiated, which requests wait on each side, which sessions exist with which roots. What depends on a
capability, and what must be there once it is advertised, it reads from the schema. A message is parsed and judged once; memory
is bounded on endless connections. The parsed values of the densest JSON take up to 40 times its bytes, and what judges them less than
ten times. A message of over 500,000 values is not read, and is said to be missed: so one takes at most ten times its bytes and 256 MiB.
"""

from .breach import Breach, Folding, cited
from .monitor import Monitor
from .rule import REMARKS, Rule
from .rules import RULES

__all__ = ["REMARKS", "RULES", "Breach", "Folding", "Monitor", "Rule", "cited"]
