"""The application in simulated time."""
