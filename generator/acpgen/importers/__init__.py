"""Documents that are not JSON Schema.

In: an OpenRPC or similar document. Out: definitions, methods, and what was ignored.
"""
