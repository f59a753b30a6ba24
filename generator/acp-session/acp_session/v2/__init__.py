"""The hosts of a connection of ACP v2: one object for each side that owns its sessions."""
