"""The command line: one module for each command, with its parameters, its help (the docstring) and its implementation.

In: arguments, `[tool.acpgen]` and files. Out: text on the standard streams, files, and an exit code. `cli` registers the commands,
`command_line` parses their docstrings, `shared_options` declares options that several have, `output` and `terminal` print. `project`
lists the outputs of a run, `build` generates them, `scaffold` creates a project.
"""
