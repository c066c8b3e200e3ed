"""Prices of stocks, from a service of which few requests a day are had."""
