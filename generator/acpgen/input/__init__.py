"""Reads schema files.

In: paths, archives, revisions of git. Out: documents with positions, drafts and references understood; tagged unions told by their marks.
Nothing here names a class or knows a method.
"""
