"""Time-driven work: one round each, guarded by its row in upkeep."""
