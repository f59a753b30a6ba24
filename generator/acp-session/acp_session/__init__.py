"""Sessions of the Agent Client Protocol, version 1 and version 2."""
