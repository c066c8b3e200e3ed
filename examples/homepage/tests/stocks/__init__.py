"""Tests of the homepage's stocks."""
