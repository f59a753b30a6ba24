"""What a schema means.

In: a bundle. Out: `ir.Protocol`, frozen data without anything specific to Python, and the same as JSON (`interchange`).
"""
