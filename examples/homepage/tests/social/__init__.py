"""Tests of the homepage's social."""
