"""Real texts that any machine with Python has: the documentation of what is installed on it."""
