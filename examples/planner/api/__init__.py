"""The application's API, below /api/orgs/{org}. Each write and its jobs are one transaction; its answer comes after the commit."""
