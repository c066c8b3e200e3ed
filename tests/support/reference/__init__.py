"""Writes the generated parts of docs/reference from the code: `python -m tests.support.reference`."""
