"""Schema files: read, held to the dialect, and brought together as one JSON Schema in which everything has a name."""
