"""Names of definitions, classes, fields and constants.

Input: wire names, places of schemas, and names chosen by the user. Output: identifiers without collisions, or a fault.
"""
