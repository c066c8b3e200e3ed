"""Clicks on good sites: kept with the visitor's consent only, counted by the hour, and deleted after 90 days (P14)."""
