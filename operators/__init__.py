"""Pick the next command, and play an episode with whoever picks it."""
