"""Posts of social networks, and the tokens by which they are had."""
