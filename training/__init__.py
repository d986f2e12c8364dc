"""Turn trajectories into an adapter."""
