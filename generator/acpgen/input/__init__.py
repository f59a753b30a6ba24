"""Read schema files.

In: paths, archives, git revisions. Out: documents with positions, drafts and resolved references, and tagged unions with their tags.
This package names no class and knows no method.
"""
