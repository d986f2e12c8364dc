"""Make the tiny base model that the demo trains on."""
