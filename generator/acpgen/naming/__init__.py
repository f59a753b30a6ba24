"""Names of definitions, classes, fields and constants.

In: wire names and places of schemas, and the names that people choose. Out: identifiers without collisions, or a fault.
"""
