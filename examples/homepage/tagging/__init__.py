"""AI tagging: topics, sentiment and categories of feed items, asked of a model and kept to a budget. It knows nothing of jobs."""
