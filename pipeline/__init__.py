"""Hold what every stage shares: files of records, manifests and resume, workers, verdicts, rates, held-out data."""
