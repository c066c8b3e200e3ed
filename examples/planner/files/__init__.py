"""Long files, page by page: a planning as PDF or CSV, availability from CSV. Nothing here knows of jobs."""
