"""Comparisons along a series of revisions of one schema: what each step broke, and since when."""
