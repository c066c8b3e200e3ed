"""The application on pictures that are drawn for it: `python -m examples.photos`."""
