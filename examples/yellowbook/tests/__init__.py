"""Tests of the yellow book."""
