"""The four commands. Each may be killed at any moment and run again: it goes on from what was committed."""
