"""Importers of documents that are not JSON Schema.

In: an OpenRPC or similar document. Out: definitions, methods, and the parts that were ignored.
"""
