"""The targets, i.e. what acpgen generates from one protocol version.

In: the IR of a version, its bundle, and settings. Out: text by path. A target is one function, independent of other targets. `installed`
holds them by name, `pipeline` runs the stages before them, `outside` and `process` find those of other packages and programs.
"""
