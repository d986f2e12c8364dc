"""Run commands in disposable containers and check what they left."""
