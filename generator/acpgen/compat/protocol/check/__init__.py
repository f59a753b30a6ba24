"""The check of two revisions: routes are joined, changes collected, judged, proven, and told as findings."""
