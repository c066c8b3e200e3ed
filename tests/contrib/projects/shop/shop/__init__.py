"""A shop: a project of Django whose jobs are Postmill's."""
