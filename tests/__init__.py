"""Real PostgreSQL for everybody: mirrors src/, plus contract/ and journey/."""
