"""Mail of the marketplace: two people write to each other, and neither sees the other's address."""
