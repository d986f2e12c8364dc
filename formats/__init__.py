"""Write scenarios and trajectories in the formats of other tools, and read them back."""
