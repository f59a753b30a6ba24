"""Targets.

In: the meaning of one protocol version, its bundle, and settings. Out: text by path. A target is one function, and none knows another.
`installed` has them by name, `pipeline` runs the stages before them, `outside` and `process` find those of other packages and programs.
"""
