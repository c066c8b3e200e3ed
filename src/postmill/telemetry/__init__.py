"""What happens, as typed events emitted at one place; logs, metrics and traces subscribe (law 10)."""
