"""Feeds: asked for, parsed, compared with what is there. It knows nothing of jobs."""
