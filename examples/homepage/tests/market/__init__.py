"""Tests of the marketplace: listings, mail, pictures."""
