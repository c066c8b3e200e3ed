"""Stand-in for a content delivery network with a storage zone."""
