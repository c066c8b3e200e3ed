"""Tests of the homepage."""
