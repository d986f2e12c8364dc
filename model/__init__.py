"""Turn messages into token ids, load a base with its adapter, and decode."""
