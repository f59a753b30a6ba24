"""The check of two revisions: routes are joined, facts collected, judged, proven, and told as findings."""
