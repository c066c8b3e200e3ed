"""The Good Sites directory: submissions and votes, the rank that comes of them, and whether the links still lead somewhere."""
