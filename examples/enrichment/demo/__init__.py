"""The application on real texts of this machine: `python -m examples.enrichment.demo`."""
