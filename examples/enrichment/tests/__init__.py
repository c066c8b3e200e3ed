"""Tests of the enrichment application: seed 2's list, the stand-in, the texts, and real processes."""
