"""The rules: each judges one kind of fact about two revisions."""
