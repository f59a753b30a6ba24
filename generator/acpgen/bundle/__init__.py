"""One standard JSON Schema of many files.

In: documents, methods and chosen names. Out: a bundle in which every reference is local,
everything has a name and every variant stands alone.
"""
