"""The command line: one module for each command holds its options, its help and its call.

In: arguments, `[tool.acpgen]` and files. Out: text on the standard streams, files, and an exit code. `cli` assembles the commands,
`shared_options` are the options that several have, `output` says where reports go, `terminal` is what people see. `project` says what
outputs there are, `build` makes them, `scaffold` begins a project.
"""
