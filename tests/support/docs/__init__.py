"""Runs the snippets of a documentation page, in order, as a reader would: see `page.py`."""
