"""Tests of the photo application."""
