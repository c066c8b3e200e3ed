"""What the tests share: a cluster, databases, waiting for conditions, the look for leaks."""
