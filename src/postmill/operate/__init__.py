"""What a person or a program may do or read, once: `commands`, `insight`, `invariants`, `doctor`."""
