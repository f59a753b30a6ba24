"""Many revisions of one schema in a row: what each step broke, who brought it, and which releases understand one another."""
