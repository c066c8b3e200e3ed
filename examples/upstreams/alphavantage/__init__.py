"""Stand-in for Alpha Vantage: quotes, its daily limit, and errors that come with status 200."""
