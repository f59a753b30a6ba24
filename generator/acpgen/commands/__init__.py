"""The command line: one module for each command holds its parameters, its help, which is the docstring, and its call.

In: arguments, `[tool.acpgen]` and files. Out: text on the standard streams, files, and an exit code. `cli` assembles the commands,
`command_line` reads their docstrings, `shared_options` are the options that several have, `output` says where reports go, `terminal` how
people see things; `outcome_text` and `summary_text` are what `generate` and `validate` say. `project` says what outputs there are, `build`
makes them, `scaffold` begins a project.
"""
