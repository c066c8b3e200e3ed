"""A stand-in for the world's feeds: well-made ones, broken ones, and servers on bad days."""
