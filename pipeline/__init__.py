"""Hold what every stage shares: files of records, manifests and resume, workers, verdicts, rates, held-out data."""

from pipeline import interrupts

interrupts.quiet_while_importing()  # here, because every script imports this package before anything that takes long
