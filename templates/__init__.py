"""Author scenarios procedurally, for every archetype, without a model."""
