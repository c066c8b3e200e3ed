"""Tests of the homepage's weather."""
