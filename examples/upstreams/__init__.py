"""Local stand-ins for the outside world: small servers that behave as real ones do, on bad days too."""
