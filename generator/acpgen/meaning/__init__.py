"""The meaning of a schema: from a bundle to the intermediate representation (IR).

Input: a bundle. Output: `ir.Protocol`, frozen data without anything specific to Python, and the same as JSON (`interchange`).
"""
