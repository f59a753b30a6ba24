"""Many revisions of one schema in a row: what each step broke, and since when."""
