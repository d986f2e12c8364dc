"""Measure what the project claims about speed and memory."""
