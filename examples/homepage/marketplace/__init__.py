"""Listings, and what is asked about them."""
