"""The application on a small festival: `python -m examples.planner`."""
