"""Let an agent program use the model, and keep every token that the model samples for it."""
