"""The methods of a protocol.

In: definitions and a profile. Out: who handles which method, and where its params and results stand; what a profile does not match is told.
"""
