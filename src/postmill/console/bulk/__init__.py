"""Bulk operations on pages: the wizard that begins one, and how far one is."""
