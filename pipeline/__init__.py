"""Hold what every stage shares: manifests and resume, workers, verdicts, rates, held-out data."""
