"""Convert an adapter for servers that others wrote, and check what they make of it."""
