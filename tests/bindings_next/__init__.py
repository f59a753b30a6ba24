"""The run-time of the bindings that stands on msgspec."""
