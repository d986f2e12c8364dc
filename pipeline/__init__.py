"""Hold what every stage shares: manifests and resume, verdicts, rates."""
