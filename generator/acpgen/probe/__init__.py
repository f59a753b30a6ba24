"""Test an agent or a client by talking to it.

In: a command that starts the program. Out: a report in which each violation of the specification is a finding with its transcript.
`cases` are the tests, `clauses` what they are based on, `driver` starts the program and runs them.
"""
