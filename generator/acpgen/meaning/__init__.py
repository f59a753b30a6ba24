"""What a schema means: the nodes of its bundle, and the IR that is read from them."""

from acpgen.meaning.lower import lower

__all__ = ["lower"]
