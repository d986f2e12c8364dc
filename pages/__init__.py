"""Show runs to people: one HTML page, one session on a terminal, and a run while it goes on."""
