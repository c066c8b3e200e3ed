"""The application's API, below /api/orgs/{org}. A write and its jobs are one transaction; the answer comes after it."""
