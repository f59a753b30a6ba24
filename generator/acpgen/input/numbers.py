"""Numbers of JSON as the prover represents them, exactly as their text denotes them."""

from __future__ import annotations

from schema_inclusion.values import MOST_DIGITS, ExactNumber, dumps, loads, parse_number, with_decimals

__all__ = ["MOST_DIGITS", "ExactNumber", "dumps", "loads", "parse_number", "with_decimals"]
