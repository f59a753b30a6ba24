"""Repairs: for each breaking or risky finding, the smallest edit of the new files that makes the change additive."""
