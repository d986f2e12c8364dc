"""Write scenarios and decide which are admitted."""
