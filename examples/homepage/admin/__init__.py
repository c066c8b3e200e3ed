"""`/admin/api`: what administrators may do."""
