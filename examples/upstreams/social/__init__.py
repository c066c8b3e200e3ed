"""Stand-in for a social network: a token endpoint that rotates refresh tokens, and posts."""
