"""Bundling of many files into one standard JSON Schema.

Input: documents, methods and chosen names. Output: a bundle in which every reference is local, everything has a name, and every variant
is self-contained.
"""
