"""What a schema means: the nodes of its bundle, and the IR that is read from them."""
