"""Postmill inside web frameworks and database tools; each part needs the extra of its name (`postmill[django]` …)."""
