"""The application on a small town's businesses: `python -m examples.yellowbook`."""
